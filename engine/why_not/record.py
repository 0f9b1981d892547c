"""One patient's events as bits, and the single changes that an edit is made of."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, NamedTuple

from ...kb.model import ALL_TUMORS, Journey, World
from ...query_lang import nodes
from ..reference.meaning import Meaning
from ..reference.time import admits
from ..reference.views import Seen, View

BELIEVED: Final = World.BELIEVED


@dataclass(frozen=True, slots=True)
class Change:
    """One change of one criterion. ``how`` is its class in :data:`.edit_cost.PLACES`; ``old`` and ``new`` are what
    stood and what stands: parts of nodes, of the same sort; ``new`` is None where something is let go."""

    how: str
    old: Any
    new: Any


class Option(NamedTuple):
    """A part of an event set as it stands or changed: the events that then pass it, the cost, and the part."""

    mask: int
    cost: int
    value: Any
    changes: tuple[Change, ...] = ()


class Record:
    """The events of one patient, each a bit of a mask. What passes what is asked of the reference engine."""

    def __init__(self, journey: Journey, meaning: Meaning) -> None:
        self.journey = journey
        self.meaning = meaning
        self.view = View.from_journey(journey)
        self.events = journey.events
        self.days = [event.day.midpoint for event in journey.events]
        self.everything = (1 << len(self.events)) - 1
        self._known: dict[nodes.Events, int] = {}

    @cached_property
    def kinds(self) -> dict[str, int]:
        """The events of each kind that there is."""
        found: dict[str, int] = {}
        for position, event in enumerate(self.events):
            found[event.kind] = found.get(event.kind, 0) | 1 << position
        return found

    @cached_property
    def believed_tumors(self) -> tuple[str, ...]:
        """The tumors that the patient is believed to have."""
        return tuple(name for name, highest in self.view.tumors.items() if highest >= BELIEVED)

    @cached_property
    def tumors(self) -> tuple[int, ...]:
        """What is seen of each of them."""
        own = [(event.tumor, 1 << position) for position, event in enumerate(self.events)]
        return tuple(sum(bit for tumor, bit in own if tumor in (name, ALL_TUMORS)) for name in self.believed_tumors)

    def of_kind(self, kind: str | None) -> int:
        """The events of a kind; None: all."""
        return self.everything if kind is None else self.kinds.get(kind, 0)

    def having(self, kind: str | None, **parts: Any) -> int:
        """The events of the kind (None: of any) that pass these parts of an event set, all else being open."""
        found = 0
        for one in (kind,) if kind is not None else self.kinds:
            probe = nodes.Events(one, **{"context": "any", **parts})
            known = self._known.get(probe)
            if known is None:
                known = self._known[probe] = self._members(probe, self.shown(self.of_kind(one)))
            found |= known
        return found

    def denying(self, asked: nodes.Events) -> int:
        """The events that deny what is asked, if they are denials."""
        return sum(1 << at for at, event in enumerate(self.events) if self.meaning.denials.denies(asked, event))

    @cached_property
    def denials(self) -> int:
        """The events that are denials."""
        return sum(1 << at for at, event in enumerate(self.events) if admits("absent", event, BELIEVED))

    def of_concepts(self, concepts: Collection[str]) -> int:
        """The events whose concept is one of these."""
        return sum(mask for concept, mask in self._concepts.items() if concept in concepts)

    @cached_property
    def _concepts(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for position, event in enumerate(self.events):
            found[event.concept] = found.get(event.concept, 0) | 1 << position
        return found

    def shown(self, mask: int) -> View:
        """A view of these events."""
        return replace(self.view, events=tuple(self.view.events[position] for position in bits(mask)))

    def chosen(self, kind: str | None, pick: nodes.Pick, members: int) -> int:
        """Those of ``members`` that the pick takes."""
        if pick.how == "any":
            return members
        if not members:
            return 0
        if kind is None:
            # The days decide alone: seen as events of one kind.
            return self._chosen_by_day(pick, members)
        return self._members(nodes.Events(kind, context="any", pick=pick), self.shown(members))

    def _chosen_by_day(self, pick: nodes.Pick, members: int) -> int:
        days = sorted({self.days[position] for position in bits(members)}, reverse=pick.how == "latest")
        n = max(1, pick.n)
        if len(days) < n:
            return 0
        return sum(1 << position for position in bits(members) if self.days[position] == days[n - 1])

    def seen(self, mask: int) -> tuple[Seen, ...]:
        """These events, as the reference engine looks at them."""
        return self.shown(mask).events

    def found(self, events: nodes.Events, place: int) -> int:
        """The events of the place that belong to the set."""
        return self._members(events, self.shown(place))

    def _members(self, probe: nodes.Events, view: View) -> int:
        found = 0
        for witness in self.meaning.witnesses(probe, view, BELIEVED):
            for seen in witness:
                found |= 1 << seen.position
        return found


def bits(mask: int) -> Iterator[int]:
    """The positions of the bits of a mask, from the lowest."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low
