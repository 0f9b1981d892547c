"""What the words of a sentence, its place and what parts it from the one before say of its zone, as points learned.

The points were learned from marked notes by a conditional random field over the sentences of a note (Lafferty et al.
2001; ``cohortium train zones``): each word and each pair of neighbours, each pair of shapes, the evidence of
``cues/zones.toml``, the section, and each change of zone at each sort of boundary has its weight. Reading adds them up
and finds the likeliest way.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Final, NamedTuple

from ...kb.errors import BadModel
from .word_classes import word_classes
from .words import Remembered, fold

#: What something says for *nobody* and for *another* against *patient*.
Points = tuple[float, float]
#: From each zone to each other, at a boundary.
Changes = tuple[tuple[float, float, float], tuple[float, float, float], tuple[float, float, float]]

FILE: Final = Path(__file__).parent.parent / "cues" / "zone_words.tsv"
WORD, PAIR, SHAPES, MARK, CHANGE, COMMON = "word", "pair", "shapes", "mark", "change", "common"
#: All figures are one word.
_FIGURE: Final = "0"
#: What stands before the first word and behind the last.
_FIRST, _LAST = "^", "$"
#: Endings that tell what a word does in its sentence, by which a rare one is known; so is one in capitals.
_ENDINGS: Final = word_classes("text", "zone_words").compile(
    r"(?P<doing>ing)$|(?P<done>ed)$|(?P<how>ly)$|(?P<act>{act})$|(?P<drug>{drug})$|(?P<many>(?<!s)s)$"
)
_NO_CHANGE: Final[Changes] = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


class Described(NamedTuple):
    """A sentence as learning sees it: its words as written and folded, and what else holds of it."""

    written: Sequence[str]
    norms: Sequence[str]
    marks: Sequence[str]


@dataclass(frozen=True, slots=True)
class ZoneWords:
    """What was learned. ``words``: of a word; ``pairs``: of two neighbours; ``shapes``: of the shapes of two;
    ``marks``: of anything else that holds of a sentence; ``changes``: for each sort of boundary, from a zone to a zone;
    ``common``: the words that are their own shape."""

    words: Mapping[str, Points]
    pairs: Mapping[tuple[str, str], Points]
    shapes: Mapping[tuple[str, str], Points]
    marks: Mapping[str, Points]
    changes: Mapping[str, Changes]
    common: Set[str]
    _shape: Remembered[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_shape", Remembered(partial(shape, common=self.common)))

    def points(self, sentence: Described) -> tuple[float, float, float]:
        """What a sentence says of each zone."""
        nobody = another = 0.0
        plain = figureless(sentence.norms)
        shaped = [_FIRST, *map(self._shape.__getitem__, sentence.written), _LAST]
        found = [
            *map(self.words.get, set(plain)),
            *map(self.pairs.get, set(itertools.pairwise(plain))),
            *map(self.shapes.get, set(itertools.pairwise(shaped))),
            *map(self.marks.get, sentence.marks),
        ]
        for one in found:
            if one:
                nobody += one[0]
                another += one[1]
        return 0.0, nobody, another

    def change(self, boundary: str) -> Changes:
        """What it says to go from one zone to another at a boundary."""
        return self.changes.get(boundary, _NO_CHANGE)


def figureless(norms: Sequence[str]) -> list[str]:
    """The folded words, with one word for all figures.

    >>> figureless(["in", "12", "patient"])
    ['in', '0', 'patient']
    """
    return [_FIGURE if norm[0].isdigit() else norm for norm in norms]


def shape(word: str, common: Set[str]) -> str:
    """What kind of word it is: itself if it is common, else by its figures, capitals or ending.

    >>> [shape(word, {"the"}) for word in ("The", "EGFR", "encodes", "activated", "protein", "5th", "Lynch")]
    ['the', 'AA', '-many', '-done', 'w', '0', 'Aa']
    """
    if word[0].isdigit():
        return _FIGURE
    norm = fold(word)
    if norm in common:
        return norm
    if len(word) > 1 and word.isupper():
        return "AA"
    ending = _ENDINGS.search(word)
    if ending:
        return f"-{ending.lastgroup}"
    return "Aa" if word[0].isupper() else "w"


def features_of(sentence: Described, common: Set[str]) -> set[str]:
    """All that is asked of a sentence, by the names in the file.

    >>> sorted(features_of(Described(["You", "may"], ["you", "may"], ["day"]), {"you"}))
    ['mark day', 'pair you may', 'shapes ^ you', 'shapes w $', 'shapes you w', 'word may', 'word you']
    """
    plain = figureless(sentence.norms)
    shaped = [_FIRST, *(shape(word, common) for word in sentence.written), _LAST]
    return {
        *(f"{WORD} {norm}" for norm in plain),
        *(f"{PAIR} {one} {other}" for one, other in itertools.pairwise(plain)),
        *(f"{SHAPES} {one} {other}" for one, other in itertools.pairwise(shaped)),
        *(f"{MARK} {mark}" for mark in sentence.marks),
    }


@lru_cache(maxsize=1)
def zone_words() -> ZoneWords:
    """The shipped file, read once a process."""
    return read_zone_words(FILE)


def read_zone_words(path: Path) -> ZoneWords:
    """What a file of ``cohortium train zones`` holds; BadModel where it is none."""
    single: dict[str, dict[str, Points]] = {WORD: {}, MARK: {}}
    double: dict[str, dict[tuple[str, str], Points]] = {PAIR: {}, SHAPES: {}}
    changes: dict[str, Changes] = {}
    common: set[str] = set()
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("#"):
            continue
        name, *rest = line.split("\t")
        sort, _, of = name.partition(" ")
        try:
            if sort == COMMON:
                common.update(rest)
            elif sort == CHANGE:
                a, b, c, d, e, f, g, h, i = map(float, rest)
                changes[of] = (a, b, c), (d, e, f), (g, h, i)
            else:
                nobody, another = map(float, rest)
                if sort in single:
                    single[sort][of] = nobody, another
                else:
                    one, other = of.split(" ")
                    double[sort][one, other] = nobody, another
        except (KeyError, ValueError) as error:
            raise BadModel(
                f"{path.name}, line {number}: not what 'cohortium train zones' writes", "make the file again"
            ) from error
    return ZoneWords(single[WORD], double[PAIR], double[SHAPES], single[MARK], changes, frozenset(common))
