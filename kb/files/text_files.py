"""The text of a file that a user names, or why it cannot be read."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from ..errors import UsageError
from .limits import shown_bytes

#: What people write by hand is a thousand times shorter (bytes).
_LONGEST: Final = 256 << 20
#: Of a path, which may be a text given in its place, a message shows so many characters.
_LONGEST_SHOWN: Final = 300


def text_of(path: Path, hint: str = "", longest: int = _LONGEST) -> str:
    """The text of a UTF-8 file, line ends as they are, without a byte order mark. UsageError when there is none, or
    more than ``longest`` bytes; the ``hint`` is for a file of another encoding."""
    shown = str(path) if len(str(path)) <= _LONGEST_SHOWN else f"{str(path)[:_LONGEST_SHOWN]}…"
    try:
        with path.open("rb") as stream:
            data = stream.read(longest + 1)
        if len(data) > longest:
            raise UsageError(f"'{shown}' is longer than {shown_bytes(longest)}, which no such file is")
        return data.decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"cannot read '{shown}': {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"'{shown}' is not UTF-8 (byte {error.start}){hint and f'. Hint: {hint}'}") from error
    except ValueError as error:
        # A name that no file can have: with a zero byte, or letters that are none.
        raise UsageError(f"cannot read {shown!r}: {error}") from error
