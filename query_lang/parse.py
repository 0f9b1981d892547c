"""Text to query tree. Total: any text gives a tree or a :class:`QueryError`, in time linear in its length."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Final

from lark.exceptions import LarkError, UnexpectedInput, UnexpectedToken, VisitError

from .build import Builder, Mistake
from .errors import QueryError
from .mistakes import message_for
from .nodes import Query, QueryTreeError
from .syntax import grammar

LONGEST_QUERY: Final = 100_000
DEEPEST_QUERY: Final = 200

_PIECE: Final = re.compile(
    r"""(?P<comment>(?:--|\#)[^\n]*)
      | (?P<quoted>'(?:[^']|'')*'|"(?:[^"]|"")*"|“[^”]*”|‘[^’]*’)
      | (?P<quote>['"“‘])
      | (?P<open>[(\[{]) | (?P<close>[)\]}]) | (?P<separator>[,;])
      | (?P<word>(?!--)[^\s\u200b\ufeff()\[\]{},;"“”<>=!≤≥≠\#'‘](?:(?!--)[^\s\u200b\ufeff()\[\]{},;"“”<>=!≤≥≠\#])*)
      | (?P<other>[\s\u200b\ufeff]+|.)""",
    re.VERBOSE | re.DOTALL,
)
_BLANKS: Final = {0x200B: " ", 0xFEFF: " "}
_CONNECTIVES: Final = frozenset({"and", "or", "except", "without", "with", "before", "after", "be"})
_PARTNER: Final = {")": "(", "]": "[", "}": "{"}


@dataclass(frozen=True, slots=True)
class Parsed:
    """A parsed query with its text and, for messages, the character offset of each name and attribute in it."""

    query: Query
    text: str
    places: Mapping[str, int]


def parse(text: str) -> Query:
    """The query that ``text`` spells, over :class:`~.nodes.Name` terms. QueryError if it spells none."""
    return parse_with_places(text).query


def parse_with_places(text: str) -> Parsed:
    """As :func:`parse`, with the places of the names, for the errors of later steps."""
    plain = checked(text)
    try:
        tree = grammar().parse(plain)
    except UnexpectedInput as error:
        raise explained(error, text) from None
    except LarkError as error:
        raise QueryError(f"the query cannot be read: {error}", text=text) from None
    builder = Builder()
    try:
        query = builder.transform(tree)
        _check_levels(query)
    except VisitError as error:
        cause: Exception = error.orig_exc
        if not isinstance(cause, Mistake | QueryTreeError):
            raise
        offset = getattr(getattr(error.obj, "meta", None), "start_pos", None)
        raise QueryError(str(cause), text=text, offset=offset, hint=getattr(cause, "hint", "")) from None
    except Mistake as error:
        raise QueryError(str(error), text=text, hint=error.hint) from None
    return Parsed(query, text, builder.places)


def explained(error: UnexpectedInput, text: str) -> QueryError:
    """The message for a syntax error."""
    message, hint = message_for(error)
    at_end = isinstance(error, UnexpectedToken) and error.token.type == "$END"
    offset = len(text.rstrip()) if at_end else error.pos_in_stream
    return QueryError(message, text=text, offset=offset, hint=hint)


def checked(text: str) -> str:
    """``text`` with comments blanked (same length), once length, quotes, brackets and depth are in order."""
    if len(text) > LONGEST_QUERY:
        raise QueryError(
            f"the query has {len(text):,} characters; at most {LONGEST_QUERY:,} are read",
            hint="name a set of concepts, or split the query with 'let … be …;'",
        )
    plain: list[str] = []
    brackets: list[tuple[str, int, int]] = []
    nots = 0
    empty = True
    for piece in _PIECE.finditer(text):
        kind, body, at = piece.lastgroup, piece.group(), piece.start()
        if kind == "comment":
            plain.append(" " * len(body))
            continue
        # Zero-width blanks come along when text is copied from a page.
        plain.append(body if kind == "quoted" else body.translate(_BLANKS))
        if kind == "quote":
            raise QueryError(
                "this quotation mark is never closed", text=text, offset=at, hint="close it after the name"
            )
        empty = empty and not plain[-1].strip("; \t\r\n\f\v")
        if kind == "open":
            brackets.append((body, at, nots))
        elif kind == "close":
            if not brackets or brackets[-1][0] != _PARTNER[body]:
                raise QueryError(f"this '{body}' closes no bracket", text=text, offset=at)
            nots = brackets.pop()[2]
        elif kind == "word" and body.lower() == "not":
            nots += 1
        elif kind == "separator" or (kind == "word" and body.lower() in _CONNECTIVES):
            nots = brackets[-1][2] if brackets else 0
        if len(brackets) + nots > DEEPEST_QUERY:
            raise _too_deep(text, at)
    if brackets:
        bracket, at, _ = brackets[-1]
        raise QueryError(f"this '{bracket}' is never closed", text=text, offset=at)
    if empty:
        raise QueryError(
            "the query is empty", text=text, hint="write a criterion, for example: diagnosis 'lung cancer'"
        )
    return "".join(plain)


def _too_deep(text: str, offset: int | None) -> QueryError:
    return QueryError(
        f"the query is nested more than {DEEPEST_QUERY} levels deep",
        text=text,
        offset=offset,
        hint="name inner parts with 'let … be …;' and use the names",
    )


def _check_levels(query: Query) -> None:
    """Each bracket can hold several levels of the tree; their sum has the same limit, so that recursion is safe."""
    waiting: list[tuple[Any, int]] = [(query, -2)]
    while waiting:
        node, level = waiting.pop()
        if level > DEEPEST_QUERY:
            raise Mistake(
                f"the query is nested more than {DEEPEST_QUERY} levels deep",
                "name inner parts with 'let … be …;' and use the names",
            )
        if isinstance(node, tuple):
            waiting.extend((part, level) for part in node)
        elif is_dataclass(node):
            waiting.extend((getattr(node, one.name), level + 1) for one in fields(node))
