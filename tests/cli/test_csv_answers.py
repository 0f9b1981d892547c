"""Answers as tables for a spreadsheet: the evidence sheet, the attrition table, and what csv refuses to leave out."""

from __future__ import annotations

import csv
import io
import itertools
import json
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from typer.testing import Result

from cohortium.__main__ import commands
from tests.places import SAMPLES

Command = Callable[..., Result]
LUNG = "lung cancer and not metastasis to brain"


def rows_of(result: Result) -> list[dict[str, str]]:
    """The rows of a csv answer, which must be one."""
    assert result.exit_code == 0, result.output
    return list(csv.DictReader(io.StringIO(result.stdout)))


def test_the_evidence_sheet_has_every_piece_of_evidence(run: Command, sample_kb: Path) -> None:
    """A row for each patient, criterion and quote, as the explanations have them; the words stand in the note there."""
    rows = rows_of(run("query", sample_kb, LUNG, "--explain", "--format", "csv"))
    told = json.loads(run("query", sample_kb, LUNG, "--explain", "--format", "json").stdout)
    assert list(dict.fromkeys(row["patient_id"] for row in rows)) == told["patients"]
    wanted = [
        (patient, part["text"], quote["doc_id"], str(quote["start"]), quote["text"])
        for patient in told["patients"]
        for part in told["explanations"][patient]["criterion"]["parts"]
        for event in (*part["events"], *part["others"])
        for quote in event["quotes"]
    ]
    assert wanted
    got = [(row["patient_id"], row["criterion"], row["doc_id"], row["start"], row["words"]) for row in rows]
    assert [one for one in got if one[2] and one[1] != rows[0]["criterion"]] == wanted
    texts = {note["doc_id"]: note["text"] for note in map(json.loads, SAMPLES.read_text().splitlines())}
    for row in rows:
        if row["doc_id"]:
            assert texts[row["doc_id"]][int(row["start"]) : int(row["end"])] == row["words"]
            assert " ".join(row["words"].split()) in row["quote"]
            assert row["counts"] in ("yes", "no")
    assert {row["part"] for row in rows} >= {"1", "1.1", "1.2"}
    assert {row["truth"] for row in rows} <= {"certain", "believed", "possible", "no"}


def test_the_sheet_of_one_patient_and_of_ranked_ones(run: Command, sample_kb: Path) -> None:
    """``explain`` gives the rows of that patient; ranked, the patients come in the order of the ranking."""
    rows = rows_of(run("query", sample_kb, "lung cancer", "--explain", "--format", "csv"))
    for patient in {row["patient_id"] for row in rows}:
        alone = rows_of(run("explain", sample_kb, "lung cancer", patient, "--format", "csv"))
        assert alone == [row for row in rows if row["patient_id"] == patient]
    best = rows_of(run("query", sample_kb, "diagnosis", "--rank", "--limit", 3, "--format", "csv"))
    assert len(best) == 3
    sheet = rows_of(run("query", sample_kb, "diagnosis", "--rank", "--limit", 3, "--explain", "--format", "csv"))
    assert list(dict.fromkeys(row["patient_id"] for row in sheet)) == [row["patient_id"] for row in best]
    shown = run("query", sample_kb, "diagnosis", "--top", 2, "--explain").stdout
    assert all(f"{row['patient_id']}: certain" in shown for row in best[:2])


def test_the_attrition_table_is_the_funnel_in_three_worlds(run: Command, sample_kb: Path) -> None:
    """What remains, is removed and would be regained, as JSON has it; the first row is everybody."""
    everybody, *rows = rows_of(run("funnel", sample_kb, LUNG, "--format", "csv"))
    told = json.loads(run("funnel", sample_kb, LUNG, "--format", "json").stdout)
    assert everybody["remain_believed"] == str(told["patients"])
    assert [row["criterion"] for row in rows] == ["diagnosis lung cancer", "metastasis to brain"]
    assert [row["excluded"] for row in rows] == ["no", "yes"]
    for row, one in zip(rows, told["criteria"], strict=True):
        for world in ("believed", "certain", "possible"):
            assert row[f"remain_{world}"] == str(one["remain"][world])
            assert row[f"removes_{world}"] == str(one["removes_by_world"][world])
            assert row[f"gain_{world}"] == str(one["gain_by_world"][world])
        assert one["removes"] == one["removes_by_world"]["believed"]
    for world in ("believed", "certain", "possible"):
        left = [int(row[f"remain_{world}"]) for row in (everybody, *rows)]
        assert [one - other for one, other in itertools.pairwise(left)] == [
            int(row[f"removes_{world}"]) for row in rows
        ]
        count = json.loads(run("query", sample_kb, LUNG, "--world", world, "--format", "json").stdout)["count"]
        assert left[-1] == count
    added = rows_of(run("funnel", sample_kb, "lung cancer or breast cancer", "--format", "csv"))
    assert list(added[0])[2:] == [f"{what}_{world}" for what in ("found", "adds", "loss")
                                  for world in ("believed", "certain", "possible")]  # fmt: skip


