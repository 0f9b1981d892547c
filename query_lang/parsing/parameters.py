"""Parameters: ``$name`` in a query stands for a value given apart, always read as one number, date or quoted name."""

from __future__ import annotations

import bisect
import datetime
import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ..errors import QueryError

#: What a parameter can stand for; several values stand in a list: ``in $genes``.
Given = str | int | float | datetime.date
Parameters = Mapping[str, Given | Sequence[Given]]

#: A parameter in the text of a query, outside of quotes and comments.
PARAMETER: Final = re.compile(r"\$(?P<name>[A-Za-z]\w*)")
_DEFAULT: Final = re.compile(
    r"let\s+\$(?P<name>[A-Za-z]\w*)\s+be\s+(?P<value>'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|-?[\w.]+(?:-\d+)*%?)\s*;",
    re.IGNORECASE,
)
_LITERAL: Final = re.compile(r"-?\d+(?:\.\d+)?%?|\d{4}(?:-\d{1,2}){0,2}")


@dataclass(frozen=True, slots=True)
class Filled:
    """A text with its parameters filled in, and where its characters stood in the text as written."""

    text: str
    #: Offsets in ``text`` at which something was put in, with its length there and its place and length as written.
    _pieces: tuple[tuple[int, int, int, int], ...] = ()

    def place(self, offset: int) -> int:
        """The offset, in the text as written, of an offset in the filled text."""
        at = bisect.bisect_right(self._pieces, (offset, 1 << 60, 0, 0)) - 1
        if at < 0:
            return offset
        start, length, place, written = self._pieces[at]
        return place if offset < start + length else place + written + offset - start - length


def fill(plain: str, text: str, quoted: Iterable[tuple[int, int]], parameters: Parameters | None) -> Filled:
    """``plain`` (a text without comments) with a value for each parameter outside of the ``quoted`` spans.

    ``let $name be value;`` gives one its value where none is given. QueryError, with its place in ``text``, for a
    parameter without a value, and for a value that no parameter asks for.
    """
    given = dict(parameters or {})
    spans = sorted(quoted)
    values: dict[str, str] = {}
    cut: list[tuple[int, int, str]] = []
    for match in _DEFAULT.finditer(plain):
        if not _inside(spans, match.start()):
            values[match["name"]] = _default(match["value"])
            cut.append((match.start(), match.end(), " " * (match.end() - match.start())))
    values |= {name: _literal(name, value, text) for name, value in given.items()}
    used = {match["name"] for match in PARAMETER.finditer(plain) if not _inside(spans, match.start())}
    for name in given:
        if name not in used:
            near = difflib.get_close_matches(name, list(used), 1)
            hint = f"did you mean '{near[0]}'?" if near else f"it has {_listed(used)}"
            raise QueryError(f"the query has no parameter ${name[:60]}", text=text, hint=hint)
    for match in PARAMETER.finditer(plain):
        if _inside(spans, match.start()) or any(start <= match.start() < end for start, end, _ in cut):
            continue
        if match["name"] not in values:
            raise QueryError(
                f"the parameter ${match['name'][:60]} has no value", text=text, offset=match.start(),
                hint=f"give it one (--set {match['name'][:60]}=…), or begin with 'let ${match['name'][:60]} be …;'",
            )  # fmt: skip
        cut.append((match.start(), match.end(), values[match["name"]]))
    if not cut:
        return Filled(plain)
    pieces, places, at, length = [], [], 0, 0
    for start, end, value in sorted(cut):
        pieces += [plain[at:start], value]
        length += start - at
        places.append((length, len(value), start, end - start))
        length += len(value)
        at = end
    return Filled("".join([*pieces, plain[at:]]), tuple(places))


def _inside(spans: Sequence[tuple[int, int]], at: int) -> bool:
    found = bisect.bisect_right(spans, (at, 1 << 60)) - 1
    return found >= 0 and spans[found][0] <= at < spans[found][1]


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"${name[:60]}" for name in sorted(names)) or "none"


def _default(written: str) -> str:
    return written if written[0] in "'\"" or _LITERAL.fullmatch(written) else _quoted(written)


def _literal(name: str, value: object, text: str) -> str:
    """The value as it would be written; text is quoted, so that it can be nothing but a name."""
    match value:
        case bool():
            pass
        case int() | float():
            return f"{value:d}" if isinstance(value, int) else f"{value!r}".removesuffix(".0")
        case datetime.date():
            return value.isoformat()[:10]
        case str() if value.strip():
            return value.strip() if _LITERAL.fullmatch(value.strip()) else _quoted(value)
        case list() | tuple() if value:
            return f"({', '.join([_literal(name, one, text) for one in value])})"
    raise QueryError(
        f"the value of the parameter ${name[:60]} is neither a text, a number, a date nor a list of such",
        text=text,
        hint="for example: --set stage=IIIB",
    )


def _quoted(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
