"""What a report of pathology states of a tumor: its size, invasion of vessels and nerves, what it grows into.

Three readers over one cue file (``cues/tumor_features.toml``): a figure with a unit of length is the size of what is
named nearest; a feature is present or absent by the words beside its name, a label's value in the next fragment of a
form included; a structure is grown into where a word of growth governs it. Only reports of pathology are read so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from typing import Any, Final

from ...kb.derivation.rules import shipped_rules
from ...kb.model import Value
from ...kb.note_classes import note_class
from ...kb.ontology.concepts import ConceptTable
from ..text.cue_files import cue_file
from ..text.frame import TUMOR_FEATURES, Frame, Recognizer, Span
from ..text.gates import Gated
from ..text.words import PhraseTrie

#: The source of such spans.
SOURCE: Final = "pattern:tumor feature"
#: A size that a label of the form tells, which goes before one in prose.
SUMMARY: Final = "synoptic"
#: So far before a figure, and behind it, stands what it measures (characters).
_REACH_OF_SIZE: Final = 70
_REACH_BEHIND: Final = 45
#: So far back stands what *measuring 3 cm in greatest dimension* is told of.
_REACH_OF_MEASURING: Final = 260
#: So far from a structure stands the word of growth that governs it.
_REACH_OF_GROWTH: Final = 90
_REACH_OF_DENIAL: Final = 60
#: The widest tumor that a figure may tell, in millimetres: more is a slip of the scan.
_WIDEST: Final = 600.0
_PATHOLOGY: Final = "pathology"

_LENGTH: Final = r"(?<![\d.,/])(?P<first>\d{1,3}(?:[.,]\s?\d{1,2})?)"
_NEXT: Final = r"(?:(?:cm|mm)?\s{0,2}[x×*][\s.]{0,3}(?P<%s>\d{1,3}(?:[.,]\s?\d{1,2})?)\s?\.?\s?)?"
_BETWEEN: Final[Mapping[str, str]] = cue_file("tumor_features")["between"]
_FIGURE: Final = re.compile(
    _LENGTH + r"\s?" + _NEXT % "second" + _NEXT % "third" + rf"[\s\-.]{{0,3}}(?P<unit>{_BETWEEN['unit']})\b",
    re.IGNORECASE,
)
#: Between a margin and what is said of it; so far from it stands a distance (characters).
_BETWEEN_MARGIN: Final = re.compile(r"[\s:.,\-)]{0,4}(?:\([^()]{1,30}\)[\s:]{0,3})?")
_REACH_OF_DISTANCE: Final = 45
#: What parts one statement from the next, and one structure's growth from another's.
_PARTS: Final = re.compile(_BETWEEN["statements"])
_PARTS_OF_GROWTH: Final = re.compile(_BETWEEN["structures"])
_LISTED: Final = re.compile(_BETWEEN["list"], re.IGNORECASE)
#: Behind the label of a form.
_LABEL: Final = re.compile(r"\s?(?:\([^()]{1,30}\)\s?)?:")
#: A category, and what stands behind it in its sentence.
_OF_CATEGORY: Final = re.compile(r"(?<![A-Za-z])p?T[0-4][a-d]?(?![A-Za-z0-9])[^.;]{0,110}\Z")
#: Where a clause ends: a full stop that OCR put at the end of a line is none, unless a new sentence begins.
_CLAUSE: Final = re.compile(r"[.;]\s+(?=[A-Z][A-Za-z ]{2,30}:|[A-Z][a-z]+ )|\n\s*\n")


class _Cues:
    """The cue file, compiled."""

    def __init__(self) -> None:
        table = cue_file("tumor_features")
        self.size = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in table["size"].items()}
        told: Mapping[str, str] = table["told"]
        before, behind = told["gap_before"], told["gap_behind"]
        self.behind = {
            how: re.compile(behind + told[f"{how}_behind"], re.IGNORECASE) for how in ("absent", "uncertain", "present")
        }
        self.before = {
            how: re.compile(told[f"{how}_before"].removesuffix("$") + r"[\s,:]{1,3}" + before + r"\Z", re.IGNORECASE)
            for how in ("absent", "uncertain")
        }
        self.features = [
            (concept, re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE)) for concept, pattern in table["feature"].items()
        ]
        begins: Mapping[str, str] = table["begins"]
        self.any_feature = _any(table["feature"])
        self.named_features = Gated(self.any_feature, begins["feature"])
        self.measures = [
            (concept, re.compile(rf"\b(?:{pattern})\b" + _BETWEEN["measure"], re.IGNORECASE))
            for concept, pattern in table["measure"].items()
        ]
        self.unit_in_label = Gated(re.compile(table["size"]["unit_in_label"], re.IGNORECASE), begins["unit_in_label"])
        self.named_measures = Gated(_any(table["measure"]), begins["measure"])
        self.margin = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in table["margin"].items()}
        self.named_margins = Gated(re.compile(r"\b" + table["margin"]["name"] + r"\b", re.IGNORECASE), begins["margin"])
        growth: Mapping[str, Any] = table["growth"]
        self.growth = {
            name: re.compile(pattern, re.IGNORECASE) for name, pattern in growth.items() if isinstance(pattern, str)
        }
        self.names: Mapping[str, list[str]] = growth["names"]


@lru_cache(maxsize=1)
def valued() -> frozenset[str]:
    """The features that say nothing without a value: their name alone is no event."""
    return frozenset(cue_file("tumor_features")["valued"]["concepts"])


def _any(patterns: Mapping[str, str]) -> re.Pattern[str]:
    return re.compile(r"\b(?:" + "|".join(f"(?:{pattern})" for pattern in patterns.values()) + r")\b", re.IGNORECASE)


#: Made when the module is loaded, as every gate is.
_CUES: Final = _Cues()
_FIGURES: Final = Gated(_FIGURE, r"\d")


class TumorFeatureRecognizer(Recognizer):
    """Sizes, features and extensions of tumors, in reports of pathology."""

    name = "tumor features"
    layer = TUMOR_FEATURES
    gates = (_FIGURES, _CUES.unit_in_label, _CUES.named_measures, _CUES.named_margins, _CUES.named_features)

    def __init__(self, concepts: ConceptTable) -> None:
        self._concepts = concepts

    @cached_property
    def _structures(self) -> PhraseTrie[str]:
        """The names of what a tumor grows into: all structures, and the sites that a staging rule asks about."""
        asked = {
            premise.concept
            for rule in shipped_rules().values()
            for premise in (*rule.when, *rule.unless, *rule.open)
            if premise.kind == "extension"
        }
        structures = self._concepts.below("anatomical_structure") if "anatomical_structure" in self._concepts else ()
        names = _CUES.names
        phrases = [(name, concept) for concept, some in names.items() for name in some]
        for concept in sorted({*asked, *structures} - {"", "anatomical_structure"}):
            if concept in self._concepts:
                phrases += [(name, concept) for name in self._concepts.names(concept)]
        return PhraseTrie(phrases)

    def find(self, frame: Frame) -> Iterator[Span]:
        """Spans of the kinds ``feature`` and ``extension``."""
        if note_class(frame.note.type, frame.note.title) != _PATHOLOGY:
            return
        yield from _sizes(frame)
        yield from _sizes_of_forms(frame)
        yield from _measures(frame)
        yield from _margins(frame)
        yield from _features(frame)
        yield from self._extensions(frame)

    def _extensions(self, frame: Frame) -> Iterator[Span]:
        cues, text = _CUES.growth, frame.text
        before: Span | None = None
        for match in frame.phrases(self._structures, 0, len(frame.words.norms)):
            found = _grown(text, match.start, match.end, cues)
            if found is None and before is not None and _is_listed(text[before.end : match.start]):
                # "Extends into the perinephric fat and renal sinus".
                found = before.decided or "present", str(before.attributes["reach"])
            before = None
            if found is None:
                continue
            decided, reach = found
            # That something is denied its sentence may say in other words.
            decided = "" if decided == "present" else decided
            attributes: dict[str, Value] = {"reach": reach} if reach else {}
            before = Span(match.start, match.end, "extension", match.payloads[0], SOURCE, attributes, decided=decided)
            yield before


def _sizes(frame: Frame) -> Iterator[Span]:
    text = frame.text
    cues = _CUES.size
    for match in _FIGURES.find(frame.places, text):
        # A form that takes three figures has a nought for the one that was not measured.
        told = (_millimetres(match[name], match["unit"]) for name in ("first", "second", "third") if match[name])
        lengths = [length for length in told if length > 0]
        if not lengths or max(lengths) > _WIDEST:
            continue
        if cues["thickness_behind"].match(text[match.end() : match.end() + _REACH_BEHIND]) and len(lengths) == 1:
            thick: dict[str, Value] = {"value": lengths[0], "unit": "mm"}
            yield Span(match.start(), match.end(), "feature", "tumor_thickness", SOURCE, thick, decided="present")
            continue
        how = _measured(text, match.start(), match.end(), cues)
        if how is None:
            continue
        lengths.sort(reverse=True)
        attributes: dict[str, Value] = {"value": lengths[0], "unit": "mm"}
        attributes |= dict(zip(("second", "third"), lengths[1:], strict=False))
        if how:
            attributes["which"] = SUMMARY
        yield Span(match.start(), match.end(), "feature", "tumor_size", SOURCE, attributes, decided="present")


def _sizes_of_forms(frame: Frame) -> Iterator[Span]:
    """Sizes whose unit stands in their label."""
    for match in _CUES.unit_in_label.find(frame.places, frame.text):
        value = _millimetres(match["first"], match["unit"])
        if 0 < value <= _WIDEST:
            attributes: dict[str, Value] = {"value": value, "unit": "mm", "which": SUMMARY}
            yield Span(match.start(), match.end(), "feature", "tumor_size", SOURCE, attributes, decided="present")


def _measured(text: str, start: int, end: int, cues: Mapping[str, re.Pattern[str]]) -> bool | None:
    """Whether a figure is a tumor's size: True as a label tells it, False as prose does, None for another thing's."""
    low = max(0, start - _REACH_OF_SIZE)
    before, behind = text[low:start], text[end : end + _REACH_BEHIND]
    if cues["bound"].search(before) or cues["bound_behind"].search(behind) or cues["away"].search(behind):
        return None
    clause = max((one.end() for one in _CLAUSE.finditer(before, 0)), default=0)
    if cues["imaged"].search(before[clause:]) or cues["imaged"].match(behind.lstrip(" ,(").removeprefix("on ")):
        return None
    label = _last(cues["label"], before)
    if label is not None and not cues["other"].search(before, label) and len(before) - label < 50:
        return True
    if cues["measuring"].search(before) and cues["greatest_behind"].match(behind):
        # It is told of what was named last, in the items before.
        before, clause = text[max(0, start - _REACH_OF_MEASURING) : start], 0
    tumor = _last(cues["tumor"], before[clause:])
    other = _last(cues["other"], before[clause:])
    if tumor is not None and (other is None or tumor > other):
        return False
    if other is None or len(before[clause:]) - other > 12:
        ahead = re.match(cues["between"].pattern + r"\b" + cues["tumor"].pattern + r"\b", behind, re.IGNORECASE)
        if ahead is not None and not cues["not_between"].search(ahead.group()):
            return False
    return None


def _last(pattern: re.Pattern[str], text: str) -> int | None:
    return max((match.end() for match in pattern.finditer(text, 0)), default=None)


def _millimetres(figure: str, unit: str) -> float:
    number = float(figure.replace(" ", "").replace(",", "."))
    return round(number * (10.0 if unit.lower().startswith("c") else 1.0), 2)


def _measures(frame: Frame) -> Iterator[Span]:
    text = frame.text
    cues = _CUES
    for found in cues.named_measures.find(frame.places, text):
        for concept, pattern in cues.measures:
            label = pattern.match(text, found.start())
            figure = _FIGURE.match(text, label.end()) if label is not None else None
            if figure is not None:
                value = _millimetres(figure["first"], figure["unit"])
                attributes: dict[str, Value] = {"value": value, "unit": "mm"}
                yield Span(found.start(), figure.end(), "feature", concept, SOURCE, attributes, decided="present")
                break


def _margins(frame: Frame) -> Iterator[Span]:
    text = frame.text
    cues = _CUES.margin
    for match in _CUES.named_margins.find(frame.places, text):
        behind = _BETWEEN_MARGIN.match(text, match.end())
        at = behind.end() if behind is not None else match.end()
        result = next((how for how in ("clear", "involved", "close") if cues[how].match(text, at)), "")
        before = text[max(0, match.start() - _REACH_OF_DISTANCE) : match.start()]
        if not result and cues["at_involved"].search(before):
            result = "clear" if re.search(_BETWEEN["denial"], before, re.IGNORECASE) else "involved"
        attributes: dict[str, Value] = {}
        distance = _distance(text, match, at, before, cues)
        if distance is not None:
            attributes["distance"] = distance
            result = result or "clear"
        if not result:
            continue
        attributes["result"] = result
        if match["which"] and match["which"].lower() not in ("all", "final", "inked", "other"):
            attributes["which"] = match["which"].lower()
        yield Span(match.start(), match.end(), "feature", "resection_margin", SOURCE, attributes, decided="present")


def _distance(
    text: str, match: re.Match[str], at: int, before: str, cues: Mapping[str, re.Pattern[str]]
) -> float | None:
    """How far a margin lies from the tumor, in millimetres: the figure right behind it, or before *from the margin*."""
    figure = _FIGURE.match(text, at)
    if figure is None and (lead := cues["distance_before"].search(before)):
        begins = match.start() - len(before)
        figure = max(_FIGURE.finditer(text, begins, begins + lead.start()), key=lambda one: one.end(), default=None)
        if figure is not None and begins + lead.start() - figure.end() > 3:
            figure = None
    if figure is None or figure["second"]:
        return None
    return _millimetres(figure["first"], figure["unit"])


def _features(frame: Frame) -> Iterator[Span]:
    text = frame.text
    cues = _CUES
    for found in cues.named_features.find(frame.places, text):
        for concept, pattern in cues.features:
            match = pattern.match(text, found.start())
            if match is not None:
                decided = _how_told(text, match.start(), match.end())
                yield Span(match.start(), match.end(), "feature", concept, SOURCE, {}, decided=decided)
                break


def _how_told(text: str, start: int, end: int) -> str:
    """Present, absent or uncertain, by the words beside a feature's name; empty where its sentence must tell."""
    cues = _CUES
    ahead = text[max(0, start - _REACH_OF_DENIAL) : start]
    clause = max((one.end() for one in _PARTS.finditer(ahead, 0)), default=0)
    for how, pattern in cues.before.items():
        if pattern.search(ahead[clause:]):
            return how
    for how, pattern in cues.behind.items():
        if pattern.match(text, end):
            return how
    # A label of a form that was left without a value, or has one that is not understood, tells nothing.
    return "uncertain" if _LABEL.match(text, end) else ""


