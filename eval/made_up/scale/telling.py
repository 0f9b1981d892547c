"""Which note tells of which event, how exactly it dates it, and which tells it again."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ....kb.model import EARLIEST_DAY, World
from .draws import Array, Choice, Random
from .facts import Fact, Voice
from .plans import data

#: How exactly a mention dates its event: by the note's own date, a day, a month, a year, not at all, by an age.
SAME, DAY, MONTH, YEAR, UNDATED, AGE = range(6)
_FORMS: Final = (DAY, MONTH, YEAR, UNDATED)
_EPOCH: Final = datetime.date(1970, 1, 1).toordinal()


@dataclass(frozen=True, slots=True)
class Narrative:
    """Events, mentions and notes of a chunk, each in its final order.

    Events, by patient and day: owner, fact, low, high, end, tumor, rule, voice, world, sources, form (of the first
    mention), twin (the place of the event that it is disputed with, or -1; of the two, the believed one has the world
    BELIEVED). Mentions, by patient, note and place: event, note, form, low, high. Notes: owner, ordinal, day, first
    (the place of its first mention).
    """

    event: dict[str, Array]
    mention: dict[str, Array]
    note: dict[str, Array]


class Telling:
    """Tells events in notes, as ``records.toml`` has it."""

    def __init__(self, facts: list[Fact], voices: tuple[Voice, ...]) -> None:
        """``facts``: all that can be told."""
        records = data("records")
        self._shares: dict[str, float] = records["telling"]
        kinds = sorted({fact.kind for fact in facts})
        self._kind = np.array([kinds.index(fact.kind) for fact in facts])
        shares: dict[str, list[float]] = records["precision"]
        self._form = Choice([list(zip(_FORMS, shares.get(kind, shares["usual"]), strict=True)) for kind in kinds])
        self._birth, self._diagnosis = kinds.index("birth"), kinds.index("diagnosis")
        self._death = kinds.index("death")
        self._age = np.array([int(fact.text.split()[0]) if fact.kind == "birth" else 0 for fact in facts])
        self._world = np.array([int(voice.world) for voice in voices])

    def tell(self, random: Random, drawn: dict[str, Array]) -> Narrative:
        """The notes that tell of these events."""
        event = self._disputed(random, self._formed(random, drawn))
        mention = self._mentions(random, event)
        note = self._notes(random, mention)
        self._date(event, mention, note)
        return _ordered(event, mention, note, self._kind)

    def _formed(self, random: Random, drawn: dict[str, Array]) -> dict[str, Array]:
        event = dict(drawn)
        kind = self._kind[event["fact"]]
        event["form"] = np.where(kind == self._birth, AGE, self._form.draw(random, kind))
        event["world"] = self._world[event["voice"]]
        event["twin"] = np.full(len(kind), -1)
        return event

    def _disputed(self, random: Random, event: dict[str, Array]) -> dict[str, Array]:
        """A share of the dated facts is put on another day by another note; a decision believes the first."""
        kind = self._kind[event["fact"]]
        may = (
            (event["form"] == DAY)
            & (event["world"] == World.CERTAIN)
            & (event["kept"] == 0)
            & ~np.isin(kind, (self._birth, self._diagnosis, self._death))
        )
        at = np.flatnonzero(may & (random.random(len(may)) < self._shares["disputed"]))
        twin = {name: column[at] for name, column in event.items()}
        twin["day"] = twin["day"] - random.integers(30, 400, len(at))
        twin["end"] = np.zeros(len(at), dtype=np.int64)
        twin["world"] = np.full(len(at), int(World.POSSIBLE))
        twin["twin"] = at
        event["world"] = event["world"].copy()
        event["world"][at] = int(World.BELIEVED)
        event["twin"][at] = len(may) + np.arange(len(at))
        return {name: np.concatenate([column, twin[name]]) for name, column in event.items()}

    def _mentions(self, random: Random, event: dict[str, Array]) -> dict[str, Array]:
        """Every event is told once, soon; a share is told again, later, and of those a share again."""
        number = len(event["owner"])
        kind = self._kind[event["fact"]]
        delay = np.where(random.random(number) < 0.75, 0, random.exponential(12, number)).astype(np.int64)
        # A wrong day is told after the right one would have been; what was long ago is told at some visit.
        wrong = (event["world"] == World.POSSIBLE) & (event["twin"] >= 0)
        delay += np.where(wrong, 420, 0)
        delay[(kind == self._birth) | (kind == self._death)] = 0
        stated_on = event["day"] + delay
        first = np.full(int(event["owner"].max(initial=0)) + 1, np.iinfo(np.int64).max)
        diagnosed = np.flatnonzero(kind == self._birth)
        first[event["owner"][diagnosed]] = event["day"][diagnosed]
        stated_on = np.where(
            first[event["owner"]] < np.iinfo(np.int64).max, np.maximum(stated_on, first[event["owner"]]), stated_on
        )
        last = np.zeros(len(first), dtype=np.int64)
        np.maximum.at(last, event["owner"], np.where(wrong, 0, stated_on))
        stated_on = np.minimum(stated_on, last[event["owner"]])
        events, days = [np.arange(number)], [stated_on]
        again = np.flatnonzero((kind != self._birth) & (event["form"] != UNDATED))
        while len(again):
            again = again[random.random(len(again)) < self._shares["again"]]
            later = stated_on[again] + 1 + random.exponential(self._shares["later"], len(again)).astype(np.int64)
            events.append(again)
            days.append(np.minimum(later, last[event["owner"][again]]))
        at = np.concatenate(events)
        return {"event": at, "owner": event["owner"][at], "told": np.concatenate(days)}

    def _notes(self, random: Random, mention: dict[str, Array]) -> dict[str, Array]:
        """Cuts each patient's mentions, in the order of telling, into notes; a fact is told once in each."""
        order = np.lexsort((mention["event"], mention["told"], mention["owner"]))
        for name in mention:
            mention[name] = mention[name][order]
        owner, stated_on = mention["owner"], mention["told"]
        size = self._shares["mentions"]
        new_patient = np.diff(owner, prepend=-1) != 0
        gap = np.diff(stated_on, prepend=-1) != 0
        chance = random.random(len(owner))
        cut = new_patient | (gap & (chance < 2.5 / size)) | (chance < 0.2 / size)
        note = np.cumsum(cut) - 1
        repeated = np.lexsort((note, mention["event"]))
        same = np.zeros(len(note), dtype=bool)
        if len(note) > 1:
            behind = repeated[1:]
            before = repeated[:-1]
            same[behind] = (note[behind] == note[before]) & (mention["event"][behind] == mention["event"][before])
        starts = np.flatnonzero(cut)
        ends = np.append(starts[1:], len(owner)) - 1
        owners = owner[starts]
        first_note = np.flatnonzero(np.diff(owners, prepend=-1) != 0)
        ordinal = np.arange(len(starts)) - np.repeat(first_note, np.diff(np.append(first_note, len(starts))))
        kept = ~same
        mention["note"] = note
        for name in mention:
            mention[name] = mention[name][kept]
        return {"owner": owners, "ordinal": ordinal, "day": stated_on[ends]}

    def _date(self, event: dict[str, Array], mention: dict[str, Array], note: dict[str, Array]) -> None:
        """Intervals of events and of their mentions, by how exactly they are told."""
        at, day = mention["event"], note["day"][mention["note"]]
        form = event["form"][at]
        form = np.where((form == DAY) & (event["day"][at] == day), SAME, form)
        low, high = _interval(event["day"][at], form, day)
        aged = np.flatnonzero(form == AGE)
        # The age that the fact tells was worked out on the day of diagnosis, which the note may lie after.
        low[aged], high[aged] = _born(self._age[event["fact"][at[aged]]], day[aged])
        mention.update(form=form, low=low, high=high)
        number = len(event["owner"])
        order = np.lexsort((mention["note"], at))
        begin = order[np.searchsorted(at[order], np.arange(number))]
        event["low"], event["high"] = low[begin], high[begin]
        event["form"] = form[begin]
        event["sources"] = np.bincount(at, minlength=number)
        note["first"] = np.searchsorted(mention["note"], np.arange(len(note["day"])))


