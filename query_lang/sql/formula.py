"""The formula of a WHERE clause, taken apart: statements about one table, links between two, and, or, not over them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from ...kb.model import EARLIEST_DAY, LATEST_DAY
from .. import nodes
from .tables import VirtualTable

MOST_ALTERNATIVES: Final = 64


@dataclass(frozen=True, slots=True)
class Row:
    """A table of a FROM clause: one event (or one patient) of it. ``number`` tells rows of one text apart, in order."""

    number: int
    alias: str
    table: VirtualTable = field(compare=False)
    #: Where it stands in the text.
    place: int | None = field(default=None, compare=False)
    #: For a table of patients: which.
    patients: nodes.PatientExpression | None = field(default=None, compare=False)


# --- single statements ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Present:
    """There is such a row."""

    row: Row


@dataclass(frozen=True, slots=True)
class OnConcept:
    """The row's concept is among these, or (``negative``) is not."""

    row: Row
    expression: nodes.ConceptExpression
    negative: bool = False


@dataclass(frozen=True, slots=True)
class OnAttributes:
    """A condition on the row's attributes."""

    row: Row
    condition: nodes.Condition


@dataclass(frozen=True, slots=True)
class OnDay:
    """The row's day lies in the window."""

    row: Row
    window: nodes.Window


@dataclass(frozen=True, slots=True)
class OnContext:
    """The row's context."""

    row: Row
    context: str


@dataclass(frozen=True, slots=True)
class OnPick:
    """Which of a patient's rows it is."""

    row: Row
    pick: nodes.Pick


@dataclass(frozen=True, slots=True)
class OnAge:
    """The patient's age in completed years at the row's day."""

    row: Row
    low: int
    high: int | None


@dataclass(frozen=True, slots=True)
class OnEvidence:
    """How the row's event is known: according to which notes, by how many, disputed or not, in which way.

    See ``nodes.Events``.
    """

    row: Row
    source: str = ""
    sources: int = 1
    undisputed: bool = False
    known: str = ""


@dataclass(frozen=True, slots=True)
class Different:
    """The concepts of two rows are unrelated: neither lies below the other."""

    left: Row
    right: Row


@dataclass(frozen=True, slots=True)
class Link:
    """Two rows have the same patient, tumor or event (``what``)."""

    what: str
    left: Row
    right: Row


@dataclass(frozen=True, slots=True)
class Gap:
    """The right row's day minus the left row's lies in ``low`` to ``high`` (None: no bound); with ``apart``, the number
    of days between them does, whichever comes first."""

    left: Row
    right: Row
    low: int | None
    high: int | None
    apart: bool = False


@dataclass(frozen=True, slots=True)
class OnPatients:
    """The patient is among these."""

    expression: nodes.PatientExpression


@dataclass(frozen=True, slots=True)
class Correlated:
    """EXISTS: the inner statements hold of some rows; with ``negative``, NOT EXISTS."""

    inner: Formula
    negative: bool = False


Leaf = (
    Present
    | OnConcept
    | OnAttributes
    | OnDay
    | OnContext
    | OnPick
    | OnAge
    | OnEvidence
    | Different
    | Link
    | Gap
    | OnPatients
    | Correlated
)


