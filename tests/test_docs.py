"""The documentation tells the truth: its commands exist, its links lead somewhere, it is nobody's machine."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
CACHES = {".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", ".benchmarks", "__pycache__"}
NOT_OURS = {".git", ".venv", "build", "dist", *CACHES}
TEXT = {".py", ".md", ".toml", ".tsv", ".sql", ".lark", ".txt", ".jsonl", ".json", ""}


def our_files() -> list[Path]:
    """Every text file of the checkout that is ours."""
    return [
        path
        for path in sorted(ROOT.rglob("*"))
        if path.is_file()
        and path.suffix in TEXT
        and not any(part in NOT_OURS or part.endswith(".egg-info") for part in path.relative_to(ROOT).parts)
    ]


PAGES = [path for path in our_files() if path.suffix == ".md"]


def shell_lines(page: Path) -> list[str]:
    """The commands in a page's blocks and between its backticks (a leading ``$`` is a prompt)."""
    text = page.read_text(encoding="utf-8")
    lines = re.findall(r"^(?: {4}|)(?:\$ )?((?:cohortium|make) [^\n]*)$", text, re.M)
    lines += re.findall(r"`((?:cohortium|make) [^`\n]*)`", text)
    return [line for line in lines if "…" not in line]


@pytest.fixture(scope="module")
def commands() -> set[str]:
    """The commands that ``cohortium --help`` lists."""
    done = subprocess.run([sys.executable, "-m", "cohortium", "--help"], capture_output=True, text=True, check=True)
    return set(re.findall(r"^\W*([a-z][a-z-]+)\s{2,}", done.stdout, re.M))


def test_documented_commands_exist(commands: set[str]) -> None:
    """Each command shown in a page is one that the program lists, or a target of the Makefile."""
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    seen = 0
    for page in PAGES:
        for line in shell_lines(page):
            words = shlex.split(line.split("#")[0].split(" | ")[0], posix=True)
            known = commands if words[0] == "cohortium" else targets
            assert words[1].startswith("-") or words[1] in known, f"{page.name}: {line}"
            seen += 1
    assert seen >= 10


def test_links_lead_somewhere() -> None:
    """Each relative link of each page names a file of the checkout."""
    broken = []
    for page in PAGES:
        for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
            if not re.match(r"[a-z]+:|#", target) and not (page.parent / target.partition("#")[0]).exists():
                broken.append(f"{page.relative_to(ROOT)} -> {target}")
    assert not broken


# Written in pieces, so that this file is not its own first find.
MACHINE_PATH = re.compile(r"(?<![\w.:/<-])/(?:" + "|".join(("home", "root", "Users", "work", "mnt", "tmp")) + r")/\w")
UNFINISHED = re.compile(r"\b(?:" + "|".join(("TO" + "DO", "FIX" + "ME", "lorem" + " ipsum")) + r")\b")


def test_nothing_points_at_one_machine() -> None:
    """No file names an absolute path of the machine it was written on."""
    assert MACHINE_PATH.search("see " + "/ho" + "me/someone/notes")
    assert not [str(p.relative_to(ROOT)) for p in our_files() if MACHINE_PATH.search(p.read_text(encoding="utf-8"))]


def test_nothing_is_left_for_later_in_place() -> None:
    """No file carries a mark of unfinished work; what is missing is said in the docs."""
    assert UNFINISHED.search("# TO" + "DO: later")
    assert not [str(p.relative_to(ROOT)) for p in our_files() if UNFINISHED.search(p.read_text(encoding="utf-8"))]


def test_the_readme_fits_one_screen_and_a_bit() -> None:
    """The README is what a newcomer reads in two minutes; the rest is under ``docs/``."""
    assert (ROOT / "README.md").read_text(encoding="utf-8").count("\n") <= 130
