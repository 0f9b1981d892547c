"""Learning curves: parts lie in one another, answers are kept as tables, what is scored is never learned from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks.learning.curve import Curve, Point, nested, tags_of
from cohortium.eval.extraction.corpora.assembling import of_tokens
from cohortium.eval.extraction.corpora.corpus import AnnotatedCorpus, AnnotatedDocument, LabelledSpan
from cohortium.eval.extraction.ner.documents import Corpus, Document
from cohortium.eval.extraction.ner.tagging import Entity, entities_of_tags
from cohortium.eval.extraction.ner.terminology import no_terminology
from cohortium.eval.training.few.guideline import Dictionary
from cohortium.eval.training.few.resources import Answers
from cohortium.kb.errors import UsageError

NAMES = ["migraine", "stroke", "epilepsy", "ataxia", "dementia", "neuritis", "chorea", "dystonia"]


def trial(number: int) -> tuple[list[str], list[str]]:
    """Tokens and tags of a fictional trial; no two are alike."""
    code = "".join("abcdefghij"[int(digit)] * 3 for digit in f"{number:03}")
    tokens = [f"Study{code}", "of", " ", "severe", NAMES[number % 8], "in", f"city{code}", f"by{code[::-1]}", "."]
    return tokens, ["O", "O", "O", "B-CONDITION", "I-CONDITION", "O", "O", "O", "O"]


TRAIN = AnnotatedCorpus("trials", tuple(of_tokens(f"t{n:03}", *trial(n)) for n in range(64)))


def answered() -> Corpus:
    """Trials that no one learns from; the last has a name that none of the others has."""
    found = Corpus()
    for number in range(100, 109):
        tokens, tags = trial(number)
        if number == 108:
            tokens[4] = "narcolepsy"
        gold: Sequence[Entity] = entities_of_tags(tags, tokens, "", as_written=True)
        found.documents[f"NCT{number}"] = Document(f"NCT{number}", tuple(tokens), tuple(tags), "", tuple(gold))
    return found


class Rote:
    """Learns a dictionary, and notes what it was given."""

    def __init__(self) -> None:
        self.asked: list[tuple[set[str], set[str]]] = []

    @property
    def signature(self) -> Mapping[str, Any]:
        return {"name": "rote"}

    def learn(
        self,
        train: tuple[AnnotatedDocument, ...],
        development: tuple[AnnotatedDocument, ...],
        seed: int,
        work: Path,
    ) -> Answers:
        self.asked.append(({one.id for one in train}, {one.id for one in development}))
        known = Dictionary.from_documents(train)
        return lambda documents: [known(one) for one in documents]


def test_smaller_parts_lie_in_larger_ones() -> None:
    """Each share has its number of abstracts; all of them are the corpus; another seed draws others."""
    parts = nested(TRAIN, [1.0, 0.125, 0.5], 0)
    assert {share: len(part) for share, part in parts.items()} == {0.125: 8, 0.5: 32, 1.0: 64}
    ids = [{one.id for one in part.documents} for part in parts.values()]
    assert ids[0] < ids[1] < ids[2]
    assert parts[1.0] == TRAIN
    assert nested(TRAIN, [0.125], 1)[0.125] != nested(TRAIN, [0.125], 0)[0.125]


@pytest.mark.parametrize("shares", [[], [0.0], [1.5], [0.01]])
def test_shares_that_mean_nothing_are_refused(shares: list[float]) -> None:
    """No share, none above nothing, more than all, fewer than two abstracts."""
    with pytest.raises(UsageError):
        nested(TRAIN, shares, 0)


def test_tags_of_spans_in_tokens() -> None:
    """A blank inside an entity is inside; one before it is not; a span that touches no word says nothing."""
    document = Document("x", ("a", " ", "b", " ", "c"), (), "", ())
    shaped = of_tokens("x", document.tokens, ())
    spans = [LabelledSpan(shaped.words[1][0], shaped.words[2][1], "DRUG"), LabelledSpan(1, 2, "CONDITION")]
    assert tags_of(document, shaped, spans) == ["O", "O", "B-DRUG", "I-DRUG", "I-DRUG"]


def test_points_are_trained_once_and_scored(tmp_path: Path) -> None:
    """By rote all names but the unknown one are found; a second run trains nothing; a damaged note is trained again."""
    learner = Rote()
    curve = Curve(TRAIN, answered(), no_terminology(), learner, tmp_path)
    points = [Point(0.25, 0), Point(1.0, 0)]
    rows = curve.run(points)
    assert [row["abstracts"] for row in rows] == [16, 64]
    assert rows[1]["exact"]["by_type"]["CONDITION"]["recall"] == pytest.approx(8 / 9)
    assert rows[1]["token"]["by_type"]["CONDITION"]["precision"] == 1.0
    for learned, development in learner.asked:
        assert not learned & development
        assert all(id.startswith("t") for id in learned | development)
    assert [len(learned) + len(development) for learned, development in learner.asked] == [16, 64]
    assert curve.run(points) == rows
    assert len(learner.asked) == 2
    (tmp_path / "share-1-seed-0.json").write_text("[]", encoding="utf-8")
    curve.run(points)
    assert len(learner.asked) == 3
