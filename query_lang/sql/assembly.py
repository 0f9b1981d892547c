"""The assembly of statements that hold together into criteria: rows become facts, links scopes, gaps orders in time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from .. import nodes
from .formula import (
    Correlated,
    Different,
    Formula,
    Gap,
    Leaf,
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
    Present,
    Row,
    alternatives,
    other_than,
)
from .intervals import EVERY, Interval, Pair, admitted_gaps, clear, orders, sequence

_SELECTING: Final = (OnConcept, OnDay, OnContext, OnEvidence)
_ABOUT_ONE: Final = (OnConcept, OnAttributes, OnDay, OnContext, OnPick, OnAge, OnEvidence)


def patients_of(formula: Formula) -> nodes.PatientExpression:
    """The patients of whom the formula holds. NotSaid if the query tree cannot say it."""
    found = alternatives(formula)
    _check_picks(found)
    criteria = [_conjunction(leaves) for leaves in found]
    return criteria[0] if len(criteria) == 1 else nodes.Or(tuple(criteria))


def events_of(formula: Formula) -> nodes.Events:
    """The events that the formula selects of its only row. NotSaid if it says anything else."""
    found = alternatives(formula)
    if len(found) > 1:
        raise NotSaid("what is counted is one set of events, and OR makes several", "count each in a SELECT of its own")
    return _single(found[0])


def _single(leaves: Sequence[Leaf]) -> nodes.Events:
    rows = [leaf.row for leaf in leaves if isinstance(leaf, Present)]
    others = [leaf for leaf in leaves if not isinstance(leaf, (Present, *_ABOUT_ONE)) or isinstance(leaf, OnAge)]
    if len(rows) != 1 or not rows[0].table.events or others:
        raise NotSaid(
            "here one table stands, with conditions on its own columns",
            "find other patients in a SELECT of their own",
            rows[0] if rows else None,
        )
    return _facts(rows, leaves)[rows[0]].events()


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
    evidence: list[OnEvidence] = field(default_factory=list)
    ages: list[OnAge] = field(default_factory=list)

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
            case OnEvidence():
                self.evidence.append(leaf)
            case OnAge():
                self.ages.append(leaf)

    def criterion(self) -> nodes.PatientExpression:
        """That there is such an event, perhaps at an age."""
        if not self.ages:
            return nodes.Exists(self.events())
        low = max(age.low for age in self.ages)
        highs = [age.high for age in self.ages if age.high is not None]
        high = min(highs) if highs else None
        if high is not None and low > high:
            raise NotSaid("nobody is of such an age", "check the bounds of 'age'", self.row)
        return nodes.AgeAt(self.events(), None, low, high)

    def events(self) -> nodes.Events:
        name, kind = self.row.table.name, self.row.table.kind
        if len(self.wanted) > 1:
            raise NotSaid(
                f"one event of '{name}' is asked to be of two concepts",
                "two events are two tables: FROM … AS a JOIN … AS b USING (patient_id); alternatives are OR or IN",
                self.row,
            )
        if self.negatives and not self.wanted:
            raise NotSaid(
                "concept <> … only says which concept it is not",
                "say of which it is one, too: concept = 'neoplasm' AND concept <> 'lung cancer'",
                self.row,
            )
        if kind is None and not self.wanted:
            raise NotSaid(
                "the table 'event' holds every kind of event", "say which concept: WHERE concept = '…'", self.row
            )
        if len(set(self.contexts)) > 1 or len(set(self.picks)) > 1:
            raise NotSaid(
                "'context' and 'pick' have one value each", "write two SELECTs and join them with UNION", self.row
            )
        concept = other_than(self.wanted[0], self.negatives) if self.wanted else None
        conditions = self.conditions
        condition = (
            None if not conditions else conditions[0] if len(conditions) == 1 else nodes.AllOf(tuple(conditions))
        )
        return nodes.Events(
            kind,
            concept,
            condition,
            self.contexts[0] if self.contexts else "present",
            self.picks[0] if self.picks else nodes.Pick(),
            self._window(),
            self._source(),
            any(evidence.undisputed for evidence in self.evidence),
            max((evidence.sources for evidence in self.evidence), default=1),
            self._known(),
        )

    def _source(self) -> str:
        found = list(dict.fromkeys(evidence.source for evidence in self.evidence if evidence.source))
        if len(found) > 1:
            raise NotSaid(
                "one event is asked to be told according to two classes of notes",
                "write two SELECTs and join them with INTERSECT",
                self.row,
            )
        return found[0] if found else ""

    def _known(self) -> str:
        found = list(dict.fromkeys(evidence.known for evidence in self.evidence if evidence.known))
        if len(found) > 1:
            raise NotSaid(
                "one event is asked to be stated and derived", "write two SELECTs and join them with UNION", self.row
            )
        return found[0] if found else ""

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
        if isinstance(leaf, _ABOUT_ONE):
            facts[leaf.row].take(leaf)
    return facts


# --- several rows -----------------------------------------------------------------------------------------------------


class _Groups:
    """Which rows belong together."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._group_of = {row: {row} for row in rows}

    def join(self, one: Row, other: Row) -> None:
        if self._group_of[one] is not self._group_of[other]:
            merged = self._group_of[one] | self._group_of[other]
            for row in merged:
                self._group_of[row] = merged

    def joined_with(self, row: Row) -> set[Row]:
        return self._group_of[row]


