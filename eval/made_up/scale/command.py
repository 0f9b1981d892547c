"""The command ``bench make-kb``: a knowledge base of made-up patients, of any size."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from ....kb.skin.terminal import Format, answer, check_output, counted, print_table


def make_kb(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The knowledge base to make; nothing may be there yet.")],
    patients: Annotated[int, typer.Option(min=1, help="How many patients.")] = 10_000,
    events: Annotated[
        float, typer.Option("--events-per-patient", min=1.0, max=1_000.0, help="Events of a patient, on average.")
    ] = 60.0,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same knowledge base.")] = 0,
    codes: Annotated[int, typer.Option(min=1, help="Codes of the broad class that is added to the ontology.")] = 10_000,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes that make patients. [as many as processors]")
    ] = None,
    progress: Annotated[
        bool | None, typer.Option("--progress/--no-progress", help="A progress bar. [on a terminal]")
    ] = None,
    output: Annotated[Format, typer.Option("--format", help="How to print the sums; no rows for csv.")] = Format.TABLE,
    json_out: Annotated[Path | None, typer.Option("--json", metavar="OUT", help="Also write the sums here.")] = None,
) -> None:
    """Make a knowledge base of made-up patients, who never lived, to measure on. See docs/internals/made_up_kb.md.

    Events of skewed frequencies go together as in cancer care, and every one has its mention in a note. Memory does not
    grow with the number of patients (COHORTIUM_WRITER_MEMORY bounds the writer).
    """
    from ....kb.skin.progress import bar
    from .making import Settings
    from .making import make_kb as make
    from .sizes import sizes

    check_output(output, json_out, rows=False)
    settings = Settings(patients, events, seed, codes)
    workers = workers or min(len(os.sched_getaffinity(0)), max(1, patients // 2_000))
    with bar(progress) as shown:
        shown.step("patients", patients)
        sums = make(out, settings, workers=workers, advanced=shown.advance)
    sums.update(sizes(out))
    answer(sums, output=output, out=json_out, as_table=lambda: _print_sums(sums, out))


def _print_sums(sums: dict[str, Any], out: Path) -> None:
    rows, held = sums["rows"], sums["bytes"]
    print(
        f"{out}: {counted(rows['patient'], 'made-up patient')}, {counted(rows['event'], 'event')} in "
        f"{counted(rows['note'], 'note')}; {sums['seconds']['all']:.0f} s, "
        f"{max(sums['memory_peak'].values()) / 1e6:,.0f} MB of memory at most in one process"
    )
    each = sums["bytes_an_event"]
    print(f"bytes an event: {each['database']} in the database, {each['index']} in the index")
    print_table(("table", "rows", "bytes"), [(name, rows[name], size) for name, size in held["tables"].items()])
    print_table(("step", "seconds"), list(sums["seconds"].items()))


COMMANDS: Final[tuple[tuple[str, Callable[..., None]], ...]] = (("make-kb", make_kb),)
