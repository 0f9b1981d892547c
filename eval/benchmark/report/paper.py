"""The figures that the Automatic Cohort Retrieval paper publishes, as data (``paper.toml``), to set beside ours."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

PAPER_FILE: Final = Path(__file__).with_name("paper.toml")


@dataclass(frozen=True, slots=True)
class Retrieval:
    """A row of Table 1, in per cent: precision, recall and F1 as ``found``, and given the size of the gold cohort."""

    system: str
    found: tuple[float, float, float]
    top_k: tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Inconsistency:
    """A row of Tables 2 to 4: two questions of the bank, the ``sizes`` of their answers, how many of the right answer
    lie ``beyond`` the left one, and, where the two ought to be equal, how many of the left are ``missing``."""

    kind: str
    of: str
    left: int
    right: int
    sizes: tuple[int, int]
    beyond: int
    missing: int | None = None


@dataclass(frozen=True, slots=True)
class Spread:
    """A figure in per cent with what the paper puts behind its ±."""

    value: float
    spread: float


@dataclass(frozen=True, slots=True)
class Full:
    """A row of Table 6; None where nothing is printed, or nothing legible. ``unclear``: see the notes of the source."""

    system: str
    precision: Spread | None
    recall: Spread | None
    f1: Spread | None
    fpr: Spread | None
    unclear: bool = False


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a part of Figure 3 that the text gives in figures: F1 in per cent."""

    part: str
    of: str
    system: str
    f1: float


@dataclass(frozen=True, slots=True)
class Efficiency:
    """Section 4.2.5: milliseconds that a query takes, dollars for each retrieved patient of a query."""

    hypercube_milliseconds: float
    hypercube_machine: str
    reader_dollars: float
    reader_calls: int


@dataclass(frozen=True)
class Paper:
    """All of it. ``queries`` and ``means`` of Table 1, and the rows of Tables 1 and 6, by size of the gold cohort."""

    citation: str
    patients: int
    documents: int
    chunks: int
    notes: tuple[str, ...]
    queries: Mapping[str, int]
    means: Mapping[str, str]
    retrieval: Mapping[str, tuple[Retrieval, ...]]
    inconsistencies: tuple[Inconsistency, ...]
    full: Mapping[str, tuple[Full, ...]]
    points: tuple[Point, ...]
    efficiency: Efficiency


@cache
def load_paper() -> Paper:
    """What :data:`PAPER_FILE` holds. KeyError or TypeError if it is not of that form."""
    data = tomllib.loads(PAPER_FILE.read_text(encoding="utf-8"))
    source, spent = data["source"], data["efficiency"]
    return Paper(
        citation=f"{source['authors']}: {source['title']}. {source['where']}",
        patients=source["patients"],
        documents=source["documents"],
        chunks=source["chunks"],
        notes=tuple(source["notes"]),
        queries={one["size"]: one["queries"] for one in data["retrieval"]},
        means={one["size"]: one["mean"] for one in data["retrieval"]},
        retrieval={one["size"]: _retrieval(one) for one in data["retrieval"]},
        inconsistencies=tuple(
            Inconsistency(**{**one, "sizes": (one["sizes"][0], one["sizes"][1])}) for one in data["inconsistency"]
        ),
        full={one["size"]: tuple(_full(row) for row in one["systems"]) for one in data["full"]},
        points=tuple(Point(one["figure"], one["class"], one["system"], one["f1"]) for one in data["point"]),
        efficiency=Efficiency(
            spent["hypercube_milliseconds_a_query"],
            spent["hypercube_machine"],
            spent["reader_dollars_a_patient"],
            spent["reader_calls_a_patient"],
        ),
    )


def _retrieval(section: Mapping[str, Any]) -> tuple[Retrieval, ...]:
    systems = {name: row for name, row in section.items() if isinstance(row, dict)}
    return tuple(Retrieval(name, _three(row["found"]), _three(row["top_k"])) for name, row in systems.items())


def _three(values: list[float]) -> tuple[float, float, float]:
    precision, recall, f1 = values
    return precision, recall, f1


def _full(row: Mapping[str, Any]) -> Full:
    spreads = {name: Spread(*row[name]) if name in row else None for name in ("precision", "recall", "f1", "fpr")}
    return Full(row["name"], **spreads, unclear=row.get("unclear", False))
