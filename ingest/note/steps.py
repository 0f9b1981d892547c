"""A note's way from text to mentions: a page, the steps that fill it, and their order.

``STEPS`` is the table of contents of this package. Each step is one function of a page; a model's proposals run some of
the same steps, and a measurement of what a part is worth leaves a step out by its name.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

from ...kb.deadline import check
from ...kb.kinds import (
    CONDITIONS,
    COURSES,
    DESCRIBING_TUMORS,
    DRUGS,
    KIND_TABLE,
    KINDS,
    MEASURED,
    ON_ITS_OWN,
    OPERATIONS,
    PROCEDURES,
)
from ...kb.model import Mention, Polarity, Relation, Temporality
from ...kb.note_classes import note_class
from ...kb.ontology.concepts import ConceptTable
from ...kb.units import in_usual_unit, likely_units, unit_named, usual_units
from ..binding.composed import ELSEWHERE, ConditionPlacer
from ..binding.fluids import cells_in_fluids
from ..binding.graded import grades_in_names, grades_of_the_tumor
from ..binding.lesions import LesionReader
from ..binding.placing import Placement
from ..binding.results import ResultBinder, composite_results
from ..binding.samples import SampleReader
from ..binding.specimens import SpecimenPlacer
from ..binding.studies import StudyReader
from ..context.relatives import with_relatives
from ..notation.mentions import with_notations
from ..recognizers.allergies import GATES as ALLERGY_GATES
from ..recognizers.allergies import allergies
from ..recognizers.births import label_of
from ..recognizers.encounters import encounters_of_note, with_days
from ..recognizers.lexicon import join_lines, join_over_bracket, name_type, turn_round
from ..recognizers.measurements import BESIDE, EXAMINATION, how_it_was, is_made, is_ordered
from ..recognizers.sensitivities import tested as tested_drugs
from ..recognizers.short_forms import share_places
from ..recognizers.trials import with_status
from ..recognizers.tumor_features import valued
from ..text.boxes import empty_options, without_empty_options
from ..text.cases import UNKNOWN
from ..text.forms import choices_of_forms
from ..text.frame import (
    ALLERGENS,
    BIRTHS,
    ENCOUNTERS,
    FINDINGS,
    GRADES_IN_NAMES,
    MEASURES,
    NAMES,
    OPERATED,
    PERSONS,
    SPREAD,
    TOLD,
    TRIALS,
    TUMOR_FEATURES,
    Frame,
    Recognizer,
    Span,
    resolve_overlaps,
)
from ..text.statements import needs, statement
from ..treatments.courses import TREATED, with_courses
from ..treatments.harms import with_harms
from .mentions import MentionWriter, settled_mention

#: What is done to find out, and not to treat.
DIAGNOSTIC: Final = "diagnostic_procedure"
#: The rule of a cue that denies what stands behind it.
DENIAL: Final = "negation"
_SPREAD: Final = frozenset({"metastasis", "state"})
#: Minutes that tell of several patients, filed to the chart of each.
SHARED: Final = "shared"
_EVENT_KINDS: Final = frozenset(KINDS)
_BINDABLE: Final = frozenset({"gene", "biomarker", "value", "molecular"})
#: Kinds that a name may mean beside each other, or beside a marker ("TNBC": a tumor and its receptors).
_MEANT_AT_ONCE: Final = frozenset({"diagnosis", "state"})
#: Concepts that say no more than the kind of event: in a heading they name what follows.
_ROOTS: Final = frozenset(kind.root for kind in KIND_TABLE.values() if kind.root)
#: What is no event by itself where it belongs to an allergy.
_OF_ALLERGIES: Final = CONDITIONS | DRUGS
#: So far before "AC" may the words for a line or a needle begin (characters).
_REACH_OF_LINES: Final = 60


class Proposer(Protocol):
    """What adds mentions that the rules lack."""

    def add(self, page: Page) -> None:
        """Add them to a page on which all rules have written."""


@dataclass(frozen=True, slots=True)
class Tools:
    """What the steps work with, built once for an ontology."""

    concepts: ConceptTable
    recognizers: Sequence[Recognizer]
    binder: ResultBinder
    placement: Placement
    conditions: ConditionPlacer
    specimens: SpecimenPlacer
    lesions: LesionReader
    samples: SampleReader
    studies: StudyReader
    writer: MentionWriter
    #: The organs that a title names.
    sites_of_title: Mapping[str, Sequence[str]]
    #: The procedures that one names.
    procedures_of_title: Mapping[str, Sequence[str]]
    #: Conditions that are known as harms of treatment.
    toxicities: Set[str]
    #: The drugs that are given against tumors.
    against_tumors: Set[str]
    #: Those against germs.
    antimicrobials: Set[str]
    #: Concepts that say too little to be an event; words that mean other tumors in other organs.
    unspecific: frozenset[str]
    never_turned: frozenset[str]
    #: States that tell how a tumor goes on.
    courses: frozenset[str]
    #: Complaints and findings that may be the tumor's.
    of_tumors: frozenset[str]


@dataclass(slots=True)
class Page:
    """One note, and what the steps have made of it so far.

    ``spans``: what recognisers found, none overlapping another; ``apart``: by layer, what is read by itself. ``sites``:
    the places that are named. ``events``: the spans that become mentions. ``topic``: the organ that the note is about.
    """

    tools: Tools
    frame: Frame
    #: Character spans that become mentions whatever the lexicon knows; whether changes become mentions of their own.
    targets: Sequence[tuple[int, int]] = ()
    notations: bool = False
    #: The model that reads along.
    proposer: Proposer | None = None
    document_class: str = "clinical"
    spans: list[Span] = field(default_factory=list)
    apart: dict[str, list[Span]] = field(default_factory=dict)
    sites: list[Span] = field(default_factory=list)
    events: list[Span] = field(default_factory=list)
    topic: str = ""
    mentions: list[Mention] = field(default_factory=list)
    relations: list[Relation] = field(default_factory=list)

    @property
    def diagnoses(self) -> list[Span]:
        """Those of the events."""
        return [span for span in self.events if span.kind == "diagnosis"]

    @property
    def kinds(self) -> set[str]:
        """The kinds of what is written."""
        return {mention.kind for mention in self.mentions}


#: Reads what the steps before it left on a page, and adds to it.
Step = Callable[[Page], None]


# --- what the text names ----------------------------------------------------------------------------------------------


def classify(page: Page) -> None:
    """The kind of document: by its type and title, or minutes that tell of several patients."""
    note = page.frame.note
    page.document_class = note_class(note.type, note.title)
    text = page.frame.text
    cases = page.frame.cases
    if page.document_class == "clinical" and (
        any(case.who == UNKNOWN for case in cases)
        or (not cases and len(statement("case_of_several").findall("\n" + text)) > 1)
    ):
        page.document_class = SHARED


def find_spans(page: Page) -> None:
    """The spans of all recognisers but of what empty boxes offer, with the overlaps of names settled."""
    frame = page.frame
    for recognizer in page.tools.recognizers:
        check()
        if frame.opens(recognizer.gates) and frame.holds(recognizer.triggers):
            page.apart.setdefault(recognizer.layer, []).extend(recognizer.find(frame))
    if options := empty_options(frame.text):
        for layer, found in page.apart.items():
            page.apart[layer] = without_empty_options(options, found)
    names = page.apart.pop(NAMES, [])
    page.spans = resolve_overlaps(names)
    if page.document_class == "pathology":
        page.apart[GRADES_IN_NAMES] = grades_in_names(names, page.spans, page.tools.concepts)


def bind_results(page: Page) -> None:
    """Markers and genes with their results, from the words and figures beside them."""
    frame = page.frame
    spans = [span for span in page.spans if span.kind in _BINDABLE and not _is_heading(frame, span)]
    if spans or frame.beginnings(composite_results()):
        page.events += page.tools.binder.bind(frame, spans)


def tell_markers_in_usual_units(page: Page) -> None:
    """The numbers of serum markers, in the usual unit of each where the note's can be told in it."""
    for span in page.events:
        value = span.attributes.get("value")
        usual = usual_units().get(span.concept)
        if usual is None or not isinstance(value, float) or "result" in span.attributes:
            continue
        unit = str(span.attributes.get("unit", ""))
        named = unit_named(unit) if unit else _bare_unit(span.concept, value, usual.unit)
        told = in_usual_unit(span.concept, value, named) if named else None
        if told is not None:
            if told != value:
                span.attributes["written"] = f"{value:g} {unit}".strip()
            span.attributes |= {"value": told, "unit": usual.unit}


