"""brat standoff (``.ann`` beside a ``.txt``): every kind of line read, written again without loss.

A line is one annotation; its first character tells which: T an entity (perhaps of several fragments), R a relation,
E an event, A or M an attribute, N a normalization, ``#`` a note, ``*`` an equivalence (or another relation without
direction). What is written from annotations alone has one form; what another program wrote keeps its own spacing,
order, blank lines and line ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, TypeVar

from ...kb.arguments import expect_path
from ...kb.errors import CohortiumError, UsageError
from ...kb.files.text_files import text_of


class StandoffError(CohortiumError):
    """An annotation file that cannot be read: which line, and what it should be (exit 2)."""

    exit_code = UsageError.exit_code


class _Malformed(Exception):
    """What is wrong with one line, in words without its text."""


#: Characters that would end a field or a line of the format.
_BREAKS = re.compile(r"[\t\n\r]")
_CONVERT = "convert it, for example with iconv -t utf-8"


@dataclass(frozen=True, slots=True)
class Line:
    """One line. ``raw``: as another program wrote it, where that is not the form that is written here."""

    id: str
    raw: str = field(default="", kw_only=True, compare=False, repr=False)
    letters: ClassVar[str] = ""

    def written(self) -> str:
        """The line without its end: as it came, unless it was changed since."""
        if self.raw and replace(_parsed(self.raw), raw="") == self:
            return self.raw
        return self._plain()

    def _plain(self) -> str:
        return self.id


@dataclass(frozen=True, slots=True)
class Blank(Line):
    """A line that says nothing; kept."""

    id: str = ""


@dataclass(frozen=True, slots=True)
class Entity(Line):
    """``T1<tab>Type start end;start end<tab>text``: character offsets into the text, the end exclusive."""

    type: str
    spans: tuple[tuple[int, int], ...]
    text: str
    letters: ClassVar[str] = "T"

    @property
    def start(self) -> int:
        """Where the first fragment begins."""
        return min(start for start, _ in self.spans)

    @property
    def end(self) -> int:
        """Where the last fragment ends."""
        return max(end for _, end in self.spans)

    def _plain(self) -> str:
        return f"{self.id}\t{self.type} {';'.join(f'{start} {end}' for start, end in self.spans)}\t{self.text}"


@dataclass(frozen=True, slots=True)
class Relation(Line):
    """``R1<tab>Type Arg1:T1 Arg2:T2``."""

    type: str
    arguments: tuple[tuple[str, str], ...]
    letters: ClassVar[str] = "R"

    def _plain(self) -> str:
        return f"{self.id}\t{self.type} " + " ".join(f"{role}:{target}" for role, target in self.arguments)


@dataclass(frozen=True, slots=True)
class Event(Line):
    """``E1<tab>Type:T1 Role:T2 …``: a trigger with its arguments, perhaps none."""

    type: str
    trigger: str
    arguments: tuple[tuple[str, str], ...] = ()
    letters: ClassVar[str] = "E"

    def _plain(self) -> str:
        return f"{self.id}\t" + " ".join(
            f"{role}:{target}" for role, target in ((self.type, self.trigger), *self.arguments)
        )


@dataclass(frozen=True, slots=True)
class Attribute(Line):
    """``A1<tab>Name T1 value``; a flag has no value. M is the older letter for the same."""

    name: str
    target: str
    value: str = ""
    letters: ClassVar[str] = "AM"

    def _plain(self) -> str:
        return f"{self.id}\t{self.name} {self.target}" + (f" {self.value}" if self.value else "")


@dataclass(frozen=True, slots=True)
class Normalization(Line):
    """``N1<tab>Reference T1 Resource:entry<tab>text``."""

    type: str
    target: str
    resource: str
    entry: str
    text: str
    letters: ClassVar[str] = "N"

    def _plain(self) -> str:
        return f"{self.id}\t{self.type} {self.target} {self.resource}:{self.entry}\t{self.text}"


@dataclass(frozen=True, slots=True)
class Remark(Line):
    """``#1<tab>AnnotatorNotes T1<tab>text``: what a person noted, of an annotation or (no target) of the document."""

    type: str
    target: str
    text: str
    letters: ClassVar[str] = "#"

    def _plain(self) -> str:
        return f"{self.id}\t{self.type}" + (f" {self.target}" if self.target else "") + f"\t{self.text}"


