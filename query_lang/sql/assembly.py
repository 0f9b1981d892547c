"""From statements that hold together to criteria: rows become facts, links become scopes, gaps become orders in time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from .. import nodes
from .formula import (
    Correlated,
    Formula,
    Gap,
    Leaf,
    Link,
    NotSaid,
    OnAttributes,
    OnConcept,
    OnContext,
    OnDay,
    OnPatients,
    OnPick,
    Present,
    Row,
    alternatives,
    other_than,
)

#: Differences of days: from, to; None is no bound.
Interval = tuple[int | None, int | None]

_SELECTING: Final = (OnConcept, OnDay, OnContext)


def patients_of(formula: Formula) -> nodes.PatientExpression:
    """The patients of whom the formula holds. NotSaid if the query tree cannot say it."""
    found = alternatives(formula)
    _check_picks(found)
    criteria = [_conjunction(leaves) for leaves in found]
    return criteria[0] if len(criteria) == 1 else nodes.Or(tuple(criteria))


def events_of(formula: Formula) -> nodes.Events:
    """The events that the formula selects of its only row. NotSaid if it says anything else."""
    found = alternatives(formula)
    rows = [leaf.row for leaf in found[0] if isinstance(leaf, Present)]
    if len(found) == 1 and len(rows) == 1 and rows[0].table.events:
        facts = _facts(rows, found[0])
        if not any(isinstance(leaf, OnPatients | Correlated) for leaf in found[0]):
            return facts[rows[0]].events()
    raise NotSaid(
        "what is counted is one table with conditions on its own columns", "find these patients in a SELECT of their own"
    )


def _check_picks(found: Sequence[Sequence[Leaf]]) -> None:
    """A pick chooses among what one SELECT selects; with OR between selections it would be unclear among which."""
    if len(found) < 2:
        return
    for row in {leaf.row for leaves in found for leaf in leaves if isinstance(leaf, OnPick)}:
        selections = [[leaf for leaf in leaves if isinstance(leaf, _SELECTING) and leaf.row == row] for leaves in found]
        if any(selection != selections[0] for selection in selections):
            raise NotSaid(
                "'pick' chooses one event, and OR leaves open among which", "write two SELECTs and join them with UNION"
            )


def _conjunction(leaves: Sequence[Leaf]) -> nodes.PatientExpression:
    parts = _Assembly(leaves).parts()
    if not parts:
        raise NotSaid("this asks for every patient", "say what their notes must tell: WHERE patient_id IN (SELECT …)")
    return parts[0] if len(parts) == 1 else nodes.And(tuple(parts))


# --- one row: one fact ------------------------------------------------------------------------------------------------


@dataclass
class _Fact:
    """What is said of one row, gathered."""

    row: Row
    wanted: list[nodes.ConceptExpression] = field(default_factory=list)
    negatives: list[OnConcept] = field(default_factory=list)
    conditions: list[nodes.Condition] = field(default_factory=list)
    windows: list[nodes.Window] = field(default_factory=list)
    contexts: list[str] = field(default_factory=list)
    picks: list[nodes.Pick] = field(default_factory=list)

    def take(self, leaf: Leaf) -> None:
        match leaf:
            case OnConcept(_, expression, False):
                self.wanted.append(expression)
            case OnConcept():
                self.negatives.append(leaf)
            case OnAttributes(_, condition):
                self.conditions.append(condition)
            case OnDay(_, window):
                self.windows.append(window)
            case OnContext(_, context):
                self.contexts.append(context)
            case OnPick(_, pick):
                self.picks.append(pick)

    def events(self) -> nodes.Events:
        name, kind = self.row.table.name, self.row.table.kind
        if len(self.wanted) > 1:
            raise NotSaid(
                f"one event of '{name}' is asked to be of two concepts",
                "two events are two tables: FROM … AS a JOIN … AS b USING (patient_id); for alternatives write OR or IN",
                self.row,
            )
        if self.negatives and not self.wanted:
            raise NotSaid(
                "concept <> … only says which concept it is not",
                "say of which it is one, too: concept = 'neoplasm' AND concept <> 'lung cancer'",
                self.row,
            )
        if kind is None and not self.wanted:
            raise NotSaid("the table 'event' holds every kind of event", "say which concept: WHERE concept = '…'", self.row)
        if len(set(self.contexts)) > 1 or len(set(self.picks)) > 1:
            raise NotSaid("'context' and 'pick' have one value each", "write two SELECTs and join them with UNION", self.row)
        concept = other_than(self.wanted[0], self.negatives) if self.wanted else None
        conditions = self.conditions
        condition = None if not conditions else conditions[0] if len(conditions) == 1 else nodes.AllOf(tuple(conditions))
        return nodes.Events(
            kind,
            concept,
            condition,
            self.contexts[0] if self.contexts else "present",
            self.picks[0] if self.picks else nodes.Pick(),
            self._window(),
        )

    def _window(self) -> nodes.Window | None:
        if not self.windows:
            return None
        low, high = max(one.low for one in self.windows), min(one.high for one in self.windows)
        if low > high:
            raise NotSaid("no day lies in this time: it ends before it begins", "check the dates", self.row)
        return nodes.Window(low, high)


def _facts(rows: Iterable[Row], leaves: Iterable[Leaf]) -> dict[Row, _Fact]:
    facts = {row: _Fact(row) for row in rows}
    for leaf in leaves:
        if isinstance(leaf, OnConcept | OnAttributes | OnDay | OnContext | OnPick):
            facts[leaf.row].take(leaf)
    return facts


# --- several rows -----------------------------------------------------------------------------------------------------


class _Groups:
    """Which rows belong together."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._of = {row: {row} for row in rows}

    def join(self, one: Row, other: Row) -> None:
        if self._of[one] is not self._of[other]:
            merged = self._of[one] | self._of[other]
            for row in merged:
                self._of[row] = merged

    def of(self, row: Row) -> set[Row]:
        return self._of[row]


