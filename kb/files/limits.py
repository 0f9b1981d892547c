"""Limits of what is read: how long a line, how large a file, how tight a packing, each settable by the environment."""

from __future__ import annotations

import functools
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ..errors import UsageError

_AMOUNT: Final = re.compile(r"(\d[\d_,]{0,20})\s*([kMGT]?)(i?)B?", re.IGNORECASE)
_SCALES: Final = "kmgt"


class LimitReached(Exception):
    """A source went over a limit in the middle of being read; ``code`` is the reason of its quarantine row."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a run; what each bounds, in what, and why there, ``limits.toml`` says."""

    line: int
    field: int
    file: int
    values: int
    columns: int
    unpacked: int
    ratio: int
    small_parts: int
    blank_lines: int
    faults: int
    table_memory: int


@functools.cache
def limit_table() -> Mapping[str, Mapping[str, Any]]:
    """``limits.toml``: name of a limit → its variable, value, kind, what it bounds and why."""
    return tomllib.loads((Path(__file__).parent / "limits.toml").read_text(encoding="utf-8"))


def current_limits() -> Limits:
    """The limits as the environment sets them. UsageError for a variable that is no amount (``64MiB``, ``500_000``)."""
    return Limits(**{name: _amount(row["variable"], row["value"]) for name, row in limit_table().items()})


def limits_in_words() -> dict[str, str]:
    """Name of a limit → what it is now and the variable that raises it, for a reason or a message."""
    limits = current_limits()
    words = {}
    for name, row in limit_table().items():
        amount = getattr(limits, name)
        words[name] = shown_bytes(amount) if row["kind"] == "bytes" else f"{amount:,} {row['kind']}"
        words[f"{name}_raised"] = f"{row['variable']} in the environment raises this"
    return words


def shown_bytes(amount: int) -> str:
    """``64 MiB``; bytes where no unit fits."""
    for power, unit in ((40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")):
        if amount and amount % (1 << power) == 0:
            return f"{amount >> power} {unit}"
    return f"{amount:,} bytes"


def _amount(variable: str, otherwise: int) -> int:
    written = os.environ.get(variable, "").strip()
    if not written:
        return otherwise
    match = _AMOUNT.fullmatch(written)
    amount = 0
    if match:
        step = 1024 if match[3] else 1000
        power = _SCALES.index(match[2].lower()) + 1 if match[2] else 0
        amount = int(match[1].replace("_", "").replace(",", "")) * step**power
    if not 0 < amount < 1 << 62:
        raise UsageError(f"{variable} is '{written[:40]}', which is no amount. Hint: write 500000, 64MiB or 2GB")
    return amount
