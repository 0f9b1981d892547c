"""The query tree: frozen nodes that check themselves, so that a query that means nothing cannot exist.

A query denotes a set of patients, and every operator is a set operation on what the notes justify. There are four
families: *terms* name things, *concept expressions* select concepts, *conditions* select events by their attributes,
and *patient expressions* select patients. :class:`Events` joins the first three into a set of events.
The reference engine gives each node its meaning; ``docs/guide/language.md`` tells it in words. What walks a tree or
changes parts of it is in :mod:`.tree`, and knows a node by its fields alone.
"""

from __future__ import annotations

from dataclasses import Field, dataclass, field, replace
from typing import Any, ClassVar, Final

from ..kb.kinds import COURSES, KINDS, MAIN_ATTRIBUTE
from ..kb.model import EARLIEST_DAY, LATEST_DAY

#: What an atom admits instead of the patient's own present facts: ``present`` is the default.
CONTEXTS: Final = (
    "present",
    "current",
    "historical",
    "absent",
    "uncertain",
    "planned",
    "hypothetical",
    "declined",
    "family",
    "any",
)
#: The day of an event that :class:`Events` looks at: that on which it began, or on which it ended.
MOMENTS: Final = ("begin", "end")
PICKS: Final = ("any", "first", "latest", "nth", "worst", "best")
OPERATORS: Final = ("=", "!=", "<", "<=", ">", ">=")
RELATIONS: Final = ("before", "after", "within", "during", "overlapping", "specimen", "beside")
#: The relations that a gap in days belongs to.
GAP_RELATIONS: Final = ("before", "after", "within")
#: What :class:`Times` counts.
COUNTED: Final = ("days", "lines", "concepts")
#: Which way a number moves in :class:`Change`, and how far it must at least.
WAYS: Final = ("rise", "fall")
MOVES: Final = (">=", ">")
#: How the events that :class:`Repeated` counts may lie to the other.
COUNTED_BESIDE: Final = (*GAP_RELATIONS, "during", "overlapping")
#: The ways of being known that :class:`Events` can ask for: in words of a note, or by a rule from other events.
KNOWN: Final = ("stated", "derived")
#: The kinds of absence: a note says no; a note that would say so is silent; there is no such note.
ABSENCES: Final = ("denied", "silent", "unobservable")


class QueryTreeError(ValueError):
    """A node was built with parts that mean nothing; the message says which and what would do."""


def require(condition: bool, message: str) -> None:
    if not condition:
        raise QueryTreeError(message)


