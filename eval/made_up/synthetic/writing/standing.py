"""How a fact stands on the day of a note: only what could be known by then, and in which mode it is said.

A treatment that will be stopped next year has only begun; why it will be stopped is not known yet.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from .....kb.kinds import DRUGS, TREATMENTS
from ..course import Fact

#: Kinds of fact that are begun, go on and end: an abstraction calls a trial so.
_TREATMENTS: Final = TREATMENTS - {"trial"} | {"clinical_trial"}

#: Parts of words in the attributes ``status``, ``reason`` and ``value`` that choose the mode of an absent fact.
_WHY_ABSENT: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("corrected", ("correct", "withdraw", "supersed", "amend", "error", "misfil", "mistak", "wrong", "retract")),
    ("declined", ("declin", "refus", "not wanted", "patient choice", "opted against")),
    (
        "never_started",
        ("never", "not start", "not given", "not taken", "not done", "cancel", "abort", "not enrol", "not perf"),
    ),
    ("not_tested", ("not tested", "insufficient", "qns", "quantity")),
)

#: The same for the course of a treatment that was given.
_COURSES: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("stopped", ("discontinu", "stop", "ceased")),
    ("completed", ("complet", "finish", "done", "performed")),
    ("held", ("held", "on hold", "paus", "interrupt")),
    ("ongoing", ("ongoing", "continu", "current", "on treatment", "maintained")),
    ("started", ("start", "begun", "initiat")),
)

#: What a treatment's end tells, which nobody knows before.
_ENDINGS: Final = frozenset({"stopped", "completed", "held"})


@dataclass(frozen=True, slots=True)
class Standing:
    """A fact as a note can tell it: ``mode`` chooses the sentences, ``begun`` and ``ended`` are the days to tell.

    ``attributes`` and ``value`` leave out what was not known by then.
    """

    fact: Fact
    mode: str
    attributes: Mapping[str, str]
    value: str
    begun: datetime.date | None
    ended: datetime.date | None


def standing(fact: Fact, on: datetime.date, new: bool) -> Standing:
    """How ``fact`` stands on the day ``on``; ``new`` where this note is the first to state it."""
    attributes = dict(fact.attributes)
    ended = fact.end_date if fact.end_date is not None and fact.end_date <= on else None
    mode = _mode(fact, attributes)
    if fact.kind in _TREATMENTS and fact.assertion in ("present", "historical"):
        unfinished = fact.end_date is not None and fact.end_date > on
        if unfinished or (mode in _ENDINGS and ended is None and new and fact.kind in DRUGS):
            attributes.pop("status", None)
            attributes.pop("reason", None)
            mode = "started" if new else "ongoing"
        if fact.assertion == "historical":
            mode = "historical"
    return Standing(fact, mode, attributes, fact.value, fact.date, ended)


def _mode(fact: Fact, attributes: Mapping[str, str]) -> str:
    """The mode of a fact whose whole story is known."""
    assertion = fact.assertion
    words = " ".join((attributes.get("status", ""), attributes.get("reason", ""))).casefold()
    result = attributes.get("result", "").casefold()
    if assertion == "absent":
        reasons = f"{words} {fact.value} {result}".casefold()
        for mode, parts in _WHY_ABSENT:
            if any(part in reasons for part in parts):
                return mode
        return "absent"
    if fact.kind == "genomic_variant" and ("vus" in f"{result} {fact.value}".casefold() or "uncertain" in result):
        return "vus"
    if assertion == "present" and fact.kind in _TREATMENTS:
        status = attributes.get("status", "").casefold()
        for course, signs in _COURSES:
            if any(sign in status for sign in signs):
                return course
        return "given"
    return assertion
