"""What a report of pathology states of a tumor: its size, invasion of vessels and nerves, what it grows into.

Three readers over one cue file (``cues/tumor_features.toml``): a figure with a unit of length is the size of what is
named nearest; a feature is present or absent by the words beside its name, a label's value in the next fragment of a
form included; a structure is grown into where a word of growth governs it. Only reports of pathology are read so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, Final

from ...kb.derivation.rules import shipped_rules
from ...kb.model import Value
from ...kb.note_classes import PATHOLOGY, note_class
from ...kb.ontology.concepts import ConceptTable
from ..text.cue_files import cue_file, over_lines
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
#: And so far behind it the tumor that has this size: *a 3 cm, poorly differentiated squamous cell carcinoma*.
_REACH_AHEAD: Final = 110
#: So far back stands what *measuring 3 cm in greatest dimension* is told of.
_REACH_OF_MEASURING: Final = 260
#: So far from a structure stands the word of growth that governs it.
_REACH_OF_GROWTH: Final = 90
_REACH_OF_DENIAL: Final = 60
#: And so far between the two stand no more than its parts: *into the inner and mid portion of the* …
_REACH_TO_STRUCTURE: Final = 40
#: So far before *forming a mass* stands the tumor that does.
_REACH_OF_ONE: Final = 110
_CAPSULE: Final = re.compile(r"capsule", re.IGNORECASE)
#: How the adjectives of places end.
_ADJECTIVES: Final = ("al", "ar", "ic", "ary")
#: What stands nowhere.
_NEVER: Final = re.compile(r"(?!)")
#: The widest tumor that a figure may tell, in millimetres: more is a slip of the scan.
_WIDEST: Final = 600.0
_IMAGING: Final = "imaging"
#: So far around a position on a clock is told what lies there (characters).
_AROUND_CLOCK: Final = 90
_NEAREST: Final = ("closest", "nearest")
#: A margin so near is close, in millimetres.
_NEAR: Final = 2.0
#: Features whose value is a share of the tumor.
_SHARES: Final = ("viable_tumor_fraction", "tumor_necrosis")
_REACH_OF_SHARE: Final = 60
#: So far behind the label of an effect of treatment stands what it was (characters).
_REACH_OF_EFFECT: Final = 70
_ROMAN: Final[Mapping[str, int]] = {"i": 1, "ii": 2, "iii": 3, "iv": 4, "v": 5}

_LENGTH: Final = r"(?<![\d.,/])(?P<first>\d{1,3}(?:[.,]\s?\d{1,2})?)"
_NEXT: Final = r"(?:(?:cm|mm)?\s{0,2}(?:[x×*]|by\b)[\s.]{0,3}(?P<%s>\d{1,3}(?:[.,]\s?\d{1,2})?)\s?\.?\s?)?"
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
_WITHIN: Final = re.compile(r"(?:" + _BETWEEN["within"] + r")\s{0,2}", re.IGNORECASE)
#: Between a heading and its sentence.
_HEADED: Final = re.compile(r"[\s.:]{0,4}")
_LISTED: Final = re.compile(_BETWEEN["list"], re.IGNORECASE)
#: Behind the label of a form.
_LABEL: Final = re.compile(r"\s?(?:\([^()]{1,30}\)\s?)?:")
#: A category, and what stands behind it in its sentence.
_OF_CATEGORY: Final = re.compile(r"(?<![A-Za-z])p?T[0-4][a-d]?(?![A-Za-z0-9])[^.;]{0,110}\Z")
#: Where a clause ends: a full stop that OCR put at the end of a line is none, unless a new sentence begins.
_CLAUSE: Final = re.compile(r"[.;]\s+(?=[A-Z][A-Za-z ]{2,30}:|[A-Z][a-z]+ )|\n\s*\n")


class _Cues:
    """The cue file, compiled."""

    # As many lines as the file has tables.
    def __init__(self) -> None:
        table = cue_file("tumor_features")
        self.size = {name: _pattern(pattern) for name, pattern in table["size"].items()}
        self.size["ahead"] = _pattern(table["size"]["between"] + rf"\b{table['size']['tumor']}\b")
        told: Mapping[str, str] = table["told"]
        before, behind = told["gap_before"], told["gap_behind"]
        self.behind = {how: _pattern(behind + told[f"{how}_behind"]) for how in ("absent", "uncertain", "present")}
        self.before = {
            how: _pattern(told[f"{how}_before"].removesuffix("$") + r"[\s,:]{1,3}" + before + r"\Z")
            for how in ("absent", "uncertain")
        }
        self.features = [(concept, _pattern(rf"\b(?:{pattern})\b")) for concept, pattern in table["feature"].items()]
        begins: Mapping[str, str] = table["begins"]
        self.any_feature = _any(table["feature"])
        self.named_features = Gated(self.any_feature, begins["feature"])
        self.measures = [
            (concept, _pattern(rf"\b(?:{pattern})\b" + _BETWEEN["measure"]))
            for concept, pattern in table["measure"].items()
        ]
        self.unit_in_label = Gated(_pattern(table["size"]["unit_in_label"]), begins["unit_in_label"])
        self.named_measures = Gated(_any(table["measure"]), begins["measure"])
        self.margin = {name: _pattern(pattern) for name, pattern in table["margin"].items()}
        self.named_margins = Gated(_pattern(r"\b" + table["margin"]["name"] + r"\b"), begins["margin"])
        self.number = {name: _pattern(pattern) for name, pattern in table["number"].items() if name != "words"}
        self.counts: Mapping[str, int] = table["number"]["words"]
        self.number_labels = Gated(self.number["label"], begins["number"])
        self.numbers_told = Gated(self.number["told"], begins["count"])
        self.described = Gated(self.number["described"], begins["described"])
        self.one_told = Gated(self.number["one"], begins["one"])
        share: Mapping[str, str] = table["share"]
        self.shares = {name: _pattern(rf"\b(?:{share[name]})\b") for name in _SHARES}
        self.share = {
            "before": _pattern(share["before"] + r"(?P<share>\d{1,3})\s?%"),
            "behind": _pattern(r"(?<![\d.])(?P<share>\d{1,3})\s?%" + share["behind"] + r"\Z"),
            "never": _pattern(share["never"]),
            "bound": _pattern(share["bound"]),
        }
        self.named_shares = Gated(_any({name: share[name] for name in _SHARES}), begins["share"])
        treatment: Mapping[str, Any] = table["treatment"]
        self.treatment = {name: _pattern(treatment[name]) for name in ("unsaid", "none")}
        self.treatment_results, self.treatment_scales = (
            {name: _pattern(pattern) for name, pattern in treatment[part].items()} for part in ("results", "scales")
        )
        self.treatment_degree = _pattern(treatment["degree"]["pattern"])
        self.treatment_labels = Gated(_pattern(rf"\b(?:{treatment['label']})\b"), begins["treatment"])
        imaging: Mapping[str, Any] = table["imaging"]
        self.imaged = {name: _pattern(rf"\b{imaging[name]}\b") for name in ("tumor", "mass")}
        between: str = table["size"]["between"]
        self.imaged_ahead = {name: _pattern(between + rf"\b{imaging[name]}\b") for name in self.imaged}
        self.methods = {name: _pattern(one) for name, one in imaging["methods"].items()}
        clock: Mapping[str, str] = table["clock"]
        self.clock = {name: _pattern(clock[name]) for name in ("of_lesion", "never")}
        self.positions = Gated(_pattern(clock["position"]), begins["clock"])
        growth: Mapping[str, Any] = table["growth"]
        self.growth = {name: _pattern(pattern) for name, pattern in growth.items() if isinstance(pattern, str)}
        self.names: Mapping[str, list[str]] = growth["names"]


@lru_cache(maxsize=1)
def valued() -> frozenset[str]:
    """The features that say nothing without a value: their name alone is no event."""
    return frozenset(cue_file("tumor_features")["valued"]["concepts"])


def _pattern(told: str) -> re.Pattern[str]:
    return re.compile(over_lines(told), re.IGNORECASE)


def _any(patterns: Mapping[str, str]) -> re.Pattern[str]:
    return _pattern(r"\b(?:" + "|".join(f"(?:{pattern})" for pattern in patterns.values()) + r")\b")


#: Made when the module is loaded, as every gate is.
_CUES: Final = _Cues()
_FIGURES: Final = Gated(_FIGURE, r"\d")


class TumorFeatureRecognizer(Recognizer):
    """Sizes, features and extensions of tumors, in reports of pathology."""

    name = "tumor features"
    layer = TUMOR_FEATURES
    gates = (
        _FIGURES,
        _CUES.unit_in_label,
        _CUES.named_measures,
        _CUES.named_margins,
        _CUES.named_features,
        _CUES.number_labels,
        _CUES.numbers_told,
        _CUES.one_told,
        _CUES.described,
        _CUES.named_shares,
        _CUES.treatment_labels,
        _CUES.positions,
    )

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
        parts = set().union(*(self._concepts.below(one) for one in asked if one in self._concepts)) - asked
        for concept in sorted(parts.difference(structures)):
            # "Hilar" may be of another organ than the one asked about; a noun is of its own.
            phrases += [(name, concept) for name in self._concepts.names(concept) if not name.endswith(_ADJECTIVES)]
        return PhraseTrie(phrases)

    def find(self, frame: Frame) -> Iterator[Span]:
        """Spans of the kinds ``feature`` and ``extension``."""
        class_ = note_class(frame.note.type, frame.note.title)
        if class_ in (PATHOLOGY, _IMAGING):
            yield from _clock_positions(frame)
        if class_ == _IMAGING:
            yield from _imaged_sizes(frame)
        if class_ != PATHOLOGY:
            return
        yield from _sizes(frame)
        yield from _sizes_of_forms(frame)
        yield from _measures(frame)
        yield from _margins(frame)
        yield from _features(frame)
        yield from _numbers(frame)
        yield from _shares(frame)
        yield from _treatment_effects(frame)
        yield from self._extensions(frame)

    def _extensions(self, frame: Frame) -> Iterator[Span]:
        cues, text = _CUES.growth, frame.text
        before: Span | None = None
        for match in frame.phrases(self._structures, 0, len(frame.words.norms)):
            found = _grown(text, match.start, match.end, cues)
            if found is None and before is not None and _is_listed(text[before.end : match.start]):
                # "Extends into the perinephric fat and renal sinus".
                found = before.decided, str(before.attributes["reach"])
            before = None
            if found is None:
                continue
            decided, reach = found
            attributes: dict[str, Value] = {"reach": reach} if reach else {}
            before = Span(match.start, match.end, "extension", match.payloads[0], SOURCE, attributes, decided=decided)
            yield before


def _sizes(frame: Frame) -> Iterator[Span]:
    text = frame.text
    cues = _CUES.size
    for match in _FIGURES.find(frame.places, text):
        # A form that takes three figures has a nought for the one that was not measured.
        lengths = [length for length in _lengths(match) if length > 0]
        if not lengths or lengths[0] > _WIDEST:
            continue
        if cues["thickness_behind"].match(text[match.end() : match.end() + _REACH_BEHIND]) and len(lengths) == 1:
            thick: dict[str, Value] = {"value": lengths[0], "unit": "mm"}
            yield Span(match.start(), match.end(), "feature", "tumor_thickness", SOURCE, thick, decided="present")
            continue
        is_base = cues["base_behind"].match(text[match.end() : match.end() + _REACH_BEHIND])
        how = True if is_base else _measured(text, match.start(), match.end(), cues)
        if how is None:
            continue
        attributes = _dimensions(lengths)
        if how:
            attributes["which"] = SUMMARY
        yield Span(match.start(), match.end(), "feature", "tumor_size", SOURCE, attributes, decided="present")


def _lengths(match: re.Match[str]) -> list[float]:
    """The figures of a size in millimetres, the greatest first."""
    told = (_millimetres(match[name], match["unit"]) for name in ("first", "second", "third") if match[name])
    return sorted(told, reverse=True)


def _dimensions(lengths: Sequence[float]) -> dict[str, Value]:
    """The attributes of a size, from its lengths in millimetres."""
    return {"value": lengths[0], "unit": "mm", **dict(zip(("second", "third"), lengths[1:], strict=False))}


def _sizes_of_forms(frame: Frame) -> Iterator[Span]:
    """Sizes whose unit stands in their label."""
    for match in _CUES.unit_in_label.find(frame.places, frame.text):
        value = _millimetres(match["first"], match["unit"])
        if 0 < value <= _WIDEST:
            attributes: dict[str, Value] = {"value": value, "unit": "mm", "which": SUMMARY}
            yield Span(match.start(), match.end(), "feature", "tumor_size", SOURCE, attributes, decided="present")


def _imaged_sizes(frame: Frame) -> Iterator[Span]:
    """What imaging measures: a tumor, or a mass, which may be one. The method is the one named nearest before."""
    text = frame.text
    for match in _FIGURES.find(frame.places, text):
        lengths = _lengths(match)
        if not lengths or lengths[0] > _WIDEST or lengths[-1] <= 0:
            continue
        how = next((name for name in ("tumor", "mass") if _is_of(match, text, name)), "")
        if not how:
            continue
        attributes = {**_dimensions(lengths), "which": _IMAGING}
        first, last = frame.sentence_span(match.start())
        named = {name: _last(one, text[first:last]) for name, one in _CUES.methods.items()}
        told = {name: at for name, at in named.items() if at is not None}
        if not told:
            title = f"{frame.note.type} {frame.note.title}"
            told = {name: 0 for name, one in _CUES.methods.items() if one.search(title)}
        if told:
            attributes["method"] = max(told, key=lambda name: told[name])
        decided = "present" if how == "tumor" else "uncertain"
        yield Span(match.start(), match.end(), "feature", "tumor_size", SOURCE, attributes, decided=decided)


def _is_of(match: re.Match[str], text: str, thing: str) -> bool:
    """Whether a figure is the size of such a thing that an image shows: named right before it, or right behind."""
    named = {"tumor": _CUES.imaged[thing], "ahead": _CUES.imaged_ahead[thing], "imaged": _NEVER, "placed": _NEVER}
    return _measured(text, match.start(), match.end(), {**_CUES.size, **named}) is not None


def _clock_positions(frame: Frame) -> Iterator[Span]:
    """Where a lesion of the breast lies, as on the face of a clock: 12:30 is 12.5."""
    text, cues = frame.text, _CUES.clock
    for match in _CUES.positions.find(frame.places, text):
        around = text[max(0, match.start() - _AROUND_CLOCK) : match.end() + _AROUND_CLOCK]
        beside = text[max(0, match.start() - 40) : match.end() + 40]
        if not match["label"] and (not cues["of_lesion"].search(around) or "breast" not in text.lower()):
            continue
        if cues["never"].search(beside):
            continue
        hour = match["hour"] or match["labelled"] or match["placed"]
        minutes = match["minutes"] or match["labelled_minutes"] or match["placed_minutes"] or "00"
        attributes: dict[str, Value] = {"value": int(hour) + int(minutes) / 60, "which": f"{int(hour)}:{minutes}"}
        yield Span(match.start(), match.end(), "feature", "clock_position", SOURCE, attributes, decided="present")


def _measured(text: str, start: int, end: int, cues: Mapping[str, re.Pattern[str]]) -> bool | None:
    """Whether a figure is a tumor's size: True as a label tells it, False as prose does, None for another thing's."""
    low = max(0, start - _REACH_OF_SIZE)
    before, behind = text[low:start], text[end : end + _REACH_BEHIND]
    if cues["broken"].search(before) or cues["bound"].search(before):
        return None
    if cues["bound_behind"].search(behind) or cues["away"].search(behind):
        return None
    clause = max((one.end() for one in _CLAUSE.finditer(before, 0)), default=0)
    if cues["imaged"].search(before[clause:]) or cues["imaged"].match(behind.lstrip(" ,(").removeprefix("on ")):
        return None
    label = _last(cues["label"], before)
    if label is not None and not cues["other"].search(before, label) and len(before) - label < 50:
        return True
    is_measured = cues["measuring"].search(before) and cues["greatest_behind"].match(behind)
    if is_measured or cues["greatest_before"].search(before):
        # It is told of what was named last, in the items before.
        before, clause = text[max(0, start - _REACH_OF_MEASURING) : start], 0
    tumor = _last(cues["tumor"], before[clause:])
    other = _last(cues["other"], before[clause:])
    if tumor is not None and (other is None or tumor > other) or cues["placed"].search(before[clause:]):
        return False
    if other is None or len(before[clause:]) - other > 12:
        ahead = cues["ahead"].match(text[end : end + _REACH_AHEAD])
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
        said = {how: cues[how].match(text, at) for how in ("clear", "involved", "close")}
        result = next((how for how, words in said.items() if words), "")
        if (words := said.get(result)) is not None:
            at = words.end()
        before = text[max(0, match.start() - _REACH_OF_DISTANCE) : match.start()]
        if not result and cues["at_involved"].search(before):
            result = "clear" if re.search(_BETWEEN["denial"], before, re.IGNORECASE) else "involved"
        attributes: dict[str, Value] = {}
        distance, end = (None, at) if result == "involved" else _distance(text, match, at, before, cues)
        if distance is not None and distance > 0:
            attributes["distance"] = distance
            result = result or "clear"
        elif distance == 0:
            # "Less than 1 mm": no number, and close all the same.
            result = "close"
        if not result:
            continue
        attributes["result"] = result
        which = (match["which"] or "").lower()
        if which in _NEAREST and (named := cues["named_behind"].match(text, end)):
            which = named["which"].lower()
        if which and which not in ("all", "final", "inked", "other"):
            attributes["which"] = which
        yield Span(match.start(), match.end(), "feature", "resection_margin", SOURCE, attributes, decided="present")


def _distance(
    text: str, match: re.Match[str], at: int, before: str, cues: Mapping[str, re.Pattern[str]]
) -> tuple[float | None, int]:
    """How far a margin lies from the tumor, in millimetres: the figure right behind it, or before *from the margin*;
    0 for one that is only told to be less than a millimetre or two. With it, where what follows begins."""
    figure, end = None, at
    if lead := cues["distance_before"].search(before):
        begins = match.start() - len(before)
        figure = max(_FIGURE.finditer(text, begins, begins + lead.start()), key=lambda one: one.end(), default=None)
        if figure is not None and begins + lead.start() - figure.end() > 3:
            figure = None
    if figure is None:
        figure = _distance_behind(text, match.end(), at, cues)
        end = figure.end() if figure is not None else at
    if figure is None or figure["second"]:
        return None, end
    distance = _millimetres(figure["first"], figure["unit"])
    ahead = text[max(0, figure.start() - 16) : figure.start()]
    if cues["within"].search(ahead):
        return (0.0 if distance <= _NEAR else None), end
    return (None if cues["beyond"].search(ahead) else distance), end


def _distance_behind(text: str, name: int, at: int, cues: Mapping[str, re.Pattern[str]]) -> re.Match[str] | None:
    """The figure behind a margin's name, or behind what is said of it; None for one that is of something else."""
    lead_in = cues["distance_behind"].match(text, at)
    place = lead_in.end() if lead_in is not None and lead_in.end() - at <= _REACH_OF_DISTANCE else at
    if (bound := _WITHIN.match(text, place)) is not None:
        place = bound.end()
    figure = _FIGURE.match(text, place)
    if figure is None or cues["of_another"].match(text, figure.end()):
        return None
    # "Margin, 3 cm" is the length of a piece of tissue: a label or a verb makes it a distance.
    between = text[name:place]
    return figure if ":" in between or any(letter.isalpha() for letter in between) else None


