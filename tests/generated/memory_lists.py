"""Lists of patients by attribute value for a knowledge base in memory, by plain loops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pyroaring import BitMap

from cohortium.kb.index.lists.values import REST, ListedValues
from cohortium.kb.model import Event, Journey, Value, World
from cohortium.kb.ontology.concepts import ConceptTable

#: So few values of an attribute have lists of their own that generated queries ask for others, too.
MOST_VALUES = 2


class MemoryLists:
    """As :class:`cohortium.kb.index.lists.listed.Listed`, as far as a query needs it."""

    def __init__(self, journeys: Sequence[Journey], concepts: ConceptTable) -> None:
        self.journeys, self.concepts = journeys, concepts

    def exact(self, kind: str, concept: str, world: World) -> BitMap:
        """Patients with an event of this very concept."""
        return BitMap(patient for patient, event in self._events(kind, "", world) if event.concept == concept)

    def size(self, kind: str, concept: str, world: World) -> int:
        """How many patients have such an event."""
        return len(BitMap(patient for patient, _ in self._events(kind, concept, world)))

    def values(self, kind: str, name: str) -> ListedValues | None:
        """The first values in their order are listed; of an attribute whose name begins late in the alphabet, none; and
        the others are not told of one that has an even number of values."""
        if name > "s":
            return None
        values = self._values(kind, name)
        told = values[MOST_VALUES:] if len(values) % 2 else None
        return ListedValues(tuple(values[:MOST_VALUES]), None if told is None else tuple(told))

    def of_value(self, kind: str, concept: str, name: str, number: int, world: World) -> BitMap:
        """Patients with such an event of that value, or with one that is not listed."""
        values = self._values(kind, name)
        wanted = values[MOST_VALUES:] if number == REST else [values[number]]
        return BitMap(
            patient
            for patient, event in self._events(kind, concept, world)
            if name in event.attributes and _key(event.attributes[name]) in [_key(one) for one in wanted]
        )

    def _values(self, kind: str, name: str) -> list[Value]:
        found = {
            _key(event.attributes[name]) for _, event in self._events(kind, "", World.NONE) if name in event.attributes
        }
        return [value for _, value in sorted(found) if value != ""]

    def _events(self, kind: str, concept: str, world: World) -> Iterator[tuple[int, Event]]:
        for patient, journey in enumerate(self.journeys):
            for event in journey.events:
                there = not concept or self.concepts.is_a(event.concept, concept)
                if event.kind == kind and event.world >= world and there:
                    yield patient, event


def _key(value: Value) -> tuple[bool, Value]:
    """Text and number differ as values, also when they look alike."""
    return (True, value) if isinstance(value, str) else (False, float(value))
