"""What context is asked for, and what is read of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from ...kb.model import Context, Cue, Experiencer, Polarity, Temporality


class Target(NamedTuple):
    """What context is asked for: token span, character span and event kind."""

    first: int
    last: int
    start: int
    end: int
    kind: str
    #: Where the words stand that a recogniser has read as this target's own result.
    results: tuple[tuple[int, int], ...] = ()


#: Contexts are few, and many mentions share each.
context_of: Final = lru_cache(maxsize=1024)(Context)


@dataclass(frozen=True, slots=True)
class Reading:
    """The context of one target; ``status`` is given, planned, declined, never_started or empty (treatments only)."""

    context: Context = Context()
    status: str = ""
    cues: tuple[Cue, ...] = ()

    def but(
        self,
        polarity: Polarity | None = None,
        temporality: Temporality | None = None,
        experiencer: Experiencer | None = None,
        reason: str = "",
        status: str = "",
    ) -> Reading:
        """The same with another status, or other parts of the context."""
        was = self.context
        context = context_of(
            polarity or was.polarity,
            temporality or was.temporality,
            experiencer or was.experiencer,
            reason or was.reason,
        )
        return Reading(context, status or self.status, self.cues)
