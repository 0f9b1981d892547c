"""Rules about single facts and their order in time: what can never match, and what can hardly be meant."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from ...kb.ontology.scales import as_number
from ..nodes import (
    AgeAt,
    Among,
    And,
    AtLeast,
    Between,
    Change,
    Clear,
    Compare,
    Condition,
    Defined,
    Events,
    Except,
    Exists,
    Lacking,
    Not,
    Ongoing,
    Or,
    Ordered,
    Repeated,
    SameEvent,
    SameTumor,
    Sequence,
    Times,
    Total,
)
from ..render import name_text, render_events
from ..resolution.other_scales import hint_for_scale
from ..tree import event_sets, named_concepts, single_conditions
from ..vocabulary import KIND_WORDS, MEANT_BY_CONCEPT, kind_spelling
from .atoms import needed_sets
from .examined import Examined, event_spans, shown
from .finding import Finding

#: The nodes that the rules know.
KNOWN: Final = (
    Exists, And, Or, Not, Except, AtLeast, SameTumor, SameEvent, Ordered, Sequence, Clear, Times, AgeAt, Lacking, Among,
    Defined, Ongoing, Repeated, Change, Total,
)  # fmt: skip
#: The kinds of fact that nothing comes after.
_LAST_KINDS: Final = frozenset({"death"})


def empty_facts(examined: Examined) -> Iterator[Finding]:
    """A fact whose conditions exclude each other, or whose concept is taken away whole."""
    for placed in examined.placed:
        node = placed.site.node
        for events, span in event_spans(placed, event_sets(node)):
            never = examined.atoms.never(events)
            if never is not None:
                claim = "nobody" if events in needed_sets(node) else ""
                yield examined.finding(
                    "never-matches", placed, span=span, claim=claim,
                    part=render_events(events), why=never.why, instead=never.instead,
                )  # fmt: skip


def empty_orders(examined: Examined) -> Iterator[Finding]:
    """A relation in time that the dates of its facts exclude, or that one event would have to have to itself."""
    atoms = examined.atoms
    for placed in examined.placed:
        node = placed.site.node
        if placed.in_event:
            found = [(atoms.alone(node), "nobody")]
        else:
            orders = tuple(atoms.orders(node))
            found = [(atoms.never_related(order), "nobody") for order in orders]
            found += [(atoms.never_believed(order), "nobody believed") for order in orders]
        for never, claim in found:
            if never is not None:
                yield examined.finding(
                    "impossible-order", placed, claim=claim, part=shown(node), why=never.why, instead=never.instead
                )
                break


def orders_after_death(examined: Examined) -> Iterator[Finding]:
    """Something after the last that can be."""
    for placed in examined.placed:
        match placed.site.node:
            case Ordered(left, "after", right) | Ordered(right, "before", left):
                if right.kind in _LAST_KINDS and left.kind not in _LAST_KINDS:
                    yield examined.finding("after-death", placed, part=shown(placed.site.node))


def pointless_picks(examined: Examined) -> Iterator[Finding]:
    """A choice among the events of one event."""
    for placed in examined.placed:
        if not placed.in_event:
            continue
        for events, span in event_spans(placed, event_sets(placed.site.node)):
            how = events.pick.how
            if how == "any":
                continue
            if how != "nth" or events.pick.n == 1:
                yield examined.finding(
                    "pointless-pick", placed, span=span, pick=how,
                    instead=f"{how} {kind_spelling(events.kind) if events.kind else 'fact'} with … and …",
                )  # fmt: skip


def any_results(examined: Examined) -> Iterator[Finding]:
    """A marker named without a result, as in *ER and PR positive*: any result will do, also a negative one."""
    for placed in examined.placed:
        node = placed.site.node
        if not isinstance(node, Exists) or node.events.condition is not None or node.events.concept is None:
            continue
        ids = [concept.id for concept in named_concepts(node.events.concept) if concept.id in examined.concepts]
        markers = bool(ids) and all(examined.concepts.kind(one) == "biomarker" for one in ids)
        if markers and node.events.kind in (None, "biomarker") and node.events.context == "present":
            yield examined.finding("any-result", placed, part=shown(node))


def implausible_values(examined: Examined) -> Iterator[Finding]:
    """A comparison with a number that no such value reaches."""
    for placed in examined.placed:
        for events, span in event_spans(placed, event_sets(placed.site.node)):
            for condition in single_conditions(events.condition):
                limits = _limits(events, condition)
                if limits is not None and _outside(condition, *limits):
                    yield examined.finding(
                        "implausible-value", placed, span=span,
                        attribute=getattr(condition, "attribute", ""), comparison=_comparison(condition),
                        low=f"{limits[0]:g}", high=f"{limits[1]:g}", instead=_on_another_scale(events, condition),
                    )  # fmt: skip


def _on_another_scale(events: Events, condition: Condition) -> str:
    concepts = [one.id for one in named_concepts(events.concept)] if events.concept is not None else []
    kinds = () if events.kind is None else (events.kind,)
    other = hint_for_scale(condition, kinds, concepts[0] if len(concepts) == 1 else "")
    return other or "check the number and its unit"


def implausible_ages(examined: Examined) -> Iterator[Finding]:
    """An age that nobody reaches."""
    low, high = _plausible()["age"]["years"]
    for placed in examined.placed:
        node = placed.site.node
        if isinstance(node, AgeAt) and node.low > high:
            yield examined.finding(
                "implausible-value", placed, attribute="age", comparison=f">= {node.low}",
                low=f"{low:g}", high=f"{high:g}", instead="check the number and its unit",
            )  # fmt: skip


def what_is_not_checked(examined: Examined) -> Iterator[Finding]:
    """A node that the rules do not know: said rather than passed over."""
    for placed in examined.placed:
        if type(placed.site.node) not in KNOWN:
            yield examined.finding("not-checked", placed, what=f"'{shown(placed.site.node)}'")


def wrong_concepts(examined: Examined) -> Iterator[Finding]:
    """A concept, given by its id, of a sort that no event of the kind has."""
    for placed in examined.placed:
        for events, span in event_spans(placed, event_sets(placed.site.node)):
            if events.kind is None or events.concept is None:
                continue
            for concept in named_concepts(events.concept):
                if concept.id not in examined.concepts:
                    continue
                sort = examined.concepts.kind(concept.id)
                if sort not in KIND_WORDS[events.kind].concepts:
                    meant = MEANT_BY_CONCEPT[sort]
                    instead = f"write {kind_spelling(meant[0])} {name_text(concept.name)}" if meant else "name another"
                    yield examined.finding(
                        "wrong-concept", placed, span=span, name=concept.name, concept_kind=sort,
                        kind=kind_spelling(events.kind), instead=instead,
                    )  # fmt: skip


@functools.cache
def _plausible() -> Mapping[str, Mapping[str, list[float]]]:
    return tomllib.loads((Path(__file__).parent / "plausible.toml").read_text(encoding="utf-8"))


def _limits(events: Events, condition: Condition) -> tuple[float, float] | None:
    """From where to where the values of the compared attribute lie; None if that is not known."""
    if not isinstance(condition, Compare | Between):
        return None
    names = [] if events.concept is None else [concept.id for concept in named_concepts(events.concept)]
    for name in (*(names if len(names) == 1 else ()), events.kind or "", "any"):
        found = _plausible().get(name, {}).get(condition.attribute)
        if found is not None:
            return found[0], found[1]
    return None


def _outside(condition: Condition, low: float, high: float) -> bool:
    match condition:
        case Between(_, first, last):
            least, most = as_number(first), as_number(last)
            return (least is not None and least > high) or (most is not None and most < low)
        case Compare(_, operator, value):
            bound = as_number(value)
            if bound is None:
                return False
            return {
                "=": not low <= bound <= high,
                "<": bound <= low,
                "<=": bound < low,
                ">": bound >= high,
                ">=": bound > high,
            }.get(operator, False)
    return False


def _comparison(condition: Condition) -> str:
    match condition:
        case Between(_, low, high):
            return f"between {_number(low)} and {_number(high)}"
        case Compare(_, operator, value):
            return f"{operator} {_number(value)}"
    return ""


def _number(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:g}"
