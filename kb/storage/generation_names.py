"""Names of the states of a knowledge base: ``KB`` the current one, ``KB@previous`` the one before, ``KB@ID`` any."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from ..errors import UnknownGeneration
from .layout import Layout

#: The word for the generation that was current before the last write.
PREVIOUS: Final = "previous"
#: A generation may be named by the beginning of its id, of so many letters at least.
_SHORTEST: Final = 4


def split_name(name: str | os.PathLike[str]) -> tuple[Path, str]:
    """The folder, and what names a generation in it; that is empty for the current one.

    A folder that is there is meant as it is spelled, even if its name has an ``@``.
    """
    text = os.fspath(name)
    folder, at, wanted = text.rpartition("@")
    if not at or not folder or not wanted or os.sep in wanted or Path(text).exists():
        return Path(text), ""
    return Path(folder), wanted


def named_generation(layout: Layout, wanted: str) -> str:
    """The id of the generation that ``wanted`` names. UnknownGeneration, with those that are kept, if none is."""
    kept = layout.generations()
    if wanted == PREVIOUS:
        previous = layout.previous()
        if previous in kept:
            return str(previous)
        raise UnknownGeneration(
            f"The knowledge base at {layout.path} has no previous generation. "
            "Hint: it has one once it was written a second time"
        )
    found = [one for one in kept if one == wanted or (len(wanted) >= _SHORTEST and one.startswith(wanted))]
    if len(found) == 1:
        return found[0]
    number = "more than one" if found else "no"
    known = f"its generations are {', '.join(kept)}" if kept else "there is none"
    raise UnknownGeneration(
        f"The knowledge base at {layout.path} keeps {number} generation {wanted!r}; {known}. "
        f"Hint: name one of them, or @{PREVIOUS}"
    )
