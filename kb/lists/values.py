"""Which values of an attribute have lists of their own: the common ones, each under a number; the rest share a list."""

from __future__ import annotations

import functools
import json
import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from ..model import Value
from .closing import Array

VALUES: Final = "values.json"
#: The number under which the patients with a value that has no list of its own are listed.
REST: Final = -1


@dataclass(frozen=True, slots=True)
class ListedValues:
    """Of one kind and attribute: the values with lists of their own (their positions number them), and the others; None
    when those are too many to be told."""

    values: tuple[Value, ...]
    others: tuple[Value, ...] | None = ()


@functools.cache
def limits() -> Mapping[str, Any]:
    """The limits of ``value_lists.toml``."""
    return tomllib.loads((Path(__file__).parent / "value_lists.toml").read_text(encoding="utf-8"))


def chosen(values: Sequence[Value], counts: Array) -> tuple[ListedValues, Array] | None:
    """What is listed of values that so many events have each, and for each value its number or REST; None when too few
    events have a common one."""
    most, total = limits()["most_values"], int(counts.sum())
    # Texts before numbers, so that the order is one of values and not of how they came.
    order = sorted(np.flatnonzero(counts).tolist(), key=lambda at: (-counts[at], isinstance(values[at], float), values[at]))
    common, others = order[:most], order[most:]
    if not total or counts[common].sum() < limits()["least_share"] * total:
        return None
    numbers = np.full(len(values), REST, dtype=np.int64)
    numbers[common] = np.arange(len(common))
    told = tuple(values[at] for at in others) if len(others) <= limits()["most_told"] else None
    return ListedValues(tuple(values[at] for at in common), told), numbers


def write_values(path: Path, listed: Mapping[str, Mapping[str, ListedValues]]) -> None:
    """Write what is listed, by kind and attribute."""
    data = {
        kind: {name: {"values": one.values, "others": one.others} for name, one in names.items()}
        for kind, names in listed.items()
    }
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        json.dump(data, file, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def read_values(path: Path) -> dict[str, dict[str, ListedValues]]:
    """What :func:`write_values` wrote."""
    data = json.loads(path.read_text(encoding="utf-8"))
    return {
        kind: {
            name: ListedValues(tuple(one["values"]), None if one["others"] is None else tuple(one["others"]))
            for name, one in names.items()
        }
        for kind, names in data.items()
    }
