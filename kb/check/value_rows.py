"""The lists by attribute value against the rows: values counted and lists made again from the events, and compared."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any, Final

import pyarrow as pa

from ..errors import DamagedIndex
from ..index.lists.listed import Listed
from ..index.lists.values import REST, VALUES, ListedValues, limits, read_values
from ..model import World
from ..ontology.stored_ontology import concepts_from
from ..sql_files import statements
from ..storage.layout import INDEX
from .listed_again import Bitmaps, add_postings, closed_postings
from .looked_at import LookedAt
from .posting_rows import open_lists
from .rules import REPAIR, Faults, Rule

#: What a list is of: the columns of the statement ``patients``.
_KEY_COLUMNS: Final = ("kind", "name", "value", "concept")
#: By kind and attribute, as :func:`..lists.values.read_values` gives it.
Values = Mapping[str, Mapping[str, ListedValues | None]]


def value_rules() -> tuple[Rule, ...]:
    """Which values are listed, and whom the lists have."""
    return (
        Rule("lists by value", "index", "lists by attribute value that differ from the events", _lists, REPAIR, True),
    )


def _lists(looked_at: LookedAt) -> Iterator[Faults]:
    wanted = _values(looked_at)
    differing = sorted(_differing_values(wanted, _stored_values(looked_at)))
    if differing:
        yield Faults(len(differing), differing[0])
    concepts, lists = concepts_from(looked_at.rows), open_lists(looked_at)
    # One value of one attribute at a time is closed over what lies below: that is where the lists are large.
    exact = sorted(_patients(looked_at, wanted).items())
    for _, of_value in itertools.groupby(exact, key=lambda one: one[0][:-1]):
        for key, bitmaps in closed_postings(dict(of_value), concepts).items():
            number = sum(not _list_so(lists, key, world, bitmaps) for world in World)
            if number:
                # The value by its number: as a text it could be words of a note.
                yield Faults(number, " ".join(map(str, key)))


def _values(looked_at: LookedAt) -> dict[str, dict[str, ListedValues | None]]:
    """Which values have lists, by kind and attribute, as the events and ``value_lists.toml`` have it."""
    sql, most, rest = statements("check/value_lists"), limits()["most_values"], limits()["most_told"]
    looked_at.rows(sql["counts"])
    for _ in looked_at.parts():
        looked_at.rows(sql["count_part"])
    looked_at.rows(sql["ranked"], [most + rest])
    found: dict[str, dict[str, ListedValues | None]] = {}
    rows = looked_at.rows(sql["values"])
    for (kind, name), own in itertools.groupby(rows, key=lambda row: row[:2]):
        ranked = list(own)
        values = tuple(number if text is None else text for _, _, text, number, _, _ in ranked)
        common, all_found = sum(row[4] for row in ranked[:most]), ranked[0][5]
        listed = ListedValues(values[:most], values[most:] if len(values) <= most + rest else None)
        found.setdefault(kind, {})[name] = None if common < limits()["least_share"] * all_found else listed
    return found


def _stored_values(looked_at: LookedAt) -> Values | None:
    try:
        return read_values(looked_at.folder / INDEX / VALUES)
    except (OSError, DamagedIndex):
        return None


def _differing_values(wanted: Values, stored: Values | None) -> Iterator[str]:
    if stored is None:
        yield VALUES
        return
    own, its = ({(kind, name): one for kind in side for name, one in side[kind].items()} for side in (wanted, stored))
    for key in {*own, *its}:
        if key not in own or key not in its or own[key] != its[key]:
            yield " ".join(key)


def _patients(looked_at: LookedAt, values: Values) -> Bitmaps:
    """The lists of each value's number, not closed over what lies below a concept."""
    listed = [(kind, name) for kind, names in values.items() for name, one in names.items() if one is not None]
    table = pa.table({"kind": [kind for kind, _ in listed], "name": [name for _, name in listed]})
    found: Bitmaps = {}
    if not listed:
        return found
    looked_at.database.register("listed_attribute", table)
    for _ in looked_at.parts():
        rows = looked_at.arrow(statements("check/value_lists")["patients"], [REST, limits()["most_values"]])
        add_postings(found, rows.to_batches(), _KEY_COLUMNS)
    looked_at.database.unregister("listed_attribute")
    return found


def _list_so(lists: Listed | None, key: tuple[Any, ...], world: World, bitmaps: list[Any]) -> bool:
    kind, name, value, concept = key
    try:
        return lists is not None and lists.of_value(kind, concept, name, value, world) == bitmaps[world]
    except DamagedIndex:
        # Bytes that are no bitmap, or that lead out of the file.
        return False
