"""Values of SQL: literals and parameters, and arithmetic with days."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Final

from sqlglot import exp

from ..vocabulary import DAYS_IN
from .formula import Row
from .source_text import Given, Source, Value

_MOST_DAYS: Final = 10**6


def is_value(node: exp.Expression) -> bool:
    """Whether the node is a literal or a parameter."""
    node = unwrapped(node)
    if isinstance(node, exp.Neg):
        node = unwrapped(node.this)
        return isinstance(node, exp.Literal) and not node.is_string
    return isinstance(node, exp.Literal | exp.Placeholder | exp.Parameter) or _is_date(node)


def unwrapped(node: exp.Expression) -> exp.Expression:
    """The node without the brackets around it."""
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def given(node: exp.Expression, source: Source) -> Given:
    """What a literal or parameter stands for: a text, number or date, or several values of a list parameter."""
    node = unwrapped(node)
    if isinstance(node, exp.Placeholder | exp.Parameter):
        value = source.parameter(node)
        return float(value) if isinstance(value, int) else value
    if isinstance(node, exp.Neg):
        number = given(node.this, source)
        if isinstance(number, float):
            return -number
    if _is_date(node):
        return date_from(node.this.name, node, source)
    if isinstance(node, exp.Literal):
        return node.name if node.is_string else _number(node.name, node, source)
    raise source.error("here a value is expected", node, "a text in single quotes, a number, a date or a parameter")


def single(node: exp.Expression, source: Source) -> Value:
    """One value; QueryError for a list."""
    value = given(node, source)
    if isinstance(value, str | float | int | datetime.date):
        return value
    raise source.error("this parameter is a list, and here one value is compared", node, "write IN (:name)")


def several(found: list[exp.Expression], source: Source) -> list[tuple[Value, exp.Expression]]:
    """The values of an IN list with their nodes, lists among the parameters spread out."""
    values: list[tuple[Value, exp.Expression]] = []
    for node in found:
        value = given(node, source)
        if isinstance(value, str | float | int | datetime.date):
            values.append((value, node))
        else:
            values += [(float(one) if isinstance(one, int) else one, node) for one in value]
    return values


def number_text(value: float) -> str:
    """A number as a name is written: ``19`` for 19.0."""
    return repr(float(value)).removesuffix(".0")


def _is_date(node: exp.Expression) -> bool:
    return (
        isinstance(node, exp.Cast)
        and node.to.is_type("date")
        and isinstance(node.this, exp.Literal)
        and node.this.is_string
    )


def _number(text: str, node: exp.Expression, source: Source) -> float:
    try:
        return float(text)
    except ValueError:
        raise source.error(f"'{text[:40]}' is not a number", node) from None


def date_from(text: str, node: exp.Expression, source: Source) -> datetime.date:
    """The date that a text spells."""
    try:
        return datetime.date.fromisoformat(text.strip())
    except ValueError:
        raise source.error(f"'{text[:40]}' is not a date", node, "dates are written DATE '2020-01-31'") from None


# --- days -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Days:
    """A sum of days: of rows (each with its sign), of fixed dates (``dates`` counts them) and of numbers of days."""

    rows: tuple[tuple[Row, int], ...] = ()
    number: int = 0
    dates: int = 0

    def plus(self, other: Days, sign: int = 1) -> Days:
        """The two added, or the other taken away."""
        signs = dict(self.rows)
        for row, times in other.rows:
            signs[row] = signs.get(row, 0) + sign * times
        kept = tuple((row, times) for row, times in signs.items() if times)
        return Days(kept, self.number + sign * other.number, self.dates + sign * other.dates)


def days_of_interval(node: exp.Interval, source: Source) -> int:
    """``INTERVAL 90 DAY``, ``INTERVAL '3 months'`` … as days, in the units of the query language."""
    text = "" if node.this is None else str(unwrapped(node.this).name or "")
    unit = str(node.args["unit"].name) if node.args.get("unit") is not None else ""
    if node.this is not None and isinstance(unwrapped(node.this), exp.Placeholder | exp.Parameter):
        amount: object = single(unwrapped(node.this), source)
    else:
        words = text.split()
        amount = words[0] if words else ""
        unit = words[1] if len(words) == 2 else unit
    per = DAYS_IN.get(unit.lower().removesuffix("s"))
    try:
        number = float(str(amount))
    except ValueError:
        number = -1.0
    if per is None or not 0 <= number <= _MOST_DAYS:
        raise source.error("this interval is no number of days", node, "for example: INTERVAL 90 DAY, INTERVAL 3 MONTH")
    return round(number * per)
