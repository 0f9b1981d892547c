"""Tuning finds the best cut on development patients, and knows of no others."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from cohortium.eval.bank.acr.labels import Labels
from cohortium.eval.baselines.retrieval.chunks import split
from cohortium.eval.baselines.retrieval.grouping import Cut
from cohortium.eval.baselines.retrieval.nearest import Hits
from cohortium.eval.baselines.retrieval.retriever import Retriever
from cohortium.eval.baselines.retrieval.tuning import labels_of, load_choice, save_choice, tune
from cohortium.eval.baselines.systems.contract import Question
from cohortium.kb.errors import UsageError
from tests.eval.baselines.fictional import corpus
from tests.eval.baselines.hashed_encoder import HashedEncoder

#: Ten patients of one chunk each; the search ranks them as the question says, from 1.0 down in tenths.
PATIENTS = "ABCDEFGHIJ"


class Scripted:
    """A search that ranks chunks in the order of the letters in the question."""

    def search(self, texts: Sequence[str], depth: int | None = None) -> list[Hits]:
        """Scores 1.0, 0.9 … in that order."""
        return [
            Hits.sorted(
                np.array([PATIENTS.index(one) for one in text]),
                np.array([1 - place / 10 for place in range(len(text))], dtype=np.float32),
            )
            for text in texts
        ]

    def signature(self) -> dict[str, str]:
        """Nothing to say."""
        return {}


def retriever() -> Retriever:
    """Over ten fictional patients."""
    held = corpus({one: [f"note of {one}"] for one in PATIENTS})
    return Retriever("scripted", split(held, HashedEncoder()), Scripted(), Cut(chunks=1))


def labels(gold: dict[int, str], unsure: dict[int, str] | None = None, patients: str = PATIENTS) -> Labels:
    """Labels of queries by the letters of those who match."""
    return Labels(
        {one: frozenset(query for query, who in gold.items() if one in who) for one in patients},
        {one: frozenset(query for query, who in (unsure or {}).items() if one in who) for one in patients},
    )


QUESTIONS = [Question("q1", "ABCDEFGHIJ", of=1), Question("q2", "JIHGFEDCBA", of=2), Question("q3", "AJBICHDGEF", of=3)]


def test_the_best_share_of_a_hand_made_case() -> None:
    """Both questions want their first three: three of ten chunks give F1 1, two give 0.8, four 6/7."""
    choice = tune(retriever(), QUESTIONS[:2], labels({1: "ABC", 2: "JIH"}))
    assert choice.cut == Cut(share=0.3)
    assert choice.score == 1
    assert {round(cut.share * 10): score for cut, score in choice.grid if cut.share}[2] == pytest.approx(0.8)
    assert {round(cut.share * 10): score for cut, score in choice.grid if cut.share}[4] == pytest.approx(6 / 7)
    assert len(choice.grid) == 10


def test_the_best_threshold_of_a_hand_made_case() -> None:
    """The third hit of each scores 0.8."""
    choice = tune(retriever(), QUESTIONS[:2], labels({1: "ABC", 2: "JIH"}), way="threshold")
    assert choice.cut.threshold == pytest.approx(0.8)
    assert choice.score == 1


def test_both_ways_together_are_never_worse() -> None:
    """A share and a threshold are at least as good as the share alone."""
    gold = labels({1: "ABC", 2: "JIHGF", 3: "B"})
    alone = tune(retriever(), QUESTIONS, gold)
    assert tune(retriever(), QUESTIONS, gold, way="both").score >= alone.score


def test_averages_differ_on_questions_that_nobody_matches() -> None:
    """By macro F1 the question without a gold cohort costs nothing; by micro F1 its false positives do."""
    gold = labels({1: "ABCD", 3: ""})
    asked = [QUESTIONS[0], QUESTIONS[2]]
    by_macro = tune(retriever(), asked, gold, average="macro")
    by_micro = tune(retriever(), asked, gold, average="micro")
    assert (by_macro.cut, by_macro.score) == (Cut(share=0.4), 1)
    # k chunks: tp k, fp k: F1 = 2k / (2k + k + 4 - k), largest at 4: 8 / 12.
    assert by_micro.score == pytest.approx(2 / 3)


def test_of_equal_cuts_the_strictest_is_taken() -> None:
    """Whom experts leave open costs nothing, and is not retrieved for that."""
    choice = tune(retriever(), QUESTIONS[:1], labels({1: "AB"}, {1: "CDE"}))
    assert choice.cut == Cut(share=0.2)


def test_labels_of_evaluation_patients_are_not_in_what_tuning_sees() -> None:
    """Whatever is said of the other half, choice and signature stay."""
    development = "ABCDE"
    one = labels_of(labels({1: "ABCFGH", 2: "JE"}), development)
    other = labels_of(labels({1: "ABCIJ", 2: "EFGHI"}, {1: "FGH"}), development)
    assert one == other
    assert one.patients == tuple(development)
    first, second = tune(retriever(), QUESTIONS[:2], one), tune(retriever(), QUESTIONS[:2], other)
    assert first == second
    assert first.signature()["development"]["patients"] == 5


def test_patients_without_labels_count_neither_way() -> None:
    """They fill places of the index and are no false positives."""
    choice = tune(retriever(), QUESTIONS[:1], labels_of(labels({1: "AC"}), "AC"))
    assert choice.score == 1
    assert choice.cut == Cut(share=0.3)


def test_labels_of_strangers_are_refused() -> None:
    """A development corpus holds its patients; the labels of others are not for tuning."""
    with pytest.raises(UsageError, match="not in the corpus"):
        tune(retriever(), QUESTIONS, labels({1: "A"}, patients=PATIENTS + "XY"))


def test_nothing_to_tune_on_is_an_error() -> None:
    """No question with a gold cohort, an unknown way, an unknown average."""
    with pytest.raises(UsageError, match="nothing can be tuned"):
        tune(retriever(), QUESTIONS, labels({}))
    with pytest.raises(UsageError, match="share, threshold, both"):
        tune(retriever(), QUESTIONS, labels({1: "A"}), way="guess")


def test_a_choice_is_kept_with_its_grid_and_taken_over(tmp_path: Path) -> None:
    """The file holds every cut that was tried; what it gives back makes the same retriever."""
    choice = tune(retriever(), QUESTIONS[:2], labels({1: "ABC", 2: "JIH"}))
    path = tmp_path / "cut.json"
    save_choice(choice, path)
    assert len(json.loads(path.read_text())["grid"]) == len(choice.grid)
    cut, told = load_choice(path)
    assert cut == choice.cut
    assert told == choice.signature()
    assert retriever().with_cut(cut, told).signature()["tuned"]["development"]["questions"] == 2
    path.write_text("[]")
    with pytest.raises(UsageError, match="no tuned settings"):
        load_choice(path)
