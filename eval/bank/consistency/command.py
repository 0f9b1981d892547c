"""The command ``eval consistency``: runs the pairs and laws, prints what held and every pair that did not."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from ....kb.errors import CohortiumError
from ....kb.skin.options import NoRowsOption, OutOption
from ....kb.skin.terminal import Format, answer, check_output, counted, print_table, print_text

#: Patients named in a table cell, at most; JSON names all.
_MOST_NAMED: Final = 8


class Inconsistent(CohortiumError):
    """With ``--strict``, a run in which a pair or a law failed (exit 1)."""

    exit_code = 1


def consistency(
    kb: Annotated[Path, typer.Option("--kb", help="The knowledge base to ask.")],
    strict: Annotated[bool, typer.Option("--strict", help="Leave with 1 when anything failed.")] = False,
    output: NoRowsOption = Format.TABLE,
    out: OutOption = None,
) -> None:
    """Hold the answers together: paraphrases, intersections, subtypes and set laws; no labels needed."""
    # Before the run: it takes seconds, and a wrong option none.
    check_output(output, out, rows=False)
    from .run import run_consistency

    report = run_consistency(kb)
    payload = report.as_dict()
    answer(payload, output=output, out=out, as_table=lambda: print_report(payload))
    if strict and not report.consistent:
        failed = sum(len(part["failed"]) for part in sections_of(payload).values())
        raise Inconsistent(f"{counted(failed, 'comparison')} failed (--strict)")


def sections_of(payload: dict[str, Any]) -> dict[str, Any]:
    """The sections of a report as JSON: paraphrases, intersections, subtypes, laws."""
    return {name: part for name, part in payload.items() if isinstance(part, dict) and "by_kind" in part}


def print_report(payload: dict[str, Any]) -> None:
    """Counts by section and kind, each failure with its queries and patients that differ, and what had no answer."""
    rows: list[tuple[object, ...]] = []
    for section, part in sections_of(payload).items():
        rows.append((section, "", *_cells(part | {"failed": len(part["failed"])})))
        if len(part["by_kind"]) > 1:
            rows += [("", kind, *_cells(counts)) for kind, counts in part["by_kind"].items()]
    print_table(("", "kind", "pairs", "held", "empty", "failed"), rows)
    unanswered: Counter[str] = Counter()
    for section, part in sections_of(payload).items():
        for one in part["failed"]:
            if "error" in one:
                unanswered[one["error"]] += 1
                continue
            print_text(f"\n{section}, {one['kind']}:\n  {one['left']}\n  {one['right']}")
            for difference in one["differences"]:
                print(f"    {difference['world']}: only the first {_named(difference['only_left'])};"
                      f" only the second {_named(difference['only_right'])}")  # fmt: skip
    for reason, number in unanswered.items():
        # One query that cannot be answered fails all of its laws, each for the same reason.
        print(f"not answered ({counted(number, 'comparison')}): {reason}")
    print("consistent" if payload["consistent"] else "not consistent")


def _cells(counts: dict[str, Any]) -> tuple[int, int, int, int]:
    """pairs, those that hold, trivial, failed."""
    held = counts["pairs"] - counts["trivial"] - counts["failed"]
    return counts["pairs"], held, counts["trivial"], counts["failed"]


def _named(patients: list[str]) -> str:
    if not patients:
        return "none"
    more = len(patients) - _MOST_NAMED
    return " ".join(patients[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
