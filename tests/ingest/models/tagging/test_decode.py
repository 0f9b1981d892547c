"""Decoding: the best allowed path, and the exact probability of an entity, by hand and against counting all paths."""

from __future__ import annotations

import itertools
import math

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cohortium.ingest.models.tagging.decode import Decoder, Found
from cohortium.ingest.models.tagging.labels import LabelSet
from tests.amounts import examples

ONE = LabelSet(("DRUG",))
TWO = LabelSet(("DISEASE", "DRUG"))
NONE = -math.inf


def paths(decoder: Decoder, emissions: numpy.ndarray) -> dict[tuple[int, ...], float]:
    """The weight of every path, by counting all of them."""
    found = {}
    for path in itertools.product(range(emissions.shape[1]), repeat=len(emissions)):
        score = decoder.start[path[0]] + decoder.end[path[-1]]
        score += sum(emissions[at, tag] for at, tag in enumerate(path))
        score += sum(decoder.transitions[one, two] for one, two in itertools.pairwise(path))
        if score > NONE:
            found[path] = float(numpy.exp(score))
    return found


def test_a_path_is_the_best_of_the_allowed_ones() -> None:
    """The highest scores of each word alone would be O I-DRUG; that is forbidden, and B-DRUG I-DRUG is next."""
    emissions = numpy.array([[2.0, 1.5, 0.0], [0.0, 0.0, 3.0]])
    assert Decoder(ONE).best([emissions])[0].tolist() == [1, 2]


def test_transitions_start_and_end_count() -> None:
    """A price on ending inside an entity, or on beginning with one, moves the path."""
    emissions = numpy.array([[0.0, 1.0, 0.0], [0.0, 0.0, 0.5]])
    zeros = numpy.zeros((3, 3))
    assert Decoder(ONE, zeros, [0, 0, 0], [0, 0, 0]).best([emissions])[0].tolist() == [1, 2]
    assert Decoder(ONE, zeros, [0, 0, 0], [0, 0, -1]).best([emissions])[0].tolist() == [1, 0]
    assert Decoder(ONE, zeros, [0, -2, 0], [0, 0, -1]).best([emissions])[0].tolist() == [0, 0]
    dear = zeros.copy()
    dear[1, 2] = -1.0
    assert Decoder(ONE, dear, [0, 0, 0], [0, 0, 0]).best([emissions])[0].tolist() == [1, 0]


def test_the_probability_of_one_word() -> None:
    """One word may be O or B-DRUG: with equal scores each has a half."""
    assert Decoder(ONE).probability(numpy.zeros((1, 3)), 0, 1, "DRUG") == pytest.approx(0.5)


def test_the_probabilities_of_two_words() -> None:
    """Two words have five paths (OO, OB, BO, BB, BI): each entity's probability is the share of those that have it."""
    decoder, emissions = Decoder(ONE), numpy.zeros((2, 3))
    assert decoder.probability(emissions, 0, 2, "DRUG") == pytest.approx(1 / 5)
    assert decoder.probability(emissions, 0, 1, "DRUG") == pytest.approx(2 / 5)
    assert decoder.probability(emissions, 1, 2, "DRUG") == pytest.approx(2 / 5)


def test_the_probability_follows_the_scores() -> None:
    """A word whose tag B-DRUG outweighs O by the logarithm of 3 is a drug in three of four."""
    emissions = numpy.array([[0.0, math.log(3), 0.0]])
    assert Decoder(ONE).entities([emissions]) == [[Found(0, 1, "DRUG", pytest.approx(0.75))]]


