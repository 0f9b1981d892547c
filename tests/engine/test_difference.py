"""Difference: who joins and who leaves between two knowledge bases, and causes shown by what would have happened."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import pytest

import cohortium
from cohortium.engine.api import OpenKb
from cohortium.engine.difference.changes import Difference
from cohortium.kb.model import DayInterval, Event, Journey, Mention, Note, World
from cohortium.kb.storage.writer import GenerationWriter
from cohortium.query_lang.errors import QueryError
from tests.generated.record_tables import small_ontology

DAY = datetime.date(2020, 3, 4)
BEFORE = """
drug: drug
platinum: drug < drug
cisplatin: drug < platinum
oxaliplatin: drug < drug
trastuzumab: drug < drug
"""
#: Oxaliplatin has become a platinum.
AFTER = BEFORE.replace("oxaliplatin: drug < drug", "oxaliplatin: drug < platinum")

Notes = Mapping[str, str]
Make = Callable[..., OpenKb]


def journey(patient: str, notes: Notes, deaf: frozenset[str]) -> Journey:
    """Each word of a note that names a drug is a medication; ``maybe`` before it makes it possible alone. A reading
    that is ``deaf`` to a drug does not hear it."""
    own, mentions, events = [], [], []
    for doc_id, text in notes.items():
        note = Note(patient, doc_id, text, DAY, "clinic")
        own.append(note)
        for word in text.replace("maybe ", "maybe-").split():
            drug = word.removeprefix("maybe-")
            if drug not in ("cisplatin", "oxaliplatin", "trastuzumab") or drug in deaf:
                continue
            start = text.index(drug)
            mention = Mention(note.note_id, start, start + len(drug), drug, "medication", "DrugName", drug)
            mentions.append(mention)
            world = World.POSSIBLE if word != drug else World.CERTAIN
            day = DayInterval(DAY.toordinal(), DAY.toordinal())
            events.append(Event(patient, "medication", drug, day, world=world, evidence=(mention.mention_id,)))
    return Journey(patient, tuple(own), tuple(mentions), events=tuple(events))


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """Makes a knowledge base of patients with their notes."""
    opened = []

    def write(
        patients: Mapping[str, Notes], ontology: str = BEFORE, deaf: Iterable[str] = (), **versions: str
    ) -> OpenKb:
        path = tmp_path / f"{len(opened)}.kb"
        told = {"pipeline": f"1 deaf to {sorted(deaf)}", "model": "none", **versions}
        with GenerationWriter(path, concepts=small_ontology(ontology), versions=told) as writer:
            writer.add(journey(patient, notes, frozenset(deaf)) for patient, notes in patients.items())
            writer.finish()
        opened.append(cohortium.open(path))
        return opened[-1]

    yield write
    for kb in opened:
        kb.close()


def causes(difference: Difference) -> dict[str, str]:
    """Patient → + or −, and the causes."""
    signed = [*(("+", one) for one in difference.joined), *(("-", one) for one in difference.left)]
    return {one.patient_id: f"{sign} {one.in_words}" for sign, one in signed}


def test_nothing_differs(make: Make) -> None:
    """The same notes twice: nobody moves."""
    old, new = make({"P1": {"a": "cisplatin"}}), make({"P1": {"a": "cisplatin"}})
    found = new.diff(old, "platinum")
    assert (found.joined, found.left, found.meaning, found.reading) == ((), (), (), {})
    assert found.counts["believed"] == {"old": 1, "new": 1, "joined": 0, "left": 0}


def test_notes(make: Make) -> None:
    """New, changed and missing notes are the cause, and are listed; what merely changed elsewhere is no change."""
    old = make(
        {"P1": {"a": "well"}, "P2": {"a": "cisplatin"}, "P3": {"a": "well", "b": "cisplatin"}, "P4": {"a": "well"}}
    )
    new = make({"P1": {"a": "well", "b": "cisplatin"}, "P2": {"a": "well"}, "P3": {"a": "well"}, "P4": {"a": "tired"}})
    found = new.diff(old, "platinum")
    assert causes(found) == {"P1": "+ note", "P2": "- note", "P3": "- note"}
    notes = {one.patient_id: [(note.doc_id, note.what) for note in one.notes] for one in (*found.joined, *found.left)}
    assert notes == {"P1": [("b", "new")], "P2": [("a", "changed")], "P3": [("b", "gone")]}


def test_the_ontology(make: Make) -> None:
    """A concept that lies elsewhere now: its patients move, and the words of the query that mean more are told."""
    patients = {"P1": {"a": "oxaliplatin"}, "P2": {"a": "cisplatin"}}
    found = make(patients, AFTER).diff(make(patients), "platinum and not medication trastuzumab")
    assert causes(found) == {"P1": "+ ontology"}
    assert [str(change) for change in found.meaning] == ["platinum: + oxaliplatin"]
    evidence = found.evidence("P1")
    assert evidence is not None
    assert [(change.what, change.event.concept) for change in evidence.events] == [("counts now", "oxaliplatin")]
    back = make(patients).diff(make(patients, AFTER), "platinum")
    assert causes(back) == {"P1": "- ontology"}
    assert [str(change) for change in back.meaning] == ["platinum: − oxaliplatin"]


def test_the_pipeline_and_the_model(make: Make) -> None:
    """The same notes, read otherwise: what read them is the cause, and the versions are told."""
    patients = {"P1": {"a": "cisplatin"}}
    found = make(patients).diff(make(patients, deaf=["cisplatin"]), "platinum")
    assert causes(found) == {"P1": "+ pipeline"}
    assert found.reading == {"pipeline": ("1 deaf to ['cisplatin']", "1 deaf to []")}
    old = make(patients, deaf=["cisplatin"], pipeline="1")
    assert causes(make(patients, pipeline="1", model="tagger 2").diff(old, "platinum")) == {"P1": "+ model"}
    assert causes(make(patients, pipeline="2", model="tagger 2").diff(old, "platinum")) == {"P1": "+ model or pipeline"}


@pytest.mark.parametrize(
    ("before", "after", "cause"),
    [
        # The note that came is of no concern: with the old ontology nothing would have changed.
        ({"a": "oxaliplatin"}, {"a": "oxaliplatin", "b": "well"}, "+ ontology"),
        # The ontology is of no concern to this drug.
        ({"a": "well"}, {"a": "cisplatin"}, "+ note"),
        # The new note tells of what the new ontology alone counts.
        ({"a": "well"}, {"a": "oxaliplatin"}, "+ note (together) and ontology (together)"),
        # Either would have done.
        ({"a": "oxaliplatin"}, {"a": "oxaliplatin cisplatin"}, "+ note (either), ontology (either)"),
    ],
)
def test_note_and_ontology_are_told_apart(make: Make, before: Notes, after: Notes, cause: str) -> None:
    """By asking the old record under the new ontology, and the new record under the old one."""
    assert causes(make({"P1": after}, AFTER).diff(make({"P1": before}), "platinum")) == {"P1": cause}


def test_what_cannot_be_told_apart_is_not_guessed(make: Make) -> None:
    """Another note and another reading: one of them, or both."""
    old = make({"P1": {"a": "well"}}, pipeline="1")
    found = make({"P1": {"a": "well cisplatin"}}, pipeline="2").diff(old, "platinum")
    assert causes(found) == {"P1": "+ note or pipeline"}


def test_patients_of_one_side_alone(make: Make) -> None:
    """They are told as such, their notes with them; there is no evidence to compare."""
    old, new = make({"P1": {"a": "cisplatin"}}), make({"P2": {"b": "cisplatin"}, "P3": {"c": "well"}})
    found = new.diff(old, "platinum")
    assert causes(found) == {"P1": "- patient", "P2": "+ patient"}
    assert [note.doc_id for note in found.joined[0].notes] == ["b"]
    assert found.evidence("P1") is found.evidence("P2") is None


def test_absence(make: Make) -> None:
    """A note that tells of a drug makes a patient leave who was found for lack of it; the event is shown."""
    old, new = make({"P1": {"a": "well"}}), make({"P1": {"a": "well", "b": "trastuzumab"}})
    found = new.diff(old, "not medication trastuzumab")
    assert causes(found) == {"P1": "- note"}
    evidence = found.evidence("P1")
    assert evidence is not None
    assert [(one.criterion, one.before, one.after) for one in evidence.criteria] == [
        ("medication trastuzumab", "no", "certain")
    ]
    assert list(evidence.lines())[1] == "+ new: 2020-03-04  medication trastuzumab  [b]"


def test_what_holds_of_one_tumor_now(tmp_path: Path) -> None:
    """Two facts that were of two tumors are of one: each held before, so it is the whole that turned."""
    opened = []
    for tumor in ("second", "first"):
        events = (
            Event("P1", "medication", "cisplatin", tumor="first"),
            Event("P1", "medication", "trastuzumab", tumor=tumor),
            Event("P1", "medication", "oxaliplatin", tumor="second"),
        )
        with GenerationWriter(tmp_path / f"{tumor}.kb", concepts=small_ontology(BEFORE)) as writer:
            writer.add([Journey("P1", events=events)])
            writer.finish()
        opened.append(cohortium.open(tmp_path / f"{tumor}.kb"))
    old, new = opened
    with old, new:
        evidence = new.diff(old, "same tumor (cisplatin and trastuzumab)").evidence("P1")
    assert evidence is not None
    (turned,) = evidence.criteria
    assert turned.criterion.startswith("same tumor")
    assert (turned.before, turned.after) == ("no", "certain")


def test_worlds(make: Make) -> None:
    """What is only possible joins the possible answer alone; each world has its counts."""
    old, new = make({"P1": {"a": "well"}}), make({"P1": {"a": "maybe cisplatin"}})
    assert new.diff(old, "platinum").joined == ()
    found = new.diff(old, "platinum", world=World.POSSIBLE)
    assert causes(found) == {"P1": "+ note"}
    assert {world: row["joined"] for world, row in found.counts.items()} == {"certain": 0, "believed": 0, "possible": 1}


def test_a_query_that_one_side_cannot_read(make: Make) -> None:
    """It has no answer there, so there is no difference to tell; the error says on which side."""
    old, new = make({"P1": {"a": "well"}}, "drug: drug"), make({"P1": {"a": "cisplatin"}})
    with pytest.raises(QueryError, match=r"0\.kb.*platinum"):
        new.diff(old, "medication platinum")


def test_the_answer_is_deterministic(make: Make) -> None:
    """Whatever the order in which patients were written: sorted, and equal twice."""
    patients = {f"P{n}": {"a": "oxaliplatin"} for n in range(5)}
    told = [
        make(dict(turn), AFTER).diff(make(dict(turn)), "platinum").as_dict(evidence=2)
        for turn in (list(patients.items()), list(patients.items())[::-1])
    ]
    for one in told:
        one["old"].pop("kb"), one["new"].pop("kb")
    assert told[0] == told[1]
    assert [row["patient_id"] for row in told[0]["joined"]] == sorted(patients)
    assert ["evidence" in row for row in told[0]["joined"]] == [True, True, False, False, False]
