"""Units that are scored: the stretch of a note that tells its history, or its assessment and plan."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ....ingest.coral_schema.standoff import Standoff, load
from ....ingest.text.shape import sections_of
from ....kb.errors import UsageError


class Stretch(enum.StrEnum):
    """What is scored at a time: two sections of each note, as in the paper, or each note as a whole."""

    SECTION = "section"
    NOTE = "note"


#: The sections of the paper, by the names of ``ingest/cues/sections.toml``.
SECTIONS: Final[Mapping[str, frozenset[str]]] = {
    "history": frozenset({"history_of_present_illness", "oncologic_history"}),
    "plan": frozenset({"assessment", "assessment_and_plan", "impression", "plan"}),
}
#: The name of the stretch that is a whole note.
WHOLE: Final = "note"


@dataclass(frozen=True, slots=True)
class Unit:
    """A stretch of one document, of several pieces where the section is begun again."""

    document: str
    name: str
    spans: tuple[tuple[int, int], ...]

    def text(self, note: str) -> str:
        """The pieces of the text of a ``note``, an empty line between them."""
        return "\n\n".join(note[start:end].strip() for start, end in self.spans)

    def holds(self, start: int, end: int) -> bool:
        """Whether a stretch of the note lies in one of the pieces."""
        return any(low <= start and end <= high for low, high in self.spans)


@dataclass(frozen=True, slots=True)
class Note:
    """An annotated document: its name (the path in its folder, without ending), text, and annotations."""

    name: str
    text: str
    standoff: Standoff

    def units(self, stretch: Stretch = Stretch.SECTION) -> tuple[Unit, ...]:
        """What is scored of it. A note in which neither section is found is one unit, as a whole."""
        found = tuple(_sections(self)) if stretch is Stretch.SECTION else ()
        whole = Unit(self.name, WHOLE, ((0, len(self.text)),))
        return found or ((whole,) if self.text.strip() else ())


def _sections(note: Note) -> list[Unit]:
    sections = sections_of(note.text)
    units = []
    for name, members in SECTIONS.items():
        spans = [(one.start, one.end) for one in sections if one.name in members]
        if any(note.text[start:end].strip() for start, end in spans):
            units.append(Unit(note.name, name, tuple(spans)))
    return units


def load_notes(folder: str | Path) -> tuple[Note, ...]:
    """The annotated notes of a folder and those below it (``.ann`` beside ``.txt``), by name.

    UsageError when there are none, or one has no text; StandoffError for an annotation file that cannot be read.
    """
    root = Path(folder)
    if not root.is_dir():
        raise UsageError(f"'{root}' is no folder. Hint: a folder of brat files, .ann beside .txt")
    notes = []
    for path in sorted(root.rglob("*.ann")):
        standoff = load(path)
        if standoff.text is None:
            raise UsageError(f"'{path}' has no text beside it. Hint: {path.stem}.txt is missing")
        notes.append(Note(path.relative_to(root).with_suffix("").as_posix(), standoff.text, standoff))
    if not notes:
        raise UsageError(f"'{root}' holds no annotation. Hint: a folder of brat files, .ann beside .txt")
    return tuple(notes)
