"""The command ``train zones``: marked notes in, the points of words and boundaries out."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated, Final

import typer

from ....kb.errors import UsageError
from ....kb.files.text_files import bytes_of
from ....kb.files.whole_files import write_text_privately
from ....kb.skin.terminal import print_json


def zones(
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="Where the points go (zone_words.tsv).")],
    marked: Annotated[list[Path], typer.Argument(help="Folders of marked notes (.txt with {{p}}, {{n}}, {{o}} …).")],
    plain: Annotated[
        list[Path] | None,
        typer.Option("--plain", metavar="PATH", help="Notes about their patients, without marks; may be given again."),
    ] = None,
    plain_weight: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="How much a note without marks counts beside a marked one.")
    ] = 0.03,
    penalty: Annotated[float, typer.Option(min=0.0, help="On the squares of the weights.")] = 0.05,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of fitting at most.")] = 60,
    patient: Annotated[
        float, typer.Option(help="Points that every sentence has for its patient besides; more: fewer are doubted.")
    ] = 0.3,
) -> None:
    """Learn whom the sentences of notes are about, from notes with marked stretches."""
    from ....ingest.readers.records import Incoming
    from ....ingest.readers.sources import Sources
    from .field import fit, of_marked, of_plain, written
    from .marked import read_marked

    paths = sorted(path for folder in marked for path in ([folder] if folder.is_file() else folder.rglob("*.txt")))
    if not paths:
        raise UsageError(f"no marked note (.txt) in {', '.join(map(str, marked))}")
    learned = [of_marked(read_marked(path)) for path in paths]
    beside = [
        of_plain(one.note, plain_weight) for one in (Sources(plain) if plain else ()) if isinstance(one, Incoming)
    ]
    weights = fit([*learned, *beside], penalty, rounds)
    digest = hashlib.sha256(b"".join(bytes_of(path) for path in paths)).hexdigest()[:12]
    head = [
        "What words, pairs of words and of shapes, marks and boundaries say for nobody and another patient (points).",
        f"Made by 'cohortium train zones' of {len(learned)} marked notes (sha256 {digest}) and {len(beside)} others:",
        f"weight {plain_weight}, penalty {penalty}, rounds {rounds}, for the patient {patient}.",
    ]
    write_text_privately(out, written(weights, patient, head))
    print_json(
        {
            "marked": len(learned),
            "plain": len(beside),
            "sentences": sum(len(one.sentences) for one in learned),
            "features": len(weights.features),
            "bytes": out.stat().st_size,
        }
    )


COMMANDS: Final = (("zones", zones),)
