"""Encoders by name: the shipped list holds those of the paper, and says what is missing to use one."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from cohortium.eval.baselines.retrieval.configured import EncoderEntry, encoder_named, load_encoders
from cohortium.eval.baselines.retrieval.local_encoder import PACKAGED, packaged_directory
from cohortium.kb.errors import UsageError

missing = [one for one in ("sentence_transformers", "torch", PACKAGED) if importlib.util.find_spec(one) is None]
with_model = pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)} (cohortium[dense])")

PAPER = {"ada", "v3-large", "SBERT", "PubMed_QA", "BioBERT_QA", "PubMed_SNLI", "BioBERT_SNLI"}
LEAVE = {
    "COHORTIUM_EMBEDDING_BASE_URL": "http://127.0.0.1:9/v1",
    "COHORTIUM_EMBEDDING_API_KEY": "none",
    "COHORTIUM_EMBEDDING_SEND_NOTES": "yes",
}


def test_the_seven_of_the_paper_are_listed() -> None:
    """Table 6 has seven retrievers; the default is another, which a package carries."""
    entries = load_encoders()
    assert {one.paper for one in entries.values()} - {""} == PAPER
    first = next(iter(entries.values()))
    assert (first.name, first.kind, first.paper) == ("minilm", "package", "")


def test_an_endpoint_is_set_up_by_the_environment() -> None:
    """The entry gives model, dimension and limit; nothing is sent before a vector is wanted."""
    encoder = encoder_named("v3-large", environment=LEAVE)
    assert (encoder.name, encoder.dimension, encoder.most_tokens) == ("text-embedding-3-large", 3072, 8191)
    other = encoder_named("v3-large", environment={**LEAVE, "COHORTIUM_EMBEDDING_MODEL": "my-deployment"})
    assert other.signature()["name"] == "my-deployment"


@pytest.mark.parametrize("gone", sorted(LEAVE))
def test_an_endpoint_that_is_not_set_up_is_told(gone: str) -> None:
    """Address, key and leave to send notes: each is asked for by name."""
    with pytest.raises(UsageError, match=gone):
        encoder_named("ada", environment={key: value for key, value in LEAVE.items() if key != gone})


def test_a_directory_must_be_named() -> None:
    """No hub is asked for it."""
    with pytest.raises(UsageError, match="all-mpnet-base-v2"):
        encoder_named("sbert")
    with pytest.raises(UsageError, match="no directory"):
        encoder_named("pubmed-qa", directory=Path("nowhere"))


def test_an_unknown_name_shows_the_known_ones() -> None:
    """Hint: one of …"""
    with pytest.raises(UsageError, match="minilm, ada"):
        encoder_named("word2vec")


def test_a_list_of_ones_own_is_checked(tmp_path: Path) -> None:
    """Another kind, another key, no file."""
    with pytest.raises(UsageError, match="package, directory, endpoint"):
        EncoderEntry("x", "hub")
    for text in ('[[encoder]]\nname = "x"\nkind = "package"\nsize = 3\n', "encoder = 3", "["):
        path = tmp_path / "own.toml"
        path.write_text(text)
        with pytest.raises(UsageError):
            load_encoders(path)
    with pytest.raises(UsageError, match="no encoders"):
        load_encoders(tmp_path / "none.toml")


@with_model
def test_the_default_is_the_packaged_one_and_a_directory_takes_its_entry() -> None:
    """Limits and prompts of the entry hold for the directory's model."""
    assert encoder_named().name == "all-MiniLM-L6-v2"
    own = {"mine": EncoderEntry("mine", "directory", most_tokens=100, before_question="ask: ")}
    encoder = encoder_named("mine", directory=packaged_directory(), entries=own)
    assert encoder.name == "mine"
    assert encoder.most_tokens < 100
    assert encoder.signature()["query_prompt"] == "ask: "
