"""The field over tags: its loss is the one that writing all taggings out gives, whether tags are known or not."""

from __future__ import annotations

import itertools

import numpy
import pytest

torch = pytest.importorskip("torch")

from cohortium.eval.training.crf import TransitionScores  # noqa: E402
from cohortium.ingest.models.tagging.labels import LabelSet  # noqa: E402

LABELS = LabelSet(("drug", "illness"))


def field_of_chance(seed: int) -> TransitionScores:
    """A field with transitions that mean nothing."""
    torch.manual_seed(seed)
    field = TransitionScores(LABELS)
    with torch.no_grad():
        for one in field.parameters():
            one.copy_(torch.randn_like(one))
    return field


def log_total(field: TransitionScores, emissions: torch.Tensor, possible: numpy.ndarray) -> float:
    """The logarithm of the sum over all taggings that are allowed and possible, each written out."""
    between, first, last = (one.detach().numpy() for one in field.scores())
    scores = []
    for path in itertools.product(range(len(LABELS)), repeat=len(emissions)):
        if not LABELS.may_begin[path[0]] or not all(possible[at, tag] for at, tag in enumerate(path)):
            continue
        if not all(LABELS.allowed[one, other] for one, other in itertools.pairwise(path)):
            continue
        steps = sum(between[one, other] for one, other in itertools.pairwise(path))
        words = sum(float(emissions[at, tag]) for at, tag in enumerate(path))
        scores.append(first[path[0]] + steps + words + last[path[-1]])
    return float(numpy.logaddexp.reduce(scores))


@pytest.mark.parametrize("seed", range(4))
def test_the_loss_is_that_of_all_taggings_written_out(seed: int) -> None:
    """With some words known, some of which only a type is ruled out, and padding that does not count."""
    field, chance = field_of_chance(seed), numpy.random.default_rng(seed)
    emissions = torch.from_numpy(chance.normal(size=(2, 4, len(LABELS)))).float()
    possible = numpy.zeros((2, 4, len(LABELS)), dtype=bool)
    possible[0, 0, 1] = possible[0, 1, 2] = True  # A drug of two words,
    possible[0, 2, [0, 3, 4]] = possible[0, 3, [0, 3, 4]] = True  # then words that may be an illness.
    possible[1, :2, 0] = True
    possible[1, 2:] = True  # padding
    mask = torch.tensor([[True] * 4, [True, True, False, False]])
    told = field(emissions, torch.from_numpy(possible), mask)
    everything = numpy.ones((4, len(LABELS)), dtype=bool)
    for row, words in ((0, 4), (1, 2)):
        wanted = log_total(field, emissions[row, :words], everything[:words]) - log_total(
            field, emissions[row, :words], possible[row, :words]
        )
        assert float(told[row]) == pytest.approx(wanted, abs=1e-4)


def test_a_text_of_which_nothing_is_known_costs_nothing_and_teaches_nothing() -> None:
    """Where every tag is possible the loss is 0, and so is its slope."""
    field = field_of_chance(1)
    emissions = torch.randn(1, 3, len(LABELS), requires_grad=True)
    loss = field(emissions, torch.ones(1, 3, len(LABELS), dtype=torch.bool), torch.ones(1, 3, dtype=torch.bool)).sum()
    loss.backward()
    assert float(loss) == pytest.approx(0, abs=1e-5)
    assert float(emissions.grad.abs().max()) == pytest.approx(0, abs=1e-5)


def test_a_text_of_no_words_costs_nothing() -> None:
    """A row without a word adds nothing to the loss."""
    told = field_of_chance(2)(
        torch.randn(1, 2, len(LABELS)), torch.zeros(1, 2, len(LABELS)).bool(), torch.zeros(1, 2).bool()
    )
    assert float(told) == 0
