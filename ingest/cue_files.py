"""The files of words (``cues/*.toml``): how every reader gets its own, and a pattern of any of some words."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from importlib import resources
from typing import Any


def cue_file(name: str) -> dict[str, Any]:
    """``cues/NAME.toml``, read anew: each reader keeps what it makes of it."""
    return tomllib.loads(resources.files(__package__).joinpath("cues", f"{name}.toml").read_text("utf-8"))


def any_of(words: Iterable[str]) -> str:
    """A group that matches any of the words as they are written, the longest first."""
    return "(?:" + "|".join(map(re.escape, sorted(words, key=len, reverse=True))) + ")"
