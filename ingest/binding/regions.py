"""The part of the body that an examination is at: what heads a stretch of it, and what its sentences are about.

*LUNGS: clear. ABDOMEN: soft. No tenderness*; *the pharynx shows no erythema or exudate*: what is found, or not found,
is so at that part alone. A denial that lost it would deny the thing of the whole body.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Final, NamedTuple

from ..text.cue_files import any_of, cue_file
from ..text.frame import Frame, Span, starting
from ..text.gates import Gated
from ..text.word_classes import word_classes

_CLASSES: Final = word_classes("binding", "regions")
_IGNORE: Final = re.IGNORECASE

#: What heads a stretch, at the head of a line or sentence: ``NECK:``. What stands before it is sought first: few places
#: have it.
_NAMED: Final = r"[ \t]{0,4}(?P<name>[A-Z][A-Za-z/&,\-]{0,30}(?: [A-Za-z/&,\-]{1,20}){0,5}?) ?:(?=[\s,])"
_FIRST_HEADING: Final = re.compile(_NAMED)
_HEADING: Final = re.compile(rf"[\n.;,|]{_NAMED}")
#: Before the subject of a sentence: its beginning, or that of a clause.
_OPENS: Final = _CLASSES.compile(
    r"(?:\A|[\n.;:,\-]\s{0,4}|(?<![^\W_]){opens}\s{1,2})(?:{owner}\s{1,2}){0,6}(?:[\w\-]{1,16}(?:,\s|\sand\s))?\Z",
    _IGNORE,
)
_SAID_OF: Final = _CLASSES.compile(r"\s{1,2}(?:\(\w{1,12}\)\s)?(?:{part}\s{1,2}){0,2}{said}(?![^\W_])", _IGNORE)
_TURNS: Final = _CLASSES.compile(r"(?<![^\W_]){turns_to}(?![^\W_])", _IGNORE)
_GOES_ON: Final = _CLASSES.compile(r"{goes_on}(?![^\W_])", _IGNORE)
#: So far before a subject are the words that open its clause (characters); so far does what is said go on.
_REACH_BEFORE: Final = 70
_REACH: Final = 400
_REACH_OF_PROSE: Final = 160


class Region(NamedTuple):
    """A part of the body, as it is spoken of from ``start`` on; without ``place`` none that could be told."""

    start: int
    place: Span | None


@lru_cache(maxsize=1)
def _headings() -> dict[str, str]:
    table = cue_file("regions")["headings"]
    return {name.lower(): site for site, names in table.items() for name in names}


def _of_no_place() -> Gated:
    words = any_of(cue_file("regions")["of_no_place"])
    return Gated(re.compile(rf"(?<![^\W_]){words}(?![^\W_])", _IGNORE), begins=f"(?i:{words})")


_OF_NO_PLACE: Final = _of_no_place()


@lru_cache(maxsize=1)
def local_findings() -> frozenset[str]:
    """The concepts that are always found at some part of the body."""
    return frozenset(cue_file("regions")["local"])


@lru_cache(maxsize=1)
def headed_findings() -> frozenset[str]:
    """The concepts that are found at the part of the body under whose heading they stand."""
    return local_findings() | frozenset(cue_file("regions")["under_headings"])


class Regions:
    """What the headings and subjects of one note are, in text order."""

    def __init__(self, frame: Frame, sites: Sequence[Span]) -> None:
        self._frame = frame
        self._sites = sites
        text = frame.text
        first = _FIRST_HEADING.match(text)
        self._headings = [self._heading(first, sites)] if first else []
        self._headings += [
            self._heading(match, sites) for match in _HEADING.finditer(text, first.end() if first else 0)
        ]
        self._heading_starts = [one.start for one in self._headings]

    @cached_property
    def _subjects(self) -> list[Region]:
        """What sentences are about; only a note with a finding of some part of the body asks for it."""
        found = [Region(site.start, site) for site in self._sites if self._is_subject(site.start, site.end)]
        found += [
            Region(match.start(), None)
            for match in _OF_NO_PLACE.find(self._frame.places, self._frame.text)
            if self._is_subject(*match.span())
        ]
        return sorted(found, key=_start)

    @cached_property
    def _subject_starts(self) -> list[int]:
        return [one.start for one in self._subjects]

    def at(self, span: Span) -> Region | None:
        """Where a finding is by the subject of its sentence, of the sentences before it, or its heading; None if
        nothing says so."""
        text = self._frame.text
        low, _ = self._frame.sentence_span(span.start)
        subject = self._last_subject(low, span.start)
        if subject is not None and not _TURNS.search(text, self._behind(subject), span.start):
            return subject
        heading = self._heading_of(span.start)
        if subject is None and _GOES_ON.match(text, low):
            opens = max(heading.start if heading else 0, low - (_REACH if heading else _REACH_OF_PROSE))
            subject = self._last_subject(opens, low)
            if subject is not None and (heading or not _TURNS.search(text, self._behind(subject), low)):
                return subject
        return heading if heading is not None and heading.place is not None else None

    def is_headed(self, start: int, end: int) -> bool:
        """Whether a heading stands in the text between."""
        at = bisect.bisect_left(self._heading_starts, start)
        return at < len(self._headings) and self._headings[at].start < end

    def _heading_of(self, offset: int) -> Region | None:
        """The heading of the stretch on this line."""
        at = bisect.bisect_left(self._heading_starts, offset) - 1
        if at < 0 or "\n" in self._frame.text[self._heading_starts[at] : offset]:
            return None
        return self._headings[at]

    def _heading(self, match: re.Match[str], sites: Sequence[Span]) -> Region:
        start, end = match.span("name")
        if (known := _headings().get(match["name"].lower())) is not None:
            return Region(start, Span(start, end, "site", known))
        named = starting(sites, start, end)
        return Region(start, named[0] if len(named) == 1 else None)

    def _last_subject(self, low: int, high: int) -> Region | None:
        """The last that begins in a stretch of the text."""
        at = bisect.bisect_left(self._subject_starts, high) - 1
        return self._subjects[at] if at >= 0 and self._subject_starts[at] >= low else None

    @staticmethod
    def _behind(region: Region) -> int:
        return region.place.end if region.place is not None else region.start

    def _is_subject(self, start: int, end: int) -> bool:
        """Whether what stands there opens its sentence or clause, and something is said of it."""
        text = self._frame.text
        return bool(_SAID_OF.match(text, end) and _OPENS.search(text[max(0, start - _REACH_BEFORE) : start]))


def _start(region: Region) -> int:
    return region.start
