"""How far the engine, asked of the abstractions of simulated courses, agrees with the plain predicates on them."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from cohortium.engine import api
from cohortium.eval.bank.acr.bank import load_bank
from cohortium.eval.made_up.synthetic.course import Course
from cohortium.eval.made_up.synthetic.gold import abstraction
from cohortium.eval.measures.scoring import Counts
from cohortium.ingest.abstraction.load import load_abstractions
from tests.eval.made_up.predicates import PREDICATES, Chart

__all__ = ["Agreement", "agreement"]


@dataclass(frozen=True, slots=True)
class Agreement:
    """One 2 x 2 table over all pairs of patient and checked query, and every pair on which the two differ."""

    counts: Counts
    #: (bank id, patient id) to which only the engine says yes, and to which only the predicate does.
    engine_alone: tuple[tuple[int, str], ...]
    predicate_alone: tuple[tuple[int, str], ...]


def agreement(courses: Iterable[Course]) -> Agreement:
    """Loads the courses' abstractions, asks each query that has a predicate, and compares: predicates are the truth."""
    charts = {one.person.patient_id: Chart(one) for one in courses}
    queries = {one.id: one.query for one in load_bank()}
    engine_alone: list[tuple[int, str]] = []
    predicate_alone: list[tuple[int, str]] = []
    counts = Counts()
    with tempfile.TemporaryDirectory(prefix="agreement-") as folder:
        facts = Path(folder) / "facts.jsonl"
        with facts.open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(abstraction(one.course)) + "\n" for one in charts.values())
        load_abstractions(facts, Path(folder) / "facts.kb", progress=False)
        with api.open(Path(folder) / "facts.kb") as kb:
            for number, holds in PREDICATES.items():
                found = frozenset(kb.find(queries[number]))
                wanted = frozenset(patient for patient, chart in charts.items() if holds(chart))
                engine_alone += [(number, patient) for patient in sorted(found - wanted)]
                predicate_alone += [(number, patient) for patient in sorted(wanted - found)]
                both = len(found & wanted)
                counts += Counts(both, len(found) - both, len(wanted) - both, len(charts) - len(found | wanted))
    return Agreement(counts, tuple(engine_alone), tuple(predicate_alone))
