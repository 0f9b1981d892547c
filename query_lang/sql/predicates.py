"""Conditions of WHERE, ON and HAVING to formulas: which column is compared decides what a comparison means."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Final

from sqlglot import exp

from ...kb.model import EARLIEST_DAY, LATEST_DAY
from ...kb.note_classes import NOTE_CLASSES, SPOKEN
from .. import nodes
from ..errors import QueryError
from ..vocabulary import CONTEXT_OF_SPELLING, SCALE_ATTRIBUTES
from .formula import (
    Correlated,
    Different,
    Formula,
    Gap,
    Link,
    NotSaid,
    OnAge,
    OnAttributes,
    OnConcept,
    OnContext,
    OnDay,
    OnEvidence,
    OnPatients,
    OnPick,
    Row,
    either,
    every,
    grouped,
    negated,
)
from .scope import Scope
from .source_text import Source, Value, outside
from .tables import Column
from .values import Days, date_from, days_of_interval, given, is_value, number_text, several, single, unwrapped

_OPERATORS: Final[dict[type[exp.Expression], str]] = {
    exp.EQ: "=",
    exp.NEQ: "!=",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
_MIRRORED: Final = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_LINKS: Final = ("patient", "tumor", "event")
_PICKS: Final = ("first", "latest", "worst", "best")

#: A SELECT inside IN (…) to its patients; one inside EXISTS (…), in its scope, to what it says.
PatientsOf = Callable[[exp.Expression], nodes.PatientExpression]
FormulaOf = Callable[[exp.Expression, Scope], Formula]


class Predicates:
    """Reads the conditions of one text."""

    def __init__(self, source: Source, patients_of: PatientsOf, formula_of: FormulaOf) -> None:
        self._source = source
        self._patients_of = patients_of
        self._formula_of = formula_of

    def read(self, node: exp.Expression, scope: Scope) -> Formula:
        """The formula that a condition says. QueryError if it says none."""
        try:
            return self._read(node, scope)
        except NotSaid as error:
            raise self._source.error(str(error), node if error.place is None else error.place, error.hint) from None
        except nodes.QueryTreeError as error:
            raise self._source.error(str(error), node) from None

    def _read(self, node: exp.Expression, scope: Scope) -> Formula:
        match node:
            case exp.Paren():
                return grouped(self.read(node.this, scope))
            case exp.And():
                return every([self.read(part, scope) for part in _chain(node, exp.And)])
            case exp.Or():
                return either([self.read(part, scope) for part in _chain(node, exp.Or)])
            case exp.Not():
                return self._not(node, scope)
            case exp.Is():
                return self._is(node, scope, positive=True)
            case exp.In():
                return self._in(node, scope)
            case exp.Between():
                return self._between(node, scope)
            case exp.Exists():
                return Correlated(self._formula_of(node.this, scope))
            case exp.NullSafeNEQ():
                equal = self._comparison("=", node.this, node.expression, node, scope)
                if isinstance(equal, OnAttributes):
                    return OnAttributes(equal.row, nodes.NotThat(equal.condition))
                return negated(equal)
            case exp.NullSafeEQ():
                return self._comparison("=", node.this, node.expression, node, scope)
            case exp.Column():
                row, column = scope.column(node)
                if column.role == "undisputed":
                    return OnEvidence(row, undisputed=True)
        operator = _OPERATORS.get(type(node))
        if operator is not None:
            return self._comparison(operator, node.this, node.expression, node, scope)
        raise self.not_read(node)

    def not_read(self, node: exp.Expression) -> QueryError:
        """The error for an expression that is not in the subset."""
        entry = outside()["expressions"].get(type(node).__name__)
        if entry is None and isinstance(node, exp.Column):
            return self._source.error("here stands a column, and no condition", node, "write column = 'value'")
        name = node.name if isinstance(node, exp.Anonymous) else getattr(node, "sql_name", str)()
        if entry is None and name:
            entry = [f"the function {str(name)[:40].upper()}", "compare the column itself; kb.sql() answers any SELECT"]
        what, hint = entry or ["this", "kb.sql() answers any SELECT"]
        return self._source.error(f"{what} is not read here", node, hint)

    # --- not, is, in, between -----------------------------------------------------------------------------------------

    def _not(self, node: exp.Not, scope: Scope) -> Formula:
        inner = unwrapped(node.this) if isinstance(node.this, exp.Paren) else node.this
        if isinstance(inner, exp.Is):
            return self._is(inner, scope, positive=False)
        return negated(grouped(self.read(node.this, scope)))

    def _is(self, node: exp.Is, scope: Scope, *, positive: bool) -> Formula:
        wanted = node.expression
        if isinstance(wanted, exp.Null):
            return self._null(node, scope, null=positive)
        if isinstance(wanted, exp.Boolean):
            inner = grouped(self.read(node.this, scope))
            if bool(wanted.this):
                return inner if positive else self._not_true(inner, node)
            opposite = negated(inner)
            return opposite if positive else self._not_true(opposite, node)
        raise self.not_read(node)

    def _not_true(self, formula: Formula, node: exp.Expression) -> Formula:
        match formula:
            case OnAttributes(row, condition):
                return OnAttributes(row, nodes.NotThat(condition))
            case OnPatients(expression):
                return OnPatients(nodes.Not(expression))
        raise self._source.error(
            "IS NOT TRUE is read of conditions on the attributes of one table", node, "write NOT (…)"
        )

    def _null(self, node: exp.Is, scope: Scope, *, null: bool) -> Formula:
        row, column = self._column(node.this, scope)
        if column.role != "attribute":
            what = "a date" if column.role == "day" else "a value"
            raise self._source.error(
                f"every row has {what} in '{column.role}', known or not", node, "IS NULL is asked of attributes"
            )
        documented = nodes.Documented(column.name)
        return OnAttributes(row, nodes.NotThat(documented) if null else documented)

    def _in(self, node: exp.In, scope: Scope) -> Formula:
        query = node.args.get("query")
        if query is not None:
            row, column = self._column(node.this, scope)
            if column.role != "patient":
                raise self._source.error(
                    "a SELECT gives patients", node, "write patient_id IN (SELECT patient_id FROM …)"
                )
            return OnPatients(self._patients_of(query))
        if node.args.get("unnest") is not None or node.args.get("field") is not None:
            raise self._source.error("after IN stands a list in brackets", node, "for example: IN ('a', 'b')")
        row, column = self._column(node.this, scope)
        values = several(list(node.expressions), self._source)
        if not values:
            raise self._source.error("this list is empty", node)
        match column.role:
            case "attribute":
                names = tuple([nodes.Name(self._text(value, at)) for value, at in values])
                return OnAttributes(row, nodes.Is(column.name, names, column.exact))
            case "concept":
                terms = tuple([self._under(value, column, at) for value, at in values])
                return OnConcept(row, terms[0] if len(terms) == 1 else nodes.Union(terms))
            case "patient":
                return OnPatients(nodes.Among(tuple(dict.fromkeys(self._text(value, at) for value, at in values))))
        arms = [self._valued("=", row, column, value, at) for value, at in values]
        return arms[0] if len(arms) == 1 else either(arms)

    def _between(self, node: exp.Between, scope: Scope) -> Formula:
        if node.args.get("symmetric"):
            raise self._source.error("BETWEEN SYMMETRIC is not read here", node, "write the lower bound first")
        low, high = node.args["low"], node.args["high"]
        if isinstance(node.this, exp.Column) and is_value(low) and is_value(high):
            row, column = self._column(node.this, scope)
            if column.role == "attribute":
                if column.exact:
                    raise self._order_of_exact(node)
                bounds = [self._bound(single(bound, self._source), bound) for bound in (low, high)]
                return OnAttributes(row, nodes.Between(column.name, bounds[0], bounds[1]))
            if column.role == "age":
                first = self._valued(">=", row, column, single(low, self._source), low)
                second = self._valued("<=", row, column, single(high, self._source), high)
                if isinstance(first, OnAge) and isinstance(second, OnAge):
                    return OnAge(row, first.low, second.high)
        if isinstance(unwrapped(node.this), exp.Abs):
            first = self._comparison(">=", node.this, low, node, scope)
            second = self._comparison("<=", node.this, high, node, scope)
            return self._both_bounds(first, second)
        return every(
            [
                self._comparison(">=", node.this, low, node, scope),
                self._comparison("<=", node.this, high, node, scope),
            ]
        )

    def _both_bounds(self, first: Formula, second: Formula) -> Formula:
        """At least so many days apart, and at most so many, are one statement of two days."""
        if isinstance(first, Gap) and isinstance(second, Gap):
            return Gap(first.left, first.right, first.low, second.high, apart=True)
        return every([first, second])

    # --- comparisons --------------------------------------------------------------------------------------------------

    def _comparison(
        self, operator: str, left: exp.Expression, right: exp.Expression, node: exp.Expression, scope: Scope
    ) -> Formula:
        left, right = unwrapped(left), unwrapped(right)
        for side in (left, right):
            if isinstance(side, exp.Null):
                raise self.not_read(side)
        if is_value(left) and not is_value(right):
            left, right, operator = right, left, _MIRRORED[operator]
        if isinstance(left, exp.Column) and isinstance(right, exp.Column):
            first, second = scope.column(left), scope.column(right)
            if (first[1].role, second[1].role) != ("day", "day"):
                return self._columns(operator, first, second, node)
        if isinstance(left, exp.Column) and isinstance(right, exp.Boolean):
            row, column = scope.column(left)
            if column.role == "undisputed" and operator == "=" and bool(right.this):
                return OnEvidence(row, undisputed=True)
        if isinstance(left, exp.Column) and is_value(right):
            row, column = scope.column(left)
            value = given(right, self._source)
            if isinstance(value, tuple):
                raise self._source.error("this parameter is a list", right, "write IN (:name)")
            return self._valued(operator, row, column, single(right, self._source), right)
        if (year := _year_of(left)) is not None and is_value(right):
            return self._year(operator, year, right, scope)
        if isinstance(left, exp.Abs) or isinstance(right, exp.Abs):
            return self._apart(operator, left, right, node, scope)
        return self._days(operator, self._sum(left, scope).plus(self._sum(right, scope), -1), node)

    def _columns(
        self, operator: str, first: tuple[Row, Column], second: tuple[Row, Column], node: exp.Expression
    ) -> Formula:
        role = first[1].role
        if role == second[1].role and role in _LINKS and operator == "=":
            if first[0] == second[0]:
                raise self._source.error("a column is compared with itself", node)
            return Link(role, first[0], second[0])
        if role == second[1].role == "concept" and operator == "!=" and first[0] != second[0]:
            one, other = sorted((first[0], second[0]), key=lambda row: row.number)
            return Different(one, other)
        raise self._source.error(
            "these two columns are not compared",
            node,
            "two tables are joined by patient_id, tumor, event or day; a column is compared with a value",
        )

    def _valued(self, operator: str, row: Row, column: Column, value: Value, node: exp.Expression) -> Formula:
        match column.role:
            case "attribute":
                return OnAttributes(row, self._condition(operator, column, value, node))
            case "concept":
                if operator not in ("=", "!="):
                    raise self._source.error("concepts have no order", node, "write concept = '…'")
                return OnConcept(row, self._under(value, column, node), negative=operator == "!=")
            case "day":
                if isinstance(value, float):
                    raise self._source.error("a day is compared with a date", node, "write DATE '2020-01-31'")
                return self._days(operator, Days(((row, 1),)).plus(self._date_sum(value, node), -1), node)
            case "context" if operator == "=":
                return OnContext(row, self._context(value, node))
            case "pick" if operator == "=":
                return OnPick(row, self._pick(value, node))
            case "source" if operator == "=":
                return OnEvidence(row, source=self._note_class(value, node))
            case "known" if operator == "=":
                return OnEvidence(row, known=self._way(value, node))
            case "context" | "pick" | "source" | "known":
                raise self._source.error(f"'{column.role}' is only asked with = and IN", node)
            case "sources":
                return OnEvidence(row, sources=self._least(operator, value, node))
            case "age":
                return self._age(operator, row, value, node)
            case "patient" if operator in ("=", "!="):
                among = OnPatients(nodes.Among((self._text(value, node),)))
                return among if operator == "=" else negated(among)
            case "undisputed":
                raise self._source.error("'undisputed' is asked alone", node, "write: AND undisputed")
        raise self._source.error(
            f"'{column.role}' joins two tables and is compared with no value",
            node,
            f"for example: ON b.patient_id = a.patient_id AND b.{column.role} = a.{column.role}",
        )

    def _condition(self, operator: str, column: Column, value: Value, node: exp.Expression) -> nodes.Condition:
        name = column.name
        if column.exact:
            if operator not in ("=", "!="):
                raise self._order_of_exact(node)
            exact = nodes.Is(name, (nodes.Name(self._text(value, node)),), exact=True)
            return exact if operator == "=" else nodes.AllOf((nodes.Documented(name), nodes.NotThat(exact)))
        bound = self._bound(value, node)
        if operator == "=" and isinstance(bound, str) and name not in SCALE_ATTRIBUTES:
            return nodes.Is(name, (nodes.Name(bound),))
        return nodes.Compare(name, operator, bound)

    def _order_of_exact(self, node: exp.Expression) -> QueryError:
        return self._source.error(
            "'exactly' is asked with =, <> and IN", node, "compare the column without '_exactly' at its end"
        )

    def _under(self, value: Value, column: Column, node: exp.Expression) -> nodes.Under:
        return nodes.Under(nodes.Name(self._text(value, node)), column.exact)

    def _text(self, value: Value, node: exp.Expression) -> str:
        if isinstance(value, datetime.date):
            raise self._source.error("only 'day' is compared with a date", node)
        text = value if isinstance(value, str) else number_text(value)
        if not text.strip():
            raise self._source.error("a name is empty", node)
        return self._source.noted(text, node)

    def _bound(self, value: Value, node: exp.Expression) -> str | float:
        return value if isinstance(value, float) else self._text(value, node)

    def _context(self, value: Value, node: exp.Expression) -> str:
        text = str(value).strip().lower()
        text = CONTEXT_OF_SPELLING.get(text, text)
        if text not in nodes.CONTEXTS:
            raise self._source.error(
                f"'{str(value)[:60]}' is no context", node, f"the contexts are {', '.join(nodes.CONTEXTS)}"
            )
        return text

    def _pick(self, value: Value, node: exp.Expression) -> nodes.Pick:
        if isinstance(value, float) and value.is_integer() and 1 <= value <= 1_000_000:
            return nodes.Pick("nth", int(value))
        text = str(value).strip().lower()
        text = "latest" if text == "last" else text
        if text not in _PICKS:
            raise self._source.error(
                f"'{str(value)[:60]}' picks no event", node, f"write {', '.join(_PICKS)}, or a number: pick = 2"
            )
        return nodes.Pick(text)

    def _note_class(self, value: Value, node: exp.Expression) -> str:
        text = str(value).strip().lower()
        found = text if text in NOTE_CLASSES else SPOKEN.get(text)
        if found is None:
            raise self._source.error(
                f"'{str(value)[:60]}' is no class of notes", node, f"the classes are {', '.join(NOTE_CLASSES)}"
            )
        return found

    def _way(self, value: Value, node: exp.Expression) -> str:
        text = str(value).strip().lower()
        if text not in nodes.KNOWN:
            raise self._source.error(
                f"'{str(value)[:60]}' is no way of being known", node, f"the ways are {', '.join(nodes.KNOWN)}"
            )
        return text

    def _least(self, operator: str, value: Value, node: exp.Expression) -> int:
        if operator in (">", ">=") and isinstance(value, float) and value.is_integer() and 0 <= value <= 1_000_000:
            least = int(value) + (operator == ">")
            if least >= 1:
                return least
        raise self._source.error("'sources' is asked with a least number", node, "for example: sources >= 2")

    def _age(self, operator: str, row: Row, value: Value, node: exp.Expression) -> Formula:
        if not isinstance(value, float) or not value.is_integer() or not 0 <= value <= 1_000:
            raise self._source.error("an age is a whole number of years", node, "for example: age >= 65")
        low, high = _range(operator, int(value))
        if operator == "!=" or (high is not None and high < 0):
            raise self._source.error("this age is not compared", node, "for example: age >= 65, age BETWEEN 18 AND 64")
        return OnAge(row, low or 0, high)

    # --- days ---------------------------------------------------------------------------------------------------------

    def _sum(self, node: exp.Expression, scope: Scope) -> Days:
        node = unwrapped(node)
        match node:
            case exp.Column():
                row, column = scope.column(node)
                if column.role == "day":
                    return Days(((row, 1),))
                raise self._source.error(f"'{node.name[:60]}' is compared with a value, not reckoned with", node)
            case exp.Add() | exp.Sub():
                return self._sum(node.this, scope).plus(
                    self._sum(node.expression, scope), 1 if isinstance(node, exp.Add) else -1
                )
            case exp.Neg():
                return Days().plus(self._sum(node.this, scope), -1)
            case exp.Interval():
                return Days(number=days_of_interval(node, self._source))
            case exp.DateDiff():
                unit = str(node.args["unit"].name if node.args.get("unit") is not None else "day")
                if unit.lower() not in ("day", "days"):
                    raise self._source.error("days are counted here", node, "write date_diff('day', a.day, b.day)")
                return self._sum(node.this, scope).plus(self._sum(node.expression, scope), -1)
        if is_value(node):
            return self._date_sum(single(node, self._source), node)
        raise self.not_read(node)

    def _date_sum(self, value: Value, node: exp.Expression) -> Days:
        if isinstance(value, float):
            if not value.is_integer() or abs(value) > 1_000_000:
                raise self._source.error(f"{number_text(value)[:40]} is no number of days", node)
            return Days(number=int(value))
        day = date_from(value, node, self._source) if isinstance(value, str) else value
        return Days(number=day.toordinal(), dates=1)

    def _days(self, operator: str, total: Days, node: exp.Expression) -> Formula:
        """``total operator 0``, of one row's day and dates, or of two rows' days."""
        rows = {times: row for row, times in total.rows}
        if len(total.rows) == 1 and total.dates == -total.rows[0][1]:
            ((row, times),) = total.rows
            return self._windows(row, operator if times == 1 else _MIRRORED[operator], -total.number * times, node)
        if len(total.rows) == 2 and set(rows) == {1, -1} and total.dates == 0:
            # right - left + number  operator  0
            left, right = rows[-1], rows[1]
            low, high = _range(operator, -total.number)
            if left.number > right.number:
                left, right = right, left
                low, high = (None if high is None else -high), (None if low is None else -low)
            if operator == "!=":
                return either([Gap(left, right, None, (low or 0) - 1), Gap(left, right, (high or 0) + 1, None)])
            return Gap(left, right, low, high)
        raise self._source.error(
            "this is no comparison of days",
            node,
            "for example: day >= DATE '2020-01-31', or b.day <= a.day + INTERVAL 90 DAY",
        )

    def _windows(self, row: Row, operator: str, day: int, node: exp.Expression) -> Formula:
        if operator == "!=":
            return negated(self._windows(row, "=", day, node))
        low, high = _range(operator, day)
        low = EARLIEST_DAY if low is None else max(low, EARLIEST_DAY)
        high = LATEST_DAY if high is None else min(high, LATEST_DAY)
        if low > high:
            raise self._source.error("no event lies in this time", node, "events lie between 1900 and 2199")
        return OnDay(row, nodes.Window(low, high))

    def _year(self, operator: str, inner: exp.Expression, right: exp.Expression, scope: Scope) -> Formula:
        row, column = self._column(inner, scope)
        value = single(right, self._source)
        if column.role != "day" or not isinstance(value, float) or not value.is_integer() or not 1 <= value <= 9998:
            raise self._source.error(
                "a year of 'day' is compared with a number", right, "for example: year(day) = 2019"
            )
        first = datetime.date(int(value), 1, 1).toordinal()
        last = datetime.date(int(value), 12, 31).toordinal()
        if operator in ("=", "!="):
            whole = OnDay(row, nodes.Window(max(first, EARLIEST_DAY), min(last, LATEST_DAY)))
            return whole if operator == "=" else negated(whole)
        return self._windows(row, operator, last if operator in ("<=", ">") else first, right)

    def _apart(
        self, operator: str, left: exp.Expression, right: exp.Expression, node: exp.Expression, scope: Scope
    ) -> Formula:
        if isinstance(right, exp.Abs):
            left, right, operator = right, left, _MIRRORED[operator]
        difference, bound = self._sum(left.this, scope), self._sum(right, scope)
        signs = sorted(times for _, times in difference.rows)
        if signs != [-1, 1] or difference.number or difference.dates or bound.rows or bound.dates:
            raise self._source.error(
                "ABS is read of the days between two events", node, "for example: ABS(b.day - a.day) <= 30"
            )
        first, second = sorted((row for row, _ in difference.rows), key=lambda row: row.number)
        low, high = _range(operator, bound.number)
        if operator == "!=" or (high is not None and high < 0):
            raise self._source.error(
                "this number of days is not compared", node, "for example: ABS(b.day - a.day) <= 30"
            )
        return Gap(first, second, max(low or 0, 0), high, apart=True)

    def _column(self, node: exp.Expression, scope: Scope) -> tuple[Row, Column]:
        node = unwrapped(node)
        if not isinstance(node, exp.Column):
            raise self.not_read(node)
        return scope.column(node)


def _chain(node: exp.Expression, kind: type[exp.Connector]) -> list[exp.Expression]:
    """The parts of ``a AND b AND c`` in order, without descending: a chain can be long."""
    parts: list[exp.Expression] = []
    while isinstance(node, kind):
        parts.append(node.expression)
        node = node.this
    return [node, *reversed(parts)]


def _range(operator: str, number: int) -> tuple[int | None, int | None]:
    match operator:
        case "<":
            return None, number - 1
        case "<=":
            return None, number
        case ">":
            return number + 1, None
        case ">=":
            return number, None
    return number, number


def _year_of(node: exp.Expression) -> exp.Expression | None:
    if isinstance(node, exp.Year):
        inner = unwrapped(node.this)
        return inner.this if isinstance(inner, exp.TsOrDsToDate) else inner
    if isinstance(node, exp.Extract) and str(node.this.name).upper() == "YEAR":
        return unwrapped(node.expression)
    return None
