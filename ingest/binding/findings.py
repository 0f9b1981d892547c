"""What the descriptors of a group say of one marker: a biomarker with its result, or a variant with its attributes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Final

from ...kb.model import Value
from ...kb.ontology.concepts import ConceptTable
from ..recognizers.molecular import number_after, sign_after
from ..text.frame import Frame, Span
from ..text.statements import statement
from ..text.word_classes import word_classes
from .groups import Group, marker_rules, members_of, said_no
from .in_time import value_begins, with_later

_CLASSES: Final = word_classes("binding", "findings")

#: Each side of a fusion may carry its exon: EML4(ex6)-ALK(ex20).
_ITS_EXON = r"(?:[ ]?\((?:[Ee]x(?:on)?|[Ee])[ .]?\d{1,2}\))?"
_PARTNER_BEFORE = re.compile(
    rf"(?<![A-Za-z0-9])(?P<partner>[A-Z][A-Z0-9]{{1,9}}(?:orf\d+)?){_ITS_EXON}(?:::|--?|–|/{{2}})$"
)
_PARTNER_AFTER = re.compile(rf"{_ITS_EXON}(?:::|--?|–)(?P<partner>[A-Z][A-Z0-9]{{1,9}})(?![A-Za-z0-9])")
_LINE_CUT = _CLASSES.compile(r"\.\s{1,2}{result}\b", re.IGNORECASE)
_NOT_A_PARTNER = frozenset({"PD", "WT", "NON", "ANTI", "PAN", "HER", "IHC", "NGS", "FISH", "CEP", "CT", "MRI", "STAGE"})
_IN_A_COMPONENT = re.compile(r"\s(?:in|of)\s(?:the\s)?[\w\-]{3,20}\scomponents?\b", re.IGNORECASE)
_OF_COPIES = frozenset({"amplification", "copy_gain", "homozygous_deletion", "fusion"})
_OF_A_VARIANT = frozenset({"alteration", "significance", "origin", "effect", "exon", "exons", "codon"})


#: "BCL2 (18q21)": where the gene lies is told where a probe looked at it.
_LOCUS = re.compile(r"\s?\(\s?(?:\d{1,2}|X)[pq]\d{1,2}(?:\.\d{1,2})?\s?\)")
_PROBED_BEHIND = _CLASSES.compile(r"\s?\(?(?:{by_method}\s){0,2}{probed}\b", re.IGNORECASE)
_STAINED_BEHIND = _CLASSES.compile(r"[^.;,\n]{0,40}?\b{stained}(?![^\W_])", re.IGNORECASE)
_METHODS = _CLASSES.compile(r"(?<![^\W_])(?:(?P<probed>{probed})|{stained})(?![^\W_])", re.IGNORECASE)
#: So far before a gene does the method stand by which it was looked at (characters).
_REACH_OF_METHOD = 240
#: The stain that a name of a gene may mean as well ends so.
_STAIN = "_ihc"


def _by_probe(text: str, marker: Span) -> bool:
    """Whether the gene itself was looked at (FISH): by its locus, a probe behind it, or the last method before it."""
    if _LOCUS.match(text, marker.end) or _PROBED_BEHIND.match(text, marker.end):
        return True
    if _STAINED_BEHIND.match(text, marker.end):
        return False
    low = max(0, marker.start - _REACH_OF_METHOD)
    low = max(low, text.rfind("\n\n", low, marker.start) + 1)
    methods = list(_METHODS.finditer(text, low, marker.start))
    return bool(methods) and methods[-1]["probed"] is not None


@lru_cache(maxsize=2)
def _words_of(rule: str) -> tuple[re.Pattern[str], tuple[tuple[re.Pattern[str], str], ...]]:
    """Of the qualifiers or methods: one pattern of any word, and each word's own with what it says."""
    values_of = marker_rules()[rule]
    flags = re.IGNORECASE if rule == "qualifier" else re.NOFLAG
    any_word = re.compile(rf"\b(?:{'|'.join(values_of)})\b", flags)
    return any_word, tuple((re.compile(rf"\b{word}\b", flags), value) for word, value in values_of.items())


