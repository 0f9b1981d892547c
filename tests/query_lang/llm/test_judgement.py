"""Two readings of one question: what is answered, what is offered, and how sure the answer is."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from cohortium.kb.ontology.concepts import ConceptTable
from cohortium.kb.ontology.scales import Scales
from cohortium.query_lang.english.translate import Reading, Translation
from cohortium.query_lang.llm.judgement import judge
from cohortium.query_lang.llm.translator import ModelReading
from cohortium.query_lang.nodes import Query
from cohortium.query_lang.render import render
from cohortium.query_lang.resolution.resolve import resolve_text

Resolve = Callable[[str], Query]


@pytest.fixture(scope="session")
def q(concepts: ConceptTable, scales: Scales) -> Resolve:
    """A resolved query."""
    return lambda text: resolve_text(text, concepts, scales)


def rules(*queries: Query, reason: str = "", unknown: bool = False, confidence: float = 0.0) -> Translation:
    """What the translator by rules made of the question."""
    readings = tuple(Reading(query, render(query), "says") for query in queries)
    return Translation("question", readings, reason=reason, unknown=unknown, confidence=confidence)


def test_two_readings_that_agree_are_an_answer_that_is_surer_than_either(q: Resolve) -> None:
    """However they are spelled; the one by rules is given, since it is the same tomorrow."""
    mine, theirs = q("lung cancer except death"), q("not death and lung cancer")
    told = judge(ModelReading(theirs), rules(mine, confidence=0.8))
    alone = judge(ModelReading(theirs), rules(unknown=True))
    assert told.query == mine
    assert not told.abstained
    assert max(0.8, alone.confidence) < told.confidence < 1


def test_two_readings_that_differ_are_both_offered_and_neither_is_answered(q: Resolve) -> None:
    """The asker chooses."""
    one, other = q("lung cancer and ECOG <= 1"), q("lung cancer and latest ECOG <= 1")
    told = judge(ModelReading(other), rules(one, confidence=0.9))
    assert told.abstained
    assert [reading.query for reading in told.readings] == [one, other]
    assert "differently" in told.reason


def test_a_model_does_not_choose_between_readings_of_the_rules(q: Resolve) -> None:
    """What can be read in two ways stays so when a model takes one of them; a third way is offered, too."""
    one, other, third = q("biomarker HER2 = positive"), q("variant HER2"), q("biomarker HER2 documented")
    two = rules(one, other, reason="two readings")
    told = judge(ModelReading(one), two)
    assert (told.query, len(told.readings), told.reason) == (None, 2, "two readings")
    assert [reading.query for reading in judge(ModelReading(third), two).readings] == [one, other, third]


def test_a_model_alone_answers_what_has_words_that_the_rules_do_not_know(q: Resolve) -> None:
    """That is what it is asked for; a repair and names taken for granted make it less sure, and are told."""
    query, unknown = q("comorbidity hypertension"), rules(reason="these words were not understood", unknown=True)
    told = judge(ModelReading(query), unknown)
    assert (told.query, told.note, told.reason) == (query, "", "")
    repaired = judge(ModelReading(query, repaired=True), unknown)
    assumed = judge(ModelReading(query, assumed=("hypertension",)), unknown)
    assert 0 < assumed.confidence < repaired.confidence < told.confidence < 1
    assert "'hypertension'" in assumed.note


def test_what_the_rules_call_unclear_no_model_makes_clear(q: Resolve) -> None:
    """A model's query is told, and not answered."""
    told = judge(ModelReading(q("medication chemotherapy")), rules(reason="'recent' is too vague"))
    assert told.abstained
    assert told.readings == ()
    assert told.reason == "'recent' is too vague (what was read: medication cytotoxic chemotherapy)"


@pytest.mark.parametrize("partial", [True, False])
def test_what_the_model_calls_unclear_is_not_answered(q: Resolve, partial: bool) -> None:
    """The reading by rules is told, and so is what the model made of the rest."""
    mine, theirs = q("lung cancer"), q("diagnosis cancer")
    model = ModelReading(theirs if partial else None, unclear=("fit",), reason="not clear: 'fit'")
    told = judge(model, rules(mine, confidence=0.9))
    assert told.abstained
    assert len(told.readings) == (2 if partial else 0)
    assert told.reason.startswith("the model says: not clear: 'fit'")
    assert told.unread == ("fit",)
    assert told.confidence == 0


def test_what_the_model_leaves_unread_is_not_answered(q: Resolve) -> None:
    """A query that says less than the question finds more patients."""
    model = ModelReading(q("lung cancer"), unread=("with Medicaid",), reason="not read: 'with Medicaid'")
    told = judge(model, rules(unknown=True))
    assert told.abstained
    assert told.unread == ("with Medicaid",)
    assert "diagnosis lung cancer" in told.reason


def test_without_a_usable_answer_of_the_model_the_rules_stand_alone(q: Resolve) -> None:
    """The answer is the one that there is without a network, and the note says what happened."""
    query, other = q("lung cancer"), q("lung adenocarcinoma")
    failed = ModelReading(failed=True, reason="the chat endpoint answered 500")
    told = judge(failed, rules(query, confidence=0.8))
    assert (told.query, told.confidence) == (query, 0.8)
    assert told.note == "read by rules alone, since the chat endpoint answered 500"
    assert len(judge(failed, rules(query, other)).readings) == 2


def test_where_neither_reads_both_say_why() -> None:
    """Nothing is answered."""
    told = judge(ModelReading(failed=True, reason="no endpoint"), rules(reason="not read: 'xyz'", unknown=True))
    assert (told.readings, told.reason) == ((), "not read: 'xyz'; no endpoint")
