"""Text to query tree. Total: any text gives a tree or a :class:`QueryError`, in time linear in its length."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from lark.exceptions import LarkError, UnexpectedInput, UnexpectedToken, VisitError

from ..errors import QueryError
from ..nodes import Among, Definition, Node, Query, QueryTreeError
from ..syntax import grammar
from ..tree import definitions_used, parts
from .build import Builder
from .habits import advised
from .mistakes import message_for
from .parameters import Filled, Parameters, fill
from .values import Mistake

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


def parse(text: str, parameters: Parameters | None = None, definitions: tuple[Definition, ...] = ()) -> Query:
    """The query that ``text`` spells, over :class:`~.nodes.Name` terms. QueryError if it spells none.

    ``parameters`` are the values of ``$names`` in it; ``definitions`` may be used in it without being written, and
    those that are become definitions of the query.
    """
    return parse_with_places(text, parameters, definitions).query


@advised
def parse_with_places(
    text: str, parameters: Parameters | None = None, definitions: tuple[Definition, ...] = ()
) -> Parsed:
    """As :func:`parse`, with the places of the names, for the errors of later steps."""
    query, places = _built(text, "start", parameters, definitions)
    needed = used_definitions(query, definitions)
    if needed:
        written = {definition.name for definition in query.definitions}
        kept = tuple(one for one in definitions if one.name in needed and one.name not in written)
        query = Query(query.body, (*kept, *query.definitions))
    return Parsed(query, text, places)


def parse_definitions(text: str, parameters: Parameters | None = None) -> tuple[Definition, ...]:
    """The definitions (``let … be …;``) of a file of them. QueryError if it holds anything else, or a name twice."""
    found, _ = _built(text, "library", parameters, ())
    try:
        return Query(Among(("nobody",)), found).definitions
    except QueryTreeError as error:
        raise QueryError(str(error), text=text) from None


def used_definitions(query: Query, definitions: tuple[Definition, ...]) -> frozenset[str]:
    """The names of those of ``definitions`` that the query uses, directly or through others."""
    bodies = {definition.name: definition.body for definition in definitions}
    used: set[str] = set()
    waiting = [query.body, *(definition.body for definition in query.definitions)]
    while waiting:
        fresh = (set(definitions_used(waiting.pop())) & bodies.keys()) - used
        used |= fresh
        waiting += [bodies[name] for name in fresh]
    return frozenset(used)


def _built(
    text: str, start: str, parameters: Parameters | None, definitions: tuple[Definition, ...]
) -> tuple[Any, dict[str, int]]:
    plain, quoted = checked(text)
    filled = fill(plain, text, quoted, parameters)
    try:
        tree = grammar().parse(filled.text, start=start)
    except UnexpectedInput as error:
        raise explained(error, text, filled) from None
    except LarkError as error:
        raise QueryError(f"the query cannot be read: {error}", text=text) from None
    builder = Builder(known=definitions)
    try:
        built = builder.transform(tree)
        _check_levels(built)
    except VisitError as error:
        cause: Exception = error.orig_exc
        if not isinstance(cause, Mistake | QueryTreeError):
            raise
        offset = getattr(getattr(error.obj, "meta", None), "start_pos", None)
        offset = None if offset is None else filled.place(offset)
        raise QueryError(str(cause), text=text, offset=offset, hint=getattr(cause, "hint", "")) from None
    except Mistake as error:
        raise QueryError(str(error), text=text, hint=error.hint) from None
    return built, {name: filled.place(offset) for name, offset in builder.places.items()}


def explained(error: UnexpectedInput, text: str, filled: Filled) -> QueryError:
    """The message for a syntax error."""
    message, hint = message_for(error)
    at_end = isinstance(error, UnexpectedToken) and error.token.type == "$END"
    offset = len(text.rstrip()) if at_end else filled.place(error.pos_in_stream or 0)
    return QueryError(message, text=text, offset=offset, hint=hint)


def checked(text: str) -> tuple[str, list[tuple[int, int]]]:
    """``text`` with comments blanked (same length), once length, quotes, brackets and depth are in order; with the
    spans of quoted names."""
    if len(text) > LONGEST_QUERY:
        raise QueryError(
            f"the query has {len(text):,} characters; at most {LONGEST_QUERY:,} are read",
            hint="name a set of concepts, or split the query with 'let … be …;'",
        )
    plain: list[str] = []
    quoted: list[tuple[int, int]] = []
    brackets: list[tuple[str, int, int]] = []
    nots = 0
    empty = True
    for piece in _PIECE.finditer(text):
        kind, body, at = piece.lastgroup, piece.group(), piece.start()
        if kind == "comment":
            plain.append(" " * len(body))
            continue
        if kind == "quoted":
            quoted.append((at, at + len(body)))
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
    return "".join(plain), quoted


def _too_deep(text: str, offset: int | None) -> QueryError:
    return QueryError(
        f"the query is nested more than {DEEPEST_QUERY} levels deep",
        text=text,
        offset=offset,
        hint="name inner parts with 'let … be …;' and use the names",
    )


def _check_levels(query: Query | tuple[Definition, ...]) -> None:
    """Each bracket can hold several levels of the tree; their sum has the same limit, so that recursion is safe."""
    waiting: list[tuple[Node, int]] = [(one, -2) for one in (query if isinstance(query, tuple) else (query,))]
    while waiting:
        node, level = waiting.pop()
        if level > DEEPEST_QUERY:
            raise Mistake(
                f"the query is nested more than {DEEPEST_QUERY} levels deep",
                "name inner parts with 'let … be …;' and use the names",
            )
        waiting.extend((part, level + 1) for part in parts(node))
