"""The registry's own fields as a baseline, on small invented tables in the form of AACT's export."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from cohortium.eval.extraction.ner.baselines.aact import intervention_type, read_export
from cohortium.eval.extraction.ner.baselines.contract import cell_of, write_predictions
from cohortium.eval.extraction.ner.documents import Document, read_corpus, read_predictions
from cohortium.kb.errors import UsageError

#: Fictional rows.
CONDITIONS = """id|nct_id|name|downcase_name
1|NCT1|Restless Legs Syndrome|restless legs syndrome
2|NCT1|"Pain | night"|pain | night
3|NCT3|Gout|gout
4|NCT1
"""
INTERVENTIONS = """id|nct_id|intervention_type|name|description
1|NCT1|Drug|Larkadol|
2|NCT1|DRUG|Placebo oral tablet|"Looks ""alike"", blind"
3|nct2|Other|Chair yoga|
4|NCT2|BEHAVIORAL|Course for carers|
5|NCT2|DIAGNOSTIC_TEST|Gait analysis|
6|NCT2|Telepathy|Thinking of it|
7|NCT2|Other|Control|
"""
MESH = """id|nct_id|mesh_term|downcase_mesh_term|mesh_type
1|NCT1|Restless Legs Syndrome|restless legs syndrome|mesh-list
2|NCT1|Nervous System Diseases|nervous system diseases|mesh-ancestor
3|NCT1|Parasomnias|parasomnias|mesh-list
"""


@pytest.fixture
def export(tmp_path: Path) -> Path:
    """A folder of the three tables."""
    for name, text in (("conditions", CONDITIONS), ("interventions", INTERVENTIONS), ("browse_conditions", MESH)):
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
    return tmp_path


def found(cells: Mapping[str, str]) -> dict[str, str]:
    """The cells that hold names, by the word of their type."""
    return {column.removeprefix("aact_predictions_"): cell for column, cell in cells.items() if cell != "none"}


def trial(id: str) -> Document:
    return Document(id, ("x",), ("O",), "x")


def test_the_names_of_a_trial_go_to_their_types(export: Path) -> None:
    """Ids are joined in any case, names are in small letters; a bar within a name does not part it."""
    columns = read_export(export)
    assert found(columns.cells(trial("NCT1"))) == {
        "condition": "restless legs syndrome|pain night",
        "drug": "larkadol",
        "control": "placebo oral tablet",
    }
    assert found(columns.cells(trial("NCT2"))) == {
        "physical": "chair yoga",
        "behavioural": "course for carers",
        "control": "control",
    }
    assert found(columns.cells(trial("NCT9"))) == {}
    assert columns.description() == {
        "baseline": "aact",
        "rows": 10,
        "rows_left_out": {"row that breaks off": 1, "type of no interest": 1, "unknown intervention type": 1},
        "trials": 3,
        "mesh": False,
        "abstracts_not_in_export": 1,
    }


def test_only_the_trials_that_are_wanted_are_held(export: Path) -> None:
    """An export has hundreds of thousands of them."""
    assert read_export(export, ["nct3"]).description()["trials"] == 1


def test_terms_of_the_library_come_when_they_are_asked_for(export: Path) -> None:
    """The terms themselves, not those above them; a name that two tables have is one."""
    columns = read_export(export, mesh=True)
    cells = found(columns.cells(trial("NCT1")))
    assert cells["condition"] == "restless legs syndrome|pain night|parasomnias"
    assert columns.description()["rows_left_out"]["ancestor of a term"] == 1


def test_a_table_of_terms_without_their_kind_is_read_whole(export: Path) -> None:
    """Older exports do not tell the ancestors of a term from it, and had none."""
    (export / "browse_conditions.txt").write_text("id|nct_id|mesh_term\n1|NCT1|Parasomnias\n", encoding="utf-8")
    assert "parasomnias" in found(read_export(export, mesh=True).cells(trial("NCT1")))["condition"]


@pytest.mark.parametrize(
    ("registry", "name", "kind"),
    [
        ("Drug", "Aspirin 81 mg", "DRUG"),
        ("BIOLOGICAL", "Botulinum toxin", "DRUG"),
        ("DIETARY_SUPPLEMENT", "Fish oil", "OTHER"),
        ("Dietary Supplement", "Fish oil", "OTHER"),
        ("Radiation", "Proton beam", "RADIOTHERAPY"),
        ("PROCEDURE", "Nerve transfer", "SURGICAL"),
        ("Procedure", "Treadmill walking", "PHYSICAL"),
        ("DEVICE", "Sham stimulation", "CONTROL"),
        ("Device", "Stimulator of pain control", "OTHER"),
        ("DRUG", "Walking stick extract", "DRUG"),
        ("Diagnostic Test", "MRI", ""),
        ("", "MRI", None),
    ],
)
def test_types_of_the_registry_go_to_those_of_the_corpus(registry: str, name: str, kind: str | None) -> None:
    """By the type, and by words of the name for the two types that the registry has not."""
    assert intervention_type(registry, name) == kind


def test_a_folder_that_is_no_export_is_told(tmp_path: Path, export: Path) -> None:
    """A missing table, a missing column."""
    with pytest.raises(UsageError, match=r"conditions\.txt.*--aact"):
        read_export(tmp_path / "nothing")
    (export / "interventions.txt").write_text("id|nct_id|name\n", encoding="utf-8")
    with pytest.raises(UsageError, match="intervention_type"):
        read_export(export)


def test_what_is_written_is_read_again(export: Path, trials: Path, tmp_path: Path) -> None:
    """The table of predictions is one of the authors' formats: all eight types, by abstract."""
    corpus = read_corpus(trials)
    path = tmp_path / "aact.csv"
    write_predictions(path, read_export(export), corpus.documents.values())
    answers = read_predictions(path, corpus)
    assert (answers.system, len(answers.types), answers.problems) == ("aact", 8, [])
    assert answers.answers["NCT2"].names["PHYSICAL"] == ["chair yoga"]
    assert not (tmp_path / "aact.csv.part").exists()


def test_the_command_scores_the_export(export: Path, trials: Path, run: Callable[..., Any]) -> None:
    """Invented trials whose names the registry has are found."""
    told = run("ner-baseline", "aact", "--corpus", trials, "--aact", export)
    assert told["partial"]["by_type"]["DRUG"]["f1"] == 1.0
    assert told["partial"]["by_type"]["PHYSICAL"]["f1"] == 1.0
    assert told["signature"]["baseline"] == "aact"
    assert told["baseline"]["abstracts_not_in_export"] == 0


def test_a_cell_has_each_name_once() -> None:
    """In small letters, in order, and ``none`` where there is nothing."""
    assert cell_of(["Gout", " gout ", "A  |  b", ""]) == "gout|a b"
    assert cell_of([]) == "none"