def _numbers(frame: Frame) -> Iterator[Span]:
    """How many tumors there are, by the label of a form or in prose."""
    text, cues = frame.text, _CUES.number
    for label in _CUES.number_labels.find(frame.places, text):
        value = cues["label_value"].match(text, label.end())
        # "Multifocality: one" would tell of one focus more.
        if value is not None:
            yield _number(label.start(), value)
    for told in _CUES.numbers_told.find(frame.places, text):
        before = text[max(0, told.start() - _REACH_BEHIND) : told.start()]
        if not cues["not_told"].search(before) and not cues["not_behind"].match(text, told.end()):
            yield _number(told.start(), told)
    yield from _one(frame)


def _one(frame: Frame) -> Iterator[Span]:
    """A carcinoma that forms a mass is one tumor, as are a single mass and one that is described alone."""
    text, cues = frame.text, _CUES.number
    for told in _CUES.one_told.find(frame.places, text):
        before = text[max(0, told.start() - _REACH_OF_ONE) : told.start()]
        needs_tumor = told["forming"] or told["alone"]
        if cues["not_told"].search(before) or needs_tumor and not cues["one_before"].search(before):
            continue
        attributes: dict[str, Value] = {"value": 1.0}
        yield Span(told.start(), told.end(), "feature", "tumor_number", SOURCE, attributes, decided="present")
    described = list(_CUES.described.find(frame.places, text))
    if len(described) == 1 and not cues["further"].search(text):
        (mass,) = described
        alone: dict[str, Value] = {"value": 1.0}
        yield Span(mass.start("mass"), mass.end(), "feature", "tumor_number", SOURCE, alone, decided="present")


