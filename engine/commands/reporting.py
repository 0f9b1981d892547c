"""The command ``report``: one answer as a page to look at, to print and to hand on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Final

import typer

from ...kb.deadline import SECONDS_OF_MANY
from ...kb.errors import UsageError
from ...kb.files.whole_files import write_text_privately
from ...kb.model import World
from ...kb.skin.options import NoRowsOption, OutOption
from ...kb.skin.streams import data_output
from ...kb.skin.terminal import Format, answer, check_output, count_text, print_text
from ...kb.skin.whole_answers import in_time
from ..tables import WorldName
from .options import DefinitionsOption, KbArgument, QueryArgument, SetOption, TodayOption, asked


# Each option of the command is a parameter: so typer reads a command line.
def report(
    kb: KbArgument,
    text: QueryArgument,
    html: Annotated[
        Path, typer.Option("--html", metavar="OUT", help="The file to write the page to; - is standard output.")
    ],
    world: Annotated[WorldName, typer.Option(help="Which answer the members are shown of.")] = WorldName.BELIEVED,
    limit: Annotated[int, typer.Option(min=0, help="Show at most so many members in full.")] = 50,
    output: NoRowsOption = Format.TABLE,
    settings: SetOption = None,
    definitions: DefinitionsOption = None,
    today: TodayOption = None,
    out: OutOption = None,
) -> None:
    """Write an answer as one page of HTML: counts, funnel, members with their evidence and record as a picture."""
    if str(html) == "-" and (output is Format.JSON or str(out) == "-"):
        raise UsageError("the page and the JSON cannot both go to standard output. Hint: name a file for one of them")
    check_output(output, out, rows=False)
    check_output(Format.TABLE, html, rows=False)
    found = asked(kb, text, settings, definitions, today).in_world(World[world.name]).report(limit)
    written = found.as_html()
    if str(html) == "-":
        data_output().write(f"{written}\n")
        return
    write_text_privately(html, written)
    told = f"{count_text(*found.counts)} patients: {found.resolved}\n{len(found.members)} of them in full: {html}"
    answer(found.as_dict(), output=output, out=out, as_table=lambda: print_text(told))


COMMANDS: Final[tuple[tuple[str, Callable[..., None]], ...]] = (("report", in_time(report, SECONDS_OF_MANY)),)
