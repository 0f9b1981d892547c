"""The tutorial is true: its commands run on the sample notes and print what stands there; its Python runs."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "guide" / "tutorial.md").read_text("utf-8")
LEFT_OUT = "…"


def blocks(language: str) -> list[str]:
    """The page's blocks of code in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.M | re.S)


SESSIONS = re.findall(r"^\$ cohortium (.*)\n((?:(?!\$ ).*\n)*)", "".join(blocks("console")), re.M)


@pytest.fixture
def place(sample_kb: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with what the page has made so far: the knowledge base of the samples, and the note to write."""
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "demo.kb").symlink_to(sample_kb)
    (tmp_path / "note.txt").write_text(blocks("text")[0], encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "400")
    return tmp_path


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(("command", "shown"), SESSIONS)
def test_each_command_prints_what_the_page_shows(run: Callable[..., Result], command: str, shown: str) -> None:
    """Each command ends well; between the lines left out, its output stands in the page as it is, and in that order."""
    result = run(*shlex.split(command))
    assert result.exit_code == 0, result.output
    pieces = [piece.strip("\n") for piece in re.split(rf"^{LEFT_OUT}$", shown, flags=re.M)]
    at = 0
    for piece in pieces:
        found = result.stdout.find(piece, at)
        assert found >= 0, f"not printed:\n{piece}\n\nprinted:\n{result.stdout}"
        at = found + len(piece)
    if not shown.startswith(LEFT_OUT):
        assert result.stdout.strip("\n").startswith(pieces[0])
    if not shown.rstrip().endswith(LEFT_OUT):
        assert result.stdout.rstrip().endswith(pieces[-1].rstrip())


@pytest.mark.usefixtures("place")
def test_the_python_of_the_page_runs() -> None:
    """Each Python block runs as it stands, and its assertions hold."""
    assert blocks("python")
    for block in blocks("python"):
        exec(compile(block, "tutorial.md", "exec"), {})