class Node:
    """A node of the query tree: a frozen dataclass whose fields hold its parts, alone or in tuples."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


# --- terms ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Name(Node):
    """A name or code as written (``lung cancer``, ``RxCUI 1721560``), not yet resolved."""

    text: str

    def __post_init__(self) -> None:
        require(bool(self.text.strip()), "a name is empty")


@dataclass(frozen=True, slots=True)
class Concept(Node):
    """A resolved name: a concept id, and the preferred name under which it is rendered."""

    id: str
    name: str


Term = Name | Concept

# --- concept expressions: a set of concept ids, closed over descendants ---------------------------------------------


@dataclass(frozen=True, slots=True)
class Under(Node):
    """A concept and everything below it; with ``exact``, that concept alone."""

    term: Term
    exact: bool = False


@dataclass(frozen=True, slots=True)
class Union(Node):
    """Any of several concept expressions."""

    parts: tuple[ConceptExpression, ...]

    def __post_init__(self) -> None:
        require(len(self.parts) >= 2, "a union of concepts has two or more parts")


@dataclass(frozen=True, slots=True)
class OtherThan(Node):
    """*any X except Y*: what lies under ``base`` and not under ``excluded``. Removes concepts, never patients."""

    base: ConceptExpression
    excluded: ConceptExpression


ConceptExpression = Under | Union | OtherThan

# --- conditions on one event ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Is(Node):
    """The attribute is one of ``values`` or lies below one of them; with ``exact``, it is that very value.

    ``exactly positive`` admits *positive* and not *weakly positive*; ``= positive`` admits both.
    """

    attribute: str
    values: tuple[Term, ...]
    exact: bool = False

    def __post_init__(self) -> None:
        require(bool(self.values), f"'{self.attribute} =' needs a value")


@dataclass(frozen=True, slots=True)
class Compare(Node):
    """Ordered comparison on the attribute's scale (T, N, stage, grade …) or as a number; unknown values never match.

    ``unit``: that of a number, if one is written; in a resolved query the usual one of what is measured.
    """

    attribute: str
    operator: str
    value: str | float
    unit: str = ""

    def __post_init__(self) -> None:
        require(self.operator in OPERATORS, f"operator {self.operator!r} is not one of {' '.join(OPERATORS)}")


@dataclass(frozen=True, slots=True)
class Between(Node):
    """From ``low`` to ``high``, both included, each with all of its substages; ``unit`` as of :class:`Compare`."""

    attribute: str
    low: str | float
    high: str | float
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Documented(Node):
    """The attribute has a value at all."""

    attribute: str


@dataclass(frozen=True, slots=True)
class AllOf(Node):
    """Every condition holds of the event."""

    parts: tuple[Condition, ...]

    def __post_init__(self) -> None:
        require(len(self.parts) >= 2, "'and' joins two or more conditions")


@dataclass(frozen=True, slots=True)
class AnyOf(Node):
    """At least one condition holds of the event."""

    parts: tuple[Condition, ...]

    def __post_init__(self) -> None:
        require(len(self.parts) >= 2, "'or' joins two or more conditions")


@dataclass(frozen=True, slots=True)
class NotThat(Node):
    """The condition does not hold of the event (also when its attribute is not documented)."""

    part: Condition


#: Conditions on one attribute.
SingleCondition = Is | Compare | Between | Documented
Condition = SingleCondition | AllOf | AnyOf | NotThat

# --- event sets -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Pick(Node):
    """Which of a patient's events an atom looks at, before its conditions apply.

    ``first``/``latest``/``nth`` order by day; events on the same day are tied, and a condition must hold of all of
    them. ``worst``/``best`` take the highest/lowest value of the kind's main attribute, a Karnofsky score the other
    way round.
    """

    how: str = "any"
    n: int = 0

    def __post_init__(self) -> None:
        require(self.how in PICKS, f"{self.how!r} is not one of {', '.join(PICKS)}")
        require((self.n >= 1) == (self.how == "nth"), "n-th needs a number from 1 up, and nothing else takes one")


@dataclass(frozen=True, slots=True)
class Window(Node):
    """The event's day lies in ``low`` to ``high`` (ordinals, inclusive)."""

    low: int = EARLIEST_DAY
    high: int = LATEST_DAY

    def __post_init__(self) -> None:
        require(self.low <= self.high, "the window ends before it begins")


@dataclass(frozen=True, slots=True)
class Lasting(Node):
    """From the day on which the event began to that on which it ended are ``minimum`` to ``maximum`` days.

    Certain: whichever days of the two they were; believed: of the midpoints; possible: for some of them. Of an event
    that goes on (a kind that *lasts*) and whose end is not recorded, every length is possible and none believed; what
    does not last has a length of 0 days.
    """

    minimum: int = 0
    maximum: int | None = None

    def __post_init__(self) -> None:
        require(self.minimum >= 0, "a fact lasts 0 days or more")
        require(self.maximum is None or self.maximum >= self.minimum, "the longest length is shorter than the shortest")
        require((self.minimum, self.maximum) != (0, None), "every fact lasts 0 days or more")


@dataclass(frozen=True, slots=True)
class Now(Node):
    """The day as of which a knowledge base is asked. To resolve a query puts the day itself in its place."""


#: A day that a query names: an ordinal, or now.
Day = int | Now


def known_day(day: Day) -> int:
    """A day of a resolved query. QueryTreeError for *now*."""
    if isinstance(day, Now):
        raise QueryTreeError("which day 'now' is was not told. Hint: resolve the query first")
    return day


