"""Writer of one note: an author's voice, the chance that chooses, the banks of phrases, and the marks set so far."""

from __future__ import annotations

import datetime
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .banks import Banks
from .marks import Marks
from .patterns import Pattern, fitting, render
from .voices import Voice


@dataclass(frozen=True, slots=True)
class Writer:
    """All that the sentences of one note are written with. ``context`` are the slots that any sentence may use: who the
    patient is, where and when; ``day`` is the note's own."""

    voice: Voice
    chance: random.Random
    banks: Banks
    marks: Marks
    context: Mapping[str, str]
    day: datetime.date

    def register(self, role: str) -> str:
        """How a section is written: what a house has in forms stays a form, a letter's lists stay short."""
        special: Mapping[str, str] = self.voice.house.settings["section_registers"]
        return special.get(f"{role} {self.voice.register}", self.voice.register)

    def write(self, pattern: Pattern, slots: Mapping[str, str], used: set[str] | None = None) -> str:
        """The text of a pattern that fits ``slots``; the slots that were written are added to ``used``."""
        return render(pattern, self.chance, slots, self.banks.pools, used)

    def choose(self, patterns: Sequence[Pattern], slots: Mapping[str, str], used: set[str] | None = None) -> str:
        """One of the patterns that fit, written. IndexError where none does."""
        return self.write(self.chance.choice(fitting(patterns, slots)), slots, used)

    def aside(self, patterns: Sequence[Pattern]) -> str:
        """One of the patterns that fit the context, written; nothing where none does."""
        fits = fitting(patterns, self.context)
        return self.write(self.chance.choice(fits), self.context) if fits else ""
