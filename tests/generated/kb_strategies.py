"""Strategies for small records over a small ontology, and for resolved queries that have something to find in them."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Callable

from hypothesis import strategies as st

from cohortium.kb.kinds import MAIN_ATTRIBUTE
from cohortium.kb.model import (
    EARLIEST_DAY,
    LATEST_DAY,
    Context,
    DayInterval,
    Event,
    Experiencer,
    Journey,
    Note,
    Polarity,
    Temporality,
    World,
)
from cohortium.query_lang import nodes as q
from tests.generated.records import CONCEPTS, KINDS, NOTE_TYPES, with_evidence

DAY = datetime.date(2020, 1, 1).toordinal()
LAST_DAY = 30

NAMED = {kind: tuple(one for one in concepts if one in CONCEPTS) for kind, (concepts, _) in KINDS.items()}


#: Births lie so that a birthday comes while events happen; some events end in the middle of them.
BIRTH = datetime.date(1950, 1, 1).toordinal()
END = DayInterval(DAY + LAST_DAY // 2, DAY + LAST_DAY // 2)


def days(draw: Callable, widest: int, unknown: bool, first: int = DAY) -> DayInterval:
    """A day, an interval of up to ``widest`` more days, or no date at all."""
    low = first + draw(st.integers(0, LAST_DAY))
    width = draw(st.sampled_from([0, 0, *range(widest + 1), *([None] if unknown else [])]))
    return DayInterval() if width is None else DayInterval(low, low + width)


@st.composite
def events(draw: Callable, patient_id: str, *, widest: int = 20, unknown: bool = True) -> Event:
    """One event: any context, any world that its context allows, any tumor."""
    kind = draw(st.sampled_from(sorted(KINDS)))
    if kind == "birth":
        if unknown and draw(st.integers(0, 3)) == 0:
            # As ages in notes without a date tell it.
            return Event(patient_id, kind, "", world=World.POSSIBLE, tumor="*")
        return Event(patient_id, kind, "", days(draw, min(widest, 40), unknown=False, first=BIRTH), tumor="*")
    concepts, attributes = KINDS[kind]
    context = draw(
        st.one_of(
            st.just(Context()),
            st.builds(
                Context,
                st.sampled_from(Polarity),
                st.sampled_from(Temporality),
                st.sampled_from(Experiencer),
                st.sampled_from(["none", "declined"]),
            ),
        )
    )
    worlds = [World.NONE]
    if context.experiencer is Experiencer.PATIENT and context.assertion in ("present", "historical"):
        worlds = [World.CERTAIN, World.CERTAIN, World.BELIEVED, World.POSSIBLE, World.NONE]
    elif context.experiencer is Experiencer.PATIENT and context.assertion == "uncertain":
        worlds = [World.POSSIBLE, World.NONE]
    return Event(
        patient_id,
        kind,
        draw(st.sampled_from(concepts)),
        days(draw, widest, unknown),
        attributes={name: draw(st.sampled_from(values)) for name, values in attributes.items() if draw(st.booleans())},
        context=context,
        world=draw(st.sampled_from(worlds)),
        tumor=draw(st.sampled_from(["t1", "t1", "t2", "*", ""])),
        end=draw(st.sampled_from([None, None, *([] if widest else [None]), END])),
        sources=draw(st.sampled_from([1, 1, 2])),
    )


@st.composite
def journeys(draw: Callable, patient_id: str, *, most: int = 7, widest: int = 20, unknown: bool = True) -> Journey:
    """One patient with up to ``most`` events, some notes that tell of them, and decisions about some."""
    told = draw(st.lists(events(patient_id, widest=widest, unknown=unknown), max_size=most))
    dates = st.integers(0, LAST_DAY).map(lambda day: datetime.date.fromordinal(DAY + day))
    notes = draw(
        st.lists(st.tuples(dates if not unknown else st.none() | dates, st.sampled_from(NOTE_TYPES)), max_size=2)
    )
    kept = tuple(Note(patient_id, f"n{at}", "…", date, type_) for at, (date, type_) in enumerate(notes))
    random = draw(st.randoms(use_true_random=False))
    return with_evidence(random, Journey(patient_id, kept, events=tuple(told)), draw(st.sampled_from([0.0, 0.5])))


def records(patients: int = 4, **limits: int) -> st.SearchStrategy[list[Journey]]:
    """Several patients."""
    return st.tuples(*(journeys(f"P{number}", **limits) for number in range(patients))).map(list)


def term(concept: str) -> q.Concept:
    """A resolved name."""
    return q.Concept(concept, concept.replace("_", " "))


def concept_expressions(kind: str | None, exact: bool) -> st.SearchStrategy[q.ConceptExpression]:
    """Concepts of the kind, their unions and exceptions; ``exact``: also *exactly*."""
    names = NAMED[kind] if kind else tuple(one for named in NAMED.values() for one in named)
    under = st.builds(q.Under, st.sampled_from(names).map(term), st.booleans() if exact else st.just(False))
    parts = [under, st.builds(q.Union, st.tuples(under, under))]
    if exact:
        parts.append(st.builds(q.OtherThan, under, under))
        parts.append(st.builds(q.OtherThan, st.builds(q.Union, st.tuples(under, under)), under))
    return st.one_of(parts)


VALUES = {
    "laterality": ("left", "right"),
    "grade": ("1", "high", "3"),
    "line": ("1", "2"),
    "status": ("ongoing", "completed"),
    "percent": ("5", "80"),
    "t": ("T1", "T2", "T2b", "T3"),
    "prefix": ("p", "yp"),
    "rule": ("breast_t2", "stage_group"),
    "specimen": ("biopsy", "resection"),
    "specimen_id": ("S1 A", "S2"),
    "specimen_site": ("liver", "lung"),
    "stage": ("II", "IIIC", "III"),
    "value": ("1", "2", "80"),
}
GAPS = st.integers(1, 5).flatmap(lambda low: st.tuples(st.just(low), st.sampled_from([None, low, low + 3, low + 15])))


@st.composite
def conditions(draw: Callable, kind: str, monotone: bool) -> q.Condition:
    """What an event of the kind may be asked."""
    attribute = draw(st.sampled_from(sorted(KINDS[kind][1])))
    exact = not monotone and draw(st.booleans())
    if attribute == "result":
        names = st.sampled_from(["result_positive", "positive", "negative", "unlisted_value"]).map(term)
        simple = st.builds(q.Is, st.just(attribute), st.lists(names, min_size=1, max_size=2).map(tuple), st.just(exact))
    else:
        value = st.sampled_from(VALUES[attribute])
        simple = st.one_of(
            st.builds(q.Is, st.just(attribute), st.tuples(value.map(q.Name)), st.just(exact)),
            st.builds(q.Compare, st.just(attribute), st.sampled_from(q.OPERATORS), value),
            st.builds(q.Between, st.just(attribute), value, value),
        )
    simple = st.one_of(simple, st.builds(q.Documented, st.just(attribute)))
    one, other = draw(simple), draw(simple)
    shapes = [one, q.AllOf((one, other)), q.AnyOf((one, other)), *([] if monotone else [q.NotThat(one)])]
    return draw(st.sampled_from(shapes))


WINDOWS = st.tuples(st.integers(0, LAST_DAY), st.integers(0, 20), st.sampled_from(["both", "since", "until"])).map(
    lambda parts: q.Window(
        EARLIEST_DAY if parts[2] == "until" else DAY + parts[0],
        LATEST_DAY if parts[2] == "since" else DAY + parts[0] + parts[1],
    )
)


#: How long a fact lasts.
LENGTHS = [q.Lasting(1), q.Lasting(0, 0), q.Lasting(5, 15), q.Lasting(0, 10), q.Lasting(8)]


@st.composite
def event_sets(draw: Callable, *, monotone: bool = False, plain: bool = False) -> q.Events:
    """An atom's events. ``monotone``: no *exactly*, picks or negated conditions; ``plain``: kind and concept alone."""
    kind = draw(st.sampled_from(sorted(KINDS)))
    concept = draw(st.one_of(st.none(), concept_expressions(kind, not monotone))) if NAMED[kind] else None
    if plain:
        return q.Events(kind, concept)
    if not monotone and draw(st.integers(0, 9)) == 0:
        return q.Events(None, draw(concept_expressions(None, True)), window=draw(st.one_of(st.none(), WINDOWS)))
    picks = [q.Pick()] * 4
    if not monotone:
        picks += [q.Pick("first"), q.Pick("latest"), q.Pick("nth", 1), q.Pick("nth", 2)]
        if kind in MAIN_ATTRIBUTE:
            picks += [q.Pick("worst"), q.Pick("best")]
    context = draw(st.sampled_from(["present"] * 8 + list(q.CONTEXTS)))
    return q.Events(
        kind,
        concept,
        draw(st.one_of(st.none(), conditions(kind, monotone))) if KINDS[kind][1] else None,
        context,
        draw(st.sampled_from(picks)),
        draw(st.one_of(st.none(), st.none(), WINDOWS)),
        draw(st.sampled_from([*[""] * 8, "pathology", "imaging"])),
        draw(st.sampled_from([False] * 7 + [True])),
        draw(st.sampled_from([1] * 7 + [2])),
        draw(st.sampled_from([""] * 6 + list(q.KNOWN))),
        "begin" if context == "absent" else draw(st.sampled_from([*["begin"] * 5, "end"])),
        None if context == "absent" else draw(st.sampled_from([None] * 5 + LENGTHS)),
    )


