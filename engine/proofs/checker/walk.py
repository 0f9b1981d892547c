"""The walk of a proof along its query: each step must be what the node says, of the events as the tables have them.

A node is added by one function in :data:`STEPS`; what none knows is a fault, never passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from ....kb import deadline
from ....kb.kinds import KIND_TABLE
from ....kb.model import DayInterval, World
from ....query_lang import nodes
from ....query_lang.boolean_form import boolean_form
from ....query_lang.render import render_expression
from .denials import asked_for
from .evidence import dated
from .faults import Findings, items, mapping
from .sets import Sets, UnknownNode
from .together import Together
from .views import NEGATED, Seen, View

Proof = dict[str, Any]
Witness = tuple[Seen, ...]
#: Checks what a proof tells of one node.
Step = Callable[["Walk", Any, Proof, View, World, bool], None]


@dataclass(frozen=True, slots=True)
class Walk:
    """One walk along a query. ``edges`` are the is-a edges of the tables by id; ``relied`` gathers the events that the
    proof shows as what makes a criterion hold, ``named`` all that it names, ``notes`` those that it names without a
    mention; ``steps`` are the functions by node."""

    sets: Sets
    edges: Mapping[str, tuple[str, str]]
    findings: Findings
    definitions: tuple[nodes.Definition, ...]
    steps: Mapping[type[Any], Step]
    relied: set[str]
    named: set[str]
    notes: set[str]

    def step(self, node: nodes.PatientExpression, stated: Any, view: View, world: World, holds: bool) -> None:
        """One node of the query and what the proof tells of it."""
        deadline.check()
        if node.expansion is not None and self._is_told_by_expansion(node):
            self.step(node.expansion, stated, view, world, holds)
            return
        proof = mapping(stated)
        name = node_name(node)
        part = proof.get("part")
        with self.findings.at(f"{name} {part + 1}" if isinstance(part, int) else name):
            self._head(node, proof, world, holds)
            walk = self.steps.get(type(node))
            if walk is None:
                self.findings.fault("query", f"the verifier knows no {name}")
                return
            try:
                walk(self, node, proof, view, world, holds)
            except UnknownNode as error:
                self.findings.fault("query", f"the verifier does not know {error}")

    def whole_of(self, node: nodes.PatientExpression, stated: Any, view: View, world: World, holds: bool) -> None:
        """A whole query, or the body of a scope: a fact that occurs twice in it is one fact.

        That it is certain, or impossible, can be told part by part, or of all together. That it is possible, or not
        certain, is told part by part, and of all together where something may occur twice.
        """
        while node.expansion is not None and self._is_told_by_expansion(node):
            node = node.expansion
        proof = mapping(stated)
        told = "together" in proof
        settled = holds == (world is World.CERTAIN)
        if world is World.BELIEVED or not (settled and told):
            self.step(node, stated, view, world, holds)
        else:
            self._head(node, proof, world, holds)
        if world is World.BELIEVED:
            self.findings.require(not told, "query", "in the believed world nothing is open")
        elif told or not settled:
            with self.findings.at("together"):
                try:
                    Together(self, boolean_form(node, self.definitions), view).check(proof, holds, settled)
                except (UnknownNode, nodes.QueryTreeError) as error:
                    self.findings.fault("query", f"the verifier does not know {error}")

    def _is_told_by_expansion(self, node: nodes.PatientExpression) -> bool:
        """Whether no step is known for a node that has an expansion, or it is several facts, each told by itself."""
        return type(node) not in self.steps or isinstance(node, nodes.Exists)

    def _head(self, node: nodes.PatientExpression, proof: Proof, world: World, holds: bool) -> None:
        expected = {"node": node_name(node), "text": render_expression(node), "world": world.name.lower()}
        for field, value in {**expected, "holds": holds}.items():
            if proof.get(field) != value or type(proof.get(field)) is not type(value):
                check = "world" if field == "world" else "query"
                self.findings.fault(check, f"the query asks otherwise here: {field}")

    def parts(self, proof: Proof) -> list[Proof]:
        """The parts that a proof tells of."""
        return [mapping(part) for part in items(proof.get("parts"))]

    def only_part(self, proof: Proof) -> Proof:
        """The one part that there must be."""
        parts = self.parts(proof)
        self.findings.require(len(parts) == 1, "query", f"it tells of {len(parts)} parts, and needs one")
        return parts[0] if parts else {}

    # --- event sets -------------------------------------------------------------------------------------------------

    def set_of(self, proof: Proof, at: int, world: World) -> Proof:
        """What the proof tells of the ``at``-th event set."""
        stated = items(proof.get("sets"))
        found = mapping(stated[at]) if at < len(stated) else {}
        self.findings.require(found, "query", "it tells nothing of one of its event sets")
        self.findings.require(
            found.get("world") == world.name.lower(), "world", "an event set is told of another world"
        )
        return found

    def chosen(self, node: nodes.Events, stated: Proof, view: View, world: World) -> Witness:
        """The witness that a proof chooses: one that the set has, with its days, ways up and, of a pick, the others."""
        entries = [mapping(entry) for entry in items(stated.get("chosen"))]
        ids = [str(entry.get("event")) for entry in entries]
        self.relied.update(ids)
        self.named.update(ids)
        witnesses = self.sets.witnesses(node, view, world)
        if node.pick.how != "any" and world is not World.CERTAIN:
            # One of what is picked is a witness; a proof may show all of it.
            witnesses = [*witnesses, tuple(seen for one in witnesses for seen in one)]
        fitting = [one for one in witnesses if {seen.event_id for seen in one} == set(ids)]
        if not fitting or not ids or len(set(ids)) != len(ids):
            self._report_failing(node, ids, view, world)
            return ()
        found = {seen.event_id: seen for seen in fitting[0]}
        for entry in entries:
            seen = found[str(entry.get("event"))]
            self._days(entry, seen)
            self._ways_up(node, entry, seen)
        if node.pick.how != "any":
            self._others(node, stated, set(ids), view, world)
        return tuple(found[one] for one in ids)

    def _report_failing(self, node: nodes.Events, ids: Sequence[str], view: View, world: World) -> None:
        failing = dict(self.sets.rejected(node, view, world))
        for one in ids:
            if one in failing:
                check = {"world": "world", "window": "day", "pick": "pick"}.get(failing[one], "event")
                self.findings.fault(check, f"event {one} does not qualify: it fails the check of its {failing[one]}")
            elif one not in {seen.event_id for seen in self.sets.of_kind(node, view, world)}:
                self.findings.fault("event", f"event {one} is none of the kind and concept that are seen here")
        self.findings.fault("event", "the chosen events are no witness of the set")

    def _days(self, entry: Proof, seen: Seen) -> None:
        stated = entry.get("days")
        self.findings.require(stated == dated(DayInterval(seen.low, seen.high)), "day", "the days looked at are others")

    def _ways_up(self, node: nodes.Events, entry: Proof, seen: Seen) -> None:
        if node.context == "absent":
            self._ways_to_denial(node, entry, seen)
            return
        self.findings.require("denied" not in entry, "query", "it is told as a denial, and none is asked for")
        if node.concept is not None:
            self._way_up(entry.get("path"), seen.event.concept, named_in(node.concept))
        stated = [mapping(one) for one in items(entry.get("value_paths"))]
        expected: list[tuple[str, str, set[str]]] = []
        for condition in conditions_in(node.condition):
            wanted = {term.id for term in condition.values if isinstance(term, nodes.Concept)}
            value = seen.event.attributes.get(condition.attribute)
            if isinstance(value, str) and wanted & self.sets.above(value):
                expected.append((condition.attribute, value, wanted))
        attributes = [attribute for attribute, _, _ in expected]
        self.findings.require(
            [one.get("attribute") for one in stated] == attributes, "edge", "the ways up of its values are others"
        )
        for one, (_, value, wanted) in zip(stated, expected, strict=False):
            self._way_up(one.get("path"), value, wanted)

    def _ways_to_denial(self, node: nodes.Events, entry: Proof, seen: Seen) -> None:
        """From each concept that is asked for a way up to what is denied: never down, to a denial of less."""
        event = seen.event
        of_all = node.kind is not None and (event.kind, event.concept) in KIND_TABLE[node.kind].denial.whole
        stated = [mapping(one) for one in items(entry.get("denied"))]
        wanted = sorted(asked_for(node.concept))
        self.findings.require(
            [one.get("concept") for one in stated] == wanted and not {"path", "value_paths"} & entry.keys(),
            "query",
            "what is denied is told otherwise",
        )
        for one, concept in zip(stated, wanted, strict=False):
            if not (of_all and one.get("path") == []):
                self._way_up(one.get("path"), concept, {event.concept})

    def _way_up(self, stated: Any, concept: str, wanted: set[str]) -> None:
        """Each edge of a way is there and begins where the one before ended; the last ends at what is asked for."""
        at = concept
        for edge in items(stated):
            child, parent = self.edges.get(str(edge), ("", ""))
            if not self.findings.require(child == at and parent, "edge", f"no edge {edge} leads up from {at!r}"):
                return
            at = parent
        self.findings.require(
            isinstance(stated, list) and at in wanted,
            "edge",
            f"the way up from {concept!r} does not end at what is asked for",
        )

    def _others(self, node: nodes.Events, stated: Proof, chosen: set[str], view: View, world: World) -> None:
        """Of a pick, all others among which it was chosen are told."""
        among = World.BELIEVED if world is World.BELIEVED else World.POSSIBLE
        expected = {
            seen.event_id: dated(DayInterval(seen.low, seen.high))
            for seen in self.sets.members(node, view, among)
            if seen.event_id not in chosen
        }
        entries = [mapping(entry) for entry in items(stated.get("others"))]
        self.named.update(str(entry.get("event")) for entry in entries)
        found = {str(entry.get("event")): entry.get("days") for entry in entries}
        self.findings.require(
            found == expected and len(found) == len(entries), "pick", "the others that it was chosen among are others"
        )

    def whole(self, node: nodes.Events, stated: Proof, view: View, world: World) -> list[Witness]:
        """All witnesses of a set; the proof must tell them, and of all other events of the kind the failing check."""
        witnesses = self.sets.witnesses(node, view, world)
        entries = [[mapping(entry) for entry in items(one)] for one in items(stated.get("witnesses"))]
        claimed = [{str(entry.get("event")): entry.get("days") for entry in one} for one in entries]
        expected = [{seen.event_id: dated(DayInterval(seen.low, seen.high)) for seen in one} for one in witnesses]
        rejected = [mapping(entry) for entry in items(stated.get("rejected"))]
        self.named.update(one for entry in claimed for one in entry)
        self.named.update(str(entry.get("event")) for entry in rejected)
        self.findings.require(
            sorted(map(sorted, claimed)) == sorted(map(sorted, expected)) and all(one in expected for one in claimed),
            "event",
            "the events that qualify are others",
        )
        seen_ones = {seen.event_id: seen for one in witnesses for seen in one}
        for entry in (entry for one in entries for entry in one):
            if str(entry.get("event")) in seen_ones:
                self._ways_up(node, entry, seen_ones[str(entry.get("event"))])
        right = dict(self.sets.rejected(node, view, world))
        found = {str(entry.get("event")): entry.get("fails") for entry in rejected}
        for one in sorted({*right, *found}):
            if one not in found:
                self.findings.fault("event", f"event {one} is of the kind and concept, and not told of")
            elif one not in right:
                self.findings.fault("event", f"event {one} is none that could be listed here")
            elif found[one] != right[one]:
                self.findings.fault("event", f"event {one} does not fail the check of its {found[one]}")
        self.findings.require(len(found) == len(rejected), "event", "an event is listed twice")
        return witnesses


def node_name(node: nodes.PatientExpression) -> str:
    """``SameTumor`` as a proof writes it: ``same_tumor``."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in type(node).__name__).lstrip("_")


