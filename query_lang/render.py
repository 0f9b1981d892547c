"""Query tree to text: ``parse(render(query)) == query``; resolved concepts are written by their preferred names."""

from __future__ import annotations

import datetime
import re
from collections.abc import Collection
from typing import Final

from ..kb.model import EARLIEST_DAY, LATEST_DAY
from .keywords import RESERVED
from .nodes import (
    GAP_RELATIONS,
    AgeAt,
    AllOf,
    Among,
    And,
    AnyOf,
    AtLeast,
    Between,
    Change,
    Clear,
    Compare,
    ConceptExpression,
    Condition,
    Day,
    Defined,
    Documented,
    Events,
    Except,
    Exists,
    Gap,
    Is,
    Lacking,
    Lasting,
    Name,
    Not,
    NotThat,
    Now,
    NowWindow,
    Ongoing,
    Or,
    Ordered,
    PatientExpression,
    Pick,
    Query,
    QueryTreeError,
    Repeated,
    SameEvent,
    SameTumor,
    Sequence,
    StateAt,
    Term,
    Times,
    Total,
    Under,
    Union,
    Window,
)
from .parsing.values import TNM_SET, category
from .vocabulary import (
    ATTRIBUTES,
    COUNT_WORDS,
    KIND_WORDS,
    SCALE_ATTRIBUTES,
    STAGING_BASES,
    context_spelling,
    kind_spelling,
)

_PLAIN_WORD: Final = re.compile(r"[A-Za-z](?:(?!--)[A-Za-z0-9+/.:_-])*")
_PLAIN_NUMBER: Final = re.compile(r"[0-9]{1,9}")
_PLAIN_ATTRIBUTE: Final = re.compile(r"[a-z][a-z_]*")
#: Words that could be read as a TNM category or axis.
_LIKE_TNM: Final = re.compile(r"(?:yp|yc|rp|[cpr])?[TNM](?:is|x|\d.*)?", re.IGNORECASE)
_ECOG: Final = frozenset({"ecog", "kps"})

#: How tightly each expression binds; one that binds less than its place asks for stands in brackets.
_OR, _AND, _NOT, _TIMED, _PRIMARY = range(5)


def render(query: Query) -> str:
    """The text of ``query``: one line a definition, then the criterion."""
    lines = []
    known: set[str] = set()
    for definition in query.definitions:
        lines.append(f"let {name_text(definition.name)} be {_expression(definition.body, _OR, known)};")
        known.add(definition.name.casefold())
    lines.append(_expression(query.body, _OR, known))
    return "\n".join(lines)


def render_expression(node: PatientExpression, defined: Collection[str] = ()) -> str:
    """The text of one patient expression, without definitions: for explanations and funnels. ``defined`` are the names
    of those that stand before it."""
    return _expression(node, _OR, {name.casefold() for name in defined})


def render_events(events: Events) -> str:
    """The text of one atom."""
    return _events(events, set())


def render_condition(condition: Condition) -> str:
    """The text of a condition, as after *with*."""
    return _condition(condition)


def render_length(lasting: Lasting) -> str:
    """The text of a length, as after *lasting*."""
    return _length(lasting)


def render_concept(concept: ConceptExpression) -> str:
    """The text of a concept expression."""
    return _concept(concept)


# --- patients -------------------------------------------------------------------------------------------------------