def test_a_question_has_rows_or_says_why_not(run: Command, sample_kb: Path) -> None:
    """The patients of its cohort; a declined question leaves the heading, and its reason on standard error."""
    asked = run("ask", sample_kb, "lung cancer patients", "--format", "csv")
    assert rows_of(asked) == rows_of(run("query", sample_kb, "lung cancer", "--format", "csv"))
    assert "Patients with" in asked.stderr
    declined = run("ask", sample_kb, "patients who frobnicate", "--format", "csv")
    assert (declined.exit_code, declined.stdout) == (8, "patient_id,certainty\n")
    assert "not answered" in declined.stderr


#: Options of commands that print csv. What is asked, of what, by which rules:
ASKING = {
    "--world", "--limit", "--set", "--definitions", "--sql", "--llm", "--seconds", "--kind", "--ontology", "--labels",
    "--kb", "--facts", "--alpha", "--beta", "--seed", "--natural", "--queries", "--gold", "--predictions", "--strata",
    "--by", "--convention", "--only", "--corpus", "--train", "--tags", "--model", "--map", "--device", "--runtime",
    "--threads", "--column", "--types", "--terminology", "--aact", "--mesh", "--prompts", "--requests", "--tokens",
    "--today", "--clarify",
}  # fmt: skip
#: Files that are written besides, and the form itself.
BESIDES = {"--json", "--html", "--answers", "--review", "--predictions-out", "--format", "--raw"}
#: Options that ask for more to be told, and how csv tells it: by rows or columns, or not at all and then it says so.
SHOWN = {
    ("query", "--explain"), ("query", "--rank"), ("query", "--top"), ("eval acr", "--errors"),
    ("eval facts", "--dates"),
}  # fmt: skip
REFUSED = {("eval facts", "--misses"), ("eval variants", "--errors")}


def test_csv_leaves_no_option_out_silently() -> None:
    """Each option of a command that prints csv is known: one that asks for more is shown there, or refused."""
    waiting = [("", typer.main.get_command(commands()))]
    unknown = []
    while waiting:
        name, one = waiting.pop()
        waiting += [(f"{name} {word}".strip(), inner) for word, inner in getattr(one, "commands", {}).items()]
        options = {parameter.opts[0]: parameter for parameter in one.params if parameter.param_type_name == "option"}
        if "no rows for csv" in (getattr(options.get("--format"), "help", "") or "no rows for csv"):
            continue
        unknown += [
            (name, option)
            for option in options
            if option not in ASKING | BESIDES | {"--help"} and (name, option) not in SHOWN | REFUSED
        ]
    assert not unknown


@pytest.mark.parametrize(
    "words",
    [
        ("query", "KB", "death", "--format", "csv", "--json", "-"),
        ("why-not", "KB", "death", "SAMPLE-01", "--format", "csv"),
        ("eval", "facts", "--kb", "KB", "--facts", "F", "--misses", "3", "--format", "csv"),
        ("eval", "variants", "--corpus", "C", "--errors", "--format", "csv"),
        ("read", "-", "--brat", "-", "--json"),
        ("read", "-", "--brat", "-", "--format", "json"),
        ("read", "-", "--json", "--format", "csv"),
        ("read", "-", "--format", "csv"),
        ("read", "-", "--steps", "--brat", "-"),
        ("verify", "KB", "death", "--format", "csv"),
    ],
)
def test_what_cannot_be_had_together_is_refused(run: Command, sample_kb: Path, words: tuple[str, ...]) -> None:
    """Exit 2 before anything is asked or printed."""
    result = run(*(sample_kb if word == "KB" else word for word in words), stdin="death")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Hint: " in result.stderr
