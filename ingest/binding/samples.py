"""What results were found on: how the specimen was taken, of which lesion, from where, and what it is known by.

A report of pathology heads its specimens (``A. Liver, core biopsy: metastatic adenocarcinoma``); a report of genes has
a field for the one that it tested; other notes tell it in the sentence of the result (``PD-L1 60% on the brain
metastasis``, ``liver bx 3/2: ER+ PR-``). What nobody tells, no result gets.

A specimen is known by the number of its report and its part (``S20-11836 A``), by its day, place and kind
(``2020-06-24 kidney resection``), and where a note tells neither, by the place in it (``~note@120``): that is one
specimen with what the same words are said of, and may be any other.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ...kb.kinds import BETWEEN_VALUES, OF_ONE_NOTE, SAMPLED
from ...kb.model import Experiencer, Mention, Polarity, Temporality, Value
from ...kb.ontology.concepts import ConceptTable
from ..text.cue_files import any_of, cue_file
from ..text.dates.intervals import days_text
from ..text.dates.reader import DateMention
from ..text.frame import Frame, Span, starting
from ..text.shape import BLANK_LINE
from ..text.specimens import is_told_before_operation, specimens_in
from .placing import SITES_OF_SPREAD

_CUES: Final = cue_file("samples")
_WORDS: Final[Mapping[str, Sequence[str]]] = _CUES["words"]
#: Classes of notes that report on specimens.
_REPORTS: Final = frozenset({"pathology", "molecular"})
_HAPPENED: Final = (Temporality.CURRENT, Temporality.HISTORICAL)


def _how(*tables: str) -> re.Pattern[str]:
    """How a specimen was taken: the group that matches is named for it."""
    pieces: dict[str, list[str]] = {}
    for table in tables:
        for name, words in _CUES[table].items():
            pieces.setdefault(name, []).extend(words)
    named = "|".join(f"(?P<{name}>{'|'.join(words)})" for name, words in pieces.items())
    return re.compile(rf"(?<![a-z])(?:{named})(?![a-z])", re.IGNORECASE)


_HOW: Final = _how("how")
_HOW_IN_HEADING: Final = _how("how", "how_in_headings")
_METASTASIS, _RECURRENCE, _PRIMARY = (
    re.compile(rf"(?<![a-z])(?:{'|'.join(_CUES['of'][name])})(?![a-z])", re.IGNORECASE)
    for name in ("metastasis", "recurrence", "primary")
)
#: A lesion named right behind a preposition: what follows need not be how it was taken.
_LESION: Final = re.compile(
    rf"(?<![a-z])(?:(?P<metastasis>{'|'.join(_CUES['of']['metastasis'])})"
    rf"|(?P<recurrence>{'|'.join(_CUES['of']['recurrence'])})"
    rf"|(?P<primary>{'|'.join(_CUES['of']['primary_alone'])}))(?![a-z])",
    re.IGNORECASE,
)
#: Where a line or a column begins.
_BEGIN: Final = r"(?:\A|(?<=\n)|(?<=\n[ \t])|(?<=[ \t]{2}))"
_FIELD: Final = re.compile(
    rf"{_BEGIN}(?:{'|'.join(_WORDS['fields'])})(?:\s?\d)?\s?(?:[:=]|\.{{3,30}}|[ ]-[ ])[ \t]{{0,20}}"
    r"(?P<value>[^\n]{3,160})",
    re.IGNORECASE,
)
_LABELLED: Final = re.compile(
    rf"(?:{_BEGIN}|(?<=\s)(?=[A-Z]\)))"
    f"(?:(?:{'|'.join(_WORDS['labels'])})"
    r"\s(?P<part>[A-Z]|\d{1,2})[ \t]{0,3}[:.)\-]?(?:[ \t]{1,3}|\n[ \t]{0,8})"
    r"|[(\[]?(?P<label>[A-Z](?:-[A-Z])?|\d{1,2})[)\].:][ \t]{1,3})(?=(?P<head>[^\n]{3,160}))"
)
_TOGETHER: Final = re.compile(
    r"(?:\A|(?<=\n)|(?<=\n[ \t]))(?P<first>[A-Z])(?:\s(?:and|&)\s|\s?[,&]\s?)(?P<second>[A-Z])[:.]"
)
#: A line that heads the one specimen of a report: how it was taken stands in its begin.
_LINE: Final = re.compile(r"(?:\A|(?<=\n))(?P<line>[^\n]{4,200})")
_OTHER: Final = re.compile(rf"\W*(?:{'|'.join(_WORDS['other'])})", re.IGNORECASE)
_ASIDE: Final = re.compile(rf"(?<![a-z])(?:{'|'.join(_WORDS['aside'])})", re.IGNORECASE)
_EARLIER: Final = re.compile(rf"\W*(?:{'|'.join(_WORDS['earlier'])})", re.IGNORECASE)
_KNOWN: Final = re.compile(rf"(?<![a-z])(?:{'|'.join(_WORDS['known'])})\s[^.;:\n]*\Z", re.IGNORECASE)
#: So far before a tumor may stand that it was known before (characters).
_REACH_OF_KNOWN: Final = 50
_SHOWS: Final = re.compile("|".join(_WORDS["shows"]), re.IGNORECASE)
_PARTS: Final = re.compile("|".join(_WORDS["parts"]), re.IGNORECASE)
_LED: Final = re.compile(
    rf"(?<![a-z]){any_of(_WORDS['leads'])}\s+(?:(?:{'|'.join(_WORDS['which'])})\s+)*(?:[\w/\-]+\s+){{0,3}}\Z",
    re.IGNORECASE,
)
_LED_AT_ONCE: Final = re.compile(
    rf"(?<![a-z]){any_of(_WORDS['leads'])}\s+(?:(?:{'|'.join(_WORDS['which'])})\s+)*(?:[a-z]+\s+){{0,2}}\Z",
    re.IGNORECASE,
)
_BLOCK: Final = re.compile(rf"(?<![a-z])(?i:{'|'.join(_WORDS['block'])})\s(?P<label>[A-Z])\d{{0,2}}(?![\w-])")
#: The number of a report, and the part of it.
_NUMBER: Final = re.compile(
    r"(?<![\w-])(?P<number>[A-Z]{1,4}-?\d{2}-\d{3,6}|\d{1,2}-[A-Z]-\d{3,6})"
    f"(?:[ ](?:(?:{'|'.join(_WORDS['of_number'])})[ ])?"
    r"(?P<label>[A-Z])\d{0,2}(?![\w-]))?"
)
#: Within a report, the head of what was tested on another specimen (*Molecular (bx, 3/17): …*).
_OTHER_TEST: Final = re.compile(
    rf"(?:\n|[.;]\s)[ \t]*(?:{'|'.join(_WORDS['tested'])})[^.:;\n]{{0,20}}\(?\Z", re.IGNORECASE
)
_HEADS: Final = re.compile(r"[^.:;\n]{0,24}:")
#: The number of a report that tells of another specimen.
_OF_ANOTHER: Final = re.compile(rf"(?<![a-z])(?:{'|'.join(_WORDS['of_another'])})\W", re.IGNORECASE)
_TAKEN: Final = re.compile(rf"(?<![a-z])(?:{'|'.join(_WORDS['taken'])})\W*\Z|\(\Z", re.IGNORECASE)
_REACH_OF_TAKEN: Final = 18
#: What is taken from all of the body tells of no place.
_NOWHERE: Final = frozenset({"blood", "marrow"})
#: What is tested beside tissue.
_BESIDE_TISSUE: Final = frozenset({"blood", "fluid"})
_NODE_HEADS: Final = re.compile(
    rf"(?:(?!and\b|with\b)[\w/#\-]+,?\s){{0,4}}(?:{'|'.join(_WORDS['node_heads'])})(?![a-z])", re.IGNORECASE
)
#: Behind a heading, what its diagnosis begins with.
_SPREAD_HERE, _RETURN_HERE = (
    re.compile(
        rf"(?:[:\-–,.(=]|\n)\s{{0,9}}(?:[-•*]\s{{0,4}})?(?:(?:{'|'.join(_WORDS['dx'])})\s)?"
        rf"(?:{'|'.join(_CUES['of_diagnosis'][of])})",
        re.IGNORECASE,
    )
    for of in ("metastasis", "recurrence")
)
_SPREAD_BEFORE: Final = re.compile(
    rf"(?:{'|'.join(_CUES['of_diagnosis']['metastasis'])})[a-z]*\s(?:\w+\s)?\Z", re.IGNORECASE
)
#: What is taken of nodes.
_OF_NODES: Final = re.compile("|".join(_WORDS["of_nodes"]), re.IGNORECASE)
_ENDED: Final = re.compile(r"[.;\n]")
_OTHER_CLAUSE: Final = re.compile(r"[;\n]|\.\s")
_DATES_AND_COUNTS: Final = re.compile(r"[\s\d/()'\-]")
_COLON: Final = re.compile(r":(?!\d)")
_NEXT_LABEL: Final = re.compile(r"\s{2,}[(\[]?[A-Z][)\].:]\s|\s[A-Z]\)\s")
#: So far behind a heading may its diagnosis begin; in a heading, how it was taken; in a report, its number.
_REACH_OF_DIAGNOSIS, _REACH_OF_HOW, _REACH_OF_NUMBER = 60, 110, 420
#: So far from a specimen may the result stand in its sentence, and right behind it needs no word between (characters).
_REACH_BEFORE, _REACH_BEHIND, _AT_ONCE = 200, 60, 3
#: So far from the words for a specimen its place may stand (characters).
_REACH_OF_SITE: Final = 32
#: Between the place and the words: no other clause.
_JOINED: Final = re.compile(r"[\w\s,/#'\-]{0,32}\Z")
_OF_PLACE: Final = re.compile(r"\s*(?:of|from)\s[\w\s/'\-]{0,28}\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Sample:
    """What is told of a specimen: its place in the text, and the attributes of what is found on it."""

    start: int
    end: int
    how: str = ""
    of: str = ""
    site: str = ""
    #: By what its report calls it; the number of the report that it came with, and what it was called in that.
    labels: tuple[str, ...] = ()
    number: str = ""
    part: str = ""
    day: str = ""

    @property
    def is_node(self) -> bool:
        """Whether it was taken from a lymph node."""
        return self.of == "node"


class SampleReader:
    """Tells of results what they were found on."""

    def __init__(self, concepts: ConceptTable) -> None:
        self._concepts = concepts
        self._nodes = concepts.at_or_below("lymph_node")
        self._spread = frozenset().union(*[concepts.at_or_below(site) for site in SITES_OF_SPREAD])

    def tell(
        self,
        frame: Frame,
        document_class: str,
        mentions: Sequence[Mention],
        sites: Sequence[Span],
        of_title: Sequence[str],
    ) -> list[Mention]:
        """The mentions of a note, those that are found on specimens with what is told of them. ``sites``: in text
        order; ``of_title``: the places that the title names."""
        sampled = [
            one
            for one in mentions
            if one.kind in SAMPLED
            and one.context.temporality in _HAPPENED
            and one.context.experiencer is Experiencer.PATIENT
        ]
        if not sampled:
            return list(mentions)
        report = _Report(self, frame, mentions, sites, of_title) if document_class in _REPORTS else None
        told: dict[int, dict[str, Value]] = {}
        by_sentence: dict[tuple[int, int], list[Sample]] = {}
        for mention in sampled:
            place = mention.sentence
            if place not in by_sentence:
                by_sentence[place] = list(self._in_sentence(frame, place, sites))
            own = self._of_sentence(frame.text, mention, by_sentence[place], report is not None)
            if own is not None:
                told[id(mention)] = self._attributes(frame, mention, [own], shared=False, weak=f"@{own.start}")
            elif report is not None and mention.context.temporality is Temporality.CURRENT:
                found, shared = report.samples_of(mention)
                told[id(mention)] = self._attributes(
                    frame, mention, found, shared=shared, weak=report.weak(found), alone=report.is_alone(found)
                )
        return [
            replace(one, attributes={**one.attributes, **told[id(one)]}) if told.get(id(one)) else one
            for one in mentions
        ]

    # --- attributes -------------------------------------------------------------------------------------------------

    def _attributes(
        self,
        frame: Frame,
        mention: Mention,
        samples: Sequence[Sample],
        *,
        shared: bool,
        weak: str,
        alone: bool = False,
    ) -> dict[str, Value]:
        """What all the samples agree on; ``shared``: it is not told on which of them a result was found."""
        if not samples:
            return {}
        found: dict[str, Value] = {}
        for name, values in (
            ("specimen", {one.how for one in samples}),
            ("specimen_of", {one.of for one in samples}),
            ("specimen_site", {one.site for one in samples}),
        ):
            if len(values) == 1 and (value := next(iter(values))):
                found[name] = value
        if not found:
            return {}
        if not shared:
            ids = list(dict.fromkeys(name for one in samples for name in self._ids(mention, one, alone)))
            found["specimen_id"] = BETWEEN_VALUES.join(
                ids or [f"{OF_ONE_NOTE}{frame.note.doc_id}{weak}".replace(BETWEEN_VALUES, "/")]
            )
        return found

    @staticmethod
    def _ids(mention: Mention, sample: Sample, alone: bool) -> Iterator[str]:
        if sample.number:
            labels = (sample.part,) if sample.part else sample.labels or (("A",) if alone else ())
            if not sample.part and (alone or not sample.labels):
                yield sample.number
            for label in labels:
                yield f"{sample.number} {label}"
        day = sample.day or (str(mention.attributes.get("collected", "")) if alone else "")
        if len(day) == len("2020-01-01") and sample.how:
            yield " ".join(filter(None, (day, sample.site, sample.how)))

    def site_in(self, sites: Sequence[Span], start: int, end: int) -> str:
        """The first place that is named between; of several, an organ or node goes before a mere region."""
        named = [one.concept for one in starting(sites, start, end)]
        return named[0] if named else ""

    def of_place(self, site: str) -> str:
        """What is known of the lesion by its place alone: a node is one."""
        return "node" if site in self._nodes else ""

    def may_be_spread(self, site: str) -> bool:
        """Whether tumors often spread to the place: what lies there need not have begun there."""
        return site in self._spread

    def holds(self, one: str, other: str) -> bool:
        """Whether one place is or holds the other."""
        return one in self._concepts and other in self._concepts and self._concepts.related(one, other)

    def organ(self, concept: str) -> str:
        """The place of a tumor by its name."""
        return self._concepts.get(concept).site if concept in self._concepts else ""

    def is_malignant(self, concept: str) -> bool:
        """Whether it is a cancer, or one in situ."""
        is_a = self._concepts.is_a
        return concept in self._concepts and (is_a(concept, "malignant_neoplasm") or is_a(concept, "in_situ_neoplasm"))

    # --- in a sentence ----------------------------------------------------------------------------------------------

    def _in_sentence(self, frame: Frame, sentence: tuple[int, int], sites: Sequence[Span]) -> Iterator[Sample]:
        text, (low, high) = frame.text, sentence
        dates = list(frame.dates_in(low, high))
        taken = -1
        for match in _HOW.finditer(text, low, high):
            site, of, start = self._around(text, match.start(), match.end(), low, high, sites)
            taken = match.end()
            day = self._day(text, dates, start, match.end(), low)
            number = _NUMBER.search(text, match.end(), min(high, match.end() + 40))
            yield Sample(
                start,
                match.end(),
                str(match.lastgroup),
                of,
                site,
                number="" if number is None else number["number"],
                part="" if number is None else number["label"] or "",
                day=day,
            )
        for match in _LESION.finditer(text, low, high):
            if match.end() > taken or not _HOW.search(text, max(low, match.start() - 30), match.start()):
                site, of, start = self._around(text, match.start(), match.end(), low, high, sites)
                if not _HOW.match(text, match.end() + 1, high):
                    yield Sample(start, match.end(), "", of if of == "node" else str(match.lastgroup), site)

    def _around(
        self, text: str, start: int, end: int, low: int, high: int, sites: Sequence[Span]
    ) -> tuple[str, str, int]:
        """Place and lesion that are told beside the words for a specimen, and where all of it begins."""
        before = [
            one
            for one in starting(sites, max(low, start - _REACH_OF_SITE), start)
            if one.end > start or _JOINED.match(text, one.end, start)
        ]
        within = starting(sites, start, end)
        behind = [
            one
            for one in starting(sites, end, min(high, end + _REACH_OF_SITE))
            if _OF_PLACE.match(text, end, one.start)
        ]
        chosen = (within or behind[:1] or before[-1:])[:1]
        site = chosen[0].concept if chosen else ""
        first = min([start, *(one.start for one in chosen)])
        around = text[max(low, first - 12) : end] + (
            text[end : chosen[0].end + 12] if chosen and behind[:1] == chosen else ""
        )
        of = self.of_place(site)
        if not of and _METASTASIS.search(around):
            of = "metastasis"
        elif not of and _RECURRENCE.search(around):
            of = "recurrence"
        elif not of and _PRIMARY.search(around):
            of = "primary"
        return site, of, first

    @staticmethod
    def _day(text: str, dates: Sequence[DateMention], start: int, end: int, low: int) -> str:
        """The day right beside the words for a specimen."""
        for date in dates:
            near = text[end : date.start] if date.start >= end else text[date.end : start]
            if len(near) <= 14 and not _ENDED.search(near) and date.day.low == date.day.high:
                return str(days_text(date.day))
        return ""

    def _of_sentence(self, text: str, mention: Mention, samples: Sequence[Sample], of_report: bool) -> Sample | None:
        """The specimen that the sentence says a result was found on."""
        behind = [
            one for one in samples if 0 <= one.start - mention.end <= _REACH_BEHIND and _is_led(text, mention.end, one)
        ]
        if behind:
            return behind[0]
        before = [one for one in samples if one.how and one.end <= mention.start]
        if not before:
            return None
        last = before[-1]
        between = text[last.end : mention.start]
        if of_report and not (_HEADS.match(between) and _OTHER_TEST.search(text, max(0, last.start - 24), last.start)):
            # What else a report names is mostly its own specimen.
            return None
        if len(between) > _REACH_BEFORE or _PARTS.search(between):
            return None
        shows = _SHOWS.search(between[:48])
        if shows is None and len(_DATES_AND_COUNTS.sub("", between)) > _AT_ONCE:
            return None
        return last


def _is_led(text: str, end: int, sample: Sample) -> bool:
    """Whether a preposition ties what ends there to the specimen behind it."""
    between = text[end : sample.start]
    if _PARTS.search(between) or _OTHER_CLAUSE.search(between):
        return False
    return (_LED if sample.how else _LED_AT_ONCE).search(between + " ") is not None


class _Report:
    """The specimens that a report is about, and the stretch of text in which each is told of."""

    def __init__(
        self,
        reader: SampleReader,
        frame: Frame,
        mentions: Sequence[Mention],
        sites: Sequence[Span],
        of_title: Sequence[str],
    ) -> None:
        self._of_title = of_title
        self._reader = reader
        self._text = frame.text
        self._sites = sites
        self._doc = frame.note.doc_id
        self._number = _number_of(frame.text)
        self._mentions = mentions
        self._dates = frame.dates
        parts = self._parts()
        self._parts_by_label = {label: one for one in parts for label in one.labels}
        self._stretches: list[tuple[int, int, Sample]] = []
        if len(parts) > 1:
            self._stretches = list(self._told_stretches(parts))
            self.samples = [self._with_lesion(one) for one in parts]
            again = dict(zip(parts, self.samples, strict=True))
            self._stretches = [(low, high, again.get(one, one)) for low, high, one in self._stretches]
        else:
            self.samples = [self._with_lesion(one) for one in (self._one(frame.note.title, parts),) if one is not None]
        self._starts = [low for low, _, _ in self._stretches]

    # --- which results are of which -----------------------------------------------------------------------------------

    def samples_of(self, mention: Mention) -> tuple[list[Sample], bool]:
        """The specimens that a result may be of, and whether it may be of any one of several."""
        line = self._text.rfind("\n", 0, mention.start) + 1
        if (
            not self.samples
            or _EARLIER.match(self._text, line)
            or _KNOWN.search(self._text, max(line, mention.start - _REACH_OF_KNOWN), mention.start)
            or is_told_before_operation(self._text, mention.start)
        ):
            return [], False
        if len(self.samples) == 1:
            return self.samples, False
        at = bisect_right(self._starts, mention.start) - 1
        if at >= 0 and mention.start < self._stretches[at][1]:
            return [self._stretches[at][2]], False
        blank = [one.end() for one in BLANK_LINE.finditer(self._text, 0, mention.start)]
        named = [one["label"] for one in _BLOCK.finditer(self._text, blank[-1] if blank else 0, mention.start)]
        by_label = {label: one for one in self.samples for label in one.labels}
        if named and named[-1] in by_label:
            return [by_label[named[-1]]], False
        if mention.kind == "node":
            return [], False
        tumors = [one for one in self.samples if not one.is_node] or self.samples
        # Where a tumor was found in one of them alone, its results are of that.
        tumors = [one for one in tumors if one.of] or tumors
        return tumors, len(tumors) > 1

    def weak(self, samples: Sequence[Sample]) -> str:
        """What tells a specimen from the others of its report, if nothing else does."""
        return "".join(f" {label}" for one in samples for label in one.labels[:1])

    def is_alone(self, samples: Sequence[Sample]) -> bool:
        """Whether a report without further ado means this one."""
        return (
            len(samples) == 1
            and (len(self.samples) == 1 or sum(not one.is_node for one in self.samples) == 1)
            and (samples[0] in [one for one in self.samples if not one.is_node] or len(self.samples) == 1)
        )

    # --- what heads them ----------------------------------------------------------------------------------------------

    def _parts(self) -> list[Sample]:
        """The specimens that have labels, each once: the first heading that tells how it was taken counts."""
        found: dict[str, Sample] = {}
        for match in _LABELLED.finditer(self._text):
            label = match["part"] or match["label"]
            head = _head(match["head"])
            start = match.start("head")
            sample = self._sample(start, start + len(head), _labels(label))
            known = found.get(label)
            if sample is not None and (known is None or (sample.how and not known.how)):
                found[label] = sample
        # A list that is none of specimens tells of hardly any how it was taken.
        return list(found.values()) if any(one.how for one in found.values()) else []

    def _sample(self, start: int, end: int, labels: tuple[str, ...] = ()) -> Sample | None:
        aside = _ASIDE.search(self._text, start + 1, end)
        end = end if aside is None else aside.start()
        how = _HOW_IN_HEADING.search(self._text, start, end)
        site = self._site(start, end, end if how is None else how.end())
        if how is None and not site:
            return None
        of = self._reader.of_place(site)
        if not of and how is not None and _OF_NODES.match(how.group()):
            of = "node"
        if (
            not of
            and _NODE_HEADS.match(self._text, start, end)
            and not (how and how.end() < start + 24 and how.lastgroup == "resection")
        ):
            of = "node"
        number = _NUMBER.search(self._text, start, end)
        if number is not None and _OF_ANOTHER.search(self._text, max(start, number.start() - 24), number.start()):
            number = None
        day = self._day(start, end, end if how is None else how.end())
        if how is not None and how.lastgroup in _NOWHERE:
            site = of = ""
        return Sample(
            start,
            end,
            "" if how is None else str(how.lastgroup),
            of,
            site,
            labels,
            self._number if number is None else number["number"],
            "" if number is None else number["label"] or "",
            day,
        )

    def _site(self, start: int, end: int, taken: int) -> str:
        """The place: the organ that was operated on, or its part that is named, unless nodes are named before."""
        named = [one.concept for one in starting(self._sites, start, end)]
        first = self._reader.site_in(self._sites, start, taken)
        operated = self._operated(start, end)
        if not operated or self._reader.of_place(first):
            return first or next(iter(named), operated)
        return next((one for one in named if self._reader.holds(one, operated)), first or operated)

    def _day(self, start: int, end: int, taken: int) -> str:
        """The day that a heading tells right behind how the specimen was taken, or as that of it."""
        for date in self._dates:
            if start <= date.start < end and date.day.low == date.day.high:
                before = self._text[max(start, date.start - _REACH_OF_TAKEN) : date.start]
                if 0 <= date.start - taken <= _REACH_OF_TAKEN or _TAKEN.search(before):
                    return str(days_text(date.day))
        return ""

    def _operated(self, start: int, end: int) -> str:
        return next((one.organ for one in specimens_in(self._text) if start <= one.start < end and one.organ), "")

    def _one(self, title: str, parts: Sequence[Sample]) -> Sample | None:
        """The only specimen of a report: its field, its heading, else its title."""
        if parts:
            found: Sample | None = parts[0]
        else:
            found = self._of_field() or self._of_line()
        titled = list(_HOW_IN_HEADING.finditer(title))
        kinds = {str(match.lastgroup) for match in titled}
        if len(kinds) > 1 and not parts and not kinds.isdisjoint(_BESIDE_TISSUE):
            return None  # The report is of several, and does not tell them apart.
        if len(kinds) == 1 and not _ASIDE.search(title[: titled[0].start()]):
            how = next(iter(kinds))
            places = set(self._of_title) if how not in _NOWHERE else set()
            site = places.pop() if len(places) == 1 else ""
            if found is None:
                found = Sample(0, 0, how, self._reader.of_place(site), site, number=self._number)
            elif not found.how:
                found = replace(found, how=how, site=found.site or site)
        return found

    def _of_field(self) -> Sample | None:
        """The field for the specimen; one of several that only names a number or a place is completed by the next."""
        found: Sample | None = None
        fields = list(_FIELD.finditer(self._text))[:4]
        for match in fields:
            sample = self._sample(
                match.start("value"), match.start("value") + len(_head(match["value"], in_field=True))
            )
            if sample is None:
                continue
            if found is None:
                found = sample
            elif not found.how and sample.how:
                found = replace(found, how=sample.how, site=found.site or sample.site, of=found.of or sample.of)
        return found if found is not None and (found.how or len(fields) == 1) else None

    def _of_line(self) -> Sample | None:
        for match in list(_LINE.finditer(self._text))[:25]:
            line, start = match["line"], match.start("line")
            if _OTHER.match(line):
                continue
            how = _HOW_IN_HEADING.search(line[:_REACH_OF_HOW])
            if how is None or _ASIDE.search(line[: how.start()]):
                continue
            head = line[: max(how.end(), len(_head(line)))] if ":" in line else line[:_REACH_OF_HOW]
            sample = self._sample(start, start + len(head))
            if sample is not None and sample.how:
                return replace(sample, end=start + how.end())
        return None

    def _told_stretches(self, parts: Sequence[Sample]) -> Iterator[tuple[int, int, Sample]]:
        """From each label to the next one, or to a blank line."""
        heads = sorted(
            (match.start(), match["part"] or match["label"])
            for match in _LABELLED.finditer(self._text)
            if any(label in self._parts_by_label for label in _labels(match["part"] or match["label"]))
        )
        together = {match.start() for match in _TOGETHER.finditer(self._text)}
        heads += [(start, "") for start in together]
        heads.sort()
        for (start, label), following in zip(heads, [*(low for low, _ in heads), len(self._text)][1:], strict=True):
            blank = BLANK_LINE.search(self._text, start + 1, following)
            end = following if blank is None else blank.start()
            if label:
                sample = next(self._parts_by_label[one] for one in _labels(label) if one in self._parts_by_label)
                yield start, end, sample

    def _with_lesion(self, sample: Sample) -> Sample:
        """With what is told of the lesion: by its heading, or by the diagnosis that stands first below it."""
        if sample.of:
            return sample
        own = [(low, high) for low, high, one in self._stretches if one is sample]
        text = self._text
        for place in (sample.start, *(low for low, _ in own)):
            stretch = text[
                max(0, place - 1) : sample.end + _REACH_OF_DIAGNOSIS if place == sample.start else place + 90
            ]
            head = text[sample.start : sample.end]
            if _SPREAD_HERE.search(stretch) or _METASTASIS.search(head):
                return replace(sample, of="metastasis")
            if _RETURN_HERE.search(stretch) or _RECURRENCE.search(head):
                return replace(sample, of="recurrence")
        # What is told elsewhere in a report of several is told of none in particular.
        limits = own or [(0, len(text))]
        for mention in self._mentions:
            if (
                mention.kind == "diagnosis"
                and mention.context.polarity is Polarity.PRESENT
                and mention.context.temporality is Temporality.CURRENT
                and "spread" not in mention.attributes
                and self._reader.is_malignant(mention.concept)
                and any(low <= mention.start < high for low, high in limits)
                and (organ := self._reader.organ(mention.concept))
                and sample.site
                and self._reader.holds(organ, sample.site)
                and not ("morphology" in mention.attributes and self._reader.may_be_spread(organ))
                and not _SPREAD_BEFORE.search(text, max(0, mention.start - 24), mention.start)
            ):
                return replace(sample, of="primary")
        return sample


def _labels(label: str) -> tuple[str, ...]:
    """The labels that one stands for: ``A-C`` is three."""
    first, dash, last = label.partition("-")
    if not dash:
        return (label,)
    return tuple(chr(code) for code in range(ord(first), ord(last) + 1))


def _head(words: str, in_field: bool = False) -> str:
    """What heads a specimen of its line: up to a colon or another label."""
    cut = _NEXT_LABEL.search(words)
    words = words if cut is None else words[: cut.start()]
    if in_field:
        return words
    stop = _COLON.search(words)
    return words if stop is None else words[: stop.start()]


def _number_of(text: str) -> str:
    """The number of a report, in its head."""
    for match in _NUMBER.finditer(text, 0, _REACH_OF_NUMBER):
        line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        if not _OTHER.match(line) and not _ASIDE.search(line) and not _OF_ANOTHER.search(line[-24:]):
            return match["number"]
    return ""
