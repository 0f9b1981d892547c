"""The registry's own fields as a baseline: conditions and interventions of a trial in an export of AACT (section 4.1).

The export is that of https://aact.ctti-clinicaltrials.org: text files of one table each, with a header, fields between
bars, quoted where they hold a bar or a quotation mark.
"""

from __future__ import annotations

import csv
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from .....kb.errors import UsageError
from ..documents import Document
from ..types import vocabulary
from .contract import cell_of

SYSTEM: Final = "aact"
_FILE: Final = Path(__file__).with_name("aact.toml")
_LARGEST_FIELD: Final = 2**31 - 1
_ID: Final = "nct_id"


class RegistryColumns:
    """What the registry says of each trial, by the types of the corpus."""

    def __init__(self, names: Mapping[str, Mapping[str, Sequence[str]]], summary: Mapping[str, Any]) -> None:
        """``names``: trial in capitals → type → names."""
        self._names = names
        self._summary = summary
        self._unknown = 0
        self._columns = {kind: f"{SYSTEM}_predictions_{word}" for kind, word in vocabulary().columns.items()}

    @property
    def columns(self) -> Sequence[str]:
        """A column a type."""
        return tuple(self._columns.values())

    def cells(self, document: Document) -> Mapping[str, str]:
        """The names of each type; ``none`` throughout for a trial that the export has not, which is counted."""
        found = self._names.get(document.id.upper())
        self._unknown += found is None
        return {column: cell_of((found or {}).get(kind, ())) for kind, column in self._columns.items()}

    def description(self) -> Mapping[str, Any]:
        """Rows that were read and left out, and how many abstracts are of trials that the export has not."""
        return {"baseline": SYSTEM, **self._summary, "abstracts_not_in_export": self._unknown}


def read_export(folder: Path, wanted: Sequence[str] = (), mesh: bool = False) -> RegistryColumns:
    """The columns of the trials ``wanted`` (all, if none are named). ``mesh``: the terms of the library too.

    UsageError when a table is missing, cannot be read, or has not the columns that it should have.
    """
    table = _mapping()
    trials = {one.upper() for one in wanted}
    names: dict[str, dict[str, list[str]]] = {}
    left_out: Counter[str] = Counter()
    rows = 0
    for part in ("conditions", "interventions", *(["mesh_conditions"] if mesh else [])):
        source = table[part]
        for row in _rows(folder / source["file"], source, left_out):
            trial = row[_ID].strip().upper()
            if trials and trial not in trials:
                continue
            rows += 1
            name, kind = row[source["column"]].strip(), _type_of(row, source, table, left_out)
            if name and kind:
                names.setdefault(trial, {}).setdefault(kind, []).append(name)
    summary = {"rows": rows, "rows_left_out": dict(sorted(left_out.items())), "trials": len(names), "mesh": mesh}
    return RegistryColumns(names, summary)


def intervention_type(registry_type: str, name: str) -> str | None:
    """The type of the corpus for an intervention; empty where it has none, None for a type that is not known.

    >>> intervention_type("DRUG", "Aspirin 81 mg"), intervention_type("Drug", "Placebo oral tablet")
    ('DRUG', 'CONTROL')
    """
    table = _mapping()
    folded = registry_type.replace("_", " ").strip().upper()
    for one in table["named"]:
        fits = name.strip().lower() in one.get("names", ()) or _words(tuple(one["words"])).search(name)
        if fits and folded not in one.get("not_from", ()):
            return str(one["type"])
    known: str | None = table["types"].get(folded)
    return known


def _type_of(
    row: Mapping[str, str], source: Mapping[str, Any], table: Mapping[str, Any], left_out: Counter[str]
) -> str:
    if "type" in source:
        named = row[source["type"]]
        kind = intervention_type(named, row[source["column"]])
        if not kind:
            left_out["type of no interest" if kind is not None else "unknown intervention type"] += 1
        return kind or ""
    if "kind" in source and (row.get(source["kind"]) or "") not in source["kinds"]:
        left_out["ancestor of a term"] += 1
        return ""
    return "CONDITION"


def _rows(path: Path, source: Mapping[str, Any], left_out: Counter[str]) -> Iterator[dict[str, str]]:
    needed = [_ID, source["column"], *([source["type"]] if "type" in source else [])]
    csv.field_size_limit(_LARGEST_FIELD)
    try:
        with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
            rows = csv.DictReader(file, delimiter="|")
            missing = [name for name in needed if name not in (rows.fieldnames or ())]
            if missing:
                raise UsageError(
                    f"'{path}' has no column '{missing[0]}'. Hint: tables of AACT's pipe-separated export have a header"
                )
            for row in rows:
                if any(row.get(name) is None for name in needed):
                    left_out["row that breaks off"] += 1
                else:
                    yield row
    except (OSError, csv.Error) as error:
        raise UsageError(
            f"cannot read '{path}': {error}. Hint: --aact names the folder of AACT's pipe-separated export"
        ) from error


@cache
def _mapping() -> Mapping[str, Any]:
    table = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    types = {*table["types"].values(), *(one["type"] for one in table["named"])} - {""}
    if wrong := types - set(vocabulary().types):
        raise ValueError(f"{_FILE.name}: {', '.join(sorted(wrong))}: no type of the corpus")
    return table


@cache
def _words(words: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, words))})\b", re.IGNORECASE)