def named_in(node: nodes.ConceptExpression) -> set[str]:
    """The concepts that an expression asks for by name, without those that it takes away."""
    match node:
        case nodes.Under(nodes.Concept(concept)):
            return {concept}
        case nodes.Union(parts):
            return {concept for part in parts for concept in named_in(part)}
        case nodes.OtherThan(base, _):
            return named_in(base)
    raise UnknownNode(f"{type(node).__name__} in a concept expression")


def conditions_in(node: nodes.Condition | None) -> list[nodes.Is]:
    """The conditions on values that an event must or may satisfy."""
    match node:
        case nodes.Is():
            return [node]
        case nodes.AllOf(parts) | nodes.AnyOf(parts):
            return [one for part in parts for one in conditions_in(part)]
    return []


# --- one function a node ----------------------------------------------------------------------------------------------


def _exists(walk: Walk, node: nodes.Exists, proof: Proof, view: View, world: World, holds: bool) -> None:
    stated = walk.set_of(proof, 0, world)
    if holds:
        walk.chosen(node.events, stated, view, world)
    else:
        walk.findings.require(not walk.whole(node.events, stated, view, world), "event", "an event qualifies")


def _all_of(walk: Walk, node: nodes.And, proof: Proof, view: View, world: World, holds: bool) -> None:
    _enough(walk, node.parts, len(node.parts), proof, view, world, holds)


