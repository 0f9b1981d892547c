"""Answers on disk: kept one by one, never mixed with those of another system, whole after a kill."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from cohortium.eval.baselines.systems.contract import Answer, Failure, Outcome, Question, Quote, Ranked, Spent
from cohortium.eval.benchmark.store import AnswerStore, answer_as_dict, answer_from
from cohortium.kb.errors import UsageError

ONE, TWO = Question("1", "first", "lung cancer", 57), Question("2", "second")
FOUND = Answer(
    "1",
    (Ranked("P1", 0.5, (Quote("D1", 3, 9),)), Ranked("P\u20282", 0.25)),
    1,
    failures=(Failure("P3", "timeout", "no answer in 2 seconds"),),
    spent=Spent(0.5, 3, 1, 0, 100, 20, 0.01),
)
DECLINED = Answer("2", outcome=Outcome.ABSTAINED, reason="unread words")


def test_an_answer_survives_the_disk(tmp_path: Path) -> None:
    """What is read back is what was kept, ids with odd letters too."""
    store = AnswerStore(tmp_path, "engine", {"a": 1})
    store.add(ONE, FOUND)
    store.add(TWO, DECLINED)
    again = AnswerStore(tmp_path, "engine", {"a": 1})
    assert (again[ONE], again[TWO]) == (FOUND, DECLINED)
    assert answer_from(answer_as_dict(FOUND)) == FOUND


def test_a_line_that_was_cut_off_is_dropped(tmp_path: Path) -> None:
    """Wherever writing was cut off, whole answers stay, the rest is asked again, and the file can be added to."""
    store = AnswerStore(tmp_path, "engine", {})
    store.add(ONE, FOUND)
    store.add(TWO, DECLINED)
    path = tmp_path / "answers" / "engine.jsonl"
    whole = path.read_bytes()
    second = whole.rindex(b"\n", 0, len(whole) - 1) + 1
    for end in range(second, len(whole)):
        path.write_bytes(whole[:end])
        again = AnswerStore(tmp_path, "engine", {})
        assert ONE in again
        assert TWO not in again
    again.add(TWO, DECLINED)
    assert path.read_bytes() == whole


def test_other_answers_are_not_mixed_in(tmp_path: Path) -> None:
    """A system with another signature is refused, and told what to do."""
    AnswerStore(tmp_path, "engine", {"seed": 1}).add(ONE, FOUND)
    with pytest.raises(UsageError, match="another system or of other notes"):
        AnswerStore(tmp_path, "engine", {"seed": 2})


def test_a_question_in_other_words_is_asked_again(tmp_path: Path) -> None:
    """The answer belongs to the words and the query, not to the id alone."""
    store = AnswerStore(tmp_path, "engine", {})
    store.add(ONE, FOUND)
    assert Question("1", "first", "breast cancer", 57) not in store


def test_failures_are_known(tmp_path: Path) -> None:
    """An answer in which a patient failed counts as failed; one that was declined does not."""
    store = AnswerStore(tmp_path, "engine", {})
    store.add(ONE, FOUND)
    store.add(TWO, DECLINED)
    assert (store.failed(ONE), store.failed(TWO)) == (True, False)


def test_only_the_owner_reads_answers(tmp_path: Path) -> None:
    """They name patients."""
    AnswerStore(tmp_path, "engine", {}).add(ONE, FOUND)
    assert stat.S_IMODE((tmp_path / "answers" / "engine.jsonl").stat().st_mode) == 0o600


@pytest.mark.parametrize("name", ["", "../up", "a/b", ".hidden", "two words"])
def test_a_name_that_is_no_file_name_is_refused(tmp_path: Path, name: str) -> None:
    """A system's name becomes a file's."""
    with pytest.raises(UsageError, match="cannot name a system"):
        AnswerStore(tmp_path, name, {})
