"""Ambiguity made explicit: a question is read once for each choice that it leaves open."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Chooser:
    """Answers each open choice by a script; beyond its end, the first option. Remembers how many options there were."""

    script: tuple[int, ...] = ()
    counts: list[int] = field(default_factory=list)

    def choose(self, *options: str) -> int:
        """Which of the options is taken in this reading."""
        at = len(self.counts)
        self.counts.append(len(options))
        return self.script[at] if at < len(self.script) else 0

    def others(self) -> list[tuple[int, ...]]:
        """The scripts of readings that differ from this one in a choice beyond its script."""
        found = []
        taken = [*self.script, *[0] * (len(self.counts) - len(self.script))]
        for at in range(len(self.script), len(self.counts)):
            found += [(*taken[:at], option) for option in range(1, self.counts[at])]
        return found
