"""The rules of the check, as data: the statements of ``rules.toml``, and what else must hold of a knowledge base."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ..kinds import KINDS
from ..model import EARLIEST_DAY, LATEST_DAY, REASONS, Experiencer, Polarity, Temporality, World
from .looked_at import LookedAt

#: What stands behind a name in the statements.
_KNOWN: Final[dict[str, object]] = {
    "earliest": EARLIEST_DAY,
    "latest": LATEST_DAY,
    "kinds": list(KINDS),
    "polarities": [str(value) for value in Polarity],
    "temporalities": [str(value) for value in Temporality],
    "experiencers": [str(value) for value in Experiencer],
    "reasons": list(REASONS),
    "none": int(World.NONE),
    "possible": int(World.POSSIBLE),
    "certain": int(World.CERTAIN),
}
_PARAMETER: Final = re.compile(r"\$(\w+)")

RESTORE: Final = "put back a copy of the knowledge base, or ingest the notes into a new one"
REPAIR: Final = "run 'cohortium check KB --repair': the index is made again from the tables"


@dataclass(frozen=True, slots=True)
class Faults:
    """How many rows (ids, files) are not as they must be, and one of them: an id or a place, never text of a note."""

    number: int
    example: str


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that must hold: what is told when it does not, what to do then, and how to look.

    ``look`` gives faults as it finds them, part by part. ``slow`` rules are left out of a quick check.
    """

    name: str
    part: str
    finds: str
    look: Callable[[LookedAt], Iterator[Faults]]
    advice: str = RESTORE
    slow: bool = False


def statement_rules() -> tuple[Rule, ...]:
    """The rules of ``rules.toml``, in its order."""
    data = tomllib.loads((Path(__file__).parent / "rules.toml").read_text(encoding="utf-8"))
    return tuple(
        Rule(
            name=row["name"],
            part=row["part"],
            finds=row["finds"],
            look=functools.partial(_faulty_rows, row["sql"], row.get("with") == "whole"),
            slow=row.get("slow", False),
        )
        for row in data["rule"]
    )


def _faulty_rows(statement: str, whole: bool, looked_at: LookedAt) -> Iterator[Faults]:
    parameters = {name: _KNOWN[name] for name in set(_PARAMETER.findall(statement))}
    # A statement of ours: what stands in the knowledge base is never part of it.
    counted = f"SELECT count(*), min(example) FROM ({statement})"
    for _ in [None] if whole else looked_at.parts():
        number, example = looked_at.rows(counted, parameters)[0]
        if number:
            yield Faults(number, example)
