"""Words of persons (``persons.toml``): relatives, sexes, races, ethnicities, and what each of them also is."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping, Set
from typing import Any, Final

from .normal_forms import ONTOLOGY_FOLDER

#: The sides of the family that a relative may be of.
SIDES: Final = ("maternal", "paternal")


@functools.cache
def persons() -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
    """Section -> value -> what the file says of it: ``name``, ``parents``, ``words`` and perhaps more."""
    return tomllib.loads((ONTOLOGY_FOLDER / "persons.toml").read_text(encoding="utf-8"))


@functools.cache
def at_or_below(section: str, value: str) -> Set[str]:
    """The value and all that are it, too: of a parent, mother and father."""
    table = persons()[section]
    found = {value}
    for _ in table:
        found |= {one for one, entry in table.items() if not found.isdisjoint(entry["parents"])}
    return frozenset(found)
