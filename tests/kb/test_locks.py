"""Locks by which one writer and many readers share a folder, and the system that has none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cohortium.kb.files import locks
from cohortium.kb.files.locks import NoLocks, lock
from cohortium.kb.files.whole_folders import whole_folder
from cohortium.kb.storage.layout import Layout

#: A process of a system without fcntl: everything is imported, and what needs a lock says why it cannot be.
WITHOUT_LOCKS = """
import sys
sys.modules["fcntl"] = None
import cohortium.__main__
cohortium.__main__.commands()
import cohortium.kb.storage.writer, cohortium.eval.baselines.retrieval.vectors
print("imported")
sys.argv = ["cohortium", "ingest", sys.argv[1], "--kb", sys.argv[2]]
cohortium.__main__.main()
"""


def test_a_lock_is_for_one_or_shared(tmp_path: Path) -> None:
    """Two holders that share, or one alone."""
    handles = [os.open(tmp_path, os.O_RDONLY) for _ in range(3)]
    try:
        lock(handles[0], shared=True)
        lock(handles[1], shared=True)
        with pytest.raises(BlockingIOError):
            lock(handles[2])
    finally:
        for handle in handles:
            os.close(handle)


def test_without_locks_nothing_is_written_or_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where they are missing it is said, with what to do; no folder is made."""
    monkeypatch.setattr(locks, "fcntl", None)
    layout = Layout(tmp_path / "kb")
    with pytest.raises(NoLocks, match=r"Windows is not supported\. Hint: "), layout.writing():
        pass
    with pytest.raises(NoLocks), whole_folder(tmp_path / "export"):
        pass
    with pytest.raises(NoLocks):
        layout.hold("0123456789abcdef")
    assert list(tmp_path.iterdir()) == []


def test_all_is_imported_on_a_system_without_locks(tmp_path: Path) -> None:
    """The program starts there, and a command that needs a knowledge base ends with a message and its exit code."""
    notes = tmp_path / "notes.jsonl"
    notes.write_text('{"patient_id": "P1", "doc_id": "a", "text": "Lung cancer."}\n', encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_LOCKS, str(notes), str(tmp_path / "kb")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "imported" in done.stdout
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    assert "Windows is not supported" in done.stderr
