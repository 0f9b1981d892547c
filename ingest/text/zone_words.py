"""What the words of a sentence, its place and what parts it from the one before say of its zone, as points learned.

The points were learned from marked notes by a conditional random field over the sentences of a note (Lafferty et al.
2001; ``cohortium train zones``): each word and each pair of neighbours, each pair of shapes, the evidence of
``cues/zones.toml``, the section, and each change of zone at each sort of boundary has its weight. Reading adds them up
and finds the likeliest way.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import lru_cache
from operator import add
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
#: The file tells points in hundredths, and no sentence has so many of them.
_HUNDREDTHS: Final = 100
_UPPER: Final = 1 << 32
_NO_CHANGE: Final[Changes] = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


class Described(NamedTuple):
    """A sentence as learning sees it: its words as written and folded, and what else holds of it."""

    written: Sequence[str]
    norms: Sequence[str]
    marks: Sequence[str]


class _Known(NamedTuple):
    """A written word in numbers: its place among the points, and the keys of the word and of its shape as the first and
    as the second of a pair."""

    points: int
    first: int
    second: int
    first_shape: int
    second_shape: int


class _Numbers:
    """Numbers for names, from 1 on; 0 is what has none. A pair of them is one number, which is its key."""

    def __init__(self, names: Iterable[str]) -> None:
        self._numbers = {name: number for number, name in enumerate(sorted(set(names)), 1)}
        self._most = len(self._numbers) + 1

    def first(self, name: str) -> int:
        """What the key of a pair has from its first member."""
        return self._numbers.get(name, 0) * self._most

    def second(self, name: str) -> int:
        """What it has from its second."""
        return self._numbers.get(name, 0)


class ZoneWords:
    """What was learned, ready to be added up for the sentences of a note.

    All that has points has a number. A word or pair counts once in a sentence, however often it stands there. Pairs are
    found by the sum of two numbers, as that makes no new text or tuple for each word read.
    """

    def __init__(
        self,
        words: Mapping[str, Points],
        pairs: Mapping[tuple[str, str], Points],
        shapes: Mapping[tuple[str, str], Points],
        marks: Mapping[str, Points],
        changes: Mapping[str, Changes],
        common: Set[str],
    ) -> None:
        """``words``: of a word; ``pairs``: of two neighbours; ``shapes``: of the shapes of two; ``marks``: of anything
        else that holds of a sentence; ``changes``: for each sort of boundary, from a zone to a zone; ``common``: the
        words that are their own shape."""
        self._changes = changes
        self._common = common
        points: list[Points] = [(0.0, 0.0)]  # Of what was not learned.

        def placed(one: Points) -> int:
            points.append(one)
            return len(points) - 1

        self._names = _Numbers(itertools.chain.from_iterable(pairs))
        self._forms = _Numbers(itertools.chain([_FIRST, _LAST], *shapes))
        self._words = {word: placed(one) for word, one in words.items()}
        self._pairs = {
            self._names.first(one) + self._names.second(other): placed(of) for (one, other), of in pairs.items()
        }
        self._shapes = {
            self._forms.first(one) + self._forms.second(other): placed(of) for (one, other), of in shapes.items()
        }
        self._marks = {mark: placed(one) for mark, one in marks.items()}
        #: What each says for *another* and, in the lower part of the number, for *nobody*: one sum adds up both.
        self._points = [
            round(_HUNDREDTHS * another) * _UPPER + round(_HUNDREDTHS * nobody) for nobody, another in points
        ]
        self._known = Remembered(self._of_word)

    def _of_word(self, word: str) -> _Known:
        (plain,) = figureless([fold(word)])
        form = shape(word, self._common)
        return _Known(
            self._words.get(plain, 0),
            self._names.first(plain),
            self._names.second(plain),
            self._forms.first(form),
            self._forms.second(form),
        )

    def points(
        self, written: Sequence[str], sentences: Iterable[tuple[int, int, Sequence[str]]]
    ) -> list[tuple[float, float, float]]:
        """What the sentences of a note say of each zone. ``written``: the words of the note; each sentence with its
        first word, the one behind its last, and what else holds of it."""
        points, first, second, first_shape, second_shape = (
            zip(*map(self._known.__getitem__, written), strict=True) if written else ((),) * 5
        )
        # For the whole note at once, as this goes over every word: a pair that reaches over an end is left out below.
        pairs = list(map(self._pairs.get, map(add, first, second[1:]), itertools.repeat(0)))
        shapes = list(map(self._shapes.get, map(add, first_shape, second_shape[1:]), itertools.repeat(0)))
        begins, ends = self._forms.first(_FIRST), self._forms.second(_LAST)
        said = []
        for low, high, marks in sentences:
            if low < high:
                found = {*points[low:high], *pairs[low : high - 1], *shapes[low : high - 1]}
                found.add(self._shapes.get(begins + second_shape[low], 0))
                found.add(self._shapes.get(first_shape[high - 1] + ends, 0))
            else:
                found = {self._shapes.get(begins + ends, 0)}
            every = itertools.chain(found, map(self._marks.get, marks, itertools.repeat(0)))
            total = sum(map(self._points.__getitem__, every))
            another = (total + _UPPER // 2) // _UPPER
            said.append((0.0, (total - another * _UPPER) / _HUNDREDTHS, another / _HUNDREDTHS))
        return said

    def change(self, boundary: str) -> Changes:
        """What it says to go from one zone to another at a boundary."""
        return self._changes.get(boundary, _NO_CHANGE)


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