class _Assembly:
    """The criteria of one alternative."""

    def __init__(self, leaves: Sequence[Leaf]) -> None:
        self._leaves = leaves
        self._rows = sorted({leaf.row for leaf in leaves if isinstance(leaf, Present)}, key=lambda row: row.number)
        self._check_outer()
        self._facts = _facts(self._rows, leaves)
        self._patients, self._tumors, self._same = (self._linked(what) for what in ("patient", "tumor", "event"))
        self._gaps = _gaps([leaf for leaf in leaves if isinstance(leaf, Gap)])

    def _check_outer(self) -> None:
        known = set(self._rows)
        for leaf in self._leaves:
            for row in _rows_of(leaf):
                if row not in known:
                    raise NotSaid(
                        f"'{row.alias}' belongs to the SELECT around this one",
                        "tie the two by patient_id or tumor, and say the rest of each in its own SELECT",
                        row,
                    )

    def _linked(self, what: str) -> _Groups:
        groups = _Groups(self._rows)
        for leaf in self._leaves:
            if isinstance(leaf, Link) and leaf.what == what:
                groups.join(leaf.left, leaf.right)
        return groups

    def parts(self) -> list[nodes.PatientExpression]:
        """The criteria, which hold together, in the order of the text."""
        for row in self._rows[1:]:
            if row not in self._patients.of(self._rows[0]):
                raise NotSaid(
                    f"'{row.alias}' is not tied to '{self._rows[0].alias}'",
                    f"say that both are of one patient: {row.alias}.patient_id = {self._rows[0].alias}.patient_id",
                    row,
                )
        absent = [found for leaf in self._leaves if isinstance(leaf, Correlated) for found in self._absent(leaf)]
        done: set[Row] = set()
        parts: list[nodes.PatientExpression] = []
        for row in self._rows:
            if row in done:
                continue
            if not row.table.events:
                if row.patients is not None:
                    parts.append(row.patients)
                continue
            tumor = self._tumors.of(row)
            inside = [expression for owner, expression in absent if owner in tumor]
            if len(tumor) == 1 and not inside:
                parts.append(self._unit(row, done, None))
                continue
            units = [self._unit(one, done, tumor) for one in sorted(tumor, key=lambda one: one.number) if one not in done]
            units += inside
            parts.append(nodes.SameTumor(units[0] if len(units) == 1 else nodes.And(tuple(units))))
        for leaf in self._leaves:
            if isinstance(leaf, OnPatients):
                parts.append(leaf.expression)
            elif isinstance(leaf, Correlated):
                parts += [expression for owner, expression in self._absent(leaf) if owner is None]
        return parts

    def _unit(self, row: Row, done: set[Row], scope: set[Row] | None) -> nodes.PatientExpression:
        """The criterion of a row and of those that it hangs together with but for the tumor."""
        same = self._same.of(row)
        related = [pair for pair in self._gaps if row in pair]
        for other in (*same, *[one for pair in related for one in pair]):
            if scope is not None and other not in scope or scope is None and len(self._tumors.of(other)) > 1:
                raise NotSaid(
                    f"'{other.alias}' and '{row.alias}' hang together, and only one of them is tied to a tumor",
                    f"tie both: {other.alias}.tumor = {row.alias}.tumor",
                    other,
                )
        if len(same) > 1:
            if any(one in pair for one in same for pair in self._gaps):
                raise NotSaid("one event has one day", "leave out the comparison of days, or the one of events", row)
            done |= same
            ordered = sorted(same, key=lambda one: one.number)
            return nodes.SameEvent(nodes.And(tuple([nodes.Exists(self._facts[one].events()) for one in ordered])))
        if len(related) > 1:
            raise NotSaid(
                f"'{row.alias}' is compared in time with more than one table",
                "write a SELECT for each two of them, and join these with INTERSECT (each may then find another event)",
                row,
            )
        if not related:
            done.add(row)
            return nodes.Exists(self._facts[row].events())
        left, right = related[0]
        if len([pair for pair in self._gaps if left in pair or right in pair]) > 1:
            raise NotSaid(
                f"'{left.alias}' or '{right.alias}' is compared in time with more than one table",
                "write a SELECT for each two of them, and join these with INTERSECT (each may then find another event)",
                row,
            )
        done |= {left, right}
        orders = _orders(self._facts[left].events(), self._facts[right].events(), self._gaps[left, right])
        return orders[0] if len(orders) == 1 else nodes.Or(tuple(orders))

    def _absent(self, leaf: Correlated) -> list[tuple[Row | None, nodes.PatientExpression]]:
        """What NOT EXISTS denies: each with the row whose tumor it is about, if it is about one's."""
        found: list[tuple[Row | None, nodes.PatientExpression]] = []
        for inner in alternatives(leaf.inner):
            own = {one.row for one in inner if isinstance(one, Present)}
            ties = [one for one in inner if not own.issuperset(_rows_of(one))]
            kept = [one for one in inner if own.issuperset(_rows_of(one))]
            links = [one for one in ties if isinstance(one, Link)]
            if len(links) < len(ties) or any(link.what == "event" for link in links):
                raise NotSaid(
                    "NOT EXISTS is tied to the outer SELECT by more than patient and tumor",
                    "tie it by patient_id, and by tumor if that is meant",
                )
            if not any(link.what == "patient" for link in links):
                raise NotSaid(
                    "NOT EXISTS is not tied to the patient of the outer SELECT",
                    "write WHERE b.patient_id = a.patient_id in it, or patient_id NOT IN (SELECT patient_id FROM …)",
                )
            owners = {row for link in links if link.what == "tumor" for row in (link.left, link.right) if row not in own}
            if len(owners) > 1:
                raise NotSaid("NOT EXISTS is tied to two tumors", "tie it to one")
            found.append((next(iter(owners), None), nodes.Not(_conjunction(kept))))
        return found


