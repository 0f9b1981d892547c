"""The commands ``bench acr`` (all systems, one table) and ``bench make-corpus`` (records that anyone may have)."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from ...kb.errors import UsageError
from ...kb.files.whole_files import write_text_privately
from ...kb.skin.options import NoRowsOption, OutOption
from ...kb.skin.terminal import Format, answer, check_output, counted, json_text, print_table
from ..measures.terms import Terms
from ..report.signature import command_line

if TYPE_CHECKING:
    from .run import Records

PATIENTS: Final = 1436
#: Patients of the corpus that a run makes for itself, and their notes.
SMALL: Final = (120, 3_000)


# Each parameter of a command is an option of it.
def acr(
    out: Annotated[
        Path, typer.Option("--out", help="The folder of the run: answers, indexes, reports. Kept; resumes.")
    ],
    corpus: Annotated[
        Path | None,
        typer.Option("--corpus", help="A folder with notes.jsonl and labels.jsonl, as 'bench make-corpus' makes them."),
    ] = None,
    notes: Annotated[
        list[Path] | None, typer.Option("--notes", help="In place of --corpus: files or folders of notes.")
    ] = None,
    labels: Annotated[
        Path | None, typer.Option("--labels", help='With --notes: JSONL of {"patient_id", "match", "ambiguous"}.')
    ] = None,
    kb: Annotated[
        Path | None, typer.Option("--kb", help="A knowledge base of these notes, where there is one already.")
    ] = None,
    systems: Annotated[
        str, typer.Option("--systems", metavar="NAME,...", help="Which systems; by default all that need no network.")
    ] = "",
    settings: Annotated[
        Path | None, typer.Option("--settings", metavar="FILE", help="A TOML file of systems, in place of the shipped.")
    ] = None,
    tune_notes: Annotated[
        list[Path] | None,
        typer.Option("--tune-notes", help="Notes of other patients, to choose the cut of retrievers on."),
    ] = None,
    tune_labels: Annotated[Path | None, typer.Option("--tune-labels", help="The labels of --tune-notes.")] = None,
    only: Annotated[str, typer.Option("--queries", metavar="ID,...", help="Only these queries of the bank.")] = "",
    paraphrases: Annotated[
        bool, typer.Option("--paraphrases/--no-paraphrases", help="Also ask other wordings, for consistency.")
    ] = True,
    workers: Annotated[int, typer.Option(min=1, help="Processes that read notes.")] = 1,
    alpha: Annotated[int | None, typer.Option(min=1, help="Smallest gold cohort of a broad query.")] = None,
    beta: Annotated[int | None, typer.Option(min=1, help="Smallest gold cohort of a narrow query.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the intervals, and of a corpus made here.")] = 0,
    again: Annotated[bool, typer.Option("--retry-failed", help="Ask again what failed in the run so far.")] = False,
    listed: Annotated[
        int, typer.Option("--errors", min=0, help="Errors of a kind listed for each system and query.")
    ] = 5,
    with_text: Annotated[
        bool, typer.Option("--with-text", help="Put the text of the quoted notes into the reports (health data!).")
    ] = False,
    output: NoRowsOption = Format.TABLE,
    json_out: OutOption = None,
    html_out: Annotated[
        Path | None, typer.Option("--html", metavar="OUT", help="Also write the page here (it is in --out as well).")
    ] = None,
) -> None:
    """Ask every system every question of the ACR bank, and score them side by side.

    Without --corpus or --notes a small fictional corpus is made in the folder of the run first. A system whose reader
    or encoder is an endpoint SENDS TEXT OF CLINICAL NOTES to it: it is asked only when named, and only where
    COHORTIUM_LLM_SEND_NOTES or COHORTIUM_EMBEDDING_SEND_NOTES says that it may have them. See docs/guide/benchmark.md.
    """
    from .run import Records, RunOptions, prepare, run_benchmark
    from .settings import SHIPPED, chosen, load_settings

    check_output(output, json_out, rows=False)
    check_output(output, html_out, rows=False)
    _check_sources(corpus, notes, labels, tune_notes, tune_labels)
    known = load_settings(settings or SHIPPED)
    wanted = chosen(known, filter(None, (name.strip() for name in systems.split(","))))
    asked = _questions(only, paraphrases)
    prepare(out)
    if corpus is None and not notes:
        corpus = _small_corpus(out / "corpus", seed, workers)
    records = _records(corpus, notes, labels)
    terms = Terms(alpha, beta, seed)
    try:
        terms.bounds(len(records.labels.patients))
    except ValueError as error:
        raise UsageError(str(error)) from error
    tuned_on = Records.load("tuning", tune_notes, tune_labels) if tune_notes and tune_labels else None
    tuning = None if tuned_on is None else (tuned_on.corpus, tuned_on.labels)
    from .workshop import Workshop

    with Workshop(out, records.corpus, known=known, kb=kb, workers=workers, tuning=tuning) as workshop:
        options = RunOptions(terms, again, listed, with_text)
        report = run_benchmark(out, records, wanted, asked, workshop, options)
    write_text_privately(out / "report.json", json_text(report))
    from .report.page import page

    html = page(report)
    write_text_privately(out / "report.html", html)
    if html_out is not None:
        write_text_privately(html_out, html)
    from .report.tables import print_report

    answer(report, output=output, out=json_out, as_table=lambda: print_report(report))
    print(f"reports: {out / 'report.html'}, {out / 'report.json'}", file=sys.stderr)


def _check_sources(
    corpus: Path | None,
    notes: list[Path] | None,
    labels: Path | None,
    tune_notes: list[Path] | None,
    tune_labels: Path | None,
) -> None:
    if corpus is not None and (notes or labels):
        raise UsageError("--corpus holds notes and labels. Hint: leave out --notes and --labels")
    if bool(notes) != (labels is not None):
        raise UsageError("--notes and --labels belong together")
    if bool(tune_notes) != (tune_labels is not None):
        raise UsageError("--tune-notes and --tune-labels belong together")


def _records(corpus: Path | None, notes: list[Path] | None, labels: Path | None) -> Records:
    """The notes and labels of a corpus, or those that were named one by one."""
    from .run import Records

    if corpus is not None:
        return Records.load(f"corpus {corpus.name}", [corpus / "notes.jsonl"], corpus / "labels.jsonl")
    assert notes  # one of the two ways gives both
    assert labels is not None
    return Records.load(", ".join(path.name for path in notes), notes, labels)


# Each parameter of a command is an option of it.
def make_corpus(
    folder: Annotated[Path, typer.Argument(help="Where to write notes.jsonl, facts.jsonl, gold.jsonl, labels.jsonl.")],
    patients: Annotated[int, typer.Option(min=1, help="How many patients.")] = PATIENTS,
    documents: Annotated[
        int | None,
        typer.Option(
            min=1, help="At most so many notes: visits that tell nothing new are left out. [115,865 at full size]"
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same corpus, byte by byte.")] = 0,
    length: Annotated[float, typer.Option(min=0.1, help="Makes notes of the first hand longer or shorter.")] = 1.0,
    hand: Annotated[str, typer.Option(help="Whose words and layouts: first, or second (another author's).")] = "first",
    workers: Annotated[int, typer.Option(min=1, help="Processes that write notes.")] = 1,
    output: NoRowsOption = Format.TABLE,
    json_out: OutOption = None,
) -> None:
    """Make a fictional corpus: simulated clinical courses, told in notes of many styles, with gold facts and labels."""
    from ..made_up.synthetic.corpus_files import write_corpus

    check_output(output, json_out, rows=False)
    sums = write_corpus(
        folder,
        patients=patients,
        documents=documents,
        seed=seed,
        length=length,
        hand=hand,
        workers=workers,
        command=command_line(),
    )
    answer(sums, output=output, out=json_out, as_table=lambda: _print_sums(sums, folder))


def _print_sums(sums: dict[str, Any], folder: Path) -> None:
    counts, words = sums["counts"], sums["words"]
    print(
        f"{folder}: {counted(counts['patients'], 'fictional patient')}, {counted(counts['documents'], 'note')}, "
        f"{counted(counts['facts'], 'fact')}; {words['mean']:.0f} words a note (half of them {words['p50']} or less)"
    )
    rows = [(name, file["bytes"], file["sha256"]) for name, file in sums["files"].items()]
    print_table(("file", "bytes", "SHA-256"), rows)


def _questions(only: str, paraphrases: bool) -> Any:
    from .questions import bank_questions, other_wordings

    try:
        ids = [int(word) for word in filter(None, (word.strip() for word in only.split(",")))]
        asked = bank_questions(ids)
    except ValueError as error:
        raise UsageError(f"--queries: {error}. Hint: give ids of the bank, for example 57,58") from error
    return (*asked, *other_wordings(ids)) if paraphrases else asked


def _small_corpus(folder: Path, seed: int, workers: int) -> Path:
    from ..made_up.synthetic.corpus_files import write_corpus

    patients, documents = SMALL
    write_corpus(folder, patients=patients, documents=documents, seed=seed, workers=workers, command=command_line())
    return folder


COMMANDS: Final[tuple[tuple[str, Callable[..., None]], ...]] = (
    ("acr", acr),
    ("make-corpus", make_corpus),
)
