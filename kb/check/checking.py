"""The check of a knowledge base: every rule in its order, and what they found."""

from __future__ import annotations

import errno
import os
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import duckdb

from ..errors import DamagedIndex, DamagedKb, NotWritable
from ..skin.progress import Bar, bar
from ..storage.full_disk import of_a_full_disk
from ..storage.generation_names import named_generation, split_name
from ..storage.layout import Layout
from .content import content_rules
from .files import file_rules
from .index_files import index_rules
from .looked_at import LookedAt
from .posting_rows import posting_rules
from .rules import REPAIR, RESTORE, Faults, Rule, statement_rules
from .stored_order import order_rules
from .value_rows import value_rules
from .written_bytes import byte_rules

#: All that is looked at, in this order: what is said of rows makes sense where they lie as they must.
RULES: Final[tuple[Rule, ...]] = (
    *byte_rules(),
    *file_rules(),
    *order_rules(),
    *statement_rules(),
    *content_rules(),
    *posting_rules(),
    *value_rules(),
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

    MissingKb, SchemaVersionError, NotWritable (no room for what it makes for comparison); damage is no error, it is a
    finding. Several checks, readers and a writer may be at work at once.
    """
    begun = time.monotonic()
    place, wanted = split_name(path)
    layout = Layout(place)
    try:
        with bar(progress) as shown:
            report = _followed(layout, wanted, lambda generation, _: _held(layout, generation, quick, shown, rules))
    except DamagedKb as error:
        # What names the generation, or tells of it, cannot be read: there is nothing more to look at.
        report = CheckReport(str(layout.path), wanted, quick)
        report.findings.append(_damage("files", "files", error, RESTORE))
    except (duckdb.Error, OSError) as error:
        if not of_a_full_disk(error):
            raise
        raise NotWritable(
            "The check could not go on for want of room, or could not write, in the folder for temporary files "
            f"({tempfile.gettempdir()}). Hint: name another one in TMPDIR; --quick needs less"
        ) from error
    report.seconds = round(time.monotonic() - begun, 3)
    return report


def _followed(layout: Layout, wanted: str, look: Callable[[str, dict[str, Any]], CheckReport]) -> CheckReport:
    """The report of the generation that is wanted (empty: of the current one)."""
    if not wanted:
        return layout.follow(look, whole=False)
    generation = named_generation(layout, wanted)
    try:
        return look(generation, layout.check_schema(generation))
    except FileNotFoundError as error:
        raise layout.damaged(f"{Path(error.filename).name} of generation {generation} is missing") from error


def _held(layout: Layout, generation: str, quick: bool, shown: Bar, rules: Iterable[Rule]) -> CheckReport:
    """The report of a generation, which no writer removes meanwhile."""
    held = layout.hold(generation)
    try:
        return _looked_at(layout, generation, quick, shown, rules)
    finally:
        os.close(held)


def _looked_at(layout: Layout, generation: str, quick: bool, shown: Bar, rules: Iterable[Rule]) -> CheckReport:
    report = CheckReport(str(layout.path), generation, quick)
    found = report.findings
    try:
        layout.check_files(generation, layout.manifest_file(generation))
    except DamagedIndex as error:
        found.append(_damage("files of the index", "index", error, REPAIR))
    except DamagedKb as error:
        found.append(_damage("files", "files", error, RESTORE))
        return report
    rule: Rule | None = None
    try:
        with LookedAt(layout, generation, shown) as looked_at:
            report.patients, report.events = looked_at.number("patient"), looked_at.number("event")
            for rule in rules:
                if quick and rule.slow:
                    continue
                looked_at.doing = rule.name
                faults = faults_of(rule, looked_at)
                report.checked += 1
                if faults:
                    number = sum(fault.number for fault in faults)
                    found.append(Finding(rule.name, rule.part, rule.finds, number, faults[0].example, rule.advice))
            report.unchecked = looked_at.unchecked
    except duckdb.Error as error:
        if of_no_room(error):
            raise
        # Blocks that do not fit their checksums, a table that is not there: what comes after cannot be looked at.
        (layout.generation(generation) / "kb.duckdb").stat()
        where = "opening it" if rule is None else f"looking at the {rule.name}"
        found.append(
            Finding("the database", "files", f"damage of kb.duckdb, met in {where}", 1, type(error).__name__, RESTORE)
        )
    return report


def faults_of(rule: Rule, looked_at: LookedAt) -> list[Faults]:
    """What one rule finds; a cell that cannot be read is a fault as well."""
    try:
        return list(rule.look(looked_at))
    except (ValueError, TypeError, LookupError, ArithmeticError) as error:
        # A cell that no writer of ours wrote; its value, which the error may tell, could be text of a note.
        return [Faults(1, f"a cell that cannot be read ({type(error).__name__})")]


def of_no_room(error: duckdb.Error) -> bool:
    """Whether it is the room for temporary files that lacks, and not a block that cannot be read."""
    return isinstance(error, duckdb.OutOfMemoryException) or os.strerror(errno.ENOSPC) in str(error)


def _damage(name: str, part: str, error: Exception, advice: str) -> Finding:
    return Finding(name, part, str(error).partition(" Hint: ")[0], 1, "", advice)
