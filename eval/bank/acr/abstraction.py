"""The bank asked of a clinical abstraction: with perfect facts, what is left is errors of reasoning, each explained."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ....engine.answers.explain import ExplainedCriterion, Explanation
from ....ingest.abstraction.load import AbstractionReport, load_abstractions
from ....kb.errors import UsageError
from ....kb.storage.layout import Layout
from ...measures.terms import DEFAULT, Terms
from .bank import BankQuery
from .report import Report
from .run import labels_for, run_acr

if TYPE_CHECKING:
    from ....engine.api import OpenKb

#: A criterion counts as holding in the believed world from here on.
_HOLDS: Final = frozenset({"certain", "believed"})
_MOST_NEAR: Final = 3


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A patient and a query on whom labels and answer differ, and what the answer rests on, line by line."""

    patient_id: str
    id: int
    labelled: bool
    answered: bool
    explanation: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AbstractionScores:
    """The scored bank, the facts as they were resolved, the pairs that were compared, and where they disagree."""

    report: Report
    facts: AbstractionReport
    pairs: int
    disagreements: tuple[Disagreement, ...]

    def as_dict(self, *, errors: bool = False) -> dict[str, Any]:
        """The report as JSON with ``pairs``, ``disagreements``, ``facts`` by kind, and the unresolved ones listed."""
        scores = self.report.as_dict(errors=errors)
        scores["unresolved"] += [
            {**asdict(one), "reason": "its text names nothing known"} for one in self.facts.unresolved
        ]
        return scores | {
            "pairs": self.pairs,
            "disagreements": [asdict(one) for one in self.disagreements],
            "facts": self.facts.as_dict(),
        }


def run_abstraction(
    facts: Path,
    labels: Path,
    queries: Sequence[BankQuery] | None = None,
    *,
    kb: Path | None = None,
    terms: Terms = DEFAULT,
) -> AbstractionScores:
    """Makes a knowledge base of an abstraction, asks it the bank, and explains each disagreement with the labels.

    ``kb`` keeps the knowledge base there; UsageError if there is something already. Otherwise as :func:`.run.run_acr`.
    Labels and bounds are checked before the facts are read: what cannot be scored leaves no knowledge base behind.
    """
    if kb is not None and Layout(kb).current() is not None:
        raise UsageError(f"'{kb}' is there already. Hint: name a place for the abstraction's own knowledge base")
    gold = labels_for(labels, queries)
    terms.bounds(len(gold.patients))
    from ....engine.api import open as open_kb

    with tempfile.TemporaryDirectory(prefix="cohortium-") as folder:
        place = kb or Path(folder) / "abstraction.kb"
        loaded = load_abstractions(facts, place)
        with open_kb(place) as session:
            report = run_acr(session, gold, queries, terms)
            asked = frozenset(one.id for one in report.queries)
            pairs = sum(len(asked - gold.ambiguous[patient]) for patient in gold.patients)
            disagreements = tuple(_disagreements(report, session))
    return AbstractionScores(report, loaded, pairs, disagreements)


def _disagreements(report: Report, session: OpenKb) -> Iterator[Disagreement]:
    held = frozenset(session.patients)
    for one in report.queries:
        wrong = [(True, patient) for patient in one.wrongly_found] + [(False, patient) for patient in one.missed]
        found = None if one.unresolved or held.isdisjoint(patient for _, patient in wrong) else session.find(one.query)
        for answered, patient in wrong:
            lines: tuple[str, ...] = (one.unresolved or "the abstraction has no such patient",)
            if found is not None and patient in held:
                lines = tuple(dict.fromkeys(reasons(found.explain(patient), answered)))
            yield Disagreement(patient, one.id, not answered, answered, lines)


def reasons(explanation: Explanation, answered: bool) -> Iterator[str]:
    """What an answer rests on: the facts that make the query hold, or the criteria that keep it from holding."""
    for node in deciding(explanation, answered):
        if node.parts:
            yield f"in one place alone: {node.text} (seen: {node.scope})"
        elif node.events and answered:
            for event in node.events[:_MOST_NEAR]:
                quote = next((" ".join(quote.sentence.split()) for quote in event.quotes), "")
                yield f"{node.text}: {event.as_text()} “{quote}”"
        else:
            near = "; ".join(event.as_text() for event in node.others[:_MOST_NEAR])
            yield f"{'holds' if node.certainty in _HOLDS else 'does not hold'}: {node.text}" + (
                f" (near: {near})" if near else ""
            )


def deciding(
    explanation: Explanation, answered: bool, holding: Collection[str] = _HOLDS
) -> Iterator[ExplainedCriterion]:
    """The criteria on which an answer hangs: those without parts, and before its parts each failing *same tumor*.

    ``holding``: how certain a criterion is that holds in the world that was asked, by default the believed one.
    """
    yield from _deciding(explanation.criterion, answered, holding, dict(explanation.definitions), frozenset())


def _deciding(
    node: ExplainedCriterion,
    holds: bool,
    holding: Collection[str],
    definitions: dict[str, ExplainedCriterion],
    within: frozenset[str],
) -> Iterator[ExplainedCriterion]:
    if not node.parts and node.text in definitions and node.text not in within:
        yield from _deciding(definitions[node.text], holds, holding, definitions, within | {node.text})
        return
    if not node.parts or (node.scope and not holds):
        yield node
    inner = [part for part in node.parts if (part.certainty in holding) == holds]
    for part in inner or node.parts:
        yield from _deciding(part, holds, holding, definitions, within)
