"""The commands of acquisition: ``ingest`` (notes into a knowledge base) and ``read`` (one note, printed)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from ..kb.errors import NothingStored, UsageError
from ..kb.skin.streams import data_output
from ..kb.skin.terminal import Format, answer, check_output, counted, print_json, print_table, value_text

#: The model of the commands that read; the figures for it stand in docs/guide/learned_recognition.md.
DEFAULT_MODEL: Final = "none"
OntologyOption = Annotated[
    Path | None,
    typer.Option("--ontology", metavar="DIR", help="Know the concepts of this folder too (see 'ontology import')."),
]
NoteSeconds = Annotated[
    float | None,
    typer.Option(min=0, metavar="S", help="Processor time that one note may take (30; 0: any)."),
]
NoteCharacters = Annotated[
    int | None,
    typer.Option(min=0, metavar="N", help="How long one note may be, in characters (1000000; 0: any)."),
]
ModelOption = Annotated[
    str,
    typer.Option(
        "--model",
        metavar="DIR|shipped|llm|none",
        help="A model that proposes mentions which the rules lack. llm: the chat model of COHORTIUM_LLM_BASE_URL; SENDS"
        " NOTES to it, which COHORTIUM_LLM_SEND_NOTES=yes must allow.",
    ),
]


def parse_map(text: str) -> dict[str, str]:
    """``patient_id=subject_id,date=chartdate`` as {field of ours: name in the source}."""
    mapping: dict[str, str] = {}
    for pair in filter(None, (part.strip() for part in text.split(","))):
        field, equals, source = (part.strip() for part in pair.partition("="))
        if not equals or not source:
            raise UsageError(f"--map: '{pair}' is not of the form field=column, for example patient_id=subject_id")
        if mapping.get(field, source) != source:
            raise UsageError(f"--map: {field} is both '{mapping[field]}' and '{source}'. Hint: name one column for it")
        mapping[field] = source
    if text and not mapping:
        raise UsageError(f"--map: '{text}' names no field. Hint: write it as patient_id=subject_id,date=chartdate")
    return mapping


# Each option of the command is a parameter: so typer reads a command line.
def ingest(
    sources: Annotated[
        list[Path],
        typer.Argument(
            metavar="SOURCE...",
            help="JSONL, CSV, Parquet, FHIR R4 (JSON or NDJSON) or OMOP NOTE (CSV, Parquet, DuckDB) files, text files"
            " in folders, or folders of all these; see --abstraction.",
        ),
    ],
    kb: Annotated[Path, typer.Option("--kb", help="The knowledge base to write: a folder, made when missing.")],
    mapping: Annotated[
        str,
        typer.Option(
            "--map",
            metavar="FIELD=COLUMN,...",
            help="What our fields are called in the source; not with --abstraction.",
        ),
    ] = "",
    workers: Annotated[int, typer.Option(min=1, help="Processes that read notes; --abstraction has one.")] = 1,
    abstraction: Annotated[
        bool,
        typer.Option(
            "--abstraction",
            help="SOURCE is one file of clinical abstractions, not notes: JSONL of patient_id, facts. It makes a"
            " knowledge base of its own.",
        ),
    ] = False,
    ontology: OntologyOption = None,
    model: ModelOption = DEFAULT_MODEL,
    strict: Annotated[bool, typer.Option("--strict", help="Leave with 1 when anything is in quarantine.")] = False,
    note_seconds: NoteSeconds = None,
    note_characters: NoteCharacters = None,
    patient_notes: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="Notes that one patient may have (100000; 0: any)."),
    ] = None,
    dates: Annotated[
        str,
        typer.Option(
            metavar="month-first|day-first",
            help="How 5/2/2023 is read in all sources; a date of the other order goes to quarantine.",
        ),
    ] = "month-first",
    output: Annotated[Format, typer.Option("--format", help="How to print the sums; no rows for csv.")] = Format.TABLE,
    out: Annotated[Path | None, typer.Option("--json", metavar="OUT", help="Also write the sums here.")] = None,
) -> None:
    """Read notes, or a clinical abstraction, into a knowledge base."""
    from .many import ingest_notes, require_notes
    from .run.note_budget import budget_of

    # Before the run, and not after an hour of it.
    check_output(output, out, rows=False)
    if abstraction:
        if workers > 1:
            raise UsageError("--abstraction is read by one process. Hint: leave out --workers")
        if ontology is not None:
            raise UsageError("--abstraction reads with the shipped ontology. Hint: leave out --ontology")
        if model != DEFAULT_MODEL:
            raise UsageError("--abstraction reads facts, with no model. Hint: leave out --model")
        if dates != "month-first":
            raise UsageError("--abstraction reads dates that begin with the year alone. Hint: leave out --dates")
        ingest_abstraction(sources, kb, mapping, strict, output, out)
        return
    report = ingest_notes(
        sources,
        kb,
        mapping=parse_map(mapping),
        workers=workers,
        strict=strict,
        ontology=ontology,
        model=model,
        budget=budget_of(note_seconds, note_characters, patient_notes),
        dates=dates,
    )
    sums = report.as_dict()
    answer(sums, output=output, out=out, as_table=lambda: print_sums(sums, kb))
    require_notes(report, sources)


def ingest_abstraction(
    sources: list[Path], kb: Path, mapping: str, strict: bool, output: Format, out: Path | None
) -> None:
    """Read facts that people wrote down into a knowledge base of its own."""
    from ..kb.storage.layout import Layout
    from .abstraction.load import load_abstractions
    from .many import Quarantined

    if len(sources) != 1 or mapping:
        raise UsageError("--abstraction reads one file, as it is. Hint: leave out --map and any other source")
    if Layout(kb).current() is not None:
        raise UsageError(f"'{kb}' is there already. Hint: name a new place; facts are not joined to what it holds")
    loaded = load_abstractions(sources[0], kb)
    sums = loaded.as_dict() | {"unresolved_facts": [asdict(one) for one in loaded.unresolved]}
    answer(sums, output=output, out=out, as_table=lambda: print_loaded(sums, kb))
    if not sums["facts"]:
        raise NothingStored(f"there is no fact in {sources[0]}. Hint: a line is an object with patient_id and facts")
    if strict and loaded.bad:
        raise Quarantined(f"{counted(len(loaded.bad), 'record')} in quarantine (--strict)")


def print_loaded(sums: Mapping[str, Any], kb: Path) -> None:
    """Facts by kind: how many were resolved, and those that were not."""
    columns = ("facts", "resolved", "kind_only", "unresolved", "share")
    print_table(("kind", *columns), [(kind, *(row[one] for one in columns)) for kind, row in sums["by_kind"].items()])
    for bad in sums["bad"]:
        print(f"in quarantine: {bad['place']}: {bad['reason']}")
    print(
        f"{kb}: {counted(sums['patients'], 'patient')}, {counted(sums['facts'], 'fact')}, {sums['resolved']} resolved"
    )


def print_unresolved(facts: Sequence[Mapping[str, Any]]) -> None:
    """The facts that name nothing known, as they are written."""
    if facts:
        print_table(
            ("patient", "fact", "kind", "unresolved text"),
            [(one["patient_id"], one["number"], one["kind"], f"{one['concept']}: {one['value']}") for one in facts],
        )


def print_sums(sums: Mapping[str, Any], kb: Path) -> None:
    """Rows in = stored + unchanged + superseding + quarantined, the reasons of the last, and what stands now."""
    from .run.report import OUTCOMES

    print(
        f"{counted(sums['notes_in'], 'note')} in = " + " + ".join(f"{sums[outcome]} {outcome}" for outcome in OUTCOMES)
    )
    if sums["retracted"]:
        print(f"{sums['retracted']} of {sums['superseding']} superseding took a note back")
    if sums["quarantine"]:
        print_table(("where", "reason"), [(row["where"], row["reason"]) for row in sums["quarantine"]])
    if sums["quarantined"] > len(sums["quarantine"]):
        print(f"… and {sums['quarantined'] - len(sums['quarantine'])} more in quarantine")
    print_passed_over(sums["passed_over"])
    if "dates" in sums:
        print_dates(**sums["dates"])
    print_ids(sums.get("ids", {}))
    if "asked" in sums:
        from .models.chat.choice import sentence_of

        print(sentence_of(sums["asked"]))
    held = f"{counted(sums['patients'], 'patient')}, {counted(sums['events'], 'event')}"
    copied = f" ({sums['patients_read']} read, {sums['patients_copied']} as before)" if sums["patients_copied"] else ""
    print(f"{kb}: {held}{copied}, {sums['seconds']:.1f} s")


def print_dates(order: str, either: int) -> None:
    """How many dates were read in an order that they do not tell themselves, and how to read them in the other."""
    other = "day-first" if order == "month-first" else "month-first"
    print(f"{counted(either, 'note date')} like 5/2/2023 read {order}. Hint: --dates {other} if the source writes so")


def print_ids(told: Mapping[str, Any]) -> None:
    """What was made of ids that sources leave out, or write in several ways: ids are never joined without a word."""
    if unnamed := told.get("unnamed"):
        print(
            f"{counted(unnamed, 'note')} without a document id, known by what they say: a corrected text is a new note"
            ". Hint: --map doc_id=COLUMN if the source has one"
        )
    if blanks := told.get("blanks"):
        print(f"{counted(blanks, 'record')} with blanks around an id, read without them; the first: {told['where']}")
    if patients := told.get("patients"):
        print(
            f"{counted(patients, 'patient')} whose id is written with several blanks around it, or with and without"
            ", each taken for one. Hint: give them ids that differ, if they are not"
        )
    if documents := told.get("documents"):
        print(
            f"{counted(documents, 'document')} whose id is written in several ways, or is of several systems, with"
            " several texts, which are taken for versions of one. Hint: give them ids that differ, if they are not"
        )


def print_passed_over(told: Mapping[str, Any]) -> None:
    """What of the sources was not used, a line each: nothing is left out silently."""
    from .readers.told import words

    reasons = words()["reasons"]
    for code, number in told.get("files", {}).items():
        named = [row["where"] for row in told["listed"] if row["reason"] == reasons[code]]
        more = f", … {number - len(named)} more" if number > len(named) else ""
        print(f"passed over: {reasons[code]}: {', '.join(named)}{more}")
    if resources := told.get("resources"):
        print(
            "passed over: FHIR resources that bring no note: " + ", ".join(f"{n} {one}" for one, n in resources.items())
        )
    for row in told.get("columns", ()):
        alike = f" (and {counted(row['sources'] - 1, 'file')} like it)" if row["sources"] > 1 else ""
        more = f", … {row['number'] - len(row['columns'])} more" if row["number"] > len(row["columns"]) else ""
        hint = f". Hint: {row['hint']}" if "hint" in row else ""
        print(f"columns not used: {row['where']}{alike}: {', '.join(row['columns'])}{more}{hint}")
    for hint in told.get("hints", ()):
        print(f"Hint: {hint}")


# Each option of the command is a parameter: so typer reads a command line.
def read(
    note: Annotated[str, typer.Argument(metavar="NOTE.txt|-", help="A text file, or - for standard input.")],
    date: Annotated[str, typer.Option("--date", metavar="YYYY-MM-DD", help="The note's own date.")] = "",
    title: Annotated[str, typer.Option(help="The note's title.")] = "",
    type_: Annotated[str, typer.Option("--type", help="The note's type, for example 'pathology'.")] = "",
    ontology: OntologyOption = None,
    model: ModelOption = DEFAULT_MODEL,
    as_json: Annotated[bool, typer.Option("--json", help="Print mentions and relations as JSON.")] = False,
    brat: Annotated[
        str,
        typer.Option(
            metavar="OUT.ann|-",
            help="Write brat annotations here, with the text and annotation.conf beside; - prints the annotations.",
        ),
    ] = "",
    steps: Annotated[
        bool, typer.Option("--steps", help="Print what each step of the reading adds (+), changes (~) and removes (-).")
    ] = False,
    note_seconds: NoteSeconds = None,
    note_characters: NoteCharacters = None,
    output: Annotated[Format, typer.Option("--format", help="How to print; there are no rows for csv.")] = Format.TABLE,
) -> None:
    """Read one note and print what it says: mentions with their context, and relations."""
    if steps and brat:
        raise UsageError("--steps prints no annotations. Hint: leave out --brat")
    if brat and (as_json or output is not Format.TABLE):
        raise UsageError("--brat writes annotations and prints no mentions. Hint: leave out --json and --format")
    check_output(output, None, rows=False)
    text = note_text(note)

    from .models.tagging.choice import chosen_model
    from .run.note_budget import budget_of, one_note
    from .single import read as read_one
    from .single import read_steps

    learned = chosen_model(model)
    budget = budget_of(note_seconds, note_characters)
    if steps:
        with one_note(budget, text):
            changes = read_steps(text, date, title, type_, ontology=ontology, model=learned)
        traced = {"steps": [asdict(one) for one in changes]}
        shown = Format.JSON if as_json else output
        answer(traced, output=shown, out=None, as_table=lambda: print_steps(traced["steps"]))
        return
    document = read_one(
        text,
        date,
        title,
        type_,
        ontology=ontology,
        model=learned,
        note_seconds=budget.seconds,
        note_characters=budget.characters,
    )
    if learned is not None and (asked := learned.asked()):
        from .models.chat.choice import sentence_of

        print(sentence_of(asked), file=sys.stderr)
    if brat == "-":
        data_output().write(document.to_brat())
        return
    if brat:
        from .coral_schema.brat_folder import save

        for path in save(document.standoff(), brat):
            print(path)
        return
    found = document.as_dict()
    if as_json:
        print_json(found)
        return
    answer(found, output=output, out=None, as_table=lambda: print_mentions(found))


def note_text(place: str) -> str:
    """The text of a file, or of standard input for ``-``; UTF-8, the line ends as they are."""
    from .readers.records import LONGEST_TEXT

    try:
        if place == "-":
            data = sys.stdin.buffer.read(4 * LONGEST_TEXT + 1)
        else:
            with Path(place).open("rb") as stream:
                data = stream.read(4 * LONGEST_TEXT + 1)
    except OSError as error:
        raise UsageError(f"cannot read '{place}': {error.strerror}") from error
    if len(data) > 4 * LONGEST_TEXT:
        raise UsageError(f"'{place}' is longer than a note, which has at most {LONGEST_TEXT:,} characters")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        named = "standard input" if place == "-" else f"'{place}'"
        raise UsageError(
            f"{named} is not UTF-8 (byte {error.start}). Hint: convert it, for example with iconv -t utf-8"
        ) from error


def print_mentions(found: Mapping[str, Any]) -> None:
    """One line a mention."""
    columns = ("start", "text", "label", "name", "assertion", "experiencer", "attributes")
    rows = []
    for mention in found["mentions"]:
        attributes = ", ".join(f"{name}={value_text(value)}" for name, value in mention.get("attributes", {}).items())
        rows.append((*(mention.get(column) for column in columns[:-1]), attributes))
    print_table(columns, rows)
    print(f"{counted(len(found['mentions']), 'mention')}, {counted(len(found['relations']), 'relation')}")


def print_steps(traced: Sequence[Mapping[str, Any]]) -> None:
    """One line a change, below the step that made it; steps that changed nothing by their name alone."""
    rows: list[tuple[object, ...]] = []
    for step in traced:
        head = (step["number"], step["name"])
        changes: Sequence[Mapping[str, Any]] = step["changes"] or ({},)
        for change in changes:
            attributes = ", ".join(f"{name}={value_text(one)}" for name, one in change.get("attributes", {}).items())
            cells = (change.get(column) for column in ("sign", "what", "text", "kind", "concept"))
            rows.append((*head, *cells, attributes))
            head = ("", "")
    print_table(("step", "name", "", "what", "text", "kind", "concept", "attributes"), rows)


COMMANDS: Final[tuple[tuple[str, Callable[..., None]], ...]] = (("ingest", ingest), ("read", read))
