"""An impossible order in a record, from the notes on disk to the answer: the situation of the ACR paper's Figure 1."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Notes = list[dict[str, Any]]

QUERY = "state pregnant after diagnosis 'breast cancer'"
CANCER = {"doc_id": "1", "date": "2015-03-01", "text": "Left breast cancer, metastatic to the left ovary."}
SURGERY = {
    "doc_id": "2",
    "date": "2017-03-01",
    "type": "operative report",
    "text": "Procedure: total abdominal hysterectomy and bilateral salpingo-oophorectomy.",
}
HISTORY = {"doc_id": "2", "date": "2021-03-01", "text": "Past surgical history: hysterectomy."}
PREGNANT = {
    "doc_id": "3",
    "date": "2019-05-01",
    "type": "gynecology note",
    "text": "She is currently pregnant, 12 weeks.",
}


@pytest.fixture(scope="module")
def kb(run: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three patients: operated before the pregnancy by its report; at some time before 2021; and never."""
    records = {
        "REPORT": [CANCER, SURGERY, PREGNANT],
        "HISTORY": [CANCER, HISTORY, PREGNANT],
        "NEVER": [CANCER, PREGNANT],
    }
    notes = [{"patient_id": patient, **note} for patient, record in records.items() for note in record]
    folder = tmp_path_factory.mktemp("paradox")
    source = folder / "notes.jsonl"
    source.write_text("".join(json.dumps(note) + "\n" for note in notes), "utf-8")
    result = run("ingest", source, "--kb", folder / "paradox.kb")
    assert result.exit_code == 0, result.output
    return folder / "paradox.kb"


def answer(run: Callable[..., Any], kb: Path, query: str, world: str) -> list[str]:
    """The patients that a query gives in a world."""
    result = run("query", kb, query, "--world", world, "--format", "json")
    assert result.exit_code == 0, result.output
    patients: list[str] = json.loads(result.stdout)["patients"]
    return patients


def test_a_pregnancy_after_the_report_of_a_hysterectomy_is_possible_alone(run: Callable[..., Any], kb: Path) -> None:
    """It is only in a completion that distrusts the surgery; a hysterectomy without a date came after the pregnancy."""
    assert answer(run, kb, QUERY, "believed") == ["HISTORY", "NEVER"]
    assert answer(run, kb, QUERY, "possible") == ["HISTORY", "NEVER", "REPORT"]
    assert answer(run, kb, QUERY, "certain") == ["HISTORY", "NEVER"]
    assert answer(run, kb, "surgery hysterectomy", "certain") == ["HISTORY"]
    assert answer(run, kb, "surgery hysterectomy after state pregnant", "believed") == ["HISTORY"]


def test_the_explanation_tells_why(run: Callable[..., Any], kb: Path) -> None:
    """The impossible row and the side that is believed stand beside the event."""
    told = run("explain", kb, QUERY, "REPORT").stdout
    assert "decided: pregnancy without a uterus: what came first is better supported" in " ".join(told.split())
    told = run("explain", kb, "surgery hysterectomy", "HISTORY").stdout
    assert "decided: pregnancy without a uterus: of the days that the record allows" in " ".join(told.split())
