"""Scales that a number may belong to which the scale it is compared on does not reach (``other_scales.toml``)."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...kb.ontology.scales import as_number
from ..nodes import Between, Compare, Condition, Is, Name


@functools.cache
def _scales() -> Sequence[Mapping[str, Any]]:
    data = tomllib.loads((Path(__file__).parent / "other_scales.toml").read_text(encoding="utf-8"))
    scales: list[Mapping[str, Any]] = data["scale"]
    return scales


def hint_for_scale(condition: Condition, kinds: Collection[str], concept: str = "") -> str:
    """The scales of these kinds of fact on which the numbers of the comparison lie, with what to write; empty if none.

    ``concept`` is the id of the concept of the fact, where one is named.
    """
    numbers, comparison = _written(condition)
    if not numbers:
        return ""
    found = [
        f"{scale['says']}; write: {scale['write'].replace('{comparison}', comparison)}"
        for scale in _scales()
        if scale["kind"] in kinds
        and scale["attribute"] == getattr(condition, "attribute", "")
        and scale.get("concept", concept) == concept
        and all(scale["from"] <= number <= scale["to"] for number in numbers)
    ]
    return "; ".join(found)


def _written(condition: Condition) -> tuple[list[float], str]:
    """The numbers of a comparison, and how it is written; no numbers for one that is not of numbers alone."""
    match condition:
        case Compare(_, operator, value):
            values, text = [value], f"{operator} {_text(value)}"
        case Between(_, low, high):
            values, text = [low, high], f"between {_text(low)} and {_text(high)}"
        case Is(_, terms):
            names = [term.text for term in terms if isinstance(term, Name)]
            if len(names) != len(terms):
                return [], ""
            values, text = [*names], f"= {names[0]}" if len(names) == 1 else f"in ({', '.join(names)})"
        case _:
            return [], ""
    numbers = [as_number(value) for value in values]
    known = [number for number in numbers if number is not None]
    return (known, text) if len(known) == len(values) else ([], "")


def _text(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:g}"
