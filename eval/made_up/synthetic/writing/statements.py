"""Facts become statements: a sentence, a shorthand or a line of a form that says one fact, or several of a kind.

A statement bears a mark around itself and one around each fact's name, and leaves out nothing that the bank calls a
must.
"""

from __future__ import annotations

import datetime
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from .banks import Banks, Mode
from .marks import Mark, Marks
from .patterns import Pattern, fitting, render
from .slots import shape_of, slots_of
from .standing import Standing
from .voices import Voice

__all__ = ["Told", "groups_of", "state"]

#: A sentence in the present takes its day in brackets: nothing "is so on the 3rd of May".
_OF_NOW: Final = re.compile(r"\b(?:is|are|has|have|shows|show|confirm|contain)\b")

#: Facts of these days around the note's own need no date.
_NEAR: Final = 10

#: At most so many facts are told in one list.
_LONGEST_LIST: Final = 14


@dataclass(frozen=True, slots=True)
class Told:
    """A fact that a note is to state: its place in the course, how it stands, and whether it is told as history."""

    place: int
    standing: Standing
    recalled: bool


def groups_of(told: Iterable[Told], banks: Banks, chance: random.Random) -> list[list[Told]]:
    """Facts that one statement can hold: of one kind, mode and day, where the bank has a sentence for several."""
    groups: list[list[Told]] = []
    open_groups: dict[tuple[object, ...], list[Told]] = {}
    for one in told:
        fact = one.standing.fact
        mode = banks.mode(fact.kind, one.standing.mode, fact.assertion)
        key = (fact.kind, one.standing.mode, fact.assertion, one.standing.begun, one.standing.ended, fact.tumor)
        group = open_groups.get(key)
        if group is not None and mode.several and len(group) < _LONGEST_LIST and chance.random() < 0.8:
            group.append(one)
        else:
            open_groups[key] = [one]
            groups.append(open_groups[key])
    return groups


def state(
    group: Sequence[Told],
    voice: Voice,
    register: str,
    chance: random.Random,
    banks: Banks,
    marks: Marks,
    context: Mapping[str, str],
    on: datetime.date,
    front: bool = False,
) -> str:
    """The marked statement of a group, without a full stop; ``front`` puts its day first, as in a time line."""
    first = group[0].standing
    fact = first.fact
    mode = banks.mode(fact.kind, first.mode, fact.assertion)
    days = _days(group[0], voice, chance, on)
    if len(group) > 1 and mode.several:
        text = _several(group, mode, voice, register, chance, banks, marks, context, days, front)
    else:
        text = _single(group[0], mode, voice, register, chance, banks, marks, context, days, front)
    about = tuple(one.place for one in group)
    text = text.rstrip()
    return marks.around(text, Mark("statement", about, fact.kind, "", fact.assertion))


def _single(
    told: Told,
    mode: Mode,
    voice: Voice,
    register: str,
    chance: random.Random,
    banks: Banks,
    marks: Marks,
    context: Mapping[str, str],
    days: Mapping[str, str],
    front: bool,
) -> str:
    """One fact in one sentence."""
    slots = slots_of(told.standing, voice, chance, banks, register)
    used: set[str] = set()
    item = _item(told, slots, register, chance, banks, marks, used)
    given = {**context, **slots, "it": item, **({} if front else days)}
    frames = fitting(mode.single[register], given)
    if not frames:
        frames = fitting(banks.mode("any", told.standing.mode, mode.assertion).single[register], given)
    text = render(chance.choice(frames), chance, given, banks.pools, used)
    return _with_details(text, told, slots, used, register, chance, banks, days, front)


