"""The shape of a note: lines, sections with their effect, and sentences, as character spans."""

from __future__ import annotations

import bisect
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

#: A sentence longer than this (a run without any boundary) is cut: context never reaches that far, and cost stays linear.
LONGEST_SENTENCE = 1200

_HEADING = re.compile(
    r"""^[ \t#*=>\-\u2022]{0,12}(?:\(?[0-9A-Z]{1,2}[.)][ \t]{1,4})?
        (?P<name>[A-Za-z][A-Za-z0-9 /&,'’().\-]{0,58}?)
        (?P<end>[ ]?:|[ ]?--|[ ]?\.\.\.|[ \t]*$)""",
    re.VERBOSE | re.MULTILINE,
)
_SHORT_HEADING = re.compile(r"^[ \t]*(?P<name>[A-Z][A-Za-z&/]{0,9})(?=[ \t:.\-(])", re.MULTILINE)
_INLINE_HEADING = re.compile(r"(?<=[.;|\]])[ \t]+(?P<name>[A-Z][A-Za-z&/ ]{1,24}?):(?=\s)")
#: A heading whose name no list holds still ends a section that would otherwise swallow it (a family history).
_ANY_HEADING = re.compile(r"^[ \t]*[A-Z][A-Za-z0-9 /&'()\-]{1,40}:(?=\s|$)", re.MULTILINE)
_NON_ALPHANUMERIC = re.compile(r"[^a-z0-9]+")

#: Full stops that end no sentence.
_ABBREVIATIONS = frozenset(
    """dr mr mrs ms prof st no vs etc approx resp e.g i.e eg ie inc fig pt hx dx tx rx jan feb mar apr jun jul aug sep sept
    oct nov dec dept hosp bx rt lt wt ht temp tab cap min max mod diff histol gr gd adj esp incl ca p c""".split()
)
_BOUNDARY = re.compile(
    r"""(?<![.\s])(?P<stop>[.!?])(?P<close>["'”’)\]]*)(?=\s+["'“(\[>*]*[A-Z0-9\[(?*]|\s*\n|\s*$)   # end of a sentence
      | (?P<line>[ \t]*\r?\n[ \t]*)                                                     # end of a line
      | (?P<semi>;(?=\s))                                                               # a semicolon
    """,
    re.VERBOSE,
)
_CONTINUES = re.compile(r"[a-z(]|and\b|or\b")
_ENDS_OPEN = re.compile(r"[A-Za-z0-9,\-(&/]$|\b(?:of|the|and|or|with|to|for|in|a|an|by)$", re.IGNORECASE)
_BULLET = re.compile(r"[\-*\u2022+>\[]|\(?\d{1,2}[.)]\s|[A-Z][.)]\s")


@dataclass(frozen=True, slots=True)
class Section:
    """A stretch of a note under one heading. ``name`` and ``effect`` come from ``cues/sections.toml``."""

    start: int
    end: int
    name: str
    effect: str
    heading_end: int


@dataclass(frozen=True, slots=True)
class Sentence:
    """A stretch that context does not leave. ``closed_by`` tells what ended it: stop, line, semi or bar."""

    start: int
    end: int
    closed_by: str


@dataclass(frozen=True, slots=True)
class SectionNames:
    """The headings of ``cues/sections.toml``: folded name → (section, effect), and the bare capital abbreviations."""

    names: dict[str, tuple[str, str]]
    short: dict[str, tuple[str, str]]


@lru_cache(maxsize=1)
def section_names() -> SectionNames:
    """The shipped heading table."""
    table = tomllib.loads(resources.files(__package__).joinpath("cues/sections.toml").read_text("utf-8"))
    names: dict[str, tuple[str, str]] = {}
    short: dict[str, tuple[str, str]] = {}
    for section, entry in table.items():
        for name in entry["names"]:
            names[_fold_heading(name)] = (section, entry["effect"])
        for name in entry["short"]:
            short[name] = (section, entry["effect"])
            names.setdefault(_fold_heading(name), (section, entry["effect"]))
    return SectionNames(names, short)


def _fold_heading(name: str) -> str:
    return _NON_ALPHANUMERIC.sub(" ", name.lower()).strip()


def _known_heading(name: str, table: SectionNames) -> tuple[str, str] | None:
    folded = _fold_heading(name)
    if folded in table.names:
        return table.names[folded]
    # "ADDENDUM 3/9/2020 (C. Writer MD)", "IMAGING (pasted)", "PATHOLOGY 2/26/20": the first words decide.
    bare = _fold_heading(re.split(r"[\d(]", name, maxsplit=1)[0])
    return table.names.get(bare) if bare else None


