"""The holdings of a knowledge base: a few counts that were taken when it was written: kinds, dates, attributes."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..files.kept_file import KeptFile, kept
from ..model import EARLIEST_DAY, LATEST_DAY, World
from ..sql_files import statements

if TYPE_CHECKING:
    import duckdb

    from .lists.listed import Listed

#: The file of the counts, in the folder of the index.
HOLDINGS: Final = "holdings.json"


def write_holdings(database: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Take the counts of the finished tables, which are readable under the schema name ``built``."""
    counting = statements("index/holdings")
    kinds = database.execute(counting["kinds"], [EARLIEST_DAY, LATEST_DAY]).fetchall()
    ((first_day,),) = database.execute(counting["first_day"], [EARLIEST_DAY]).fetchall()
    ((newest,),) = database.execute(counting["newest_note"]).fetchall()
    data = {
        "kinds": {kind: [events, exact, dated] for kind, events, exact, dated in kinds},
        "first_day": first_day,
        "newest_note": None if newest is None else newest.toordinal(),
    }
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="ascii") as file:
        json.dump(data, file, sort_keys=True, separators=(",", ":"))


class Holdings:
    """The counts of one generation. Safe across threads."""

    def __init__(self, path: Path | KeptFile, lists: Listed) -> None:
        """``path`` is the file of the counts, read when it is first needed."""
        self._file = kept(path)
        self._lists = lists

    @functools.cached_property
    def _data(self) -> Mapping[str, Any]:
        with self._file.decoding():
            found: Mapping[str, Any] = json.loads(self._file.read())
            return found

    @functools.cached_property
    def events(self) -> Mapping[str, int]:
        """How many events there are of each kind of which there are any, by the names of the kinds."""
        return {kind: counts[0] for kind, counts in sorted(self._data["kinds"].items())}

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of which there is an event, sorted."""
        return tuple(self.events)

    @property
    def first_day(self) -> int | None:
        """The earliest day on which an event is known to lie, or to begin at the earliest; None if none is known."""
        day: int | None = self._data["first_day"]
        return day

    @property
    def newest_note(self) -> int | None:
        """The day of the newest note; None if no note has a date."""
        day: int | None = self._data["newest_note"]
        return day

    def has_any(self, kind: str, concept: str) -> bool:
        """Whether there is an event of the kind at or below the concept, whatever its context."""
        return self._lists.size(kind, concept, World.NONE) > 0

    def has_event(self, kind: str, concept: str) -> bool:
        """Whether there is an event of the kind and of this very concept, whatever its context."""
        return self._lists.has_exact(kind, concept)

    def has_attribute(self, kind: str, name: str) -> bool:
        """Whether an event of the kind has an attribute of this name."""
        return self._lists.has_attribute(kind, name)

    def exact_days(self, kind: str) -> float | None:
        """The share, of the events of a kind with any date, of those whose day is known; None if none has a date."""
        _, exact, dated = self._data["kinds"].get(kind, (0, 0, 0))
        return exact / dated if dated else None