# One case a node: a table that is read from top to bottom.
def _expression(node: PatientExpression, place: int, known: set[str]) -> str:
    match node:
        case Exists(events):
            return _events(events, known)
        case Defined(name):
            return name_text(name)
        case Or(parts):
            binds, text = _OR, " or ".join([_expression(part, _AND, known) for part in parts])
        case And(parts):
            binds, text = _AND, " and ".join([_expression(part, _NOT, known) for part in parts])
        case Except(left, right):
            # In brackets, "any X" on the left is safe from taking the "except" for its own.
            first = _expression(left, _PRIMARY, known)
            # So it is where "any X" ends an age or an absence.
            ends = left.events if isinstance(left, Exists | AgeAt | Lacking) else None
            first = f"({first})" if ends is not None and _starts_with_any(ends, known) else first
            binds, text = _AND, f"{first} except {_expression(right, _NOT, known)}"
        case Not(part):
            binds, text = _NOT, f"not {_expression(part, _NOT, known)}"
        case Ordered(left, _, right):
            another = " another" if node.different and node.relation != "beside" else ""
            text = f"{_events(left, known)} {_gap(node)}{another} {_events(right, known)}{_apart(node.without, known)}"
            binds = _TIMED
        case Sequence(steps, gaps):
            later = [
                f"{_then(gap)} {_events(step, known)}{_apart(gap.without, known)}"
                for step, gap in zip(steps[1:], gaps, strict=True)
            ]
            binds, text = _TIMED, " ".join([_events(steps[0], known), *later])
        case Clear(events, _, absent):
            binds, text = _TIMED, f"{_events(events, known)} with no {_events(absent, known)} {_gap(node)} it"
        case StateAt(events, day):
            return f"{_events(events, known)} at {_date(day)}"
        case Ongoing(events, day):
            when = "" if isinstance(day, Now) else f" at {_date(day)}"
            return f"ongoing {_events(events, known)}{when}"
        case Times(n, events, by):
            begin, end = COUNT_WORDS[by]
            return f"{_events(events, known)} {begin} at least {n} {end}"
        case Repeated(n, events, _, other):
            return f"at least {n} times ({_events(events, known)} {_gap(node)} {_events(other, known)})"
        case Change(way, events):
            binds, text = _TIMED, f"{way} of {_events(events, known, short=False)}{_moved(node, known)}"
        case Total(attribute, events, operator, amount):
            name = attribute if attribute in ATTRIBUTES else _quoted(attribute)
            text = f"total {name} of {_events(events, known, short=False)} {operator} {_value(amount)}"
            binds = _TIMED
        case AgeAt(events, day):
            when = f"at {_events(events, known)}" if events is not None else f"on {_date(day)}"
            return f"age {_age(node)} {when}"
        case Lacking(how, events):
            return f"{how} absence of {_events(events, known)}"
        case Among(patients):
            return f"patient in ({', '.join([_quoted(patient) for patient in patients])})"
        case AtLeast(n, parts):
            listed = ", ".join([_listed(part, known) for part in parts])
            return f"at least {n} of ({listed})"
        case SameTumor(body, least) if least > 1:
            return f"at least {least} tumors ({_expression(body, _OR, known)})"
        case SameTumor(body):
            return f"same tumor ({_expression(body, _OR, known)})"
        case SameEvent(body):
            return f"same event ({_expression(body, _OR, known)})"
        case _ if node.expansion is not None:
            return _expression(node.expansion, place, known)
        case _:
            raise QueryTreeError(f"{type(node).__name__} is no patient expression")
    return text if binds >= place else f"({text})"


def _listed(node: PatientExpression, known: set[str]) -> str:
    text = _expression(node, _OR, known)
    # After a condition, a comma could continue it.
    return f"({text})" if " with " in text else text


def _apart(without: Events | None, known: set[str]) -> str:
    return "" if without is None else f" with no {_events(without, known)} between them"


def _then(gap: Gap) -> str:
    if gap.maximum is None:
        return "then" if gap.minimum == 1 else f"then at least {gap.minimum} days later"
    if gap.minimum == 1:
        return f"then within {gap.maximum} days"
    return f"then between {gap.minimum} and {gap.maximum} days later"


def _age(node: AgeAt) -> str:
    if node.high is None:
        return f">= {node.low}"
    if node.low == node.high:
        return f"= {node.low}"
    return f"<= {node.high}" if node.low == 0 else f"between {node.low} and {node.high}"


