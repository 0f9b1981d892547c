"""SQL text to a syntax tree: bounded, one statement, its parameters apart, and every error with its place."""

from __future__ import annotations

import datetime
import functools
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.tokens import Token, TokenType

from ..errors import QueryError

LONGEST_SQL: Final = 100_000
#: Brackets within brackets; the parser descends through some twenty calls for each.
DEEPEST_SQL: Final = 40
MOST_JOINS: Final = 60
#: The dialect of ``kb.sql()``, so that both doors read one spelling.
DIALECT: Final = "duckdb"

Value = str | float | datetime.date
#: What a parameter can be given: a value, or several for ``IN (:name)``.
Given = Value | Sequence[Value]
Parameters = Mapping[str, Given] | Sequence[Given]

_PIECE: Final = re.compile(
    r"""(?P<comment>--[^\n]*|/\*.*?\*/)
      | (?P<quoted>'(?:[^']|'')*'|"(?:[^"]|"")*")
      | (?P<quote>['"]|/\*)
      | (?P<mark>\?)
      | (?P<open>[(\[{]) | (?P<close>[)\]}])
      | (?P<other>[^'"?()\[\]{}/-]+|.)""",
    re.VERBOSE | re.DOTALL,
)
_PARTNER: Final = {")": "(", "]": "[", "}": "{"}
_JOINS_WITHOUT_CONDITION: Final = frozenset({"CROSS", "NATURAL", "POSITIONAL"})


@functools.cache
def outside() -> dict[str, Any]:
    """What is not read and what to write instead (``outside.toml``)."""
    return tomllib.loads((Path(__file__).parent / "outside.toml").read_text(encoding="utf-8"))


@dataclass
class Source:
    """One SQL text while it is read: where things stand in it, and the values of its parameters."""

    text: str
    parameters: Mapping[str, Given]
    #: Where each name, attribute and value first stands, for the errors of resolution.
    places: dict[str, int] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    #: Offsets of the question marks, which the parsed text has as ``$1``, ``$2`` …
    marks: tuple[int, ...] = ()

    def error(self, message: str, at: exp.Expression | int | None = None, hint: str = "") -> QueryError:
        """The error at a node or at an offset of the text."""
        offset = at if isinstance(at, int) else None if at is None else self.place(at)
        return QueryError(message, text=self.text, offset=offset, hint=hint)

    def place(self, node: exp.Expression) -> int | None:
        """Where a node stands: its own place, that of the first part that has one, or that of what it is part of."""
        found = [part.meta["start"] for part in node.walk() if part._meta and "start" in part._meta]
        if not found:
            words = [part.name for part in node.find_all(exp.Placeholder)]
            places = [at for word in words if (at := self._parameter_place(word)) is not None]
            if places:
                return places[0]
            return self.place(node.parent) if isinstance(node.parent, exp.Expression) else None
        return self.original(min(found))

    def original(self, offset: int) -> int:
        """An offset of the parsed text as one of the text that was given."""
        for number, mark in enumerate(self.marks, 1):
            if mark >= offset:
                break
            # "$12" stands for "?".
            offset = max(mark, offset - len(str(number)))
        return min(offset, len(self.text))

    def noted(self, word: str, node: exp.Expression) -> str:
        """``word``, whose place is now known."""
        place = self.place(node)
        if place is not None:
            self.places.setdefault(word, place)
        return word

    def parameter(self, node: exp.Placeholder | exp.Parameter) -> Given:
        """The value of a parameter."""
        name = str(node.name or "")
        if name not in self.parameters:
            known = ", ".join(f"'{one}'" for one in self.parameters)
            raise self.error(
                f"the parameter '{name[:60]}' has no value",
                self._parameter_place(name),
                f"given are {known}" if known else "give it with parameters={…}, apart from the text",
            )
        self.used.add(name)
        return self.parameters[name]

    def _parameter_place(self, name: str) -> int | None:
        if name.isdecimal() and 0 < int(name[:6]) <= len(self.marks):
            return self.marks[int(name) - 1]
        match = re.search(rf"[:$@]\s*{re.escape(name)}", self.text)
        return match.start() if match else None


def named_parameters(parameters: Parameters | None) -> dict[str, Given]:
    """Parameters by name: those of a sequence are called 1, 2 …"""
    if parameters is None:
        return {}
    if isinstance(parameters, Mapping):
        return {str(name): _checked_value(str(name), value) for name, value in parameters.items()}
    if isinstance(parameters, str):
        raise QueryError("parameters are a mapping of names to values, or a sequence of values")
    return {str(number): _checked_value(str(number), value) for number, value in enumerate(parameters, 1)}


def _checked_value(name: str, value: Any) -> Given:
    several = value if isinstance(value, list | tuple | set | frozenset) else (value,)
    for one in several:
        if isinstance(one, bool) or not isinstance(one, str | int | float | datetime.date):
            raise QueryError(
                f"the parameter '{name[:60]}' is a {type(one).__name__}",
                hint="a parameter is a text, a number, a date, or a list of these",
            )
    given: Given = value if isinstance(value, str | int | float | datetime.date) else tuple(several)
    return given


