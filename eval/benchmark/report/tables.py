"""The tables of a benchmark report: the paper's Tables 1 to 4 and 6, its figures beside ours; cost, outcomes, index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ...measures.classes import SIZES
from .consistency_tables import consistency, pairs_of
from .form import BenchmarkReport, CostOf, DifferenceOf, Estimate, Part, read_report
from .layout import PAPER, SECTION, Column, Row, Table, as_markdown
from .paper import Paper, Spread, load_paper
from .terminal_tables import print_tables
from .wording import MISSING, count, dollars, per_cent, plus_minus, seconds, share, value_of

_SYSTEM: Final = Column("system", words=True)
_OF: Final = Column("figures of", words=True)
_THREE: Final = ("precision", "recall", "f1")
_FOUR: Final = (*_THREE, "false_positive_rate")
_FROM_THE_PAPER: Final = "the paper"
#: The tables that a terminal shows; all of them stand in the page.
_PRINTED: Final = ("overview", "differences", "table-1", "consistency", "efficiency", "outcomes", "index")
_CLASSES: Final = {"broad": "Broad", "narrow": "Narrow", "sparse": "Sparse", "zero": "Zero-result"}


def tables(report: BenchmarkReport) -> tuple[Table, ...]:
    """All tables that the report has figures for, in the order in which they are shown."""
    paper = load_paper()
    made = (
        overview(report),
        differences(report),
        retrieval(report, paper),
        full(report, paper),
        *consistency(report, paper),
        efficiency(report, paper),
        outcomes(report),
        index(report, paper),
    )
    return tuple(one for one in made if one.rows)


def markdown(payload: Mapping[str, Any], heading: str = "##") -> str:
    """The tables of a report in its JSON form, as Markdown. UsageError if it is of another form."""
    return "\n".join(f"{heading} {one.title}\n\n{as_markdown(one)}" for one in tables(read_report(payload)))


def print_report(payload: Mapping[str, Any]) -> None:
    """The main tables of a report in its JSON form, on standard output. UsageError if it is of another form."""
    print_tables(one for one in tables(read_report(payload)) if one.id in _PRINTED)


def overview(report: BenchmarkReport) -> Table:
    """One row for each system: quality over all questions, false alarms, contradictions, time and money."""
    columns = (
        _SYSTEM,
        Column("kind", words=True),
        *(Column(name, "all questions, micro") for name in ("P", "R", "F1", "95% interval of F1")),
        *(Column(size, "F1") for size in SIZES if size != "zero"),
        Column("zero-result false positives"),
        Column("contradicting pairs"),
        Column("answered %"),
        Column("median s"),
        Column("US$ a question"),
    )
    rows = []
    for one in report.systems:
        scores, ended, cost = one.scores, one.scores.outcomes, one.scores.cost
        every = scores.all or Part()
        zeros = [zero.false_positives for zero in scores.hallucination.zero_result if zero.answered]
        pairs = None if scores.consistency is None else pairs_of(scores.consistency.values())
        cells = (
            *(per_cent(getattr(every, name).value) for name in _THREE),
            _interval(every.f1),
            *(per_cent(scores.by_size.get(size, Part()).f1.value) for size in SIZES if size != "zero"),
            count(sum(zeros)) if zeros else MISSING,
            MISSING if pairs is None else f"{count(sum(pairs.values()))} of {count(len(pairs))}",
            MISSING if ended is None else per_cent(share(ended.answered, ended.questions)),
            MISSING if cost is None else seconds(cost.median_seconds),
            MISSING if cost is None else _spent(cost, cost.questions),
        )
        rows.append(Row((one.name, one.kind, *cells)))
    return Table(
        "overview",
        "Overview",
        columns,
        tuple(rows),
        "In per cent. Contradicting pairs: of all pairs of answers that must agree (paraphrases, intersections, "
        "subtypes; a pair that is of several kinds counts once), those that do not. What was not answered is scored as "
        "an empty answer; zero-result false positives are of the answered questions.",
    )


def differences(report: BenchmarkReport) -> Table:
    """How far the F1 of one system is ahead of the others', over the same draws of patients."""
    strata = list(dict.fromkeys(stratum for one in report.differences for stratum in one.f1))
    rows = []
    for one in report.differences:
        cells = []
        for stratum in strata:
            found = one.f1.get(stratum, DifferenceOf())
            ci = None if found.ci is None else f"{_signed(found.ci[0])} to {_signed(found.ci[1])}"
            cells += [_signed(found.difference), ci or MISSING]
        rows.append(Row((one.first, one.second, *cells)))
    columns = [Column(name, stratum.rpartition("/")[2]) for stratum in strata for name in ("F1", "95% interval")]
    return Table(
        "differences",
        "Differences between systems",
        (_SYSTEM, Column("less", words=True), *columns),
        tuple(rows),
        "F1 of the first system less that of the second, in points of per cent: micro over all questions, by size as "
        "in the paper's Table 1. Both are taken of the same resampled patients; an interval that has 0 in it shows no "
        "difference.",
    )


