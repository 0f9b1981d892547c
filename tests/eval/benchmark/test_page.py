"""The page of a benchmark run: it shows every figure, escapes everything, needs nothing, and bears what is missing."""

from __future__ import annotations

import builtins
import copy
import json
import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from cohortium.eval.bank.acr.labels import Labels
from cohortium.eval.baselines.systems.contract import Answer, Failure, Outcome, Ranked, Spent
from cohortium.eval.benchmark.questions import bank_questions
from cohortium.eval.benchmark.report.figures import answered_zeros, called, count_ticks
from cohortium.eval.benchmark.report.form import read_report
from cohortium.eval.benchmark.report.page import page
from cohortium.eval.benchmark.report.tables import tables
from cohortium.eval.benchmark.scores import score_system
from cohortium.eval.measures.terms import Terms
from cohortium.kb.errors import UsageError

SAMPLE = Path(__file__).with_name("sample_report.json")
TEXT = "Impression: metastatic <lung> cancer & effusion. Plan: osimertinib."


@pytest.fixture
def whole_report() -> dict[str, Any]:
    """An invented run of three systems over nine questions of the bank and a paraphrase."""
    return json.loads(SAMPLE.read_text(encoding="utf-8"))


@pytest.fixture
def report(whole_report: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The same run where figures are not looked at: they are not drawn, which takes longer than all the rest."""
    monkeypatch.setattr("cohortium.eval.benchmark.report.page.figures", lambda report: ())
    return whole_report


def shown(html: str) -> str:
    """What a reader sees of a page: without tags and style."""
    return unescape(re.sub(r"<[^>]+>", " ", re.sub(r"<style>.*?</style>", "", html, flags=re.S)))


def row_of(html: str, table: str, system: str, number: int = 0) -> list[str]:
    """The cells of a system's row in a table, the ``number``-th if it has several."""
    part = html[html.index(f'<table id="{table}">') :]
    part = part[: part.index("</table>")]
    rows = [row for row in re.findall(r"<tr.*?</tr>", part, re.S) if f">{system}<" in row]
    return [unescape(re.sub(r"<[^>]+>", "", cell)) for cell in re.findall(r"<t[hd][^>]*>.*?</t[hd]>", rows[number])]


def test_every_figure_of_every_table_stands_in_the_page(report: dict[str, Any]) -> None:
    """All cells of all tables are in the page, in their rows."""
    html = page(report)
    made = tables(read_report(report))
    assert [one.id for one in made] == [
        "overview", "differences", "table-1", "table-6", "consistency", "table-2", "table-3", "table-4", "efficiency",
        "outcomes", "index",
    ]  # fmt: skip
    for table in made:
        seen: dict[str, int] = {}
        for row in table.rows:
            if row.kind == "section":
                assert row.cells[0] in shown(html)
                continue
            system = row.cells[0]
            assert row_of(html, table.id, system, seen.get(system, 0)) == list(row.cells)
            seen[system] = seen.get(system, 0) + 1


def test_scores_are_shown_in_per_cent_beside_those_of_the_paper(report: dict[str, Any]) -> None:
    """A share of 0.4177 is 41.77; the paper's row of the class follows with its own figures."""
    broad = report["systems"][1]["scores"]["by_size"]["broad"]
    broad["f1"] |= {"value": 0.4177, "ci": [0.3477, 0.4777]}
    broad["oracle_top_k"]["f1"]["value"] = 0.5
    html = page(report)
    ours = row_of(html, "table-1", "minilm-flat")
    assert ours[4:6] == ["41.77", "34.77 – 47.77"]
    assert ours[8] == "50.00"
    assert row_of(html, "table-1", "Hypercube")[2:] == ["76.19", "87.43", "79.40", "–", "78.84", "74.95", "77.13"]


def test_other_wordings_are_no_further_questions(report: dict[str, Any]) -> None:
    """They are told apart from the questions of the bank."""
    own = [one for one in report["questions"] if one["id"] == str(one["of"])]
    assert len(own) < len(report["questions"])
    assert f"Questions: {len(own)}, other wordings: {len(report['questions']) - len(own)}." in shown(page(report))


def test_differences_bear_their_sign_and_interval(report: dict[str, Any]) -> None:
    """In points of per cent; what is undefined is a dash."""
    html = page(report)
    assert row_of(html, "differences", "engine") == [
        "engine", "minilm-flat", "+51.62", "+44.10 to +58.90", "-1.25", "-4.00 to +0.50", "–", "–",
    ]  # fmt: skip


def test_bytes_a_chunk_follow_from_what_an_index_tells(report: dict[str, Any]) -> None:
    """Of an index that tells its bytes and its chunks; words stand to the left, what is no single fact is left out."""
    report["systems"] = report["systems"][:2]
    report["systems"][0]["index"] = {"what": "knowledge base", "bytes": 5000, "events": {"diagnosis": 3}}
    report["systems"][1]["index"] = {"what": "FAISS flat", "bytes": 854061, "chunks": 556}
    html = page(report)
    assert row_of(html, "index", "engine") == ["engine", "knowledge base", "5,000", "–", "–"]
    assert row_of(html, "index", "minilm-flat") == ["minilm-flat", "FAISS flat", "854,061", "556", "1,536"]
    assert "<td>FAISS flat</td>" in html


def test_a_class_without_questions_is_a_heading_alone(report: dict[str, Any]) -> None:
    """Of few patients there may be no sparse question: that is told once, not as rows of dashes."""
    for system in report["systems"]:
        system["scores"]["by_size"]["sparse"] = {"questions": 0, "mean": "micro"}
    html = page(report)
    assert "Sparse: 0 questions" in html
    with pytest.raises(IndexError):
        row_of(html, "table-1", "engine", 2)


def test_an_unknown_price_is_not_free(report: dict[str, Any]) -> None:
    """Requests without a price are a dash; no request at all costs nothing."""
    report["systems"][2]["scores"]["cost"]["total"]["dollars"] = 0.0
    html = page(report)
    assert row_of(html, "efficiency", "minilm+reader")[-2:] == ["–", "–"]
    assert row_of(html, "overview", "minilm+reader")[-1] == "–"
    assert row_of(html, "efficiency", "engine")[-2:] == ["0.00", "0.00"]


def test_a_pair_of_the_paper_is_told_in_its_order(report: dict[str, Any]) -> None:
    """In Tables 3 and 4 B is the narrower question, which the scores name first; of paraphrases either may be first."""
    html = page(report)
    assert row_of(html, "table-3", "minilm-flat") == ["minilm-flat", "this run", "40", "36", "3", "8"]
    assert row_of(html, "table-4", "minilm-flat") == ["minilm-flat", "this run", "9", "6", "2", "33"]
    assert row_of(html, "table-2", "minilm-flat")[2:] == ["5", "6", "2", "33", "1", "20"]
    for system in report["systems"]:
        for pair in system["scores"]["consistency"]["paraphrase"]["pairs"]:
            for one, other in (("first", "second"), ("first_size", "second_size"), ("only_first", "only_second")):
                pair[one], pair[other] = pair[other], pair[one]
    assert row_of(page(report), "table-2", "minilm-flat")[2:] == ["5", "6", "2", "33", "1", "20"]


def test_an_unanswered_pair_is_not_shown_as_consistent(report: dict[str, Any]) -> None:
    """A pair of which one side failed has no row, whatever numbers stand in it."""
    pair = report["systems"][0]["scores"]["consistency"]["subtype"]["pairs"][0]
    pair |= {"status": "failed", "first_size": 0, "second_size": 0, "only_first": 0, "only_second": 0}
    html = page(report)
    part = html[html.index('<table id="table-4">') :]
    assert ">engine<" not in part[: part.index("</table>")]


def test_what_others_wrote_cannot_become_markup(whole_report: dict[str, Any]) -> None:
    """Names of systems, texts of questions, patients, documents, reasons and notes are shown as they are."""
    evil = '<script>alert("1")</script>'
    whole_report["systems"][0]["name"] = evil
    whole_report["systems"][0]["kind"] = evil
    whole_report["systems"][0]["index"][evil] = evil
    whole_report["systems"][0]["scores"]["signature"][evil] = evil
    whole_report["signature"][evil] = evil
    whole_report["corpus"][evil] = evil
    whole_report["questions"][0] |= {"text": evil, "query": evil, "size": evil, "complexity": evil}
    whole_report["systems"][1]["scores"]["outcomes"]["failed_patients"] = {evil: 1}
    whole_report["systems"][1]["scores"]["questions"][0]["outcome"] = evil
    whole_report["systems"][1]["scores"]["consistency"][evil] = copy.deepcopy(
        whole_report["systems"][1]["scores"]["consistency"]["subtype"]
    )
    whole_report["systems"][1]["scores"]["by_documents"][evil] = {}
    whole_report["errors"].append(
        {"system": evil, "question": evil, "patient": evil, "kind": evil, "reasons": [evil],
         "quotes": [{"doc_id": evil, "start": 0, "end": 4}]}
    )  # fmt: skip
    whole_report["texts"] = {evil: f"{evil} a note"}
    html = page(whole_report)
    assert "<script" not in html
    assert "alert" in shown(html)
    assert html.count("&lt;script&gt;") > 10


def test_no_two_places_of_a_page_have_one_name(whole_report: dict[str, Any]) -> None:
    """Every id is unique, and every link within the page leads to one."""
    html = page(whole_report)
    ids = re.findall(r'\bid="([^"]*)"', html)
    assert len(ids) == len(set(ids))
    links = set(re.findall(r'href="#([^"]*)"', html)) | set(re.findall(r"url\(#([^)]*)\)", html))
    assert links <= set(ids)
    assert {"error-1", "question-1"} & links


def test_each_error_leads_to_its_evidence_with_the_quote_marked(report: dict[str, Any]) -> None:
    """With the text of a note the quoted characters are marked in it; without it the place alone is told."""
    report["errors"] = [
        {"system": "engine", "question": "57", "patient": "F-001", "kind": "fp", "reasons": ["diagnosis: lung cancer"],
         "quotes": [{"doc_id": "note-1", "start": 12, "end": 36}]}
    ]  # fmt: skip
    bare = page(report)
    assert "note-1" in bare
    assert "12–36" in bare
    assert "<mark>" not in bare
    html = page(report | {"texts": {"note-1": TEXT}})
    evidence = html[html.index('id="error-1"') :]
    assert '<a href="#error-1">evidence</a>' in html
    assert "<mark>metastatic &lt;lung&gt; cancer</mark>" in evidence
    assert "diagnosis: lung cancer" in evidence


def test_a_quote_beyond_its_note_is_told_as_such(report: dict[str, Any]) -> None:
    """A place that a note has not is never cut down to one that it has."""
    report["errors"][0] |= {"quotes": [{"doc_id": "note-1", "start": 40, "end": 4000}]}
    html = page(report | {"texts": {"note-1": TEXT}})
    assert "no place in it" in html
    assert "<mark>" not in html


def test_a_note_is_looked_up_under_its_patient(report: dict[str, Any]) -> None:
    """Where two patients have a document of one id, each error shows its own patient's."""
    quote = {"doc_id": "note-1", "start": 0, "end": 5}
    report["errors"] = [
        {"system": "engine", "question": "57", "patient": patient, "kind": "fp", "quotes": [quote]}
        for patient in ("F-1", "F-2", "F-3")
    ]
    html = page(report | {"texts": {"F-1": {"note-1": "first one"}, "F-2": {"note-1": "other one"}}})
    assert re.findall("<mark>([^<]*)</mark>", html) == ["first", "other"]


def test_a_kind_of_error_that_is_only_counted_is_told(report: dict[str, Any]) -> None:
    """A question whose misses the report does not list is still told to have them."""
    report["errors"] = [one for one in report["errors"] if one["kind"] == "failed"]
    html = page(report)
    assert [one["question"] for one in report["errors"]] == ["58"]
    missed = sum(one["scores"]["questions"][1]["fn"] for one in report["systems"])
    assert f"{missed} more wanted, not named, not listed" in html


def test_errors_are_capped_and_the_rest_is_counted(report: dict[str, Any]) -> None:
    """Of each kind of a question so many errors are listed, of all systems in turn; all of them are counted."""
    report["errors"] = [
        {"system": system, "question": "57", "patient": f"F-{number}", "kind": "fp", "quotes": [], "reasons": ["why"]}
        for system in ("engine", "minilm-flat")
        for number in range(500)
    ]
    html = page(report, listed=4)
    listed = re.findall(r'<tr id="error-\d+-of"><td>([^<]*)</td>', html)
    assert listed == ["engine", "minilm-flat", "engine", "minilm-flat"]
    assert "1,000 named, not wanted" in html
    assert "996 more named, not wanted, not listed" in html


def test_errors_that_the_report_does_not_list_are_counted_from_the_scores(report: dict[str, Any]) -> None:
    """A report names the first errors alone; the scores know of all of them."""
    wrong = sum(one["scores"]["questions"][0]["fp"] for one in report["systems"])
    assert wrong > 2
    assert f"{wrong:,} named, not wanted" in shown(page(report))


def test_a_large_run_stays_a_page_that_opens(report: dict[str, Any]) -> None:
    """Ten thousands of errors with long evidence give a page under 10 MB."""
    report["texts"] = {"note-1": "word " * 400}
    quotes = [{"doc_id": "note-1", "start": 300, "end": 1200}] * 5
    report["errors"] = [
        {"system": "engine", "question": str(question), "patient": f"F-{number}", "kind": kind, "quotes": quotes,
         "reasons": ["because " * 60] * 5}
        for question in range(114) for kind in ("fp", "fn", "failed") for number in range(60)
    ]  # fmt: skip
    html = page(report)
    assert len(html.encode()) < 10_000_000
    assert html.count('class="question"') == 114
    left_out = re.search(r"The evidence of ([\d,]+) more errors is left out", html)
    assert left_out
    assert int(left_out[1].replace(",", "")) + html.count('class="evidence"') == 114 * 3 * 20


def test_equal_reports_give_equal_bytes(whole_report: dict[str, Any]) -> None:
    """Twice the same report, twice the same page, figures included."""
    assert page(whole_report) == page(copy.deepcopy(whole_report))


def test_the_page_needs_nothing_from_elsewhere(whole_report: dict[str, Any]) -> None:
    """No address, no script, no import, no picture outside of the page."""
    html = page(whole_report)
    assert not re.search(r"https?:|//[a-z]|<script|<link|<img|@import|<iframe|<object", html)
    assert not re.search(r'(?:href|src)="(?!#)', html)


def test_the_three_figures_are_drawn_in_the_page(whole_report: dict[str, Any]) -> None:
    """Figures 3 to 5 are SVG elements with words beside them."""
    html = page(whole_report)
    for id_ in ("figure-3", "figure-4", "figure-5"):
        assert re.search(rf'<figure id="{id_}"><svg role="img" aria-labelledby="{id_}-says"', html)
    assert html.count("</svg>") == 3


def test_without_matplotlib_the_page_says_so_and_keeps_its_tables(
    whole_report: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A missing library costs the figures alone."""
    real = builtins.__import__

    def missing(name: str, *rest: Any, **named: Any) -> Any:
        if name.split(".")[0] == "matplotlib":
            raise ImportError(name)
        return real(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", missing)
    html = page(whole_report)
    assert "cohortium[bench]" in html
    assert "<svg" not in html
    assert '<table id="table-6">' in html


@pytest.mark.parametrize("key", ["consistency", "cost", "outcomes", "by_size", "by_documents", "hallucination", "all"])
def test_a_system_without_a_part_is_shown_without_it(report: dict[str, Any], key: str) -> None:
    """What one system lacks is a dash, or no row, and what all lack is no table."""
    del report["systems"][0]["scores"][key]
    assert row_of(page(report), "overview", "engine")[0] == "engine"
    for one in report["systems"][1:]:
        del one["scores"][key]
    html = page(report)
    assert row_of(html, "overview", "minilm-flat")[0] == "minilm-flat"
    if key == "cost":
        assert '<table id="efficiency">' not in html
    if key == "consistency":
        assert '<table id="table-2">' not in html


@pytest.mark.parametrize("payload", [{}, {"systems": []}, {"systems": [{"name": "engine"}]}])
def test_next_to_nothing_is_a_page_too(payload: dict[str, Any]) -> None:
    """A report without systems, or of a system without scores, is a page without figures."""
    html = page(payload)
    assert html.startswith("<!doctype html>")
    assert "<svg" not in html


def test_to_answer_nothing_is_no_merit(report: dict[str, Any]) -> None:
    """Where no zero-result question was answered there is a dash, not the 0 of empty answers."""
    for one in report["systems"][0]["scores"]["hallucination"]["zero_result"]:
        one |= {"answered": False, "false_positives": 0}
    assert row_of(page(report), "overview", "engine")[9] == "–"


def test_questions_of_figure_5_keep_their_order(report: dict[str, Any]) -> None:
    """What the first system left open stands where the bank has it; what all left open has no place."""
    first, second = (one["scores"]["hallucination"] for one in report["systems"][:2])
    points = [{"id": id_, "false_positives": 1, "answered": True} for id_ in ("41", "42", "65")]
    first["zero_result"] = [*(one | {"answered": False} for one in points[:2]), points[2]]
    second["zero_result"] = [points[0], points[1] | {"answered": False}, points[2]]
    report["systems"] = report["systems"][:2]
    assert answered_zeros(read_report(report)) == ["41", "65"]


@pytest.mark.parametrize(
    ("most", "ticks"), [(0, [0, 1]), (1, [0, 1]), (7, [0, 1, 2, 5, 10]), (150, [0, 1, 2, 5, 10, 20, 50, 100, 200])]
)
def test_the_scale_of_figure_5_can_be_read(most: int, ticks: list[int]) -> None:
    """Its last tick is not under the longest bar, also where that is far from a power of ten."""
    assert count_ticks(most) == ticks


def test_an_empty_group_of_figure_3_is_named_so(report: dict[str, Any]) -> None:
    """Where all patients have as many documents, nobody has between 5 and 4."""
    systems = read_report(
        {"systems": [{"name": "one", "scores": {"by_documents": {"middle third": {"low": 5, "high": 5}}}}]}
    ).systems
    assert called("middle third", systems, lambda scores: scores.by_documents) == "middle third\n(nobody)"


def test_another_form_is_refused_with_the_place() -> None:
    """What is no report of a run is told, with where it is not."""
    with pytest.raises(UsageError, match=r"systems\.0\.name"):
        page({"systems": [{"kind": "engine"}]})


def test_what_the_scores_call_their_parts_is_what_the_page_reads() -> None:
    """Scores of real answers fill every table: a part that was called otherwise would leave dashes."""
    gold = {97: "abcd", 101: "abc", 98: "a", 41: ""}
    patients = "abcdef"
    labels = Labels(
        {one: frozenset(of for of, who in gold.items() if one in who) for one in patients},
        {one: frozenset() for one in patients},
        "0" * 64,
    )
    questions = [one for one in bank_questions() if one.of in gold]
    answers = {
        "97": Answer("97", tuple(Ranked(one, 1.0) for one in "abecdf"), 3, spent=Spent(2.0, 4, dollars=0.3)),
        "101": Answer("101", tuple(Ranked(one, 1.0) for one in "abdc"), 3, failures=(Failure("c", "timeout"),)),
        "98": Answer("98", outcome=Outcome.FAILED, reason="the endpoint is gone"),
        "41": Answer("41", (Ranked("f", 1.0),), 1),
    }
    scores = score_system(answers, questions, labels, dict.fromkeys(patients, 3), patients, Terms(4, 2))
    scores = replace(scores, signature={"line": "system:one|seed:0"})
    report = {
        "systems": [{"name": "one", "kind": "reader", "scores": scores.as_dict()}],
        "questions": [{"id": one.id, "of": one.of, "text": one.text} for one in questions],
    }
    html = page(report)
    # 97: two of four found, one more named; given four, one of them wrong. 101: a and b of three, d wrong.
    assert row_of(html, "table-1", "one")[2:5] == ["66.67", "50.00", "57.14"]
    assert row_of(html, "table-1", "one")[6:] == ["75.00", "75.00", "75.00"]
    assert row_of(html, "table-1", "one", 1)[2:5] == ["66.67", "66.67", "66.67"]
    assert row_of(html, "table-6", "one", 3)[-1] == "16.67"
    assert row_of(html, "table-2", "one") == ["one", "this run", "3", "3", "1", "33", "1", "33"]
    # The pair contradicts itself as a paraphrase, and as a subtype in both directions: one pair.
    assert row_of(html, "overview", "one")[9:11] == ["1", "1 of 1"]
    assert row_of(html, "efficiency", "one")[2:7] == ["4", "0.000", "0.500", "2.000", "1.00"]
    # Six were ranked for one question, four (the failed one of them) for another, one for a third: 0.30 for eleven.
    assert row_of(html, "efficiency", "one")[-1] == "0.027"
    assert row_of(html, "outcomes", "one")[2:9] == ["4", "3", "1", "0", "1", "0", "75.00"]
    assert row_of(html, "outcomes", "one")[-1] == "1"
    assert all("–" not in cell for cell in row_of(html, "outcomes", "one"))
    assert html.count("</svg>") == 3
    assert ">failed</td>" in html
    assert "system:one|seed:0" in shown(html)


def test_figures_bear_a_system_without_a_part(whole_report: dict[str, Any]) -> None:
    """A system that lacks a class or has an undefined score is drawn without it."""
    scores = whole_report["systems"][0]["scores"]
    del scores["by_documents"], scores["by_complexity"]["base"]
    scores["by_size"]["broad"]["f1"] = {"value": None, "ci": None, "spread": None}
    scores["by_size"]["narrow"]["f1"]["ci"] = None
    scores["hallucination"] = {}
    whole_report["systems"][1]["name"] = "costs $5 or $6"
    assert page(whole_report).count("</svg>") == 3