@dataclass(frozen=True, slots=True)
class NowWindow(Node):
    """The event's day lies ``low`` to ``high`` days after now (before it: below 0), inclusive; None leaves it open.

    What lies before now ends at now, at the latest. To resolve a query makes this a part of the window of the events.
    """

    low: int | None = None
    high: int | None = None

    def __post_init__(self) -> None:
        require((self.low, self.high) != (None, None), "the window has no end")
        for days in (self.low, self.high):
            require(days is None or abs(days) <= LATEST_DAY - EARLIEST_DAY, "the day lies outside of all records")
        require(self.high is None or self.high <= 0, "nothing is told of what comes after now")
        require(
            self.low in (None, 0, 1) or self.high is not None, "a window that begins before now ends, at now or before"
        )
        require(self.low is None or self.high is None or self.low <= self.high, "the window ends before it begins")

    def within(self, other: NowWindow) -> NowWindow:
        """The days that lie in both."""
        lows, highs = ([one for one in ends if one is not None] for ends in zip(self._ends, other._ends, strict=True))
        return NowWindow(max(lows, default=None), min(highs, default=None))

    @property
    def _ends(self) -> tuple[int | None, int | None]:
        return self.low, self.high


@dataclass(frozen=True, slots=True)
class Events(Node):
    """The events of one kind (None: the kinds that fit the concept), concept, context, window, pick and condition.

    Order of reading: kind, concept and context select; ``window`` narrows; ``pick`` chooses among those per patient
    (per tumor or event inside a scope); ``condition`` then decides.

    Four more things select with the kind, and ask how an event is known, not what it is: ``source`` names a class of
    notes (``note_classes.toml``) or a section of that class, in one of which it must be told; ``undisputed`` leaves out
    what a decision weighed; ``sources`` is the least number of independent notes; ``known`` is one of :data:`KNOWN`, or
    "" for every way.

    ``moment`` says which day of an event counts, for window and pick and in whatever it stands: that on which it began,
    or on which it *ended*. Of an event that goes on (a kind that *lasts*) and whose end is not recorded, that day is
    possibly any from its beginning, and in the other worlds it is not in the set; what does not last ends on its day.
    ``lasting`` selects as ``window`` does, before the pick.
    ``now`` is a window that is counted from now, of a query that is not resolved.
    """

    kind: str | None = None
    concept: ConceptExpression | None = None
    condition: Condition | None = None
    context: str = "present"
    pick: Pick = Pick()
    window: Window | None = None
    source: str = ""
    undisputed: bool = False
    sources: int = 1
    known: str = ""
    moment: str = "begin"
    lasting: Lasting | None = None
    now: NowWindow | None = None

    def __post_init__(self) -> None:
        require(self.moment in MOMENTS, f"an event has its {' and its '.join(MOMENTS)}, and no {self.moment!r}")
        if self.context == "absent":
            require(self.moment == "begin" and self.lasting is None, "what is denied neither lasts nor ends")
        require(self.known in ("", *KNOWN), f"an event is known as {' or '.join(KNOWN)}, not as {self.known!r}")
        require(self.sources >= 1, "the least number of independent notes is 1")
        require(self.kind is None or self.kind in KINDS, f"kind {self.kind!r} is not one of {', '.join(KINDS)}")
        require(self.kind is not None or self.concept is not None, "an atom names a kind or a concept")
        require(self.context in CONTEXTS, f"context {self.context!r} is not one of {', '.join(CONTEXTS)}")
        if self.pick.how in ("worst", "best"):
            require(
                self.kind in MAIN_ATTRIBUTE,
                f"worst and best need a kind with an order: {', '.join(MAIN_ATTRIBUTE)}",
            )

    @property
    def is_of_single_days(self) -> bool:
        """Whether one event is in the set or not by itself and by its day alone, however long it goes on."""
        return self.pick == Pick() and self.moment == "begin" and self.lasting is None


# --- patient expressions --------------------------------------------------------------------------------------------


class PatientExpression(Node):
    """A set of patients: a criterion."""

    __slots__ = ()

    @property
    def expansion(self) -> PatientExpression | None:
        """The same set of patients in other nodes; None for what no other nodes say.

        Whoever has no case of his own for a node (engines, proofs and their checker, rendering, rules) takes this.
        """
        return None


