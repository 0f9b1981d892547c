"""The explanation of one patient: of each criterion its truth in the three worlds and the events that it rests on.

What holds is asked of the reference engine, which defines it; one patient is little work.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from ...kb.model import Event, Journey, World
from ...kb.ontology.concepts import ConceptTable
from ...kb.ontology.scales import Scales
from ...kb.skin.escape import escaped
from ...query_lang import nodes
from ...query_lang.render import render_expression
from ...query_lang.tree import children, event_sets
from ..reference.meaning import Meaning
from ..reference.views import View
from .evidence import EvidenceReader, Quote, ShownEvent, world_word

_WORLDS: Final = (World.CERTAIN, World.BELIEVED, World.POSSIBLE)
#: Events of the same kind and concept that do not count, shown beside those that do.
_MOST_OTHERS: Final = 5


@dataclass(frozen=True, slots=True)
class ExplainedCriterion:
    """One criterion for one patient.

    ``certainty`` is the strongest world in which it holds: certain, believed, possible or no. ``events`` make it hold
    in that world; ``others`` are of the kind and concept that it asks for and do not count. ``scope`` says which tumor
    or event the parts were asked of, if any.
    """

    text: str
    certainty: str
    events: tuple[ShownEvent, ...] = ()
    others: tuple[ShownEvent, ...] = ()
    parts: tuple[ExplainedCriterion, ...] = ()
    scope: str = ""

    def pieces(self, part: str) -> Iterator[Piece]:
        """The evidence of this criterion, then of its parts; a piece without an event where it has none itself."""
        if not self.events and not self.others:
            yield Piece(part, self)
        for counts, events in ((True, self.events), (False, self.others)):
            for event in events:
                for quote in event.quotes or (None,):
                    yield Piece(part, self, counts, event, quote)
        for number, inner in enumerate(self.parts, 1):
            yield from inner.pieces(f"{part}.{number}")

    def lines(self, depth: int = 0) -> Iterator[str]:
        """Indented lines: the criterion, its events with quotes, its parts."""
        indent = "  " * depth
        yield f"{indent}[{self.certainty}] {self.text}" + (f"  — seen: {self.scope}" if self.scope else "")
        for event in self.events:
            yield f"{indent}    {event.as_text()}"
            for quote in event.quotes:
                where = ", ".join(filter(None, (quote.doc_id, quote.date, f"{quote.start}–{quote.end}")))
                yield f"{indent}      “{' '.join(quote.sentence.split())}” ({where})"
            yield from (f"{indent}      decided: {decision}" for decision in event.decisions)
        for event in self.others:
            yield f"{indent}    does not count: {event.as_text()}"
            yield from (f"{indent}      decided: {decision}" for decision in event.decisions)
        for part in self.parts:
            yield from part.lines(depth + 1)


@dataclass(frozen=True, slots=True)
class Piece:
    """One piece of evidence: the criterion that it is for, whether it makes that hold or only stands near, the event,
    and one quote of it (None: it has none). ``part`` numbers the criteria: 1, 1.1, …"""

    part: str
    criterion: ExplainedCriterion
    counts: bool = False
    event: ShownEvent | None = None
    quote: Quote | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a patient is or is not in the answer to a query; ``certainty`` as in :class:`ExplainedCriterion`."""

    patient_id: str
    query: str
    certainty: str
    criterion: ExplainedCriterion
    definitions: tuple[tuple[str, ExplainedCriterion], ...] = ()

    def pieces(self) -> Iterator[Piece]:
        """All evidence, criterion by criterion in the order of the query; that of definitions, which are numbered
        behind their names, comes last."""
        yield from self.criterion.pieces("1")
        for name, criterion in self.definitions:
            yield from criterion.pieces(f"{name}: 1")

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "patient": self.patient_id,
            "query": self.query,
            "certainty": self.certainty,
            "criterion": asdict(self.criterion),
            "definitions": {name: asdict(criterion) for name, criterion in self.definitions},
        }

    def lines(self) -> Iterator[str]:
        """Indented lines."""
        yield f"{self.patient_id}: {self.certainty}"
        yield from self.criterion.lines(1)
        for name, criterion in self.definitions:
            yield f"  {name}:"
            yield from criterion.lines(2)

    def as_text(self) -> str:
        """The lines for a terminal: what cannot be seen is escaped."""
        return "\n".join(map(escaped, self.lines()))


