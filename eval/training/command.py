"""The command ``train ner``: corpora in, a model directory out."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from ...kb.errors import UsageError
from ...kb.skin.terminal import Format, answer, check_output, print_table

if TYPE_CHECKING:
    from .examples import TrainingPart
    from .loop import Epoch, Progress
    from .recipe import Recipe

#: Of many places that could not be read the first are shown.
_SHOWN_PROBLEMS: Final = 10


def ner(
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where the model goes; a folder of its own.")],
    train: Annotated[
        list[Path] | None,
        typer.Option("--train", metavar="PATH", help="An annotated corpus to learn from; may be given several times."),
    ] = None,
    dev: Annotated[
        list[Path] | None, typer.Option("--dev", metavar="PATH", help="A corpus that tells when to stop.")
    ] = None,
    dev_share: Annotated[
        float, typer.Option("--dev-share", min=0.01, max=0.5, help="Without --dev: the share of documents held aside.")
    ] = 0.1,
    label_map: Annotated[
        str | None, typer.Option("--map", metavar="NAME|FILE", help="How the labels of these corpora become types.")
    ] = None,
    recipe: Annotated[
        Path | None,
        typer.Option("--recipe", metavar="TOML", help="Several corpora, each with its map, instead of --train."),
    ] = None,
    data: Annotated[
        Path | None, typer.Option("--data", metavar="DIR", help="The folder that the paths of a recipe lie in.")
    ] = None,
    base: Annotated[
        Path | None,
        typer.Option(
            "--base",
            metavar="DIR",
            help="A Hugging Face encoder, or a model of 'train ner' to go on from; else a small one.",
        ),
    ] = None,
    from_scratch: Annotated[
        bool, typer.Option("--from-scratch", help="A small network of letters and words, without an encoder.")
    ] = False,
    adapt: Annotated[
        Path | None,
        typer.Option("--adapt", metavar="TEXTS", help="First let the encoder guess hidden words of these texts."),
    ] = None,
    epochs: Annotated[int | None, typer.Option(min=1, help="Epochs at most.")] = None,
    patience: Annotated[int | None, typer.Option(min=1, help="Epochs without a better score before the end.")] = None,
    rate: Annotated[float | None, typer.Option(min=0.0, help="Learning rate of the layers over the words.")] = None,
    encoder_rate: Annotated[float | None, typer.Option(min=0.0, help="Learning rate of the encoder.")] = None,
    batch_words: Annotated[int | None, typer.Option(min=1, help="Words of a batch.")] = None,
    window: Annotated[int | None, typer.Option(min=32, max=510, help="Word pieces of a window.")] = None,
    balance: Annotated[
        float | None, typer.Option(min=0.0, help="How much more often rare types are drawn, 0 (not at all) to 1.")
    ] = None,
    hidden: Annotated[
        float | None, typer.Option(min=0.0, help="Share of the words that training hides, 0 to below 1.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Decides order and first weights.")] = 0,
    device: Annotated[str, typer.Option(help="cpu, cuda, mps or auto.")] = "auto",
    precision: Annotated[str, typer.Option(help="auto, float32, bfloat16 or float16.")] = "auto",
    threads: Annotated[int, typer.Option(min=0, help="Threads on the processor; 0: as torch decides.")] = 0,
    output: Annotated[Format, typer.Option("--format", help="How to print the scores; no rows for csv.")] = (
        Format.TABLE
    ),
    json_out: Annotated[Path | None, typer.Option("--json", metavar="OUT", help="Also write the scores here.")] = None,
) -> None:
    """Train a recogniser of named entities; stopped, the same command goes on where it was."""
    check_output(output, json_out, rows=False)
    from ...ingest.models.optional import library

    library("torch", "models")
    from ..report.signature import command_line
    from .bases import offline_encoder
    from .loop import device_of
    from .recipe import part_of, read_recipe, recipe_of, without_share
    from .run import Beginning, refuse_model
    from .run import train as run
    from .settings import TrainingSettings

    if (recipe is None) == (not train):
        raise UsageError("train ner needs either --train PATH or --recipe TOML")
    if recipe is not None and (dev or label_map):
        raise UsageError("a recipe names its corpora itself. Hint: put --dev and --map into it")
    if from_scratch and (base or adapt):
        raise UsageError("--from-scratch takes neither --base nor --adapt")
    given: dict[str, Any] = {
        "epochs": epochs,
        "patience": patience,
        "rate": rate,
        "encoder_rate": encoder_rate,
        "batch_words": batch_words,
        "window": window,
        "balance": balance,
        "hidden": hidden,
    }
    settings = TrainingSettings(
        kind="convolution" if from_scratch else "encoder",
        seed=seed,
        device=device,
        precision=precision,  # type: ignore[arg-type]
        threads=threads,
        **{name: value for name, value in given.items() if value is not None},
    )
    device_of(settings.device)
    refuse_model(out)
    if recipe is not None:
        whole = read_recipe(recipe, data)
        _show_problems([*whole.train, *whole.development])
    else:
        parts = [part_of(path, label_map) for path in train or ()]
        aside = [part_of(path, label_map) for path in dev or ()]
        _show_problems([*parts, *aside])
        if not aside:
            parts, aside = without_share(parts, dev_share, seed)
        whole = recipe_of(parts, aside, name=out.name)
    with _Bars(settings.epochs) as progress:
        made = run(
            whole,
            settings,
            out,
            beginning=Beginning(None if from_scratch else base or offline_encoder(), adapt),
            progress=progress,
            command=command_line(),
        )
    model = {"model": str(out), "bytes": made.bytes, "scores": made.card.scores, "signature": made.card.signature}
    answer(model, output=output, out=json_out, as_table=lambda: _print(model, whole))


def _show_problems(parts: Iterable[TrainingPart]) -> None:
    """What could not be read, on standard error: nobody must take a model of half a corpus for one of all of it."""
    found = dict.fromkeys(
        f"{part.corpus.name}: {one.place}: {one.reason}" for part in parts for one in part.corpus.problems
    )
    for line in list(found)[:_SHOWN_PROBLEMS]:
        print(f"not read: {line}", file=sys.stderr)
    if len(found) > _SHOWN_PROBLEMS:
        print(f"not read: {len(found) - _SHOWN_PROBLEMS} more such places", file=sys.stderr)


def _print(made: dict[str, Any], recipe: Recipe) -> None:
    rows = []
    for name, one in made["scores"]["exact"].items():
        for kind, cell in {"micro": one["micro"], **one["by_type"]}.items():
            low, high = cell["ci"] or (None, None)
            numbers = (cell["precision"], cell["recall"], cell["f1"], low, high)
            rows.append([name, kind, *("" if one is None else f"{one:.3f}" for one in numbers)])
    print_table(("corpus", "type", "precision", "recall", "f1", "low", "high"), rows)
    print(f"{made['bytes'] / 1e6:.1f} MB, {len(recipe.types)} types, in {made['model']}")


class _Bars:
    """Progress on standard error: a bar on a terminal, and a line an epoch."""

    def __init__(self, epochs: int) -> None:
        from ...kb.skin.progress import bar

        self._epochs = epochs
        self._bars = bar(None)

    def __enter__(self) -> Progress:
        from .loop import Progress

        self._bar = self._bars.__enter__()
        self._share = 0
        return Progress(self._step, self._epoch, self._advance)

    def __exit__(self, *failure: Any) -> None:
        self._bars.__exit__(*failure)

    def _step(self, name: str) -> None:
        self._share = 0
        self._bar.step(name, 1000 if name in ("training", "adapting the encoder") else None)

    def _advance(self, share: float) -> None:
        now = round(1000 * share)
        self._bar.advance(now - self._share)
        self._share = now

    def _epoch(self, epoch: Epoch) -> None:
        self._step("training")
        print(
            f"epoch {epoch.number} of {self._epochs}: loss {epoch.loss:.4f} a word, f1 {epoch.f1:.4f},"
            f" {epoch.seconds:.0f} s",
            file=sys.stderr,
        )


COMMANDS = (("ner", ner),)