def sections_of(text: str) -> list[Section]:
    """The sections of ``text``, in order, covering it; text before the first heading is section ``body``."""
    table = section_names()
    openings: dict[int, tuple[int, str, str]] = {}
    for match in _HEADING.finditer(text):
        found = _known_heading(match["name"], table)
        if found and (match["end"].strip() or len(match["name"].split()) <= 5):
            openings[match.start()] = (match.end(), *found)
    for match in _SHORT_HEADING.finditer(text):
        short = table.short.get(match["name"])
        if short and match.start() not in openings:
            openings[match.start()] = (match.end(), *short)
    for match in _INLINE_HEADING.finditer(text):
        found = _known_heading(match["name"], table)
        if found:
            openings[match.start()] = (match.end(), *found)
    for match in _ANY_HEADING.finditer(text):
        openings.setdefault(match.start(), (match.end(), "", ""))
    sections: list[Section] = []
    starts = sorted(openings)
    if not starts or starts[0] > 0:
        starts.insert(0, 0)
        openings.setdefault(0, (0, "body", "narrative"))
    previous: tuple[str, str] = ("body", "narrative")
    for index, start in enumerate(starts):
        heading_end, name, effect = openings[start]
        if not name:
            # An unknown heading ends a family history or a list that must not leak; anything else goes on.
            name, effect = ("body", "narrative") if previous[1] in ("family", "skip", "social", "boilerplate") else previous
        end = starts[index + 1] if index + 1 < len(starts) else len(text)
        sections.append(Section(start, end, name, effect, heading_end))
        previous = (name, effect)
    return sections


def _joins_next_line(text: str, before: int, after: int, longest_line: int) -> bool:
    """True when the line break between ``before`` and ``after`` was set by the page width, not by the writer."""
    line_start = text.rfind("\n", 0, before) + 1
    line = text[line_start:before].rstrip()
    rest = text[after : after + 40]
    if not line or not rest or "\n" in text[before:after].replace("\r\n", "\n")[1:]:
        return False
    if _BULLET.match(rest) or not _ENDS_OPEN.search(line):
        return False
    wide = len(line) >= 0.7 * longest_line and longest_line >= 50
    return bool(_CONTINUES.match(rest)) and (wide or line[-1] in ",(&/-") or wide and line[-1] in ",-("


def sentences_of(text: str) -> Iterator[Sentence]:
    """The sentences of ``text``, in order, without the whitespace between them.

    Line breaks end a sentence unless the page width broke the line; so do semicolons and the columns of a table.
    """
    longest_line = min(max((len(line) for line in text.split("\n")), default=0), 120)
    start = 0
    for match in _BOUNDARY.finditer(text):
        kind = match.lastgroup or ""
        if match["stop"]:
            kind = "stop"
            word = re.search(r"[\w.]+$", text[max(start, match.start() - 12) : match.start()])
            if word and match["stop"] == "." and _is_abbreviation(word.group(), text, match.end()):
                continue
        elif match["line"] is not None:
            kind = "line"
            if _joins_next_line(text, match.start(), match.end(), longest_line):
                continue
        end = match.end() if kind == "stop" else match.start()
        yield from _trimmed(text, start, end, kind)
        start = match.end()
    yield from _trimmed(text, start, len(text), "stop")


def _is_abbreviation(word: str, text: str, after: int) -> bool:
    lowered = word.lower().rstrip(".")
    if text[after : after + 1] == "\n" or after >= len(text):
        return False
    return lowered in _ABBREVIATIONS or (len(lowered) == 1 and lowered.isalpha())


def _trimmed(text: str, start: int, end: int, kind: str) -> Iterator[Sentence]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    while end - start > LONGEST_SENTENCE:
        cut = text.rfind(" ", start + LONGEST_SENTENCE // 2, start + LONGEST_SENTENCE)
        cut = cut if cut > start else start + LONGEST_SENTENCE
        yield Sentence(start, cut, "cut")
        start = cut
    if end > start:
        yield Sentence(start, end, kind)


class Shape:
    """Lines, sections and sentences of one text, with lookup by character offset."""

    __slots__ = ("_section_starts", "_sentence_starts", "sections", "sentences", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.sections = sections_of(text)
        self.sentences = list(sentences_of(text))
        self._section_starts = [section.start for section in self.sections]
        self._sentence_starts = [sentence.start for sentence in self.sentences]

    def section_at(self, offset: int) -> Section:
        """The section that holds ``offset``."""
        return self.sections[max(0, bisect.bisect_right(self._section_starts, offset) - 1)]

    def sentence_index_at(self, offset: int) -> int:
        """Position in ``sentences`` of the one that holds ``offset`` (or the last one before it)."""
        return max(0, bisect.bisect_right(self._sentence_starts, offset) - 1)

    def line_at(self, offset: int) -> tuple[int, int]:
        """Span of the line that holds ``offset``."""
        start = self.text.rfind("\n", 0, offset) + 1
        end = self.text.find("\n", offset)
        return start, len(self.text) if end < 0 else end
