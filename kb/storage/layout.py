"""The directory of a knowledge base: its generations, the ``CURRENT`` pointer, the writer's lock, and file modes."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

from ..errors import DamagedIndex, DamagedKb, LockedError, MissingKb, NotWritable, SchemaVersionError
from ..files.foreign_names import name_for_libraries
from ..files.locks import lock, require_locks
from ..files.untrusted import open_regular, read_regular, shape_expected, text, whole_number
from ..files.whole_files import close_and_sync, sync
from ..model import content_id
from .digests import DIGESTS, MANIFEST, Digests, manifest_bytes, read_manifest, write_digests

#: Raised whenever ``schema.sql`` or the meaning of a column changes.
SCHEMA_VERSION: Final = 3

DATABASE: Final = "kb.duckdb"
#: The folder of what derives from the database alone: it can be lost and made again.
INDEX: Final = "index"
_CURRENT: Final = "CURRENT"
_PREVIOUS: Final = "PREVIOUS"
_GENERATIONS: Final = "generations"
_BUILDING: Final = "building"
_REMOVED: Final = "removed"
_LOCK: Final = "writer.lock"
#: The entries of ``manifest.json`` (not of the table ``manifest``) that tell the digests of a generation's files, and
#: which generation it is.
FILES: Final = "files"
_OWN: Final = "generation"
#: What a manifest may tell that is not part of what it holds.
ASIDE: Final = frozenset({FILES, _OWN, "index"})
#: The name of a generation, as a pointer holds it; more bytes than these are none.
_NAME: Final = re.compile(rb"[0-9a-f]{16}\n?")
_LONGEST: Final = 64
#: A reader looks so often for the current generation: two writes must end during each look to make it look again.
_LOOKS: Final = 50

Opened = TypeVar("Opened")


class Layout:
    """Where the parts of the knowledge base at ``path`` are. Making one touches nothing."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """``path`` is the directory of the knowledge base, which need not exist; UsageError for a name that no database
        can have."""
        self.path = Path(name_for_libraries(path))
        self.building = self.path / _BUILDING

    # --- reading ----------------------------------------------------------------------------------------------------

    def current(self) -> str | None:
        """The id of the generation that readers open; None when there is no knowledge base here."""
        return self._pointer(_CURRENT)

    def previous(self) -> str | None:
        """The id of the generation that was current before; None when there was none."""
        return self._pointer(_PREVIOUS)

    def _pointer(self, name: str) -> str | None:
        try:
            with open_regular(self.path / name) as file:
                held = file.read(_LONGEST)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise self._damaged_pointer(name, f"cannot be read ({error.strerror})") from error
        if not _NAME.fullmatch(held):
            raise self._damaged_pointer(name, "names no generation of it")
        return held.decode("ascii").strip()

    def _damaged_pointer(self, name: str, what: str) -> DamagedKb:
        kept = ", ".join(self.generations())
        hint = f"it keeps the generations {kept}; the file holds one of these names" if kept else "it keeps none"
        return DamagedKb(
            f"The file {name} of the knowledge base at {self.path} is damaged: it {what}. "
            f"Hint: put back a copy of the folder, or the file alone: {hint}."
        )

    def generations(self) -> tuple[str, ...]:
        """The ids of the generations that are kept, sorted."""
        folder = self.path / _GENERATIONS
        return tuple(sorted(entry.name for entry in folder.iterdir())) if folder.is_dir() else ()

    def generation(self, generation: str) -> Path:
        """The directory of one generation."""
        return self.path / _GENERATIONS / generation

    def require_current(self) -> str:
        """The current generation, of this schema version and with all its files; MissingKb, SchemaVersionError,
        DamagedKb or DamagedIndex."""
        current = self.some_current()
        self.check_files(current, self.check_schema(current))
        return current

    def some_current(self) -> str:
        """The current generation, of whatever version; MissingKb."""
        current = self.current()
        if current is None:
            what = "the path does not exist"
            if self.path.exists():
                what = "the directory holds none" if self.path.is_dir() else "this is a file, not a directory"
            raise MissingKb(
                f"No knowledge base at {self.path}: {what}. Hint: 'cohortium ingest SOURCE --kb {self.path}' makes one."
            )
        return current

    def follow(self, open_generation: Callable[[str, dict[str, Any]], Opened], *, whole: bool = True) -> Opened:
        """What ``open_generation`` makes of the current generation and its manifest, whatever a writer does meanwhile.

        Between reading the pointer and opening what it names, two writes may end and the generation be gone: then the
        pointer names another, which is tried. Errors as :meth:`require_current`, for what stays so; unless ``whole`` is
        asked for, files are not looked at.
        """
        for _ in range(_LOOKS):
            current = self.some_current()
            try:
                manifest = self.check_schema(current)
                if whole:
                    self.check_files(current, manifest)
                return open_generation(current, manifest)
            except (FileNotFoundError, DamagedKb) as error:
                if self.current() != current:
                    continue
                if isinstance(error, DamagedKb):
                    raise
                if self.generation(current).is_dir():
                    raise self.damaged(f"{Path(error.filename or DATABASE).name} is missing") from error
                raise self._damaged_pointer(_CURRENT, f"names {current}, which is not there") from error
        raise LockedError(
            f"The knowledge base at {self.path} is written faster than it can be opened. Hint: wait for the writer."
        )

    def hold(self, generation: str) -> int:
        """A file descriptor: as long as it is open, no writer removes the generation. FileNotFoundError if it is gone.

        A reader need not open its files at once then.
        """
        require_locks()
        held = os.open(self.generation(generation), os.O_RDONLY | os.O_DIRECTORY)
        try:
            lock(held, shared=True)
        except BlockingIOError as error:
            os.close(held)
            raise FileNotFoundError(f"generation {generation} is being removed") from error
        except OSError:
            pass  # a file system without locks: who reads there opens again
        return held

    def manifest_file(self, generation: str) -> dict[str, Any]:
        """What ``manifest.json`` of a generation tells; FileNotFoundError, DamagedKb."""
        try:
            stated, digested = read_manifest(read_regular(self.generation(generation) / MANIFEST))
        except FileNotFoundError:
            raise
        except OSError as error:
            raise self.damaged(f"{MANIFEST} cannot be read ({error.strerror or type(error).__name__})") from error
        except ValueError as error:
            raise self.damaged(f"{MANIFEST} is not as it was written ({type(error).__name__})") from error
        if not isinstance(stated, dict):
            raise self.damaged(f"{MANIFEST} is no object of JSON")
        if type(stated.get("schema_version")) is not int:
            raise self.damaged(f"{MANIFEST} is none: it tells no schema version")
        if digested and stated.get(_OWN) != generation:
            raise self.damaged(f"{MANIFEST} is not that of generation {generation}")
        # Those of older versions had none; of the version that it tells only what has one can be believed.
        if not digested and stated["schema_version"] == SCHEMA_VERSION:
            raise self.damaged(f"{MANIFEST} is not as it was written (without its digest)")
        with shape_expected(lambda what: self.damaged(f"{MANIFEST} does not tell of files as it should ({what})")):
            for name, told in dict(stated.get(FILES, {})).items():
                _expect_file(name, told, proven=digested)
        return stated

    def version_of(self, generation: str) -> int:
        """The schema version under which a generation was written; DamagedKb."""
        try:
            found: int = self.manifest_file(generation)["schema_version"]
        except FileNotFoundError as error:
            raise self.damaged(f"{MANIFEST} is missing") from error
        return found

    def check_schema(self, generation: str) -> dict[str, Any]:
        """The manifest; SchemaVersionError unless the generation was written under this schema version."""
        manifest = self.manifest_file(generation)
        found = manifest["schema_version"]
        if found != SCHEMA_VERSION:
            raise self.wrong_schema(found)
        return manifest

    def check_own_version(self, stated: str | None) -> None:
        """SchemaVersionError unless the database itself tells (in JSON) that it is of this schema version."""
        if stated != str(SCHEMA_VERSION):
            raise self.wrong_schema("unknown" if stated is None else stated)

    def check_files(self, generation: str, manifest: Mapping[str, Any]) -> None:
        """FileNotFoundError without a database, DamagedKb with one cut short, DamagedIndex when a file of the index is
        missing or of another size than the manifest tells."""
        folder = self.generation(generation)
        sizes = {name: told["bytes"] for name, told in manifest.get(FILES, {}).items()}
        found = (folder / DATABASE).stat()
        if not stat.S_ISREG(found.st_mode):
            raise self.damaged(f"{DATABASE} is no regular file")
        if found.st_size < sizes.get(DATABASE, 0):
            raise self.damaged(f"{DATABASE} is cut short")
        for name, size in sizes.items():
            if name == DATABASE:
                continue
            try:
                found = (folder / name).stat()
                if stat.S_ISREG(found.st_mode) and found.st_size == size:
                    continue
                what = "is of another size than it was written, or no file"
            except FileNotFoundError:
                what = "is missing"
            except OSError as error:
                what = f"cannot be read ({error.strerror})"
            raise self.damaged_index(f"{name} {what}")

    def digests(self, generation: str, manifest: Mapping[str, Any]) -> Digests:
        """The files of a generation, as its manifest tells that they were written."""
        return Digests(self.generation(generation), manifest.get(FILES, {}), self.damaged, self.damaged_index)

    def damaged_index(self, what: str) -> DamagedIndex:
        """The error for a current generation whose index cannot be used."""
        return DamagedIndex(
            f"The index of the knowledge base at {self.path} is damaged: {what}. "
            f"Hint: 'cohortium check {self.path} --repair' makes it again from the tables."
        )

    def damaged(self, what: str) -> DamagedKb:
        """The error for a current generation whose tables cannot be read."""
        return DamagedKb(
            f"The knowledge base at {self.path} is damaged: {what}. "
            f"Hint: 'cohortium check {self.path}' tells more; put back a copy of the folder, or ingest the notes again "
            "into a new one."
        )

    def wrong_schema(self, found: object) -> SchemaVersionError:
        """The error for a knowledge base of the schema version ``found``."""
        hint = f"'cohortium migrate {self.path}' brings it to that version, and can be taken back"
        if not isinstance(found, int) or found > SCHEMA_VERSION:
            hint = "use the program version that wrote this one, or ingest the notes again into a new knowledge base"
        return SchemaVersionError(
            f"The knowledge base at {self.path} has schema version {found}; "
            f"this program reads version {SCHEMA_VERSION}. Hint: {hint}."
        )

    def is_free(self) -> bool:
        """Whether there is nothing here, or no more than a writer left that was killed before it had published."""
        if not self.path.is_dir():
            return not self.path.exists()
        return {entry.name for entry in self.path.iterdir()} <= {_LOCK, _BUILDING, _GENERATIONS}

    # --- writing ----------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the writer's lock, with an empty ``building`` folder that is gone afterwards.

        LockedError if another writer holds it, NotWritable if the directory cannot be made or written.
        """
        require_locks()
        made = not self.path.exists()
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._refuse_foreign()
            self.path.chmod(0o700)
            held = os.open(self.path / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise self._not_writable(error) from error
        try:
            try:
                lock(held)
            except BlockingIOError as error:
                raise LockedError(
                    f"Another process is writing the knowledge base at {self.path}. "
                    "Hint: wait until it has ended; readers are not affected."
                ) from error
            try:
                self._clean()
            except OSError as error:
                raise self._not_writable(error) from error
            try:
                yield
            finally:
                shutil.rmtree(self.building, ignore_errors=True)
                if made:
                    self._leave_nothing()
        finally:
            os.close(held)

    def _leave_nothing(self) -> None:
        """Remove a folder that was made for what then was not published. The lock is held, so nobody else writes."""
        with contextlib.suppress(OSError):
            if not {entry.name for entry in self.path.iterdir()} <= {_LOCK, _GENERATIONS} or self.generations():
                return
            if (self.path / _GENERATIONS).is_dir():
                (self.path / _GENERATIONS).rmdir()
            (self.path / _LOCK).unlink()
            self.path.rmdir()

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
            "Hint: name a directory in a place where you may write, and is there space left on the disk?"
        )

    def _clean(self) -> None:
        """Remove what a killed writer left, and every generation but the current and the previous one.

        DamagedKb, and nothing removed, where the pointer names none that is there.
        """
        kept, current, previous = self.generations(), self.current(), self.previous()
        if current is not None and current not in kept:
            raise self._damaged_pointer(_CURRENT, f"names {current}, which is not there")
        shutil.rmtree(self.building, ignore_errors=True)
        self.building.mkdir(mode=0o700)
        # A previous one that is not there may be misspelt: then none is taken for superfluous.
        for generation in kept if previous is None or previous in kept else ():
            if generation not in (current, previous):
                self._remove_unless_held(self.generation(generation))
        shutil.rmtree(self.building / _REMOVED, ignore_errors=True)

    def _remove_unless_held(self, folder: Path) -> None:
        handle = os.open(folder, os.O_RDONLY)
        try:
            lock(handle)
            self._take_away(folder)
        except BlockingIOError:
            pass  # a reader has it open: a later writer removes it
        finally:
            os.close(handle)

    def _take_away(self, folder: Path) -> None:
        # In one step, so that a folder of generations is whole or not there, even if the removal is killed.
        removed = self.building / _REMOVED
        removed.mkdir(mode=0o700, exist_ok=True)
        folder.rename(removed / folder.name)

    def publish(self, generation: str, manifest: Mapping[str, Any]) -> None:
        """Make the finished ``building/kb.duckdb`` and ``building/index`` the current generation: first its directory,
        then the pointer."""
        finished = self.building / generation
        finished.mkdir(mode=0o700)
        for name in (DATABASE, INDEX):
            if (self.building / name).exists():
                (self.building / name).replace(finished / name)
        self._write_manifest(finished, generation, manifest)
        close_and_sync(finished)
        folder = self.path / _GENERATIONS
        folder.mkdir(mode=0o700, exist_ok=True)
        target = self.generation(generation)
        if target.exists() and not self._is_whole(generation):
            self._take_away(target)
        if not target.exists():
            # The id derives from content: if it exists, it is this very generation.
            finished.replace(target)
        sync(folder)
        sync(self.path)
        self.point_to(generation)

    def point_to(self, generation: str) -> None:
        """Make a generation that is there the current one; the one before is the previous one then."""
        before = self.current()
        if before != generation:
            if before is not None:
                self._point(_PREVIOUS, before)
            self._point(_CURRENT, generation)

    def point_back(self) -> None:
        """Make the previous generation the current one, and the current one the previous.

        The pointer that was asked for first: the next writer removes what neither names, and who is stopped between the
        two has gone back.
        """
        before, previous = self.some_current(), self.previous()
        if previous is not None:
            self._point(_CURRENT, previous)
            self._point(_PREVIOUS, before)

    def publish_index(self, generation: str) -> None:
        """Put the finished ``building/index`` in the place of the one that the generation has, or lacks."""
        folder = self.generation(generation)
        close_and_sync(self.building / INDEX)
        if (folder / INDEX).exists():
            self._take_away(folder / INDEX)
        (self.building / INDEX).replace(folder / INDEX)
        manifest = self.manifest_file(generation)
        self._write_manifest(self.building, generation, manifest, folder)
        for name in (DIGESTS, MANIFEST):
            sync(self.building / name)
            (self.building / name).replace(folder / name)
        sync(folder)

    def _write_manifest(
        self, place: Path, generation: str, manifest: Mapping[str, Any], folder: Path | None = None
    ) -> None:
        """``manifest.json`` and ``digests`` at ``place``, of the files in ``folder`` (else of those beside them)."""
        files = write_digests(folder or place, place)
        text = canonical_json({**manifest, _OWN: generation, FILES: files})
        (place / MANIFEST).write_bytes(manifest_bytes(text))
        (place / MANIFEST).chmod(0o600)

    def _is_whole(self, generation: str) -> bool:
        try:
            manifest = self.check_schema(generation)
            digests = self.digests(generation, manifest)
            for name in digests.names:
                digests.file(name).prove_all()
        except (OSError, DamagedKb, SchemaVersionError):
            return False
        return True

    def _point(self, name: str, generation: str) -> None:
        temporary = self.building / name
        temporary.touch(mode=0o600)
        temporary.write_text(generation + "\n", encoding="ascii")
        sync(temporary)
        temporary.replace(self.path / name)
        sync(self.path)


def _expect_file(name: object, told: Mapping[str, Any], *, proven: bool) -> None:
    """ValueError and the like unless a manifest tells of a file by a name inside its generation, and of its bytes.

    Those that prove their files (``proven``) tell the checksums as well.
    """
    parts = text(name).split("/")
    if "\0" in text(name) or not set(parts).isdisjoint({"", ".", ".."}):
        raise ValueError("a name that leads elsewhere")
    whole_number(told["bytes"])
    if proven and name == DIGESTS:
        whole_number(told["block"])
    elif proven:
        text(told["sha256"])
        whole_number(told["blocks"])


def generation_id(manifest: Mapping[str, Any]) -> str:
    """The id of a generation, which derives from what it holds: not from how large or how fast its files were made."""
    return content_id("generation", canonical_json({name: manifest[name] for name in manifest if name not in ASIDE}))


def canonical_json(value: object) -> str:
    """JSON with sorted keys: equal values give equal text."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
