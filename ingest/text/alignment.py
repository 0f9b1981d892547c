"""Weighted alignment of what a scanner wrote with what may have been meant: words of a list, characters of notation.

What passes for what, and at which cost, is a table (``cues/scan_confusions.tsv``). Words that may pass for each other
have one key, so that a word is held against the few that share its key and not against all.
"""

from __future__ import annotations

import csv
import functools
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from .words import Remembered

_TABLE: Final = Path(__file__).parents[1] / "cues" / "scan_confusions.tsv"
#: A word may cost so much for each of its letters, and never more than the second figure in all.
_COST_OF_LETTER: Final = 0.09
_MOST: Final = 1.2
#: The next best word costs so much more than the best, or neither is taken.
_APART: Final = 0.3
#: Shorter words pass for too many others (letters).
_SHORTEST: Final = 6


@dataclass(frozen=True, slots=True)
class Confusions:
    """What passes for what: single characters both ways, and written pairs for one character that was meant."""

    single: Mapping[tuple[str, str], float]
    double: Mapping[tuple[str, str], float]
    _classes: Mapping[str, str] = field(default_factory=dict)

    def cost(self, written: str, meant: str) -> float | None:
        """What it costs to take one character for another; None if it never passes for it."""
        return 0.0 if written == meant else self.single.get((written, meant))

    def key(self, word: str) -> str:
        """Equal for words that may pass for each other (small letters)."""
        for (written, meant), _ in self.double.items():
            if meant in word:
                word = word.replace(meant, written)
        return "".join(self._classes.get(letter, letter) for letter in word)

    def distance(self, written: str, meant: str, most: float) -> float | None:
        """The least cost of an alignment of two words in small letters; None above ``most``."""
        best: dict[tuple[int, int], float] = {(0, 0): 0.0}
        frontier = [(0, 0)]
        while frontier:
            i, j = frontier.pop()
            so_far = best[i, j]
            steps = []
            if i < len(written) and j < len(meant):
                one = self.cost(written[i], meant[j])
                if one is not None:
                    steps.append((i + 1, j + 1, one))
                two = self.double.get((written[i : i + 2], meant[j]))
                if two is not None:
                    steps.append((i + 2, j + 1, two))
            for further, along, cost in steps:
                total = so_far + cost
                if total <= most and total < best.get((further, along), most + 1):
                    best[further, along] = total
                    frontier.append((further, along))
        return best.get((len(written), len(meant)))


@functools.lru_cache(maxsize=1)
def shipped_confusions() -> Confusions:
    """Those of the table."""
    single: dict[tuple[str, str], float] = {}
    double: dict[tuple[str, str], float] = {}
    joined: dict[str, str] = {}
    digits: dict[str, str] = {}

    def root(letter: str) -> str:
        while joined.setdefault(letter, letter) != letter:
            letter = joined[letter]
        return letter

    with _TABLE.open(encoding="utf-8", newline="") as lines:
        told = (line for line in lines if not line.startswith("#"))
        rows = csv.DictReader(told, delimiter="\t", quotechar=None, quoting=csv.QUOTE_NONE)
        for row in rows:
            written, meant, cost = row["written"], row["meant"], float(row["cost"])
            if len(written) > 1:
                double[written, meant] = cost
                continue
            single[written, meant] = single[meant, written] = cost
            if written.islower() and meant.islower():
                joined[root(written)] = root(meant)
            elif written.islower():
                digits.setdefault(meant, written)
    classes = {letter: root(letter) for letter in joined}
    return Confusions(single, double, classes | {digit: classes.get(one, one) for digit, one in digits.items()})


class AlignedWords:
    """Words that are known, and for unknown ones the known word that a scanner made them of."""

    def __init__(self, targets: Iterable[str], known: Iterable[str] = ()) -> None:
        """``targets``: what may have been meant; ``known``: further words that are right as they stand."""
        self._confusions = shipped_confusions()
        meant = {word.lower() for word in targets}
        self._targets = frozenset(meant)
        self._known = frozenset({*meant, *(word.lower() for word in known)})
        by_key: dict[str, list[str]] = defaultdict(list)
        for word in sorted(meant):
            if len(word) >= _SHORTEST:
                by_key[self._confusions.key(word)].append(word)
        self._by_key = dict(by_key)
        self.meant = Remembered(self._meant)

    def knows(self, word: str) -> bool:
        """Whether a word is right as it stands."""
        return word.lower() in self._known

    def is_meant(self, word: str) -> bool:
        """Whether it is one of the words that may have been meant, and long enough."""
        return len(word) >= _SHORTEST and word.lower() in self._targets

    def _meant(self, word: str) -> str:
        """The word that was meant, in the capitals of what was written; empty where none was, or two may have been."""
        small = word.lower()
        if len(small) < _SHORTEST or small in self._known:
            return ""
        most = min(_MOST, _COST_OF_LETTER * len(small))
        costs = sorted(
            (cost, one)
            for one in self._by_key.get(self._confusions.key(small), ())
            if (cost := self._confusions.distance(small, one, most)) is not None
        )
        if not costs or len(costs) > 1 and costs[1][0] - costs[0][0] < _APART:
            return ""
        found = costs[0][1]
        capitals = sum(letter.isupper() for letter in word)
        if capitals > len(word) // 2:
            return found.upper()
        return found[0].upper() + found[1:] if word[0].isupper() else found
