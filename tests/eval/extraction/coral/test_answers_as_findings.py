"""Answers are read whatever they look like, and findings that are written are read again as they were."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohortium.eval.extraction.coral.answers import MISSING, NONSENSE, Answer, understood
from cohortium.eval.extraction.coral.tasks import Task, Tasks, shipped
from cohortium.ingest.coral_schema.tuples import Finding, is_nothing, nothing, read, write

TEXT = (
    st.text(
        st.characters(blacklist_categories=("C", "Z"), blacklist_characters="{}[]‘’“”`\"'"), min_size=1, max_size=12
    )
    | st.sampled_from(
        ["Crohn's disease", "5' tall", "a, b", "a (b)", "Site=x", "back\\slash\\", "ER+", "x) y", "10 o'clock"]
    )
).filter(lambda one: one.lower() not in ("unknown", "none", "n/a", "na", "null"))


@st.composite
def answers(draw: st.DrawFn) -> tuple[Task, tuple[Finding, ...]]:
    """A task, and different findings of it."""
    task = draw(st.sampled_from(list(shipped())))
    several = st.lists(TEXT, min_size=1, max_size=3, unique=True).map(tuple)
    values = st.fixed_dictionaries(
        {
            value.name: st.sampled_from(value.one_of).map(lambda one: (one,)) if value.one_of else several
            for value in task.values
        }
    )
    findings = draw(st.lists(st.builds(Finding, TEXT, values), max_size=3))
    return task, tuple(one for number, one in enumerate(findings) if one not in findings[:number])


@given(answers())
def test_what_is_written_is_read_again(given: tuple[Task, tuple[Finding, ...]]) -> None:
    """Quotes, commas, brackets and backslashes within values included."""
    task, findings = given
    told = read(task, write(task, findings))
    assert told.findings == findings
    assert told.unread == 0


@given(st.sampled_from(list(shipped())), st.text() | st.text("SymptomEnt(Symptom='{},) =\\\"x", max_size=300))
def test_any_text_is_read(task: Task, text: str) -> None:
    """Reading never fails: it gives findings, or none."""
    told = read(task, f"{task.form}({text}")
    assert all(set(one.values) == {value.name for value in task.values} for one in told.findings)
    understood(task, Answer("d", "u", task.id, text), shipped().rules)


@pytest.mark.parametrize("sign", ["'", "('", "'a", "SymptomEnt(", "{", "\\'", "Symptom='", "SymptomEnt(Symptom='a', "])
def test_a_long_text_of_nonsense_is_read_in_time(symptoms: Task, sign: str) -> None:
    """The time is in proportion to the length, whatever the text repeats."""
    began = time.perf_counter()
    read(symptoms, "SymptomEnt(" + sign * (200_000 // len(sign)))
    assert time.perf_counter() - began < 10


@pytest.mark.parametrize(
    "answer",
    [
        "SymptomEnt(Symptom='lump', Datetime={'01/01/2020', '02/03/2020'})",
        "SymptomEnt(Symptom='lump', Datetime='{01/01/2020', '02/03/2020}')",
        "SymptomEnt(Symptom='lump', Datetime='{01/01/2020', '02/03/2020'}')",
        'SymptomEnt(Symptom="lump", Datetime={"01/01/2020", "02/03/2020"})',
        "SymptomEnt(Symptom=‘lump’, Datetime={‘01/01/2020’, ‘02/03/2020’})",
        "SymptomEnt(Datetime=['01/01/2020', '02/03/2020'], Symptom='lump')",
        "SymptomEnt('lump', {'01/01/2020', '02/03/2020'})",
        "Here:\n```python\n1. symptoment ( symptom = 'lump' , datetime = {'01/01/2020','02/03/2020'} )\n```\n",
        "[SymptomEnt(Symptom='lump',\n    Datetime={'01/01/2020',\n              '02/03/2020'})]",
        "SymptomEnt(Symptom='lump', Datetime={'01/01/2020', '02/03/2020'}",
    ],
)
def test_the_forms_that_models_give_mean_the_same(symptoms: Task, answer: str) -> None:
    """Braces within quotes or around them, other quotes, brackets, order, case, fences, numbers, line breaks."""
    assert read(symptoms, answer).findings == (Finding("lump", {"Datetime": ("01/01/2020", "02/03/2020")}),)


def test_a_field_that_is_missing_is_unknown(tasks: Tasks) -> None:
    """What was told counts."""
    (finding,) = read(
        tasks.by_id["radiology_tests"], "RadTest(RadiologyTest='MRI', Site={'left, right breast'})"
    ).findings
    assert finding.name == "MRI"
    assert finding.values["Site"] == ("left, right breast",)
    assert finding.values["Result"] == ("unknown",)


def test_a_finding_without_a_name_is_counted_as_unread(symptoms: Task) -> None:
    """It is none, and not lost in silence either."""
    told = read(symptoms, "SymptomEnt(Datetime={'2020'})\nSymptomEnt(Symptom='lump', Datetime={'2020'})")
    assert (len(told.findings), told.unread) == (1, 1)


def test_an_apostrophe_needs_no_escape_and_may_have_one(symptoms: Task) -> None:
    """A mark within a word closes nothing."""
    for answer in (
        r"SymptomEnt(Symptom='Raynaud\'s', Datetime={'x'})",
        "SymptomEnt(Symptom='Raynaud's', Datetime={'x'})",
    ):
        assert read(symptoms, answer).findings[0].name == "Raynaud's"


def test_the_first_diagnosis_stands_on_a_line_of_its_own(tasks: Tasks) -> None:
    """It is no symptom."""
    task = tasks.by_id["symptoms_at_diagnosis"]
    told = read(task, "CancerDiagnosis(Datetime={'03/01/2019'})\nSymptomEnt(Symptom='lump', Datetime={'unknown'})")
    assert told.first == ("03/01/2019",)
    assert [one.name for one in told.findings] == ["lump"]


def test_the_same_finding_twice_is_one(symptoms: Task) -> None:
    """A model that repeats itself has found no more."""
    line = "SymptomEnt(Symptom='lump', Datetime={'2020'})\n"
    assert len(read(symptoms, line * 3).findings) == 1


@pytest.mark.parametrize(
    "answer",
    ["unknown", "None.", "N/A", "[]", "No symptoms are mentioned.", "There are no symptoms in this note.",
     "The note does not mention any.", "SymptomEnt(Symptom='unknown', Datetime={'unknown'})",
     "SymptomEnt(Symptom='None', Datetime={'N/A'})"],
)  # fmt: skip
def test_an_answer_may_say_that_there_is_nothing(symptoms: Task, tasks: Tasks, answer: str) -> None:
    """In the format, or in words: it is an answer, without findings."""
    assert is_nothing(symptoms, answer, tasks.rules.nothing)
    told = understood(symptoms, Answer("d", "u", "symptoms", answer), tasks.rules)
    assert (told.findings, told.failure) == ((), "")


@pytest.mark.parametrize(
    "answer", ["", "  \n", "I am sorry, but I cannot help.", "fever and chills", "SymptomEnt(", "{}{"]
)
def test_an_answer_that_cannot_be_understood_is_no_answer(symptoms: Task, tasks: Tasks, answer: str) -> None:
    """It failed, and does not count as one that found nothing."""
    told = understood(symptoms, Answer("d", "u", "symptoms", answer), tasks.rules)
    assert (told.findings, told.failure) == ((), NONSENSE)


def test_what_was_not_answered_is_missing_and_a_failure_stays_one(symptoms: Task, tasks: Tasks) -> None:
    """Whatever text came with it."""
    assert understood(symptoms, None, tasks.rules).failure == MISSING
    failed = Answer("d", "u", "symptoms", "SymptomEnt(Symptom='lump', Datetime={'x'})", failure="refusal")
    assert understood(symptoms, failed, tasks.rules).failure == "refusal"


def test_nothing_found_is_written_as_such(symptoms: Task) -> None:
    """A line of unknowns, which is read as no finding."""
    assert write(symptoms, ()) == "SymptomEnt(Symptom='unknown', Datetime={'unknown'})"
    assert nothing(symptoms).values == {"Datetime": ("unknown",)}
    assert read(symptoms, write(symptoms, ())).findings == ()


def test_every_example_of_a_question_is_an_answer_to_it(tasks: Tasks) -> None:
    """What a model is shown is in the format that is read, and written the same."""
    for task in tasks:
        told = read(task, "\n".join(task.examples))
        assert told.unread == 0
        assert write(task, told.findings, told.first) == "\n".join(task.examples)
        question = task.written(tasks.rules)
        assert all(f"{field}=" in question for field in task.fields)