def _first_of(rule: str, text: str) -> str:
    """What the first word of a rule says that stands in the text; empty where none does."""
    any_word, words = _words_of(rule)
    if any_word.search(text) is None:
        return ""
    return next((value for word, value in words if word.search(text)), "")


def extend_over_partner(text: str, span: Span, others: list[Span]) -> None:
    """A gene written with a fusion partner that no list knows (``FGFR2-XYZ1``) takes the partner in."""
    partner = _PARTNER_AFTER.match(text, span.end) if span.kind == "gene" else None
    if partner is None or partner["partner"] in _NOT_A_PARTNER:
        return
    if not any(other.start == partner.start("partner") for other in others):
        span.attributes.update({"alteration": "fusion", "partner": partner["partner"].lower()})
        span.end = partner.end()


#: A zero right behind HER2.
_ZERO = _CLASSES.compile(r"[\s:=]*{scored_by}?[\s:=]*0(?![\d.%+/])")
#: A score that stands alone behind a receptor; one and two are left out: they may be pluses as well.
_BARE_SCORE = _CLASSES.compile(
    r"[ \t]{0,2}[:=]?[ \t]{1,2}(?P<score>[03-8])(?=[ \t]*(?:[,;)]|\.(?!\d)|\r?\n|\Z)"
    r"|[ \t]{1,2}{next_marker}[\s\-\d:=])"
)
_INNER_SIGN = re.compile(r"\w\s?\(?(?P<sign>\+|-(?=\)?[\s/,]))")
_TWO_SIGNS = _CLASSES.compile(r"[\s:=(]{0,3}(?P<one>\+|-|{signed})\s?/\s?(?P<other>\+|-|{signed})", re.IGNORECASE)
_TWO_PERCENTAGES = re.compile(
    r"[\s:=(]{0,3}(?:positive\s?\(?)?(?P<one>\d{1,3})\s?%?\s?(?:/|and|,)\s?(?P<other>\d{1,3})\s?%"
)


def _of_each(text: str, span: Span) -> list[Span]:
    """``ER and PR positive``, ``ER+ PR-``, ``ER/PR 90%/20%``: the result of each of two markers that one name holds."""
    joint = marker_rules()["joint"].get(span.concept)
    surface = text[span.start : span.end]
    if joint is None or not surface.lower().startswith(tuple(joint["begins"])):
        return []
    inner, signs, numbers = (
        _INNER_SIGN.search(surface),
        _TWO_SIGNS.match(text, span.end),
        _TWO_PERCENTAGES.match(text, span.end),
    )
    each: list[dict[str, Value]] = [{}, {}]
    if signs:
        each = [{"result": "positive" if signs[name][0] in "+pP" else "negative"} for name in ("one", "other")]
    elif numbers:
        percentages = [float(numbers[name]) for name in ("one", "other")]
        least = [marker_rules()["threshold"][member]["percent"] for member in joint["members"]]
        each = [
            {"percent": value, "result": "positive" if value >= bound else "negative"}
            for value, bound in zip(percentages, least, strict=True)
        ]
    elif "result" in span.attributes:
        # One number behind the pair may be of either: the result alone is of both.
        each = [{"result": span.attributes["result"]}, {"result": span.attributes["result"]}]
        if inner:
            each[0]["result"] = "positive" if inner["sign"] == "+" else "negative"
    if not each[0]:
        return []
    if any(one["result"] == "positive" for one in each):
        span.attributes["result"] = "positive"
    kept = {name: value for name, value in span.attributes.items() if name in ("method", "laterality", "site")}
    return [
        replace(span, concept=member, attributes={**kept, **one}, helpers=list(span.helpers), decided="present")
        for member, one in zip(joint["members"], each, strict=True)
    ]


