"""Small files that somebody else may have written: regular ones alone are read, up to a size, of the shape expected.

A pipe would wait for ever and a device never end; a value of another type than expected is damage, not a defect.
"""

from __future__ import annotations

import errno
import io
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

#: Bytes; a manifest or card has some thousands.
LARGEST: Final = 16 << 20
#: For opening what may be a pipe: it waits for nobody.
READ: Final = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
#: What reading values of the wrong shape raises: other types, names not there, nesting and numbers without end.
_MISSHAPEN: Final = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)


def open_regular(path: Path) -> io.BufferedReader:
    """The bytes of a file; OSError when it cannot be opened, or is a folder, a pipe, a socket or a device."""
    return regular(os.open(path, READ))


def regular(descriptor: int) -> io.BufferedReader:
    """The bytes behind a descriptor, which is closed with them; OSError when they are of no regular file."""
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is no regular file")
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_regular(path: Path, largest: int = LARGEST) -> bytes:
    """All bytes of a file; OSError as of :func:`open_regular`, and when there are more than ``largest``."""
    with open_regular(path) as file:
        data = file.read(largest + 1)
    if len(data) > largest:
        raise OSError(errno.EFBIG, f"it is larger than {largest} bytes", str(path))
    return data


@contextmanager
def shape_expected(damage: Callable[[str], Exception]) -> Iterator[None]:
    """What values of another shape than expected raise inside becomes ``damage`` (of the error's name; its words may
    hold values)."""
    try:
        yield
    except _MISSHAPEN as error:
        raise damage(type(error).__name__) from error


def whole_number(value: object) -> int:
    """The value, if it is a whole number of no sign, as a count of rows or bytes; else ValueError."""
    if type(value) is not int or value < 0:
        raise ValueError("no count")
    return value


def text(value: object) -> str:
    """The value, if it is text; else TypeError."""
    if not isinstance(value, str):
        raise TypeError("no text")
    return value
