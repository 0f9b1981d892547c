"""The nodes below a criterion: names, concept expressions, conditions, and the event sets that they make together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ..kb.kinds import KINDS, MAIN_ATTRIBUTE
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
PICKS: Final = ("any", "first", "latest", "nth", "worst", "best")
OPERATORS: Final = ("=", "!=", "<", "<=", ">", ">=")


class QueryTreeError(ValueError):
    """A node was built with parts that mean nothing; the message says which and what would do."""


def require(condition: bool, message: str) -> None:
    if not condition:
        raise QueryTreeError(message)


# --- terms ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Name:
    """A name or code as written (``lung cancer``, ``RxCUI 1721560``), not yet resolved."""

    text: str

    def __post_init__(self) -> None:
        require(bool(self.text.strip()), "a name is empty")


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
        require(len(self.parts) >= 2, "a union of concepts has two or more parts")


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
        require(bool(self.values), f"'{self.attribute} =' needs a value")


@dataclass(frozen=True, slots=True)
class Compare:
    """Ordered comparison on the attribute's scale (T, N, stage, grade …) or as a number; unknown values never match."""

    attribute: str
    operator: str
    value: str | float

    def __post_init__(self) -> None:
        require(self.operator in OPERATORS, f"operator {self.operator!r} is not one of {' '.join(OPERATORS)}")


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
        require(len(self.parts) >= 2, "'and' joins two or more conditions")


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one condition holds of the event."""

    parts: tuple[Condition, ...]

    def __post_init__(self) -> None:
        require(len(self.parts) >= 2, "'or' joins two or more conditions")


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
        require(self.how in PICKS, f"{self.how!r} is not one of {', '.join(PICKS)}")
        require((self.n >= 1) == (self.how == "nth"), "n-th needs a number from 1 up, and nothing else takes one")


@dataclass(frozen=True, slots=True)
class Window:
    """The event's day lies in ``low`` to ``high`` (ordinals, inclusive)."""

    low: int = EARLIEST_DAY
    high: int = LATEST_DAY

    def __post_init__(self) -> None:
        require(self.low <= self.high, "the window ends before it begins")


@dataclass(frozen=True, slots=True)
class Events:
    """The events of one kind (None: the kinds that fit the concept), concept, context, window, pick and condition.

    Order of reading: kind, concept and context select; ``window`` narrows; ``pick`` chooses among those per patient
    (per tumor or event inside a scope); ``condition`` then decides.

    Three more things select with the kind, and ask how an event is known, not what it is: ``source`` names a class of
    notes (``note_classes.toml``) or a section of that class, in one of which it must be told; ``undisputed`` leaves out
    what a decision weighed; ``sources`` is the least number of independent notes.
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

    def __post_init__(self) -> None:
        require(self.sources >= 1, "the least number of independent notes is 1")
        require(self.kind is None or self.kind in KINDS, f"kind {self.kind!r} is not one of {', '.join(KINDS)}")
        require(self.kind is not None or self.concept is not None, "an atom names a kind or a concept")
        require(self.context in CONTEXTS, f"context {self.context!r} is not one of {', '.join(CONTEXTS)}")
        if self.pick.how in ("worst", "best"):
            require(
                self.kind in MAIN_ATTRIBUTE,
                f"worst and best need a kind with an order: {', '.join(MAIN_ATTRIBUTE)}",
            )