def read(text: str, parameters: Parameters | None = None) -> tuple[exp.Expression, Source]:
    """The syntax tree of one SELECT, and its source. QueryError if ``text`` is anything else."""
    if len(text) > LONGEST_SQL:
        raise QueryError(f"the SQL has {len(text):,} characters; at most {LONGEST_SQL:,} are read")
    source = Source(text, named_parameters(parameters))
    parsed = _checked(source)
    try:
        tokens = sqlglot.tokenize(parsed, read=DIALECT)
        tokens = _one_statement(tokens, source)
        _check_joins(tokens, source)
        tree = sqlglot.parse_one(parsed, read=DIALECT)
    except SqlglotError as error:
        raise _explained(error, parsed, source) from None
    except RecursionError:
        raise too_deep(source) from None
    except QueryError:
        raise
    except Exception:
        # The parser is not ours: whatever it stumbles over is text that it cannot read.
        raise source.error("the SQL cannot be read") from None
    if not isinstance(tree, exp.Select | exp.SetOperation | exp.Subquery):
        raise source.error("a query begins with SELECT or WITH", 0, _beginning_hint())
    return tree, source


def too_deep(source: Source) -> QueryError:
    """The error of a text whose parts lie too deep in each other."""
    return source.error(
        f"the SQL is nested too deeply (more than some {DEEPEST_SQL} levels)",
        hint="name inner parts: WITH name AS (SELECT …) SELECT …",
    )


def _checked(source: Source) -> str:
    """The text with numbered parameters, once its quotes and brackets are in order."""
    parts: list[str] = []
    marks: list[int] = []
    brackets: list[tuple[str, int]] = []
    for piece in _PIECE.finditer(source.text):
        kind, body, at = piece.lastgroup, piece.group(), piece.start()
        if kind == "quote":
            what = "comment" if body == "/*" else "quotation mark"
            raise source.error(f"this {what} is never closed", at)
        if kind == "mark":
            marks.append(at)
            body = f"${len(marks)}"
        elif kind == "open":
            brackets.append((body, at))
            if len(brackets) > DEEPEST_SQL:
                raise too_deep(source)
        elif kind == "close":
            if not brackets or brackets[-1][0] != _PARTNER[body]:
                raise source.error(f"this '{body}' closes no bracket", at)
            brackets.pop()
        parts.append(body)
    if brackets:
        raise source.error(f"this '{brackets[-1][0]}' is never closed", brackets[-1][1])
    source.marks = tuple(marks)
    return "".join(parts)


def _one_statement(tokens: list[Token], source: Source) -> list[Token]:
    ends = [at for at, token in enumerate(tokens) if token.token_type == TokenType.SEMICOLON]
    if ends and ends[0] < len(tokens) - 1 and any(t.token_type != TokenType.SEMICOLON for t in tokens[ends[0] :]):
        raise source.error("one statement is read, and here begins another", source.original(tokens[ends[0]].start))
    tokens = tokens[: ends[0]] if ends else tokens
    if not tokens:
        raise source.error("the SQL is empty", hint=_beginning_hint())
    first = tokens[0]
    if first.token_type not in (TokenType.SELECT, TokenType.WITH, TokenType.L_PAREN):
        raise source.error(
            f"'{first.text[:40]}' does not begin a query of patients", source.original(first.start), _beginning_hint()
        )
    return tokens


def _beginning_hint() -> str:
    return "for example: SELECT patient_id FROM diagnosis WHERE concept = 'lung cancer'"


def _check_joins(tokens: list[Token], source: Source) -> None:
    """Each JOIN has its condition: without one, the parser would try every way to nest the joins."""
    open_joins: list[Token | None] = [None]
    before = ""
    joins = 0
    for token in tokens:
        kind = token.token_type
        if kind == TokenType.L_PAREN:
            open_joins.append(None)
        elif kind == TokenType.R_PAREN and len(open_joins) > 1:
            _require_condition(open_joins.pop(), source)
        elif kind in (TokenType.ON, TokenType.USING):
            open_joins[-1] = None
        elif kind == TokenType.JOIN:
            joins += 1
            if joins > MOST_JOINS:
                raise source.error(f"more than {MOST_JOINS} joins are not read", source.original(token.start))
            _require_condition(open_joins[-1], source)
            open_joins[-1] = None if before in _JOINS_WITHOUT_CONDITION else token
        before = token.text.upper()
    _require_condition(open_joins[-1], source)


def _require_condition(join: Token | None, source: Source) -> None:
    if join is not None:
        raise source.error(
            "this JOIN has no condition",
            source.original(join.start),
            "write JOIN … USING (patient_id), or JOIN … ON b.patient_id = a.patient_id",
        )


def _explained(error: SqlglotError, parsed: str, source: Source) -> QueryError:
    details = next(iter(getattr(error, "errors", ())), None)
    if not details:
        return source.error("the SQL cannot be read")
    lines = parsed.split("\n")
    line = min(max(int(details.get("line") or 1), 1), len(lines))
    word = str(details.get("highlight") or "")
    offset = sum(len(one) + 1 for one in lines[: line - 1]) + int(details.get("col") or 0) - len(word)
    place = source.original(max(0, min(offset, len(parsed))))
    ending = source.text.rstrip().rstrip(";").rstrip()
    if not word.strip() or place + len(word.strip()) >= len(ending):
        return source.error("the SQL ends too early, or its last word is not expected there", len(ending))
    return source.error(f"'{word.strip()[:40]}' is not expected here", place)
