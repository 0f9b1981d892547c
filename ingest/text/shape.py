"""The shape of a note: lines, sections with their effect, and sentences, as character spans."""

from __future__ import annotations

import bisect
import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import accumulate
from typing import Any, Final, NamedTuple

from .cue_files import cue_file
from .statements import statement
from .word_classes import word_classes
from .words import Remembered

_CLASSES: Final = word_classes("text", "shape")

#: A longer sentence (a run without any boundary) is cut: context never reaches that far, and cost stays linear.
LONGEST_SENTENCE = 1200

# Patterns of headings are matched at the begin of a line, which is all that they see.
#: What may stand before a heading: bullets, markdown, rules of signs, a tag, a number.
_BEFORE_HEADING = r"[ \t#*=>~_\-\u2022]{0,60}(?:<[a-z][a-z0-9]{0,7}>)?(?:\(?[0-9A-Z]{1,2}[.)][ \t]{1,4})?"
#: The look-ahead only spares the engine most places.
_HEADING = re.compile(
    _BEFORE_HEADING
    + r"""(?P<name>[A-Za-z][A-Za-z0-9 /&,'’().\-]{0,58}?)(?![A-Za-z0-9])
        (?P<end>[ ]?[:;](?!\d)|[ ]?--|[ ]?\.\.\.|[ ]?</|[ \t]{0,8}[*=~_#\-]{0,60}[ \t]{0,8}\Z)""",
    re.VERBOSE,
)
#: The first word of what may be one, and the sign behind all that can stand in a heading: there it ends, if it has no
#: dashes or dots.
_MAY_HEAD = re.compile(_BEFORE_HEADING + r"(?P<word>[A-Za-z]+)[A-Za-z0-9 /&,'’().\-]*(?P<sign>[:;<\t*=~_#]|\Z)?")
_SHORT_HEADING = re.compile(r"[ \t]{0,12}(?P<name>[A-Z][A-Za-z&/]{0,9})(?=[ \t:.\-(])")
_INLINE_HEADING = re.compile(r"[.;|\]][ \t]{1,8}(?P<name>[A-Z][A-Za-z&/ ]{1,24}?):(?=\s|\Z)")
#: A heading in capitals within a line, as exporters leave it that write something else for a line break: ``.,PLAN:, ``,
#: ``||PLAN: ``, ``~PLAN:``, ``\\.br\\PLAN:``, ``<br><b>PLAN:</b>``, ``**PLAN:**``.
_EXPORTED_HEADING = re.compile(
    r"""(?P<sign>,\ ?|(?:\|\||~|\\\.br\\|<br\ ?/?>)\ ?(?:<b>|\*\*|\d{1,2}\.\ )?|<b>|\*\*)
        (?P<name>(?P<capitals>[A-Z][A-Z/&'() \-]{2,40})|(?<=[.;?!:],)[A-Z][A-Za-z/&'() \-]{2,40})
        [ ]?:(?:</b>|\*\*)?(?P<behind>[ ]{0,3},|(?=\s|\Z))""",
    re.VERBOSE,
)
#: A heading whose name no list holds still ends a section that would otherwise swallow it (a family history).
_ANY_HEADING = re.compile(r"[ \t]{0,12}(?P<name>[A-Z][A-Za-z0-9 /&'()\-]{1,40}(?:\([^()\n]{1,60}\)[ ]?)?):(?=\s|\Z)")
#: So does a line of capitals after an empty line, in a note that is not all in capitals.
_CAPITAL_LINE = re.compile(r"[A-Z][A-Z0-9/&'()\-]{2,30}(?: {1,4}[A-Z0-9/&'()\-]{1,30}){0,5}[ \t]{0,8}\Z")
_SOAP_LETTER = re.compile(r"[ \t]{0,8}(?P<name>[SOAP]|A/P)[:/](?=[ \t]|\Z)")
_FIRST_LETTERS = re.compile(r"[a-z]*")
_FIGURE_OR_BRACKET = re.compile(r"[\d(]")
_NON_ALPHANUMERIC = re.compile(r"[^a-z0-9]+")
#: Effects of sections that an unknown heading ends; all others go on, under a heading of their own.
_NOBODY: Final[frozenset[str]] = frozenset()
_ENDED_BY_ANY_HEADING = frozenset({"family", "skip", "social", "boilerplate", "criteria"})

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


