"""The document model: one note, without any state between notes, read into mentions with context, site and date."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from ...kb.kinds import KINDS
from ...kb.model import Mention, Note, Relation
from ...kb.note_classes import note_class
from ...kb.ontology.concepts import ConceptTable, shipped_concepts
from ..binding.placing import Placement
from ..binding.results import ResultBinder, composite_results
from ..context.cue_table import CueTable, cue_table
from ..models.tagging.choice import Choice
from ..models.tagging.recognizer import PreparedRecognizer
from ..notation.mentions import with_notations
from ..recognizers.abbreviations import Abbreviations, share_places
from ..recognizers.bare_stages import BareStageRecognizer
from ..recognizers.births import births
from ..recognizers.doses import DoseRecognizer
from ..recognizers.inverted import turn_round
from ..recognizers.lexicon import Lexicon, recognise
from ..recognizers.molecular import MolecularRecognizer, molecular_words
from ..recognizers.performance import PerformanceRecognizer
from ..recognizers.spread import MetastasisRecognizer, NodeRecognizer
from ..recognizers.staging import GradeRecognizer, StageRecognizer, TnmRecognizer
from ..recognizers.trials import TrialRecognizer, with_status
from ..text.cue_files import cue_file
from ..text.frame import Frame, Span, resolve_overlaps
from ..text.lowercase import CaseRestorer
from ..text.shape import Section, sections_of
from ..text.statements import needs, statement
from ..text.tokens import Remembered
from ..text.vocabulary import Vocabulary
from ..treatments.courses import with_courses
from ..treatments.harms import with_harms
from ..treatments.marks import course_words
from .mentions import MentionWriter
from .proposals import Proposals, RulesReading

#: Minutes that tell of several patients, filed to the chart of each.
SHARED: Final = "shared"
_EVENT_KINDS = frozenset(KINDS)
#: So far before "AC" may the words for a line or a needle begin (characters).
_REACH_OF_LINES = 60
_BINDABLE = frozenset({"gene", "biomarker", "value", "molecular"})


@dataclass(frozen=True, slots=True)
class ReadNote:
    """What reading one note gives: its mentions, relations, kind of document and the organ that it is about."""

    note: Note
    mentions: tuple[Mention, ...] = ()
    relations: tuple[Relation, ...] = ()
    document_class: str = "clinical"
    topic: str = ""


@dataclass(frozen=True, slots=True)
class Parts:
    """What a reader joins that could be joined otherwise: a measurement of one part puts another in its place."""

    sections: Callable[[str], list[Section]] = sections_of
    cues: Callable[[], CueTable] = cue_table
    binder: Callable[[ConceptTable], ResultBinder] = ResultBinder
    placement: Callable[[ConceptTable, Mapping[str, Mapping[str, str]]], Placement] = Placement
    #: Makes what proposes mentions that the rules lack, of the ontology, the kind of span that a concept makes, and the
    #: concepts that say too little.
    learned: Callable[[ConceptTable, Callable[[str], str], frozenset[str]], PreparedRecognizer] | None = None


class NoteReader:
    """Reads notes with one ontology; build once a process, safe to use for any number of notes."""

    def __init__(self, concepts: ConceptTable, parts: Parts = Parts()) -> None:
        self.concepts = concepts
        self._sections = parts.sections
        self.lexicon = Lexicon(concepts)
        self._recognizers = (
            self.lexicon,
            Abbreviations(self.lexicon),
            TnmRecognizer(),
            StageRecognizer(),
            BareStageRecognizer(),
            DoseRecognizer(),
            GradeRecognizer(),
            PerformanceRecognizer(),
            MolecularRecognizer(),
            NodeRecognizer(),
        )
        self._case = CaseRestorer(concepts)
        self._metastasis = MetastasisRecognizer()
        self._trials = TrialRecognizer()
        # Titles come again and again.
        self._title_sites = Remembered(self._sites_of_title, most=5_000, longest=160)
        self._binder = parts.binder(concepts)
        implied = cue_file("implied")
        self._unspecific = frozenset(implied["unspecific"]["concepts"])
        self._never_turned = frozenset(implied["pattern_of_growth"]["words"])
        self._placement = parts.placement(concepts, implied)
        tumor_of: dict[str, str] = implied["scale_of"] | {
            below: tumor
            for state, tumor in implied["state_of"].items()
            if state in concepts
            for below in concepts.below(state)
        }
        cues = parts.cues()
        self._writer = MentionWriter(concepts, tumor_of, cues)
        tries = (self.lexicon.trie, cues, composite_results(), molecular_words(), course_words().marks)
        self._vocabulary = Vocabulary(tries)
        self.proposals: Proposals | None = None
        if parts.learned is not None:
            learned = parts.learned(concepts, self.lexicon.kind_of, self._unspecific)
            self.proposals = Proposals(learned, concepts, self._placement, self._writer, self._unspecific)

    @classmethod
    def from_ontology(cls, extra: Path | None = None, model: Choice | None = None) -> NoteReader:
        """A reader with the shipped ontology, with the concepts of the folder ``extra``, and with a model's proposals;
        UsageError if the model cannot be loaded."""
        return cls(shipped_concepts(extra), Parts(learned=None if model is None else model.recognizer))

    def prepare(self, notes: Sequence[Note]) -> None:
        """Let the model see notes that will be read, all at once: quicker, and no note is read otherwise for it."""
        if self.proposals is not None:
            self.proposals.recognizer.prepare([note.text for note in notes])

    def read(self, note: Note, targets: Sequence[tuple[int, int]] = (), notations: bool = False) -> ReadNote:
        """``note`` read. ``targets``: character spans that become mentions whatever the lexicon knows. ``notations``:
        expressions of change become mentions of their own, beside those of their genes."""
        frame = Frame(note, self._sections, self._case.restore(note.text), self._vocabulary)
        document_class = note_class(note.type, note.title)
        if document_class == "clinical" and len(statement("case_of_several").findall("\n" + frame.text)) > 1:
            document_class = SHARED
        spans = resolve_overlaps(recognise(frame, self._recognizers))
        spreads = list(self._metastasis.find(frame))
        bound = self._binder.bind(
            frame, [span for span in spans if span.kind in _BINDABLE and not _is_heading(frame, span)]
        )
        sites = [span for span in spans if span.kind == "site"]
        sites = sorted([*sites, *self._placement.sites.of_specimens(frame.text, spans)], key=lambda span: span.start)
        events = [
            span
            for span in spans
            if span.kind in _EVENT_KINDS and span.kind != "biomarker" and span.concept not in self._unspecific
        ]
        events += self._second_readings(spans)
        institution = statement("institution")
        named = [span for span in events if span.kind == "diagnosis"]
        may_be_secondary = not needs("secondary").isdisjoint(frame.vocabulary)
        secondary = [span for span in named if _is_secondary(frame.text, span)] if may_be_secondary else []
        left_out = {
            id(span) for span in named if institution.match(frame.text, span.end) or _is_category(frame.text, span)
        }
        left_out.update(id(span) for span in events if span.kind == "regimen" and _is_fossa(frame.text, span))
        left_out.update(map(id, secondary))
        events = [span for span in events if id(span) not in left_out]
        events += self._placement.secondaries(secondary)
        diagnoses = [span for span in events if span.kind == "diagnosis"]
        for span in diagnoses:
            turn_round(frame.text, span, self.concepts, self._never_turned)
        reported = (
            [site.concept for _, site in self._placement.sites.specimen_sites(frame, sites)]
            if document_class in ("pathology", "molecular")
            else []
        )
        topic = self._placement.sites.topic((*self._title_sites[note.title], *reported), diagnoses)
        events += bound
        events += self._placement.adjective_states(frame, diagnoses)
        self._placement.diagnoses(frame, diagnoses, sites, document_class)
        share_places(diagnoses)
        events += self._placement.fluid_states(diagnoses)
        events += list(self._placement.spread_states(events))
        events += self._placement.involved_nodes(diagnoses)
        events += self._placement.spread(frame, spreads, sites, diagnoses)
        self._placement.others(frame, events, sites)
        self._placement.grades(events)
        events += [Span(start, end, "symptom", "", "target") for start, end in targets]
        written = with_courses(frame, self._writer.write(frame, events, document_class))
        told, relations = with_harms(frame, written)
        # Trials are written by themselves: a word for one must not part a drug from what is said of it.
        if trials := list(self._trials.find(frame)):
            told += with_status(frame, self._writer.write(frame, trials, document_class), told)
        # Two recognisers may see the same thing in the same place; it is said once.
        mentions: dict[str, Mention] = {}
        for mention in (*told, *births(frame)):
            mentions.setdefault(mention.mention_id, mention)
        if notations:
            noted = with_notations(
                frame,
                bound,
                tuple(mentions.values()),
                lambda spans: self._writer.write(frame, events + spans, document_class),
            )
            mentions = {mention.mention_id: mention for mention in noted}
        relations += _relations(mentions.values())
        if self.proposals is not None:
            read = RulesReading([*spans, *spreads], events, sites, tuple(mentions.values()), document_class)
            proposed, edges = self.proposals.of(frame, read)
            mentions.update((mention.mention_id, mention) for mention in proposed)
            relations += edges
        return ReadNote(note, tuple(mentions.values()), tuple(relations), document_class, topic)

    def side(self, text: str) -> str:
        """The side that a short text names: left, right, bilateral, or empty."""
        return self._placement.sites.side(text, 0, len(text), 0, len(text)) if text else ""

    def compose(self, morphology: str, site: str) -> str:
        """The tumor concept that a morphology and a site mean together; the morphology if there is none."""
        return self._placement.composer.compose(morphology, site)

    def may_be_primary(self, site: str) -> bool:
        """Whether a primary tumor may begin at this site (not in a lymph node or a body fluid)."""
        return self._placement.sites.primary_site(site)

    def is_node(self, site: str) -> bool:
        """Whether the site is a region of lymph nodes."""
        return site in self._placement.sites.nodes

    @staticmethod
    def _second_readings(spans: list[Span]) -> list[Span]:
        """Names that mean two things at once (TNBC: a tumor and its receptors) give a span for each."""
        found = []
        for span in spans:
            for concept, kind in span.alternatives:
                if (
                    kind != span.kind
                    and {kind, span.kind} <= {"diagnosis", "state", "biomarker"}
                    and kind != "biomarker"
                ):
                    found.append(Span(span.start, span.end, kind, concept, span.source))
        return found

    def _sites_of_title(self, title: str) -> tuple[str, ...]:
        sites = []
        for span in self.lexicon.find(Frame(Note("", "", title))) if title else ():
            if span.kind == "site":
                sites.append(span.concept)
            elif span.kind == "diagnosis" and self.concepts.get(span.concept).site:
                sites.append(self.concepts.get(span.concept).site)
        return tuple(sites)


def _is_category(text: str, span: Span) -> bool:
    """``Diabetes mellitus (HCC)``: a mark for billing, not hepatocellular carcinoma."""
    if text[span.start : span.end] != "HCC" or text[span.end : span.end + 1] != ")" or text[span.start - 1] != "(":
        return False
    return not statement("before_hcc").search(text, max(0, span.start - 60), span.start)


def _is_fossa(text: str, span: Span) -> bool:
    """``20g L AC``: the antecubital fossa, not doxorubicin and cyclophosphamide."""
    if text[span.start : span.start + 2] != "AC" or text[span.start + 2 : span.start + 3].isalnum():
        return False
    end = span.start + 2
    before = text[max(0, span.start - _REACH_OF_LINES) : span.start]
    if statement("fossa_behind").match(text, end) or statement("fossa_before").search(before):
        return True
    return bool(statement("fossa_side").search(before)) and not statement("course_behind").match(text, end)


def _is_secondary(text: str, span: Span) -> bool:
    """``Secondary malignant neoplasm of bone`` is spread to the bone, not its cancer."""
    return bool(statement("secondary").search(text, max(0, span.start - 30), span.start))


def _is_heading(frame: Frame, span: Span) -> bool:
    """``FH:`` at the head of a section is a heading, not the gene of that name."""
    if span.kind != "gene":
        return False
    section = frame.shape.section_at(span.start)
    return section.effect == "family" and section.start <= span.start < section.heading_end


def _relations(mentions: Iterable[Mention]) -> Iterable[Relation]:
    """Each result, stage and grade of a sentence to the nearest diagnosis in it."""
    by_sentence: dict[tuple[int, int], list[Mention]] = {}
    for mention in mentions:
        by_sentence.setdefault(mention.sentence, []).append(mention)
    for group in by_sentence.values():
        if len(group) == 1:
            continue
        tumors = [mention for mention in group if mention.kind == "diagnosis"]
        for mention in group:
            if tumors and mention.kind in ("biomarker", "variant", "stage", "tnm", "grade"):
                closest = min(tumors, key=lambda tumor: abs(tumor.start - mention.start))
                yield Relation(mention.note_id, "TumorDesc", mention.mention_id, closest.mention_id, "same-sentence")


def read_text(
    text: str,
    date: datetime.date | str | None = None,
    title: str = "",
    type: str = "",
    targets: Sequence[tuple[int, int]] = (),
    notations: bool = False,
    ontology: Path | None = None,
    model: Choice | None = None,
) -> ReadNote:
    """One text read on its own. ``date``: a date or its ISO text; ValueError if it is neither. ``notations``: as of
    :meth:`NoteReader.read`; ``model``: as of :meth:`NoteReader.from_ontology`."""
    if isinstance(date, str):
        date = datetime.date.fromisoformat(date)
    note = Note("", "", text, date, type, title)
    return shared_reader(ontology, model).read(note, targets, notations)


@lru_cache(maxsize=3)
def shared_reader(ontology: Path | None = None, model: Choice | None = None) -> NoteReader:
    """The process's reader with the shipped ontology, the concepts of one folder, and one model."""
    return NoteReader.from_ontology(ontology, model)
