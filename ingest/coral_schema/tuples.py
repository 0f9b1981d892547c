"""Findings as an answer states them: one name, its fields, written in the format of the CORAL prompts and read again.

Reading is total: whatever a text holds, it gives the findings that can be made out and counts what cannot.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from .questions import UNKNOWN, Question


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding: ``name`` of what was found, and for each further field its values, of which there is at least one
    (``unknown`` where nothing is told)."""

    name: str
    values: Mapping[str, tuple[str, ...]]

    def __post_init__(self) -> None:
        if not self.name or not all(self.values.values()):
            raise ValueError("a finding has a name, and every field of it a value")

    def written(self, question: Question) -> str:
        """One line in the format of the prompts."""
        parts = [f"{question.field}={_quoted(self.name)}"]
        for value in question.values:
            stated = self.values[value.name]
            parts.append(
                f"{value.name}={_quoted(stated[0])}"
                if value.one_of
                else f"{value.name}={{{', '.join(map(_quoted, stated))}}}"
            )
        return f"{question.form}({', '.join(parts)})"


@dataclass(frozen=True, slots=True)
class Read:
    """What an answer says. ``first``: the values of its line of another name (the date of the first diagnosis), empty
    where there is none. ``unread``: pieces that begin like a finding and are none."""

    findings: tuple[Finding, ...] = ()
    first: tuple[str, ...] = ()
    unread: int = 0


def nothing(question: Question) -> Finding:
    """The finding that says that there is none: every field is unknown."""
    return Finding(UNKNOWN, {value.name: (UNKNOWN,) for value in question.values})


def write(question: Question, findings: Iterable[Finding], first: Iterable[str] = ()) -> str:
    """An answer of these findings, a line each; one that says that there is none where there are none."""
    stated = tuple(first)
    lines = [f"{question.first}(Datetime={{{', '.join(map(_quoted, stated))}}})"] if question.first and stated else []
    lines += [finding.written(question) for finding in findings] or [nothing(question).written(question)]
    return "\n".join(lines)


def _quoted(text: str) -> str:
    text = " ".join(text.split())
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


# --- reading ----------------------------------------------------------------------------------------------------------

#: Marks that programs and people set for a plain quotation mark.
_QUOTES = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "`": "'"})
#: A field of a finding that is none.
_NOTHING = frozenset({UNKNOWN, "none", "n/a", "na", "null", "not mentioned", "not applicable", "not available"})
#: An escaped sign, or a quotation mark.
_MARKS = re.compile(r"""\\.|['"]""", re.DOTALL)
#: What stands before a mark that opens a value, and behind one that closes it.
_OPENS = re.compile(r"(?:^|[=,;({\[\s])$")
_CLOSES = re.compile(r"\s{0,20}(?:$|[,;})\]])")
_BRACKETS = "{}[]()"
_MOST_CHARACTERS = 200_000


def read(question: Question, answer: str) -> Read:
    """The findings of an answer to ``question``, in its order, each once."""
    text = answer[:_MOST_CHARACTERS].translate(_QUOTES)
    found: dict[tuple[object, ...], Finding] = {}
    first: list[str] = []
    unread = 0
    for name, body in _pieces(question, text):
        if question.first and name == question.first.lower():
            first += _items(_assigned(("Datetime",), body)[0] or body)
            continue
        finding = _finding(question, body)
        if finding is None:
            unread += 1
        else:
            found.setdefault((finding.name, *finding.values.items()), finding)
    known = tuple(one for one in found.values() if not _is_nothing(one))
    return Read(known, tuple(dict.fromkeys(one for one in first if one)), unread)


def is_nothing(question: Question, answer: str, saying: re.Pattern[str]) -> bool:
    """Whether an answer says that there is nothing to find: in the format, or in the words that ``saying`` knows."""
    text = answer.translate(_QUOTES).strip()
    stated = read(question, text)
    if stated.findings or stated.unread:
        return False
    return bool(saying.fullmatch(text)) or any(name == question.form.lower() for name, _ in _pieces(question, text))


def _is_nothing(finding: Finding) -> bool:
    stated = (finding.name, *(one for values in finding.values.values() for one in values))
    return all(one.lower() in _NOTHING for one in stated)