class Sentence(NamedTuple):
    """A stretch that context does not leave. ``closed_by`` tells what ended it: stop, line, semi or cut."""

    start: int
    end: int
    closed_by: str


@dataclass(frozen=True, slots=True)
class SectionNames:
    """The headings of ``cues/sections.toml``: folded name → (section, effect), and the bare capital abbreviations."""

    names: dict[str, tuple[str, str]]
    short: dict[str, tuple[str, str]]
    soap: dict[str, tuple[str, str]]
    #: Effect → words of headings that belong into such a section ("Father:" in a family history).
    members: dict[str, frozenset[str]]
    #: Words that make a heading one of a section, whatever stands beside them, with that section.
    contained: tuple[tuple[str, tuple[str, str]], ...]
    #: The letters with which the folded names begin, and the length of the shortest of those words.
    beginnings: frozenset[str]
    shortest_contained: int
    #: Sections that are lists: the words that no item of theirs has, and those that only such have.
    lists: dict[str, tuple[re.Pattern[str], re.Pattern[str]]]


@lru_cache(maxsize=1)
def section_names() -> SectionNames:
    """The shipped heading table."""
    table = cue_file("sections")
    names: dict[str, tuple[str, str]] = {}
    short: dict[str, tuple[str, str]] = {}
    soap: dict[str, tuple[str, str]] = {}
    members: dict[str, frozenset[str]] = {}
    contained: list[tuple[str, tuple[str, str]]] = []
    lists: dict[str, tuple[re.Pattern[str], re.Pattern[str]]] = {}
    for section, entry in table.items():
        if "soap" in entry:
            soap[entry["soap"]] = (section, entry["effect"])
        if "members" in entry:
            members[entry["effect"]] = frozenset(entry["members"])
        if "ended_by" in entry:
            lists[section] = (_any_of(entry["ended_by"]), _any_of(entry["kept_by"]))
        contained += [(words, (section, entry["effect"])) for words in entry.get("contains", ())]
        for name in entry["names"]:
            names[_fold_heading(name)] = (section, entry["effect"])
        for name in entry["short"]:
            short[name] = (section, entry["effect"])
            names.setdefault(_fold_heading(name), (section, entry["effect"]))
    beginnings = frozenset(map(_first_letters, names))
    shortest = min(len(words) for words, _ in contained)
    return SectionNames(names, short, soap, members, tuple(contained), beginnings, shortest, lists)


def _any_of(words: Sequence[str]) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(words)})\b", re.IGNORECASE)


def _fold_heading(name: str) -> str:
    return _NON_ALPHANUMERIC.sub(" ", name.lower()).strip()


def _first_letters(folded: str) -> str:
    found = _FIRST_LETTERS.match(folded)
    return found.group() if found else ""


def _known_heading(name: str, open_ended: bool) -> tuple[str, str] | None:
    """The section that a heading names. ``open_ended``: no colon closes it, so every word of it must be known."""
    table = section_names()
    folded = name.lower()
    listed = _first_letters(folded) in table.beginnings
    if not listed and len(folded) < table.shortest_contained:
        return None
    if folded in table.names:
        return table.names[folded]
    folded = _fold_heading(folded)
    if folded in table.names:
        return table.names[folded]
    # "ADDENDUM 3/9/2020 (C. Writer MD)", "IMAGING (pasted)", "PATHOLOGY 2/26/20": the first words decide.
    more = _FIGURE_OR_BRACKET.search(name) if listed else None
    if more and (bare := _fold_heading(name[: more.start()])) in table.names:
        return table.names[bare]
    if not open_ended or name.isupper():
        for phrase, section in table.contained:
            if phrase in folded:
                return section
    if open_ended or not listed:
        return None
    # "METHOD/DISCLAIMER": two names of which both are known.
    parts = [table.names.get(_fold_heading(part)) for part in name.split("/")]
    if len(parts) > 1 and parts[0] is not None and parts[0] == parts[1]:
        return parts[0]
    # "Family history of malignancy:": a known name of two words or more may go on.
    words = folded.split()
    for count in range(len(words) - 1, 1, -1):
        found = table.names.get(" ".join(words[:count]))
        if found:
            return found
    return None


