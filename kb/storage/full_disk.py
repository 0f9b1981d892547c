"""A full disk as it looks from within, and how it is reported."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from typing import Final

import duckdb

from ..errors import NotWritable

#: What a full disk (or memory, where there is none to spill to) makes of a statement; the last is what it makes
#: of one after another has failed.
DISK_ERRORS: Final = (
    duckdb.IOException,
    duckdb.TransactionException,
    duckdb.OutOfMemoryException,
    duckdb.FatalException,
)
_DISK_NUMBERS: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS})


def of_a_full_disk(error: BaseException | None) -> bool:
    """Whether an error is one of those that a disk without space, or one that fails, gives rise to."""
    return isinstance(error, DISK_ERRORS) or (isinstance(error, OSError) and error.errno in _DISK_NUMBERS)


@contextlib.contextmanager
def full_disk_reported(path: str | os.PathLike[str]) -> Iterator[None]:
    """NotWritable instead of such an error; the knowledge base at ``path`` is then as it was before."""
    try:
        yield
    except (*DISK_ERRORS, OSError) as error:
        if not of_a_full_disk(error):
            raise
        raise NotWritable(
            f"Writing the knowledge base at {os.fspath(path)} failed; it is as it was before. "
            "Hint: is there space left on the disk? The same command then begins again, or goes on where it was."
        ) from error
