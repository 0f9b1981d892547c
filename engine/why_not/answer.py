"""The answer to why a patient is no member: failing criteria, the nearest evidence, the cheapest edit that admits.

What an edit is and what it costs is told in ``docs/guide/why_not.md``. All of it is about the believed answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, TypeVar

from pyroaring import BitMap

from ...kb.model import EARLIEST_DAY, LATEST_DAY, World
from ...kb.skin.escape import escaped
from ...kb.storage.reader import KnowledgeBase
from ...query_lang import nodes
from ...query_lang.render import (
    render,
    render_concept,
    render_condition,
    render_events,
    render_expression,
    render_length,
)
from ...query_lang.tree import require_written_out
from ..answers.evidence import bounds_text
from ..answers.query_text import QueryText, Span
from ..fast.shared_plan import SharedPlan
from ..reference.meaning import Meaning
from ..reference.views import View
from .concepts import Climbs
from .cost import counts
from .failing_parts import FailingPart, FailingParts
from .record import Change, Record
from .search import EditSearch, FoundEdit, Step

#: What is said of the changes of each class, the dearest first.
_CLASSES: Final = {
    "drops": ("fact dropped", "facts dropped"),
    "details": ("detail let go", "details let go"),
    "uncertain": ("context taken less strictly", "contexts taken less strictly"),
    "concepts": ("step between concepts", "steps between concepts"),
    "bounds": ("bound moved", "bounds moved"),
    "windows": ("end of a window or gap moved", "ends of windows or gaps moved"),
    "days": ("day", "days"),
}


#: A query of more criteria, its definitions written out, is not edited: the longest text has fewer facts than this in
#: use, and an edit is looked for of each.
MOST_EDITED: Final = 10_000


@dataclass(frozen=True, slots=True)
class EditStep:
    """One change. ``how`` is its class; the criterion stands at ``start`` to ``end`` of the rendered query, and at
    ``typed_start`` to ``typed_end`` of what was typed (None where it does not stand there)."""

    how: str
    says: str
    start: int
    end: int
    typed_start: int | None = None
    typed_end: int | None = None


_Placed = TypeVar("_Placed", FailingPart, EditStep)


@dataclass(frozen=True, slots=True)
class QueryEdit:
    """An edit that admits the patient.

    ``query`` can be asked; it is empty when no criterion is left, which denotes every patient (``tree`` is the query
    itself, then None). ``cost`` counts the changes, the dearest class first; ``admits`` and ``loses`` count the other
    patients who come in and go out with it; ``equally_cheap`` is how many such edits were compared.
    """

    query: str
    steps: tuple[EditStep, ...]
    cost: dict[str, int]
    admits: int
    loses: int
    equally_cheap: int
    tree: nodes.Query | None

    def as_dict(self) -> dict[str, Any]:
        """For JSON: all but the tree."""
        return {
            "query": self.query,
            "steps": [asdict(step) for step in self.steps],
            "cost": self.cost,
            "admits": self.admits,
            "loses": self.loses,
            "equally_cheap": self.equally_cheap,
        }

    def lines(self) -> Iterator[str]:
        """For a terminal."""
        spent = [
            f"{number:,} {_CLASSES[name][number != 1]}"
            for name, number in self.cost.items()
            if number and name in _CLASSES
        ]
        yield f"  cheapest edit: {', '.join(spent)}"
        for step in self.steps:
            yield f"    {step.says}  ({_place(step)})"
        yield f"  the edited query: {self.query or 'no criterion is left: every patient'}"
        others = f"it also admits {self.admits} other{'s' * (self.admits != 1)}"
        yield f"    {others}" + (f", and loses {self.loses}" if self.loses else "")


@dataclass(frozen=True, slots=True)
class WhyNot:
    """Why a patient is not in the believed answer. ``certainty`` is the strongest world that has them: certain,
    believed, possible or no; a patient who is admitted has no failing parts and no edit. ``query`` is the query as it
    was understood, ``typed`` what was typed: parts and steps have their places in both."""

    patient_id: str
    query: str
    certainty: str
    failing: tuple[FailingPart, ...] = ()
    edit: QueryEdit | None = None
    typed: str = ""

    @property
    def admitted(self) -> bool:
        """Whether the patient is in the cohort after all."""
        return self.edit is None

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "patient": self.patient_id,
            "query": self.query,
            "typed": self.typed,
            "admitted": self.admitted,
            "certainty": self.certainty,
            "failing": [asdict(part) for part in self.failing],
            "edit": None if self.edit is None else self.edit.as_dict(),
        }

    def as_text(self) -> str:
        """The lines for a terminal: what cannot be seen is escaped."""
        return "\n".join(map(escaped, self.lines()))

    def lines(self) -> Iterator[str]:
        """Indented lines."""
        if self.edit is None:
            yield f"{self.patient_id} is in the cohort ({self.certainty})"
            return
        also = " (it is possible that they are)" if self.certainty == "possible" else ""
        yield f"{self.patient_id} is not in the cohort{also}: {self.query}"
        for part in self.failing:
            yield f"  {'excluded by' if part.excluded else 'fails'}: {part.text}  ({_place(part)})"
            yield f"    {part.says}" + (f", as seen of {part.scope}" if part.scope else "")
            for near in part.nearest:
                yield f"    {'it has' if part.excluded else 'nearest'}: {near.event.as_text()}"
                yield from (f"      lacks: {lack}" for lack in near.lacks)
                for quote in near.event.quotes[:1]:
                    where = ", ".join(filter(None, (quote.doc_id, quote.date, f"{quote.start}–{quote.end}")))
                    yield f"      “{' '.join(quote.sentence.split())}” ({where})"
        yield from self.edit.lines()


def _place(one: FailingPart | EditStep) -> str:
    """Where it stands in what was typed, or else in the query as it was understood."""
    if one.typed_start is not None:
        return f"characters {one.typed_start}–{one.typed_end}"
    return f"characters {one.start}–{one.end} of the query as it was understood"


def in_typed_text(found: WhyNot, typed: str, places: Mapping[Span, Span]) -> WhyNot:
    """The same with the places in what was ``typed``: ``places`` has them by those in the query as understood."""

    def placed(one: _Placed) -> _Placed:
        span = places.get(Span(one.start, one.end))
        return one if span is None else replace(one, typed_start=span.start, typed_end=span.end)

    edit = found.edit
    if edit is not None:
        edit = replace(edit, steps=tuple(map(placed, edit.steps)))
    return replace(found, failing=tuple(map(placed, found.failing)), edit=edit, typed=typed)


def why_not(query: nodes.Query, kb: KnowledgeBase, patient_id: str, believed: BitMap) -> WhyNot:
    """Why ``patient_id`` is not in the answer to the resolved ``query``, whose believed patients are ``believed``.

    UnknownPatient if the knowledge base has no such patient; QueryError, naming the definition, if the query has more
    than MOST_EDITED criteria with its definitions written out.
    """
    journey = kb.journey(patient_id, relations=False)
    meaning = Meaning(kb.concepts, kb.scales, query.definitions)
    view = View.from_journey(journey)
    worlds = (World.CERTAIN, World.BELIEVED, World.POSSIBLE)
    certainty = next((world.name.lower() for world in worlds if meaning.holds(query.body, view, world)), "no")
    text = QueryText(query)
    if certainty not in ("certain", "believed"):
        # An edit writes out what it changes of a definition that is used more than once.
        require_written_out(query, MOST_EDITED)
    if certainty in ("certain", "believed"):
        return WhyNot(patient_id, text.text, certainty)
    climbs = Climbs(kb.concepts)
    search = EditSearch(query, Record(journey, meaning), climbs)
    failing = FailingParts(query, search, text, climbs).failing()
    edit = _fewest_others(search.cheapest(), kb, kb.number(patient_id), believed, text)
    return WhyNot(patient_id, text.text, certainty, failing, edit)


def _fewest_others(
    edits: list[FoundEdit], kb: KnowledgeBase, patient: int, believed: BitMap, text: QueryText
) -> QueryEdit:
    """Of equally cheap edits the one that admits the fewest others; of those the one that reads first."""
    plan = SharedPlan(kb)
    judged: dict[str, tuple[int, int, FoundEdit]] = {}
    for edit in edits:
        written = "" if edit.query is None else render(edit.query)
        if written not in judged:
            found = plan.everybody if edit.query is None else plan.members(plan.add(edit.query), World.BELIEVED)
            if patient not in found:
                raise AssertionError(f"the edit does not admit the patient: {written}")
            judged[written] = len(found - believed) - 1, len(believed - found), edit
    written, (admits, loses, edit) = min(judged.items(), key=lambda one: (one[1][0], one[1][1], len(one[0]), one[0]))
    return QueryEdit(
        written,
        tuple(_shown(step, text) for step in edit.steps),
        counts(edit.cost),
        admits,
        loses,
        len(judged),
        edit.query,
    )


# --- changes in words -------------------------------------------------------------------------------------------------


def _shown(step: Step, text: QueryText) -> EditStep:
    return EditStep(step.change.how.removesuffix("s"), change_text(step.change), *text[step.path])


def change_text(change: Change) -> str:
    """``move the bound: value <= 2 → value <= 3``: what is done, what stood, and what stands."""
    old, new = change.old, change.new
    match change.how, old:
        case "drops", _:
            return f"drop: {render_expression(old)}"
        case "details", _:
            return f"let go: {_detail_text(old)}"
        case "windows", nodes.Window():
            return f"move the window: {_window_text(old)} → {_window_text(new)}"
        case "windows", _:
            return f"move the gap: {_gap_text(old)} → {_gap_text(new)}"
        case "bounds", int():
            return f"move the number: at least {old} → at least {new}"
        case "bounds", str():
            return f"move the number: {old} → {new}"
        case "bounds", nodes.AgeAt():
            return f"move the age: {_age_text(old)} → {_age_text(new)}"
        case "bounds", _:
            return f"move the bound: {render_condition(old)} → {render_condition(new)}"
        case "concepts", nodes.Is():
            return f"climb: {render_condition(old)} → {render_condition(new)}"
        case "concepts", _:
            return f"{_direction(old, new)}: {render_concept(old)} → {render_concept(new)}"
    return f"take the context less strictly: {' or '.join(old)} → {' or '.join(new)}"


def _direction(old: Any, new: Any) -> str:
    narrowed = isinstance(new, nodes.OtherThan) and new not in (old, getattr(old, "base", None))
    taken = narrowed and (not isinstance(old, nodes.OtherThan) or len(render_concept(new)) > len(render_concept(old)))
    return "take a concept away" if taken else "climb"


def _window_text(window: nodes.Window) -> str:
    low, high = bounds_text(window.low, window.high)
    if window.low <= EARLIEST_DAY:
        return f"until {high}"
    return f"since {low}" if window.high >= LATEST_DAY else f"{low} to {high}"


def _age_text(node: nodes.AgeAt) -> str:
    return f"at least {node.low}" if node.high is None else f"{node.low} to {node.high}"


def _gap_text(node: nodes.Ordered | nodes.Clear | nodes.Gap) -> str:
    relation = "then" if isinstance(node, nodes.Gap) else node.relation
    least = 0 if relation == "within" else min(node.minimum, 1)
    relation = "of" if relation == "within" else relation if least else f"on or {relation}"
    if node.maximum is None:
        return relation if node.minimum == least else f"at least {node.minimum} days {relation}"
    if node.minimum == least:
        return f"within {node.maximum} days {relation}"
    return f"{node.minimum} to {node.maximum} days {relation}"


def _detail_text(old: Any) -> str:
    match old:
        case nodes.Window():
            return f"the window {_window_text(old)}"
        case nodes.Lasting():
            return f"that it lasted {render_length(old)}"
        case nodes.Pick(how, n):
            return f"the pick '{how if how != 'nth' else f'number {n}'}'"
        case nodes.SameTumor():
            return "that it is the same tumor"
        case nodes.SameEvent():
            return "that it is the same event"
        case nodes.Ordered():
            return f"the relation '{old.relation}'"
        case nodes.Sequence():
            return "the order of the steps"
        case nodes.Clear():
            return f"that there is no {render_events(old.absent)}"
        case nodes.AgeAt():
            return f"the age {_age_text(old)}"
        case nodes.Lacking():
            return f"that the absence is {old.how}"
        case nodes.Events():
            return f"that no {render_events(old)} lies between"
        case str():
            return f"'{old}'"
        case nodes.Under() | nodes.Union() | nodes.OtherThan():
            return f"the concept {render_concept(old)}"
    return f"the condition {render_condition(old)}"
