"""The building of one patient's journey: ``STEPS`` in order turn facts into events, tumors and decisions."""

from __future__ import annotations

import bisect
import datetime
import operator
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Final

from ...kb.deadline import check
from ...kb.kinds import (
    BETWEEN_VALUES,
    COURSES,
    KIND_TABLE,
    MEASURED,
    MOLECULAR,
    OF_RELATIVE,
    REPEATED,
    SEVERAL,
    values_of,
)
from ...kb.model import (
    EARLIEST_DAY,
    Context,
    DayInterval,
    Decision,
    Event,
    Experiencer,
    Journey,
    Polarity,
    Temporality,
    World,
)
from ...kb.note_classes import PATHOLOGY
from ...kb.ontology.concepts import ConceptTable
from ..binding.placing import SITES_OF_SPREAD, TumorComposer
from ..note.read import ReadNote
from ..note.steps import SHARED
from ..recognizers.spread import RETURN
from ..text.statements import statement
from .bench import Workbench, is_dated, is_own
from .births import join_births
from .conflicts import retract, supersede
from .contradictions import settle_contradictions
from .courses import summarise_courses
from .deaths import doubt_named_deaths
from .derivation import derive
from .encounters import join_encounters
from .episodes import part_episodes
from .facts import Fact, facts_of
from .lesions import weigh_lesions
from .lines import number_lines
from .node_totals import total_nodes
from .paradoxes import resolve_impossible
from .persons import join_persons
from .proposals import are_linked, doubt_proposals, trust_proposals, with_proposals, without_proposals
from .record import conflict_words
from .retellings import date_retellings, has_day_of_its_own
from .treatments import give_components, weigh_treatments
from .trust import weigh_trust
from .tumors import ALL_TUMORS, NEAR_IN_TIME, DocumentTumors, TumorMap, organ_of

#: A step of the journey: it changes the bench.
Step = Callable[[Workbench], None]
#: Attributes in which one finding of a kind is another than the next.
_PARTICULARS: Final = frozenset({"protein", "cdna", "result", "stage", "t", "n", "m", "grade", "value"})
#: The evidence of an event, the strongest first.
_STRONGEST: Final = operator.attrgetter("copied", "note")
_PATIENT: Final = Experiencer.PATIENT
_CURRENT: Final = Temporality.CURRENT
_HISTORICAL: Final = Temporality.HISTORICAL
#: One of these makes of a marker a finding.
_RESULTS: Final = frozenset({"result", "percent", "value", "score"})


def build_journey(
    patient_id: str, notes: Sequence[ReadNote], concepts: ConceptTable, steps: Sequence[Step] | None = None
) -> Journey:
    """The journey of one patient from its read notes, in any order; ``steps``: those of :data:`STEPS`.

    What a model proposed adds events to those of the rules, and changes none of them.
    """
    ordered = in_order(notes)

    def built(some: list[ReadNote]) -> Workbench:
        bench = Workbench(patient_id, concepts, some)
        for step in STEPS if steps is None else steps:
            check()
            step(bench)
        return bench

    bench = built(ordered)
    whole = assembled(bench)
    if bench.has_proposals and are_linked(ordered):
        return with_proposals(assembled(built(without_proposals(ordered))), whole)
    return whole


def in_order(notes: Iterable[ReadNote]) -> list[ReadNote]:
    """The notes of a patient by date, those without one last."""
    return sorted(notes, key=lambda read: (read.note.date or datetime.date.max, read.note.doc_id))


def assembled(bench: Workbench) -> Journey:
    """The journey of a finished bench, in an order that does not depend on how its notes came."""
    return Journey(
        bench.patient_id,
        tuple(read.note for read in bench.notes),
        tuple(mention for read in bench.notes for mention in read.mentions),
        tuple(relation for read in bench.notes for relation in read.relations),
        tuple(sorted(without_repeats(bench.events), key=lambda event: (event.day.low, event.kind, event.event_id))),
        tuple(_decisions_once(bench)),
    )


def _decisions_once(bench: Workbench) -> list[Decision]:
    """The decisions in the order of their ids; of several that differ in their explanation alone, the first by that."""
    found: dict[str, Decision] = {}
    for taken in _decisions(bench):
        known = found.get(taken.decision_id)
        if known is None or taken.explanation < known.explanation:
            found[taken.decision_id] = taken
    return [found[one] for one in sorted(found)]


