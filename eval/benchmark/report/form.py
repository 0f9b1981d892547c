"""The form of a benchmark report in JSON, as its tables and its page read it; whatever is missing is left out of them.

::

    {"signature": {…},
     "corpus": {"patients": n, "notes": n, …}, "bounds": {"alpha": n, "beta": n},
     "systems": [{"name", "kind": "engine" | "retriever" | "reader" | "control",
                  "scores": SystemScores.as_dict(), "index": {…}}],
     "questions": [{"id", "of", "text", "query", "gold": n, "complexity", "size"}],
     "errors": [{"system", "question", "patient", "kind": "fp" | "fn" | "failed",
                 "quotes": [{"doc_id", "start", "end"}], "reasons": [text]}],
     "differences": [{"first", "second", "f1": {stratum: Difference.as_dict()}}],
     "texts": {patient: {doc_id: text}}}    (or {doc_id: text} where no two patients share an id)

Shares are between 0 and 1, times in seconds, money in US dollars.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ....kb.errors import UsageError
from ...baselines.systems.contract import Spent


class _Form(BaseModel):
    """Frozen; what a later version adds is passed over."""

    model_config = ConfigDict(frozen=True, extra="ignore", coerce_numbers_to_str=True)


class Estimate(_Form):
    """A measure: its value (None where it is undefined), its 95% interval, its spread over the questions."""

    value: float | None = None
    ci: tuple[float, float] | None = None
    spread: float | None = None

    @model_validator(mode="before")
    @classmethod
    def _bare(cls, given: Any) -> Any:
        """A bare number is a value alone."""
        return given if isinstance(given, Mapping) else {"value": given}


class Part(_Form):
    """Measures of a class of questions, or of all; ``oracle_top_k``: of as many patients as the gold cohort has;
    ``answered_only``: over the questions that were answered.

    ``low`` and ``high`` (excluded; None: no bound) are the documents that a patient of the class has.
    """

    questions: int = 0
    mean: str | None = None
    precision: Estimate = Estimate()
    recall: Estimate = Estimate()
    f1: Estimate = Estimate()
    false_positive_rate: Estimate = Estimate()
    hallucination_ratio: Estimate = Estimate()
    patients: int | None = None
    fp: int | None = None
    fn: int | None = None
    low: int | None = None
    high: int | None = None
    oracle_top_k: Part | None = None
    answered_only: Part | None = None


class ConsistencyCheck(_Form):
    """Two questions whose answers must agree: ``first`` within ``second``, or, of paraphrases, equal to it.

    ``only_first`` are in the first answer and not in the second. ``table``: that of the paper which shows the pair.
    """

    first: str
    second: str
    first_size: int | None = None
    second_size: int | None = None
    only_first: int | None = None
    only_second: int | None = None
    status: str = ""
    kind: str = ""
    table: int | None = None


class ConsistencyPart(_Form):
    """One kind of check: pairs by how they came out; ``of_empty_sets`` hold of nobody, which shows little."""

    expected: int = 0
    checked: int = 0
    consistent: int = 0
    of_empty_sets: int = 0
    violated: int = 0
    abstained: int = 0
    failed: int = 0
    missing: int = 0
    patients_contradicting: int = 0
    pairs: tuple[ConsistencyCheck, ...] = ()


class RatioOf(_Form):
    """A question that somebody matches: the size of its gold cohort (and its class), the ``ratio`` of false positives
    for each of them; a point of figure 4."""

    id: str
    size: str = ""
    gold: int
    false_positives: int = 0
    ratio: float
    answered: bool = True


class ZeroResultOf(_Form):
    """A question that nobody matches, and how many its answer names; a bar of figure 5."""

    id: str
    false_positives: int
    answered: bool = True


class HallucinationOf(_Form):
    """The points of the paper's Figures 4 and 5. What was not answered has no false positives, which is no merit: it is
    marked, and the sums speak of the answered questions."""

    macro_ratio: float | None = None
    micro_ratio: float | None = None
    zero_result_questions: int = 0
    zero_result_answered: int = 0
    zero_result_with_false_positives: int = 0
    zero_result_false_positives: int = 0
    ratios: tuple[RatioOf, ...] = ()
    zero_result: tuple[ZeroResultOf, ...] = ()


class QuestionScore(_Form):
    """The counts of one question, and how it ended."""

    id: str
    outcome: str = "answered"
    reason: str = ""
    tp: int = 0
    fp: int = 0
    fn: int = 0
    failed_patients: int = 0


class UnansweredOf(_Form):
    """A question without an answer, how it ended, and why."""

    id: str
    outcome: str
    reason: str = ""


class OutcomeCounts(_Form):
    """Questions by how they ended (``missing``: never asked; ``answered_in_part``: not for all patients), and the pairs
    of question and patient on which an answer failed, by kind. ``coverage``: the share that was answered."""

    questions: int = 0
    answered: int = 0
    abstained: int = 0
    failed: int = 0
    missing: int = 0
    answered_in_part: int = 0
    coverage: float | None = None
    failed_patients: Mapping[str, int] = Field(default_factory=dict)
    unanswered: tuple[UnansweredOf, ...] = ()


class CostOf(_Form):
    """What the questions took in all (those that failed, too) and on average, seconds of the median and of the slowest
    one, patients in all cohorts, and patients whom the system considered: ranked or failed on; of a reader all whom its
    retriever retrieved, for each of whom section 4.2.5 of the paper tells its dollars."""

    questions: int = 0
    total: Spent = Spent()
    mean: Mapping[str, float | None] = Field(default_factory=dict)
    median_seconds: float | None = None
    slowest_seconds: float | None = None
    retrieved_patients: int | None = None
    considered_patients: int | None = None
    dollars_per_considered_patient: float | None = None


class Scores(_Form):
    """The scores of one system (``SystemScores.as_dict()``)."""

    by_size: Mapping[str, Part] = Field(default_factory=dict)
    by_complexity: Mapping[str, Part] = Field(default_factory=dict)
    by_documents: Mapping[str, Part] = Field(default_factory=dict)
    all: Part | None = None
    hallucination: HallucinationOf = HallucinationOf()
    consistency: Mapping[str, ConsistencyPart] | None = None
    outcomes: OutcomeCounts | None = None
    cost: CostOf | None = None
    questions: tuple[QuestionScore, ...] = ()
    signature: Mapping[str, Any] = Field(default_factory=dict)


class SystemReport(_Form):
    """A system with its scores, and what its index is."""

    name: str
    kind: str = ""
    scores: Scores = Scores()
    index: Mapping[str, Any] = Field(default_factory=dict)


class DifferenceOf(_Form):
    """A measure of two systems over the same draws of patients: first less second, with its 95% interval."""

    first: float | None = None
    second: float | None = None
    difference: float | None = None
    ci: tuple[float, float] | None = None


class Differences(_Form):
    """How far the F1 of one system is ahead of another's, by stratum (``all``, ``size/broad`` …)."""

    first: str
    second: str
    f1: Mapping[str, DifferenceOf] = Field(default_factory=dict)


