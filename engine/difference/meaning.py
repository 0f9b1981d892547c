"""The meaning of a query under two ontologies: the concepts that each event set admits under one of them alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ...kb.ontology.concepts import ConceptTable
from ...kb.ontology.scales import ATTRIBUTE_SCALES, Scales
from ...query_lang import nodes
from ...query_lang.nodes import (
    Between,
    Compare,
    Concept,
    Events,
    Is,
    OtherThan,
    Under,
    Union,
)
from ...query_lang.render import render, render_concept, render_condition
from ...query_lang.tree import find, nodes_in

#: So many concepts are named of each change; the rest are counted.
_MOST_NAMED: Final = 5


@dataclass(frozen=True, slots=True)
class Asked:
    """A query with the ontology and the scales that give it its meaning."""

    query: nodes.Query
    concepts: ConceptTable
    scales: Scales


@dataclass(frozen=True, slots=True)
class MeaningChange:
    """Words of the query that admit other concepts now: those ``added`` and ``removed``, by name, sorted.

    Where the words stand for something else altogether, ``text`` tells both and nothing is listed.
    """

    text: str
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    def __str__(self) -> str:
        signed = [*(("+", name) for name in self.added), *(("−", name) for name in self.removed)]
        listed = ", ".join(f"{sign} {name}" for sign, name in signed[:_MOST_NAMED])
        more = f" and {len(signed) - _MOST_NAMED} more" if len(signed) > _MOST_NAMED else ""
        return f"{self.text}: {listed}{more}" if listed else self.text


def meaning_changes(old: Asked, new: Asked) -> tuple[MeaningChange, ...]:
    """What the words of the query admit under one of the two ontologies and not under the other, in their order."""
    before, after = list(_places(old.query)), list(_places(new.query))
    if [type(place) for place in before] != [type(place) for place in after]:
        return (MeaningChange(f"{render(old.query)} → {render(new.query)}"),)
    found = []
    for first, second in zip(before, after, strict=True):
        change = _changed_scale(second, old, new) or _changed(first, second, old, new)
        if change is not None and change not in found:
            found.append(change)
    return tuple(found)


_Place = Under | Union | OtherThan | Is | Compare | Between


def _places(query: nodes.Query) -> Iterator[_Place]:
    """The concept expressions, and the conditions that concepts or scales decide, in the order of the query."""
    for root in (*(definition.body for definition in query.definitions), query.body):
        for events in find(root, Events):
            yield from _places_of(events)


def _places_of(events: Events) -> Iterator[_Place]:
    if events.concept is not None:
        yield events.concept
    if events.condition is not None:
        yield from (one for one in nodes_in(events.condition) if isinstance(one, Is | Compare | Between))


def _changed_scale(place: _Place, old: Asked, new: Asked) -> MeaningChange | None:
    if not isinstance(place, Compare | Between) or place.attribute not in ATTRIBUTE_SCALES:
        return None
    name = ATTRIBUTE_SCALES[place.attribute]
    if old.scales.data.get(name) == new.scales.data.get(name):
        return None
    return MeaningChange(f"{render_condition(place)}: the scale {name} is another")


def _changed(first: _Place, second: _Place, old: Asked, new: Asked) -> MeaningChange | None:
    before, after = _admitted(first, old.concepts), _admitted(second, new.concepts)
    text = _text(second)
    if before == after:
        # The names may have been read otherwise and still admit the same.
        return None
    added = sorted(_name(one, new.concepts) for one in after - before)
    removed = sorted(_name(one, old.concepts) for one in before - after)
    return MeaningChange(text, tuple(added), tuple(removed))


def _admitted(place: _Place, concepts: ConceptTable) -> frozenset[str]:
    match place:
        case Under(term, exact):
            identity = term.id if isinstance(term, Concept) else term.text
            return frozenset({identity}) if exact else concepts.at_or_below(identity)
        case Union(parts):
            return frozenset().union(*(_admitted(part, concepts) for part in parts))
        case OtherThan(base, excluded):
            return _admitted(base, concepts) - _admitted(excluded, concepts)
        case Is(_, values, exact):
            return frozenset().union(*(_admitted(Under(value, exact), concepts) for value in values))
    return frozenset()


def _text(place: _Place) -> str:
    return render_concept(place) if isinstance(place, Under | Union | OtherThan) else render_condition(place)


def _name(concept: str, concepts: ConceptTable) -> str:
    return concepts.name(concept) if concept in concepts else concept