def _number(start: int, match: re.Match[str]) -> Span:
    count = match["count"].lower()
    number = float(_CUES.counts.get(count) or count)
    return Span(start, match.end(), "feature", "tumor_number", SOURCE, {"value": number}, decided="present")


def _shares(frame: Frame) -> Iterator[Span]:
    """Which share of the tumor is viable, or necrotic: a range or a bound is no number."""
    text, cues = frame.text, _CUES.share
    for name in _CUES.named_shares.find(frame.places, text):
        concept = next(one for one, pattern in _CUES.shares.items() if pattern.match(text, name.start()))
        low = max(0, name.start() - _REACH_OF_SHARE)
        before = text[low : name.start()]
        figure, start, end = cues["behind"].search(before), name.start(), name.end()
        if figure is not None:
            start = low + figure.start()
        else:
            figure = cues["before"].match(text, name.end())
            if figure is None:
                continue
            end = figure.end()
        lead = _lead_of(text, figure, low if start < name.start() else 0)
        share = float(figure["share"])
        if share > 100 or cues["bound"].search(lead) or cues["never"].search(text[max(0, start - 40) : start]):
            continue
        attributes: dict[str, Value] = {"value": share, "unit": "%"}
        yield Span(start, end, "feature", concept, SOURCE, attributes, decided="present" if share else "absent")


