"""The transcripts of the tutorial and of the life of a note are true: the commands run and print what stands there."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from cohortium.kb.errors import DECLINED
from tests.places import DOCS

TUTORIAL = DOCS / "guide" / "tutorial.md"
LIFE = DOCS / "internals" / "life_of_a_note.md"
LEFT_OUT = "…"


def blocks(page: Path, language: str) -> list[str]:
    """The page's blocks of code in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S)


def sessions(page: Path) -> list[tuple[str, str]]:
    """Each command of a page with what is shown of its output."""
    return re.findall(r"^\$ cohortium (.*)\n((?:(?!\$ ).*\n)*)", "".join(blocks(page, "console")), re.M)


@pytest.fixture(scope="session")
def life_kb(run: Callable[..., Result], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The knowledge base of the two notes of the life of a note."""
    folder = tmp_path_factory.mktemp("life")
    heads = (("D1", "2024-03-05", "pathology"), ("D2", "2024-04-11", "oncology"))
    notes = [
        {"patient_id": "P1", "doc_id": name, "date": day, "type": kind, "text": text}
        for (name, day, kind), text in zip(heads, blocks(LIFE, "text"), strict=True)
    ]
    (folder / "notes.jsonl").write_text("".join(json.dumps(note) + "\n" for note in notes), encoding="utf-8")
    assert run("ingest", folder / "notes.jsonl", "--kb", folder / "notes.kb").exit_code == 0
    return folder / "notes.kb"


@pytest.fixture
def place(sample_kb: Path, life_kb: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with what the pages have made so far: their knowledge bases, and the note to write."""
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "demo.kb").symlink_to(sample_kb)
    (tmp_path / "notes.kb").symlink_to(life_kb)
    assert blocks(TUTORIAL, "text")[0] == blocks(LIFE, "text")[0]
    (tmp_path / "note.txt").write_text(blocks(LIFE, "text")[0], encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "400")
    return tmp_path


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(("command", "shown"), [*sessions(TUTORIAL), *sessions(LIFE)])
def test_each_command_prints_what_the_page_shows(run: Callable[..., Result], command: str, shown: str) -> None:
    """Each command ends well or declines; between the lines left out, the page shows its output as it is, in order."""
    result = run(*shlex.split(command))
    declined = shlex.split(command)[0] == "ask" and shown.startswith("not answered")
    assert result.exit_code == (DECLINED if declined else 0), result.output
    printed = "\n".join(line.rstrip() for line in result.stdout.splitlines()).strip("\n")
    pieces = [piece.strip("\n") for piece in re.split(rf"^{LEFT_OUT}$", shown, flags=re.M)]
    at = 0
    for piece in pieces:
        found = printed.find(piece, at)
        assert found >= 0, f"not printed:\n{piece}\n\nprinted:\n{printed}"
        at = found + len(piece)
    assert printed.startswith(pieces[0])
    assert printed.endswith(pieces[-1])


@pytest.mark.usefixtures("place")
def test_the_python_of_the_tutorial_runs() -> None:
    """Each Python block runs as it stands, and its assertions hold."""
    assert blocks(TUTORIAL, "python")
    for block in blocks(TUTORIAL, "python"):
        exec(compile(block, "tutorial.md", "exec"), {})
