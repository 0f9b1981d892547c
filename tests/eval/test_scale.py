"""Made-up knowledge bases: their ids are true, their proofs hold, and they are the same however they are made."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from cohortium.__main__ import app
from cohortium.engine.api import open as open_kb
from cohortium.engine.verification import verify
from cohortium.eval.made_up.scale import making
from cohortium.eval.made_up.scale.broad import BROAD, FIRST, SECOND, SINGLE, broad_ontology
from cohortium.eval.made_up.scale.chunks import CHUNK, ChunkMaker
from cohortium.eval.made_up.scale.draws import Choice, Ragged
from cohortium.eval.made_up.scale.making import Settings, make_kb
from cohortium.kb.errors import LockedError, UsageError
from cohortium.kb.model import World
from cohortium.kb.ontology.concepts import ConceptTable
from cohortium.kb.storage.layout import Layout
from cohortium.kb.storage.reader import KnowledgeBase
from cohortium.kb.storage.rows import StagingRows
from tests.kb.stored_tables import event_table

CODES = 40
SETTINGS = Settings(patients=120, events=30, seed=5, codes=CODES)


@pytest.fixture(scope="module")
def concepts() -> ConceptTable:
    """The ontology with a broad class of few codes."""
    return broad_ontology(CODES)


@pytest.fixture(scope="module")
def maker(concepts: ConceptTable) -> ChunkMaker:
    """What makes the patients of the settings."""
    return ChunkMaker(concepts, SETTINGS.events, SETTINGS.seed, CODES)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, concepts: ConceptTable) -> Path:
    """A made-up knowledge base."""
    path = tmp_path_factory.mktemp("scale") / "made.kb"
    make_kb(path, SETTINGS, concepts=concepts)
    return path


def test_rows_are_those_of_the_journeys(made: Path, maker: ChunkMaker) -> None:
    """Whatever is read back gives the very rows, ids and digests that were written."""
    chunk = maker.tables(0, SETTINGS.patients)
    rows = StagingRows()
    with KnowledgeBase.open(made) as kb:
        for patient in kb.patients:
            rows.add_journey(kb.journey(patient))
    for name, table in rows.take().items():
        assert len(table), name
        given = pa.table({field.name: chunk[name][field.name].cast(field.type) for field in table.schema})
        assert given.equals(table.combine_chunks()), name


def test_spans_and_cues_are_where_they_are_said_to_be(made: Path) -> None:
    """A mention's words and its cues' words stand in its note; every event is told by a mention of its day."""
    with KnowledgeBase.open(made) as kb:
        for patient in kb.patients[:40]:
            journey = kb.journey(patient)
            notes = {note.note_id: note for note in journey.notes}
            mentions = {mention.mention_id: mention for mention in journey.mentions}
            for mention in journey.mentions:
                text = notes[mention.note_id].text
                assert text.startswith("FICTIONAL\n")
                assert text[mention.start : mention.end] == mention.text
                assert mention.sentence[0] <= mention.start < mention.end <= mention.sentence[1]
                assert "\n" not in text[mention.sentence[0] : mention.sentence[1]]
                for cue in mention.cues:
                    assert text[cue.start : cue.end].strip(" :") == text[cue.start : cue.end] != ""
            for event in journey.events:
                told = [mentions[one] for one in event.evidence]
                assert any(mention.day == event.day for mention in told)
                assert len({mention.note_id for mention in told}) == event.sources == len(told)


def test_proofs_verify(made: Path) -> None:
    """The independent verifier finds no fault in the proofs of members."""
    with open_kb(made) as kb:
        for query in ("breast cancer and stage >= II", "fatigue", "medication before metastasis", "death", "birth"):
            cohort = kb.find(query)
            members = sorted(cohort)[:3]
            assert members, query
            assert verify(made, cohort, members, world="believed", read_again=False).holds, query


def test_the_kb_is_the_same_whoever_makes_it(
    made: Path, tmp_path: Path, concepts: ConceptTable, capfd: pytest.CaptureFixture[str]
) -> None:
    """Another process makes the same generation, and says nothing when it ends."""
    again = make_kb(tmp_path / "workers.kb", SETTINGS, workers=2, concepts=concepts)
    assert capfd.readouterr() == ("", "")
    with KnowledgeBase.open(made) as kb:
        assert again["generation"] == kb.generation


def test_events_are_skewed_and_go_together(made: Path) -> None:
    """Few patients have many events; concepts fall off steeply; drugs go with cancers; worlds and dates vary."""
    with KnowledgeBase.open(made) as kb:
        events = event_table(kb)
        counts = np.bincount(events["patient"].to_numpy())
        assert SETTINGS.events * 0.75 < counts.mean() < SETTINGS.events * 1.35
        assert counts.max() > 4 * np.median(counts)
        assert set(events["world"].to_pylist()) == {int(world) for world in World}
        assert {"", "*"} < set(events["tumor"].to_pylist())
        widths = events["high"].to_numpy() - events["low"].to_numpy()
        assert {0, 364} < set(widths.tolist())
        for broad, narrow in (("prostate_cancer", "leuprolide"), ("breast_cancer", "letrozole")):
            with_it = kb.posting("diagnosis", broad, World.CERTAIN)
            treated = kb.posting("medication", narrow, World.CERTAIN)
            assert len(treated & with_it) > 0.8 * len(treated) > 0


def test_set_shares_are_exact(made: Path) -> None:
    """As many patients have one of the broad class's codes as have the single code: one in ten."""
    with KnowledgeBase.open(made) as kb:
        assert len(kb.posting("procedure", BROAD, World.CERTAIN)) == 12
        assert len(kb.posting("procedure", SINGLE, World.CERTAIN)) == 12
        assert len(kb.posting("procedure", FIRST, World.CERTAIN)) == 12
        assert len(kb.posting("procedure", SECOND, World.CERTAIN)) == 6


