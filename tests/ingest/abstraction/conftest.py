"""What the tests of abstractions share: facts written in short, and the journeys and knowledge bases made of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cohortium.ingest.abstraction.load import AbstractionReport, load_abstractions
from cohortium.ingest.abstraction.patient import build_patient, read_patient
from cohortium.ingest.abstraction.records import Abstraction, read_abstractions
from cohortium.ingest.abstraction.terms import FactReader, ReadFact
from cohortium.ingest.note.read import shared_reader
from cohortium.kb.model import Journey
from cohortium.kb.ontology.scales import Scales

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Abstractor:
    """Makes journeys of records, as the loader does."""

    reader: FactReader
    scales: Scales

    def read(self, record: Abstraction) -> tuple[list[ReadFact], Journey]:
        """The facts as they were read, and the journey that they make."""
        read = read_patient(self.reader, record)
        return read, build_patient(record.patient_id, read, shared_reader().concepts, self.scales)


def write_records(path: Path, records: Sequence[Record | str | bytes]) -> Path:
    """One patient a line; ``str`` and ``bytes`` go in as they are."""
    lines = [json.dumps(record) if isinstance(record, Mapping) else record for record in records]
    path.write_bytes(b"\n".join(line.encode("utf-8") if isinstance(line, str) else line for line in lines))
    return path


@pytest.fixture(scope="session")
def abstractor() -> Abstractor:
    """One reader of facts for all tests: it is slow to build, and has no state."""
    return Abstractor(FactReader(shared_reader()), Scales.from_files())


@pytest.fixture(scope="session")
def write() -> Callable[[Path, Sequence[Record | str | bytes]], Path]:
    """Writes records to a file."""
    return write_records


@pytest.fixture
def written(tmp_path: Path) -> Callable[[Sequence[Record | str | bytes]], Path]:
    """Writes records to a file of this test."""
    return lambda records: write_records(tmp_path / "facts.jsonl", records)


@pytest.fixture
def journey_of(tmp_path: Path, abstractor: Abstractor) -> Callable[[Sequence[Record]], Journey]:
    """The journey that the facts of one patient make, by way of a file."""

    def make(facts: Sequence[Record], **patient: Any) -> Journey:
        path = write_records(tmp_path / "one.jsonl", [{"patient_id": "P1", "facts": list(facts), **patient}])
        (record,) = read_abstractions(path)
        assert isinstance(record, Abstraction), record
        return abstractor.read(record)[1]

    return make


@pytest.fixture
def loaded(tmp_path: Path) -> Callable[..., tuple[AbstractionReport, Path]]:
    """Loads records into a knowledge base of this test: the report, and where it is."""

    def load(records: Sequence[Record | str | bytes], name: str = "facts") -> tuple[AbstractionReport, Path]:
        path = write_records(tmp_path / f"{name}.jsonl", records)
        return load_abstractions(path, tmp_path / f"{name}.kb"), tmp_path / f"{name}.kb"

    return load