class EventCriterion(PatientExpression):
    """A criterion about how events of one or several sets lie to each other: a leaf, decided by the events."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Exists(PatientExpression):
    """Patients with at least one event in ``events``."""

    events: Events

    @property
    def expansion(self) -> PatientExpression | None:
        """*No evidence of (A or B)* is neither: a denial of A and one of B, unless one of them all is picked."""
        events = self.events
        if events.context != "absent" or events.pick.how != "any":
            return None
        match events.concept:
            case Union(parts):
                apart: tuple[ConceptExpression, ...] = parts
            case OtherThan(Union(parts), excluded):
                apart = tuple([OtherThan(part, excluded) for part in parts])
            case _:
                return None
        return And(tuple([Exists(replace(events, concept=part)) for part in apart]))


@dataclass(frozen=True, slots=True)
class And(PatientExpression):
    """Patients in all parts."""

    parts: tuple[PatientExpression, ...]

    def __post_init__(self) -> None:
        require(len(self.parts) >= 2, "'and' joins two or more criteria")


@dataclass(frozen=True, slots=True)
class Or(PatientExpression):
    """Patients in any part."""

    parts: tuple[PatientExpression, ...]

    def __post_init__(self) -> None:
        require(len(self.parts) >= 2, "'or' joins two or more criteria")


@dataclass(frozen=True, slots=True)
class Not(PatientExpression):
    """All patients of the knowledge base except those in ``part``: closed world."""

    part: PatientExpression


@dataclass(frozen=True, slots=True)
class Except(PatientExpression):
    """Patients in ``left`` and not in ``right``: the same set as ``left and not right``."""

    left: PatientExpression
    right: PatientExpression

    @property
    def expansion(self) -> PatientExpression:
        """``left and not right``."""
        return And((self.left, Not(self.right)))


@dataclass(frozen=True, slots=True)
class AtLeast(PatientExpression):
    """Patients in at least ``n`` of the parts."""

    n: int
    parts: tuple[PatientExpression, ...]

    def __post_init__(self) -> None:
        require(1 <= self.n <= len(self.parts), f"'at least {self.n} of' has {len(self.parts)} criteria")


@dataclass(frozen=True, slots=True)
class SameTumor(PatientExpression):
    """Patients with a tumor, or ``least`` different ones, such that ``body`` holds when only that tumor's events are
    seen.

    An event of ``ALL_TUMORS`` is seen in each; one of no tumor in none (believed, certain) or in each (possible).
    """

    body: PatientExpression
    least: int = 1

    def __post_init__(self) -> None:
        require(self.least >= 1, "a number of tumors is 1 or more")


@dataclass(frozen=True, slots=True)
class SameEvent(PatientExpression):
    """Patients with an event such that ``body`` holds when only that event is seen."""

    body: PatientExpression


@dataclass(frozen=True, slots=True)
class Ordered(EventCriterion):
    """Patients with an event in ``left`` and one in ``right`` in a relation; never the same event for both.

    ``before``: right's day minus left's day is at least ``minimum`` (1, or 0 for *on or before*) and at most
    ``maximum`` days;
    ``after``: the mirror image; ``within``: the days differ by ``minimum`` (≥ 0) to ``maximum``, either order.
    ``during``: left's day lies between the day and the end of right; ``overlapping``: the two last on a common day;
    an event without a recorded end lasts for its day, and possibly for ever. ``specimen``: both were found on one
    specimen: they have an id of one in common; possibly so where one of them has none, or only one that a single note
    gives it (``~``), if the two can be of one day and nothing that is told of their specimens differs. ``beside``: in
    whatever order.

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
            _require_gap(self.minimum, self.maximum, 0)
        else:
            require((self.minimum, self.maximum) == (1, None), f"{self.relation!r} has no number of days")
            require(self.without is None, f"{self.relation!r} leaves no time between the two facts")
        require(self.relation != "within" or self.maximum is not None, "'within' needs a number of days")
        require(self.relation != "beside" or self.different, "two facts in no relation are joined by 'and'")


def _require_gap(minimum: int, maximum: int | None, least: int) -> None:
    require(minimum >= least, "the shortest gap is too small")
    require(maximum is None or maximum >= minimum, "the longest gap is shorter than the shortest")