@st.composite
def orders(draw: Callable, *, monotone: bool = False) -> q.Ordered:
    """Two event sets in a relation."""
    left, right = draw(event_sets(monotone=monotone)), draw(event_sets(monotone=monotone))
    relation = draw(st.sampled_from(q.RELATIONS))
    different = relation == "beside" or draw(st.integers(0, 5)) == 0
    if relation not in q.GAP_RELATIONS:
        return q.Ordered(left, relation, right, different=different)
    minimum = draw(st.sampled_from([0, 1, 5] if relation == "within" else [1, 1, 0, 5]))
    longest = st.sampled_from([minimum, minimum + 3, minimum + 15])
    maximum = draw(longest if relation == "within" else st.none() | longest)
    without = draw(event_sets()) if not monotone and draw(st.integers(0, 2)) == 0 else None
    return q.Ordered(left, relation, right, minimum, maximum, different, without)


@st.composite
def sequences(draw: Callable, *, monotone: bool = False) -> q.Sequence:
    """Three or four steps."""
    steps = tuple(draw(event_sets(monotone=monotone)) for _ in range(draw(st.sampled_from([3, 3, 4]))))
    gaps = []
    for _ in steps[1:]:
        without = draw(event_sets()) if not monotone and draw(st.integers(0, 3)) == 0 else None
        gaps.append(q.Gap(*draw(st.just((1, None)) | GAPS), without))
    return q.Sequence(steps, tuple(gaps))


