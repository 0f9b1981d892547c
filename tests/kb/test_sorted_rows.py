"""Rows that come sorted give the tables that rows in any order give."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from cohortium.kb.errors import UsageError
from cohortium.kb.model import Journey
from cohortium.kb.ontology.concepts import ConceptTable
from cohortium.kb.storage.quiet_database import quiet_database
from cohortium.kb.storage.reader import KnowledgeBase
from cohortium.kb.storage.rows import StagingRows
from cohortium.kb.storage.writer import GenerationWriter, build_generation
from cohortium.kb.storage.writer_memory import SETTING, writer_memory
from tests.kb.stored_tables import attribute_table, event_table

Make = Callable[..., Journey]


def chunk(*journeys: Journey) -> dict[str, pa.Table]:
    """The staging tables of some patients."""
    rows = StagingRows()
    for journey in journeys:
        rows.add_journey(journey)
    return rows.take()


def encoded(tables: dict[str, pa.Table]) -> dict[str, pa.Table]:
    """The same with every text as dictionary codes."""
    return {
        name: pa.table(
            {
                field.name: table[field.name].dictionary_encode()
                if pa.types.is_string(field.type)
                else table[field.name]
                for field in table.schema
            }
        )
        for name, table in tables.items()
    }


@pytest.mark.parametrize("form", [dict, encoded])
def test_the_generation_is_the_same_by_both_doors(
    form: Callable[..., dict[str, pa.Table]], tmp_path: Path, make_journey: Make, concepts: ConceptTable
) -> None:
    """Chunks in the order of patients give the generation, by content, that journeys in another order give."""
    people = [make_journey(f"P{number}") for number in range(5)]
    ordinary = build_generation(tmp_path / "ordinary.kb", reversed(people), concepts=concepts)
    with GenerationWriter(tmp_path / "sorted.kb", concepts=concepts) as writer:
        writer.add_sorted(form(chunk(*people[:2])))
        writer.add_sorted(form(chunk(*people[2:])))
        assert writer.finish() == ordinary
    with KnowledgeBase.open(tmp_path / "ordinary.kb") as one, KnowledgeBase.open(tmp_path / "sorted.kb") as other:
        assert event_table(one).equals(event_table(other))
        assert attribute_table(one).equals(attribute_table(other))
        assert [other.journey(who.patient_id) for who in people] == people
        assert [one.journey(who.patient_id) for who in people] == people


def test_patients_out_of_order_are_refused(tmp_path: Path, make_journey: Make, concepts: ConceptTable) -> None:
    """A chunk whose patients do not follow those before, or one another, is an error, and nothing is published."""
    with GenerationWriter(tmp_path / "a.kb", concepts=concepts) as writer:
        writer.add_sorted(chunk(make_journey("P2")))
        with pytest.raises(ValueError, match="order of their ids"):
            writer.add_sorted(chunk(make_journey("P1")))
        with pytest.raises(ValueError, match="order of their ids"):
            writer.add_sorted(chunk(make_journey("P4"), make_journey("P3")))
        with pytest.raises(ValueError, match="order of their ids"):
            writer.add_sorted(chunk(make_journey("P2")))
    assert not (tmp_path / "a.kb" / "CURRENT").exists()


def test_rows_of_strangers_and_lost_events_are_refused(
    tmp_path: Path, make_journey: Make, concepts: ConceptTable
) -> None:
    """Rows of a patient who is not in the chunk, and events that are not numbered one by one, are errors."""
    tables = chunk(make_journey("P1"), make_journey("P2"))
    with GenerationWriter(tmp_path / "a.kb", concepts=concepts) as writer:
        with pytest.raises(ValueError, match="not in this chunk"):
            writer.add_sorted({**tables, "patient": tables["patient"].slice(0, 1)})
        with pytest.raises(ValueError, match="numbered by patient"):
            writer.add_sorted({**tables, "event": tables["event"].slice(1)})
        with pytest.raises(ValueError, match="order of their patients"):
            writer.add_sorted({**tables, "note": tables["note"].take(list(range(len(tables["note"])))[::-1])})


def test_one_door_for_each_writer(tmp_path: Path, make_journey: Make, concepts: ConceptTable) -> None:
    """A writer takes patients sorted or otherwise, not both."""
    with GenerationWriter(tmp_path / "a.kb", concepts=concepts) as writer:
        writer.add_sorted(chunk(make_journey("P1")))
        writer.add([make_journey("P2")])
        with pytest.raises(ValueError, match="sorted and otherwise"):
            writer.finish()


def test_the_writers_memory_is_a_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    """COHORTIUM_WRITER_MEMORY is a size with its unit; without it, 4 GB or half of the machine."""
    monkeypatch.delenv(SETTING, raising=False)
    assert 0 < writer_memory() <= 4_000_000_000
    for told, size in (("900MB", 900_000_000), (" 1.5 GiB ", 1_610_612_736), ("250000000", 250_000_000)):
        monkeypatch.setenv(SETTING, told)
        assert writer_memory() == size
    # What is no size is a wrong setting, never damage of the database that would be given it.
    endless = ("9" * 19 + "GB", "9" * 400, "9" * 5000 + "GB", "2" * 16 + "KiB", "99999999999999999999")
    for told in ("much", "5 PB", "10MB", "-1GB", "0", "1e9", "nan", "inf", "²GB", "1..5GB", *endless):
        monkeypatch.setenv(SETTING, told)
        with pytest.raises(UsageError, match=f"{SETTING} is '.{{0,60}}(no size|100MB)"):
            writer_memory()
    monkeypatch.setenv(SETTING, "900000000GB")
    assert quiet_database().execute("SET memory_limit = $1", [f"{writer_memory()}B"])
