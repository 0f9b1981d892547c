"""Model directories: what is written is read again, and each way of being broken is told: what, where, what instead."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy
import pytest

from cohortium.ingest.models.tagging.model_card import as_json, from_json
from cohortium.ingest.models.tagging.model_directory import ModelDirectory, write_card
from cohortium.ingest.models.tagging.tagger import Tagger
from cohortium.kb.errors import BadModel, UsageError

from .conftest import card

ONNX = b"not looked into before it is used"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A directory that is whole, but for a network that nobody computes."""
    place = tmp_path / "model"
    place.mkdir()
    (place / "model.onnx").write_bytes(ONNX)
    write_card(place, card())
    return place


def change(folder: Path, **changes: Any) -> None:
    told = json.loads((folder / "card.json").read_text(encoding="utf-8"))
    (folder / "card.json").write_text(json.dumps({**told, **changes}), encoding="utf-8")


def test_a_card_is_read_as_it_was_written(folder: Path) -> None:
    """Everything of a card comes back; checksums are those of the files."""
    said = card(calibration=((0.1, 0.0), (0.9, 1.0)), scores={"f1": 0.5}, materials=({"name": "a", "licence": "CC0"},))
    written = write_card(folder, said)
    again = ModelDirectory.open(folder)
    assert again == written
    assert again.card.model_copy(update={"files": {}}) == said
    assert again.file("model.onnx").read_bytes() == ONNX
    assert again.bytes == len(ONNX) + (folder / "card.json").stat().st_size
    assert set(again.identity()["files"]) == {"model.onnx"}


def test_forbidden_scores_are_written_as_null() -> None:
    """Minus infinity, or what training takes for it, is null in a card, and minus infinity again."""
    scores = numpy.array([[0.25, -numpy.inf], [-1e4, 1.5]])
    assert as_json(scores) == [[0.25, None], [None, 1.5]]
    assert from_json(as_json(scores)).tolist() == [[0.25, -numpy.inf], [-numpy.inf, 1.5]]


def test_a_folder_without_a_model_is_told(tmp_path: Path) -> None:
    """No folder, a file, an empty folder, a network alone."""
    with pytest.raises(BadModel, match=r"no directory.*Hint"):
        ModelDirectory.open(tmp_path / "none")
    (tmp_path / "file").touch()
    with pytest.raises(BadModel, match=r"a file, not a directory.*Hint"):
        ModelDirectory.open(tmp_path / "file")
    with pytest.raises(BadModel, match=r"no card\.json.*Hint"):
        Tagger.load(tmp_path)


def test_broken_cards_are_told(folder: Path) -> None:
    """No JSON, JSON of another kind, another version, a field that is missing or unknown."""
    path = folder / "card.json"
    whole = path.read_text(encoding="utf-8")
    for text, match in (
        ("{", "cannot be read as JSON"),
        ("\x00\xff", "cannot be read as JSON"),
        ("[" * 100_000, "cannot be read as JSON"),
        ("[]", "version None"),
        (whole.replace('"schema_version": 1', '"schema_version": 2'), "version 2.*reads version 1"),
        (whole.replace('"name": "capitals",', ""), "name: Field required"),
        (whole.replace('"name": "capitals"', '"name": "capitals", "more": 1'), "more: "),
    ):
        path.write_text(text, encoding="latin-1")
        with pytest.raises(BadModel, match=rf"card\.json.*{match}.*Hint"):
            ModelDirectory.open(folder)


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"types": ["DRUG"]}, "not of the 3 tags of its 1 types"),
        ({"types": ["DRUG", "DRUG"]}, "named once"),
        ({"start": [0, 0]}, "not of the 5 tags"),
        ({"start": [None] * 5}, "no path"),
        ({"end": [0, 0, 0, 0, float("nan")]}, "not a number"),
        ({"network": {"tags": 7}}, "gives 7 tags, its 2 types have 5"),
        ({"network": {"encoder": "bert"}}, "encoder of its network is no object"),
        ({"inputs": ["word_mask", "smells"]}, "unknown input 'smells'"),
        ({"inputs": ["shapes"]}, "lack word_mask"),
        ({"window": 8}, "window: "),
        ({"calibration": [[0.5, 0.5], [0.4, 0.6]]}, "do not rise"),
        ({"calibration": [[0.5, 1.5]]}, "do not rise within"),
        ({"files": {"../model.onnx": {"sha256": "0" * 64, "bytes": 1}}}, "no plain name"),
        ({"files": {"model.onnx": {"sha256": "0", "bytes": 1}}}, "sha256"),
    ],
)
def test_cards_that_do_not_hold_together_are_told(folder: Path, changes: dict[str, Any], match: str) -> None:
    """Tags, types, transitions, inputs, knots and names of files must fit each other."""
    change(folder, **changes)
    with pytest.raises(BadModel, match=rf"card\.json.*{match}.*Hint"):
        ModelDirectory.open(folder)


def test_missing_files_are_told(folder: Path) -> None:
    """The network, or the word pieces of a network that reads them; what only torch needs may be left out."""
    (folder / "weights.safetensors").write_bytes(b"x")
    (folder / "README.md").write_text("For people.", encoding="utf-8")
    write_card(folder, card())
    (folder / "weights.safetensors").unlink()
    (folder / "README.md").unlink()
    assert not ModelDirectory.open(folder).has("weights.safetensors")
    (folder / "model.onnx").unlink()
    with pytest.raises(BadModel, match=r"not whole: no model\.onnx.*Hint"):
        ModelDirectory.open(folder)
    (folder / "model.onnx").write_bytes(ONNX)
    with pytest.raises(BadModel, match=r"not whole: no tokenizer\.json"):
        write_card(folder, card(inputs=("pieces", "piece_mask", "first_piece", "word_mask")))
    change(folder, files={})
    with pytest.raises(BadModel, match=r"not whole: no model\.onnx"):
        ModelDirectory.open(folder)


