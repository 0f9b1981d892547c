"""Marked notes: text with tags that tell whom each stretch is about (``benchmarks/reading/long_notes``).

The first line is ``# title | type | YYYY-MM-DD``. A tag holds to the next: ``{{p}}`` this patient, ``{{n WHY}}``
nobody, ``{{o}}`` another patient, ``{{r}}`` a relative, ``{{c}}`` copied. Without the tags the text is the note as it
was written.
"""

from __future__ import annotations

import datetime
import re
from pathlib import Path
from typing import Final, NamedTuple

from ....kb.errors import UsageError
from ....kb.files.text_files import text_of
from ....kb.model import Note

_TAG: Final = re.compile(r"\{\{(?P<zone>[pnorc])(?:[ ](?P<why>[^{}\n]{1,60}))?\}\}")
_NAME_OF: Final = {"p": "patient", "n": "nobody", "o": "another", "r": "relative", "c": "copied"}
_HEAD: Final = re.compile(r"# (?P<title>.*) \| (?P<type>.*) \| (?P<date>\d{4}-\d\d-\d\d)\s*\n\s*")


class Stretch(NamedTuple):
    """A stretch of a marked note: its place, zone (patient, nobody, another, relative, copied) and why."""

    start: int
    end: int
    zone: str
    why: str


class Marked(NamedTuple):
    """A note, and its stretches in order."""

    note: Note
    stretches: list[Stretch]


def read_marked(path: Path) -> Marked:
    """A note with tags in it (``benchmarks/reading/long_notes``); UsageError where it has no head or no tag."""
    text = text_of(path)
    head = _HEAD.match(text)
    if head is None:
        raise UsageError(f"{path.name}: the first line is not '# title | type | YYYY-MM-DD'", "give it such a line")
    pieces: list[str] = []
    stretches: list[Stretch] = []
    at, zone, why, length = head.end(), "", "", 0
    for tag in [*_TAG.finditer(text, at), None]:
        words = text[at : tag.start() if tag else len(text)]
        if words and zone:
            stretches.append(Stretch(length, length + len(words), zone, why))
        pieces.append(words)
        length += len(words)
        if tag:
            zone, why, at = _NAME_OF[tag["zone"]], tag["why"] or "", tag.end()
    if not stretches:
        raise UsageError(f"{path.name}: no stretch is marked", "tags are {{p}}, {{n WHY}}, {{o}}, {{r}}, {{c}}")
    day = datetime.date.fromisoformat(head["date"])
    return Marked(Note("patient", path.stem, "".join(pieces), day, head["type"], head["title"]), stretches)