@lru_cache(maxsize=64)
def _heads(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w])(?P<name>{'|'.join(map(re.escape, names))})\s{{0,4}}\(", re.IGNORECASE)


def _pieces(question: Question, text: str) -> Iterator[tuple[str, str]]:
    """Each stretch from behind ``Name(`` to its closing bracket, as far as that can be told."""
    heads = list(_heads((question.form, *([question.first] if question.first else []))).finditer(text))
    for number, head in enumerate(heads):
        end = heads[number + 1].start() if number + 1 < len(heads) else len(text)
        body = text[head.end() : end]
        close = _closing(body)
        yield head["name"].lower(), body[:close]


def _stretches(text: str) -> Iterator[tuple[int, int]]:
    """The values in quotes: from behind the mark that opens to the one that closes.

    A mark within a word or before one closes nothing, so that an apostrophe needs no escape.
    """
    marks = [(one.start(), one.group()) for one in _MARKS.finditer(text)]
    closing: dict[str, list[int]] = {"'": [], '"': []}
    for at, mark in marks:
        if mark in closing and _CLOSES.match(text, at + 1):
            closing[mark].append(at)
    behind = 0
    for at, mark in marks:
        if at < behind or mark not in closing or not _OPENS.search(text[max(0, at - 1) : at]):
            continue
        number = bisect.bisect_right(closing[mark], at)
        if number < len(closing[mark]):
            behind = closing[mark][number] + 1
            yield at + 1, behind - 1


def _closing(body: str) -> int:
    """Where the bracket that was open before ``body`` closes; the last closing one where none fits, or the end."""
    quoted = list(_stretches(body))
    depth, stretch = 0, 0
    for bracket in re.finditer(r"[()]", body):
        while stretch < len(quoted) and quoted[stretch][1] <= bracket.start():
            stretch += 1
        if stretch < len(quoted) and quoted[stretch][0] <= bracket.start():
            continue
        if bracket.group() == ")" and depth == 0:
            return bracket.start()
        depth += 1 if bracket.group() == "(" else -1
    last = body.rfind(")")
    return last if last >= 0 else len(body)


def _finding(question: Question, body: str) -> Finding | None:
    """A finding of a piece; None where its name cannot be made out. A field that is missing is unknown."""
    parts = _assigned(question.fields, body)
    if not any(parts):
        parts = _by_position(question.fields, body)
    names = _items(parts[0])
    if not names:
        return None
    values = {
        value.name: tuple(dict.fromkeys(_items(part))) or (UNKNOWN,)
        for value, part in zip(question.values, parts[1:], strict=True)
    }
    return Finding(", ".join(names), values)


@lru_cache(maxsize=64)
def _keys(fields: tuple[str, ...]) -> re.Pattern[str]:
    names = "|".join(map(re.escape, fields))
    return re.compile(rf"(?:^|(?<=[,;({{\s]))(?P<field>{names})\s{{0,4}}=", re.IGNORECASE)


def _assigned(fields: tuple[str, ...], body: str) -> list[str]:
    """What stands behind ``Field=``, field by field; empty where a field is not assigned. The first one counts."""
    spelled = {field.lower(): number for number, field in enumerate(fields)}
    parts = [""] * len(fields)
    keys = list(_keys(fields).finditer(body))
    for number, key in enumerate(keys):
        end = keys[number + 1].start() if number + 1 < len(keys) else len(body)
        at = spelled[key["field"].lower()]
        parts[at] = parts[at] or body[key.end() : end].strip().rstrip(",;").strip()
    return parts


def _by_position(fields: tuple[str, ...], body: str) -> list[str]:
    """The members of a piece without names of fields, in the order of the fields."""
    quoted = list(_stretches(body))
    parts, depth, start, stretch = [], 0, 0, 0
    for sign in re.finditer(r"[{}\[\](),]", body):
        while stretch < len(quoted) and quoted[stretch][1] <= sign.start():
            stretch += 1
        if stretch < len(quoted) and quoted[stretch][0] <= sign.start():
            continue
        if sign.group() == "," and depth <= 0:
            parts.append(body[start : sign.start()].strip())
            start = sign.end()
        elif sign.group() != ",":
            depth += 1 if sign.group() in "{[(" else -1
    parts.append(body[start:].strip())
    return (parts + [""] * len(fields))[: len(fields)]


def _items(part: str) -> list[str]:
    """The values of a field: what stands in quotes, or all of it where nothing does."""
    stated = [one for one in (_plain(part[start:end]) for start, end in _stretches(part)) if one]
    if stated:
        return stated
    whole = _plain(part.strip().strip(_BRACKETS))
    return [whole] if whole else []


def _plain(text: str) -> str:
    """A value without what the format put around it, on one line."""
    text = re.sub(r"\\(.)", r"\1", text.strip(), flags=re.DOTALL).strip()
    for opening, closing in ("{}", "[]"):
        ends = text.startswith(opening), text.endswith(closing)
        if ends[0] and (ends[1] or closing not in text):
            text = text[1:].strip()
        if ends[1] and (ends[0] or opening not in text):
            text = text[:-1].strip()
    for quote in "'\"":
        if len(text) > 1 and text.startswith(quote) and text.endswith(quote):
            text = text[1:-1].strip()
    return " ".join(text.split())