class QuestionAsked(_Form):
    """A question of the run; ``of`` is its id in the bank, ``gold`` the size of its cohort."""

    id: str
    of: int | None = None
    text: str = ""
    query: str = ""
    gold: int | None = None
    complexity: str | None = None
    size: str | None = None


class QuotedPlace(_Form):
    """Characters ``start`` to ``end`` of a document."""

    doc_id: str
    start: int
    end: int


class ErrorOf(_Form):
    """A patient whom a system was wrong about, or failed on, with what the system leans on and why it is so."""

    system: str
    question: str
    patient: str
    kind: str
    quotes: tuple[QuotedPlace, ...] = ()
    reasons: tuple[str, ...] = ()


class BenchmarkReport(_Form):
    """The whole report."""

    signature: Mapping[str, Any] = Field(default_factory=dict)
    corpus: Mapping[str, Any] = Field(default_factory=dict)
    bounds: Mapping[str, int] = Field(default_factory=dict)
    systems: tuple[SystemReport, ...] = ()
    differences: tuple[Differences, ...] = ()
    questions: tuple[QuestionAsked, ...] = ()
    errors: tuple[ErrorOf, ...] = ()
    texts: Mapping[str, str | Mapping[str, str]] = Field(default_factory=dict)

    def text_of(self, patient: str, doc_id: str) -> str | None:
        """The text of a note; None where the report has it not."""
        of_patient = self.texts.get(patient)
        if isinstance(of_patient, Mapping):
            return of_patient.get(doc_id)
        alone = self.texts.get(doc_id)
        return alone if isinstance(alone, str) else None


def read_report(payload: Mapping[str, Any]) -> BenchmarkReport:
    """The report in its JSON form. UsageError that names the place if it is of another form."""
    try:
        return BenchmarkReport.model_validate(payload)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(one) for one in first["loc"])
        raise UsageError(f"this is no report of a benchmark run: '{place}': {first['msg']}") from None
