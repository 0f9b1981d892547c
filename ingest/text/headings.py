"""Headings: where the sections of a note begin and the parts of a file end, each told by evidence.

Nobody writes headings alike, so no single pattern tells one. Each place that may be one (the begin of a line, behind a
stop, behind what an exporter wrote for a line break, before a colon anywhere) has evidence for and against: what it is
called, what closes it, how it is dressed, what stands around it. ``cues/headings.toml`` tells the points of each; with
enough of them the place is a heading. A listed name (``cues/sections.toml``) wants as many wherever it stands. One that
no list holds says only that the section before it has ended, and wants the more the less it matters where that ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import accumulate
from typing import Any, Final, NamedTuple

from .cue_files import cue_file
from .words import Remembered

#: What may stand before a heading: bullets, markdown, rules of signs, a tag, a number.
_BEFORE_HEADING = r"[ \t#*=>~_\-\u2022\[]{0,60}(?:<[a-z][a-z0-9]{0,7}>){0,2}(?:\(?[0-9A-Z]{1,2}[.)][ \t]{1,4})?"
#: The look-ahead only spares the engine most places.
_HEADING = re.compile(
    _BEFORE_HEADING
    + r"""(?P<name>[A-Za-z][A-Za-z0-9 /&,'’().\-]{0,58}?)(?![A-Za-z0-9])
        (?P<end>[ ]?[:;](?!\d)(?:[ ]?[*=_]{2,3}|</[a-z0-9]{1,7}>)?
          |[ ]?--(?!-)|[ ]?\.\.\.|[ ]?</[a-z0-9]{1,7}>:?|[ ]?>>|\]:?
          |[ \t]{0,8}[*=~_#\-]{0,60}[ \t]{0,8}\Z)""",
    re.VERBOSE,
)
#: A dash between blanks closes a name only where no other sign does.
_DASHED_HEADING = re.compile(_BEFORE_HEADING + r"(?P<name>[A-Z][A-Za-z0-9 /&,'’().]{0,58}?)(?P<end>[ ][\-–—](?=[ ]))")
#: Capitals go on as a sentence does.
_BARE_HEADING = re.compile(
    r"[ \t]{0,12}(?P<name>[A-Z]{2,20}(?:[ ](?:[A-Z]{2,20}|&)){1,4})(?=[ ][A-Z][a-z]|[ ][A-Z][ ][a-z])"
)
#: The first word of what may be one, and the sign behind all that can stand in a heading: there it ends, if it has no
#: dashes or dots.
_MAY_HEAD = re.compile(_BEFORE_HEADING + r"(?P<word>[A-Za-z]+)[A-Za-z0-9 /&,'’().\-]*(?P<sign>[:;<\t*=~_#>\]–—]|\Z)?")
_SHORT_HEADING = re.compile(r"[ \t]{0,12}(?P<name>[A-Z][A-Za-z&/]{0,9})(?=[ \t:.\-(])")
#: A heading in capitals within a line, as exporters leave it that write something else for a line break: ``.,PLAN:, ``,
#: ``||PLAN: ``, ``~PLAN:``, ``\\.br\\PLAN:``, ``<br><b>PLAN:</b>``, ``**PLAN:**``.
_EXPORTED_HEADING = re.compile(
    r"""(?P<sign>,\ ?|(?:\|\||~|\\\.br\\|<br\ ?/?>)\ ?(?:<b>|\*\*|\d{1,2}\.\ )?|<b>|\*\*)
        (?P<name>(?P<capitals>[A-Z][A-Z/&'() \-]{2,40})|(?<=[.;?!:],)[A-Z][A-Za-z/&'() \-]{2,40})
        [ ]?:(?:</b>|\*\*)?(?P<behind>[ ]{0,3},|(?=\s|\Z))""",
    re.VERBOSE,
)
#: The same without its colon: ``.,PHYSICAL EXAMINATION,GENERAL: Well.,``
_EXPORTED_BARE = re.compile(r",(?<=[.?!:;],)[ ]?(?P<name>[A-Z][A-Z/&'() \-]{3,40}),")
_MAY_BE_EXPORTED = re.compile(r"[,|~\\>*] ?[A-Z0-9][^:]{2,44}:")
#: An unlisted name with its colon or dash, or between signs.
_ANY_HEADING = re.compile(
    r"""[ \t]{0,12}(?P<marks>[#*=>~_\-\u2022\[]{0,8}[ ]{0,3}(?:<[a-z][a-z0-9]{0,7}>)?)
        (?P<number>\(?[0-9A-Z]{1,2}[.)][ \t]{1,4})?
        (?P<name>[A-Z][A-Za-z0-9 /&'’()\-]{1,48}?(?:\([^()\n]{1,60}\)[ ]?)?)(?![A-Za-z0-9])
        (?P<end>[ ]?:(?=\s|\Z|\*|<)(?:[ ]?[*=_]{2,3}(?=\s|\Z)|</[a-z0-9]{1,7}>)?
          |[ ]?>>|</[a-z0-9]{1,7}>:?|\]:?[ ]*\Z|[ ][\-–—](?=[ ])
          |[ \t]{0,4}[*=#~_]{1,60}[ ]{0,4}\Z|[ \t]{0,8}\Z)""",
    re.VERBOSE,
)
#: A line of capitals.
_CAPITAL_LINE = re.compile(r"[A-Z][A-Z0-9/&'()\-]{2,30}(?: {1,4}[A-Z0-9/&'()\-]{1,30}){0,5}[ \t]{0,8}\Z")
_SOAP_LETTER = re.compile(r"[ \t]{0,8}(?P<name>[SOAP]|A/P)[:/](?=[ \t]|\Z)")
_RULE = re.compile(r"[ \t]{0,8}([\-=_*~#+])(?:[ ]?\1){2,}[ \t]*\r?\Z")
_FIRST_LETTERS = re.compile(r"[a-z]*")
_FIGURE_OR_BRACKET = re.compile(r"[\d(]")
_JOINED = re.compile(r"[ ]?/[ ]?|[ ]&[ ]|[ ]and[ ]", re.IGNORECASE)
_NON_ALPHANUMERIC = re.compile(r"[^a-z0-9]+")
#: Within a line a name reaches back to one of these, and no further than so far.
_PARTS_NAMES: Final = ".;|],~>*?!:\\\t"
_LONGEST_WITHIN: Final = 50
_MOST_WORDS_WITHIN: Final = 6
#: Where words were written to each other: ``room air.ALLERGIES``, ``coughPlan``.
_GLUED = re.compile(r"(?<=[a-z)])(?=[A-Z][A-Za-z])")
_SHORTEST_GLUED: Final = 7
#: A comma right behind one of these is no writer's.
_ENDS_SENTENCE: Final = frozenset(".;?!:")
_LONGEST_UNDERLINED: Final = 60
_WIDE: Final = 50


class ListWords(NamedTuple):
    """How a list ends: the words that none of its items has, those that only such have, those that deny all of it, and
    the number of words from which a paragraph behind a blank line is prose."""

    ended_by: re.Pattern[str]
    kept_by: re.Pattern[str]
    denied: re.Pattern[str] | None
    prose: int


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
    #: Sections that are lists, and how they end.
    lists: dict[str, ListWords]


@lru_cache(maxsize=1)
def section_names() -> SectionNames:
    """The shipped heading table."""
    table = cue_file("sections")
    names: dict[str, tuple[str, str]] = {}
    short: dict[str, tuple[str, str]] = {}
    soap: dict[str, tuple[str, str]] = {}
    members: dict[str, frozenset[str]] = {}
    contained: list[tuple[str, tuple[str, str]]] = []
    lists: dict[str, ListWords] = {}
    for section, entry in table.items():
        if "soap" in entry:
            soap[entry["soap"]] = (section, entry["effect"])
        if "members" in entry:
            members[entry["effect"]] = frozenset(entry["members"])
        if "ended_by" in entry:
            denied = _any_of(entry["denied"]) if "denied" in entry else None
            lists[section] = ListWords(_any_of(entry["ended_by"]), _any_of(entry["kept_by"]), denied, entry["prose"])
        contained += [(words, (section, entry["effect"])) for words in entry.get("contains", ())]
        for name in entry["names"]:
            names[_fold_heading(name)] = (section, entry["effect"])
        for name in entry["short"]:
            short[name] = (section, entry["effect"])
            names.setdefault(_fold_heading(name), (section, entry["effect"]))
    beginnings = frozenset(map(_first_letters, names)) | heading_table().modifiers
    shortest = min(len(words) for words, _ in contained)
    return SectionNames(names, short, soap, members, tuple(contained), beginnings, shortest, lists)


def _any_of(words: Sequence[str]) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(words)})(?!\w)", re.IGNORECASE)


