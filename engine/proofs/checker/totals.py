"""Totals of lymph nodes: the counts that one names are added again, and told apart again by the words of the report.

Written apart from what adds them (``ingest/journey/node_totals.py``): both read ``kb/derivation/stations.py``.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Final

from ....kb.derivation.rules import PREMISES, RULE
from ....kb.derivation.stations import Station, Stations
from ....kb.model import Event, Mention, World
from .evidence import EvidenceCheck

_CHECK: Final = "derivation"
#: What is said of the rule, and what is added.
_SAID: Final = frozenset({RULE, PREMISES, "positive", "examined"})


@dataclass(frozen=True, slots=True)
class TotalCheck:
    """The checks of one patient's totals."""

    evidence: EvidenceCheck

    def event(self, event: Event) -> None:
        """One total: its counts, their stations and sum, its day, tumor and world."""
        findings, record = self.evidence.findings, self.evidence.record
        named = str(event.attributes.get(PREMISES, "")).split()
        premises = [record.events[one] for one in named if one in record.events]
        if not findings.require(premises and len(premises) == len(named), _CHECK, "a premise is not recorded"):
            return
        counts = [(record.mentions[one], _owner(one, premises)) for one in event.evidence if one in record.mentions]
        told = [(mention, owner) for mention, owner in counts if owner is not None]
        if not findings.require(
            len(told) == len(event.evidence) > 1, _CHECK, "it cites other words than counts of its premises"
        ):
            return
        findings.require(
            {owner.event_id for _, owner in told} == set(named), _CHECK, "a premise of it is not among what it cites"
        )
        self._adds_up(event, [owner for _, owner in told])
        self._are_apart([mention for mention, _ in told])
        self._is_not_stated(event, told[0][0].note_id)
        findings.require(any(one.day == event.day for one in premises), "day", "it has the day of no premise")
        findings.require(
            World.POSSIBLE <= event.world <= min(one.world for one in premises),
            "world",
            "it is surer than what it follows from",
        )
        findings.require(all(one.tumor == event.tumor for one in premises), "tumor", "a premise is of another tumor")

    def _adds_up(self, event: Event, counts: list[Event]) -> None:
        findings, concepts = self.evidence.findings, self.evidence.concepts
        findings.require(
            event.kind == "node" and event.attributes.keys() <= _SAID, _CHECK, "its rule concludes something else"
        )
        findings.require(
            all(
                one.kind == "node" and one.concept in concepts and concepts.is_a(one.concept, event.concept)
                for one in counts
            ),
            _CHECK,
            "a premise is no count of such nodes",
        )
        positive = [_number(one, "positive") for one in counts]
        examined = [_number(one, "examined") for one in counts]
        # A count that does not tell how many were examined leaves that open for all.
        findings.require(
            None not in positive and event.attributes.get("positive") == sum(filter(None, positive)),
            _CHECK,
            "its counts add up to something else",
        )
        known = None if None in examined else sum(filter(None, examined))
        findings.require(event.attributes.get("examined") == known, _CHECK, "its counts add up to something else")

    def _are_apart(self, mentions: list[Mention]) -> None:
        """The text tells each count from each other."""
        findings = self.evidence.findings
        stored = self.evidence.record.notes.get(mentions[0].note_id)
        is_one = stored is not None and len({one.note_id for one in mentions}) == 1
        if not findings.require(is_one, _CHECK, "its counts are of several notes") or stored is None:
            return
        found, after = Stations(stored.note.text), 0
        stations: list[Station] = []
        for one in mentions:
            if not findings.require(one.start >= after, _CHECK, "its counts stand in no order"):
                return
            stations.append(found.of_count(one.start, one.end, after))
            after = one.end
        findings.require(
            all(one.is_other(other) for one, other in itertools.combinations(stations, 2)),
            _CHECK,
            "two of its counts may be of the same nodes",
        )

    def _is_not_stated(self, event: Event, note_id: str) -> None:
        """No count that the note states for the tumor is as great."""
        record = self.evidence.record
        for other in record.events.values():
            if other.kind != "node" or RULE in other.attributes or other.tumor != event.tumor:
                continue
            if other.world is World.NONE or not any(record.mentions[one].note_id == note_id for one in other.evidence):
                continue
            as_great = all(
                (_number(other, name) or 0) >= (_number(event, name) or 0) for name in ("positive", "examined")
            )
            stated = "positive" in other.attributes and as_great
            self.evidence.findings.require(not stated, _CHECK, "the report states a count as great itself")


def _owner(mention: str, premises: list[Event]) -> Event | None:
    """The premise that a mention is evidence of."""
    return next((one for one in premises if mention in one.evidence), None)


def _number(event: Event, name: str) -> float | None:
    value = event.attributes.get(name)
    return value if isinstance(value, float | int) else None
