"""Who the patient is, from all notes that tell it: of sex, race and ethnicity one value is believed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ...kb.kinds import KINDS, WHOLE_LIFE
from ...kb.model import ALL_TUMORS, Event, Mention, World
from ...kb.ontology.persons import at_or_below
from .bench import Workbench, WorkbenchDecision
from .facts import Fact

#: The name of the decision between notes that differ.
_RULE: Final = "most notes tell it"


def join_persons(bench: Workbench) -> None:
    """One event for each value of a kind that notes tell. Where they differ, the value of most is believed and the
    others are possible; where as many tell another, each is possible alone.

    What says less than another (Asian beside Chinese) is no other value, and goes into it.
    """
    for kind in KINDS:
        if kind in WHOLE_LIFE:
            _join(bench, kind)


def _join(bench: Workbench, kind: str) -> None:
    told: dict[str, list[tuple[int, Mention]]] = {}
    for number, note in enumerate(bench.notes):
        for mention in note.mentions:
            if mention.kind == kind:
                told.setdefault(str(mention.attributes[kind]), []).append((number, mention))
    if not told:
        return
    merged = _without_wider(kind, told)
    count = {value: len({number for number, _ in mentions}) for value, mentions in merged.items()}
    most = max(count.values())
    first = [value for value in sorted(count) if count[value] == most]
    believed = first[0] if len(first) == 1 else ""
    facts: dict[str, Fact] = {}
    for value, mentions in merged.items():
        if len(merged) == 1:
            world = World.CERTAIN
        else:
            world = World.BELIEVED if value == believed else World.POSSIBLE
        facts[value] = _event(bench, kind, value, mentions, world)
    if len(merged) > 1:
        kept = tuple(fact for value, fact in facts.items() if value == believed)
        rejected = tuple(fact for value, fact in facts.items() if value != believed)
        words = ", ".join(f"{value.replace('_', ' ')} in {count[value]}" for value in sorted(count))
        bench.decisions.append(WorkbenchDecision(_RULE, kept, rejected, f"notes tell the {kind} otherwise: {words}"))


def _without_wider(kind: str, told: Mapping[str, list[tuple[int, Mention]]]) -> dict[str, list[tuple[int, Mention]]]:
    """The values that none of the others makes more precise, each with the mentions of those above it."""
    narrowest = [value for value in told if not (at_or_below(kind, value) - {value}) & told.keys()]
    return {
        value: told[value]
        + [one for other in told if other not in narrowest and value in at_or_below(kind, other) for one in told[other]]
        for value in narrowest
    }


def _event(bench: Workbench, kind: str, value: str, mentions: list[tuple[int, Mention]], world: World) -> Fact:
    event = Event(
        bench.patient_id,
        kind,
        "",
        attributes={kind: value},
        world=world,
        tumor=ALL_TUMORS,
        tumor_rule=0,
        evidence=tuple(dict.fromkeys(mention.mention_id for _, mention in mentions)),
        sources=len({number for number, _ in mentions}),
    )
    bench.events.append(event)
    number, mention = mentions[0]
    fact = Fact(
        kind,
        "",
        dict(event.attributes),
        event.context,
        event.day,
        mention,
        number,
        bench.notes[number].document_class,
        "",
    )
    bench.persons.append(fact)
    bench.event_of[id(fact)] = event
    return fact
