"""A check beside writers and readers: it looks at one whole generation, and what lacks is room or a file is told so."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import duckdb
import pytest

from cohortium.kb.check import index_files
from cohortium.kb.check.checking import RULES, check_kb
from cohortium.kb.check.looked_at import LookedAt
from cohortium.kb.check.repair import repair_index
from cohortium.kb.check.rules import RESTORE, Rule
from cohortium.kb.errors import DamagedKb, NotWritable, UsageError
from cohortium.kb.model import Journey
from cohortium.kb.ontology.concepts import ConceptTable
from cohortium.kb.storage.layout import Layout
from cohortium.kb.storage.reader import KnowledgeBase
from cohortium.kb.storage.writer import build_generation

INDEX_RULES = [rule for rule in RULES if rule.part == "index"]
CONCEPTS = ConceptTable([])


@pytest.fixture
def kb(tmp_path: Path) -> Path:
    """A knowledge base of one patient without a fact."""
    build_generation(tmp_path / "x.kb", [Journey("P1")], concepts=CONCEPTS)
    return tmp_path / "x.kb"


def test_a_generation_is_held_while_it_is_looked_at(kb: Path) -> None:
    """Three writes during a check take nothing away from it: it finds nothing, and tells which generation it was."""
    first = Layout(kb).current()

    def write(looked_at: LookedAt) -> Any:
        for name in ("Q1", "Q2", "Q3"):
            build_generation(kb, [Journey(name)], concepts=CONCEPTS)
        return iter(())

    report = check_kb(kb, progress=False, rules=[Rule("a writer", "index", "", write), *INDEX_RULES])
    assert (report.sound, report.generation) == (True, first), report.findings
    assert first in Layout(kb).generations()
    build_generation(kb, [Journey("Q4")], concepts=CONCEPTS)
    assert first not in Layout(kb).generations()


def test_what_a_writer_builds_is_not_looked_at(kb: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its files are not closed yet, and go while the check lists them; a file elsewhere may go as well."""
    looked = Path.lstat

    def late(path: Path) -> os.stat_result:
        if path.name == "going":
            path.unlink()
        return looked(path)

    with Layout(kb).writing():
        (Layout(kb).building / "open").touch(mode=0o644)
        (kb / "going").touch()
        monkeypatch.setattr(Path, "lstat", late)
        assert check_kb(kb, quick=True, progress=False).sound


def test_a_generation_that_cannot_be_told_is_a_finding(kb: Path) -> None:
    """A manifest that is gone or no JSON, and a pointer of other bytes, are findings with what to do; so
    is a pointer to nothing, which tells what there is."""
    first = str(Layout(kb).current())
    manifest = Layout(kb).generation(first) / "manifest.json"
    whole = manifest.read_bytes()
    for damaged in (b"{", b"[]", None):
        manifest.unlink() if damaged is None else manifest.write_bytes(damaged)
        for name in (kb, f"{kb}@{first}"):
            (finding,) = check_kb(name, progress=False).findings
            assert "manifest.json" in finding.finds
            assert finding.advice == RESTORE
    manifest.write_bytes(whole)
    (kb / "CURRENT").write_bytes(b"\xff\n")
    (finding,) = check_kb(kb, progress=False).findings
    assert "CURRENT" in finding.finds
    (kb / "CURRENT").write_text("0123456789abcdef\n")
    (finding,) = check_kb(kb, progress=False).findings
    assert "CURRENT" in finding.finds
    with pytest.raises(DamagedKb, match=f"names 0123456789abcdef, which is not there.*Hint: put back.*{first}"):
        KnowledgeBase.open(kb)
    with pytest.raises(DamagedKb), Layout(kb).writing():
        pass
    assert first in Layout(kb).generations()


def test_no_room_is_no_damage(kb: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where files for comparison find no room the error names their folder; the knowledge base is not blamed."""
    for error in (
        OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)),
        duckdb.OutOfMemoryException("Out of Memory Error"),
        duckdb.IOException("IO Error: Could not write file: No space left on device"),
    ):

        def full(*_: object, error: Exception = error) -> None:
            raise error

        monkeypatch.setattr(index_files, "build_index", full)
        with pytest.raises(NotWritable, match="Hint: name another one in TMPDIR"):
            check_kb(kb, progress=False)


def test_only_the_current_index_is_made_again(kb: Path) -> None:
    """Another generation is refused with the command that works."""
    with pytest.raises(UsageError, match=r"not that of '@previous'. Hint: 'cohortium check .*x\.kb --repair'"):
        repair_index(f"{kb}@previous")