def _lead_of(text: str, figure: re.Match[str], offset: int) -> str:
    """What stands right before a figure."""
    at = offset + figure.start("share")
    return text[max(0, at - 20) : at]


def _treatment_effects(frame: Frame) -> Iterator[Span]:
    """What treatment did to the tumor: how much of it is left, and the degree on a scale."""
    text, cues = frame.text, _CUES.treatment
    for label in _CUES.treatment_labels.find(frame.places, text):
        if cues["unsaid"].match(text, label.end()):
            continue
        start, end = label.span()
        if cues["none"].match(text, end):
            yield Span(start, end, "feature", "treatment_effect", SOURCE, {}, decided="absent")
            continue
        behind = text[end : end + _REACH_OF_EFFECT]
        stop = _CLAUSE.search(behind)
        behind = behind[: stop.start()] if stop is not None else behind
        attributes: dict[str, Value] = {}
        degree = _CUES.treatment_degree.match(behind)
        if degree is not None:
            attributes["value"] = float(_ROMAN.get(degree["degree"].lower()) or degree["degree"])
            around = text[max(0, start - 20) : end + degree.end() + 20]
            scale = next((name for name, one in _CUES.treatment_scales.items() if one.search(around)), "")
            if scale:
                attributes["which"] = scale
        result = next((how for how, one in _CUES.treatment_results.items() if one.search(behind)), "")
        if result:
            attributes["result"] = result
        if attributes or _CUES.behind["present"].match(text, end):
            yield Span(start, end, "feature", "treatment_effect", SOURCE, attributes, decided="present")


