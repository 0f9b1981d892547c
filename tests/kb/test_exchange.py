"""Export and restore: the same generation, equal in every row; what is damaged, foreign or without text is refused."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyroaring import BitMap

from cohortium.kb.errors import CohortiumError, DamagedExport, LockedError, NotWritable, SchemaVersionError, UsageError
from cohortium.kb.exchange import export as export_module
from cohortium.kb.exchange.card import CARD, TEXT_COLUMNS, read_card
from cohortium.kb.exchange.export import export_tables
from cohortium.kb.exchange.restore import restore_tables
from cohortium.kb.model import Journey, World
from cohortium.kb.ontology.concepts import ConceptTable
from cohortium.kb.ontology.scales import Scales
from cohortium.kb.storage.layout import Layout
from cohortium.kb.storage.reader import KnowledgeBase
from cohortium.kb.storage.rows import QuarantinedRecord
from cohortium.kb.storage.writer import GenerationWriter
from tests.kb.conftest import Copied
from tests.kb.stored_tables import event_table

Rows = dict[str, list[tuple[object, ...]]]


@pytest.fixture
def kb(copied: Copied, tmp_path: Path, concepts: ConceptTable, scales: Scales, journeys: list[Journey]) -> Path:
    """A knowledge base with a row in every table."""

    def write(path: Path) -> None:
        with GenerationWriter(path, concepts=concepts, scales=scales, versions={"pipeline": "test"}) as writer:
            writer.add(journeys)
            writer.add_quarantine([QuarantinedRecord("notes.jsonl", "line 7", "bad", raw="words of a note")])
            writer.finish({"notes_in": 11, "stored": 10, "unchanged": 0, "superseding": 0, "quarantined": 1})

    return copied("exchange", write, tmp_path / "first.kb")


@pytest.fixture
def exported(copied: Copied, kb: Path, tmp_path: Path) -> Path:
    """Its export."""

    def write(folder: Path) -> None:
        with KnowledgeBase.open(kb) as opened:
            export_tables(opened, folder, progress=False)

    return copied("an [export] of * notes; it's 100%", write, tmp_path / "an [export] of * notes; it's 100%")


def rows(kb: Path) -> Rows:
    """All rows of all tables, in the order in which they are stored."""
    with KnowledgeBase.open(kb) as opened, duckdb.connect(str(opened.database), read_only=True) as database:
        names = [name for (name,) in database.execute("SELECT table_name FROM duckdb_tables()").fetchall()]
        return {name: database.table(name).fetchall() for name in names}


def test_a_restored_export_is_the_very_same_generation(kb: Path, exported: Path, tmp_path: Path) -> None:
    """The id, every row of every table in its order, every journey; and its own export has the same bytes."""
    restored, again = tmp_path / "second.kb", tmp_path / "again"
    card = restore_tables(exported, restored, progress=False)
    with KnowledgeBase.open(kb) as first, KnowledgeBase.open(restored) as second:
        assert card.generation == first.generation == second.generation
        assert list(first.journeys()) == list(second.journeys())
        assert first.info() == second.info()
        assert event_table(first) == event_table(second)
        assert (
            first.posting("diagnosis", "", World.CERTAIN) == second.posting("diagnosis", "", World.CERTAIN) != BitMap()
        )
        export_tables(second, again, progress=False)
    assert rows(kb) == rows(restored)
    assert all(rows(kb).values())
    names = sorted(path.name for path in exported.iterdir())
    assert names == sorted([CARD, *(f"{name}.parquet" for name in rows(kb))])
    assert {name: (exported / name).read_bytes() for name in names} == {
        name: (again / name).read_bytes() for name in names
    }


def test_the_files_are_their_owners_alone(kb: Path, exported: Path, tmp_path: Path) -> None:
    """The export and what is restored of it."""
    restored = tmp_path / "second.kb"
    restore_tables(exported, restored, progress=False)
    for folder in (exported, restored):
        for path in (folder, *folder.rglob("*")):
            assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


def test_any_program_reads_the_tables(exported: Path) -> None:
    """Each is a Parquet file of as many rows as the card tells."""
    for name, file in read_card(exported).tables.items():
        assert pq.read_metadata(exported / f"{name}.parquet").num_rows == file.rows


def test_row_groups_leave_no_trace(kb: Path, exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether a table is written at once or in pieces of three rows, nothing is lost and the order stays."""
    for name in ("_GROUP_ROWS", "_GROUP_ROWS_OF_TEXT"):
        monkeypatch.setattr(export_module, name, 3)
    with KnowledgeBase.open(kb) as opened:
        export_tables(opened, tmp_path / "pieces", progress=False)
    assert pq.read_metadata(tmp_path / "pieces" / "mention.parquet").num_row_groups > 1
    for path in exported.glob("*.parquet"):
        assert pq.read_table(path).equals(pq.read_table(tmp_path / "pieces" / path.name))


