"""The document model: one note, without any state between notes, read into mentions with context, site and date."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ...kb.model import Mention, Note, Relation
from ...kb.note_classes import note_class
from ...kb.ontology.concepts import ConceptTable, shipped_concepts
from ...kb.rare_collections import rare_collections
from ..binding.composed import ConditionPlacer
from ..binding.lesions import LesionReader
from ..binding.placing import Placement
from ..binding.results import ResultBinder, composite_results
from ..binding.samples import SampleReader
from ..binding.specimens import SpecimenPlacer
from ..binding.studies import StudyReader
from ..context.cues import CueTable, cue_table
from ..models.tagging.choice import Choice
from ..models.tagging.recognizer import PreparedRecognizer
from ..recognizers.every import recognizers_of
from ..recognizers.findings import finding_words
from ..recognizers.lexicon import Lexicon
from ..recognizers.molecular import molecular_words
from ..recognizers.operations import operation_words
from ..recognizers.short_forms import CaseRestorer
from ..text.cue_files import cue_file
from ..text.frame import Frame, Vocabulary
from ..text.scans import AsRead, ScanReader
from ..text.shape import Section, sections_of
from ..text.words import Remembered
from ..text.zones import zone_table
from ..treatments.courses import course_words
from .mentions import MentionWriter
from .proposals import Proposals
from .steps import STEPS, Page, Step, Tools, run
from .trace import Traced, trace


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
    steps: Sequence[Step] = STEPS
    #: Whether reports of pathology are seen as what was meant (:mod:`~cohortium.ingest.text.scans`).
    scans: bool = True
    #: Makes what proposes mentions that the rules lack, of the ontology, the kind of span that a concept makes, and the
    #: concepts that say too little.
    learned: Callable[[ConceptTable, Callable[[str], str], frozenset[str]], PreparedRecognizer] | None = None


def _below_any(concepts: ConceptTable, tops: Sequence[str]) -> frozenset[str]:
    """The concepts and all below them; tops that an ontology lacks have none."""
    return frozenset().union(*(concepts.below(top) for top in tops if top in concepts))


class NoteReader:
    """Reads notes with one ontology; build once a process, safe to use for any number of notes."""

    def __init__(self, concepts: ConceptTable, parts: Parts = Parts()) -> None:
        self.concepts = concepts
        self.steps = tuple(parts.steps)
        self._sections = parts.sections
        self.lexicon = Lexicon(concepts)
        self.measured = Lexicon(concepts, measured=True)
        self._case = CaseRestorer(concepts)
        self._scans = ScanReader(concepts) if parts.scans else None
        implied = cue_file("implied")
        unspecific = frozenset(implied["unspecific"]["concepts"])
        self._placement = Placement(concepts, implied)
        tumor_of: dict[str, str] = implied["scale_of"] | {
            below: tumor
            for state, tumor in implied["state_of"].items()
            if state in concepts
            for below in concepts.below(state)
        }
        cues = parts.cues()
        tries = (
            self.lexicon.trie,
            self.measured.trie,
            cues,
            composite_results(),
            molecular_words(),
            course_words().marks,
            finding_words(),
            operation_words(),
            zone_table().phrases,
        )
        self._vocabulary = Vocabulary(tries)
        self.proposals: Proposals | None = None
        if parts.learned is not None:
            learned = parts.learned(concepts, self.lexicon.kind_of, unspecific)
            self.proposals = Proposals(learned, concepts, unspecific)
        self._tools = Tools(
            concepts,
            recognizers_of(self.lexicon, self.measured),
            ResultBinder(concepts),
            self._placement,
            ConditionPlacer(self._placement.sites, self._placement.composer),
            SpecimenPlacer(concepts, self._placement.sites, self._placement.composer),
            LesionReader(concepts),
            SampleReader(concepts),
            StudyReader(concepts),
            MentionWriter(concepts, tumor_of, cues, _below_any(concepts, implied["asked_of_images"]["concepts"])),
            # Titles come again and again.
            Remembered(self._sites_of_title, most=5_000, longest=160),
            Remembered(self._procedures_of_title, most=5_000, longest=160),
            concepts.at_or_below("toxicity"),
            concepts.at_or_below("systemic_therapy") | concepts.at_or_below("local_drug_therapy"),
            concepts.at_or_below("antimicrobial"),
            unspecific,
            frozenset(implied["pattern_of_growth"]["words"]),
            _below_any(concepts, implied["course"]["concepts"]),
            _below_any(concepts, implied["course"]["of_tumors"]),
        )

    @classmethod
    def from_ontology(cls, extra: Path | None = None, model: Choice | None = None) -> NoteReader:
        """A reader with the shipped ontology, with the concepts of the folder ``extra``, and with a model's proposals;
        UsageError if the model cannot be loaded."""
        with rare_collections():
            return cls(shipped_concepts(extra), Parts(learned=None if model is None else model.recognizer))

    def prepare(self, notes: Sequence[Note]) -> None:
        """Let the model see notes that will be read, all at once: quicker, and no note is read otherwise for it."""
        if self.proposals is not None:
            self.proposals.recognizer.prepare([note.text for note in notes])

    def page(self, note: Note, targets: Sequence[tuple[int, int]] = (), notations: bool = False) -> Page:
        """The page of ``note`` before the first step; see :meth:`read`."""
        seen = self.seen(note)
        frame = Frame(note, self._sections, self._case.restore(seen.text), self._vocabulary, seen.ends)
        return Page(self._tools, frame, targets, notations, self.proposals)

    def seen(self, note: Note) -> AsRead:
        """The text of a note as the rules see it: reports of pathology come from scanners."""
        if self._scans is None or note_class(note.type, note.title) != "pathology":
            return AsRead(note.text)
        return self._scans.as_read(note.text)

    def read(self, note: Note, targets: Sequence[tuple[int, int]] = (), notations: bool = False) -> ReadNote:
        """``note`` read. ``targets``: character spans that become mentions whatever the lexicon knows. ``notations``:
        expressions of change become mentions of their own, beside those of their genes."""
        page = run(self.page(note, targets, notations), self.steps)
        return ReadNote(note, tuple(page.mentions), tuple(page.relations), page.document_class, page.topic)

    def trace(self, note: Note, targets: Sequence[tuple[int, int]] = (), notations: bool = False) -> list[Traced]:
        """What each step changes while ``note`` is read as by :meth:`read`."""
        return trace(self.page(note, targets, notations), self.steps)

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

    def _procedures_of_title(self, title: str) -> tuple[str, ...]:
        found = self.lexicon.find(Frame(Note("", "", title))) if title else ()
        return tuple(span.concept for span in found if span.kind == "procedure")

    def _sites_of_title(self, title: str) -> tuple[str, ...]:
        sites = []
        for span in self.lexicon.find(Frame(Note("", "", title))) if title else ():
            if span.kind == "site":
                sites.append(span.concept)
            elif span.kind == "diagnosis" and self.concepts.get(span.concept).site:
                sites.append(self.concepts.get(span.concept).site)
        return tuple(sites)


# A text, and choices that all have a default: each is an option of the command that reads one text.
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
