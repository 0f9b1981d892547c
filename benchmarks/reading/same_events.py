"""Two knowledge bases row by row: whether another version of the program read the same out of the same notes.

    python -m benchmarks.reading.same_events OLD.kb NEW.kb [--json same.json] [--show 5]

Every row of every table of patients is compared, rows found by patient and ordinal, and the manifest but for its
schema and the version of the pipeline. Exit 0: equal; 1: not, and the first differences are told by table, patient,
ordinal and names of columns, without a word of the notes; 2: one of the two cannot be read. Ontology, postings and
index are left out: they follow from the rows. The database files are opened by themselves, so that any schema version
is read; a column that only one of the two has is told, and is no difference.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import duckdb

_MEMORY: Final = "2GB"
_BY_PATIENT: Final = "{side}.{table} AS t JOIN {side}.patient AS p USING (patient)"
_BY_EVENT: Final = "{side}.{table} AS t JOIN {side}.event AS e USING (event) JOIN {side}.patient AS p USING (patient)"
_ALONE: Final = "{side}.{table} AS t"
#: Each table with where its rows come from, and what finds one: patient, ordinal and what else.
TABLES: Final[Mapping[str, tuple[str, str, str, str]]] = {
    "patient": (_ALONE, "t.patient_id", "0", "''"),
    "note": (_BY_PATIENT, "p.patient_id", "t.ordinal", "t.status"),
    "mention": (_BY_PATIENT, "p.patient_id", "t.ordinal", "''"),
    "relation": (_BY_PATIENT, "p.patient_id", "t.ordinal", "''"),
    "event": (_BY_PATIENT, "p.patient_id", "t.event - p.first_event", "''"),
    "event_attribute": (_BY_EVENT, "p.patient_id", "t.event - p.first_event", "t.position"),
    "evidence": (_BY_EVENT, "p.patient_id", "t.event - p.first_event", "t.position"),
    "decision": (_BY_PATIENT, "p.patient_id", "t.ordinal", "''"),
    "quarantine": (_ALONE, "t.patient_id", "0", "concat_ws(' ', t.source, t.place)"),
}
#: Dense numbers, which depend on the other patients: the rows are found by them.
_NUMBERS: Final = frozenset({"patient", "event", "first_event"})
#: Entries of a manifest that tell of the program and of the files that it wrote, rather than of what they hold.
_OF_THE_WRITING: Final = frozenset({"versions", "schema_version", "generation", "files", "digest"})


class Unreadable(Exception):
    """There is no knowledge base at a path, or none that can be read."""


@dataclass(slots=True)
class TableDifference:
    """What differs in one table. ``first``: the first rows, each by patient, ordinal, what else finds it, columns."""

    old: int
    new: int
    differing: int = 0
    first: list[dict[str, Any]] = field(default_factory=list)
    only_old: list[str] = field(default_factory=list)
    only_new: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Comparison:
    """All tables, and the names of what differs in the manifests."""

    tables: dict[str, TableDifference] = field(default_factory=dict)
    manifest: list[str] = field(default_factory=list)

    @property
    def same(self) -> bool:
        """Whether the two tell the same."""
        return not self.manifest and not any(table.differing for table in self.tables.values())


def compare(old: Path, new: Path, show: int = 5) -> Comparison:
    """The two knowledge bases, with the first ``show`` differing rows of each table; Unreadable."""
    sides = {"old": generation(old), "new": generation(new)}
    found = Comparison(manifest=manifest_differences(*(manifest for _, manifest in sides.values())))
    with tempfile.TemporaryDirectory() as spilled, duckdb.connect() as database:
        database.execute("SET memory_limit = $1", [_MEMORY])
        database.execute("SET temp_directory = $1", [spilled])
        for name, (file, _) in sides.items():
            try:
                database.execute(f"ATTACH $1 AS {name} (READ_ONLY)", [str(file)])
            except duckdb.Error as error:
                raise Unreadable(f"{file} cannot be opened: {type(error).__name__}") from error
        for table in TABLES:
            found.tables[table] = _compare_table(database, table, show)
    return found


def generation(kb: Path) -> tuple[Path, dict[str, Any]]:
    """The database file and the manifest of the current generation of the knowledge base ``kb``; Unreadable."""
    try:
        folder = kb / "generations" / (kb / "CURRENT").read_text(encoding="ascii").strip()
        return folder / "kb.duckdb", json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Unreadable(f"no knowledge base can be read at {kb}: {type(error).__name__}") from error


def manifest_differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """The names of what differs in both, the versions of pipeline and schema and what is told of files left out."""
    names = [name for name in sorted(old.keys() & new.keys()) if old[name] != new[name]]
    versions, other = ({**side.get("versions", {}), "pipeline": ""} for side in (old, new))
    told = [f"versions.{name}" for name in sorted(versions | other) if versions.get(name) != other.get(name)]
    return [name for name in names if name not in _OF_THE_WRITING] + told


def _compare_table(database: duckdb.DuckDBPyConnection, table: str, show: int) -> TableDifference:
    old, new = _columns(database, "old", table), _columns(database, "new", table)
    columns = [name for name in old if name in new]
    keys = ("patient", "ordinal", "beside", "copy")
    on = " AND ".join(f"o.{key} = n.{key}" for key in keys)
    key = ", ".join(f"coalesce(o.{key}, n.{key}) AS {key}" for key in keys)
    database.execute(
        f"CREATE OR REPLACE TEMP TABLE differing AS SELECT {key}, o.cells AS before, n.cells AS after "
        f"FROM ({_rows('old', table, columns)}) AS o FULL OUTER JOIN ({_rows('new', table, columns)}) AS n ON {on} "
        "WHERE o.cells IS DISTINCT FROM n.cells"
    )
    found = TableDifference(
        *(_number(database, f"SELECT count(*) FROM {name}") for name in (f"old.{table}", f"new.{table}", "differing")),
        only_old=[name for name in old if name not in new],
        only_new=[name for name in new if name not in old],
    )
    differs = ", ".join(f"before.{name} IS DISTINCT FROM after.{name}" for name in columns)
    for patient, ordinal, beside, added, gone, flags in database.execute(
        f"SELECT patient, ordinal, beside, before IS NULL, after IS NULL, [{differs}] FROM differing "
        "ORDER BY patient, ordinal, beside LIMIT $1",
        [show],
    ).fetchall():
        unlike = [name for name, flag in zip(columns, flags, strict=True) if flag]
        why = ["only in new"] if added else ["only in old"] if gone else unlike
        found.first.append({"patient": patient, "ordinal": ordinal, "beside": beside, "columns": why})
    return found


def _columns(database: duckdb.DuckDBPyConnection, side: str, table: str) -> list[str]:
    rows = database.execute(
        "SELECT column_name FROM duckdb_columns() WHERE database_name = $1 AND table_name = $2 ORDER BY column_index",
        [side, table],
    ).fetchall()
    return [row[0] for row in rows if row[0] not in _NUMBERS]


def _rows(side: str, table: str, columns: Sequence[str]) -> str:
    source, patient, ordinal, beside = TABLES[table]
    cells = ", ".join(f"'{name}': t.{name}" for name in columns)
    key = f"{patient} AS patient, {ordinal} AS ordinal, CAST({beside} AS VARCHAR) AS beside, {{{cells}}} AS cells"
    # Several quarantined records may come from one place.
    copy = "row_number() OVER (PARTITION BY patient, ordinal, beside ORDER BY cells) AS copy"
    return f"SELECT *, {copy} FROM (SELECT {key} FROM {source.format(side=side, table=table)})"


def _number(database: duckdb.DuckDBPyConnection, query: str) -> int:
    ((number,),) = database.execute(query).fetchall()
    return int(number)


def told(found: Comparison) -> str:
    """What a reader sees: one line a table, below it the first rows that differ."""
    lines = []
    for name, table in found.tables.items():
        what = f"{table.differing:,} rows differ" if table.differing else "equal"
        rows = f"{table.new:,}" if table.old == table.new else f"{table.old:,} and {table.new:,}"
        lines.append(f"{name}: {rows} rows, {what}")
        for which, columns in (("old", table.only_old), ("new", table.only_new)):
            lines += [f"  only {which} has the columns {', '.join(columns)}"] if columns else []
        lines += [
            f"  patient {row['patient']}, ordinal {row['ordinal']}{', ' * bool(row['beside'])}{row['beside']}: "
            + ", ".join(row["columns"])
            for row in table.first
        ]
    lines.append(f"manifest: {', '.join(found.manifest) + ' differ' if found.manifest else 'equal'}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """The script; its exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("old", type=Path, metavar="OLD.kb")
    parser.add_argument("new", type=Path, metavar="NEW.kb")
    parser.add_argument("--json", type=Path, metavar="OUT")
    parser.add_argument("--show", type=int, default=5, metavar="N", help="differing rows told of each table")
    asked = parser.parse_args(arguments)
    try:
        found = compare(asked.old, asked.new, asked.show)
    except Unreadable as error:
        print(error, file=sys.stderr)
        return 2
    print(told(found))
    if asked.json:
        asked.json.write_text(json.dumps({"same": found.same, **asdict(found)}, indent=1) + "\n", encoding="utf-8")
    return 0 if found.same else 1


if __name__ == "__main__":
    sys.exit(main())
