"""What cannot be read is told without a word of it: neither errors nor reasons show cells, lines or texts."""

from __future__ import annotations

import csv
import gzip
import itertools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from cohortium.engine.commands.verification import read_proofs
from cohortium.eval.bank.acr.labels import load_labels
from cohortium.eval.extraction.coral.answers import load_answers
from cohortium.eval.extraction.coral.review import read_sheet
from cohortium.eval.extraction.coral.strata import load_strata
from cohortium.eval.extraction.coral.tasks import shipped
from cohortium.eval.extraction.corpora.reading import read_annotated
from cohortium.eval.extraction.corpora.splits import Split
from cohortium.eval.extraction.mednlp.reports import read_reports
from cohortium.eval.extraction.negex import read_marked
from cohortium.eval.extraction.notation.corpora import read_corpus
from cohortium.ingest.abstraction.records import BadRecord, read_abstractions
from cohortium.ingest.coral_schema.standoff import load as load_standoff
from cohortium.ingest.readers.mapping import is_surely_a_name
from cohortium.ingest.readers.sources import Sources
from cohortium.kb.errors import CohortiumError
from cohortium.kb.storage.rows import QuarantinedRecord

#: Cells of a row, each a word or a few as in a first row of a table without a header; none may be told.
CELLS = ("Zanzibar", "P-8841", "1961-07-09", "Quuxoma", "no fever", "T2", "metastatic", "Mrs. Xylander", "4711", "her2")


def told(work: Callable[[], object]) -> str:
    """What an error says, with what stands behind it; empty where there is none."""
    try:
        work()
    except CohortiumError as error:
        return str(error)
    return ""


def silent(words: str) -> None:
    """None of the cells is told."""
    assert [cell for cell in CELLS if cell.lower() in words.lower()] == []


