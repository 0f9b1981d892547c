"""The compiled grammar of the query language."""

from __future__ import annotations

import functools
from pathlib import Path

from lark import Lark

from .vocabulary import ATTRIBUTES, CRITERION_ATTRIBUTES


@functools.cache
def grammar() -> Lark:
    """The compiled grammar (compiled once; safe to share between threads)."""
    text = (Path(__file__).parent / "grammar.lark").read_text(encoding="utf-8")
    inner = [name for name in ATTRIBUTES if name not in CRITERION_ATTRIBUTES]
    text = text.replace("(?:CONDITION_ATTRIBUTES)", f"(?:{'|'.join(inner)})")
    text = text.replace("(?:ALL_ATTRIBUTES)", f"(?:{'|'.join(ATTRIBUTES)})")
    return Lark(text, parser="lalr", propagate_positions=True, start=["start", "library"])
