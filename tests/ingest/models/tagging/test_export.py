"""Export: a network of torch becomes a directory that runs without torch, and finds the same."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy
import pytest

from cohortium.ingest.models.tagging.model_card import ModelCard
from cohortium.ingest.models.tagging.tagger import Tagger, Words
from cohortium.kb.errors import BadModel, UsageError

from .conftest import LABELS, card

TEXTS = ["Larkadol 20 mg for Restless Legs.", "no Gout", "", "of the " * 60, "x", "HER2-negative (NSCLC), stage IIIB"]


def tiny_tokenizer() -> Any:
    tokenizers = pytest.importorskip("tokenizers")
    letters = sorted(set("".join(TEXTS).lower()) - {" "})
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *letters, *(f"##{one}" for one in letters), "legs", "gout", "neg"]
    model = tokenizers.models.WordPiece({word: at for at, word in enumerate(words)}, unk_token="[UNK]")
    made = tokenizers.Tokenizer(model)
    made.normalizer = tokenizers.normalizers.BertNormalizer()
    made.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    return made


@pytest.mark.parametrize("kind", ["convolution", "encoder"])
def test_an_exported_network_finds_what_torch_finds(kind: str, tmp_path: Path) -> None:
    """In int8 the scores are close, whatever the number of words, and torch is not even loaded."""
    torch = pytest.importorskip("torch")
    for name in ("onnx", "onnxscript", "onnxruntime", "safetensors", "transformers"):
        pytest.importorskip(name)
    from cohortium.eval.training.export.onnx_file import agreement, slim_copy, write_model
    from cohortium.ingest.models.tagging.network import Network, NetworkSettings

    torch.manual_seed(3)
    encoder = {
        "model_type": "bert",
        "hidden_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 24,
        "vocab_size": 120,
        "max_position_embeddings": 64,
    }
    settings = NetworkSettings(
        kind, len(LABELS), 4, 6, 4, hashed=8, width=16, dilations=(1,), encoder=encoder if kind == "encoder" else None
    )
    network = Network(settings)
    tokenizer = tiny_tokenizer() if kind == "encoder" else None
    model = write_model(tmp_path / "model", network, card(), tokenizer)
    assert model.card.inputs == settings.inputs
    assert set(model.card.files) == {"model.onnx", "weights.safetensors", "README.md"} | (
        {"tokenizer.json"} if tokenizer else set()
    )
    texts = [Words.in_text(one) for one in TEXTS]
    exact, small = (Tagger.load(model.folder, runtime=one) for one in ("torch", "onnx"))
    for one, other in zip(exact.emissions(texts), small.emissions(texts), strict=True):
        numpy.testing.assert_allclose(one, other, atol=0.1)
    told = agreement(model.folder, texts)
    assert (told.words, told.largest < 0.1, told.tags > 0.8) == (sum(len(one.spans) for one in texts), True, True)
    assert [small.tag(one) for one in TEXTS] == small.tag(TEXTS)

    slim = slim_copy(model, tmp_path / "slim")
    assert slim.bytes < model.bytes
    code = (
        "import sys; from cohortium.ingest.models.tagging.tagger import Tagger;"
        f"print(len(Tagger.load({str(slim.folder)!r}).tag('Larkadol')) in (0, 1), 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False"]
    with pytest.raises(BadModel, match="no weights for torch"):
        Tagger.load(slim.folder, runtime="torch")
    fewer: ModelCard = slim.card.model_copy(update={"inputs": ("word_mask", "shapes")})
    from cohortium.ingest.models.tagging.model_directory import write_card

    with pytest.raises(BadModel, match=r"the network in .*model\.onnx' reads .*; its card says word_mask, shapes"):
        Tagger.load(write_card(slim.folder, fewer).folder)


def test_tables_keep_their_rows() -> None:
    """A row is kept to half a step of its own scale, small rows beside large ones, and a row of zeros."""
    from cohortium.eval.training.export.quantise import rows_as_int8

    table = numpy.array([[100.0, -50.0, 0.0], [0.01, 0.02, -0.005], [0.0, 0.0, 0.0]], dtype=numpy.float32)
    small, scales = rows_as_int8(table)
    assert small.dtype == numpy.int8
    assert small[0].tolist() == [127, -64, 0]
    assert (numpy.abs(small * scales - table) <= scales / 2 + 1e-9).all()
    assert small[2].tolist() == [0, 0, 0]


def test_a_folder_of_something_else_is_not_written_to(tmp_path: Path) -> None:
    """Nor a model with no weights at all."""
    from cohortium.eval.training.export.onnx_file import Parts, slim_copy, write_model
    from cohortium.ingest.models.tagging.model_directory import ModelDirectory

    (tmp_path / "notes.txt").write_text("kept", encoding="utf-8")
    model = ModelDirectory(tmp_path, card())
    with pytest.raises(UsageError, match="holds something that is no model"):
        slim_copy(model, tmp_path)
    with pytest.raises(UsageError, match="leave one of the two on"):
        write_model(tmp_path / "new", None, card(), parts=Parts(weights=False, int8=False))  # type: ignore[arg-type]
    assert [one.name for one in tmp_path.iterdir()] == ["notes.txt"]
