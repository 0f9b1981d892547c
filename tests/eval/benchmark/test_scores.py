"""All scores of a system, worked by hand on six patients and five questions of the bank."""

from __future__ import annotations

import json

import pytest

from cohortium.eval.bank.acr.labels import Labels
from cohortium.eval.baselines.systems.contract import Answer, Failure, Outcome, Question, Ranked, Spent
from cohortium.eval.benchmark.agreement import load_paraphrases
from cohortium.eval.benchmark.questions import bank_questions
from cohortium.eval.benchmark.scores import SystemScores, difference, score_system
from cohortium.eval.measures.bootstrap import interval, paired_interval
from cohortium.eval.measures.metrics import F1, FALSE_POSITIVE_RATE, PRECISION, RECALL
from cohortium.eval.measures.scoring import Counts
from cohortium.eval.measures.terms import Terms

PATIENTS = "abcdef"
#: Question -> who matches. With alpha 4 and beta 2: broad, narrow, sparse, zero, zero.
GOLD = {58: "abcd", 113: "abc", 107: "a", 41: "", 65: ""}
LABELS = Labels(
    {patient: frozenset(of for of, who in GOLD.items() if patient in who) for patient in PATIENTS},
    {patient: frozenset({113} if patient == "f" else ()) for patient in PATIENTS},
    "0" * 64,
)
QUESTIONS = [one for one in bank_questions() if one.of in GOLD]
DOCUMENTS = dict(zip(PATIENTS, (1, 2, 3, 4, 5, 6), strict=True))


def found(of: int, ranking: str, size: int, *, failed: str = "", spent: Spent | None = None) -> Answer:
    """An answer with this ranking, the first ``size`` of it the cohort."""
    return Answer(
        str(of),
        tuple(Ranked(one, -place) for place, one in enumerate(ranking)),
        size,
        failures=tuple(Failure(one, "timeout") for one in failed),
        spent=spent or Spent(),
    )


#: 58: tp 3, fp 1, fn 1, tn 1; 113: tp 2, fp 1 (f is ambiguous), fn 1, tn 1; 107: nobody; 41: two named; 65: declined.
ANSWERS = {
    "58": found(58, "abecdf", 4, spent=Spent(seconds=1.0, requests=4, dollars=0.3)),
    "113": found(113, "afbd", 4, spent=Spent(seconds=3.0, requests=2, dollars=0.1)),
    "107": found(107, "ba", 0, spent=Spent(seconds=0.5)),
    "41": found(41, "ef", 2, failed="c"),
    "65": Answer("65", outcome=Outcome.ABSTAINED, reason="not understood"),
}


def scored(answers: dict[str, Answer] | None = None, questions: list[Question] | None = None) -> SystemScores:
    """The scores with alpha 4 and beta 2."""
    return score_system(
        ANSWERS if answers is None else answers,
        QUESTIONS if questions is None else questions,
        LABELS,
        DOCUMENTS,
        "abcdez",
        Terms(4, 2, resamples=200),
    )


SCORES = scored()
REPORT = SCORES.as_dict()


def test_sizes_are_those_of_the_gold_cohorts():
    """One question each, and two that nobody matches."""
    assert {size: told["ids"] for size, told in REPORT["by_size"].items()} == {
        "broad": ["58"],
        "narrow": ["113"],
        "sparse": ["107"],
        "zero": ["41", "65"],
    }
    assert {size: told["mean"] for size, told in REPORT["by_size"].items()} == {
        "broad": "macro",
        "narrow": "macro",
        "sparse": "micro",
        "zero": "macro",
    }


@pytest.mark.parametrize(
    ("size", "precision", "recall", "f1", "rate"),
    [
        ("broad", 3 / 4, 3 / 4, 3 / 4, 1 / 2),
        ("narrow", 2 / 3, 2 / 3, 2 / 3, 1 / 2),
        ("sparse", 0.0, 0.0, 0.0, 0.0),
        ("zero", 0.0, 0.0, 0.0, (2 / 6 + 0) / 2),
    ],
)
def test_the_columns_of_table_6(size: str, precision: float, recall: float, f1: float, rate: float):
    """Of two zero-result questions the one with patients named has a precision of 0, the other none."""
    told = REPORT["by_size"][size]
    values = [told[one.name]["value"] for one in (PRECISION, RECALL, F1, FALSE_POSITIVE_RATE)]
    assert values == pytest.approx([precision, recall, f1, rate])


def test_the_spread_is_over_questions():
    """FPR of the two zero-result questions 1/3 and 0: 1/6 times the root of 2. Of one question there is none."""
    assert REPORT["by_size"]["zero"]["false_positive_rate"]["spread"] == pytest.approx(2**0.5 / 6)
    assert REPORT["by_size"]["broad"]["f1"]["spread"] is None


def test_what_was_answered_is_told_apart():
    """Of the zero-result questions one was answered: its rate stands alone."""
    told = REPORT["by_size"]["zero"]["answered_only"]
    assert (told["ids"], told["false_positive_rate"]["value"]) == (["41"], pytest.approx(1 / 3))
    assert REPORT["by_size"]["zero"]["questions"] == 2


