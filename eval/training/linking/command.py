"""The command ``train linker``: terminologies in, vectors of names and the numbers of the linker out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from ....kb.skin.terminal import print_json


def linker(
    terminologies: Annotated[Path, typer.Argument(help="Folder with doid, ncit_neoplasm_core, maxo, … in it.")],
    out: Annotated[Path, typer.Argument(help="Folder that name_vectors.npz and linker.json are written into.")],
    vectors: Annotated[Path | None, typer.Option(help="Vectors of names that were trained before.")] = None,
    corpora: Annotated[
        Path | None, typer.Option(help="Folder of open corpora: their judged mentions are measured too.")
    ] = None,
) -> None:
    """Train the linker of mentions to concepts, and print its scores as JSON."""
    from .run import run

    print_json(run(terminologies, out, vectors=vectors, corpora=corpora))


COMMANDS: Final = (("linker", linker),)
