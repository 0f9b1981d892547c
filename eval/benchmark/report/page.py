"""The report of a benchmark run as one HTML page that needs nothing else: no script, no font, no picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ....kb.errors import UsageError
from ....kb.skin import pages
from ...measures.metrics import MEASURES
from ...report.drawing import Figure
from .consistency_tables import KINDS, violations
from .errors import LISTED, Errors, anchors
from .figures import figures
from .form import BenchmarkReport, QuestionAsked, read_report
from .layout import Column, Row, Table
from .paper import load_paper
from .tables import tables
from .wording import MISSING, count

#: Pairs of answers that disagree, of one system and kind.
_PAIRS: Final = 20
#: Behind which table a figure stands; those without theirs stand where they would.
_FIGURES_BEHIND: Final[Mapping[str, tuple[str, ...]]] = {"table-1": ("figure-3",), "table-6": ("figure-4", "figure-5")}
_CONTRADICTING: Final = (
    Column("first", words=True),
    Column("second", words=True),
    *map(Column, ("|first|", "|second|", "only first", "only second")),
)


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page: a table, a figure, a sentence, or what the template knows by the id."""

    id: str
    title: str
    table: Table | None = None
    figure: Figure | None = None
    text: str = ""


def page(payload: Mapping[str, Any], *, listed: int = LISTED) -> str:
    """The page of a report in its JSON form (:mod:`cohortium.eval.benchmark.report.form`).

    ``listed`` errors of a kind are shown of each question. Equal reports give equal pages, byte for byte. Without
    Matplotlib the page says so and has its tables. UsageError for what is no report.
    """
    report = read_report(payload)
    contradictions, questions, errors = _violations(report), _questions(report), Errors(report, listed)
    reworded = sum(one.of is not None and one.id != str(one.of) for one in report.questions)
    last = (
        ("violations", "Pairs of answers that contradict each other", contradictions),
        ("questions", "Question by question", questions),
        ("errors", "Errors and their evidence", report.errors),
        ("paper", "Notes on the paper's figures", True),
        ("measures", "What the numbers mean", True),
        ("repeat", "To repeat this", True),
    )
    return pages.page(
        Path(__file__).with_suffix(".html"),
        report=report,
        own=len(report.questions) - reworded,
        reworded=reworded,
        corpus=", ".join(
            f"{name.replace('_', ' ')} {count(value) if isinstance(value, int) else value}"
            for name, value in report.corpus.items()
            if isinstance(value, int | str)
        ),
        sections=[*_tables(report), *(Section(id_, title) for id_, title, held in last if held)],
        rules=[rule for _, rule in KINDS.values()],
        violations=contradictions,
        questions=questions,
        anchors=anchors(report),
        listed=listed,
        errors=errors,
        paper=load_paper(),
        measures=MEASURES,
    )


def _tables(report: BenchmarkReport) -> Iterator[Section]:
    """The tables, and behind them the figures, or once why there are none."""
    missing = ""
    try:
        drawn = {one.id: one for one in figures(report)}
    except UsageError as error:
        drawn, missing = {}, str(error)
    for table in tables(report):
        # The heading has the id of the table's section, the table its own.
        yield Section(f"{table.id}-section", table.title, table)
        for id_ in _FIGURES_BEHIND.get(table.id, ()):
            if id_ in drawn:
                yield Section(f"{id_}-section", drawn[id_].title, figure=drawn[id_])
            elif missing:
                yield Section("figures-missing", "Figures", text=missing)
                missing = ""


def _violations(report: BenchmarkReport) -> list[tuple[str, Table]]:
    """Of each system and kind of check the pairs of answers that disagree, the worst first."""
    texts = {one.id: one.text for one in report.questions}
    found: list[tuple[str, Table]] = []
    for system, kind, number, worst in violations(report, _PAIRS):
        rows = []
        for one in worst:
            questions = (f"{id_} {texts[id_]}" if texts.get(id_) else id_ for id_ in (one.first, one.second))
            second = one.only_second if kind == "paraphrase" else None
            sizes = map(count, (one.first_size, one.second_size, one.only_first, second))
            rows.append(Row((*questions, *sizes)))
        left = f"; the {len(worst)} worst" if number > len(worst) else ""
        summary = f"{system}: {number} {kind} pair{'' if number == 1 else 's'}{left}"
        found.append((summary, Table(f"violations-{len(found)}", "", _CONTRADICTING, tuple(rows))))
    return found


def _questions(report: BenchmarkReport) -> list[tuple[QuestionAsked, list[str]]]:
    """Each scored question, with a cell for each system: how many it named wrongly and how many it missed."""
    scores = [{one.id: one for one in system.scores.questions} for system in report.systems]
    rows = []
    for question in report.questions:
        found = [of_system.get(question.id) for of_system in scores]
        if any(found):
            cells = [
                MISSING if one is None else f"{one.fp} / {one.fn}" if one.outcome == "answered" else one.outcome
                for one in found
            ]
            rows.append((question, [question.text, count(question.gold), question.size or MISSING, *cells]))
    return rows
