"""Binds results to markers: which value, percentage, change or alteration belongs to which biomarker or gene."""

from __future__ import annotations

import bisect
import re
import tomllib
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from ...kb.ontology.concepts import ConceptTable
from ...kb.ontology.normal_forms import ONTOLOGY_FOLDER
from ...kb.ontology.variants import NEVER_INHERITED
from ..recognizers.lexicon import means_another
from ..text.frame import Frame, Span
from ..text.shape import Sentence, bracket_around, bracket_end
from ..text.statements import statement
from ..text.word_classes import word_classes
from ..text.words import PhraseTrie
from .cut_results import joined
from .findings import FindingReader, extend_over_partner, in_parallel
from .groups import Group, groups_of, marker_rules, with_genes_of_their_own, with_implied_genes

_CLASSES: Final = word_classes("binding", "results")


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


def _ends_as_spelled(text: str, start: int, end: int, spelling: str) -> bool:
    """Whether the phrase stands as spelled; a sign at its end must not lead into a word (``HER2-directed``)."""
    if not text.startswith(spelling, start):
        return text[start:end] == spelling
    after = text[start + len(spelling) : start + len(spelling) + 1]
    return spelling[-1].isalnum() or not after.isalnum()


#: The short form that leads a phrase ("PR negative").
_FIRST_WORD = re.compile(r"[A-Za-z]+")
#: Signs that draw a line around a heading.
_RULE = "=-*#~_ "
#: What may number a heading.
_NUMBER = "0123456789.)( \t"
#: Levels that a "not" before them denies.
_LEVELS = frozenset({"high", "low", "elevated", "rising"})
#: The "mut" of "11 mut/Mb" is a unit, and "unstable" in "1.9% unstable sites" what was counted.
_IS_MEASURE = _CLASSES.compile(r"s?\s?/\s?[Mm][Bb]\b|\s{counted}\b")
#: The words before the colon of a list are no longer (characters).
_LONGEST_HEAD = 80
#: The source of what a heading says by all its words together.
_AS_A_WHOLE = "words:heading"
#: What a list of genes without a pathogenic change may name among them.
_NAMED_IN_SPITE = frozenset({"vus", "benign", "likely_benign"})
#: A line below a heading is an item of its list, without a bullet, if it is no longer (characters).
_LONGEST_ITEM = 60
#: With so many commas it is the whole list, if it is no longer than this.
_LISTED, _LONGEST_LIST = 2, 400
#: A scale of scores is no longer (characters).
_LONGEST_SCALE = 160
#: What names a test of the germline.
_GERMLINE_PANEL = "germline_panel"
#: So many genes in a row, without a word of their own, are what a panel looks at.
_PANEL = 10
#: How a change is written out, and a gene beside it that no list need know.
_WRITTEN_OUT = frozenset({"protein", "cdna"})
_SYMBOL_BEFORE = re.compile(r"(?<![\w.\-:/])(?P<symbol>[A-Z][A-Z0-9]{2,7}(?:orf\d{1,3})?)[\s:(]{1,3}\Z")
_ITEM_ENDS = re.compile(r"[,;|\n/]|\b(?:and|or)\b")
_SYMBOL_BEHIND = _CLASSES.compile(r"\s{lies_in_gene}\s(?:the\s)?(?P<symbol>[A-Z][A-Z0-9]{2,7})(?![\w\-])")
_NO_GENE = _CLASSES.compile(r"{no_gene}")
#: The words that deny a phrase right behind them are no longer than this (characters).
_REACH_OF_DENIAL = 40
#: How a noun of change ends: amplification, overexpression.
_NOUN = "ion"
#: So far behind a marker stands the change that is tested for, and so far before it that it is tested (characters).
_OF_A_TEST = 12
_REACH_OF_TEST = 50
#: A list of examples in a bracket has its ends so near (characters); what names a change in it.
_REACH_OF_EXAMPLES = 160
_CHANGES = frozenset({"protein", "cdna", "codon"})


