"""The report of a scored run as one HTML page that needs nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any, Final

from ..metrics import MEASURES
from .bank import load_bank
from .report import disagreement_line

_STYLE: Final = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #1c2733; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .25rem .6rem; border-bottom: 1px solid #d8dee4; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
tr.wrong td:first-child { border-left: 3px solid #c2410c; }
pre { white-space: pre-wrap; margin: .3rem 0; font-size: .85em; } dt { font-weight: 600; } summary { cursor: pointer; }
"""


def page(report: Mapping[str, Any]) -> str:
    """The page of a report in its JSON form (``Report.as_dict``); of an abstraction's also facts and disagreements."""
    low_high, patients = report["micro"]["ci"], report["patients"]
    between = "" if low_high is None else f" (95% interval {_number(low_high[0])} to {_number(low_high[1])})"
    lead = (
        f"Micro F1 {_number(report['micro']['f1'])}{between}, precision {_number(report['micro']['precision'])}, "
        f"recall {_number(report['micro']['recall'])}; kappa {_number(report['kappa'])}; "
        f"{report['zero_result_false_positives']} false positives on queries that nobody matches; "
        f"{_number(report['coverage'])} of the queries answered. "
        f"{patients['labelled']} labelled patients, {patients['missing_from_kb']} of them not in the knowledge base; "
        f"{patients['unlabelled']} patients without labels left out."
    )
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8"><title>Query bank: scores</title>',
        f"<style>{_STYLE}</style></head><body>",
        "<h1>The query bank, scored</h1>",
        f"<p>{escape(lead)}</p>",
        "<h2>By size of the gold cohort</h2>",
        _classes(report["by_size"]),
        "<h2>By clinical complexity</h2>",
        _classes(report["by_complexity"]),
        "<h2>Queries</h2>",
        _queries(report["queries"]),
        *(_of_facts(report) if "facts" in report else ()),
        "<h2>What the numbers mean</h2><dl>",
        *(f"<dt>{escape(one.name)}</dt><dd>{escape(one.definition)}</dd>" for one in MEASURES),
        "</dl><h2>To repeat this</h2>",
        f"<pre>{escape(json.dumps(report['signature'], indent=2, ensure_ascii=False, default=str))}</pre>",
        "</body></html>",
    ]
    return "\n".join(parts) + "\n"


def _classes(classes: Mapping[str, Mapping[str, Any]]) -> str:
    names = ("precision", "recall", "f1")
    rows = [
        [escape(name), part["queries"], *(_number(part[one]) for one in names), part["false_positives"],
         part["false_negatives"], part["mean"] or "–"]
        for name, part in classes.items()
    ]  # fmt: skip
    return _table(("class", "queries", *names, "false positives", "false negatives", "mean"), rows)


def _queries(queries: Sequence[Mapping[str, Any]]) -> str:
    texts = {one.id: one.text for one in load_bank()}
    rows, wrong = [], []
    for one in queries:
        details = (
            f"<details><summary>{escape(texts.get(one['id'], 'query'))}</summary><pre>{escape(one['query'])}</pre>"
        )
        for key in ("false_positives", "false_negatives"):
            if one.get(key):
                details += f"<p>{key.replace('_', ' ')}: {escape(', '.join(one[key]))}</p>"
        details += "</details>" + ("<p>not answered</p>" if one["abstained"] else "")
        rows.append([one["id"], details, one["tp"], one["fp"], one["fn"]])
        wrong.append(bool(one["fp"] or one["fn"]))
    return _table(("id", "question", "tp", "fp", "fn"), rows, wrong)


def _of_facts(report: Mapping[str, Any]) -> Iterable[str]:
    """What became of an abstraction's facts, by kind; those that name nothing known; disagreements, explained."""
    facts, columns = report["facts"], ("facts", "resolved", "kind_only", "unresolved", "share")
    yield "<h2>Facts by kind</h2>"
    rows = [[escape(kind), "", *(row[column] for column in columns)] for kind, row in facts["by_kind"].items()]
    yield _table(("kind", "", "facts", "resolved", "to their kind only", "unresolved", "share resolved"), rows)
    unresolved = [one for one in report["unresolved"] if "id" not in one]
    if unresolved:
        yield "<h2>Facts that name nothing known</h2>"
        yield _table(
            ("patient", "text", "fact"),
            [
                [escape(one["patient_id"]), escape(f"{one['kind']}: {one['concept']} {one['value']}"), one["number"]]
                for one in unresolved
            ],
        )
    yield f"<h2>Disagreements, of {report['pairs']} pairs of patient and query: {len(report['disagreements'])}</h2>"
    for one in report["disagreements"]:
        lines = "\n".join(one["explanation"])
        yield f"<details><summary>{escape(disagreement_line(one))}</summary><pre>{escape(lines)}</pre></details>"


def _table(columns: Sequence[str], rows: Iterable[Sequence[object]], wrong: Sequence[bool] = ()) -> str:
    """A table of cells that are HTML already; the first two columns are words, the others numbers."""
    head = "".join(f"<th{_number_class(at)}>{escape(column)}</th>" for at, column in enumerate(columns))
    body = []
    for at, row in enumerate(rows):
        mark = ' class="wrong"' if at < len(wrong) and wrong[at] else ""
        cells = "".join(f"<td{_number_class(column)}>{cell}</td>" for column, cell in enumerate(row))
        body.append(f"<tr{mark}>{cells}</tr>")
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"


def _number_class(column: int) -> str:
    return ' class="number"' if column >= 2 else ""


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
