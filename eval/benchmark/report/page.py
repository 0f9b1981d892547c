"""The report of a benchmark run as one HTML page that needs nothing else: no script, no font, no picture."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any, Final

from ....kb.errors import UsageError
from ...measures.metrics import MEASURES
from ...report import drawing
from ...report.drawing import Figure
from ...report.html import document
from ..errors_part import LISTED, anchors, errors_part
from . import layout
from .consistency_tables import KINDS, violations
from .figures import figures
from .form import BenchmarkReport, read_report
from .layout import Column, Row, Table, as_html
from .paper import load_paper
from .tables import tables
from .wording import MISSING, count

__all__ = ["page"]

_TITLE: Final = "Automatic cohort retrieval: the systems side by side"
#: Pairs of answers that disagree, of one system and kind.
_PAIRS: Final = 20
_STYLE: Final = (
    layout.STYLE
    + drawing.STYLE
    + """
nav ul { columns: 2; padding-left: 1.2rem; }
code { overflow-wrap: anywhere; } mark { background: var(--mark); color: inherit; }
details.question { border-bottom: 1px solid var(--line); padding: .4rem 0; }
details.question > table { width: auto; margin: .5rem 0; }
.evidence { margin: .6rem 0 .6rem 1rem; padding-left: .8rem; border-left: 2px solid var(--line); }
.evidence:target, tr:target { background: var(--band); } .evidence p { margin: .2rem 0; }
blockquote { margin: .2rem 0 .6rem; white-space: pre-wrap; overflow-wrap: anywhere; font-size: .9em; }
.matrix td { white-space: nowrap; } .matrix td:nth-child(2) { white-space: normal; min-width: 18rem; }
"""
)
#: Behind which table a figure stands; those without theirs stand where they would.
_FIGURES_BEHIND: Final[Mapping[str, tuple[str, ...]]] = {"table-1": ("figure-3",), "table-6": ("figure-4", "figure-5")}


def page(payload: Mapping[str, Any], *, listed: int = LISTED) -> str:
    """The page of a report in its JSON form (:mod:`cohortium.eval.benchmark.report.form`).

    ``listed`` errors of a kind are shown of each question. Equal reports give equal pages, byte for byte. Without
    Matplotlib the page says so and has its tables. UsageError for what is no report.
    """
    report = read_report(payload)
    drawn, missing = _drawn(report)
    shown = tables(report)
    sections = [
        *_of_tables(shown, drawn, missing),
        *_of_violations(report),
        *_of_questions(report),
        *_of_errors(report, listed),
        ("paper", "Notes on the paper's figures", _paper()),
        ("measures", "What the numbers mean", _measures()),
        ("repeat", "To repeat this", _signatures(report)),
    ]
    links = "".join(f'<li><a href="#{id_}">{escape(title)}</a></li>' for id_, title, _ in sections)
    parts = [f"<h1>{escape(_TITLE)}</h1>", *_lead(report), f"<nav><ul>{links}</ul></nav>"]
    for id_, title, body in sections:
        parts += [f'<section><h2 id="{id_}">{escape(title)}</h2>', body, "</section>"]
    return document(_TITLE, parts, _STYLE)


def _drawn(report: BenchmarkReport) -> tuple[dict[str, Figure], str]:
    """The figures by id, and what to say where there are none."""
    try:
        return {one.id: one for one in figures(report)}, ""
    except UsageError as error:
        return {}, str(error)


def _lead(report: BenchmarkReport) -> Iterator[str]:
    counts = ", ".join(
        f"{name.replace('_', ' ')} {count(value) if isinstance(value, int) else value}"
        for name, value in report.corpus.items()
        if isinstance(value, int | str)
    )
    systems = ", ".join(one.name for one in report.systems) or "none"
    corpus = f"Corpus: {counts or 'not told'}"
    reworded = sum(one.of is not None and one.id != str(one.of) for one in report.questions)
    asked = f"Questions: {len(report.questions) - reworded}" + (f", other wordings: {reworded}" if reworded else "")
    yield f"<p>Systems: {escape(systems)}. {asked}. {escape(corpus)}.</p>"
    if isinstance(line := report.signature.get("line"), str):
        yield f"<p><code>{escape(line)}</code></p>"
    if {"alpha", "beta"} <= report.bounds.keys():
        alpha, beta = report.bounds["alpha"], report.bounds["beta"]
        yield (
            f"<p>Broad questions have {alpha} patients or more in their gold cohort, narrow ones {beta} or more, "
            "sparse ones fewer, zero-result questions none.</p>"
        )
    yield (
        "<p>Rows in italics, marked <i>the paper</i>, are published figures of the Automatic Cohort Retrieval paper: "
        "other patients and other notes. They show what is usual, not who is better.</p>"
    )


def _of_tables(shown: tuple[Table, ...], drawn: Mapping[str, Figure], missing: str) -> Iterator[tuple[str, str, str]]:
    said = False
    for table in shown:
        # The heading has the id of the table's section, the table its own.
        yield f"{table.id}-section", table.title, as_html(table)
        for id_ in _FIGURES_BEHIND.get(table.id, ()):
            if id_ in drawn:
                yield f"{id_}-section", drawn[id_].title, drawing.as_html(drawn[id_])
            elif missing and not said:
                said = True
                yield "figures-missing", "Figures", f"<p>{escape(missing)}</p>"


def _of_violations(report: BenchmarkReport) -> Iterator[tuple[str, str, str]]:
    texts = {one.id: one.text for one in report.questions}
    folds: list[str] = []
    for system, kind, number, worst in violations(report, _PAIRS):
        equal = kind == "paraphrase"
        rows = [
            Row(
                (
                    _told(one.first, texts),
                    _told(one.second, texts),
                    count(one.first_size),
                    count(one.second_size),
                    count(one.only_first),
                    count(one.only_second) if equal else MISSING,
                )
            )
            for one in worst
        ]
        columns = (
            Column("first", words=True),
            Column("second", words=True),
            Column("|first|"),
            Column("|second|"),
            Column("only first"),
            Column("only second"),
        )
        body = as_html(Table(f"violations-{len(folds)}", "", columns, tuple(rows)))
        left = f"; the {len(worst)} worst" if number > len(worst) else ""
        plural = "" if number == 1 else "s"
        folds.append(
            f"<details><summary>{escape(system)}: {number} {escape(kind)} pair{plural}{left}</summary>{body}</details>"
        )
    if folds:
        rule = "; ".join(KINDS[kind][1] for kind in KINDS)
        yield "violations", "Pairs of answers that contradict each other", f"<p>{escape(rule)}.</p>" + "".join(folds)


def _told(id_: str, texts: Mapping[str, str]) -> str:
    return f"{id_} {texts[id_]}" if texts.get(id_) else id_


def _of_questions(report: BenchmarkReport) -> Iterator[tuple[str, str, str]]:
    """A row for each question, a column for each system: how many it named wrongly and how many it missed."""
    scores = {system.name: {one.id: one for one in system.scores.questions} for system in report.systems}
    scored = [one for one in report.questions if any(one.id in of_system for of_system in scores.values())]
    if not scored:
        return
    places = anchors(report)
    rows = []
    for question in scored:
        id_ = escape(question.id)
        link = f'<a href="#{places[question.id]}">{id_}</a>' if question.id in places else id_
        cells = [link, escape(question.text), count(question.gold), escape(question.size or MISSING)]
        for system in report.systems:
            one = scores[system.name].get(question.id)
            if one is None:
                cells.append(MISSING)
            else:
                cells.append(f"{one.fp} / {one.fn}" if one.outcome == "answered" else escape(one.outcome))
        rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    names = ("id", "question", "gold", "size", *(system.name for system in report.systems))
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = (
        "<p>False positives / false negatives of each system.</p>"
        f'<div class="wide"><table class="matrix"><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )
    yield "questions", "Question by question", body


def _of_errors(report: BenchmarkReport, listed: int) -> Iterator[tuple[str, str, str]]:
    if not report.errors:
        return
    shown = "with their text" if report.texts else "without the text of notes"
    lead = (
        f"<p>Question by question, up to {listed} errors of a kind, the systems in turn, each with what the system "
        f"leans on: its reasons, and places in notes (document, characters), {shown}.</p>"
    )
    yield "errors", "Errors and their evidence", lead + "".join(errors_part(report, listed))


def _paper() -> str:
    paper = load_paper()
    notes = "".join(f"<li>{escape(one)}</li>" for one in paper.notes)
    size = f"{count(paper.patients)} patients, {count(paper.documents)} documents"
    return f"<p>{escape(paper.citation)}. {escape(size)}.</p><ul>{notes}</ul>"


def _measures() -> str:
    return (
        "<dl>" + "".join(f"<dt>{escape(one.name)}</dt><dd>{escape(one.definition)}</dd>" for one in MEASURES) + "</dl>"
    )


def _signatures(report: BenchmarkReport) -> str:
    folds = "".join(
        f"<details><summary>{escape(one.name)}</summary><pre>{_json(one.scores.signature)}</pre></details>"
        for one in report.systems
        if one.scores.signature
    )
    return f"<pre>{_json(report.signature)}</pre>{folds}"


def _json(value: Mapping[str, Any]) -> str:
    return escape(json.dumps(value, indent=2, ensure_ascii=False, default=str))