#: Names come again before other words than the line goes on with ("Temp: 36.7").
_KNOWN_CLOSED: Final = Remembered(partial(_known_heading, open_ended=False), most=20_000)
_KNOWN_OPEN_ENDED: Final = Remembered(partial(_known_heading, open_ended=True), most=20_000)


def _may_be_known(line: str, table: SectionNames) -> bool:
    """Whether a line may open with a heading that a list knows: quickly told, since most do not."""
    match = _MAY_HEAD.match(line)
    if match is None:
        return False
    word, sign = match.groups()
    dashed = "--" in line or "..." in line
    if sign is None and not dashed:
        return False
    if word.lower() in table.beginnings:
        return True
    # Unless all in capitals, a heading that only holds words of one is closed by a sign.
    return match.end() - match.start("word") >= table.shortest_contained and bool(
        sign or dashed or line.isupper() or line.rstrip().endswith("-") or "<" in line
    )


class _Heads(NamedTuple):
    """What a line alone tells of the headings in it: where each ends in the line, its section and effect."""

    #: A heading that a list knows, and whether it is one small word, which inside a paragraph is none.
    known: tuple[int, str, str] | None
    small: bool
    #: A short form in capitals.
    short: tuple[int, str, str] | None
    #: A letter of S, O, A, P, and where it ends.
    letter: tuple[int, str] | None
    #: Headings behind a sign within the line: where each begins, and as above.
    inline: tuple[tuple[int, int, str, str], ...]
    #: Where a heading ends whose name no list holds, and where one in capitals does.
    unknown: int
    capitals: int


def _heads(line: str) -> _Heads | None:
    """The headings of a line; None if there is none."""
    table = section_names()
    known, small, short, letter, inline, unknown = None, False, None, None, [], 0
    match = _HEADING.match(line) if _may_be_known(line, table) else None
    if match:
        name, closed = match["name"], match["end"].strip()
        found = (_KNOWN_OPEN_ENDED if not closed or closed == ";" else _KNOWN_CLOSED)[name]
        if found and (closed or len(name.split()) <= 5):
            known, small = (match.end(), *found), not closed and name[0].islower()
    match = _SHORT_HEADING.match(line)
    if match and (listed := table.short.get(match["name"])):
        short = (match.end(), *listed)
    if ":" in line or "/" in line:
        match = _SOAP_LETTER.match(line)
        letter = (match.end(), match["name"]) if match else None
    if ":" in line:
        for match in _INLINE_HEADING.finditer(line):
            found = _KNOWN_OPEN_ENDED[match["name"]]
            if found and found[1] != "criteria":  # "Trial eligibility: see section D." is a remark.
                inline.append((match.start() + 1, match.end(), *found))
        if _MAY_BE_EXPORTED.search(line):
            known_ends = {heading[1] for heading in inline}
            inline += [heading for heading in _exported_headings(line) if heading[1] not in known_ends]
        match = _ANY_HEADING.match(line)
        unknown = match.end() if match else 0
    match = _CAPITAL_LINE.match(line) if line.isupper() else None
    capitals = match.end() if match else 0
    if not (known or short or letter or inline or unknown or capitals):
        return None
    return _Heads(known, small, short, letter, tuple(inline), unknown, capitals)


_MAY_BE_EXPORTED = re.compile(r"[,|~\\>*] ?[A-Z0-9][^:]{2,44}:")


#: A comma right behind one of these is no writer's.
_ENDS_SENTENCE: Final = frozenset(".;?!:")


def _exported_headings(line: str) -> Iterator[tuple[int, int, str, str]]:
    """The headings in capitals that once opened lines of their own, as in :class:`_Heads`."""
    for match in _EXPORTED_HEADING.finditer(line):
        found = _KNOWN_CLOSED[match["name"]]
        if match["sign"].startswith(","):
            # What is parted so is a heading, whether or not a list knows it: by commas on both sides, or right behind a
            # sentence. "ER:, positive" stands in no note.
            if match["capitals"] and match["behind"] or line[match.start() - 1 : match.start()] in _ENDS_SENTENCE:
                yield match.start("name"), match.end(), *(found or ("", ""))
        elif found and found[1] != "criteria":
            yield match.start("name"), match.end(), *found


