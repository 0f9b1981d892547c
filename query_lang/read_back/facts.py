"""One fact in plain English: its kind, concept, context, date, place among others and conditions; gaps between two."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ...kb.kinds import KIND_TABLE
from ...kb.model import EARLIEST_DAY, LATEST_DAY
from ...kb.ontology.concepts import ConceptTable
from ..nodes import (
    GAP_RELATIONS,
    AgeAt,
    AllOf,
    AnyOf,
    Between,
    Change,
    Clear,
    Compare,
    Concept,
    ConceptExpression,
    Condition,
    Day,
    Documented,
    Events,
    Gap,
    Is,
    Lasting,
    Name,
    NotThat,
    Now,
    NowWindow,
    Ordered,
    OtherThan,
    Term,
    Total,
    Under,
    Union,
    Window,
)
from ..resolution.conditions import BY_ID
from ..resolution.findings import findings
from ..resolution.units import with_usual_unit
from ..vocabulary import DAYS_IN, SCALE_ATTRIBUTES
from .layout import WORDS, Piece

_CONCEPTS: Final[Mapping[str, Any]] = WORDS["concepts"]
_CONDITIONS: Final[Mapping[str, str]] = WORDS["conditions"]
_GAPS: Final[Mapping[str, Any]] = WORDS["gaps"]
#: Values that are words have underscores for spaces; in others (``A763_Y764insFQEA``) one belongs to the value.
_RECORDED_WORDS: Final = re.compile(r"[a-z]+(?:_[a-z0-9]+)+")


def one_line(text: str) -> str:
    """``text`` with every run of spaces and line breaks as one space."""
    return " ".join(text.split())


def with_article(noun: str) -> str:
    """``a diagnosis``, ``an operation``."""
    return f"{'an' if noun[:1].lower() in tuple('aeiou') else 'a'} {noun}"


@dataclass(frozen=True, slots=True)
class FactWriter:
    """Tells facts. With ``concepts``, *or any kind of it* stands only where there is a kind of it."""

    concepts: ConceptTable | None = None

    def fact(self, events: Events) -> Piece:
        """The fact without an article, and what its conditions say."""
        if self.concepts is not None:
            events = with_usual_unit(events, self.concepts)
        words: Mapping[str, Any] = WORDS["any"] if events.kind is None else KIND_TABLE[events.kind].read_back
        phrase: str = words["noun"]
        if events.concept is not None:
            concept = self._concept(events.concept, words["below"])
            phrase = concept if words.get("alone") else f"{phrase} {words['of']} {concept}"
        phrase = WORDS["contexts"][events.context].format(fact=phrase, a_fact=with_article(phrase))
        if events.lasting is not None:
            phrase = f"{phrase} {_length(events.lasting)}"
        phrase = WORDS["moments"][events.moment].format(fact=phrase, a_fact=with_article(phrase))
        if events.window is not None:
            phrase = f"{phrase} {_window(events.window)}"
        if events.now is not None:
            phrase = f"{phrase} {_now_window(events.now)}"
        if events.source:
            phrase = WORDS["told"]["source"].format(fact=phrase, source=events.source)
        if events.sources > 1:
            phrase = WORDS["told"]["sources"].format(fact=phrase, n=events.sources)
        if events.known:
            phrase = WORDS["told"][events.known].format(fact=phrase)
        if events.undisputed:
            phrase = WORDS["told"]["undisputed"].format(fact=phrase)
        if events.pick.how != "any":
            phrase = WORDS["picks"][events.pick.how].format(fact=phrase, n=events.pick.n)
        if events.condition is None:
            return Piece(phrase)
        return self._with_condition(phrase, events.condition, words.get("that", ()))

    # --- concepts ---------------------------------------------------------------------------------------------------

    def _concept(self, concept: ConceptExpression, below: str) -> str:
        match concept:
            case Under(term, True):
                return str(_CONCEPTS["exactly"].format(name=self._name(term)))
            case Under(term):
                return self._with_below(self._name(term), (term,), below)
            case Union():
                parts = tuple(_flat(concept))
                terms = [part.term for part in parts if isinstance(part, Under) and not part.exact]
                if len(terms) == len(parts):
                    return self._with_below(_alternatives([self._name(term) for term in terms]), terms, below)
                return _alternatives([self._unit(part, below) for part in parts])
            case OtherThan(base, excluded):
                words = {"base": self._unit(base, below), "excluded": self._unit(excluded, below)}
                return str(_CONCEPTS["other_than"].format(**words))

    def _unit(self, concept: ConceptExpression, below: str) -> str:
        text = self._concept(concept, below)
        return text if isinstance(concept, Under) else f"[{text}]"

    def _with_below(self, name: str, terms: Sequence[Term], below: str) -> str:
        if not any(self._has_kinds(term) for term in terms):
            return name
        return str(_CONCEPTS["below"].format(name=name, below=below))

    def _has_kinds(self, term: Term) -> bool:
        if any(self._plain_name(term).endswith(end) for end in _CONCEPTS["tells_itself"]):
            return False
        if isinstance(term, Name) or self.concepts is None or term.id not in self.concepts:
            return True
        return bool(self.concepts.children(term.id))

    def _name(self, term: Term) -> str:
        name = self._plain_name(term)
        return f"'{name}'" if any(word in f" {name} " for word in _CONCEPTS["quoted"]) else name

    def _plain_name(self, term: Term) -> str:
        if isinstance(term, Name):
            return one_line(term.text)
        if not term.name.startswith(BY_ID):
            return one_line(term.name)
        # The preferred name means something else in a query; to a reader it is the name.
        known = self.concepts is not None and term.id in self.concepts
        return self.concepts.name(term.id) if known and self.concepts is not None else term.id.replace("_", " ")

    # --- conditions -------------------------------------------------------------------------------------------------

    def _with_condition(self, fact: str, condition: Condition, as_that: Iterable[str]) -> Piece:
        match condition:
            case Is(attribute) | Compare(attribute) | Between(attribute) if attribute in as_that:
                return Piece(f"{fact} {_CONDITIONS['that'].format(value=self._value(condition))}")
        return self._condition(condition, negated=False).after(f"{fact} {_CONDITIONS['for_which']}")

    def _condition(self, condition: Condition, *, negated: bool) -> Piece:
        match condition:
            case NotThat(part):
                return self._condition(part, negated=not negated)
            case AllOf(parts):
                return Piece("", "not_all_hold" if negated else "all_hold", self._each(parts))
            case AnyOf(parts):
                return Piece("", "none_hold" if negated else "any_hold", self._each(parts))
            case Documented(name):
                template = _CONDITIONS["not_documented" if negated else "documented"]
                return Piece(template.format(attribute=_attribute(name)))
            case Is(name) | Compare(name) | Between(name):
                template = _CONDITIONS["is_not" if negated else "is"]
                return Piece(template.format(attribute=_attribute(name), value=self._value(condition)))

    def _each(self, parts: tuple[Condition, ...]) -> tuple[Piece, ...]:
        return tuple([self._condition(part, negated=False) for part in parts])

    def _value(self, condition: Is | Compare | Between) -> str:
        match condition:
            case Is():
                return self._one_of(condition)
            case Compare(attribute, operator, value, unit):
                on_scale = attribute in SCALE_ATTRIBUTES and not (operator == "=" and isinstance(value, int | float))
                template: str = WORDS["comparisons"][operator]["scale" if on_scale else "number"]
                return template.format(value=_bound(attribute, value, unit))
            case Between(attribute, low, high, unit):
                bounds = _bound(attribute, low, unit), _bound(attribute, high, unit)
                return _CONDITIONS["between"].format(low=bounds[0], high=bounds[1])

    def _one_of(self, condition: Is) -> str:
        attribute, values, exact = condition.attribute, condition.values, condition.exact
        names = [self._name(value) for value in values if isinstance(value, Concept)]
        names += _plain_values(attribute, [value.text for value in values if isinstance(value, Name)], exact)
        text = _alternatives(names)
        if exact:
            return _CONDITIONS["exactly"].format(value=text)
        if any(isinstance(value, Concept) and self._has_kinds(value) for value in values):
            return _CONDITIONS["below"].format(value=text)
        return _CONDITIONS["substages"].format(value=text) if attribute in SCALE_ATTRIBUTES else text


def _flat(concept: ConceptExpression) -> Iterator[ConceptExpression]:
    """The alternatives of a union, those of unions in it among them."""
    if isinstance(concept, Union):
        for part in concept.parts:
            yield from _flat(part)
    else:
        yield concept


def _attribute(name: str) -> str:
    return str(WORDS["attributes"].get(name, one_line(name).replace("_", " ")))


def _plain_values(attribute: str, values: Sequence[str], exact: bool) -> list[str]:
    """Recorded values in English; a finding that stands there with all of its kinds is told as one *of any kind*."""
    section = findings().get(attribute)
    kinds_of: Mapping[str, tuple[str, ...]] = {} if section is None or exact else section.below
    whole = [value for value in values if len(kinds_of.get(value, ())) > 1 and set(kinds_of[value]) <= set(values)]
    implied = {kind for value in whole for kind in kinds_of[value] if kind != value}
    found = []
    for value in values:
        if value in implied:
            continue
        plain = value.replace("_", " ") if _RECORDED_WORDS.fullmatch(value) else value
        name = one_line(WORDS["values"].get(attribute, {}).get(value, plain))
        found.append(_CONDITIONS["of_any_kind"].format(value=name) if value in whole else name)
    return found


def _bound(attribute: str, value: str | float, unit: str = "") -> str:
    text = one_line(value) if isinstance(value, str) else repr(float(value)).removesuffix(".0")
    if unit:
        return f"{text}{'' if unit == '%' else ' '}{unit}"
    return f"{text}{WORDS['units'].get(attribute, '')}"


def _alternatives(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])}{_CONDITIONS['or']}{names[-1]}"


# --- time -----------------------------------------------------------------------------------------------------------


def change(node: Change) -> str:
    """Which way a number moves, by how much and in which time: ``rise of the value by 2 or more within 30 days``."""
    words: Mapping[str, str] = WORDS["changes"]
    told = {"way": words[node.way], "attribute": _attribute(node.attribute)}
    found = words["at_all"].format(**told)
    if node.amount or node.relative:
        number = repr(float(node.amount)).removesuffix(".0")
        value = words["of_it"].format(number=number) if node.relative else _bound("", node.amount, node.unit)
        by = words["by"].format(amount=WORDS["comparisons"][node.operator]["number"].format(value=value))
        found = words["so_far"].format(**told, by=by)
    return found if node.maximum is None else words["within"].format(change=found, days=_days(node.maximum))


def amount(node: Total) -> dict[str, str]:
    """How much a total is, and of which attribute."""
    told = WORDS["comparisons"][node.operator]["number"].format(value=_bound("", node.amount))
    return {"amount": told, "attribute": _attribute(node.attribute)}


def _window(window: Window) -> str:
    low, high = (datetime.date.fromordinal(day).isoformat() for day in (window.low, window.high))
    if window.low == window.high:
        kind = "on"
    elif window.low > EARLIEST_DAY and window.high == LATEST_DAY:
        kind = "since"
    elif window.low == EARLIEST_DAY and window.high < LATEST_DAY:
        kind = "until"
    else:
        kind = "between"
    return str(WORDS["windows"][kind].format(low=low, high=high))


def _length(lasting: Lasting) -> str:
    if lasting.maximum is None:
        kind = "at_least"
    elif lasting.minimum == lasting.maximum:
        kind = "exactly"
    else:
        kind = "between" if lasting.minimum else "at_most"
    high = "" if lasting.maximum is None else _days(lasting.maximum)
    return str(WORDS["lengths"][kind].format(low=_days(lasting.minimum), high=high))


def _now_window(window: NowWindow) -> str:
    words: Mapping[str, str] = WORDS["now_windows"]
    low, high = window.low, window.high
    if low is not None and low >= 0:
        return words["on" if high == 0 else "since" if low == 0 else "after"]
    until = {0: words["until"], -1: words["before"]}
    ends = None if high is None else until.get(high) or words["ago"].format(days=_days(-high))
    if low is None:
        return str(ends)
    last = words["last"].format(days=_days(-low))
    return last if high == 0 else words["both"].format(first=last, second=ends)


def day_words(day: Day) -> str:
    """When something is so: ``on 2021-03-04``, or *now*."""
    words: Mapping[str, str] = WORDS["days"]
    return words["now"] if isinstance(day, Now) else words["on"].format(day=date_words(day))


def date_words(day: int) -> str:
    """A day as it is written: ``2021-03-04``."""
    return datetime.date.fromordinal(day).isoformat()


def relation(node: Ordered) -> str:
    """How the first fact lies to the second: ``at least 30 days before and of another concept than``."""
    if node.relation not in GAP_RELATIONS:
        words = str(_GAPS[node.relation])
    else:
        words = gap(node)
    return _GAPS["different"].format(gap=words) if node.different and node.relation != "beside" else words


def later(node: Gap) -> str:
    """How a step of a sequence lies to the one before: ``, at most 30 days later,``; empty where it is just later."""
    if (node.minimum, node.maximum) == (1, None):
        return ""
    return f", {_gap_words(node.minimum, node.maximum, str(_GAPS['then']), either_way=False)},"


def gap(node: Ordered | Clear) -> str:
    """How far the first fact lies from the second, and on which side: ``at least 30 days before``."""
    low, high = node.minimum, node.maximum
    if (low, high) == (0, 0):
        return str(_GAPS["same_day"])
    either_way = node.relation == "within"
    if low == 0 and not either_way:
        one_way = node.relation if high is None else _gap_words(1, high, node.relation, either_way=True)
        return str(_GAPS["same_day_too"].format(gap=one_way))
    return _gap_words(low, high, _GAPS["either_way"] if either_way else node.relation, either_way=either_way)


def _gap_words(low: int, high: int | None, relation: str, *, either_way: bool) -> str:
    if high is None:
        kind = "at_least"
    elif low == high:
        kind = "exactly"
    else:
        kind = "within" if either_way and low == 0 else "between"
    return str(_GAPS[kind].format(low=_days(low), high="" if high is None else _days(high), relation=relation))


def age(node: AgeAt) -> str:
    """``65 years or more``."""
    if node.high is None:
        kind = "at_least"
    elif node.low == node.high:
        kind = "exactly"
    else:
        kind = "at_most" if node.low == 0 else "between"
    return str(WORDS["ages"][kind].format(low=node.low, high=node.high))


def _days(n: int) -> str:
    days = _number_of("days", n)
    for unit in ("year", "week", "month"):
        many = round(n / DAYS_IN[unit])
        if many >= 1 and round(many * DAYS_IN[unit]) == n and many <= _GAPS["longest"][unit]:
            return str(_GAPS["also"].format(days=days, longer=_number_of(f"{unit}s", many)))
    return days


def _number_of(unit: str, n: int) -> str:
    words: Mapping[str, str] = _GAPS[unit]
    return words["one" if n == 1 else "many"].format(n=n)
