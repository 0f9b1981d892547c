"""The report of :mod:`scale_benchmark` as one HTML page that needs nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any, Final

from scale_figures import drawings
from scale_tables import Report, tables

from cohortium.eval.benchmark.report import layout
from cohortium.eval.benchmark.report.layout import as_html
from cohortium.eval.report import drawing
from cohortium.eval.report.drawing import Figure, drawn
from cohortium.eval.report.html import document
from cohortium.kb.errors import UsageError

_TITLE: Final = "Cohortium at scale"
#: Behind which table a figure stands.
_BEHIND: Final[Mapping[str, tuple[str, ...]]] = {
    "medians": ("growth",),
    "sql": ("faster-sql",),
    "openmed": ("faster-openmed",),
    "storage": ("storage",),
    "reading": ("words",),
    "ingest": ("workers",),
}


def page(report: Report) -> str:
    """The page. Without Matplotlib it says so and has its tables."""
    missing = ""
    figures: dict[str, Figure] = {}
    try:
        figures = {one.id: one for one in drawn(drawings(report))}
    except UsageError as error:
        missing = f"<p>{escape(str(error))}</p>"
    parts = [f"<h1>{_TITLE}</h1>", *_lead(report), missing]
    for table in tables(report):
        parts += [f'<h2 id="{table.id}-section">{escape(table.title)}</h2>', as_html(table)]
        parts += [drawing.as_html(figures[id_]) for id_ in _BEHIND.get(table.id, ()) if id_ in figures]
    parts += ['<h2 id="repeat">To repeat this</h2>', *_signatures(report)]
    return document(_TITLE, parts, layout.STYLE + drawing.STYLE + "pre { overflow-wrap: anywhere; }")


def _lead(report: Report) -> Iterator[str]:
    machine = ", ".join(f"{name} {value}" for name, value in report["machine"].items())
    yield f"<p>{escape(machine)}.</p>"
    yield (
        "<p>Times differ from machine to machine; what counts are ratios within one run, in which contenders are "
        "measured by turns, and growth with the number of patients. Every timed answer was first held against the "
        "answer of SQL: the sets of patients are equal.</p>"
    )


def _signatures(report: Report) -> Iterator[str]:
    for one in report["signatures"]:
        yield f"<pre>{escape(json.dumps(one, indent=1, ensure_ascii=False))}</pre>"


def joined(reports: list[dict[str, Any]]) -> dict[str, Any]:
    """One report of several runs: of a knowledge base or of reading that was measured twice, the later run stands."""
    first, *others = reports
    found = {**first, "knowledge_bases": list(first["knowledge_bases"])}
    for other in others:
        again = {kb["patients"] for kb in other["knowledge_bases"]}
        kept = [kb for kb in found["knowledge_bases"] if kb["patients"] not in again]
        found["knowledge_bases"] = kept + other["knowledge_bases"]
        found["signatures"] = found["signatures"] + other["signatures"]
        for part in ("reading", "openmed"):
            found[part] = other.get(part) or found.get(part)
        found["ingest"] = [*(found.get("ingest") or []), *(other.get("ingest") or [])]
    return found
