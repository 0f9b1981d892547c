"""The command ``ontology import``: the terms of a terminology become concepts beside the shipped ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from ..ontology.commands import ExtraOption, KindOption
from ..skin.options import NoRowsOption, OutOption
from ..skin.terminal import Format, answer, check_output, counted, print_table


# Each option of the command is a parameter: so typer reads a command line.
def import_(
    form: Annotated[str, typer.Argument(metavar="FORMAT", help="obo, oncotree, omop, rxnorm or hgnc.")],
    sources: Annotated[
        list[Path], typer.Argument(metavar="SOURCE...", help="The files of the terminology, or their folder.")
    ],
    out_folder: Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder to write, made when missing.")],
    below: Annotated[
        str | None, typer.Option(metavar="CODE", help="Only the term of this code and what lies below it.")
    ] = None,
    kind: KindOption = None,
    ontology: ExtraOption = None,
    output: NoRowsOption = Format.TABLE,
    out: OutOption = None,
) -> None:
    """Write the terms of a terminology as concepts beside the shipped ones, for --ontology DIR."""
    from .importing import import_terms

    check_output(output, out, rows=False)
    report = import_terms(form, sources, out_folder, below=below, kind=kind, ontology=ontology)
    answer(report.as_dict(), output=output, out=out, as_table=lambda: print_import(report.as_dict(), out_folder))


def print_import(report: Mapping[str, Any], folder: Path) -> None:
    """What was added, and what was left out by reason."""
    from .terms import tables

    concepts = f"{report['new']} new, {report['extended']} extended"
    added = f"{counted(report['names'], 'name')}, {counted(report['codes'], 'code')}"
    print(f"{counted(report['terms'], 'term')}: {concepts}; {added}")
    rows = [(number, tables()["reasons"][reason]) for reason, number in report["dropped"].items()]
    if rows:
        print_table(("left out", "why"), rows)
    print(f"{folder}: {report['file']}; all that was left out stands in dropped_{report['format']}.tsv")


COMMANDS: Final[tuple[tuple[str, Callable[..., None]], ...]] = (("import", import_),)