def test_deaths_come_last(made: Path) -> None:
    """Nothing that happened to a patient begins after the death."""
    with KnowledgeBase.open(made) as kb:
        died = 0
        for patient in kb.patients:
            journey = kb.journey(patient)
            for death in (event for event in journey.events if event.kind == "death"):
                died += 1
                assert all(event.day.low <= death.day.high for event in journey.events)
        assert died


def test_chunks_differ_and_are_repeatable(maker: ChunkMaker) -> None:
    """A chunk is the same each time, whatever was made before it, and other than the next one."""
    one, other = maker.tables(1, 30), maker.tables(2, 30)
    assert one["event"].equals(maker.tables(1, 30)["event"])
    assert one["patient"]["patient_id"][0].as_py() == f"P{CHUNK:08d}"
    assert not one["event"]["low"].equals(other["event"]["low"])


def test_choices_follow_their_weights() -> None:
    """A group draws its own numbers, as often as they weigh; a group with none draws nothing."""
    choice = Choice([[(7, 3.0), (8, 1.0)], [], [(9, 2.0), (10, 0.0)]])
    drawn = choice.draw(np.random.default_rng(0), np.repeat([0, 1, 2], 10_000)).reshape(3, -1)
    assert set(drawn[0].tolist()) == {7, 8}
    assert 0.73 < (drawn[0] == 7).mean() < 0.77
    assert set(drawn[1].tolist()) == {-1}
    assert set(drawn[2].tolist()) == {9}


def test_lists_are_spread_in_order() -> None:
    """A ragged list gives each group's numbers with where they came from."""
    at, position, value = Ragged([[1, 2], [], [3]]).spread(np.array([2, 0, 1, 0]))
    assert at.tolist() == [0, 1, 1, 3, 3]
    assert position.tolist() == [0, 0, 1, 0, 1]
    assert value.tolist() == [3, 1, 2, 1, 2]


def test_what_is_there_is_left_alone(tmp_path: Path, concepts: ConceptTable) -> None:
    """A folder that holds something is refused; an interrupted run leaves nothing where nothing was."""
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "note.txt").write_text("mine")
    with pytest.raises(UsageError, match="something at"):
        make_kb(tmp_path / "full", SETTINGS)

    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_kb(tmp_path / "new.kb", Settings(20, 5, 0, CODES), concepts=concepts, advanced=interrupt)
    assert not (tmp_path / "new.kb").exists()


def test_what_a_killed_run_left_is_no_obstacle(made: Path, tmp_path: Path, concepts: ConceptTable) -> None:
    """The same command begins again over a lock, a half-made generation and one that no pointer names; over notes that
    were read it does not."""
    left = tmp_path / "left.kb"
    for folder in ("building/scratch/chunk000000", "generations/0123456789abcdef"):
        (left / folder).mkdir(parents=True)
    (left / "building" / "kb.duckdb").write_bytes(b"half")
    (left / "writer.lock").touch()
    make_kb(left, SETTINGS, concepts=concepts)
    assert Layout(left).generations() == Layout(made).generations()
    (tmp_path / "read.kb" / "unfinished").mkdir(parents=True)
    with pytest.raises(UsageError, match="something at"):
        make_kb(tmp_path / "read.kb", SETTINGS, concepts=concepts)


def test_two_runs_at_one_place(tmp_path: Path, concepts: ConceptTable, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second is refused, also where both found nothing, and takes nothing away from the first."""
    path = tmp_path / "new.kb"
    with contextlib.ExitStack() as first:

        def begins(codes: int) -> ConceptTable:
            first.enter_context(Layout(path).writing())
            (Layout(path).building / "kb.duckdb").touch()
            return concepts

        monkeypatch.setattr(making, "broad_ontology", begins)
        with pytest.raises(LockedError):
            make_kb(path, Settings(20, 5, 0, CODES))
        assert (Layout(path).building / "kb.duckdb").exists()


def test_the_command_prints_its_sums(tmp_path: Path) -> None:
    """``bench make-kb`` tells counts, seconds, bytes and memory, and writes them as JSON."""
    out = tmp_path / "sums.json"
    arguments = ["bench", "make-kb", str(tmp_path / "a.kb"), "--patients", "30", "--codes", "5", "--json", str(out)]
    result = CliRunner().invoke(app, [*arguments, "--events-per-patient", "10", "--workers", "1"])
    assert result.exit_code == 0, result.output
    assert "30 made-up patients" in result.output
    sums = json.loads(out.read_text())
    assert sums["rows"]["patient"] == 30
    assert sums["bytes"]["database"] > sums["bytes"]["tables"]["event"] > 0
    assert {"patients", "append", "manifest", "publish", "all"} <= set(sums["seconds"])
    assert sums["memory_peak"]["writer"] > 0
