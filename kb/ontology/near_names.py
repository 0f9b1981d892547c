"""Near names: what a name that nobody knows may have been meant as: a slip of the pen, or a name of which it is a part.

Likeness of letters alone is no reason to offer a name: *creatinine* is not *calretinin*. A slip keeps the first
letter, costs few letters for the length of its word, and leaves figures alone; short names and symbols, which differ by
a letter from each other, are offered only where two neighboring letters changed places.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from .normal_forms import normal_form, normal_forms, without_plural

#: Shorter words, and names in capitals, are symbols.
_SHORTEST_WORD: Final = 5
#: The letters that may be wrong in a word, by its length from so many letters on.
_SLIPS: Final = ((8, 2), (_SHORTEST_WORD, 1))
#: From so many slips on, two letters at the beginning are the same.
_SAME_START: Final = 2
#: A word that is a part of this many names says too little to offer one of them.
_MOST_WITH_PART: Final = 60
_LONGEST: Final = 200
_FIGURE: Final = re.compile(r"\d")
_SYMBOL: Final = re.compile(r"[A-Z0-9][A-Z0-9\-+/]*")


class NearNames:
    """Names among which near ones are looked for; made once for a set of names."""

    def __init__(self, names: Iterable[Sequence[str]]) -> None:
        """``names`` are those of one thing after the other, its preferred name first. Of names that differ in case,
        hyphens or plural the first is kept."""
        self._by_form: dict[str, str] = {}
        self._by_size: dict[tuple[str, int], list[str]] = {}
        self._thing: dict[str, tuple[int, bool]] = {}
        listed = [(name, at, not number) for at, group in enumerate(names) for number, name in enumerate(group)]
        for (name, at, preferred), form in zip(listed, normal_forms([name for name, _, _ in listed]), strict=True):
            if form and form not in self._by_form:
                self._by_form[form] = name
                self._by_size.setdefault((form[0], len(form)), []).append(form)
                self._thing[form] = at, preferred
        self._with_word: Mapping[str, list[str]] | None = None

    def find(self, text: str, most: int = 3) -> list[str]:
        """At most ``most`` names, one of each thing: those of which ``text`` is a slip, the likeliest first; if there
        is none, those that hold all of its words, the shortest first. Empty when a name only resembles the text."""
        wanted = normal_form(text[:_LONGEST])
        if not wanted:
            return []
        slips = self._slips(wanted, symbol=bool(_SYMBOL.fullmatch(text.strip())))
        found: dict[int, str] = {}
        for form in slips or self._holding(wanted):
            found.setdefault(self._thing[form][0], self._by_form[form])
        return list(found.values())[:most]

    def _slips(self, wanted: str, *, symbol: bool) -> list[str]:
        most = sum(slips_allowed(word) for word in wanted.split())
        found: list[tuple[int, bool, int, str]] = []
        for length in range(len(wanted) - most, len(wanted) + most + 1):
            for form in self._by_size.get((wanted[0], length), ()):
                slips = slips_between(wanted, form, symbol=symbol or bool(_SYMBOL.fullmatch(self._by_form[form])))
                if slips is not None:
                    found.append((slips, not self._thing[form][1], -_common_start(wanted, form), form))
        return [form for *_, form in sorted(found)]

    def _holding(self, wanted: str) -> list[str]:
        """The names that hold every word of the text, and more."""
        if self._with_word is None:
            held: dict[str, list[str]] = {}
            for form in self._by_form:
                for word in set(without_plural(form).split()):
                    held.setdefault(word, []).append(form)
            self._with_word = held
        words = without_plural(wanted).split()
        if max(map(len, words)) < _SHORTEST_WORD:
            return []
        sets = [self._with_word.get(word, []) for word in words]
        among = min(sets, key=len)
        if len(among) > _MOST_WITH_PART:
            return []
        found = [form for form in among if all(form in others for others in map(set, sets))]
        return sorted(found, key=lambda form: (form.count(" "), len(form), form))


def near_words(text: str, words: Iterable[str], most: int = 3) -> list[str]:
    """At most ``most`` of a few ``words`` that ``text`` is a slip of, the likeliest first."""
    found = []
    wanted = normal_form(text[:_LONGEST])
    for word in dict.fromkeys(words):
        slips = slips_between(wanted, normal_form(word))
        if slips is not None:
            found.append((slips, word))
    return [word for _, word in sorted(found)[:most]]


def slips_allowed(word: str) -> int:
    """How many letters of a word may be wrong before it is another word."""
    if _FIGURE.search(word):
        return 0
    return next((slips for length, slips in _SLIPS if len(word) >= length), 0)


def slips_between(wanted: str, form: str, *, symbol: bool = False) -> int | None:
    """The slips that make one normal form of the other; None when they are two names, not one and its misspelling.

    Words are held against each other one by one; where their numbers differ, all letters together. A ``symbol`` bears
    no slip but two neighboring letters that changed places.
    """
    if wanted == form:
        return 0
    left, right = wanted.split(), form.split()
    pairs = list(zip(left, right, strict=True)) if len(left) == len(right) else [("".join(left), "".join(right))]
    total = 0
    for one, other in pairs:
        if one == other:
            continue
        slips = _word_slips(one, other, symbol=symbol)
        if slips is None:
            return None
        total += slips
    return total


def _word_slips(one: str, other: str, *, symbol: bool) -> int | None:
    if not one or not other or one[0] != other[0] or _figures(one) != _figures(other):
        return None
    if symbol or min(len(one), len(other)) < _SHORTEST_WORD:
        return 1 if len(one) >= 4 and _swapped(one, other) else None
    from rapidfuzz.distance import OSA

    most = min(slips_allowed(one), slips_allowed(other)) or (1 if _swapped(one, other) else 0)
    slips = OSA.distance(one, other, score_cutoff=most)
    if slips > most or (slips >= _SAME_START and one[:_SAME_START] != other[:_SAME_START]):
        return None
    return slips


def _swapped(one: str, other: str) -> bool:
    """Whether two neighboring letters changed places, and all else is the same."""
    if len(one) != len(other):
        return False
    at = _common_start(one, other)
    return one[at : at + 2] == other[at : at + 2][::-1] and one[at + 2 :] == other[at + 2 :]


def _figures(word: str) -> str:
    return "".join(_FIGURE.findall(word))


def _common_start(one: str, other: str) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