def _without_unknown_genes(text: str, here: list[Span]) -> list[Span]:
    """The spans of a sentence without the changes of genes that no list knows, and what is said behind those."""
    unknown = [span for span in here if _is_of_unknown_gene(text, span, here)]
    if not unknown:
        return here
    kept: list[Span] = []
    theirs = False
    for span in here:
        goes_on = span.kind not in ("gene", "biomarker") and not _WRITTEN_OUT & span.attributes.keys()
        theirs = span in unknown or theirs and goes_on
        if not theirs:
            kept.append(span)
    return kept


def _is_of_unknown_gene(text: str, span: Span, here: Sequence[Span]) -> bool:
    """Whether a change stands right behind a gene that no list knows (``DTX1 p.R78W, KRAS p.G12D``), or is said to be
    in one: it is of no gene beside it."""
    if span.kind != "molecular" or not _WRITTEN_OUT & span.attributes.keys():
        return False
    before = _SYMBOL_BEFORE.search(text, max(0, span.start - 16), span.start)
    for match in (before, _SYMBOL_BEHIND.match(text, span.end)):
        if match is None or _NO_GENE.fullmatch(match["symbol"]):
            continue
        start, end = match.span("symbol")
        digit = any(sign.isdigit() for sign in match["symbol"])
        # In capitals throughout, any word looks like a gene.
        genes = [one.end for one in here if one.kind == "gene" and one.end <= start]
        if match is before and genes and not _ITEM_ENDS.search(text, genes[-1], start):
            # "EGFR exon 21 L85BR (c.2573T>G)": a misspelled change of the gene before it.
            continue
        plain = digit or any(map(str.islower, text[max(0, start - 40) : end + 40]))
        if plain and not any(one.start < end and start < one.end for one in here):
            return True
    return False


def _is_panel(group: Group) -> bool:
    """A list of genes that a test covers (a list of genes without findings says so)."""
    own = (*group.led, *group.descriptors)
    return (
        len(group.markers) >= _PANEL
        and all(marker.kind == "gene" for marker in group.markers)
        and not any(span.kind == "value" for span in own)
    )


def _has_result(group: Group) -> bool:
    return any(span.kind == "value" or "significance" in span.attributes for span in (*group.led, *group.descriptors))


def _stands_for_itself(group: Group) -> bool:
    """Whether an item of a list of what was not found tells of a result all the same (``BRCA1: VUS``)."""
    own = (*group.led, *group.descriptors)
    return any(
        (span.kind == "value" and span.concept not in _LEVELS) or span.attributes.get("significance") in _NAMED_IN_SPITE
        for span in own
    )


def _list_head(frame: Frame, sentence: Sentence, here: Sequence[Span]) -> list[Span]:
    """What the words before a colon say of all that follows on its line (``Not detected: A; B; C``)."""
    colon = frame.text.find(":", sentence.start, min(sentence.end, sentence.start + _LONGEST_HEAD))
    if colon < 0 or any(span.kind in ("gene", "biomarker") and span.start < colon for span in here):
        return []
    denies = statement("heading_denies").search(frame.text, sentence.start, colon)
    said = [span for span in here if span.end <= colon and (span.kind == "value" or "significance" in span.attributes)]
    if denies and not said:
        said = [Span(*denies.span(), "value", "not_detected", _AS_A_WHOLE)]
    return said


