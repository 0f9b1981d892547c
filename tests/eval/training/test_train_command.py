"""``train ner`` from the command line: corpora in, a model directory out; and what it says when that cannot be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("onnx")
pytest.importorskip("onnxscript")
pytest.importorskip("onnxruntime")

from cohortium.__main__ import app
from cohortium.eval.training.adapt import AdaptationSettings, adapt, pieces_of, texts_in
from cohortium.eval.training.recipe import read_recipe
from cohortium.ingest.models.tagging.tagger import Tagger
from cohortium.kb.errors import UsageError

RUN = CliRunner()
DRUGS = ("Larkadol", "Mirtapan", "Ostevir", "Quillomab")
ILLNESSES = ("gout", "restless legs", "sore throat", "shingles")
QUICK = ("--from-scratch", "--rate", "0.01", "--batch-words", "60", "--threads", "1", "--device", "cpu")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Invented sentences in BIO, drugs and illnesses in all pairs."""
    lines = []
    for drug, illness in [(one, other) for one in DRUGS for other in ILLNESSES] * 6:
        first, *rest = illness.split()
        tags = [
            (drug, "B-drug"),
            ("given", "O"),
            ("for", "O"),
            (first, "B-illness"),
            *((one, "I-illness") for one in rest),
        ]
        lines += [f"{word}\t{tag}" for word, tag in tags] + [""]
    path = tmp_path_factory.mktemp("corpus") / "invented.tsv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def model(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that was trained by the command."""
    out = tmp_path_factory.mktemp("model") / "invented"
    arguments = ["train", "ner", "--train", str(corpus), "--dev", str(corpus), "--out", str(out), "--epochs", "3"]
    done = RUN.invoke(app, [*arguments, *QUICK, "--format", "json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["scores"]["exact"]["invented"]["micro"]["f1"] > 0.9
    return out


def test_the_directory_reads_text(model: Path) -> None:
    """What was trained finds drugs and illnesses in a text, at their places, in onnxruntime."""
    found = Tagger.load(model, runtime="onnx").tag("Mirtapan given for restless legs")
    assert [(one.start, one.end, one.type) for one in found] == [(0, 8, "drug"), (19, 32, "illness")]


def test_the_card_says_how_it_was_made(model: Path) -> None:
    """Settings, corpora with their sums, epochs, versions; a card for people is beside it, the checkpoint gone."""
    card = json.loads((model / "card.json").read_text(encoding="utf-8"))
    assert card["types"] == ["drug", "illness"]
    signature = card["signature"]
    assert signature["settings"]["kind"] == "convolution"
    assert signature["corpora"]["train"][0]["documents"] == 96
    assert len(signature["epochs"]) == 3
    assert str(model.parent) not in json.dumps(card)
    assert "drug" in (model / "README.md").read_text(encoding="utf-8")
    assert not model.with_name(model.name + ".training").exists()


def test_a_model_is_a_base_to_go_on_from(model: Path, corpus: Path, tmp_path: Path) -> None:
    """Trained on, with another label set, it keeps what does not depend on that."""
    drugs = tmp_path / "drugs.tsv"
    text = corpus.read_text(encoding="utf-8")
    drugs.write_text(text.replace("B-illness", "O").replace("I-illness", "O"), encoding="utf-8")
    arguments = ["train", "ner", "--train", str(drugs), "--dev", str(drugs), "--base", str(model), "--epochs", "1"]
    arguments += ["--out", str(tmp_path / "on")]
    done = RUN.invoke(app, [*arguments, *QUICK[1:]])
    assert done.exit_code == 0, done.output
    assert Tagger.load(tmp_path / "on").types == ("drug",)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--epochs", "1"], "either --train PATH or --recipe TOML"),
        (["--train", "{corpus}", "--from-scratch", "--base", "."], "--from-scratch takes neither"),
        (["--train", "nowhere.tsv", "--from-scratch"], "nothing at 'nowhere.tsv'"),
        (["--train", "{corpus}", "--dev", "{corpus}", "--base", "{folder}"], "holds no encoder"),
        (["--train", "{corpus}", "--from-scratch", "--window", "8"], "--window"),
        (["--train", "{corpus}", "--from-scratch", "--precision", "int4"], "precision"),
        (["--train", "{corpus}", "--from-scratch", "--device", "abacus"], "unknown device 'abacus'"),
        (["--recipe", "nowhere.toml"], "cannot read the recipe"),
    ],
)
def test_what_cannot_be_trained_is_told(arguments: list[str], told: str, corpus: Path, tmp_path: Path) -> None:
    """Exit 2 and what instead, without a traceback."""
    given = [one.format(corpus=corpus, folder=tmp_path) for one in arguments]
    done = RUN.invoke(app, ["train", "ner", "--out", str(tmp_path / "out"), *given])
    assert done.exit_code == 2
    assert told in done.output
    assert "Traceback" not in done.output


