"""Folders that are written whole or not at all, for their owner alone."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from ..errors import LockedError, NotWritable
from .foreign_names import name_for_libraries
from .locks import lock, require_locks
from .whole_files import close_and_sync, sync


@contextlib.contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """A new folder (0700) to write into, which becomes ``path`` when the block ends well and is gone when it does not.

    What a killed writer left is removed. UsageError for a name that libraries do not take, NotWritable if there is
    something at ``path`` or it cannot be made, LockedError while another process writes it.
    """
    name_for_libraries(path)
    if path.exists() and not _is_empty_folder(path):
        raise NotWritable(f"'{path}' is there already. Hint: name a new place, or move what is there away")
    require_locks()
    part = path.absolute().parent / f".{path.name}.part"
    try:
        part.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(part, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise _not_writable(path, error) from error
    try:
        try:
            lock(handle)
        except BlockingIOError as error:
            raise LockedError(f"Another process is writing '{path}'. Hint: wait until it has ended") from error
        try:
            _empty(part)
            yield part
            close_and_sync(part)
            part.replace(path)
            sync(path.absolute().parent)
        except OSError as error:
            shutil.rmtree(part, ignore_errors=True)
            raise _not_writable(path, error) from error
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            raise
    finally:
        os.close(handle)


def _is_empty_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink() and not any(path.iterdir())


def _empty(folder: Path) -> None:
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def _not_writable(path: Path, error: OSError) -> NotWritable:
    return NotWritable(
        f"'{path}' cannot be written: {error.strerror or type(error).__name__}. "
        "Hint: name a place where you may write, on a disk with room"
    )
