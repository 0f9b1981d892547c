"""Resuming: a run that was killed goes on, and ends with the knowledge base of a run that was not."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cohortium.ingest.run.spool import FOLDER
from tests.ingest.made_notes import note, tables
from tests.places import ROOT

Ingest = Callable[..., Any]
Write = Callable[..., Path]

SCRIPT = """
import sys
from tests.ingest.stub_reading import stub
from cohortium.ingest.run.pipeline import run_ingest
from cohortium.kb.errors import CohortiumError
if __name__ == "__main__":
    try:
        run_ingest([sys.argv[1]], sys.argv[2], workers=int(sys.argv[3]), reading=stub())
    except CohortiumError as error:
        print(error, file=sys.stderr)
        sys.exit(error.exit_code)
"""


@pytest.fixture
def source(jsonl: Write) -> Path:
    """Forty slow notes of forty patients, in ten batches."""
    return jsonl([note(f"P{n:02}", text="SLOW ECOG " + "word " * 22_000) for n in range(40)])


@pytest.fixture
def begun(source: Path, tmp_path: Path) -> Callable[[int, int], subprocess.Popen[str]]:
    """Starts a run in another process and waits until a batch is finished."""

    def start(workers: int, when: int = 2) -> subprocess.Popen[str]:
        script = tmp_path / "script.py"
        script.write_text(SCRIPT)
        kb = tmp_path / "x.kb"
        words = [sys.executable, str(script), str(source), str(kb), str(workers)]
        env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
        # Its own group, so that its workers can be looked for without looking at anyone else's processes.
        process = subprocess.Popen(words, text=True, stderr=subprocess.PIPE, start_new_session=True, env=env)
        limit = time.monotonic() + 60
        while len(list(kb.glob(f"{FOLDER}/*.batch"))) < when:
            assert process.poll() is None, process.communicate()[1]
            assert time.monotonic() < limit
            time.sleep(0.01)
        return process

    return start


def group_is_gone(group: int) -> bool:
    """Whether no process of the group is left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.mark.parametrize("workers", [1, 2])
def test_a_killed_run_resumes_to_the_same_tables(
    begun: Callable[..., Any], ingest: Ingest, source: Path, tmp_path: Path, workers: int
) -> None:
    """Finished batches are not read again; a torn one is; the folder between is private; no worker outlives the run."""
    process = begun(workers)
    process.kill()
    process.wait()
    limit = time.monotonic() + 20
    while not group_is_gone(process.pid):
        assert time.monotonic() < limit
        time.sleep(0.05)
    spool = tmp_path / "x.kb" / FOLDER
    assert stat.S_IMODE(spool.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in spool.iterdir()} == {0o600}
    finished = sorted(spool.glob("*.batch"))
    assert 2 <= len(finished) < 10
    finished[0].write_bytes(finished[0].read_bytes()[:-7])
    resumed = ingest(source)
    assert resumed.resumed == len(finished) - 1
    assert resumed.batches == 10
    assert not spool.exists()
    ingest(source, kb="whole.kb", workers=2)
    assert tables(tmp_path / "x.kb") == tables(tmp_path / "whole.kb")


def test_an_interrupted_run_says_how_to_go_on(begun: Callable[..., Any], ingest: Ingest, source: Path) -> None:
    """Ctrl-C is exit code 130, and what was read is kept."""
    process = begun(2, when=1)
    os.killpg(process.pid, signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "run the same command again" in told
    assert "Traceback" not in told
    assert ingest(source).resumed >= 1


def test_a_second_writer_is_refused_while_a_run_is_on(begun: Callable[..., Any], ingest: Ingest, source: Path) -> None:
    """It would build on a generation that is about to be replaced."""
    process = begun(1, when=1)
    try:
        with pytest.raises(Exception, match="Another process is writing") as error:
            ingest(source)
        assert error.value.exit_code == 7
    finally:
        process.kill()
        process.wait()


def test_other_notes_or_another_reading_take_up_nothing(
    begun: Callable[..., Any], ingest: Ingest, source: Path, jsonl: Write
) -> None:
    """What a batch's result depends on is its name."""
    from tests.ingest.stub_reading import stub

    process = begun(1, when=1)
    process.kill()
    process.wait()
    rows = [note(f"P{n:02}", text="ECOG " + "other " * 22_000) for n in range(4)]
    assert ingest(jsonl(rows, "other.jsonl"), reading=stub("2")).resumed == 0


def test_a_worker_that_is_killed_costs_only_time(ingest: Ingest, jsonl: Write, tmp_path: Path) -> None:
    """The knowledge base stays as it was, the message says what to do, and doing so takes up what was finished."""
    from cohortium.ingest.run.workers import WorkerLost

    rows = [note(f"P{n}", text="ECOG " + "word " * 90_000 + "DIE" * (n == 3)) for n in range(4)]
    with pytest.raises(WorkerLost, match="run the same command again"):
        ingest(jsonl(rows), workers=2)
    assert not (tmp_path / "x.kb" / "CURRENT").exists()
    report = ingest(jsonl(rows), workers=1)
    assert report.stored == 4
    assert report.resumed >= 1


def test_a_loss_that_is_met_when_more_work_is_given_is_told_the_same_way(
    ingest: Ingest, jsonl: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between two batches a worker's death shows when the next one is handed over, and not by a result."""
    from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor

    from cohortium.ingest.run.workers import WorkerLost

    def broken(*_: Any, **__: Any) -> None:
        raise BrokenProcessPool("a child process terminated abruptly")

    monkeypatch.setattr(ProcessPoolExecutor, "submit", broken)
    with pytest.raises(WorkerLost, match="run the same command again"):
        ingest(jsonl([note("P1", text="ECOG 1")]), workers=2)