def _features(frame: Frame) -> Iterator[Span]:
    text = frame.text
    cues = _CUES
    for found in cues.named_features.find(frame.places, text):
        for concept, pattern in cues.features:
            match = pattern.match(text, found.start())
            if match is not None:
                # A heading says what its sentence does: "VENOUS INVASION. Venous invasion is absent."
                told = _named_again(text, match, pattern)
                decided = _how_told(text, told.start(), told.end())
                yield Span(match.start(), match.end(), "feature", concept, SOURCE, {}, decided=decided)
                break


def _named_again(text: str, match: re.Match[str], pattern: re.Pattern[str]) -> re.Match[str]:
    """The name of the feature that stands right behind its name; the name itself where none does."""
    between = _HEADED.match(text, match.end())
    again = pattern.match(text, between.end()) if between is not None else None
    return match if again is None else again


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
    """How a structure is told as grown into: its polarity (empty where its sentence must tell), and how far; None where
    nothing grows there."""
    low = max(0, start - _REACH_OF_GROWTH)
    before = text[low:start]
    clause = max((one.end() for one in _PARTS_OF_GROWTH.finditer(before, 0)), default=0)
    begins = before[clause:]
    if cues["never"].search(begins[-45:]):
        return None
    if cues["inside"].match(text[start:end]):
        return ("present", "confined") if cues["inside_behind"].match(text, end) else None
    if cues["not_to"].search(before):
        return "absent", "into"
    if cues["no_further"].search(before):
        return "", "into"
    if _CAPSULE.search(text, start, end) and cues["kept"].match(text, end):
        return "present", "confined"
    if _OF_CATEGORY.search(before):
        # "pT3a Tumor invades …": a form tells what its category means.
        return None
    if cues["label"].search(before):
        told = _behind(text, end)
        return (told, "into") if told or not _LABEL.match(text, end) else None
    denied = "absent" if cues["absent"].search(before[max(0, clause - 9) :]) else ""
    behind = re.compile(r"[\s,]{0,2}" + cues["behind"].pattern, re.IGNORECASE).match(text, end)
    if behind is not None:
        told = _how_told(text, start, behind.end())
        return (told or denied), "into"
    for reach in ("confined", "through", "into"):
        at = _last(cues[reach], begins)
        if at is not None and len(begins) - at <= _REACH_TO_STRUCTURE and "." not in begins[at:]:
            # A word of growth may be the noun of another feature: "lymphovascular invasion".
            if _CUES.any_feature.search(begins[: at + 1]) and reach != "confined":
                return None
            governs = max(cues[reach].finditer(begins, 0), key=lambda one: one.end())
            if reach != "confined" and cues["near"].search(begins, governs.start()):
                return None
            told = "" if reach == "confined" else _behind(text, end)
            if not denied and cues["doubt"].search(begins):
                denied = "uncertain"
            if reach == "through" and "absent" in (denied, told) and _CAPSULE.search(text, start, end):
                # What does not go through its capsule is confined by it.
                return "present", "confined"
            return (told if told != "present" else "") or denied, reach
    if cues["spared"].match(text, end):
        return "absent", "into"
    told = _behind(text, end)
    is_said = cues["said"].match(text, end) or cues["together"].match(text, end)
    return (told, "into") if told in ("absent", "present") and is_said else None


def _behind(text: str, end: int) -> str:
    for how, pattern in _CUES.behind.items():
        if pattern.match(text, end):
            return how
    together = _CUES.growth["together"].match(text, end)
    return "absent" if together and _CUES.behind["absent"].match(text, together.end()) else ""


def _is_listed(between: str) -> bool:
    """Whether two structures are joined in one list."""
    return _LISTED.fullmatch(between) is not None