#: Where numbers are told, and what else of these kinds they are told in.
NUMBERS = {"lab": "value", "performance": "value", "biomarker": "percent", "medication": "line", "diagnosis": "grade"}


@st.composite
def with_numbers(draw: Callable, *, monotone: bool) -> tuple[q.Events, str]:
    """An event set and an attribute of it that may tell a number."""
    events = draw(event_sets(monotone=monotone))
    if draw(st.booleans()):
        events = q.Events(draw(st.sampled_from(["lab", "performance", "biomarker", "medication"])))
    return dataclasses.replace(events, pick=q.Pick()), NUMBERS.get(events.kind or "", "value")


@st.composite
def changes(draw: Callable, *, monotone: bool = False) -> q.Change:
    """A rise or fall, by a number or a percentage, in some time, during something."""
    events, attribute = draw(with_numbers(monotone=monotone))
    relative = draw(st.booleans())
    amount = draw(st.sampled_from([50.0, 100.0, 60.0] if relative else [1.0, 4.0, 2.0]))
    operator, amount = draw(st.sampled_from([(">=", amount), (">", amount), (">", 0.0)]))
    maximum = draw(st.none() | st.sampled_from([1, 10, 25]))
    during = draw(st.none() | st.none() | event_sets(monotone=monotone))
    return q.Change(draw(st.sampled_from(q.WAYS)), events, attribute, operator, amount, relative, "", maximum, during)


@st.composite
def totals(draw: Callable, *, monotone: bool = False) -> q.Total:
    """A sum compared with one that may be, or is missed by a little."""
    events, attribute = draw(with_numbers(monotone=monotone))
    operators = [">=", ">"] if monotone else ["<", "<=", "=", ">=", ">"]
    return q.Total(
        attribute, events, draw(st.sampled_from(operators)), draw(st.sampled_from([1.0, 2.0, 3.0, 6.0, 85.0]))
    )


