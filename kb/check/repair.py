"""Making the index of a generation again from its tables, in the place of one that is missing or damaged."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import duckdb

from ..errors import NotWritable, UsageError
from ..files.block_digests import digest_of
from ..index.build import build_index
from ..ontology.stored_ontology import concepts_from
from ..storage.full_disk import DISK_ERRORS
from ..storage.generation_names import split_name
from ..storage.layout import DATABASE, INDEX, Layout
from ..storage.writing_database import writing_database


def repair_index(path: str | os.PathLike[str]) -> str:
    """Build the index of the current generation again; its id, which stays the same. Readers are not affected: what
    they have opened stays open.

    UsageError for ``KB@ID``, MissingKb, SchemaVersionError, LockedError, NotWritable; DamagedKb where the tables cannot
    be read.
    """
    place, wanted = split_name(path)
    if wanted:
        raise UsageError(
            f"Only the index of the current generation is made again, not that of '@{wanted}'. "
            f"Hint: 'cohortium check {place} --repair'"
        )
    layout = Layout(place)
    # Before the lock, which would make a folder where there is none.
    layout.follow(lambda generation, manifest: generation, whole=False)
    with layout.writing():
        generation, manifest = layout.follow(lambda generation, manifest: (generation, manifest), whole=False)
        _check_tables(layout, generation, manifest)
        folder = layout.building / INDEX
        folder.mkdir(mode=0o700)
        try:
            with writing_database(layout.building, "repair") as database:
                database.execute("ATTACH $1 AS built (READ_ONLY)", [str(layout.generation(generation) / DATABASE)])
                database.execute("USE built")
                concepts = concepts_from(lambda statement: database.execute(statement).fetchall())
                database.execute("USE repair")
                build_index(database, folder, concepts)
            layout.publish_index(generation)
        except (*DISK_ERRORS, OSError) as error:
            raise NotWritable(
                f"The index of the knowledge base at {layout.path} could not be written. "
                "Hint: is there space left on the disk? The same command begins again"
            ) from error
        except (duckdb.Error, ValueError) as error:
            raise layout.damaged(f"its index cannot be made of its tables ({type(error).__name__})") from error
    return generation


def _check_tables(layout: Layout, generation: str, manifest: Mapping[str, Any]) -> None:
    """DamagedKb unless the tables are as they were written, by the digest of the whole: the checksums of their blocks
    are part of what is made again."""
    found = digest_of(layout.generation(generation) / DATABASE).sha256
    if found != layout.digests(generation, manifest).sha256(DATABASE):
        raise layout.damaged(f"{DATABASE} is not as it was written, and an index of it would not be sound")