_RESULT = _CLASSES.pattern(r"(?:\+(?:ve)?|[-–](?:ve)?|{result})(?![A-Za-z])")
#: Behind slashes words may follow; a comma may as well begin something else, so the list must end its clause. Between
#: the cells of a scanned table stands a blank or the full stop of a line.
_RESULTS_IN_PARALLEL = re.compile(
    rf"[\s:=(.]{{0,3}}{_RESULT}(?:(?:\s?/\s?{_RESULT})+(?!\s?[/\d])|(?:\s?,\s?{_RESULT})+(?!\s?[/\w])"
    rf"|(?:[\s.]{{1,3}}{_RESULT})+(?!\s?[/\w]))",
    re.IGNORECASE,
)
_ONE_RESULT = re.compile(_RESULT, re.IGNORECASE)


def in_parallel(text: str, markers: list[Span]) -> list[Span]:
    """``ER/PR/HER2: positive/positive/negative``: as many results as markers, in their order; else nothing."""
    if len(markers) < 2 or any(marker.kind != "biomarker" for marker in markers):
        return []
    match = _RESULTS_IN_PARALLEL.match(text, markers[-1].end)
    each = [(marker, one) for marker in markers for one in members_of(marker.concept) or (marker.concept,)]
    results = _ONE_RESULT.findall(match.group()) if match else []
    if match is None or len(results) != len(each):
        return []
    helpers = [(markers[-1].end, match.end(), "results in parallel")]
    return [
        _result_of(replace(marker, concept=one), {"result": "positive" if sign[0] in "+pP" else "negative"}, helpers)
        for (marker, one), sign in zip(each, results, strict=True)
    ]


def _result_of(marker: Span, attributes: dict[str, Value], helpers: list[tuple[int, int, str]]) -> Span:
    """The marker with its result, whose polarity the result word has decided."""
    return Span(
        marker.start,
        marker.end,
        "biomarker",
        marker.concept,
        marker.source,
        attributes,
        1,
        helpers,
        decided="present",
    )


def _qualifier(text: str, marker: Span, descriptors: list[Span], stretch: int, limit: int) -> str:
    """What qualifies a positive result (``weakly``), within a few words of it; ``stretch``: where the result ends."""
    ahead = any(span.end <= marker.start for span in descriptors)
    window = text[max(0, marker.start - 30) : marker.start] if ahead else ""
    window += " " + text[marker.end : min(limit, stretch + 26)]
    window = re.split(r"[;\n]|\.\s", window)[0]
    if _IN_A_COMPONENT.match(text, stretch, limit):
        window += " component"
    return _first_of("qualifier", window)


