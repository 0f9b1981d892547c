"""The document model: one note, without any state between notes, read into mentions with context, site and date."""

from __future__ import annotations

import datetime
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib import resources
from typing import Any, Final

from ..kb.concepts import ConceptTable
from ..kb.model import (
    EARLIEST_DAY,
    KINDS,
    LATEST_DAY,
    Context,
    Cue,
    DayInterval,
    Experiencer,
    Mention,
    Note,
    Polarity,
    Relation,
    Temporality,
    Value,
)
from .context import CueKind, Reading, SentenceContext, Target
from .frame import Frame, Span, resolve_overlaps
from .lexicon import Lexicon, recognise
from .recognizers.molecular import MolecularRecognizer
from .recognizers.performance import PerformanceRecognizer
from .recognizers.spread import MetastasisRecognizer, NodeRecognizer
from .recognizers.staging import GradeRecognizer, StageRecognizer, TnmRecognizer
from .results import ResultBinder
from .sites import SiteReader, TumorComposer

#: Label of CORAL's Table S1 for each kind of span.
LABELS: Final[Mapping[str, str]] = {
    "diagnosis": "Histology",
    "stage": "Stage",
    "tnm": "TNM",
    "grade": "Grade",
    "metastasis": "Metastasis",
    "node": "LymphNodeInvolvement",
    "biomarker": "BiomarkerName",
    "variant": "GenomicTestResult",
    "medication": "MedicationName",
    "regimen": "MedicationRegimen",
    "radiation": "RadiationTherapyName",
    "surgery": "ProcedureName",
    "procedure": "ProcedureName",
    "performance": "PerformanceStatus",
    "state": "DiseaseState",
    "symptom": "Symptom",
    "adverse_event": "ClinicalCondition",
    "comorbidity": "ClinicalCondition",
    "social": "Tobacco",
    "lab": "LabTestResult",
    "trial": "ClinicalTrial",
    "death": "DiseaseState",
    "site": "Site",
    "laterality": "Laterality",
}
_EVENT_KINDS = frozenset(KINDS)
_BINDABLE = frozenset({"gene", "biomarker", "value", "molecular"})
_SPREAD_WORD = re.compile(r"(?:metasta\w+|mets?)\W+(?:\w+\W+){0,2}$", re.IGNORECASE)
_LIST_OF_SITES = re.compile(r"[\s,/&+]*(?:and|or|to|the|in|of|both|left|right|L|R|bilateral|multiple|also|as well as|involving|within|from|at|seg\w*|[\d.]+\s*cm)?[\s,/&+]*(?:the|left|right|L|R|bilateral|multiple)?[\s]*", re.IGNORECASE)
_TO_SITE = re.compile(r"\W*(?:disease|spread|lesions?|deposits?|involvement|carcinoma|adenocarcinoma|cancer|tumou?r|melanoma|recurrence|focus|foci)?\W*(?:is|are|was|were)?\W*(?:to|in|of|involving|within|at|:|-|,|\()\s*(?:the|her|his|both|left|right|L|R|bilateral|multiple|a|an|several|\d+)?\s*(?:left|right|L|R)?\s*", re.IGNORECASE)
_FIRST_ITEM = re.compile(r":\s*\(?[a1i][.)]\s")
_BULLET = re.compile(r"[ \t]*(?:[\-*\u2022+>]|\(?[0-9a-zA-Z]{1,2}[.)])\s")
_TAKEN_BACK = re.compile(r"[\s.\"')\]]*(?:This|That|It|Which|These)\s+(?:\w+\s+)?(?:is|was|were|are|has been|have been)\s+(?:wrong|incorrect|an? error|not (?:correct|true|so|the case)|a mistake|erroneous|in error|corrected|not hers|not his|untrue)")
_NOT_SO = re.compile(r"\b(?:incorrect|in error|not correct|erroneous(?:ly)?|never (?:actually )?(?:taken|started|given|filled|received|took|begun)|not updated|(?:has|have|had) not (?:actually )?(?:taken|started|received))\b", re.IGNORECASE)
_ANOTHER_PATIENT = re.compile(r"\b(?:different (?:MRN|DOB|patient|individual|person|accession)|wrong[- ]patient|another (?:patient|person|individual)|someone else|misfiled|misidentif\w+|faxed in error|scanned in error|not (?:this|our|his|her) (?:patient|report|specimen|result)|specimen (?:swap|mix-?up|switch)|mislabel\w+ specimen|does not belong to|not belong to)\b", re.IGNORECASE)
_DOSE = re.compile(
    r"[\s,(:\-]{0,3}(?:\w+\s){0,2}?(?P<dose>\d+(?:[.,]\d+)?\s?(?:mg|mcg|g|units?|IU|AUC|mL|ml|%)(?:/m2|/kg|/m²)?|AUC\s?\d|(?:daily|bid|BID|tid|TID|qd|QD|od|OD|qhs|qHS|prn|PRN|weekly|monthly|q\d\s?w(?:k|eeks?)?)\b|[x×]\s?\d+\b|C\d+(?:D\d+)?\b|#\s?\d)"
)
#: Kinds of finding that a later note may take back, and the words that say so beside a negation.
_CORRECTABLE = frozenset({"diagnosis", "variant", "biomarker", "metastasis", "state", "stage"})
_CORRECTION = re.compile(r"\b(?:correct(?:ed|ion)|in error|erroneous\w*|incorrect\w*|mistake\w*|mislabel\w*|wrong(?:ly)?|retract\w*|withdrawn|superseded|amended|template|copy[- ]?(?:forward|paste)\w*|belongs? to (?:another|a different))\b", re.IGNORECASE)


