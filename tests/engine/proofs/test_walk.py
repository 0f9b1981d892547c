"""The verifier's walk and the engine agree: what holds has a proof that the walk accepts, in every world."""

from __future__ import annotations

import json
from dataclasses import is_dataclass, replace
from random import Random

import pytest
from hypothesis import given

from cohortium.engine.proofs.checker.faults import Fault, Findings
from cohortium.engine.proofs.checker.leaves import LEAVES
from cohortium.engine.proofs.checker.record import Record, StoredNote
from cohortium.engine.proofs.checker.sets import Sets
from cohortium.engine.proofs.checker.views import View
from cohortium.engine.proofs.checker.walk import STEPS, Walk
from cohortium.engine.proofs.prover import ARGUMENTS, NoProof, proof_of
from cohortium.engine.reference.meaning import OPPOSITE, matches
from cohortium.kb.model import DayInterval, Event, Journey, World
from cohortium.kb.ontology.stored_ontology import edge_id
from cohortium.query_lang import nodes
from tests.generated import kb_strategies as small
from tests.generated import queries as generated_queries
from tests.generated import records as generated_records
from tests.generated import test_denials as denials

CONCEPTS, SCALES = generated_records.CONCEPTS, generated_records.SCALES
WORLDS = (World.CERTAIN, World.BELIEVED, World.POSSIBLE)
EDGES = {edge_id(row.id, parent): (row.id, parent) for row in CONCEPTS.rows() for parent in row.parents}
SETS = Sets({row.id: row.parents for row in CONCEPTS.rows()}, SCALES, CONCEPTS)


def faults(query: nodes.Query, journey: Journey, world: World, criterion: object) -> list[Fault]:
    """What the walk finds wrong with a criterion of a proof, given a record in memory."""
    record = Record(
        journey.patient_id,
        {note.note_id: StoredNote(note, note.note_id, note.sha256, "current") for note in journey.notes},
        {mention.mention_id: mention for mention in journey.mentions},
        {event.event_id: event for event in journey.events},
        {decision.decision_id: decision for decision in journey.decisions},
        len(journey.events),
        len(journey.events),
        "",
        (),
    )
    findings = Findings()
    walk = Walk(SETS, EDGES, findings, query.definitions, {**STEPS, **LEAVES}, set(), set(), set())
    walk.whole_of(query.body, criterion, View.from_record(record), world, True)
    return findings.faults


def proved(query: nodes.Query, journey: Journey, world: World) -> dict:
    """The criterion of the proof that the query holds, as it is read from JSON."""
    proof = proof_of(query, journey, CONCEPTS, SCALES, world, resolved="", generation="")
    return json.loads(json.dumps(proof["criterion"]))


def pairs(seed: int) -> list[tuple[nodes.Query, Journey]]:
    """Generated queries with the generated records that they were drawn from, each event of a record once."""
    random = Random(seed)
    drawn = generated_records.records(random, 4)
    drawn = [replace(one, events=tuple({event.event_id: event for event in one.events}.values())) for one in drawn]
    return [
        (query, one) for query in (generated_queries.dividing_query(random, drawn) for _ in range(8)) for one in drawn
    ]


@pytest.mark.parametrize("seed", range(6))
def test_what_holds_or_fails_is_proved_in_every_world(seed: int) -> None:
    """The proof that a query holds, or that its negation does, is accepted."""
    for query, journey in pairs(seed):
        for world in WORLDS:
            asked, where = query, world
            if not matches(query, journey, CONCEPTS, SCALES, world):
                asked, where = nodes.Query(nodes.Not(query.body), query.definitions), OPPOSITE[world]
            assert not faults(asked, journey, where, proved(asked, journey, where))


@pytest.mark.parametrize("seed", range(6))
def test_the_proof_of_one_patient_proves_no_other_of_whom_it_fails(seed: int) -> None:
    """A proof that is handed over for a patient who is no member is refused."""
    drawn = pairs(seed)
    for query, journey in drawn:
        for world in WORLDS:
            if not matches(query, journey, CONCEPTS, SCALES, world):
                continue
            criterion = proved(query, journey, world)
            for _, other in drawn:
                if not matches(query, other, CONCEPTS, SCALES, world):
                    assert faults(query, other, world, criterion)


@given(denials.records(patients=1), denials.queries())
def test_denials_are_proved(told: list[Journey], query: nodes.Query) -> None:
    """What denies what is asked, or that nothing does, has a proof that is accepted, in every world."""
    journey = replace(told[0], events=tuple({event.event_id: event for event in told[0].events}.values()))
    for world in WORLDS:
        asked, where = query, world
        if not matches(query, journey, CONCEPTS, SCALES, world):
            asked, where = nodes.Query(nodes.Not(query.body), query.definitions), OPPOSITE[world]
        assert not faults(asked, journey, where, proved(asked, journey, where))


