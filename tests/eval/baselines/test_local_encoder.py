"""The packaged encoder, where it is installed: its own tokens, its own limit, its own vectors."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from cohortium.eval.baselines.retrieval.chunks import split
from cohortium.eval.baselines.retrieval.encoders import Machine
from cohortium.eval.baselines.retrieval.local_encoder import PACKAGED, LocalEncoder, packaged_directory
from cohortium.kb.errors import UsageError
from tests.eval.baselines.fictional import corpus

missing = [one for one in ("sentence_transformers", "torch", PACKAGED) if importlib.util.find_spec(one) is None]
with_model = pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)} (cohortium[dense])")

TEXTS = ["Left mastectomy, ER positive.", "", "Osimertinib – begun " * 200, "Größe 2 cm", "half \ud800 character"]


@pytest.fixture(scope="module")
def encoder() -> LocalEncoder:
    """all-MiniLM-L6-v2 on the processor."""
    return LocalEncoder()


OFFLINE = """
import socket, sys
def caught(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"):
        print("network", event, file=sys.stderr)
        raise OSError("no network here")
sys.addaudithook(caught)
try:
    socket.getaddrinfo("localhost", 80)
except OSError:
    print("watched")
from cohortium.eval.baselines.retrieval.local_encoder import LocalEncoder
sys.stderr.flush()
print(LocalEncoder().encode(["Left mastectomy."]).shape)
"""


@with_model
def test_nothing_is_asked_of_any_network() -> None:
    """From the first import of the libraries to a vector, whatever the environment says of hubs."""
    held = {name: text for name, text in os.environ.items() if not name.startswith(("HF_", "TRANSFORMERS_"))}
    done = subprocess.run(
        [sys.executable, "-c", OFFLINE], env=held, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.stdout.split("\n")[:2] == ["watched", "(1, 384)"], done.stderr[-2000:]
    assert done.stderr.count("network") == 1, done.stderr[-2000:]


@with_model
def test_vectors_are_those_of_sentence_transformers(encoder: LocalEncoder) -> None:
    """Sorting and batching change nothing but the last digits."""
    from sentence_transformers import SentenceTransformer

    texts = [one for one in TEXTS if "\ud800" not in one]
    model = SentenceTransformer(str(packaged_directory()), device="cpu", local_files_only=True)
    wanted = model.encode(texts, normalize_embeddings=True)
    assert np.abs(encoder.encode(texts) - wanted).max() < 1e-5


@with_model
def test_it_says_what_it_is(encoder: LocalEncoder) -> None:
    """384 numbers, 256 tokens of which two are its own, a hash of the weights, no path."""
    told = encoder.signature()
    assert (encoder.name, encoder.dimension, encoder.most_tokens) == ("all-MiniLM-L6-v2", 384, 254)
    assert len(told["sha256"]) == 64
    assert str(packaged_directory()) not in str(told)
    assert LocalEncoder(machine=Machine(precision="bfloat16")).signature() != told


@with_model
def test_tokens_are_placed_by_characters(encoder: LocalEncoder) -> None:
    """Also behind letters of several bytes and half characters, and without what the model adds at both ends."""
    spans = encoder.offsets(TEXTS)
    assert [TEXTS[3][start:end] for start, end in spans[3]] == ["Gr", "ö", "ße", "2", "cm"]
    assert TEXTS[4][slice(*spans[4][-1])] == "character"
    assert spans[1].shape == (0, 2)
    assert len(spans[2]) > encoder.most_tokens


@with_model
def test_chunks_are_no_longer_than_it_reads(encoder: LocalEncoder) -> None:
    """A long note makes several chunks, each within the limit, the tail of one at the head of the next."""
    chunks = split(corpus({"A": ["Osimertinib was begun. " * 150, "short"]}), encoder)
    assert (chunks.most_tokens, chunks.shared_tokens) == (254, 25)
    assert len(chunks) > 3
    assert all(len(spans) <= 254 for spans in encoder.offsets(list(chunks.texts())))
    first, second = chunks.items[:2]
    assert second.start < first.end


@with_model
def test_what_is_behind_the_limit_is_not_read(encoder: LocalEncoder) -> None:
    """Two texts that differ only there have one vector."""
    start = "ovarian carcinoma " * 200
    one, two = encoder.encode([start + "alpha", start + "beta"])
    assert np.allclose(one, two, atol=1e-6)


@with_model
def test_bfloat16_is_near(encoder: LocalEncoder) -> None:
    """Half the precision turns a vector by little."""
    rows = LocalEncoder(machine=Machine(precision="bfloat16")).encode(TEXTS)
    assert rows.dtype == np.float32
    assert np.sum(rows * encoder.encode(TEXTS), axis=1).min() > 0.999


@with_model
def test_prompts_tell_questions_from_passages() -> None:
    """Each is set before the texts of its kind alone, and takes its room."""
    prompted = LocalEncoder(query_prompt="query: ")
    plain = LocalEncoder()
    assert np.allclose(prompted.encode(["x"], asked=True), plain.encode(["query: x"]), atol=1e-6)
    assert np.allclose(prompted.encode(["x"]), plain.encode(["x"]), atol=1e-6)
    assert prompted.most_tokens < plain.most_tokens


@with_model
def test_what_cannot_be_used_is_told(tmp_path: Path) -> None:
    """A name that is no directory (and never asked of a hub), an empty directory, another precision or device."""
    with pytest.raises(UsageError, match="no directory"):
        LocalEncoder(Path("sentence-transformers/all-MiniLM-L6-v2"))
    with pytest.raises(UsageError, match="no model"):
        LocalEncoder(tmp_path)
    (tmp_path / "modules.json").write_text('[{"idx": 0, "name": "0", "path": "", "type": "own.Code"}]')
    with pytest.raises(UsageError, match="modules of its own"):
        LocalEncoder(tmp_path)
    with pytest.raises(UsageError, match="precision"):
        LocalEncoder(machine=Machine(precision="int3"))


def test_without_the_package_its_name_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """What to install, or to name a directory."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match="name a directory"):
        packaged_directory()
