"""Locks on files, by which one writer and many readers share a folder.

They are those of Unix (``fcntl``). Where there are none, Windows above all, a knowledge base can be neither read nor
written, and that is said: a lock that is passed over in silence would cost somebody their data.
"""

from __future__ import annotations

from types import ModuleType

from ..errors import UsageError

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None


class NoLocks(UsageError):
    """This system has no file locks of the sort that a knowledge base needs (exit 2)."""


def lock(handle: int, *, shared: bool = False) -> None:
    """Lock an open file or folder until it is closed, for its holder alone or ``shared`` with others of that mind.

    BlockingIOError when another process holds it; OSError on a file system without locks; NoLocks.
    """
    require_locks()
    assert fcntl is not None
    fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)


def require_locks() -> None:
    """NoLocks where files cannot be locked."""
    if fcntl is None:
        raise NoLocks(
            "This system has no file locks (fcntl), without which a knowledge base cannot be kept whole: Windows is "
            "not supported. Hint: run it under Linux or macOS, or in the Windows Subsystem for Linux"
        )
