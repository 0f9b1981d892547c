"""Retriever-only: chunks near to the question, grouped by patient (Automatic Cohort Retrieval paper, section 3.4.1)."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ....kb.errors import CohortiumError
from ....kb.version import __version__
from ..reading.passages import Passage, PatientPassages
from ..systems.contract import Answer, Outcome, Question, Ranked, Spent
from .chunks import Chunks
from .encoders import Encoder
from .grouping import PAPER_SHARE, Cut, Grouped, group
from .kept_index import kept_index
from .lexical import LexicalSearch
from .nearest import DenseSearch, IndexSettings, Search
from .vectors import Filled, VectorStore

#: What is quoted of a patient in an answer.
QUOTES: Final = 3


class Retriever:
    """A system that answers with the patients whose chunks are nearest to the question.

    Every patient whom the search touched is ranked, by their best chunk (or the sum of their best: ``Cut.best_of``),
    ties by patient id; those whose chunks the cut leaves are the cohort.
    """

    def __init__(
        self,
        name: str,
        chunks: Chunks,
        search: Search,
        cut: Cut | None = None,
        *,
        tuned: Mapping[str, Any] | None = None,
        built: Filled | None = None,
    ) -> None:
        self._name = name
        self.chunks: Final = chunks
        self.search: Final = search
        self.cut: Final = cut or Cut(share=PAPER_SHARE)
        self.built: Final = built
        self._tuned = dict(tuned) if tuned else None

    @property
    def name(self) -> str:
        """As it was called."""
        return self._name

    @property
    def patients(self) -> Sequence[str]:
        """All patients of the corpus, with or without a chunk."""
        return self.chunks.corpus.patients

    def with_cut(self, cut: Cut, tuned: Mapping[str, Any] | None = None) -> Retriever:
        """The same retriever cut elsewhere; ``tuned`` tells in the signature how the cut was found."""
        return Retriever(self._name, self.chunks, self.search, cut, tuned=tuned, built=self.built)

    def answer(self, question: Question) -> Answer:
        """The ranking with the cohort at its head. A question without words is abstained from; an encoder that fails
        makes the answer a failed one."""
        began = time.perf_counter()
        if not question.text.strip():
            return Answer(question.id, outcome=Outcome.ABSTAINED, reason="the question has no words")
        try:
            grouped = self._grouped(question)
        except (CohortiumError, OSError, RuntimeError, ValueError, ArithmeticError) as error:
            reason = str(error) if isinstance(error, CohortiumError) else type(error).__name__
            spent = Spent(seconds=time.perf_counter() - began)
            return Answer(question.id, outcome=Outcome.FAILED, reason=f"the search failed: {reason}", spent=spent)
        ranking = tuple(
            Ranked(
                self.patients[int(patient)],
                float(score),
                tuple(self.chunks.items[int(one)].quote for one in chunks[:QUOTES]),
            )
            for patient, score, chunks in zip(grouped.patients, grouped.scores, grouped.chunks, strict=True)
        )
        return Answer(question.id, ranking, grouped.size, spent=Spent(seconds=time.perf_counter() - began))

    def passages(self, question: Question, per_patient: int) -> tuple[PatientPassages, ...]:
        """The retrieved patients with their best passages among the chunks that the search touched, best first.

        It raises what the encoder raises: a reader counts that as its own failure.
        """
        if not question.text.strip():
            return ()
        grouped = self._grouped(question)
        return tuple(
            PatientPassages(
                self.patients[int(grouped.patients[place])],
                float(grouped.scores[place]),
                tuple(
                    Passage(self.chunks.items[int(one)].quote, self.chunks.text(int(one)), float(score))
                    for one, score in zip(
                        grouped.chunks[place][:per_patient], grouped.chunk_scores[place][:per_patient], strict=True
                    )
                ),
            )
            for place in range(grouped.size)
        )

    def _grouped(self, question: Question) -> Grouped:
        (hits,) = self.search.search([question.text])
        return group(hits, self.chunks.patient_numbers, self.cut)

    def cost(self) -> Mapping[str, Any]:
        """What it took to make: chunks; of a dense one what was encoded now, and at what rate (None where all was kept
        from before), seconds and bytes of the index, bytes a chunk, bytes of the vectors on disk."""
        cost: dict[str, Any] = {"chunks": len(self.chunks)}
        if self.built is not None:
            cost |= {
                "different_chunks": self.built.different,
                "encoded": self.built.encoded,
                "encoding_seconds": self.built.seconds,
                "chunks_a_second": self.built.texts_a_second,
                "stored_bytes": self.built.bytes,
            }
        if isinstance(self.search, DenseSearch):
            index = self.search.index
            cost |= {
                "index": index.settings.kind,
                "index_seconds": index.seconds,
                "index_bytes": index.size_in_bytes,
                "bytes_a_chunk": index.size_in_bytes / index.size if index.size else None,
            }
        elif isinstance(self.search, LexicalSearch):
            cost["index_seconds"] = self.search.seconds
        return cost

    def signature(self) -> Mapping[str, Any]:
        """Corpus and chunks, encoder and index, the cut and how it was found."""
        return {
            "system": self._name,
            "cohortium": __version__,
            "chunks": dict(self.chunks.signature()),
            "search": dict(self.search.signature()),
            "cut": dict(self.cut.signature()),
            "tuned": self._tuned,
        }


def dense(
    chunks: Chunks,
    encoder: Encoder,
    folder: Path,
    settings: IndexSettings | None = None,
    cut: Cut | None = None,
    name: str = "",
) -> Retriever:
    """A dense retriever: what ``folder`` has no vector of is encoded (see :class:`VectorStore`), then indexed."""
    store = VectorStore(folder, encoder)
    built = store.fill(chunks.texts())
    index = kept_index(folder, store.take(chunks.texts()), settings)
    called = name or f"dense-{encoder.name}" + ("" if index.settings.kind == "flat" else f"-{index.settings.kind}")
    return Retriever(called, chunks, DenseSearch(encoder, index), cut, built=built)


def lexical(chunks: Chunks, cut: Cut | None = None, *, name: str = "bm25") -> Retriever:
    """The control: BM25 over the same chunks."""
    return Retriever(name, chunks, LexicalSearch(chunks.texts()), cut)