def explained(
    query: nodes.Query, journey: Journey, concepts: ConceptTable, scales: Scales, resolved: str
) -> Explanation:
    """The explanation of the resolved ``query``, whose text is ``resolved``, for the patient of ``journey``."""
    explainer = _Explainer(Meaning(concepts, scales, query.definitions), EvidenceReader(journey, concepts))
    view = View.from_journey(journey)
    criterion = explainer.criterion(query.body, view)
    definitions = tuple(
        (
            definition.name,
            _Explainer(replace(explainer.meaning, definitions=query.definitions[:at]), explainer.reader).criterion(
                definition.body, view
            ),
        )
        for at, definition in enumerate(query.definitions)
    )
    return Explanation(journey.patient_id, resolved, criterion.certainty, criterion, definitions)


@dataclass(frozen=True, slots=True)
class _Explainer:
    meaning: Meaning
    reader: EvidenceReader

    def criterion(self, node: nodes.PatientExpression, view: View) -> ExplainedCriterion:
        world = self._highest(node, view)
        text, certainty = render_expression(node), world_word(world)
        match node:
            case nodes.AgeAt(events):
                sets = (nodes.Events("birth"), *(() if events is None else (events,)))
                return ExplainedCriterion(text, certainty, *self._events(sets, view, world))
            case nodes.Exists() if node.expansion is not None:
                return replace(self.criterion(node.expansion, view), text=text)
            case nodes.Exists() | nodes.EventCriterion():
                return ExplainedCriterion(text, certainty, *self._events(event_sets(node), view, world))
            case nodes.SameTumor(body):
                tumors = {
                    self._tumor_text(tumor, view): view.of_tumor(tumor)
                    for tumor, highest in view.tumors.items()
                    if highest >= world
                }
                return self._scoped(text, certainty, body, tumors, view)
            case nodes.SameEvent(body):
                single = {
                    self.reader.shown(seen.event).as_text(): view.of_event(seen)
                    for seen in view.events
                    if seen.world >= world
                }
                return self._scoped(text, certainty, body, single, view)
        return ExplainedCriterion(text, certainty, parts=tuple(self.criterion(part, view) for part in children(node)))

    def _tumor_text(self, tumor: str, view: View) -> str:
        """What the tumor is, by its first diagnosis."""
        names = (
            self.meaning.concepts.name(seen.event.concept)
            for seen in view.events
            if seen.event.tumor == tumor and seen.event.kind == "diagnosis" and seen.event.concept
        )
        return f"tumor {tumor} ({name})" if (name := next(names, "")) else f"tumor {tumor}"

    def _highest(self, node: nodes.PatientExpression, view: View) -> World:
        return next((world for world in _WORLDS if self.meaning.holds(node, view, world)), World.NONE)

    def _scoped(
        self, text: str, certainty: str, body: nodes.PatientExpression, views: dict[str, View], whole: View
    ) -> ExplainedCriterion:
        """The parts as they are in the view that makes the most of the body; in the whole view when none does."""
        found = [(self._highest(body, inner), scope, inner) for scope, inner in views.items()]
        best = max(found, key=lambda entry: entry[0], default=None)
        if best is None or best[0] is World.NONE:
            return ExplainedCriterion(
                text, certainty, parts=(self.criterion(body, whole),), scope="the whole record, for none does"
            )
        return ExplainedCriterion(text, certainty, parts=(self.criterion(body, best[2]),), scope=best[1])

    def _events(
        self, sets: Iterable[nodes.Events], view: View, world: World
    ) -> tuple[tuple[ShownEvent, ...], tuple[ShownEvent, ...]]:
        """The events that count in the world (possible, if it holds in none), and nearby ones that do not."""
        asked = World.POSSIBLE if world is World.NONE else world
        counting: dict[int, Event] = {}
        others: dict[int, Event] = {}
        for events in sets:
            for witness in self.meaning.witnesses(events, view, asked):
                counting.update((seen.position, seen.event) for seen in witness)
            loose = replace(events, condition=None, context="any", pick=nodes.Pick(), window=None)
            for (seen,) in self.meaning.witnesses(loose, view, World.POSSIBLE):
                others[seen.position] = seen.event
        shown = tuple(self.reader.shown(event) for _, event in sorted(counting.items()))
        left = [event for position, event in sorted(others.items()) if position not in counting]
        return shown, tuple(self.reader.shown(event) for event in left[:_MOST_OTHERS])
