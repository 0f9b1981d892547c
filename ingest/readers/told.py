"""What a run did not use of its sources: files, resources and columns that it passed over, each told and counted."""

from __future__ import annotations

import collections
import functools
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from .mapping import ColumnMap, near_columns, shown_names

#: So many files, and so many sources with other columns, are told one by one; all are counted.
LISTED: Final = 20


@functools.cache
def words() -> Mapping[str, Any]:
    """The tables of ``passed_over.toml``."""
    return tomllib.loads((Path(__file__).parent / "passed_over.toml").read_text(encoding="utf-8"))


@dataclass(slots=True)
class Told:
    """Filled while sources are found and read. ``files`` counts those passed over by reason code and ``listed`` names
    the first of them; ``resources`` counts FHIR resources that bring no note by type; ``columns`` tells of the columns
    that no field of a note is read from, once for all files that have the same; ``hints`` say what to do instead."""

    files: collections.Counter[str] = field(default_factory=collections.Counter)
    listed: list[dict[str, str]] = field(default_factory=list)
    resources: collections.Counter[str] = field(default_factory=collections.Counter)
    columns: dict[tuple[str, ...], dict[str, Any]] = field(default_factory=dict)
    hints: list[str] = field(default_factory=list)

    def pass_over(self, label: str, code: str) -> None:
        """Note a file, or a folder, that is not read."""
        self.files[code] += 1
        if len(self.listed) < LISTED:
            self.listed.append({"where": label, "reason": words()["reasons"][code]})

    def leave_columns(self, label: str, unused: Sequence[str], present: Collection[str], columns: ColumnMap) -> None:
        """Note the columns of a source that nothing is read from, and which field the likeliest of them may be."""
        if not unused:
            return
        key = tuple(sorted(unused))
        if key in self.columns:
            self.columns[key]["sources"] += 1
        elif len(self.columns) < LISTED:
            found = {"where": label, "sources": 1, "columns": shown_names(unused), "number": len(unused)}
            if meant := near_columns(unused, present, columns, words()["known_columns"]):
                found["hint"] = "--map " + ",".join(f"{name}={column}" for name, column in meant.items())
            self.columns[key] = found

    def as_dict(self) -> dict[str, Any]:
        """For the report and its JSON; empty where nothing was left."""
        told = {
            "files": dict(sorted(self.files.items())),
            "listed": self.listed,
            "resources": dict(sorted(self.resources.items())),
            "columns": list(self.columns.values()),
            "hints": self.hints,
        }
        return {name: one for name, one in told.items() if one}