def _bare_unit(concept: str, value: float, usual: str) -> str:
    """The unit of a number of a marker without any: the usual one, unless it can only be another."""
    likely = likely_units(concept, value, f"{value:g}")
    return likely[0].unit if likely and len(likely) == 1 else usual


def _is_heading(frame: Frame, span: Span) -> bool:
    """``FH:`` at the head of a section is a heading, not the gene of that name."""
    return span.kind == "gene" and _heads(frame, span) and frame.shape.section_at(span.start).effect == "family"


def find_sites(page: Page) -> None:
    """The places that are named, also within the names of biopsies and scans."""
    text, other, no_place = page.frame.text, statement("other_place"), statement("no_place")
    named = [
        span
        for span in page.spans
        if span.kind == "site"
        and not other.search(text, max(0, span.start - 7), span.start)
        and not no_place.match(text, span.start)
    ]
    within = page.tools.placement.sites.of_specimens(page.frame.text, page.spans)
    found = sorted([*named, *within], key=lambda span: span.start)
    page.sites = page.tools.placement.sites.with_ends(text, found)


def take_events(page: Page) -> None:
    """The spans that tell of an event by themselves, and the other meaning of names that mean two things at once."""
    page.events += [
        span
        for span in page.spans
        if span.kind in _EVENT_KINDS
        and span.kind != "biomarker"
        and span.concept not in page.tools.unspecific
        and not (span.concept in _ROOTS and _heads(page.frame, span))
    ]
    page.events += _other_meanings(page.spans)


