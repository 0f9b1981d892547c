"""The review sheet: what is suggested for an output, and what a filled sheet adds up to."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cohortium.eval.extraction.coral.answers import Answer, from_reader
from cohortium.eval.extraction.coral.report import Choices, judge
from cohortium.eval.extraction.coral.review import (
    CATEGORIES,
    COLUMNS,
    Row,
    Text,
    read_sheet,
    rows,
    suggest,
    tally,
    write_sheet,
)
from cohortium.eval.extraction.coral.tasks import Tasks
from cohortium.eval.extraction.coral.units import Stretch, load_notes
from cohortium.kb.errors import UsageError
from tests.eval.extraction.coral.invented import note_of

NOTE = Text("Stage 2 IDC was found by MRI of the right and left breast in March. ER+, PR-.")


@pytest.mark.parametrize(
    ("output", "gold", "category"),
    [
        ("idc", ["IDC"], "1"),
        ("unknown", ["unknown"], "1"),
        ("unknown", [], "1"),
        ("stage 2 IDC", ["IDC"], "2a"),
        ("right breast", ["right and left breast"], "2b"),
        ("stage 3 IDC", ["IDC"], "2c"),
        ("MRI", ["IDC"], "3b"),
        ("CT", ["IDC"], "3c"),
        ("ER-", ["ER+"], "3c"),
        ("unknown", ["March"], "3d"),
        ("left MRI", ["left breast"], ""),
    ],
)
def test_the_category_that_the_texts_speak_for(output: str, gold: list[str], category: str) -> None:
    """Right; more (found in the note or not), less; from the note or not; unknown though told. 3a is left to people."""
    assert suggest(output, gold, NOTE) == category


def test_a_fixed_word_need_not_stand_in_the_note() -> None:
    """Whether a drug goes on is told in the words of the task."""
    assert suggest("continuing", ["continuing"], NOTE, closed=True) == "1"
    assert suggest("continuing", ["finished"], NOTE, closed=True) == "3b"
    assert suggest("continuing", ["unknown"], NOTE, closed=True) == ""


def sheet_of(tasks: Tasks, answer: str, failure: str = "") -> list[Row]:
    """The rows of one answer about symptoms."""
    note = note_of("Fever in May. Cough.", "Symptom Fever", "Datetime May", "HappensAtOnDuring Fever > May")
    given = [Answer("note", "note", "symptoms", answer, failure)]
    return [
        row for row in rows(judge([note], given, tasks, Choices(Stretch.NOTE)).judged, [note]) if row.task == "symptoms"
    ]


def test_each_output_is_a_row_for_the_entity_and_one_for_each_relation(tasks: Tasks) -> None:
    """A right one, one from the note that is none, and one that is made up."""
    lines = ["Symptom='fever', Datetime={'May'}", "Symptom='cough', Datetime={'unknown'}"]
    lines += ["Symptom='itching', Datetime={'June'}"]
    found = sheet_of(tasks, "\n".join(f"SymptomEnt({line})" for line in lines))
    assert [(row.kind, row.name, row.value, row.suggested) for row in found] == [
        ("entity", "fever", "", "1"),
        ("entity", "cough", "", "3b"),
        ("entity", "itching", "", "3c"),
        ("relation", "fever", "May", "1"),
        ("relation", "cough", "unknown", ""),
        ("relation", "itching", "June", "3c"),
    ]
    assert {row.category for row in found} == {""}


def test_no_output_where_there_is_gold_is_one_row_and_a_failure_none(tasks: Tasks) -> None:
    """Who says *unknown* can be judged; who did not answer cannot."""
    (row,) = sheet_of(tasks, "None")
    assert (row.name, row.gold, row.suggested) == ("unknown", "Fever", "3d")
    assert sheet_of(tasks, "", "refusal") == []
    assert sheet_of(tasks, "gibberish") == []


@pytest.mark.parametrize("name", ["sheet.tsv", "sheet.csv"])
def test_a_sheet_is_read_as_it_was_written(tmp_path: Path, sample: Path, tasks: Tasks, name: str) -> None:
    """With tabs or commas, whatever stands in its cells; line ends and tabs of a cell are told as escapes."""
    notes = load_notes(sample)
    held = list(rows(judge(notes, from_reader(notes, Stretch.SECTION, tasks), tasks).judged, notes))
    odd = Row("d", "s", "symptoms", "entity", "Symptoms", 'a "b",\tc\nd', "x", "; y", "1", "2a", "why, though")
    assert write_sheet(tmp_path / name, [*held, odd]) == len(held) + 1
    assert read_sheet(tmp_path / name) == [*held, replace(odd, name=r'a "b",\tc\nd')]
    assert {"SymptomsDueToCancer", "FirstCancerDiagnosis", "RadiologyTest - Site"} <= {row.inference for row in held}


def test_a_filled_sheet_adds_up() -> None:
    """Five filled rows of two inferences, one open: shares are of the filled ones."""

    def row(inference: str, category: str, suggested: str = "") -> Row:
        return Row("d", "s", "t", "entity", inference, "n", "", "", suggested, category)

    told = tally(
        [row("A", "1", "1"), row("A", "1", "3b"), row("A", "2b"), row("A", ""), row("B", "3a"), row("B", "3d")]
    )
    first, second = told["inferences"]
    assert (first["inference"], first["rows"], first["open"]) == ("A", 3, 1)
    assert first["categories"] == dict.fromkeys(CATEGORIES, 0.0) | {"1": 0.6667, "2b": 0.3333}
    assert second["groups"] == {"correct": 0.0, "partially correct": 0.0, "incorrect": 1.0}
    assert told["all"]["groups"] == {"correct": 0.4, "partially correct": 0.2, "incorrect": 0.4}
    assert told["suggested"] == {"rows": 2, "agreed": 1}


def test_an_empty_sheet_has_no_shares() -> None:
    """Nothing filled, nothing to share."""
    told = tally([])
    assert (told["inferences"], told["all"]["rows"], told["all"]["categories"]["1"]) == ([], 0, None)


def test_a_sheet_with_another_category_is_refused(tmp_path: Path) -> None:
    """With its row; capitals and blanks are no difference."""
    place = tmp_path / "s.tsv"
    head = "\t".join(COLUMNS)
    place.write_text(f"{head}\nd\ts\tt\tentity\tA\tn\t\t\t\t 2A \t\n")
    assert [row.category for row in read_sheet(place)] == ["2a"]
    place.write_text(f"{head}\nd\ts\tt\tentity\tA\tn\t\t\t\t4\t\n")
    with pytest.raises(UsageError, match="row 2"):
        read_sheet(place)
    place.write_text("document\tname\nd\tn\n")
    with pytest.raises(UsageError, match="no review sheet"):
        read_sheet(place)
    place.write_text("")
    with pytest.raises(UsageError, match="no review sheet"):
        read_sheet(place)