@dataclass(slots=True)
class _GeneWords:
    """What the words around a gene say of it, as they are taken one by one."""

    attributes: dict[str, Value]
    results: list[str] = field(default_factory=list)
    #: Changes that are written out, and where each stands; deletions and insertions that only their exon tells.
    changes: list[dict[str, Value]] = field(default_factory=list)
    places: list[Span] = field(default_factory=list)
    loci: list[Span] = field(default_factory=list)
    helpers: list[tuple[int, int, str]] = field(default_factory=list)

    def take(self, span: Span, *, own: bool) -> None:
        """Take one; ``own``: it stands beside the gene, and not in a heading."""
        self.helpers.append((span.start, span.end, span.source))
        if span.kind == "value":
            rules = marker_rules()
            if span.concept not in rules["no_result"]["concepts"] + rules["no_gene_result"]["concepts"]:
                self.results.append(span.concept)
            return
        inframe = str(span.attributes.get("effect", "")).startswith("inframe")
        for name, value in span.attributes.items():
            if name == "percent":
                self.attributes.setdefault("percent", value)
            elif name in ("protein", "cdna"):
                self._take_change(span, name, value)
            elif name == "effect" and inframe and "exon" in span.attributes:
                self.loci.append(span)
            elif name == "exon" and inframe:
                continue
            elif name in _OF_A_VARIANT and "protein" not in span.attributes:
                if own:
                    self.settle(name, value)
                else:
                    self.attributes.setdefault(name, value)  # A heading says only what the line itself leaves open.

    def _take_change(self, span: Span, name: str, value: Value) -> None:
        """A second change of the same kind is a second variant of the gene."""
        if self.changes and name not in self.changes[-1]:
            self.changes[-1][name] = value
            self.places[-1] = span if span.end > self.places[-1].end else self.places[-1]
        else:
            self.changes.append({name: value})
            self.places.append(span)
        for extra in ("codon", "effect"):
            if extra in span.attributes and extra not in self.changes[-1]:
                self.changes[-1][extra] = span.attributes[extra]

    def settle_loci(self, own: list[Span]) -> None:
        """Deletions and insertions of an exon: each a variant of its own beside substitutions, else of the variant."""
        for locus in self.loci:
            change: dict[str, Value] = {name: locus.attributes[name] for name in ("exon", "effect")}
            if self.changes and all(change.get("effect") == "missense" for change in self.changes) and locus in own:
                # "del19 and T790M", "ex20ins; L858R": a deletion of an exon is no substitution, so these are two.
                at = sum(place.start < locus.start for place in self.places)
                self.changes.insert(at, change)
                self.places.insert(at, locus)
            else:
                for name, value in change.items():
                    self.settle(name, value)

    def settle(self, name: str, value: Value) -> None:
        """The first value stands, but a narrower alteration or a stated harmless class overrides a bare word."""
        attributes = self.attributes
        if (
            name == "alteration"
            and (
                attributes.get(name) in ("mutation", "alteration", "copy_number_alteration")
                or (attributes.get(name) == "copy_gain" and value == "amplification")
            )
            or name == "significance"
            and value in ("vus", "benign", "likely_benign", "likely_pathogenic")
        ):
            attributes[name] = value
        else:
            attributes.setdefault(name, value)


def _take_alteration(frame: Frame, marker: Span, words: _GeneWords, *, found: bool) -> None:
    """The alteration that results mean of a gene, where no word names it. ``found``: they are positive alone."""
    rules, attributes = marker_rules(), words.attributes
    for result in words.results:
        alteration = rules["gene_result"].get(result)
        by_stain = alteration == "expression_loss" and statement("by_stain").search(
            frame.text, *frame.sentence_span(marker.start)
        )
        if alteration == "expression_loss" and not by_stain:
            alteration = "deletion" if result == "lost" else None
        if alteration:
            attributes.setdefault("alteration", alteration)
    if "exon" in attributes:
        attributes.setdefault("alteration", "mutation")
    if "alteration" in attributes:
        return
    if attributes.get("significance") in ("pathogenic", "likely_pathogenic", "vus", "benign", "likely_benign"):
        attributes["alteration"] = "mutation"
    elif words.results:
        meant = rules["gene_positive"].get(marker.concept, rules["gene_positive"]["default"])
        for name, value in meant.items():
            if name == "alteration" or found:
                attributes.setdefault(name, value)


def _own_sign(text: str, marker: Span) -> tuple[str, int] | None:
    """The sign right behind a marker; not a dash that leads on at the end of a scanned line (``ER -. Positive``)."""
    sign = sign_after(text, marker.end)
    return None if sign and _LINE_CUT.match(text, sign[1]) else sign


#: Between a list of changes and what is said of them all.
_OF_ALL = _CLASSES.compile(r"\s?(?::|[–—-]{1,2}|{said_of_all})\s(?:all\s)?", re.IGNORECASE)


def _is_said_of_all(text: str, words: _GeneWords, group: Group) -> bool:
    """Whether a result stands behind a colon or *were* behind the changes of a gene: it is that of each of them
    (``exon 19 deletion, L858R and T790M: not detected``)."""
    places = [*words.places, *words.loci]
    if len(places) < 2:
        return False
    last = max(place.end for place in places)
    results = [span for span in group.descriptors if span.kind == "value" and span.start >= last]
    return bool(results) and _OF_ALL.fullmatch(text, last, min(span.start for span in results)) is not None