def _heads(frame: Frame, span: Span) -> bool:
    """Whether a span stands in the heading of its section: *SOCIAL HISTORY*, *TITLE OF OPERATION*."""
    section = frame.shape.section_at(span.start)
    return section.start <= span.start < section.heading_end


def _other_meanings(spans: Iterable[Span]) -> Iterator[Span]:
    """Names that mean two things at once (TNBC: a tumor and its receptors) give a span for each."""
    for span in spans:
        for concept, kind in span.alternatives:
            if kind != span.kind and kind in _MEANT_AT_ONCE and span.kind in {*_MEANT_AT_ONCE, "biomarker"}:
                yield Span(span.start, span.end, kind, concept, span.source)


def take_measurements(page: Page) -> None:
    """What is measured, with its value; a longer name that holds its name (``iron deficiency``) goes before it."""
    measured = page.apart.get(MEASURES)
    if not measured:
        return
    taken: set[int] = set()
    starts = [one.start for one in page.spans]
    for span in measured:
        name_end = span.end if span.source == BESIDE else span.start + len(span.source.partition(":")[2])
        told = bool(span.attributes)
        # None of the spans overlaps another: those that end behind a place stand together.
        at = bisect.bisect_left(starts, name_end)
        beside = []
        while at and page.spans[at - 1].end > span.start:
            at -= 1
            if page.spans[at].kind != "value":
                beside.append(page.spans[at])
        if any(one.end - one.start > name_end - span.start or not told for one in beside):
            continue
        taken.update(map(id, beside))
        page.events.append(span)
    if taken:
        page.events = [span for span in page.events if id(span) not in taken]


def take_findings(page: Page) -> None:
    """The findings that a thing and its change tell, where no name tells as much."""
    found = page.apart.get(FINDINGS, ())
    if not found:
        return
    concepts = page.tools.concepts
    named, whole = _Over(page.events), _Over(page.spans)
    replaced: set[int] = set()
    for span in found:
        low = min([span.start, *(start for start, _, _ in span.helpers)])
        high = max([span.end, *(end for _, end, _ in span.helpers)])
        beside = [other for other in named.spans(low, high) if other.concept]
        if span.source == TOLD:
            if _is_within_a_name(whole.spans(span.start, span.end), span):
                continue
            # It goes before the shorter names within its words: "coughed up blood" is no cough.
            shorter = [one for one in beside if _is_replaced(one, span)]
            if not any(
                concepts.is_a(one.concept, span.concept) and (one not in shorter or one.concept != span.concept)
                for one in beside
            ):
                replaced.update(map(id, shorter))
                page.events.append(span)
        elif not any(concepts.is_a(other.concept, span.concept) for other in beside):
            page.events.append(span)
    if replaced:
        page.events = [span for span in page.events if id(span) not in replaced]


