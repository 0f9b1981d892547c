"""The shape of a note: lines, sections with their effect, and sentences, as character spans."""

from __future__ import annotations

import bisect
import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from .headings import Heading, ListWords, headings_of, section_names
from .statements import statement
from .word_classes import word_classes

#: Where a paragraph ends.
BLANK_LINE: Final = re.compile(r"\n[ \t]*\r?\n")

_CLASSES: Final = word_classes("text", "shape")

#: A round bracket is a short one that opens and closes so near (characters).
_SHORT_BRACKET: Final = 80
#: A longer sentence (a run without any boundary) is cut: context never reaches that far, and cost stays linear.
LONGEST_SENTENCE = 1200

#: Full stops that end no sentence.
_ABBREVIATIONS = frozenset(
    """dr mr mrs ms prof st no vs etc approx resp e.g i.e eg ie inc fig pt hx dx tx rx jan feb mar apr jun jul aug sep
    sept oct nov dec dept hosp bx rt lt wt ht temp tab cap min max mod diff histol gr gd adj esp incl ca
    p c vit assoc
    bilat susp ant lat sup inf""".split()
)
#: A break at which two lines may be joined is told from others by the signs and letters beside it.
#: The character comes first, and what must stand before it behind it: so the engine skips to the next of them.
_LONGEST_ABBREVIATION = max(map(len, _ABBREVIATIONS))
_BOUNDARY = re.compile(
    r"""[.!?\r\n;](?:
        (?<=[.!?])(?<!\s.)(?<!\.\..)(?P<stop>["'”’)\]]{0,4})(?=\s{1,40}["'“(\[>*]{0,4}[A-Z0-9\[(?*]|\s{0,40}\n|\s{0,40}\Z)
      | (?P<joint>(?<=\r)\n[ \t]*|(?<=[,(&/\s]\n)[ \t]*|(?<=\n)[ \t]*(?=[a-z(]))
      | (?<=\n)(?P<line>[ \t]*)
      | (?<=;)(?P<semi>(?=\s)))
    """,
    re.VERBOSE,
)
#: What begins with one of these may go on with the line before it.
_CONTINUES = frozenset("abcdefghijklmnopqrstuvwxyz(")
#: Behind one of these, as behind a letter or figure, a line is not at its end.
_ENDS_OPEN = ",-(&/"
#: Behind one of these it goes on, unless something of its own begins.
_LEADS_ON = ",(&/"
#: Words that never end a line of a list: what follows belongs to them, however short the line.
_ENDS_WITH_LINK = _CLASSES.compile(r"(?<![^\W_]){goes_on}$")
#: A label stands alone on its line, its answer on the next.
_LONGEST_LABEL = 60
_LABEL = re.compile(r"[A-Z][\w\-/+]*(?:[ \t][\w()\-/+]+){0,4}")
#: What ends a label that is not all of words, blanks behind it among them.
_BLANKS = frozenset(filter(str.isspace, map(chr, range(0x10000))))
_ENDS_LABEL = _BLANKS | frozenset(":?")
_BULLET = re.compile(r"[\-*\u2022+>\[]|\(?\d{1,2}[.)]\s|[A-Z][.)]\s")


class Section(NamedTuple):
    """A stretch of a note under one heading. ``name`` and ``effect`` come from ``cues/sections.toml``."""

    start: int
    end: int
    name: str
    effect: str
    heading_end: int
    #: The evidence that it begins there, by its names in ``cues/headings.toml``.
    why: tuple[str, ...] = ()


class Sentence(NamedTuple):
    """A stretch that context does not leave. ``closed_by`` tells what ended it: stop, line, semi or cut."""

    start: int
    end: int
    closed_by: str


def sections_of(text: str) -> list[Section]:
    """The sections of ``text``, in order, covering it; text before the first heading is section ``body``."""
    headings = headings_of(text)
    if not headings or headings[0].start > 0:
        headings.insert(0, Heading(0, 0, *_BODY, ends=True, why=()))
    lists = section_names().lists
    sections: list[Section] = []
    previous = _BODY
    for index, (start, heading_end, name, effect, ends, why) in enumerate(headings):
        if not name:
            name, effect = _BODY if ends else previous
        end = headings[index + 1].start if index + 1 < len(headings) else len(text)
        listed = lists.get(name)
        behind = end if listed is None else _end_of_list(text, heading_end, end, listed)
        sections.append(Section(start, behind, name, effect, heading_end, why))
        previous = (name, effect)
        if behind < end:
            previous = _BODY
            sections.append(Section(behind, end, *previous, behind, ("end_of_list",)))
    return sections


#: A section under no heading, and its effect.
_BODY: Final = ("body", "narrative")
#: What parts the sentences of a list, and the items of one in which each stands on a line.
_PARTS_ITEMS = re.compile(r"[.;](?=\s)\s*|\s*\n\s*")


