"""Statements of facts: a sentence, a shorthand or a line of a form that says one fact, or several of a kind.

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
from .marks import Mark
from .patterns import fitting
from .slots import shape_of, slots_of
from .standing import Standing
from .writer import Writer

#: A sentence in the present takes its day in brackets: nothing "is so on the 3rd of May".
_OF_NOW: Final = re.compile(r"\b(?:is|are|has|have|shows|show|confirm|contain)\b")

#: Facts of these days around the note's own need no date.
_NEAR: Final = 10

#: At most so many facts are told in one list.
_LONGEST_LIST: Final = 14


@dataclass(frozen=True, slots=True)
class Entry:
    """A fact that a note is to state: its place in the course, how it stands, and whether it is told as history."""

    place: int
    standing: Standing
    recalled: bool


@dataclass(frozen=True, slots=True)
class _Form:
    """How one statement is written: its register, the days that it may name, and whether its day stands ahead of it."""

    register: str
    days: Mapping[str, str]
    front: bool

    @property
    def inner_days(self) -> Mapping[str, str]:
        """The days that a sentence may name itself: none where they stand ahead of it."""
        return {} if self.front else self.days


def groups_of(entries: Iterable[Entry], banks: Banks, chance: random.Random) -> list[list[Entry]]:
    """Facts that one statement can hold: of one kind, mode and day, where the bank has a sentence for several."""
    groups: list[list[Entry]] = []
    open_groups: dict[tuple[object, ...], list[Entry]] = {}
    for one in entries:
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


def state(group: Sequence[Entry], writer: Writer, register: str, front: bool = False) -> str:
    """The marked statement of a group, without a full stop; ``front`` puts its day first, as in a time line."""
    first = group[0].standing
    fact = first.fact
    mode = writer.banks.mode(fact.kind, first.mode, fact.assertion)
    form = _Form(register, _days(group[0], writer), front)
    if len(group) > 1 and mode.several:
        text = _several(group, mode, writer, form)
    else:
        text = _single(group[0], mode, writer, form)
    about = tuple(one.place for one in group)
    return writer.marks.around(text.rstrip(), Mark("statement", about, fact.kind, "", fact.assertion))


def _single(entry: Entry, mode: Mode, writer: Writer, form: _Form) -> str:
    """One fact in one sentence."""
    slots = slots_of(entry.standing, writer)
    used: set[str] = set()
    item = _item(entry, slots, writer, form.register, used)
    given = {**writer.context, **slots, "it": item, **form.inner_days}
    frames = fitting(mode.single[form.register], given)
    if not frames:
        general = writer.banks.mode("any", entry.standing.mode, mode.assertion)
        frames = fitting(general.single[form.register], given)
    text = writer.write(writer.chance.choice(frames), given, used)
    return _with_details(text, entry, slots, used, writer, form)


def _several(group: Sequence[Entry], mode: Mode, writer: Writer, form: _Form) -> str:
    """Several facts of one kind in one sentence, each with what is its own."""
    chance, register = writer.chance, form.register
    items: list[str] = []
    undated = _Form("terse", {}, False)
    for one in group:
        slots = slots_of(one.standing, writer)
        used: set[str] = set()
        item = _item(one, slots, writer, register, used)
        items.append(_with_details(item, one, slots, used, writer, undated))
    joint = chance.choice((", ", ", ", "; ") if register != "prose" else (", ",))
    last = chance.choice((" and ", ", and ", ", ", f"{joint}")) if register == "prose" else joint
    joined = joint.join(items[:-1]) + last + items[-1]
    given = {**writer.context, "items": joined, **form.inner_days}
    return _dated(writer.choose(mode.several[register], given), writer, form, frozenset())


def _item(entry: Entry, slots: Mapping[str, str], writer: Writer, register: str, used: set[str]) -> str:
    """What the fact is called in a sentence, marked: the pattern that says most of what must be said."""
    fact = entry.standing.fact
    frames = writer.banks.frames_of(fact.kind)
    items = frames.items.get(shape_of(entry.standing, slots)) or frames.items.get("any")
    fits = fitting(items[register], slots) if items else []
    if fits:
        must = frozenset(frames.must)
        most = max(len(one.needs & must) for one in fits)
        best = [one for one in fits if len(one.needs & must) == most]
        text = writer.write(writer.chance.choice(best), slots, used)
    else:
        used.add("name")
        text = slots["name"]
    return writer.marks.around(text, Mark("mention", (entry.place,), fact.kind, fact.concept, fact.assertion))


def _with_details(
    text: str, entry: Entry, slots: Mapping[str, str], used: set[str], writer: Writer, form: _Form
) -> str:
    """The sentence with what must be said and was not yet."""
    for slot in writer.banks.frames_of(entry.standing.fact.kind).must:
        if slot in slots and slot not in used:
            text += writer.choose(writer.banks.details[slot][form.register], slots)
    return _dated(text, writer, form, used)


def _dated(text: str, writer: Writer, form: _Form, used: set[str] | frozenset[str]) -> str:
    """The sentence with its day, before or behind it."""
    if not form.days or used & {"when", "begun", "ended"}:
        return text
    key = ("front_" if form.front else "") + ("span" if "ended" in form.days else "when")
    if key == "when" and form.register == "prose" and _OF_NOW.search(text):
        key = "when_of_now"
    added = writer.choose(writer.banks.details[key][form.register], form.days)
    return added + text if form.front else text + added


def _days(entry: Entry, writer: Writer) -> dict[str, str]:
    """The days to tell: ``when`` something was, or from ``begun`` to ``ended``; none for what is of today."""
    begun, ended = entry.standing.begun, entry.standing.ended
    if begun is None:
        return {}
    if ended is not None and ended != begun:
        return {"begun": _written(begun, writer), "ended": _written(ended, writer)}
    if abs((writer.day - begun).days) <= _NEAR:
        return {}
    written = _written(begun, writer)
    return {"when": written, ("on_day" if written == writer.voice.written_day(begun) else "in_month"): written}


def _written(day: datetime.date, writer: Writer) -> str:
    """A day as exactly as one remembers it."""
    age = (writer.day - day).days
    if age > 1500 and writer.chance.random() < 0.1:
        return str(day.year)
    if age > 60 and writer.chance.random() < 0.6:
        return writer.voice.written_month(day)
    return writer.voice.written_day(day)
