"""Names of our fields in a source: ``--map patient_id=subject_id,date=chartdate``."""

from __future__ import annotations

import difflib
import functools
import itertools
import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Final

from ...kb.errors import UsageError

#: The fields of a note, in the order of its JSON form.
FIELDS: Final = ("patient_id", "doc_id", "date", "type", "title", "text", "status")
#: Without these no record of a table can become a note.
REQUIRED: Final = ("patient_id", "text")
_SHOWN: Final = 20
#: How alike two names are that mean one thing (of 1).
_NEAR: Final = 0.75
#: A table without a header offers its first row as column names; what may be a note's words is not repeated.
_PIECES: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[ ._-]")
_NAME_LIKE: Final = re.compile(r"[\w.:/#-]+(?: [\w.:/#-]+){0,2}")


class ColumnMap:
    """Field of ours → column of the source. Fields that the map does not name have their own name there."""

    def __init__(self, named: Mapping[str, str] | None = None) -> None:
        """UsageError when ``named`` has a field that notes lack."""
        self.named = dict(named or {})
        for name in self.named:
            if name not in FIELDS:
                raise UsageError(
                    f"--map: '{name}' is no field of a note. "
                    f"Hint: {_meant(name, FIELDS)}the fields are {', '.join(FIELDS)}"
                )

    def column(self, name: str) -> str:
        """The column that holds a field."""
        return self.named.get(name, name)

    def check(self, present: Collection[str], where: str, required: Collection[str] = REQUIRED) -> None:
        """UsageError, with the nearest columns there are, when a mapped or a required column is missing.

        A table that tells the status of its notes may be one of retractions, which have no text.
        """
        if self.column("status") in present:
            required = [name for name in required if name != "text"]
        for name in FIELDS:
            column = self.column(name)
            if column in present or (name not in self.named and name not in required):
                continue
            shown = [there for there in shown_names(present) if is_surely_a_name(there)]
            there = _listed(shown, len(present))
            if name in self.named:
                raise UsageError(
                    f"{where}: no column '{column}' for {name} (--map). Hint: {_meant(column, shown)}{there}"
                )
            raise UsageError(
                f"{where}: no column '{column}'. Hint: {there}; tell which one it is with --map {name}=COLUMN"
            )


def _listed(shown: Sequence[str], number: int) -> str:
    """The columns of a source, as far as they are surely names and no cells of a first row."""
    if not shown:
        return "none of its columns has a name that can be shown; is its first line one of column names?"
    more = number - len(shown[:_SHOWN])
    return f"its columns are: {', '.join(shown[:_SHOWN])}{f', and {more} more' if more else ''}"


@functools.cache
def _column_words() -> frozenset[str]:
    text = (Path(__file__).parent / "column_words.toml").read_text(encoding="utf-8")
    return frozenset(tomllib.loads(text)["words"].split())


def is_surely_a_name(name: str) -> bool:
    """Whether a column's name is made of words for columns alone (``column_words.toml``), and so no cell of a row."""
    pieces = _PIECES.findall(name)
    words = [piece.lower() for piece in pieces if piece.isalpha()]
    return bool(words) and sum(map(len, pieces)) == len(name) and _column_words().issuperset(words)


def shown_names(present: Collection[str]) -> list[str]:
    """The columns that are surely names, a few dozen at most."""
    likely = (there for there in present if len(there) <= 40 and _NAME_LIKE.fullmatch(there))
    return list(itertools.islice(likely, 3 * _SHOWN))


def near_columns(
    unused: Sequence[str], present: Collection[str], columns: ColumnMap, known: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """Fields that a source lacks → the unused column that may hold them. ``known``: field → names elsewhere."""
    left = {"_".join(name.casefold().split()): name for name in reversed(shown_names(unused))}
    found: dict[str, str] = {}
    for field in FIELDS:
        if columns.column(field) in present:
            continue
        exact = [name for name in (field, *known.get(field, ())) if name in left]
        near = exact or difflib.get_close_matches(field, left, n=1, cutoff=_NEAR)
        if near:
            found[field] = left.pop(near[0])
    return found


def _meant(name: str, present: Collection[str]) -> str:
    by_folded = {there.casefold(): there for there in present}
    near = difflib.get_close_matches(name.casefold(), by_folded, n=3, cutoff=0.5)
    return f"did you mean {' or '.join(repr(by_folded[one]) for one in near)}? " if near else ""