def _any_of(walk: Walk, node: nodes.Or, proof: Proof, view: View, world: World, holds: bool) -> None:
    _enough(walk, node.parts, 1, proof, view, world, holds)


def _at_least(walk: Walk, node: nodes.AtLeast, proof: Proof, view: View, world: World, holds: bool) -> None:
    walk.findings.require(proof.get("n") == node.n, "query", "it counts to another number")
    _enough(walk, node.parts, node.n, proof, view, world, holds)


# What every step of a walk is given, with the parts and how many of them it takes.
def _enough(
    walk: Walk,
    criteria: tuple[nodes.PatientExpression, ...],
    n: int,
    proof: Proof,
    view: View,
    world: World,
    holds: bool,
) -> None:
    stated = {part.get("part"): part for part in walk.parts(proof)}
    known = {at: part for at, part in stated.items() if isinstance(at, int) and 0 <= at < len(criteria)}
    enough = n if holds else len(criteria) - n + 1
    walk.findings.require(
        len(known) == len(stated) == len(walk.parts(proof)) and len(known) >= enough,
        "query",
        f"it needs {enough} of its parts and tells of {len(known)}",
    )
    for at, part in known.items():
        walk.step(criteria[at], part, view, world, holds)


def _not(walk: Walk, node: nodes.Not, proof: Proof, view: View, world: World, holds: bool) -> None:
    walk.step(node.part, walk.only_part(proof), view, NEGATED[world], not holds)


