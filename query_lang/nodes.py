"""The query tree: frozen nodes that check themselves, so that a query that means nothing cannot exist.

A query denotes a set of patients, and every operator is a set operation on what the notes justify. There are four
families: *terms* name things, *concept expressions* select concepts, *conditions* select events by their attributes,
and *patient expressions* select patients. :class:`Events` joins the first three into a set of events.
The reference engine gives each node its meaning; ``docs/guide/language.md`` tells it in words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from .event_nodes import (
    CONTEXTS,
    OPERATORS,
    PICKS,
    AllOf,
    AnyOf,
    Between,
    Compare,
    Concept,
    ConceptExpression,
    Condition,
    Documented,
    Events,
    Is,
    Name,
    NotThat,
    OtherThan,
    Pick,
    QueryTreeError,
    Term,
    Under,
    Union,
    Window,
    require,
)

__all__ = [
    "ABSENCES",
    "CONTEXTS",
    "COUNTED",
    "GAP_RELATIONS",
    "OPERATORS",
    "PICKS",
    "RELATIONS",
    "AgeAt",
    "AllOf",
    "Among",
    "And",
    "AnyOf",
    "AtLeast",
    "Between",
    "Clear",
    "Compare",
    "Concept",
    "ConceptExpression",
    "Condition",
    "Defined",
    "Definition",
    "Documented",
    "EventCriterion",
    "Events",
    "Except",
    "Exists",
    "Gap",
    "Is",
    "Lacking",
    "Name",
    "Not",
    "NotThat",
    "Or",
    "Ordered",
    "OtherThan",
    "PatientExpression",
    "Pick",
    "Query",
    "QueryTreeError",
    "SameEvent",
    "SameTumor",
    "Sequence",
    "Term",
    "Times",
    "Under",
    "Union",
    "Window",
    "children",
    "definitions_used",
    "event_sets",
    "with_children",
    "with_event_sets",
]

RELATIONS: Final = ("before", "after", "within", "during", "overlapping", "beside")
#: The relations that a gap in days belongs to.
GAP_RELATIONS: Final = ("before", "after", "within")
#: What :class:`Times` counts.
COUNTED: Final = ("days", "lines", "concepts")
#: The kinds of absence: a note says no; a note that would say so is silent; there is no such note.
ABSENCES: Final = ("denied", "silent", "unobservable")


# --- patient expressions --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Exists:
    """Patients with at least one event in ``events``."""

    events: Events


@dataclass(frozen=True, slots=True)
class And:
    """Patients in all parts."""

    parts: tuple[PatientExpression, ...]

    def __post_init__(self) -> None:
        require(len(self.parts) >= 2, "'and' joins two or more criteria")


@dataclass(frozen=True, slots=True)
class Or:
    """Patients in any part."""

    parts: tuple[PatientExpression, ...]

    def __post_init__(self) -> None:
        require(len(self.parts) >= 2, "'or' joins two or more criteria")


@dataclass(frozen=True, slots=True)
class Not:
    """All patients of the knowledge base except those in ``part``: closed world."""

    part: PatientExpression


@dataclass(frozen=True, slots=True)
class Except:
    """Patients in ``left`` and not in ``right``: the same set as ``left and not right``."""

    left: PatientExpression
    right: PatientExpression


@dataclass(frozen=True, slots=True)
class AtLeast:
    """Patients in at least ``n`` of the parts."""

    n: int
    parts: tuple[PatientExpression, ...]

    def __post_init__(self) -> None:
        require(1 <= self.n <= len(self.parts), f"'at least {self.n} of' has {len(self.parts)} criteria")


@dataclass(frozen=True, slots=True)
class SameTumor:
    """Patients with a tumor such that ``body`` holds when only that tumor's events are seen.

    An event of ``ALL_TUMORS`` is seen in each; one of no tumor in none (believed, certain) or in each (possible).
    """

    body: PatientExpression


@dataclass(frozen=True, slots=True)
class SameEvent:
    """Patients with an event such that ``body`` holds when only that event is seen."""

    body: PatientExpression


@dataclass(frozen=True, slots=True)
class Ordered:
    """Patients with an event in ``left`` and one in ``right`` in a relation; never the same event for both.

    ``before``: right's day minus left's day is at least ``minimum`` (≥ 1) and at most ``maximum`` days;
    ``after``: the mirror image; ``within``: the days differ by ``minimum`` (≥ 0) to ``maximum``, either order.
    ``during``: left's day lies between the day and the end of right; ``overlapping``: the two last on a common day;
    an event without a recorded end lasts for its day, and possibly for ever. ``beside``: in whatever order.

    With ``different``, neither event's concept is, or lies below, the other's. With ``without``, no event of that set
    lies strictly between the two days.
    """

    left: Events
    relation: str
    right: Events
    minimum: int = 1
    maximum: int | None = None
    different: bool = False
    without: Events | None = None

    def __post_init__(self) -> None:
        require(self.relation in RELATIONS, f"{self.relation!r} is not one of {', '.join(RELATIONS)}")
        if self.relation in GAP_RELATIONS:
            _require_gap(self.minimum, self.maximum, 0 if self.relation == "within" else 1)
        else:
            require((self.minimum, self.maximum) == (1, None), f"{self.relation!r} has no number of days")
            require(self.without is None, f"{self.relation!r} leaves no time between the two facts")
        require(self.relation != "within" or self.maximum is not None, "'within' needs a number of days")
        require(self.relation != "beside" or self.different, "two facts in no relation are joined by 'and'")


def _require_gap(minimum: int, maximum: int | None, least: int) -> None:
    require(minimum >= least, "the shortest gap is too small")
    require(maximum is None or maximum >= minimum, "the longest gap is shorter than the shortest")


@dataclass(frozen=True, slots=True)
class Gap:
    """From one step of a sequence to the next: ``minimum`` (≥ 1) to ``maximum`` days, and no event of ``without``
    strictly between."""

    minimum: int = 1
    maximum: int | None = None
    without: Events | None = None

    def __post_init__(self) -> None:
        _require_gap(self.minimum, self.maximum, 1)


@dataclass(frozen=True, slots=True)
class Sequence:
    """Patients with an event of each step, each after the one before it by its gap: *A then B then C*."""

    steps: tuple[Events, ...]
    gaps: tuple[Gap, ...]

    def __post_init__(self) -> None:
        require(len(self.steps) >= 3, "a sequence has three steps or more; of two facts, one is before the other")
        require(len(self.gaps) == len(self.steps) - 1, "a sequence has a gap between each two steps")


@dataclass(frozen=True, slots=True)
class Clear:
    """Patients with an event in ``events`` to which no other event in ``absent`` stands in the time relation.

    *after*: no event ``minimum`` to ``maximum`` days after it; *before*, *within* likewise, as in :class:`Ordered`.
    """

    events: Events
    relation: str
    absent: Events
    minimum: int = 1
    maximum: int | None = None

    def __post_init__(self) -> None:
        require(self.relation in GAP_RELATIONS, f"{self.relation!r} is not one of {', '.join(GAP_RELATIONS)}")
        _require_gap(self.minimum, self.maximum, 0 if self.relation == "within" else 1)
        require(self.relation != "within" or self.maximum is not None, "'within' needs a number of days")


@dataclass(frozen=True, slots=True)
class Times:
    """Patients with events in ``events`` on at least ``n`` different days, in as many lines of therapy, or of as many
    concepts (of two concepts one of which lies below the other, the narrower counts)."""

    n: int
    events: Events
    by: str = "days"

    def __post_init__(self) -> None:
        require(self.by in COUNTED, f"{self.by!r} is not one of {', '.join(COUNTED)}")
        require(self.n >= 1, "a count is 1 or more")
        require(self.events.pick == Pick(), f"{self.events.pick.how} chooses one event, and there is nothing to count")


@dataclass(frozen=True, slots=True)
class AgeAt:
    """Patients whose age in completed years, at an event in ``events`` or on ``day``, is ``low`` to ``high``.

    Reckoned from the patient's birth, an event that a scope does not hide.
    """

    events: Events | None = None
    day: int | None = None
    low: int = 0
    high: int | None = None

    def __post_init__(self) -> None:
        require((self.events is None) != (self.day is None), "an age is asked at an event, or on a day")
        require(self.low >= 0, "an age is 0 or more")
        require(self.high is None or self.high >= self.low, "the highest age is lower than the lowest")


@dataclass(frozen=True, slots=True)
class Lacking:
    """Patients without an event in ``events``, by what their notes say instead (one of :data:`ABSENCES`).

    ``denied``: a note says that there is none, or tells another value; ``silent``: a note that would say so lies in the
    window and says neither; ``unobservable``: there is no such note. The three part the patients without the event.
    """

    how: str
    events: Events

    def __post_init__(self) -> None:
        require(self.how in ABSENCES, f"{self.how!r} is not one of {', '.join(ABSENCES)}")
        require(
            self.events.pick == Pick(), f"{self.how} absence is of any such fact, not of the {self.events.pick.how}"
        )
        require(
            self.events.context == "present", f"{self.how} absence is of a fact, not of what is {self.events.context}"
        )


@dataclass(frozen=True, slots=True)
class Among:
    """The patients with these ids, as far as the knowledge base has them."""

    patients: tuple[str, ...]

    def __post_init__(self) -> None:
        require(bool(self.patients), "a list of patients has at least one id")


@dataclass(frozen=True, slots=True)
class Defined:
    """A criterion that ``let`` named before."""

    name: str


@dataclass(frozen=True, slots=True)
class Definition:
    """``let name be …``."""

    name: str
    body: PatientExpression


#: Criteria about how events of one or several sets lie to each other: leaves of the tree, decided by the events.
EventCriterion = Ordered | Sequence | Clear | Times | AgeAt | Lacking
PatientExpression = (
    Exists | And | Or | Not | Except | AtLeast | SameTumor | SameEvent | EventCriterion | Defined | Among
)


def children(node: PatientExpression) -> tuple[PatientExpression, ...]:
    """The criteria that ``node`` is made of, in order; none for a leaf."""
    match node:
        case And(parts) | Or(parts) | AtLeast(_, parts):
            return parts
        case Not(part) | SameTumor(part) | SameEvent(part):
            return (part,)
        case Except(left, right):
            return (left, right)
    return ()


def with_children(node: PatientExpression, parts: tuple[PatientExpression, ...]) -> PatientExpression:
    """The node made of other criteria, as many as :func:`children` gives; a leaf as it is."""
    match node:
        case And() | Or() | AtLeast():
            return replace(node, parts=parts)
        case Not():
            return Not(*parts)
        case SameTumor() | SameEvent():
            return replace(node, body=parts[0])
        case Except():
            return Except(*parts)
    return node


def definitions_used(node: PatientExpression) -> Iterator[str]:
    """The names of the definitions that stand in a criterion, once for each place; not those in their bodies."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Defined):
            yield one.name
        waiting.extend(children(one))


