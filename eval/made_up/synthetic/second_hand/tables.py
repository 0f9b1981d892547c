"""The word tables, read once."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any


@cache
def table(name: str) -> dict[str, Any]:
    """One TOML table of this package by its stem."""
    with (Path(__file__).parent / f"{name}.toml").open("rb") as file:
        return tomllib.load(file)
