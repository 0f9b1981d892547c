"""What any command prints can be seen, whatever stands in notes, ids, names, files, questions and options.

Every command of the command line is run: on wrong words with hostile characters in all of them, and, where it reads a
knowledge base or a small file, on hostile ones of these, as a table and as csv. A new command is run on wrong words by
itself; one that reads a knowledge base must be added to :func:`runs`.
"""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import Result

from cohortium.__main__ import commands
from cohortium.eval.extraction.coral.review import COLUMNS as SHEET
from cohortium.kb.ontology.rows import COLUMNS as CONCEPT
from cohortium.kb.skin.escape import escaped_page

Command = Callable[..., Result]
Words = tuple[object, ...]

#: A title for the terminal, a colour in one byte, a line turned about, a letter that is not seen, a line of its own.
EVIL = "\x1b]0;PWNED\x07\x9b31m\u202e\u200b\nspoofed"
FORMULA = "=cmd|' /C calc'!A0"
LABEL = "PWNED"


def every_command() -> Iterator[tuple[str, Any]]:
    """The commands of the command line by their words, each with its parameters."""
    waiting = [("", typer.main.get_command(commands()))]
    while waiting:
        name, one = waiting.pop()
        inner = getattr(one, "commands", None)
        if inner is None:
            yield name, one
        else:
            waiting += [(f"{name} {word}".strip(), command) for word, command in inner.items()]


COMMANDS = dict(every_command())


def takes(name: str, option: str) -> bool:
    """Whether the command has the option, and it takes a value."""
    return any(option in one.opts and not getattr(one, "is_flag", False) for one in COMMANDS[name].params)


def assert_seen(result: Result) -> str:
    """Nothing of what was printed steers a terminal or is not seen, and no line is one that the data made up."""
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    told = result.stdout + result.stderr
    assert escaped_page(told) == told
    assert "\t" not in told
    # In a page a line end is a blank.
    assert told.startswith("<!doctype") or not any(line.startswith("spoofed") for line in told.split("\n"))
    return told


def lines(path: Path, *rows: object) -> Path:
    """A file of JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def table(path: Path, *rows: tuple[str, ...], delimiter: str = "\t") -> Path:
    """A table."""
    with path.open("w", newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows(rows)
    return path


PATIENT = f"P1{EVIL}"
TEXTS = (
    f"DIAGNOSIS{EVIL}:\nLung adenocarcinoma {EVIL} of the left upper lobe. EGFR L858R detected{EVIL}. "
    "No brain metastases.",
    f"She takes osimertinib{EVIL}. Her mother had breast\x1b[8m cancer. Stage IV lung cancer\u2028 since 2019.",
)


def notes(folder: Path) -> Path:
    """Notes of two patients whose every field is hostile, and records that are none."""
    rows = [
        {"patient_id": patient, "doc_id": f"D{number}{EVIL}", "date": "2020-02-03", "text": text, "title": f"T{EVIL}",
         "type": f"pathology{EVIL}"}
        for patient in (PATIENT, FORMULA)
        for number, text in enumerate(TEXTS)
    ]  # fmt: skip
    bad = [{"patient_id": f"P3{EVIL}", "doc_id": EVIL, "date": EVIL, "text": "x"}, {"patient_id": EVIL}]
    return lines(folder / f"notes{EVIL}.jsonl", *rows, *bad)


@pytest.fixture(scope="module")
def hostile(run: Command, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A folder, and in it a knowledge base whose name is hostile as well."""
    folder = tmp_path_factory.mktemp("hostile")
    kb = folder / f"kb{EVIL}"
    assert LABEL in assert_seen(run("ingest", notes(folder), "--kb", kb))
    assert json.loads(run("info", kb, "--format", "json").stdout)["patients"] == 2
    return folder, kb


QUERY = f"lung cancer /* {EVIL} */ and not metastasis to brain"


