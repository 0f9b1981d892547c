"""Which texts are equal or nearly so: shared runs of words (A. Broder, On the resemblance and containment of documents,
1997), so that a copy is known whatever was put around it."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

#: Words of a shingle; and of two texts, the share of the shorter one's shingles that makes them nearly equal.
RUN: Final = 5
NEARLY: Final = 0.8
#: A run that more texts than these share is compared among neighbours alone, so that cost stays linear: texts that are
#: all alike are linked from one to the next, and boilerplate does not make any two of them so.
_BOILERPLATE: Final = 100
_NEIGHBOURS: Final = 5
#: Texts of fewer words are alike only when equal.
_SHORTEST: Final = 2 * RUN
_WORD: Final = re.compile(r"\w+")

Shingles = frozenset[tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts by their numbers, and the share of the shorter one's runs of words that the other holds as well; or
    that they are equal, word for word."""

    first: int
    second: int
    share: float
    equal: bool = False


def plain_words(text: str) -> tuple[str, ...]:
    """The words of a text in small letters, without any sign."""
    return tuple(_WORD.findall(text.casefold()))


def shingles(words: Sequence[str]) -> Shingles:
    """The runs of ``RUN`` words of a text; none of a text that is too short to be compared so."""
    if len(words) < _SHORTEST:
        return frozenset()
    return frozenset(tuple(words[at : at + RUN]) for at in range(len(words) - RUN + 1))


def alike(texts: Sequence[str], nearly: float = NEARLY) -> Iterator[Pair]:
    """The pairs of texts that are equal in words, or share ``nearly`` of the shorter one's runs of words.

    Of texts that are equal each is paired with the first of them alone: pairs are links, and not all combinations.
    Texts without any word are like none.
    """
    first_of: dict[tuple[str, ...], int] = {}
    for number, text in enumerate(texts):
        words = plain_words(text)
        if not words:
            continue
        same = first_of.setdefault(words, number)
        if same != number:
            yield Pair(same, number, 1.0, equal=True)
    runs = {number: shingles(words) for words, number in first_of.items()}
    holders: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for number, held in runs.items():
        for run in held:
            holders[run].append(number)
    shared: Counter[tuple[int, int]] = Counter()
    for numbers in holders.values():
        ordered = sorted(numbers)
        if len(ordered) <= _BOILERPLATE:
            shared.update(combinations(ordered, 2))
        else:
            shared.update(
                pair for step in range(1, _NEIGHBOURS + 1) for pair in zip(ordered, ordered[step:], strict=False)
            )
    for (one, other), count in sorted(shared.items()):
        share = count / min(len(runs[one]), len(runs[other]))
        if share >= nearly:
            yield Pair(one, other, share)


def clusters(count: int, links: Iterator[tuple[int, int]]) -> list[int]:
    """For each of ``count`` things the smallest number that it is linked to, over however many links."""
    above = list(range(count))

    def root(one: int) -> int:
        while above[one] != one:
            above[one] = above[above[one]]
            one = above[one]
        return one

    for one, other in links:
        low, high = sorted((root(one), root(other)))
        above[high] = low
    return [root(one) for one in range(count)]