def _without(folded: str, modifiers: frozenset[str]) -> str:
    """A folded name without the words before it that leave its meaning."""
    words = folded.split(" ")
    while len(words) > 1 and words[0] in modifiers:
        words.pop(0)
    return " ".join(words)


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
    if not listed or open_ended and not name.isupper():
        return None
    # "BRIEF HISTORY OF PRESENT ILLNESS": a word before a name leaves it that name.
    bare = _without(folded, heading_table().modifiers)
    if bare in table.names:
        return table.names[bare]
    if open_ended:
        return None
    # "METHOD/DISCLAIMER", "PAST MEDICAL AND SURGICAL HISTORY": two names of one effect that are both known.
    parts = [_fold_heading(part) for part in _JOINED.split(name)]
    if len(parts) == 2:
        last = folded.rsplit(" ", 1)[-1]
        sections = [table.names.get(part) or table.names.get(f"{part} {last}") for part in parts]
        told = [one for one, part in zip(sections, parts, strict=True) if one and part not in heading_table().common]
        if len(told) == 1 and None in sections or len(told) == 2 and told[0][1] == told[1][1]:
            return told[0]
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


class Heading(NamedTuple):
    """Where a section begins, and where its heading ends.

    Section and effect of an unlisted name are empty; ``ends`` tells whether it ends the section that it stands in, or
    only heads a stretch of it. ``why``: the evidence for it, as ``cues/headings.toml`` names it.
    """

    start: int
    end: int
    section: str
    effect: str
    ends: bool
    why: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HeadingTable:
    """``cues/headings.toml``: the points of all evidence, by name, and the words that some of it rests on."""

    points: Mapping[str, float]
    listed: float
    unlisted: Mapping[str, float]
    common: frozenset[str]
    led: frozenset[str]
    modifiers: frozenset[str]
    #: Tags of HTML that hold anything.
    paragraphs: frozenset[str]
    answer: re.Pattern[str]
    in_titles: frozenset[str]
    in_no_title: frozenset[str]
    shortest_rule: int
    opens: re.Pattern[str]
    #: The first letters of the lines that words for another part open.
    openings: frozenset[str]

    def needed_to_end(self, effect: str) -> float:
        """The points from which an unlisted name ends a section of this effect."""
        return self.unlisted.get(effect, self.unlisted["any"])


