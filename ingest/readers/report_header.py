"""The header of a report in a text file: the date and type that it states of its own note."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from .note_dates import OtherOrder, note_date

#: A header stands at the very top (characters), and each of its lines has a name, a leader and a value.
_HEADER_ENDS: Final = 2_000
_LINE: Final = re.compile(r"(?P<name>[A-Za-z][A-Za-z ]{1,30}?)[ \t]*(?:\.{3,}|:)[ \t]*(?P<value>\S.*?)[ \t\r]*")
_CLOCK: Final = re.compile(r"(?P<day>\d{8})\s+\d{4}")


@functools.cache
def _tables() -> Mapping[str, Any]:
    return tomllib.loads((Path(__file__).parent / "headers.toml").read_text(encoding="utf-8"))


def read_header(text: str) -> dict[str, str]:
    """``date`` and ``type`` as the header gives them, empty when it gives none; a date that is none is left out."""
    header = {"date": "", "type": ""}
    for line in text[:_HEADER_ENDS].split("\n"):
        if not line.strip():
            break
        match = _LINE.fullmatch(line)
        field = _tables()["fields"].get(match["name"].casefold()) if match else None
        if match and field and not header[field]:
            value = match["value"]
            header[field] = _day(value) if field == "date" else _tables()["types"].get(value, value)
    return header


def _day(value: str) -> str:
    clock = _CLOCK.fullmatch(value)
    day = clock["day"] if clock else value
    try:
        note_date(day)
    except OtherOrder:
        # In which order dates are read is told to the run: there it is a date, or a reason.
        return day
    except ValueError:
        return ""
    return day