def _denying(frame: Frame, heading: Sequence[Span], concepts: ConceptTable, sentence: Sentence) -> list[Span]:
    """What a heading of findings that were not found (``Not detected:``) says of a line of the list right below it."""
    values = [span for span in heading if span.kind == "value"]
    negative = [span for span in values if concepts.is_a(span.concept, "result_negative")]
    # "No variants detected in:" is denied as a whole, whatever its words are alone.
    if not negative or len(negative) < len(values) and not any(span.source == _AS_A_WHOLE for span in negative):
        return []
    opens = frame.shape.line_at(heading[0].start)
    if statement("heading_excepts").search(frame.text, *opens):
        return []
    lines = frame.text[opens[1] : frame.shape.line_at(sentence.start)[1]].split("\n")[1:]
    bullets = [bool(statement("bullet").match(line)) for line in lines]
    plain = all(_is_item(line.strip()) for line in lines)
    return negative if lines and (all(bullets) or plain and not any(bullets)) else []


def _is_item(line: str) -> bool:
    """Whether a line may be an item of a list without bullets, or the whole list, its items behind commas."""
    if not line or line.endswith(":"):
        return False
    listed = line.count(",") >= _LISTED and len(line) <= _LONGEST_LIST and ". " not in line
    return listed or (len(line) <= _LONGEST_ITEM and not line.endswith("."))


def _without_scale(text: str, sentence: Sentence, here: list[Span]) -> list[Span]:
    """The spans of a sentence without those of a scale of scores that begins in it (``0 - negative; 1+ …``)."""
    scale = statement("scale_of_scores").search(text, sentence.start, sentence.end + _LONGEST_SCALE)
    if scale is None or scale.start() >= sentence.end:
        return here
    return [one for one in here if one.kind in ("gene", "biomarker") or not scale.start() <= one.start < scale.end()]


class _PhrasePlaces:
    """Where in a note a phrase that is marker and result at once may begin: in few sentences of it."""

    def __init__(self, frame: Frame) -> None:
        words = frame.words
        self._starts = [words.starts[index] for index in frame.beginnings(composite_results())]

    def may_begin(self, start: int, end: int) -> bool:
        """Whether one may in this stretch."""
        starts = self._starts
        if not starts or starts[-1] < start:
            return False
        return starts[bisect.bisect_left(starts, start)] < end


def _with_origin(text: str, findings: list[Span], panels: Sequence[Span]) -> list[Span]:
    """Changes that a test of the germline found are the germline's (``The germline panel shows ATM c.8147T>C``)."""
    for finding in findings:
        if finding.kind != "variant" or finding.attributes.get("alteration") in NEVER_INHERITED:
            continue
        for panel in panels:
            if panel.end <= finding.start:
                elsewhere = any(
                    statement(name).search(text, panel.end, finding.start) for name in ("tumor_sample", "denied_behind")
                )
                found = not elsewhere
            else:
                found = bool(statement("found_by").search(text, finding.end, panel.start))
            if found:
                finding.attributes.setdefault("origin", "germline")
    return findings


def _is_heading(frame: Frame, sentence: Sentence, here: Sequence[Span]) -> bool:
    """A short line of its own that names a class of findings (``Variants of uncertain significance (4)``)."""
    start, end = sentence.start, sentence.end
    line_start, line_end = frame.shape.line_at(start)
    alone = not frame.text[line_start:start].strip(_NUMBER) and end - start <= 120
    opens = start + len(frame.text[start:end]) - len(frame.text[start:end].lstrip(_RULE))
    if (
        alone
        and not frame.text[end:line_end].strip(_RULE + ".")
        and statement("heads_denied").fullmatch(frame.text, opens, len(frame.text[:end].rstrip(_RULE + ".")))
    ):
        return True
    return alone and any("significance" in span.attributes and span.start - opens <= 12 for span in here)


def _without_bracket_of_heading(frame: Frame, sentence: Sentence, here: Sequence[Span]) -> Sequence[Span]:
    """Without what a bracket behind a heading explains (``Variants of unknown significance (TMB is high …)``)."""
    text, first = frame.text, here[0]
    line_start, _ = frame.shape.line_at(sentence.start)
    heads = "significance" in first.attributes and not text[line_start : first.start].strip(_RULE + _NUMBER)
    if not heads or not text[first.end : first.end + 2].lstrip().startswith("("):
        return here
    closes = text.find(")", first.end, sentence.end)
    within = sentence.end if closes < 0 else closes
    return [span for span in here if span is first or span.start > within]


