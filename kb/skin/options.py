"""Options of the command line that commands of several folders share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .terminal import Format

FormatOption = Annotated[Format, typer.Option("--format", help="How to print.")]
NoRowsOption = Annotated[Format, typer.Option("--format", help="How to print; there are no rows for csv.")]
OutOption = Annotated[Path | None, typer.Option("--json", metavar="OUT", help="Also write the answer to this file.")]