def _rows_of(leaf: Leaf) -> tuple[Row, ...]:
    match leaf:
        case Link(_, left, right) | Gap(left, right):
            return (left, right)
        case OnPatients() | Correlated():
            return ()
    return (leaf.row,)


# --- time -------------------------------------------------------------------------------------------------------------


def _gaps(found: Sequence[Gap]) -> dict[tuple[Row, Row], list[Interval]]:
    """For each two rows, which differences of their days are admitted."""
    admitted: dict[tuple[Row, Row], list[Interval]] = {}
    for gap in found:
        if not gap.apart:
            intervals: list[Interval] = [(gap.low, gap.high)]
        elif not gap.low:
            intervals = [(None if gap.high is None else -gap.high, gap.high)]
        else:
            intervals = [(None if gap.high is None else -gap.high, -gap.low), (gap.low, gap.high)]
        pair = (gap.left, gap.right)
        before = admitted.get(pair, [(None, None)])
        admitted[pair] = [both for one in before for other in intervals if (both := _common(one, other)) is not None]
        if not admitted[pair]:
            raise NotSaid("no two days lie so to each other", "check the bounds of the days between them")
    return {pair: intervals for pair, intervals in admitted.items() if intervals != [(None, None)]}


def _common(one: Interval, other: Interval) -> Interval | None:
    lows = [low for low in (one[0], other[0]) if low is not None]
    highs = [high for high in (one[1], other[1]) if high is not None]
    low, high = (max(lows) if lows else None), (min(highs) if highs else None)
    return None if low is not None and high is not None and low > high else (low, high)


def _orders(left: nodes.Events, right: nodes.Events, admitted: Sequence[Interval]) -> list[nodes.PatientExpression]:
    """The orders in time in which right's day less left's is admitted."""

    def order(relation: str, minimum: int, maximum: int | None) -> nodes.PatientExpression:
        return nodes.Ordered(left, relation, right, minimum, maximum)

    if len(admitted) == 2:
        (first, last), (low, high) = admitted
        if low is not None and high is not None and first == -high and last == -low:
            return [order("within", low, high)]
    found: list[nodes.PatientExpression] = []
    for low, high in admitted:
        if low is not None and low >= 1:
            found.append(order("before", low, high))
        elif high is not None and high <= -1:
            found.append(order("after", -high, None if low is None else -low))
        else:
            # The same day lies in it: first the stretch that is as long on both sides, then what is left of one side.
            around = min(bound for bound in (None if low is None else -low, high) if bound is not None)
            found.append(order("within", 0, around))
            if high is None or high > around:
                found.append(order("before", around + 1, high))
            if low is None or -low > around:
                found.append(order("after", around + 1, None if low is None else -low))
    return found


