"""The report of a consistency run: what was compared, what held, what held of empty sets only, what did not hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

#: Section -> the word for a comparison that holds, of sets that are not empty.
HOLDS: Final = {"paraphrases": "equal", "intersections": "equal", "subtypes": "contained", "laws": "held"}


@dataclass(frozen=True, slots=True)
class Difference:
    """Where two answers differ: the world, and the patients that only one side has (for a subset, the left one)."""

    world: str
    only_left: tuple[str, ...]
    only_right: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Compared:
    """One comparison: its kind, the two queries (texts, or ``bank ID``), and how it came out.

    ``empty``: the sets compared are empty in the believed world, so that agreement shows little. ``error``: a query
    could not be answered at all.
    """

    kind: str
    left: str
    right: str
    empty: bool = False
    differences: Sequence[Difference] = ()
    error: str = ""

    @property
    def failed(self) -> bool:
        """Whether the comparison did not hold, or could not be made."""
        return bool(self.differences or self.error)

    def as_dict(self) -> dict[str, Any]:
        """The comparison as JSON, with the patients that differ."""
        row: dict[str, Any] = {"kind": self.kind, "left": self.left, "right": self.right}
        if self.error:
            return row | {"error": self.error}
        return row | {
            "differences": [
                {"world": one.world, "only_left": list(one.only_left), "only_right": list(one.only_right)}
                for one in self.differences
            ]
        }


@dataclass(frozen=True, slots=True)
class Report:
    """A consistency run: the comparisons by section (those of :data:`HOLDS`)."""

    sections: Mapping[str, Sequence[Compared]]
    signature: Mapping[str, Any] = field(default_factory=dict)

    @property
    def consistent(self) -> bool:
        """Whether nothing failed."""
        return not any(one.failed for compared in self.sections.values() for one in compared)

    def as_dict(self) -> dict[str, Any]:
        """The report as JSON. In each section, pairs = those that hold + trivial + failed."""
        return {
            **{section: _section(HOLDS[section], compared) for section, compared in self.sections.items()},
            "consistent": self.consistent,
            "signature": dict(self.signature),
        }


def _section(word: str, compared: Sequence[Compared]) -> dict[str, Any]:
    kinds = dict.fromkeys(one.kind for one in compared)
    return {
        **_counts(word, compared),
        "failed": [one.as_dict() for one in compared if one.failed],
        "by_kind": {
            kind: _counts(word, part) | {"failed": sum(one.failed for one in part)}
            for kind in kinds
            if (part := [one for one in compared if one.kind == kind])
        },
    }


def _counts(word: str, compared: Iterable[Compared]) -> dict[str, int]:
    rows = list(compared)
    held = [one for one in rows if not one.failed]
    return {
        "pairs": len(rows),
        word: sum(not one.empty for one in held),
        "trivial": sum(one.empty for one in held),
    }