def runs(folder: Path, kb: Path) -> dict[str, list[Words]]:
    """Commands that read a knowledge base or something hostile, and how they are run."""
    asked = "lung cancer and not metastasis to brain"
    other = folder / "other"
    later = lines(folder / "later.jsonl", {"patient_id": PATIENT, "doc_id": EVIL, "text": "Lung cancer."})
    labels = lines(
        folder / "labels.jsonl",
        {"patient_id": PATIENT, "match": [1], "ambiguous": []},
        {"patient_id": f"Q{EVIL}", "match": [2], "ambiguous": []},
    )
    fact = {"kind": "diagnosis", "concept": f"ca{EVIL}", "attributes": {EVIL: EVIL}, "date": "2019"}
    facts = lines(folder / "facts.jsonl", {"patient_id": PATIENT, "facts": [fact, {"kind": EVIL}]}, {EVIL: 1})
    report = {"doc_id": f"1{EVIL}", "text": f"gout{EVIL}", "entities": [[0, 4, f"d{EVIL}", EVIL]]}
    reports = lines(folder / "reports.jsonl", report)
    marked = table(
        folder / "marked.tsv",
        ("line", "condition", "sentence", "negation", "temporality", "experiencer"),
        ("1", "rash", f"He has no RASH{EVIL.strip()}.".replace("\n", " "), "Affirmed", "Recent", "Patient"),
    )
    sheet = table(folder / "sheet.tsv", tuple(SHEET), tuple("" if one == "category" else f"x{EVIL}" for one in SHEET))
    trials = table(
        folder / "trials.csv",
        ("nct_id", "text", "tokens", "ner_tags"),
        (f"N1{EVIL}", f"gout{EVIL}", "['gout', '\x1b']", "['B-CONDITION', 'O']"),
        delimiter=",",
    )
    answers = table(
        folder / "answers.csv",
        ("nct_id", "ner_prediction_X_normalized"),
        (f"N1{EVIL}", "['B-EVIL\x1b', 'O']"),
        delimiter=",",
    )
    concepts = folder / "concepts"
    concepts.mkdir(exist_ok=True)
    row = {"id": "evil", "kind": "drug", "name": "evil\x1b[8m\u202e", "synonyms": "wicked\x07|bad\u200bly"}
    table(concepts / "added.tsv", tuple(CONCEPT), tuple(row.get(name, "") for name in CONCEPT))
    note = folder / f"note{EVIL}.txt"
    note.write_text(TEXTS[0])
    circe = folder / "circe.json"
    concept = {"CONCEPT_NAME": f"lung cancer{EVIL}", "CONCEPT_CODE": "1", "VOCABULARY_ID": EVIL, "CONCEPT_ID": 1}
    occurrence = {"ConditionOccurrence": {"CodesetId": 7, EVIL: 1}}
    sets = [{"id": 7, "name": EVIL, "expression": {"items": [{"concept": concept}]}}]
    circe.write_text(json.dumps({"PrimaryCriteria": {"CriteriaList": [occurrence]}, "ConceptSets": sets}))
    definitions = folder / "definitions.cql"
    definitions.write_text("let 'evil' be lung cancer;")
    return {
        "ingest": [(notes(folder), "--kb", folder / f"again{EVIL}"), (later, "--kb", other),
                   ("--abstraction", facts, "--kb", folder / f"facts{EVIL}")],
        "read": [(note, "--title", EVIL, "--type", EVIL), (note, "--steps"), (note, "--date", EVIL),
                 (note, "--brat", folder / "note.ann")],
        "info": [(kb,)],
        "query": [(kb, asked), (kb, asked, "--explain"), (kb, asked, "--rank", "--explain"), (kb, QUERY), (kb, EVIL),
                  (kb, f"'{EVIL}'"), (kb, asked, "--set", EVIL), (kb, asked, "--definitions", folder / EVIL),
                  (kb, "SELECT patient_id FROM patient", "--sql")],
        "ask": [(kb, "lung cancer patients"), (kb, f"frobnicated {EVIL} patients"), (kb, "advanced lung cancer")],
        "explain": [(kb, asked, PATIENT), (kb, asked, FORMULA), (kb, asked, EVIL)],
        "why-not": [(kb, "metastasis to brain", PATIENT), (kb, "diagnosis melanoma", FORMULA), (kb, asked, EVIL)],
        "funnel": [(kb, asked), (kb, QUERY)],
        "lint": [(kb, "lung cancer and not lung cancer"), (kb, QUERY), (kb, f"'lung cancer{EVIL}'")],
        "import-circe": [(circe,), (circe, "--kb", kb)],
        "sql": [(kb, "SELECT * FROM notes"), (kb, "SELECT * FROM note_texts"),
                (kb, f"SELECT 1 AS \"{EVIL}\", 2 AS \"{FORMULA}\""), (kb, f"SELECT {EVIL}")],
        "repl": [(kb,)],
        "report": [(kb, asked, "--html", folder / "page.html"), (kb, asked, "--html", "-")],
        "diff": [(other, kb, "lung cancer"), (kb, other, "lung cancer")],
        "verify": [(kb, asked, "--patient", PATIENT, "--keep", folder / "proofs.json"),
                   (kb, asked, "--patient", EVIL), (kb, asked, "--model", EVIL)],
        "export": [(kb, folder / f"out{EVIL}")],
        "restore": [(folder / f"out{EVIL}", "--kb", folder / f"back{EVIL}")],
        "check": [(kb, "--quick"), (f"{kb}@{EVIL}",)],
        "migrate": [(kb,)],
        "eval acr": [("--labels", labels, "--kb", kb, "--errors", "--html", folder / "acr.html")],
        "eval facts": [("--kb", kb, "--facts", facts), ("--kb", kb, "--facts", facts, "--misses", 9, "--dates")],
        "eval mednlp": [("--corpus", reports, "--predictions", reports)],
        "eval negex": [(marked, "--errors")],
        "eval ner": [("--corpus", trials, "--predictions", answers)],
        "eval ner-baseline": [("dictionary", "--corpus", trials, "--predictions-out", folder / "baseline.csv")],
        "eval variants": [("--corpus", folder / EVIL)],
        "eval coral": [("--gold", folder, "--answers", folder / "answers.jsonl", "--review", folder / "review.tsv")],
        "eval coral-review": [(sheet,)],
        "eval consistency": [("--kb", folder / EVIL)],
        "bench acr": [("--out", folder / EVIL, "--kb", kb, "--corpus", folder / EVIL)],
        "ontology show": [(EVIL,), ("evil", "--ontology", concepts)],
        "ontology search": [(EVIL,), ("evil", "--ontology", concepts)],
        "ontology path": [(EVIL, "erlotinib"), ("evil", "erlotinib", "--ontology", concepts)],
        "ontology lint": [(concepts,), (folder / EVIL,)],
        "ontology import": [("obo", folder / EVIL, "--out", folder / f"obo{EVIL}")],
    }  # fmt: skip