@lru_cache(maxsize=1)
def heading_table() -> HeadingTable:
    """The shipped table."""
    table = cue_file("headings")
    words, part = table["words"], table["part"]
    places = ("place", "name", "close", "dress", "around")
    opens = "|".join(part["words"]), "|".join(part["words_of_a_paragraph"])
    return HeadingTable(
        {name: float(points) for kind in places for name, points in table[kind].items()},
        table["needed"]["listed"],
        table["needed"]["unlisted"],
        frozenset(words["common"]),
        frozenset(words["led"]),
        frozenset(words["modifiers"]),
        frozenset(words["tags_of_anything"]),
        re.compile(rf"[ \t]*(?:{'|'.join(words['answer'])})[ \t]*(?:[,.;(]|\Z)", re.IGNORECASE),
        frozenset(words["in_titles"]),
        frozenset(words["in_no_title"]),
        part["shortest_rule"],
        re.compile(rf"[ \t]*(?:(?P<part>{opens[0]})|(?P<paragraph>{opens[1]}))(?!\w)", re.IGNORECASE),
        frozenset(part["begins"]),
    )


class _Candidate(NamedTuple):
    """A place in a line that may be a heading, with what the line alone says of it."""

    start: int
    end: int
    section: str
    effect: str
    points: float
    why: tuple[str, ...]
    #: How it looks, without its name.
    dress: str
    #: The folded words of an unlisted name.
    words: tuple[str, ...] = ()
    #: An unlisted name that heads a stretch of its own in a section that it does not end.
    heads: bool = False


class _Line(NamedTuple):
    """What a line alone tells: its candidates; a letter of S, O, A, P and its end; a rule; words that open a part."""

    candidates: tuple[_Candidate, ...]
    letter: tuple[int, str] | None
    rule: bool
    opens: str