@dataclass(frozen=True, slots=True)
class Every:
    """All parts hold."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """Some part holds."""

    parts: tuple[Formula, ...]


Formula = Leaf | Every | Either

_Kind = TypeVar("_Kind", OnAttributes, OnConcept, OnPatients)


class NotSaid(ValueError):
    """A combination that the query tree cannot say; ``hint`` tells what to write instead, ``row`` of what it is."""

    def __init__(self, message: str, hint: str = "", row: Row | None = None) -> None:
        super().__init__(message)
        self.hint = hint
        self.place = None if row is None else row.place


# --- and, or, not -----------------------------------------------------------------------------------------------------


def every(parts: Sequence[Formula]) -> Formula:
    """The parts joined by AND, side by side."""
    return parts[0] if len(parts) == 1 else Every(tuple(parts))


def grouped(formula: Formula) -> Formula:
    """What stands in brackets as one statement, where its parts are about one thing."""
    if not isinstance(formula, Every):
        return formula
    parts = [grouped(part) for part in formula.parts]
    rows = {part.row for part in parts if isinstance(part, OnConcept | OnAttributes)}
    if len(rows) == 1:
        row = next(iter(rows))
        if conditions := _all_of(parts, OnAttributes):
            return OnAttributes(row, nodes.AllOf(tuple([part.condition for part in conditions])))
        if concepts := _all_of(parts, OnConcept):
            wanted = [part for part in concepts if not part.negative]
            if len(wanted) == 1:
                return OnConcept(row, other_than(wanted[0].expression, [c for c in concepts if c.negative]))
    if patients := _all_of(parts, OnPatients):
        return OnPatients(nodes.And(tuple([part.expression for part in patients])))
    return Every(tuple(parts))


def either(parts: Sequence[Formula]) -> Formula:
    """The parts joined by OR; statements about one thing become one."""
    arms = [grouped(part) for part in parts]
    rows = {part.row for part in arms if isinstance(part, OnConcept | OnAttributes)}
    if len(rows) == 1:
        row = next(iter(rows))
        if conditions := _all_of(arms, OnAttributes):
            return OnAttributes(row, nodes.AnyOf(tuple([part.condition for part in conditions])))
        concepts = _all_of(arms, OnConcept)
        if concepts and not any(part.negative for part in concepts):
            return OnConcept(row, nodes.Union(tuple([part.expression for part in concepts])))
    if patients := _all_of(arms, OnPatients):
        return OnPatients(nodes.Or(tuple([part.expression for part in patients])))
    return Either(tuple(arms))


def _all_of(parts: Sequence[Formula], kind: type[_Kind]) -> list[_Kind]:
    found = [part for part in parts if isinstance(part, kind)]
    return found if len(found) == len(parts) else []


def other_than(base: nodes.ConceptExpression, negatives: Sequence[OnConcept]) -> nodes.ConceptExpression:
    """``base`` without what the negatives name."""
    if not negatives:
        return base
    excluded = [part.expression for part in negatives]
    return nodes.OtherThan(base, excluded[0] if len(excluded) == 1 else nodes.Union(tuple(excluded)))


def negated(formula: Formula) -> Formula:
    """NOT, as SQL means it of rows: what has no value satisfies neither a condition nor its negation."""
    match formula:
        case Every(parts):
            whole = grouped(formula)
            return either([negated(part) for part in parts]) if isinstance(whole, Every) else negated(whole)
        case Either(parts):
            return every([negated(part) for part in parts])
        case OnAttributes(row, condition):
            return OnAttributes(row, opposite(condition))
        case OnConcept(row, expression, negative):
            return OnConcept(row, expression, not negative)
        case OnPatients(expression):
            return OnPatients(nodes.Not(expression))
        case Correlated(inner, negative):
            return Correlated(inner, not negative)
        case OnDay(row, window):
            sides = [(EARLIEST_DAY, window.low - 1), (window.high + 1, LATEST_DAY)]
            windows: list[Formula] = [OnDay(row, nodes.Window(low, high)) for low, high in sides if low <= high]
            if windows:
                return either(windows)
        case Gap(left, right, low, high, False):
            beyond: list[Formula] = []
            if low is not None:
                beyond.append(Gap(left, right, None, low - 1))
            if high is not None:
                beyond.append(Gap(left, right, high + 1, None))
            if beyond:
                return either(beyond)
        case Gap(left, right, int(low), None, True) if low > 0:
            return Gap(left, right, 1 - low, low - 1)
    raise NotSaid("this cannot be negated here", "say what is wanted, or write patient_id NOT IN (SELECT …)")


_INVERSE: Final = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def opposite(condition: nodes.Condition) -> nodes.Condition:
    """The condition that holds where SQL finds ``condition`` false, not where it finds it unknown."""
    match condition:
        case nodes.Compare(attribute, operator, value):
            return nodes.Compare(attribute, _INVERSE[operator], value)
        case nodes.Between(attribute, low, high):
            return nodes.AnyOf((nodes.Compare(attribute, "<", low), nodes.Compare(attribute, ">", high)))
        case nodes.Is(attribute, (nodes.Name(text),), False):
            return nodes.Compare(attribute, "!=", text)
        case nodes.Is(attribute):
            return nodes.AllOf((nodes.Documented(attribute), nodes.NotThat(condition)))
        case nodes.AllOf((nodes.Documented(), nodes.NotThat(nodes.Is() as inner))):
            return inner
        case nodes.AllOf(parts):
            return nodes.AnyOf(tuple([opposite(part) for part in parts]))
        case nodes.AnyOf(parts):
            return nodes.AllOf(tuple([opposite(part) for part in parts]))
        case nodes.NotThat(part):
            return part
        case nodes.Documented():
            return nodes.NotThat(condition)


def alternatives(formula: Formula) -> list[list[Leaf]]:
    """The formula as alternatives, each of them statements that hold together. NotSaid if there are too many."""
    match formula:
        case Every(parts):
            found: list[list[Leaf]] = [[]]
            for part in parts:
                more = alternatives(part)
                if len(found) * len(more) > MOST_ALTERNATIVES:
                    raise NotSaid(
                        f"the ORs make more than {MOST_ALTERNATIVES} alternatives", "split the query with UNION"
                    )
                found = [[*one, *other] for one, other in itertools.product(found, more)]
            return found
        case Either(parts):
            found = [one for part in parts for one in alternatives(part)]
            if len(found) > MOST_ALTERNATIVES:
                raise NotSaid(f"the ORs make more than {MOST_ALTERNATIVES} alternatives", "split the query with UNION")
            return found
        case Correlated(inner, False):
            return alternatives(inner)
    return [[formula]]
