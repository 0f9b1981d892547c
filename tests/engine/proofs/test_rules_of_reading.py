"""The checker knows every rule that mentions cite, and what a field leaves out; reports are invented."""

from __future__ import annotations

import datetime
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import cohortium
from cohortium.engine.proofs.checker import days
from cohortium.engine.proofs.checker.evidence import EvidenceCheck
from cohortium.engine.proofs.checker.faults import Findings
from cohortium.engine.proofs.checker.words import known_rules
from cohortium.ingest.note.read import shared_reader
from cohortium.kb.model import DayInterval, Mention, Note
from cohortium.kb.ontology.concepts import shipped_concepts

RECOGNIZERS = Path(cohortium.__file__).parent / "ingest" / "recognizers"


def faults(text: str, kind: str, concept: str = "") -> list[str]:
    """What the checker finds of the names of the mentions of a kind; ``concept`` in place of theirs."""
    note = Note("P1", "D1", text, datetime.date(2012, 5, 4), "pathology")
    mentions: list[Mention] = [one for one in shared_reader().read(note).mentions if one.kind == kind]
    assert mentions
    record: Any = SimpleNamespace(notes={note.note_id: SimpleNamespace(note=note)})
    findings = Findings()
    check = EvidenceCheck(record, shipped_concepts(), findings)
    for one in mentions:
        check._name(replace(one, concept=concept) if concept else one)
        for cue in one.cues:
            check._cue(one, cue, note)
    return [fault.message for fault in findings.faults]


def test_the_patterns_of_recognizers_are_known() -> None:
    """Each pattern that code names is one of mentions; descriptors of markers are no mentions by themselves."""
    written = {
        name
        for path in RECOGNIZERS.glob("*.py")
        if path.name != "molecular.py"
        for name in re.findall(r'"(pattern:[a-z][a-z \-]*)"', path.read_text("utf-8"))
    }
    assert "pattern:type field" in written
    assert written <= known_rules()["source"].keys()


@pytest.mark.parametrize(
    "value", ["Invasive lobular (E-cadherin negative)", "Invasive ductal", "Papillary serous", "Mucinous"]
)
def test_a_name_with_its_word_left_out_is_checked(value: str) -> None:
    """What a field calls *invasive lobular* is a name with *carcinoma*, and of no other tumor."""
    text = f"Right breast, mastectomy. Histologic type: {value}. Tumor size: 2.2 cm."
    assert faults(text, "diagnosis") == []
    assert faults(text, "diagnosis", "glioblastoma") == ["the ontology has no such name of this concept"]


def test_a_misread_cue_holds_as_it_was_meant() -> None:
    """A scanner's *positiva* is the word that it passes for; a word that it does not pass for is a fault."""
    text = "Breast, mastectomy. The tumor cells are positiva for estrogen receptor."
    assert faults(text, "biomarker") == []
    note = Note("P1", "D1", text, datetime.date(2012, 5, 4), "pathology")
    (one,) = (found for found in shared_reader().read(note).mentions if found.kind == "biomarker")
    findings = Findings()
    check = EvidenceCheck(
        SimpleNamespace(notes={note.note_id: SimpleNamespace(note=note)}), shipped_concepts(), findings
    )  # type: ignore[arg-type]
    start = text.index("cells")
    for cue in one.cues:
        check._cue(one, replace(cue, start=start, end=start + 5), note)
    assert len(findings.faults) == len(one.cues) > 0


@pytest.mark.parametrize(("text", "year", "holds"), [("3/14/14", 2014, True), ("3/14/18", 2018, False)])
def test_a_year_of_two_digits_may_lie_some_years_ahead(text: str, year: int, holds: bool) -> None:
    """What is planned lies at most five years after its note."""
    day = datetime.date(year, 3, 14).toordinal()
    note = datetime.date(2012, 5, 4)
    assert days.admits("month-day-year", text, note, DayInterval(day, day)) is holds


@pytest.mark.parametrize(
    "told", ["Edmondson-Steiner II.", "Differentiation: [ ] well [x] poor", "Grade I [ ] II [X] III [ ]"]
)
def test_a_grade_by_a_scale_or_a_box_is_known(told: str) -> None:
    """The option that has the tick is the grade."""
    assert faults(f"Hepatocellular carcinoma. {told}", "grade") == []
