"""The text of a file that a user names, or why it cannot be read: whole in memory, so no longer than a limit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from ..errors import UsageError
from .limits import current_limits, limits_in_words, shown_bytes
from .strict_json import BadJson, check_amount

#: So many bytes are asked for at once: what is asked for is set aside before it is there.
_PIECE: Final = 1 << 24
#: Of a path, which may be a text given in its place, a message shows so many characters.
_LONGEST_SHOWN: Final = 300


def bytes_of(path: Path, longest: int | None = None) -> bytes:
    """All bytes of a file. UsageError when there is none, or more than ``longest``: by default the limit ``file`` of
    ``limits.toml``."""
    most = current_limits().file if longest is None else longest
    try:
        with path.open("rb") as stream:
            data = bytearray()
            while piece := stream.read(min(_PIECE, most + 1 - len(data))):
                data += piece
    except OSError as error:
        raise UsageError(f"cannot read {_shown(path)}: {error.strerror or type(error).__name__}") from error
    except ValueError as error:
        # A name that no file can have: with a zero byte, or letters that are none.
        raise UsageError(f"cannot read {_shown(path)}: {error}") from error
    if len(data) > most:
        words = f"{shown_bytes(most)}, which no such file is"
        if longest is None:
            words = "{file}; {file_raised}".format_map(limits_in_words())
        raise UsageError(f"{_shown(path)} is longer than {words}")
    return bytes(data)


def text_of(path: Path, hint: str = "", longest: int | None = None, *, errors: str = "strict") -> str:
    """The text of a UTF-8 file, line ends as they are, without a byte order mark; UsageError as of :func:`bytes_of`.

    The ``hint`` is for a file of another encoding, unless ``errors`` has its bytes replaced.
    """
    try:
        return bytes_of(path, longest).decode("utf-8-sig", errors)
    except UnicodeDecodeError as error:
        raise UsageError(f"{_shown(path)} is not UTF-8 (byte {error.start}){hint and f'. Hint: {hint}'}") from error


def lines_of_text(path: Path, *, errors: str = "strict") -> str:
    """The same with one kind of line ends: each is ``\\n``."""
    return text_of(path, errors=errors).replace("\r\n", "\n").replace("\r", "\n")


def json_of(path: Path) -> Any:
    """The value of a file of JSON; UsageError as of :func:`text_of`, and when it is none or of too many values.

    Nothing of the file is told.
    """
    data = bytes_of(path)
    try:
        check_amount(data, current_limits().values)
        return json.loads(data.decode("utf-8-sig"))
    except BadJson as error:
        words = "{values} in it; {values_raised}".format_map(limits_in_words())
        raise UsageError(f"{_shown(path)} is too much JSON: more than {words}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{_shown(path)} is not UTF-8 (byte {error.start})") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{_shown(path)} is not JSON") from error


def _shown(path: Path) -> str:
    shown = str(path)
    return f"'{shown}'" if len(shown) <= _LONGEST_SHOWN else f"'{shown[:_LONGEST_SHOWN]}…'"