#: Lines come again: headings in every note, boilerplate in every other. Longer ones seldom do.
_HEADS: Final = Remembered(_heads, most=20_000, longest=120)


def _openings(text: str) -> dict[int, tuple[int, str, str]]:
    """Where a heading begins → where it ends, section and effect (both empty when no list holds its name)."""
    table = section_names()
    lines = text.split("\n")
    headed = [(number, heads) for number, heads in enumerate(map(_HEADS.__getitem__, lines)) if heads is not None]
    if not headed:
        return {}
    starts = (0, *accumulate(len(line) + 1 for line in lines))
    # Nothing follows the last line, where a letter or a heading within a line wants a blank behind it.
    final = len(lines) - 1
    letters = {
        heads.letter[1]
        for number, heads in headed
        if heads.letter and (number < final or heads.letter[0] < len(lines[final]))
    }
    # Single letters also number specimens; only a note that has most of the four is written so.
    by_letters = len(letters) >= 3
    in_capitals = text.isupper()
    openings: dict[int, tuple[int, str, str]] = {}
    for number, (known, small, short, letter, inline, unknown, capitals) in headed:
        start = starts[number]
        last = number == final
        opening = None
        if known and not (small and text[max(0, start - 2) : start] not in ("", "\n", "\n\n")):
            # A line of one small word inside a paragraph or a list is no heading.
            opening = known
        opening = opening or short
        if by_letters and letter and not (last and letter[0] == len(lines[final])):
            found = table.soap.get(letter[1])
            opening = (letter[0], *found) if found else opening
        if opening is None and unknown:
            opening = (unknown, "", "")
        if opening is None and capitals and not in_capitals and number >= 2 and not lines[number - 1]:
            opening = (capitals, "", "")
        if opening is not None:
            openings[start] = (start + opening[0], opening[1], opening[2])
        for begin, end, name, effect in inline:
            if not (last and end == len(lines[final])):
                openings[start + begin] = (start + end, name, effect)
    return openings


def sections_of(text: str) -> list[Section]:
    """The sections of ``text``, in order, covering it; text before the first heading is section ``body``."""
    openings = _openings(text)
    members = section_names().members
    sections: list[Section] = []
    starts = sorted(openings)
    if not starts or starts[0] > 0:
        starts.insert(0, 0)
        openings.setdefault(0, (0, "body", "narrative"))
    previous: tuple[str, str] = ("body", "narrative")
    for index, start in enumerate(starts):
        heading_end, name, effect = openings[start]
        if not name:
            ends = previous[1] in _ENDED_BY_ANY_HEADING and members.get(previous[1], _NOBODY).isdisjoint(
                _fold_heading(text[start:heading_end]).split()
            )
            name, effect = ("body", "narrative") if ends else previous
        end = starts[index + 1] if index + 1 < len(starts) else len(text)
        listed = section_names().lists.get(name)
        behind = end if listed is None else _end_of_list(text, heading_end, end, *listed)
        sections.append(Section(start, behind, name, effect, heading_end))
        previous = (name, effect)
        if behind < end:
            previous = ("body", "narrative")
            sections.append(Section(behind, end, *previous, behind))
    return sections


#: What parts the sentences of a list, and the items of one in which each stands on a line.
_PARTS_ITEMS = re.compile(r"[.;](?=\s)\s*|\s*\n\s*")
#: A paragraph of so many words is prose, where a blank line parts it from a list.
_PROSE = 6


def _end_of_list(text: str, start: int, end: int, ended_by: re.Pattern[str], kept_by: re.Pattern[str]) -> int:
    """Where something begins that cannot be an item of the list from ``start`` to ``end``; ``end`` if nothing does."""
    at, apart = start, False
    while at < end:
        parted = _PARTS_ITEMS.search(text, at, end)
        stops, goes_on = parted.span() if parted else (end, end)
        item = text[at:stops]
        other = at > start and item.strip() and not kept_by.search(item)
        if other and (ended_by.search(item) or apart and len(item.split()) >= _PROSE):
            return at
        apart = text.count("\n", stops, goes_on) > 1
        at = goes_on
    return end


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
    opened = text.rfind("(", max(0, start - 80), start)
    if opened < 0 or ")" in text[opened:start]:
        return 0
    return text.find(")", end, end + 80) + 1


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
