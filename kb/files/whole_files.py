"""Files and folders for their owner alone, whole on the disk or not there."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


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
