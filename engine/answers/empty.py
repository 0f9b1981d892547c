"""The reason of an empty answer: which criterion nobody meets, and what is recorded beside it.

It is looked for only when there is nobody; each count is a query of its own, answered by the engine.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from ...kb.kinds import KINDS
from ...kb.model import World
from ...kb.storage.reader import KnowledgeBase
from ...query_lang import nodes
from ...query_lang.render import render, render_expression
from ...query_lang.resolution.conditions import named
from ...query_lang.tree import children, event_sets, named_concepts
from ...query_lang.vocabulary import KIND_WORDS, kind_spelling
from ..fast.evaluate import evaluate

#: Criteria that are told, and the proposals for each.
_MOST_PARTS: Final = 3
_MOST_NEAR: Final = 4
#: Names of a concept that are looked up for others of that name.
_MOST_NAMES: Final = 12
#: Steps up the ontology at which a wider concept is looked for.
_STEPS_UP: Final = 2
#: What a note may say of a fact instead of telling it as one, with how it is told.
_OTHERWISE: Final = {
    "absent": "denied",
    "uncertain": "as uncertain",
    "planned": "as planned",
    "declined": "as declined",
    "family": "of relatives",
}


@dataclass(frozen=True, slots=True)
class Near:
    """What is recorded instead: how it is told, how many patients have it, and the query that asks for it."""

    how: str
    count: int
    query: str


@dataclass(frozen=True, slots=True)
class EmptyPart:
    """A criterion that nobody meets: its text, why, how many possibly do, and what is near it."""

    criterion: str
    why: str
    possible: int
    near: tuple[Near, ...] = ()

    def lines(self) -> Iterator[str]:
        """The reason, and what is near it, each in a line."""
        yield f"empty: {self.why}"
        if self.possible:
            yield f"  {self.possible} possibly: a note leaves it open (--world possible lists them)"
        for one in self.near:
            yield f"  {one.count} {one.how}: {one.query}"


@dataclass(frozen=True, slots=True)
class Empty:
    """Why an answer is empty."""

    parts: tuple[EmptyPart, ...]

    def as_dict(self) -> list[dict[str, Any]]:
        """For JSON: a row for each criterion."""
        return [asdict(part) for part in self.parts]

    def lines(self) -> Iterator[str]:
        """For a terminal; the last line points on."""
        for part in self.parts:
            yield from part.lines()
        yield "  'cohortium funnel KB QUERY' counts each criterion, 'cohortium why-not KB QUERY PATIENT' one patient"


def why_empty(query: nodes.Query, kb: KnowledgeBase, world: World) -> Empty:
    """Why nobody is in the answer to the resolved ``query`` in ``world``."""
    search = _Search(query, kb, world)
    found: dict[str, EmptyPart] = {}
    for part in search.parts(query.body):
        found.setdefault(part.criterion, part)
        if len(found) == _MOST_PARTS:
            break
    return Empty(tuple(found.values()))


class _Search:
    def __init__(self, query: nodes.Query, kb: KnowledgeBase, world: World) -> None:
        self._definitions = query.definitions
        self._kb = kb
        self._world = world

    def _count(self, node: nodes.PatientExpression, world: World | None = None) -> int:
        return len(evaluate(nodes.Query(node, self._definitions), self._kb, self._world if world is None else world))

    def _events(self, events: nodes.Events) -> int:
        return self._count(nodes.Exists(events))

    # --- the criterion that is empty ----------------------------------------------------------------------------------

    def parts(self, node: nodes.PatientExpression) -> Iterator[EmptyPart]:
        """The criteria by which an empty ``node`` is empty, as far down as they are told."""
        match node:
            case nodes.And(parts) | nodes.Or(parts) | nodes.AtLeast(_, parts):
                yield from self._joined(node, parts)
            case nodes.Except(left, right):
                told = f"all of '{_text(left)}' are '{_text(right)}', too"
                yield from self._each((left,)) or [self._all_of(node, told)]
            case nodes.Not(part):
                yield self._all_of(node, f"everybody matches '{_text(part)}'")
            case nodes.SameTumor(body) | nodes.SameEvent(body):
                where = "one and the same tumor" if isinstance(node, nodes.SameTumor) else "one and the same event"
                if isinstance(node, nodes.SameTumor) and node.least > 1:
                    where = f"{node.least} different tumors"
                told = f"{self._count(body)} have all of it, and nobody in {where}: {_text(body)}"
                yield from self._each((body,)) or [self._all_of(node, told)]
            case nodes.Defined(name):
                yield from (part for one in self._definitions if one.name == name for part in self.parts(one.body))
            case nodes.Exists(events):
                yield self._fact(events)
            case nodes.EventCriterion():
                yield from self._related(node)
            case _:
                yield self._all_of(node, f"nobody matches '{_text(node)}'")

    def _each(self, parts: Sequence[nodes.PatientExpression]) -> list[EmptyPart]:
        """The reasons of those parts that are empty themselves."""
        empty = [part for part in parts if not self._count(part)]
        return [reason for part in empty[:_MOST_PARTS] for reason in self.parts(part)]

    def _all_of(self, node: nodes.PatientExpression, why: str) -> EmptyPart:
        return EmptyPart(_text(node), why, self._count(node, World.POSSIBLE))

    def _joined(self, node: nodes.PatientExpression, parts: Sequence[nodes.PatientExpression]) -> Iterable[EmptyPart]:
        reasons = self._each(parts)
        if reasons:
            return reasons
        counted = ", ".join(f"'{_text(part)}' {self._count(part)}" for part in parts[:_MOST_NEAR])
        return [self._all_of(node, f"each criterion is met, and nobody meets them together: {counted}")]

    def _related(self, node: nodes.EventCriterion) -> Iterator[EmptyPart]:
        """Facts in a relation: one that nobody has, else the relation."""
        sets = list(event_sets(node))
        empty = [events for events in sets if not self._events(events)] if not isinstance(node, nodes.Clear) else []
        if isinstance(node, nodes.Clear) and not self._events(node.events):
            empty = [node.events]
        if empty and not isinstance(node, nodes.Lacking):
            yield from map(self._fact, empty[:_MOST_PARTS])
            return
        counted = ", ".join(f"'{_fact_text(events)}' {self._events(events)}" for events in sets)
        yield self._all_of(node, f"nobody matches '{_text(node)}'" + (f"; by themselves: {counted}" if counted else ""))

    # --- one fact -----------------------------------------------------------------------------------------------------

    def _fact(self, events: nodes.Events) -> EmptyPart:
        text = _fact_text(events)
        near = list(self._loosened(events)) or list(self._beside(events))
        why = f"nobody has '{text}'"
        if not near:
            why += ", and no note tells of anything near it"
        return EmptyPart(text, why, self._count(nodes.Exists(events), World.POSSIBLE), tuple(near[:_MOST_NEAR]))

    def _loosened(self, events: nodes.Events) -> Iterator[Near]:
        """The fact without one of the things that are asked of it."""
        plain = nodes.Events(events.kind, events.concept)
        ways: list[tuple[str, nodes.Events]] = [
            ("have it at another time", replace(events, window=None)),
            ("have it with other values", replace(events, condition=None)),
            ("have it, but not as the one chosen", replace(events, pick=nodes.Pick())),
            ("have it from other notes", replace(events, source="", undisputed=False, sources=1)),
            ("have it known in another way", replace(events, known="")),
            ("have it as a fact", replace(events, context="present")),
            ("have it at all", plain),
        ]
        for how, looser in ways:
            if looser != events and (count := self._events(looser)):
                yield Near(how, count, _fact_text(looser))
                if how != "have it at all" and looser == plain:
                    return

    def _beside(self, events: nodes.Events) -> Iterator[Near]:
        """What is recorded of the concept in other kinds of fact and contexts, and of those above and below it."""
        concept = events.concept
        if concept is None:
            return
        held = self._kb.holdings
        ids = [one.id for one in named_concepts(concept) if one.id in self._kb.concepts]
        found = []
        for kind in (one for one in KINDS if one in KIND_WORDS):
            # Of the same name there may be another concept: a gene, and the marker that is its protein.
            for one in dict.fromkeys((*ids, *self._namesakes(ids))):
                if held.has_any(kind, one) and (kind != events.kind or one not in ids):
                    other = nodes.Events(kind, nodes.Under(named(self._kb.concepts, one, KIND_WORDS[kind].concepts)))
                    found.append(Near(f"have it as {kind_spelling(kind)}", self._events(other), _fact_text(other)))
        if events.context == "present":
            for context, how in _OTHERWISE.items():
                other = nodes.Events(events.kind, concept, context=context)
                found.append(Near(f"are told of it {how}", self._events(other), _fact_text(other)))
        yield from sorted((one for one in found if one.count), key=lambda one: -one.count)
        if isinstance(concept, nodes.Under) and ids:
            yield from self._relatives(events, concept, ids[0])

    def _namesakes(self, ids: Sequence[str]) -> Iterator[str]:
        """Other concepts that bear a name of one of these."""
        concepts = self._kb.concepts
        for one in ids[:_MOST_PARTS]:
            for name in concepts.names(one)[:_MOST_NAMES]:
                yield from (other for other in concepts.lookup(name) if other not in ids)

    def _relatives(self, events: nodes.Events, concept: nodes.Under, identity: str) -> Iterator[Near]:
        """Of *exactly X* what lies below X; of others the nearest concept above that anybody has."""
        concepts = self._kb.concepts
        if concept.exact:
            wider = nodes.Events(events.kind, replace(concept, exact=False))
            if count := self._events(wider):
                yield Near("have what lies below it", count, _fact_text(wider))
        above = [identity]
        for _ in range(_STEPS_UP):
            above = list(dict.fromkeys(parent for one in above for parent in concepts.parents(one)))
            # A root says little: nearly every record has a procedure.
            for one in (one for one in above if concepts.parents(one)):
                wider = nodes.Events(events.kind, nodes.Under(named(concepts, one, _naming(events.kind))))
                if count := self._events(wider):
                    yield Near("have what lies above it", count, _fact_text(wider))
                    return


def _naming(kind: str | None) -> tuple[str, ...] | None:
    """The kinds of concept among which a name is read in such a fact."""
    return None if kind is None else KIND_WORDS[kind].concepts


def _text(node: nodes.PatientExpression) -> str:
    names = tuple(one.name for one in _defined(node))
    return render_expression(node, names) if names else render_expression(node)


def _defined(node: nodes.PatientExpression) -> Iterator[nodes.Defined]:
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if isinstance(one, nodes.Defined):
            yield one
        waiting.extend(children(one))


def _fact_text(events: nodes.Events) -> str:
    return render(nodes.Query(nodes.Exists(events)))