@dataclass(frozen=True, slots=True)
class Gap(Node):
    """From one step of a sequence to the next: ``minimum`` (≥ 1) to ``maximum`` days, and no event of ``without``
    strictly between."""

    minimum: int = 1
    maximum: int | None = None
    without: Events | None = None

    def __post_init__(self) -> None:
        _require_gap(self.minimum, self.maximum, 1)


@dataclass(frozen=True, slots=True)
class Sequence(EventCriterion):
    """Patients with an event of each step, each after the one before it by its gap: *A then B then C*."""

    steps: tuple[Events, ...]
    gaps: tuple[Gap, ...]

    def __post_init__(self) -> None:
        require(len(self.steps) >= 3, "a sequence has three steps or more; of two facts, one is before the other")
        require(len(self.gaps) == len(self.steps) - 1, "a sequence has a gap between each two steps")


@dataclass(frozen=True, slots=True)
class Clear(EventCriterion):
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
        _require_gap(self.minimum, self.maximum, 0)
        require(self.relation != "within" or self.maximum is not None, "'within' needs a number of days")


@dataclass(frozen=True, slots=True)
class StateAt(PatientExpression):
    """Patients of whom a state in ``events`` holds on ``day``: it began by then, and none that ends it has followed.

    ``ends`` are the states that end it, by their concepts; a query that is not resolved does not know them.
    """

    events: Events
    day: Day
    ends: ConceptExpression | None = None

    def __post_init__(self) -> None:
        require(self.events.window is None and self.events.now is None, "a state at a day takes no window")
        require(self.events.moment == "begin", "a state at a day is asked from the day on which it began")
        _require_within(self.day)

    @property
    def expansion(self) -> PatientExpression:
        """The state until that day, with none of those that end it after it until then."""
        until = Window(EARLIEST_DAY, known_day(self.day))
        begun = replace(self.events, window=until)
        if self.ends is None:
            return Exists(begun)
        return Clear(begun, "after", Events(self.events.kind, self.ends, window=until))


def _require_within(day: Day) -> None:
    require(isinstance(day, Now) or EARLIEST_DAY <= day <= LATEST_DAY, "the day lies outside of all records")


@dataclass(frozen=True, slots=True)
class Ongoing(EventCriterion):
    """Patients of whom a course of treatment in ``events`` goes on at ``day``: it has begun by then, no end is recorded
    before, and no death.

    A course without a recorded end goes on, unless its status says otherwise (``kb/courses.toml``): what is over lasted
    for its own day, what is held may go on. That it goes on is certain where its status says so, its recorded end
    surely is not earlier, or it is told of that very day.
    """

    events: Events
    day: Day

    def __post_init__(self) -> None:
        events = self.events
        require(
            events.kind is None or events.kind in COURSES,
            f"what goes on is a treatment ({', '.join(sorted(COURSES))}), not a {events.kind}",
        )
        require(events.context == "present", f"what is {events.context} does not go on")
        require(events.pick == Pick(), f"{events.pick.how} chooses one event: which goes on is asked of each")
        _require_within(self.day)


@dataclass(frozen=True, slots=True)
class Times(EventCriterion):
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
class Repeated(EventCriterion):
    """Patients with an event of ``other`` to which events in ``events`` on at least ``n`` different days stand in the
    relation of :class:`Ordered`, the other never being one of them."""

    n: int
    events: Events
    relation: str
    other: Events
    minimum: int = 1
    maximum: int | None = None

    def __post_init__(self) -> None:
        require(self.n >= 1, "a count is 1 or more")
        require(self.relation in COUNTED_BESIDE, f"{self.relation!r} is not one of {', '.join(COUNTED_BESIDE)}")
        if self.relation in GAP_RELATIONS:
            _require_gap(self.minimum, self.maximum, 0 if self.relation == "within" else 1)
        else:
            require((self.minimum, self.maximum) == (1, None), f"{self.relation!r} has no number of days")
        require(self.relation != "within" or self.maximum is not None, "'within' needs a number of days")
        require(self.events.pick == Pick(), f"{self.events.pick.how} chooses one event, and there is nothing to count")