def _grown(text: str, start: int, end: int, cues: Mapping[str, re.Pattern[str]]) -> tuple[str, str] | None:
    """How a structure is told as grown into: its polarity, and how far; None where nothing grows there."""
    low = max(0, start - _REACH_OF_GROWTH)
    before = text[low:start]
    clause = max((one.end() for one in _PARTS_OF_GROWTH.finditer(before, 0)), default=0)
    begins = before[clause:]
    if cues["never"].search(begins[-45:]):
        return None
    if _OF_CATEGORY.search(before):
        # "pT3a Tumor invades …": a form tells what its category means.
        return None
    if cues["label"].search(before):
        told = _behind(text, end)
        return (told or "present", "into") if told or not _LABEL.match(text, end) else None
    denied = "absent" if cues["absent"].search(before[max(0, clause - 9) :]) else "present"
    behind = re.compile(r"[\s,]{0,2}" + cues["behind"].pattern, re.IGNORECASE).match(text, end)
    if behind is not None:
        told = _how_told(text, start, behind.end())
        return (told or denied), "into"
    for reach in ("confined", "through", "into"):
        at = _last(cues[reach], begins)
        if at is not None and len(begins) - at <= 32 and "." not in begins[at:]:
            # A word of growth may be the noun of another feature: "lymphovascular invasion".
            if _CUES.any_feature.search(begins[: at + 1]) and reach != "confined":
                return None
            governs = max(cues[reach].finditer(begins, 0), key=lambda one: one.end())
            if reach != "confined" and cues["near"].search(begins, governs.start()):
                return None
            told = "" if reach == "confined" else _behind(text, end)
            if denied == "present" and cues["doubt"].search(begins):
                denied = "uncertain"
            return (told if told and told != "present" else denied), reach
    if cues["spared"].match(text, end):
        return "absent", "into"
    told = _behind(text, end)
    return (told, "into") if told in ("absent", "present") and cues["said"].match(text, end) else None


def _behind(text: str, end: int) -> str:
    for how, pattern in _CUES.behind.items():
        if pattern.match(text, end):
            return how
    return ""


def _is_listed(between: str) -> bool:
    """Whether two structures are joined in one list."""
    return _LISTED.fullmatch(between) is not None
