"""The rules of markers and their results (``cues/markers.toml``)."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from importlib import resources
from typing import Any


@lru_cache(maxsize=1)
def marker_rules() -> dict[str, Any]:
    """``cues/markers.toml``."""
    return tomllib.loads(resources.files(__package__).joinpath("cues/markers.toml").read_text("utf-8"))


def members_of(marker: str) -> tuple[str, ...]:
    """The markers that one name holds together (``ER/PR``); none for a single marker."""
    return tuple(marker_rules()["joint"].get(marker, {}).get("members", ()))
