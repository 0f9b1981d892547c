"""An encoder behind an endpoint: one unit vector for each text, in its order, or a clear failure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohortium.eval.baselines.reading.budget import Budget, Prices
from cohortium.eval.baselines.retrieval.embedding_endpoint import EmbeddingOptions, EndpointEncoder, embedding_endpoint
from cohortium.kb.endpoint.chat import EndpointError
from cohortium.kb.errors import UsageError
from tests.eval.baselines.embedding_stage import DIMENSION, KEY, Stage, embedding_server, vector

TEXTS = [f"fictional passage {number}" for number in range(23)]


@pytest.fixture
def stage() -> Iterator[Stage]:
    """The server."""
    with embedding_server() as held:
        yield held


def unit(text: str) -> np.ndarray:
    held = np.array(vector(text))
    return held / np.linalg.norm(held)


def test_each_text_gets_its_own_unit_vector_whatever_the_order_of_the_answer(stage: Stage) -> None:
    """Batches come back backwards and at any time; rows stand in the order of the texts, float32, of length 1."""
    encoder = stage.encoder(batch=5, threads=3)
    found = encoder.encode(TEXTS)
    assert (found.shape, found.dtype) == ((23, DIMENSION), np.float32)
    assert np.allclose(found, [unit(text) for text in TEXTS], atol=1e-6)
    assert sorted(len(one["input"]) for one in stage.seen) == [3, 5, 5, 5, 5]
    assert set(stage.paths) == {"/v1/embeddings"}
    assert {one["model"] for one in stage.seen} == {"an-encoder"}
    assert (encoder.spent.requests, encoder.spent.prompt_tokens) == (5, 23 * 7)


def test_nothing_is_nothing_and_blanks_are_not_sent(stage: Stage) -> None:
    """No text gives no row; a blank text a row of zeros."""
    encoder = stage.encoder(dimension=DIMENSION)
    assert encoder.encode([]).shape == (0, DIMENSION)
    assert stage.seen == []
    found = encoder.encode(["", "a word", " \n"])
    assert [one["input"] for one in stage.seen] == [["a word"]]
    assert np.allclose(found, [np.zeros(DIMENSION), unit("a word"), np.zeros(DIMENSION)], atol=1e-6)


def test_the_dimension_is_asked_for_once_where_it_was_not_told(stage: Stage) -> None:
    """And then known."""
    encoder = stage.encoder()
    assert (encoder.dimension, encoder.dimension, len(stage.seen)) == (DIMENSION, DIMENSION, 1)
    assert stage.encoder(dimension=5).dimension == 5


def test_what_is_behind_the_limit_is_not_sent_and_words_may_be_set_before(stage: Stage) -> None:
    """Questions and passages have their own words; tokens are pieces of four letters, and signs."""
    encoder = stage.encoder(most_tokens=3, before_question="query: ", before_passage="passage: ")
    encoder.encode(["abcdefgh, ij"], asked=True)
    encoder.encode(["ab cd ef gh"])
    assert [one["input"] for one in stage.seen] == [["query: abcdefgh,"], ["passage: ab cd ef"]]
    (spans,) = encoder.offsets(["abcdefgh, ij"])
    assert spans.tolist() == [[0, 4], [4, 8], [8, 9], [10, 12]]


@given(st.text(max_size=60))
def test_offsets_are_places_in_order(text: str) -> None:
    """Tokens do not overlap and leave out blanks alone."""
    with_none = EndpointEncoder.__new__(EndpointEncoder)
    (spans,) = with_none.offsets([text])
    assert spans.shape[1] == 2
    flat = spans.ravel().tolist()
    assert flat == sorted(flat)
    left = "".join(text[end:begin] for end, begin in zip([0, *spans[:, 1]], [*spans[:, 0], len(text)], strict=True))
    assert not left.strip()


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_server_is_asked_again(stage: Stage, status: int) -> None:
    """Retries are counted, and the vectors come."""
    stage.statuses[:] = [status]
    stage.retry_after = "0.02"
    encoder = stage.encoder()
    encoder.encode(TEXTS)
    assert (encoder.spent.requests, encoder.spent.retries) == (2, 1)


def test_a_server_that_knows_no_formats_is_asked_without(stage: Stage) -> None:
    """The option goes, the texts stay."""
    stage.options_known = False
    assert stage.encoder().encode(TEXTS[:2]).shape == (2, DIMENSION)
    assert [set(one) for one in stage.seen] == [{"model", "input", "encoding_format"}, {"model", "input"}]


def _shorter(answer: dict[str, Any]) -> dict[str, Any]:
    answer["data"][0]["embedding"] = answer["data"][0]["embedding"][:-1]
    return answer


def _set(answer: dict[str, Any], value: object, place: int = 0) -> dict[str, Any]:
    answer["data"][place]["embedding"] = value
    return answer


def _index(answer: dict[str, Any], value: object) -> dict[str, Any]:
    answer["data"][0]["index"] = value
    return answer


@pytest.mark.parametrize(
    "change",
    [
        lambda answer: [], lambda answer: None, lambda answer: {}, lambda answer: {"data": []},
        lambda answer: {"data": answer["data"][:1]}, lambda answer: {"data": answer["data"] * 2},
        lambda answer: _index(answer, 0), lambda answer: _index(answer, 7), lambda answer: _index(answer, "1"),
        lambda answer: _index(answer, True), _shorter, lambda answer: _set(answer, []),
        lambda answer: _set(answer, "AAAA"), lambda answer: _set(answer, [0.0] * DIMENSION),
        lambda answer: _set(answer, [float("nan")] * DIMENSION),
        lambda answer: _set(answer, [float("inf")] * DIMENSION),
        lambda answer: _set(answer, [1e300] * DIMENSION), lambda answer: _set(answer, ["1"] * DIMENSION),
        lambda answer: _set(answer, [[1.0]] * DIMENSION), lambda answer: _set(answer, None),
        lambda answer: "x" * 1_000,
    ],
)  # fmt: skip
def test_what_is_no_vector_for_each_text_is_a_failure(stage: Stage, change: Any) -> None:
    """A wrong count, index, length, type or number is told, and nothing of it is used; the text is not told."""
    stage.change = change
    encoder = stage.encoder(dimension=DIMENSION)
    with pytest.raises(EndpointError) as told:
        encoder.encode(TEXTS[:2])
    assert told.value.kind == "nonsense"
    assert "fictional" not in str(told.value)
    assert KEY not in str(told.value)


def test_vectors_of_another_dimension_are_not_taken(stage: Stage) -> None:
    """What an index was built with is what it is asked with."""
    with pytest.raises(EndpointError, match=f"dimension {DIMENSION}, not 9"):
        stage.encoder(dimension=9).encode(TEXTS[:2])


def test_an_answer_too_long_is_not_read(stage: Stage) -> None:
    """Bytes are bounded."""
    with pytest.raises(EndpointError, match="1,000 bytes"):
        stage.encoder(limits={"answer_bytes": 1_000}).encode(TEXTS)


def test_a_budget_stops_exactly(stage: Stage) -> None:
    """The request after the last that is allowed is not sent; dollars follow from the price."""
    encoder = stage.encoder(batch=1, threads=2, budget=Budget(requests=4), prices=Prices(prompt=100.0))
    with pytest.raises(EndpointError) as told:
        encoder.encode(TEXTS)
    assert told.value.kind == "budget"
    assert len(stage.seen) == encoder.spent.requests == 4
    assert encoder.spent.dollars == pytest.approx(4 * 7 * 100 / 1e6)


def test_the_signature_names_the_model_and_neither_address_nor_key(stage: Stage) -> None:
    """It is what kept vectors are found by."""
    told = json.dumps(stage.encoder(dimension=8).signature())
    assert "an-encoder" in told
    assert str(stage.port) not in told
    assert KEY not in told
    assert stage.seen == []


@pytest.mark.parametrize("missing", ["BASE_URL", "MODEL", "API_KEY", "SEND_NOTES"])
def test_nothing_is_sent_unless_all_is_set_and_allowed(stage: Stage, missing: str) -> None:
    """Chunks are text of notes: the leave is a variable of its own."""
    held = stage.environment()
    del held[f"COHORTIUM_EMBEDDING_{missing}"]
    with pytest.raises(UsageError, match=f"COHORTIUM_EMBEDDING_{missing}"):
        embedding_endpoint(held)
    assert (
        embedding_endpoint({**stage.environment(), "COHORTIUM_EMBEDDING_PROMPT_PRICE": "2"})._options.prices.prompt == 2
    )


def test_options_that_mean_nothing_cannot_be() -> None:
    """Zero of anything is told."""
    for name in ("dimension", "most_tokens", "batch", "threads"):
        with pytest.raises(UsageError, match=name):
            EmbeddingOptions(**{name: 0})
