"""The files behind the sources: found in a fixed order, named as people see them, opened packed or unpacked."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, Final, cast

from ...kb.errors import UsageError

#: How a file's name ends → the family that reads it.
FAMILIES: Final = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".jsonl.gz": "jsonl",
    ".ndjson.gz": "jsonl",
    ".json": "fhir",
    ".json.gz": "fhir",
    ".csv": "csv",
    ".csv.gz": "csv",
    ".tsv": "csv",
    ".tsv.gz": "csv",
    ".parquet": "parquet",
    ".duckdb": "duckdb",
    ".txt": "text",
}
#: Read when named, not when found in a folder: a knowledge base is a folder with such a file.
_NAMED_ONLY: Final = frozenset({"duckdb"})


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to read. ``label`` names it in the knowledge base: its path below the source, or its name alone."""

    path: Path
    label: str
    family: str


def find_files(sources: Iterable[str | os.PathLike[str]]) -> list[SourceFile]:
    """The files of all sources: sources in the order given, the files of a folder sorted by path.

    Files of other kinds and hidden ones inside a folder are passed over. UsageError when a source is missing or a
    file of no known kind, or when no file is found at all.
    """
    paths = [Path(source) for source in sources]
    found: list[SourceFile] = []
    for path in paths:
        if path.is_dir():
            found.extend(_files_below(path))
        elif path.is_file():
            family = family_of(path.name)
            if family is None:
                raise UsageError(f"{path}: unknown kind of source. Hint: {_known()}, and folders of them")
            found.append(SourceFile(path, path.name, family))
        else:
            raise UsageError(f"{path}: there is no such file or folder")
    if not found:
        raise UsageError(f"no notes in {', '.join(map(str, paths)) or 'no source'}. Hint: {_known()}")
    return _with_distinct_labels(found)


def family_of(name: str) -> str | None:
    """Which family reads a file of this name; None when none does."""
    lower = name.lower()
    return next((family for ending, family in FAMILIES.items() if lower.endswith(ending)), None)


def _known() -> str:
    return "these are read: " + ", ".join(FAMILIES)


def _files_below(folder: Path) -> list[SourceFile]:
    found = []
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            path = Path(place) / name
            family = family_of(name)
            passed_over = family is None or family in _NAMED_ONLY or name.startswith(".")
            if family is not None and not passed_over and path.is_file():
                found.append(SourceFile(path, path.relative_to(folder).as_posix(), family))
    return sorted(found, key=lambda file: file.label)


def _with_distinct_labels(files: Sequence[SourceFile]) -> list[SourceFile]:
    """Different files of one label get as much of their path as tells them apart; a file named twice is read twice."""
    homes: dict[str, set[Path]] = {}
    for file in files:
        homes.setdefault(file.label, set()).add(file.path.resolve())
    labelled = []
    for file in files:
        alike, label = homes[file.label], file.label
        for length in range(1 + label.count("/"), 1 + max(len(path.parts) for path in alike)):
            endings = {path.parts[-length:] for path in alike}
            if len(endings) == len(alike):
                label = label if len(alike) == 1 else "/".join(file.path.resolve().parts[-length:])
                break
        labelled.append(replace(file, label=label))
    return labelled


def open_bytes(path: Path) -> BinaryIO:
    """The file's bytes, unpacked if it is packed with gzip."""
    return cast(BinaryIO, gzip.open(path, "rb")) if path.name.lower().endswith(".gz") else path.open("rb")
