"""Small made-up records, the same for the same seed: every date precision, world, tumor and context; many ties.

They are drawn so that questions about them divide the patients, and so that every rule about what a record leaves open
has something to decide: see :class:`Dates` for how far dates are left open.
"""

from __future__ import annotations

import datetime
import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Final, TypeVar

from cohortium.kb.model import (
    ALL_TUMORS,
    NO_TUMOR,
    Context,
    DayInterval,
    Decision,
    Event,
    Experiencer,
    Journey,
    Mention,
    Note,
    Polarity,
    Temporality,
    Value,
    World,
)
from cohortium.kb.ontology.concepts import ConceptRow, ConceptTable
from cohortium.kb.ontology.scales import Scales

_Choice = TypeVar("_Choice")

#: id, kind, parents
ONTOLOGY: Final[tuple[tuple[str, str, tuple[str, ...]], ...]] = (
    ("neoplasm", "tumor", ()),
    ("carcinoma", "tumor", ("neoplasm",)),
    ("lung_cancer", "tumor", ("neoplasm",)),
    ("lung_carcinoma", "tumor", ("lung_cancer", "carcinoma")),
    ("breast_cancer", "tumor", ("carcinoma",)),
    ("drug", "drug", ()),
    ("platinum", "drug", ("drug",)),
    ("cisplatin", "drug", ("platinum",)),
    ("carboplatin", "drug", ("platinum",)),
    ("result_positive", "value", ()),
    ("positive", "value", ("result_positive",)),
    ("weakly_positive", "value", ("result_positive",)),
    ("negative", "value", ()),
    ("her2", "biomarker", ()),
    ("er", "biomarker", ()),
    ("abdomen", "site", ()),
    ("liver", "site", ("abdomen",)),
    ("lung", "site", ()),
    ("ecog", "performance", ()),
    ("kps", "performance", ()),
)
CONCEPTS: Final = ConceptTable(ConceptRow(id, kind, id.replace("_", " "), parents) for id, kind, parents in ONTOLOGY)
SCALES: Final = Scales.from_files()

#: Of each kind: concepts of events, and attributes with the values that occur.
KINDS: Final[Mapping[str, tuple[tuple[str, ...], Mapping[str, tuple[Value, ...]]]]] = {
    "diagnosis": (
        ("neoplasm", "carcinoma", "lung_cancer", "lung_carcinoma", "breast_cancer", "unlisted_cancer"),
        {"laterality": ("left", "Right"), "grade": ("1", "2", "high", 3.0)},
    ),
    "medication": (
        ("drug", "platinum", "cisplatin", "carboplatin"),
        {"line": (1.0, 2.0), "status": ("ongoing", "completed", "held", "told otherwise")},
    ),
    "biomarker": (
        ("her2", "er"),
        {
            "result": ("positive", "weakly_positive", "result_positive", "negative"),
            "percent": (5.0, 80.0),
            "specimen": ("biopsy", "resection", "biopsy;resection"),
            "specimen_site": ("abdomen", "liver", "lung", "liver;lung"),
            "specimen_id": ("S1 A", "S1 B", "S1 A;S2", "~n@1"),
        },
    ),
    "tnm": (("",), {"t": ("T1", "T2", "T2b", "T3c", "TX"), "prefix": ("p", "yp"), "rule": ("breast_t2",)}),
    "stage": (("",), {"stage": ("II", "IIA", "IIIC", "IV", "unknown"), "rule": ("stage_group",)}),
    "grade": (
        ("",),
        {"grade": ("1", "2", "3", "high"), "specimen": ("biopsy",), "specimen_id": ("S1 A", "S2", "~n@1")},
    ),
    "lab": (("",), {"value": (1.0, 2.0, 5.0)}),
    "performance": (("ecog", "kps"), {"value": (0.0, 1.0, 2.0, 80.0, "unknown")}),
    "birth": (("",), {}),
    "death": (("",), {}),
}

#: Types of note and sections that mentions stand in; the classes of note that they make are told apart in a query.
NOTE_TYPES: Final = ("Pathology report", "CT chest", "Oncology clinic note")
SECTIONS: Final = ("", "imaging", "final_diagnosis")

#: How often each kind is drawn.
_OFTEN: Final = {
    "diagnosis": 3,
    "medication": 4,
    "biomarker": 3,
    "tnm": 2,
    "stage": 3,
    "grade": 1,
    "lab": 3,
    "death": 1,
}
_FIRST_YEAR: Final = 2019
_YEARS: Final = 3
#: Narrow dates lie on so many days, so that gaps and ties decide.
_NARROW_DAYS: Final = 12
NARROW_FIRST: Final = datetime.date(2020, 1, 1).toordinal()

