"""A knowledge base is a directory of immutable generations: one pointer, one writer, any number of readers."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from cohortium.kb.errors import CohortiumError, DamagedKb, LockedError, MissingKb, NotWritable, SchemaVersionError
from cohortium.kb.model import Journey, World
from cohortium.kb.ontology.concepts import ConceptTable
from cohortium.kb.ontology.scales import Scales
from cohortium.kb.storage.layout import SCHEMA_VERSION, Layout
from cohortium.kb.storage.reader import KnowledgeBase
from cohortium.kb.storage.writer import GenerationWriter
from tests.kb.told_again import tell_digests

Write = Callable[[list[Journey]], str]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the kb stands; the name has characters that a careless SQL text would stumble over."""
    return tmp_path / "patient's notes; 50%.kb"


@pytest.fixture
def write(path: Path, concepts: ConceptTable, scales: Scales) -> Write:
    """Write a generation with some journeys; returns its id."""

    def writing(journeys: list[Journey]) -> str:
        with GenerationWriter(path, concepts=concepts, scales=scales) as writer:
            writer.add(journeys)
            return writer.finish()

    return writing


def test_a_second_writer_is_refused(write: Write, path: Path, concepts: ConceptTable, scales: Scales) -> None:
    """While one writer is at work a second gets LockedError (exit 7); afterwards the way is free."""
    with GenerationWriter(path, concepts=concepts, scales=scales):
        with pytest.raises(LockedError, match="Another process is writing") as caught:
            write([])
        assert caught.value.exit_code == 7
    write([])


def test_another_process_holds_the_lock(path: Path, write: Write, journeys: list[Journey]) -> None:
    """The lock holds between processes, and a killed writer leaves neither a lock nor a trace."""
    first = write(journeys)
    program = f"""
        import sys, time
        from cohortium.kb.storage.writer import GenerationWriter
        with GenerationWriter({str(path)!r}):
            print("writing", flush=True)
            time.sleep(60)
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "writing\n"
        with pytest.raises(LockedError):
            write(journeys[1:])
        process.kill()
    assert (path / "building").exists()
    assert KnowledgeBase.open(path).generation == first
    second = write(journeys[1:])
    assert KnowledgeBase.open(path).generation == second
    assert not (path / "building").exists()


def test_an_aborted_writer_changes_nothing(
    write: Write, path: Path, journeys: list[Journey], concepts: ConceptTable, scales: Scales
) -> None:
    """An exception while journeys come in leaves the old generation current and nothing half-built behind."""

    def failing() -> Iterator[Journey]:
        yield journeys[1]
        raise RuntimeError("the reader broke")

    first = write(journeys[:1])
    writer = GenerationWriter(path, concepts=concepts, scales=scales)
    with pytest.raises(RuntimeError), writer:
        writer.add(failing())
    with KnowledgeBase.open(path) as kb:
        assert kb.generation == first
        assert kb.patients == ("P2",)
        assert kb.info()["generations"] == [first]
    assert sorted(entry.name for entry in path.iterdir()) == ["CURRENT", "generations", "writer.lock"]


def test_a_writer_that_does_not_finish_changes_nothing(path: Path, concepts: ConceptTable, scales: Scales) -> None:
    """Leaving the writer without finish publishes nothing."""
    with GenerationWriter(path, concepts=concepts, scales=scales) as writer:
        writer.add([Journey("P1")])
    with pytest.raises(MissingKb):
        KnowledgeBase.open(path)


def test_readers_keep_their_generation(write: Write, path: Path, journeys: list[Journey]) -> None:
    """An open kb answers as before while a new generation is written; opening again shows the new one."""
    write(journeys[:1])
    with KnowledgeBase.open(path) as before:
        write(journeys[:2])
        assert before.journey("P2") == journeys[0]
        assert len(before.patients) == 1
        with KnowledgeBase.open(path) as after:
            assert len(after.patients) == 2


def test_old_generations_go_at_the_next_write(write: Write, path: Path, journeys: list[Journey]) -> None:
    """The current and the previous generation stay; older ones are removed by the write that comes next."""
    ids = [write(journeys[:number]) for number in (1, 2, 3, 4)]
    kept = {entry.name for entry in (path / "generations").iterdir()}
    assert kept == set(ids[1:])
    assert (path / "CURRENT").read_text() == f"{ids[3]}\n"


def test_equal_content_is_no_new_generation(write: Write, path: Path, journeys: list[Journey]) -> None:
    """Writing the same again keeps the one generation there is."""
    assert write(journeys) == write(journeys)
    assert len(list((path / "generations").iterdir())) == 1


def test_files_are_private(write: Write, path: Path, journeys: list[Journey]) -> None:
    """Directories are 0700 and files 0600: notes are nobody else's to read."""
    write(journeys[:1])
    write(journeys)
    assert path.stat().st_mode & 0o777 == 0o700
    for entry in path.rglob("*"):
        assert entry.stat().st_mode & 0o777 == (0o700 if entry.is_dir() else 0o600), entry.name


def test_no_kb_here(tmp_path: Path) -> None:
    """A path without a kb, an empty directory and a file are told apart, each with what to do."""
    file = tmp_path / "file"
    file.touch()
    for path, what in ((tmp_path / "nothing", "does not exist"), (tmp_path, "holds none"), (file, "is a file")):
        with pytest.raises(MissingKb, match=f"{what}.*cohortium ingest") as caught:
            KnowledgeBase.open(path)
        assert caught.value.exit_code == 2