def _decisions(bench: Workbench) -> Iterable[Decision]:
    """The decisions, told of events; one that an event went into as well as out of says nothing and goes."""
    for taken in bench.decisions:
        # A fact that a later step took out went into no event.
        believed = {bench.event_of[id(fact)].event_id for fact in taken.believed if id(fact) in bench.event_of}
        rejected = {bench.event_of[id(fact)].event_id for fact in taken.rejected if id(fact) in bench.event_of}
        rejected -= believed
        if rejected:
            yield Decision(
                bench.patient_id, taken.rule, tuple(sorted(believed)), tuple(sorted(rejected)), taken.explanation
            )


def without_repeats(events: Iterable[Event]) -> list[Event]:
    """Each event once (by its id)."""
    return list({event.event_id: event for event in events}.values())


def collect(bench: Workbench) -> None:
    """Mentions to facts; what says nothing (a marker without result) goes."""
    for fact in facts_of(bench.notes, bench.concepts):
        if fact.kind == "performance" and "value" not in fact.attributes:
            continue
        if fact.kind == "biomarker":
            if _RESULTS.isdisjoint(fact.attributes):
                continue
            is_number = "value" in fact.attributes and "result" not in fact.attributes
            if is_number and fact.mention.text and fact.concept in _serum(bench.concepts):
                fact.kind = "lab"
        bench.facts.append(fact)


@lru_cache(maxsize=4)
def _serum(concepts: ConceptTable) -> frozenset[str]:
    return concepts.below("serum_marker") if "serum_marker" in concepts else frozenset()


def date_past_scores(bench: Workbench) -> None:
    """A score that the note itself puts in the past ("was ECOG 3 in February; now 2") is not that day's."""
    scores: dict[str, list[Fact]] = defaultdict(list)
    for fact in bench.facts:
        if fact.kind == "performance":
            scores[fact.mention.note_id].append(fact)
    of_the_past = conflict_words(bench.concepts).of_the_past
    for facts in scores.values():
        past = [fact for fact in facts if of_the_past.search(fact.mention.text) or _is_historical(fact)]
        if len(past) < len(facts):
            for fact in past:
                if not is_dated(fact):
                    fact.day = DayInterval(EARLIEST_DAY, max(EARLIEST_DAY, fact.day.high - 1))


def _is_historical(fact: Fact) -> bool:
    return fact.context.temporality is Temporality.HISTORICAL


def compose(bench: Workbench) -> None:
    """A bare morphology takes the site of the patient's only organ with a cancer; a bare cancer becomes that cancer."""
    composer = TumorComposer(bench.concepts)
    own = [fact for fact in bench.facts if fact.kind == "diagnosis" and is_own(fact)]
    sites = {bench.concepts.get(fact.concept).site for fact in own if fact.context.really_happened} - {""}
    organs = {site for site in sites if not any(other != site and bench.concepts.is_a(site, other) for other in sites)}
    _undo_at_sites_of_spread(bench, own)
    for fact in own:
        if bench.concepts.get(fact.concept).site or not bench.concepts.is_a(fact.concept, "malignant_neoplasm"):
            continue
        site = str(fact.attributes.get("site", ""))
        if not site and len(organs) == 1 and fact.concept != "malignant_neoplasm":
            composed = composer.compose(fact.concept, next(iter(organs)))
            if composed != fact.concept:
                fact.concept, fact.attributes["site"] = composed, next(iter(organs))


def keep_returns_apart(bench: Workbench) -> None:
    """A cancer that came back in its own organ has not spread there."""
    organs = {
        bench.concepts.get(fact.concept).site
        for fact in bench.facts
        if fact.kind == "diagnosis" and is_own(fact) and fact.context.really_happened
    } - {""}
    bench.facts = [fact for fact in bench.facts if not _returned_at_home(fact, organs, bench.concepts)]


def _returned_at_home(fact: Fact, organs: set[str], concepts: ConceptTable) -> bool:
    """ "Recurred in the liver" is spread, but not of a tumor of the liver; that nothing grew there denies none."""
    if fact.kind != "metastasis" or fact.mention.source != RETURN:
        return False
    if fact.context.polarity is Polarity.ABSENT:
        return True
    return any(concepts.related(fact.concept, organ) for organ in organs)


