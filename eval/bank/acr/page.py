"""The report of a scored run as one HTML page that needs nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from ...measures.metrics import MEASURES
from ...report.html import document, number, table
from .bank import load_bank
from .report import disagreement_line


def page(report: Mapping[str, Any]) -> str:
    """The page of a report in its JSON form (``Report.as_dict``); of an abstraction's also facts and disagreements."""
    low_high, patients = report["micro"]["ci"], report["patients"]
    between = "" if low_high is None else f" (95% interval {number(low_high[0])} to {number(low_high[1])})"
    lead = (
        f"Micro F1 {number(report['micro']['f1'])}{between}, precision {number(report['micro']['precision'])}, "
        f"recall {number(report['micro']['recall'])}; kappa {number(report['kappa'])}; "
        f"{report['zero_result_false_positives']} false positives on queries that nobody matches; "
        f"{number(report['coverage'])} of the queries answered. "
        f"{patients['labelled']} labelled patients, {patients['missing_from_kb']} of them not in the knowledge base; "
        f"{patients['unlabelled']} patients without labels left out."
    )
    parts = [
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
    ]
    return document("Query bank: scores", parts)


def _classes(classes: Mapping[str, Mapping[str, Any]]) -> str:
    names = ("precision", "recall", "f1")
    rows = [
        [escape(name), part["queries"], *(number(part[one]) for one in names), part["false_positives"],
         part["false_negatives"], part["mean"] or "–"]
        for name, part in classes.items()
    ]  # fmt: skip
    return table(("class", "queries", *names, "false positives", "false negatives", "mean"), rows)


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
    return table(("id", "question", "tp", "fp", "fn"), rows, wrong)


def _of_facts(report: Mapping[str, Any]) -> Iterable[str]:
    """What became of an abstraction's facts, by kind; those that name nothing known; disagreements, explained."""
    facts, columns = report["facts"], ("facts", "resolved", "kind_only", "unresolved", "share")
    yield "<h2>Facts by kind</h2>"
    rows = [[escape(kind), "", *(row[column] for column in columns)] for kind, row in facts["by_kind"].items()]
    yield table(("kind", "", "facts", "resolved", "to their kind only", "unresolved", "share resolved"), rows)
    unresolved = [one for one in report["unresolved"] if "id" not in one]
    if unresolved:
        yield "<h2>Facts that name nothing known</h2>"
        yield table(
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