def _is_replaced(name: Span, told: Span) -> bool:
    """Whether a name stands within what is told in plain words, and so tells nothing else."""
    return told.start <= name.start and name.end <= told.end and name.kind in CONDITIONS


class _Over:
    """Spans by their places: those over a stretch are found without looking at all of them."""

    def __init__(self, spans: Iterable[Span]) -> None:
        self._spans = sorted(spans, key=lambda span: span.start)
        self._starts = [span.start for span in self._spans]
        self._longest = max((span.end - span.start for span in self._spans), default=0)

    def spans(self, low: int, high: int) -> list[Span]:
        """Those that share a character with the stretch, in the order of their starts."""
        first = bisect.bisect_left(self._starts, low - self._longest)
        return [one for one in self._spans[first : bisect.bisect_left(self._starts, high)] if one.end > low]


def _is_within_a_name(names: Iterable[Span], told: Span) -> bool:
    """Whether what looks told is part of a longer name: *sick* of *sick sinus syndrome*."""
    return any(
        one.start <= told.start
        and told.end <= one.end
        and one.end - one.start > told.end - told.start
        and one.kind != "value"
        for one in names
    )


def take_operations(page: Page) -> None:
    """What was done to an organ or thing (``appendix out``), where no name of an operation tells as much."""
    concepts = page.tools.concepts
    for span in page.apart.get(OPERATED, ()):
        beside = [
            one for one in page.events if one.kind in PROCEDURES and one.start < span.end and span.start < one.end
        ]
        if any(one.concept in concepts and concepts.is_a(one.concept, span.concept) for one in beside):
            continue
        if any(one.end - one.start > span.end - span.start for one in beside):
            # "Transurethral resection of the prostate" is no resection of it.
            continue
        # "Excised" alone is an operation, which is here told by its name.
        wider = {id(one) for one in beside if not one.concept or concepts.is_a(span.concept, one.concept)}
        page.events = [one for one in page.events if id(one) not in wider]
        where = [site for site in page.sites for low, high, _ in span.helpers if low <= site.start < high]
        if where:
            span.attributes["site"] = where[-1].concept
        page.events.append(span)


def take_tumor_features(page: Page) -> None:
    """Size, invasion and extension of the tumor; a shorter name of the same feature goes before what is told of it."""
    found = page.apart.get(TUMOR_FEATURES, ())
    told = {place for span in found for place in range(span.start, span.end)}
    page.events = [
        one
        for one in page.events
        if one.kind != "feature" or not (one.concept in valued() or one.start in told or one.end - 1 in told)
    ]
    page.events += found


def settle_grades(page: Page) -> None:
    """Of the grades of a report of pathology, those of the tumor that was taken out."""
    if page.document_class != "pathology":
        return
    grades = [span for span in page.events if span.kind == "grade"] + page.apart.get(GRADES_IN_NAMES, [])
    if grades:
        grades.sort(key=lambda span: span.start)
        page.events = [span for span in page.events if span.kind != "grade"]
        page.events += grades_of_the_tumor(page.frame.text, grades)


def leave_out_tested_drugs(page: Page) -> None:
    """Antimicrobials that a germ was tested against (*S: meropenem, R: ciprofloxacin*) are not given by that."""
    drugs = [one for one in page.spans if one.kind == "medication" and one.concept in page.tools.antimicrobials]
    if not drugs:
        return
    tested = tested_drugs(page.frame, drugs)
    if tested:
        page.spans = [span for span in page.spans if id(span) not in tested]
        page.events = [span for span in page.events if id(span) not in tested]


