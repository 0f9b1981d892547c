"""The birth of a patient, from all the ages and dates of birth in their notes: one event, as narrow as they agree."""

from __future__ import annotations

import itertools
from collections import Counter

from ...kb.model import ALL_TUMORS, DayInterval, Event, Mention, Value, World
from .bench import Workbench


def join_births(bench: Workbench) -> None:
    """One event: the days on which most of the notes can agree, with the mentions that do.

    An age that was copied forward, or is another's, agrees with few. Of days on which as many agree, the latest: an age
    is copied into later notes, and never into earlier ones. Ages in notes without a date leave the day open, and say no
    more than others do; where there is nothing else, no day is believed: the birth is in the possible world alone.
    """
    births = [(note, mention) for note in bench.notes for mention in note.mentions if mention.kind == "birth"]
    if not births:
        return
    mentions = [mention for _, mention in births if mention.day.known] or [mention for _, mention in births]
    agreed = _day_of_most(mentions)
    best = [mention for mention in mentions if mention.day.low <= agreed <= mention.day.high]
    day = DayInterval(max(one.day.low for one in best), min(one.day.high for one in best))
    notes = {mention.note_id for mention in best}
    bench.events.append(
        Event(
            bench.patient_id,
            "birth",
            "",
            day,
            attributes=_sex_of_most(best),
            world=World.CERTAIN if day.known else World.POSSIBLE,
            tumor=ALL_TUMORS,
            tumor_rule=0,
            evidence=tuple(dict.fromkeys(mention.mention_id for mention in best)),
            sources=len(notes),
            anchors=tuple(sorted({f"{mention.source}:{mention.text}" for mention in best}))[:3],
        )
    )


def _sex_of_most(mentions: list[Mention]) -> dict[str, Value]:
    """The sex that most of the notes tell, each once; none where as many tell another."""
    told = Counter(sex for _, sex in {(one.note_id, one.attributes.get("sex")) for one in mentions} if sex is not None)
    (sex, most), *others = [*told.most_common(2), ("", 0)][:2] if told else [("", 0)]
    return {"sex": sex} if most and all(count < most for _, count in others) else {}


def _day_of_most(mentions: list[Mention]) -> int:
    """The first day of a mention on which those of most notes agree; of several such days the latest."""
    begin = sorted(mentions, key=lambda mention: mention.day.low)
    end = sorted(mentions, key=lambda mention: mention.day.high)
    agreeing: Counter[str] = Counter()
    best, over = (0, 0), 0
    for day, begun in itertools.groupby(begin, key=lambda mention: mention.day.low):
        agreeing.update(mention.note_id for mention in begun)
        while end[over].day.high < day:
            agreeing[end[over].note_id] -= 1
            if not agreeing[end[over].note_id]:
                del agreeing[end[over].note_id]
            over += 1
        best = max(best, (len(agreeing), day))
    return best[1]
