"""The rules of markers and their results (``cues/markers.toml``)."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from ..text.cue_files import cue_file


@lru_cache(maxsize=1)
def marker_rules() -> dict[str, Any]:
    """``cues/markers.toml``."""
    return cue_file("markers")


def members_of(marker: str) -> tuple[str, ...]:
    """The markers that one name holds together (``ER/PR``); none for a single marker."""
    return tuple(marker_rules()["joint"].get(marker, {}).get("members", ()))
