"""What a shell does for a newcomer: completion, hints on quotes, the greeting of the conversation, strict lint."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.completion import get_completion_script
from typer.testing import CliRunner

import cohortium
from cohortium.__main__ import app
from cohortium.engine.commands.repl import greeting

RUNNER = CliRunner()


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A knowledge base of one note."""
    folder = tmp_path_factory.mktemp("shell")
    note = '{"patient_id": "P1", "doc_id": "a", "date": "2020-03-04", "text": "Lung cancer."}\n'
    (folder / "notes.jsonl").write_text(note, encoding="utf-8")
    cohortium.ingest(folder / "notes.jsonl", kb=folder / "kb", progress=False)
    return folder / "kb"


def completed(shell: str, line: str) -> str:
    """What the program answers to a shell that asks how ``line`` may go on."""
    environment = {
        "_COHORTIUM_COMPLETE": f"complete_{shell}",
        "_TYPER_COMPLETE_ARGS": line,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(line.split(" ")) - 1),
    }
    return RUNNER.invoke(app, [], env=environment, prog_name="cohortium").output


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_commands(shell: str) -> None:
    """The names of commands and groups by how they begin; for files the shell is left to itself."""
    for begun, names in {
        "qu": ["query"],
        "wh": ["why-not"],
        "onto": ["ontology"],
        "re": ["read", "repl", "restore"],
    }.items():
        found = completed(shell, f"cohortium {begun}")
        assert all(name in found for name in names), (shell, begun, found)
        assert "ingest" not in found
    assert "--explain" in completed(shell, "cohortium query --ex")
    # No answer, or zsh's word for files: each of the three scripts lets the shell list files then.
    assert completed(shell, "cohortium query ./").strip() in ("", "_files")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_there_is_a_script_for_each_shell(shell: str) -> None:
    """What ``--show-completion`` prints and ``--install-completion`` puts in its place."""
    script = get_completion_script(prog_name="cohortium", complete_var="_COHORTIUM_COMPLETE", shell=shell)
    assert f"_COHORTIUM_COMPLETE=complete_{shell}" in script
    help_page = RUNNER.invoke(app, ["--help"]).output
    assert "--install-completion" in help_page
    assert "--show-completion" in help_page


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["query", "KB", "lung", "cancer"], "QUERY is one argument"),
        (["ask", "KB", "who", "has", "cancer"], "ENGLISH is one argument"),
        (["sql", "KB", "select", "1"], "STATEMENT is one argument"),
        (["explain", "KB", "lung", "cancer", "P1"], "QUERY is one argument"),
        (["funnel", "KB", "lung", "cancer"], "QUERY is one argument"),
    ],
)
def test_words_without_quotes_get_a_hint(words: list[str], says: str) -> None:
    """A shell parts what stands in no quotes; the error says so, and how it is written."""
    told = RUNNER.invoke(app, words)
    plain = " ".join(told.output.replace("│", " ").split())
    assert told.exit_code == 2
    assert says in plain
    assert "in quotes: " in plain


def test_other_words_too_many_get_no_such_hint() -> None:
    """Where nothing is asked in words, quotes would not help."""
    assert "quotes" not in RUNNER.invoke(app, ["info", "KB", "KB2"]).output


def test_the_conversation_begins_with_its_help(kb: Path) -> None:
    """Who opens it learns what a line may be, and what tells more."""
    with cohortium.open(kb) as opened:
        told = greeting(opened)
    assert all(part in told for part in (":help", ":quit", "Tab", "?", "1 patient"))


def test_strict_lint_leaves_with_1_on_a_contradiction(kb: Path) -> None:
    """A script can stop there; without ``--strict``, and for what is only doubtful, it goes on."""
    contradiction = [str(kb), "death and not death"]
    assert RUNNER.invoke(app, ["lint", *contradiction, "--strict"]).exit_code == 1
    assert RUNNER.invoke(app, ["lint", *contradiction]).exit_code == 0
    assert RUNNER.invoke(app, ["lint", str(kb), "ER and lung cancer", "--strict"]).exit_code == 0
