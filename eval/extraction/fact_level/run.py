"""The fact-level run: every gold fact is held against the events that reading the notes gave."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from ....kb.model import Event, Journey
from ....kb.ontology.concepts import ConceptTable
from ....kb.storage.reader import KnowledgeBase
from ....kb.version import __version__
from ...measures import bootstrap
from .gold import Gold, Statement, load_gold
from .matching import Matcher
from .report import EventCounts, JudgedFact, Miss, Report, assertion_of, days_as_text

#: Events named in place of what was missed, at most.
_MOST_NAMED: Final = 3


def run_facts(kb: str | Path, facts: Path, *, only: Collection[str] = (), seed: int = 0) -> Report:
    """Holds the facts of a file against a knowledge base of notes of the same patients.

    ``only``: patients whose ids begin with one of these; ``seed`` draws the intervals. UsageError for facts that cannot
    be used, MissingKb or SchemaVersionError for the knowledge base.
    """
    with KnowledgeBase.open(kb) as opened:
        gold = load_gold(facts, only)
        held = frozenset(opened.patients)
        journeys = ((patient, opened.journey(patient) if patient in held else None) for patient in gold.patients)
        of_others = sum(not only or one.startswith(tuple(only)) for one in held - gold.patients.keys())
        signature = {
            "cohortium": __version__,
            "kb": {name: opened.manifest[name] for name in ("versions",) if name in opened.manifest}
            | {"generation": opened.generation},
            "facts_sha256": gold.sha256,
            "only": sorted(only),
            "interval": bootstrap.described(seed),
        }
        return judge(gold, journeys, opened, without_facts=of_others, seed=seed, signature=signature)


def judge(
    gold: Gold,
    journeys: Iterator[tuple[str, Journey | None]],
    kb: KnowledgeBase,
    *,
    without_facts: int = 0,
    seed: int = 0,
    signature: Mapping[str, Any] | None = None,
) -> Report:
    """The report on the journeys of the patients of whom there is gold (None: no note of the patient was read)."""
    facts: list[JudgedFact] = []
    misses: list[Miss] = []
    totals: dict[str, Counter[str]] = {}
    missing = 0
    for patient, journey in journeys:
        missing += journey is None
        matcher = Matcher(journey, kb.concepts, kb.scales)
        for fact in gold.patients[patient]:
            verdicts = tuple(map(matcher.verdict, fact.statements))
            facts.append(JudgedFact(patient, fact, verdicts))
            for statement, verdict in zip(fact.statements, verdicts, strict=True):
                if verdict.reason is not None:
                    instead = tuple(_written(event, kb.concepts) for event in verdict.events[:_MOST_NAMED])
                    name = kb.concepts.name(statement.concept) if statement.concept else ""
                    misses.append(Miss(patient, fact.number, fact.kind, statement, name, verdict.reason, instead))
        stated = [statement for fact in gold.patients[patient] for statement in fact.statements]
        for event in journey.events if journey else ():
            totals.setdefault(event.kind, Counter())[_standing_of(matcher, event, stated)] += 1
    events = {
        kind: EventCounts(sum(counts.values()), counts["justified"], counts["near"])
        for kind, counts in sorted(totals.items())
    }
    patients = {"with_facts": len(gold.patients), "missing_from_kb": missing, "without_facts": without_facts}
    return Report(facts, events, misses, patients, len(gold.bad), seed, signature or {})


def _standing_of(matcher: Matcher, event: Event, stated: list[Statement]) -> str:
    if any(matcher.holds(event, one) for one in stated):
        return "justified"
    return "near" if any(matcher.near(event, one) for one in stated) else "without"


def _written(event: Event, concepts: ConceptTable) -> str:
    """An event on one line: kind, concept, attributes, context and day; no text of a note."""
    attributes = ", ".join(f"{name} {value}" for name, value in event.attributes.items())
    name = concepts.name(event.concept) if event.concept else ""
    parts = (event.kind, name, f"({attributes})" if attributes else "", assertion_of(event.context))
    return " ".join(filter(None, (*parts, days_as_text(event.day))))
