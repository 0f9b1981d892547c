"""Numbers as a report writes them: a dash for what is undefined or unknown, thousands apart, no false precision."""

from __future__ import annotations

from typing import Final

#: What stands where there is no figure.
MISSING: Final = "–"


def per_cent(value: float | None) -> str:
    """A share between 0 and 1 in per cent, with the two places that the paper prints."""
    return MISSING if value is None else f"{100 * value:.2f}"


def count(value: int | None) -> str:
    """``115,865``."""
    return MISSING if value is None else f"{value:,}"


def value_of(value: float | None) -> str:
    """A number of any size with three digits that count: ``0.0213``, ``4.20``, ``153``, ``12,345``."""
    if value is None:
        return MISSING
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) < 1 else f"{value:.2f}"


def seconds(value: float | None) -> str:
    """Seconds as a plain number, so that a column can be compared: ``0.020``, ``0.00014``, ``12.5``."""
    if value is None:
        return MISSING
    if value >= 10:
        return f"{value:,.1f}"
    if value >= 0.001 or value == 0:
        return f"{value:.3f}"
    return f"{value:.5f}"


def dollars(value: float | None) -> str:
    """``0.10``; under a tenth of a cent with the digits that count."""
    if value is None:
        return MISSING
    return f"{value:.2f}" if value == 0 or value >= 0.1 else f"{value:.2g}"


def plus_minus(value: str, spread: str | None) -> str:
    """``61.59 ± 29.50``."""
    return value if spread is None or value == MISSING else f"{value} ± {spread}"


def share(part: float, whole: float | None) -> float | None:
    """The part of the whole; None without a whole."""
    return part / whole if whole else None