def take_allergies(page: Page) -> None:
    """What the patient is said to be allergic to: such drugs are not taken, and such complaints not had today."""
    if not page.frame.opens(ALLERGY_GATES):
        return
    found = allergies(page.frame, page.spans, page.apart.get(ALLERGENS, ()), page.tools.against_tumors)
    taken = found.taken
    page.events = [
        span
        for span in page.events
        if span.kind not in _OF_ALLERGIES or not any(low < span.end and span.start < high for low, high in taken)
    ]
    page.events += found.events


# --- what is meant by a name ------------------------------------------------------------------------------------------


def turn_secondaries(page: Page) -> None:
    """``Secondary malignant neoplasm of bone`` is spread to the bone, not its cancer."""
    if needs("secondary").isdisjoint(page.frame.vocabulary):
        return
    text, pattern = page.frame.text, statement("secondary")
    secondary, turned = [], set()
    for span in page.diagnoses:
        match = pattern.search(text, max(0, span.start - 30), span.start)
        if match is not None:
            # The word that makes it spread is part of what is cited.
            secondary.append(replace(span, start=match.start()))
            turned.add(id(span))
    if secondary:
        page.events = [span for span in page.events if id(span) not in turned]
        page.events += page.tools.placement.secondaries(secondary)


def leave_out_lookalikes(page: Page) -> None:
    """Names that mean something else here: an institution, a mark for billing, a place for a needle."""
    text, institution = page.frame.text, statement("institution")
    left_out = {
        id(span)
        for span in page.events
        if span.kind == "diagnosis"
        and (
            institution.match(text, span.end)
            or _is_category(text, span)
            or _is_pan_stain(text, span)
            or _is_count(text, span)
        )
        or span.kind == "regimen"
        and _is_fossa(text, span)
    }
    left_out |= _courses_of_others(page)
    if page.document_class == "pathology":
        left_out |= set(map(id, choices_of_forms(text, page.diagnoses)))
    if left_out:
        page.events = [span for span in page.events if id(span) not in left_out]


def _courses_of_others(page: Page) -> set[int]:
    """``Progressive weakness``, ``depression in remission``, ``relapse of alcohol use``: no course of a tumor.

    Findings (*progressive adenopathy*) may be those of one.
    """
    courses = [span for span in page.events if span.kind == "state" and span.concept in page.tools.courses]
    if not courses:
        return set()
    text = page.frame.text
    ends, starts = set(), set()
    for span in page.events:
        if span.kind in ON_ITS_OWN and span.concept not in page.tools.of_tumors:
            ends.add(span.end)
            starts.add(span.start)
    if not ends:
        return set()
    behind = statement("course_behind_illness")
    return {
        id(span)
        for span in courses
        if span.end + 1 in starts
        and text[span.end] == " "
        or span.end + 4 in starts
        and text.startswith(" of ", span.end)
        or ((gap := behind.search(text, max(0, span.start - 8), span.start)) and gap.start() in ends)
    }


def _is_category(text: str, span: Span) -> bool:
    """``Diabetes mellitus (HCC)``: a mark for billing, not hepatocellular carcinoma."""
    if text[span.start : span.end] != "HCC" or text[span.end : span.end + 1] != ")" or text[span.start - 1] != "(":
        return False
    return not statement("before_hcc").search(text, max(0, span.start - 60), span.start)


def _is_pan_stain(text: str, span: Span) -> bool:
    """``Pan-melanoma``, ``melanoma cocktail``: stains for many, not the tumor."""
    return (
        statement("pan_stain").search(text, max(0, span.start - 5), span.start) is not None
        or span.concept == "melanoma"
        and statement("stain_behind").match(text, span.end) is not None
    )


def _is_count(text: str, span: Span) -> bool:
    """``Block. Sect. Site. PCs.``: the pieces of a block, however the head of their column was read."""
    return (
        text[span.start : span.end] == "PCa"
        and statement("before_pieces").search(text, max(0, span.start - 24), span.start) is not None
    )


def _is_fossa(text: str, span: Span) -> bool:
    """``20g L AC``: the antecubital fossa, not doxorubicin and cyclophosphamide."""
    if text[span.start : span.start + 2] != "AC" or text[span.start + 2 : span.start + 3].isalnum():
        return False
    end = span.start + 2
    before = text[max(0, span.start - _REACH_OF_LINES) : span.start]
    if statement("fossa_behind").match(text, end) or statement("fossa_before").search(before):
        return True
    return bool(statement("fossa_side").search(before)) and not statement("course_behind").match(text, end)


