"""The query tree: frozen nodes that check themselves, so that a query that means nothing cannot exist.

A query denotes a set of patients, and every operator is a set operation on what the notes justify. There are four
families: *terms* name things, *concept expressions* select concepts, *conditions* select events by their attributes,
and *patient expressions* select patients. :class:`Events` joins the first three into a set of events.
The reference engine gives each node its meaning; ``docs/language.md`` tells it in words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ..kb.model import EARLIEST_DAY, KINDS, LATEST_DAY, MAIN_ATTRIBUTE

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
PICKS: Final = ("any", "first", "latest", "nth", "worst", "best")
OPERATORS: Final = ("=", "!=", "<", "<=", ">", ">=")
RELATIONS: Final = ("before", "after", "within")


class QueryTreeError(ValueError):
    """A node was built with parts that mean nothing; the message says which and what would do."""


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise QueryTreeError(message)


# --- terms ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Name:
    """A name or code as written (``lung cancer``, ``RxCUI 1721560``), not yet resolved."""

    text: str

    def __post_init__(self) -> None:
        _require(bool(self.text.strip()), "a name is empty")


@dataclass(frozen=True, slots=True)
class Concept:
    """A resolved name: a concept id, and the preferred name under which it is rendered."""

    id: str
    name: str


Term = Name | Concept

# --- concept expressions: a set of concept ids, closed over descendants ---------------------------------------------


@dataclass(frozen=True, slots=True)
class Under:
    """A concept and everything below it; with ``exact``, that concept alone."""

    term: Term
    exact: bool = False


@dataclass(frozen=True, slots=True)
class Union:
    """Any of several concept expressions."""

    parts: tuple[ConceptExpression, ...]

    def __post_init__(self) -> None:
        _require(len(self.parts) >= 2, "a union of concepts has two or more parts")


@dataclass(frozen=True, slots=True)
class OtherThan:
    """*any X except Y*: what lies under ``base`` and not under ``excluded``. Removes concepts, never patients."""

    base: ConceptExpression
    excluded: ConceptExpression


ConceptExpression = Under | Union | OtherThan

# --- conditions on one event ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Is:
    """The attribute is one of ``values`` or lies below one of them; with ``exact``, it is that very value.

    ``exactly positive`` admits *positive* and not *weakly positive*; ``= positive`` admits both.
    """

    attribute: str
    values: tuple[Term, ...]
    exact: bool = False

    def __post_init__(self) -> None:
        _require(bool(self.values), f"'{self.attribute} =' needs a value")


@dataclass(frozen=True, slots=True)
class Compare:
    """Ordered comparison on the attribute's scale (T, N, stage, grade …) or as a number; unknown values never match."""

    attribute: str
    operator: str
    value: str | float

    def __post_init__(self) -> None:
        _require(self.operator in OPERATORS, f"operator {self.operator!r} is not one of {' '.join(OPERATORS)}")


@dataclass(frozen=True, slots=True)
class Between:
    """From ``low`` to ``high``, both included, each bound with all of its substages."""

    attribute: str
    low: str | float
    high: str | float


@dataclass(frozen=True, slots=True)
class Documented:
    """The attribute has a value at all."""

    attribute: str


