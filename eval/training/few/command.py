"""The commands ``train few`` and ``train guideline``: what 100 documents, or a handful of examples a tag, teach.

Reports of MACCROBAT in the tags of Real-MedNLP; what each cell answered is kept, so that the same command again does
what is missing and gives the scores. F1 is micro, over reports and seeds; its 95% interval draws reports.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from ....kb.errors import UsageError
from ....kb.skin.options import NoRowsOption, OutOption
from ....kb.skin.terminal import Format, answer, check_output, print_table

if TYPE_CHECKING:
    from ..cells import Cell
    from .resources import Experiment

_COLUMNS: Final = (
    "cell", "texts", "exact", "95%", "to plain", "95%", "partial", "95%", "weighted exact", "span exact", "seconds",
)  # fmt: skip

Folder = Annotated[Path, typer.Argument(help="The reports: .txt and .ann files.")]
Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="What each cell answered is kept here.")]
FromScratch = Annotated[bool, typer.Option("--from-scratch", help="A small network, without an encoder.")]
Base = Annotated[Path | None, typer.Option("--base", metavar="DIR", help="A Hugging Face encoder; else a small one.")]
Epochs = Annotated[int | None, typer.Option(min=1, help="Epochs at most.")]
Patience = Annotated[int | None, typer.Option(min=1, help="Epochs without a better score before the end.")]
Seeds = Annotated[int, typer.Option(min=1, help="How often each cell is trained.")]
Threads = Annotated[int, typer.Option(min=0, help="Threads on the processor; 0: as torch decides.")]
Device = Annotated[str, typer.Option(help="cpu, cuda, mps or auto.")]
Modality = Annotated[bool, typer.Option("--modality", help="Learn tags with their modality: d_negative.")]


def few(
    folder: Folder,
    out: Out,
    plan: Annotated[str, typer.Option(help="untrained (needs no torch), short or full.")] = "short",
    cell: Annotated[list[str] | None, typer.Option(help="This cell of the plan alone; may be given again.")] = None,
    from_scratch: FromScratch = False,
    base: Base = None,
    epochs: Epochs = None,
    patience: Patience = None,
    seeds: Seeds = 3,
    threads: Threads = 0,
    device: Device = "cpu",
    modality: Modality = False,
    output: NoRowsOption = Format.TABLE,
    json_out: OutOption = None,
) -> None:
    """Learn from 100 annotated reports, as they are, multiplied, or from a guideline's examples; score the others."""
    check_output(output, json_out, rows=False)
    from ..cells import PLANS

    if plan not in PLANS:
        raise UsageError(f"no plan '{plan}'. Hint: {', '.join(PLANS)}")
    unknown = sorted(set(cell or ()) - {one.name for one in PLANS[plan]})
    if unknown:
        raise UsageError(f"no cell '{unknown[0]}' in the plan. Hint: {'; '.join(one.name for one in PLANS[plan])}")
    chosen = [one for one in PLANS[plan] if not cell or one.name in cell]
    learner = None if plan == "untrained" else learner_of(from_scratch, base, epochs, patience, threads, device)
    experiment = _experiment(folder, out, PLANS[plan], learner, seeds, modality)
    scores = _scores(experiment, PLANS[plan], chosen)
    answer(scores, output=output, out=json_out, as_table=lambda: _print(scores))


def guideline(
    folder: Folder,
    out: Out,
    examples: Annotated[int, typer.Option(min=1, help="Example sentences of each tag.")] = 10,
    silver: Annotated[
        bool, typer.Option("--silver", help="Also learn from texts that our reader and a dictionary labelled.")
    ] = False,
    from_scratch: FromScratch = False,
    base: Base = None,
    epochs: Epochs = None,
    patience: Patience = None,
    seeds: Seeds = 3,
    threads: Threads = 0,
    device: Device = "cpu",
    modality: Modality = False,
    output: NoRowsOption = Format.TABLE,
    json_out: OutOption = None,
) -> None:
    """Learn from a guideline: a handful of example sentences a tag, and with --silver what they label."""
    check_output(output, json_out, rows=False)
    from ..cells import guideline_of

    learner = learner_of(from_scratch, base, epochs, patience, threads, device)
    cells = [guideline_of(examples, silver)]
    scores = _scores(_experiment(folder, out, cells, learner, seeds, modality), cells, cells)
    answer(scores, output=output, out=json_out, as_table=lambda: _print(scores))