def doubt_shared(bench: Workbench) -> None:
    """What only minutes of several patients tell may be another's: it is uncertain unless another note says it."""
    if all(read.document_class != SHARED for read in bench.notes):
        return
    own = {
        (fact.kind, concept)
        for fact in bench.facts
        if fact.document_class != SHARED and fact.context.really_happened
        for concept in bench.concepts.at_or_above(fact.concept)
    }
    for fact in bench.facts:
        if (
            fact.document_class == SHARED
            and fact.context.really_happened
            and not _is_stated_elsewhere(fact, own, bench.facts)
        ):
            fact.context = replace(fact.context, polarity=Polarity.UNCERTAIN)


def _is_stated_elsewhere(fact: Fact, own: set[tuple[str, str]], facts: Sequence[Fact]) -> bool:
    """Whether another note says the same: the same concept, with what this fact says of it in particular."""
    if (fact.kind, fact.concept) not in own:
        return False
    said = {name: value for name, value in fact.attributes.items() if name in _PARTICULARS}
    return not said or any(
        other.document_class != SHARED
        and other.kind == fact.kind
        and other.concept == fact.concept
        and other.context.really_happened
        and all(other.attributes.get(name) == value for name, value in said.items())
        for other in facts
    )


def _undo_at_sites_of_spread(bench: Workbench, own: Sequence[Fact]) -> None:
    """Where cancers often spread to (liver, lung, bone …) a bare morphology is no primary if another organ has one of
    that histology, or of none that is told.

    It stays one when some note names the primary of that organ outright, or its own report of pathology gives it a
    category of T.
    """
    concepts = bench.concepts
    spread = [site for site in SITES_OF_SPREAD if site in concepts]
    staged = {
        fact.note
        for fact in bench.facts
        if fact.kind == "tnm"
        and fact.document_class == PATHOLOGY
        and fact.attributes.get("prefix") == "p"
        and "t" in fact.attributes
        and is_own(fact)
    }
    named = {
        (organ_of(concepts, concepts.get(fact.concept).site), fact.concept)
        for fact in own
        if fact.context.really_happened
        and "morphology" not in fact.attributes
        and concepts.get(fact.concept).site
        and concepts.is_a(fact.concept, "malignant_neoplasm")
    }
    for fact in own:
        morphology = str(fact.attributes.get("morphology", ""))
        site = str(fact.attributes.get("site", ""))
        if not morphology or not any(concepts.is_a(site, other) for other in spread):
            continue
        organ = organ_of(concepts, concepts.get(fact.concept).site)
        elsewhere = [one for other, one in named if other != organ]
        if any(other == organ for other, _ in named) or fact.note in staged:
            continue
        if any(_may_be_histology(concepts, morphology, one) for one in elsewhere):
            fact.concept = morphology


def _may_be_histology(concepts: ConceptTable, morphology: str, tumor: str) -> bool:
    """Whether a tumor may be of this morphology: it tells no histology, or one above or below it."""
    told = [
        one
        for one in concepts.above(tumor)
        if not concepts.get(one).site and "carcinoma" in concepts.above(one) - {one} and concepts.kind(one) == "tumor"
    ]
    return not told or any(concepts.is_a(one, morphology) or concepts.is_a(morphology, one) for one in told)


def separate_tumors(bench: Workbench) -> None:
    """Diagnoses to tumors, then every finding to its tumor."""
    roots = tumor_roots(bench)
    bench.tumors = TumorMap(bench.patient_id, bench.concepts, roots)
    by_sentence: dict[tuple[str, tuple[int, int]], list[Fact]] = defaultdict(list)
    by_note: dict[str, list[Fact]] = defaultdict(list)
    for fact in roots:
        by_sentence[fact.mention.note_id, fact.mention.sentence].append(fact)
        by_note[fact.mention.note_id].append(fact)
    documents = {note: DocumentTumors(named) for note, named in by_note.items()}
    around = _Around(bench, roots)
    of_all: dict[tuple[int, tuple[int, int]], bool] = {}
    for fact in bench.facts:
        check()
        if fact.tumor or not is_own(fact):
            continue
        if _is_of_patient(fact, bench.concepts) or (fact.kind in MOLECULAR and _is_of_all(bench, fact, of_all)):
            fact.tumor, fact.tumor_rule = ALL_TUMORS, 1
        else:
            note = fact.mention.note_id
            beside = by_sentence.get((note, fact.mention.sentence), ())
            bench.tumors.link(fact, beside, documents.get(note), partial(around.tumor, fact.note))


