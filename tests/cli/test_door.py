"""The door: help, interruption, closed pipes."""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from cohortium import __version__
from cohortium.__main__ import MODULES, commands

Command = Callable[..., Result]


def test_the_version_is_printed(run: Command) -> None:
    """--version prints the package's version."""
    assert run("--version").stdout.strip() == f"cohortium {__version__}"


def test_no_command_shows_the_help(run: Command) -> None:
    """Without a word the help is shown."""
    assert "ingest" in run().output


def test_each_command_is_loaded_from_the_module_that_has_it() -> None:
    """The table of the door is that of the modules; one command alone is loaded with the few that stand beside it."""
    for module, names in MODULES:
        assert tuple(name for name, _ in importlib.import_module(f"cohortium{module}").COMMANDS) == names, module
    alone = [command.name for command in commands("verify").registered_commands]
    assert alone == ["verify"]
    assert [group.name for group in commands("eval").registered_groups] == ["eval"]


def test_a_query_that_lists_answer_loads_no_columns_and_no_database(sample_kb: Path) -> None:
    """Nor does the text of its answer: numpy, pyarrow and DuckDB take longer to load than such a query to answer."""
    code = (
        "import sys; from cohortium.__main__ import commands; from typer.testing import CliRunner\n"
        "done = CliRunner().invoke(commands('query'), ['query', sys.argv[1], 'lung cancer and stage >= II'])\n"
        "print(done.exit_code, [name for name in ('numpy', 'pyarrow', 'duckdb', 'networkx') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code, str(sample_kb)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "0 []"


def test_an_unknown_command_is_a_usage_error(run: Command) -> None:
    """A typo in a command is exit code 2, with the nearest command."""
    result = run("qurey")
    assert result.exit_code == 2
    assert "query" in result.stderr


def test_a_closed_pipe_is_no_error(sample_kb: Path) -> None:
    """When the reader of the output has gone, the command ends quietly with 0."""
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "cohortium", "query", str(sample_kb), "not (death)", "--format", "json"]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is full")
@pytest.mark.parametrize("words", [["query", "KB", "not (death)"], ["info", "KB", "--format", "json"], ["--help"]])
@pytest.mark.parametrize("to", [">/dev/full", ">&-"])
def test_an_output_that_takes_nothing_is_told_in_a_line(sample_kb: Path, words: list[str], to: str) -> None:
    """A full disk, or a standard output that is closed: exit 2 and no traceback."""
    asked = [str(sample_kb) if word == "KB" else word for word in words]
    command = ["sh", "-c", f'"$@" {to}', "sh", sys.executable, "-m", "cohortium", *asked]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("cohortium: standard output ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(("form", "sign"), [("table", "(2\\u20133)"), ("json", "“")])
def test_an_old_locale_costs_letters_and_not_the_answer(sample_kb: Path, form: str, sign: str) -> None:
    """Where standard output has ASCII only, other letters are told by their codes, and JSON stays JSON."""
    asked = "lung cancer" if form == "table" else "'lung cancer' -- “quoted”"
    command = [sys.executable, "-m", "cohortium", "query", str(sample_kb), asked, "--format", form]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert (done.returncode, done.stderr) == (0, "")
    assert sign in (done.stdout if form == "table" else json.loads(done.stdout)["query"])


def test_an_interrupt_is_exit_code_130(sample_kb: Path) -> None:
    """Ctrl-C ends a command that waits for input with 130, without a traceback."""
    command = [sys.executable, "-m", "cohortium", "query", str(sample_kb), "-"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        time.sleep(3)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == 130
        assert process.stderr is not None
        assert process.stderr.read().strip() == "cohortium: interrupted"