def _of_line(line: str) -> _Line | None:
    """The candidates of a line; None if there is nothing in it."""
    if line[:1] in _OPENS_RULE and _RULE.match(line):
        return _Line((), None, True, "")
    colon = ":" in line
    found = list(_at_begin(line, colon))
    letter = None
    if colon or "/" in line:
        match = _SOAP_LETTER.match(line)
        letter = (match.end(), match["name"]) if match else None
    if colon:
        found += _within(line, found[0].end if found else 0)
    opens = ""
    table = heading_table()
    if line[:4].lower() in table.openings and (match := table.opens.match(line)):
        opens = match.lastgroup or ""
    return _Line(tuple(found), letter, False, opens) if found or letter or opens else None


#: Lines come again: headings in every note, boilerplate in every other. Longer ones seldom do.
#: What a rule of signs begins with.
_OPENS_RULE: Final = frozenset("-=_*~#+ \t")
_LINES: Final = Remembered(_of_line, most=20_000, longest=120)


def _candidate(
    start: int, end: int, found: tuple[str, str], evidence: Sequence[str], dress: str = "", **more: Any
) -> _Candidate:
    points = heading_table().points
    return _Candidate(start, end, *found, sum(map(points.__getitem__, evidence)), tuple(evidence), dress, **more)


def _close(sign: str) -> str:
    """The name of what closes a heading."""
    sign = sign.strip()
    for mark, name in _CLOSES:
        if sign.startswith(mark):
            return name
    return "alone"


#: Signs by their begin.
_CLOSES: Final = (
    (":", "colon"),
    (";", "semicolon"),
    ("--", "double_dash"),
    ("...", "dots"),
    ("</", "tag"),
    (">>", "arrows"),
    ("]", "bracket"),
    ("- ", "dash"),
    ("–", "dash"),
    ("—", "dash"),
)


def _dress(before: str, sign: str, name: str, line: str, end: int) -> tuple[str, list[str]]:
    """How a heading at the begin of a line looks, and what evidence that is."""
    before = before.strip()
    close = "dash" if sign.strip() in _DASHES else _close(sign)
    evidence = [close]
    numbered = before[-1:] in (".", ")")
    capitals = name.isupper()
    if capitals:
        evidence.append("capitals")
    marks = before.rstrip("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ.) (") if numbered else before
    if marks and (marks[0] in "#=[<_" or marks.startswith("**")):
        evidence.append("marked")
    elif marks:
        evidence.append("bulleted")
    if marks.startswith("<") and marks[1:-1] in heading_table().paragraphs:
        evidence[-1 if not numbered else evidence.index("marked")] = "plain_line"
    if numbered:
        evidence.append("numbered")
    alone = not line[end:].strip()
    return f"{marks[:3]}{'1' if numbered else ''} {close} {capitals} {alone}", evidence


_DASHES: Final = frozenset("-–—")


def _at_begin(line: str, colon: bool) -> Iterator[_Candidate]:
    """What may be a heading at the begin of a line."""
    names = section_names()
    match = _HEADING.match(line) if _may_be_listed(line, names) else None
    if match:
        name, closed = match["name"], match["end"].strip()
        found = (_KNOWN_OPEN_ENDED if not closed or closed == ";" else _KNOWN_CLOSED)[name]
        if found and (closed or len(name.split()) <= _MOST_WORDS_ALONE):
            dress, evidence = _dress(line[: match.start("name")], match["end"], name, line, match.end())
            evidence = [one for one in evidence if one not in _OF_UNLISTED]
            small = ["small"] if not closed and name[0].islower() else []
            if not closed and name[-1] == "." and not name.isupper():
                small.append("full_stop")
            yield _candidate(0, match.end(), found, ["line", "listed", *evidence, *small], dress)
            return
    match = _SHORT_HEADING.match(line)
    if match and (found := names.short.get(match["name"])):
        dress, _ = _dress("", line[match.end() : match.end() + 3], match["name"], line, match.end() + 1)
        yield _candidate(0, match.end(), found, ["line", "short"], dress)
        return
    if (
        _SPACED_DASH.search(line)
        and (match := _DASHED_HEADING.match(line))
        and (found := _KNOWN_OPEN_ENDED[match["name"]])
    ):
        dress, evidence = _dress(line[: match.start("name")], match["end"], match["name"], line, match.end())
        listed = "common" if match["name"].lower() in heading_table().common else "listed"
        yield _candidate(0, match.end(), found, ["line", listed, *evidence], dress)
        return
    if line[:2].isupper() and (match := _BARE_HEADING.match(line)) and (found := _bare(match["name"])):
        yield _candidate(0, match.end(), found, ["line", "listed", "none", "capitals"], "bare")
        return
    if (one := _unlisted(line, colon)) is not None:
        yield one