def _is_of_patient(fact: Fact, concepts: ConceptTable) -> bool:
    """Whether it is measured of the patient as a whole: all that is, but for the markers of tumors."""
    if fact.kind not in MEASURED or fact.concept not in concepts:
        return False
    return concepts.kind(fact.concept) == KIND_TABLE[fact.kind].named_by


def _is_of_all(bench: Workbench, fact: Fact, known: dict[tuple[int, tuple[int, int]], bool]) -> bool:
    """Whether the sentence says it of every tumor (``all three cancers are mismatch repair deficient``); ``known``:
    the sentences that were looked at before."""
    place = (fact.note, fact.mention.sentence)
    said = known.get(place)
    if said is None:
        said = bool(statement("of_all_tumors").search(bench.notes[fact.note].note.text, *fact.mention.sentence))
        known[place] = said
    return said


def tumor_roots(bench: Workbench) -> list[Fact]:
    """The patient's own diagnoses of a malignant or in-situ tumor that really happened."""
    return [
        fact
        for fact in bench.facts
        if fact.kind == "diagnosis"
        and fact.context.really_happened
        and (
            bench.concepts.is_a(fact.concept, "malignant_neoplasm")
            or bench.concepts.is_a(fact.concept, "in_situ_neoplasm")
        )
    ]


class _Around:
    """The one tumor that the notes nearest in time are about, for a report that names none itself."""

    def __init__(self, bench: Workbench, roots: Sequence[Fact]) -> None:
        self._notes = bench.notes
        self._named: dict[int, set[str]] = defaultdict(set)
        for root in roots:
            date = bench.notes[root.note].note.date
            if date is not None and root.context.temporality is Temporality.CURRENT:
                self._named[date.toordinal()].add(root.tumor)
        self._days = sorted(self._named)

    def tumor(self, note: int) -> str:
        """That of the note at this position; empty where the nearest notes lie far off, or tell of several."""
        date = self._notes[note].note.date
        if date is None or not self._days:
            return ""
        day = date.toordinal()
        at = bisect.bisect_left(self._days, day)
        beside = self._days[max(0, at - 1) : at + 1]
        gap = min(abs(other - day) for other in beside)
        if gap > NEAR_IN_TIME:
            return ""
        nearest = {tumor for other in beside if abs(other - day) == gap for tumor in self._named[other]}
        return nearest.pop() if len(nearest) == 1 else ""


def fold(bench: Workbench) -> None:
    """Facts that state one thing become one event: its first day, all its evidence, copied notes counted once."""
    fold_by(bench, _fold_key)


def fold_by(bench: Workbench, key: Callable[[Fact], object]) -> None:
    """Facts of equal key become one event."""
    groups: dict[object, list[Fact]] = {}
    for fact in bench.facts:
        groups.setdefault(key(fact), []).append(fact)
    for facts in groups.values():
        event = _event(bench.patient_id, facts)
        bench.events.append(event)
        for fact in facts:
            bench.event_of[id(fact)] = event


def _fold_key(fact: Fact) -> tuple[object, ...]:
    kind, context, temporality = fact.kind, fact.context, fact.context.temporality
    return (
        kind,
        fact.concept,
        context.polarity,
        # What is over and what goes on is one event.
        _CURRENT if temporality is _HISTORICAL else temporality,
        context.experiencer,
        context.reason,
        fact.tumor,
        fact.rejected,
        fact.episode,
        (fact.day.low, fact.day.high) if kind in REPEATED or has_day_of_its_own(fact) else None,
        *map(fact.attributes.get, KIND_TABLE[kind].distinguishing),
        # What two relatives have is two events.
        *(() if context.experiencer is _PATIENT else map(fact.attributes.get, OF_RELATIVE)),
    )


