"""The birth of a patient, from all the ages and dates of birth in their notes: one event, as narrow as they agree."""

from __future__ import annotations

from ...kb.model import ALL_TUMORS, DayInterval, Event, Mention
from .bench import Workbench


def join_births(bench: Workbench) -> None:
    """One event: the days on which most of the notes can agree, with the mentions that do.

    An age that was copied forward, or is another's, agrees with few. Of days on which as many agree, the latest: an age
    is copied into later notes, and never into earlier ones.
    """
    told = [(note, mention) for note in bench.notes for mention in note.mentions if mention.kind == "birth"]
    if not told:
        return
    mentions = [mention for _, mention in told]
    best = max((_agreeing(mentions, mention.day.low) for mention in mentions), key=_weight)
    day = DayInterval(max(one.day.low for one in best), min(one.day.high for one in best))
    notes = {mention.note_id for mention in best}
    bench.events.append(
        Event(
            bench.patient_id,
            "birth",
            "",
            day,
            tumor=ALL_TUMORS,
            tumor_rule=0,
            evidence=tuple(dict.fromkeys(mention.mention_id for mention in best)),
            sources=len(notes),
            anchors=tuple(sorted({f"{mention.source}:{mention.text}" for mention in best}))[:3],
        )
    )


def _agreeing(mentions: list[Mention], day: int) -> list[Mention]:
    return [mention for mention in mentions if mention.day.low <= day <= mention.day.high]


def _weight(mentions: list[Mention]) -> tuple[int, int]:
    return len({mention.note_id for mention in mentions}), max(mention.day.low for mention in mentions)
