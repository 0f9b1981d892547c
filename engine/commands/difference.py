"""The command ``diff``: who joins and who leaves the answer to a query, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from ...kb.deadline import SECONDS_OF_MANY
from ...kb.model import World
from ...kb.skin.options import FormatOption, OutOption
from ...kb.skin.terminal import Format, answer, check_output, print_csv, print_table
from ...kb.skin.whole_answers import in_time
from ..difference.changes import Change, Difference
from ..tables import TABLE_ROWS, WorldName
from .options import DefinitionsOption, QueryArgument, SetOption, query_text

#: So many joiners, and as many leavers, are told with their evidence.
_EVIDENCED: Final = 20
_MOST_NOTES: Final = 3


# Each option of the command is a parameter: so typer reads a command line.
def diff(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="A knowledge base; KB@previous, KB@ID: an earlier state.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="Another one, or a later state.")],
    text: QueryArgument,
    world: Annotated[WorldName, typer.Option(help="Of which answer joiners and leavers are listed.")] = (
        WorldName.BELIEVED
    ),
    output: FormatOption = Format.TABLE,
    limit: Annotated[
        int | None, typer.Option(min=0, help="List at most so many joiners, and so many leavers (a table: 20).")
    ] = None,
    settings: SetOption = None,
    definitions: DefinitionsOption = None,
    out: OutOption = None,
) -> None:
    """Show who joins and who leaves the answer to a query between two knowledge bases, each with its cause."""
    from ...query_lang.parsing.library import read_parameters
    from ..api import open as open_kb

    check_output(output, out, rows=True)
    with open_kb(old) as before, open_kb(new) as after:
        found = after.diff(
            before, query_text(text), read_parameters(settings or ()), definitions or (), world=World[world.name]
        )
        payload = found.as_dict(limit, _EVIDENCED if limit is None else min(limit, _EVIDENCED))
        answer(
            payload,
            output=output,
            out=out,
            as_table=lambda: _print_difference(found, TABLE_ROWS if limit is None else limit),
            as_csv=lambda: print_csv(("patient_id", "change", "causes", "notes"), _csv_rows(payload)),
        )


def _csv_rows(payload: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    for row in (*payload["joined"], *payload["left"]):
        causes = " ".join(f"{one['cause']}:{one['bearing']}" for one in row["causes"])
        notes = "; ".join(f"{note['doc_id']} {note['change']}" for note in row["notes"])
        yield row["patient_id"], row["change"], causes, notes


def _print_difference(found: Difference, limit: int) -> None:
    counts = found.counts
    print_table(
        ("world", "old", "new", "joined", "left"),
        [(world, *(row[column] for column in ("old", "new", "joined", "left"))) for world, row in counts.items()],
    )
    for name, (before, after) in found.reading.items():
        print(f"read by another {name}: {before or '(none)'} → {after or '(none)'}")
    for change in found.meaning:
        print(f"the query means something else: {change}")
    for changes in (found.joined, found.left):
        for one in changes[:limit]:
            _print_change(one, found)
        if len(changes) > limit:
            print(f"… and {len(changes) - limit} more {changes[0].what} (--limit N lists more)")


def _print_change(change: Change, found: Difference) -> None:
    print()
    print(f"{change.patient_id} {change.what}: {change.in_words}")
    notes = [f"{note.doc_id} {note.what}" for note in change.notes[:_MOST_NOTES]]
    if len(change.notes) > _MOST_NOTES:
        notes.append(f"and {len(change.notes) - _MOST_NOTES} more")
    if notes:
        print(f"  notes: {', '.join(notes)}")
    evidence = found.evidence(change.patient_id)
    if evidence is None:
        return
    for line in evidence.lines():
        print(f"  {line}")


COMMANDS: Final[tuple[tuple[str, Callable[..., None]], ...]] = (("diff", in_time(diff, SECONDS_OF_MANY)),)
