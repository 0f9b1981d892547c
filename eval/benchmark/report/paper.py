"""The figures that the Automatic Cohort Retrieval paper publishes, as data (``paper.toml``), to set beside ours."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

PAPER_FILE: Final = Path(__file__).with_name("paper.toml")


class _Published(BaseModel):
    model_config = ConfigDict(frozen=True)


class Retrieval(_Published):
    """A row of Table 1, in per cent: precision, recall and F1 as ``found``, and given the size of the gold cohort."""

    system: str
    found: tuple[float, float, float]
    top_k: tuple[float, float, float]


class Inconsistency(_Published):
    """A row of Tables 2 to 4: two questions of the bank, the ``sizes`` of their answers, how many of the right answer
    lie ``beyond`` the left one, and, where the two ought to be equal, how many of the left are ``missing``."""

    kind: str
    of: str
    left: int
    right: int
    sizes: tuple[int, int]
    beyond: int
    missing: int | None = None


class Spread(NamedTuple):
    """A figure in per cent with what the paper puts behind its ±."""

    value: float
    spread: float


class Full(_Published):
    """A row of Table 6; None where nothing is printed, or nothing legible. ``unclear``: see the notes of the source."""

    system: str = Field(alias="name")
    precision: Spread | None = None
    recall: Spread | None = None
    f1: Spread | None = None
    fpr: Spread | None = None
    unclear: bool = False


class Point(_Published):
    """A point of a part of Figure 3 that the text gives in figures: F1 in per cent."""

    part: str = Field(alias="figure")
    of: str = Field(alias="class")
    system: str
    f1: float


class Efficiency(_Published):
    """Section 4.2.5: milliseconds that a query takes, dollars for each retrieved patient of a query."""

    hypercube_milliseconds: float = Field(alias="hypercube_milliseconds_a_query")
    hypercube_machine: str
    reader_dollars: float = Field(alias="reader_dollars_a_patient")
    reader_calls: int = Field(alias="reader_calls_a_patient")


class Paper(_Published):
    """All of it. ``queries`` of Table 1, and the rows of Tables 1 and 6, by size of the gold cohort."""

    citation: str
    patients: int
    documents: int
    chunks: int
    notes: tuple[str, ...]
    queries: Mapping[str, int]
    retrieval: Mapping[str, tuple[Retrieval, ...]]
    inconsistencies: tuple[Inconsistency, ...]
    full: Mapping[str, tuple[Full, ...]]
    points: tuple[Point, ...]
    efficiency: Efficiency


@cache
def load_paper() -> Paper:
    """What :data:`PAPER_FILE` holds. KeyError or ValueError if it is not of that form."""
    data = tomllib.loads(PAPER_FILE.read_text(encoding="utf-8"))
    source = data["source"]
    of_systems = {
        table["size"]: [{"system": name, **row} for name, row in table.items() if isinstance(row, dict)]
        for table in data["retrieval"]
    }
    return Paper.model_validate(
        {
            **source,
            "citation": f"{source['authors']}: {source['title']}. {source['where']}",
            "queries": {table["size"]: table["queries"] for table in data["retrieval"]},
            "retrieval": of_systems,
            "inconsistencies": data["inconsistency"],
            "full": {table["size"]: table["systems"] for table in data["full"]},
            "points": data["point"],
            "efficiency": data["efficiency"],
        }
    )
