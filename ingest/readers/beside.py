"""What lies beside the notes of a folder: logs, manifests and readmes, told by their names and by what is in them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Final

from ...kb.errors import UsageError
from . import fhir, jsonl, tables
from .files import SourceFile
from .mapping import REQUIRED, ColumnMap
from .told import words

_PARTS: Final = re.compile(r"[-_. ]+")
#: So many lines are looked at for a note.
_LOOKED_AT: Final = 20


def lies_beside_notes(file: SourceFile, columns: ColumnMap) -> bool:
    """Whether a file that was found in a folder is called like a log, a manifest or a readme and holds no note.

    A text file is a note whatever it holds, and is passed over only where no patient's folder is around it.
    """
    if file.root is None or not _called_so(PurePosixPath(file.label).name):
        return False
    if file.family == "text":
        return "/" not in file.label
    try:
        return not _has_notes(file, columns)
    except UsageError:
        return file.family == "csv"


def _called_so(name: str) -> bool:
    stem = name.casefold().partition(".")[0] if not name.casefold().startswith(".") else name.casefold()
    known = words()["beside"]["words"]
    parts = _PARTS.split(stem)
    return stem in known or parts[0] in known or parts[-1] in known


def _has_notes(file: SourceFile, columns: ColumnMap) -> bool:
    if file.family == "fhir":
        return not fhir.is_no_resource(file)
    if file.family == "jsonl":
        wanted = {columns.column(name) for name in REQUIRED}
        first = itertools.islice(jsonl.read(file), _LOOKED_AT)
        return any("resourceType" in one.fields or wanted & one.fields.keys() for one in first)
    header = {name.casefold() for name in tables.header(file)}
    wanted = {columns.column(name).casefold() for name in REQUIRED} | {"note_text"}
    return bool(wanted & header)


def hint_of_patient_folder(files: Sequence[SourceFile], columns: ColumnMap) -> str:
    """What to do when all text files stand at the top of their sources, as in a folder of one patient; else nothing."""
    texts = [file for file in files if file.family == "text"]
    if not texts or "patient_id" in columns.named or any("/" in file.label for file in texts):
        return ""
    root = next((file.root for file in texts if file.root is not None), None)
    if root is None:
        return "a text file belongs into a folder named after its patient: name the folder around that one"
    return (
        f"{root.name} holds text files and no folders: if it is the folder of one patient, name the folder around it"
        f" ({root.parent}); if each file is a patient, --map patient_id=file"
    )