def _moved(node: Change, known: set[str]) -> str:
    """By how much, in which time and during what."""
    words = []
    if node.amount or node.relative:
        words.append(f"{node.operator} {_value(node.amount, '%' if node.relative else '', node.unit)}")
    if node.maximum is not None:
        words.append(f"within {node.maximum} days")
    if node.during is not None:
        words.append(f"during {_events(node.during, known)}")
    return "".join([f" {word}" for word in words])


def _gap(node: Ordered | Clear | Repeated) -> str:
    low, high = node.minimum, node.maximum
    if node.relation not in GAP_RELATIONS:
        words = {"beside": "and another", "specimen": "on the same specimen as"}
        return words.get(node.relation, node.relation)
    if node.relation == "within":
        return f"within {high} days of" if low == 0 else f"between {low} and {high} days of"
    relation = f"on or {node.relation}" if low == 0 else node.relation
    if high is None:
        return relation if low <= 1 else f"at least {low} days {relation}"
    return f"within {high} days {relation}" if low <= 1 else f"between {low} and {high} days {relation}"


# --- one fact -------------------------------------------------------------------------------------------------------


def _starts_with_any(events: Events, known: set[str]) -> bool:
    return events.concept is not None and " any " in f" {_events(events, known)}"


def _events(events: Events, known: set[str], *, short: bool = True) -> str:
    """The atom; unless ``short``, its conditions stand after *with*: a comparison behind it is of something else."""
    words: list[str] = ["undisputed"] * events.undisputed
    if events.context != "present":
        words.append(context_spelling(events.context))
    if events.pick != Pick():
        words.append(_pick(events.pick))
    if events.moment == "end":
        words.append("end of")
    condition = events.condition
    shortened = _short(events, condition) if short and condition is not None else None
    if shortened is not None:
        words.append(shortened)
        condition = None
    else:
        words += _selection(events, known)
    if events.window is not None:
        words.append(_window(events.window))
    if events.lasting is not None:
        words.append(f"lasting {_length(events.lasting)}")
    if events.now is not None:
        words += _now_window(events.now)
    if events.source:
        words.append(f"according to {events.source}")
    if events.sources > 1:
        words.append(f"from at least {events.sources} independent notes")
    if events.known:
        words.append(f"as {events.known}")
    if condition is not None:
        grouped = isinstance(condition, AllOf | AnyOf)
        words.append(f"with ({_condition(condition)})" if grouped else f"with {_condition(condition)}")
    return " ".join(words)


def _selection(events: Events, known: set[str]) -> list[str]:
    kind, concept = events.kind, events.concept
    if kind is not None:
        words = [kind_spelling(kind)]
        if concept is not None:
            words += [KIND_WORDS[kind].preposition] * bool(KIND_WORDS[kind].preposition)
            words.append(_concept(concept))
        return words
    assert concept is not None
    if isinstance(concept, Under) and not concept.exact:
        # A bare name could be that of a definition; "any" says that it is not.
        return ["any"] * (_text(concept.term).casefold() in known) + [_named(concept)]
    base = concept if isinstance(concept, Under | Union) else concept.base
    return [_concept(concept)] if isinstance(base, Under) else ["any", _concept(concept)]


def _pick(pick: Pick) -> str:
    if pick.how != "nth":
        return pick.how
    ending = "th" if pick.n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(pick.n % 10, "th")
    return f"{pick.n}{ending}"


