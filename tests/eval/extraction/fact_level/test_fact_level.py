"""The fact level: when events of notes hold what abstracted facts state, and what is told where they do not."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from cohortium.eval.extraction.fact_level.run import run_facts
from cohortium.ingest.journey.build import build_journey
from cohortium.ingest.note.read import shared_reader
from cohortium.kb.errors import UsageError
from cohortium.kb.model import Note
from cohortium.kb.storage.writer import build_generation

NOTE = """Assessment:
Left breast invasive ductal carcinoma, grade 2, stage IIA, pT2 N0. ER positive 90%. HER2 IHC 2+, equivocal.
Lymph nodes: 0/3. ECOG 1.
She received paclitaxel and carboplatin. She declined tamoxifen. Ribociclib is planned.
No evidence of bone metastasis. Her mother had ovarian cancer.
"""

Scores = Callable[..., dict[str, Any]]
Fact = Mapping[str, Any]


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One patient, A-1, with one note, and one, B-1, of whom no fact is written down."""
    import datetime

    reader = shared_reader()
    day = datetime.date(2020, 3, 4)
    notes = [Note(patient, "1", NOTE, day, "progress note") for patient in ("A-1", "B-1")]
    path = tmp_path_factory.mktemp("fact-level") / "notes.kb"
    build_generation(path, [build_journey(one.patient_id, [reader.read(one)], reader.concepts) for one in notes])
    return path


@pytest.fixture
def scores(kb: Path, tmp_path: Path) -> Scores:
    """The report on facts of A-1 (or of the patients given), every miss listed."""

    def score(*facts: Fact, patients: Mapping[str, Sequence[Fact]] | None = None, **options: Any) -> dict[str, Any]:
        path = tmp_path / "facts.jsonl"
        of = {"A-1": facts} if patients is None else patients
        path.write_text("\n".join(json.dumps({"patient_id": one, "facts": list(given)}) for one, given in of.items()))
        return run_facts(kb, path, **options).as_dict(misses=100)

    return score


def fact(kind: str, concept: str, assertion: str = "present", **rest: Any) -> dict[str, Any]:
    """A fact in the form of an abstraction."""
    return {"kind": kind, "concept": concept, "assertion": assertion, **rest}


@pytest.mark.parametrize(
    "held",
    [
        fact("histology", "invasive ductal carcinoma of the left breast"),
        fact("biomarker", "ER", value="positive", attributes={"percent": 90}),
        fact("biomarker", "HER2 IHC", "uncertain", attributes={"result": "equivocal"}),
        fact("biomarker", "HER2 IHC", attributes={"result": "2+"}),
        fact("lymph_node", "lymph nodes", "absent", value="0/3"),
        fact("stage_group", "stage", value="IIA"),
        fact("tnm", "TNM", attributes={"prefix": "p", "t": "T2", "n": "N0"}),
        fact("medication", "tamoxifen", "absent"),
        fact("medication", "ribociclib", "planned"),
        fact("regimen", "carboplatin/paclitaxel"),
        fact("metastasis", "bone metastases", "absent"),
        fact("diagnosis", "ovarian cancer", "family"),
        fact("performance_status", "ECOG", value="1"),
    ],
    ids=lambda one: f"{one['kind']} {one['assertion']}",
)
def test_a_fact_that_the_note_says_is_held(scores: Scores, held: Fact) -> None:
    """Kind, concept, context and value agree, whichever of the usual ways the fact is written down in."""
    told = scores(held)
    assert told["all"]["with_value"] == told["all"]["facts"] == 1, told["misses"]
    assert not told["misses"]


