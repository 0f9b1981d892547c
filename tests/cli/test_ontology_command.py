"""``cohortium ontology`` and ``--ontology``: looking up, checking, adding, and reading with what was added."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from cohortium.kb.ontology.rows import COLUMNS

Command = Callable[..., Result]

ROWS = (
    "erlotinib\tdrug\terlotinib\t\tzorblatinib",
    "quuxoma\ttumor\tquuxoma\tcarcinoma\t\t\tX:1",
)
OBO = """[Term]
id: DOID:9000001
name: quuxoma
synonym: "QXM" EXACT []
is_a: DOID:162

[Term]
id: DOID:162
name: cancer
"""
NOTE = {
    "patient_id": "P1",
    "doc_id": "a",
    "date": "2020-01-02",
    "text": "Quuxoma of the lung. Zorblatinib 80 mg started.",
}


@pytest.fixture
def added(tmp_path: Path) -> Path:
    """A folder of two rows beside the shipped ones."""
    folder = tmp_path / "added"
    folder.mkdir()
    (folder / "ours.tsv").write_text("\n".join(["\t".join(COLUMNS), *ROWS]) + "\n", encoding="utf-8")
    return folder


def test_show_tells_all_of_a_concept(run: Command, added: Path) -> None:
    """By name or code; the added names too; other concepts of the name are told."""
    shown = run("ontology", "show", "RxCUI 1721560")
    assert shown.exit_code == 0
    assert shown.stdout.startswith("osimertinib (drug, osimertinib)\n  synonyms: Tagrisso;")
    assert "is a: EGFR tyrosine kinase inhibitor (egfr_tki)" in shown.stdout
    told = json.loads(run("ontology", "show", "zorblatinib", "--ontology", added, "--format", "json").stdout)
    assert (told["concept"], told["synonyms"][-1]) == ("erlotinib", "zorblatinib")
    assert "also: triple-negative" in run("ontology", "show", "TNBC").stdout
    unknown = run("ontology", "show", "osimertinibb")
    assert unknown.exit_code == 2
    assert "did you mean 'osimertinib'" in unknown.stderr


def test_search_lists_the_best_first(run: Command) -> None:
    """As a table, JSON and CSV; nothing found is no error."""
    told = json.loads(run("ontology", "search", "tagrisso", "--format", "json").stdout)
    assert told["found"][0] == {
        "match": "exact",
        "matched": "Tagrisso",
        "concept": "osimertinib",
        "kind": "drug",
        "name": "osimertinib",
    }
    lines = run("ontology", "search", "osimer", "--kind", "drug", "--limit", "1", "--format", "csv").stdout.splitlines()
    assert lines[0] == "match,name,concept,kind,preferred name"
    assert len(lines) == 2
    assert run("ontology", "search", "qqqqqqqqqq").stdout.strip() == "nothing is called like 'qqqqqqqqqq'"
    assert run("ontology", "search", "x", "--kind", "tumour").exit_code == 2


def test_path_is_a_chain(run: Command) -> None:
    """Up, or up to what is above both and down again."""
    assert run("ontology", "path", "erlotinib", "egfr_tki").stdout == "erlotinib → EGFR tyrosine kinase inhibitor\n"
    both = run("ontology", "path", "Tarceva", "Tagrisso")
    assert both.stdout == "erlotinib → EGFR tyrosine kinase inhibitor ← osimertinib\n"
    told = json.loads(run("ontology", "path", "Tarceva", "Tagrisso", "--format", "json").stdout)
    assert told["paths"] == [
        {"first": ["erlotinib", "egfr_tki"], "second": ["osimertinib", "egfr_tki"], "meeting": "egfr_tki"}
    ]
    assert run("ontology", "path", "erlotinib", "lung cancer").stdout.startswith("nothing is above both")


def test_lint_tells_clean_from_not(run: Command, added: Path) -> None:
    """The shipped ontology is clean; a fault of an added row is told and is exit code 1."""
    assert (run("ontology", "lint").exit_code, run("ontology", "lint", added).stdout) == (0, "clean\n")
    with (added / "ours.tsv").open("a", encoding="utf-8") as file:
        file.write("island\ttumor\tisland tumor\n")
    found = run("ontology", "lint", added)
    assert found.exit_code == 1
    assert "'island' has no parent and is no root" in found.stdout
    assert "1 finding" in found.stderr
    told = run("ontology", "lint", "--ontology", added, "--format", "json")
    assert len(json.loads(told.stdout)["findings"]) == 1
    assert run("ontology", "lint", added, "--ontology", added.parent).exit_code == 2


def test_import_writes_rows_and_tells_what_was_left_out(run: Command, tmp_path: Path) -> None:
    """What it writes, --ontology takes."""
    source = tmp_path / "x.obo"
    source.write_text(OBO)
    done = run("ontology", "import", "obo", source, "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("2 terms: 1 new, 0 extended; 0 names, 1 code\n")
    assert "a name of up to four characters" in done.stdout
    shown = run("ontology", "show", "quuxoma", "--ontology", tmp_path / "out")
    assert "is a: malignant neoplasm (malignant_neoplasm)" in shown.stdout
    again = run("ontology", "import", "obo", source, "--out", tmp_path / "out")
    assert again.exit_code == 2
    assert "is there already" in again.stderr


def test_notes_are_read_with_what_was_added(run: Command, added: Path, tmp_path: Path) -> None:
    """``read`` knows the names; a knowledge base keeps the concepts, answers with them, and its version tells them."""
    note = tmp_path / "n.txt"
    note.write_text(str(NOTE["text"]))
    read = json.loads(run("read", note, "--ontology", added, "--json").stdout)
    assert [one["concept"] for one in read["mentions"] if one["concept"]] == ["quuxoma", "erlotinib"]
    source, kb = tmp_path / "n.jsonl", tmp_path / "n.kb"
    source.write_text(json.dumps(NOTE) + "\n")
    assert run("ingest", source, "--kb", kb, "--ontology", added).exit_code == 0
    assert json.loads(run("query", kb, "X:1 and zorblatinib", "--format", "json").stdout)["patients"] == ["P1"]
    assert json.loads(run("query", kb, "diagnosis of carcinoma", "--format", "json").stdout)["patients"] == ["P1"]
    versions = json.loads(run("info", kb, "--format", "json").stdout)["versions"]
    assert "+" in versions["ontology_files"]
    # Without the folder the same notes are read anew: the knowledge base never mixes two ontologies.
    assert json.loads(run("ingest", source, "--kb", kb, "--format", "json").stdout)["unchanged"] == 1
    assert run("query", kb, "zorblatinib").exit_code == 3


@pytest.mark.parametrize("command", ["read", "ingest"])
def test_a_folder_without_concepts_is_told(run: Command, tmp_path: Path, command: str) -> None:
    """Before anything is read."""
    note = tmp_path / "n.txt"
    note.write_text("x")
    words = (note,) if command == "read" else (tmp_path, "--kb", tmp_path / "x.kb", "--map", "patient_id=file")
    result = run(command, *words, "--ontology", tmp_path / "nowhere")
    assert result.exit_code == 2
    assert "there is no folder" in result.stderr
    assert not (tmp_path / "x.kb").exists()
