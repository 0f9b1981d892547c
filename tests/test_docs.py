"""The documentation tells the truth: its commands exist, its links lead somewhere, it is nobody's machine."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from cohortium.__main__ import app
from tests.places import ROOT

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
COMMANDS = get_command(app)


def shell_lines(page: Path) -> list[str]:
    """The commands in a page's blocks and between its backticks (a leading ``$`` is a prompt)."""
    text = page.read_text(encoding="utf-8")
    lines = re.findall(r"^(?: {4}|)(?:\$ )?((?:cohortium|make) [^\n]*)$", text, re.M)
    lines += re.findall(r"`((?:cohortium|make) [^`\n]*)`", text)
    return [line for line in lines if "…" not in line]


def unknown(words: list[str]) -> list[str]:
    """The words of a command line of ours that the program does not know: subcommands and options."""
    command, options = COMMANDS, {"--help"}
    rest = words[1:]
    while isinstance(command, TyperGroup) and rest and not rest[0].startswith("-"):
        if rest[0] not in command.commands:
            return [rest[0]]
        command = command.commands[rest.pop(0)]
    options |= {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
    return [word for word in rest if re.match(r"--[a-z]", word) and word.partition("=")[0] not in options]


def test_documented_commands_exist() -> None:
    """Each command and option shown in a page is one that the program knows, or a target of the Makefile."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    seen = 0
    for page in PAGES:
        for line in shell_lines(page):
            words = shlex.split(re.sub(r" \| .*|[\[\]]", "", line.split("#")[0]), posix=True)
            wrong = unknown(words) if words[0] == "cohortium" else [one for one in words[1:2] if one not in targets]
            assert not wrong, f"{page.name}: {line}"
            seen += 1
    assert seen >= 10


def test_a_wrong_command_is_found() -> None:
    """A subcommand or an option that there is not is told."""
    assert unknown(["cohortium", "eval", "acr", "--kb", "KB", "--labels=F"]) == []
    assert unknown(["cohortium", "eval", "arc"]) == ["arc"]
    assert unknown(["cohortium", "query", "KB", "Q", "--explian"]) == ["--explian"]


def anchors(page: Path) -> set[str]:
    """What links can name of a page: its headings in small letters, without punctuation, a hyphen for each blank.

    Of equal headings the second has -1 behind it, and so on. What stands in blocks of code is no heading.
    """
    text = re.sub(r"^(```|~~~).*?^\1", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    names: set[str] = set()
    for heading in re.findall(r"^#{1,6} +(.+?)[ #]*$", text, re.M):
        shown = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
        name = first = re.sub(r"[^\w\- ]", "", shown.lower()).replace(" ", "-")
        times = 0
        while name in names:
            times += 1
            name = f"{first}-{times}"
        names.add(name)
    return names


def broken_links(page: Path) -> list[str]:
    """The relative links of a page that name no file, or no heading of one."""
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if re.match(r"[a-z]+:", target):
            continue
        place, hash_, anchor = target.partition("#")
        file = page.parent / place if place else page
        if not file.exists() or hash_ and (file.suffix != ".md" or anchor not in anchors(file)):
            broken.append(target)
    return broken


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    """Each relative link of each page names a file of the checkout and, after #, one of its headings."""
    assert broken_links(page) == []


def linked(page: Path) -> list[Path]:
    """The files that a page links to."""
    targets = re.findall(r"\]\(([^)#\s]+)[^)\s]*\)", page.read_text(encoding="utf-8"))
    return [(page.parent / target).resolve() for target in targets if not re.match(r"[a-z]+:", target)]


def test_the_index_leads_to_every_page() -> None:
    """Whoever begins at the index of the documentation and follows links gets to each page of ``docs/``."""
    reached, waiting = set[Path](), [ROOT / "docs" / "index.md"]
    while waiting:
        page = waiting.pop()
        if page not in reached and page.suffix == ".md" and page.is_relative_to(ROOT / "docs"):
            reached.add(page)
            waiting += linked(page)
    assert sorted((ROOT / "docs").rglob("*.md")) == sorted(reached)


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    """A file or a heading that is not there is told; a comment in a block of code is no heading."""
    (tmp_path / "b.md").write_text(
        "# One: `two`, [three](c.md) & four\n\n## Again\n\n## Again\n\n```\n# no heading\n```\n"
    )
    page = tmp_path / "a.md"
    page.write_text(
        "# Here\n[1](b.md) [2](b.md#one-two-three--four) [3](b.md#again-1) [4](#here) [5](https://example.org/#x)\n"
        "[6](c.md) [7](b.md#no-heading) [8](b.md#again-2) [9](#there)\n"
    )
    assert broken_links(page) == ["c.md", "b.md#no-heading", "b.md#again-2", "#there"]


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


def test_the_readme_fits_one_page() -> None:
    """The README is what a newcomer reads in two minutes; the rest is under ``docs/``."""
    assert (ROOT / "README.md").read_text(encoding="utf-8").count("\n") <= 80
