"""The strength of the evidence by which one patient is in a cohort: the weakest of what the query needs of them.

Of an event it is the product of three parts, each from 0 to 1: how many independent notes tell of it (copied text
counts once), the confidence of its reading, and whether its own name stands in a note or it was concluded from
another. Of an absence it is what kind of absence it is. *and* takes the weakest of its parts, *or* the strongest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ...kb.deadline import check
from ...kb.model import Event, World
from ...query_lang import nodes
from ...query_lang.tree import decided_by, event_sets, walk
from ..reference.meaning import Meaning
from ..reference.views import OPPOSITE, Seen, View
from .query_text import ROOT, Path

#: Of an event that no mention names: a drug from its regimen, for example.
CONCLUDED: Final = 0.5
#: Of a fact that is not there: notes that would tell of it are silent, or there is no such note.
SILENT: Final = 0.25
UNOBSERVABLE: Final = 0.1
#: Of a list of patients, which needs no evidence.
LISTED: Final = 1.0


@dataclass(frozen=True, slots=True)
class Strength:
    """How strong it is, from 0 to 1, and what it rests on: the criterion at ``path``, and the event, or the kind of
    absence. ``event`` is None for an absence."""

    value: float
    path: Path
    says: str
    event: Event | None = None


class Strengths:
    """The strengths of the criteria of one query for one patient."""

    def __init__(self, query: nodes.Query, view: View, meaning: Meaning) -> None:
        """``view`` is the whole record; the ``meaning`` knows the query's definitions."""
        self._body = query.body
        self._bodies = {definition.name: definition.body for definition in query.definitions}
        self._view = view
        self._meaning = meaning
        self._known: dict[tuple[str, int, World, bool], Strength | None] = {}
        self._concepts_of = {mention.mention_id: mention.concept for mention in view.journey.mentions}

    def of_query(self, world: World) -> Strength:
        """By the strongest way in which the query holds of the patient in ``world``, where it does."""
        found = self._strength(self._body, ROOT, self._view, world, True)
        if found is None:
            # Certain by nothing in particular: however it is, one part or another holds. As it is believed, some do.
            found = self._strength(self._body, ROOT, self._view, World.BELIEVED, True)
        assert found is not None  # it is asked of members alone
        return found

    def of_event(self, event: Event) -> float:
        """The product of the three parts."""
        return self._sources(event) * event.confidence * self._directness(event)

    def _sources(self, event: Event) -> float:
        return float(1 - 0.5 ** max(0, event.sources))

    def _directness(self, event: Event) -> float:
        named = not event.evidence or any(self._concepts_of.get(one) == event.concept for one in event.evidence)
        return 1.0 if named else CONCLUDED

    def _basis(self, event: Event) -> str:
        notes = "1 independent note" if event.sources == 1 else f"{event.sources} independent notes"
        direct = "told by name" if self._directness(event) == 1.0 else "concluded from another fact"
        return f"{notes}, confidence {event.confidence:g}, {direct}"

    # --- criteria -----------------------------------------------------------------------------------------------------

    def _strength(
        self, node: nodes.PatientExpression, path: Path, view: View, world: World, wanted: bool
    ) -> Strength | None:
        """By what it holds (``wanted``) or fails to hold in the world; None when it does not."""
        check()
        match node:
            case nodes.And(parts) | nodes.Or(parts) | nodes.AtLeast(_, parts):
                found = [self._strength(part, (*path, at), view, world, wanted) for at, part in enumerate(parts)]
                needed = {nodes.And: len(parts), nodes.Or: 1}.get(type(node), getattr(node, "n", 1))
                return _weakest_needed(found, needed if wanted else len(parts) - needed + 1)
            case nodes.Not(part):
                return self._strength(part, (*path, 0), view, OPPOSITE[world], not wanted)
            case nodes.Except(left, right):
                sides = [
                    self._strength(left, (*path, 0), view, world, wanted),
                    self._strength(right, (*path, 1), view, OPPOSITE[world], not wanted),
                ]
                return _weakest_needed(sides, 2 if wanted else 1)
            case nodes.Defined(name):
                # Once of what a view shows: definitions of definitions double.
                key = name, view.shown, world, wanted
                if key not in self._known:
                    self._known[key] = self._strength(self._bodies[name], (name,), view, world, wanted)
                return self._known[key]
            case nodes.SameTumor(body, least):
                shown = [view.of_tumor(tumor) for tumor, highest in view.tumors.items() if highest >= world]
                return self._of_scope(body, path, shown, world, wanted, least)
            case nodes.SameEvent(body):
                single = [view.of_event(seen) for seen in view.events if seen.world >= world]
                return self._of_scope(body, path, single, world, wanted)
        if node.expansion is not None:
            # Its other words do not stand in the text: what decides is told of the whole.
            found_in = self._strength(node.expansion, path, view, world, wanted)
            return None if found_in is None else replace(found_in, path=path)
        if self._meaning.holds(node, view, world) is not wanted:
            return None
        return self._of_leaf(node, path, view, world, wanted)

    # What every strength is found by, with the views of the scope and how many of them it asks for.
    def _of_scope(
        self,
        body: nodes.PatientExpression,
        path: Path,
        shown: Sequence[View],
        world: World,
        wanted: bool,
        least: int = 1,
    ) -> Strength | None:
        found = [self._strength(body, (*path, 0), view, world, wanted) for view in shown]
        if len(shown) < least:
            few = "no tumor or event is on record" if least == 1 else f"fewer than {least} tumors are on record"
            return None if wanted else Strength(UNOBSERVABLE, path, few)
        return _weakest_needed(found, least if wanted else len(found) - least + 1)

    def _of_leaf(
        self, node: nodes.PatientExpression, path: Path, view: View, world: World, wanted: bool
    ) -> Strength | None:
        match node:
            case nodes.Among():
                return Strength(LISTED, path, "a list of patients")
            case nodes.Lacking(how, events):
                if wanted:
                    return self._of_absence(events, path, view, world, how)
                return self._of_facts((events,), path, view, world) or Strength(SILENT, path, "another kind of absence")
            case nodes.Clear(events):
                needed: tuple[nodes.Events, ...] = (events,)
            case nodes.AgeAt(events):
                needed = (nodes.Events("birth"), *(() if events is None else (events,)))
            case nodes.Ordered(left, _, right):
                needed = (left, right)
            case nodes.Sequence(steps):
                needed = steps
            case _:
                needed = event_sets(node)
        facts = self._of_facts(needed, path, view, world)
        if wanted:
            return facts
        # It fails for want of one of the facts, or although all are there, by what they are.
        absent = [
            self._of_absence(events, path, view, OPPOSITE[world])
            for events in needed
            if not self._meaning.witnesses(events, view, world)
        ]
        return max(absent, key=lambda one: one.value) if absent else facts

    def _of_facts(self, sets: Iterable[nodes.Events], path: Path, view: View, world: World) -> Strength | None:
        """The weakest of the facts, each by its strongest event; birth is of the whole record."""
        found: list[Strength | None] = []
        for events in sets:
            seen_in = self._view if events.kind == "birth" else view
            ways = [self._weakest(witness, path) for witness in self._meaning.witnesses(events, seen_in, world)]
            found.append(max(ways, key=lambda one: one.value, default=None))
        return _weakest_needed(found, len(found))

    def _weakest(self, witness: Iterable[Seen], path: Path) -> Strength:
        events = [seen.event for seen in witness]
        weakest = min(events, key=self.of_event)
        return Strength(self.of_event(weakest), path, self._basis(weakest), weakest)

    # --- absence ------------------------------------------------------------------------------------------------------

    def _of_absence(self, events: nodes.Events, path: Path, view: View, world: World, how: str = "") -> Strength:
        """As strong as what denies the fact, or tells another value; weaker where notes are silent; weakest where there
        is none that would tell."""
        plain = nodes.Events(events.kind, events.concept, events.condition, window=events.window)
        if not how:
            how = next(
                (one for one in nodes.ABSENCES if self._meaning.holds(nodes.Lacking(one, plain), view, World.BELIEVED)),
                "denied",
            )
        if how == "unobservable":
            return Strength(UNOBSERVABLE, path, "absent: no note would tell of it")
        if how == "silent":
            return Strength(SILENT, path, "absent: the notes that would tell of it are silent")
        telling = [*self._telling(plain, view)]
        if not telling:
            return Strength(SILENT, path, "absent: what is there does not qualify")
        strongest = max(telling, key=self.of_event)
        value = max(SILENT, self.of_event(strongest))
        return Strength(value, path, f"absent: denied, or told otherwise ({self._basis(strongest)})", strongest)

    def _telling(self, events: nodes.Events, view: View) -> Iterable[Event]:
        """The events that deny it, or a part of it that is asked for by itself, and those that are otherwise."""
        otherwise = nodes.Exists(nodes.Events(events.kind, events.concept, window=events.window))
        roots: tuple[nodes.PatientExpression, ...] = (nodes.Exists(replace(events, context="absent")), otherwise)
        for root in roots:
            for node in walk(root, decided_by):
                if isinstance(node, nodes.Exists):
                    for witness in self._meaning.witnesses(node.events, view, World.BELIEVED):
                        yield from (seen.event for seen in witness)


def _weakest_needed(found: Sequence[Strength | None], needed: int) -> Strength | None:
    """Of the strongest so many the weakest; of equals the first in the text. None when there are not so many."""
    ranked = sorted((one for one in found if one is not None), key=lambda one: -one.value)
    if len(ranked) < needed or not needed:
        return None
    value = ranked[needed - 1].value
    return next(one for one in ranked if one.value == value)
