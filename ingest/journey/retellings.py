"""Findings told again: a result that a later note repeats, without a date of its own, has the day when it was found.

What a report finds, and what stands beside a date, has a day of its own; a result of another such day is another
result, also where it is the same (a mutation found in two specimens, two images without metastases). All else repeats
the last one before it that says as much.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from ...kb.kinds import FOUND, KIND_TABLE, LOOKED_FOR
from ...kb.model import EARLIEST_DAY, DayInterval, Polarity, Temporality
from ...kb.note_classes import PATHOLOGY
from .bench import Workbench, is_dated, is_own
from .facts import Fact

#: Classes of notes that tell what was found, each kind by its own.
_REPORTS: Final = frozenset({PATHOLOGY, "molecular", "genetics", "imaging", "abstraction"})
#: What may be told of a finding later without its being another.
_ADDED: Final = frozenset({"significance", "origin", "method"})
#: What tells two findings apart where both tell it, whatever the kind.
_OF_SAMPLE: Final = ("specimen", "specimen_of")
#: A specimen is told of and reported on within so many days.
_SAME: Final = 31


def has_day_of_its_own(fact: Fact) -> bool:
    """Whether a fact is one of its day, and not told again and again: its kind, or that it is denied."""
    denied = fact.context.polarity is Polarity.ABSENT and fact.kind in LOOKED_FOR
    return fact.kind == "variant" or denied


def date_retellings(bench: Workbench) -> None:
    """Findings that are only told again get the day on which they were found."""
    told: dict[tuple[str, str, Polarity, Temporality, str], list[Fact]] = defaultdict(list)
    for fact in bench.facts:
        of_test = fact.kind in FOUND or has_day_of_its_own(fact)
        if of_test and is_own(fact) and not fact.rejected and fact.context.temporality in _HAPPENED:
            told[fact.kind, fact.concept, fact.context.polarity, _HAPPENED[0], fact.tumor].append(fact)
    for facts in told.values():
        if len(facts) > 1:
            _date(facts)


_HAPPENED: Final = (Temporality.CURRENT, Temporality.HISTORICAL)


def _date(facts: Sequence[Fact]) -> None:
    """The facts of one finding (in the order of the record), each its day."""
    found = [fact for fact in facts if _is_first_told(fact)]
    days: dict[int, DayInterval] = {}
    for fact in found:
        days[id(fact)] = fact.day
    for fact in facts:
        before = [
            one
            for one in found
            if one is not fact and one.day.low <= fact.day.high and one.note <= fact.note and _says_as_much(one, fact)
        ]
        if id(fact) in days:
            # A month or a specimen's own day, and the report of it.
            near = [one for one in before if one.day.low > EARLIEST_DAY and _is_near(one.day, fact.day, fact.kind)]
            first = near[0] if near else None
        else:
            first = max(before, key=lambda one: (one.day.high, one.day.low), default=None)
        if first is not None and first.day != fact.day:
            fact.day = first.day
            # The mention that tells the day.
            fact.mentions += [one for one in first.mentions if one not in fact.mentions]


def _is_first_told(fact: Fact) -> bool:
    """Whether it is told where it was found, or with its date."""
    if fact.day.low <= EARLIEST_DAY or fact.copied:
        return False
    return is_dated(fact) or fact.document_class in _REPORTS


def _is_near(one: DayInterval, other: DayInterval, kind: str) -> bool:
    gap = max(0, other.low - one.high, one.low - other.high)
    return gap == 0 or (kind == "variant" and gap <= _SAME)


def _says_as_much(one: Fact, other: Fact) -> bool:
    """Whether what tells two findings of a kind apart is told of the first as of the second."""
    return all(
        one.attributes.get(name) == other.attributes[name]
        for name in KIND_TABLE[other.kind].distinguishing
        if name in other.attributes and (name in one.attributes or name not in _ADDED)
    ) and all(
        one.attributes[name] == other.attributes[name]
        for name in _OF_SAMPLE
        if name in one.attributes and name in other.attributes
    )