def _several(
    group: Sequence[Told],
    mode: Mode,
    voice: Voice,
    register: str,
    chance: random.Random,
    banks: Banks,
    marks: Marks,
    context: Mapping[str, str],
    days: Mapping[str, str],
    front: bool,
) -> str:
    """Several facts of one kind in one sentence, each with what is its own."""
    items: list[str] = []
    for one in group:
        slots = slots_of(one.standing, voice, chance, banks, register)
        used: set[str] = set()
        item = _item(one, slots, register, chance, banks, marks, used)
        items.append(_with_details(item, one, slots, used, "terse", chance, banks, {}, False))
    joint = chance.choice((", ", ", ", "; ") if register != "prose" else (", ",))
    last = chance.choice((" and ", ", and ", ", ", f"{joint}")) if register == "prose" else joint
    joined = joint.join(items[:-1]) + last + items[-1]
    given = {**context, "items": joined, **({} if front else days)}
    text = render(chance.choice(fitting(mode.several[register], given)), chance, given, banks.pools)
    return _dated(text, register, chance, banks, days, front, frozenset())


def _item(
    told: Told,
    slots: Mapping[str, str],
    register: str,
    chance: random.Random,
    banks: Banks,
    marks: Marks,
    used: set[str],
) -> str:
    """What the fact is called in a sentence, marked: the pattern that says most of what must be said."""
    fact = told.standing.fact
    frames = banks.frames_of(fact.kind)
    items = frames.items.get(shape_of(told.standing, slots)) or frames.items.get("any")
    fits = fitting(items[register], slots) if items else []
    if fits:
        must = frozenset(frames.must)
        most = max(len(one.needs & must) for one in fits)
        best = [one for one in fits if len(one.needs & must) == most]
        text = render(chance.choice(best), chance, slots, banks.pools, used)
    else:
        used.add("name")
        text = slots["name"]
    return marks.around(text, Mark("mention", (told.place,), fact.kind, fact.concept, fact.assertion))


def _with_details(
    text: str,
    told: Told,
    slots: Mapping[str, str],
    used: set[str],
    register: str,
    chance: random.Random,
    banks: Banks,
    days: Mapping[str, str],
    front: bool,
) -> str:
    """The sentence with what must be said and was not yet."""
    for slot in banks.frames_of(told.standing.fact.kind).must:
        if slot in slots and slot not in used:
            text += render(_detail(slot, register, chance, banks, slots), chance, slots, banks.pools)
    return _dated(text, register, chance, banks, days, front, used)


def _dated(
    text: str,
    register: str,
    chance: random.Random,
    banks: Banks,
    days: Mapping[str, str],
    front: bool,
    used: set[str] | frozenset[str],
) -> str:
    """The sentence with its day, before or behind it."""
    if not days or used & {"when", "begun", "ended"}:
        return text
    key = ("front_" if front else "") + ("span" if "ended" in days else "when")
    if key == "when" and register == "prose" and _OF_NOW.search(text):
        key = "when_of_now"
    added = render(_detail(key, register, chance, banks, days), chance, days, banks.pools)
    return added + text if front else text + added


def _detail(slot: str, register: str, chance: random.Random, banks: Banks, slots: Mapping[str, str]) -> Pattern:
    return chance.choice(fitting(banks.details[slot][register], slots))


def _days(told: Told, voice: Voice, chance: random.Random, on: datetime.date) -> dict[str, str]:
    """The days to tell: ``when`` something was, or from ``begun`` to ``ended``; none for what is of today."""
    begun, ended = told.standing.begun, told.standing.ended
    if begun is None:
        return {}
    if ended is not None and ended != begun:
        return {"begun": _written(begun, voice, chance, on), "ended": _written(ended, voice, chance, on)}
    if abs((on - begun).days) <= _NEAR:
        return {}
    written = _written(begun, voice, chance, on)
    return {"when": written, ("on_day" if written == voice.written_day(begun) else "in_month"): written}


def _written(day: datetime.date, voice: Voice, chance: random.Random, on: datetime.date) -> str:
    """A day as exactly as one remembers it."""
    age = (on - day).days
    if age > 1500 and chance.random() < 0.1:
        return str(day.year)
    if age > 60 and chance.random() < 0.6:
        return voice.written_month(day)
    return voice.written_day(day)
