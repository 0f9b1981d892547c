"""Tables as values and their three forms; the paper's figures as data."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from cohortium.eval.bank.acr.bank import load_bank
from cohortium.eval.benchmark.report.layout import PAPER, SECTION, Column, Row, Table, as_markdown
from cohortium.eval.benchmark.report.paper import load_paper
from cohortium.eval.benchmark.report.tables import markdown, print_report
from cohortium.eval.benchmark.report.terminal_tables import print_tables
from cohortium.eval.benchmark.report.wording import dollars, per_cent, plus_minus, seconds, share, value_of
from cohortium.kb.skin.pages import page

SAMPLE = Path(__file__).with_name("sample_report.json")


@pytest.fixture
def report() -> dict[str, Any]:
    """An invented run."""
    return json.loads(SAMPLE.read_text(encoding="utf-8"))


@pytest.fixture
def table() -> Table:
    """A table with a group of columns, a section, and a row of each kind."""
    return Table(
        "small",
        "A small table",
        (Column("system", words=True), Column("P", "group"), Column("R", "group")),
        (Row(("Broad",), SECTION), Row(("a|b", "1", "2")), Row(("ada", "<3>", "4"), PAPER)),
        "A note.",
    )


def test_a_table_as_markdown(table: Table) -> None:
    """Groups stand before the names, a section is bold, the paper's rows are in italics, pipes are no cells."""
    assert as_markdown(table) == (
        "| system | group: P | group: R |\n"
        "| --- | ---: | ---: |\n"
        "| **Broad** |  |  |\n"
        "| a\\|b | 1 | 2 |\n"
        "| *ada* | &lt;3> | 4 |\n"
        "\nA note.\n"
    )


def test_a_table_as_html(table: Table, tmp_path: Path) -> None:
    """A group spans its columns, a section the whole table, and text is escaped."""
    template = tmp_path / "one.html"
    template.write_text('{% import "eval/report/parts.html" as parts %}{{ parts.table(one) }}', encoding="utf-8")
    html = page(template, one=table)
    assert '<th class="group" scope="colgroup" colspan="2">group</th>' in html
    assert '<th scope="rowgroup" colspan="3">Broad</th>' in html
    assert '<tr class="paper"><th scope="row" class="name">ada</th><td class="number">&lt;3&gt;</td>' in html
    assert "<caption>A note.</caption>" in html


def test_a_table_in_a_terminal(table: Table, capsys: pytest.CaptureFixture[str]) -> None:
    """Title, cells and note are printed."""
    print_tables([table])
    out = capsys.readouterr().out
    for text in ("A small table", "group", "Broad", "a|b", "<3>", "A note."):
        assert text in out


def test_a_table_that_is_too_wide_becomes_several(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each has the names of the rows again, no cell is folded, and no line is wider than the terminal."""
    monkeypatch.setattr(
        "cohortium.eval.benchmark.report.terminal_tables.console",
        lambda: Console(file=sys.stdout, width=40, highlight=False),
    )
    names = [f"column {number}" for number in range(9)]
    cells = [f"{number}.123456" for number in range(9)]
    columns = (Column("system", words=True), *(Column(one) for one in names))
    print_tables([Table("wide", "Wide", columns, (Row(("system-of-some-name", *cells)),))])
    out = capsys.readouterr().out
    assert all(cell in out for cell in cells)
    assert out.count("system-of-some-name") == 9
    assert max(map(len, out.splitlines())) <= 40


def test_a_row_of_another_width_is_no_row(table: Table) -> None:
    """A table whose row lacks a cell cannot be built."""
    with pytest.raises(ValueError, match="a row of 1 cells in the table 'small'"):
        Table("small", "", table.columns, (Row(("alone",)),))


def test_markdown_and_terminal_show_what_the_page_shows(
    report: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """All three are made of the same tables."""
    text = markdown(report, "###")
    assert text.startswith("### Overview\n\n| system | kind |")
    assert "| minilm-flat | this run | 9 | 6 | 2 | 33 |" in text
    print_report(report)
    out = capsys.readouterr().out
    for figure in ("61.59", "472,861", "123,456"):
        assert figure in text
        assert figure in out
    assert "61.59 ± 29.50" in text


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        (per_cent(None), "–"),
        (per_cent(0.12345), "12.35"),
        (per_cent(1.0), "100.00"),
        (plus_minus("1.00", None), "1.00"),
        (plus_minus("–", "1.00"), "–"),
        (seconds(0.00014), "0.00014"),
        (seconds(0.02), "0.020"),
        (seconds(0.0), "0.000"),
        (seconds(1234.5), "1,234.5"),
        (dollars(0.1), "0.10"),
        (dollars(0.00012), "0.00012"),
        (dollars(0.0), "0.00"),
        (value_of(34.444), "34.44"),
        (value_of(12345.6), "12,346"),
        (value_of(0.02134), "0.0213"),
    ],
)
def test_numbers_are_written_without_false_precision(shown: str, text: str) -> None:
    """Per cent with two places as in the paper, seconds and dollars with the digits that count."""
    assert shown == text


def test_a_share_of_nothing_is_none() -> None:
    """There is no mean over no questions."""
    assert share(1, 0) is None
    assert share(1, None) is None
    assert share(1, 4) == 0.25


def test_tables_1_and_6_of_the_paper_agree() -> None:
    """Both give precision, recall and F1 of the same three systems: a slip of one of them would show."""
    paper = load_paper()
    for size, rows in paper.retrieval.items():
        full = {one.system: one for one in paper.full[size]}
        for one in rows:
            other = full[one.system]
            assert [spread.value for spread in (other.precision, other.recall, other.f1) if spread] == list(one.found)


def test_the_papers_shares_follow_from_its_counts() -> None:
    """The percentages that Tables 2 to 4 print beside the counts, recomputed."""
    printed = {(97, 101): 23, (58, 113): 4, (58, 107): 5, (58, 105): 4, (58, 18): 33, (102, 103): 20, (103, 99): 38,
               (99, 98): 36, (98, 101): 8, (101, 108): 72}  # fmt: skip
    pairs = load_paper().inconsistencies
    assert {(one.left, one.right): round(100 * one.beyond / one.sizes[1]) for one in pairs} == printed
    assert {number for one in pairs for number in (one.left, one.right)} <= {one.id for one in load_bank()}


def test_a_micro_f1_of_the_paper_follows_from_its_precision_and_recall() -> None:
    """Of sparse questions, where the mean is micro, F1 is the harmonic mean of the two figures beside it."""
    for one in load_paper().retrieval["sparse"]:
        for precision, recall, f1 in (one.found, one.top_k):
            assert f1 == pytest.approx(2 * precision * recall / (precision + recall), abs=0.02)


def test_what_is_illegible_in_the_paper_is_marked() -> None:
    """Two rows of Table 6 are marked, and only they lack a precision where there is one to tell."""
    paper = load_paper()
    marked = [(size, one.system) for size, rows in paper.full.items() for one in rows if one.unclear]
    assert marked == [("broad", "PubMed QA"), ("broad", "BioBERT QA")]
    lacking = [
        (size, one.system) for size, rows in paper.full.items() for one in rows if size != "zero" and not one.precision
    ]
    assert lacking == marked
    assert {size: len(rows) for size, rows in paper.full.items()} == dict.fromkeys(paper.full, 9)
