"""Short forms of markers that mean something else by their unit, neighbours or place (``cues/other_meanings.toml``)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from ..text.cue_files import cue_file

#: So far before a short form may its "before" begin (characters).
_FURTHEST = 48


@dataclass(frozen=True, slots=True)
class _Meaning:
    """What must stand around a short form; a pattern that the entry does not have is None."""

    before: re.Pattern[str] | None
    behind: re.Pattern[str] | None
    beside: re.Pattern[str] | None
    unless: re.Pattern[str] | None

    def holds(self, text: str, start: int, end: int, sentence: tuple[int, int]) -> bool:
        """Whether the short form at this span means this."""
        if self.unless is not None and self.unless.match(text, end):
            return False
        if self.behind is not None and not self.behind.match(text, end, sentence[1]):
            return False
        if self.before is not None and not self.before.search(text, max(sentence[0], start - _FURTHEST), start):
            return False
        return self.beside is None or self.beside.search(text, *sentence) is not None


@lru_cache(maxsize=1)
def _meanings() -> dict[str, tuple[_Meaning, ...]]:
    table = cue_file("other_meanings")
    result = table["result"]["pattern"]
    found: dict[str, list[_Meaning]] = {}
    for entry in table["meaning"]:
        before, behind, beside = (
            re.compile(entry[side]) if side in entry else None for side in ("before", "behind", "beside")
        )
        unless = entry.get("unless", result)
        meaning = _Meaning(before, behind, beside, re.compile(unless) if unless else None)
        for short in entry["short"]:
            found.setdefault(short, []).append(meaning)
    return {short: tuple(meanings) for short, meanings in found.items()}


def has_other_meanings(surface: str) -> bool:
    """Whether the short form, as it is written, may be something else than a marker."""
    return surface in _meanings()


def means_another(text: str, start: int, end: int, sentence: tuple[int, int]) -> bool:
    """Whether the short form at this span of the sentence is no marker here."""
    return any(meaning.holds(text, start, end, sentence) for meaning in _meanings().get(text[start:end], ()))
