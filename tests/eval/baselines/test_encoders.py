"""What every encoder promises, held against the one that needs no model."""

from __future__ import annotations

import numpy as np
import pytest

from cohortium.ingest.models.linking.encoders import to_unit
from tests.eval.baselines.hashed_encoder import HashedEncoder

TEXTS = ["Left mastectomy, ER positive.", "", "ER positive", "Größe 2 cm – naïve"]


def test_rows_have_length_one_and_stand_in_the_order_of_the_texts() -> None:
    """A text has one vector, whatever it is encoded beside; a text without words has none to point with."""
    encoder = HashedEncoder()
    together = encoder.encode(TEXTS)
    assert together.dtype == np.float32
    assert together.shape == (4, encoder.dimension)
    assert np.allclose(np.linalg.norm(together, axis=1), [1, 0, 1, 1])
    for row, text in zip(together, TEXTS, strict=True):
        assert np.array_equal(row, encoder.encode([text])[0])


def test_texts_that_share_words_are_nearer() -> None:
    """The inner product is larger where words are shared."""
    one, _, near, far = HashedEncoder(256).encode(TEXTS)
    assert one @ near > one @ far


def test_tokens_are_given_by_characters() -> None:
    """Each span is the place of a token in the text, also behind letters of several bytes."""
    text = TEXTS[3]
    (spans,) = HashedEncoder().offsets([text])
    assert [text[start:end] for start, end in spans] == ["Größe", "2", "cm", "–", "naïve"]
    (none,) = HashedEncoder().offsets([""])
    assert none.shape == (0, 2)


def test_what_stands_behind_the_limit_is_not_read() -> None:
    """Only the first tokens count."""
    encoder = HashedEncoder(most_tokens=2)
    assert np.array_equal(encoder.encode(["one two three"]), encoder.encode(["one two"]))


def test_an_encoder_without_dimension_cannot_be() -> None:
    """Sizes below one are refused."""
    with pytest.raises(ValueError, match="at least one"):
        HashedEncoder(0)


def test_rows_of_zeros_stay() -> None:
    """No division by nothing."""
    assert np.array_equal(to_unit(np.array([[0, 0], [3, 4]])), np.array([[0, 0], [0.6, 0.8]], dtype=np.float32))
