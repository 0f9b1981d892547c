"""The values of an attribute that have lists of their own: the common ones, each numbered; the rest share a list."""

from __future__ import annotations

import functools
import json
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ...files.kept_file import KeptFile, kept
from ...model import Value

VALUES: Final = "values.json"
#: The number under which the patients with a value that has no list of its own are listed.
REST: Final = -1


@dataclass(frozen=True, slots=True)
class ListedValues:
    """Of one kind and attribute: the values with lists of their own (their positions number them), and the others; None
    when those are too many to be told."""

    values: tuple[Value, ...]
    others: tuple[Value, ...] | None = ()


#: Of an attribute that no event of the kind has.
NO_VALUES: Final = ListedValues((), ())


@functools.cache
def limits() -> Mapping[str, Any]:
    """The limits of ``value_lists.toml``."""
    return tomllib.loads((Path(__file__).parent / "value_lists.toml").read_text(encoding="utf-8"))


def write_values(path: Path, listed: Mapping[str, Mapping[str, ListedValues | None]]) -> None:
    """Write what is listed, by kind and attribute; None for an attribute that is there and not listed."""
    data = {
        kind: {name: None if one is None else [one.values, one.others] for name, one in names.items()}
        for kind, names in listed.items()
    }
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        json.dump(data, file, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def read_values(path: Path | KeptFile) -> dict[str, dict[str, ListedValues | None]]:
    """What :func:`write_values` wrote; DamagedIndex if it is something else."""
    file = kept(path)
    with file.decoding():
        data = json.loads(file.read())
        return {
            kind: {
                name: None if one is None else ListedValues(tuple(one[0]), None if one[1] is None else tuple(one[1]))
                for name, one in names.items()
            }
            for kind, names in data.items()
        }