def _short(events: Events, condition: Condition) -> str | None:
    """``stage >= IIC``, ``T = T2``, ``ECOG <= 2``, ``biomarker ER = positive``: a condition without ``with``."""
    kind, concept = events.kind, events.concept
    if kind == "tnm" and concept is None and isinstance(condition, AllOf):
        return _tnm(condition, ordered_by_t=events.pick.how in ("worst", "best"))
    if (
        kind is None
        or not isinstance(condition, Compare | Between | Is)
        or condition.attribute not in _attributes(kind)
    ):
        return None
    if isinstance(condition, Is) and (len(condition.values) > 1 or condition.attribute in SCALE_ATTRIBUTES):
        return None
    if kind == "tnm":
        if concept is not None or (events.pick.how in ("worst", "best") and condition.attribute != "t"):
            return None
        return f"{condition.attribute.upper()} {_comparison(condition)}"
    percent = "%" if condition.attribute == "percent" else ""
    measure = _measure(condition)
    if KIND_WORDS[kind].short.get("percent" if percent and measure == "number" else measure) != condition.attribute:
        return None
    comparison = _comparison(condition, percent)
    comparison = f"is {comparison}" if concept is None and comparison.startswith("exactly") else comparison
    if (
        kind == "performance"
        and isinstance(concept, Under)
        and not concept.exact
        and _ecog(concept.term).casefold() in _ECOG
    ):
        return f"{_ecog(concept.term)} {comparison}"
    return " ".join([*_selection(Events(kind, concept), set()), comparison])


def _tnm(condition: AllOf, *, ordered_by_t: bool) -> str | None:
    """``ypT3``, ``T2N0M0``, ``pathological T >= T2c``: a whole TNM set in a word or two, where that says the same."""
    *axes, last = condition.parts
    prefixes: tuple[str, ...] = ()
    match last:
        case Is("prefix", values, False):
            prefixes = tuple([_text(value) for value in values])
        case _:
            axes.append(last)
    first = axes[0]
    if not isinstance(first, Compare | Between) or (ordered_by_t and first.attribute != "t"):
        return None
    basis = next((name for name, values in STAGING_BASES.items() if values == prefixes), None)
    if basis is not None and len(axes) == 1 and first.attribute in ("t", "n", "m"):
        return f"{basis} {first.attribute.upper()} {_comparison(first)}"
    written = [(axis.attribute, axis.value) for axis in axes if isinstance(axis, Compare) and axis.operator == "="]
    literal = "".join([*prefixes, *(str(value) for _, value in written)])
    read = TNM_SET.fullmatch(literal)
    if len(written) < len(axes) or read is None or (read["prefix"],) != (prefixes or (None,)):
        return None
    means = [(axis, category(read[axis])) for axis in ("t", "n", "m") if read[axis]]
    return literal if means == written else None


def _attributes(kind: str) -> tuple[str, ...]:
    return ("t", "n", "m") if kind == "tnm" else tuple(KIND_WORDS[kind].short.values())


def _ecog(term: Term) -> str:
    return term.text if isinstance(term, Name) else term.id.upper()


def _measure(condition: Compare | Between | Is) -> str:
    match condition:
        case Compare(_, _, value):
            return "word" if isinstance(value, str) else "number"
        case Between(_, low, high):
            return (
                "mixed"
                if isinstance(low, str) != isinstance(high, str)
                else "word"
                if isinstance(low, str)
                else "number"
            )
        case Is():
            return "word"


def _window(window: Window) -> str:
    low, high = _date(window.low), _date(window.high)
    if window.high == LATEST_DAY and window.low > EARLIEST_DAY:
        return f"since {low}"
    if window.low == EARLIEST_DAY and window.high < LATEST_DAY:
        return f"until {high}"
    return f"between {low} and {high}"


def _length(lasting: Lasting) -> str:
    if lasting.maximum is None:
        return f"at least {lasting.minimum} days"
    if lasting.minimum == 0:
        return f"at most {lasting.maximum} days"
    return f"between {lasting.minimum} and {lasting.maximum} days"


def _now_window(window: NowWindow) -> list[str]:
    low, high = window.low, window.high
    match low, high:
        case 0, 0:
            return ["on now"]
        case 0 | 1, _:
            return ["since now" if low == 0 else "after now"]
    words = [] if low is None else [f"in the last {-low} days"]
    if high is None or (high == 0 and low is not None):
        return words
    return [*words, {0: "until now", -1: "before now"}.get(high, f"at least {-high} days ago")]


