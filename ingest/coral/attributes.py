"""CORAL attributes of annotations: from their context, from what the reading knows, and from words near them."""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from ...kb.model import Context, Experiencer, Mention, Polarity, Temporality
from ..coral_schema.types import schema
from ..text.shape import Sentence
from .annotation import Annotation, Page
from .words import compiled, table, types_named

_EXPERIENCERS: Final = {"patient": "patient", "family": "family", "other": "others"}
#: What the reading's result of a marker means (value concepts of the ontology).
_RESULTS: Final = {
    result: value
    for value, results in {
        "Positive": "positive amplified overexpressed three_plus high deficient detected",
        "Negative": "negative not_amplified zero one_plus lost proficient stable not_detected",
        "LowPositive": "low low_positive",
        "Unclear": "equivocal two_plus indeterminate",
    }.items()
    for result in results.split()
}
_VALUES: Final = frozenset({"Stage", "TNM", "Grade", "Size"})
#: Concepts that are themselves a denial.
_DENYING: Final = frozenset({"no_alcohol_use", "never_smoker"})
#: What is undergone is denied in other words than what is found ("did not undergo", "was not done"; "NKDA").
_WORDED: Final = schema().groups["undertaken"] | {"Allergy"}
_ORIGINS: Final = {"germline": "Germline", "somatic": "Somatic"}
_STATUSES: Final = {"planned": "planned", "declined": "unclear", "never_started": "unclear"}
_REASONS: Final = {"discontinued": "discontinued_early", "completed": "finished", "held": "discontinued_early"}
_MILLIMETRES = re.compile(r"(?P<less><)?\s?(?P<figure>\d{1,3}(?:\.\d{1,2})?)\s?(?P<unit>mm|cm)", re.IGNORECASE)
#: A semicolon or full stop parts words from what they say.
_PART = re.compile(r"[;|]|\.\s")


def modality(context: Context) -> str:
    """The value of NegationModalityVal."""
    if context.temporality is Temporality.PLANNED:
        return "planned_in_future"
    if context.temporality is Temporality.HYPOTHETICAL:
        return "hypothetical_in_future"
    if context.polarity is Polarity.ABSENT:
        return "negated"
    if context.polarity is Polarity.UNCERTAIN:
        past = context.temporality is Temporality.HISTORICAL
        return "uncertain_in_past" if past else "uncertain_in_present"
    return "affirmed"


def value_of_marker(mention: Mention) -> str:
    """What the reading's result of a marker is as BiomarkerResultVal; empty where it is none of those."""
    return _RESULTS.get(str(mention.attributes.get("result", "")), "")


def set_attributes(page: Page) -> None:
    """Set what can be told of each annotation, in place; only attributes and values of the schema."""
    for sentence, here in page.by_sentence():
        if here:
            words = _Words(page.frame.text, sentence)
            for one in here:
                _set(one, page, words)


def _set(one: Annotation, page: Page, words: _Words) -> None:
    given = one.attributes
    for attribute in _applicable(one.label):
        name = attribute.name
        if name in given:
            continue
        value = _known(name, one, page) or words.value(name, one)
        if name == "NegationModalityVal":
            value = value or "affirmed"
        if value:
            given[name] = value


@lru_cache(maxsize=128)
def _applicable(label: str) -> tuple[Any, ...]:
    return schema().attributes_of(label)


def _known(name: str, one: Annotation, page: Page) -> str:
    """What the reading of the note already tells; empty when it tells nothing."""
    mention = one.mention
    context, known = mention.context, mention.attributes
    if name == "NegationModalityVal":
        # A value is not denied: "HER2 negative, grade 3".
        stated = one.label in _VALUES and context.polarity is Polarity.ABSENT and context.reason == "none"
        said = "affirmed" if stated else modality(context)
        if mention.concept in _DENYING:
            return "negated"
        return "" if said == "affirmed" and one.label in _WORDED else said
    if name == "ExperiencerVal":
        return _EXPERIENCERS[str(context.experiencer or Experiencer.PATIENT)]
    if name == "PerformanceStatusType":
        if mention.concept == "kps" or "karnofsky" in mention.text.casefold():
            return "Karnofsky"
        return "ECOG" if "ecog" in mention.text.casefold() or mention.concept == "ecog" else "Other"
    if name == "HistoryVal" and context.temporality is Temporality.HISTORICAL:
        return "history"
    if name == "GenomicTestType":
        return _ORIGINS.get(str(known.get("origin", "")), "")
    if name == "IsStoppedOrContinuing":
        return {"former_smoker": "stopped", "current_smoker": "continuing"}.get(mention.concept, "")
    if name == "TreatmentContinuityVal":
        return _REASONS.get(context.reason) or _STATUSES.get(str(known.get("status", "")), "")
    if name == "TreatmentCategory" and mention.concept in page.concepts:
        return _category(mention.concept, page)
    if name == "MarginVal":
        return _margin(mention.text)
    return ""