@pytest.mark.parametrize(
    ("missed", "reason", "matched"),
    [
        (fact("medication", "tamoxifen"), "other context", 0),
        (fact("medication", "paclitaxel", "absent"), "other context", 0),
        (fact("diagnosis", "ovarian cancer"), "other context", 0),
        (fact("biomarker", "ER", value="negative"), "other value", 1),
        (fact("stage_group", "stage", value="IIIB"), "other value", 1),
        (fact("tnm", "TNM", attributes={"t": "T2", "m": "M0"}), "other value", 1),
        (fact("biomarker", "HER2 IHC", value="3+"), "other context", 0),
        (fact("medication", "taxane"), "narrower concept", 0),
        (fact("metastasis", "liver metastases"), "nothing", 0),
        (fact("surgery", "mastectomy"), "nothing", 0),
    ],
)
def test_a_miss_tells_why(scores: Scores, missed: Fact, reason: str, matched: int) -> None:
    """The first reason that applies; another value is still a match of kind, concept and context."""
    told = scores(missed)
    assert told["misses"][0]["reason"] == reason
    assert told["reasons"] == {reason: 1}
    assert told["all"]["matched"] == matched
    assert told["all"]["with_value"] == 0


def test_compatible_concepts_are_counted_apart(scores: Scores) -> None:
    """A broader name in the fact is compatible, and no match."""
    told = scores(fact("diagnosis", "breast cancer"))["all"]
    assert (told["matched"], told["compatible"]) == (0, 1)


def test_one_event_holds_several_facts(scores: Scores) -> None:
    """Two courses of one drug are one event of the notes; the day tells them apart."""
    given = [fact("medication", "paclitaxel", date=date) for date in ("2020-03", "2024-01")]
    told = scores(*given)["all"]
    assert (told["matched"], told["dated"], told["dates_meet"]) == (2, 2, 1)
    near = scores(fact("medication", "paclitaxel", date="2020-02-20"), fact("medication", "paclitaxel"))["all"]
    assert (near["matched"], near["dated"], near["dates_meet"], near["dates_within_31_days"]) == (2, 1, 0, 1)


def test_a_list_is_held_in_part(scores: Scores) -> None:
    """A fact of which one drug was read is not matched, and is counted."""
    told = scores(fact("medication", "paclitaxel and denosumab"))["all"]
    assert (told["matched"], told["in_part"]) == (0, 1)


def test_what_does_not_resolve_is_counted_and_not_scored(scores: Scores) -> None:
    """A text that names nothing, and a marker that the ontology lacks."""
    told = scores(fact("symptom", "zzyx"), fact("medication", "paclitaxel"), fact("omen", "crow"))
    assert (told["all"]["facts"], told["all"]["unresolved"], told["all"]["recall"]) == (2, 1, 1.0)
    assert told["all"]["recall_of_all"] == 0.5
    assert told["bad"] == 1


def test_events_without_a_fact_are_counted_by_kind(scores: Scores) -> None:
    """Of the drugs read one is in the facts."""
    told = scores(fact("medication", "paclitaxel"))["events"]["medication"]
    assert told["justified"] == 1
    assert told["without_a_fact"] == told["events"] - 1 > 0


def test_a_patient_without_notes_is_missed_and_one_without_facts_left_out(scores: Scores) -> None:
    """Both are told; groups are the beginnings of the ids."""
    drug = fact("medication", "paclitaxel")
    told = scores(patients={"A-1": [drug], "C-1": [drug]})
    assert told["patients"] == {"with_facts": 2, "missing_from_kb": 1, "without_facts": 1}
    assert {group: part["recall"] for group, part in told["by_group"].items()} == {"A": 1.0, "C": 0.0}
    assert [one["reason"] for one in told["misses"]] == ["no such patient"]


def test_only_some_patients(scores: Scores) -> None:
    """By the beginning of the id; nobody left is an error that names what was asked for."""
    drug = fact("medication", "paclitaxel")
    patients = {"A-1": [drug], "C-1": [drug]}
    assert scores(patients=patients, only=("A",))["by_group"].keys() == {"A"}
    with pytest.raises(UsageError, match="begins with X or Y"):
        scores(patients=patients, only=("X", "Y"))


def test_no_miss_quotes_the_facts_or_the_notes(scores: Scores) -> None:
    """What is told is concepts, values and days."""
    quoting = fact("medication", "tamoxifen as quoted", value="said so", evidence="She declined tamoxifen.")
    told = scores(quoting)
    assert told["misses"]
    for quoted in ("as quoted", "said so", "She declined"):
        assert quoted not in json.dumps(told)
