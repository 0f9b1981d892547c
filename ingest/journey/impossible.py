"""Events that cannot happen once an organ is gone: the rows of ``impossible.toml``, and which facts each speaks of."""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any, Final

from ...kb.kinds import KINDS, SPREAD
from ...kb.ontology.concepts import ConceptTable
from ..text.cue_files import any_of
from .facts import Fact

_SIDES: Final = ("", "same", "both")
_ORDERS: Final = ("after", "never")
_WEIGHTS: Final = ("", "notes")
#: How far before the name of a removal its sentence may say that a part stayed.
_BEFORE_NAME: Final = 40
_NO_WORDS: Final = re.compile(r"(?!)")


@dataclass(frozen=True, slots=True, eq=False)
class Impossible:
    """One row: what removes an organ (``removed_by``), and what needs it. Sets of concepts are closed downwards.

    ``at`` is empty where the place of an event does not matter. The other fields are told at the head of the data.
    """

    name: str
    organ: str
    removed_by: frozenset[str]
    needs: frozenset[str]
    kinds_removed: frozenset[str]
    kinds: frozenset[str]
    at: frozenset[str]
    side: str
    order: str
    now: bool
    delay: int
    redate: bool
    weigh: str
    spared_words: re.Pattern[str]
    only_words: re.Pattern[str] | None
    but_words: re.Pattern[str]

    def __post_init__(self) -> None:
        if self.side not in _SIDES or self.order not in _ORDERS or self.weigh not in _WEIGHTS:
            raise ValueError(f"row {self.name!r}: side is one of {_SIDES}, order of {_ORDERS}, weigh of {_WEIGHTS}")
        if not (self.removed_by or self.kinds_removed) or not (self.needs or self.kinds):
            raise ValueError(f"row {self.name!r} names no removal, or nothing that needs the organ")
        if not self.kinds_removed | self.kinds <= set(KINDS):
            raise ValueError(f"row {self.name!r} names a kind that is none of {', '.join(KINDS)}")

    def is_removal(self, fact: Fact, text: str) -> bool:
        """Whether a fact of the row's concepts, in a note of this text, takes the organ away, and the whole of it."""
        mention = fact.mention
        named = text[max(mention.sentence[0], mention.start - _BEFORE_NAME) : mention.end]
        if self.spared_words.search(named):
            return False
        return self.only_words is None or bool(self.only_words.search(named))

    def is_in_need(self, fact: Fact, text: str) -> bool:
        """Whether a fact of the row's concepts or kinds needs the organ itself, not what is left or made of it."""
        if self.at and not any(site in self.at for site in sites_of(fact)):
            return False
        return not self.but_words.search(text, *fact.mention.sentence)


@dataclass(frozen=True, slots=True, eq=False)
class ImpossibleTable:
    """All rows, with those that a fact of a concept or kind may be the removal of, or be in need for."""

    rows: tuple[Impossible, ...]
    removing: Mapping[str, Sequence[Impossible]]
    needing: Mapping[str, Sequence[Impossible]]
    both_sides: frozenset[str]

    def side_of(self, fact: Fact, concepts: ConceptTable) -> str:
        """``left``, ``right``, ``bilateral``, or empty where the fact tells no side."""
        if fact.concept in self.both_sides:
            return "bilateral"
        laterality = str(fact.attributes.get("laterality", ""))
        if laterality in ("left", "right", "bilateral"):
            return laterality
        names = (concepts.name(site) for site in sites_of(fact) if site in concepts)
        return next((word for name in names for word in ("left", "right") if name.startswith(word)), "")


def sites_of(fact: Fact) -> tuple[str, ...]:
    """Where an event lies: its site; a metastasis or node is named by it."""
    site = str(fact.attributes.get("site", ""))
    return (fact.concept, site) if fact.kind in SPREAD else (site,)


@lru_cache(maxsize=4)
def impossible_events(concepts: ConceptTable) -> ImpossibleTable:
    """The shipped rows. ValueError if one names what is no concept, or has a key that no row has."""
    table = tomllib.loads(resources.files(__package__).joinpath("impossible.toml").read_text("utf-8"))
    words = table["words"]
    rows = tuple(_row(entry, words, concepts) for entry in table["impossible"])
    removing: dict[str, list[Impossible]] = defaultdict(list)
    needing: dict[str, list[Impossible]] = defaultdict(list)
    for row in rows:
        for key in row.removed_by | row.kinds_removed:
            removing[key].append(row)
        for key in row.needs | row.kinds:
            needing[key].append(row)
    return ImpossibleTable(rows, removing, needing, frozenset(words["both_sides"]))


_KEYS: Final = frozenset(
    "name organ removed_by needs kinds_removed kinds at side order now elsewhere".split()
    + "delay redate weigh spared only but".split()
)


def _row(entry: Mapping[str, Any], words: Mapping[str, Sequence[str]], concepts: ConceptTable) -> Impossible:
    if not entry.keys() <= _KEYS:
        raise ValueError(f"row {entry.get('name')!r} has keys that no row has: {sorted(entry.keys() - _KEYS)}")
    spared = [one for one in entry.get("spared", ()) if one in concepts]
    spared_words = [one for one in entry.get("spared", ()) if one not in concepts]
    never = entry.get("order", "after") == "never"
    elsewhere = words["elsewhere"] if entry.get("elsewhere", not never) else ()
    return Impossible(
        name=entry["name"],
        organ=entry["organ"],
        removed_by=_below(entry, "removed_by", concepts).difference(*(concepts.below(one) for one in spared)),
        needs=_below(entry, "needs", concepts),
        kinds_removed=frozenset(entry.get("kinds_removed", ())),
        kinds=frozenset(entry.get("kinds", ())),
        at=_below(entry, "at", concepts),
        side=entry.get("side", ""),
        order=entry.get("order", "after"),
        now=entry.get("now", False),
        redate=entry.get("redate", False),
        delay=entry.get("delay", 0),
        weigh=entry.get("weigh", ""),
        # Whether a part stayed does not matter where only the organ's having been there does.
        spared_words=_NO_WORDS if never else _any_word((*words["spared"], *spared_words)),
        only_words=_any_word(entry["only"]) if "only" in entry else None,
        but_words=_any_word((*elsewhere, *entry.get("but", ()))),
    )


def _below(entry: Mapping[str, Any], key: str, concepts: ConceptTable) -> frozenset[str]:
    unknown = [one for one in entry.get(key, ()) if one not in concepts]
    if unknown:
        raise ValueError(f"row {entry['name']!r}: {key} names what is no concept: {', '.join(unknown)}")
    return frozenset[str]().union(*(concepts.below(one) for one in entry.get(key, ())))


def _any_word(words: Sequence[str]) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){any_of(words)}(?!\w)", re.IGNORECASE) if words else _NO_WORDS