_SPACED_DASH = re.compile(" [-–—] ")
#: What speaks against names that no list holds, and not against others.
_OF_UNLISTED: Final = frozenset({"bulleted", "numbered", "plain_line"})
_MOST_WORDS_ALONE: Final = 5


def _bare(name: str) -> tuple[str, str] | None:
    """The section that all of the capitals name."""
    return section_names().names.get(_fold_heading(name))


def _unlisted(line: str, colon: bool) -> _Candidate | None:
    """A title that no list holds at the begin of a line."""
    capitals = line.isupper()
    if not (colon or capitals or line[:1] in _MARKS or ">>" in line or _SPACED_DASH.search(line) or line.istitle()):
        return None
    if capitals and not colon and _CAPITAL_LINE.match(line):
        title = _titled(line)
        evidence = ["line", "unlisted", "alone", "capitals", *title]
        words = tuple(_fold_heading(line).split())
        return _candidate(0, len(line), ("", ""), evidence, " alone True True", words=words, heads=True)
    match = _ANY_HEADING.match(line)
    if match is None:
        return None
    before = f"{match['marks']}{match['number'] or ''}"
    dress, evidence = _dress(before, match["end"], match["name"], line, match.end())
    if evidence[0] == "alone" and "marked" not in evidence:
        evidence.append("plain_line")
    title = _titled(match["name"])
    if evidence[0] != "colon" and "plain_words" in title:
        return None
    words = tuple(_fold_heading(match["name"]).split())
    heads = evidence[0] == "colon" and not before.strip()
    return _candidate(
        0, match.end(), ("", ""), ["line", "unlisted", *evidence, *title], dress, words=words, heads=heads
    )


_MARKS: Final = frozenset("*#=<[_")


def _titled(name: str) -> list[str]:
    """What the words of an unlisted name say."""
    table = heading_table()
    words = name.split()
    said = []
    if any(word.lower() in table.in_no_title for word in words):
        said.append("plain_words")
    elif len(words) > 1 and all(not word[0].islower() or word in table.in_titles for word in words):
        said.append("titled")
    if any(letter.isdigit() for letter in name):
        said.append("figure")
    return said


def _may_be_listed(line: str, table: SectionNames) -> bool:
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


def _within(line: str, begun: int) -> list[_Candidate]:
    """What may be a heading behind the begin of a line; ``begun``: where the one at the begin ends."""
    exported = list(_exported(line)) if _MAY_BE_EXPORTED.search(line) else []
    found = {one.end: one for one in exported}
    taken = {line.rfind(":", one.start, one.end) + 1 for one in exported}
    names, table = section_names(), heading_table()
    unlisted: list[_Candidate] = []
    colon = line.find(":", max(begun, 2))
    while colon >= 0:
        end = colon + 1
        low = max(begun, colon - _LONGEST_WITHIN)
        segment = line[low:colon]
        behind = line[end : end + 1]
        colon = line.find(":", end)
        if not segment or end in taken or (behind and not behind.isspace()):
            continue
        last = segment.rstrip(" ")
        if not last or not (last[-1].isalpha() or last[-1] == ")") or len(segment) - len(last) > 1:
            continue
        low += 1 + max(map(segment.rfind, _PARTS_NAMES))
        name = _known_end(line, low, end - 1, names)
        if name is not None:
            start, section = name
            found[end] = _candidate(start, end, section, ["colon", *_place_within(line, start, end - 1, low, table)])
        elif low > begun and (title := _title_end(line, low, end - 1)) is not None:
            unlisted.append(title)
    listed = [one for one in found.values() if one.section and one.effect not in _NEVER_WITHIN]
    others = len(listed) + (1 if begun else 0)
    kept = [one for one in found.values() if not one.section]
    for one in listed:
        if "within" in one.why and others > 1:
            one = _with(one, *(("another",) * min(others - 1, 1 if "common" in one.why else 2)))
        if one.points >= table.listed:
            kept.append(one)
    if kept or begun:
        kept += [_with(one, "another") for one in unlisted]
    return sorted(kept)


#: "Trial eligibility: see section D." is a remark.
_NEVER_WITHIN: Final = frozenset({"criteria"})


def _with(one: _Candidate, *evidence: str) -> _Candidate:
    points = heading_table().points
    return one._replace(points=one.points + sum(map(points.__getitem__, evidence)), why=(*one.why, *evidence))


