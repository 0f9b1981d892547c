"""Retrievers as systems: a ranking with the cohort at its head, quotes that hold, failures that are told."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from cohortium.eval.baselines.retrieval.chunks import split
from cohortium.eval.baselines.retrieval.encoders import Vectors
from cohortium.eval.baselines.retrieval.grouping import Cut
from cohortium.eval.baselines.retrieval.nearest import Hits, IndexSettings
from cohortium.eval.baselines.retrieval.retriever import Retriever, dense, lexical
from cohortium.eval.baselines.systems.contract import Outcome, Question
from cohortium.kb.errors import UsageError
from tests.eval.baselines.fictional import corpus
from tests.eval.baselines.hashed_encoder import HashedEncoder


class Matching:
    """A search without any library: shared words."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.rows = HashedEncoder(512).encode(list(texts))

    def search(self, texts: Sequence[str], depth: int | None = None) -> list[Hits]:
        """All chunks."""
        asked = HashedEncoder(512).encode(texts, asked=True)
        return [Hits.sorted(np.arange(len(self.rows)), self.rows @ row) for row in asked]

    def signature(self) -> dict[str, str]:
        """Its name."""
        return {"search": "matching"}


def made(cut: Cut) -> Retriever:
    """Over the fictional corpus."""
    chunks = split(corpus(), HashedEncoder())
    return Retriever("matching", chunks, Matching(tuple(chunks.texts())), cut)


BREAST = Question("1", "breast carcinoma triple negative", of=1)


def test_the_ranking_goes_on_behind_the_cohort() -> None:
    """Everyone with a chunk is ranked; the cohort are those of the nearest chunks."""
    answer = made(Cut(chunks=2)).answer(BREAST)
    assert answer.cohort == {"D"}
    assert {one.patient_id for one in answer.ranking} == {"A", "B", "C", "D"}
    assert [one.score for one in answer.ranking] == sorted((one.score for one in answer.ranking), reverse=True)
    assert answer.outcome is Outcome.ANSWERED
    assert answer.spent.seconds > 0
    assert "E" in made(Cut(chunks=2)).patients


def test_patients_that_tie_stand_by_id() -> None:
    """A question that shares no word with any note ranks all alike."""
    answer = made(Cut(chunks=3)).answer(Question("2", "zzzz"))
    assert [one.patient_id for one in answer.ranking] == ["A", "B", "C", "D"]
    assert answer.cohort == {"A", "B"}


def test_quotes_point_at_the_best_chunks() -> None:
    """The first quote of the best patient is a note that says the question."""
    best = made(Cut(chunks=1)).answer(BREAST).ranking[0]
    note = {one.doc_id: one.text for one in corpus().notes}[best.quotes[0].doc_id]
    assert note[best.quotes[0].start : best.quotes[0].end] == BREAST.text


def test_answers_are_equal_from_run_to_run() -> None:
    """Same corpus, same question, same ranking."""
    one, two = (made(Cut(threshold=0.1)).answer(BREAST) for _ in range(2))
    assert one.ranking == two.ranking
    assert one.size == two.size


def test_passages_are_those_of_the_cohort() -> None:
    """Each retrieved patient in the order of the ranking, with the best passages first, and at most so many."""
    retriever = made(Cut(chunks=5))
    answer = retriever.answer(BREAST)
    found = retriever.passages(BREAST, 2)
    assert [one.patient_id for one in found] == [one.patient_id for one in answer.ranking[: answer.size]]
    assert [one.score for one in found] == [one.score for one in answer.ranking[: answer.size]]
    texts = {note.doc_id: note.text for note in corpus().notes}
    for one in found:
        assert 1 <= len(one.passages) <= 2
        assert [p.score for p in one.passages] == sorted((p.score for p in one.passages), reverse=True)
        assert all(texts[p.quote.doc_id][p.quote.start : p.quote.end] == p.text for p in one.passages)
        assert all(p.quote.doc_id.startswith(one.patient_id) for p in one.passages)
    assert retriever.passages(Question("3", " "), 2) == ()


def test_a_question_without_words_is_abstained_from() -> None:
    """No ranking, no cohort, and the reason."""
    answer = made(Cut(chunks=3)).answer(Question("4", " \n"))
    assert (answer.outcome, answer.size, answer.ranking) == (Outcome.ABSTAINED, 0, ())
    assert answer.reason


class Broken(Matching):
    """An encoder whose connection is gone."""

    def search(self, texts: Sequence[str], depth: int | None = None) -> list[Hits]:
        """Always an error that holds the question."""
        raise ConnectionError(f"could not send {texts[0]}")


