"""Kinds of note (``note_classes.toml``): what a note is by its type and title."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

_DATA: Final[Mapping[str, Any]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))

#: The names of the classes, in the order in which they are looked for.
NOTE_CLASSES: Final[tuple[str, ...]] = tuple(entry["name"] for entry in _DATA["class"])
#: The class of the reports of pathology, which many steps of reading ask for.
PATHOLOGY: Final = "pathology"
#: How a query may call a class (lower case) -> its name; the name itself is always one of them.
SPOKEN: Final[Mapping[str, str]] = {
    spoken.lower(): entry["name"] for entry in _DATA["class"] for spoken in (entry["name"], *entry["spoken"])
}

_OF_SECTION: Final[Mapping[str, str]] = {
    section: entry["name"] for entry in _DATA["class"] for section in entry.get("sections", ())
}


@functools.lru_cache(maxsize=4096)
def note_class(type_: str, title: str) -> str:
    """The class of a note with this type and title; *clinical* where no word tells."""
    words = f"{type_} {title} ".lower()
    for entry in _DATA["class"]:
        if any(word in words for word in entry["words"]):
            return str(entry["name"])
    return "clinical"


def evidence_classes(type_: str, title: str, section: str) -> frozenset[str]:
    """What a mention in this section of such a note is told by: the note's class, and that of the section."""
    own = note_class(type_, title)
    return frozenset((own, _OF_SECTION.get(section, own)))