class _Heading:
    """What the heading above a sentence says of the findings below it, as long as it holds."""

    __slots__ = ("_end", "_inline", "_listed", "spans")

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self._end = 0
        #: Whether they are of a list that goes on in its sentence, and not of a line of their own.
        self._inline = False
        #: Whether the last sentence with findings ended in a semicolon.
        self._listed = False

    def reach(self, frame: Frame, sentence: Sentence) -> None:
        """No further than to a blank line does it hold, nor far down."""
        far = sentence.start - self._end > 600
        next_section = frame.shape.section_at(sentence.start).start >= self._end > 0 and not self._inline
        if far or next_section or "\n\n" in frame.text[self._end : sentence.start]:
            self.spans = []

    def close(self) -> None:
        """Another heading ends it."""
        self.spans = []

    def open(self, frame: Frame, sentence: Sentence, here: Sequence[Span]) -> None:
        """A heading with these spans."""
        self.spans = [span for span in here if span.kind in ("molecular", "value")]
        self._inline = False
        if self.spans and statement("heading_denies").search(frame.text, sentence.start, sentence.end):
            self.spans.append(Span(sentence.start, sentence.start, "value", "not_detected", _AS_A_WHOLE))
        self._end = sentence.end

    def go_on(self, sentence: Sentence, first: Group) -> None:
        """``VUS: A; B; C``: the class goes on behind each semicolon, and ends with the sentence.

        Under a heading of its own line a semicolon says nothing of the kind.
        """
        if self.spans and not self._inline:
            return
        classes = [
            span for span in first.led if span.end <= first.markers[0].start and span.attributes.get("significance")
        ]
        listed = sentence.closed_by == "semi"
        if listed and classes:
            self.spans, self._end, self._inline = classes, sentence.end, True
        elif not listed and self.spans and self.spans[0].start >= sentence.start - 400 and self._listed:
            self.spans = []
        self._listed = listed


def _lead(groups: Sequence[Group], head: Sequence[Span], denying: Sequence[Span]) -> None:
    """Give each group what the head of its list says, or a heading of what was not found."""
    for group in groups:
        if head and not _has_result(group):
            group.led = [*head, *group.led]
        elif denying and not _stands_for_itself(group):
            group.led = [*denying, *group.led]


def _is_denied_list(groups: Sequence[Group], concepts: ConceptTable) -> bool:
    """Whether the head of a list, or a heading, tells that nothing of it was found (``Not detected: …, MSI-High``)."""
    led = [span for span in groups[0].led if span.end <= groups[0].markers[0].start and span.kind == "value"]
    return any(concepts.is_a(span.concept, "result_negative") for span in led)


def _is_noun_of_change(text: str, span: Span) -> bool:
    """Whether it is a change, or a result in the form of a noun (*amplification*, not *amplified*)."""
    return bool({"alteration", "effect"} & span.attributes.keys()) or (
        span.kind == "value" and text[: span.end].casefold().endswith(_NOUN)
    )


def _names_test(text: str, change: Span, here: Sequence[Span]) -> bool:
    """Whether a word of change, or the result of that name, only says what is tested, and not what was found."""
    if statement("names_test").match(text, change.end) or statement("tested_beside").search(
        text, max(0, change.start - _REACH_OF_TEST), change.start
    ):
        return True
    markers = [one for one in here if one.kind in ("gene", "biomarker") and 0 <= change.start - one.end <= _OF_A_TEST]
    return any(
        statement("tested_for").search(text, max(0, one.start - _REACH_OF_TEST), one.start) is not None
        for one in markers
    )


