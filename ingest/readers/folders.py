"""Text folders: ``<patient>/<date>_<anything>.txt``, or whatever ``--map`` makes of a file's place and name.

A text file offers these columns: ``folder`` (the first folder below the source), ``file`` (its name), ``name`` (its
path below that folder), ``path`` (its path below the source), ``date`` (what its name starts with, else what the header
of its report tells), ``type`` (by that header) and ``text``; names and paths without ``.txt``. Without a map the
patient is ``folder`` and the document ``name``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

from .files import SourceFile, open_file
from .mapping import ColumnMap
from .note_dates import date_in_name
from .records import KEPT_OF_RAW, LONGEST_TEXT, RawRecord
from .report_header import read_header

COLUMNS: Final = ("folder", "file", "name", "path", "date", "type", "text")


def columns_for(columns: ColumnMap) -> ColumnMap:
    """The map with the defaults of text folders. A file that is its own patient has its whole path as document id."""
    document = "name" if columns.named.get("patient_id", "folder") == "folder" else "path"
    return ColumnMap({"patient_id": "folder", "doc_id": document, **columns.named})


def check(file: SourceFile, columns: ColumnMap) -> None:
    """UsageError when the map names a column that text files do not offer."""
    columns_for(columns).check(COLUMNS, f"{file.label} (a text file)", required=())


def read(file: SourceFile) -> Iterator[RawRecord]:
    """The one record of a text file; line ends stay as they are."""
    path = PurePosixPath(file.label)
    whole = path.with_suffix("").as_posix()
    folder, _, name = whole.rpartition("/") if len(path.parts) < 2 else whole.partition("/")
    try:
        with open_file(file) as stream:
            data = stream.read(4 * LONGEST_TEXT + 4)
    except OSError as error:
        yield RawRecord(file.label, "file", 1, fault="unreadable_file", raw=error.strerror or type(error).__name__)
        return
    if len(data) > 4 * LONGEST_TEXT:
        yield RawRecord(file.label, "file", 1, fault="text_too_long", raw="(too long to keep)")
        return
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raw = data[:KEPT_OF_RAW].decode("utf-8", "backslashreplace")
        fault = "nul_bytes" if b"\0" in data else "invalid_utf8"
        yield RawRecord(file.label, "file", 1, fault=fault, raw=raw)
        return
    place = {"folder": folder, "file": path.stem, "name": name, "path": whole}
    in_header = read_header(text)
    day = date_in_name(path.stem) or in_header["date"]
    yield RawRecord(file.label, "file", 1, {**place, "date": day, "type": in_header["type"], "text": text})
