"""An update: whoever was read again stands among all others as if everybody had been written anew."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import duckdb
import pytest

from cohortium.kb.model import Journey
from cohortium.kb.ontology.concepts import ConceptTable
from cohortium.kb.ontology.scales import Scales
from cohortium.kb.skin.progress import Bar
from cohortium.kb.storage import merged_rows
from cohortium.kb.storage.reader import KnowledgeBase
from cohortium.kb.storage.rows import SupersededNote
from cohortium.kb.storage.writer import GenerationWriter

#: Patients read again, before all others, among them, behind them; by name.
CHANGES = {
    "nobody": [],
    "neighbours and both ends": ["P00", "P05", "P06", "P11"],
    "new ones on all sides": ["A", "P05a", "P11a", "é"],
    "everybody": [f"P{number:02}" for number in range(12)],
}


@pytest.mark.parametrize("changed", CHANGES.values(), ids=CHANGES)
def test_an_update_equals_writing_everybody(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    concepts: ConceptTable,
    scales: Scales,
    make_update: Callable[[Sequence[str]], tuple[list[Journey], list[Journey]]],
    changed: list[str],
) -> None:
    """The same generation, the same rows in the same places, over many chunks; with fewer events, more, or none."""
    monkeypatch.setattr(merged_rows, "_CHUNK", 2)
    monkeypatch.setattr(merged_rows, "_PLAIN", 3)
    before, again = make_update(changed)
    old = [SupersededNote(before[3].notes[0], "another"), SupersededNote(before[3].notes[1], "")]

    def write(name: str, journeys: list[Journey], older: list[SupersededNote], *, others: Path | None = None) -> str:
        with GenerationWriter(tmp_path / name, concepts=concepts, scales=scales) as writer:
            writer.add(journeys, older)
            if others is not None:
                with KnowledgeBase.open(others) as previous:
                    assert writer.copy_others(previous) == len({one.patient_id for one in before} - set(changed))
                    return writer.finish()
            return writer.finish()

    whole = sorted([*(one for one in before if one.patient_id not in changed), *again], key=lambda one: one.patient_id)
    write("before.kb", before, old)
    updated = write("updated.kb", again, [], others=tmp_path / "before.kb")
    assert updated == write("whole.kb", whole, [] if "P03" in changed else old)
    assert rows(tmp_path / "updated.kb") == rows(tmp_path / "whole.kb")


def test_an_update_shows_how_far_it_is(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    concepts: ConceptTable,
    scales: Scales,
    make_journey: Callable[..., Journey],
) -> None:
    """Every patient is counted once, whether copied or written anew; then the index is named."""
    monkeypatch.setattr(merged_rows, "_CHUNK", 2)
    monkeypatch.setattr(merged_rows, "_PLAIN", 4)
    with GenerationWriter(tmp_path / "before.kb", concepts=concepts, scales=scales) as writer:
        writer.add(make_journey(f"P{number:02}") for number in range(12))
        writer.finish()
    bar = TakenDown()
    with (
        KnowledgeBase.open(tmp_path / "before.kb") as previous,
        GenerationWriter(tmp_path / "before.kb", concepts=concepts, scales=scales) as writer,
    ):
        writer.add([make_journey("A"), make_journey("P06", "Another text.")])
        writer.copy_others(previous)
        writer.finish(bar=bar)
    assert bar.steps == [("copying patients", 13), ("building the index", None)]
    assert len(bar.advances) > 2
    assert sum(bar.advances) == 13


class TakenDown(Bar):
    """A bar that takes down what it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.steps: list[tuple[str, int | None]] = []
        self.advances: list[int] = []

    def step(self, name: str, total: int | None = None) -> None:
        """A step."""
        self.steps.append((name, total))

    def advance(self, number: int = 1) -> None:
        """So many more are done."""
        self.advances.append(number)


def rows(kb: Path) -> dict[str, list[tuple[object, ...]]]:
    """All rows of all tables, in the order in which they are stored."""
    with KnowledgeBase.open(kb) as opened, duckdb.connect(str(opened.database), read_only=True) as database:
        names = [name for (name,) in database.execute("SELECT table_name FROM duckdb_tables()").fetchall()]
        return {name: database.table(name).fetchall() for name in names}