@lru_cache(maxsize=1)
def _tables() -> dict[str, Any]:
    folder = resources.files(__package__).joinpath("cues")
    return {
        "documents": tomllib.loads(folder.joinpath("documents.toml").read_text("utf-8")),
        "implied": tomllib.loads(folder.joinpath("implied.toml").read_text("utf-8")),
    }


@dataclass(frozen=True, slots=True)
class ReadNote:
    """What reading one note gives: its mentions, relations, kind of document and the organ that it is about."""

    note: Note
    mentions: tuple[Mention, ...] = ()
    relations: tuple[Relation, ...] = ()
    document_class: str = "clinical"
    topic: str = ""


@dataclass(slots=True)
class _Located:
    """A span with what its surroundings said."""

    span: Span
    reading: Reading
    day: DayInterval
    anchor: tuple[int, int, str] | None = None
    extra: dict[str, Value] = field(default_factory=dict)


class NoteReader:
    """Reads notes with one ontology; build once a process, safe to use for any number of notes."""

    def __init__(self, concepts: ConceptTable) -> None:
        self.concepts = concepts
        self._lexicon = Lexicon(concepts)
        self._recognizers = (
            self._lexicon,
            TnmRecognizer(),
            StageRecognizer(),
            GradeRecognizer(),
            PerformanceRecognizer(),
            MolecularRecognizer(),
            NodeRecognizer(),
        )
        self._metastasis = MetastasisRecognizer()
        self._binder = ResultBinder(concepts)
        self._sites = SiteReader(concepts)
        self.composer = TumorComposer(concepts)
        implied = _tables()["implied"]
        self._unspecific = frozenset(implied["unspecific"]["concepts"])
        self._adjectives: dict[str, str] = implied["adjective"]
        self._state_of: dict[str, str] = {
            below: tumor
            for state, tumor in implied["state_of"].items()
            if state in concepts
            for below in concepts.below(state)
        }

    @classmethod
    def from_ontology(cls) -> NoteReader:
        """A reader with the shipped ontology."""
        return cls(ConceptTable.from_files())

    def read(self, note: Note, targets: Sequence[tuple[int, int]] = ()) -> ReadNote:
        """``note`` read. ``targets``: character spans that become mentions whatever the lexicon knows."""
        frame = Frame(note)
        document_class = document_class_of(note)
        spans = resolve_overlaps(recognise(frame, self._recognizers))
        spreads = list(self._metastasis.find(frame))
        bound = self._binder.bind(frame, [span for span in spans if span.kind in _BINDABLE])
        sites = [span for span in spans if span.kind == "site"]
        events = [span for span in spans if span.kind in _EVENT_KINDS and span.kind != "biomarker" and span.concept not in self._unspecific]
        events += self._second_readings(spans)
        diagnoses = [span for span in events if span.kind == "diagnosis"]
        reported = [site.concept for _, site in self._sites.specimen_sites(frame, sites)] if document_class in ("pathology", "molecular") else []
        topic = self._sites.topic(self._title_sites(note) + reported, diagnoses)
        events += bound
        events += self._adjective_states(frame, diagnoses)
        self._place_diagnoses(frame, diagnoses, sites, spreads, document_class)
        events += self._spread_events(frame, spreads, sites, diagnoses)
        self._place_others(frame, events, sites)
        self._grades(events)
        events += [Span(start, end, "symptom", "", "target") for start, end in targets]
        mentions = self._mentions(frame, events, document_class)
        return ReadNote(note, tuple(mentions), tuple(_relations(mentions)), document_class, topic)

    @staticmethod
    def _second_readings(spans: list[Span]) -> list[Span]:
        """Names that mean two things at once (TNBC: a tumor and its receptors) give a span for each."""
        found = []
        for span in spans:
            for concept, kind in span.alternatives:
                if kind != span.kind and {kind, span.kind} <= {"diagnosis", "state", "biomarker"} and kind != "biomarker":
                    found.append(Span(span.start, span.end, kind, concept, span.source))
        return found

    # --- sites, spread, states ----------------------------------------------------------------------------------------

    def _title_sites(self, note: Note) -> list[str]:
        if not note.title:
            return []
        frame = Frame(Note(note.patient_id, note.doc_id, note.title))
        sites = []
        for span in self._lexicon.find(frame):
            if span.kind == "site":
                sites.append(span.concept)
            elif span.kind == "diagnosis" and self.concepts.get(span.concept).site:
                sites.append(self.concepts.get(span.concept).site)
        return sites

    def _place_diagnoses(
        self, frame: Frame, diagnoses: list[Span], sites: list[Span], spreads: list[Span], document_class: str
    ) -> None:
        tied: dict[str, Span] = {}
        by_specimen: list[Span] = []
        specimens = self._sites.specimen_sites(frame, sites) if document_class in ("pathology", "molecular", "operative") or sites else []
        for span in diagnoses:
            low, high = frame.sentence_span(span.start)
            spread = bool(
                re.match(r"metasta", frame.text[span.start : span.end], re.IGNORECASE)
                or _SPREAD_WORD.search(frame.text, max(low, span.start - 40), span.start)
            )
            row = self.concepts.get(span.concept)
            side_from = span
            if row.site:
                span.attributes["site"] = row.site
            near = self._sites.near(frame, span, sites, diagnoses)
            if near is None and not row.site and document_class in ("pathology", "molecular", "operative"):
                earlier = [site for start, site in specimens if start <= span.start and span.start - start < 1500]
                near = earlier[-1] if earlier else None
                by_specimen.append(span)
            elif near is not None and not row.site:
                tied[span.concept] = near
            if near is not None:
                side_from = near
                if spread and near.start < span.start or near.concept in self._sites.nodes:
                    span.attributes["spread_site"] = near.concept
                elif not row.site:
                    span.attributes["site"] = near.concept
                    if self._sites.primary_site(near.concept):
                        composed = self._composed(span, near, frame)
                        if composed != span.concept:
                            span.attributes["morphology"] = span.concept
                            span.concept = composed
            if spread:
                span.attributes["spread"] = "metastatic"
            # The organ is in the tumor's own name: a side further off is of something else.
            reach = 1 if side_from is span and row.site else 3
            side = self._sites.side(frame.text, side_from.start, side_from.end, max(0, low), high, reach)
            if side and not spread:
                span.attributes["laterality"] = side
        for span in by_specimen:
            # Where the report itself ties this morphology to a site, the last specimen heading says nothing.
            morphology = str(span.attributes.get("morphology", span.concept))
            if morphology in tied and "spread" not in span.attributes:
                span.attributes["site"] = tied[morphology].concept
                span.concept = self.composer.compose(morphology, tied[morphology].concept)

    def _composed(self, span: Span, site: Span, frame: Frame) -> str:
        apart = max(site.start - span.end, span.start - site.end)
        if span.concept == "malignant_neoplasm" and apart > 25:
            return span.concept
        return self.composer.compose(span.concept, site.concept)

    def _spread_events(
        self, frame: Frame, spreads: list[Span], sites: list[Span], diagnoses: list[Span]
    ) -> list[Span]:
        """A metastasis event for each site of each word of spread; node findings for nodes; else a bare state."""
        found: list[Span] = []
        for word in spreads:
            low, high = frame.sentence_span(word.start)
            here = [site for site in sites if low <= site.start < high]
            chosen: list[Span] = []
            before = [site for site in here if site.end <= word.start and re.fullmatch(r"[\s\-]*", frame.text[site.end : word.start])]
            if before:
                chosen = [before[-1]]
                # "liver and bone metastases": the sites in front of the last one belong too.
                for site in reversed(here[: here.index(before[-1])]):
                    if re.fullmatch(r"[\s,/&+]*(?:and)?[\s,/&+]*", frame.text[site.end : chosen[0].start]):
                        chosen.insert(0, site)
                    else:
                        break
            position = word.end
            for site in (item for item in here if item.start >= word.end):
                gap = _TO_SITE if position == word.end else _LIST_OF_SITES
                if gap.fullmatch(frame.text, position, site.start):
                    chosen.append(site)
                    position = site.end
                elif site.start > position + 30:
                    break
            tumor = next((span for span in diagnoses if span.start <= word.start < span.end or 0 <= span.start - word.end <= 3), None)
            if not chosen and tumor is not None and "spread_site" in tumor.attributes:
                found.append(self._spread_span(word, str(tumor.attributes["spread_site"])))
                continue
            if not chosen:
                if re.match(r"(?:tumou?r\s+)?deposit|secondar", frame.text[word.start : word.end]):
                    continue
                found.append(Span(word.start, word.end, "state", "metastatic_disease", "pattern:metastasis"))
            for site in chosen:
                own_site = tumor is not None and site.start >= tumor.start and self.concepts.get(tumor.concept).site == site.concept
                if not own_site:
                    found.append(self._spread_span(word, site.concept, site))
        return found

    def _spread_span(self, word: Span, concept: str, site: Span | None = None) -> Span:
        start = min(word.start, site.start) if site else word.start
        end = max(word.end, site.end) if site else word.end
        if concept in self._sites.nodes:
            return Span(start, end, "node", concept, "pattern:node-metastasis", {"result": "positive"})
        return Span(start, end, "metastasis", concept, "pattern:metastasis")

    def _adjective_states(self, frame: Frame, diagnoses: list[Span]) -> list[Span]:
        found: list[Span] = []
        for span in diagnoses:
            low, _ = frame.sentence_span(span.start)
            before = frame.text[max(low, span.start - 40) : span.start].lower().replace("-", " ").rstrip()
            inside = frame.text[span.start : span.end].lower().replace("-", " ")
            for words, state in self._adjectives.items():
                if state not in self.concepts:
                    continue
                if before.endswith(words) or inside.startswith(words + " "):
                    attributes: dict[str, Value] = {"of": span.concept}
                    if state == "metastatic_disease" and not self.concepts.get(span.concept).site:
                        continue
                    start = span.start if inside.startswith(words) else span.start - len(words) - 1
                    found.append(Span(max(low, start), span.end, "state", state, "pattern:adjective", attributes))
                    break
        return found

    def _place_others(self, frame: Frame, events: list[Span], sites: list[Span]) -> None:
        for span in events:
            if span.kind not in ("surgery", "radiation", "tnm", "stage", "node", "metastasis", "procedure", "variant", "biomarker", "grade"):
                continue
            low, high = frame.sentence_span(span.start)
            side = self._sites.side(frame.text, span.start, span.end, low, high) if span.kind not in ("variant", "biomarker") else ""
            if side:
                span.attributes.setdefault("laterality", side)
            if span.kind in ("variant", "biomarker", "stage", "metastasis"):
                self._place_by_heading(frame, span, sites, low, high)
                continue
            here = [site for site in sites if low <= site.start < high and abs(site.start - span.start) < 100]
            if here:
                closest = min(here, key=lambda site: abs(site.start - span.start))
                if span.kind == "node" and not span.concept and closest.concept in self._sites.nodes:
                    span.concept = closest.concept
                elif span.kind != "node":
                    span.attributes.setdefault("site", closest.concept)
            if span.kind == "node" and not span.concept:
                span.concept = "lymph_node"

    @staticmethod
    def _place_by_heading(frame: Frame, span: Span, sites: list[Span], low: int, high: int) -> None:
        """A result under a site's own heading (``BLADDER: …``) or said to be of a site (``mutation of bladder``)."""
        for site in sites:
            if not low <= site.start < high:
                continue
            heads = site.start - low <= 3 and frame.text[site.end : site.end + 2].lstrip(") ")[:1] == ":"
            enclosed = site.start - low <= 3 and frame.text[site.end : site.end + 1] == ")"
            said = site.start >= span.end and re.fullmatch(r"\s*(?:\w+\s){0,2}(?:in|of|on|from)\s+(?:the\s)?", frame.text[span.end : site.start])
            if heads or enclosed or said:
                span.attributes.setdefault("site", site.concept)
                return

    @staticmethod
    def _grades(events: list[Span]) -> None:
        """A grade right beside a symptom or toxicity is that toxicity's grade."""
        harms = [span for span in events if span.kind in ("symptom", "adverse_event", "comorbidity")]
        for grade in [span for span in events if span.kind == "grade" and "scale" not in span.attributes]:
            for harm in harms:
                if 0 <= harm.start - grade.end <= 3 or 0 <= grade.start - harm.end <= 3:
                    harm.attributes["grade"] = grade.attributes["grade"]
                    harm.kind = "adverse_event" if harm.kind != "comorbidity" else harm.kind
                    events.remove(grade)
                    break

    # --- context, dates, mentions ---------------------------------------------------------------------------------------

    def _mentions(self, frame: Frame, events: list[Span], document_class: str) -> list[Mention]:
        ordered = sorted(events, key=lambda span: (span.start, span.end, span.kind, span.concept))
        mentions: list[Mention] = []
        at = 0
        lead: tuple[CueKind, ...] = ()
        lead_end = 0
        for sentence in frame.shape.sentences:
            here: list[Span] = []
            while at < len(ordered) and ordered[at].start < sentence.end:
                if ordered[at].start >= sentence.start:
                    here.append(ordered[at])
                at += 1
            if lead and (sentence.start - lead_end > 1500 or not _in_list(frame.text, sentence.start, lead_end)):
                lead = ()
            opens = (
                frame.text[sentence.end - 1] == ":"
                or frame.text[sentence.end : sentence.end + 1] == ":"
                or bool(_FIRST_ITEM.search(frame.text, sentence.start, sentence.end))
            )
            if here or opens:
                context = self._context(frame, sentence.start, sentence.end, here)
                mentions.extend(self._read_sentence(frame, sentence.start, sentence.end, here, context, lead, document_class))
                if opens:
                    lead, lead_end = context[0].leads(), sentence.end
        return mentions

    @staticmethod
    def _context(frame: Frame, start: int, end: int, spans: Sequence[Span]) -> tuple[SentenceContext, list[Target]]:
        first, last = frame.token_range(start, end)
        targets = []
        for span in spans:
            low, high = frame.token_range(span.start, span.end)
            targets.append(Target(low - first, max(high, low + 1) - first, span.start, span.end, span.kind))
        return SentenceContext(frame.text, frame.tokens[first:last], (start, end), targets), targets

    def _read_sentence(
        self, frame: Frame, start: int, end: int, spans: list[Span], read: tuple[SentenceContext, list[Target]],
        lead: tuple[CueKind, ...], document_class: str,
    ) -> Iterable[Mention]:
        section = frame.shape.section_at(start)
        if section.effect in ("skip", "boilerplate"):
            return
        context, targets = read
        taken_back = bool(_TAKEN_BACK.match(frame.text, end, min(len(frame.text), end + 80)))
        for span, target in zip(spans, targets, strict=True):
            reading = context.read(target, frame.shape.section_at(span.start))
            reading = self._with_decided(span, _led(reading, lead, span.kind))
            if taken_back and span.kind in _CORRECTABLE:
                reading = replace(reading, context=replace(reading.context, polarity=Polarity.ABSENT, reason="retracted"))
            if reading.context.polarity is Polarity.ABSENT and reading.context.reason == "none" and span.kind in _CORRECTABLE:
                if _CORRECTION.search(frame.text, start, min(len(frame.text), end + 60)):
                    reading = replace(reading, context=replace(reading.context, reason="retracted"))
            if span.kind in ("variant", "biomarker", "diagnosis") and reading.context.reason == "none":
                reach = end + (160 if span.kind != "diagnosis" else 0)
                if _ANOTHER_PATIENT.search(frame.text, start, min(len(frame.text), reach)):
                    reading = replace(reading, context=replace(reading.context, polarity=Polarity.ABSENT, reason="retracted"))
            if reading.status in ("given", "mentioned") and _NOT_SO.search(frame.text, start, end):
                reading = Reading(replace(reading.context, polarity=Polarity.ABSENT, reason="never_started"), "never_started", reading.cues)
            day, anchor = self._day(frame, span, (start, end), reading.context)
            yield self._mention(frame, span, reading, day, anchor, section.name, (start, end), document_class)
            implied = self._state_of.get(span.concept) if span.kind == "state" else None
            if implied and reading.context.really_happened:
                tumor = Span(span.start, span.end, "diagnosis", implied, span.source, {"site": self.concepts.get(implied).site})
                yield self._mention(frame, tumor, reading, day, anchor, section.name, (start, end), document_class)

    @staticmethod
    def _with_decided(span: Span, reading: Reading) -> Reading:
        """What the recogniser read itself (a result word) is not read again as a cue."""
        context = reading.context
        if span.kind in ("performance", "tnm", "stage") and context.polarity is Polarity.ABSENT and context.reason == "none":
            return replace(reading, context=replace(context, polarity=Polarity.PRESENT))
        if span.kind == "node" and "positive" in span.attributes:
            return replace(reading, context=replace(context, polarity=Polarity.PRESENT))
        if not span.decided:
            return reading
        if context.reason in ("pending", "not_tested", "retracted") and (span.decided == "present" or context.reason == "retracted"):
            polarity = Polarity.ABSENT if context.reason == "retracted" else Polarity.PRESENT
            reason = context.reason if context.reason == "retracted" else "none"
            return replace(reading, context=replace(context, polarity=polarity, reason=reason))
        polarity = {"present": Polarity.PRESENT, "absent": Polarity.ABSENT, "uncertain": Polarity.UNCERTAIN}[span.decided]
        if span.decided == "present" and context.polarity is Polarity.UNCERTAIN and context.reason == "none":
            polarity = Polarity.UNCERTAIN
        return replace(reading, context=replace(context, polarity=polarity, reason="none"))

    @staticmethod
    def _day(frame: Frame, span: Span, sentence: tuple[int, int], context: Context) -> tuple[DayInterval, tuple[int, int, str] | None]:
        """The day of the fact: a date in its clause, else its line's leading date, else the note's."""
        note_day = frame.note.date.toordinal() if frame.note.date else None
        start, end = sentence
        best = None
        for date in frame.dates_in(start, end):
            if date.start < span.end and date.end > span.start:
                continue
            ahead = date.end <= span.start
            gap = span.start - date.end if ahead else date.start - span.end
            between = frame.text[date.end : span.start] if ahead else frame.text[span.end : date.start]
            leading = date.start - start <= 6
            if gap > 80 and not leading or re.search(r"[;|]|\.\s", between):
                continue
            if note_day is not None and date.day.low > note_day + 7 and context.really_happened:
                continue
            rank = (gap + (0 if ahead else 4) + 20 * between.count(","), date)
            if best is None or rank[0] < best[0]:
                best = rank
        if best is None:
            line_start, _ = frame.shape.line_at(span.start)
            for date in frame.dates_in(line_start, line_start + 9):
                if date.end <= span.start:
                    best = (0, date)
        if best is not None:
            date = best[1]
            high = min(date.day.high, max(date.day.low, note_day)) if note_day is not None else date.day.high
            return DayInterval(date.day.low, high), (date.start, date.end, date.rule)
        if note_day is None:
            return DayInterval(EARLIEST_DAY, LATEST_DAY), None
        if context.temporality is Temporality.HISTORICAL:
            return DayInterval(EARLIEST_DAY, note_day), None
        return DayInterval(note_day, note_day), None

    @staticmethod
    def _mention(
        frame: Frame, span: Span, reading: Reading, day: DayInterval, anchor: tuple[int, int, str] | None,
        section: str, sentence: tuple[int, int], document_class: str,
    ) -> Mention:
        attributes = dict(span.attributes)
        if span.kind in ("medication", "regimen"):
            dose = _DOSE.match(frame.text, span.end)
            if dose:
                attributes["dose"] = dose["dose"].strip()
        if reading.status:
            attributes["status"] = reading.status
        if span.kind == "tnm" and "prefix" not in attributes and document_class == "pathology":
            attributes["prefix"] = "p"
        cues = list(reading.cues) + [Cue(start, end, rule) for start, end, rule in span.helpers]
        if anchor:
            cues.append(Cue(anchor[0], anchor[1], f"date:{anchor[2]}"))
        return Mention(
            frame.note_id, span.start, span.end, frame.text[span.start : span.end], span.kind, LABELS.get(span.kind, ""),
            span.concept, attributes, reading.context, day, span.source, section, sentence, tuple(cues),
        )