#: Commands that print counts and figures alone, whatever is counted.
QUIET = {"info", "migrate", "funnel", "eval mednlp", "eval ner", "eval ner-baseline", "eval coral"}
#: Commands that read no hostile file in a moment: they are run on wrong words alone.
WRONG_WORDS_ALONE = {
    "bench make-corpus",
    "bench make-kb",
    "train few",
    "train guideline",
    "train linker",
    "train ner",
    "train trust",
    "train zones",
}


def test_every_command_is_run(tmp_path: Path) -> None:
    """A new command stands in the table of runs, or is one of the few that cannot be."""
    assert {*runs(tmp_path, tmp_path / "kb"), *WRONG_WORDS_ALONE} == set(COMMANDS)


def wrong_words(name: str, folder: Path) -> Iterator[list[object]]:
    """A command line with hostile values for all that the command needs; one with a hostile option besides."""
    words: list[object] = name.split()
    for parameter in COMMANDS[name].params:
        value = folder / EVIL
        if parameter.param_type_name == "argument":
            words.append(value)
        elif parameter.required:
            words += [parameter.opts[0], value]
    # A place that cannot be written is told before anything is made.
    safe = ["--json", folder / EVIL / "out.json"] if takes(name, "--json") else []
    yield [*words, *safe]
    yield [*words, f"--{EVIL}"]
    yield [*words, "--format", EVIL]
    yield [*words, *safe, EVIL, EVIL]


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_wrong_words_are_told_visibly(run: Command, tmp_path: Path, name: str) -> None:
    """A hostile path, question, id, option or value is shown in the error, and its characters can be seen."""
    told = ""
    for words in wrong_words(name, tmp_path):
        result = run(*words, stdin="")
        if not isinstance(result.exception, SystemExit | None):
            assert str(result.exception).isprintable()
            continue
        assert result.exit_code != 0 or name == "train linker", words
        told += assert_seen(result)
    assert LABEL in told


#: Commands of every day; the others are run on hostile files by ``make test-all``.
DAILY = ("ingest", "read", "query", "ask", "explain", "why-not", "funnel", "sql", "repl", "report", "diff", "eval acr")


