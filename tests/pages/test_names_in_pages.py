"""What the pages name of the tree is there: files, folders, modules, rooms."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.places import DOCS, ROOT

#: These tell of what was, as it was called then.
OF_THE_PAST = {"CHANGELOG.md", "history.md"}
PAGES = [page for page in [*sorted(ROOT.glob("*.md")), *sorted(DOCS.rglob("*.md"))] if page.name not in OF_THE_PAST]
FOLDERS = ("benchmarks", "docs", "engine", "eval", "ingest", "kb", "models", "query_lang", "tests")
PATH = re.compile(rf"(?<![\w/.-])(?:{'|'.join(FOLDERS)})/[\w./*-]*\w/?")
#: ``kb`` alone is also what an open knowledge base is called in examples.
MODULE = re.compile(r"(?<![\w/.])(?:benchmarks|engine|eval|ingest|query_lang|tests|kb(?=\.\w+\.\w))(?:\.\w+)+")


#: A file by its name alone, or by the end of its path.
FILE = re.compile(r"`([a-z_][\w/]*\.(?:py|toml|tsv|sql|lark))`")
TREE = ["/" + path.relative_to(ROOT).as_posix() for folder in FOLDERS for path in (ROOT / folder).rglob("*.*")]
TREE += [f"/{path.name}" for path in ROOT.iterdir()]
#: Files that are made or given, and lie in no tree.
GIVEN = {"acr_concepts.tsv", "dropped_FORMAT.tsv"}


def missing(text: str) -> Iterator[str]:
    """The paths, files and modules in a text that are not in the tree; a path may go without its ending."""
    for file in FILE.findall(text):
        if file not in GIVEN and not any(path.endswith("/" + file) for path in TREE):
            yield file
    for path in PATH.findall(text):
        if not any(ROOT.glob(path.rstrip("/"))) and not any(ROOT.glob(path.rstrip("/") + ".*")):
            yield path
    for module in MODULE.findall(text):
        room, _, name = module.replace(".", "/").rpartition("/")
        if not any((ROOT / f"{place}.py").exists() for place in (room, f"{room}/{name}", room.rpartition("/")[0])):
            yield module


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_names_is_there(page: Path) -> None:
    """Each path of ours and each module that a page names exists."""
    assert not list(missing(page.read_text(encoding="utf-8")))


def test_what_is_not_there_is_found() -> None:
    """A moved file and a renamed module are told."""
    text = "`kb/model.py`, `model.py`, `kb/model`, ingest.note.read.NoteReader, kb.find"
    assert not list(missing(text))
    text = "`modle.py`, kb/modle.py, ingest.note.raed.NoteReader"
    assert list(missing(text)) == ["modle.py", "kb/modle.py", "ingest.note.raed.NoteReader"]


ARCHITECTURE = (DOCS / "internals" / "architecture.md").read_text(encoding="utf-8")
#: A class that the architecture tells of, and the block of its members.
SEAMS = re.findall(r"^\*\*`([\w.]+\.[A-Z]\w+)`\*\*[^\n]*\n\n((?: {4}.*\n)+)", ARCHITECTURE, re.M)


@pytest.mark.parametrize(("place", "block"), SEAMS)
def test_the_members_that_the_architecture_names_are_there(place: str, block: str) -> None:
    """Each member of a class that begins a line, or stands behind three blanks, is one."""
    module, _, name = place.rpartition(".")
    owner = getattr(importlib.import_module(f"cohortium.{module}"), name)
    given = {*dir(owner), *re.findall(r"self\.(\w+)(?:: [^=]+)? = ", inspect.getsource(owner))}
    named = re.findall(r"(?:^ {4}|, | {3})\.(\w+)", block, re.M)
    assert len(named) > 5
    assert not set(named) - given


def rooms() -> Iterator[str]:
    """The rooms of the tree: the folders with code right below the five."""
    for folder in ("kb", "ingest", "query_lang", "engine", "eval"):
        yield from (f"{folder}/{one.parent.name}/" for one in sorted((ROOT / folder).glob("*/__init__.py")))


@pytest.mark.parametrize("room", list(rooms()))
def test_the_architecture_names_every_room(room: str) -> None:
    """The page of the architecture says what each room is for."""
    assert f"`{room}`" in ARCHITECTURE