def turn_names_round(page: Page) -> None:
    """Diagnoses with words behind a comma (``liposarcoma, dedifferentiated``) get the concept of the whole name."""
    for span in page.diagnoses:
        turn_round(page.frame.text, span, page.tools.concepts, page.tools.never_turned)
        join_over_bracket(page.frame.text, span, page.tools.concepts)
        if page.document_class == "pathology":
            join_lines(page.frame.text, span, page.tools.concepts)
            name_type(page.frame.text, span, page.tools.concepts)


def find_topic(page: Page) -> None:
    """The organ that the note is about: by its title, its specimens, or its diagnoses."""
    sites = page.tools.placement.sites
    places = list(page.tools.sites_of_title[page.frame.note.title])
    if page.document_class in ("pathology", "molecular"):
        places += [site.concept for _, site in sites.specimen_sites(page.frame, page.sites)]
    page.topic = sites.topic(places, page.diagnoses)


# --- where it is ------------------------------------------------------------------------------------------------------


def find_states_by_adjectives(page: Page) -> None:
    """The states that adjectives of a diagnosis tell (``metastatic``, ``recurrent``)."""
    placement = page.tools.placement
    page.events = placement.without_adjectives(page.frame.text, page.events, page.diagnoses)
    page.events += placement.adjective_states(page.frame, page.diagnoses)


def place_diagnoses(page: Page) -> None:
    """Each diagnosis gets its site and side, and the concept that means morphology and site together."""
    by_line = page.tools.placement.diagnoses(page.frame, page.diagnoses, page.sites, page.document_class)
    if page.document_class == "pathology":
        page.tools.specimens.place(page.frame, page.diagnoses, page.sites, by_line)


def share_places_of_short_forms(page: Page) -> None:
    """A short form and the words that define it get each other's place."""
    share_places(page.diagnoses)


def find_states_by_fluids(page: Page) -> None:
    """The state that a tumor's cells in a fluid mean."""
    page.events += list(page.tools.placement.fluid_states(page.diagnoses))


def find_spread_by_states(page: Page) -> None:
    """The metastasis that a state with a place in its name is (``leptomeningeal disease``)."""
    page.events += list(page.tools.placement.spread_states(page.events))


def find_involved_nodes(page: Page) -> None:
    """The finding in lymph nodes that a tumor's cells there mean."""
    page.events += list(page.tools.placement.involved_nodes(page.diagnoses))


def place_spread(page: Page) -> None:
    """Words of spread become metastases of the places beside them, findings in nodes, or a bare state."""
    spread = page.apart.get(SPREAD, [])
    page.events += page.tools.placement.spread(page.frame, spread, page.sites, page.diagnoses)


def find_lesions(page: Page) -> None:
    """What was seen in organs to which tumors spread, where no word of spread tells it."""
    spread = [span for span in page.events if span.kind in ("metastasis", "node")]
    bare = [span for span in page.events if span.kind == "state" and span.source == "pattern:metastasis"]
    of_studies = list(page.tools.lesions.of_studies(page.frame, bare, page.sites))
    page.events += of_studies
    spread += of_studies
    page.events += page.tools.lesions.read(page.frame, page.sites, spread, page.document_class)
    page.events += cells_in_fluids(page.frame)


def place_conditions(page: Page) -> None:
    """Complaints and findings get the part of the body that they are said of."""
    page.events += page.tools.conditions.place(page.frame, page.events, page.sites)


def place_findings(page: Page) -> None:
    """Findings and treatments get their side, and the site near them or in their heading."""
    page.tools.placement.others(page.frame, page.events, page.sites)


def grade_harms(page: Page) -> None:
    """A grade right beside a symptom is that symptom's, and no finding by itself; reports of pathology grade tumors."""
    if page.document_class != "pathology":
        page.tools.placement.grades(page.events)


def add_targets(page: Page) -> None:
    """The spans that were asked for, whatever the lexicon knows."""
    page.events += [Span(start, end, "symptom", "", "target") for start, end in page.targets]


# --- what is said of it -----------------------------------------------------------------------------------------------