def rows(path: Path, *cells: tuple[str, ...], delimiter: str = ",") -> Path:
    """A table."""
    with path.open("w", newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows(cells)
    return path


def tables(folder: Path) -> Iterator[Path]:
    """Tables without headers, or with such that are none, in every form."""
    yield rows(folder / "a.csv", CELLS, CELLS)
    yield rows(folder / "b.tsv", CELLS, CELLS, delimiter="\t")
    yield rows(folder / "c.csv", ("Zanzibar", "Quuxoma", "Zanzibar"))
    yield rows(folder / "d.csv", ("patient_id", "Zanzibar", "Quuxoma"))
    yield rows(folder / "e.csv", ("text", *CELLS))
    packed = folder / "f.csv.gz"
    packed.write_bytes(gzip.compress((folder / "a.csv").read_bytes()))
    yield packed
    for number, cell in enumerate(CELLS):
        yield rows(folder / f"one{number}.csv", (cell,))
    named = ", ".join(f"'x' AS \"{cell}\"" for cell in CELLS)
    duckdb.sql(f"SELECT {named}").write_parquet(str(folder / "g.parquet"))
    yield folder / "g.parquet"
    with duckdb.connect(str(folder / "h.duckdb")) as database:
        database.execute(f"CREATE TABLE note AS SELECT {named}")
    yield folder / "h.duckdb"
    yield rows(folder / "i.csv", ("x" * 2_000_000 + CELLS[0],))
    yield rows(folder / "j.csv", CELLS * 2_000)


def test_a_table_without_header_shows_no_cell(tmp_path: Path) -> None:
    """Whatever is asked of it: nothing, a column that it lacks, one that a cell is like."""
    for path in tables(tmp_path):
        for mapping in ({}, {"patient_id": "zanzibr"}, {"patient_id": "patient_id", "text": "quuxom"}):
            words = told(lambda: list(Sources([path], mapping)))  # noqa: B023
            assert words, path
            silent(words.replace("zanzibr", "").replace("quuxom'", ""))


def test_names_of_columns_are_shown() -> None:
    """As other systems write them; cells are not, though they be short."""
    names = ("subject_id", "note_text", "chart_date", "NOTE_ID", "PatientID", "noteText",
             "Document Type", "report.title", "MRN", "encounter-id")  # fmt: skip
    assert all(map(is_surely_a_name, names))
    assert not any(map(is_surely_a_name, (*CELLS, "", "-", "note 7", "patient 12", "Lung cancer stage", "text é", "1")))


RECORDS = {
    "n.jsonl": [
        json.dumps({"patient_id": "P-8841", "text": 4711, "date": "1961-07-09"}), "{Zanzibar", '{"text": "Zanzibar"}',
        json.dumps({"patient_id": ["Zanzibar"], "text": "Quuxoma"}),
        json.dumps({"patient_id": "x", "text": "Quuxoma", "date": "Mrs. Xylander"}),
        '{"patient_id": "x", "patient_id": "Zanzibar"}', '["Zanzibar"]', '{"Zanzibar": NaN}',
    ],
    "n.csv": ["patient_id,text,date", "x,Zanzibar,Quuxoma", "x,Zanzibar", 'x,"Zanz"ibar,Quuxoma'],
    "n.json": ['{"resourceType": "Zanzibar"}'],
    "m.json": [json.dumps({"resourceType": "DocumentReference", "subject": {"reference": "Patient/x"}, "content": [
        {"attachment": {"contentType": "text/Zanzibar", "data": "Zanzibar"}}]})],
}  # fmt: skip


@pytest.mark.parametrize("name", RECORDS)
def test_a_reason_shows_nothing_of_its_record(tmp_path: Path, name: str) -> None:
    """In quarantine, and what is told of the run."""
    path = tmp_path / name
    path.write_text("\n".join(RECORDS[name]) + "\n")
    sources = Sources([path])
    found = [one for one in sources if isinstance(one, QuarantinedRecord)]
    assert found
    for one in found:
        silent(f"{one.source} {one.place} {one.reason}")


def readers() -> dict[str, Callable[[Path], Any]]:
    """Whoever reads a file of people, with its name."""
    tasks = shipped()
    return {
        "proofs.json": read_proofs,
        "labels.jsonl": lambda path: load_labels(path, {1, 2}),
        "answers.jsonl": lambda path: load_answers(path, tasks),
        "sheet.tsv": read_sheet,
        "strata.tsv": lambda path: load_strata(path, ["x"]),
        "corpus.tsv": read_annotated,
        "corpus.json": read_annotated,
        "split.tsv": Split.read,
        "reports.jsonl": read_reports,
        "marked.txt": read_marked,
        "notation.txt": read_corpus,
        "note.ann": load_standoff,
        "facts.jsonl": lambda path: [one.reason for one in read_abstractions(path) if isinstance(one, BadRecord)],
    }


WORDS = " ".join(CELLS)
CONTENTS = (
    WORDS,
    ",".join(CELLS),
    "\t".join(CELLS),
    f'{{"{WORDS}": "{WORDS}"',
    json.dumps(list(CELLS)),
    json.dumps({"patient_id": "x", "task": WORDS, "document": WORDS, "output": WORDS, "match": [WORDS], "facts": [
        {"kind": cell, "concept": cell, "date": cell} for cell in CELLS
    ] + [{"kind": "diagnosis", "concept": cell, "date": cell, "assertion": cell} for cell in CELLS]}),
    f"T1\tZanzibar 0 3\t{WORDS}\nT1\tZanzibar 0 3\t{WORDS}",
)  # fmt: skip


def test_no_reader_tells_words_of_a_file(tmp_path: Path) -> None:
    """Prose, tables, broken JSON and JSON of another shape, read as each of the forms."""
    errors = 0
    for (name, reader), (number, content) in itertools.product(readers().items(), enumerate(CONTENTS)):
        path = tmp_path / f"{number}" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content + "\n")
        found: list[Any] = []
        words = told(lambda: found.append(reader(path)))  # noqa: B023
        errors += bool(words)
        silent(words)
        if name == "facts.jsonl":
            silent(" ".join(map(str, found)))
    assert errors > 60
