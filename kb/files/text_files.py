"""The text of a file that a user names, or why it cannot be read."""

from __future__ import annotations

from pathlib import Path

from ..errors import UsageError


def text_of(path: Path, hint: str = "") -> str:
    """The text of a UTF-8 file, line ends as they are, without a byte order mark. UsageError when there is none; the
    ``hint`` is for a file of another encoding."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"cannot read '{path}': {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"'{path}' is not UTF-8 (byte {error.start}){hint and f'. Hint: {hint}'}") from error
