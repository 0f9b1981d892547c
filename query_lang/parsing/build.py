"""The builder of query nodes from a parse tree, one method per rule of ``grammar.lark``. Wide queries are safe."""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final

from lark import Token, Transformer_NonRecursive
from lark.exceptions import VisitError

from ...kb.errors import DeadlineExceeded
from ...kb.model import EARLIEST_DAY, LATEST_DAY
from ...kb.note_classes import SPOKEN
from ...kb.units import unit_named
from ..nodes import (
    AllOf,
    And,
    AnyOf,
    AtLeast,
    Change,
    Compare,
    ConceptExpression,
    Condition,
    Day,
    Defined,
    Definition,
    Events,
    Except,
    Exists,
    Is,
    Lasting,
    Name,
    Not,
    NotThat,
    Now,
    NowWindow,
    Ongoing,
    Or,
    OtherThan,
    PatientExpression,
    Pick,
    Query,
    SameEvent,
    SameTumor,
    StateAt,
    Times,
    Total,
    Under,
    Union,
    Window,
)
from ..tree import definitions_used
from ..vocabulary import (
    CONTEXT_OF_SPELLING,
    COUNT_WORDS,
    COUNTED_BY,
    KIND_OF_SPELLING,
    KIND_WORDS,
    LINE_OF_SPELLING,
    MOMENT_OF_SPELLING,
    PICK_OF_SPELLING,
    STAGING_BASES,
    WAY_OF_SPELLING,
)
from .comparisons import OPERATORS, Comparison, Number
from .relations import RelationRules, any_of_these
from .values import (
    LONGEST_NUMBER,
    TNM_SET,
    Mistake,
    category,
    day,
    days,
    one_day,
    short_enough,
    unquote,
    whole_number,
)

