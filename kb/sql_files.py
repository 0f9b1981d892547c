"""The SQL of this package, kept in ``.sql`` files: whole scripts, and scripts of named statements."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

_KB: Final = Path(__file__).parent
_NAME: Final = re.compile(r"^-- name: (\w+)\s*$", re.MULTILINE)


@functools.cache
def script(name: str) -> str:
    """The text of ``kb/<name>.sql``, of which the name tells the folder too: ``storage/schema``."""
    return (_KB / f"{name}.sql").read_text(encoding="utf-8")


@functools.cache
def statements(name: str) -> Mapping[str, str]:
    """The statements of ``kb/<name>.sql`` by their ``-- name:`` line."""
    parts = _NAME.split(script(name))
    return dict(zip(parts[1::2], (text.strip() for text in parts[2::2]), strict=True))
