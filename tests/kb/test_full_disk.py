"""A disk that becomes full while a generation is written, at whatever byte: told, and nothing is changed."""

from __future__ import annotations

import contextlib
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from cohortium.kb.check.repair import repair_index
from cohortium.kb.errors import NotWritable
from cohortium.kb.model import Journey
from cohortium.kb.ontology.concepts import ConceptTable
from cohortium.kb.ontology.scales import Scales
from cohortium.kb.storage.migrations import migrate
from cohortium.kb.storage.writer import build_generation
from tests.kb.kb_states import state_of
from tests.kb.old_versions import make_version_1


@contextlib.contextmanager
def files_no_larger_than(size: int) -> Iterator[None]:
    """As on a full disk, no file can be written on from so many bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_write_on_a_full_disk(
    tmp_path: Path, concepts: ConceptTable, scales: Scales, journeys: list[Journey]
) -> None:
    """The error says so, the generation before stays, nothing half-made is left, and the same write then ends well."""
    kb, whole = tmp_path / "x.kb", tmp_path / "whole.kb"
    build_generation(kb, journeys[:2], concepts=concepts, scales=scales)
    before = state_of(kb)
    for size in (0, 7, 5_000, 100_000, 1_000_000, 2_000_000):
        with files_no_larger_than(size), pytest.raises(NotWritable, match="is there space left on the disk"):
            build_generation(kb, journeys, concepts=concepts, scales=scales)
        assert state_of(kb) == before
        assert not (kb / "building").exists()
    build_generation(kb, journeys, concepts=concepts, scales=scales)
    build_generation(whole, journeys, concepts=concepts, scales=scales)
    assert state_of(kb) == state_of(whole)


def test_repair_and_migration_on_a_full_disk(
    tmp_path: Path, concepts: ConceptTable, scales: Scales, journeys: list[Journey]
) -> None:
    """They leave what there is as it was, and end well once there is space."""
    kb = tmp_path / "x.kb"
    build_generation(kb, journeys, concepts=concepts, scales=scales)
    whole = state_of(kb)
    for size in (0, 100, 3_000):
        with files_no_larger_than(size), pytest.raises(NotWritable, match="space left"):
            repair_index(kb)
        assert state_of(kb) == whole
    assert repair_index(kb) == whole["generation"]
    make_version_1(kb)
    current = (kb / "CURRENT").read_text()
    for size in (0, 100_000):
        with files_no_larger_than(size), pytest.raises(NotWritable, match="space left"):
            migrate(kb)
        assert (kb / "CURRENT").read_text() == current
    migrate(kb)
    assert state_of(kb) == whole
