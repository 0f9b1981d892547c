"""The report of :mod:`scale_benchmark` as one HTML page that needs nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from benchmarks.scale.figures import drawings
from benchmarks.scale.tables import Report, tables
from cohortium.eval.report.drawing import Figure, drawn
from cohortium.kb.errors import UsageError
from cohortium.kb.skin import pages

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
        missing = str(error)
    return pages.page(
        Path(__file__).with_suffix(".html"),
        report=report,
        machine=", ".join(f"{name} {value}" for name, value in report["machine"].items()),
        missing=missing,
        tables=tables(report),
        figures=figures,
        behind=_BEHIND,
    )


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