def _without_examples(text: str, here: Sequence[Span]) -> list[Span]:
    """Without the changes that a bracket lists as examples (``not one of the hotspots (P286R, V411L)``)."""
    return [
        span
        for span in here
        if not (
            _CHANGES & span.attributes.keys()
            and (opens := _opening_bracket(text, span.start)) >= 0
            and statement("lists_examples").search(text, max(0, opens - _REACH_OF_TEST), opens)
        )
    ]


def _without_thresholds(text: str, here: Sequence[Span]) -> list[Span]:
    """Without what a bracket says of when a result counts (``4.2 (cut-off for TMB-high: 10)``)."""
    return [span for span in here if not _is_in_threshold(text, span.start)]


def _is_in_threshold(text: str, at: int) -> bool:
    around = bracket_around(text, at, at, _REACH_OF_EXAMPLES)
    return around is not None and statement("tells_threshold").search(text, *around) is not None


def _opening_bracket(text: str, at: int) -> int:
    """Where the bracket opens in which a place stands, with more than one thing in it; -1 for none."""
    opens = text.rfind("(", max(0, at - _REACH_OF_EXAMPLES), at + 1)
    if opens < 0 or ")" in text[opens:at]:
        return -1
    closes = text.find(")", at, at + _REACH_OF_EXAMPLES)
    return opens if closes >= 0 and "," in text[opens:closes] else -1