def learner_of(
    from_scratch: bool, base: Path | None, epochs: int | None, patience: int | None, threads: int, device: str
) -> Any:
    """The tagger that the options ask for."""
    from ....ingest.models.optional import library

    library("torch", "models")
    from ..bases import offline_encoder
    from ..learner import TaggerLearner
    from ..settings import TrainingSettings

    given: dict[str, Any] = {"epochs": epochs, "patience": patience}
    settings = TrainingSettings(
        kind="convolution" if from_scratch else "encoder",
        threads=threads,
        device=device,
        **{name: value for name, value in given.items() if value is not None},
    )
    return TaggerLearner(settings, None if from_scratch else base or offline_encoder())


def _experiment(folder: Path, out: Path, cells: Sequence[Cell], learner: Any, seeds: int, modality: bool) -> Experiment:
    """The cells on the reports of a folder; what cannot be read or has no tag is told on standard error."""
    from ....kb.ontology.concepts import ConceptTable
    from .medical_tags import read_tagged
    from .resources import Experiment, divided

    reports = read_tagged(folder, modality=modality)
    for problem in reports.corpus.problems:
        print(f"{problem.place}: {problem.reason}", file=sys.stderr)
    for name, number in reports.unknown_types.items():
        print(f"{name}: {number} of a type that the map does not know", file=sys.stderr)
    parts = divided(reports.corpus, sorted({one.documents for one in cells}))
    return Experiment(parts, learner, out, seeds, ConceptTable.from_files())


def _scores(experiment: Experiment, plan: Sequence[Cell], cells: Sequence[Cell]) -> dict[str, Any]:
    """The cells run where they were not; the scores are of all of the plan that have answered."""
    from ...report.signature import sign
    from .resources import as_dict

    began = time.monotonic()

    def report(line: str) -> None:
        print(f"{time.monotonic() - began:7.0f} s  {line}", file=sys.stderr, flush=True)

    left_out = experiment.run(cells, report)
    return {**as_dict(experiment, plan, left_out), "signature": sign(0).as_dict()}


def _print(found: dict[str, Any]) -> None:
    print_table(_COLUMNS, [_row(one) for one in found["cells"]])
    for line in found["left_out"]:
        print(f"left out: {line}")
    print(f"{len(found['parts']['held_out'])} held-out reports, {sum(found['parts']['gold'].values())} entities")


def _row(row: dict[str, Any]) -> list[Any]:
    exact, partial = row["exact"], row["partial"]
    plain = exact.get("to_plain") or {"f1": None, "ci": None}
    return [
        f"{row['cell']} ({row['seeds']})",
        round(row["train"]),
        _number(exact["label"]["f1"]),
        _interval(exact["label"]["ci"]),
        _number(plain["f1"], "+.3f"),
        _interval(plain["ci"], "+.3f"),
        _number(partial["label"]["f1"]),
        _interval(partial["label"]["ci"]),
        _number(exact["weighted"]["f1"]),
        _number(exact["span"]["f1"]),
        round(row["seconds"]),
    ]


def _number(value: float | None, form: str = ".3f") -> str:
    return "–" if value is None else format(value, form)


def _interval(bounds: list[float] | None, form: str = ".3f") -> str:
    return "–" if bounds is None else f"{bounds[0]:{form}} to {bounds[1]:{form}}"


COMMANDS: Final = (("few", few), ("guideline", guideline))
