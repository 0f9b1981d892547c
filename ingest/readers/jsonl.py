"""JSON lines: one note a line, packed with gzip or not."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from typing import BinaryIO, Final

from .files import SourceFile, open_bytes
from .mapping import ColumnMap
from .records import RawRecord

#: A longer line is not even taken into memory (bytes); escapes can make it six times as long as its note.
LONGEST_LINE: Final = 128 * 1024 * 1024
_BOM: Final = b"\xef\xbb\xbf"


def check(file: SourceFile, columns: ColumnMap) -> None:
    """UsageError when a field that the map names stands in no line of the file."""
    if not columns.named:
        return
    wanted = set(columns.named.values())
    present: dict[str, None] = {}
    for record in read(file):
        present |= dict.fromkeys(record.fields)
        if wanted <= present.keys():
            return
    if present:
        columns.check(present, file.label, required=())


def read(file: SourceFile) -> Iterator[RawRecord]:
    """The records of the file; blank lines are none."""
    number = 0
    try:
        with open_bytes(file.path) as stream:
            for number, line in _lines(stream):
                if line is None:
                    yield RawRecord(
                        file.label, f"line {number}", number, fault="text_too_long", raw="(too long to keep)"
                    )
                elif line.strip():
                    yield _record(file.label, number, line)
    except (EOFError, zlib.error, OSError) as error:
        fault = "unreadable_file" if isinstance(error, PermissionError) else "damaged_file"
        yield RawRecord(file.label, f"after line {number}", number + 1, fault=fault, raw=type(error).__name__)


def _lines(stream: BinaryIO) -> Iterator[tuple[int, bytes | None]]:
    number = 0
    while line := stream.readline(LONGEST_LINE):
        number += 1
        if number == 1:
            line = line.removeprefix(_BOM)
        if len(line) == LONGEST_LINE and not line.endswith(b"\n"):
            while (rest := stream.readline(LONGEST_LINE)) and not rest.endswith(b"\n"):
                pass
            yield number, None
        else:
            yield number, line


def _record(label: str, number: int, line: bytes) -> RawRecord:
    place = f"line {number}"
    try:
        text = line.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError:
        raw = line.decode("utf-8", "backslashreplace")
        return RawRecord(label, place, number, fault="nul_bytes" if b"\0" in line else "invalid_utf8", raw=raw)
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        return RawRecord(label, place, number, fault="nul_bytes" if "\0" in text else "malformed_json", raw=text)
    if not isinstance(fields, dict):
        return RawRecord(label, place, number, fault="not_an_object", raw=text)
    return RawRecord(label, place, number, fields)