def _except(walk: Walk, node: nodes.Except, proof: Proof, view: View, world: World, holds: bool) -> None:
    stated = {part.get("part"): part for part in walk.parts(proof)}
    enough = set(stated) == {0, 1} if holds else len(stated) == 1 and set(stated) <= {0, 1}
    walk.findings.require(enough, "query", "it does not tell of the sides that it needs")
    if 0 in stated:
        walk.step(node.left, stated[0], view, world, holds)
    if 1 in stated:
        walk.step(node.right, stated[1], view, NEGATED[world], not holds)


def _same_tumor(walk: Walk, node: nodes.SameTumor, proof: Proof, view: View, world: World, holds: bool) -> None:
    tumors = {tumor for tumor, highest in view.record.tumors.items() if highest >= world}
    _scoped(walk, node.body, "tumor", tumors, View.of_tumor, proof, view, world, holds, node.least)


def _same_event(walk: Walk, node: nodes.SameEvent, proof: Proof, view: View, world: World, holds: bool) -> None:
    events = {seen.event_id for seen in view.seen if seen.shown >= world}
    walk.named.update(str(part.get("event")) for part in walk.parts(proof))
    _scoped(walk, node.body, "event", events, View.of_event, proof, view, world, holds)


# What every step of a walk is given, with the scope: its name, those that there are, the view of one, and how many.
def _scoped(
    walk: Walk,
    body: nodes.PatientExpression,
    name: str,
    scopes: set[str],
    narrowed: Callable[[View, str], View],
    proof: Proof,
    view: View,
    world: World,
    holds: bool,
    least: int = 1,
) -> None:
    """As many scopes as are asked for, in which the body holds; or so many in which it fails that too few are left."""
    parts = {str(part.get(name)): part for part in walk.parts(proof)}
    wanted = least if holds else max(0, len(scopes) - least + 1)
    enough = len(parts) == wanted and set(parts) <= scopes
    check = "tumor" if name == "tumor" else "event"
    walk.findings.require(
        enough and len(parts) == len(walk.parts(proof)), check, f"it is not told of the right {name}s"
    )
    for scope, part in parts.items():
        with walk.findings.at(f"{name} {scope}"):
            walk.whole_of(body, part, narrowed(view, scope), world, holds)


def _defined(walk: Walk, node: nodes.Defined, proof: Proof, view: View, world: World, holds: bool) -> None:
    walk.findings.require(proof.get("name") == node.name, "query", "it is another definition")
    for at, definition in enumerate(walk.definitions):
        if definition.name == node.name:
            inner = replace(walk, definitions=walk.definitions[:at])
            inner.step(definition.body, walk.only_part(proof), view, world, holds)
            return
    walk.findings.fault("query", "no definition before this place has its name")


#: The steps for patients and scopes; those of :mod:`.leaves` stand beside them.
STEPS: Final[Mapping[type[Any], Step]] = {
    nodes.Exists: _exists,
    nodes.And: _all_of,
    nodes.Or: _any_of,
    nodes.AtLeast: _at_least,
    nodes.Not: _not,
    nodes.Except: _except,
    nodes.SameTumor: _same_tumor,
    nodes.SameEvent: _same_event,
    nodes.Defined: _defined,
}