def _in_list(text: str, start: int, lead_end: int) -> bool:
    """Whether the sentence at ``start`` begins with a bullet or number and no blank line parts it from the list's lead."""
    line = text.rfind("\n", 0, start) + 1
    return bool(_BULLET.match(text, line) or _BULLET.match(text, start)) and "\n\n" not in text[lead_end:start]


def _led(reading: Reading, lead: tuple[CueKind, ...], kind: str) -> Reading:
    """A list's lead ("differential:", "declined:") holds for its items where they say nothing else themselves."""
    context, status = reading.context, reading.status
    for cue in lead:
        if cue.kinds and kind not in cue.kinds:
            continue
        if "experiencer" in cue.sets and context.experiencer is Experiencer.PATIENT:
            context = replace(context, experiencer=Experiencer(cue.sets["experiencer"]))
        elif "status" in cue.sets and not status:
            status = cue.sets["status"]
            if status == "planned":
                context = replace(context, temporality=Temporality.PLANNED)
            else:
                context = replace(context, polarity=Polarity.ABSENT, reason=cue.sets.get("reason", "none"))
        elif "polarity" in cue.sets and "status" not in cue.sets and context.polarity is Polarity.PRESENT and not reading.cues:
            context = replace(context, polarity=Polarity(cue.sets["polarity"]))
        elif cue.name == "hypothetical" and not reading.cues and not status:
            context = replace(context, temporality=Temporality.HYPOTHETICAL)
    return replace(reading, context=context, status=status)


