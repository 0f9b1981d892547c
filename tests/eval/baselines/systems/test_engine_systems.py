"""The engine as systems: worlds, plain English, ranking, single notes, evidence."""

from __future__ import annotations

import pytest

from cohortium.engine.answers.explain import ExplainedCriterion, Explanation
from cohortium.engine.api import OpenKb
from cohortium.eval.bank.acr.abstraction import deciding
from cohortium.eval.bank.acr.bank import load_bank
from cohortium.eval.baselines.systems.contract import Answer, Outcome, Question
from cohortium.eval.baselines.systems.corpus import Corpus
from cohortium.eval.baselines.systems.engine import AskedBy, EngineSystem
from cohortium.eval.benchmark.questions import bank_questions
from cohortium.eval.benchmark.settings import EngineSetting
from cohortium.eval.benchmark.workshop import Workshop
from cohortium.kb.model import World

LUNG = Question("lung", "patients with lung cancer", "lung cancer")


@pytest.mark.parametrize("world", list(World)[-3:])
def test_a_cohort_is_the_answer_in_its_world(kb: OpenKb, world: World) -> None:
    """For every question of the bank the cohort is what the query language finds in that world."""
    system = EngineSystem(kb, "engine", world=world)
    for one in load_bank():
        answer = system.answer(Question(str(one.id), one.text, one.query, one.id))
        assert answer.cohort == frozenset(kb.find(one.query).in_world(world)), one.id


def test_the_ranking_goes_on_behind_the_cohort(kb: OpenKb) -> None:
    """Certain patients stand before believed ones, and those before the possible; each patient once."""
    believed = EngineSystem(kb, "engine")
    for question in bank_questions():
        answer = believed.answer(question)
        cohort = kb.find(question.query)
        assert {one.patient_id for one in answer.ranking} == frozenset(cohort.possible)
        assert [one.score for one in answer.ranking] == sorted((one.score for one in answer.ranking), reverse=True)


def test_ranked_by_strength_holds_the_same_patients(kb: OpenKb) -> None:
    """Strength orders patients within a world and moves none out of the cohort."""
    plain, ranked = EngineSystem(kb, "engine"), EngineSystem(kb, "ranked", ranked=True)
    for question in (LUNG, *bank_questions([58, 102, 10])):
        one, other = plain.answer(question), ranked.answer(question)
        assert one.cohort == other.cohort
        assert {found.patient_id for found in one.ranking} == {found.patient_id for found in other.ranking}


def test_words_alone_are_translated(kb: OpenKb) -> None:
    """Asked by its words, a question is read in English; what cannot be read is an abstention with its reason."""
    system = EngineSystem(kb, "english", asked_by=AskedBy.WORDS)
    assert system.answer(LUNG).cohort == frozenset(kb.find("lung cancer"))
    strange = system.answer(Question("x", "patients whom the weather made gloomy", "lung cancer"))
    assert strange.outcome is Outcome.ABSTAINED
    assert strange.reason
    assert not strange.cohort


def test_a_question_without_a_query_is_read_in_english(kb: OpenKb) -> None:
    """Other wordings have no formal query: the engine reads their words."""
    assert EngineSystem(kb, "engine").answer(Question("y", LUNG.text)).cohort == frozenset(kb.find("lung cancer"))


def test_a_query_that_cannot_be_read_is_an_abstention(kb: OpenKb) -> None:
    """A bad query is no crash and no empty answer."""
    answer = EngineSystem(kb, "engine").answer(Question("z", "", "lung cancer and ("))
    assert (answer.outcome, answer.size) == (Outcome.ABSTAINED, 0)


def test_single_notes_find_what_one_note_says(workshop: Workshop, kb: OpenKb, corpus: Corpus) -> None:
    """Read alone, notes still name the lung cancer; what only several notes together tell is lost."""
    system = workshop.make(EngineSetting(name="alone", kind="engine", notes="alone")).system
    assert frozenset(system.patients) == frozenset(corpus.patients)
    found: Answer = system.answer(LUNG)
    assert found.cohort <= frozenset(corpus.patients)
    assert found.cohort & frozenset(kb.find("lung cancer"))
    apart = Question("both", "", "medication osimertinib and biomarker PD-L1 and lung adenocarcinoma")
    assert system.answer(apart).cohort <= frozenset(corpus.patients)


def test_evidence_points_into_notes(kb: OpenKb, corpus: Corpus) -> None:
    """Each quote is a place in a note of that patient; reasons are criteria."""
    system = EngineSystem(kb, "engine")
    texts = {note.doc_id: (note.patient_id, note.text) for note in corpus.notes}
    for patient in system.answer(LUNG).cohort:
        evidence = system.evidence(LUNG, patient)
        assert evidence.quotes
        for quote in evidence.quotes:
            owner, text = texts[quote.doc_id]
            assert owner == patient
            assert 0 <= quote.start < quote.end <= len(text)
        assert any("lung" in reason for reason in evidence.reasons)


def test_evidence_against_a_patient_names_what_fails(kb: OpenKb) -> None:
    """Of a patient who was not found it says which criterion does not hold."""
    outside = next(one for one in kb.patients if one not in kb.find("lung cancer").possible)
    assert EngineSystem(kb, "engine").evidence(LUNG, outside).reasons == ("no: diagnosis lung cancer",)


def test_what_decides_is_what_decides_in_the_world_that_was_asked() -> None:
    """What is only possible makes the answer of the possible world, and keeps the patient from the certain one."""
    parts = ("diagnosis", "certain"), ("stage", "believed"), ("biomarker", "possible")
    whole = ExplainedCriterion("all", "possible", parts=tuple(ExplainedCriterion(*one) for one in parts))
    told = Explanation("P1", "query", "possible", whole)

    def named(answered: bool, *holding: str) -> list[str]:
        return [one.text for one in deciding(told, answered, holding)]

    assert named(True, "certain", "believed", "possible") == ["diagnosis", "stage", "biomarker"]
    assert named(False, "certain") == ["stage", "biomarker"]
    assert [one.text for one in deciding(told, False)] == ["biomarker"]


def test_evidence_of_a_possible_patient_names_what_is_possible(kb: OpenKb) -> None:
    """Of patients who are in the possible cohort alone, some criterion is told as no more than possible."""
    system = EngineSystem(kb, "possible", world=World.POSSIBLE)
    told = [
        system.evidence(question, patient)
        for question in bank_questions()
        for patient in frozenset(kb.find(question.query).possible) - frozenset(kb.find(question.query))
    ]
    assert told
    assert all(any(reason.startswith("possible: ") for reason in one.reasons) for one in told)


def test_signatures_tell_systems_apart(kb: OpenKb, workshop: Workshop) -> None:
    """No two ways of asking have the same signature; the same way has the same."""
    systems = [
        EngineSystem(kb, "a"),
        EngineSystem(kb, "b", world=World.CERTAIN),
        EngineSystem(kb, "c", asked_by=AskedBy.WORDS),
        EngineSystem(kb, "d", ranked=True),
        workshop.make(EngineSetting(name="e", kind="engine", notes="alone")).system,
    ]
    told = [repr(one.signature()) for one in systems]
    assert len(set(told)) == len(told)
    assert repr(EngineSystem(kb, "other name").signature()) == told[0]
