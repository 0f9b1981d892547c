"""The files of words (``cues/*.toml``): how every reader gets its own, and a pattern of any of some words."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

_FOLDER: Final = Path(__file__).parents[1] / "cues"


def cue_file(name: str) -> dict[str, Any]:
    """``cues/NAME.toml``, read anew: each reader keeps what it makes of it."""
    return tomllib.loads((_FOLDER / f"{name}.toml").read_text("utf-8"))


def any_of(words: Iterable[str]) -> str:
    """A group that matches any of the words as they are written, the longest first."""
    return "(?:" + "|".join(map(re.escape, sorted(words, key=len, reverse=True))) + ")"
