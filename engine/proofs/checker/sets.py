"""Event sets in the verifier's own words: what an atom admits in each world, and the check that an event fails."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from ....kb.kinds import values_of
from ....kb.model import DayInterval, Event, Experiencer, Polarity, Temporality, Value, World
from ....kb.note_classes import evidence_classes
from ....kb.ontology.concepts import ConceptTable
from ....kb.ontology.scales import Scales, as_number
from ....query_lang import nodes
from .denials import Denials
from .picks import picked
from .record import Record
from .views import Seen, View, goes_on, last_days

_OF_WORLDS: Final = frozenset({"present", "current", "historical"})
_HAPPENED: Final = (Temporality.CURRENT, Temporality.HISTORICAL)
_ANY: Final = nodes.Pick()


class UnknownNode(ValueError):
    """The verifier does not know this sort of node."""


@dataclass(frozen=True)
class Sets:
    """Event sets under one ontology: ``parents`` by concept as the is-a edges tell them, the scales, and what concepts
    are called and where they are."""

    parents: Mapping[str, tuple[str, ...]]
    scales: Scales
    concepts: ConceptTable

    # --- concepts ---------------------------------------------------------------------------------------------------

    @functools.cached_property
    def _ups(self) -> dict[str, frozenset[str]]:
        return {}

    def above(self, concept: str) -> frozenset[str]:
        """The concept and all that the edges lead up to."""
        found = self._ups.get(concept)
        if found is None:
            reached, waiting = {concept}, [concept]
            while waiting:
                for parent in self.parents.get(waiting.pop(), ()):
                    if parent not in reached:
                        reached.add(parent)
                        waiting.append(parent)
            found = self._ups[concept] = frozenset(reached)
        return found

    def selects(self, node: nodes.ConceptExpression, concept: str) -> bool:
        """Whether a concept is one of those that an expression names."""
        match node:
            case nodes.Under(nodes.Concept(wanted), exact):
                return concept == wanted if exact else wanted in self.above(concept)
            case nodes.Union(parts):
                return any(self.selects(part, concept) for part in parts)
            case nodes.OtherThan(base, excluded):
                return self.selects(base, concept) and not self.selects(excluded, concept)
        raise UnknownNode(f"{type(node).__name__} in a concept expression")

    @functools.cached_property
    def denials(self) -> Denials:
        """What denials deny."""
        return Denials(self.above, self.concepts, self._is, self.satisfies)

    # --- events -----------------------------------------------------------------------------------------------------

    def of_kind(self, node: nodes.Events, view: View, world: World) -> list[Seen]:
        """The events of the atom's kind and concept that are seen in the world, whatever else they are; of denials,
        those of a concept whose denial denies it."""
        if node.context == "absent":
            return [seen for seen in view.seen if seen.shown >= world and self.denials.may_deny(node, seen.event)]
        return [
            seen
            for seen in view.seen
            if seen.shown >= world
            and node.kind in (None, seen.event.kind)
            and (node.concept is None or self.selects(node.concept, seen.event.concept))
        ]

    def witnesses(self, node: nodes.Events, view: View, world: World) -> list[tuple[Seen, ...]]:
        """What shows that the set is not empty in the world: one event each, or all that may be the pick."""
        if node.pick == _ANY:
            return [(seen,) for seen in self.members(node, view, world) if self._fits(node, seen.event)]
        satisfying = frozenset(
            seen.event_id for seen in self.of_kind(node, view, World.POSSIBLE) if self._fits(node, seen.event)
        )
        members = {one: self.members(node, view, one) for one in (World.CERTAIN, World.BELIEVED, World.POSSIBLE)}
        return picked(node, world, members, satisfying, self.scales)

    def _fits(self, node: nodes.Events, event: Event) -> bool:
        """Whether the event is as the condition says; of a denial that was seen to before."""
        return node.context == "absent" or self.satisfies(node.condition, event)

    def members(self, node: nodes.Events, view: View, world: World) -> list[Seen]:
        """Those that the context and the window leave, before pick and condition, with the days inside the window."""
        return [
            self._inside(node, seen, world)
            for seen in self.of_kind(node, view, world)
            if self.first_failing(node, seen, view, world) is None
        ]

    def _inside(self, node: nodes.Events, seen: Seen, world: World) -> Seen:
        if node.moment == "end":
            seen = seen.at_end()
        if node.window is None or world is World.BELIEVED:
            return seen
        return replace(seen, low=max(seen.low, node.window.low), high=min(seen.high, node.window.high))

    def rejected(self, node: nodes.Events, view: View, world: World) -> Iterator[tuple[str, str]]:
        """Each event of the kind and concept that is no witness, with the first check that it fails."""
        loose = node if node.context == "absent" else replace(node, condition=None)
        picks = {seen.event_id for one in self.witnesses(loose, view, world) for seen in one}
        found = {seen.event_id for one in self.witnesses(node, view, world) for seen in one}
        for seen in self.of_kind(node, view, world):
            if seen.event_id in found:
                continue
            failing = self.first_failing(node, seen, view, world)
            if failing is None and seen.event_id not in picks:
                failing = "pick"
            if failing is None:
                failing = "beside" if self.satisfies(node.condition, seen.event) else "condition"
            yield seen.event_id, failing

    def first_failing(self, node: nodes.Events, seen: Seen, view: View, world: World) -> str | None:
        """Of the checks before pick and condition, the first that the event fails."""
        event = seen.event
        record = view.record
        if not in_context(node.context, event, world):
            return "world" if node.context in _OF_WORLDS and event.world < world else "context"
        if node.source and not any(node.source in classes for classes in _note_classes(event, record)):
            return "source"
        if node.undisputed and seen.event_id in record.disputed:
            return "dispute"
        if event.sources < node.sources:
            return "sources"
        if node.known and (node.known == "derived") is not (event.attributes.get("rule", "") != ""):
            return "known"
        if node.moment == "end" and world is not World.POSSIBLE and goes_on(event):
            return "end"
        days = last_days(event) if node.moment == "end" else event.day
        if node.window is not None and not in_window(node.window, days, world):
            return "window"
        if node.lasting is not None and not is_so_long(node.lasting, self._inside(node, seen, world), world):
            return "lasting"
        if node.context == "absent" and not self.denials.leaves_nothing_out(node, event):
            return "denial"
        return None

    # --- conditions -------------------------------------------------------------------------------------------------

    def satisfies(self, node: nodes.Condition | None, event: Event) -> bool:
        """Whether the event's attributes are as a condition says."""
        match node:
            case None:
                return True
            case nodes.AllOf(parts):
                return all(self.satisfies(part, event) for part in parts)
            case nodes.AnyOf(parts):
                return any(self.satisfies(part, event) for part in parts)
            case nodes.NotThat(part):
                return not self.satisfies(part, event)
            case nodes.Documented(attribute):
                return event.attributes.get(attribute, "") != ""
            case nodes.Compare(attribute, operator, bound):
                value = event.attributes.get(attribute, "")
                return value != "" and self.scales.compare(attribute, value, operator, bound)
            case nodes.Between(attribute, low, high):
                value = event.attributes.get(attribute, "")
                return value != "" and self.scales.between(attribute, value, low, high)
            case nodes.Is(attribute, values, exact):
                value = event.attributes.get(attribute, "")
                told = values_of(attribute, value)
                return value != "" and any(self._is(attribute, one, wanted, exact) for one in told for wanted in values)
        raise UnknownNode(f"{type(node).__name__} in a condition")

    def _is(self, attribute: str, value: Value, wanted: nodes.Term, exact: bool) -> bool:
        if isinstance(wanted, nodes.Concept):
            return value == wanted.id if exact else isinstance(value, str) and wanted.id in self.above(value)
        text = value if isinstance(value, str) else f"{value:g}"
        if isinstance(value, str) and text.casefold() == wanted.text.casefold():
            return True
        if as_number(value) is not None and as_number(value) == as_number(wanted.text):
            return True
        if not exact:
            return self.scales.compare(attribute, value, "=", wanted.text)
        ranked = self.scales.canonical(attribute, text)
        return ranked is not None and ranked == self.scales.canonical(attribute, wanted.text)