class _Assembly:
    """The criteria of one alternative."""

    def __init__(self, leaves: Sequence[Leaf]) -> None:
        self._leaves = leaves
        self._rows = sorted({leaf.row for leaf in leaves if isinstance(leaf, Present)}, key=lambda row: row.number)
        self._check_outer()
        self._facts = _facts(self._rows, leaves)
        self._patients, self._tumors, self._same = (self._linked(what) for what in ("patient", "tumor", "event"))
        self._different = {(leaf.left, leaf.right) for leaf in leaves if isinstance(leaf, Different)}
        self._gaps: dict[Pair, list[Interval]] = {pair: [EVERY] for pair in self._different}
        self._gaps |= admitted_gaps([leaf for leaf in leaves if isinstance(leaf, Gap)])
        self._related = _Groups(self._rows)
        for left, right in self._gaps:
            self._related.join(left, right)
        self._absences = [
            _Absence.read(inner) for leaf in leaves if isinstance(leaf, Correlated) for inner in _denied(leaf)
        ]

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
            if row not in self._patients.joined_with(self._rows[0]):
                raise NotSaid(
                    f"'{row.alias}' is not tied to '{self._rows[0].alias}'",
                    f"say that both are of one patient: {row.alias}.patient_id = {self._rows[0].alias}.patient_id",
                    row,
                )
        done: set[Row] = set()
        parts: list[nodes.PatientExpression] = []
        for row in self._rows:
            if row in done:
                continue
            if not row.table.events:
                if row.patients is not None:
                    parts.append(row.patients)
                continue
            tumor = self._tumors.joined_with(row)
            inside = [absence for absence in self._absences if absence.tumor in tumor]
            if len(tumor) == 1 and not inside:
                parts.append(self._unit(row, done, None))
                continue
            ordered = sorted(tumor, key=lambda one: one.number)
            units = [self._unit(one, done, tumor) for one in ordered if one not in done]
            units += [absence.denial() for absence in inside if not absence.times]
            parts.append(nodes.SameTumor(units[0] if len(units) == 1 else nodes.And(tuple(units))))
        absences = iter(self._absences)
        for leaf in self._leaves:
            if isinstance(leaf, OnPatients):
                parts.append(leaf.expression)
            elif isinstance(leaf, Correlated):
                for _ in _denied(leaf):
                    absence = next(absences)
                    if absence.tumor is None and not absence.times:
                        parts.append(absence.denial())
        return parts

    def _unit(self, row: Row, done: set[Row], scope: set[Row] | None) -> nodes.PatientExpression:
        """The criterion of a row and of those that it hangs together with but for the tumor."""
        same, related = self._same.joined_with(row), self._related.joined_with(row)
        for other in same | related:
            if scope is not None and other not in scope or scope is None and len(self._tumors.joined_with(other)) > 1:
                raise NotSaid(
                    f"'{other.alias}' and '{row.alias}' hang together, and only one of them is tied to a tumor",
                    f"tie both: {other.alias}.tumor = {row.alias}.tumor",
                    other,
                )
        between = [absence for absence in self._absences if absence.outer & (same | related)]
        for absence in between:
            if (absence.tumor is not None) != (scope is not None):
                raise NotSaid(
                    "NOT EXISTS looks at another tumor, or at more tumors, than the table that it is tied to",
                    f"tie both by tumor, or neither: {absence.row.alias}.tumor = {row.alias}.tumor",
                    absence.row,
                )
        done |= same | related
        if len(same) > 1:
            if len(related) > 1 or between or any(self._facts[one].ages for one in same):
                raise NotSaid("one event has one day", "leave out the comparison of days, or the one of events", row)
            ordered = sorted(same, key=lambda one: one.number)
            return nodes.SameEvent(nodes.And(tuple([nodes.Exists(self._facts[one].events()) for one in ordered])))
        if len(related) == 1:
            if not between:
                return self._facts[row].criterion()
            if len(between) > 1 or self._facts[row].ages:
                raise NotSaid(
                    "'NOT EXISTS' is asked twice of the days around one event, or beside its age",
                    "write two SELECTs and join them with INTERSECT (each may then find another event)",
                    row,
                )
            absence = between[0]
            return clear(self._facts[row].events(), absence.events(), absence.intervals(row))
        if any(self._facts[one].ages for one in related):
            raise NotSaid(
                "'age' is asked of an event that is compared in time with another",
                "ask the age in a SELECT of its own: patient_id IN (SELECT …)",
                row,
            )
        without = {absence.pair(): absence.events() for absence in between}
        if len(without) < len(between):
            raise NotSaid("two NOT EXISTS lie between the same events", "write one, with OR in it", row)
        facts = {one: self._facts[one].events() for one in related}
        if len(related) == 2:
            pair = next(pair for pair in self._gaps if row in pair)
            found = orders(pair, facts, self._gaps[pair], pair in self._different, without)
            return found[0] if len(found) == 1 else nodes.Or(tuple(found))
        gaps = {pair: admitted for pair, admitted in self._gaps.items() if pair[0] in related}
        if any(pair in self._different for pair in gaps):
            raise NotSaid("different concepts are asked of two events", "write the third in a SELECT of its own", row)
        return sequence(facts, gaps, without)