_TOLD: Final = (Context(), Context(temporality=Temporality.HISTORICAL))
#: Contexts and how often they are drawn. Only the patient's own present or uncertain facts are in a world.
_CONTEXTS: Final[tuple[tuple[Context, int], ...]] = (
    (_TOLD[0], 66),
    (_TOLD[1], 10),
    (Context(polarity=Polarity.UNCERTAIN), 9),
    (Context(polarity=Polarity.ABSENT), 3),
    (Context(temporality=Temporality.PLANNED), 3),
    (Context(temporality=Temporality.HYPOTHETICAL), 2),
    (Context(temporality=Temporality.PLANNED, reason="declined"), 2),
    (Context(polarity=Polarity.ABSENT, reason="declined"), 2),
    (Context(experiencer=Experiencer.FAMILY), 3),
)


class Dates(enum.Enum):
    """What dates a record has: known days, months, years and none at all, as notes give; or intervals of few days,
    whose completions can be counted out."""

    AS_NOTES_GIVE = "as notes give"
    NARROW = "narrow"


@dataclass(frozen=True, slots=True)
class Shape:
    """How much there is of one record, and how much of it is open (shares from 0 to 1)."""

    events: tuple[int, int] = (3, 10)
    dates: Dates = Dates.AS_NOTES_GIVE
    open_dates: float = 0.45
    disputed: float = 0.2
    unattached: float = 0.15


#: Some records leave nothing open, most something, a few nearly everything.
SHAPES: Final[tuple[tuple[Shape, int], ...]] = (
    (Shape(open_dates=0.0, disputed=0.0, unattached=0.0), 2),
    (Shape(), 6),
    (Shape(open_dates=0.8, disputed=0.5, unattached=0.4), 2),
)
#: The same, small enough to count out every completion.
NARROW_SHAPES: Final[tuple[tuple[Shape, int], ...]] = (
    (Shape((2, 6), Dates.NARROW, 0.0, 0.0, 0.0), 1),
    (Shape((2, 6), Dates.NARROW, 0.4, 0.2, 0.15), 6),
    (Shape((2, 5), Dates.NARROW, 0.5, 0.4, 0.4), 3),
)


def weighted(random: Random, choices: Sequence[tuple[_Choice, int]]) -> _Choice:
    """One of the choices, each as often as its number says."""
    return random.choices([choice for choice, _ in choices], [often for _, often in choices])[0]


def records(random: Random, patients: int, shapes: Sequence[tuple[Shape, int]] = SHAPES) -> list[Journey]:
    """So many patients, P00 and on; now and then one of whom nothing is recorded."""
    return [journey(random, f"P{number:02d}", weighted(random, shapes)) for number in range(patients)]


def journey(random: Random, patient_id: str, shape: Shape) -> Journey:
    """One record of the shape."""
    if random.random() < 0.02:
        return Journey(patient_id)
    tumors = [f"t{number}" for number in range(1, 1 + random.choices([0, 1, 2, 3], [1, 5, 4, 1])[0])]
    # Most facts are told at a few visits: facts of one day tie.
    visits = [_day(random, shape.dates) for _ in range(random.randint(2, 4))]
    drawn = [
        _event(random, patient_id, shape, tumors, visits, kind="diagnosis" if number < len(tumors) else None)
        for number in range(max(len(tumors), random.randint(*shape.events)))
    ]
    if random.random() < 0.8:
        drawn.append(_birth(random, patient_id, shape))
    notes = [_note(random, patient_id, number, random.choice(visits)) for number in range(random.randint(0, 4))]
    return with_evidence(random, Journey(patient_id, tuple(notes), events=tuple(drawn)), shape.disputed)


def _birth(random: Random, patient_id: str, shape: Shape) -> Event:
    """Seventy years before the records, on one of the days of the year on which they lie; tied to no tumor."""
    day = _day(random, shape.dates)
    born = datetime.date.fromordinal(day)
    born = born.replace(year=born.year - random.choice([69, 70]), day=min(born.day, 28))
    low = born.toordinal()
    if shape.dates is not Dates.NARROW and shape.open_dates and random.random() < 0.1:
        # As ages in notes without a date tell it.
        return Event(patient_id, "birth", "", world=World.POSSIBLE, tumor=ALL_TUMORS)
    wide = random.choice([0, 0, 1, 3] if shape.dates is Dates.NARROW else [0, 30, 365]) if shape.open_dates else 0
    return Event(patient_id, "birth", "", DayInterval(low, low + wide), tumor=ALL_TUMORS)


