"""Parts of queries as text: a concept that is meant beyond doubt, any of several criteria, all of them."""

from __future__ import annotations

from collections.abc import Sequence


def concept(one: str) -> str:
    """A concept, written so that nothing else can be meant."""
    return f"concept:{one}"


def value(one: str) -> str:
    """A concept as a value of an attribute."""
    return f"concept:{one}"


def either(parts: Sequence[str]) -> str:
    """Any of the criteria."""
    parts = list(dict.fromkeys(parts))
    return parts[0] if len(parts) == 1 else f"({' or '.join(parts)})"


def both(parts: Sequence[str]) -> str:
    """All of the criteria."""
    parts = list(dict.fromkeys(parts))
    if len(parts) == 1:
        return parts[0]
    return f"({' and '.join(parts)})"
