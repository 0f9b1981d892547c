"""The one door to annotated corpora: ``read_annotated`` sees what form a path has, and says so."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

from ....kb.errors import UsageError
from . import brat, iob, records, rows
from .corpus import AnnotatedCorpus
from .licences import licence_at

Reader = Callable[[Path, str], AnnotatedCorpus]

#: Every form by its name, with what it is called and its reader.
FORMS: Final[dict[str, tuple[str, Reader]]] = {
    "brat": ("BRAT standoff", brat.read),
    "iob": ("tokens with tags, one a line", iob.read),
    "json": ("JSON, one document an object", rows.read_json),
    "records": ("notes with an abstraction of them", records.read),
    "table": ("a table, one document a row", rows.read_table),
}
_HEAD: Final = 1 << 20


def read_annotated(path: str | Path, form: str | None = None) -> AnnotatedCorpus:
    """The corpus at ``path``, in a form of ``FORMS`` or, without one, in that which it looks like.

    ``corpus.form`` says which form was taken, and why; ``corpus.problems`` what could not be read;
    ``corpus.licence`` the terms of a corpus that is known by its name. UsageError when
    there is nothing at the path, the form cannot be told, or nothing of it can be read.
    """
    place = Path(path)
    if not place.exists():
        raise UsageError(f"there is nothing at '{path}'. Hint: a file of annotations, or a folder of .txt and .ann")
    if form is None:
        form, why = guessed_form(place)
    else:
        why = "as asked for"
        if form not in FORMS:
            raise UsageError(f"there is no form '{form}' of a corpus. Hint: {', '.join(FORMS)}")
    called, reader = FORMS[form]
    corpus = reader(place, f"{called} ({why})")
    terms = licence_at(place)
    return replace(corpus, licence=terms.licence) if terms else corpus


def guessed_form(path: Path) -> tuple[str, str]:
    """The form that a path looks like, and by what that was told. UsageError when it looks like none."""
    if path.is_dir():
        if brat.looks_like(path):
            return "brat", "guessed: a folder with .ann files"
        if records.looks_like(path):
            return "records", f"guessed: a folder with {records.NOTES} and {records.FACTS}"
        held = sorted(one.name for one in path.iterdir() if one.is_file() and not one.name.startswith("."))
        raise UsageError(
            f"the folder '{path}' has no .ann files"
            + (f", but {', '.join(held[:5])}. Hint: name one file" if held else " and no others")
        )
    if path.suffix == ".ann" or (path.suffix == ".txt" and path.with_suffix(".ann").exists()):
        return "brat", "guessed: a text with an .ann file"
    if path.name in (records.NOTES, records.FACTS) and records.looks_like(path.parent):
        return "records", f"guessed: {records.NOTES} with {records.FACTS}"
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD).decode("utf-8-sig", errors="replace")
    except OSError as error:
        raise UsageError(f"cannot read '{path}': {error.strerror}") from error
    if head.lstrip()[:1] in ("{", "["):
        keys = _keys_of_json(head)
        if keys is None or rows.looks_like(keys):
            return "json", "guessed: objects with tokens and tags, or text and spans"
    if iob.looks_like(head):
        return "iob", "guessed: a token and a tag a line"
    header = head.partition("\n")[0].rstrip("\r")
    if any(rows.looks_like(cell.strip(' "') for cell in header.split(sign)) for sign in ",\t;"):
        return "table", "guessed: a header with tokens and tags, or text and spans"
    raise UsageError(
        f"'{path}' looks like no annotated corpus"
        + (" (it is empty)" if not head.strip() else "")
        + ". Hint: a token and its tag a line; a folder of .txt and .ann; JSON or a table with text and spans, or with"
        " tokens and tags (docs/reference/corpora.md)"
    )


def _keys_of_json(head: str) -> list[str] | None:
    """The keys of the first object; None where it is longer than what was read of the file, or cannot be read."""
    start = head.find("{")
    try:
        first, _ = json.JSONDecoder().raw_decode(head, start)
    except (ValueError, RecursionError):
        return None
    return list(first) if isinstance(first, dict) else None