def event_sets(node: PatientExpression) -> tuple[Events, ...]:
    """The event sets that stand in a leaf of the tree itself, in order; none for other nodes."""
    match node:
        case Exists(events) | Times(_, events) | Lacking(_, events):
            return (events,)
        case Ordered(left, _, right):
            return (left, right) if node.without is None else (left, right, node.without)
        case Sequence(steps, gaps):
            return (*steps, *[gap.without for gap in gaps if gap.without is not None])
        case Clear(events, _, absent):
            return (events, absent)
        case AgeAt(events):
            return () if events is None else (events,)
    return ()


def with_event_sets(node: PatientExpression, change: Callable[[Events], Events]) -> PatientExpression:
    """A leaf with each of its event sets (in the order of :func:`event_sets`) changed; other nodes as they are."""
    match node:
        case Exists(events) | Times(_, events) | Lacking(_, events):
            return replace(node, events=change(events))
        case Ordered(left, _, right):
            left, right = change(left), change(right)
            return replace(node, left=left, right=right, without=None if node.without is None else change(node.without))
        case Sequence(steps, gaps):
            changed = tuple([change(step) for step in steps])
            return Sequence(
                changed,
                tuple([gap if gap.without is None else replace(gap, without=change(gap.without)) for gap in gaps]),
            )
        case Clear(events, _, absent):
            events = change(events)
            return replace(node, events=events, absent=change(absent))
        case AgeAt(events) if events is not None:
            return replace(node, events=change(events))
    return node


@dataclass(frozen=True, slots=True)
class Query:
    """A whole query: definitions in order, each seeing those before it, then the criterion."""

    body: PatientExpression
    definitions: tuple[Definition, ...] = ()

    def __post_init__(self) -> None:
        names = [definition.name for definition in self.definitions]
        require(len(set(names)) == len(names), "two definitions bear the same name")