BRAT = {"one": "T1\tdrug 0 8\tLarkadol\nT2\tdrug 90 95\tOther\n", "two": "T1\tdrug 0 8\tOstevirs\n"}


@pytest.mark.parametrize(
    ("files", "arguments", "told"),
    [
        ({"train.tsv": "Gout O\n\nis O\n"}, [], "no entities to learn from"),
        ({"train.tsv": "Gout B-illness\nis O\n"}, [], "Hint: --dev FILE, a larger --dev-share, or -DOCSTART- lines"),
        ({"train.tsv": "Gout B-illness\n", "dev.tsv": "is O\n"}, ["--dev", "dev.tsv"], "have no entity of illness. "),
        ({"train.tsv": "Gout B-illness\n", "dev.tsv": "HER2 B-gene\n"}, ["--dev", "dev.tsv"], "illness, but gene."),
        ({"train.tsv": "Gout is here.\n"}, [], "looks like no annotated corpus. Hint: a token and its tag a line"),
        ({"train.tsv": "Gout B-illness\n", "out": "a file"}, ["--dev", "train.tsv"], "cannot write a model to"),
        ({"train.tsv": "Gout B-illness\n", "out/thesis": ""}, ["--dev", "train.tsv"], "something that is no model"),
    ],
)
def test_a_small_or_odd_corpus_is_told_with_what_to_do(
    files: dict[str, str], arguments: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing marked, too few documents, development documents of other labels, a place that holds something else:
    each is told before the training, by what a user of the command can change; nothing is left behind."""
    monkeypatch.chdir(tmp_path)
    for name, text in files.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text, encoding="utf-8")
    before = sorted(tmp_path.rglob("*"))
    done = RUN.invoke(app, ["train", "ner", "--train", "train.tsv", "--out", "out", *arguments, *QUICK])
    assert done.exit_code == 2
    assert told in done.output
    assert sorted(tmp_path.rglob("*")) == before


def test_what_was_not_read_is_told_and_a_long_first_word_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Annotations without a place, on standard error with file and line; a word of 30,000 letters is a word."""
    monkeypatch.chdir(tmp_path)
    Path("notes").mkdir()
    for name, lines in BRAT.items():
        Path(f"notes/{name}.txt").write_text("Larkadol was given." if name == "one" else "Ostevirs", encoding="utf-8")
        Path(f"notes/{name}.ann").write_text(lines, encoding="utf-8")
    Path("long.tsv").write_text("a" * 30_000 + "\tB-drug\nhelps\tO\n", encoding="utf-8")
    arguments = ["--train", "notes", "--train", "long.tsv", "--dev", "notes", "--epochs", "1", "--out", "out"]
    done = RUN.invoke(app, ["train", "ner", *arguments, *QUICK])
    assert done.exit_code == 0, done.output
    assert done.stderr.count("not read: notes: one.ann, line 2") == 1
    assert "Other" not in done.stderr


def test_a_stopped_run_is_not_gone_on_from_with_another_corpus(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The checkpoint that a stopped run leaves is of its corpus: another is refused, the same goes on."""
    from cohortium.eval.training import run

    class Stopped(Exception):
        pass

    def stop(*_: object) -> None:
        raise Stopped

    other = tmp_path / "other.tsv"
    other.write_text(corpus.read_text(encoding="utf-8") + "\nGout\tB-illness\n", encoding="utf-8")

    def command(path: Path) -> list[str]:
        arguments = ["train", "ner", "--train", str(path), "--dev", str(corpus), "--epochs", "1"]
        return [*arguments, "--out", str(tmp_path / "out"), *QUICK]

    with monkeypatch.context() as patched:
        patched.setattr(run, "_scores", stop)
        assert isinstance(RUN.invoke(app, command(corpus)).exception, Stopped)
    done = RUN.invoke(app, command(other))
    assert (done.exit_code, "of a run with other settings or texts" in done.output) == (2, True)
    assert RUN.invoke(app, command(corpus)).exit_code == 0


def test_a_model_that_stands_there_is_not_written_over(model: Path, corpus: Path) -> None:
    """Another --out is asked for."""
    done = RUN.invoke(app, ["train", "ner", "--train", str(corpus), "--out", str(model), *QUICK])
    assert done.exit_code == 2
    assert "there is a model" in done.output


def test_a_folder_of_something_else_is_told_before_the_training(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever way the folder is named; an --out below a file is told as well."""
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "notes.txt").write_text("kept", encoding="utf-8")
    monkeypatch.chdir(tmp_path / "kept")
    for out, told in ((".", "holds something that is no model"), ("notes.txt/model", "cannot write")):
        arguments = ["train", "ner", "--train", str(corpus), "--dev", str(corpus), "--out", out]
        done = RUN.invoke(app, [*arguments, *QUICK])
        assert done.exit_code == 2, done.output
        assert told in " ".join(done.output.split())
        assert "epoch" not in done.output
    assert [one.name for one in (tmp_path / "kept").iterdir()] == ["notes.txt"]


def test_a_recipe_joins_corpora_that_annotate_different_types(corpus: Path, tmp_path: Path) -> None:
    """Of two corpora each marks one type; the model finds both. A key that is none is told by name."""
    text = corpus.read_text(encoding="utf-8")
    (tmp_path / "drugs.tsv").write_text(text.replace("B-illness", "O").replace("I-illness", "O"), encoding="utf-8")
    (tmp_path / "ills.tsv").write_text(text.replace("B-drug", "O"), encoding="utf-8")
    parts = [f'[[{side}]]\npath = "{name}.tsv"\n' for side in ("train", "dev") for name in ("drugs", "ills")]
    recipe = tmp_path / "both.toml"
    said = 'name = "both"\ndescription = "Drugs and illnesses."\nlimits = ["Invented words only."]\n'
    recipe.write_text(said + "\n".join(parts), encoding="utf-8")
    arguments = ["train", "ner", "--recipe", str(recipe), "--out", str(tmp_path / "both"), "--epochs", "3"]
    done = RUN.invoke(app, [*arguments, *QUICK])
    assert done.exit_code == 0, done.output
    found = Tagger.load(tmp_path / "both").tag("Quillomab given for shingles")
    assert {one.type for one in found} == {"drug", "illness"}
    card = json.loads((tmp_path / "both" / "card.json").read_text(encoding="utf-8"))
    assert (card["description"], card["limits"]) == ("Drugs and illnesses.", ["Invented words only."])
    recipe.write_text(said.replace('["Invented words only."]', '"None."') + "\n".join(parts), encoding="utf-8")
    done = RUN.invoke(app, ["train", "ner", "--recipe", str(recipe), "--out", str(tmp_path / "none"), *QUICK])
    assert done.exit_code == 2
    assert "no list of sentences" in done.output
    recipe.write_text('[[train]]\npath = "drugs.tsv"\ncolour = "red"\n[[dev]]\npath = "drugs.tsv"\n', encoding="utf-8")
    done = RUN.invoke(app, ["train", "ner", "--recipe", str(recipe), "--out", str(tmp_path / "none"), *QUICK])
    assert done.exit_code == 2
    assert "'colour'" in done.output


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ('train = [3]\ndev = "x"', "needs [[train]] and [[dev]]"),
        ("[[train]]\npath = 3\n[[dev]]\n", "path cannot be 3"),
        ("[[train]]\n[[dev]]\n", "has no path"),
        ('[[train]]\npath = "a.tsv"\nshare = "much"\n[[dev]]\npath = "a.tsv"', "share cannot be 'much'"),
        ('[[train]]\npath = "a.tsv"\nshare = 2\n[[dev]]\npath = "a.tsv"', "share cannot be 2"),
        ('[[train]]\npath = "a.tsv"\ngroups = [3]\n[[dev]]\npath = "a.tsv"', "groups cannot be [3]"),
        ('types = 3\n[[train]]\npath = "a.tsv"\n[[dev]]\npath = "a.tsv"', "types cannot be 3"),
    ],
)
def test_a_recipe_with_a_value_that_cannot_be_is_told(written: str, told: str, tmp_path: Path) -> None:
    """The key and the value, before any corpus is read."""
    path = tmp_path / "recipe.toml"
    path.write_text(written, encoding="utf-8")
    with pytest.raises(UsageError) as refused:
        read_recipe(path, None)
    assert told in str(refused.value)