def test_a_search_that_fails_makes_a_failed_answer() -> None:
    """It is told, without the words that went wrong, and nobody is retrieved."""
    retriever = made(Cut(chunks=3))
    answer = Retriever("broken", retriever.chunks, Broken(["x"])).answer(BREAST)
    assert answer.outcome is Outcome.FAILED
    assert "ConnectionError" in answer.reason
    assert "carcinoma" not in answer.reason


def test_the_signature_names_all_that_the_answers_hang_on() -> None:
    """Corpus, chunks, search, cut; another cut is another signature."""
    told = made(Cut(chunks=3)).signature()
    assert told["chunks"]["corpus_sha256"] == corpus().sha256
    assert told["search"] == {"search": "matching"}
    assert told["cut"]["chunks"] == 3
    assert told != made(Cut(chunks=4)).signature()
    tuned = made(Cut(chunks=3)).with_cut(Cut(share=0.5), {"f1": 1.0})
    assert tuned.signature()["tuned"] == {"f1": 1.0}


@pytest.mark.parametrize("kind", ["flat", "ivf", "hnsw"])
def test_a_dense_retriever_from_notes_to_answer(tmp_path: Path, kind: str) -> None:
    """Cut, encoded, kept, indexed, asked; a second build encodes nothing."""
    pytest.importorskip("faiss", reason="faiss is not installed: pip install 'cohortium[dense]'")
    encoder = HashedEncoder(512)
    chunks = split(corpus(), encoder)
    retriever = dense(chunks, encoder, tmp_path / "v", IndexSettings(kind), Cut(chunks=1))
    assert retriever.name == "dense-hashed" + ("" if kind == "flat" else f"-{kind}")
    assert retriever.answer(BREAST).cohort == {"D"}
    # Two notes of D are equal.
    assert (retriever.built.texts, retriever.built.encoded) == (9, 8) if retriever.built else False
    again = dense(chunks, encoder, tmp_path / "v", IndexSettings(kind), Cut(chunks=1))
    assert again.built is not None
    assert again.built.encoded == 0
    assert again.answer(BREAST).ranking == retriever.answer(BREAST).ranking
    cost = retriever.cost()
    assert (cost["chunks"], cost["different_chunks"], cost["index"]) == (9, 8, kind)
    assert cost["bytes_a_chunk"] * 9 == pytest.approx(cost["index_bytes"])
    assert cost["bytes_a_chunk"] >= 512 * 4


def test_bm25_ranks_by_shared_words() -> None:
    """Who shares no word is not ranked; equal notes tie, and patients that tie stand by id."""
    pytest.importorskip("bm25s", reason="bm25s is not installed: pip install 'cohortium[bench]'")
    retriever = lexical(split(corpus(), HashedEncoder()), Cut(chunks=1))
    assert retriever.name == "bm25"
    answer = retriever.answer(Question("5", "Osimertinib, zzzz?"))
    assert [one.patient_id for one in answer.ranking] == ["B"]
    assert answer.cohort == {"B"}
    begun = retriever.with_cut(Cut(chunks=9)).answer(Question("6", "begun"))
    assert {one.patient_id for one in begun.ranking} == {"A", "B"}
    nothing = retriever.answer(Question("7", "zzzz"))
    assert (nothing.outcome, nothing.ranking) == (Outcome.ANSWERED, ())


def test_bm25_over_nothing_finds_nothing() -> None:
    """A corpus of blank notes has no words."""
    pytest.importorskip("bm25s", reason="bm25s is not installed: pip install 'cohortium[bench]'")
    retriever = lexical(split(corpus({"A": [" "]}), HashedEncoder()), Cut(chunks=1))
    assert retriever.answer(BREAST).ranking == ()


def test_a_missing_library_is_named_with_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No traceback: what to install."""
    monkeypatch.setitem(sys.modules, "faiss", None)
    monkeypatch.setitem(sys.modules, "bm25s", None)
    chunks = split(corpus(), HashedEncoder())
    with pytest.raises(UsageError, match=r"cohortium\[dense\]"):
        dense(chunks, HashedEncoder(), tmp_path / "v")
    with pytest.raises(UsageError, match=r"cohortium\[bench\]"):
        lexical(chunks)


def test_an_encoder_that_fails_while_building_is_not_hidden(tmp_path: Path) -> None:
    """Building may raise; only answering must not."""

    class Failing(HashedEncoder):
        def encode(self, texts: Sequence[str], *, asked: bool = False) -> Vectors:
            raise RuntimeError("out of memory")

    with pytest.raises(RuntimeError):
        dense(split(corpus(), Failing()), Failing(), tmp_path / "v")