def _known_end(line: str, low: int, high: int, names: SectionNames) -> tuple[int, tuple[str, str]] | None:
    """Where the longest listed name begins that ends at ``high``, and its section."""
    words = [match.start() + low for match in _WORD.finditer(line[low:high])][-_MOST_WORDS_WITHIN:]
    glued = [end for match in _GLUED.finditer(line, low, high) if high - (end := match.end()) > _SHORTEST_WITHIN]
    for start in sorted(words + glued) if glued else words:
        if line[start].isupper() and (found := names.names.get(_fold_heading(line[start:high]))):
            return start, found
    last = words[-1] if words else high
    # NKDAMEDICATIONS
    if line[last:high].isupper():
        for start in range(last + 2, high - _SHORTEST_GLUED + 1):
            if found := names.names.get(line[start:high].lower()):
                return start, found
    return None


_WORD = re.compile(r"[A-Za-z(&/][^\s]*")


def _place_within(line: str, start: int, end: int, low: int, table: HeadingTable) -> list[str]:
    """Where a listed name within a line stands, and what it looks like there."""
    name = line[start:end]
    before = line[max(0, start - _LONGEST_WITHIN) : start]
    bare = before.rstrip()
    said: list[str] = []
    brief = False
    if bare and bare[-1] in ".;|]":
        place = "after_stop" if bare != before else "glued"
    elif bare == before and (bare[-1:].isalpha() or bare[-1:] == ")"):
        place = "glued"
    else:
        place = "within"
    common = name.lower() in table.common
    if place == "within":
        brief = not common and len(name) <= _SHORTEST_WITHIN
        if " " in name.strip():
            said.append("several_words")
        elif name.isupper() and not (common or brief):
            said.append("capitals")
        if any(word[0].islower() for word in name.split() if word not in table.in_titles):
            said.append("plain_words")
        word_before = bare.rsplit(None, 1)[-1] if bare else ""
        word = word_before.lower()
        if len(name.split()) < _MANY_WORDS and _is_of_name(word_before, name):
            said.append("part_of_name")
        if word in table.led or bare.endswith((",", "(", "-", '"')):
            said.append("led")
    return [place, "common" if common else "brief" if brief else "listed", *said]


_SHORTEST_WITHIN: Final = 4
#: A name of so many is whole.
_MANY_WORDS: Final = 3


def _is_of_name(word: str, name: str) -> bool:
    """Whether the word before a listed name is written as it is, and so of one name with it: ESTROGEN RECEPTORS."""
    if not (word[-1:].isalpha() or word[-1:] == "/"):
        return False
    if name[:2].isupper():
        # A short one is the last item of a list: COPD MEDICATIONS.
        return word.isupper() and len(word) > _SHORTEST_WITHIN
    return word[:1].isupper() and not word.isupper()


def _title_end(line: str, low: int, high: int) -> _Candidate | None:
    """A title that no list holds, behind a stop or in capitals, right before a colon."""
    segment = line[low:high]
    stops = line[low - 1] in ".;|]"
    words = list(_WORD.finditer(segment))[-_MOST_WORDS_WITHIN:]
    kept = len(words)
    for word in reversed(words):
        if not (word.group().isupper() or stops and word.group()[0].isupper()):
            break
        kept -= 1
    if len(words) - kept < 2 or stops and kept:
        return None
    start = words[kept].start() + low
    name = line[start:high]
    if start > low and not line[start - 1].isspace() or any(map(str.isdigit, name)):
        return None
    evidence = [*(("after_stop", "title_within") if stops else ("within",)), "unlisted", "colon", *_titled(name)]
    if name.isupper():
        evidence.append("capitals")
    return _candidate(start, high + 1, ("", ""), evidence, words=tuple(_fold_heading(name).split()))


def _exported(line: str) -> Iterator[_Candidate]:
    """The headings that once opened lines of their own."""
    for match in _EXPORTED_BARE.finditer(line):
        if found := section_names().names.get(_fold_heading(match["name"])):
            yield _candidate(match.start("name"), match.end(), found, ["exported", "listed", "none", "capitals"])
    for match in _EXPORTED_HEADING.finditer(line):
        found = _KNOWN_CLOSED[match["name"]]
        evidence = ["exported", "listed" if found else "unlisted", "comma" if match["behind"] else "colon"]
        if match["capitals"]:
            evidence.append("capitals")
        words = () if found else tuple(_fold_heading(match["name"]).split())
        one = _candidate(match.start("name"), match.end(), found or ("", ""), [*evidence], words=words, heads=not found)
        if match["sign"].startswith(","):
            # What is parted so is a heading, whether or not a list knows it: by commas on both sides, or right behind a
            # sentence. "ER:, positive" stands in no note.
            if match["capitals"] and match["behind"] or line[match.start() - 1 : match.start()] in _ENDS_SENTENCE:
                yield one
        elif found:
            yield one


