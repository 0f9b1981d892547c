"""The check of a knowledge base: every rule in its order, and what they found."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

import duckdb

from ..errors import DamagedIndex, DamagedKb
from ..generation_names import named_generation, split_name
from ..layout import Layout
from ..progress import Bar, bar
from .content import content_rules
from .files import file_rules
from .index_files import index_rules
from .looked_at import LookedAt
from .posting_rows import posting_rules
from .rules import RESTORE, Faults, Rule, statement_rules
from .stored_order import order_rules

#: All that is looked at, in this order: what is said of rows makes sense where they lie as they must.
RULES: Final[tuple[Rule, ...]] = (
    *file_rules(),
    *order_rules(),
    *statement_rules(),
    *content_rules(),
    *posting_rules(),
    *index_rules(),
)


@dataclass(frozen=True, slots=True)
class Finding:
    """What one rule found: how much, one example (an id or a place), and what to do."""

    name: str
    part: str
    finds: str
    number: int
    example: str
    advice: str


@dataclass(slots=True)
class CheckReport:
    """What a check looked at and found."""

    path: str
    generation: str
    quick: bool
    checked: int = 0
    patients: int = 0
    events: int = 0
    seconds: float = 0.0
    findings: list[Finding] = field(default_factory=list)
    unchecked: dict[str, int] = field(default_factory=dict)
    repaired: bool = False

    @property
    def sound(self) -> bool:
        """Whether nothing was found."""
        return not self.findings

    def as_dict(self) -> dict[str, Any]:
        """The report as JSON has it."""
        return {
            "sound": self.sound,
            "generation": self.generation,
            "quick": self.quick,
            "repaired": self.repaired,
            "checks": self.checked,
            "patients": self.patients,
            "events": self.events,
            "seconds": self.seconds,
            "findings": [
                {
                    "check": one.name,
                    "part": one.part,
                    "finds": one.finds,
                    "number": one.number,
                    "example": one.example,
                    "advice": one.advice,
                }
                for one in self.findings
            ],
            "unchecked": self.unchecked,
        }


def check_kb(
    path: str | os.PathLike[str],
    *,
    quick: bool = False,
    progress: bool | None = None,
    rules: Iterable[Rule] = RULES,
) -> CheckReport:
    """Look at the current generation of a knowledge base. ``quick``: without what reads every text and makes every id
    again. ``progress``: a bar on a terminal, None for yes.

    MissingKb, SchemaVersionError; damage is none, it is a finding. Several checks and readers may be at work at once.
    """
    begun = time.monotonic()
    place, wanted = split_name(path)
    layout = Layout(place)
    with bar(progress) as shown:
        if wanted:
            generation = named_generation(layout, wanted)
            layout.check_schema(generation)
            report = _looked_at(layout, generation, quick, shown, rules)
        else:
            report = layout.follow(lambda current: _looked_at(layout, current, quick, shown, rules), whole=False)
    report.seconds = round(time.monotonic() - begun, 3)
    return report


def _looked_at(layout: Layout, generation: str, quick: bool, shown: Bar, rules: Iterable[Rule]) -> CheckReport:
    report = CheckReport(str(layout.path), generation, quick)
    found = report.findings
    try:
        layout.check_files(generation)
    except DamagedIndex as error:
        found.append(_damage("files of the index", "index", error))
    except DamagedKb as error:
        found.append(_damage("files", "files", error))
        return report
    rule: Rule | None = None
    try:
        with LookedAt(layout, generation, shown) as looked_at:
            report.patients, report.events = looked_at.number("patient"), looked_at.number("event")
            for rule in rules:
                if quick and rule.slow:
                    continue
                looked_at.doing = rule.name
                faults = _faults(rule, looked_at)
                report.checked += 1
                if faults:
                    number = sum(fault.number for fault in faults)
                    found.append(Finding(rule.name, rule.part, rule.finds, number, faults[0].example, rule.advice))
            report.unchecked = looked_at.unchecked
    except duckdb.Error as error:
        # Blocks that do not fit their checksums, a table that is not there: what comes after cannot be looked at.
        (layout.generation(generation) / "kb.duckdb").stat()
        where = "opening it" if rule is None else f"looking at the {rule.name}"
        found.append(
            Finding("the database", "files", f"damage of kb.duckdb, met in {where}", 1, type(error).__name__, RESTORE)
        )
    return report


def _faults(rule: Rule, looked_at: LookedAt) -> list[Faults]:
    try:
        return list(rule.look(looked_at))
    except (ValueError, TypeError, KeyError, ArithmeticError) as error:
        # A cell that no writer of ours wrote; its value, which the error may tell, could be text of a note.
        return [Faults(1, f"a cell that cannot be read ({type(error).__name__})")]


def _damage(name: str, part: str, error: DamagedKb) -> Finding:
    what, _, advice = str(error).partition(" Hint: ")
    return Finding(name, part, what, 1, "", advice)
