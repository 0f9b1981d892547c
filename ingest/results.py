"""Binds results to markers: which value, percentage, change or alteration belongs to which biomarker or gene.

Within one sentence the markers form groups (``ER and PR``, ``EGFR / ALK / KRAS``); a descriptor belongs to the group
before it, unless it leads into the next one (``mutation in KRAS``, ``negative for ER``, ``germline BRCA2``).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from typing import Any

from ..kb.concepts import ConceptTable
from ..kb.model import Value
from ..kb.words import ONTOLOGY_FOLDER
from .frame import Frame, Span
from .phrases import PhraseTrie
from .recognizers.molecular import number_after, one_letter, sign_after
from .statements import statement
from .variants import gene_of

_COORDINATION = re.compile(
    r"(?:--?|::|–)|(?:[\s,/&+|]|\band\b|\bor\b|\bnor\b|\bgenes?\b|\(|\)){0,8}:?\s*", re.IGNORECASE
)
_LEADS_ON = re.compile(
    r"\s*(?:in|of|for|on|involving|affecting|to)?\s*(?:the|both|either|any)?\s*(?:gene\s)?[\s\"']*", re.IGNORECASE
)
_LEADS_WITH_WORD = re.compile(
    r"\s*(?:in|of|for|on|involving|affecting)\s+(?:the|both|either|any)?\s*(?:gene\s)?", re.IGNORECASE
)
_BREAK = re.compile(r"[,;.]|\band\b|\bbut\b|\bwith\b|\s-\s|\s{3,}|\+")
_HARD_BREAK = re.compile(r"[;.]\s|\bbut\b|\bwhile\b|\bwhereas\b")
_PARTNER_BEFORE = re.compile(r"(?<![A-Za-z0-9])(?P<partner>[A-Z][A-Z0-9]{1,9}(?:orf\d+)?)(?:::|--?|–|/{2})$")
_PARTNER_AFTER = re.compile(r"(?:::|--?|–)(?P<partner>[A-Z][A-Z0-9]{1,9})(?![A-Za-z0-9])")
_NOT_A_PARTNER = frozenset({"PD", "WT", "NON", "ANTI", "PAN", "HER", "IHC", "NGS", "FISH", "CEP", "CT", "MRI", "STAGE"})


@lru_cache(maxsize=1)
def marker_rules() -> dict[str, Any]:
    """``cues/markers.toml``."""
    return tomllib.loads(resources.files(__package__).joinpath("cues/markers.toml").read_text("utf-8"))


@lru_cache(maxsize=1)
def composite_results() -> PhraseTrie[tuple[str, dict[str, str]]]:
    """``composite_results.toml``: phrases that name markers and their results at once, with the spelling they need."""
    table = tomllib.loads((ONTOLOGY_FOLDER / "composite_results.toml").read_text("utf-8"))["composite"]
    trie: PhraseTrie[tuple[str, dict[str, str]]] = PhraseTrie()
    for phrase, entry in table.items():
        results = {marker: result for marker, result in entry.items() if isinstance(result, str)}
        # What ends in a sign, or is short, is told apart from words by its spelling alone.
        trie.add(phrase, (phrase if len(phrase) <= 5 or not phrase[-1].isalnum() else "", results))
    return trie


@dataclass(slots=True)
class Group:
    """Markers that share their descriptors."""

    markers: list[Span] = field(default_factory=list)
    descriptors: list[Span] = field(default_factory=list)
    led: list[Span] = field(default_factory=list)
    #: Text before the first marker that is this group's (from here), and where its own stretch ends.
    lead_from: int = 0
    ends: int = 0

    def begins(self) -> int:
        """Where its first descriptor or marker stands."""
        first = self.markers[0].start
        return min([first, *(span.start for span in self.led if span.start < first)])

    def reach(self, default: int) -> int:
        """Where the last of its markers and its own descriptors ends (those lent by a later group lie beyond)."""
        return max(
            [
                default,
                self.markers[-1].end,
                *(span.end for span in self.descriptors if not self.ends or span.end <= self.ends),
            ]
        )


def _ends_as_spelled(text: str, start: int, end: int, spelling: str) -> bool:
    """Whether the phrase stands as spelled; a sign at its end must not lead into a word (``HER2-directed``)."""
    if not text.startswith(spelling, start):
        return text[start:end] == spelling
    after = text[start + len(spelling) : start + len(spelling) + 1]
    return spelling[-1].isalnum() or not after.isalnum()


class ResultBinder:
    """Turns gene, biomarker, value and molecular spans into biomarker and variant spans with attributes."""

    def __init__(self, concepts: ConceptTable) -> None:
        self._concepts = concepts
        rules = marker_rules()
        self._grouping = frozenset(rules["grouping"]["concepts"])
        self._expression = frozenset(rules["expression"]["markers"])

    def bind(self, frame: Frame, spans: Sequence[Span]) -> list[Span]:
        """``spans``: those of kinds gene, biomarker, value and molecular, resolved, in text order."""
        bound: list[Span] = []
        heading: list[Span] = []
        heading_end = 0
        heading_listed = False
        at = 0
        for sentence in frame.shape.sentences:
            here: list[Span] = []
            while at < len(spans) and spans[at].start < sentence.end:
                if spans[at].start >= sentence.start:
                    here.append(spans[at])
                at += 1
            if heading and (sentence.start - heading_end > 600 or "\n\n" in frame.text[heading_end : sentence.start]):
                heading = []
            here = [span for span in here if span.concept not in self._grouping]
            markers = [span for span in here if span.kind in ("gene", "biomarker")]
            if not markers:
                here = self._implied_genes(here)
                markers = [span for span in here if span.kind == "gene"]
            if not markers:
                closed = frame.text[sentence.end - 1] == ":" or frame.text[sentence.end : sentence.end + 1] == ":"
                if closed or self._is_heading(frame, sentence.start, sentence.end, here):
                    heading = [span for span in here if span.kind in ("molecular", "value")]
                    heading_end = sentence.end
                bound.extend(self._whole_phrases(frame, sentence.start, sentence.end, here))
                continue
            for span in markers:
                partner = _PARTNER_AFTER.match(frame.text, span.end) if span.kind == "gene" else None
                if (
                    partner
                    and partner["partner"] not in _NOT_A_PARTNER
                    and not any(other.start == partner.start("partner") for other in here)
                ):
                    span.attributes.update({"alteration": "fusion", "partner": partner["partner"].lower()})
                    span.end = partner.end()
            groups = self._groups(frame.text, here)
            for position, group in enumerate(groups):
                following = groups[position + 1] if position + 1 < len(groups) else None
                group.lead_from = groups[position - 1].reach(sentence.start) if position else sentence.start
                group.ends = following.begins() if following else sentence.end
                bound.extend(self._bind_group(frame, group, heading, here, sentence.end))
            bound.extend(self._whole_phrases(frame, sentence.start, sentence.end, here))
            # "VUS: A; B; C": the class goes on behind each semicolon, and ends with the sentence.
            classes = [span for span in groups[0].led if span.end <= groups[0].markers[0].start and span.attributes.get("significance")]
            if sentence.closed_by == "semi" and classes:
                heading, heading_end = classes, sentence.end
            elif sentence.closed_by != "semi" and heading and heading[0].start >= sentence.start - 400 and heading_listed:
                heading = []
            heading_listed = sentence.closed_by == "semi"
        return bound

    def _groups(self, text: str, items: Sequence[Span]) -> list[Group]:
        groups: list[Group] = []
        waiting: list[Span] = []
        previous_end = items[0].start if items else 0
        for index, item in enumerate(items):
            gap = text[previous_end : item.start]
            if item.kind in ("gene", "biomarker"):
                current = groups[-1] if groups else None
                if current and not current.descriptors and not waiting and _COORDINATION.fullmatch(gap):
                    current.markers.append(item)
                else:
                    groups.append(Group([item], [], waiting))
                    waiting = []
            elif not groups:
                # A result word far in front of the first marker is of something else ("high-risk disease, MSS").
                if item.kind != "value" or self._leads(text, items, index, gap, True, first=True):
                    waiting.append(item)
            elif waiting or self._leads(text, items, index, gap, bool(groups[-1].descriptors or groups[-1].led)):
                waiting.append(item)
            else:
                groups[-1].descriptors.append(item)
            previous_end = max(previous_end, item.end)
        if groups and waiting:
            groups[-1].descriptors.extend(waiting)
        groups = self._joined_lists(text, groups)
        # "BRAF, MET amp, RET: not detected": the result behind a list is that of every member.
        for group, following in zip(reversed(groups[:-1]), reversed(groups[1:]), strict=True):
            open_ended = not any(
                span.kind == "value" or {"protein", "cdna"} & span.attributes.keys() for span in group.descriptors
            )
            if (
                open_ended
                and not following.led
                and _COORDINATION.fullmatch(text, group.reach(0), following.markers[0].start)
            ):
                group.descriptors.extend(span for span in following.descriptors if span.kind == "value")
        # Descriptors that lead into a list govern every later group that has none of its own; a class of significance
        # before a colon or bracket ("VUS: A, B, C") governs the whole list.
        carried: list[Span] = []
        classes: list[Span] = []
        for group in groups:
            if group.led:
                carried = group.led
                start = min(span.end for span in group.led)
                if re.search(r"[:(]\s*$", text[start : group.markers[0].start]):
                    classes = [span for span in group.led if span.kind == "value" or "significance" in span.attributes]
            elif carried and not group.descriptors:
                group.led = carried
            own = (*group.led, *group.descriptors)
            if classes and not any(span.kind == "value" or "significance" in span.attributes for span in own):
                group.led = [*group.led, *classes]
        return groups

    @staticmethod
    def _is_heading(frame: Frame, start: int, end: int, here: list[Span]) -> bool:
        """A short line of its own that names a class of findings (``Variants of uncertain significance (4)``)."""
        line_start, _ = frame.shape.line_at(start)
        alone = not frame.text[line_start:start].strip() and end - start <= 120
        return alone and any("significance" in span.attributes and span.start - start <= 12 for span in here)

    @staticmethod
    def _implied_genes(here: list[Span]) -> list[Span]:
        """A change that only one gene is known for (T790M) brings its gene along."""
        found: list[Span] = []
        for span in here:
            gene = gene_of(str(span.attributes.get("protein", "")))
            if gene:
                found.append(Span(span.start, span.start, "gene", gene, "change:" + gene))
            found.append(span)
        return found

    @staticmethod
    def _joined_lists(text: str, groups: list[Group]) -> list[Group]:
        """``EGFR / ALK / MET ex14 / RET: none``: a bare exon or codon inside a list does not end the list."""
        joined: list[Group] = []
        for group in groups:
            last = joined[-1] if joined else None
            if (
                last is not None
                and not group.led
                and all(
                    span.attributes.keys() <= {"exon", "exons", "codon"} and span.kind == "molecular"
                    for span in last.descriptors
                )
                and _COORDINATION.fullmatch(text, last.reach(0), group.markers[0].start)
            ):
                joined[-1] = Group(last.markers + group.markers, group.descriptors, last.led)
            else:
                joined.append(group)
        return joined

    @staticmethod
    def _leads(text: str, items: Sequence[Span], index: int, gap: str, satisfied: bool, first: bool = False) -> bool:
        """Whether the descriptor at ``index`` belongs to the marker that follows rather than the one before."""
        end = items[index].end
        for following in items[index + 1 :]:
            between = text[end : following.start]
            if following.kind in ("gene", "biomarker"):
                if _LEADS_WITH_WORD.fullmatch(between):
                    return True
                if first and re.fullmatch(r"\s*:\s*(?:\w+\s){0,3}", between):
                    return True
                if not _LEADS_ON.fullmatch(between):
                    return False
                return first or bool(_HARD_BREAK.search(gap) or (satisfied and _BREAK.search(gap)))
            if not re.fullmatch(r"[\s\-]*", between):
                return False
            end = following.end
        return False

    def _whole_phrases(self, frame: Frame, start: int, end: int, here: Sequence[Span]) -> list[Span]:
        first, last = frame.token_range(start, end)
        found: list[Span] = []
        for match in composite_results().find(frame.text, frame.tokens[first:last]):
            for spelling, results in match.payloads:
                if spelling and not _ends_as_spelled(frame.text, match.start, match.end, spelling):
                    continue
                if statement("denied_composite").match(frame.text, match.end, end) or statement("no_composite").search(
                    frame.text, start, match.start
                ):
                    continue
                for marker, result in results.items():
                    kind = "variant" if self._concepts.kind(marker) == "gene" else "biomarker"
                    if kind == "biomarker":
                        found.append(
                            Span(
                                match.start,
                                match.end,
                                kind,
                                marker,
                                "words:result",
                                {"result": result},
                                decided="present",
                            )
                        )
        return found

    # --- one group ---------------------------------------------------------------------------------------------------

    def _bind_group(
        self, frame: Frame, group: Group, heading: list[Span], here: Sequence[Span], limit: int
    ) -> list[Span]:
        descriptors = group.led + group.descriptors
        shared = [
            span
            for span in here
            if span.kind == "molecular" and ("origin" in span.attributes or "sample" in span.attributes)
        ]
        if len({span.attributes["origin"] for span in shared if "origin" in span.attributes}) > 1:
            shared = []  # A sentence that tells germline from somatic findings: each keeps to its own words.
        bound: list[Span] = []
        for index, marker in enumerate(group.markers):
            following = group.markers[index + 1].start if index + 1 < len(group.markers) else None
            if marker.kind == "biomarker":
                own = self._biomarker(frame, marker, descriptors, heading, following or limit)
            else:
                own = self._gene(frame, marker, group, descriptors, heading, following or limit)
            for span in own:
                for source in shared:
                    span.attributes.setdefault(
                        "origin", source.attributes.get("origin", "")
                    ) if "origin" in source.attributes else None
                bound.append(span)
        return bound

    def _biomarker(
        self, frame: Frame, marker: Span, descriptors: list[Span], heading: list[Span], limit: int
    ) -> list[Span]:
        rules = marker_rules()
        text = frame.text
        attributes: dict[str, Value] = dict(marker.attributes)
        helpers: list[tuple[int, int, str]] = []
        sign = sign_after(text, marker.end)
        if sign and "result" not in attributes:
            attributes["result"] = sign[0]
            helpers.append((marker.end, sign[1], "sign"))
        concept_above = self._concepts.above(marker.concept) if marker.concept in self._concepts else frozenset()
        for span in descriptors or [item for item in heading if item.kind == "value"]:
            self._take(marker, span, attributes, helpers, rules)
        self._from_numbers(frame, marker, attributes, helpers, rules, concept_above, limit)
        result = attributes.get("result")
        if result == "positive":
            window = (
                text[max(0, marker.start - 30) : marker.start]
                if any(d.end <= marker.start for d in descriptors)
                else ""
            )
            stretch = max((end for _, end, _ in helpers), default=marker.end)
            window += " " + text[marker.end : min(limit, stretch + 26)]
            window = re.split(r"[;\n]|\.\s", window)[0]
            for word, value in rules["qualifier"].items():
                if re.search(rf"\b{word}\b", window, re.IGNORECASE):
                    attributes["result"] = value
                    break
        if marker.concept in self._expression and result in ("positive", "negative", "present_result"):
            attributes["result"] = rules["expression"]["negative" if result == "negative" else "positive"]
        stretch = text[marker.start : min(limit, max([marker.end + 24, *(end for _, end, _ in helpers)]))][:120]
        for word, method in rules["method"].items():
            if re.search(rf"\b{word}\b", stretch):
                attributes["method"] = method
                break
        if not ({"result", "percent", "score", "value"} & attributes.keys()):
            return [
                Span(marker.start, marker.end, "biomarker", marker.concept, marker.source, attributes, helpers=helpers)
            ]
        return [
            Span(
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
        ]

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
            if attributes.get("result") in (None, "positive", "three_plus") and span.concept not in ("two_plus",):
                if attributes.get("result") is None or span.concept.endswith(("_positive", "amplified")):
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
        rules: dict[str, Any],
        above: frozenset[str],
        limit: int,
    ) -> None:
        threshold = rules["threshold"].get(marker.concept, {})
        if "percent" in attributes and "result" not in attributes and "percent" in threshold:
            attributes["result"] = "positive" if float(attributes["percent"]) >= threshold["percent"] else "negative"
        if "score" in attributes and "result" not in attributes and "allred" in threshold:
            attributes["result"] = "positive" if float(attributes["score"]) >= threshold["allred"] else "negative"
        if marker.concept == "her2" and "result" not in attributes:
            zero = re.match(r"[\s:=]*(?:IHC|status|score)?[\s:=]*0(?![\d.%+/])", frame.text[marker.end : limit])
            if zero:
                attributes["result"] = "zero"
        if (
            "number" in threshold
            or "serum_marker" in above
            or marker.concept in ("gis", "oncotype_dx", "pd_l1_cps", "hrd_status")
        ):
            number = number_after(frame.text, marker.end, limit)
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
        rules = marker_rules()
        text = frame.text
        helpers: list[tuple[int, int, str]] = []
        attributes: dict[str, Value] = dict(marker.attributes)
        withdrawn = False
        stain = next((concept for concept, kind in marker.alternatives if kind == "biomarker"), "")
        only_results = bool(descriptors) and all(
            span.kind == "value" or span.attributes.keys() <= {"percent", "plus", "score"} for span in descriptors
        )
        if stain and (only_results or sign_after(text, marker.end)) and marker.concept not in rules["gene_positive"]:
            marker.kind, marker.concept = "biomarker", stain
            return self._biomarker(frame, marker, descriptors, heading, limit)
        partner = self._partner(text, marker, group)
        if partner:
            attributes["alteration"] = "fusion"
            attributes["partner"] = partner
        sign = sign_after(text, marker.end)
        results: list[str] = [sign[0]] if sign else []
        changes: list[dict[str, Value]] = []
        places: list[Span] = []
        for span in [
            *descriptors,
            *(
                item
                for item in heading
                if not descriptors or "significance" in item.attributes or "origin" in item.attributes
            ),
        ]:
            helpers.append((span.start, span.end, span.source))
            if span.kind == "value":
                if span.concept not in rules["no_result"]["concepts"] + rules["no_gene_result"]["concepts"]:
                    results.append(span.concept)
                continue
            for name, value in span.attributes.items():
                if name == "percent":
                    attributes.setdefault("percent", value)
                elif name in ("protein", "cdna"):
                    # A second change of the same kind is a second variant of the gene.
                    if changes and name not in changes[-1]:
                        changes[-1][name] = value
                        places[-1] = span if span.end > places[-1].end else places[-1]
                    else:
                        changes.append({name: value})
                        places.append(span)
                    for extra in ("codon", "effect"):
                        if extra in span.attributes and extra not in changes[-1]:
                            changes[-1][extra] = span.attributes[extra]
                elif name in ("alteration", "significance", "origin", "effect", "exon", "exons", "codon"):
                    if "protein" not in span.attributes:
                        self._settle(attributes, name, value)
        if changes or {"effect", "codon"} & attributes.keys():
            attributes.setdefault("alteration", "mutation")
        elif "exon" in attributes and "alteration" not in attributes:
            attributes["alteration"] = "mutation"
        negative = any(self._concepts.is_a(result, "result_negative") for result in results)
        positive = any(self._concepts.is_a(result, "result_positive") for result in results)
        plain = self._concepts.is_a("wild_type", "result_negative") and "wild_type" in results
        if plain and not changes:
            return [
                Span(
                    marker.start,
                    marker.end,
                    "biomarker",
                    marker.concept,
                    marker.source,
                    {"result": "wild_type", "gene": marker.concept},
                    1,
                    helpers,
                    decided="present",
                )
            ]
        for result in results:
            if result in rules["gene_result"]:
                attributes.setdefault("alteration", rules["gene_result"][result])
        if any(result in rules["no_result"]["withdrawn"] for result in results):
            withdrawn = True
        if "alteration" not in attributes:
            if attributes.get("significance") in ("pathogenic", "likely_pathogenic", "vus", "benign", "likely_benign"):
                attributes["alteration"] = "mutation"
            elif not results:
                return []
            else:
                for name, value in (
                    rules["gene_positive"].get(marker.concept, rules["gene_positive"]["default"]).items()
                ):
                    if name == "alteration" or (positive and not negative):
                        attributes.setdefault(name, value)
        attributes.pop("result", None)
        said_no = self._said_no(frame.text, group, marker, places)
        if any(span.kind == "value" and self._concepts.is_a(span.concept, "result_negative") for span in group.led):
            said_no = [True]
        if "not_amplified" in results:
            attributes["alteration"], said_no = "amplification", [True]
        built = []
        for index, change in enumerate(changes or [{}]):
            absent = said_no[min(index, len(said_no) - 1)] or (negative and not changes and not positive)
            merged = {**attributes, **change}
            built.append(
                Span(
                    marker.start,
                    marker.end,
                    "variant",
                    marker.concept,
                    marker.source,
                    merged,
                    1,
                    list(helpers),
                    decided="retracted" if withdrawn else "absent" if absent else "",
                )
            )
        return built

    @staticmethod
    def _said_no(text: str, group: Group, marker: Span, places: list[Span]) -> list[bool]:
        """For each change (or once, without any): whether the words before the group or behind the change deny it."""
        denied_before = bool(statement("denied_before").search(text, group.lead_from, group.markers[0].start))
        if not places:
            loci = [span.end for span in group.descriptors if span.attributes.keys() <= {"exon", "exons", "codon"}]
            behind = max([group.markers[-1].end, *(end for end in loci if end <= group.ends)])
            return [
                denied_before
                or bool(
                    statement("denied_at_once").match(text, behind, group.ends)
                    or statement("denied_behind").search(text, behind, group.ends)
                )
            ]
        denied = []
        for index, place in enumerate(places):
            end = (
                places[index + 1].start
                if index + 1 < len(places) and places[index + 1].start > place.end
                else group.ends
            )
            before = statement("denied_before").search(text, max(group.lead_from, place.start - 24), place.start)
            behind = statement("denied_behind").match(text, place.end, end) or statement("denied_behind").search(
                text, place.end, min(end, place.end + 45)
            )
            denied.append(bool((denied_before and place.start > marker.start and index == 0) or before or behind))
        return denied

    @staticmethod
    def _settle(attributes: dict[str, Value], name: str, value: Value) -> None:
        """The first value stands, except that a narrower alteration or a stated harmless class overrides a bare word."""
        if (
            name == "alteration"
            and attributes.get(name) in ("mutation", "alteration")
            or name == "significance"
            and value in ("vus", "benign", "likely_benign", "likely_pathogenic")
        ):
            attributes[name] = value
        else:
            attributes.setdefault(name, value)

    def _partner(self, text: str, marker: Span, group: Group) -> str:
        for other in group.markers:
            if other is not marker and other.kind == "gene":
                between = text[min(other.end, marker.end) : max(other.start, marker.start)]
                if re.fullmatch(r"(?:::|--?|–)", between):
                    return other.concept
        before = _PARTNER_BEFORE.search(text, max(0, marker.start - 14), marker.start)
        after = _PARTNER_AFTER.match(text, marker.end)
        for match in (before, after):
            if match and match["partner"] not in _NOT_A_PARTNER and not match["partner"].isdigit():
                return match["partner"].lower()
        return ""


def normal_protein(change: str) -> str:
    """A protein change as written, in the form that events keep."""
    return one_letter(change.removeprefix("p.").strip("()"))
