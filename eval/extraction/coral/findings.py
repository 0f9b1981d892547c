"""Findings out of annotations: what a task asks for, as entities, attributes and relations of the schema tell it.

The same rules read the gold and our own reading, so that neither is helped.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from ....ingest.coral_schema.standoff import Entity, Standoff
from ....ingest.coral_schema.tuples import Finding
from ....ingest.coral_schema.types import schema
from .tasks import UNKNOWN, Task, Value
from .units import Unit

_MODALITY: Final = "NegationModalityVal"
#: What stands before a result or a reason that is not simply so.
_SAID_BEFORE: Final = {"negated": "no", "uncertain_in_present": "uncertain", "uncertain_in_past": "uncertain"}
_HYPOTHETICAL: Final = "hypothetical_in_future"


class Annotated:
    """The annotations of one unit: entities that lie in it, their attributes, and the relations between them."""

    def __init__(self, standoff: Standoff, unit: Unit) -> None:
        inside = [one for one in standoff.entities if all(unit.holds(*span) for span in one.spans)]
        self.entities = {one.id: one for one in sorted(inside, key=lambda one: (one.start, one.end, one.type))}
        self.attributes: dict[str, dict[str, str]] = defaultdict(dict)
        for attribute in standoff.attributes:
            self.attributes[attribute.target][attribute.name] = _spelled(attribute.name, attribute.value)
        self._linked: dict[str, list[tuple[str, Entity]]] = defaultdict(list)
        for relation in standoff.relations:
            ends = [target for _, target in relation.arguments]
            if len(ends) == 2 and all(end in self.entities for end in ends):
                for one, other in (ends, ends[::-1]):
                    self._linked[one].append((relation.type, self.entities[other]))

    def linked(self, entity: Entity, relations: frozenset[str]) -> Iterator[Entity]:
        """The entities that one of the relations joins to ``entity``, whichever way it points."""
        for relation, other in self._linked[entity.id]:
            if relation in relations:
                yield other

    def value(self, entity: Entity, attribute: str) -> str:
        """The value of an attribute; empty where it was not set."""
        return self.attributes[entity.id].get(attribute, "")

    def text(self, entity: Entity) -> str:
        """The words of an entity; a site with its side, a marker with its result."""
        words = _words(entity.text)
        if entity.type == "Site":
            sides = _texts(one for one in self.linked(entity, _SIDE) if one.type == "Laterality")
            return " ".join([", ".join(sides), words]) if sides else words
        if entity.type == "BiomarkerName":
            return " ".join([words, *_texts(one for one in self.linked(entity, _RESULT) if one.type != entity.type)])
        return words


_SIDE: Final = frozenset({"LateralityOfSite"})
_RESULT: Final = frozenset({"BiomarkerRel"})


def findings_of(task: Task, annotated: Annotated) -> tuple[Finding, ...]:
    """The findings that the annotations tell for ``task``, in the order of the text, each once."""
    found: dict[tuple[object, ...], Finding] = {}
    for entity in annotated.entities.values():
        if entity.type in task.types and _wanted(task, entity, annotated):
            values = {value.name: tuple(dict.fromkeys(_values(value, entity, annotated))) for value in task.values}
            finding = Finding(annotated.text(entity), {name: words or (UNKNOWN,) for name, words in values.items()})
            found.setdefault((finding.name, *finding.values.items()), finding)
    return tuple(found.values())


def _wanted(task: Task, entity: Entity, annotated: Annotated) -> bool:
    def has(table: Mapping[str, frozenset[str]]) -> list[bool]:
        return [annotated.value(entity, name) in values for name, values in table.items()]

    return (
        bool(_words(entity.text))
        and not any(has(task.without))
        and all(has(task.having))
        and (not task.any_of or any(has(task.any_of)))
    )


def _values(value: Value, entity: Entity, annotated: Annotated) -> list[str]:
    return _WAYS[value.how](value, entity, annotated)


def _others(value: Value, entity: Entity, annotated: Annotated) -> list[Entity]:
    starts = [entity, *annotated.linked(entity, value.via)]
    found = {other.id: other for one in starts for other in annotated.linked(one, value.relations)}
    return [
        other
        for other in sorted(found.values(), key=lambda one: (one.start, one.end))
        if other.id != entity.id
        and other.type not in value.not_types
        and (not value.types or other.type in value.types)
    ]


def _linked(value: Value, entity: Entity, annotated: Annotated) -> list[str]:
    return [annotated.text(one) for one in _others(value, entity, annotated)]


def _stated(value: Value, entity: Entity, annotated: Annotated) -> list[str]:
    words = []
    for one in _others(value, entity, annotated):
        modality = annotated.value(one, _MODALITY)
        if modality != _HYPOTHETICAL:
            words.append(" ".join(filter(None, (_SAID_BEFORE.get(modality, ""), annotated.text(one)))))
    return words


def _confirmed(value: Value, entity: Entity, annotated: Annotated) -> list[str]:
    return [
        annotated.text(one)
        for one in _others(value, entity, annotated)
        if annotated.value(one, _MODALITY) in ("", "affirmed")
    ]


def _potential(value: Value, entity: Entity, annotated: Annotated) -> list[str]:
    return [
        annotated.text(one)
        for one in _others(value, entity, annotated)
        if annotated.value(one, _MODALITY) not in ("", "affirmed")
    ]


def _attribute(value: Value, entity: Entity, annotated: Annotated) -> list[str]:
    return [value.words.get(annotated.value(entity, value.attribute), value.otherwise)]


def _nothing(value: Value, entity: Entity, annotated: Annotated) -> list[str]:
    return []


_WAYS: Final[Mapping[str, Callable[[Value, Entity, Annotated], list[str]]]] = {
    "linked": _linked,
    "stated": _stated,
    "confirmed": _confirmed,
    "potential": _potential,
    "attribute": _attribute,
    "nothing": _nothing,
}


def _spelled(attribute: str, value: str) -> str:
    """A value as the schema spells it, whatever capitals an annotator's configuration used."""
    known = schema().attributes.get(attribute)
    return next((one for one in known.values if one.lower() == value.lower()), value) if known else value


def _texts(entities: Iterable[Entity]) -> list[str]:
    return [_words(one.text) for one in sorted(entities, key=lambda one: (one.start, one.end))]


def _words(text: str) -> str:
    return " ".join(text.split())
