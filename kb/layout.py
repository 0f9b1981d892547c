"""The directory of a knowledge base: its generations, the ``CURRENT`` pointer, the writer's lock, and file modes."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from .errors import LockedError, MissingKb, NotWritable, SchemaVersionError

#: Raised whenever ``schema.sql`` or the meaning of a column changes.
SCHEMA_VERSION: Final = 1

DATABASE: Final = "kb.duckdb"
_CURRENT: Final = "CURRENT"
_PREVIOUS: Final = "PREVIOUS"
_GENERATIONS: Final = "generations"
_BUILDING: Final = "building"
_LOCK: Final = "writer.lock"
_MANIFEST: Final = "manifest.json"


class Layout:
    """Where the parts of the knowledge base at ``path`` are. Making one touches nothing."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """``path`` is the directory of the knowledge base, which need not exist."""
        self.path = Path(path)
        self.building = self.path / _BUILDING

    # --- reading ----------------------------------------------------------------------------------------------------

    def current(self) -> str | None:
        """The id of the generation that readers open; None when there is no knowledge base here."""
        return self._pointer(_CURRENT)

    def _pointer(self, name: str) -> str | None:
        try:
            return (self.path / name).read_text(encoding="ascii").strip() or None
        except (FileNotFoundError, NotADirectoryError):
            return None

    def generations(self) -> tuple[str, ...]:
        """The ids of the generations that are kept, sorted."""
        folder = self.path / _GENERATIONS
        return tuple(sorted(entry.name for entry in folder.iterdir())) if folder.is_dir() else ()

    def generation(self, generation: str) -> Path:
        """The directory of one generation."""
        return self.path / _GENERATIONS / generation

    def require_current(self) -> str:
        """The current generation, of this schema version; MissingKb or SchemaVersionError."""
        current = self.current()
        if current is None:
            what = "the path does not exist"
            if self.path.exists():
                what = "the directory holds none" if self.path.is_dir() else "this is a file, not a directory"
            raise MissingKb(
                f"No knowledge base at {self.path}: {what}. Hint: 'cohortium ingest SOURCE --kb {self.path}' makes one."
            )
        self.check_schema(current)
        return current

    def check_schema(self, generation: str) -> None:
        """SchemaVersionError unless the generation was written under this schema version."""
        try:
            manifest = json.loads((self.generation(generation) / _MANIFEST).read_text(encoding="utf-8"))
            found = manifest["schema_version"]
        except FileNotFoundError:
            raise
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise self.wrong_schema("unknown") from error
        if found != SCHEMA_VERSION:
            raise self.wrong_schema(found)

    def wrong_schema(self, found: object) -> SchemaVersionError:
        """The error for a knowledge base of the schema version ``found``."""
        return SchemaVersionError(
            f"The knowledge base at {self.path} has schema version {found}; "
            f"this program reads version {SCHEMA_VERSION}. "
            "Hint: ingest the notes again into a new knowledge base, or use the program version that wrote this one."
        )

    # --- writing ----------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the writer's lock, with an empty ``building`` folder that is gone afterwards.

        LockedError if another writer holds it, NotWritable if the directory cannot be made or written.
        """
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._refuse_foreign()
            self.path.chmod(0o700)
            lock = os.open(self.path / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise self._not_writable(error) from error
        try:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise LockedError(
                    f"Another process is writing the knowledge base at {self.path}. "
                    "Hint: wait until it has ended; readers are not affected."
                ) from error
            try:
                self._clean()
                self.building.mkdir(mode=0o700)
            except OSError as error:
                raise self._not_writable(error) from error
            try:
                yield
            finally:
                shutil.rmtree(self.building, ignore_errors=True)
        finally:
            os.close(lock)

    def _refuse_foreign(self) -> None:
        """NotWritable for a directory of other things: a knowledge base would close it to everyone but its owner."""
        names = {entry.name for entry in self.path.iterdir()}
        if names and not names & {_CURRENT, _LOCK}:
            raise NotWritable(
                f"{self.path} is a directory that holds other things than a knowledge base. "
                "Hint: name a directory of its own, which need not exist yet."
            )

    def _not_writable(self, error: OSError) -> NotWritable:
        return NotWritable(
            f"The knowledge base at {self.path} cannot be written: {error.strerror or type(error).__name__}. "
            "Hint: name a directory in a place where you may write."
        )

    def _clean(self) -> None:
        """Remove what a killed writer left, and every generation but the current and the previous one."""
        shutil.rmtree(self.building, ignore_errors=True)
        keep = {self._pointer(_CURRENT), self._pointer(_PREVIOUS)}
        for generation in self.generations():
            if generation not in keep:
                shutil.rmtree(self.generation(generation), ignore_errors=True)

    def publish(self, generation: str, manifest: dict[str, Any]) -> None:
        """Make the finished ``building/kb.duckdb`` the current generation: first its directory, then the pointer."""
        finished = self.path / _BUILDING / generation
        finished.mkdir(mode=0o700)
        (self.building / DATABASE).replace(finished / DATABASE)
        (finished / _MANIFEST).write_text(canonical_json(manifest) + "\n", encoding="utf-8")
        for name in (DATABASE, _MANIFEST):
            (finished / name).chmod(0o600)
            _sync(finished / name)
        _sync(finished)
        folder = self.path / _GENERATIONS
        folder.mkdir(mode=0o700, exist_ok=True)
        target = self.generation(generation)
        if not target.exists():
            # The id derives from content: if it exists, it is this very generation.
            finished.replace(target)
        _sync(folder)
        before = self.current()
        if before != generation:
            if before is not None:
                self._point(_PREVIOUS, before)
            self._point(_CURRENT, generation)

    def _point(self, name: str, generation: str) -> None:
        temporary = self.building / name
        temporary.touch(mode=0o600)
        temporary.write_text(generation + "\n", encoding="ascii")
        _sync(temporary)
        temporary.replace(self.path / name)
        _sync(self.path)


def canonical_json(value: object) -> str:
    """JSON with sorted keys: equal values give equal text."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
