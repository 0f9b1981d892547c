"""Proofs: why a patient is in a cohort, as plain data from the query's nodes over events and mentions to characters.

A proof says of each criterion that it holds, or that it fails, in one world, and by what. It decides nothing: the
reference engine, which defines every node, is asked what holds, and this module writes down what that rests on. What
fails is shown event by event. ``docs/reference/proofs.md`` tells the form; ``engine/proofs/checker`` checks it without
this package.

A node is added by one function in :data:`ARGUMENTS`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from ...kb.deadline import check
from ...kb.errors import CohortiumError
from ...kb.model import Event, Journey, Polarity, World
from ...kb.ontology.concepts import ConceptTable
from ...kb.ontology.scales import Scales
from ...query_lang import nodes
from ...query_lang.boolean_form import Leaf, Part, Scope
from ...query_lang.errors import QueryError
from ...query_lang.render import render_expression
from ...query_lang.tree import named_concepts
from ..reference.meaning import Meaning
from ..reference.open_facts import MOST_WAYS, Bounds, OpenFacts, form_of, truths
from ..reference.time import admits, is_known_so, lies_in
from ..reference.views import OPPOSITE, Seen, View
from .records import Record, Records, days_of

FORMAT: Final = 1
#: A proof of more steps is not written: the longest text has fewer criteria, and more come of definitions of
#: definitions, which a proof writes out.
MOST_STEPS: Final = 20_000

#: In which order an event of the right kind and concept is held against an atom: name of the check, and the fields of
#: the atom that it looks at. The first that an event does not pass is named as the one that fails.
CHECKS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("context", ("context",)),
    ("source", ("source",)),
    ("dispute", ("undisputed",)),
    ("sources", ("sources",)),
    ("known", ("known",)),
    ("end", ("moment",)),
    ("window", ("window",)),
    ("lasting", ("lasting",)),
    ("pick", ("pick",)),
    ("condition", ("condition",)),
)
#: The same of a denial, which is held against what it must deny: "denial" looks at concept and condition together.
_CHECKS_OF_DENIALS: Final = ("context", "source", "dispute", "sources", "known", "window", "denial", "pick")
#: What each of these fields is when it asks for nothing.
_OPEN: Final[Mapping[str, Any]] = {
    "context": "any",
    "source": "",
    "undisputed": False,
    "sources": 1,
    "known": "",
    "moment": "begin",
    "window": None,
    "lasting": None,
    "pick": nodes.Pick(),
    "condition": None,
}
_OF_WORLDS: Final = frozenset({"present", "current", "historical"})


class NoProof(CohortiumError):
    """A member of a cohort of whom no proof can be given: a defect of the program (exit 5)."""

    exit_code = 5


# What a proof is of and under: each is named where it is called, and none belongs to another.
def proof_of(
    query: nodes.Query,
    journey: Journey,
    concepts: ConceptTable,
    scales: Scales,
    world: World,
    *,
    resolved: str,
    generation: str,
) -> Record:
    """The proof that the patient of ``journey`` is in the answer to ``query`` in ``world``, as JSON-able data.

    ``resolved`` is the query's text, ``generation`` the state of the knowledge base. NoProof if the definition of the
    nodes does not admit the patient; QueryError, naming the definition, if it would have more than MOST_STEPS.
    """
    meaning = Meaning(concepts, scales, query.definitions)
    view = View.from_journey(journey)
    if not meaning.holds(query.body, view, world):
        raise NoProof(f"no proof: by the definition of its nodes the query does not hold of {journey.patient_id!r}")
    prover = Prover(meaning, Records(journey, concepts), [])
    criterion = prover.whole_of(query.body, view, world, True)
    return {
        "format": FORMAT,
        "patient": journey.patient_id,
        "query": resolved,
        "world": world.name.lower(),
        "generation": generation,
        "criterion": criterion,
        **prover.records.as_dict(prover.used),
    }


@dataclass(frozen=True, slots=True)
class Prover:
    """Writes the parts of one proof. ``used`` gathers the ids of the edges that it walks."""

    meaning: Meaning
    records: Records
    used: list[str]
    #: The steps so far, and the definition that the next ones are in.
    steps: Iterator[int] = field(default_factory=itertools.count)
    inside: str = ""

    def argued(self, node: nodes.PatientExpression, view: View, world: World, holds: bool) -> Record:
        """That ``node`` holds (or fails) of what ``view`` shows in ``world``, which is so."""
        check()
        if next(self.steps) > MOST_STEPS:
            where = f", in the definition '{self.inside[:60]}'" if self.inside else ""
            raise QueryError(
                f"the proof would have more than {MOST_STEPS:,} steps{where}",
                hint="a proof writes definitions out: use each once, or prove the parts",
            )
        argue = ARGUMENTS.get(type(node))
        if _is_told_by_expansion(node):
            assert node.expansion is not None  # that is what it is told by
            return self.argued(node.expansion, view, world, holds)
        if argue is None:
            raise NoProof(f"no proof: {type(node).__name__} cannot be proved yet")
        return {
            **self._head(node, world, holds),
            **argue(self, node, view, world, holds),
        }

    def whole_of(self, node: nodes.PatientExpression, view: View, world: World, holds: bool) -> Record:
        """As :meth:`argued`, of a whole query or body of a scope: a fact that occurs twice in it is one fact."""
        while _is_told_by_expansion(node):
            assert node.expansion is not None  # that is what it is told by
            node = node.expansion
        by_parts = self.meaning.bounded(node, view, world) == holds
        found = self.argued(node, view, world, holds) if by_parts else self._head(node, world, holds)
        settled = holds == (world is World.CERTAIN)
        if world is World.BELIEVED or (by_parts and settled):
            return found
        together = self._together(node, view, holds, settled)
        return found if together is None else {**found, "together": together}

    def _head(self, node: nodes.PatientExpression, world: World, holds: bool) -> Record:
        return {
            "node": _node_name(node),
            "text": render_expression(node),
            "world": world.name.lower(),
            "holds": holds,
        }

    def _together(self, node: nodes.PatientExpression, view: View, holds: bool, settled: bool) -> Record | None:
        """What occurs twice in a criterion, and in which ways it can be; None where nothing does. Unless it is settled
        by all of them, also a case in which it may hold (or fail)."""
        form = form_of(node, self.meaning.definitions)
        facts = OpenFacts(self.meaning, form)
        if not facts.may_repeat(view):
            return None
        known = facts.of_leaves(view, form.root)
        shared = facts.shared(view, form.root, known)
        place = {number: at for at, number in enumerate(known)}
        events = {seen.position: seen.event for seen in view.events}
        found: Record = {
            "criteria": [self._criterion(form.parts[number], one, view) for number, one in known.items()],
            "facts": [
                {
                    "event": self.records.event(events[position]),
                    "ways": sorted(sorted(place[number] for number in way) for way in family),
                }
                for position, family in sorted(shared.events.items())
            ],
            "ways": shared.number_of_ways,
        }
        if not settled and 1 < shared.number_of_ways <= MOST_WAYS:
            cases = [truth for truth in truths(shared) if _allows(facts.joined(form.root, {**known, **truth}), holds)]
            case = min(cases, key=lambda truth: [not one.certain for one in truth.values()])
            found["case"] = sorted(place[number] for number, one in case.items() if one.certain)
        return found

    def _criterion(self, part: Part, bounds: Bounds, view: View) -> Record:
        """A criterion by itself; one that is not of single facts with what shows its bounds."""
        assert isinstance(part, Leaf | Scope)  # what a form joins is one of these
        found: Record = {
            "text": render_expression(part.node),
            "is": "certain" if bounds.certain else "possible" if bounds.possible else "impossible",
        }
        if not isinstance(part, Leaf) or part.facts is None:
            found["parts"] = [
                self.argued(part.node, view, world, holds)
                for world, holds in ((World.CERTAIN, bounds.certain), (World.POSSIBLE, bounds.possible))
                # What is certain is possible, too, and what is impossible not certain.
                if (world is World.CERTAIN) == holds or bounds.certain != bounds.possible
            ]
        return found

    def part(self, at: int, node: nodes.PatientExpression, view: View, world: World, holds: bool) -> Record:
        """The ``at``-th part of a criterion."""
        return {"part": at, **self.argued(node, view, world, holds)}

    # --- event sets -------------------------------------------------------------------------------------------------

    def chosen(self, node: nodes.Events, view: View, world: World, witness: tuple[Seen, ...]) -> Record:
        """One witness of a set that is not empty; of a pick also the others that it was chosen among."""
        found: Record = {"world": world.name.lower(), "chosen": [self._entry(node, seen) for seen in witness]}
        if node.pick.how != "any":
            chosen = {seen.position for seen in witness}
            # What may be a member at all: in the certain world a pick must stand against those too.
            among = World.BELIEVED if world is World.BELIEVED else World.POSSIBLE
            found["others"] = [
                self._dated(seen)
                for position, seen in sorted(self._to_choose_from(node, view, among).items())
                if position not in chosen
            ]
        return found

    def whole(self, node: nodes.Events, view: View, world: World) -> Record:
        """All of a set: its witnesses, and each other event of the kind and concept with the check that it fails."""
        return {
            "world": world.name.lower(),
            "witnesses": [
                [self._entry(node, seen) for seen in one] for one in self.meaning.witnesses(node, view, world)
            ],
            "rejected": self._rejected(node, view, world),
        }

    def picked(self, node: nodes.Events, view: View, world: World) -> tuple[Seen, ...]:
        """The witness that a proof shows: that of the best supported event; of a pick all that are picked."""
        found = self.meaning.witnesses(node, view, world)
        if node.pick.how != "any" and world is not World.CERTAIN:
            return tuple(seen for (seen,) in found)
        return max(found, key=_support)

    def _dated(self, seen: Seen) -> Record:
        return {"event": self.records.event(seen.event), "days": days_of(seen.days)}

    def _entry(self, node: nodes.Events, seen: Seen) -> Record:
        event = seen.event
        entry = self._dated(seen)
        if node.context == "absent":
            return {**entry, "denied": self._denied(node, event)}
        if node.concept is not None:
            entry["path"] = self._path(event.concept, _wanted(node.concept))
        values: list[Record] = []
        for condition in _value_conditions(node.condition):
            value = event.attributes.get(condition.attribute)
            terms = {term.id for term in condition.values if isinstance(term, nodes.Concept)}
            if isinstance(value, str) and any(value in self.meaning.concept_ids(_under(term)) for term in terms):
                values.append({"attribute": condition.attribute, "path": self._path(value, terms)})
        if values:
            entry["value_paths"] = values
        return entry

    def _denied(self, node: nodes.Events, event: Event) -> list[Record]:
        """Each concept that is asked for, with the way up from it to what the event denies; there is none where that
        stands for the whole kind."""
        wanted = [] if node.concept is None else sorted(_wanted(node.concept))
        return [{"concept": one, "path": self._path(one, {event.concept})} for one in wanted]

    def _path(self, concept: str, ancestors: set[str]) -> list[str]:
        path = self.records.path(concept, ancestors)
        self.used.extend(path)
        return path

    def _to_choose_from(self, node: nodes.Events, view: View, world: World) -> dict[int, Seen]:
        """The events that a pick is taken among."""
        if node.context == "absent":
            return self._found(replace(node, pick=nodes.Pick()), view, world)
        return self._passing(node, view, world)["lasting"]

    def _rejected_denials(self, node: nodes.Events, view: View, world: World) -> list[Record]:
        """Each event whose concept is, or lies above, what is asked, and that is no witness, with what it fails."""
        witnesses = self._found(node, view, world)
        found = []
        for seen in view.events:
            event = seen.event
            if seen.world >= world and seen.position not in witnesses and self.meaning.denials.names(node, event):
                fails = next(name for name in _CHECKS_OF_DENIALS if not self._passes(name, node, seen, view, world))
                found.append({"event": self.records.event(event), "fails": fails})
        return found

    def _passes(self, name: str, node: nodes.Events, seen: Seen, view: View, world: World) -> bool:
        """Whether a denial passes one check, whatever the others say; none here passes that of the pick."""
        event, plain = seen.event, nodes.Events(node.kind, node.concept)
        match name:
            case "context":
                return admits(node.context, event, world)
            case "source":
                return is_known_so(replace(plain, source=node.source), event, view.journey)
            case "dispute":
                return is_known_so(replace(plain, undisputed=node.undisputed), event, view.journey)
            case "sources":
                return is_known_so(replace(plain, sources=node.sources), event, view.journey)
            case "known":
                return is_known_so(replace(plain, known=node.known), event, view.journey)
            case "window":
                return node.window is None or lies_in(node.window, event.day, world)
            case "denial":
                return self.meaning.denials.leaves_nothing_out(node, event)
        return False

    def _passing(self, node: nodes.Events, view: View, world: World) -> dict[str, dict[int, Seen]]:
        """After each check the events, by position, that have passed it and those before; first "kind"."""
        fields = dict(_OPEN)
        passed = {"kind": self._found(replace(node, **fields), view, world)}
        for name, looked_at in CHECKS:
            fields |= {field: getattr(node, field) for field in looked_at}
            passed[name] = self._found(replace(node, **fields), view, world)
        return passed

    def _found(self, node: nodes.Events, view: View, world: World) -> dict[int, Seen]:
        return {seen.position: seen for witness in self.meaning.witnesses(node, view, world) for seen in witness}

    def _rejected(self, node: nodes.Events, view: View, world: World) -> list[Record]:
        """Each event of the kind and concept that is seen and is no witness, with the check that it fails."""
        if node.context == "absent":
            return self._rejected_denials(node, view, world)
        passed = self._passing(node, view, world)
        satisfying = self._found(replace(node, **{**_OPEN, "condition": node.condition}), view, world)
        found = []
        for position, seen in sorted(passed["kind"].items()):
            if position in passed[CHECKS[-1][0]]:
                continue
            fails = next(name for name, _ in CHECKS if position not in passed[name])
            if fails == "context" and node.context in _OF_WORLDS and seen.event.world < world:
                fails = "world"
            elif fails == "condition" and position in satisfying:
                # It is as asked itself: another that is picked with it, or may be in its place, is not.
                fails = "beside"
            found.append({"event": self.records.event(seen.event), "fails": fails})
        return found


def _is_told_by_expansion(node: nodes.PatientExpression) -> bool:
    """Whether a node has no argument of its own, or is here one of several facts that stand for themselves."""
    return node.expansion is not None and (type(node) not in ARGUMENTS or isinstance(node, nodes.Exists))


def _allows(bounds: Bounds, holds: bool) -> bool:
    """Whether a criterion may hold, or may fail."""
    return bounds.possible if holds else not bounds.certain


def _support(witness: tuple[Seen, ...]) -> tuple[int, int, int, int]:
    """The surest, then what most notes tell, then the first."""
    event = witness[0].event
    return (int(event.world), event.sources, len(event.evidence), -witness[0].position)


def _node_name(node: nodes.PatientExpression) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in type(node).__name__).lstrip("_")


def _under(concept: str) -> nodes.Under:
    return nodes.Under(nodes.Concept(concept, concept))


def _wanted(node: nodes.ConceptExpression) -> set[str]:
    """The concepts that an expression asks for by name."""
    return {one.id for one in named_concepts(node)}


def _value_conditions(node: nodes.Condition | None) -> Iterator[nodes.Is]:
    match node:
        case nodes.Is():
            yield node
        case nodes.AllOf(parts) | nodes.AnyOf(parts):
            for part in parts:
                yield from _value_conditions(part)


# --- one function a node: what shows that it holds, or that it fails --------------------------------------------------

Argument = Callable[[Prover, Any, View, World, bool], Record]


def _exists(prover: Prover, node: nodes.Exists, view: View, world: World, holds: bool) -> Record:
    if not holds:
        return {"sets": [prover.whole(node.events, view, world)]}
    return {"sets": [prover.chosen(node.events, view, world, prover.picked(node.events, view, world))]}


def _all_of(prover: Prover, node: nodes.And, view: View, world: World, holds: bool) -> Record:
    return _enough(prover, node.parts, len(node.parts), view, world, holds)


def _any_of(prover: Prover, node: nodes.Or, view: View, world: World, holds: bool) -> Record:
    return _enough(prover, node.parts, 1, view, world, holds)


def _at_least(prover: Prover, node: nodes.AtLeast, view: View, world: World, holds: bool) -> Record:
    return {"n": node.n, **_enough(prover, node.parts, node.n, view, world, holds)}


def _enough(
    prover: Prover, parts: tuple[nodes.PatientExpression, ...], n: int, view: View, world: World, holds: bool
) -> Record:
    """So many parts that hold, or so many that fail that too few are left."""
    enough = n if holds else len(parts) - n + 1
    shown: list[Record] = []
    for at, part in enumerate(parts):
        if len(shown) < enough and prover.meaning.bounded(part, view, world) == holds:
            shown.append(prover.part(at, part, view, world, holds))
    return {"parts": shown}


def _not(prover: Prover, node: nodes.Not, view: View, world: World, holds: bool) -> Record:
    return {"parts": [prover.part(0, node.part, view, OPPOSITE[world], not holds)]}


def _except(prover: Prover, node: nodes.Except, view: View, world: World, holds: bool) -> Record:
    def left() -> Record:
        return prover.part(0, node.left, view, world, holds)

    def right() -> Record:
        return prover.part(1, node.right, view, OPPOSITE[world], not holds)

    if holds:
        return {"parts": [left(), right()]}
    return {"parts": [right() if prover.meaning.bounded(node.left, view, world) else left()]}


def _same_tumor(prover: Prover, node: nodes.SameTumor, view: View, world: World, holds: bool) -> Record:
    tumors = [(tumor, view.of_tumor(tumor)) for tumor, highest in view.tumors.items() if highest >= world]
    return _scoped(prover, node.body, "tumor", tumors, world, holds, node.least)


def _same_event(prover: Prover, node: nodes.SameEvent, view: View, world: World, holds: bool) -> Record:
    single = [(seen, view.of_event(seen)) for seen in view.events if seen.world >= world]
    if holds:
        single = [next(entry for entry in single if prover.meaning.holds(node.body, entry[1], world))]
    named = [(prover.records.event(seen.event), inner) for seen, inner in single]
    return _scoped(prover, node.body, "event", named, world, holds)


# What every argument is given, with the scopes: what they are called, their views, and how many it asks for.
def _scoped(
    prover: Prover,
    body: nodes.PatientExpression,
    name: str,
    views: list[tuple[str, View]],
    world: World,
    holds: bool,
    least: int = 1,
) -> Record:
    """As many scopes as are asked for, in which the body holds; or so many in which it fails that too few are left."""
    enough = least if holds else max(0, len(views) - least + 1)
    right = (entry for entry in views if prover.meaning.holds(body, entry[1], world) == holds)
    views = list(itertools.islice(right, enough))
    return {"parts": [{name: scope, "part": 0, **prover.whole_of(body, inner, world, holds)} for scope, inner in views]}


def _ordered(prover: Prover, node: nodes.Ordered, view: View, world: World, holds: bool) -> Record:
    between = _between(prover, (node.without,), view, world)
    if not holds:
        return {"sets": [*(prover.whole(side, view, world) for side in (node.left, node.right)), *between]}
    chain = _chain(prover, (node.left, node.right), (node,), view, world)
    sets = [prover.chosen(side, view, world, one) for side, one in zip((node.left, node.right), chain, strict=True)]
    found: Record = {"sets": [*sets, *between]}
    if node.relation in nodes.GAP_RELATIONS:
        found["gap"] = _gap(chain[0], chain[1], world)
    return found


def _sequence(prover: Prover, node: nodes.Sequence, view: View, world: World, holds: bool) -> Record:
    between = _between(prover, [gap.without for gap in node.gaps], view, world)
    if not holds:
        return {"sets": [*(prover.whole(step, view, world) for step in node.steps), *between]}
    relations = [
        nodes.Ordered(one, "before", two, gap.minimum, gap.maximum, without=gap.without)
        for (one, two), gap in zip(itertools.pairwise(node.steps), node.gaps, strict=True)
    ]
    chain = _chain(prover, node.steps, relations, view, world)
    sets = [prover.chosen(step, view, world, one) for step, one in zip(node.steps, chain, strict=True)]
    return {
        "sets": [*sets, *between],
        "gaps": [_gap(one, two, world) for one, two in itertools.pairwise(chain)],
    }


def _between(prover: Prover, sets: Iterable[nodes.Events | None], view: View, world: World) -> list[Record]:
    """What must not lie between, told as a whole."""
    return [prover.whole(events, view, OPPOSITE[world]) for events in sets if events is not None]


def _chain(
    prover: Prover,
    steps: Sequence[nodes.Events],
    relations: Sequence[nodes.Ordered],
    view: View,
    world: World,
) -> list[tuple[Seen, ...]]:
    """A witness of each step, each in its relation to the one before; the best supported end first."""
    reached = [[one] for one in prover.meaning.witnesses(steps[0], view, world)]
    for events, relation in zip(steps[1:], relations, strict=True):
        longer = []
        for two in prover.meaning.witnesses(events, view, world):
            fitting = [way for way in reached if prover.meaning.joined(relation, way[-1], two, view, world)]
            if fitting:
                longer.append([*max(fitting, key=lambda way: tuple(map(_support, way))), two])
        reached = longer
    return max(reached, key=lambda way: tuple(map(_support, way)))


def _gap(one: tuple[Seen, ...], other: tuple[Seen, ...], world: World) -> list[int]:
    """The fewest and the most days from the one to the other; negative when the other comes first."""
    if world is World.BELIEVED:
        gap = other[0].middle - one[0].middle
        return [gap, gap]
    return [
        min(second.days.low for second in other) - max(first.days.high for first in one),
        max(second.days.high for second in other) - min(first.days.low for first in one),
    ]


def _clear(prover: Prover, node: nodes.Clear, view: View, world: World, holds: bool) -> Record:
    absent = prover.whole(node.absent, view, OPPOSITE[world])
    if not holds:
        return {"sets": [prover.whole(node.events, view, world), absent]}
    clear = [
        one
        for one in prover.meaning.witnesses(node.events, view, world)
        if prover.meaning.is_clear(node, one, view, world)
    ]
    return {"sets": [prover.chosen(node.events, view, world, max(clear, key=_support)), absent]}


def _times(prover: Prover, node: nodes.Times, view: View, world: World, holds: bool) -> Record:
    return {"n": node.n, "by": node.by, "sets": [prover.whole(node.events, view, world)]}


def _repeated(prover: Prover, node: nodes.Repeated, view: View, world: World, holds: bool) -> Record:
    counted = prover.whole(node.events, view, world)
    if not holds:
        return {"n": node.n, "sets": [counted, prover.whole(node.other, view, world)]}
    other = max(prover.meaning.repeating(node, view, world), key=_support)
    return {"n": node.n, "sets": [counted, prover.chosen(node.other, view, world, other)]}


def _change(prover: Prover, node: nodes.Change, view: View, world: World, holds: bool) -> Record:
    """The two values and what both are during; or all values, no two of which so change."""
    if not holds:
        asked = [node.events, *([] if node.during is None else [node.during])]
        return {"sets": [prover.whole(events, view, world) for events in asked]}
    earlier, later, during = max(
        prover.meaning.changing(node, view, world), key=lambda way: (_support(way[:1]), _support(way[1:2]))
    )
    sets = [prover.chosen(node.events, view, world, (one,)) for one in (earlier, later)]
    if node.during is not None and during is not None:
        sets.append(prover.chosen(node.during, view, world, during))
    return {"sets": sets, "gap": _gap((earlier,), (later,), world)}


def _total(prover: Prover, node: nodes.Total, view: View, world: World, holds: bool) -> Record:
    """All that adds to it: what certainly does, and what possibly does."""
    worlds = (world,) if world is World.BELIEVED else (World.CERTAIN, World.POSSIBLE)
    return {"attribute": node.attribute, "sets": [prover.whole(node.events, view, one) for one in worlds]}


def _age_at(prover: Prover, node: nodes.AgeAt, view: View, world: World, holds: bool) -> Record:
    births = [prover.records.event(event) for event in view.journey.events if event.kind == "birth"]
    sets = [] if node.events is None else [prover.whole(node.events, view, world)]
    return {"births": births, "sets": sets}


def _ongoing(prover: Prover, node: nodes.Ongoing, view: View, world: World, holds: bool) -> Record:
    """The courses, each with its status and end, and the deaths: whether one goes on follows from both."""
    deaths = [prover.records.event(event) for event in view.journey.events if event.kind == "death"]
    return {"deaths": deaths, "sets": [prover.whole(node.events, view, world)]}


def _lacking(prover: Prover, node: nodes.Lacking, view: View, world: World, holds: bool) -> Record:
    """What is recorded of the kind, and the notes that would tell: the kind of absence follows from both."""
    return {
        "how": node.how,
        "sets": [prover.whole(node.events, view, OPPOSITE[world])],
        "told": [
            prover.records.event(seen.event)
            for seen in view.events
            if seen.event.context.polarity is not Polarity.PRESENT
            and (node.events.kind in (None, seen.event.kind) or prover.meaning.denials.names(node.events, seen.event))
        ],
        "notes": [prover.records.note(note) for note in view.journey.notes],
    }


def _among(prover: Prover, node: nodes.Among, view: View, world: World, holds: bool) -> Record:
    return {"patient": view.journey.patient_id}


def _defined(prover: Prover, node: nodes.Defined, view: View, world: World, holds: bool) -> Record:
    known = prover.meaning.definitions
    at = next(at for at, definition in enumerate(known) if definition.name == node.name)
    body, inner = (
        known[at].body,
        replace(prover, meaning=replace(prover.meaning, definitions=known[:at]), inside=node.name),
    )
    return {"name": node.name, "parts": [inner.part(0, body, view, world, holds)]}


ARGUMENTS: Final[Mapping[type, Argument]] = {
    nodes.Exists: _exists,
    nodes.And: _all_of,
    nodes.Or: _any_of,
    nodes.AtLeast: _at_least,
    nodes.Not: _not,
    nodes.Except: _except,
    nodes.SameTumor: _same_tumor,
    nodes.SameEvent: _same_event,
    nodes.Ordered: _ordered,
    nodes.Sequence: _sequence,
    nodes.Clear: _clear,
    nodes.Times: _times,
    nodes.Repeated: _repeated,
    nodes.Change: _change,
    nodes.Total: _total,
    nodes.AgeAt: _age_at,
    nodes.Ongoing: _ongoing,
    nodes.Lacking: _lacking,
    nodes.Among: _among,
    nodes.Defined: _defined,
}