def _note(random: Random, patient_id: str, number: int, day: int) -> Note:
    date = None if random.random() < 0.1 else datetime.date.fromordinal(day)
    return Note(patient_id, f"n{number}", f"Note {number}.", date, random.choice(NOTE_TYPES))


def with_evidence(random: Random, journey: Journey, disputed: float) -> Journey:
    """The record with mentions for its events, in any of its notes, and decisions about some events."""
    mentions: list[Mention] = []
    events = []
    for event in journey.events:
        told = random.sample(journey.notes, random.randint(0, min(2, len(journey.notes))))
        own = [
            Mention(note.note_id, at, at + 1, "x", event.kind, "", event.concept, section=random.choice(SECTIONS))
            for at, note in enumerate(told, len(mentions))
        ]
        mentions += own
        evidence = tuple(mention.mention_id for mention in own)
        events.append(replace(event, evidence=evidence, sources=random.choice([1, 1, 2, 3])))
    decisions = []
    for event in events:
        if random.random() < disputed / 2:
            named = (event.event_id,)
            sides = (named, ()) if event.world >= World.BELIEVED else ((), named)
            decisions.append(Decision(journey.patient_id, "made up", *sides, "made up"))
    return replace(journey, mentions=tuple(mentions), events=tuple(events), decisions=tuple(decisions))


def _event(
    random: Random, patient_id: str, shape: Shape, tumors: Sequence[str], visits: Sequence[int], kind: str | None
) -> Event:
    if kind is None:
        told = [kind for kind in KINDS if kind != "birth"]
        kind = random.choices(told, [_OFTEN.get(kind, 2) for kind in told])[0]
    concepts, attributes = KINDS[kind]
    context, world = _told(random, shape)
    day = random.choice(visits) if random.random() < 0.7 else _day(random, shape.dates)
    return Event(
        patient_id,
        kind,
        random.choice(concepts),
        _interval(random, shape, day),
        attributes={name: random.choice(values) for name, values in attributes.items() if random.random() < 0.75},
        context=context,
        world=world,
        tumor=_tumor(random, shape, tumors),
        end=_end(random, shape, day),
    )


def _end(random: Random, shape: Shape, day: int) -> DayInterval | None:
    """Of some events: a day after it, or days."""
    if random.random() < 0.6:
        return None
    if shape.dates is Dates.NARROW:
        low = day + random.randint(3, 9)
        return DayInterval(low, low + random.choice([0, 0, 2]) * bool(shape.open_dates))
    low = day + random.randint(400, 700)
    return DayInterval(low, low + random.choice([0, 0, 30, 365]) * bool(shape.open_dates))


def _told(random: Random, shape: Shape) -> tuple[Context, World]:
    """A context, and a world that it allows."""
    context = weighted(random, _CONTEXTS) if shape.disputed else random.choice(_TOLD)
    if context.experiencer is not Experiencer.PATIENT or context.assertion in ("absent", "planned", "hypothetical"):
        return context, World.NONE
    if context.assertion == "uncertain":
        return context, World.POSSIBLE
    if random.random() < shape.disputed:
        return context, random.choices([World.BELIEVED, World.POSSIBLE, World.NONE], [5, 4, 1])[0]
    return context, World.CERTAIN


def _tumor(random: Random, shape: Shape, tumors: Sequence[str]) -> str:
    if random.random() < shape.unattached:
        return NO_TUMOR
    if not tumors or random.random() < 0.08:
        return ALL_TUMORS
    return random.choice(tumors)


def _day(random: Random, dates: Dates) -> int:
    if dates is Dates.NARROW:
        return NARROW_FIRST + random.randrange(_NARROW_DAYS)
    return datetime.date(_FIRST_YEAR, 1, 1).toordinal() + random.randrange(365 * _YEARS)


def _interval(random: Random, shape: Shape, day: int) -> DayInterval:
    """The day, or, as often as the shape says, an interval around it."""
    if random.random() >= shape.open_dates:
        return DayInterval(day, day)
    if shape.dates is Dates.NARROW:
        low = day - random.randint(0, 3)
        return DayInterval(low, max(low + 1, day + random.randint(0, 3)))
    date = datetime.date.fromordinal(day)
    match random.choices(["month", "year", "since", "until", "none"], [5, 3, 1, 1, 2])[0]:
        case "month":
            first = date.replace(day=1)
            after = (first + datetime.timedelta(days=32)).replace(day=1)
            return DayInterval(first.toordinal(), after.toordinal() - 1)
        case "year":
            year = date.year
            return DayInterval(datetime.date(year, 1, 1).toordinal(), datetime.date(year, 12, 31).toordinal())
        case "since":
            return DayInterval(low=day)
        case "until":
            return DayInterval(high=day)
    return DayInterval()