def _category(concept: str, page: Page) -> str:
    above = page.concepts.above(concept)
    if above & {"supportive_therapy", "supportive_drug", "supportive_care_drug"}:
        return "Supportive"
    if above & {"systemic_therapy", "local_drug_therapy", "surgery", "cancer_surgery"}:
        return "AntiNeoPlastics"
    return ""


def _margin(text: str) -> str:
    found = _MILLIMETRES.search(text)
    if not found:
        return ""
    width = float(found["figure"]) * (10 if found["unit"].casefold() == "cm" else 1)
    return "LessThan2mm" if width < 2 or (found["less"] and width <= 2) else "MoreThan2mm(Neg)"


# --- words near an annotation -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Rule:
    """One row of ``words/attributes.toml``."""

    value: str
    on: frozenset[str]
    inside: bool
    before: int
    behind: int
    pattern: re.Pattern[str]
    needs: re.Pattern[str] | None


@lru_cache(maxsize=1)
def rules() -> dict[str, tuple[_Rule, ...]]:
    found: dict[str, list[_Rule]] = {}
    for row in table("attributes")["row"]:
        attribute = schema().attributes[row["attribute"]]
        if row["value"] not in attribute.values:
            raise ValueError(f"words/attributes.toml: {attribute.name} has no value {row['value']!r}")
        rule = _Rule(
            row["value"],
            types_named(row["on"]) if "on" in row else attribute.entities,
            row.get("inside", False),
            row.get("before", 0),
            row.get("behind", 0),
            compiled(row["pattern"]),
            re.compile(row["needs"], re.IGNORECASE) if "needs" in row else None,
        )
        found.setdefault(attribute.name, []).append(rule)
    return {name: tuple(rules) for name, rules in found.items()}


class _Words:
    """The words of one sentence that give values, each row sought once."""

    def __init__(self, text: str, sentence: Sentence) -> None:
        self._text = text
        self._start, self._end = sentence.start, sentence.end
        self._found: dict[int, list[tuple[int, int]]] = {}

    def _places(self, rule: _Rule) -> list[tuple[int, int]]:
        places = self._found.get(id(rule))
        if places is None:
            places = [match.span() for match in rule.pattern.finditer(self._text, self._start, self._end)]
            if rule.needs and not rule.needs.search(self._text, self._start, min(len(self._text), self._end + 160)):
                places = []
            self._found[id(rule)] = places
        return places

    def value(self, name: str, one: Annotation) -> str:
        """The value that the nearest words give; empty when there are none."""
        best: tuple[int, int, str] | None = None
        for order, rule in enumerate(rules().get(name, ())):
            if one.label not in rule.on:
                continue
            if rule.inside and rule.pattern.search(self._text, one.start, one.end):
                found = (-1, order, rule.value)
                best = min(best, found) if best else found
                continue
            for gap in self._gaps(rule, one):
                found = (gap, order, rule.value)
                best = min(best, found) if best else found
        return best[2] if best else ""

    def _gaps(self, rule: _Rule, one: Annotation) -> list[int]:
        """Distances of the nearest words before and behind that may speak of the annotation."""
        places = self._places(rule)
        at = bisect.bisect_left(places, (one.start, 0))
        gaps = []
        before = one.start - places[at - 1][1] if at else -1
        if 0 <= before <= rule.before and not _PART.search(self._text, places[at - 1][1], one.start):
            gaps.append(before)
        after = bisect.bisect_left(places, (one.end, 0))
        behind = places[after][0] - one.end if after < len(places) else rule.behind + 1
        if behind <= rule.behind and not _PART.search(self._text, one.end, places[after][0]):
            gaps.append(behind + 4)  # Words before speak sooner than words behind.
        return gaps