@dataclass(slots=True)
class _Text:
    """The lines of a text, and what they tell together."""

    text: str
    lines: list[str]
    told: dict[int, _Line]
    alike: frozenset[str]
    by_letters: bool
    in_capitals: bool
    #: The section that goes on, and the line of the last heading that had nothing behind it.
    section: str = "body"
    effect: str = "narrative"
    headed: int = -1

    def headings(self) -> Iterator[Heading]:
        """Those of all lines, in order."""
        starts = (0, *accumulate(len(line) + 1 for line in self.lines))
        for number, line in self.told.items():
            start = starts[number]
            if line.rule or line.opens:
                part = self._part(number, line)
                if part is not None:
                    above, why = part
                    start, end = (starts[number - 1], starts[number] - 1) if above else (start, start)
                    self.section, self.effect = _NO_SECTION
                    yield Heading(start, end, "", "", ends=True, why=why)
                    continue
            for one in self._candidates(number, line):
                heading = self._listed(number, one) if one.section else self._unlisted(number, one)
                if heading is None:
                    continue
                if heading.ends:
                    self.section, self.effect = (one.section, one.effect) if one.section else _NO_SECTION
                    self.headed = -1 if self.lines[number][one.end : one.end + _SEEN_BEHIND].strip() else number
                yield heading._replace(start=start + one.start, end=start + one.end)

    def _candidates(self, number: int, line: _Line) -> Sequence[_Candidate]:
        """Those of a line, with its letter of S, O, A, P where the note is written so."""
        if line.opens == "part":
            return ()
        # Nothing follows the last line, where a letter or a heading within a line wants a blank behind it.
        final = len(self.lines[number]) if number == len(self.lines) - 1 else -1
        found = [one for one in line.candidates if not (one.start and one.section and one.end == final)]
        if self.by_letters and line.letter and line.letter[0] != final:
            section = section_names().soap.get(line.letter[1])
            if section:
                letter = _candidate(0, line.letter[0], section, ["line", "short", "colon"])
                return (letter, *(one for one in found if one.start))
        return found

    def _listed(self, number: int, one: _Candidate) -> Heading | None:
        """A listed name as a heading, if it is one where it stands."""
        if one.start == 0 and not self._is_listed(number, one):
            return None
        return Heading(0, 0, one.section, one.effect, ends=True, why=one.why)

    def _is_listed(self, number: int, one: _Candidate) -> bool:
        """Whether a listed name at the begin of a line is a heading there."""
        table = heading_table()
        points = one.points
        if "small" in one.why and any(self.lines[max(0, number - 1) : number]):
            # A line of one small word inside a paragraph or a list is no heading.
            points += table.points["small_within"]
        if points < table.listed and "small" not in one.why and one.dress in self.alike:
            points += table.points["alike"]
        return points >= table.listed

    def _unlisted(self, number: int, one: _Candidate) -> Heading | None:
        """An unlisted name as a heading, if it is one where it stands."""
        points, why = self._evidence(number, one)
        ends = points >= heading_table().needed_to_end(self.effect)
        alone = "alone" in why
        # Capitals alone on a line, in a note of capitals or in a paragraph, head nothing of their own.
        if alone and self.in_capitals or not (ends or one.heads and not (alone and "blank_line" not in why)):
            return None
        return Heading(0, 0, "", "", ends, why)

    def _evidence(self, number: int, one: _Candidate) -> tuple[float, tuple[str, ...]]:
        """The points of an unlisted name where it stands, and what they are for."""
        names, table = section_names(), heading_table()
        line = self.lines[number]
        value = line[one.end : one.end + _SEEN_BEHIND].strip(" \t,:")
        why = list(one.why)
        if one.dress and one.dress in self.alike:
            why.append("alike")
            # A number or a bullet speaks against a heading only where the others have none.
            why = [said for said in why if said not in ("bulleted", "numbered")]
        elif "marked" in why and self.alike:
            why.append("unlike")
        if not one.start:
            above = self.lines[number - 1].rstrip() if number else ""
            if not above:
                why.append("blank_line")
            elif "alone" in why and "marked" not in why:
                why.append("crowded")
            elif len(above) >= _WIDE and (above[-1].isalnum() or above[-1] == ",") and "marked" not in why:
                why.append("wrapped")
            if not value:
                why.append(self._headed(number, one))
        members = names.members.get(self.effect, _NO_WORDS)
        first = _FIRST_WORD.match(value)
        short = len(value.split()) <= _LONGEST_ITEM
        if not members.isdisjoint(one.words) or short and first and first.group().lower() in members:
            why.append("member")
        listed = names.lists.get(self.section)
        if short and listed and listed.kept_by.search(value):
            why.append("item")
        if "comma" not in why and table.answer.match(value):
            why.append("answer")
        elif "colon" in why and len(one.words) == 1 and 0 < len(value.split()) <= _SHORT_VALUE:
            why.append("short_value")
        return sum(map(table.points.__getitem__, why)), tuple(why)

    def _headed(self, number: int, one: _Candidate) -> str:
        """What stands below a heading that has nothing behind it."""
        for below in range(number + 1, min(number + 4, len(self.lines))):
            line = self.lines[below]
            if line.strip():
                told = self.told.get(below)
                if told is None or told.rule:
                    return "heads_lines"
                alike = any(other.dress == one.dress for other in told.candidates)
                return "next_alike" if alike else "heads_lines"
        return "heads_nothing"

    def _part(self, number: int, line: _Line) -> tuple[bool, tuple[str, ...]] | None:
        """Whether the line above is the title over a rule, and why a part ends at this line; None if it does not."""
        table = heading_table()
        above = self.lines[number - 1].rstrip() if number else ""
        if line.opens:
            why = [f"opens_{line.opens}", *(() if above else ("blank_line",))]
            ends = sum(map(table.points.__getitem__, why)) >= table.needed_to_end(self.effect)
            return (False, tuple(why)) if ends and self.section != _NO_SECTION[0] else None
        width = len(self.lines[number].strip())
        if above and self.headed != number - 1 and self._is_underlined(number, above, width):
            return True, ("underlined",)
        headed = self.headed >= 0 and self.headed in (number - 1, number - 2)
        if self.section == _NO_SECTION[0] or width < table.shortest_rule or headed or _ROW.search(above):
            return None
        return False, ("rule",)

    def _is_underlined(self, number: int, above: str, width: int) -> bool:
        """Whether the line above a rule is its title."""
        title = above.strip().removesuffix(":")
        return (
            0.5 * len(title) <= width <= 2 * len(title)
            and len(title) <= _LONGEST_UNDERLINED
            and (number < 2 or not self.lines[number - 2].strip())
            and (_ANY_HEADING.fullmatch(title) is not None)
            and (title[:1].isupper() and ("titled" in _titled(title) or " " not in title))
        )