def _end_of_list(text: str, start: int, end: int, words: ListWords) -> int:
    """Where something begins that cannot be an item of the list from ``start`` to ``end``; ``end`` if nothing does."""
    at, apart, complete, before = start, False, False, ""
    while at < end:
        parted = _PARTS_ITEMS.search(text, at, end)
        while parted and text[parted.start()] == "." and _abbreviates(text, at, parted.start(), parted.start() + 1):
            parted = _PARTS_ITEMS.search(text, parted.end(), end)
        stops, goes_on = parted.span() if parted else (end, end)
        item = text[at:stops]
        if (at > start or complete) and item.strip() and not words.kept_by.search(item):
            length = len(item.split())
            if (
                words.ended_by.search(item)
                or (apart and length >= words.prose)
                or (complete and length >= _A_SENTENCE and before != ";")
            ):
                return at
        denied = words.denied.match(text, at, stops) if words.denied else None
        if denied:
            # Nothing is in the list: what follows is another matter.
            complete = True
            rest = _BLANKS_BEHIND.match(text, denied.end(), stops)
            if rest and rest.end() < stops:
                at, apart, before = rest.end(), False, ""
                continue
        apart = text.count("\n", stops, goes_on) > 1
        at, before = goes_on, text[stops : stops + 1]
    return end


#: Fewer words may be an item.
_A_SENTENCE: Final = 4
_BLANKS_BEHIND = re.compile(r"[ \t]+(?=[A-Z0-9])")


#: In a note whose lines the page width broke, what opens a line of its own all the same: a label, a row of a table.
_OPENS_LINE = re.compile(r"[A-Za-z0-9 /&()#\-]{1,40}:(?:\s|$)|[A-Z][A-Z /&\-]{3,40}$|\||[xX_]\s|\S+(?:[ ]{3,}|\t)\S")


def _page_width(text: str) -> int:
    """The width at which the lines of a note were broken, or 0 when the writer broke them.

    Broken by the page: several lines, the longest of an ordinary width, at least two in five of them nearly as long.
    """
    lengths = [length for length in map(len, map(str.rstrip, text.split("\n"))) if length]
    longest = max(lengths, default=0)
    if len(lengths) < 6 or not 50 <= longest <= 100:
        return 0
    return longest if sum(length >= 0.8 * longest for length in lengths) >= 0.4 * len(lengths) else 0


def _answers(text: str, opens: int, before: int, after: int) -> bool:
    """Whether what follows at ``after`` is the answer to the line before it, which is no more than a label."""
    if not statement("answer_line").match(text, after):
        return False
    line = text[opens:before].rstrip()
    return 0 < len(line) <= _LONGEST_LABEL and (line[-1] in ":?" or _LABEL.fullmatch(line) is not None)


def _joins_next_line(text: str, opens: int, before: int, after: int, longest_line: int, page_width: int) -> bool:
    """True when the line break between ``before`` and ``after`` was set by the page width, not by the writer."""
    line = text[opens:before].rstrip()
    rest = text[after : after + 40]
    if not line or not rest:
        return False
    last = line[-1]
    if not (last in _ENDS_OPEN or last.isascii() and last.isalnum()) or _BULLET.match(rest):
        return False
    wide = len(line) >= 0.7 * longest_line and longest_line >= 50
    if page_width and len(line) >= 0.75 * page_width and not _OPENS_LINE.match(rest):
        return True
    if last in _LEADS_ON and not _OPENS_LINE.match(rest):
        return True
    continues = rest[0] in _CONTINUES
    if _ENDS_WITH_LINK.search(line[-12:]):
        return wide or continues
    return continues and (wide or last in _LEADS_ON or last == "-")


def sentences_of(text: str) -> list[Sentence]:
    """The sentences of ``text``, in order, without the whitespace between them.

    Line breaks end a sentence unless the page width broke the line; so do semicolons. A row of a table is one sentence.
    """
    longest_line = min(max(map(len, text.split("\n"))), 120)
    page_width = _page_width(text)
    # Shorter lines are joined by what stands beside the break alone.
    wide = 0 if page_width else max(0.7 * longest_line, 35)
    sentences: list[tuple[int, int, str]] = []
    start = line_start = 0
    for match in _BOUNDARY.finditer(text):
        # The group that closed last tells which kind it is.
        kind = match.lastgroup
        begin, behind = match.span()
        end = begin
        if kind == "line" or kind == "joint":
            opens, line_start = line_start, begin + (2 if text[begin] == "\r" else 1)
            if begin > start and (
                (kind == "joint" or begin - opens >= wide)
                and _joins_next_line(text, opens, begin, behind, longest_line, page_width)
                or (text[opens].isupper() or text[begin - 1] in _ENDS_LABEL)
                and _answers(text, opens, begin, behind)
            ):
                continue
            kind = "line"
        elif kind == "stop":
            if text[begin] == "." and _abbreviates(text, start, begin, behind):
                continue
            end = behind
        if end > start:
            if end - start > LONGEST_SENTENCE or text[start] in _BLANKS or text[end - 1] in _BLANKS:
                sentences += _trimmed(text, start, end, kind or "")
            else:
                sentences.append((start, end, kind or ""))
        start = behind
    sentences += _trimmed(text, start, len(text), "stop")
    return list(map(_sentence, sentences))


