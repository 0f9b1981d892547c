"""``cohortium eval acr`` from end to end, and what it says when it is called wrongly."""

import json

import pytest
from typer.testing import CliRunner

from cohortium.__main__ import app

NOTES = (
    {"patient_id": "P1", "doc_id": "1", "date": "2020-01-02", "text": "Diagnosis: adenocarcinoma of the lung. ECOG 1."},
    {
        "patient_id": "P2",
        "doc_id": "1",
        "date": "2020-03-04",
        "text": "Patient with prostate cancer. He died on 3/1/2020.",
    },
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("eval")
    (folder / "notes.jsonl").write_text("".join(json.dumps(note) + "\n" for note in NOTES), encoding="utf-8")
    (folder / "labels.jsonl").write_text(
        '{"patient_id": "P1", "match": [57]}\n{"patient_id": "P3", "match": [58]}\n', encoding="utf-8"
    )
    made = CliRunner().invoke(app, ["ingest", str(folder / "notes.jsonl"), "--kb", str(folder / "kb")])
    assert made.exit_code == 0, made.output
    return folder


def call(folder, *arguments, labels="labels.jsonl"):
    return CliRunner().invoke(app, ["eval", "acr", "--labels", str(folder / labels), *arguments])


def test_scores_are_printed_and_written(folder):
    """A table; JSON and a page beside it; the labelled patient who is not in the knowledge base is missed."""
    out, page = folder / "scores.json", folder / "scores.html"
    done = call(folder, "--kb", str(folder / "kb"), "--json", str(out), "--html", str(page), "--errors")
    assert done.exit_code == 0, done.output
    assert "micro F1" in done.output
    scores = json.loads(out.read_text(encoding="utf-8"))
    rows = {row["id"]: row for row in scores["queries"]}
    assert len(rows) == 114
    assert (rows[57]["tp"], rows[57]["fn"]) == (1, 0)
    assert rows[58]["false_negatives"] == ["P3"]
    assert scores["patients"] == {"labelled": 2, "missing_from_kb": 1, "unlabelled": 1}
    assert scores["coverage"] == 1
    assert scores["unresolved"] == []
    assert "57" in page.read_text(encoding="utf-8")


def test_rows_can_be_printed_as_csv(folder):
    """One a query, with its counts."""
    done = call(folder, "--kb", str(folder / "kb"), "--format", "csv")
    assert done.exit_code == 0, done.output
    assert done.output.splitlines()[0] == "id,tp,fp,fn,abstained,query"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "needs a knowledge base"),
        (("--facts", "facts.jsonl"), "cannot be read"),
        (("--kb", "KB", "--alpha", "2", "--beta", "3"), "at least beta"),
        (("--kb", "nowhere"), "nowhere"),
    ],
)
def test_wrong_calls_leave_with_2_and_say_why(folder, arguments, message):
    """No traceback; ``KB`` stands for the one that is there."""
    done = call(folder, *(str(folder / "kb") if one == "KB" else one for one in arguments))
    assert done.exit_code == 2
    assert message in done.stderr
    assert "Traceback" not in done.output


def test_labels_that_cannot_be_read_leave_with_2(folder):
    """The line is named."""
    (folder / "bad.jsonl").write_text('{"patient_id": "P1"}\n', encoding="utf-8")
    done = call(folder, "--kb", str(folder / "kb"), labels="bad.jsonl")
    assert done.exit_code == 2
    assert "line 1" in done.stderr
