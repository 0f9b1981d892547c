"""The check of a knowledge base finds every kind of damage that it promises to find, and nothing in a sound one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import duckdb
import pytest
from pyroaring import BitMap
from typer.testing import CliRunner, Result

from cohortium.__main__ import app
from cohortium.kb.check.checking import RULES, check_kb
from cohortium.kb.check.written_bytes import byte_rules
from cohortium.kb.model import Journey, Note
from cohortium.kb.ontology.concepts import ConceptTable
from cohortium.kb.ontology.scales import Scales
from cohortium.kb.storage.layout import DATABASE, Layout
from cohortium.kb.storage.rows import SupersededNote
from cohortium.kb.storage.writer import GenerationWriter
from tests.kb.conftest import Copied

#: What is done to the tables, and the rule that finds it.
DAMAGE = {
    "CREATE TABLE weather AS SELECT 1 AS rain": "every cell",
    "UPDATE manifest SET value = '7' WHERE name = 'counts'": "manifest and its id",
    "DELETE FROM relation WHERE patient = 1": "rows of the manifest",
    "UPDATE patient SET digest = repeat('0', 32) WHERE patient = 1": "content of the manifest",
    "UPDATE patient SET first_event = 3 WHERE patient = 1": "numbers of patients",
    "UPDATE event SET event = 77 WHERE event = 2": "numbers of events",
    "UPDATE event SET patient = 3 WHERE event = 2": "numbers of events",
    "UPDATE note SET ordinal = 5 WHERE patient = 1": "order of notes",
    "UPDATE mention SET patient = 900 WHERE patient = 3": "order of mentions",
    "UPDATE relation SET ordinal = 2": "order of relations",
    "UPDATE decision SET patient = -1 WHERE patient = 2": "order of decisions",
    "UPDATE event_attribute SET position = 4 WHERE event = 2": "order of attributes",
    "UPDATE evidence SET event = 4000 WHERE event = 1": "order of evidence",
    "UPDATE note SET note_id = (SELECT min(note_id) FROM note WHERE patient = 1) WHERE patient = 1": "note ids",
    "UPDATE note SET doc_id = 'd1', status = 'current' WHERE patient = 1": "one current version",
    "UPDATE note SET superseded_by = 'nothing' WHERE status = 'superseded'": "superseding versions",
    "UPDATE mention SET mention_id = 'x' WHERE patient = 1": "mention ids",
    "UPDATE mention SET note_id = 'x' WHERE patient = 1 AND ordinal = 0": "notes of mentions",
    "UPDATE relation SET tail = 'x' WHERE patient = 1": "ends of relations",
    "UPDATE event SET event_id = 'x' WHERE patient = 1": "event ids",
    "UPDATE event SET patient = 1 WHERE event = 4": "patients of events",
    "DELETE FROM event WHERE event = 0": "events of attributes",
    "UPDATE event_attribute SET name = 'site' WHERE event = 0": "attributes once",
    "UPDATE evidence SET mention_id = 'x' WHERE event = 0": "ends of evidence",
    "UPDATE decision SET believed = ['x'] WHERE patient = 1": "events of decisions",
    "UPDATE event SET concept = 'unheard_of' WHERE event = 0": "concepts of events",
    "UPDATE mention SET concept = 'unheard_of' WHERE patient = 2": "concepts of mentions",
    "INSERT INTO concept FROM concept LIMIT 1": "concepts once",
    "DELETE FROM concept WHERE concept = 'neoplasm'": "names and parents of concepts",
    "UPDATE mention SET span_start = 1 WHERE patient = 1 AND ordinal = 0": "text of mentions",
    "UPDATE mention SET span_end = 4000 WHERE patient = 1": "text of mentions",
    "UPDATE mention SET sentence_end = 4000 WHERE patient = 1": "sentences and cues",
    "UPDATE mention SET cues = [{'span_start': -1, 'span_end': 4, 'rule': 'x'}]": "sentences and cues",
    "UPDATE mention SET low = high + 1 WHERE patient = 1": "dates of mentions",
    "UPDATE event SET low = high + 1 WHERE event = 0": "dates of events",
    "UPDATE event SET end_low = NULL WHERE end_high IS NOT NULL": "dates of events",
    "UPDATE event SET high = 900000000 WHERE event = 0": "dates of events",
    "UPDATE event_attribute SET number = 1 WHERE form = 'text'": "values of attributes",
    "UPDATE event_attribute SET number = 1.5 WHERE form = 'integer'": "values of attributes",
    "UPDATE event SET confidence = 2": "confidence and sources",
    "UPDATE event SET kind = 'weather' WHERE event = 1": "kinds of events",
    "UPDATE mention SET polarity = 'perhaps'": "words of contexts",
    "UPDATE event SET world = 9 WHERE event = 0": "worlds",
    "UPDATE event SET temporality = 'planned' WHERE world = 3": "worlds against contexts",
    "UPDATE event SET polarity = 'uncertain' WHERE world = 3": "uncertain events",
    "UPDATE note SET text = replace(text, 'lung', 'skin')": "hashes and ids of notes",
    "UPDATE note SET title = 'another' WHERE patient = 1": "hashes and ids of notes",
    "UPDATE mention SET attributes = '{}' WHERE patient = 1": "derived ids of mentions",
    "UPDATE mention SET attributes = '{' WHERE patient = 1": "derived ids of mentions",
    "UPDATE event SET low = low - 1 WHERE event = 0": "derived ids of events",
    "DELETE FROM evidence WHERE event = 1 AND position = 1": "derived ids of events",
    "UPDATE decision SET rule = 'dice'": "derived ids of decisions",
    "UPDATE event SET anchors = ['note'] WHERE event = 0": "digests of patients",
    "DELETE FROM note WHERE status = 'superseded'": "digests of patients",
    "UPDATE mention SET section = 'plan' WHERE patient = 1 AND ordinal = 0": "digests of patients",
    "DELETE FROM posting WHERE kind = 'stage'": "posting lists",
    "UPDATE event SET world = 2 WHERE event = 0": "posting lists",
    "UPDATE posting SET size = size + 1": "posting lists",
    "UPDATE event_attribute SET text = 'right' WHERE event = 0 AND name = 'laterality'": "lists by value",
}


@pytest.fixture
def kb(copied: Copied, tmp_path: Path, concepts: ConceptTable, scales: Scales, journeys: list[Journey]) -> Path:
    """A knowledge base of five patients, one of whose notes has an older version."""

    def write(path: Path) -> None:
        note = journeys[0].notes[0]
        old = SupersededNote(Note(note.patient_id, note.doc_id, "An older text."), note.note_id)
        with GenerationWriter(path, concepts=concepts, scales=scales) as writer:
            writer.add(journeys, [old])
            writer.finish()

    return copied("check", write, tmp_path / "x.kb")


def database(kb: Path) -> Path:
    """The database of the current generation."""
    layout = Layout(kb)
    return layout.generation(str(layout.current())) / DATABASE


def test_a_sound_knowledge_base(kb: Path) -> None:
    """Nothing is found; a quick check looks at fewer things; nothing of the folder changes."""
    before = {path: path.stat().st_mtime_ns for path in kb.rglob("*")}
    report = check_kb(kb)
    assert report.sound, report.findings
    assert (report.patients, report.events, report.checked) == (5, 16, len(RULES))
    assert not report.unchecked
    quick = check_kb(kb, quick=True)
    assert quick.sound
    assert 0 < quick.checked < report.checked
    assert {path: path.stat().st_mtime_ns for path in kb.rglob("*")} == before


def test_every_kind_of_damage_is_found_by_its_rule(kb: Path) -> None:
    """Each change of the tables is found by the rule for it, with a number, an example and what to do."""
    file = database(kb)
    whole = file.read_bytes()
    rules = {rule.name: rule for rule in RULES}
    for statement, name in DAMAGE.items():
        file.write_bytes(whole)
        with duckdb.connect(str(file)) as connection:
            connection.execute(statement)
        report = check_kb(kb, rules=[rules[name]])
        found = [finding.name for finding in report.findings]
        assert found == [name], statement
        (finding,) = report.findings
        assert finding.number >= 1
        assert finding.example
        assert finding.advice
        assert "lung" not in finding.example


def test_every_rule_can_find_something() -> None:
    """No rule stands there that no damage above makes it tell; files are damaged in tests of their own."""
    of_files = {"private files", "index", *(rule.name for rule in byte_rules())}
    assert {rule.name for rule in RULES} - of_files == set(DAMAGE.values())
    assert len({rule.name for rule in RULES}) == len(RULES)


def test_damaged_files_are_findings(kb: Path) -> None:
    """A database cut short, of other bytes or gone in part, and files that others may read, are told, not raised."""
    file = database(kb)
    whole = file.read_bytes()
    blocks = whole[:20_000] + bytes(len(whole) - 20_000)
    for damaged in (whole[:-5_000], b"", b"x" * len(whole), blocks):
        file.write_bytes(damaged)
        report = check_kb(kb)
        assert [finding.part for finding in report.findings if finding.part == "files"], len(damaged)
    file.write_bytes(whole)
    (kb / "CURRENT").chmod(0o644)
    (finding,) = check_kb(kb, quick=True).findings
    assert (finding.name, finding.example) == ("private files", "CURRENT")


def test_lists_of_other_patients_are_found(kb: Path) -> None:
    """A list in the index that names another patient than the events do is a finding."""
    lists = database(kb).parent / "index" / "lists"
    whole = lists.read_bytes()
    right, wrong = BitMap(range(1, 5)), BitMap(range(2, 6))
    for bitmap in (right, wrong):
        bitmap.run_optimize()
    assert right.serialize() in whole
    lists.write_bytes(whole.replace(right.serialize(), wrong.serialize()))
    (finding,) = check_kb(kb, rules=[rule for rule in RULES if rule.name == "posting lists"]).findings
    assert finding.number >= 1


def test_a_table_that_is_gone(kb: Path) -> None:
    """A table that is not there is a finding, after which the check ends."""
    with duckdb.connect(str(database(kb))) as connection:
        connection.execute("DROP TABLE decision")
    (finding,) = check_kb(kb).findings
    assert finding.finds.startswith("damage of kb.duckdb, met in")


def test_the_previous_generation_can_be_checked(kb: Path, concepts: ConceptTable, scales: Scales) -> None:
    """``KB@previous`` names the generation before."""
    first = Layout(kb).current()
    with GenerationWriter(kb, concepts=concepts, scales=scales) as writer:
        writer.finish()
    assert check_kb(f"{kb}@previous").generation == first
    assert check_kb(kb).patients == 0
    assert check_kb(kb).sound


def test_the_command(kb: Path, tmp_path: Path) -> None:
    """``check`` leaves with 0 and with 5, and writes what it found as JSON; no text of a note is shown."""

    def run(*words: object) -> Result:
        return CliRunner().invoke(app, ["check", *map(str, words)], prog_name="cohortium")

    sound = run(kb)
    assert (sound.exit_code, sound.stdout.split()[-1]) == (0, "sound")
    with duckdb.connect(str(database(kb))) as connection:
        connection.execute("UPDATE mention SET text = 'lung' WHERE patient = 1")
    told = run(kb, "--format", "json", "--json", tmp_path / "out.json")
    assert told.exit_code == 10
    assert "lung" not in told.output
    found = json.loads(told.stdout)
    assert found == json.loads((tmp_path / "out.json").read_text())
    assert {one["check"] for one in found["findings"]} >= {"text of mentions", "digests of patients"}
    assert "Hint: put back a copy" in run(kb).stdout
    shutil.rmtree(kb)
    assert run(kb).exit_code == 2