class ResultBinder:
    """Turns gene, biomarker, value and molecular spans into biomarker and variant spans with attributes."""

    def __init__(self, concepts: ConceptTable) -> None:
        self._concepts = concepts
        self._grouping = frozenset(marker_rules()["grouping"]["concepts"])
        self._findings = FindingReader(concepts)

    def bind(self, frame: Frame, spans: Sequence[Span]) -> list[Span]:
        """``spans``: those of kinds gene, biomarker, value and molecular, resolved, in text order."""
        bound: list[Span] = []
        heading = _Heading()
        head: list[Span] = []
        head_ends = 0
        phrases = _PhrasePlaces(frame)
        for sentence, here in joined(frame, frame.by_sentence(spans)):
            if heading.spans:
                heading.reach(frame, sentence)
            groups: list[Group] = []
            of_scoring = here and statement("tells_scoring").search(frame.text, sentence.start, sentence.end)
            if of_scoring:
                # What a score means is no result.
                here = [span for span in here if span.kind not in ("gene", "biomarker")]
            elif here:
                here = _without_scale(frame.text, sentence, here)
                here = _without_thresholds(frame.text, _without_examples(frame.text, here))
            if here:
                germline = [span for span in here if span.concept == _GERMLINE_PANEL]
                here, markers = self._markers_among(frame, _without_bracket_of_heading(frame, sentence, here))
                if not markers and (frame.ends_in_colon(sentence) or _is_heading(frame, sentence, here)):
                    heading.open(frame, sentence, here)
                if markers:
                    for marker in markers:
                        extend_over_partner(frame.text, marker, here)
                    here = with_genes_of_their_own(frame.text, here)
                    groups = groups_of(frame.text, here)
                    if sentence.start >= head_ends:
                        head, head_ends = _list_head(frame, sentence, here), frame.shape.line_at(sentence.start)[1]
                    _lead(groups, head, _denying(frame, heading.spans, self._concepts, sentence))
                    groups = [group for group in groups if not _is_panel(group)]
                    if not groups:
                        continue
                    findings = self._bind_groups(frame, sentence, groups, heading.spans, here)
                    bound.extend(_with_origin(frame.text, findings, germline) if germline else findings)
            elif heading.spans and frame.ends_in_colon(sentence):
                heading.close()
            if not of_scoring and phrases.may_begin(sentence.start, sentence.end):
                denied = groups and _is_denied_list(groups, self._concepts)
                bound.extend(() if denied else self._whole_phrases(frame, sentence.start, sentence.end))
            if groups:
                heading.go_on(sentence, groups[0])
        return bound

    def _markers_among(self, frame: Frame, here: Sequence[Span]) -> tuple[list[Span], list[Span]]:
        """What of a sentence's spans is bound, and its markers; a change without one implies its gene."""
        text = frame.text
        kept = [
            span
            for span in here
            if span.concept not in self._grouping
            and not (span.kind == "value" and _IS_MEASURE.match(text, span.end))
            and not (_is_noun_of_change(text, span) and _names_test(text, span, here))
            and not (span.concept in _LEVELS and text[max(0, span.start - 4) : span.start].lower() == "not ")
        ]
        kept = _without_unknown_genes(text, kept)
        markers = [span for span in kept if span.kind in ("gene", "biomarker")]
        if not markers:
            kept = with_implied_genes(kept)
            markers = [span for span in kept if span.kind == "gene"]
        return kept, markers

    def _bind_groups(
        self, frame: Frame, sentence: Sentence, groups: Sequence[Group], heading: list[Span], here: Sequence[Span]
    ) -> list[Span]:
        """The findings of the groups of a sentence, each of which reaches to the next."""
        findings: list[Span] = []
        for position, group in enumerate(groups):
            following = groups[position + 1] if position + 1 < len(groups) else None
            group.lead_from = groups[position - 1].reach(sentence.start) if position else sentence.start
            group.ends = following.begins() if following else sentence.end
            findings += self._bind_group(frame, group, heading, here, sentence.end)
        return findings

    def _whole_phrases(self, frame: Frame, start: int, end: int) -> list[Span]:
        """The results of phrases that are marker and result at once; what they say of a gene, patterns read better."""
        first, last = frame.token_range(start, end)
        found: dict[tuple[int, int, str, str], Span] = {}
        for match in frame.phrases(composite_results(), first, last):
            for spelling, results in match.payloads:
                if spelling and not _ends_as_spelled(frame.text, match.start, match.end, spelling):
                    continue
                if _is_in_threshold(frame.text, match.start):
                    continue
                short = _FIRST_WORD.match(frame.text, match.start)
                if short and means_another(frame.text, *short.span(), (start, end)):
                    continue
                if statement("denied_composite").match(frame.text, match.end, end) or statement("no_composite").search(
                    frame.text, max(start, match.start - _REACH_OF_DENIAL), match.start
                ):
                    continue
                for marker, result in results.items():
                    if self._concepts.kind(marker) == "gene":
                        continue
                    # Several spellings of one phrase ("HER2 positive", "HER2-positive") fold to the same words.
                    found[match.start, match.end, marker, result] = Span(
                        match.start,
                        match.end,
                        "biomarker",
                        marker,
                        "words:result",
                        {"result": result},
                        decided="present",
                    )
        return list(found.values())

    # --- one group ---------------------------------------------------------------------------------------------------

    def _bind_group(
        self, frame: Frame, group: Group, heading: list[Span], here: Sequence[Span], limit: int
    ) -> list[Span]:
        # What stands in brackets ("(likely germline)") is said of its own group.
        own = (*group.led, *group.descriptors)
        origins = {
            str(span.attributes["origin"])
            for span in here
            if "origin" in span.attributes and (span in own or not bracket_end(frame.text, span.start, span.end))
        }
        # One origin in the sentence is that of all; where it tells germline from somatic, each keeps to its own words.
        origin = origins.pop() if len(origins) == 1 else ""
        bound: list[Span] = in_parallel(frame.text, group.markers)
        for index, marker in enumerate(() if bound else group.markers):
            following = group.markers[index + 1].start if index + 1 < len(group.markers) else None
            for span in self._findings.read(frame, marker, group, heading, following or limit):
                if origin:
                    span.attributes.setdefault("origin", origin)
                # A gene that only its change implies has no letters of its own: the change is what a proof shows.
                if span.start == span.end:
                    span.end = max([span.end, *(end for start, end, _ in span.helpers if start == span.start)])
                bound.append(span)
        return bound