def test_oracle_top_k_cuts_the_ranking():
    """58: a, b, e, c of four wanted: 3/4. 113: a, b, d (f is ambiguous): 2/3. 107: b stands before a: 0."""
    top = {size: told["oracle_top_k"]["f1"]["value"] for size, told in REPORT["by_size"].items()}
    assert top == {"broad": pytest.approx(3 / 4), "narrow": pytest.approx(2 / 3), "sparse": 0.0, "zero": None}


def test_the_micro_mean_of_all_questions():
    """tp 3 + 2, fp 1 + 1 + 2, fn 1 + 1 + 1: precision 5/9, recall 5/8, F1 10/17; the ambiguous pair is in none."""
    told = REPORT["all"]
    assert (told["tp"], told["fp"], told["fn"], told["tn"]) == (5, 4, 3, 17)
    assert [told[name]["value"] for name in ("precision", "recall", "f1")] == pytest.approx([5 / 9, 5 / 8, 10 / 17])


def test_complexity_is_the_bank_s():
    """58 is base, 113, 41 and 65 are low, 107 is medium; hard has none and so no value."""
    assert {name: told["ids"] for name, told in REPORT["by_complexity"].items()} == {
        "base": ["58"],
        "low": ["41", "65", "113"],
        "medium": ["107"],
        "hard": [],
    }
    assert REPORT["by_complexity"]["hard"]["f1"]["value"] is None


def test_complexity_is_told_by_the_macro_mean():
    """Low: 113 has an F1 of 2/3, 41 of 0, 65 none: macro 1/3; micro 4 of 4 + 3 + 1 = 1/2."""
    told = REPORT["by_complexity"]["low"]
    assert told["mean"] == "macro"
    assert (told["f1"]["value"], told["f1"]["micro"]) == pytest.approx((1 / 3, 1 / 2))


def test_groups_by_documents_score_their_patients():
    """e and f (top third): 58 names e, 41 names both, nobody is wanted: F1 0. a and b: 4 of 5 found, none wrongly."""
    told = REPORT["by_documents"]
    assert [(one["low"], one["high"], one["patients"]) for one in told.values()] == [(0, 3, 2), (3, 5, 2), (5, None, 2)]
    assert (told["top third"]["tp"], told["top third"]["fp"], told["top third"]["fn"]) == (0, 3, 0)
    assert told["top third"]["f1"]["value"] == 0.0
    assert told["bottom third"]["f1"]["value"] == pytest.approx(8 / 9)
    assert sum(one["tp"] for one in told.values()) == REPORT["all"]["tp"]


def test_hallucination_by_question():
    """Figure 4: 1 of 4, 1 of 3, 0 of 1; figure 5: 2 for the question that was answered, and the other is marked."""
    told = REPORT["hallucination"]
    points = {one["id"]: (one["gold"], one["ratio"]) for one in told["ratios"]}
    assert points == {"58": (4, 1 / 4), "107": (1, 0.0), "113": (3, pytest.approx(1 / 3))}
    assert told["zero_result"] == [
        {"id": "41", "false_positives": 2, "answered": True},
        {"id": "65", "false_positives": 0, "answered": False},
    ]
    assert told["macro_ratio"] == pytest.approx((1 / 4 + 1 / 3) / 3)
    assert told["micro_ratio"] == pytest.approx(2 / 8)
    assert (told["zero_result_questions"], told["zero_result_answered"]) == (2, 1)
    assert (told["zero_result_with_false_positives"], told["zero_result_false_positives"]) == (1, 2)


def test_outcomes_are_counted():
    """Four answered, one of them not for every patient; one declined, with its reason."""
    told = REPORT["outcomes"]
    assert [told[name] for name in ("questions", "answered", "abstained", "failed", "missing")] == [5, 4, 1, 0, 0]
    assert told["answered_in_part"] == 1
    assert told["failed_patients"] == {"timeout": 1}
    assert told["unanswered"] == [{"id": "65", "outcome": "abstained", "reason": "not understood"}]
    assert REPORT["coverage"] == pytest.approx(4 / 5)


def test_a_question_that_was_never_asked_is_missing():
    """A run that was broken off: not answered, not failed, and scored as empty."""
    told = scored({id_: one for id_, one in ANSWERS.items() if id_ != "58"}).as_dict()
    assert (told["outcomes"]["missing"], told["outcomes"]["failed"]) == (1, 0)
    assert told["by_size"]["broad"]["f1"]["value"] == 0.0
    assert told["by_size"]["broad"]["answered_only"]["f1"]["value"] is None