@dataclass(frozen=True, slots=True)
class Equivalence(Line):
    """``*<tab>Equiv T1 T2 …``: the same, or otherwise related without direction."""

    type: str
    members: tuple[str, ...]
    letters: ClassVar[str] = "*"

    def _plain(self) -> str:
        return f"{self.id}\t{self.type} " + " ".join(self.members)


_Kind = TypeVar("_Kind", bound=Line)


@dataclass(frozen=True, slots=True)
class Standoff:
    """An annotation file: its lines in their order. ``text``: what it annotates, where that was given."""

    lines: tuple[Line, ...] = ()
    text: str | None = None
    #: Whether the last line has an end.
    closed: bool = True

    def lines_of(self, kind: type[_Kind]) -> tuple[_Kind, ...]:
        """The lines of one kind, in their order."""
        return tuple(line for line in self.lines if isinstance(line, kind))

    @property
    def entities(self) -> tuple[Entity, ...]:
        """The T lines."""
        return self.lines_of(Entity)

    @property
    def relations(self) -> tuple[Relation, ...]:
        """The R lines."""
        return self.lines_of(Relation)

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """The A and M lines."""
        return self.lines_of(Attribute)

    def to_ann(self) -> str:
        """The file's text."""
        return "\n".join(line.written() for line in self.lines) + ("\n" if self.closed and self.lines else "")


def parse(ann: str, text: str | None = None) -> Standoff:
    """The annotations that ``ann`` tells.

    StandoffError, which names the line, when one is malformed, an id stands twice or leads nowhere, or (with ``text``)
    a span lies outside the text or does not hold what it quotes.
    """
    closed = ann.endswith("\n")
    rows = ann.split("\n") if ann else []
    lines: list[Line] = []
    for number, row in enumerate(rows[:-1] if closed else rows, 1):
        try:
            line = _parsed(row)
            if text is not None and isinstance(line, Entity):
                _check_quote(line, text)
        except _Malformed as fault:
            raise StandoffError(f"line {number} of the annotation file: {fault}") from None
        lines.append(line)
    _check_ids(lines)
    return Standoff(tuple(lines), text, closed)


def load(path: str | Path) -> Standoff:
    """An ``.ann`` file with the ``.txt`` beside it, where there is one. UsageError when it cannot be read."""
    expect_path("path", path, "an .ann file")
    place = Path(path)
    beside = place.with_suffix(".txt")
    ann = text_of(place, _CONVERT)
    try:
        return parse(ann, text_of(beside, _CONVERT) if beside != place and beside.exists() else None)
    except StandoffError as error:
        raise StandoffError(f"{place}: {error}") from None


def quoted(text: str, spans: tuple[tuple[int, int], ...]) -> str:
    """What the format quotes of ``text``: the fragments, joined by blanks, on one line."""
    return " ".join(_BREAKS.sub(" ", text[start:end]) for start, end in spans)


def _check_quote(entity: Entity, text: str) -> None:
    for start, end in entity.spans:
        if end > len(text):
            raise _Malformed(f"the span {start} {end} lies outside the text of {len(text)} characters")
    # Programs differ in how they write breaks and runs of blanks; the words must be the same.
    if "".join(entity.text.split()) != "".join(quoted(text, entity.spans).split()):
        raise _Malformed(f"{entity.id} quotes other words than stand at its span. Hint: is it the same text?")


def _check_ids(lines: list[Line]) -> None:
    known: set[str] = set()
    for number, line in enumerate(lines, 1):
        if line.id in known and line.id not in ("", "*"):
            raise StandoffError(f"line {number} of the annotation file: the id {line.id} stands twice")
        known.add(line.id)
    for number, line in enumerate(lines, 1):
        for target in _targets(line):
            if target not in known:
                raise StandoffError(f"line {number} of the annotation file: {line.id} speaks of {target}, which is"
                                    " not there")  # fmt: skip


