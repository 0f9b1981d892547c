"""Words of scanned reports as the reader sees them, each character held against the table of what passes for what."""

from __future__ import annotations

import functools

from ....ingest.text.alignment import shipped_confusions
from ....ingest.text.scans import ScanReader
from ....kb.model import Note
from ....kb.note_classes import note_class
from ....kb.ontology.concepts import ConceptTable

_PATHOLOGY = "pathology"


def words_as_read(note: Note, start: int, end: int, concepts: ConceptTable) -> str:
    """The stretch of the note as readers see it; empty where what is written does not pass for it."""
    if note_class(note.type, note.title) != _PATHOLOGY:
        return ""
    seen = _seen(note.text, concepts)[start:end]
    written = note.text[start:end]
    return seen if _passes_for(written, seen) else ""


def _passes_for(written: str, seen: str) -> bool:
    confusions = shipped_confusions()
    if all(
        b == " " or any(confusions.cost(some, meant) is not None for some, meant in ((a, b), (a.lower(), b.lower())))
        for a, b in zip(written, seen, strict=True)
    ):
        return True
    # A blank may have moved, or stand for a letter that two were written for.
    one, other = ("".join(words.split()) for words in (written, seen))
    most = float(len(written))
    return any(
        confusions.distance(some, meant, most) is not None
        for some, meant in ((one, other), (one.lower(), other.lower()))
    )


@functools.lru_cache(maxsize=8)
def _seen(text: str, concepts: ConceptTable) -> str:
    """The whole text as readers see it: the mentions of one note are asked for one after the other."""
    return _reader(concepts).as_read(text).text


@functools.lru_cache(maxsize=2)
def _reader(concepts: ConceptTable) -> ScanReader:
    return ScanReader(concepts)