def write_mentions(page: Page) -> None:
    """Each event as a mention, with its context (negated, planned, whose) and its day."""
    page.mentions = page.tools.writer.write(page.frame, page.events, page.document_class)


def leave_out_wider_denials(page: Page) -> None:
    """*The incision is without erythema* denies none of the rest of the body, *no new metastases* no old ones."""
    text = page.frame.text
    page.mentions = [
        mention
        for mention in page.mentions
        if mention.context.polarity != Polarity.ABSENT
        or not (any(cue.rule == ELSEWHERE for cue in mention.cues) or _denies_news(text, mention))
    ]


def _denies_news(text: str, mention: Mention) -> bool:
    """Whether it is a new one that is denied, or a further one of what is there; behind a comma a complaint is another
    thing (*no new cough, fever*)."""
    for cue in mention.cues:
        if cue.rule == DENIAL and cue.end <= mention.start:
            if mention.kind == "symptom" and "," in text[cue.end : mention.start]:
                return False
            is_of_more = mention.kind in _SPREAD and statement("of_more").search(text, cue.start, mention.start)
            return bool(is_of_more or statement("of_news").match(text, cue.end))
    return False


def keep_measured(page: Page) -> None:
    """Of names that tell no value those of tests that were made, and those that are ordered: they are planned."""
    kept = []
    for mention in page.mentions:
        if mention.kind in MEASURED and not mention.attributes:
            if mention.kind == "vital" or page.tools.concepts.is_a(mention.concept, EXAMINATION):
                continue
            if mention.concept not in usual_units() and is_made(page.frame, mention):
                kept.append(mention)
            elif is_ordered(page.frame, mention):
                context = replace(mention.context, temporality=Temporality.PLANNED)
                kept.append(replace(mention, context=context))
            continue
        kept.append(mention)
    page.mentions = kept


def take_results_of_tests(page: Page) -> None:
    """A test with a result was made: imaging and other tests that showed something, or were called normal."""
    concepts, frame = page.tools.concepts, page.frame
    for at, mention in enumerate(page.mentions):
        if mention.kind not in OPERATIONS or not concepts.is_a(mention.concept, DIAGNOSTIC):
            continue
        if not mention.context.really_happened or mention.attributes.get("status", "mentioned") != "mentioned":
            continue
        called = how_it_was(frame, mention)
        if called or is_made(frame, mention):
            told = {"interpretation": called} if called and mention.kind == "procedure" else {}
            page.mentions[at] = replace(mention, attributes={**mention.attributes, "status": "given", **told})


def name_relatives(page: Page) -> None:
    """What is of the family gets who it was, on which side, and how old they were; one mention for each of several."""
    page.mentions = with_relatives(page.frame, page.mentions)


def read_courses(page: Page) -> None:
    """Treatments get what is said of their course: cycles, line, intent, began, ended, why."""
    if not TREATED.isdisjoint(page.kinds):
        page.mentions = with_courses(page.frame, page.mentions)


def tie_harms(page: Page) -> None:
    """Harms get the treatment that caused them, and a relation to it."""
    kinds = page.kinds
    if not CONDITIONS.isdisjoint(kinds) and not COURSES.isdisjoint(kinds):
        page.mentions, page.relations = with_harms(
            page.frame, page.mentions, page.tools.toxicities, page.tools.against_tumors
        )


def write_trials(page: Page) -> None:
    """Trials with the patient's part in them."""
    # By themselves: a word for one must not part a drug from what is said of it.
    if trials := page.apart.get(TRIALS):
        written = page.tools.writer.write(page.frame, trials, page.document_class)
        page.mentions += with_status(page.frame, written, page.mentions)


def write_births(page: Page) -> None:
    """The days on which the patient can be born, by age or date of birth."""
    page.mentions += [settled_mention(page.frame, span, label_of(span)) for span in page.apart.get(BIRTHS, ())]


def write_persons(page: Page) -> None:
    """The sex, race and ethnicity of the patient."""
    page.mentions += [settled_mention(page.frame, span) for span in page.apart.get(PERSONS, ())]


