"""The drugs that a regimen consists of (``regimen_components.tsv``): a regimen given means its components given."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..errors import OntologyError
from .normal_forms import ONTOLOGY_FOLDER


@dataclass(frozen=True, slots=True)
class Component:
    """A drug of a regimen; an ``optional`` one is given with it only sometimes, so the regimen does not imply it."""

    drug: str
    optional: bool = False


def read_components(path: Path | None = None) -> Mapping[str, tuple[Component, ...]]:
    """Components by regimen id, in the order of the file (the shipped one by default).

    OntologyError if a line is not regimen, component and 0 or 1, separated by tabs.
    """
    path = ONTOLOGY_FOLDER / "regimen_components.tsv" if path is None else path
    found: dict[str, list[Component]] = {}
    lines = [
        (number, line)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if line.strip() and not line.startswith("#")
    ]
    for number, line in lines[1:]:
        cells = [cell.strip() for cell in line.split("\t")]
        if len(cells) != 3 or cells[2] not in ("0", "1"):
            raise OntologyError(f"{path.name}:{number}: a line is regimen, component and 0 or 1, separated by tabs")
        found.setdefault(cells[0], []).append(Component(cells[1], cells[2] == "1"))
    return {regimen: tuple(components) for regimen, components in found.items()}


@functools.cache
def shipped_components() -> Mapping[str, tuple[Component, ...]]:
    """The components of the shipped file, read once."""
    return read_components()