def test_to_fail_is_no_merit():
    """A question that failed for a patient is not answered in part, and its ratio of 0 is in no mean."""
    failed = Answer("58", outcome=Outcome.FAILED, failures=(Failure("a", "refusal"),))
    told = scored({**ANSWERS, "58": failed}).as_dict()
    assert (told["outcomes"]["failed"], told["outcomes"]["answered_in_part"]) == (1, 1)
    assert told["outcomes"]["failed_patients"] == {"refusal": 1, "timeout": 1}
    points = {one["id"]: (one["ratio"], one["answered"]) for one in told["hallucination"]["ratios"]}
    assert points["58"] == (0.0, False)
    assert told["hallucination"]["macro_ratio"] == pytest.approx((1 / 3 + 0) / 2)


def test_costs_are_summed_and_averaged():
    """1 + 3 + 0.5 seconds over five questions, 0.4 dollars over the 15 patients who were ranked (6 + 4 + 2 + 2) or on
    whom the system failed; ten were named."""
    told = REPORT["cost"]
    assert (told["questions"], told["total"]["requests"]) == (5, 6)
    assert told["total"]["seconds"] == pytest.approx(4.5)
    assert told["mean"]["seconds"] == pytest.approx(0.9)
    assert (told["median_seconds"], told["slowest_seconds"]) == pytest.approx((0.5, 3.0))
    assert told["retrieved_patients"] == 10
    assert told["considered_patients"] == 15
    assert told["dollars_per_considered_patient"] == pytest.approx(0.4 / 15)


def test_patients_without_labels_and_unknown_ones_are_counted():
    """z has no labels, f is not held."""
    assert REPORT["patients"] == {"labelled": 6, "not_held": 1, "unlabelled": 1}


def test_paraphrases_are_scored_for_consistency_alone():
    """They change no quality and no coverage; what they cost is told apart."""
    phrase = next(one for one in load_paraphrases() if one.of == 58)
    answer = Answer(phrase.id, (Ranked("z", 1.0),), 1, spent=Spent(seconds=7.0))
    told = scored({**ANSWERS, phrase.id: answer}, [*QUESTIONS, phrase.question]).as_dict()
    assert told["all"] == REPORT["all"]
    assert told["outcomes"] == REPORT["outcomes"]
    assert told["cost"] == REPORT["cost"]
    assert told["cost_of_paraphrases"]["total"]["seconds"] == 7.0
    assert told["consistency"]["paraphrase"]["violated"] == 1
    assert REPORT["consistency"]["paraphrase"]["checked"] == 0


def test_consistency_is_taken_of_the_answers():
    """113 names d and f, whom 58 does not name: one pair of table 3 is violated; 107 names nobody."""
    pairs = {(one["first"], one["second"]): one for one in REPORT["consistency"]["intersection"]["pairs"]}
    assert pairs["113", "58"]["patients_only_first"] == ["d", "f"]
    assert pairs["113", "58"]["table"] == 3
    assert pairs["107", "58"]["status"] == "consistent"
    assert pairs["105", "58"]["status"] == "missing"


def test_the_interval_of_all_questions_is_the_bootstrap_over_patients():
    """The same draws as the interval of summed counts of each patient."""
    by_patient = [Counts(*map(int, one)) for one in SCORES.grades.cohorts.sum(axis=1)]
    assert tuple(REPORT["all"]["f1"]["ci"]) == pytest.approx(interval(F1, by_patient, resamples=200))


def test_the_difference_of_two_systems():
    """One that finds everybody, and the one above: 1 - 10/17, drawn with the same patients."""
    best = scored({str(of): found(of, who, len(who)) for of, who in GOLD.items()})
    told = difference(best, SCORES)
    assert (told.first, told.second, told.difference) == pytest.approx((1.0, 10 / 17, 7 / 17))
    sides = [[Counts(*map(int, one)) for one in side.grades.cohorts.sum(axis=1)] for side in (best, SCORES)]
    assert told.ci == pytest.approx(paired_interval(F1, *sides, resamples=200))
    assert difference(SCORES, SCORES, "size/broad").ci == (0.0, 0.0)
    assert difference(best, SCORES, "complexity/hard").difference is None
    assert difference(best, SCORES, "size/broad", top=True).difference == pytest.approx(1 / 4)


def test_systems_that_were_asked_other_things_are_not_compared():
    """A question less."""
    with pytest.raises(ValueError, match="same questions"):
        difference(SCORES, scored(questions=QUESTIONS[1:]))


def test_oracle_top_k_is_of_all_patients():
    """Within a group of patients the size of the gold cohort is another."""
    with pytest.raises(ValueError, match="whole cohort"):
        SCORES.quality("documents/top third", top=True)
    with pytest.raises(KeyError):
        SCORES.quality("size/huge")


def test_nothing_at_all_can_be_scored():
    """No questions: no values, and no division by zero."""
    told = scored({}, []).as_dict()
    assert told["all"]["f1"]["value"] is None
    assert told["coverage"] is None
    assert told["cost"]["mean"]["seconds"] is None
    assert told["hallucination"]["macro_ratio"] is None


def test_the_report_is_json_and_the_same_each_time():
    """Also when the answers come in another order."""
    again = scored(dict(reversed(ANSWERS.items()))).as_dict()
    assert json.dumps(REPORT, allow_nan=False) == json.dumps(again, allow_nan=False)
