"""Relations between the annotations of a sentence, drawn by a table of rules (``words/relations.toml``).

Of *causes problem* the reading of events draws some itself (``ingest/treatments/harms.py``): one cause for each harm of
the patient, where the words between leave no doubt. These are kept, and the table adds every pair that an annotator
would mark: also of what is denied or another's, of diseases, and of what came after a treatment with no word of cause.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from ...kb.model import Polarity, Relation
from ..coral_schema.types import schema
from ..text.shape import Sentence
from ..text.word_classes import word_classes
from .annotation import Annotation, Edge, Page
from .words import expanded, table, types_named

_CLASSES: Final = word_classes("coral", "relations")

#: How many neighbours of its own side an annotation looks at for a partner: cost stays linear in a crowded sentence.
_NEIGHBOURS: Final = 8
#: What stands between members of one list.
_COORDINATED = _CLASSES.compile(
    r"[\s,/&(]*(?:{joins}\b)?[\s,/&]*(?:{leads_member}[\s\-]+){0,3}",
    re.IGNORECASE,
)
_LONGEST_LIST: Final = 12
#: Another section, in text whose lines were joined: no relation reaches over it.
_BAR = re.compile(r"\.,|[A-Z]{4}[A-Z /&]{0,30}:")
#: How far before a head its exemption is looked for, in characters.
_BEFORE_HEAD: Final = 60
_TIME: Final = "a time"


@dataclass(frozen=True, slots=True)
class Rule:
    """One ``[[rule]]`` table."""

    relation: str
    number: int
    heads: frozenset[str]
    tails: frozenset[str]
    seek: str
    words: int
    order: str
    between: re.Pattern[str] | None
    whole: bool
    unless: re.Pattern[str] | None
    exempt: re.Pattern[str] | None
    ahead: re.Pattern[str] | None
    behind: re.Pattern[str] | None
    within: bool
    lists: bool
    affirmed: bool

    def fits(self, text: str, head: Annotation, tail: Annotation, sentence: Sentence) -> bool:
        """Whether the words between and around the two say so."""
        apart = head.end <= tail.start or tail.end <= head.start
        if self.affirmed and head.mention.context.polarity is Polarity.ABSENT:
            return False
        if self.within or not apart:
            return self.within and not apart
        first, second = (head, tail) if head.start < tail.start else (tail, head)
        if self.order and (self.order == "head tail") != (first is head):
            return False
        between = text[first.end : second.start]
        if len(between.split()) > self.words:
            return False
        if _BAR.search(between):
            return False
        if self.between and not (
            self.between.fullmatch(between) if self.whole else self.between.search(between)
        ):  # fmt: skip
            return False
        if self.unless and self.unless.search(between):
            return False
        if self.exempt and self.exempt.search(text, max(sentence.start, head.start - _BEFORE_HEAD), head.start):
            return False
        if self.ahead and not self.ahead.search(text, sentence.start, first.start):
            return False
        return not self.behind or bool(self.behind.match(text, second.end, sentence.end))


@lru_cache(maxsize=1)
def rules() -> tuple[Rule, ...]:
    """The shipped rules. ValueError when one joins types that the schema does not."""
    found = []
    for number, entry in enumerate(table("relations")["rule"]):
        known = schema().relations[entry["relation"]]
        heads = types_named(entry["head"]) if "head" in entry else known.heads
        tails = types_named(entry["tail"]) if "tail" in entry else known.tails
        found.append(
            Rule(
                entry["relation"],
                number,
                heads & known.heads,
                tails & known.tails,
                entry.get("seek", "head"),
                entry.get("words", 8),
                entry.get("order", ""),
                _compiled(entry.get("between")),
                entry.get("whole", False),
                _compiled(entry.get("unless")),
                _compiled(entry.get("exempt") or table("relations")["exempt"].get(entry["relation"])),
                _compiled(entry.get("ahead")),
                _compiled(entry.get("behind")),
                entry.get("within", False),
                entry.get("lists", False),
                entry.get("affirmed", False),
            )
        )
    return tuple(found)


def _compiled(pattern: str | None) -> re.Pattern[str] | None:
    return re.compile(expanded(pattern), re.IGNORECASE) if pattern else None


def relate(page: Page, drawn: Sequence[Relation]) -> list[Edge]:
    """The relations of a note: those that its reading told, then those of the rules, each pair and type once."""
    by_origin = {one.origin: one for one in page.annotations if one.origin}
    edges = [
        Edge(edge.type, by_origin[edge.head], by_origin[edge.tail], edge.rule)
        for edge in drawn
        if edge.head in by_origin
        and edge.tail in by_origin
        # What was read may bear another label there, of which the schema knows no such relation.
        and schema().relations[edge.type].joins(by_origin[edge.head].label, by_origin[edge.tail].label)
    ]
    known = {(edge.type, id(edge.head), id(edge.tail)) for edge in edges}
    anywhere = [one for one in page.annotations if one.label != "SectionSkip"]
    for sentence, here in page.by_sentence(anywhere):
        if len(here) > 1:
            for edge in _of_sentence(page.frame.text, sentence, here):
                key = (edge.type, id(edge.head), id(edge.tail))
                if key not in known:
                    known.add(key)
                    edges.append(edge)
    return edges


def _of_sentence(text: str, sentence: Sentence, here: list[Annotation]) -> Iterator[Edge]:
    labels = {one.label for one in here}
    # What sought and found, for this relation (or for a time, whichever way it is tied to it).
    settled: set[tuple[str, int]] = set()
    for rule in rules():
        if rule.heads.isdisjoint(labels) or rule.tails.isdisjoint(labels):
            continue
        heads = [one for one in here if one.label in rule.heads]
        tails = [one for one in here if one.label in rule.tails]
        seekers, sought = (tails, heads) if rule.seek == "tail" else (heads, tails)
        for seeker in seekers:
            if (rule.relation, id(seeker)) in settled and rule.seek != "pairs":
                continue
            for partner in _partners(rule, text, sentence, seeker, sought):
                head, tail = (partner, seeker) if rule.seek == "tail" else (seeker, partner)
                timed = rule.relation in _timed() and tail.label in schema().groups["temporal"]
                if timed and (_TIME, id(seeker)) in settled:
                    break
                settled.add((_TIME if timed else rule.relation, id(seeker)))
                settled.add((rule.relation, id(partner)))
                yield Edge(rule.relation, head, tail, f"rule:{rule.number}")
                if rule.lists:
                    for other in _listed(text, partner, sought):
                        if other is not seeker:
                            pair = (other, seeker) if rule.seek == "tail" else (seeker, other)
                            yield Edge(rule.relation, *pair, f"rule:{rule.number}:list")


@lru_cache(maxsize=1)
def _timed() -> frozenset[str]:
    return frozenset(name for name, one in schema().relations.items() if one.bucket == "Temporal")


def _partners(
    rule: Rule, text: str, sentence: Sentence, seeker: Annotation, sought: Sequence[Annotation]
) -> Iterator[Annotation]:
    """Of those sought the nearest that fits; for pairs, all that fit."""
    near = sorted(
        (one for one in sought if one is not seeker),
        key=lambda one: (max(one.start - seeker.end, seeker.start - one.end), one.start - one.end),
    )
    for partner in near[: 2 * _NEIGHBOURS]:
        head, tail = (partner, seeker) if rule.seek == "tail" else (seeker, partner)
        if rule.fits(text, head, tail, sentence):
            yield partner
            if rule.seek != "pairs":
                return


def _listed(text: str, member: Annotation, all_: Sequence[Annotation]) -> Iterator[Annotation]:
    """Those coordinated with ``member``, of its own label, before and behind it."""
    at = next(index for index, one in enumerate(all_) if one is member)
    for step in (1, -1):
        last = member
        for index in range(at + step, at + step * _LONGEST_LIST, step):
            if not 0 <= index < len(all_):
                break
            other = all_[index]
            if other.label != member.label or other.start < last.end and last.start < other.end:
                continue
            low, high = (last.end, other.start) if step == 1 else (other.end, last.start)
            if high - low > 60 or not _COORDINATED.fullmatch(text, low, high):
                break
            yield other
            last = other


def related() -> frozenset[str]:
    """The types of relation that some rule can give."""
    return frozenset(rule.relation for rule in rules())