def _interval(day: Array, form: Array, written: Array) -> tuple[Array, Array]:
    date = (day - _EPOCH).astype("datetime64[D]")
    low, high = day.copy(), day.copy()
    for which, unit in ((MONTH, "M"), (YEAR, "Y")):
        at = np.flatnonzero(form == which)
        begin = date[at].astype(f"datetime64[{unit}]")
        low[at] = begin.astype("datetime64[D]").astype(np.int64) + _EPOCH
        high[at] = (begin + 1).astype("datetime64[D]").astype(np.int64) + _EPOCH - 1
    at = np.flatnonzero(form == UNDATED)
    low[at], high[at] = EARLIEST_DAY, written[at]
    return low, high


def _born(age: Array, written: Array) -> tuple[Array, Array]:
    """The days of birth of someone who was of this age on the day."""
    return _years_before(written, age + 1) + 1, _years_before(written, age)


def _years_before(day: Array, years: Array) -> Array:
    date = (day - _EPOCH).astype("datetime64[D]")
    month = date.astype("datetime64[M]")
    within = (date - month.astype("datetime64[D]")).astype(np.int64)
    then = month - (12 * years).astype("timedelta64[M]")
    length = ((then + 1).astype("datetime64[D]") - then.astype("datetime64[D]")).astype(np.int64)
    found: Array = then.astype("datetime64[D]").astype(np.int64) + np.minimum(within, length - 1) + _EPOCH
    return found


def _ordered(event: dict[str, Array], mention: dict[str, Array], note: dict[str, Array], kind: Array) -> Narrative:
    """Events in the order of a journey: by patient, first day and kind."""
    order = np.lexsort((event["fact"], kind[event["fact"]], event["low"], event["owner"]))
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    sorted_event: dict[str, Any] = {name: column[order] for name, column in event.items()}
    twin = sorted_event["twin"]
    sorted_event["twin"] = np.where(twin >= 0, place[np.maximum(twin, 0)], -1)
    return Narrative(sorted_event, {**mention, "event": place[mention["event"]]}, note)
