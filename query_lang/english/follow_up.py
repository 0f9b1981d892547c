"""Questions that go on from the one before: *only those under 50*, *but not with brain mets*, *how many of them …*.

What goes on is read together with what it goes on from, as one question: so a fact that is added belongs to the same
tumor as those before, and the whole can be read back, copied and refined again.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Final

from . import book

#: How what is added stands behind the question before it.
_JOINTS: Final = {"refine": ", with ", "count": ", with ", "exclude": ", without "}
_PATIENT: Final = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A line that goes on: ``refine``, ``exclude``, ``count`` or ``why_not``, and what it says besides."""

    how: str
    rest: str


@functools.cache
def _beginnings() -> tuple[tuple[str, str], ...]:
    pairs = [(form, how) for how, forms in book.data("follow_ups").items() for form in forms]
    return tuple(sorted(pairs, key=lambda one: -len(one[0])))


def follow_up(text: str) -> FollowUp | None:
    """What a line goes on to say; None for one that stands by itself."""
    plain = " ".join(text.strip().rstrip("?!. ").split())
    low = plain.casefold()
    for form, how in _beginnings():
        if low == form or low.startswith(f"{form} "):
            rest = plain[len(form) :].strip(" ,:")
            if how == "why_not" and not _PATIENT.fullmatch(rest):
                continue
            return FollowUp(how, rest) if rest else None
    return None


def together(before: str, said: FollowUp) -> str:
    """The question before and what is added, as one question."""
    return f"{before.strip().rstrip('?!. ')}{_JOINTS[said.how]}{said.rest}"
