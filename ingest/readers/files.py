"""The files behind the sources: found in a fixed order, named as people see them, opened packed or unpacked.

A folder is read as far as it reaches: a link in it that leads out of it is passed over, and so is what is no regular
file. Whoever may put a file into a folder could otherwise have any file of this machine stored as a note.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, Final

from ...kb.errors import UsageError
from ...kb.files.bounded import unpacked
from ...kb.files.limits import Limits
from ...kb.files.untrusted import READ, regular
from .told import Told

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
#: Without these (Windows lacks some) a file is opened by its path alone.
_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)
_DIRECTORY: Final = getattr(os, "O_DIRECTORY", 0)


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to read. ``label`` names it in the knowledge base: its path below the source, or its name alone.

    ``root`` is the folder that it was found in, without links, None when the file was named itself; ``path`` then lies
    below it, without links as well.
    """

    path: Path
    label: str
    family: str
    root: Path | None = None

    @property
    def packed(self) -> bool:
        """Whether its name says that it is packed with gzip."""
        return self.path.name.lower().endswith(".gz")


def find_files(sources: Iterable[str | os.PathLike[str]], told: Told) -> list[SourceFile]:
    """The files of all sources: sources in the order given, the files of a folder sorted by path.

    What is passed over in a folder is ``told``. UsageError when a source is missing, no file, or a file of no known
    kind, or when nothing to read is found at all.
    """
    paths = [Path(source) for source in sources]
    found: list[SourceFile] = []
    for path in paths:
        if path.is_dir():
            found.extend(sorted(_files_below(path.resolve(), told), key=lambda file: file.label))
        elif path.is_file():
            family = family_of(path.name)
            if family is None:
                raise UsageError(f"{path}: unknown kind of source. Hint: {_known()}, and folders of them")
            found.append(SourceFile(path, _printable(path.name), family))
        elif path.exists():
            raise UsageError(f"{path}: is no file but a pipe, a socket or a device. Hint: write it to a file first")
        else:
            raise UsageError(f"{path}: there is no such file or folder")
    if not found:
        passed = f" ({sum(told.files.values())} passed over)" if told.files else ""
        raise UsageError(f"no notes in {', '.join(map(str, paths)) or 'no source'}{passed}. Hint: {_known()}")
    return _with_distinct_labels(found)


def family_of(name: str) -> str | None:
    """Which family reads a file of this name; None when none does."""
    lower = name.lower()
    return next((family for ending, family in FAMILIES.items() if lower.endswith(ending)), None)


def _known() -> str:
    return "these are read: " + ", ".join(FAMILIES)


def _printable(name: str) -> str:
    """A name whose bytes are no UTF-8 with codes in their place: it becomes part of ids, which are UTF-8."""
    return name.encode("utf-8", "backslashreplace").decode()


def _files_below(root: Path, told: Told) -> Iterator[SourceFile]:
    waiting = [""]
    while waiting:
        inside = waiting.pop()
        try:
            entries = sorted(os.scandir(root / inside), key=lambda entry: entry.name)
        except OSError:
            told.pass_over(_printable(inside or root.name), "unreadable_folder")
            continue
        for entry in entries:
            below = f"{inside}/{entry.name}" if inside else entry.name
            if entry.name.startswith("."):
                told.pass_over(_printable(below), "hidden")
            elif entry.is_dir(follow_symlinks=False):
                waiting.append(below)
            else:
                found = _entry(root, below, entry)
                if isinstance(found, str):
                    told.pass_over(_printable(below), found)
                else:
                    yield found


def _entry(root: Path, below: str, entry: os.DirEntry[str]) -> SourceFile | str:
    """A file of a folder, or the code of why it is passed over."""
    path = Path(entry.path)
    if entry.is_symlink():
        path = Path(os.path.realpath(path))
        if not path.is_relative_to(root):
            return "link_outside"
    try:
        mode = path.lstat().st_mode
    except OSError:
        return "broken_link"
    if not stat.S_ISREG(mode):
        return "link_to_folder" if stat.S_ISDIR(mode) else "broken_link" if stat.S_ISLNK(mode) else "no_regular_file"
    family = family_of(entry.name)
    if family is None or family in _NAMED_ONLY:
        return "unknown_kind" if family is None else "named_only"
    return SourceFile(path, _printable(below), family, root)


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
                label = label if len(alike) == 1 else _printable("/".join(file.path.resolve().parts[-length:]))
                break
        labelled.append(replace(file, label=label))
    return labelled


def open_file(file: SourceFile) -> BinaryIO:
    """The bytes of a file as they lie on disk. OSError when it cannot be opened, is no regular file (any more), or a
    link stands where none stood when it was found."""
    return regular(_descriptor(file))


def _descriptor(file: SourceFile) -> int:
    if file.root is None or not _NO_LINK or os.open not in os.supports_dir_fd:
        return os.open(file.path, READ)
    # From folder to folder, following no link: one that was put there since the file was found is not followed either.
    *folders, name = file.path.relative_to(file.root).parts
    place = os.open(file.root, READ | _DIRECTORY)
    try:
        for folder in folders:
            inner = os.open(folder, READ | _DIRECTORY | _NO_LINK, dir_fd=place)
            os.close(place)
            place = inner
        return os.open(name, READ | _NO_LINK, dir_fd=place)
    finally:
        os.close(place)


def open_bytes(file: SourceFile, limits: Limits) -> BinaryIO:
    """The file's bytes, unpacked if it is packed with gzip; errors as of :func:`open_file`, and while it is read those
    of :func:`cohortium.kb.files.bounded.unpacked`."""
    return unpacked(open_file(file), file.packed, limits)
