"""What derives from the tables can be made again; a knowledge base of an older version is brought to this one."""

from __future__ import annotations

import shutil
from pathlib import Path

import duckdb
import pytest

from cohortium.kb.check.checking import check_kb
from cohortium.kb.check.repair import repair_index
from cohortium.kb.errors import DamagedIndex, DamagedKb, LockedError, MissingKb, SchemaVersionError, UsageError
from cohortium.kb.model import Journey
from cohortium.kb.ontology.concepts import ConceptTable
from cohortium.kb.ontology.scales import Scales
from cohortium.kb.storage.layout import DATABASE, INDEX, SCHEMA_VERSION, Layout
from cohortium.kb.storage.migrations import MIGRATIONS, migrate, migrate_back
from cohortium.kb.storage.reader import KnowledgeBase
from cohortium.kb.storage.writer import build_generation
from cohortium.kb.storage.writer_memory import SETTING
from tests.kb.kb_states import state_of
from tests.kb.old_versions import make_version_1
from tests.kb.told_again import tell_digests


@pytest.fixture
def kb(tmp_path: Path, concepts: ConceptTable, scales: Scales, journeys: list[Journey]) -> Path:
    """A knowledge base of five patients."""
    build_generation(tmp_path / "x.kb", journeys, concepts=concepts, scales=scales)
    return tmp_path / "x.kb"


def folder_of(kb: Path) -> Path:
    """The folder of the current generation."""
    layout = Layout(kb)
    return layout.generation(str(layout.current()))


def test_an_index_is_made_again(kb: Path, journeys: list[Journey]) -> None:
    """Without its index, or with a file of it cut short or changed, a knowledge base says so and how to repair it;
    repaired, it is as it was, and who had it open reads on."""
    whole = state_of(kb)
    for damage in ("gone", "short", "changed"):
        with KnowledgeBase.open(kb) as before:
            (file,) = (folder_of(kb) / INDEX).glob("events.bin")
            if damage == "gone":
                shutil.rmtree(folder_of(kb) / INDEX)
            else:
                data = file.read_bytes()
                file.unlink()
                file.write_bytes(data[:-1] if damage == "short" else bytes(len(data)))
                file.chmod(0o600)
            if damage != "changed":
                with pytest.raises(DamagedIndex, match=r"Hint: 'cohortium check .* --repair'"):
                    KnowledgeBase.open(kb)
            report = check_kb(kb)
            assert {finding.part for finding in report.findings} == {"index"}
            assert "--repair" in report.findings[-1].advice
            assert repair_index(kb) == whole["generation"]
            assert state_of(kb) == whole
            assert check_kb(kb).sound
            assert before.journey("P2") == journeys[0]


def test_what_cannot_be_repaired(kb: Path, tmp_path: Path) -> None:
    """Damaged tables, another writer at work, and a knowledge base that is not there are told."""
    with Layout(kb).writing(), pytest.raises(LockedError):
        repair_index(kb)
    with pytest.raises(MissingKb):
        repair_index(tmp_path / "nothing")
    assert not (tmp_path / "nothing").exists()
    with duckdb.connect(str(folder_of(kb) / DATABASE)) as database:
        database.execute("DROP TABLE event")
    with pytest.raises(DamagedKb, match="an index of it would not be sound"):
        repair_index(kb)
    tell_digests(kb)
    with pytest.raises(DamagedKb, match="cannot be made of its tables"):
        repair_index(kb)


def test_a_knowledge_base_of_version_1_is_brought_on(kb: Path, journeys: list[Journey]) -> None:
    """The error names the command; the tables and ids stay; doing it again does nothing."""
    new = state_of(kb)
    make_version_1(kb)
    old = str(Layout(kb).current())
    assert old != new["generation"]
    with pytest.raises(SchemaVersionError, match=r"has schema version 1.*Hint: 'cohortium migrate") as caught:
        KnowledgeBase.open(kb)
    assert caught.value.exit_code == 6
    done = migrate(kb)
    assert (done.before, done.after, done.generation_before) == (1, SCHEMA_VERSION, old)
    assert state_of(kb) == new
    assert check_kb(kb).sound
    with KnowledgeBase.open(kb) as opened:
        assert opened.journey("P2") == journeys[0]
    again = migrate(kb)
    assert (again.steps, again.generation) == ((), new["generation"])


def test_a_migration_is_taken_back(kb: Path) -> None:
    """Until the next write the generation before is there, and becomes current again; after that it cannot."""
    new = state_of(kb)["generation"]
    make_version_1(kb)
    old = Layout(kb).current()
    migrate(kb)
    assert migrate_back(kb).generation == old
    assert Layout(kb).current() == old
    assert migrate(kb).generation == new
    with pytest.raises(UsageError, match="no migration"):
        migrate_back(shutil.copytree(kb, kb.with_name("y.kb"), ignore=shutil.ignore_patterns(str(old), "PREVIOUS")))


def test_the_writers_memory_holds_for_all_who_write(kb: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repair and a migration keep to the setting as every writer does: what is no size is refused, and changes
    nothing."""
    monkeypatch.setenv(SETTING, "much")
    with pytest.raises(UsageError, match="is no size"):
        repair_index(kb)
    make_version_1(kb)
    before = Layout(kb).generations()
    with pytest.raises(UsageError, match="is no size"):
        migrate(kb)
    assert Layout(kb).generations() == before


def test_going_back_is_stopped_in_between(kb: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopped between the two pointers, it has gone back: the generation that was asked for is never the one that the
    next writer removes."""
    make_version_1(kb)
    old = Layout(kb).current()
    migrate(kb)
    point, pointed = Layout._point, []

    def stopped(layout: Layout, name: str, generation: str) -> None:
        if pointed:
            raise KeyboardInterrupt
        pointed.append(name)
        point(layout, name, generation)

    monkeypatch.setattr(Layout, "_point", stopped)
    with pytest.raises(KeyboardInterrupt):
        migrate_back(kb)
    with Layout(kb).writing():
        pass
    assert old in Layout(kb).generations()
    assert Layout(kb).current() == old


def test_other_versions_are_refused(kb: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A newer knowledge base, and one that no step leads on from, stay as they are."""
    make_version_1(kb)
    manifest = folder_of(kb) / "manifest.json"
    text = manifest.read_text()
    manifest.write_text(text.replace('"schema_version":1', f'"schema_version":{SCHEMA_VERSION + 1}'))
    with pytest.raises(SchemaVersionError, match="Hint: use the program version that wrote this one"):
        migrate(kb)
    manifest.write_text(text.replace('"schema_version":1', '"schema_version":0'))
    with pytest.raises(SchemaVersionError, match="No step brings"):
        migrate(kb)
    assert [(step.before, step.after) for step in MIGRATIONS] == [(at, at + 1) for at in range(1, SCHEMA_VERSION)]