class FindingReader:
    """Reads findings of markers; ``read`` gives the spans of one marker of a group."""

    def __init__(self, concepts: ConceptTable) -> None:
        self._concepts = concepts
        self._expression = frozenset(marker_rules()["expression"]["markers"])
        self._break_apart = frozenset(marker_rules()["break_apart"]["genes"])

    def read(self, frame: Frame, marker: Span, group: Group, heading: list[Span], limit: int) -> list[Span]:
        """``limit``: where the stretch of this marker ends (the next marker, or the sentence)."""
        descriptors = group.led + group.descriptors
        gene = marker.concept.removesuffix(_STAIN)
        if gene in self._break_apart and descriptors and _by_probe(frame.text, marker):
            marker.kind, marker.concept = "gene", gene
            return self._gene(frame, marker, group, descriptors, heading, limit)
        if marker.kind == "biomarker":
            spans = self._biomarker(frame, marker, descriptors, heading, limit)
            return [*spans, *_of_each(frame.text, spans[0])]
        return self._gene(frame, marker, group, descriptors, heading, limit)

    def _biomarker(
        self, frame: Frame, marker: Span, descriptors: list[Span], heading: list[Span], limit: int
    ) -> list[Span]:
        rules = marker_rules()
        text = frame.text
        attributes: dict[str, Value] = dict(marker.attributes)
        helpers: list[tuple[int, int, str]] = []
        sign = _own_sign(text, marker)
        minus = statement("minus_before").search(text, max(0, marker.start - 40), marker.start)
        if sign and "result" not in attributes:
            attributes["result"] = sign[0]
            helpers.append((marker.end, sign[1], "sign"))
        elif minus and "result" not in attributes:
            attributes["result"] = "negative"
            helpers.append((*minus.span(), "sign"))
        for span in descriptors or [item for item in heading if item.kind == "value"]:
            self._take(marker, span, attributes, helpers, rules)
        self._from_numbers(frame, marker, attributes, helpers, limit)
        if denial := self._denial(text, marker, attributes):
            attributes["result"] = "not_detected"
            helpers.append((*denial.span(), "denied"))
        absent = None
        if marker.concept in self._expression:
            absent = statement("stain_absent").match(text, marker.end, frame.sentence_span(marker.start)[1])
        if absent and "result" not in attributes:
            # It is the stain that is absent, and not the statement: "MLH1 and PMS2 absent".
            attributes["result"] = "lost"
            helpers.append((*absent.span("said"), "stain absent"))
        result = attributes.get("result")
        if result == "positive":
            stretch = max((end for _, end, _ in helpers), default=marker.end)
            attributes["result"] = _qualifier(text, marker, descriptors, stretch, limit) or result
        if marker.concept in self._expression and result in ("positive", "negative", "present_result"):
            attributes["result"] = rules["expression"]["negative" if result == "negative" else "positive"]
        behind = text[marker.start : min(limit, max([marker.end + 24, *(end for _, end, _ in helpers)]))][:120]
        method = _first_of("method", behind)
        if method:
            attributes["method"] = method
        if not ({"result", "percent", "score", "value"} & attributes.keys()):
            return [
                Span(marker.start, marker.end, "biomarker", marker.concept, marker.source, attributes, helpers=helpers)
            ]
        ish = self._by_ish(text, marker, descriptors, rules)
        scores = (*rules["plus"].get(marker.concept, {}).values(), "equivocal")
        if ish and attributes.get("result") in scores:
            # "IHC 2+, FISH amplified" are two results by two methods.
            stated = {name: value for name, value in attributes.items() if name not in ("method", "percent")}
            by_stain = {**attributes, "method": "ihc"}
            return [
                _result_of(marker, by_stain, helpers),
                _result_of(marker, {**stated, "result": ish, "method": "ish"}, helpers),
            ]
        found = with_later(frame, _result_of(marker, attributes, helpers), marker.end)
        plain = any(span.kind == "value" and span.concept == "positive" for span in descriptors)
        if plain and result == "amplified":
            # "Positive, and amplified by FISH" are two results.
            stated = {name: value for name, value in attributes.items() if name != "method"}
            found.append(_result_of(marker, {**stated, "result": "positive"}, helpers))
        return found

    @staticmethod
    def _denial(text: str, marker: Span, attributes: dict[str, Value]) -> re.Match[str] | None:
        """The word before a marker that denies it, where it was sought (``No estrogen receptors detected``)."""
        told = attributes.get("result", "detected")
        if told not in ("detected", "present_result") or {"percent", "score"} & attributes.keys():
            return None
        if not statement("none_behind").match(text, marker.end):
            return None
        return statement("none_before").search(text, max(0, marker.start - 24), marker.start)

    @staticmethod
    def _by_ish(text: str, marker: Span, descriptors: list[Span], rules: dict[str, Any]) -> str:
        """The result by in-situ hybridisation that stands beside a plus-score: amplified, not_amplified or empty."""
        if marker.concept not in rules["plus"]:
            return ""
        for span in descriptors:
            if span.kind == "value" and span.concept in ("amplified", "not_amplified"):
                return span.concept
            if span.attributes.get("alteration") == "amplification":
                return "amplified"
            ahead = text[max(0, span.start - 24) : span.start]
            if span.kind == "value" and statement("by_ish").search(ahead):
                amplification = {"positive": "amplified", "negative": "not_amplified"}
                if span.concept in amplification:
                    return amplification[span.concept]
        return ""

    @staticmethod
    def _take(
        marker: Span,
        span: Span,
        attributes: dict[str, Value],
        helpers: list[tuple[int, int, str]],
        rules: dict[str, Any],
    ) -> None:
        before = dict(attributes)
        if span.kind == "value" and span.concept in rules["no_result"]["concepts"]:
            return
        if span.kind == "value":
            # The first result word is the result; a later, narrower one of the same line refines it elsewhere.
            result = attributes.get("result")
            narrower = result in ("positive", "three_plus") and span.concept.endswith(("_positive", "amplified"))
            if span.concept != "two_plus" and (result is None or narrower):
                attributes["result"] = span.concept
        else:
            for name in ("percent", "score"):
                if name in span.attributes and name not in attributes:
                    attributes[name] = span.attributes[name]
            plus = span.attributes.get("plus")
            table = rules["plus"].get(marker.concept)
            if plus is not None and table and "result" not in attributes:
                attributes["result"] = table[str(int(float(plus)))]
                attributes.setdefault("method", "ihc")
            alteration = span.attributes.get("alteration")
            if alteration in ("amplification", "fusion") and "result" not in attributes and marker.concept == "her2":
                attributes["result"] = "amplified"
                attributes["method"] = "ish"
            if span.attributes.get("alteration") == "deletion" and marker.concept.endswith("_ihc"):
                attributes["result"] = "lost"
        if attributes != before:
            helpers.append((span.start, span.end, span.source))

    def _from_numbers(
        self,
        frame: Frame,
        marker: Span,
        attributes: dict[str, Value],
        helpers: list[tuple[int, int, str]],
        limit: int,
    ) -> None:
        above = self._concepts.above(marker.concept) if marker.concept in self._concepts else frozenset[str]()
        threshold = marker_rules()["threshold"].get(marker.concept, {})
        if "percent" in attributes and "result" not in attributes and "percent" in threshold:
            attributes["result"] = "positive" if float(attributes["percent"]) >= threshold["percent"] else "negative"
        if attributes.get("percent") == 0 and attributes.get("result") == "positive":
            # "0% positive cells": the word says what was counted, the figure that there was none.
            attributes["result"] = "negative"
        if "score" in attributes and "result" not in attributes and "allred" in threshold:
            attributes["result"] = "positive" if float(attributes["score"]) >= threshold["allred"] else "negative"
        if "allred" in threshold and not {"result", "percent", "score"} & attributes.keys():
            score = _BARE_SCORE.match(frame.text, marker.end, limit)
            if score:  # "ER 0 PR 0", "ER 8, PR 7": the figure alone is a score of eight.
                attributes["score"] = float(score["score"])
                attributes["result"] = "positive" if attributes["score"] >= threshold["allred"] else "negative"
                helpers.append((marker.end, score.end(), "number"))
        if marker.concept == "her2" and "result" not in attributes:
            zero = _ZERO.match(frame.text[marker.end : limit])
            if zero:
                attributes["result"] = "zero"
        if (
            "number" in threshold
            or "serum_marker" in above
            or marker.concept in ("gis", "oncotype_dx", "pd_l1_cps", "hrd_status")
        ):
            number = number_after(frame.text, value_begins(frame, marker.end), limit)
            if number and "percent" not in attributes:
                value, sign_before, unit, end = number
                if sign_before == "<" and threshold.get("number") == value:
                    value = value - 1
                attributes["value"] = value
                if unit:
                    attributes["unit"] = unit
                helpers.append((marker.end, end, "number"))
                if "number" in threshold and (attributes.get("result") not in ("high", "positive")):
                    attributes["result"] = threshold["at_least" if value >= threshold["number"] else "below"]

    def _gene(
        self, frame: Frame, marker: Span, group: Group, descriptors: list[Span], heading: list[Span], limit: int
    ) -> list[Span]:
        text = frame.text
        # A probe for rearrangements looked at it.
        probed = marker.concept in self._break_apart and _by_probe(text, marker)
        stain = "" if probed else self._meant_stain(text, marker, descriptors)
        if stain:
            marker.kind, marker.concept = "biomarker", stain
            return self._biomarker(frame, marker, descriptors, heading, limit)
        words = _GeneWords(dict(marker.attributes))
        partner = self._partner(text, marker, group)
        if partner:
            words.attributes["alteration"] = "fusion"
            words.attributes["partner"] = partner
        sign = sign_after(text, marker.end)
        if sign:
            words.results.append(sign[0])
        # "exons 18-21: exon 19 deletion": the range is what was looked at.
        found_at = any(
            "exon" in one.attributes and {"effect", "alteration"} & one.attributes.keys() for one in descriptors
        )
        own = [span for span in descriptors if not self._is_anothers(text, group, marker, span)]
        for span in [
            *own,
            *(item for item in heading if not own or "significance" in item.attributes or "origin" in item.attributes),
        ]:
            if found_at and "exons" in span.attributes and not {"effect", "alteration"} & span.attributes.keys():
                continue
            words.take(span, own=span in own)
        words.settle_loci(own)
        if probed:
            # The share of the nuclei is none of alleles.
            words.attributes.pop("percent", None)
            if words.results:
                words.attributes.setdefault("alteration", "fusion")
        return self._variants(frame, marker, group, words)

    def _meant_stain(self, text: str, marker: Span, descriptors: list[Span]) -> str:
        """The stain that the gene's name means here; empty where it means the gene."""
        other = next((concept for concept, kind in marker.alternatives if kind == "biomarker"), "")
        only_results = bool(descriptors) and all(
            span.kind == "value" or span.attributes.keys() <= {"percent", "plus", "score"} for span in descriptors
        )
        # A stain is no test of the gene, even where "positive" says of the gene what a test of it would find.
        stained = f"{marker.concept}_ihc"
        if only_results and stained in self._concepts and statement("of_stain").match(text, marker.end):
            return stained
        if not other or marker.concept in marker_rules()["gene_positive"]:
            return ""
        return other if only_results or sign_after(text, marker.end) else ""

    def _variants(self, frame: Frame, marker: Span, group: Group, words: _GeneWords) -> list[Span]:
        """The variants that the words about a gene tell, or that it is of wild type."""
        attributes, changes, results = words.attributes, words.changes, words.results
        if changes or {"effect", "codon"} & attributes.keys():
            attributes.setdefault("alteration", "mutation")
        if changes and attributes["alteration"] == "alteration":
            attributes["alteration"] = "mutation"
        negative = any(self._concepts.is_a(result, "result_negative") for result in results)
        positive = any(self._concepts.is_a(result, "result_positive") for result in results)
        plain = self._concepts.is_a("wild_type", "result_negative") and "wild_type" in results
        if plain and not changes:
            return [_result_of(marker, {"result": "wild_type", "gene": marker.concept}, words.helpers)]
        _take_alteration(frame, marker, words, found=positive and not negative)
        if "alteration" not in attributes:
            return []
        attributes.pop("result", None)
        denied = said_no(frame.text, group, marker, words.places)
        if any(span.kind == "value" and self._concepts.is_a(span.concept, "result_negative") for span in group.led):
            denied = [True]
        if negative and not positive and _is_said_of_all(frame.text, words, group):
            denied = [True]
        if "not_amplified" in results and attributes["alteration"] not in ("deletion", "fusion"):
            attributes["alteration"], denied = "amplification", [True]
        copies = str(attributes["alteration"]) if attributes["alteration"] in _OF_COPIES else ""
        if copies and any("protein" in change for change in changes):
            # "PIK3CA H1047R, amplification": a change of the sequence, and one of the copies.
            attributes["alteration"] = "mutation"
            changes.append({"alteration": copies})
            denied.append(False)
        withdrawn = any(result in marker_rules()["no_result"]["withdrawn"] for result in results)
        built = []
        for index, change in enumerate(changes or [{}]):
            absent = denied[min(index, len(denied) - 1)] or (negative and not changes and not positive)
            decided = "retracted" if withdrawn else "absent" if absent else ""
            merged, helpers = {**attributes, **change}, list(words.helpers)
            span = Span(marker.start, marker.end, "variant", marker.concept, marker.source, merged, 1, helpers)
            built.append(replace(span, decided=decided))
        return built

    @staticmethod
    def _is_anothers(text: str, group: Group, marker: Span, span: Span) -> bool:
        """Whether a change written out is that of the last gene of a list, not of those before (``ALK, KRAS G12C``)."""
        if marker is group.markers[-1] or not {"protein", "cdna"} & span.attributes.keys():
            return False
        if span.start < group.markers[-1].end:
            return not marker.end <= span.start < min(m.start for m in group.markers if m.start > marker.start)
        between = text[marker.end : group.markers[-1].start]
        return "," in between or ";" in between

    def _may_be_gene(self, name: str, text: str, marker: Span, written: str) -> bool:
        """A partner that no list knows is one if it is written as genes are, or a fusion is spoken of ("ORAL-EGFR")."""
        if "::" in written or any(char.isdigit() for char in name) or self._concepts.lookup(name, kinds=("gene",)):
            return True
        return bool(statement("of_fusion").search(text, max(0, marker.start - 80), marker.end + 80))

    def _partner(self, text: str, marker: Span, group: Group) -> str:
        for other in group.markers:
            if other is not marker and other.kind == "gene":
                between = text[min(other.end, marker.end) : max(other.start, marker.start)]
                if re.fullmatch(r"(?:::|--?|–)", between):
                    return other.concept
        before = _PARTNER_BEFORE.search(text, max(0, marker.start - 24), marker.start)
        after = _PARTNER_AFTER.match(text, marker.end)
        for match in (before, after):
            change = match and any(span.start == match.start("partner") for span in group.descriptors)
            if match is None or change or match["partner"] in _NOT_A_PARTNER or match["partner"].isdigit():
                continue
            if self._may_be_gene(match["partner"], text, marker, match.group()):
                return match["partner"].lower()
        return ""