@settings(max_examples=examples(60), deadline=None)
@given(st.integers(1, 5), st.integers(0, 2**32 - 1), st.sampled_from([0.3, 2.0, 8.0]))
def test_all_paths_counted_give_the_same(words: int, seed: int, scale: float) -> None:
    """Best paths and probabilities agree with a count of all paths, in a batch of texts of several lengths."""
    drawn = numpy.random.default_rng(seed)
    decoder = Decoder(TWO, drawn.normal(0, scale, (5, 5)), drawn.normal(0, scale, 5), drawn.normal(0, scale, 5))
    texts = [drawn.normal(0, scale, (length, 5)) for length in (words, 1, words, 3)]
    for emissions, best, found in zip(texts, decoder.best(texts), decoder.entities(texts), strict=True):
        weights = paths(decoder, emissions)
        assert tuple(best) == max(weights, key=weights.__getitem__)
        assert [(one.first, one.last, one.type) for one in found] == TWO.decode(best)
        total = sum(weights.values())
        for first, last in itertools.combinations(range(len(emissions) + 1), 2):
            for kind in TWO.types:
                share = sum(weight for path, weight in weights.items() if (first, last, kind) in TWO.decode(path))
                assert decoder.probability(emissions, first, last, kind) == pytest.approx(share / total, abs=1e-9)
        for one in found:
            share = sum(
                weight for path, weight in weights.items() if (one.first, one.last, one.type) in TWO.decode(path)
            )
            assert one.probability == pytest.approx(share / total, abs=1e-9)


def test_extreme_scores_stay_numbers() -> None:
    """Scores a thousand apart, and a long entity, end in probabilities between nought and one."""
    emissions = numpy.full((400, 5), -1000.0)
    emissions[0, 1] = emissions[1:, 2] = 1000.0
    (found,) = Decoder(TWO).entities([emissions])
    assert [(one.first, one.last, one.type) for one in found] == [(0, 400, "DISEASE")]
    assert found[0].probability == pytest.approx(1.0)
    assert Decoder(TWO).probability(emissions, 5, 6, "DRUG") == pytest.approx(0.0)


def test_texts_without_words_have_no_entities() -> None:
    """No text, and texts of no words, are answered with nothing; the others keep their places."""
    decoder = Decoder(ONE)
    sure = numpy.array([[0.0, 9.0, 0.0]])
    assert decoder.entities([]) == []
    assert [len(one) for one in decoder.entities([numpy.zeros((0, 3)), sure, numpy.zeros((0, 3))])] == [0, 1, 0]
    assert [one.tolist() for one in decoder.best([numpy.zeros((0, 3)), sure])] == [[], [1]]


def test_what_is_decoded_does_not_depend_on_its_batch() -> None:
    """Alone or among longer and shorter texts, a text's entities and probabilities are the same to the last bit."""
    drawn = numpy.random.default_rng(7)
    decoder = Decoder(TWO, drawn.normal(size=(5, 5)), drawn.normal(size=5), drawn.normal(size=5))
    texts = [drawn.normal(size=(length, 5)) for length in (7, 40, 1, 40, 12)]
    assert decoder.entities(texts) == [decoder.entities([one])[0] for one in texts]


def test_scores_that_do_not_fit_are_refused() -> None:
    """Other shapes, numbers that are none and a model without a path are errors, not answers."""
    with pytest.raises(ValueError, match="do not fit 3 tags"):
        Decoder(ONE, numpy.zeros((5, 5)))
    with pytest.raises(ValueError, match="not a number"):
        Decoder(ONE, numpy.full((3, 3), math.nan))
    with pytest.raises(ValueError, match="no path"):
        Decoder(ONE, None, numpy.full(3, NONE))
    with pytest.raises(ValueError, match="do not fit 3 tags"):
        Decoder(ONE).best([numpy.zeros((4, 5))])
    with pytest.raises(ValueError, match="finite"):
        Decoder(ONE).entities([numpy.full((2, 3), math.nan)])
    with pytest.raises(ValueError, match="no such entity"):
        Decoder(ONE).probability(numpy.zeros((2, 3)), 1, 1, "DRUG")
    with pytest.raises(ValueError, match="no such entity"):
        Decoder(ONE).probability(numpy.zeros((2, 3)), 0, 1, "CAT")