@st.composite
def leaves_of_events(draw: Callable, *, monotone: bool = False) -> q.PatientExpression:
    """The other criteria about how events lie to each other, and lists of patients."""
    one = draw(event_sets(monotone=monotone))
    plain = dataclasses.replace(one, pick=q.Pick(), context="present", moment="begin", lasting=None)
    numbers = ["repeated", "change", "total"]
    match draw(
        st.sampled_from(
            ["sequence", "times", "age", "age on", "among", "clear", "state", "lacking", "ongoing", *numbers]
        )
    ):
        case "times":
            by = "lines" if one.kind == "medication" and draw(st.booleans()) else draw(st.sampled_from(q.COUNTED))
            if not (by == "lines" and one.kind != "medication"):
                return q.Times(draw(st.integers(1, 3)), dataclasses.replace(one, pick=q.Pick()), by)
        case "repeated":
            relation = draw(st.sampled_from(q.COUNTED_BESIDE))
            low, high = (1, None) if relation not in q.GAP_RELATIONS else draw(st.just((1, None)) | GAPS)
            counted, high = dataclasses.replace(one, pick=q.Pick()), 15 if relation == "within" else high
            other = draw(event_sets(monotone=monotone))
            return q.Repeated(draw(st.integers(1, 3)), counted, relation, other, low, high)
        case "change":
            return draw(changes(monotone=monotone))
        case "total":
            return draw(totals(monotone=monotone))
        case "age":
            return q.AgeAt(one, None, *draw(st.sampled_from([(70, None), (0, 69), (69, 70)])))
        case "age on":
            return q.AgeAt(None, DAY + draw(st.integers(0, LAST_DAY)), *draw(st.sampled_from([(70, None), (0, 69)])))
        case "ongoing" if not monotone:
            treated = draw(concept_expressions("medication", exact=True))
            asked = q.Events("medication", treated, plain.condition if one.kind == "medication" else None)
            asked = dataclasses.replace(asked, window=one.window, kind=draw(st.sampled_from(["medication", None])))
            return q.Ongoing(asked, DAY + draw(st.integers(0, LAST_DAY)))
        case "among":
            return q.Among(tuple(draw(st.lists(st.sampled_from(["P0", "P1", "P", "nobody"]), min_size=1, max_size=3))))
        case "clear" if not monotone:
            relation = draw(st.sampled_from(q.GAP_RELATIONS))
            low, high = draw(GAPS | st.just((0, None)))
            return q.Clear(one, relation, draw(event_sets()), low, low + 9 if relation == "within" else high)
        case "state" if not monotone:
            ends = draw(st.one_of(st.none(), event_sets().map(lambda events: events.concept)))
            return q.StateAt(q.Events(one.kind, one.concept), DAY + draw(st.integers(0, LAST_DAY)), ends)
        case "lacking" if not monotone:
            return q.Lacking(draw(st.sampled_from(q.ABSENCES)), plain)
    return draw(sequences(monotone=monotone))


def criteria(*, monotone: bool = False, plain: bool = False) -> st.SearchStrategy[q.PatientExpression]:
    """Patient expressions of every node type. ``plain``: those that posting lists answer."""
    exists = st.builds(q.Exists, event_sets(monotone=monotone, plain=plain))
    leaves = (
        exists if plain else st.one_of(exists, exists, orders(monotone=monotone), leaves_of_events(monotone=monotone))
    )

    def larger(inner: st.SearchStrategy[q.PatientExpression]) -> st.SearchStrategy[q.PatientExpression]:
        several = st.lists(inner, min_size=2, max_size=3).map(tuple)
        shapes = [
            st.builds(q.And, several),
            st.builds(q.Or, several),
            several.flatmap(lambda parts: st.builds(q.AtLeast, st.integers(1, len(parts)), st.just(parts))),
        ]
        if not plain:
            several = st.builds(q.SameTumor, inner, st.integers(1, 2))
            shapes += [st.builds(q.SameTumor, inner), several, st.builds(q.SameEvent, inner)]
        if not monotone:
            shapes += [st.builds(q.Not, inner), st.builds(q.Except, inner, inner)]
        return st.one_of(shapes)

    return st.recursive(leaves, larger, max_leaves=5)


@st.composite
def queries(draw: Callable, *, monotone: bool = False) -> q.Query:
    """A whole query, perhaps with a definition that it uses in and out of a scope."""
    body = draw(criteria(monotone=monotone))
    if draw(st.integers(0, 4)):
        return q.Query(body)
    named = q.Defined("them")
    body = draw(st.sampled_from([q.Or((named, body)), q.SameTumor(q.And((named, body))), q.And((body, named))]))
    return q.Query(body, (q.Definition("them", draw(criteria(monotone=monotone))),))