@pytest.mark.parametrize("output", ["table", "csv"])
def test_answers_about_hostile_notes_can_be_seen(run: Command, hostile: tuple[Path, Path], output: str) -> None:
    """In both formats that people look at; what is written besides is for its owner alone."""
    assert_all_seen(run, hostile, output, DAILY, 18)
    if output == "table":
        for name in ("page.html", "acr.html", "note.ann", "note.txt"):
            assert (hostile[0] / name).stat().st_mode & 0o7777 == 0o600, name
        for name in ("page.html", "acr.html"):
            page = (hostile[0] / name).read_text()
            assert escaped_page(page) == page
            assert LABEL in page


@pytest.mark.parametrize("output", ["table", "csv"])
def test_answers_of_all_other_commands_can_be_seen(run: Command, hostile: tuple[Path, Path], output: str) -> None:
    """The same of the commands that are rarer, or take longer."""
    assert_all_seen(run, hostile, output, tuple({*COMMANDS} - {*DAILY} - WRONG_WORDS_ALONE), 15)
    if output == "table":
        for name in ("proofs.json", "baseline.csv", "answers.jsonl", "review.tsv"):
            assert (hostile[0] / name).stat().st_mode & 0o7777 == 0o600, name


# What is run, on what, how, and what it must have written at least.
def assert_all_seen(
    run: Command, hostile: tuple[Path, Path], output: str, names: tuple[str, ...], at_least: int
) -> None:
    """Run these commands, and look at all that they print and keep."""
    folder, kb = hostile
    shown, files = set(), 0
    table_of_runs = {name: several for name, several in runs(folder, kb).items() if name in names}
    before = os.umask(0o022)
    try:
        for name, several in table_of_runs.items():
            for number, words in enumerate(several):
                kept = folder / f"{name}{number}.json"
                options = ["--json", kept] if takes(name, "--json") else []
                options += ["--format", output] if takes(name, "--format") else []
                stdin = f"lung cancer\n:explain {PATIENT.splitlines()[0]}\n? {EVIL}\n:journey {FORMULA}\n:{EVIL}\n"
                result = run(*name.split(), *words, *options, stdin=stdin)
                if LABEL in assert_seen(result):
                    shown.add(name)
                if output == "csv" and result.stdout.startswith("patient_id,"):
                    assert not any(line.startswith(("=", "@", "+")) for line in result.stdout.splitlines())
                if kept.exists():
                    files += 1
                    json.loads(kept.read_text())
                    assert escaped_page(kept.read_text()) == kept.read_text()
                    assert kept.stat().st_mode & 0o7777 == 0o600, name
    finally:
        os.umask(before)
    if output == "table":
        # All but those that print counts, in which nothing hostile is told.
        assert set(table_of_runs) - shown <= QUIET
        assert files >= at_least


def test_csv_of_hostile_ids_is_a_table_that_computes_nothing(run: Command, hostile: tuple[Path, Path]) -> None:
    """Each row is a line; with --raw every cell is as it was stored."""
    rows = list(csv.reader(io.StringIO(run("query", hostile[1], "lung cancer", "--format", "csv").stdout)))
    assert {row[0] for row in rows[1:]} == {f"'{FORMULA}", escaped_page(PATIENT).replace("\n", "\\n")}
    raw = run("query", hostile[1], "lung cancer", "--format", "csv", "--raw").stdout
    assert {row[0] for row in list(csv.reader(io.StringIO(raw)))[1:]} == {FORMULA, PATIENT}
    told = run("query", hostile[1], "lung cancer", "--format", "json", "--raw").stdout
    assert "\u202e" in told
    assert set(json.loads(told)["patients"]) == {FORMULA, PATIENT}


def test_on_a_terminal_only_our_own_colours_steer(hostile: tuple[Path, Path]) -> None:
    """A real terminal gets the colours of tables and errors, and no other control."""
    kb = hostile[1]
    for words in (["query", kb, "lung cancer", "--rank", "--explain"], ["query", kb, "lung cancer", f"--{EVIL}"]):
        reader, writer = pty.openpty()
        with subprocess.Popen([sys.executable, "-m", "cohortium", *words], stdout=writer, stderr=writer) as process:
            os.close(writer)
            told = b""
            while True:
                try:
                    told += (part := os.read(reader, 65536))
                except OSError:
                    break
                if not part:
                    break
        os.close(reader)
        text = re.sub(r"\x1b\[[0-9;]*m", "", told.decode()).replace("\r\n", "\n")
        assert process.returncode in (0, 2)
        assert LABEL in text
        assert escaped_page(text) == text
