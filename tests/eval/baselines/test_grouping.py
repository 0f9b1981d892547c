"""From chunks to patients: cuts, orders, ties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohortium.eval.baselines.retrieval.grouping import PAPER_SHARE, Cut, group
from cohortium.eval.baselines.retrieval.nearest import Hits
from cohortium.kb.errors import UsageError

#: Chunks 0 to 6 belong to patients 0 0 1 1 1 2 3.
WHOSE = np.array([0, 0, 1, 1, 1, 2, 3], dtype=np.int32)
HITS = Hits.sorted(np.array([1, 2, 3, 4, 5, 0]), np.array([0.9, 0.8, 0.7, 0.6, 0.5, 0.1], dtype=np.float32))


def test_the_best_chunk_ranks_a_patient() -> None:
    """Two chunks of one patient count once; whom the search did not touch is not ranked."""
    found = group(HITS, WHOSE, Cut(chunks=3))
    assert list(found.patients) == [0, 1, 2]
    assert np.allclose(found.scores, [0.9, 0.8, 0.5])
    assert found.size == 2
    assert [list(one) for one in found.chunks] == [[1, 0], [2, 3, 4], [5]]
    assert np.allclose(found.chunk_scores[1], [0.8, 0.7, 0.6])


def test_sums_of_the_best_rank_otherwise() -> None:
    """0.8 + 0.7 passes 0.9 + 0.1; the number of retrieved patients is that of the chunks that were cut."""
    found = group(HITS, WHOSE, Cut(chunks=1, best_of=2))
    assert list(found.patients) == [1, 0, 2]
    assert np.allclose(found.scores, [1.5, 1.0, 0.5])
    assert found.size == 1


@pytest.mark.parametrize(
    ("cut", "kept"),
    [
        (Cut(chunks=0), 0),
        (Cut(chunks=2), 2),
        (Cut(chunks=99), 6),
        (Cut(share=0.0), 0),
        (Cut(share=1 / 7), 1),
        (Cut(share=0.2), 2),
        (Cut(share=1.0), 6),
        (Cut(threshold=0.7), 3),
        (Cut(threshold=0.70001), 2),
        (Cut(threshold=2.0), 0),
        (Cut(threshold=-1.0), 6),
        (Cut(share=1.0, threshold=0.6, chunks=3), 3),
    ],
)
def test_cuts_keep_the_head_of_the_hits(cut: Cut, kept: int) -> None:
    """Numbers, shares of all seven chunks (rounded up) and scores (the bound itself counts); the strictest holds."""
    assert cut.kept(HITS, 7) == kept


def test_the_share_of_the_paper() -> None:
    """1,000 chunks in its index of 472,861."""
    many = Hits(np.arange(472_861), np.linspace(1, 0, 472_861, dtype=np.float32))
    assert Cut(share=PAPER_SHARE).kept(many, 472_861) == 1000


def test_patients_that_tie_stand_by_number() -> None:
    """Equal scores are no order of their own."""
    ties = Hits.sorted(np.array([6, 5, 2, 0]), np.full(4, 0.5, dtype=np.float32))
    found = group(ties, WHOSE, Cut(chunks=2))
    assert list(found.patients) == [0, 1, 2, 3]
    assert found.size == 2


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(-9, 9)), unique_by=lambda one: one[0]), st.integers(0, 7))
def test_the_cohort_is_the_patients_of_the_kept_chunks(drawn: list[tuple[int, int]], chunks: int) -> None:
    """Ranked by the best chunk, the head of the ranking is exactly whom the first chunks belong to."""
    hits = Hits.sorted(
        np.array([one for one, _ in drawn], dtype=np.int64), np.array([s / 10 for _, s in drawn], dtype=np.float32)
    )
    found = group(hits, WHOSE, Cut(chunks=chunks))
    assert set(found.patients[: found.size]) == {WHOSE[one] for one in hits.chunks[:chunks]}
    assert list(found.scores) == sorted(found.scores, reverse=True)


@pytest.mark.parametrize("wrong", [{}, {"chunks": -1}, {"share": 1.5}, {"threshold": 0.5, "best_of": 0}])
def test_cuts_that_mean_nothing_are_refused(wrong: dict[str, float]) -> None:
    """A cut says something, and something possible."""
    with pytest.raises(UsageError):
        Cut(**wrong)  # type: ignore[arg-type]