def _targets(line: Line) -> Iterator[str]:
    if isinstance(line, Relation | Event):
        yield from (target for _, target in line.arguments)
    if isinstance(line, Event):
        yield line.trigger
    elif isinstance(line, Equivalence):
        yield from line.members
    elif isinstance(line, Attribute | Normalization):
        yield line.target


def _parsed(row: str) -> Line:
    """One row as an annotation; its own spelling is kept where it is not the one written here."""
    line = _read(row.removesuffix("\r"))
    return line if line._plain() == row else replace(line, raw=row)


def _read(row: str) -> Line:
    if not row.strip():
        return Blank()
    reader = _READERS.get(row[0])
    if reader is None:
        raise _Malformed(f"it begins with {row[0]!r}, and not with one of T R E A M N # *")
    id_, tab, rest = row.partition("\t")
    if not tab:
        raise _Malformed("no tab behind the id. Hint: fields are parted by tabs")
    if id_ != "*" and (id_ != id_.strip() or len(id_) < 2):
        raise _Malformed("the id is a letter and a number, for example T1")
    return reader(id_, rest)


def _entity(id_: str, rest: str) -> Line:
    head, tab, text = rest.partition("\t")
    if not tab:
        raise _Malformed("an entity is ID<tab>Type start end<tab>text, and a tab is missing")
    kind, _, places = head.strip().partition(" ")
    if not kind:
        raise _Malformed("an entity has a type")
    spans = []
    for place in places.split(";"):
        ends = place.split()
        if len(ends) != 2 or not all(one.isascii() and one.isdigit() for one in ends):
            raise _Malformed("the place of an entity is two numbers, or more such pairs with ';' between them")
        start, end = map(int, ends)
        if start >= end:
            raise _Malformed(f"the span {start} {end} ends where it begins, or before")
        spans.append((start, end))
    return Entity(id_, kind, tuple(spans), text)


def _pairs(words: list[str], what: str) -> tuple[tuple[str, str], ...]:
    pairs = []
    for word in words:
        role, colon, target = word.partition(":")
        if not colon or not role or not target:
            raise _Malformed(f"an argument of {what} is Role:ID, for example Arg1:T1")
        pairs.append((role, target))
    return tuple(pairs)


def _relation(id_: str, rest: str) -> Line:
    kind, *words = rest.split() or [""]
    arguments = _pairs(words, "a relation")
    if len(arguments) != 2:
        raise _Malformed(f"a relation has two arguments, not {len(arguments)}")
    return Relation(id_, kind, arguments)


def _event(id_: str, rest: str) -> Line:
    pairs = _pairs(rest.split(), "an event")
    if not pairs:
        raise _Malformed("an event names its trigger, for example Surgery:T1")
    return Event(id_, pairs[0][0], pairs[0][1], pairs[1:])


def _attribute(id_: str, rest: str) -> Line:
    words = rest.split(None, 2)
    if len(words) < 2:
        raise _Malformed("an attribute is ID<tab>Name target value")
    return Attribute(id_, words[0], words[1], words[2].rstrip() if len(words) > 2 else "")


def _normalization(id_: str, rest: str) -> Line:
    head, _, text = rest.partition("\t")
    words = head.split(None, 2)
    resource, colon, entry = (words[2] if len(words) == 3 else "").partition(":")
    if not colon:
        raise _Malformed("a normalization is ID<tab>Reference target Resource:entry<tab>text")
    return Normalization(id_, words[0], words[1], resource, entry.rstrip(), text)


def _remark(id_: str, rest: str) -> Line:
    head, _, text = rest.partition("\t")
    kind, *words = head.split() or [""]
    if len(words) > 1:
        raise _Malformed("a note is ID<tab>Type target<tab>text")
    return Remark(id_, kind, words[0] if words else "", text)


def _equivalence(id_: str, rest: str) -> Line:
    kind, *members = rest.split() or [""]
    if not members:
        raise _Malformed("an equivalence names its members, for example *<tab>Equiv T1 T2")
    return Equivalence(id_, kind, tuple(members))


_READERS = {
    "T": _entity,
    "R": _relation,
    "E": _event,
    "A": _attribute,
    "M": _attribute,
    "N": _normalization,
    "#": _remark,
    "*": _equivalence,
}