@dataclass(frozen=True, slots=True)
class Change(EventCriterion):
    """Patients with two events in ``events``, of one concept, the later of which has a number in ``attribute`` that is
    higher (rise) or lower (fall) than that of the earlier: by ``amount`` at least, or by more.

    The later lies a day or more, and at most ``maximum`` days, after the earlier; with ``during``, both begin while one
    event of that set lasts. ``relative``: the amount is a percentage of the earlier number, which is then above 0; else
    it is in ``unit`` as in :class:`Compare`. What has no number takes no part.
    """

    way: str
    events: Events
    attribute: str = "value"
    operator: str = ">"
    amount: float = 0.0
    relative: bool = False
    unit: str = ""
    maximum: int | None = None
    during: Events | None = None

    def __post_init__(self) -> None:
        require(self.way in WAYS, f"{self.way!r} is not one of {', '.join(WAYS)}")
        require(self.operator in MOVES, f"a {self.way} is by more than a number, or by that at least: > or >=")
        require(self.amount >= 0, f"a {self.way} is by a number above 0")
        require(self.amount > 0 or self.operator == ">", f"a {self.way} by nothing is none")
        require(
            not self.relative or self.way == "rise" or self.amount <= 100, "what falls by more than 100% is below zero"
        )
        require(not (self.relative and self.unit), "a percentage has no unit beside it")
        require(self.unit != "%", "a number with a percent sign is a part of the earlier number")
        require(self.maximum is None or self.maximum >= 1, "the two values lie a day apart or more")
        require(self.events.pick == Pick(), f"{self.events.pick.how} chooses one event, and a change is between two")


@dataclass(frozen=True, slots=True)
class Total(EventCriterion):
    """Patients with an event in ``events`` whose numbers in ``attribute``, added up, compare so with ``amount``.

    An event without a number adds an amount that is not known, 0 or more.
    """

    attribute: str
    events: Events
    operator: str
    amount: float

    def __post_init__(self) -> None:
        require(self.operator in OPERATORS and self.operator != "!=", "a total is compared by <, <=, =, >= or >")
        require(self.events.pick == Pick(), f"{self.events.pick.how} chooses one event, and there is nothing to add up")


@dataclass(frozen=True, slots=True)
class AgeAt(EventCriterion):
    """Patients whose age in completed years, at an event in ``events`` or on ``day``, is ``low`` to ``high``.

    Reckoned from the patient's birth, an event that a scope does not hide.
    """

    events: Events | None = None
    day: Day | None = None
    low: int = 0
    high: int | None = None

    def __post_init__(self) -> None:
        require((self.events is None) != (self.day is None), "an age is asked at an event, or on a day")
        require(self.low >= 0, "an age is 0 or more")
        require(self.high is None or self.high >= self.low, "the highest age is lower than the lowest")


@dataclass(frozen=True, slots=True)
class Lacking(EventCriterion):
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
        require(
            self.events.moment == "begin" and self.events.lasting is None,
            f"{self.how} absence is of a fact, not of its end or length",
        )


@dataclass(frozen=True, slots=True)
class Among(PatientExpression):
    """The patients with these ids, as far as the knowledge base has them."""

    patients: tuple[str, ...]

    def __post_init__(self) -> None:
        require(bool(self.patients), "a list of patients has at least one id")


@dataclass(frozen=True, slots=True)
class Defined(PatientExpression):
    """A criterion that ``let`` named before."""

    name: str


@dataclass(frozen=True, slots=True)
class Definition(Node):
    """``let name be …``."""

    name: str
    body: PatientExpression


@dataclass(frozen=True, slots=True)
class Query(Node):
    """A whole query: definitions in order, each seeing those before it, then the criterion.

    ``as_of`` is the day that was put for *now* when it was resolved, if it named that; the question is the same as with
    the day itself.
    """

    body: PatientExpression
    definitions: tuple[Definition, ...] = ()
    as_of: int | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        names = [definition.name for definition in self.definitions]
        require(len(set(names)) == len(names), "two definitions bear the same name")