#: So much is looked at behind a heading.
_SEEN_BEHIND: Final = 120
#: More words are no item of a list.
_LONGEST_ITEM: Final = 8
#: Of a label and its value, no heading.
_SHORT_VALUE: Final = 2
_NO_WORDS: Final[frozenset[str]] = frozenset()
#: What stands under no heading.
_NO_SECTION: Final = ("body", "narrative")
_FIRST_WORD = re.compile(r"[A-Za-z]+")
#: A row of a table.
_ROW = re.compile(r"\S(?:[ ]{3,}|\t|[ ]*\|)")


def headings_of(text: str) -> list[Heading]:
    """The headings of a text, in order."""
    lines = text.split("\n")
    told = {number: line for number, line in enumerate(map(_LINES.__getitem__, lines)) if line is not None}
    if not told:
        return []
    # Nothing follows the last line, where a letter wants a blank behind it.
    final = len(lines) - 1
    letters = {
        line.letter[1]
        for number, line in told.items()
        if line.letter and (number < final or line.letter[0] < len(lines[final]))
    }
    # Single letters also number specimens; only a note that has most of the four is written so.
    needed = heading_table().listed
    alike = frozenset(
        one.dress
        for line in told.values()
        for one in line.candidates
        if one.section and one.dress and one.points >= needed and "small" not in one.why
    )
    return list(_Text(text, lines, told, alike, len(letters) >= 3, text.isupper()).headings())
