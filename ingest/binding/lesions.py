"""Spread that is told by an organ and what was seen there: ``new hepatic lesions``, ``liver clear``, ``MRI brain neg``.

Which words stand around an organ is data (``cues/words/binding.toml``, ``cues/lesions.toml``); whether a lesion there
is spread is decided by what else is known of the patient (``journey/lesions.py``): a mention says only how it was told,
in its source.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from ...kb.ontology.concepts import ConceptTable
from ..recognizers.spread import CLEAR, LESION
from ..text.cue_files import cue_file
from ..text.frame import Frame, Span
from ..text.gates import Gate
from ..text.word_classes import word_classes

_CLASSES: Final = word_classes("binding", "lesions")

#: What may open such a finding: without a word of these no note is read.
_OPENS: Final = Gate(within=_CLASSES.pattern(r"(?i:(?<![a-z])(?:{lesion_begins}|{clear_begins}|{no}\Z))"))
_STUDY: Final = _CLASSES.compile(r"(?<![^\W_])(?:(?i:{study})|{study_short})(?![^\W_])")
_EXAMINED: Final = _CLASSES.compile(r"(?<![^\W_])(?:{examined}|{planned})\b", re.IGNORECASE)
_WENT_ON: Final = _CLASSES.compile(r"(?<![^\W_])(?:(?i:{went_on})|{went_on_short})(?![^\W_])")
#: Ends of the clause that an organ stands in, and what joins organs to a list.
_CLAUSE: Final = _CLASSES.compile(r"[;:\n()]|\.(?=\s|$)|,(?!\d)|\s(?:{parts})\s|[-–=]>|\s[-–—]\s", re.IGNORECASE)
_JOINED: Final = _CLASSES.compile(r"(?:\s?[,/&+]\s?|\s(?:{joins})\s){1,2}(?:{which}\s)?", re.IGNORECASE)
#: The name of a study around its organ, with its date: ``brain MRI 11/25``.
_OF_STUDY: Final = (
    r"(?:(?:{study}|{study_short}|{part}|\d{1,4}[/\-.]\d{1,2}(?:[/\-.]\d{1,4})?|[A-Z][a-z]{2,8}\s\d{2,4})"
    r"[\s,:()\-–]{1,3}){0,4}"
)

# --- free of spread ---------------------------------------------------------------------------------------------------

#: ``liver clear``, ``lungs, liver and nodes normal``, ``MRI brain 11/25 neg``.
_CALLED_CLEAR: Final = _CLASSES.compile(
    r"(?:,?\s(?:{joins})\s(?:{of_nodes}\s)?\w{3,16})?(?:\s{rest})?\s?[:\-–(]?\s?"
    + _OF_STUDY
    + r"(?:{is}\s)?(?:{fully}\s)?(?P<clear>{clear})(?![^\W_])(?!\s(?:{clear_of_else}|{clear_for}\s(?!{spread_of})))",
    re.IGNORECASE,
)
#: ``Liver: 7 mm cyst as before, no lesion otherwise``.
_HEADED_CLEAR: Final = _CLASSES.compile(
    r"\s?:\s?(?:[^.;\n]{1,80}?,\s)?(?P<clear>{no_bare}\s(?:{seen_as}\s){0,3}(?:{lesion}|{denied_thing}))(?![^\W_])",
    re.IGNORECASE,
)
#: What takes it back: ``not clear``.
_NOT_SO: Final = _CLASSES.compile(r"\b{not_so}\s\Z", re.IGNORECASE)
#: ``no FDG avid disease in the liver``, ``no liver lesion``, ``No liver.``
_DENIED: Final = _CLASSES.compile(
    r"(?<![^\W_])(?P<no>{no})\s(?:{seen_as}[\s/\-]{1,2}){0,6}(?:{lies_in}\s)?(?:{which}\s)?\Z", re.IGNORECASE
)
_DENIED_BEHIND: Final = _CLASSES.compile(r"\s?(?:{lesion}|{denied_thing}|\Z|[.,;)\n])", re.IGNORECASE)

# --- lesions ----------------------------------------------------------------------------------------------------------

#: ``lesions in the liver``, ``new hepatic lesions``, ``lung 20% bigger``, ``R adrenal 3.1 cm``.
_LESION_BEFORE: Final = _CLASSES.compile(
    r"(?<![^\W_])(?P<lesion>{lesion})(?:\s(?!{lesion_of_else})[^\s,;:.()]{1,16}){0,3}?"
    r"\s(?:{lies_in}|:)\s(?:{which}\s){0,2}(?:[^\s,;:.()]{1,16}\s){0,2}\Z",
    re.IGNORECASE,
)
_LESION_BEHIND: Final = _CLASSES.compile(
    r"\s(?:{is}\s)?(?:\d{1,3}\s?%\s)?{changed}(?![^\W_])"
    r"|[\s\-](?:(?!{lesion_of_else})[^\s,;:.()]{1,16}[\s\-]){0,3}?{lesion}(?![^\W_])",
    re.IGNORECASE,
)
_SIZE_BEHIND: Final = _CLASSES.compile(
    r"\s(?:{new}\s|{now}\s){0,2}\d{1,2}(?:\.\d{1,2})?\s?(?:x\s?\d[\d.]*\s?)?[cm]m\b", re.IGNORECASE
)
#: ``PD lung, pleura``, and what is only called new: ``new R adrenal 2.9``.
_WENT_ON_IN: Final = _CLASSES.compile(
    r"(?<![^\W_])(?P<lesion>{went_on_in}|{avid_in})"
    r"(?:(?:\s?[:(]|\s{to_organ}){0,3}|\s[^;.()]{1,40}\()\s?(?:{which}\s){0,2}\Z",
    re.IGNORECASE,
)
_NEW_THERE: Final = _CLASSES.compile(r"(?<![^\W_])(?P<lesion>{new})\s(?:{which}\s){0,2}\Z", re.IGNORECASE)
_NAMED_ALONE: Final = re.compile(r"\s?(?:\d[\d.]*\s?|\Z)(?:[cm]m)?\s?\Z")
#: ``Liver: six or seven new spots``, ``MRI brain 10/9: two enhancing foci``.
_HEADED: Final = _CLASSES.compile(
    r"\s?:\s?(?:(?!{lesion_of_else})[^\s;:.()]{1,16}\s){0,6}?(?P<lesion>{lesion})(?![^\W_])", re.IGNORECASE
)
_STUDY_SHOWS: Final = _CLASSES.compile(
    r"\s?"
    + _OF_STUDY
    + r"(?:\d{1,4}[/\-.]\d{1,2}(?:[/\-.]\d{1,4})?)?\)?\s?(?:[:\-–]|{shows})\s?"
    + r"(?:(?!{lesion_of_else})[^\s,;:.()]{1,16}\s){0,4}(?P<lesion>{lesion})(?![^\W_])",
    re.IGNORECASE,
)
#: The next in a list: ``R adrenal, two liver deposits, T9``.
_NEXT_IN_LIST: Final = _CLASSES.compile(
    r"(?:\s?{lesion})?(?:\s?\([^()\n]{0,30}\))?\s?(?:[,/&+]|{joins})\s?(?:(?:{which}|{new}|{several}|\d{1,2})\s){0,3}",
    re.IGNORECASE,
)
_ENDS_ITEM: Final = _CLASSES.compile(r"\s?(?:[,.;:)\n]|\Z|\d|{joins}\b)")

# --- how it is told ---------------------------------------------------------------------------------------------------

_NEW: Final = _CLASSES.compile(r"(?<![^\W_])(?:{new}|{grown})(?![^\W_])", re.IGNORECASE)
#: ``right adrenal 3.2 cm, new``.
_NEW_BEHIND: Final = _CLASSES.compile(r",\s(?:{now}\s)?{new}(?![^\W_])(?!\s(?!{new_since})\w)", re.IGNORECASE)
_SHRUNK: Final = _CLASSES.compile(r"(?<![^\W_])(?:{shrunk})(?![^\W_])", re.IGNORECASE)
_SEVERAL: Final = _CLASSES.compile(
    r"(?<![^\W_])(?:{several}|[2-9]|>?\s?[1-9]\d)(?=\s(?![cm]m\b))|{lesions}\b", re.IGNORECASE
)
_BENIGN: Final = _CLASSES.compile(r"(?<![^\W_])(?:{benign})", re.IGNORECASE)
_DOUBT: Final = _CLASSES.compile(r"(?<![^\W_])(?:{doubt})(?![^\W_])|\?", re.IGNORECASE)
#: In the source of its mention: what came up or grew, shrank, is one of several, or just a thing seen.
NEW, SHRUNK, SEVERAL, ONE = "new", "shrunk", "several", "one"

#: So far around an organ is its clause looked for; so far behind it what it is called, or what a heading tells of it;
#: so far before it the words of a tumor that goes on, and behind what was seen (characters).
_REACH: Final = 110
_CALLED, _TOLD, _BEFORE, _AROUND = 60, 120, 60, 60
#: So far before a sentence, on its line, may the study stand that it tells of; and so far before an organ its own.
_LINE, _STUDY_BEFORE, _NOT_BEFORE = 300, 16, 10


class _Seen(NamedTuple):
    """Where what was seen at an organ is told, and the words of its clause."""

    start: int
    end: int
    clause: str


class LesionReader:
    """Reads what was seen at the organs of a note."""

    def __init__(self, concepts: ConceptTable) -> None:
        table = cue_file("lesions")
        organs = table["organs"]["concepts"]
        self._organs = frozenset().union(*(concepts.below(organ) for organ in organs if organ in concepts))
        self._sections = {name: frozenset(listed) for name, listed in table["sections"].items()}
        self._course_of: dict[str, str] = table["course_of"]
        self._looked_at: dict[str, str] = table["looked_at"]
        #: An organ whose spread is a state as well (leptomeningeal disease).
        self._states = {organ: state for state, organ in cue_file("implied")["spread_of"].items()}

    def read(self, frame: Frame, sites: Sequence[Span], spread: Iterable[Span], document_class: str) -> Iterator[Span]:
        """Metastases (the concept is the organ), those absent decided, and the states that go with them; none where
        ``spread`` stands already."""
        organs = [site for site in sites if site.concept in self._organs]
        if not organs or not _OPENS.stands_in(frame.places, 0, len(frame.text) + 1):
            return
        text = frame.text
        told = sorted((one.start, one.end) for one in spread)
        last: list[Span] = []
        for group in _together(text, organs):
            start, end = group[0].start, group[-1].end
            low, high = frame.sentence_span(start)
            if any(one < end and start < other for one, other in told):
                continue
            if not self._is_seen(frame, low, high, document_class, start):
                continue
            found = list(_of_group(text, group, low, max(high, end)))
            if not found and last and last[0].source != CLEAR and last[-1].end <= start:
                goes_on = _NEXT_IN_LIST.fullmatch(text, last[-1].end, start) and _ENDS_ITEM.match(text, end)
                same = replace(last[-1], helpers=list(last[-1].helpers))
                found = [replace(same, start=one.start, end=one.end, concept=one.concept) for one in group if goes_on]
            yield from found
            yield from self._states_of(found)
            last = found or last

    def of_studies(self, frame: Frame, states: Iterable[Span], sites: Sequence[Span]) -> Iterator[Span]:
        """Metastases of the one organ that a study looked at (``MRI brain on May 3 showed no metastases``)."""
        text = frame.text
        looked_at = [(site, self._looked_at.get(site.concept, site.concept)) for site in sites]
        organs = [(site, organ) for site, organ in looked_at if organ in self._organs]
        for state in states if organs else ():
            low, _ = frame.sentence_span(state.start)
            low = max(low, state.start - _REACH, text.rfind("\n", 0, state.start) + 1)
            before = [(site, organ) for site, organ in organs if low <= site.start and site.end <= state.start]
            if len({organ for _, organ in before}) != 1:
                continue
            site, organ = before[-1]
            around = max(low, site.start - _STUDY_BEFORE), min(state.start, site.end + _STUDY_BEFORE)
            study = _STUDY.search(text, *around)
            if study is None or ";" in text[site.end : state.start]:
                continue
            if _STUDY.search(text, max(study.end(), site.end), state.start):
                continue
            yield replace(state, kind="metastasis", concept=organ, attributes={}, helpers=list(state.helpers))

    def _states_of(self, found: Sequence[Span]) -> Iterator[Span]:
        """The states that metastases go with: of an organ, and how the tumor goes on."""
        course = self._course_of.get(found[0].source.removeprefix(LESION).lstrip()) if found else None
        if course:
            yield replace(found[0], kind="state", concept=course, attributes={}, helpers=[])
        for one in found:
            if one.concept in self._states:
                state = self._states[one.concept]
                yield replace(one, kind="state", concept=state, attributes={}, helpers=list(one.helpers))

    def _is_seen(self, frame: Frame, low: int, high: int, document_class: str, place: int) -> bool:
        """Whether it is told of an image or of the course of a tumor, and not of an examination by hand or a plan."""
        section = frame.shape.section_at(place)
        if section.name in self._sections["not_seen"] or section.effect in ("skip", "family"):
            return False
        text = frame.text
        if _EXAMINED.search(text, low, place):
            return False
        of_image = document_class == "imaging" and section.name not in self._sections["asked"]
        if of_image or section.name in self._sections["seen"]:
            return True
        line = max(text.rfind("\n", 0, low) + 1, low - _LINE)
        return _STUDY.search(text, line, high) is not None or _WENT_ON.search(text, low, high) is not None


def _together(text: str, organs: Sequence[Span]) -> Iterator[list[Span]]:
    """Organs that are named together: ``liver, lung or bone``."""
    group: list[Span] = []
    for organ in organs:
        if group and not _JOINED.fullmatch(text, group[-1].end, organ.start):
            yield group
            group = []
        group.append(organ)
    if group:
        yield group


def _of_group(text: str, group: Sequence[Span], low: int, high: int) -> Iterator[Span]:
    """What is told of organs named together, in the sentence from ``low`` to ``high``."""
    free = _free(text, group, low, high)
    if free is not None:
        start, end = free
        for organ in group if start < end else ():
            helpers = [(start, end, "clear")]
            yield Span(organ.start, organ.end, "metastasis", organ.concept, CLEAR, helpers=helpers, decided="absent")
        return
    seen = _seen(text, group, low, high)
    if seen is None or _BENIGN.search(seen.clause):
        return
    start, end = group[0].start, group[-1].end
    doubted = _DOUBT.search(text, max(low, seen.start), min(high, max(seen.end, end) + _AROUND)) is not None
    for organ in group:
        yield Span(
            min(seen.start, organ.start),
            max(seen.end, organ.end),
            "metastasis",
            organ.concept,
            f"{LESION} {_how(seen.clause)}",
            decided="uncertain" if doubted else "",
        )


def _free(text: str, group: Sequence[Span], low: int, high: int) -> tuple[int, int] | None:
    """Where the words stand that call the organs free of spread; an empty place where those are taken back or deny only
    what is new; None for no such words."""
    start, end = group[0].start, group[-1].end
    clear = _CALLED_CLEAR.match(text, end, min(high, end + _CALLED))
    clear = clear or _HEADED_CLEAR.match(text, end, min(high, end + _TOLD))
    if clear:
        place = clear.span("clear")
        taken_back = _NOT_SO.search(text, max(low, place[0] - _NOT_BEFORE), place[0])
        return (place[0], place[0]) if taken_back else place
    begins = _clause_start(text, max(low, start - _REACH), start)
    denied = _DENIED.search(text, begins, start)
    if denied and _DENIED_BEHIND.match(text[end : _clause_end(text, end, min(high, end + _REACH))]):
        of_news = _NEW.search(text, denied.start(), start)
        return (denied.start(), denied.start()) if of_news else denied.span("no")
    return None


def _seen(text: str, group: Sequence[Span], low: int, high: int) -> _Seen | None:
    """What was seen at organs named together; None for nothing."""
    start, end = group[0].start, group[-1].end
    begins = _clause_start(text, max(low, start - _REACH), start)
    ends = _clause_end(text, end, min(high, end + _REACH))
    before, behind = text[begins:start], text[end:ends]
    went_on = _WENT_ON_IN.search(text, max(low, start - _BEFORE), start)
    ahead = _LESION_BEFORE.search(before) or (_NEW_THERE.search(before) if _NAMED_ALONE.match(behind) else None)
    after = _LESION_BEHIND.match(behind) or _SIZE_BEHIND.match(behind)
    if went_on or ahead or after:
        first = went_on.start("lesion") if went_on else begins + ahead.start("lesion") if ahead else start
        clause = text[begins:ends] + (text[went_on.start() : went_on.end()] if went_on else "")
        told = _Seen(first, end + (after.end() if after else 0), clause)
    else:
        shown = _HEADED.match(text, end, min(high, end + _TOLD))
        if shown:
            begins = start
        else:
            shown = _STUDY_SHOWS.match(text, end, min(high, end + _REACH))
            if shown is None or not _STUDY.search(text, max(low, start - _STUDY_BEFORE), shown.start("lesion")):
                return None
        ends = _clause_end(text, shown.end(), min(high, shown.end() + _AROUND))
        told = _Seen(start, shown.end("lesion"), text[begins:ends])
    behind_it = _NEW_BEHIND.match(text, ends)
    return told._replace(clause=told.clause + behind_it.group()) if behind_it else told


def _how(clause: str) -> str:
    """What the words of its clause say of a lesion."""
    if _NEW.search(clause):
        return NEW
    if _SHRUNK.search(clause):
        return SHRUNK
    return SEVERAL if _SEVERAL.search(clause) else ONE


def _clause_start(text: str, low: int, end: int) -> int:
    found = low
    for part in _CLAUSE.finditer(text, low, end):
        found = part.end()
    return found


def _clause_end(text: str, start: int, high: int) -> int:
    part = _CLAUSE.search(text, start, high)
    return part.start() if part else high