def _denied(leaf: Correlated) -> list[list[Leaf]]:
    return alternatives(leaf.inner)


@dataclass(frozen=True)
class _Absence:
    """What one NOT EXISTS denies, and by what it is tied to the rows around it."""

    leaves: tuple[Leaf, ...]
    row: Row
    #: The outer row whose tumor it is about.
    tumor: Row | None
    times: tuple[Gap, ...]

    @classmethod
    def read(cls, inner: Sequence[Leaf]) -> _Absence:
        own = {one.row for one in inner if isinstance(one, Present)}
        row = min(own, key=lambda one: one.number)
        ties = [one for one in inner if not own.issuperset(_rows_of(one))]
        kept = tuple([one for one in inner if own.issuperset(_rows_of(one))])
        links = [one for one in ties if isinstance(one, Link) and one.what != "event"]
        times = tuple([one for one in ties if isinstance(one, Gap)])
        if len(links) + len(times) < len(ties) or (times and len(own) > 1):
            raise NotSaid(
                "NOT EXISTS is tied to the outer SELECT by more than patient, tumor and days",
                "tie one table by patient_id, and by tumor or day if that is meant",
                row,
            )
        if not any(link.what == "patient" for link in links):
            raise NotSaid(
                "NOT EXISTS is not tied to the patient of the outer SELECT",
                "write WHERE b.patient_id = a.patient_id in it, or patient_id NOT IN (SELECT patient_id FROM …)",
                row,
            )
        owners = {one for link in links if link.what == "tumor" for one in (link.left, link.right) if one not in own}
        if len(owners) > 1:
            raise NotSaid("NOT EXISTS is tied to two tumors", "tie it to one", row)
        return cls(kept, row, next(iter(owners), None), times)

    @property
    def outer(self) -> set[Row]:
        """The outer rows that it is tied to by days."""
        return {one for gap in self.times for one in (gap.left, gap.right) if one != self.row}

    def denial(self) -> nodes.PatientExpression:
        """That there is nothing of the kind."""
        return nodes.Not(_conjunction(self.leaves))

    def events(self) -> nodes.Events:
        """The one set of events that is denied."""
        return _single(self.leaves)

    def intervals(self, outer: Row) -> list[Interval]:
        """The differences, from the outer row's day, in which nothing may lie."""
        found = admitted_gaps(self.times)
        ((pair, admitted),) = found.items()
        if pair[0] == outer:
            return admitted
        return [(None if high is None else -high, None if low is None else -low) for low, high in reversed(admitted)]

    def pair(self) -> Pair:
        """The two outer rows strictly between whose days nothing may lie, the earlier first."""
        found = {one: self._from(one) for one in self.outer}
        after = [one for one, admitted in found.items() if admitted == [(1, None)]]
        before = [one for one, admitted in found.items() if admitted == [(None, -1)]]
        if len(found) != 2 or len(after) != 1 or len(before) != 1:
            raise NotSaid(
                "beside events that are compared in time, NOT EXISTS is read of what lies strictly between two of them",
                "for example: NOT EXISTS (… c.day > a.day AND c.day < b.day)",
                self.row,
            )
        return after[0], before[0]

    def _from(self, outer: Row) -> list[Interval]:
        own = tuple([gap for gap in self.times if outer in (gap.left, gap.right)])
        return _Absence(self.leaves, self.row, self.tumor, own).intervals(outer)


def _rows_of(leaf: Leaf) -> tuple[Row, ...]:
    match leaf:
        case Link(_, left, right) | Gap(left, right) | Different(left, right):
            return (left, right)
        case OnPatients() | Correlated():
            return ()
    return (leaf.row,)
