"""Who the patient of a record is (sex, year of birth), and whether words around a statement tell of that person."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from ..text.word_classes import word_classes

_CLASSES: Final = word_classes("trust", "persons")
#: An age in the forms in which people are told: *67-year-old*, *67F*, *aged 67*, *, 67,*.
_AGE: Final = _CLASSES.compile(
    r"(?i)\b(?:(?P<years>\d\d)[- ]?{years_old}|{aged}\s(?P<aged>\d\d)\b|(?P<sex>\d\d)\s?[mf]\b)|,\s(?P<between>\d\d),\s"
)
#: A word for a sex, also right behind an age.
_SEX: Final = _CLASSES.compile(
    r"(?i)\b(?:(?P<female>{female})|(?P<male>{male}))\b|\b\d\d\s?(?:(?P<woman>f)|(?P<man>m))\b"
)
FEMALE, MALE = "female", "male"
_SEX_OF: Final = {"female": FEMALE, "woman": FEMALE, "male": MALE, "man": MALE}
#: So far before the statement.
_REACH: Final = 300
#: What stands farther off in a line is not looked at.
_LONGEST_LINE: Final = 2_000
#: Ages of one person differ by as much as birthdays and rounding make; beyond, they are another's.
_SAME, _OTHER = 2, 4


class Person(NamedTuple):
    """The sex and year of birth that most words of the record tell; "" and 0 where none does."""

    sex: str
    born: int


class _Told(NamedTuple):
    """What a note tells of people, in the order of the text: years of birth by ages, and sexes, with their places."""

    ages_at: list[int]
    born: list[int]
    sexes_at: list[int]
    sexes: list[str]


class Persons:
    """The people told of in the notes of a record."""

    def __init__(self, notes: Iterable[tuple[str, int]]) -> None:
        """``notes``: the text and year (0 if it has no date) of each."""
        self._told = [_told(text, year) for text, year in notes]
        self.patient = _most_told(self._told)
        self._known: dict[tuple[int, str, int, int], dict[str, float]] = {}

    def signs(
        self, note: int, text: str, at: int, sentence: tuple[int, int], paragraph: tuple[int, int]
    ) -> dict[str, float]:
        """Whether ages and words for a sex in the sentence, the line, the paragraph and right before the place ``at``
        of a note are the patient's."""
        return {
            **self._kept(note, "sentence", *sentence),
            **self._kept(note, "line", *_line(text, at)),
            **self._within(note, "before", max(paragraph[0], at - _REACH), at),
            **self._kept(note, "paragraph", *paragraph),
        }

    def _kept(self, note: int, part: str, start: int, end: int) -> dict[str, float]:
        """What many statements ask is found once."""
        key = note, part, start, end
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._within(note, part, start, end)
        return known

    def _within(self, note: int, part: str, start: int, end: int) -> dict[str, float]:
        told, signs = self._told[note], {}
        born = told.born[bisect_left(told.ages_at, start) : bisect_left(told.ages_at, end)]
        if born and self.patient.born:
            apart = [abs(one - self.patient.born) for one in born]
            signs[f"own age in {part}"] = float(min(apart) <= _SAME)
            signs[f"other age in {part}"] = float(max(apart) > _OTHER)
            signs[f"last age is another in {part}"] = float(apart[-1] > _OTHER)
        sexes = told.sexes[bisect_left(told.sexes_at, start) : bisect_left(told.sexes_at, end)]
        if sexes:
            own = sexes.count(self.patient.sex)
            signs[f"other sex in {part}"] = 1 - own / len(sexes)
            signs[f"last sex is another in {part}"] = float(sexes[-1] != self.patient.sex)
            signs[f"own sex in {part}"] = float(own > 0)
        return signs


def _line(text: str, at: int) -> tuple[int, int]:
    """The line around a place, as far as :data:`_LONGEST_LINE` on either side."""
    low, high = max(0, at - _LONGEST_LINE), min(len(text), at + _LONGEST_LINE)
    end = text.find("\n", at, high)
    return max(low, text.rfind("\n", low, at) + 1), end if end >= 0 else high


def _told(text: str, year: int) -> _Told:
    ages = [(match.start(), year - int(match[match.lastgroup or 0])) for match in _AGE.finditer(text)] if year else []
    sexes = [(match.start(), _SEX_OF[match.lastgroup or ""]) for match in _SEX.finditer(text)]
    return _Told([at for at, _ in ages], [born for _, born in ages], [at for at, _ in sexes], [one for _, one in sexes])


def _most_told(notes: Sequence[_Told]) -> Person:
    """Of as many the first by name and the earliest year: the order of the notes decides nothing."""
    sexes = Counter(sex for note in notes for sex in note.sexes)
    born: Counter[int] = Counter()
    for note in notes:
        for year in note.born:
            # A year off is as the birthday falls.
            born.update({year: 2, year - 1: 1, year + 1: 1})
    return Person(
        min(sexes, key=lambda one: (-sexes[one], one), default=""),
        min(born, key=lambda one: (-born[one], one), default=0),
    )