# --- adaptation ------------------------------------------------------------------------------------------------------

TEXTS = ["Larkadol was given for gout in spring and again in autumn"] * 30


def small_encoder() -> tuple[object, object]:
    """A transformer of two layers with the pieces of the texts."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import BertConfig, BertModel

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *sorted(set(" ".join(TEXTS).split()))]
    tokenizer = Tokenizer(models.WordPiece({one: at for at, one in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    torch.manual_seed(0)
    settings = BertConfig(
        vocab_size=len(words), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32
    )
    return BertModel(settings), tokenizer


def test_an_encoder_learns_to_guess_hidden_words(tmp_path: Path) -> None:
    """The loss falls; a run that was stopped goes on and ends where one that was not ends."""
    import torch

    settings = AdaptationSettings(epochs=8, batch_pieces=60, rate=0.01, precision="float32")
    encoder, tokenizer = small_encoder()
    told = adapt(encoder, tokenizer, TEXTS, settings, tmp_path / "whole")  # type: ignore[arg-type]
    assert told.last_loss < 0.7 * told.first_loss
    again, _ = small_encoder()
    done = adapt(again, tokenizer, TEXTS, settings, tmp_path / "whole")  # type: ignore[arg-type]
    assert done == told, "a run that was finished is not run again"
    for name, one in encoder.state_dict().items():  # type: ignore[attr-defined]
        assert torch.equal(one, again.state_dict()[name])  # type: ignore[attr-defined]
    others = [text.replace("gout", "autumn") for text in TEXTS]
    with pytest.raises(UsageError, match="or texts"):
        adapt(again, tokenizer, others, settings, tmp_path / "whole")  # type: ignore[arg-type]


def test_texts_to_adapt_to_must_have_words(tmp_path: Path) -> None:
    """No file, no text, or no four words in a row: each is told."""
    with pytest.raises(UsageError, match="no texts"):
        texts_in(tmp_path)
    (tmp_path / "notes.jsonl").write_text('{"text": "one two"}\n{"other": 1}\n', encoding="utf-8")
    assert texts_in(tmp_path) == ["one two"]
    (tmp_path / "broken.jsonl").write_text("{", encoding="utf-8")
    with pytest.raises(UsageError, match="cannot read texts"):
        texts_in(tmp_path)
    encoder, tokenizer = small_encoder()
    assert pieces_of(["one two"], tokenizer, 64) == []  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="four words"):
        adapt(encoder, tokenizer, ["one two"], AdaptationSettings(), tmp_path)  # type: ignore[arg-type]
