"""Entities by their places in the text: the same span and type, or spans of one type that overlap and read alike.

The first is the entity-level score of CoNLL-2000, as seqeval computes it; the second is the paper's partial match
(section 4.2.1) brought to mentions, each of which has at most one partner.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache

from ...measures.scoring import Counts
from .abstracts import SIMILARITY
from .tagging import Entity


def exact_counts(gold: Iterable[Entity], found: Iterable[Entity], kind: str) -> Counts:
    """The counts of one type in one text by exact spans; a span that one side has twice is two."""
    wanted, named = (Counter((one.start, one.end) for one in side if one.type == kind) for side in (gold, found))
    both = (wanted & named).total()
    return Counts(both, named.total() - both, wanted.total() - both)


def overlap_counts(gold: Iterable[Entity], found: Iterable[Entity], kind: str) -> Counts:
    """The counts of one type in one text by the largest number of pairs that overlap and are similar to 0.6."""
    wanted, named = ([one for one in side if one.type == kind] for side in (gold, found))
    both = _pairs(
        [
            [
                at
                for at, other in enumerate(named)
                if one.start < other.end and other.start < one.end and _alike(one.text.lower(), other.text.lower())
            ]
            for one in wanted
        ]
    )
    return Counts(both, len(named) - both, len(wanted) - both)


def _pairs(partners: Sequence[Sequence[int]]) -> int:
    """The size of a largest matching, each left one with one of its partners (augmenting paths)."""
    taken: dict[int, int] = {}

    def place(left: int, seen: set[int]) -> bool:
        for right in partners[left]:
            if right not in seen:
                seen.add(right)
                if right not in taken or place(taken[right], seen):
                    taken[right] = left
                    return True
        return False

    return sum(place(left, set()) for left in range(len(partners)))


@lru_cache(maxsize=1 << 16)
def _alike(one: str, other: str) -> bool:
    return bool(difflib.get_close_matches(other, [one], n=1, cutoff=SIMILARITY))
