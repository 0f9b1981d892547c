"""The files of a corpus: their content and digests; what cannot be read is said without a word of the text."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ....kb.errors import UsageError
from ....kb.files.text_files import bytes_of
from .corpus import SourceFile

#: Names of files that say nothing without their folder's.
_PARTS = frozenset({"train", "training", "dev", "devel", "development", "valid", "validation", "test"})


@dataclass(frozen=True, slots=True)
class Content:
    """The text of a file, and what it was read from."""

    text: str
    file: SourceFile


def content_of(path: Path, name: str | None = None) -> Content:
    """A file's text. UsageError when it cannot be read or is not UTF-8."""
    raw = bytes_of(path)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"'{path}' is not UTF-8 (byte {error.start}). Hint: convert it, for example with iconv -t utf-8"
        ) from error
    return Content(text, SourceFile(name or path.name, hashlib.sha256(raw).hexdigest()))


def corpus_name(path: Path) -> str:
    """What a corpus is called: its file, with the folder where the file says only which part it is."""
    return f"{path.parent.name}/{path.stem}" if path.stem.lower() in _PARTS and path.parent.name else path.stem


def json_rows(text: str, path: Path) -> Iterator[tuple[str, dict[str, Any] | None]]:
    """The objects of JSON lines or of one list, with their place; None for one that is no object."""
    if text.lstrip().startswith("["):
        try:
            rows = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"'{path}' is not JSON. Hint: one object a line, or one list of objects") from error
        for number, row in enumerate(rows, 1):
            yield f"object {number}", row if isinstance(row, dict) else None
        return
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                row = None
            yield f"line {number}", row if isinstance(row, dict) else None
