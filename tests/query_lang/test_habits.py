"""What people write out of habit gets the message that was written for it, at the words that show the habit."""

from __future__ import annotations

import pytest

from cohortium.kb.ontology.concepts import shipped_concepts
from cohortium.kb.ontology.scales import Scales
from cohortium.query_lang.errors import QueryError
from cohortium.query_lang.parsing.habits import Habit, habits
from cohortium.query_lang.parsing.mistakes import mistakes
from cohortium.query_lang.resolution.resolve import resolve_text

CASES = [(example, habit) for habit in habits() for example in habit.examples]
CONCEPTS, SCALES = shipped_concepts(), Scales.from_files()


def refused(text: str) -> QueryError:
    """The error that the text meets."""
    with pytest.raises(QueryError) as caught:
        resolve_text(text, CONCEPTS, SCALES)
    return caught.value


@pytest.mark.parametrize(("text", "habit"), CASES, ids=[text for text, _ in CASES])
def test_a_habit_gets_its_message_at_its_place(text: str, habit: Habit) -> None:
    """What is wrong, where, and what to write instead."""
    error = refused(text)
    found = habit.pattern.search(text)
    assert found is not None
    words = found.group().strip()
    told = [one for one in error.errors if one.hint == habit.hint.replace("{words}", words)]
    assert told, f"{error}"
    assert told[0].message == habit.message.replace("{words}", words)
    assert told[0].offset == text.index(words, found.start())


def test_there_are_many_mistakes_and_all_say_what_to_do() -> None:
    """More than forty typical mistakes are known, each with a message, a hint and an example or more."""
    assert len(habits()) + len(mistakes()) > 80
    assert len(CASES) > 150
    assert all(habit.message and habit.hint and habit.examples for habit in habits())
    assert len({habit.message + habit.hint for habit in habits()}) == len(habits())


@pytest.mark.parametrize("habit", habits(), ids=[habit.hint for habit in habits()])
def test_what_a_hint_says_to_write_can_be_written(habit: Habit) -> None:
    """The queries in a hint are read."""
    for text in habit.valid:
        assert text in habit.hint
        assert resolve_text(text, CONCEPTS, SCALES, today=lambda: 737_000)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("lung cancr and death", "did you mean 'lung cancer'"),
        ("diagnosis cisplatin", "write 'medication cisplatin'"),
        ("variant EGFR with foo = bar", "its attributes are"),
        ("stage = V", "did you mean 'IV'"),
        ("lung cancer and not stage >=", "for example: stage >= IIIB"),
        ("at least two of (death, metastasis)", "at least 2 of (A, B, C)"),
        ("not no metastasis", "no evidence of"),
        ("diagnosis before 2020-13-01", "dates are written 2019"),
        ("(death", "is never closed"),
    ],
)
def test_other_mistakes_keep_their_own_message(text: str, words: str) -> None:
    """A habit is told where it is one, and nowhere else."""
    assert words in str(refused(text))


@pytest.mark.parametrize(
    "text",
    [
        "diagnosis “lung cancer”", "stage 3b", "T2bN0", "ypT2N1M0", "first line osimertinib", "HER2+ breast cancer",
        "lung cancer but not stage IV", "biomarker HER2 = negative", "historical 'breast cancer'",
        "family history of breast cancer", "KRAS G12C", "surgery within 3 month of death",
    ],
)  # fmt: skip
def test_what_can_be_read_is_never_a_habit(text: str) -> None:
    """Habits are looked at only when a query is refused."""
    assert resolve_text(text, CONCEPTS, SCALES)
