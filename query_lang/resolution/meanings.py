"""What a clinical term means under an ontology, and where in a query it can stand."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ..nodes import (
    AgeAt,
    Clear,
    Concept,
    Defined,
    Definition,
    Events,
    Exists,
    Is,
    Name,
    Node,
    Or,
    Ordered,
    PatientExpression,
    Pick,
    Query,
    QueryTreeError,
    Repeated,
    Sequence,
    Under,
)
from ..terms import Term, definitions_of, term_recorded_as
from ..tree import map_parts

#: More combinations of facts than this are not compared, as of definitions.
_MOST_PAIRS: Final = 100


@dataclass(frozen=True, slots=True)
class Meaning:
    """A term, resolved. ``fact`` is the one fact that it is; else ``definitions`` are its definition, the last one,
    after those that it uses, and ``facts`` the facts of which it is any, None where it is more than that. ``recorded``
    is what is recorded under the words that were written, None if nothing is."""

    term: Term
    fact: Events | None = None
    definitions: tuple[Definition, ...] = ()
    facts: tuple[Events, ...] | None = None
    recorded: Events | None = None

    @property
    def body(self) -> PatientExpression:
        """The criterion that the term is."""
        return self.definitions[-1].body if self.fact is None else Exists(self.fact)


def meaning_of(term: Term, resolve: Callable[[Query], Query | None]) -> Meaning | None:
    """The meaning of a term; None under an ontology that lacks what it is made of, for which ``resolve`` gives None."""
    if term.single:
        resolved = resolve(Query(term.body))
        body = None if resolved is None else resolved.body
        return Meaning(term, body.events) if isinstance(body, Exists) else None
    resolved = resolve(Query(Defined(term.name), definitions_of(term.name)))
    if resolved is None:
        return None
    bodies = {one.name: one.body for one in resolved.definitions}
    return Meaning(term, None, resolved.definitions, _facts(bodies[term.name], bodies))


def _facts(node: PatientExpression, bodies: Mapping[str, PatientExpression]) -> tuple[Events, ...] | None:
    match node:
        case Exists(events):
            return (events,) if events.pick == Pick() else None
        case Defined(name):
            return _facts(bodies[name], bodies)
        case Or(parts):
            found = [_facts(part, bodies) for part in parts]
            return None if None in found else tuple(itertools.chain.from_iterable(one for one in found if one))
    return None


def renamed(definition: Definition, names: Mapping[str, str]) -> Definition:
    """A definition under another name, with other names for those that it uses."""

    def rename(node: Node) -> Any:
        return Defined(names[node.name]) if isinstance(node, Defined) else map_parts(node, rename)

    return Definition(names[definition.name], rename(definition.body))


# --- names ------------------------------------------------------------------------------------------------------------


def bare_name(events: Events) -> str:
    """The words of a fact that has a name and no kind and no condition, which may be those of a term; else empty."""
    match events:
        case Events(None, Under(Name(text), False), None):
            return text
    return ""


def recorded_term(resolved: Events) -> Term | None:
    """The term for a resolved fact of a bare name."""
    match resolved:
        case Events(_, Under(Concept(concept), False), None):
            return term_recorded_as(concept)
        case Events(_, Under(Concept(concept), False), Is("result", (Concept(value),), False)):
            return term_recorded_as(concept, value)
    return None


# --- places -----------------------------------------------------------------------------------------------------------


def narrowed(fact: Events, written: Events) -> Events:
    """A fact of a term, in the time and told as what was written asks."""
    return dataclasses.replace(
        fact,
        window=written.window,
        source=written.source,
        undisputed=written.undisputed,
        sources=written.sources,
        known=written.known,
        now=written.now,
    )


def in_context(fact: Events, written: Events) -> Events:
    """The one fact of a term, with all that stands about the name of it."""
    return dataclasses.replace(narrowed(fact, written), context=written.context, pick=written.pick)


def is_any(written: Events) -> bool:
    """Whether a fact is asked for as it is, and neither the first or the like, nor in another context."""
    return written.context == "present" and written.pick == Pick()


def is_whole(written: Events) -> bool:
    """Whether nothing at all is said about the name."""
    return is_any(written) and written == Events(written.kind, written.concept, written.condition)


def sides_of(node: PatientExpression) -> tuple[Events, ...]:
    """The facts of a relation in whose places alternatives can stand."""
    return tuple(one for _, _, one in _sides(node))


def over_alternatives(
    node: PatientExpression, facts: Mapping[Events, tuple[Events, ...]]
) -> tuple[PatientExpression, ...]:
    """A relation with each side one of its ``facts``, in every way. QueryTreeError if those are too many."""
    sides = list(_sides(node))
    if (count := math.prod(len(facts[one]) for _, _, one in sides)) > _MOST_PAIRS:
        raise QueryTreeError(f"this would compare {count} sets of facts; at most {_MOST_PAIRS} are read")
    found = []
    for chosen in itertools.product(*(facts[one] for _, _, one in sides)):
        values: dict[str, Any] = {}
        for (name, listed, _), fact in zip(sides, chosen, strict=True):
            values[name] = (*values.get(name, ()), fact) if listed else fact
        found.append(dataclasses.replace(node, **values))
    return tuple(found)


def _sides(node: PatientExpression) -> Iterator[tuple[str, bool, Events]]:
    """Field, whether it is a list, and fact."""
    match node:
        case Ordered(left, _, right):
            yield from (("left", False, left), ("right", False, right))
        case Clear(events) | AgeAt(Events() as events):
            yield "events", False, events
        case Repeated(other=other):
            yield "other", False, other
        case Sequence(steps):
            yield from (("steps", True, one) for one in steps)
