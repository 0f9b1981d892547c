"""The Python API as a notebook meets it: wrong arguments, equality, what objects show of themselves, evidence."""

from __future__ import annotations

import html.parser
import inspect
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import cohortium
from cohortium.engine.answers.evidence_rows import COLUMNS
from cohortium.engine.api import OpenKb
from cohortium.kb.errors import NothingStored, UsageError
from cohortium.kb.model import World
from cohortium.kb.skin.notebook import small_table

NOTES = (
    '{"patient_id": "P1", "doc_id": "a", "date": "2020-03-04", "text": "Lung cancer. HER2 negative."}\n'
    '{"patient_id": "P2", "doc_id": "b", "date": "2021-03-04", "text": "Lung cancer. Started osimertinib."}\n'
    '{"patient_id": "<b>P3</b>", "doc_id": "c", "date": "2021-03-04", "text": "Breast cancer, possible pneumonia."}\n'
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A knowledge base that Python made."""
    folder = tmp_path_factory.mktemp("api")
    (folder / "notes.jsonl").write_text(NOTES, encoding="utf-8")
    report = cohortium.ingest(folder / "notes.jsonl", kb=folder / "kb", progress=False)
    assert (report.notes_in, report.stored, report.patients, report.balanced) == (3, 3, 3, True)
    return folder / "kb"


@pytest.fixture(scope="module")
def kb(place: Path) -> Iterator[OpenKb]:
    """The same, open."""
    with cohortium.open(place) as opened:
        yield opened


# --- wrong arguments --------------------------------------------------------------------------------------------------

#: Public call -> what is called with a value, and which values are right for it (they are not tried).
CALLS: dict[str, tuple[Callable[[OpenKb, Any], Any], tuple[Any, ...]]] = {
    "open(path)": (lambda kb, value: cohortium.open(value), ()),
    "ingest(source)": (lambda kb, value: cohortium.ingest(value, kb="x", progress=False), ()),
    "ingest(kb)": (lambda kb, value: cohortium.ingest("notes.jsonl", kb=value, progress=False), ()),
    "read(text)": (lambda kb, value: cohortium.read(value), ()),
    "read(date)": (lambda kb, value: cohortium.read("ECOG 1.", date=value), (None,)),
    "read_brat(path)": (lambda kb, value: cohortium.read_brat(value), ()),
    "restore(folder)": (lambda kb, value: cohortium.restore(value, "x"), ()),
    "restore(kb_path)": (lambda kb, value: cohortium.restore("x", value), ()),
    "from_circe(source)": (lambda kb, value: cohortium.from_circe(value), ()),
    "verify(kb)": (lambda kb, value: cohortium.verify(value, "death"), ()),
    "verify(query)": (lambda kb, value: cohortium.verify(kb, value), ()),
    "verify(patients)": (lambda kb, value: cohortium.verify(kb, "death", value), (None,)),
    "verify(world)": (lambda kb, value: cohortium.verify(kb, "death", world=value), ()),
    "find(query)": (lambda kb, value: kb.find(value), ()),
    "find(parameters)": (lambda kb, value: kb.find("death", value), (None,)),
    "find(definitions)": (lambda kb, value: kb.find("death", definitions=value), ()),
    "find(cohorts)": (lambda kb, value: kb.find("death", cohorts=value), (None,)),
    "lint(query)": (lambda kb, value: kb.lint(value), ()),
    "diff(old)": (lambda kb, value: kb.diff(value, "death"), ()),
    "diff(query)": (lambda kb, value: kb.diff(kb, value), ()),
    "diff(world)": (lambda kb, value: kb.diff(kb, "death", world=value), ()),
    "find_circe(source)": (lambda kb, value: kb.find_circe(value), ()),
    "find_sql(text)": (lambda kb, value: kb.find_sql(value), ()),
    "sql(statement)": (lambda kb, value: kb.sql(value), ()),
    "sql(limit)": (lambda kb, value: kb.sql("SELECT 1", limit=value), (None, 3, True)),
    "sql(seconds)": (lambda kb, value: kb.sql("SELECT 1", seconds=value), (3, 2.5, True)),
    "ask(question)": (lambda kb, value: kb.ask(value), ()),
    "ask(definitions)": (lambda kb, value: kb.ask("death", definitions=value), ()),
    "dialogue(definitions)": (lambda kb, value: kb.dialogue(value), ()),
    "journey(patient_id)": (lambda kb, value: kb.journey(value), ()),
    "export(folder)": (lambda kb, value: kb.export(value), ()),
    "explain(patient_id)": (lambda kb, value: kb.find("death").explain(value), ()),
    "why_not(patient_id)": (lambda kb, value: kb.find("death").why_not(value), ()),
    "prove(patient_id)": (lambda kb, value: kb.find("death").prove(value), ()),
    "certainty(patient_id)": (lambda kb, value: kb.find("death").certainty(value), ()),
    "evidence(patients)": (lambda kb, value: kb.find("death").evidence(value), (None,)),
    "in_world(world)": (lambda kb, value: kb.find("death").in_world(value), ()),
    "rank(top)": (lambda kb, value: kb.find("death").rank(value), (None, 3, True)),
    "report(limit)": (lambda kb, value: kb.find("death").report(value), (None, 3, True)),
}
WRONG = (None, 3, 2.5, True, b"death", object())


@pytest.mark.parametrize("call", CALLS)
def test_an_argument_of_a_wrong_type_is_told(kb: OpenKb, call: str) -> None:
    """Whatever it is: the error names the argument, what came and what is taken, and is no TypeError of the inside."""
    made, right = CALLS[call]
    name = call.partition("(")[2].rstrip(")")
    for value in WRONG:
        if any(value is one or (value == one and value is not None) for one in right):
            continue
        with pytest.raises(UsageError, match=rf"^'{name}' is .*Hint: it takes "):
            made(kb, value)


def test_every_public_call_is_in_the_table() -> None:
    """A call that is added later is tried with wrong arguments, too."""
    tried = {call.partition("(")[0] for call in CALLS}
    functions = {name for name in cohortium.__all__ if name.islower() and not name.startswith("_")}
    methods = {
        name
        for owner in (OpenKb, cohortium.Cohort)
        for name, method in inspect.getmembers(owner, inspect.isfunction)
        if not name.startswith("_") and len(inspect.signature(method).parameters) > 1
    }
    assert functions | methods <= tried


def test_the_text_of_one_patient_is_no_list_of_them(kb: OpenKb) -> None:
    """Its letters would be taken for patients."""
    with pytest.raises(UsageError, match="patient ids, as a list"):
        kb.find("lung cancer").evidence("P1")


# --- equality ---------------------------------------------------------------------------------------------------------


def test_equal_cohorts(kb: OpenKb, place: Path) -> None:
    """The same patients, in the same world of the same state: whatever the query says, and opened twice as well."""
    lung = kb.find("lung cancer")
    assert lung == kb.find("diagnosis 'lung cancer' or osimertinib")
    assert lung != kb.find("breast cancer")
    assert lung != lung.possible, "another world is another question"
    assert lung != {"P1", "P2"}
    assert len({lung, kb.find("diagnosis 'lung cancer'"), kb.find("breast cancer")}) == 2
    with cohortium.open(place) as again:
        assert again.find("lung cancer") == lung
        assert hash(again.find("lung cancer")) == hash(lung)
    assert kb.find("death") == kb.find("death")
    assert hash(kb.find("death")) == hash(kb.find("death and lung cancer"))


# --- what objects show of themselves ----------------------------------------------------------------------------------


def test_representations(kb: OpenKb) -> None:
    """One line that says what it is and how many."""
    assert repr(kb) == f"<OpenKb kb: 3 patients, generation {kb.generation}>"
    assert repr(kb.ask("patients with lung cancer")).startswith("<Answer: 2 patients: ")
    assert repr(kb.ask("xyzzy of the plugh")).startswith("<Answer: declined: ")
    assert repr(kb.find("lung cancer")).startswith("<Cohort of 2 patients")


class _Tags(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("what", ["kb", "cohort", "answer", "declined", "journey"])
def test_tables_for_notebooks(kb: OpenKb, what: str) -> None:
    """Small tables in which every text is escaped: an id that looks like a tag is read as it is written."""
    shown: Any = {
        "kb": kb,
        "cohort": kb.find("breast cancer"),
        "answer": kb.ask("patients with breast cancer"),
        "declined": kb.ask("xyzzy <b>of</b> the plugh"),
        "journey": kb.journey("<b>P3</b>"),
    }[what]
    page = _Tags()
    page.feed(shown._repr_html_())
    assert page.seen <= {"div", "p", "table", "thead", "tbody", "tr", "th", "td"}
    assert what in ("kb", "declined") or "<b>P3</b>" in page.text


def test_a_small_table_shows_what_cannot_be_seen() -> None:
    """Controls and marks that turn a line about are escapes, as on a terminal."""
    assert "\x1b" not in small_table("a\x1b[31m", ("b",), [("c\u202e",)])
    assert "\u202e" not in small_table("a", ("b",), [("c\u202e",)])


# --- evidence ---------------------------------------------------------------------------------------------------------


def test_evidence_is_a_table(kb: OpenKb) -> None:
    """Each member has rows, and each quote stands in its note at its place."""
    cohort = kb.find("lung cancer and not osimertinib")
    table = cohort.evidence()
    assert tuple(table.column_names) == COLUMNS
    rows = table.to_pylist()
    assert {row["patient_id"] for row in rows} == set(cohort)
    assert [row["quote"] for row in rows if row["counts"]] == ["Lung cancer"]
    assert all(row["quote"] in row["sentence"] for row in rows)
    assert kb.find("death").evidence().num_rows == 0
    assert {row["patient_id"] for row in cohort.evidence(["P2"]).to_pylist()} == {"P2"}


# --- ingest from Python -----------------------------------------------------------------------------------------------


def test_ingest_says_what_went_wrong(tmp_path: Path) -> None:
    """Nothing stored is an error with its reasons; with ``strict`` a quarantined record is one, and the rest stored."""
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"patient_id": "P1"}\n', encoding="utf-8")
    with pytest.raises(NothingStored, match="no note of 1 could be stored: "):
        cohortium.ingest(bad, kb=tmp_path / "kb", progress=False)
    bad.write_text(bad.read_text(encoding="utf-8") + NOTES, encoding="utf-8")
    with pytest.raises(cohortium.CohortiumError, match="1 of 4 records in quarantine"):
        cohortium.ingest([bad], kb=tmp_path / "kb2", strict=True, progress=False)
    with cohortium.open(tmp_path / "kb2") as held:
        assert held.find("lung cancer").in_world(World.CERTAIN)


@pytest.mark.parametrize(
    "first", ["import cohortium.ingest.many", "cohortium.read('ECOG 1.')", "from cohortium import ingest", "pass"]
)
def test_ingest_can_be_called_whatever_was_imported_before(first: str) -> None:
    """The package of that name holds the function, and is called as one."""
    call = "try:\n    cohortium.ingest(None, kb='x')\nexcept cohortium.CohortiumError:\n    print('told')"
    code = f"import cohortium\n{first}\n{call}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "told\n"
