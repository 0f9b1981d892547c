"""The way from the schema version of an older program to this one's: a knowledge base as it is, no note read again.

A migration is a write as any other: the tables are copied aside and changed there, the index is built of them, and the
result becomes the next generation. Killed, it leaves the knowledge base as it was. Until the next write the generation
before is kept, and :func:`migrate_back` makes it current again.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass
from typing import Any, Final

import duckdb

from ..errors import NotWritable, SchemaVersionError, UsageError
from ..index.build import build_index
from ..ontology.stored_ontology import concepts_from
from ..sql_files import statements
from .full_disk import DISK_ERRORS
from .layout import DATABASE, INDEX, SCHEMA_VERSION, Layout, canonical_json, generation_id
from .writing_database import writing_database


@dataclass(frozen=True, slots=True)
class Migration:
    """One step: the statements of that name in ``migrations.sql`` bring a database from a version to the next."""

    before: int
    after: int
    name: str
    description: str


#: Every step there is, from version to version.
MIGRATIONS: Final[tuple[Migration, ...]] = (
    Migration(1, 2, "from_1_to_2", "the index beside the tables is built"),
    Migration(2, 3, "from_2_to_3", "every file gets its digests"),
)


@dataclass(frozen=True, slots=True)
class Migrated:
    """What became of a knowledge base: its schema versions and generations before and after, and the steps between."""

    before: int
    after: int
    generation_before: str
    generation: str
    steps: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "schema_version_before": self.before,
            "schema_version": self.after,
            "generation_before": self.generation_before,
            "generation": self.generation,
            "steps": list(self.steps),
        }


def migrate(path: str | os.PathLike[str]) -> Migrated:
    """Bring the current generation to this program's schema version; nothing is done when it has it.

    MissingKb, DamagedKb, SchemaVersionError (of a newer program, or too old for any step), LockedError, NotWritable.
    """
    layout = Layout(path)
    layout.version_of(layout.some_current())
    with layout.writing():
        before = layout.some_current()
        version = layout.version_of(before)
        steps = _steps(layout, version)
        if not steps:
            return Migrated(version, version, before, before, ())
        try:
            generation = _migrated(layout, before, steps)
        except (*DISK_ERRORS, OSError) as error:
            raise NotWritable(
                f"The migration of the knowledge base at {layout.path} could not go on; it is as it was. "
                "Hint: is there space left on the disk? It needs room for a second copy"
            ) from error
        return Migrated(version, SCHEMA_VERSION, before, generation, tuple(step.description for step in steps))


def migrate_back(path: str | os.PathLike[str]) -> Migrated:
    """Make the generation before the migration current again, for the program that wrote it; UsageError if the last
    write was none."""
    layout = Layout(path)
    layout.some_current()
    with layout.writing():
        current, previous = layout.some_current(), layout.previous()
        if previous in layout.generations() and previous is not None:
            before, after = layout.version_of(current), layout.version_of(previous)
            if after < before:
                layout.point_back()
                return Migrated(before, after, current, previous, ("the generation before is current again",))
    raise UsageError(
        f"The last write of the knowledge base at {layout.path} was no migration: there is nothing to go back to. "
        f"Hint: 'cohortium info {layout.path}' lists the generations that are kept"
    )


def _steps(layout: Layout, version: int) -> tuple[Migration, ...]:
    if version > SCHEMA_VERSION:
        raise layout.wrong_schema(version)
    steps: list[Migration] = []
    for at in range(version, SCHEMA_VERSION):
        found = [step for step in MIGRATIONS if step.before == at]
        if not found:
            raise SchemaVersionError(
                f"No step brings the knowledge base at {layout.path} on from schema version {at}. "
                "Hint: ingest the notes again into a new knowledge base"
            )
        steps.extend(found)
    return tuple(steps)


def _migrated(layout: Layout, before: str, steps: tuple[Migration, ...]) -> str:
    copy = layout.building / DATABASE
    shutil.copyfile(layout.generation(before) / DATABASE, copy)
    copy.chmod(0o600)
    folder = layout.building / INDEX
    folder.mkdir(mode=0o700)
    try:
        with writing_database(layout.building, "migrating") as database:
            database.execute("ATTACH $1 AS built", [str(copy)])
            database.execute("USE built")
            for step in steps:
                database.execute(statements("storage/migrations")[step.name])
            database.execute(
                "UPDATE manifest SET value = $1 WHERE name = 'schema_version'", [canonical_json(SCHEMA_VERSION)]
            )
            manifest = {
                name: json.loads(value)
                for name, value in database.execute("SELECT name, value FROM manifest").fetchall()
            }
            concepts = concepts_from(lambda statement: database.execute(statement).fetchall())
            database.execute("USE migrating")
            build_index(database, folder, concepts)
            database.execute("CHECKPOINT built")
            database.execute("DETACH built")
    except DISK_ERRORS:
        raise
    except (duckdb.Error, ValueError) as error:
        raise layout.damaged(f"its tables cannot be brought on ({type(error).__name__})") from error
    generation = generation_id(manifest)
    layout.publish(generation, manifest)
    return generation
