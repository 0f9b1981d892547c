"""Lists of persons in one note: minutes of a board, a hand-over, a ward list; and which of them is its patient.

A line begins a case where a mark (a number, a letter, a bed, *Case B*) is followed by words of a person (a title, a
name in capitals, an age, a sex), or where it begins with such words. Only a run of marks of one sort most of which are
followed so is a list of persons: a list of diagnoses, drugs or specimens is none.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Final, NamedTuple

from .named import OTHER, OWN, capitalized, heads_of
from .shape import BLANK_LINE
from .word_classes import word_classes

_CLASSES: Final = word_classes("text", "cases")
#: Nobody can tell which of the cases is the patient.
UNKNOWN: Final = "unknown"
#: At the begin of a line.
_MARK: Final = _CLASSES.compile(
    r"[ \t]{0,8}(?:[-*\u2022][ \t])?"
    r"(?:(?P<word>(?i:{case})[ \t]{0,2}[#:]?[ \t]?(?:\d{1,3}[A-Da-d]?|[A-Z])\b)"
    r"|(?P<hash>\#\d{1,2})\b|(?P<number>[(\[]?\d{1,2}[.):\]][ \t])"
    r"|(?P<letter>[(\[]?[A-Z][.):\]][ \t])|(?P<place>\d{1,2}[/-]\d{1,2}[A-D]?)(?=[ \t:]))"
)
#: Who is numbered so, and of what age or sex somebody is.
_NUMBERED: Final = r"(?:{identifier})[ \t]?(?:{sign}[ \t]?)?[A-Z]{0,3}-?\d{4,}"
_AGED: Final = r"1?\d{1,2}[ \t]?-?(?i:{years}|{sex})\b"
#: Words of a person that no specimen has.
_SURE: Final = r"\b" + _NUMBERED + r"|\b" + _AGED + r"|\b(?i:{sex_word}|{born})\b"
#: A line that begins with a person: an identifier, or an age and a sex.
_PERSON_FIRST: Final = _CLASSES.compile(
    r"[ \t]{0,8}(?:[-*\u2022\u2013][ \t]{0,2})?(?:(?:[A-Z]{1,2}\.?){1,3}[,:]?[ \t])?(?:"
    + _NUMBERED
    + r"|(?P<age>1?[1-9]\d)[ \t]?-?(?:(?i:{years})[ \t]?)?(?:/[ \t]?)?(?:[MF]|(?i:{sex_word}))\b)"
)
_SURELY_PERSON: Final = _CLASSES.compile(_SURE)
#: Words of a person, close behind the mark.
_PERSON: Final = _CLASSES.compile(
    r"\b{title}\b\.?[ \t]+[A-Z]|\b[A-Z][A-Z'\u2019-]{2,},[ \t]+[A-Z]|\b[A-Z][a-z'\u2019-]+,[ \t]+[A-Z]"
    r"|\b[A-Z][A-Z'\u2019-]{3,}[ \t]+(?:[A-Z][a-z'\u2019-]+|[A-Z]\b)|" + _SURE + r"|,[ \t]?1?\d\d(?=[,;.) \t-])"
)
#: A mark that stands behind others on its line, of each sort.
_WORD_WITHIN: Final = (
    r"(?P<word>(?i:{case})[ \t]{1,2}[#]?(?:\d{1,2}|[A-Z])(?:[.:,](?=[ \t])|(?=[ \t](?:\(|" + _AGED + r"))))"
)
_NUMBER_WITHIN: Final = r"(?P<within>\d{1,2}[.)])(?=[ \t]" + _AGED + r")"
_LETTER_WITHIN: Final = r"(?P<lettered>\([a-h1-9]\))(?=[ \t](?:{title}\b\.?[ \t][A-Z]|" + _AGED + r"))"
_TITLE_WITHIN: Final = r"(?<=[;:][ \t])(?P<titled>{title}\b\.?[ \t](?:[A-Z][\w'’\-]{0,14}\.?){1,3},)(?=[ \t])"
_MARK_WITHIN: Final = _CLASSES.compile(
    r"(?<=[.;:\"“) ])(?<=[\s\"“])(?:" + "|".join((_WORD_WITHIN, _NUMBER_WITHIN, _LETTER_WITHIN, _TITLE_WITHIN)) + r")"
)
#: The sorts of marks that have no word of their own.
_WITHOUT_WORD: Final = frozenset({"hash", "number", "letter", "place", "person", "within", "lettered", "titled"})
_WORD: Final = re.compile(r"[A-Za-z]+")
_CASE_BEFORE: Final = _CLASSES.compile(r"\b(?i:{case})[ \t]{0,2}\Z")
_NAMED: Final = _CLASSES.compile(r"\b{title}\b\.?[ \t]+(?:[A-Z][\w'’\-]{0,14}\.?){1,3}")
#: How far behind a mark the words of a person may stand, in characters.
_REACH: Final = 70
#: A case in a quotation ends with it.
_CLOSED: Final = re.compile(r"[.;][\"\u201d]")
_LINE_END: Final = re.compile(r"\r?\n")
_THIS_ONE: Final = _CLASSES.compile(r"\b(?i:{this_one})\b")
_FEWEST: Final = 3
_FEWEST_NAMED: Final = 2
_SHARE: Final = 0.6
#: An age, as a case and a note tell it.
_AGE: Final = _CLASSES.compile(
    r"(?<![\d.])(?P<age>1?[1-9]\d)(?=[ \t-]?(?i:{years}|{sex})(?![A-Za-z])|,[ ]|[ \t-]year)", re.IGNORECASE
)
#: A list that takes less of its note stands aside in it.
_ASIDE: Final = 0.4
#: A case that is so many times as long as the next, and so long (characters), is the one that is told in full.
_FAR_LONGER: Final = 2.5
_AT_LENGTH: Final = 600


class Case(NamedTuple):
    """A stretch that is about one of several persons: ``own`` the note's patient, ``other`` or ``unknown``."""

    start: int
    end: int
    who: str


