"""Reports in each of their forms, and ``eval mednlp`` over them. All of them are invented."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from cohortium.__main__ import app
from cohortium.eval.extraction.mednlp.matching import credit
from cohortium.eval.extraction.mednlp.reports import MedicalEntity, Reports, _tagged, read_reports

ENTITIES = (MedicalEntity(3, 9, "d", "negative"), MedicalEntity(13, 17, "a"), MedicalEntity(18, 23, "timex3", "DATE"))
TUPLES = {
    "doc_id": "1",
    "text": "no nodule in lung today",
    "entities": [[3, 9, "d", "negative"], {"start": 13, "end": 17, "label": "a"}, [18, 23, "TIMEX3", "DATE"]],
}
TOKENS = {
    "doc_id": "1",
    "tokens": ["no", "nodule", "in", "lung", "today"],
    "tags": ["O", "B-d_negative", "O", "B-a", "B-TIMEX3_DATE"],
}
TAGGED = {
    "doc_id": "1",
    "tagged": 'no <d certainty="negative">nodule</d> in <a>lung</a> <TIMEX3 type="DATE">today</TIMEX3>',
}


def lines(path: Path, *rows: object) -> Path:
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows), encoding="utf-8")
    return path


def run(*words: object) -> Any:
    return CliRunner().invoke(app, ["eval", "mednlp", *map(str, words)], prog_name="cohortium")


@pytest.mark.parametrize("row", [TUPLES, TOKENS, TAGGED])
def test_forms_are_equal(tmp_path: Path, row: dict[str, Any]) -> None:
    """Tuples, BIO tags and tags in the text give the same report."""
    read = read_reports(lines(tmp_path / "one.jsonl", row))
    assert read.reports["1"].text == "no nodule in lung today"
    assert read.reports["1"].entities == ENTITIES
    assert not read.problems


def test_a_tag_on_a_blank_that_the_text_has_not_is_no_entity(tmp_path: Path) -> None:
    """Line ends may be written otherwise; an entity without a letter is told, and the command goes on."""
    row = {"doc_id": "1", "text": "no gout", "tokens": ["no", "\n\n", "gout"], "tags": ["O", "B-a", "B-d"]}
    path = lines(tmp_path / "one.jsonl", row)
    read = read_reports(path)
    assert read.reports["1"].entities == (MedicalEntity(3, 7, "d"),)
    assert read.problems == [("line 1 (1)", "token 2: a tag on a blank that the text has not")]
    assert run("--corpus", path, "--predictions", path).exit_code == 0


def test_articles(tmp_path: Path) -> None:
    """A file of elements is read by their ids; entities of XML are letters again, and places are of the plain text."""
    text = (
        f'<articles><article id="1">{TAGGED["tagged"]}</article><article id="2">p&lt;1 <d>gout</d></article></articles>'
    )
    read = read_reports(lines(tmp_path / "one.xml", text))
    assert read.reports["1"].entities == ENTITIES
    assert read.reports["2"].text == "p<1 gout"
    assert read.reports["2"].entities == (MedicalEntity(4, 8, "d"),)


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    """A wrong line, report or entity has a place and a reason, unknown labels are counted, and the rest is read."""
    rows = [
        "no json",
        {"text": "no id"},
        TUPLES,
        TUPLES,
        {"doc_id": "2", "text": "gout", "entities": [[0, 9, "d"], [0, 4], [0, 4, 7], [0, 4, "gene"], [0, 4, "d"]]},
        {"doc_id": "3", "tokens": ["a", "b"], "tags": ["O"]},
        {"doc_id": "4", "tagged": "<d>gout</a> and <a>"},
        {"doc_id": "5"},
    ]
    read = read_reports(lines(tmp_path / "one.jsonl", *rows))
    assert list(read.reports) == ["1", "2", "3", "4", "5"]
    assert read.reports["2"].entities == (MedicalEntity(0, 4, "d"),)
    assert read.unknown_labels == {"gene": 1}
    assert read.problems == [
        ("line 1", "no doc_id, or not JSON"),
        ("line 2", "no doc_id, or not JSON"),
        ("line 4 (1)", "a second report of this id; the first counts"),
        ("line 5 (2)", "entity 1: no span from 0 to 9 of this text"),
        ("line 5 (2)", "entity 2: not [start, end, label, modality]"),
        ("line 5 (2)", "entity 3: label and modality are not words"),
        ("line 6 (3)", "1 tags for 2 tokens"),
        ("line 7 (4)", "</a> closes nothing"),
        ("line 7 (4)", "<d> is not closed"),
        ("line 7 (4)", "<a> is not closed"),
        ("line 8 (5)", "entities: no list"),
    ]


NOTHING = [
    "", "\n \n", "no json", "[]", "<article>no id", '<article id="1">not closed', {"text": "no id"}, {"doc_id": "1"},
    {"doc_id": "1", "text": "gout", "entities": {"d": 1}}, {"doc_id": "1", "text": "gout", "entities": [[4, 9, "d"]]},
    {"doc_id": "1", "tokens": ["a", "b"], "tags": ["O"]}, {"doc_id": "1", "tokens": "gout"},
]  # fmt: skip


@pytest.mark.parametrize("row", NOTHING)
def test_answers_of_which_nothing_can_be_read_are_no_empty_answers(tmp_path: Path, row: object) -> None:
    """It is exit code 2 with the file and what is expected; beside one that can be read it is counted."""
    gold, wrong = lines(tmp_path / "gold.jsonl", TUPLES), lines(tmp_path / "wrong.jsonl", row)
    done = run("--corpus", gold, "--predictions", wrong)
    assert done.exit_code == 2, done.output
    assert str(wrong) in done.output
    assert "JSON lines with doc_id and text and entities" in done.output
    assert run("--corpus", wrong, "--predictions", gold).exit_code == 2
    if isinstance(row, dict):
        partly = run("--corpus", gold, "--predictions", lines(tmp_path / "partly.jsonl", row, TUPLES | {"doc_id": "2"}))
        assert partly.exit_code == 0
        assert "1 place of the predictions could not be read" in partly.output


def test_a_report_without_an_entity_is_an_answer(tmp_path: Path) -> None:
    """A system that found nothing says so with an empty list, or with a text without a mark."""
    gold = lines(tmp_path / "gold.jsonl", TUPLES)
    for row in ({"doc_id": "1", "text": TUPLES["text"], "entities": []}, {"doc_id": "1", "tagged": TUPLES["text"]}):
        assert run("--corpus", gold, "--predictions", lines(tmp_path / "none.jsonl", row)).exit_code == 0


GROWING = {
    "nested": lambda size: "x<d>" * size + "y" + "</d>z" * size,
    "never opened": lambda size: "<d>" * size + "</a>" * size,
    "never closed": lambda size: "<d><a>" * size + "</d>",
    "side by side": lambda size: "<d>x</d>" * size,
    "long attribute": lambda size: f"<d {'a' * size}>x</d>",
}


@pytest.mark.parametrize("shape", GROWING)
def test_work_grows_with_the_length(tmp_path: Path, shape: str) -> None:
    """Four times the marks run at most six times the lines of code, in reading and in matching."""

    def work(size: int) -> int:
        path = lines(tmp_path / f"{size}.jsonl", {"doc_id": "1", "tagged": GROWING[shape](size)})

        def all_of_it() -> None:
            (report,) = read_reports(path).reports.values()
            credit(report, report.entities, ("d", "a"), "label", "partial", None)

        return lines_run(all_of_it)

    assert work(160) <= 6 * work(40)


def lines_run(work: Callable[[], object]) -> int:
    """How many lines of Python code ``work`` runs."""
    number = 0

    def count(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal number
        number += event == "line"
        return count

    held = sys.gettrace()
    sys.settrace(count)
    try:
        work()
    finally:
        sys.settrace(held)
    return number


def test_articles_that_are_not_closed_are_looked_at_once(tmp_path: Path) -> None:
    """A pattern that looks for each one's end would not come to an end; the closed one is read."""
    path = tmp_path / "one.xml"
    path.write_text('<article id="1"><d>gout</d></article>' + '<article id="2">' * 200_000)
    assert list(read_reports(path).reports) == ["1"]


