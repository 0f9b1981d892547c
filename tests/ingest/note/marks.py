"""Files of marked sentences: their lines, and a line taken apart into its text and its marks."""

from __future__ import annotations

import re
from pathlib import Path

_MARK = re.compile(r"\{(?P<surface>[^{}]*?)=>(?P<expected>[^{}]*)\}")


def lines_of(path: Path) -> list[str]:
    """The lines of a data file without its comments."""
    lines = path.read_text("utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def taken_apart(line: str) -> tuple[str, list[tuple[int, int, str]]]:
    """A line without its marks, and for each mark ``{surface=>expected}`` the surface's span and what is expected."""
    text, marks, position = "", [], 0
    for match in _MARK.finditer(line):
        text += line[position : match.start()]
        marks.append((len(text), len(text) + len(match["surface"]), match["expected"].strip()))
        text += match["surface"]
        position = match.end()
    return text + line[position:], marks
