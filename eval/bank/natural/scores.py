"""The scored run in plain English: what each question's translation means, and how well its answer fits the labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ....engine.api import OpenKb
from ....engine.api import open as open_kb
from ....kb.ontology.concepts import ConceptTable
from ....kb.ontology.scales import Scales
from ....query_lang.english.translate import Translation, translate
from ....query_lang.errors import QueryError
from ....query_lang.nodes import Query
from ....query_lang.resolution.resolve import resolve_text
from ...measures.terms import DEFAULT, Terms
from ..acr.bank import BankQuery, load_bank
from ..acr.labels import Labels
from ..acr.run import labels_for, score
from .equivalence import EACH, same_meaning
from .questions import Question, bank_questions

RIGHT, WRONG, DECLINED, SEVERAL = "right", "wrong", "declined", "several readings"


@dataclass(frozen=True, slots=True)
class Judged:
    """A question with what became of it: right, wrong, declined or several readings; ``how`` tells what showed it."""

    id: str
    of: int
    text: str
    verdict: str
    how: str = ""
    query: str = ""
    reason: str = ""
    unread: tuple[str, ...] = ()


@dataclass
class Judge:
    """Holds translations against the formal queries of the bank."""

    concepts: ConceptTable
    scales: Scales
    each: int = EACH
    _formal: dict[int, Query] = field(default_factory=dict)
    _known: dict[tuple[int, str], tuple[bool, str]] = field(default_factory=dict)

    def formal(self, of: int) -> Query:
        """The bank's formal query, resolved."""
        if not self._formal:
            self._formal = {one.id: resolve_text(one.query, self.concepts, self.scales) for one in load_bank()}
        return self._formal[of]

    def judge(self, question: Question, translation: Translation) -> Judged:
        """The verdict on one translation."""
        if translation.query is None:
            verdict = SEVERAL if translation.readings else DECLINED
            return Judged(
                question.id, question.of, question.text, verdict, reason=translation.reason, unread=translation.unread
            )
        key = (question.of, translation.text)
        if key not in self._known:
            found = same_meaning(
                self.formal(question.of), translation.query, self.concepts, self.scales, each=self.each
            )
            self._known[key] = (found.same, found.how)
        same, how = self._known[key]
        verdict = RIGHT if same else WRONG
        return Judged(question.id, question.of, question.text, verdict, how, translation.text)


def judged(questions: Iterable[Question], concepts: ConceptTable, scales: Scales, *, each: int = EACH) -> list[Judged]:
    """Each question translated, and judged by the meaning of the bank's query."""
    judge = Judge(concepts, scales, each)
    return [judge.judge(one, translate(one.text, concepts, scales)) for one in questions]


def shares(rows: Sequence[Judged]) -> dict[str, Any]:
    """How many were right, wrong, declined, or read in several ways, with their shares."""
    count = len(rows)
    counts: dict[str, Any] = {"questions": count}
    for verdict in (RIGHT, WRONG, DECLINED, SEVERAL):
        number = sum(row.verdict == verdict for row in rows)
        counts[verdict.replace(" ", "_")] = {"count": number, "share": round(number / count, 4) if count else None}
    return counts


def run_natural(
    kb: str | Path | OpenKb,
    labels: Path | Labels,
    questions: Sequence[Question] | None = None,
    terms: Terms = DEFAULT,
) -> dict[str, Any]:
    """Asks a knowledge base the questions (the bank's own by default) and scores answers and translations.

    The report of :func:`~..acr.run.run_acr`, in which an abstention is an empty answer and listed as such, with
    ``natural``: the shares of right, wrong and declined translations, and each question with its verdict.
    """
    asked = bank_questions() if questions is None else questions
    session = kb if isinstance(kb, OpenKb) else open_kb(kb)
    gold = labels if isinstance(labels, Labels) else labels_for(labels)
    bank = {one.id: one for one in load_bank()}
    judge = Judge(session.concepts, session.scales)
    rows: list[Judged] = []
    asking = iter(asked)

    def find(text: str) -> Iterable[str]:
        question = next(asking)
        answer = session.ask(text)
        rows.append(judge.judge(question, answer.translation))
        if answer.cohort is None:
            raise QueryError(answer.translation.reason)
        return answer.cohort

    queries = [BankQuery(one.of, one.text, bank[one.of].complexity, one.text) for one in asked]
    report = score(find, session.patients, gold, queries, terms).as_dict()
    for row, verdict in zip(report["queries"], rows, strict=True):
        row["question"] = verdict.id
    report["natural"] = {**shares(rows), "rows": [asdict(row) for row in rows]}
    return report