def _event(patient_id: str, facts: list[Fact]) -> Event:
    first = facts[0]
    if len(facts) == 1:
        return _only_event(patient_id, first)
    # What one note leaves open another may settle.
    world, rule, confidence = World.NONE, first.tumor_rule, first.mention.confidence
    attributes = dict(first.attributes)
    end: DayInterval | None = None
    last, historical = first.day.high, True
    sources: set[int] = set()
    # One turn for all: this runs for every fact of a patient.
    for fact in facts:
        world = max(world, world_of(fact.context) if fact.world is None else fact.world)
        if fact.attributes != attributes:
            for name, value in fact.attributes.items():
                if attributes.setdefault(name, value) != value and name in SEVERAL:
                    told = (*values_of(name, attributes[name]), *values_of(name, value))
                    attributes[name] = BETWEEN_VALUES.join(map(str, dict.fromkeys(told)))
        ended = fact.end
        if ended is not None and (end is None or (ended.high, ended.low) > (end.high, end.low)):
            end = ended
        last = max(last, fact.day.high)
        historical = historical and fact.context.temporality is _HISTORICAL
        rule = min(rule, fact.tumor_rule)
        confidence = max(confidence, fact.mention.confidence)
        if not fact.copied:
            sources.add(fact.note)
    day = _first_day(facts)
    if end is not None and end.high < day.low:
        end = None
    if end is None and first.kind in COURSES:
        end = DayInterval(last, last) if last > day.high else None
    evidence = dict.fromkeys([mention for fact in sorted(facts, key=_STRONGEST) for mention in fact.mentions])
    context = first.context
    if context.temporality is _CURRENT or context.temporality is _HISTORICAL:
        temporality = _HISTORICAL if historical else _CURRENT
        if temporality is not context.temporality:
            context = replace(context, temporality=temporality)
    return Event(
        patient_id,
        first.kind,
        first.concept,
        day,
        end,
        attributes,
        context,
        world,
        first.tumor,
        rule,
        tuple(evidence),
        max(1, len(sources)),
        _anchors(facts),
        confidence,
    )


def _only_event(patient_id: str, fact: Fact) -> Event:
    """The event of one fact alone, as most are: what :func:`_event` gives for it."""
    day, end = fact.day, fact.end
    if day.low <= EARLIEST_DAY:
        day = DayInterval(EARLIEST_DAY, day.high)
    if end is not None and end.high < day.low:
        end = None
    return Event(
        patient_id,
        fact.kind,
        fact.concept,
        day,
        end,
        dict(fact.attributes),
        fact.context,
        world_of(fact.context) if fact.world is None else fact.world,
        fact.tumor,
        fact.tumor_rule,
        tuple(dict.fromkeys(fact.mentions)),
        1,
        _anchors((fact,)),
        fact.mention.confidence,
    )


def _anchors(facts: Iterable[Fact]) -> tuple[str, ...]:
    """The readings that gave the dates, each once."""
    rules = [cue.rule for fact in facts for cue in fact.mention.cues if cue.rule.startswith("date:")]
    return tuple(dict.fromkeys(rules)) if rules else ()


def _first_day(facts: Sequence[Fact]) -> DayInterval:
    """When the thing began: the earliest stated day; a vague past yields to any day that lies inside it."""
    known = [fact.day for fact in facts if fact.day.low > EARLIEST_DAY]
    if not known:
        return DayInterval(EARLIEST_DAY, min(fact.day.high for fact in facts))
    return min(known, key=lambda day: (day.high, -day.low))


def world_of(context: Context) -> World:
    """Certain when it really happened, possible when uncertain, none when absent, planned, or another person's."""
    if context.really_happened:
        return World.CERTAIN
    if (
        context.experiencer is Experiencer.PATIENT
        and context.polarity is Polarity.UNCERTAIN
        and context.reason in ("none", "pending")
        and context.temporality in (Temporality.CURRENT, Temporality.HISTORICAL)
    ):
        return World.POSSIBLE
    return World.NONE


#: The journey, step by step.
STEPS: Final[tuple[Step, ...]] = (
    collect,
    doubt_proposals,
    doubt_shared,
    weigh_trust,
    doubt_named_deaths,
    keep_returns_apart,
    weigh_lesions,
    date_past_scores,
    retract,
    supersede,
    compose,
    separate_tumors,
    give_components,
    weigh_treatments,
    settle_contradictions,
    resolve_impossible,
    summarise_courses,
    number_lines,
    trust_proposals,
    date_retellings,
    part_episodes,
    join_encounters,
    fold,
    join_births,
    join_persons,
    total_nodes,
    derive,
)