def write_encounters(page: Page) -> None:
    """What the note is written of (a visit, a stay), and the encounters that it tells of besides."""
    of_note = encounters_of_note(page.frame)
    page.mentions += of_note
    if told := page.apart.get(ENCOUNTERS):
        written = page.tools.writer.write(page.frame, told, page.document_class)
        page.mentions += with_days(page.frame, written, of_note)


def keep_one_of_each(page: Page) -> None:
    """What two recognisers see in the same place is one mention."""
    mentions: dict[str, Mention] = {}
    for mention in page.mentions:
        mentions.setdefault(mention.mention_id, mention)
    page.mentions = list(mentions.values())


def write_notations(page: Page) -> None:
    """Where it was asked for, expressions of change as mentions of their own, beside those of their genes."""
    if not page.notations:
        return

    def write(spans: list[Span]) -> list[Mention]:
        return page.tools.writer.write(page.frame, page.events + spans, page.document_class)

    noted = with_notations(page.frame, page.events, page.mentions, write)
    page.mentions = list({mention.mention_id: mention for mention in noted}.values())


def tell_samples(page: Page) -> None:
    """Results get what is told of the specimen that they were found on, spread the study that showed it."""
    tools = page.tools
    title = page.frame.note.title
    places = tools.sites_of_title[title]
    mentions = tools.samples.tell(page.frame, page.document_class, page.mentions, page.sites, places)
    studies = tools.procedures_of_title[title]
    page.mentions = tools.studies.tell(page.frame, page.document_class, mentions, page.spans, studies)


def relate_to_tumors(page: Page) -> None:
    """Results, stages and grades get a relation to the nearest diagnosis of their sentence."""
    by_sentence: dict[tuple[int, int], list[Mention]] = {}
    for mention in page.mentions:
        by_sentence.setdefault(mention.sentence, []).append(mention)
    for group in by_sentence.values():
        if len(group) == 1:
            continue
        tumors = [mention for mention in group if mention.kind == "diagnosis"]
        for mention in group if tumors else ():
            if mention.kind in DESCRIBING_TUMORS:
                closest = min(tumors, key=lambda tumor: abs(tumor.start - mention.start))
                edge = Relation(mention.note_id, "TumorDesc", mention.mention_id, closest.mention_id, "same-sentence")
                page.relations.append(edge)


def propose(page: Page) -> None:
    """Where a model reads along, the mentions that it proposes and the rules lack."""
    if page.proposer is not None:
        page.proposer.add(page)


#: The reading of a note, step by step.
STEPS: Final[tuple[Step, ...]] = (
    classify,
    find_spans,
    bind_results,
    tell_markers_in_usual_units,
    find_sites,
    take_events,
    take_measurements,
    take_findings,
    take_operations,
    take_tumor_features,
    settle_grades,
    leave_out_tested_drugs,
    take_allergies,
    turn_secondaries,
    leave_out_lookalikes,
    turn_names_round,
    find_topic,
    find_states_by_adjectives,
    place_diagnoses,
    share_places_of_short_forms,
    find_states_by_fluids,
    find_spread_by_states,
    find_involved_nodes,
    place_spread,
    find_lesions,
    place_conditions,
    place_findings,
    grade_harms,
    add_targets,
    write_mentions,
    leave_out_wider_denials,
    keep_measured,
    take_results_of_tests,
    name_relatives,
    read_courses,
    tie_harms,
    write_trials,
    write_births,
    write_persons,
    write_encounters,
    keep_one_of_each,
    write_notations,
    tell_samples,
    relate_to_tumors,
    propose,
)


def run(page: Page, steps: Sequence[Step]) -> Page:
    """The page, filled by these steps."""
    for step in steps:
        check()
        step(page)
    return page


def name_of(step: Step) -> str:
    """What a step is called: ``bind results``."""
    return step.__name__.replace("_", " ")


def chosen(*names: str) -> tuple[Step, ...]:
    """Those of the steps with these names, in the order of all; KeyError for a name that none has."""
    by_name = {name_of(step): step for step in STEPS}
    wanted = {by_name[name] for name in names}
    return tuple(step for step in STEPS if step in wanted)


def without(*names: str) -> tuple[Step, ...]:
    """The steps but those with these names; KeyError for a name that none has."""
    left_out = chosen(*names)
    return tuple(step for step in STEPS if step not in left_out)