def document_class_of(note: Note) -> str:
    """The kind of document, from its type and title (``cues/documents.toml``)."""
    words = f"{note.type} {note.title} ".lower()
    for entry in _tables()["documents"]["class"]:
        if any(word in words for word in entry["words"]):
            return str(entry["name"])
    return "clinical"


def _relations(mentions: Sequence[Mention]) -> Iterable[Relation]:
    """Results to tumors, and treatments to tumors, of one sentence."""
    by_sentence: dict[tuple[int, int], list[Mention]] = {}
    for mention in mentions:
        by_sentence.setdefault(mention.sentence, []).append(mention)
    for group in by_sentence.values():
        tumors = [mention for mention in group if mention.kind == "diagnosis"]
        for mention in group:
            if tumors and mention.kind in ("biomarker", "variant", "stage", "tnm", "grade"):
                closest = min(tumors, key=lambda tumor: abs(tumor.start - mention.start))
                yield Relation(mention.note_id, "TumorDesc", mention.mention_id, closest.mention_id, "same-sentence")


def read_text(
    text: str, date: datetime.date | str | None = None, title: str = "", type: str = "", targets: Sequence[tuple[int, int]] = ()
) -> ReadNote:
    """One text read on its own. ``date``: a date or its ISO text; ValueError if it is neither."""
    if isinstance(date, str):
        date = datetime.date.fromisoformat(date)
    note = Note("", "", text, date, type, title)
    return shared_reader().read(note, targets)


@lru_cache(maxsize=1)
def shared_reader() -> NoteReader:
    """The process's reader with the shipped ontology."""
    return NoteReader.from_ontology()


def is_patients_own(mention: Mention) -> bool:
    """Whether the mention concerns the patient."""
    return mention.context.experiencer is Experiencer.PATIENT
