"""The bank's English, paraphrases of it, and texts that must not be answered: the shares are floors that hold."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from cohortium.eval.bank.natural.questions import bank_questions, load_questions
from cohortium.eval.bank.natural.scores import DECLINED, RIGHT, SEVERAL, WRONG, Judged, judged
from cohortium.kb.errors import UsageError
from cohortium.kb.ontology.concepts import ConceptTable
from cohortium.kb.ontology.scales import Scales
from cohortium.query_lang.english.translate import Translation, translate

DATA = Path(__file__).parent / "data"
UNCLEAR = [
    one
    for name in ("unclear.json", "more_unclear.json", "further_unclear.json")
    for one in json.loads((DATA / name).read_text(encoding="utf-8"))
]
Ask = Callable[[str], Translation]
#: Records grown from each of two queries that are held against each other: fewer than in a measurement.
EACH = 60


def share(rows: list[Judged], verdict: str) -> float:
    """The share of the questions that came out so."""
    return sum(row.verdict == verdict for row in rows) / len(rows)


def test_the_bank_s_own_english_is_translated_to_what_it_means(concepts: ConceptTable, scales: Scales) -> None:
    """Of the bank's 114 questions at least 97% are right and none is wrong."""
    rows = judged(bank_questions(), concepts, scales, each=EACH)
    assert share(rows, RIGHT) >= 0.97
    assert [row.text for row in rows if row.verdict == WRONG] == []


def test_paraphrases_are_right_or_declined(concepts: ConceptTable, scales: Scales) -> None:
    """Of the 342 paraphrases for development at least 95% are right, and at most 1% are wrong."""
    rows = judged(load_questions(DATA / "paraphrases.json"), concepts, scales, each=EACH)
    assert share(rows, RIGHT) >= 0.95
    assert share(rows, WRONG) <= 0.01
    assert share(rows, DECLINED) + share(rows, SEVERAL) <= 0.05


def test_more_paraphrases_are_right_or_declined(concepts: ConceptTable, scales: Scales) -> None:
    """Of 334 more, terser and looser ones, at least 94% are right and at most 1.5% are wrong."""
    rows = judged(load_questions(DATA / "more_paraphrases.json"), concepts, scales, each=EACH)
    assert share(rows, RIGHT) >= 0.94
    assert share(rows, WRONG) <= 0.015


def test_further_paraphrases_are_right_or_declined(concepts: ConceptTable, scales: Scales) -> None:
    """Of 342 by other writers, seen since, at least 95% are right and at most 1% are wrong."""
    rows = judged(load_questions(DATA / "further_paraphrases.json"), concepts, scales, each=EACH)
    assert share(rows, RIGHT) >= 0.95
    assert share(rows, WRONG) <= 0.01


@pytest.mark.parametrize(
    ("name", "right", "wrong"), [("usual_paraphrases.json", 0.87, 0.03), ("free_paraphrases.json", 0.6, 0.05)]
)
def test_two_more_sets_of_paraphrases(
    name: str, right: float, wrong: float, concepts: ConceptTable, scales: Scales
) -> None:
    """228 each, by two other writers, seen since: one in the usual clinical names, one in very free words."""
    rows = judged(load_questions(DATA / name), concepts, scales, each=EACH)
    assert share(rows, RIGHT) >= right
    assert share(rows, WRONG) <= wrong


@pytest.mark.parametrize(("kind", "least", "most"), [("clear", 0.47, 1), ("hurried", 0.22, 1), ("unclear", 0, 0.04)])
def test_strangers_questions(kind: str, least: float, most: float, ask: Ask) -> None:
    """1,000 questions by writers who knew neither bank nor translator, seen since: what share is answered."""
    asked = [one for one in json.loads((DATA / "strangers.json").read_text(encoding="utf-8")) if one["kind"] == kind]
    share_answered = sum(not ask(one["text"]).abstained for one in asked) / len(asked)
    assert least <= share_answered <= most


@pytest.mark.parametrize("unclear", UNCLEAR, ids=lambda one: one["text"][:40])
def test_no_unclear_text_is_answered(unclear: dict[str, str], ask: Ask) -> None:
    """A text that is vague, half said, contradictory or no question for patients is declined, or its readings given."""
    answer = ask(unclear["text"])
    assert answer.abstained
    assert answer.reason


def test_every_readable_question_of_one_meaning_has_one_query(concepts: ConceptTable, scales: Scales) -> None:
    """Paraphrases of one bank query that are told apart by the judge would be a wrong answer somewhere."""
    texts = ["EGFR ex19del NSCLC", "NSCLC with an exon 19 deletion in EGFR", "non-small cell lung cancer, EGFR del19"]
    queries = {translate(text, concepts, scales).text for text in texts}
    assert len(queries) == 1
    assert "" not in queries


def test_a_file_of_questions_is_checked(tmp_path: Path) -> None:
    """A question without text, or of a query that the bank does not have, is an error that names its place."""
    path = tmp_path / "questions.json"
    path.write_text('[{"id": "a", "of": 57, "text": "lung cancer"}, {"id": "b", "of": 999, "text": "x"}]')
    with pytest.raises(UsageError, match="question 2"):
        load_questions(path)
