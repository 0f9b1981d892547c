"""JSON lines: one note a line, packed with gzip or not."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

from ...kb.files.bounded import lines_of
from ...kb.files.limits import LimitReached, Limits, current_limits
from ...kb.files.strict_json import BadJson, check_amount, loads
from .files import SourceFile, open_bytes
from .mapping import ColumnMap
from .records import KEPT_OF_RAW, RawRecord


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
    limits = current_limits()
    number = 0
    try:
        with open_bytes(file, limits) as stream:
            for number, line in lines_of(stream, limits):
                if line is None:
                    yield RawRecord(
                        file.label, f"line {number}", number, fault="line_too_long", raw="(too long to keep)"
                    )
                else:
                    yield _record(file.label, number, line, limits)
    except LimitReached as reached:
        raw = "(what was read until then is kept)"
        yield RawRecord(file.label, f"after line {number}", number + 1, fault=reached.code, raw=raw)
    except (EOFError, zlib.error, OSError) as error:
        fault = "unreadable_file" if isinstance(error, PermissionError) else "damaged_file"
        yield RawRecord(file.label, f"after line {number}", number + 1, fault=fault, raw=type(error).__name__)


def _record(label: str, number: int, line: bytes, limits: Limits) -> RawRecord:
    place = f"line {number}"
    value, fault = decoded(line, limits)
    if not fault and not isinstance(value, dict):
        fault = "not_an_object"
    if fault:
        return RawRecord(label, place, number, fault=fault, raw=shown(line))
    return RawRecord(label, place, number, value)


def decoded(data: bytes, limits: Limits) -> tuple[Any, str]:
    """The JSON value of some bytes, and an empty text; or None, and the reason code why there is none."""
    try:
        check_amount(data, limits.values)
        return loads(data.decode("utf-8")), ""
    except UnicodeDecodeError:
        return None, "nul_bytes" if b"\0" in data else "invalid_utf8"
    except BadJson as error:
        return None, "nul_bytes" if error.code == "malformed_json" and b"\0" in data else error.code


def shown(data: bytes) -> str:
    """The beginning of some bytes, as much of it as is kept."""
    return data[:KEPT_OF_RAW].decode("utf-8", "backslashreplace").rstrip("\r\n")