def in_context(context: str, event: Event, world: World) -> bool:
    """Whether an event is so: as a fact, in the world; by the context that is asked for, as it is recorded."""
    recorded = event.context
    if context in _OF_WORLDS:
        return event.world >= world and context in ("present", str(recorded.temporality))
    if context == "any":
        return True
    if context == "family":
        factual = recorded.polarity is Polarity.PRESENT and recorded.temporality in _HAPPENED
        return recorded.experiencer is Experiencer.FAMILY and factual
    if recorded.experiencer is not Experiencer.PATIENT:
        return False
    if context == "declined":
        return recorded.reason == "declined"
    if context in ("absent", "uncertain", "planned", "hypothetical"):
        return recorded.assertion == context
    raise UnknownNode(f"the context {context!r}")


def _note_classes(event: Event, record: Record) -> Iterator[frozenset[str]]:
    """Of each mention that the event cites, the classes of note that its place is of."""
    for mention_id in event.evidence:
        mention = record.mentions.get(mention_id)
        stored = None if mention is None else record.notes.get(mention.note_id)
        if mention is not None and stored is not None and stored.status == "current":
            yield evidence_classes(stored.note.type, stored.note.title, mention.section)


def is_so_long(lasting: nodes.Lasting, seen: Seen, world: World) -> bool:
    """Whether it lasted so many days. Certain: on all days of its beginning and its end; possible: on some."""
    event = seen.event
    if goes_on(event) and world is not World.POSSIBLE:
        return False
    begins, ends = event.day, last_days(event)
    if world is World.BELIEVED:
        fewest = most = (ends.low + ends.high) // 2 - (begins.low + begins.high) // 2
    elif seen.ended:
        fewest, most = seen.low - begins.high, seen.high - begins.low
    else:
        fewest, most = ends.low - seen.high, ends.high - seen.low
    if event.end is None and not goes_on(event):
        fewest = most = 0
    # A length is never below 0.
    fewest, most = max(fewest, 0), max(most, 0)
    if world is World.POSSIBLE:
        return most >= lasting.minimum and (lasting.maximum is None or fewest <= lasting.maximum)
    return fewest >= lasting.minimum and (lasting.maximum is None or most <= lasting.maximum)


def in_window(window: nodes.Window, day: DayInterval, world: World) -> bool:
    """Certain: all of the days; believed: the middle one; possible: one of them."""
    low, high = day.low, day.high
    if world is World.BELIEVED:
        low = high = (low + high) // 2
    if world is World.POSSIBLE:
        return max(low, window.low) <= min(high, window.high)
    return window.low <= low and high <= window.high
