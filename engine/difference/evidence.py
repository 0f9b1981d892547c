"""The events that decided a change: what counts for the query on one side alone, and the criteria that turned."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from ...kb.model import Journey
from ..answers.evidence import EvidenceReader, ShownEvent
from ..answers.explain import ExplainedCriterion, explained
from .meaning import Asked

#: How an event that counts on one side alone stands on the other.
NEW: Final = "new"
COUNTS_NOW: Final = "counts now"
GONE: Final = "gone"
COUNTS_NO_MORE: Final = "counts no more"


@dataclass(frozen=True, slots=True)
class EventChange:
    """An event that counts on one side alone. ``what``: it is new, was there and counts now, is gone, or is still there
    and counts no more."""

    what: str
    event: ShownEvent

    @property
    def sign(self) -> str:
        """``+`` for what counts on the new side, ``−`` for what counted on the old one."""
        return "+" if self.what in (NEW, COUNTS_NOW) else "−"

    def as_text(self) -> str:
        """One line, with the documents that tell of it."""
        documents = ", ".join(dict.fromkeys(quote.doc_id for quote in self.event.quotes))
        return f"{self.sign} {self.what}: {self.event.as_text()}" + (f"  [{documents}]" if documents else "")


@dataclass(frozen=True, slots=True)
class Turned:
    """A criterion that holds in another world than before: certain, believed, possible or no."""

    criterion: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """What changed for one patient: criteria that turned, and events that count on one side alone."""

    criteria: tuple[Turned, ...]
    events: tuple[EventChange, ...]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "criteria": [
                {"criterion": one.criterion, "before": one.before, "after": one.after} for one in self.criteria
            ],
            "events": [{"what": one.what, "event": one.event.as_dict()} for one in self.events],
        }

    def lines(self) -> Iterator[str]:
        """For a terminal."""
        for one in self.criteria:
            yield f"{one.criterion}: {one.before} → {one.after}"
        for change in self.events:
            yield change.as_text()


def evidence_of(old: tuple[Asked, Journey], new: tuple[Asked, Journey]) -> Evidence:
    """What changed for one patient, asked on both sides."""
    before, after = _Side(*old), _Side(*new)
    events = [
        *_on_one_side(before, after, GONE, COUNTS_NO_MORE),
        *_on_one_side(after, before, NEW, COUNTS_NOW),
    ]
    turned = (one for pair in zip(before.criteria, after.criteria, strict=True) for one in _turned(*pair))
    return Evidence(tuple(dict.fromkeys(turned)), tuple(events))


_Key = tuple[object, ...]


class _Side:
    """One side of one patient: what counts for the query there, and all that is known there."""

    def __init__(self, asked: Asked, journey: Journey) -> None:
        explanation = explained(asked.query, journey, asked.concepts, asked.scales, "")
        self.criteria = (*(criterion for _, criterion in explanation.definitions), explanation.criterion)
        self.counting: dict[_Key, ShownEvent] = {}
        for criterion in (one for whole in self.criteria for one in _all(whole)):
            for event in criterion.events:
                self.counting.setdefault(_key(event), event)
        reader = EvidenceReader(journey, asked.concepts)
        self.known = {_key(reader.shown(event)) for event in journey.events}


def _on_one_side(here: _Side, there: _Side, absent: str, present: str) -> Iterator[EventChange]:
    for key, event in here.counting.items():
        if key not in there.counting:
            yield EventChange(present if key in there.known else absent, event)


def _all(criterion: ExplainedCriterion) -> Iterator[ExplainedCriterion]:
    """A criterion and all of its parts."""
    yield criterion
    for part in criterion.parts:
        yield from _all(part)


def _turned(before: ExplainedCriterion, after: ExplainedCriterion) -> Iterator[Turned]:
    """The smallest criteria that turned: those none of whose parts did. Of one tumor a whole can turn while each part
    held before, of another."""
    parts: list[Turned] = []
    if len(before.parts) == len(after.parts):
        for first, second in zip(before.parts, after.parts, strict=True):
            parts += _turned(first, second)
    if parts:
        yield from parts
    elif before.certainty != after.certainty:
        yield Turned(after.text, before.certainty, after.certainty)


def _key(event: ShownEvent) -> _Key:
    """What an event says, whichever notes tell of it."""
    return (
        event.kind,
        event.concept,
        event.earliest,
        event.latest,
        event.ended,
        tuple(sorted((name, str(value)) for name, value in event.attributes.items())),
        event.assertion,
        event.experiencer,
        event.reason,
        event.world,
    )
