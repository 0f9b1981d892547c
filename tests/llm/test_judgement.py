"""Two readings of one question: what is answered, what is offered, and how sure the answer is."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from cohortium.kb.concepts import ConceptTable
from cohortium.kb.scales import Scales
from cohortium.query_lang.llm.judgement import RuleReading, judge
from cohortium.query_lang.llm.translator import ModelReading
from cohortium.query_lang.nodes import Query
from cohortium.query_lang.resolve import resolve_text

Resolve = Callable[[str], Query]


@pytest.fixture(scope="session")
def q(concepts: ConceptTable, scales: Scales) -> Resolve:
    """A resolved query."""
    return lambda text: resolve_text(text, concepts, scales)


def test_two_readings_that_agree_are_an_answer_that_is_surer_than_either(q: Resolve) -> None:
    """However they are spelled; the one by rules is given, since it is the same tomorrow."""
    mine, theirs = q("lung cancer except death"), q("not death and lung cancer")
    told = judge(ModelReading(theirs), RuleReading((mine,), confidence=0.8))
    alone = judge(ModelReading(theirs), RuleReading())
    assert told.query == mine
    assert len(told.readings) == 1
    assert told.confidence > max(0.8, alone.confidence)
    assert told.confidence < 1


def test_two_readings_that_differ_are_both_offered_and_neither_is_answered(q: Resolve) -> None:
    """The asker chooses."""
    one, other = q("lung cancer and ECOG <= 1"), q("lung cancer and latest ECOG <= 1")
    told = judge(ModelReading(other), RuleReading((one,), confidence=0.9))
    assert told.query is None
    assert told.readings == (one, other)
    assert "differently" in told.reason


def test_a_model_does_not_choose_between_readings_of_the_rules(q: Resolve) -> None:
    """What can be read in two ways stays so when a model takes one of them; a third way is offered, too."""
    one, other, third = q("biomarker HER2 = positive"), q("variant HER2"), q("biomarker HER2 documented")
    rules = RuleReading((one, other), reason="'HER2' has two readings")
    told = judge(ModelReading(one), rules)
    assert (told.query, told.readings, told.reason) == (None, (one, other), "'HER2' has two readings")
    assert judge(ModelReading(third), rules).readings == (one, other, third)


def test_a_model_alone_answers_what_has_words_that_the_rules_do_not_know(q: Resolve) -> None:
    """That is what it is asked for; a repair and names taken for granted make it less sure, and are told."""
    query, rules = q("comorbidity hypertension"), RuleReading(reason="not read: 'arterial tension'")
    told = judge(ModelReading(query), rules)
    assert (told.query, told.note) == (query, "")
    repaired = judge(ModelReading(query, repaired=True), rules)
    assumed = judge(ModelReading(query, assumed=("hypertension",)), rules)
    assert 0 < assumed.confidence < repaired.confidence < told.confidence < 1
    assert "'hypertension'" in assumed.note


def test_what_the_rules_call_unclear_no_model_makes_clear(q: Resolve) -> None:
    """A model's query is offered, and not answered."""
    query = q("medication chemotherapy")
    told = judge(ModelReading(query), RuleReading(reason="'recent' is not clear", unclear=True))
    assert (told.query, told.readings, told.reason) == (None, (query,), "'recent' is not clear")


@pytest.mark.parametrize("partial", [True, False])
def test_what_the_model_calls_unclear_is_not_answered(q: Resolve, partial: bool) -> None:
    """The reading by rules is offered, and so is what the model made of the rest."""
    mine, theirs = q("lung cancer"), q("diagnosis cancer")
    model = ModelReading(theirs if partial else None, unclear=("fit",), reason="not clear: 'fit'")
    told = judge(model, RuleReading((mine,), confidence=0.9))
    assert told.query is None
    assert told.readings == ((mine, theirs) if partial else (mine,))
    assert told.reason == "the model says: not clear: 'fit'"
    assert told.confidence == 0


def test_what_the_model_leaves_unread_is_not_answered(q: Resolve) -> None:
    """A query that says less than the question finds more patients."""
    query = q("lung cancer")
    told = judge(ModelReading(query, unread=("with Medicaid",), reason="not read: 'with Medicaid'"), RuleReading())
    assert (told.query, told.readings) == (None, (query,))


def test_without_a_usable_answer_of_the_model_the_rules_stand_alone(q: Resolve) -> None:
    """The answer is the one that there is without a network, and the note says what happened."""
    query, other = q("lung cancer"), q("lung adenocarcinoma")
    failed = ModelReading(failed=True, reason="the chat endpoint answered 500")
    told = judge(failed, RuleReading((query,), confidence=0.8))
    assert (told.query, told.confidence, told.note) == (query, 0.8, "the chat endpoint answered 500")
    several = judge(failed, RuleReading((query, other), reason="two readings"))
    assert (several.query, several.readings) == (None, (query, other))


def test_where_neither_reads_both_say_why() -> None:
    """Nothing is answered."""
    told = judge(ModelReading(failed=True, reason="no endpoint"), RuleReading(reason="not read: 'xyz'"))
    assert (told.query, told.readings, told.reason) == (None, (), "no endpoint; not read: 'xyz'")