def cases_in(text: str, title: str = "") -> list[Case]:
    """The cases of the lists of persons in a text, in order.

    >>> board = "Patient: OBI, T\\n1) KAY, Ann 66: letrozole\\n2) OBI, Tara 38: carboplatin\\n3) LEE, Bo 50: nothing"
    >>> [one.who for one in cases_in(board)]
    ['other', 'own', 'other']
    >>> cases_in("1. Lung cancer\\n2. Diabetes\\n3. Hypertension")
    []
    """
    sorts: dict[str, list[tuple[int, bool]]] = defaultdict(list)
    for mark, line_end in _marks_of_lines(text):
        last = min(line_end, mark.end() + _REACH)
        sort = str(mark.lastgroup)
        # Letters mark specimens, whose names look like those of persons ("A. BREAST, LEFT").
        person = (_SURELY_PERSON if sort == "letter" else _PERSON).search(text, mark.end(), last) is not None
        sorts[_sort_of(mark)].append((mark.start(), person))
    for mark in _marks_within(text):
        named = mark.lastgroup in ("lettered", "titled")
        person = named or _PERSON.search(text, mark.end(), mark.end() + _REACH) is not None
        sorts[_sort_of(mark)].append((mark.start(), person))
    marked = {start for found in sorts.values() for start, _ in found}
    led = {match.start(): match.group().strip(" \t-*") for match in _lines_led_by_persons(text)}
    if len(set(led.values())) >= _FEWEST and not marked & led.keys():
        sorts["person"] = [(start, True) for start in led]
    cases: list[Case] = []
    for sort, found in sorts.items():
        marks = sorted(found)
        persons = sum(person for _, person in marks)
        if persons < (_FEWEST if sort in _WITHOUT_WORD else _FEWEST_NAMED) or persons < _SHARE * len(marks):
            continue
        heads = heads_of(text, title)
        starts = [start for start, _ in marks]
        cases += _told(text, _spans_of(text, starts), heads)
    return sorted(cases)


def _spans_of(text: str, starts: list[int]) -> list[tuple[int, int]]:
    """From where to where each case is told.

    Where those of others take a line or a part of one each, so does the last, whatever follows it in the note.
    """
    spans = list(zip(starts, [*starts[1:], len(text)], strict=True))
    if not _are_in_lines(text, spans):
        return spans
    last, _ = spans[-1]
    line = _LINE_END.search(text, last)
    end = line.start() if line else len(text)
    is_within = text[text.rfind("\n", 0, last) + 1 : last].strip()
    if is_within and (closed := _CLOSED.search(text, last, end)):
        end = closed.start() + 1
    return [*spans[:-1], (last, end)]


def _are_in_lines(text: str, spans: list[tuple[int, int]]) -> bool:
    """Whether most cases, of the last of which it is not known where it ends, take a line or a part of one each."""
    of_a_line = sum("\n" not in text[start:end].strip() for start, end in spans[:-1])
    return of_a_line >= _SHARE * (len(spans) - 1)


def _sort_of(mark: re.Match[str]) -> str:
    """Marks of one sort are a run: those with the same word, or of the same form without one."""
    if mark.lastgroup in _WITHOUT_WORD:
        return str(mark.lastgroup)
    word = _WORD.search(mark.group())
    return word.group().lower() if word else ""