def retrieval(report: BenchmarkReport, paper: Paper) -> Table:
    """Table 1: precision, recall and F1 by size of the gold cohort, also of as many patients as are wanted."""
    groups = ("cohort retrieval", "oracle top-k")
    columns = [_SYSTEM, _OF]
    columns += [Column(name, groups[0]) for name in ("P", "R", "F1", "95% interval of F1")]
    columns += [Column(name, groups[1]) for name in ("P", "R", "F1")]
    rows: list[Row] = []
    for size in (one for one in SIZES if one != "zero"):
        parts = [(one.name, one.scores.by_size[size]) for one in report.systems if size in one.scores.by_size]
        rows.append(Row((_heading(size, parts, paper),), SECTION))
        for name, part in _asked(parts):
            top = part.oracle_top_k or Part()
            rows.append(
                Row((
                    name,
                    "this run",
                    *(per_cent(getattr(part, one).value) for one in _THREE),
                    _interval(part.f1),
                    *(per_cent(getattr(top, one).value) for one in _THREE),
                ))
            )  # fmt: skip
        for one in paper.retrieval[size]:
            found, top_k = (map(_printed, values) for values in (one.found, one.top_k))
            rows.append(Row((one.system, _FROM_THE_PAPER, *found, MISSING, *top_k), PAPER))
    return Table(
        "table-1",
        "Cohort retrieval by size of the gold cohort (the paper's Table 1)",
        tuple(columns),
        tuple(rows),
        "In per cent. Means over broad and narrow questions are macro (of each question's own score), over sparse ones "
        "micro (of the summed counts). Oracle top-k: of the ranking, as many patients as the gold cohort has. The "
        "paper's rows are of other patients and other notes: they are no contest, they show what is usual.",
    )


def full(report: BenchmarkReport, paper: Paper) -> Table:
    """Table 6: every system with the spread of each measure, and the rate of false positives."""
    names = ("P", "R", "F1", "FPR")
    rows: list[Row] = []
    for size in SIZES:
        parts = [(one.name, one.scores.by_size[size]) for one in report.systems if size in one.scores.by_size]
        rows.append(Row((_heading(size, parts, paper),), SECTION))
        for name, part in _asked(parts):
            # Of questions that nobody matches there is nothing to take a share of but the patients themselves.
            shown = [MISSING if size == "zero" and one in _THREE else _spread(getattr(part, one)) for one in _FOUR]
            rows.append(Row((name, "this run", *shown)))
        for one in paper.full[size]:
            cells = (_published(value) for value in (one.precision, one.recall, one.f1, one.fpr))
            mark = " (unclear)" if one.unclear else ""
            rows.append(Row((one.system, _FROM_THE_PAPER + mark, *cells), PAPER))
    return Table(
        "table-6",
        "All systems, with spread and rate of false positives (the paper's Table 6)",
        (_SYSTEM, _OF, *(Column(name) for name in names)),
        tuple(rows),
        "In per cent; behind ± the spread over the questions of the class, which is no interval. FPR: false positives "
        "as a share of the patients who were not wanted. What was not answered is scored as an empty answer, which has "
        "an FPR of 0: see how the questions ended. Rows marked as unclear: see the notes on the paper's figures.",
    )


def efficiency(report: BenchmarkReport, paper: Paper) -> Table:
    """What a question costs each system: time, requests, tokens, money."""
    names = ("questions", "median s", "mean s", "slowest s", "requests a question", "retries", "from cache",
             "tokens sent", "tokens received", "US$ a question", "US$ a considered patient")  # fmt: skip
    rows = []
    for one in report.systems:
        if (cost := one.scores.cost) is None:
            continue
        cells = (
            count(cost.questions),
            seconds(cost.median_seconds),
            seconds(share(cost.total.seconds, cost.questions)),
            seconds(cost.slowest_seconds),
            value_of(share(cost.total.requests, cost.questions)),
            count(cost.total.retries),
            count(cost.total.cached),
            count(cost.total.prompt_tokens),
            count(cost.total.answer_tokens),
            _spent(cost, cost.questions),
            _spent(cost, cost.considered_patients),
        )
        rows.append(Row((one.name, "this run", *cells)))
    if rows:
        published, nothing = paper.efficiency, MISSING
        latency = seconds(published.hypercube_milliseconds / 1000)
        rows.append(Row(("Hypercube", _FROM_THE_PAPER, nothing, nothing, latency, *[nothing] * 8), PAPER))
        rows.append(Row(("ada+GPT4", _FROM_THE_PAPER, *[nothing] * 10, dollars(published.reader_dollars)), PAPER))
    return Table(
        "efficiency",
        "Cost and latency (the paper's section 4.2.5)",
        (_SYSTEM, _OF, *(Column(name) for name in names)),
        tuple(rows),
        "Seconds on the clock, on the machine of this run; systems over one knowledge base share what it remembers of "
        "queries, so the first of them is the slowest. Requests that went out and answers that came from a cache; "
        "retries and tokens are sums over the run. What came from a cache cost nothing this time; dollars are a dash "
        "where no price is known. Considered: ranked, or failed on; of a reader all whom its retriever retrieved, for "
        "each of whom the paper tells its dollars. The paper's "
        f"Hypercube ran on {paper.efficiency.hypercube_machine}; its reader made up to "
        f"{paper.efficiency.reader_calls} calls for each retrieved patient.",
    )


