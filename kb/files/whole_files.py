"""Files and folders for their owner alone, whole on the disk or not there.

Whatever may hold words of notes is written here: mode 0600, whatever the umask says and whatever stood there before. A
link is replaced by the file, and what it led to stays as it was; a device or a pipe is written to.
"""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path
from typing import TextIO

from ..errors import UsageError


def write_private(path: Path, data: bytes) -> None:
    """All or nothing, readable by the owner only; of several who write it at a time each writes a whole one."""
    handle, part = tempfile.mkstemp(prefix=f"{path.name}.", suffix=".part", dir=path.parent)  # mkstemp: 0600
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(part).replace(path)
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise


def refuse_inside_kb(path: Path) -> None:
    """UsageError for an output in the folder of a knowledge base: it would replace what nobody can make again."""
    for folder in path.absolute().parent.resolve().joinpath(path.name).parents:
        if (folder / "CURRENT").is_file() and (folder / "generations").is_dir():
            raise UsageError(f"cannot write '{path}': it lies inside a knowledge base. Hint: name a file elsewhere")


def write_text_privately(path: Path, text: str) -> None:
    """The text as UTF-8 in a file that its owner alone may read, all or nothing. UsageError when it cannot be."""
    refuse_inside_kb(path)
    try:
        # What UTF-8 has no code for was never a letter: it is told by its number, as on a terminal.
        data = text.encode("utf-8", "backslashreplace")
        if path.exists() and not path.is_file():
            # A device, a pipe of the shell, standard output: nothing that another could stand in for.
            with path.open("wb") as file:
                file.write(data)
        else:
            write_private(path, data)
    except OSError as error:
        raise UsageError(f"cannot write '{path}': {error.strerror}") from error


def open_privately(path: Path, *, append: bool = False) -> TextIO:
    """A file open for writing UTF-8, line ends as they are written, that its owner alone may read. OSError.

    For what is written bit by bit: from its beginning, or after what it holds (``append``; not through a link).
    """
    flags = os.O_WRONLY | os.O_CREAT | (os.O_APPEND if append else os.O_TRUNC)
    special = path.exists() and not path.is_file()
    if path.is_symlink() and not special:
        if append:
            raise OSError(errno.ELOOP, "it is a link. Hint: name the file itself")
        path.unlink()
    handle = os.open(path, flags if special else flags | os.O_NOFOLLOW, 0o600)
    if not special:
        os.fchmod(handle, 0o600)
    return os.fdopen(handle, "a" if append else "w", encoding="utf-8", newline="")


def close_and_sync(folder: Path) -> None:
    """Close a folder to all but its owner, and see that it is on the disk with all that lies in it."""
    for path in folder.rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)
        sync(path)
    sync(folder)


def sync(path: Path) -> None:
    """See that a file, or the names in a folder, are on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