def _lines_led_by_persons(text: str) -> Iterator[re.Match[str]]:
    """The lines that begin with a person, without a mark."""
    start = 0
    while start < len(text):
        if (match := _PERSON_FIRST.match(text, start)) is not None:
            yield match
        end = text.find("\n", start)
        start = len(text) if end < 0 else end + 1


def _marks_within(text: str) -> Iterator[re.Match[str]]:
    """The marks with a word of their own that stand behind others on a line (``Case 3: … Case 4: …``)."""
    for mark in _MARK_WITHIN.finditer(text):
        if mark.lastgroup == "within" and _CASE_BEFORE.search(text, max(0, mark.start() - 12), mark.start()):
            continue
        if text[text.rfind("\n", 0, mark.start()) + 1 : mark.start()].strip(" \t-*\u2022"):
            yield mark


def _marks_of_lines(text: str) -> Iterator[tuple[re.Match[str], int]]:
    """The marks at the begin of lines, and where the line of each ends."""
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        mark = _MARK.match(text, start)
        if mark is not None:
            yield mark, end
        start = end + 1


def _told_at_once(text: str, start: int, end: int) -> int:
    """Where a case ends whose text goes on: at its first blank line, unless that stands right behind its head."""
    blank = BLANK_LINE.search(text, start + _REACH, end)
    return blank.start() if blank else end


def _by_name(text: str, spans: list[tuple[int, int]]) -> list[int]:
    """1 for each case whose name, with its title, the rest of the note has."""
    outside = {
        " ".join(match.group().split()) for match in _NAMED.finditer(text[: spans[0][0]] + "\n" + text[spans[-1][1] :])
    }
    names = [_NAMED.search(text, start, min(end, start + _REACH)) for start, end in spans]
    return [int(name is not None and " ".join(name.group().split()) in outside) for name in names]


def _by_age(text: str, spans: list[tuple[int, int]]) -> list[int]:
    """1 for the one case whose age the rest of the note tells of its patient."""
    outside = text[: spans[0][0]] + "\n" + text[_told_at_once(text, *spans[-1]) :]
    told = {match["age"] for match in _AGE.finditer(outside)}
    ages = [_AGE.search(text, start, min(end, start + _REACH)) for start, end in spans]
    return [int(age is not None and age["age"] in told) for age in ages]


def _by_length(text: str, spans: list[tuple[int, int]]) -> list[int]:
    """In minutes that are filed to several charts the patient's own case is told at length, those of others in a line
    or two: 1 for a case that is far longer than any other, which then is the patient's."""
    lengths = [_told_at_once(text, start, end) - start for start, end in spans]
    longest, next_one = sorted(lengths, reverse=True)[:2] if len(lengths) > 1 else (0, 1)
    is_one = len(spans) >= _FEWEST and longest >= _FAR_LONGER * next_one and longest >= _AT_LENGTH
    return [int(is_one and length == longest) for length in lengths]


def _label(text: str, start: int) -> str:
    """The mark of a case that has a word of its own."""
    mark = _MARK.match(text, start) or _MARK_WITHIN.match(text, start)
    return mark["word"].strip(" :.,").lower() if mark and mark["word"] else ""


def _told(text: str, spans: list[tuple[int, int]], heads: frozenset[str]) -> list[Case]:
    """Whose case each is: the patient's shares most with the name of the header, or says that it is this one."""
    shared = []
    for start, end in spans:
        last = min(end, start + _REACH)
        says_so = _THIS_ONE.search(text, start, last) is not None
        shared.append(len(capitalized(text[start:last]) & heads) + len(spans) * says_so)
    if not max(shared):
        shared = _by_name(text, spans)
    if not max(shared):
        shared = _by_age(text, spans)
    if shared.count(max(shared)) > 1:
        shared = _by_length(text, spans)
    most = max(shared)
    if not most or shared.count(most) > 1:
        # In a note that is mostly about its patient a list of others adds nothing, whichever is the patient's.
        aside = spans[-1][1] - spans[0][0] < _ASIDE * len(text)
        return [Case(start, end, OTHER if aside else UNKNOWN) for start, end in spans]
    cases = []
    in_lines = _are_in_lines(text, spans)
    own = _label(text, spans[shared.index(most)][0])
    for (start, end), count in zip(spans, shared, strict=True):
        if own and _label(text, start) == own:
            count = most  # "PATIENT B: addendum …" goes on with the case.
        # What follows the case of another may be of anybody.
        stop = (_LINE_END if in_lines else BLANK_LINE).search(text, start, end)
        cases.append(Case(start, end, OWN) if count == most else Case(start, stop.start() if stop else end, OTHER))
    return cases