def _abbreviates(text: str, low: int, stop: int, after: int) -> bool:
    """Whether the full stop is that of an abbreviation, none of a sentence that began at ``low``."""
    begin = stop - _LONGEST_ABBREVIATION - 1
    if begin >= low and text[begin:stop].isalnum():
        return False
    word = _word_before(text, max(low, stop - 12), stop)
    return bool(word) and _is_abbreviation(word, text, after)


def _word_before(text: str, low: int, end: int) -> str:
    """The letters, figures and full stops right before ``end``."""
    start = end
    while start > low and (text[start - 1].isalnum() or text[start - 1] in "._"):
        start -= 1
    return text[start:end]


def _is_abbreviation(word: str, text: str, after: int) -> bool:
    lowered = word.lower().rstrip(".")
    if (
        lowered.isdigit()
        and len(lowered) <= 2
        and not text[max(0, after - 16) : after - 1 - len(lowered)].rpartition("\n")[2].strip(" \t(")
    ):
        return True  # "1." that numbers an item of a list
    if text[after : after + 1] == "\n" or after >= len(text):
        return False
    if lowered == "no" and text[after : after + 4].strip()[:1].isalpha():
        return False  # "Transfused: no. Paclitaxel …": only before a figure is it a number.
    if len(lowered) == 1 and lowered.isalpha():
        # A letter alone is an initial, but for the base that a change ends in ("c.1799T>A.").
        return text[max(0, after - 3) : max(0, after - 2)] not in (">", "→")
    return lowered in _ABBREVIATIONS


def without_blanks(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without the blanks at its ends; an empty one if it holds nothing else."""
    piece = text[start:end]
    low = start + len(piece) - len(piece.lstrip())
    return (low, low + len(piece.strip())) if low < end else (end, end)


# The bare constructor: it checks nothing that could be wrong.
_sentence: Final[Callable[[tuple[Any, ...]], Sentence]] = partial(tuple.__new__, Sentence)


def _trimmed(text: str, start: int, end: int, kind: str) -> Iterator[Sentence]:
    start, end = without_blanks(text, start, end)
    while end - start > LONGEST_SENTENCE:
        cut = text.rfind(" ", start + LONGEST_SENTENCE // 2, start + LONGEST_SENTENCE)
        cut = cut if cut > start else start + LONGEST_SENTENCE
        yield Sentence(start, cut, "cut")
        start = cut
    if end > start:
        yield _sentence((start, end, kind))


def bracket_end(text: str, start: int, end: int) -> int:
    """Where the round bracket that encloses the span closes (short ones, within 80 characters), or 0."""
    around = bracket_around(text, start, end, _SHORT_BRACKET)
    return around[1] + 1 if around else 0


def bracket_around(text: str, start: int, end: int, reach: int) -> tuple[int, int] | None:
    """Where the round bracket that encloses the span opens and closes, each within so many characters of it."""
    opens = text.rfind("(", max(0, start - reach), start)
    if opens < 0 or ")" in text[opens:start]:
        return None
    closes = text.find(")", end, end + reach)
    return (opens, closes) if closes >= 0 else None


def _parted(text: str, sentences: list[Sentence], starts: Sequence[int]) -> list[Sentence]:
    """The sentences, none of which goes on under the next heading."""
    parted: list[Sentence] = []
    for sentence in sentences:
        low, high = bisect.bisect_right(starts, sentence.start), bisect.bisect_left(starts, sentence.end)
        # A line of its own, and a heading behind a full stop, were looked at when the sentences were parted.
        within = [start for start in starts[low:high] if text[start - 1] != "\n" and not text[start].isspace()]
        if not within:
            parted.append(sentence)
            continue
        bounds = (sentence.start, *within, sentence.end)
        for start, end in itertools.pairwise(bounds):
            parted += _trimmed(text, start, end, sentence.closed_by if end == sentence.end else "line")
    return parted


class Shape:
    """Lines, sections and sentences of one text, with lookup by character offset."""

    __slots__ = ("_section_starts", "_sentence_starts", "sections", "sentences", "text")

    def __init__(self, text: str, sections: Callable[[str], list[Section]] = sections_of) -> None:
        """``sections``: what divides the text, in order, covering it."""
        self.text = text
        self.sections = sections(text)
        self._section_starts = [section.start for section in self.sections]
        self.sentences = _parted(text, sentences_of(text), self._section_starts)
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