@given(st.text(alphabet="ab<>/d =\"'&;", max_size=40))
def test_marked_text_is_read_whatever_it_is(marked: str) -> None:
    """No text raises, and what is found lies in the plain text."""
    text, entities = _tagged("", marked, Reports())
    assert all(0 <= one.start < one.end <= len(text) for one in entities)


def test_scores_by_hand(tmp_path: Path) -> None:
    """Two of three found, one with a wrong modality; the weighted scores divide by the same numbers."""
    corpus = lines(tmp_path / "gold.jsonl", TUPLES, {"doc_id": "2", "text": "calm", "entities": []})
    found = {**TUPLES, "entities": [[3, 9, "d", "positive"], [13, 17, "a"]]}
    predictions = lines(tmp_path / "found.jsonl", found, {"doc_id": "9", "text": "x", "entities": []})
    train = lines(tmp_path / "train.jsonl", {"doc_id": "t", "text": "lung", "entities": [[0, 4, "a"]]})
    result = run("--corpus", corpus, "--predictions", predictions, "--train", train, "--format", "json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.output)
    exact = told["exact"]
    assert [exact["label"]["normal"][name] for name in ("precision", "recall", "f1")] == pytest.approx([1, 2 / 3, 0.8])
    assert exact["label_modality"]["normal"]["f1"] == pytest.approx(2 * 1 / (2 + 3))
    assert exact["label"]["weighted"]["precision"] == pytest.approx((1 + 0.5906) / 2, abs=1e-4)
    assert exact["label"]["weighted"]["recall"] == pytest.approx((1 + 0.5906) / 3, abs=1e-4)
    assert exact["by_label"]["timex3"]["normal"]["f1"] == 0
    assert exact["by_label"]["m-key"]["normal"]["f1"] is None
    low, high = exact["label"]["normal"]["ci"]
    assert low <= 0.8 <= high
    assert told["reports"]["without_prediction"] == ["2"]
    assert told["reports"]["not_in_corpus"] == ["9"]


def test_radiology_reports_have_fewer_tags(tmp_path: Path) -> None:
    """A medicine counts in a case report and not in a radiology report; without training nothing is weighted."""
    row = {"doc_id": "1", "text": "larkadol", "entities": [[0, 8, "m-key"]]}
    corpus = lines(tmp_path / "gold.jsonl", row)
    for tags, gold in (("CR", 1), ("RR", 0)):
        result = run("--corpus", corpus, "--predictions", corpus, "--tags", tags, "--format", "json")
        told = json.loads(result.output)
        assert told["partial"]["span"]["normal"]["gold"] == gold
        assert told["partial"]["span"]["weighted"] is None


def test_another_text_is_told(tmp_path: Path) -> None:
    """Places of another text are scored as they stand, and said to be such."""
    corpus = lines(tmp_path / "gold.jsonl", TUPLES)
    other = lines(tmp_path / "found.jsonl", {**TUPLES, "text": "No nodule in lung today!"})
    told = json.loads(run("--corpus", corpus, "--predictions", other, "--format", "json").output)
    assert told["problems"] == [{"file": "predictions", "place": "1", "reason": "its text is not that of the corpus"}]
    assert "not read" in run("--corpus", corpus, "--predictions", other).output


def test_no_report_is_a_wrong_call(tmp_path: Path) -> None:
    """An empty file, or one that is not there, ends with 2 and a hint."""
    empty = lines(tmp_path / "empty.jsonl")
    assert run("--corpus", empty, "--predictions", empty).exit_code == 2
    assert run("--corpus", tmp_path / "no.jsonl", "--predictions", empty).exit_code == 2
