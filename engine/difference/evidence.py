"""The events that decided a change: what counts for the query on one side alone, and the criteria that turned."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from ...kb.model import Journey
from ..evidence import EvidenceReader, ShownEvent
from ..explain import ExplainedCriterion, Explanation, explained
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
    return Evidence(tuple(_turned(before.criteria, after.criteria)), tuple(events))


_Key = tuple[object, ...]


class _Side:
    """One side of one patient: what counts for the query there, and all that is known there."""

    def __init__(self, asked: Asked, journey: Journey) -> None:
        explanation = explained(asked.query, journey, asked.concepts, asked.scales, "")
        self.criteria = list(_criteria(explanation))
        self.counting: dict[_Key, ShownEvent] = {}
        for criterion in self.criteria:
            for event in criterion.events:
                self.counting.setdefault(_key(event), event)
        reader = EvidenceReader(journey, asked.concepts)
        self.known = {_key(reader.shown(event)) for event in journey.events}


def _on_one_side(here: _Side, there: _Side, absent: str, present: str) -> Iterator[EventChange]:
    for key, event in here.counting.items():
        if key not in there.counting:
            yield EventChange(present if key in there.known else absent, event)


def _criteria(explanation: Explanation) -> Iterator[ExplainedCriterion]:
    """Every criterion, those of definitions first, each before its parts."""
    waiting = [explanation.criterion, *(criterion for _, criterion in reversed(explanation.definitions))]
    while waiting:
        criterion = waiting.pop()
        yield criterion
        waiting.extend(reversed(criterion.parts))


def _turned(before: list[ExplainedCriterion], after: list[ExplainedCriterion]) -> Iterator[Turned]:
    """The smallest criteria that turned."""
    if len(before) != len(after):
        yield Turned(after[-1].text, before[-1].certainty, after[-1].certainty)
        return
    seen = set()
    for first, second in zip(before, after, strict=True):
        turned = Turned(second.text, first.certainty, second.certainty)
        if not second.parts and turned.before != turned.after and turned not in seen:
            seen.add(turned)
            yield turned


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