def test_corrupted_files_are_told(folder: Path) -> None:
    """A file cut short, and one of the same length with another letter, are found when they are used."""
    (folder / "model.onnx").write_bytes(ONNX[:-1])
    with pytest.raises(BadModel, match=rf"corrupted.*{len(ONNX) - 1} bytes, and the card says {len(ONNX)}.*Hint"):
        Tagger.load(folder)
    (folder / "model.onnx").write_bytes(ONNX.replace(b"not", b"now"))
    with pytest.raises(BadModel, match=r"corrupted.*another content.*Hint"):
        Tagger.load(folder)


def test_a_file_that_is_no_network_is_told(folder: Path) -> None:
    """Its checksum is right, but onnxruntime cannot read it."""
    pytest.importorskip("onnxruntime")
    with pytest.raises(BadModel, match=r"model\.onnx' holds no network.*Hint"):
        Tagger.load(folder)


def test_word_pieces_must_fit(folder: Path) -> None:
    """A tokenizer that cannot be read, has no [CLS], or is larger than the network knows."""
    tokenizers = pytest.importorskip("tokenizers")
    pieces: dict[str, Any] = {"inputs": ("pieces", "piece_mask", "first_piece", "word_mask")}
    path = folder / "tokenizer.json"

    def save(words: list[str]) -> None:
        model = tokenizers.models.WordPiece({word: at for at, word in enumerate(words)}, unk_token="[UNK]")
        tokenizers.Tokenizer(model).save(str(path))

    path.write_text("{}", encoding="utf-8")
    with pytest.raises(BadModel, match=r"tokenizer\.json' holds no word pieces.*Hint"):
        write_card(folder, card(**pieces)).featurizer()
    save(["[UNK]", "[PAD]", "a"])
    with pytest.raises(BadModel, match=r"tokenizer\.json' holds no word pieces.*Hint"):
        write_card(folder, card(**pieces)).featurizer()
    save(["[UNK]", "[PAD]", "[CLS]", "[SEP]", "a"])
    assert write_card(folder, card(**pieces)).featurizer().pieces_of("a") == (4,)
    with pytest.raises(BadModel, match=r"has 5 word pieces, and the network knows 4.*Hint"):
        write_card(folder, card(**pieces, network={"encoder": {"vocab_size": 4}})).featurizer()
    with pytest.raises(BadModel, match=r"reads 16 pieces at once, and its card says 32.*Hint"):
        write_card(folder, card(**pieces, network={"encoder": {"max_position_embeddings": 16}}))


def test_runtimes_devices_and_threads_are_checked(folder: Path) -> None:
    """Each wrong choice is told before anything is computed."""
    for choice, match in (
        ({"runtime": "abacus"}, "one of auto, onnx, torch"),
        ({"threads": 0}, "0 threads"),
        ({"device": "cuda", "runtime": "onnx"}, "runtime='torch'"),
    ):
        with pytest.raises(UsageError, match=match):
            Tagger.load(folder, **choice)


def test_weights_for_torch_are_checked(tiny: ModelDirectory) -> None:
    """They compute; a directory without them, with others, or with ones that cannot be read, is told."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("transformers")
    tagger = Tagger.load(tiny.folder, runtime="auto")
    assert tagger.signature()["device"] == "cpu"
    text = "Gout and Larkadol 20 mg"
    assert tagger.tag([text, "Gout"])[0] == tagger.tag(text)
    together = Tagger.load(tiny.folder, batch=4096).emissions
    from cohortium.ingest.models.tagging.tagger import Words

    texts = [Words.in_text(text), Words.in_text("Gout"), Words.in_text("of the " * 40)]
    for one, other in zip(tagger.emissions(texts), together(texts), strict=True):
        numpy.testing.assert_allclose(one, other, atol=1e-5)
    for choice, match in (
        ({"device": "abacus"}, "unknown device"),
        ({"precision": "int3"}, "one of float32, bfloat16"),
        ({"runtime": "onnx"}, r"no model\.onnx"),
    ):
        with pytest.raises(UsageError, match=match):
            Tagger.load(tiny.folder, **choice)
    if not torch.cuda.is_available():
        with pytest.raises(UsageError, match="no such device here: 'cuda:1'"):
            Tagger.load(tiny.folder, device="cuda:1")
    weights = tiny.folder / "weights.safetensors"
    other = {**tiny.card.network, "width": 9}
    with pytest.raises(BadModel, match="not of the network that the card describes"):
        Tagger.load(write_card(tiny.folder, tiny.card.model_copy(update={"network": other})).folder)
    with pytest.raises(BadModel, match="no network that this program can make"):
        Tagger.load(write_card(tiny.folder, tiny.card.model_copy(update={"network": {"kind": "loom"}})).folder)
    weights.write_bytes(b"\0" * 200)
    with pytest.raises(BadModel, match="no weights that can be read"):
        Tagger.load(write_card(tiny.folder, tiny.card).folder)
    weights.unlink()
    torch.save({"a": Path("/")}, tiny.folder / "weights.pt")
    with pytest.raises(BadModel, match="no weights that can be read"):
        Tagger.load(write_card(tiny.folder, tiny.card).folder)
