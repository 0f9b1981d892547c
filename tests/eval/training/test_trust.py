"""Learning trust: what judged statements teach holds for a writer not there, and what is no judgement is told."""

import json
import random
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cohortium.__main__ import app
from cohortium.eval.training.trust.fit import fit
from cohortium.eval.training.trust.judged import COLUMNS, charts, plain_charts, read_judged
from cohortium.ingest.trust.model import TrustModel
from cohortium.kb.errors import UsageError

ORGANS = ("lung", "colon", "breast", "kidney")
WORDS = "The ward was calm and the night was long. " * 4


def _folder(where: Path, writer: int) -> Path:
    """Notes in which every second cancer is a zebra's."""
    folder = where / f"w{writer}"
    folder.mkdir()
    notes, rows = [], ["\t".join(COLUMNS)]
    for patient in range(6):
        own, other = ORGANS[patient % 4], ORGANS[(patient + 1 + writer) % 4]
        text = f"{WORDS}\n\nShe has {own} cancer, seen by us.\n\nZebras of the herd get {other} cancer at night.\n"
        doc = f"W{writer}-{patient}"
        notes.append({"patient_id": doc, "doc_id": doc, "date": "2020-01-02", "type": "letter", "text": text})
        for organ, verdict, at in ((own, "P", text.index("She")), (other, "N", text.index("Zebras"))):
            start = text.index(f"{organ} cancer", at)
            rows.append(f"{doc}\t{start}\t{start + len(organ) + 7}\tdiagnosis\t{organ}_cancer\t{verdict}\treader")
    (folder / "notes.jsonl").write_text("".join(json.dumps(one) + "\n" for one in notes), encoding="utf-8")
    (folder / "judged.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    where = tmp_path_factory.mktemp("judged")
    return [_folder(where, writer) for writer in range(3)]


def test_what_is_learned_holds_for_a_writer_who_was_not_there(folders: list[Path]) -> None:
    made = fit([chart for folder in folders[:2] for chart in charts(folder)], 1.0, 0.05, 0.3)
    assert (made.statements, made.not_so) == (24, 12)
    assert made.area == 1.0
    model = TrustModel(made.weights)
    for chart in charts(folders[2]):
        likely = model.probabilities(chart.record, chart.statements)
        assert [one >= model.doubt for one in likely] == chart.so


def test_verdicts_that_say_nothing_teach_nothing(folders: list[Path], tmp_path: Path) -> None:
    """With verdicts that do not hang on the words, no writer is foretold."""
    drawn, turned = random.Random(1), []
    for folder in folders:
        copy = tmp_path / folder.name
        copy.mkdir()
        (copy / "notes.jsonl").write_text((folder / "notes.jsonl").read_text(encoding="utf-8"), encoding="utf-8")
        head, *rows = (folder / "judged.tsv").read_text(encoding="utf-8").splitlines()
        by_chance = [[*row.split("\t")[:5], drawn.choice("PN"), "reader"] for row in rows]
        (copy / "judged.tsv").write_text("\n".join([head, *map("\t".join, by_chance)]) + "\n", encoding="utf-8")
        turned.append(copy)
    made = fit([chart for folder in turned for chart in charts(folder)], 1.0, 0.05, 0.3)
    assert made.area < 0.8


def test_a_statement_that_is_read_no_more_is_still_learned_from(folders: list[Path], tmp_path: Path) -> None:
    copy = tmp_path / "w"
    copy.mkdir()
    text = (folders[0] / "notes.jsonl").read_text(encoding="utf-8")
    (copy / "notes.jsonl").write_text(text, encoding="utf-8")
    doc = json.loads(text.splitlines()[0])["doc_id"]
    row = "\t".join([doc, "4", "8", "surgery", "surgery", "W", "reader"])
    (copy / "judged.tsv").write_text("\t".join(COLUMNS) + "\n" + row + "\n", encoding="utf-8")
    (chart,) = charts(copy)
    (one,) = chart.statements
    assert (one.start, one.kind, chart.so) == (4, "surgery", [False])
    assert one.sentence[0] <= 4 < one.sentence[1]


def test_records_that_nobody_judged_are_taken_to_be_so(folders: list[Path]) -> None:
    found = list(plain_charts([folders[0] / "notes.jsonl"]))
    assert found
    assert all(all(chart.so) and chart.statements for chart in found)


@pytest.mark.parametrize(
    ("rows", "what"),
    [
        ("a\tb\n", "columns"),
        ("\t".join(COLUMNS) + "\nD\tx\t2\tstage\tx\tP\treader\n", "no places"),
        ("\t".join(COLUMNS) + "\nD\t1\t2\tstage\tx\tQ\treader\n", "line 2"),
    ],
)
def test_what_is_no_judged_statement_is_told(rows: str, what: str, tmp_path: Path) -> None:
    path = tmp_path / "judged.tsv"
    path.write_text(rows, encoding="utf-8")
    with pytest.raises(UsageError, match=what):
        read_judged(path)


def test_the_command_writes_a_model_and_tells_what_it_finds_on_other_writers(
    folders: list[Path], tmp_path: Path
) -> None:
    out = tmp_path / "trust.tsv"
    run = CliRunner().invoke(app, ["train", "trust", *map(str, folders), "--out", str(out), "--penalty", "1"])
    assert run.exit_code == 0, run.output
    told = json.loads(run.stdout)
    assert told["statements"] == 36
    assert told["unseen_writers"]["area"] == 1.0
    assert "train trust" in out.read_text(encoding="utf-8").splitlines()[1]


@pytest.mark.parametrize("some", [[0], [0, 7]])
def test_one_writer_or_a_folder_without_judgements_is_refused(
    some: list[int], folders: list[Path], tmp_path: Path
) -> None:
    named = [*folders, *[tmp_path] * 5]
    run = CliRunner().invoke(
        app, ["train", "trust", *(str(named[one]) for one in some), "--out", str(tmp_path / "trust.tsv")]
    )
    assert run.exit_code == 2


def test_a_judged_document_that_cannot_be_read_is_told(folders: list[Path], tmp_path: Path) -> None:
    copy = tmp_path / "w"
    copy.mkdir()
    (copy / "notes.jsonl").write_text((folders[0] / "notes.jsonl").read_text(encoding="utf-8"), encoding="utf-8")
    row = "\t".join(["W9-0", "4", "8", "surgery", "surgery", "W", "reader"])
    (copy / "judged.tsv").write_text("\t".join(COLUMNS) + "\n" + row + "\n", encoding="utf-8")
    with pytest.raises(UsageError, match="W9-0"):
        list(charts(copy))


def test_statements_count_as_wholes_by_their_charts_and_not_by_their_weights(folders: list[Path]) -> None:
    """A note alone that counts as much as a record is still none of it, and what nobody judged is measured nowhere."""
    every = [chart for folder in folders for chart in charts(folder)] + list(plain_charts([folders[0] / "notes.jsonl"]))
    assert fit(every, 1.0, 0.05, 1.0, 1.0).statements == 36