def test_a_kb_of_another_schema_version(write: Write, path: Path, journeys: list[Journey]) -> None:
    """The error (exit 6) names the version found, the version expected, and what to do."""
    manifest = path / "generations" / write(journeys) / "manifest.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "schema_version": 99}))
    with pytest.raises(
        SchemaVersionError, match=f"version 99;.*reads version {SCHEMA_VERSION}.*Hint: use the program"
    ) as caught:
        KnowledgeBase.open(path)
    assert caught.value.exit_code == 6


@pytest.mark.parametrize(
    "tampering", ["UPDATE manifest SET value = '99' WHERE name = 'schema_version'", "DROP TABLE manifest"]
)
def test_the_database_itself_tells_its_version(
    write: Write, path: Path, journeys: list[Journey], tampering: str
) -> None:
    """A database whose own manifest disagrees, or is not there, answers nothing."""
    database = path / "generations" / write(journeys) / "kb.duckdb"
    with duckdb.connect(str(database)) as connection:
        connection.execute(tampering)
    with pytest.raises(DamagedKb, match=r"kb\.duckdb is "):
        KnowledgeBase.open(path)
    tell_digests(path)
    with KnowledgeBase.open(path) as kb, pytest.raises(SchemaVersionError):
        kb.journey("P1")


def test_a_path_that_cannot_be_written(tmp_path: Path, concepts: ConceptTable, scales: Scales) -> None:
    """A kb below a file cannot be made: NotWritable (exit 2), with a hint."""
    (tmp_path / "file").touch()
    with pytest.raises(NotWritable, match=r"cannot be written: .*Hint") as caught:
        GenerationWriter(tmp_path / "file" / "kb", concepts=concepts, scales=scales).__enter__()
    assert caught.value.exit_code == 2
    assert isinstance(caught.value, CohortiumError)


def test_a_directory_of_other_things_is_refused(path: Path, write: Write) -> None:
    """A directory that holds something else does not become a kb, and keeps its mode; an empty one may."""
    path.mkdir(mode=0o755)
    (path / "thesis.txt").touch()
    with pytest.raises(NotWritable, match="holds other things"):
        write([])
    assert path.stat().st_mode & 0o777 == 0o755
    (path / "thesis.txt").unlink()
    write([])


def test_a_full_disk_is_told(path: Path, write: Write, concepts: ConceptTable, scales: Scales) -> None:
    """An input/output error of the database while writing becomes NotWritable, and the old generation stays."""
    first = write([])
    writer = GenerationWriter(path, concepts=concepts, scales=scales)
    with pytest.raises(NotWritable, match="is as it was before"), writer:
        raise duckdb.IOException("no space left on device")
    assert KnowledgeBase.open(path).generation == first


def test_a_database_cut_short_is_told(path: Path, write: Write, journeys: list[Journey]) -> None:
    """A truncated or overwritten database is DamagedKb (exit 10) with what tells more, never a traceback."""
    database = path / "generations" / write(journeys) / "kb.duckdb"
    whole = database.read_bytes()
    for damaged in (whole[:-5_000], whole[:100], b"", b"x" * len(whole)):
        database.write_bytes(damaged)
        with pytest.raises(DamagedKb, match=r"is damaged: kb\.duckdb .*'cohortium check") as caught:
            KnowledgeBase.open(path)
        assert caught.value.exit_code == 10
    for damaged in (b"{", b"[]", b"{}", b'{"version": 3}', b"\xff\xfe"):
        database.write_bytes(whole)
        database.with_name("manifest.json").write_bytes(damaged)
        with pytest.raises(DamagedKb, match=r"manifest\.json is n"):
            KnowledgeBase.open(path)
    (path / "CURRENT").write_bytes(b"\xff\n")
    with pytest.raises(DamagedKb, match="CURRENT"):
        KnowledgeBase.open(path)


def test_a_half_removed_generation_is_never_taken_for_a_whole_one(
    path: Path, write: Write, journeys: list[Journey]
) -> None:
    """What a generation of the same content lacks is not believed to be there: it is written anew."""
    first, second = write(journeys), write(journeys[:1])
    (path / "generations" / first / "kb.duckdb").unlink()
    assert write(journeys) == first
    with KnowledgeBase.open(path) as kb:
        assert len(kb.patients) == len(journeys)
    assert second in (path / "PREVIOUS").read_text()


def test_a_reader_follows_the_pointer(
    path: Path, write: Write, journeys: list[Journey], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two writes that end between reading the pointer and opening what it names make the reader look again."""
    write(journeys[:1])
    check, turns = Layout.check_schema, [3, 2]

    def slow(layout: Layout, generation: str) -> dict[str, Any]:
        while turns:
            write(journeys[: turns.pop()])
            write(journeys)
        return check(layout, generation)

    monkeypatch.setattr(Layout, "check_schema", slow)
    with KnowledgeBase.open(path) as kb:
        assert kb.patients == tuple(sorted(journey.patient_id for journey in journeys))
    assert not turns


def test_a_reader_answers_what_it_was_never_asked_before(
    write: Write, path: Path, journeys: list[Journey], concepts: ConceptTable
) -> None:
    """After three further writes an open kb answers from files that it had not looked at; closed, it is removed."""
    first = write(journeys[:2])
    with KnowledgeBase.open(path) as reader:
        for number in (3, 4, 5):
            write(journeys[:number])
        assert reader.generation == first
        assert list(reader.posting("diagnosis", "lung_cancer", World.POSSIBLE)) == [0, 1]
        assert reader.event_index.patients == 2
        assert reader.journey("P2") == journeys[0]
        assert sorted(row.id for row in reader.concepts.rows()) == sorted(row.id for row in concepts.rows())
        assert (path / "generations" / first).exists()
    write(journeys[:1])
    assert not (path / "generations" / first).exists()