def outcomes(report: BenchmarkReport) -> Table:
    """How the questions ended, and what went wrong with single patients."""
    ended = [(one, one.scores.outcomes) for one in report.systems if one.scores.outcomes is not None]
    kinds = sorted({kind for _, how in ended for kind in how.failed_patients})
    rows = []
    for one, how in ended:
        numbers = (how.questions, how.answered, how.answered_in_part, how.abstained, how.failed, how.missing)
        failures = (count(how.failed_patients.get(kind, 0)) for kind in kinds)
        coverage = per_cent(share(how.answered, how.questions))
        every = one.scores.all or Part()
        f1 = (per_cent(every.f1.value), per_cent((every.answered_only or Part()).f1.value))
        rows.append(Row((one.name, one.kind, *map(count, numbers), coverage, *f1, *failures)))
    names = ("asked", "answered", "in part", "abstained", "failed", "never asked", "coverage %")
    columns = [Column(name, "questions") for name in names]
    columns += [Column(name, "micro F1") for name in ("over all", "over the answered")]
    columns += [Column(kind.replace("_", " "), "pairs of question and patient that failed") for kind in kinds]
    return Table(
        "outcomes",
        "How the questions ended",
        (_SYSTEM, Column("kind", words=True), *columns),
        tuple(rows),
        "All questions are scored: one that was abstained from or failed counts as an empty answer, and a patient "
        "whose reading failed is not in the cohort.",
    )


def index(report: BenchmarkReport, paper: Paper) -> Table:
    """What was built before the first question: whatever each system tells of it, and bytes a chunk."""
    indexes = {one.name: _with_bytes_a_chunk(one.index) for one in report.systems if one.index}
    keys = list(dict.fromkeys(key for facts in indexes.values() for key, value in facts.items() if _plain(value)))
    rows = [Row((name, *(_fact(key, facts.get(key)) for key in keys))) for name, facts in indexes.items() if keys]
    if rows and "chunks" in keys:
        cells = (count(paper.chunks) if key == "chunks" else MISSING for key in keys)
        rows.append(Row(("all retrievers of the paper", *cells), PAPER))
    words = {key for key in keys if any(isinstance(facts.get(key), str) for facts in indexes.values())}
    return Table(
        "index",
        "Indexes",
        (_SYSTEM, *(Column(key.replace("_", " "), words=key in words) for key in keys)),
        tuple(rows),
    )


def _with_bytes_a_chunk(facts: Mapping[str, Any]) -> Mapping[str, Any]:
    chunks, held = facts.get("chunks"), facts.get("bytes")
    if not chunks or not isinstance(chunks, int) or not isinstance(held, int):
        return facts
    return {**facts, "bytes_a_chunk": held / chunks}


def _asked(parts: Sequence[tuple[str, Part]]) -> list[tuple[str, Part]]:
    """Without those of no question: the heading says that there is none."""
    return [(name, part) for name, part in parts if part.questions]


def _heading(size: str, parts: Sequence[tuple[str, Part]], paper: Paper) -> str:
    """``Broad: 18 questions, macro mean (the paper: 18)``."""
    ours = dict.fromkeys(part.questions for _, part in parts)
    numbers = " or ".join(map(str, ours)) or "no"
    mean = next((f", {part.mean} mean" for _, part in parts if part.mean), "")
    theirs = f" (the paper: {paper.queries[size]})" if size in paper.queries else ""
    return f"{_CLASSES[size]}: {numbers} questions{mean}{theirs}"


def _interval(measured: Estimate) -> str:
    return MISSING if measured.ci is None else f"{per_cent(measured.ci[0])} – {per_cent(measured.ci[1])}"


def _spent(cost: CostOf, among: int | None) -> str:
    """Dollars for each of ``among``; of requests that cost nothing the price is not known, which is not free."""
    unknown = cost.total.requests > 0 and cost.total.dollars == 0
    return MISSING if unknown else dollars(share(cost.total.dollars, among))


def _signed(value: float | None) -> str:
    """Points of per cent with their sign."""
    return MISSING if value is None else f"{100 * value:+.2f}"


def _spread(measured: Estimate) -> str:
    return plus_minus(per_cent(measured.value), None if measured.spread is None else per_cent(measured.spread))


def _published(value: Spread | None) -> str:
    return MISSING if value is None else plus_minus(_printed(value.value), _printed(value.spread))


def _printed(value: float) -> str:
    """A percentage of the paper."""
    return f"{value:.2f}"


def _plain(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)


def _fact(key: str, value: Any) -> str:
    if value is None or not _plain(value):
        return MISSING
    if isinstance(value, float):
        return seconds(value) if "seconds" in key else value_of(value)
    return count(value) if isinstance(value, int) and not isinstance(value, bool) else str(value)