@dataclass(frozen=True, slots=True)
class AllOf:
    """Every condition holds of the event."""

    parts: tuple[Condition, ...]

    def __post_init__(self) -> None:
        _require(len(self.parts) >= 2, "'and' joins two or more conditions")


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one condition holds of the event."""

    parts: tuple[Condition, ...]

    def __post_init__(self) -> None:
        _require(len(self.parts) >= 2, "'or' joins two or more conditions")


@dataclass(frozen=True, slots=True)
class NotThat:
    """The condition does not hold of the event (also when its attribute is not documented)."""

    part: Condition


Condition = Is | Compare | Between | Documented | AllOf | AnyOf | NotThat

# --- event sets -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Pick:
    """Which of a patient's events an atom looks at, before its conditions apply.

    ``first``/``latest``/``nth`` order by day; events on the same day are tied, and a condition must hold of all of
    them. ``worst``/``best`` take the highest/lowest value of the kind's main attribute, a Karnofsky score the other
    way round.
    """

    how: str = "any"
    n: int = 0

    def __post_init__(self) -> None:
        _require(self.how in PICKS, f"{self.how!r} is not one of {', '.join(PICKS)}")
        _require((self.n >= 1) == (self.how == "nth"), "n-th needs a number from 1 up, and nothing else takes one")


@dataclass(frozen=True, slots=True)
class Window:
    """The event's day lies in ``low`` to ``high`` (ordinals, inclusive)."""

    low: int = EARLIEST_DAY
    high: int = LATEST_DAY

    def __post_init__(self) -> None:
        _require(self.low <= self.high, "the window ends before it begins")


@dataclass(frozen=True, slots=True)
class Events:
    """The events of one kind (None: the kinds that fit the concept), concept, context, window, pick and condition.

    Order of reading: kind, concept and context select; ``window`` narrows; ``pick`` chooses among those per patient
    (per tumor or event inside a scope); ``condition`` then decides.
    """

    kind: str | None = None
    concept: ConceptExpression | None = None
    condition: Condition | None = None
    context: str = "present"
    pick: Pick = Pick()
    window: Window | None = None

    def __post_init__(self) -> None:
        _require(self.kind is None or self.kind in KINDS, f"kind {self.kind!r} is not one of {', '.join(KINDS)}")
        _require(self.kind is not None or self.concept is not None, "an atom names a kind or a concept")
        _require(self.context in CONTEXTS, f"context {self.context!r} is not one of {', '.join(CONTEXTS)}")
        if self.pick.how in ("worst", "best"):
            _require(
                self.kind in MAIN_ATTRIBUTE,
                f"worst and best need a kind with an order: {', '.join(MAIN_ATTRIBUTE)}",
            )


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
        _require(len(self.parts) >= 2, "'and' joins two or more criteria")


@dataclass(frozen=True, slots=True)
class Or:
    """Patients in any part."""

    parts: tuple[PatientExpression, ...]

    def __post_init__(self) -> None:
        _require(len(self.parts) >= 2, "'or' joins two or more criteria")


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
        _require(1 <= self.n <= len(self.parts), f"'at least {self.n} of' has {len(self.parts)} criteria")


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
    """Patients with an event in ``left`` and one in ``right`` in a time relation; never the same event for both.

    ``before``: right's day minus left's day is at least ``minimum`` (≥ 1) and at most ``maximum`` days;
    ``after``: the mirror image; ``within``: the days differ by ``minimum`` (≥ 0) to ``maximum``, either order.
    """

    left: Events
    relation: str
    right: Events
    minimum: int = 1
    maximum: int | None = None

    def __post_init__(self) -> None:
        _require(self.relation in RELATIONS, f"{self.relation!r} is not one of {', '.join(RELATIONS)}")
        _require(self.minimum >= (0 if self.relation == "within" else 1), "the shortest gap is too small")
        _require(self.maximum is None or self.maximum >= self.minimum, "the longest gap is shorter than the shortest")
        _require(self.relation != "within" or self.maximum is not None, "'within' needs a number of days")


@dataclass(frozen=True, slots=True)
class Defined:
    """A criterion that ``let`` named before."""

    name: str


@dataclass(frozen=True, slots=True)
class Definition:
    """``let name be …``."""

    name: str
    body: PatientExpression


PatientExpression = Exists | And | Or | Not | Except | AtLeast | SameTumor | SameEvent | Ordered | Defined


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


@dataclass(frozen=True, slots=True)
class Query:
    """A whole query: definitions in order, each seeing those before it, then the criterion."""

    body: PatientExpression
    definitions: tuple[Definition, ...] = ()

    def __post_init__(self) -> None:
        names = [definition.name for definition in self.definitions]
        _require(len(set(names)) == len(names), "two definitions bear the same name")
