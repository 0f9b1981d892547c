"""The lists of one generation by what they are of: kind and concept, this very concept, attribute and value."""

from __future__ import annotations

import functools
from pathlib import Path

from pyroaring import BitMap

from ...files.kept_file import KeptFile
from ...model import World
from .list_file import LISTS, ListFile, key_of, key_of_exact
from .values import NO_VALUES, VALUES, ListedValues, read_values


class Listed:
    """Reads them one at a time; every bitmap is the caller's own. Safe across threads."""

    def __init__(self, lists: Path | KeptFile, values: Path | KeptFile) -> None:
        """The files :data:`.list_file.LISTS` and :data:`.values.VALUES` of an index. DamagedIndex if the first is not
        as it was written."""
        self._file = ListFile(lists)
        self._values_file = values

    @classmethod
    def of_folder(cls, folder: Path) -> Listed:
        """Those in a folder of an index whose bytes are believed."""
        return cls(folder / LISTS, folder / VALUES)

    def patients(self, kind: str, concept: str, world: World) -> BitMap:
        """Patients with an event of the kind at or below the concept (``""``: any) that exists in the world."""
        return self._patients(key_of(kind, concept), world)

    def exact(self, kind: str, concept: str, world: World) -> BitMap:
        """The same of this very concept."""
        return self._patients(key_of_exact(kind, concept), world)

    def of_value(self, kind: str, concept: str, name: str, number: int, world: World) -> BitMap:
        """The same as :meth:`patients`, of events whose attribute has the value of this number (see :mod:`.values`)."""
        return self._patients(key_of(kind, concept, name, str(number)), world)

    def size(self, kind: str, concept: str, world: World) -> int:
        """How many :meth:`patients` lists; the list is not read."""
        entry = self._file.find(key_of(kind, concept))
        return 0 if entry is None else self._file.size(entry, world)

    def has_exact(self, kind: str, concept: str) -> bool:
        """Whether there is an event of the kind and this very concept, in whatever world."""
        return self._file.find(key_of_exact(kind, concept)) is not None

    def has_attribute(self, kind: str, name: str) -> bool:
        """Whether an event of the kind has the attribute."""
        return name in self._values.get(kind, {})

    def values(self, kind: str, name: str) -> ListedValues | None:
        """Which values of an attribute have lists; None if there are too many different ones."""
        return self._values.get(kind, {}).get(name, NO_VALUES)

    @functools.cached_property
    def _values(self) -> dict[str, dict[str, ListedValues | None]]:
        return read_values(self._values_file)

    def _patients(self, key: int, world: World) -> BitMap:
        entry = self._file.find(key)
        return BitMap() if entry is None else self._file.patients(entry, world)
