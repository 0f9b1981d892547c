"""Names of files that are no UTF-8: Python opens them, libraries of other languages do not."""

from __future__ import annotations

import os

from ..errors import UsageError


def name_for_libraries(path: str | os.PathLike[str]) -> str:
    """The path as text that is UTF-8. UsageError, with what to do, when it is none."""
    text = os.fspath(path)
    if is_foreign(text):
        raise UsageError(f"{told(text)} is a name that is not UTF-8. Hint: rename it, or make a link to it")
    return text


def is_foreign(text: str) -> bool:
    """Whether a word of the command line, or a path, holds bytes that are no UTF-8."""
    return any("\ud800" <= letter <= "\udfff" for letter in text)


def told(text: str) -> str:
    """Such a name in quotes, as it can be written: its bytes with codes in their place."""
    return f"'{text.encode('utf-8', 'backslashreplace').decode()}'"
