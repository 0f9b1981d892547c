"""What 100 documents teach: MACCROBAT in the tags of Real-MedNLP, augmented, or from a handful of examples a tag.

    python -m benchmarks.learning.few_resource FOLDER --out DIR [--plan untrained|short|full]
        [--cell NAME ...] [--from-scratch]
        [--base DIR] [--epochs N] [--patience N] [--seeds N] [--threads N] [--modality] [--json OUT]

``FOLDER`` holds the ``.txt`` and ``.ann`` files. ``DIR`` keeps what each cell answered: the same command again does
what is missing and tells the scores. Without ``--from-scratch`` the tagger begins with the encoder of the extra
``dense``, or with ``--base``. The plan ``untrained`` needs no torch. F1 is micro, over reports and seeds; its 95%
interval draws reports. *To plain*: the difference to 100 plain documents over the same draws.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.signature import command_line, markdown, signature
from cohortium.eval.training.cells import PLAN_SEEDS, PLANS
from cohortium.eval.training.few.medical_tags import read_tagged
from cohortium.eval.training.few.resources import Experiment, Learner, as_dict, divided
from cohortium.kb.errors import CohortiumError
from cohortium.kb.ontology.concepts import ConceptTable

HEADER = (
    "cell",
    "texts",
    "exact",
    "95%",
    "to plain",
    "95%",
    "partial",
    "95%",
    "weighted exact",
    "span exact",
    "seconds",
)


def learner_of(arguments: argparse.Namespace) -> Learner:
    """The tagger that the options ask for."""
    from cohortium.eval.training.bases import offline_encoder
    from cohortium.eval.training.learner import TaggerLearner
    from cohortium.eval.training.settings import TrainingSettings

    given = {"epochs": arguments.epochs, "patience": arguments.patience}
    settings = TrainingSettings(
        kind="convolution" if arguments.from_scratch else "encoder",
        threads=arguments.threads,
        device=arguments.device,
        **{name: value for name, value in given.items() if value is not None},
    )
    return TaggerLearner(settings, None if arguments.from_scratch else arguments.base or offline_encoder())


def main() -> int:
    """Run the cells, print the table, write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--plan", choices=sorted(PLANS), default="short")
    parser.add_argument("--cell", action="append", default=[], help="run these cells of the plan alone")
    parser.add_argument("--from-scratch", action="store_true")
    parser.add_argument("--base", type=Path)
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--patience", type=int)
    parser.add_argument("--seeds", type=int, default=PLAN_SEEDS)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--modality", action="store_true", help="learn tags with their modality: d_negative")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    try:
        return run(arguments, parser)
    except CohortiumError as error:
        print(error, file=sys.stderr)
        return error.exit_code


def run(arguments: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    """What ``main`` does, with the options read."""
    plan = PLANS[arguments.plan]
    unknown = set(arguments.cell) - {one.name for one in plan}
    if unknown:
        parser.error(f"no cell {sorted(unknown)[0]!r} in the plan; it has: {'; '.join(one.name for one in plan)}")
    cells = [one for one in plan if not arguments.cell or one.name in arguments.cell]
    reports = read_tagged(arguments.folder, modality=arguments.modality)
    for problem in reports.corpus.problems:
        print(f"{problem.place}: {problem.reason}", file=sys.stderr)
    parts = divided(reports.corpus, sorted({one.documents for one in plan}))
    learner = None if arguments.plan == "untrained" else learner_of(arguments)
    experiment = Experiment(parts, learner, arguments.out, arguments.seeds, ConceptTable.from_files())
    began = time.monotonic()

    def told(line: str) -> None:
        print(f"{time.monotonic() - began:7.0f} s  {line}", file=sys.stderr, flush=True)

    left_out = experiment.run(cells, told)
    found = as_dict(experiment, plan, left_out)
    found["unknown_types"] = dict(reports.unknown_types)
    found["signature"] = signature(command_line(), 0)
    print(table(found["cells"]))
    for line in left_out:
        print(f"left out: {line}")
    print(f"{len(parts.held_out)} held-out reports, {sum(found['parts']['gold'].values())} entities")
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


def table(rows: list[dict[str, Any]]) -> str:
    """The scores as Markdown."""
    return markdown(HEADER, [_row(one) for one in rows])


def _row(row: dict[str, Any]) -> list[Any]:
    exact, partial = row["exact"], row["partial"]
    other = exact.get("to_plain") or {"f1": None, "ci": None}
    return [
        f"{row['cell']} ({row['seeds']})",
        round(row["train"]),
        _number(exact["label"]["f1"]),
        _interval(exact["label"]["ci"]),
        _number(other["f1"], "+.3f"),
        _interval(other["ci"], "+.3f"),
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


if __name__ == "__main__":
    raise SystemExit(main())
