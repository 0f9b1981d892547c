"""Ambiguity made explicit: a question is read once for each choice that it leaves open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

#: Of each choice, by its options, the one that was taken.
Choices = Mapping[tuple[str, ...], int]


@dataclass
class Chooser:
    """Answers each open choice by a script; beyond its end, the first option. Remembers how many options there were.

    A choice that ``settled`` has was made before, and is open no more.
    """

    script: tuple[int, ...] = ()
    settled: Choices = field(default_factory=dict)
    counts: list[int] = field(default_factory=list)
    taken: dict[tuple[str, ...], int] = field(default_factory=dict)

    def choose(self, *options: str) -> int:
        """Which of the options is taken in this reading."""
        if options in self.settled:
            return self.settled[options]
        at = len(self.counts)
        self.counts.append(len(options))
        chosen = self.script[at] if at < len(self.script) else 0
        self.taken[options] = chosen
        return chosen

    def others(self) -> list[tuple[int, ...]]:
        """The scripts of readings that differ from this one in a choice beyond its script."""
        found = []
        taken = [*self.script, *[0] * (len(self.counts) - len(self.script))]
        for at in range(len(self.script), len(self.counts)):
            found += [(*taken[:at], option) for option in range(1, self.counts[at])]
        return found