@given(small.records(patients=1), small.queries())
def test_ends_and_lengths_are_proved(told: list[Journey], query: nodes.Query) -> None:
    """What looks at ends and lengths, as all else that is drawn, has a proof that is accepted, in every world."""
    journey = replace(told[0], events=tuple({event.event_id: event for event in told[0].events}.values()))
    for world in WORLDS:
        asked, where = query, world
        if not matches(query, journey, CONCEPTS, SCALES, world):
            asked, where = nodes.Query(nodes.Not(query.body), query.definitions), OPPOSITE[world]
        assert not faults(asked, journey, where, proved(asked, journey, where))


def test_a_proof_of_another_end_or_length_is_refused() -> None:
    """A course that ended too early or lasted too short, in place of one that is as asked; and one without an end."""
    asked = nodes.Query(
        nodes.Exists(nodes.Events("medication", window=nodes.Window(737_060), moment="end", lasting=nodes.Lasting(50)))
    )
    begin, later = DayInterval(737_000, 737_000), DayInterval(737_061, 737_061)
    right = Event("P", "medication", "cisplatin", begin, later)
    wrong = (
        (Event("P", "medication", "cisplatin", begin, DayInterval(737_055, 737_055)), "window"),
        (Event("P", "medication", "cisplatin", DayInterval(737_030, 737_030), later), "lasting"),
        (Event("P", "medication", "cisplatin", begin), "end"),
    )
    criterion = proved(asked, Journey("P", events=(right,)), World.BELIEVED)
    for other, fails in wrong:
        journey = Journey("P", events=(right, other))
        assert not faults(asked, journey, World.BELIEVED, criterion)
        exchanged = json.loads(json.dumps(criterion).replace(right.event_id, other.event_id))
        assert faults(asked, journey, World.BELIEVED, exchanged)
        alone = Journey("P", events=(other,))
        opposite = nodes.Query(nodes.Not(asked.body))
        refuted = proved(opposite, alone, World.BELIEVED)
        assert refuted["parts"][0]["sets"][0]["rejected"] == [{"event": other.event_id, "fails": fails}]
        assert not faults(opposite, alone, World.BELIEVED, refuted)


def test_a_proof_that_cites_a_narrower_denial_is_refused() -> None:
    """In place of the denial of what is asked, one of less: what lies below it, or fewer cases of it."""
    wide, narrow, partial = (
        Event("P", "diagnosis", concept, attributes=attributes, context=denials.ABSENT, world=World.NONE)
        for concept, attributes in (("carcinoma", {}), ("breast_cancer", {}), ("carcinoma", {"laterality": "left"}))
    )
    journey = Journey("P", events=(wide, narrow, partial))
    query = nodes.Query(
        nodes.Exists(nodes.Events("diagnosis", nodes.Under(nodes.Concept("carcinoma", "carcinoma")), context="absent"))
    )
    criterion = proved(query, journey, World.BELIEVED)
    (entry,) = criterion["sets"][0]["chosen"]
    assert not faults(query, journey, World.BELIEVED, criterion)
    assert (entry["event"], entry["denied"]) == (wide.event_id, [{"concept": "carcinoma", "path": []}])
    for other in (narrow, partial):
        entry["event"] = other.event_id
        told = {fault.message for fault in faults(query, journey, World.BELIEVED, criterion)}
        assert "the chosen events are no witness of the set" in told
    entry["event"] = wide.event_id
    entry["denied"][0]["path"] = [edge_id("breast_cancer", "carcinoma")]
    assert faults(query, journey, World.BELIEVED, criterion)


def test_who_is_no_member_has_no_proof() -> None:
    """The prover refuses to write down what does not hold."""
    query = nodes.Query(nodes.Exists(nodes.Events("death")))
    with pytest.raises(NoProof, match="does not hold"):
        proof_of(query, Journey("P1"), CONCEPTS, SCALES, World.BELIEVED, resolved="", generation="")


def test_every_criterion_can_be_proved_and_verified() -> None:
    """Each node that no other nodes say has its argument, and the verifier its own step for it."""
    known = {
        one
        for one in vars(nodes).values()
        if is_dataclass(one) and isinstance(one, type) and issubclass(one, nodes.PatientExpression)
    }
    needed = {one for one in known if one.expansion is nodes.PatientExpression.expansion}
    assert needed <= set(ARGUMENTS) <= known
    assert {*STEPS, *LEAVES} == set(ARGUMENTS)


@pytest.mark.parametrize("criterion", [None, [], {}, {"node": "exists"}, {"node": "exists", "sets": [{"chosen": 5}]}])
def test_what_is_no_proof_is_refused(criterion: object) -> None:
    """Whatever a file holds in place of a proof, there are faults and no error."""
    query = nodes.Query(nodes.Exists(nodes.Events("death")))
    assert faults(query, Journey("P1"), World.BELIEVED, criterion)