_SPACES: Final = re.compile(r"\s+")
_QUANTITY: Final = re.compile(r"(?P<number>-?\d+(?:\.\d+)?)\s*(?P<unit>\S.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Core:
    kind: str | None = None
    concept: ConceptExpression | None = None
    conditions: tuple[Condition, ...] = ()
    #: A bare name may be that of a definition, unless "any" stands before it.
    may_be_defined: bool = False
    axis: str = ""


@dataclass(frozen=True, slots=True)
class _Any:
    concept: ConceptExpression


@dataclass(frozen=True, slots=True)
class _Sourcing:
    """In which class of notes, and in how many independent ones, a fact must be told."""

    source: str
    sources: int


@dataclass(frozen=True, slots=True)
class _Known:
    """How a fact must be known: as stated, or as derived."""

    how: str


@dataclass(frozen=True, slots=True)
class _HeldOn:
    """The day on which a state must hold, or a course go on."""

    day: Day


@dataclass(frozen=True, slots=True)
class _Count:
    """*at least*, *at most* or *exactly* so many days, lines or concepts."""

    bound: str
    n: int
    by: str


@dataclass
class Builder(RelationRules, Transformer_NonRecursive):
    """Builds one query; afterwards ``places`` gives the character offset of each name's first occurrence."""

    places: dict[str, int] = field(default_factory=dict)
    #: Definitions that the query may use without writing them.
    known: tuple[Definition, ...] = ()
    _definitions: dict[str, str] = field(default_factory=dict)
    _bodies: dict[str, PatientExpression] = field(default_factory=dict)
    _put_in: set[str] = field(default_factory=set)

    def transform(self, tree: Any) -> Any:
        """What is built of the tree. DeadlineExceeded as it is raised; VisitError around anything else."""
        try:
            return super().transform(tree)
        except VisitError as error:
            if isinstance(error.orig_exc, DeadlineExceeded):
                raise error.orig_exc from None
            raise

    def __post_init__(self) -> None:
        super().__init__(visit_tokens=False)
        for one in self.known:
            self.definition([Name(one.name), one.body])

    def library(self, parts: list[Any]) -> tuple[Definition, ...]:
        return tuple(parts)

    # --- patients ---------------------------------------------------------------------------------------------------

    def start(self, parts: list[Any]) -> Query:
        body: PatientExpression = parts[-1]
        kept: list[Definition] = []
        used = set(definitions_used(body))
        for definition in reversed(parts[:-1]):
            # A name for a fact in time (an index date) has been put in where it stood.
            if definition.name in used or definition.name not in self._put_in:
                kept.insert(0, definition)
                used.update(definitions_used(definition.body))
        return Query(body, tuple(kept))

    def definition(self, parts: list[Any]) -> Definition:
        name, body = parts
        # An exact match wins over one that differs in case.
        self._definitions[name.text] = name.text
        self._definitions.setdefault(name.text.casefold(), name.text)
        self._bodies[name.text] = body
        return Definition(name.text, body)

    def expression(self, parts: list[Any]) -> PatientExpression:
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def conjunction(self, parts: list[Any]) -> PatientExpression:
        wanted: list[PatientExpression] = []
        removed: list[PatientExpression] = []
        target = wanted
        for part in parts:
            if isinstance(part, Token):
                target = removed
            else:
                target.append(part)
                target = wanted
        left = wanted[0] if len(wanted) == 1 else And(tuple(wanted))
        if not removed:
            return left
        # All that is taken away is taken away together: a long chain of "except" must not become a deep tree.
        return Except(left, removed[0] if len(removed) == 1 else Or(tuple(removed)))

    def same(self, parts: list[Any]) -> Any:
        return parts[0]

    group = primary = unit = condition_group = same

    def not_(self, parts: list[Any]) -> Not:
        return Not(parts[0])

    def at_least(self, parts: list[Any]) -> AtLeast:
        return AtLeast(whole_number(parts[0]), tuple(parts[1:]))

    def same_tumor(self, parts: list[Any]) -> SameTumor:
        return SameTumor(parts[0])

    def same_event(self, parts: list[Any]) -> SameEvent:
        return SameEvent(parts[0])

    def several_tumors(self, parts: list[Any]) -> PatientExpression:
        bound, number, body = parts
        return _bounded(_bound_of(bound), whole_number(number), lambda n: SameTumor(body, n))

    def repeated(self, parts: list[Any]) -> PatientExpression:
        bound, number, *order = parts
        return _bounded(_bound_of(bound), whole_number(number), lambda n: self.counted_beside(n, order))

    # --- numbers of several events ------------------------------------------------------------------------------------

    def subject(self, parts: list[Any]) -> Events:
        """The events that a change or a total is of."""
        found = self.atom(parts)
        if isinstance(found, Defined):
            found = self._bodies[found.name]
        if not isinstance(found, Exists):
            raise Mistake("a change or a total is of one sort of fact", "for example: rise of lab PSA >= 50%")
        return found.events

    def moved(self, parts: list[Any]) -> tuple[str, Number]:
        operator, bound = OPERATORS.get(parts[0], str(parts[0])), parts[1]
        if not isinstance(bound, Number):
            raise Mistake(f"'{bound.text[:60]}' is no number to rise or fall by", "for example: rise of lab PSA >= 50%")
        return operator, bound

    def change(self, parts: list[Any]) -> PatientExpression:
        way = WAY_OF_SPELLING[parts[0].lower().split()[0]]
        events, *rest = parts[1:]
        # Of a kind without a number there is none to be told here: its name may be that of another.
        attribute = "value" if events.kind is None else KIND_WORDS[events.kind].short.get("number", "value")
        operator, amount, relative, unit, maximum = ">", 0.0, False, "", None
        if rest and isinstance(rest[0], tuple):
            operator, bound = rest.pop(0)
            amount, relative = bound.value, bound.percent
            unit = "" if bound.percent else bound.unit
        if rest and isinstance(rest[0], Token):
            maximum = days(rest[0], rest[1])
            rest = rest[2:]
        sets = self._facts(rest[0], "during") if rest else [None]
        return any_of_these(
            [Change(way, events, attribute, operator, amount, relative, unit, maximum, one) for one in sets]
        )

    def total(self, parts: list[Any]) -> Total:
        attribute, events, *compared = parts
        operator = OPERATORS.get(compared[0], str(compared[0])) if len(compared) == 2 else "="
        number = self.number(compared[-1:])
        return Total(attribute, events, operator, number.value)

    def modifier(self, parts: list[Any]) -> Token:
        return parts[0]

    def tail(self, parts: list[Any]) -> Any:
        return parts[0]

    def atom(self, parts: list[Any]) -> PatientExpression:
        position = next(at for at, part in enumerate(parts) if isinstance(part, _Core))
        core = parts[position]
        modifiers, tails = parts[:position], parts[position + 1 :]
        if core.may_be_defined and len(parts) == 1 and isinstance(core.concept, Under) and not core.concept.exact:
            text = core.concept.term.text if isinstance(core.concept.term, Name) else ""
            known = self._definitions.get(text) or self._definitions.get(text.casefold())
            if known is not None:
                return Defined(known)
        context, pick, line = _modifiers(
            [token for token in modifiers if token.type not in ("UNDISPUTED", "MOMENT", "ONGOING")]
        )
        if pick.how in ("worst", "best") and core.axis in ("n", "m"):
            raise Mistake(f"{pick.how} {core.axis.upper()} cannot be asked: {pick.how} orders TNM events by their T")
        conditions = [*core.conditions, *([] if line is None else [Compare("line", "=", float(line))])]
        window: Window | None = None
        lasting: Lasting | None = None
        now: NowWindow | None = None
        source, sources, known, counts, days_held = "", 1, "", [], []
        for part in itertools.chain.from_iterable(one if isinstance(one, tuple) else (one,) for one in tails):
            match part:
                case Window(low, high):
                    window = part if window is None else Window(max(window.low, low), min(window.high, high))
                case NowWindow():
                    now = part if now is None else now.within(part)
                case _Sourcing(one, many):
                    if source and one and source != one:
                        raise Mistake(f"one fact is told according to {source} and according to {one}")
                    source, sources = one or source, max(sources, many)
                case Lasting():
                    lasting = part if lasting is None else _both_lengths(lasting, part)
                case _Known(how):
                    if known not in ("", how):
                        raise Mistake(f"one fact is asked as {known} and as {how}", "join two criteria with 'or'")
                    known = how
                case _Count():
                    counts.append(part)
                case _HeldOn(one):
                    days_held.append(one)
                case _:
                    conditions.append(part)
        condition = None if not conditions else conditions[0] if len(conditions) == 1 else AllOf(tuple(conditions))
        undisputed = any(token.type == "UNDISPUTED" for token in modifiers)
        told = (source, undisputed, sources, known)
        events = Events(
            core.kind, core.concept, condition, context, pick, window, *told, _moment(modifiers), lasting, now
        )
        if any(token.type == "ONGOING" for token in modifiers) and core.kind != "state":
            return _going_on(days_held, events, bool(counts))
        if any(token.type == "ONGOING" for token in modifiers) and not days_held:
            days_held = [Now()]
        if days_held:
            return _held_on(days_held, events, core, bool(counts))
        counted = [_counted(count, events) for count in counts]
        return Exists(events) if not counted else counted[0] if len(counted) == 1 else And(tuple(counted))

    def according_to(self, parts: list[Any]) -> _Sourcing:
        text = parts[0].text
        known = SPOKEN.get(_SPACES.sub(" ", text.lower()))
        if known is None:
            near = difflib.get_close_matches(text.lower()[:80], list(SPOKEN), 1)
            hint = f"did you mean '{near[0]}'?" if near else f"they are {', '.join(dict.fromkeys(SPOKEN.values()))}"
            raise Mistake(f"'{text[:60]}' is no class of notes", hint)
        return _Sourcing(known, 1)

    def from_sources(self, parts: list[Any]) -> _Sourcing:
        return _Sourcing("", whole_number(parts[0]))

    def known_as(self, parts: list[Any]) -> _Known:
        return _Known(_SPACES.sub(" ", parts[0].lower()).removeprefix("as "))

    def lasting(self, parts: list[Any]) -> Lasting:
        return parts[0]

    def length_compared(self, parts: list[Any]) -> Lasting:
        operator, length = OPERATORS.get(parts[0], str(parts[0])), days(parts[1], parts[2])
        match operator:
            case ">=":
                return Lasting(length)
            case ">":
                return Lasting(length + 1)
            case "<=":
                return Lasting(0, length)
            case "<":
                return _shorter_than(length)
        raise Mistake(f"a length cannot be asked as '{operator} {length}'", "for example: lasting at least 6 months")

    def length_at_least(self, parts: list[Any]) -> Lasting:
        return Lasting(days(parts[0], parts[1]))

    def length_more_than(self, parts: list[Any]) -> Lasting:
        return Lasting(days(parts[0], parts[1]) + 1)

    def length_at_most(self, parts: list[Any]) -> Lasting:
        return Lasting(0, days(parts[0], parts[1]))

    def length_less_than(self, parts: list[Any]) -> Lasting:
        return _shorter_than(days(parts[0], parts[1]))

    def length_between(self, parts: list[Any]) -> Lasting:
        return Lasting(days(parts[0], parts[2]), days(parts[1], parts[2]))

    def held_at(self, parts: list[Any]) -> _HeldOn:
        on = one_day(parts[0])
        if on is None:
            raise Mistake(
                f"a state is asked on a day, and {parts[0]} is longer", "for example: state remission at 2020-06-30"
            )
        return _HeldOn(on)

    def counting(self, parts: list[Any]) -> _Count:
        begin, bound = _SPACES.sub(" ", parts[0].lower()).split(" ", 1)
        by = COUNTED_BY.get((begin, _SPACES.sub(" ", parts[2].lower())))
        if by is None:
            ways = ", ".join(f"'{first} {bound} {parts[1]} {last}'" for first, last in COUNT_WORDS.values())
            raise Mistake(f"'{begin} {bound} {parts[1]} {parts[2]}' counts nothing", f"write one of {ways}")
        return _Count(bound, whole_number(parts[1]), by)

    def core_kind(self, parts: list[Any]) -> _Core:
        return _Core(_kind(parts))

    def core_kind_concept(self, parts: list[Any]) -> _Core:
        kind, concept = _kind(parts), parts[-1]
        spoken = any(isinstance(part, Token) and part.type == "PREPOSITION" for part in parts)
        if not KIND_WORDS[kind].concepts and not spoken and (attribute := KIND_WORDS[kind].short.get("word")):
            # "stage IIIA", "grade (2 or 3)": the value stands where other kinds have a concept.
            values = _plain_names(concept)
            if len(values) == 1:
                return _Core(kind, None, (Compare(attribute, "=", _number_or_text(values[0].text)),))
            if values:
                return _Core(kind, None, (Is(attribute, values),))
        return _Core(kind, concept)

    def core_kind_short(self, parts: list[Any]) -> _Core:
        kind = _kind(parts)
        return _Core(kind, None, (_short(kind, parts[-1]),))

    def core_kind_concept_short(self, parts: list[Any]) -> _Core:
        kind = _kind(parts)
        return _Core(kind, parts[-2], (_short(kind, parts[-1]),))

    def core_bare(self, parts: list[Any]) -> _Core:
        concept = parts[0]
        if isinstance(concept, _Any):
            return _Core(None, concept.concept)
        return _Core(None, concept, may_be_defined=True)

    def core_bare_short(self, parts: list[Any]) -> _Core:
        concept = parts[0].concept if isinstance(parts[0], _Any) else parts[0]
        return _Core(None, concept, (_short("biomarker", parts[1]),))

    def core_ecog(self, parts: list[Any]) -> _Core:
        return _Core("performance", Under(self._named(parts[0])), (_short("performance", parts[1]),))

    def core_ecog_value(self, parts: list[Any]) -> _Core:
        value = self.number(parts[1:]).value
        return _Core("performance", Under(self._named(parts[0])), (Compare("value", "=", value),))

    def core_ecog_alone(self, parts: list[Any]) -> _Core:
        return _Core("performance", Under(self._named(parts[0])))

    def core_axis(self, parts: list[Any]) -> _Core:
        token: Token = parts[-2]
        axis, prefix = token[-1].lower(), token[:-1].lower()
        conditions = [parts[-1].condition_on(axis)]
        basis = STAGING_BASES[parts[0].lower()] if len(parts) == 3 else ()
        if basis and prefix and prefix not in basis:
            raise Mistake(f"{parts[0].lower()} staging has no prefix {prefix}", f"write {parts[0]} {axis.upper()} …")
        if prefix or basis:
            conditions.append(Is("prefix", (Name(prefix),) if prefix else tuple(Name(one) for one in basis)))
        return _Core("tnm", None, tuple(conditions), axis=axis)

    def core_tnm(self, parts: list[Any]) -> _Core:
        match = TNM_SET.fullmatch(parts[0])
        if match is None:
            raise Mistake(f"{parts[0]} is not a TNM category")
        conditions: list[Condition] = [
            Compare(axis, "=", category(match[axis])) for axis in ("t", "n", "m") if match[axis]
        ]
        if match["prefix"]:
            conditions.append(Is("prefix", (Name(match["prefix"].lower()),)))
        return _Core("tnm", None, tuple(conditions), axis="t" if match["t"] else "n" if match["n"] else "m")

    def core_no(self, parts: list[Any]) -> _Core:
        raise Mistake(
            "'no' can mean two things here",
            "write 'not …' for patients without such a fact, or 'no evidence of …' where a note says that it is absent",
        )

    # --- concepts -----------------------------------------------------------------------------------------------------

    def bare_words(self, parts: list[Any]) -> Name:
        return self._named(parts[0], " ".join(parts))

    def quoted(self, parts: list[Any]) -> Name:
        return self._named(parts[0], unquote(parts[0]))

    def under(self, parts: list[Any]) -> Under:
        return Under(parts[0])

    def under_exactly(self, parts: list[Any]) -> Under:
        return Under(parts[0], exact=True)

    def union(self, parts: list[Any]) -> ConceptExpression:
        return parts[0] if len(parts) == 1 else Union(tuple(parts))

    def take_away(self, parts: list[Any]) -> ConceptExpression:
        base, *excluded = [part for part in parts if not isinstance(part, Token)]
        if not excluded:
            return base
        return OtherThan(base, excluded[0] if len(excluded) == 1 else Union(tuple(excluded)))

    bare_name = take_away

    def bare_any(self, parts: list[Any]) -> _Any:
        return _Any(self.take_away(parts))

    def _named(self, token: Token, text: str | None = None) -> Name:
        name = Name(str(token) if text is None else text)
        self.places.setdefault(name.text, token.start_pos or 0)
        return name

    # --- conditions ---------------------------------------------------------------------------------------------------

    def conditions(self, parts: list[Any]) -> Condition:
        return parts[0] if len(parts) == 1 else AllOf(tuple(parts))

    all_of = conditions

    def any_of(self, parts: list[Any]) -> Condition:
        return parts[0] if len(parts) == 1 else AnyOf(tuple(parts))

    def not_that(self, parts: list[Any]) -> NotThat:
        return NotThat(parts[0])

    def compared(self, parts: list[Any]) -> Condition:
        return parts[1].condition_on(parts[0])

    def attribute(self, parts: list[Any]) -> str:
        text = str(parts[0])
        self.places.setdefault(text, parts[0].start_pos or 0)
        return text.lower()

    def quoted_attribute(self, parts: list[Any]) -> str:
        return self.quoted(parts).text

    def number(self, parts: list[Any]) -> Number:
        text = str(parts[0])
        return Number(text, float(text.rstrip("%")), text.endswith("%"))

    def quantity(self, parts: list[Any]) -> Number:
        text = str(parts[0])
        match = _QUANTITY.fullmatch(text)
        unit = unit_named(match["unit"]) if match else None
        if match is None or unit is None:
            raise Mistake(f"'{text}' is no value with a unit")
        self.places.setdefault(unit, parts[0].start_pos or 0)
        return Number(text, float(match["number"]), unit == "%", unit)

    def operator(self, parts: list[Any]) -> Comparison:
        return Comparison("operator", (parts[1],), OPERATORS.get(parts[0], str(parts[0])))

    def equal(self, parts: list[Any]) -> Comparison:
        return Comparison("equal", tuple(parts))

    def equals(self, parts: list[Any]) -> Comparison:
        return Comparison("operator", tuple(parts), "=")

    def one_of(self, parts: list[Any]) -> Comparison:
        return Comparison("one of", tuple(parts))

    def exactly(self, parts: list[Any]) -> Comparison:
        return Comparison("exactly", tuple(parts))

    exactly_one_of = exactly

    def between(self, parts: list[Any]) -> Comparison:
        return Comparison("between", tuple(parts))

    def documented(self, parts: list[Any]) -> Comparison:
        return Comparison("documented")

    # --- windows ------------------------------------------------------------------------------------------------------

    def window(self, parts: list[Any]) -> Window:
        return parts[0]

    def window_since(self, parts: list[Any]) -> Window | NowWindow:
        return NowWindow(0) if _is_now(parts[0]) else Window(day(parts[0], last=False), LATEST_DAY)

    def window_before(self, parts: list[Any]) -> Window | NowWindow:
        return NowWindow(None, -1) if _is_now(parts[0]) else Window(EARLIEST_DAY, day(parts[0], last=False) - 1)

    def window_after(self, parts: list[Any]) -> Window | NowWindow:
        return NowWindow(1) if _is_now(parts[0]) else Window(day(parts[0], last=True) + 1, LATEST_DAY)

    def window_until(self, parts: list[Any]) -> Window | NowWindow:
        return NowWindow(None, 0) if _is_now(parts[0]) else Window(EARLIEST_DAY, day(parts[0], last=True))

    def window_in(self, parts: list[Any]) -> Window | NowWindow:
        return NowWindow(0, 0) if _is_now(parts[0]) else Window(day(parts[0], last=False), day(parts[0], last=True))

    def window_between(self, parts: list[Any]) -> Window | tuple[Window | NowWindow, ...]:
        if any(map(_is_now, parts)):
            return self.window_since(parts[:1]), self.window_until(parts[1:])
        return Window(day(parts[0], last=False), day(parts[1], last=True))

    def window_last(self, parts: list[Any]) -> NowWindow:
        """*Within 30 days before now*, and *in the last year*, without a number; now is one of the days."""
        return NowWindow(-days(parts[0] if parts[0].type == "NUMBER" else Token("NUMBER", "1"), _unit(parts)), 0)

    def window_ago(self, parts: list[Any]) -> NowWindow:
        back = days(parts[1], _unit(parts))
        match _SPACES.sub(" ", parts[0].lower()):
            case "at least":
                return NowWindow(None, -back)
            case "more than":
                return NowWindow(None, -back - 1)
        return NowWindow(-back, 0)


def _is_now(token: Token) -> bool:
    return token.type == "NOW"


def _unit(parts: list[Any]) -> Token:
    return next(part for part in parts if part.type == "UNIT")


def _kind(parts: list[Any]) -> str:
    token = next(part for part in parts if isinstance(part, Token) and part.type == "KIND")
    return KIND_OF_SPELLING[_SPACES.sub(" ", token.lower())]


def _modifiers(tokens: list[Token]) -> tuple[str, Pick, int | None]:
    """The context, the pick and the line of therapy that stand before a fact."""
    kinds = [("PICK" if token.type == "ORDINAL" else token.type) for token in tokens]
    for at, kind in enumerate(kinds):
        if kind in kinds[:at]:
            first = tokens[kinds.index(kind)]
            raise Mistake(f"'{first}' and '{tokens[at]}' cannot both stand before one fact")
    found = dict(zip(kinds, tokens, strict=True))
    context = CONTEXT_OF_SPELLING[_SPACES.sub(" ", found["CONTEXT"].lower())] if "CONTEXT" in found else "present"
    pick, line = Pick(), None
    if token := found.get("PICK"):
        ordinal = token.type == "ORDINAL"
        pick = Pick("nth", int(short_enough(token[:-2]))) if ordinal else Pick(PICK_OF_SPELLING[token.lower()])
    if token := found.get("LINE"):
        word = re.split(r"[\s-]", token.lower())[0]
        line = LINE_OF_SPELLING.get(word) or int(short_enough(word[:-2]))
    return context, pick, line


def _moment(modifiers: list[Token]) -> str:
    """Which day of the fact is meant: that on which it began, unless something else stands before it."""
    found = [token for token in modifiers if token.type == "MOMENT"]
    if len(found) > 1:
        raise Mistake(f"'{found[0]}' and '{found[1]}' cannot both stand before one fact")
    return MOMENT_OF_SPELLING[_SPACES.sub(" ", found[0].lower()).removeprefix("the ")] if found else "begin"


def _shorter_than(length: int) -> Lasting:
    if not length:
        raise Mistake("nothing lasts less than 0 days", "for example: lasting less than 6 months")
    return Lasting(0, length - 1)


def _both_lengths(one: Lasting, other: Lasting) -> Lasting:
    """At least as long as both say, and at most."""
    longest = [length for length in (one.maximum, other.maximum) if length is not None]
    return Lasting(max(one.minimum, other.minimum), min(longest, default=None))


def _going_on(days_held: list[Day], events: Events, counted: bool) -> Ongoing:
    """The course that goes on, now or on a day; Mistake where more is asked of it."""
    if counted or len(days_held) > 1:
        raise Mistake("what is ongoing takes no count beside it, and no second day", "join two criteria with 'and'")
    return Ongoing(events, days_held[0] if days_held else Now())


def _held_on(days_held: list[Day], events: Events, core: _Core, counted: bool) -> StateAt:
    """The state that holds on a day; Mistake for what is no state, or is asked of more than that."""
    if core.kind not in (None, "state") or core.concept is None:
        raise Mistake(
            "'at' and a day ask for a state that holds then",
            "for example: state remission at 2020-06-30; for the day on which a fact is told write 'on 2020-06-30', "
            "and for a treatment that goes on 'ongoing medication …'",
        )
    if counted or len(days_held) > 1 or (events.window or events.now) is not None or events.pick != Pick():
        raise Mistake("a state at a day takes no other day, pick or count beside it", "join two criteria with 'and'")
    if events.context != "present":
        raise Mistake(f"a state that is {events.context} holds on no day", "write 'not state … at …'")
    return StateAt(replace(events, kind="state"), days_held[0])


def _counted(count: _Count, events: Events) -> PatientExpression:
    return _bounded(count.bound, count.n, lambda n: Times(n, events, count.by))


def _bound_of(token: Token) -> str:
    return _SPACES.sub(" ", token.lower())


def _bounded(bound: str, n: int, at_least: Callable[[int], PatientExpression]) -> PatientExpression:
    """At most n is not n + 1; exactly n is both."""
    if bound == "at least":
        return at_least(n)
    most = Not(at_least(n + 1))
    return most if bound == "at most" or n == 0 else And((at_least(n), most))


def _short(kind: str, comparison: Comparison) -> Condition:
    """The condition that a comparison without an attribute means for ``kind``."""
    short = KIND_WORDS[kind].short
    attribute = short.get(comparison.measure) or (short.get("number") if comparison.measure == "percent" else None)
    if attribute is None:
        known = ", ".join(KIND_WORDS[kind].attributes)
        raise Mistake(f"what is compared? {kind} has several attributes", f"write 'with …', and one of: {known}")
    return comparison.condition_on(attribute)


def _plain_names(concept: ConceptExpression) -> tuple[Name, ...]:
    parts = concept.parts if isinstance(concept, Union) else (concept,)
    names = [part.term for part in parts if isinstance(part, Under) and not part.exact and isinstance(part.term, Name)]
    return tuple(names) if len(names) == len(parts) else ()


def _number_or_text(text: str) -> str | float:
    return float(text) if text.isascii() and text.isdigit() and len(text) < LONGEST_NUMBER else text
