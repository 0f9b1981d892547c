"""The SQL of this package, kept in ``.sql`` files: whole scripts, and scripts of named statements."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from pathlib import Path

_NAME = re.compile(r"^-- name: (\w+)\s*$", re.MULTILINE)


@functools.cache
def script(name: str) -> str:
    """The text of ``kb/storage/<name>.sql``."""
    return (Path(__file__).parent / f"{name}.sql").read_text(encoding="utf-8")


@functools.cache
def statements(name: str) -> Mapping[str, str]:
    """The statements of ``kb/storage/<name>.sql`` by their ``-- name:`` line."""
    parts = _NAME.split(script(name))
    return dict(zip(parts[1::2], (text.strip() for text in parts[2::2]), strict=True))
