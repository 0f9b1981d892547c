"""The contract between a system and the benchmark: a question goes in, a ranking with a cohort at its head comes out.

A system that fails says so. What failed is counted as failed, never scored as if it had been answered; what was
answered before the failure is kept.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: in plain English (``text``), and, where there is one, as a formal ``query``.

    ``id`` is unique in a run. ``of`` is the id of the query of the bank whose labels hold for it, None if it has none.
    """

    id: str
    text: str
    query: str = ""
    of: int | None = None


@dataclass(frozen=True, slots=True)
class Quote:
    """A place in a note that an answer rests on: characters ``start`` to ``end`` of the text of ``doc_id``."""

    doc_id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Ranked:
    """A patient in a ranking; a higher ``score`` is better, on the system's own scale."""

    patient_id: str
    score: float
    quotes: tuple[Quote, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """Why a system did or did not name a patient: places in notes, and lines of reasons without any text of a note."""

    quotes: tuple[Quote, ...] = ()
    reasons: tuple[str, ...] = ()


class Outcome(enum.StrEnum):
    """How a question ended: with an answer, declined, or not at all."""

    ANSWERED = "answered"
    ABSTAINED = "abstained"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong for one patient of a question: ``kind`` is a word (``timeout``, ``refusal``, ``rate_limit``,
    ``nonsense``, ``budget``, ``connection``), ``reason`` a sentence without any text of a note."""

    patient_id: str
    kind: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Spent:
    """What an answer cost: seconds on the clock, requests (of them retries, and answers taken from the cache), tokens
    sent and received, and money in US dollars where prices are known."""

    seconds: float = 0.0
    requests: int = 0
    retries: int = 0
    cached: int = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0
    dollars: float = 0.0

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            self.seconds + other.seconds,
            self.requests + other.requests,
            self.retries + other.retries,
            self.cached + other.cached,
            self.prompt_tokens + other.prompt_tokens,
            self.answer_tokens + other.answer_tokens,
            self.dollars + other.dollars,
        )


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one question: ``ranking`` holds each patient once, best first; its first ``size`` are the cohort.

    What stands behind the cohort in the ranking is not retrieved; it matters for *oracle top-k* alone, where the size
    of the gold cohort is given. An answer that was abstained from or failed has an empty cohort, and ``reason`` says
    why. An answered question may still hold ``failures`` of single patients: not in the cohort, and counted.
    """

    question_id: str
    ranking: tuple[Ranked, ...] = ()
    size: int = 0
    outcome: Outcome = Outcome.ANSWERED
    reason: str = ""
    failures: tuple[Failure, ...] = ()
    spent: Spent = field(default_factory=Spent)

    def __post_init__(self) -> None:
        if not 0 <= self.size <= len(self.ranking):
            raise ValueError(f"a cohort of {self.size} patients is not the head of a ranking of {len(self.ranking)}")
        if self.outcome is not Outcome.ANSWERED and self.size:
            raise ValueError(f"an answer that was {self.outcome} has no cohort")
        if len({one.patient_id for one in self.ranking}) < len(self.ranking):
            raise ValueError("a ranking holds each patient once")

    @property
    def cohort(self) -> frozenset[str]:
        """The patients who were retrieved."""
        return frozenset(one.patient_id for one in self.ranking[: self.size])


class System(Protocol):
    """Anything that answers questions about one corpus, which it was made over."""

    @property
    def name(self) -> str:
        """How reports call it: short, unique in a run, without blanks."""

    @property
    def patients(self) -> Sequence[str]:
        """The ids of all patients whom it may name."""

    def answer(self, question: Question) -> Answer:
        """The answer; it never raises for what is wrong with a question, an endpoint or a reply (KeyboardInterrupt may
        pass): then the outcome says so."""

    def signature(self) -> Mapping[str, Any]:
        """Versions, settings, hashes of data and models, seed: what identifies the answers. No path of a machine."""


@runtime_checkable
class Explaining(Protocol):
    """A system that can tell afterwards what an answer rests on."""

    def evidence(self, question: Question, patient_id: str) -> Evidence:
        """What the answer to ``question`` rests on as far as this patient goes."""