# --- without text ----------------------------------------------------------------------------------------------------


def test_without_text_no_words_of_notes_are_left(kb: Path, tmp_path: Path) -> None:
    """Neither the columns nor their words are in any file; the card says so, and a restore is refused."""
    folder = tmp_path / "shared"
    with KnowledgeBase.open(kb) as opened:
        words = [note.text for journey in opened.journeys() for note in journey.notes if note.text]
        card = export_tables(opened, folder, without_text=True, progress=False)
    assert card.without_text
    assert card.as_dict()["cannot"]
    for path in folder.glob("*.parquet"):
        table = pq.read_table(path)
        assert not set(TEXT_COLUMNS.get(path.stem, ())) & set(table.column_names)
        held = json.dumps(table.to_pylist(), default=str, ensure_ascii=False)
        assert not [word for word in [*words, "words of a note", "Pathology – δ"] if word in held]
    with pytest.raises(UsageError, match="without text"):
        restore_tables(folder, tmp_path / "second.kb", progress=False)
    assert not (tmp_path / "second.kb").exists()


# --- what is refused -------------------------------------------------------------------------------------------------


def rewritten(folder: Path, name: str, change: Callable[[pa.Table], pa.Table]) -> None:
    """Another table in the place of one, with a card that fits the new file."""
    import hashlib

    path = folder / f"{name}.parquet"
    table = change(pq.read_table(path))
    pq.write_table(table, path)
    card = json.loads((folder / CARD).read_text())
    data = path.read_bytes()
    card["tables"][name] |= {"rows": len(table), "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    (folder / CARD).write_text(json.dumps(card))


def with_card(change: Callable[[dict[str, object]], object]) -> Callable[[Path], None]:
    """A change of the card alone."""

    def apply(folder: Path) -> None:
        card = json.loads((folder / CARD).read_text())
        change(card)
        (folder / CARD).write_text(json.dumps(card))

    return apply


DAMAGE: dict[str, tuple[Callable[[Path], object], type[CohortiumError], str]] = {
    "a byte": (
        lambda folder: (folder / "event.parquet").write_bytes(
            (folder / "event.parquet").read_bytes()[:-200] + b"?" + (folder / "event.parquet").read_bytes()[-199:]
        ),
        DamagedExport,
        "event.parquet has another checksum",
    ),
    "a short file": (
        lambda folder: (folder / "note.parquet").write_bytes((folder / "note.parquet").read_bytes()[:-1]),
        DamagedExport,
        "note.parquet has .* bytes",
    ),
    "a missing file": (lambda folder: (folder / "patient.parquet").unlink(), DamagedExport, "patient.parquet"),
    "a torn card": (lambda folder: (folder / CARD).write_text('{"form": '), DamagedExport, "no JSON"),
    "an empty card": (with_card(lambda card: card.pop("tables")), DamagedExport, "lacks"),
    "no card": (lambda folder: (folder / CARD).unlink(), UsageError, "no export"),
    "a foreign card": (with_card(lambda card: card.pop("form")), UsageError, "not the card"),
    "a later schema": (with_card(lambda card: card.update(schema_version=999)), SchemaVersionError, "999"),
    "a missing table": (
        with_card(lambda card: card["tables"].pop("event")),  # type: ignore[attr-defined]
        DamagedExport,
        "tables are not those .*event",
    ),
    "another generation": (with_card(lambda card: card.update(generation="0" * 16)), DamagedExport, "its manifest"),
    "a lost row": (lambda folder: rewritten(folder, "event", lambda table: table.slice(1)), DamagedExport, "event"),
    "another patient": (
        lambda folder: rewritten(
            folder, "patient", lambda table: table.set_column(4, "digest", pa.array(["0"] * len(table)))
        ),
        DamagedExport,
        "not those of its manifest",
    ),
    "other columns": (
        lambda folder: rewritten(folder, "evidence", lambda table: table.drop(["position"])),
        DamagedExport,
        "evidence.parquet does not hold the table",
    ),
    "nothing where something must be": (
        lambda folder: rewritten(
            folder,
            "relation",
            lambda table: table.set_column(6, "rule", pa.array([None] * len(table), pa.string())),
        ),
        DamagedExport,
        "relation.parquet does not hold the table",
    ),
}


def first_cell(table: pa.Table, column: str, value: object) -> pa.Table:
    """The table with another value in the first row of a column."""
    at = table.column_names.index(column)
    cells = [value, *table.column(at).to_pylist()[1:]]
    return table.set_column(at, table.schema.field(at), pa.array(cells, table.schema.field(at).type))


#: Changes of rows that the digest of the content does not hold: table, column and another value, what it is found by.
FORGED = {
    "another kind": ("event", "kind", "procedure", "derive from them"),
    "a kind that is none": ("event", "kind", "rumour", "."),
    "another day": ("event", "low", 11_111, "."),
    "denied": ("event", "polarity", "negated", "."),
    "another patient's event": ("event", "patient", 2, "."),
    "another concept": ("event", "concept", "lung_cancer", "."),
    "more certain": ("event", "world", 0, "."),
    "other evidence": ("evidence", "mention_id", "f" * 16, "evidence whose"),
    "other words": ("mention", "text", "another drug", "."),
    "another place": ("mention", "span_start", 1, "."),
    "another attribute": ("event_attribute", "name", "grade", "."),
    "another value": ("event_attribute", "text", "pT4", "."),
    "another relation": ("relation", "head", "f" * 16, "."),
    "another decision": ("decision", "rule", "by_chance", "."),
}


@pytest.mark.parametrize("kind", FORGED)
def test_rows_that_were_changed_under_a_card_signed_again_are_refused(
    exported: Path, tmp_path: Path, kind: str
) -> None:
    """Sizes, checksums, rows and the digest of the content are right: the rows contradict each other."""
    table, column, value, told = FORGED[kind]
    before = pq.read_table(exported / f"{table}.parquet")
    assert before.column(column)[0].as_py() != value
    rewritten(exported, table, lambda rows: first_cell(rows, column, value))
    with pytest.raises(DamagedExport, match=f"do not hold together: .*{told}") as caught:
        restore_tables(exported, tmp_path / "second.kb", progress=False)
    assert "another drug" not in str(caught.value)
    assert not (tmp_path / "second.kb").exists()


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_or_foreign_export_is_refused(exported: Path, tmp_path: Path, kind: str) -> None:
    """With what and where, no word of a note, and no knowledge base is left."""
    damage, error, told = DAMAGE[kind]
    damage(exported)
    with pytest.raises(error, match=told) as caught:
        restore_tables(exported, tmp_path / "second.kb", progress=False)
    assert "Adenocarcinoma" not in str(caught.value)
    assert Layout(tmp_path / "second.kb").current() is None


def test_nothing_is_written_over(kb: Path, exported: Path, tmp_path: Path) -> None:
    """Neither a folder by an export nor a knowledge base by a restore; what was there stays."""
    before = {path.name: path.read_bytes() for path in exported.iterdir()}
    with KnowledgeBase.open(kb) as opened, pytest.raises(NotWritable, match="there already"):
        export_tables(opened, exported, progress=False)
    assert before == {path.name: path.read_bytes() for path in exported.iterdir()}
    with pytest.raises(UsageError, match="already"):
        restore_tables(exported, kb, progress=False)


def test_an_export_that_ends_early_leaves_nothing(kb: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does what a killed one left stand in the way of the next; while one is at work a second is refused."""

    def interrupted(*_: object) -> None:
        with KnowledgeBase.open(kb) as other, pytest.raises(LockedError):
            export_tables(other, tmp_path / "out", progress=False)
        raise KeyboardInterrupt

    before = sorted(path.name for path in tmp_path.iterdir())
    with KnowledgeBase.open(kb) as opened:
        with monkeypatch.context() as patched:
            patched.setattr(export_module, "write_card", interrupted)
            with pytest.raises(KeyboardInterrupt):
                export_tables(opened, tmp_path / "out", progress=False)
        assert sorted(path.name for path in tmp_path.iterdir()) == before
        (tmp_path / ".out.part" / "deep").mkdir(parents=True)
        export_tables(opened, tmp_path / "out", progress=False)
    assert (tmp_path / "out" / CARD).exists()
    assert not (tmp_path / ".out.part").exists()


def test_generations_are_named(tmp_path: Path, concepts: ConceptTable, scales: Scales, journeys: list[Journey]) -> None:
    """``KB@previous`` and ``KB@ID`` open a state that is kept; what is not kept is told, with what is."""
    path = tmp_path / "a@b.kb"
    ids = []
    for number in (2, 3):
        with GenerationWriter(path, concepts=concepts, scales=scales) as writer:
            writer.add(journeys[:number])
            ids.append(writer.finish())
        if number == 2:
            with pytest.raises(UsageError, match="no previous"):
                KnowledgeBase.open(f"{path}@previous")
    for name, generation, number in (
        (path, ids[1], 3),
        (f"{path}@previous", ids[0], 2),
        (f"{path}@{ids[0]}", ids[0], 2),
        (f"{path}@{ids[1][:8]}", ids[1], 3),
    ):
        with KnowledgeBase.open(name) as opened:
            assert (opened.generation, len(opened.patients), opened.path) == (generation, number, path)
    with pytest.raises(UsageError, match=ids[0]):
        KnowledgeBase.open(f"{path}@0000000000000000")
