"""A chat model as a tagger: its answers become spans where they stand in the note, else they are counted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cohortium.ingest.coral_schema.questions import shipped_questions
from cohortium.ingest.models.chat.tagger import ChatTagger, types_of_answers, uses
from cohortium.kb.endpoint.asking import Budget
from cohortium.kb.endpoint.kept import KeptAnswers
from cohortium.kb.errors import UsageError
from tests.kb.endpoint.playhouse import Act, Stage, raw, says, status

Script = Callable[[dict[str, "str | Act"]], Stage]
Make = Callable[..., ChatTagger]
#: A fictional note.
NOTE = (
    "Biopsy of 3/2019: lobular carcinoma. Letrozole since May; hot flashes. Considering fulvestrant. Aunt: letrozole."
)
QUESTIONS = len({one.question for one in uses()})


def found(tagger: ChatTagger, text: str = NOTE) -> list[tuple[str, str]]:
    (spans,) = tagger.tag([text])
    return [(text[one.start : one.end], one.type) for one in spans]


def test_answers_become_spans_of_their_type(model: Script, tagger: Make) -> None:
    """Each place of a quote is a span, in the order of the text, whoever it is about: that is read by others."""
    model(
        {
            "prescribed_medications": "PrescribedMedEnt(MedicationName='letrozole', Begin={'May'}, End={'unknown'},"
            " Reason={'unknown'}, Continuity='continuing', ConfirmedAdvEvent={'hot flashes'},"
            " PotentialAdvEvent={'joint pain'})",
            "future_medications": "FutureMedEnt(MedicationName='Fulvestrant', Consideration='planned',"
            " PotentialAdvEvent={'unknown'})",
            "histology": "Histo(Histology='lobular carcinoma', Datetime={'3/2019'})",
            "procedures": "Proc(ProcedureName='biopsy', Datetime={'3/2019'}, Site={'unknown'}, Reason={'unknown'},"
            " Result={'lobular carcinoma'})",
        }
    )
    asked = tagger()
    assert found(asked) == [
        ("Biopsy", "procedure"),
        ("lobular carcinoma", "histology"),
        ("Letrozole", "medication"),
        ("hot flashes", "adverse_event"),
        ("fulvestrant", "medication"),
        ("letrozole", "medication"),
    ]
    assert asked.tally.as_dict() == {
        "texts": 1,
        "questions": QUESTIONS,
        "failed": {},
        "texts_with_failures": 0,
        "quotes": 5,
        "not_in_text": 0,
        "unread": 0,
    }
    assert asked.name == "llm:a-model"


def test_what_does_not_stand_in_the_note_is_dropped_and_counted(model: Script, tagger: Make) -> None:
    """An invention is no mention, however well it fits."""
    model(
        {"histology": "Histo(Histology='ductal carcinoma', Datetime={'unknown'})\nHisto(Histology='lobular carcinoma')"}
    )
    asked = tagger(("histology",))
    assert found(asked) == [("lobular carcinoma", "histology")]
    assert (asked.tally.quotes, asked.tally.not_in_text) == (1, 1)


def test_several_names_in_one_are_several_quotes(model: Script, tagger: Make) -> None:
    """Models forget that a name is one."""
    model(
        {"future_medications": "FutureMedEnt(MedicationName={'fulvestrant', 'capecitabine'}, Consideration='planned')"}
    )
    asked = tagger(("medication",))
    assert found(asked) == [("fulvestrant", "medication")]
    assert (asked.tally.quotes, asked.tally.not_in_text) == (1, 1)


def test_of_two_spans_over_one_another_the_longer_stays(model: Script, tagger: Make) -> None:
    """And of two of one length the one that was asked for first."""
    model(
        {
            "prescribed_medications": "PrescribedMedEnt(MedicationName='hot flashes')",
            "symptoms": "SymptomEnt(Symptom='hot flashes', Datetime={'unknown'})\nSymptomEnt(Symptom='flashes')",
        }
    )
    assert found(tagger()) == [("hot flashes", "medication")]


@pytest.mark.parametrize(
    ("answer", "failure"),
    [
        ("I am sorry, but I cannot read clinical notes.", "nonsense"),
        (status(404), "connection"),
        (status(400), "rejected"),
        (raw(b"{}"), "nonsense"),
        (says("SymptomEnt(Symptom='hot fl", finish="length"), "cut_off"),
        (says("", refusal="no"), "refusal"),
    ],
)
def test_a_question_that_fails_is_counted_and_the_note_goes_on(
    model: Script, tagger: Make, answer: str | Act, failure: str
) -> None:
    """Its mentions are missing; those of the other questions are there."""
    stage = model({"symptoms": answer, "histology": "Histo(Histology='lobular carcinoma')"})
    asked = tagger(("histology", "symptom"))
    assert found(asked) == [("lobular carcinoma", "histology")]
    assert asked.tally.failed == {failure: 1}
    assert asked.tally.texts_with_failures == 1
    assert stage.seen


def test_a_model_that_says_nothing_useful_names_nothing(model: Script, tagger: Make) -> None:
    """*None*, *unknown* and an answer in the format of the questions that holds nothing."""
    model({"symptoms": "SymptomEnt(Symptom='unknown', Datetime={'unknown'})", "histology": "None."})
    asked = tagger()
    assert found(asked) == []
    assert not asked.tally.failed


def test_only_what_is_wanted_is_asked(model: Script, tagger: Make) -> None:
    """A type that nobody has a use for costs nothing; one that no question names is told."""
    stage = model({})
    tagger(("histology",)).tag([NOTE])
    assert len(stage.seen) == 1
    with pytest.raises(UsageError, match="medication"):
        tagger(("planet",))


def test_an_empty_text_is_not_asked_about(model: Script, tagger: Make) -> None:
    """Neither is one of blanks; no text at all gives nothing at all."""
    stage = model({})
    asked = tagger()
    assert asked.tag(["", " \n "]) == [[], []]
    assert asked.tag([]) == []
    assert not stage.seen


def test_a_note_is_asked_about_once(model: Script, tagger: Make, tmp_path: Path) -> None:
    """Kept answers give the same spans in a later run, without a request."""
    stage = model({"histology": "Histo(Histology='lobular carcinoma')"})
    path = tmp_path / "answers.jsonl"
    first = tagger(kept=KeptAnswers(path)).tag([NOTE])
    assert len(stage.seen) == QUESTIONS
    assert tagger(kept=KeptAnswers(path), budget=Budget(requests=0)).tag([NOTE]) == first
    assert len(stage.seen) == QUESTIONS


def test_a_spent_budget_leaves_the_rest_unasked(model: Script, tagger: Make) -> None:
    """What was found before stays; the rest is counted as failed."""
    model({"prescribed_medications": "PrescribedMedEnt(MedicationName='letrozole')"})
    asked = tagger(budget=Budget(requests=1))
    assert found(asked) == [("Letrozole", "medication"), ("letrozole", "medication")]
    assert asked.tally.failed == {"budget": QUESTIONS - 1}


def test_every_use_is_a_field_of_a_question() -> None:
    """The data file names questions and fields that there are, and types once each."""
    questions = shipped_questions().by_id
    assert all(one.field in questions[one.question].fields for one in uses())
    assert len(types_of_answers()) == len(set(types_of_answers()))


def test_no_quote_is_certain(model: Script, tagger: Make) -> None:
    """A model tells no probability, so that all quotes have the same one, between even odds and certainty."""
    model({"histology": "Histo(Histology='lobular carcinoma')", "symptoms": "SymptomEnt(Symptom='hot flashes')"})
    (spans,) = tagger().tag([NOTE])
    (confidence,) = {one.confidence for one in spans}
    assert 0.5 < confidence < 1
