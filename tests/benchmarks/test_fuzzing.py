"""What the long run of generated attacks counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.durability import fuzzing

TEST = '''"""Two tests."""
from hypothesis import given, settings, strategies as st
from tests.amounts import examples

@settings(max_examples=examples(5), database=None)
@given(st.integers())
def test_holds(number):
    assert isinstance(number, int)

@settings(max_examples=examples(5), database=None)
@given(st.integers())
def test_fails(number):
    assert number < 100
'''


def test_executions_and_failures_are_those_of_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as were asked for; a test that fails is told with its seed, and the run is not well."""
    (tmp_path / "tests").mkdir()
    path = tmp_path / "tests" / "test_fuzz_numbers.py"
    path.write_text(TEST.replace("from tests.amounts import examples", "examples = lambda number: 30"))
    monkeypatch.setattr(fuzzing, "_ROOT", tmp_path)
    monkeypatch.setattr(fuzzing, "_TESTS", tmp_path / "tests")
    assert fuzzing.files(["numbers"]) == (path,)
    assert fuzzing.files(["readers"]) == ()
    output, ended = fuzzing.run_round(path, 30, 1, 60)
    assert ended
    counted = dict(fuzzing.executions(output))
    assert counted["test_fuzz_numbers.py::test_holds"] == 30
    assert counted["test_fuzz_numbers.py::test_fails"] > 0
    assert fuzzing.main(["--minutes", "0.0001", "--json", str(tmp_path / "out.json")]) == 1
    assert "test_fails with seed 1" in (tmp_path / "out.json").read_text()


def test_a_round_that_does_not_end_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And told as such."""
    (tmp_path / "test_fuzz_slow.py").write_text("import time\ndef test_slow():\n    time.sleep(60)\n")
    monkeypatch.setattr(fuzzing, "_ROOT", tmp_path)
    assert not fuzzing.run_round(tmp_path / "test_fuzz_slow.py", 1, 1, 1.5)[1]