def _date(day: Day | None) -> str:
    if isinstance(day, Now):
        return "now"
    return datetime.date.fromordinal(day or EARLIEST_DAY).isoformat()


# --- concepts and names ---------------------------------------------------------------------------------------------


def _concept(concept: ConceptExpression, *, inside: bool = False) -> str:
    if isinstance(concept, Under):
        return _named(concept)
    if isinstance(concept, Union):
        parts = [_unit(part) if isinstance(part, Union) else _concept(part, inside=True) for part in concept.parts]
        text = " or ".join(parts)
        return text if inside else f"({text})"
    return f"{_unit(concept.base)} other than {_unit(concept.excluded)}"


def _unit(concept: ConceptExpression) -> str:
    return _named(concept) if isinstance(concept, Under) else f"({_concept(concept, inside=True)})"


def _named(concept: Under) -> str:
    return f"exactly {_term(concept.term)}" if concept.exact else _term(concept.term)


def _text(term: Term) -> str:
    return term.text if isinstance(term, Name) else term.name


def _term(term: Term, *, as_value: bool = False) -> str:
    return name_text(_text(term), as_value=as_value)


def name_text(text: str, *, as_value: bool = False) -> str:
    """``text`` as it stands in a query: bare where that is safe, else in quotes. A value can be bare more often."""
    for word in text.split(" "):
        if not _PLAIN_WORD.fullmatch(word):
            break
        if as_value and (_LIKE_TNM.fullmatch(word) or word in ATTRIBUTES):
            continue
        if word.lower() in RESERVED or _LIKE_TNM.fullmatch(word):
            break
    else:
        return text
    quote = '"' if "'" in text and '"' not in text else "'"
    return f"{quote}{text.replace(quote, quote * 2)}{quote}"


# --- conditions -----------------------------------------------------------------------------------------------------


def _condition(condition: Condition, place: int = _OR) -> str:
    match condition:
        case AnyOf(parts):
            binds, text = _OR, " or ".join([_condition(part, _AND) for part in parts])
        case AllOf(parts):
            binds, text = _AND, " and ".join([_condition(part, _NOT) for part in parts])
        case NotThat(part):
            return f"not {_condition(part, _NOT)}"
        case _:
            name = condition.attribute
            plain = _PLAIN_ATTRIBUTE.fullmatch(name) and (name in ATTRIBUTES or name not in RESERVED)
            return f"{name if plain else _quoted(name)} {_comparison(condition)}"
    return text if binds >= place else f"({text})"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _comparison(condition: Is | Compare | Between | Documented, percent: str = "") -> str:
    match condition:
        case Compare(attribute, "=", str(value)) if attribute not in SCALE_ATTRIBUTES:
            return f"equals {name_text(value, as_value=True)}"
        case Compare(_, operator, value, unit):
            return f"{operator} {_value(value, percent, unit)}"
        case Between(_, low, high, unit):
            return f"between {_value(low, percent)} and {_value(high, percent, unit)}"
        case Documented():
            return "documented"
        case Is(attribute, values, exact):
            if len(values) == 1 and exact:
                return f"exactly {_term(values[0], as_value=True)}"
            if len(values) == 1 and attribute not in SCALE_ATTRIBUTES:
                return f"= {_term(values[0], as_value=True)}"
            return f"{'exactly ' if exact else ''}in ({', '.join([_listed_value(value) for value in values])})"


def _listed_value(term: Term) -> str:
    text = _text(term)
    # In a list a number stays the name it is, so it needs no quotes.
    return text if _PLAIN_NUMBER.fullmatch(text) else name_text(text, as_value=True)


def _value(value: str | float, percent: str = "", unit: str = "") -> str:
    if isinstance(value, str):
        return name_text(value, as_value=True)
    text = repr(float(value)).removesuffix(".0")
    written = {"inf": "1e999", "-inf": "-1e999"}.get(text, text) + percent
    return f"{written}{'' if unit in ('', '%') else ' '}{unit}"
