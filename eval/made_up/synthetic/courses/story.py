"""A course while it grows: the facts told so far, the occasions at which they were told, and the end of the records."""

from __future__ import annotations

import datetime
import random
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from ..course import Fact
from .profile import Allotment
from .tables import chosen


def later(day: datetime.date, days: float) -> datetime.date:
    """The day so many days on."""
    return day + datetime.timedelta(days=round(days))


@dataclass(slots=True)
class Occasion:
    """A note to come: its day, sort and purpose, and the facts (places in ``Story.facts``) that it first tells.

    ``weight`` says how much it would be missed in a record too short for all.
    """

    day: datetime.date
    type: str
    purpose: str
    facts: list[int] = field(default_factory=list)
    weight: int = 1


@dataclass(slots=True)
class Disease:
    """A tumor as it is treated: what it is, where, how far, and the tags by which treatment is chosen."""

    key: str
    entity: dict[str, Any]
    family: dict[str, Any]
    plan: dict[str, Any]
    found: datetime.date
    side: str = ""
    place: str = ""
    stage: str = ""
    extent: tuple[str, str, str] | None = None
    stated: bool = True
    tags: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)
    spread: list[str] = field(default_factory=list)
    tested: bool = False

    @property
    def where(self) -> dict[str, Any]:
        """The attributes of site and side."""
        return {key: value for key, value in (("site", self.entity["site"]), ("laterality", self.side)) if value}


@dataclass(slots=True)
class Story:
    """What befalls one patient. Facts come in any order and are sorted in the end; nothing after ``end`` is kept."""

    rng: random.Random
    given: Allotment
    born: datetime.date
    end: datetime.date
    died: datetime.date | None = None
    facts: list[Fact] = field(default_factory=list)
    occasions: list[Occasion] = field(default_factory=list)
    #: Spans of active treatment, in which most notes are of its cycles.
    treated: list[tuple[datetime.date, datetime.date]] = field(default_factory=list)

    # As many parameters as a fact has columns: each line of a story is a call of it.
    def add(
        self,
        kind: str,
        concept: str,
        value: str = "",
        day: datetime.date | None = None,
        until: datetime.date | None = None,
        assertion: str = "present",
        tumor: str = "",
        **attributes: str,
    ) -> int:
        """Adds a fact, whose columns are the parameters, and gives its place; empty attributes are left out."""
        stated = {key: text for key, text in attributes.items() if text}
        self.facts.append(Fact(kind, concept, value, stated, day, until, assertion, tumor))
        return len(self.facts) - 1

    # As :meth:`add`.
    def add_to(
        self,
        disease: Disease,
        kind: str,
        concept: str,
        value: str = "",
        day: datetime.date | None = None,
        until: datetime.date | None = None,
        assertion: str = "present",
        **attributes: str,
    ) -> int:
        """Adds a fact of that tumor; its columns are those of ``add``."""
        return self.add(kind, concept, value, day, until, assertion, disease.key, **attributes)

    def meet(self, day: datetime.date, type: str, purpose: str, facts: Iterable[int] = (), weight: int = 1) -> Occasion:
        """Adds an occasion. What it tells is known by then: a later fact is dated back to it."""
        occasion = Occasion(day, type, purpose, list(facts), weight)
        for place in occasion.facts:
            known = self.facts[place].date
            if known is not None and known > day:
                self.facts[place] = replace(self.facts[place], date=day)
        self.occasions.append(occasion)
        return occasion

    def happens(self, chance: float) -> bool:
        """Whether something of that chance happens."""
        return self.rng.random() < chance

    def pick(self, weighted: Iterable[Any]) -> Any:
        """One of ``[value, weight]`` pairs, by weight."""
        options = list(weighted)
        return chosen(self.rng, options, [one[-1] for one in options])[0]
