"""Names that are not UTF-8: what can be read under them is read, and the rest is told without a traceback."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from cohortium.ingest.readers.sources import Sources
from cohortium.kb.errors import UsageError
from tests.cli.test_visible_output import COMMANDS, assert_seen
from tests.places import SAMPLES

Command = Callable[..., Result]
NAME = os.fsdecode(b"\xff.jsonl")


@pytest.fixture(scope="module")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of such a name, which is of no form, in an empty folder of such a name."""
    folder = tmp_path_factory.mktemp("foreign") / os.fsdecode(b"\xfe\xff")
    try:
        folder.mkdir()
    except OSError:
        pytest.skip("the file system takes no such name")
    (folder / NAME).write_bytes(b"Zanzibar\n")
    return folder / NAME


#: Commands that answer all the same: of a file whose name they take, and of a word that nothing is called by.
ANSWER = {"read", "ontology search"}


def ends(result: Result, name: str, *words: object) -> None:
    """The command is wrong, which is told in a line that can be seen; or it answers."""
    told = assert_seen(result)
    assert (name not in ANSWER) <= result.exit_code < 9, (name, words, told)
    assert "Traceback" not in told
    assert "defect" not in told


def options(name: str, value: object) -> list[object]:
    """What the command needs, each with this value."""
    return [word for one in COMMANDS[name].params if one.required and one.param_type_name == "option"
            for word in (one.opts[0], value)]  # fmt: skip


@pytest.mark.parametrize("name", sorted({*COMMANDS} - {"train linker"}))
def test_every_command_tells_such_a_name(
    run: Command, foreign: Path, sample_kb: Path, tmp_path: Path, name: str
) -> None:
    """As each argument and each option, of a file that is there and of one that is not."""
    arguments = [one for one in COMMANDS[name].params if one.param_type_name == "argument"]
    needed = options(name, foreign)
    for path in (foreign, foreign.with_name(os.fsdecode(b"\xfd"))):
        ends(run(*name.split(), *[path] * len(arguments), *options(name, path), stdin=""), name, path)
    if len(arguments) > 1:
        ends(run(*name.split(), sample_kb, *[foreign] * (len(arguments) - 1), *needed, stdin=""), name)


#: Commands on a knowledge base and a folder whose names are such.
ON_A_KB = {
    "info": (), "query": ("stage IV",), "sql": ("SELECT 1",), "explain": ("stage IV", "P1"), "check": (), "migrate": (),
    "export": ("out",), "verify": ("stage IV",), "repl": (), "report": ("stage IV", "--html", "-"),
    "diff": ("stage IV",),
}  # fmt: skip


def test_a_knowledge_base_of_such_a_name_is_refused(
    run: Command, foreign: Path, sample_kb: Path, tmp_path: Path
) -> None:
    """By every command, for the database opens none; nothing is made."""
    kb = foreign.parent / os.fsdecode(b"kb\xff")
    shutil.copytree(sample_kb, kb)
    for name, words in ON_A_KB.items():
        result = run(name, kb, *([sample_kb] if name == "diff" else []), *words, stdin="")
        assert result.exit_code == 2, (name, result.output)
        assert "not UTF-8" in assert_seen(result)
    new = foreign.parent / os.fsdecode(b"new\xff")
    export = tmp_path / "out"
    for words in (("ingest", SAMPLES, "--kb", new), ("export", sample_kb, new), ("bench", "make-kb", new)):
        result = run(*words)
        assert (result.exit_code, new.exists()) == (2, False), (words, result.output)
        assert "not UTF-8" in assert_seen(result)
    assert run("export", sample_kb, export).exit_code == 0
    assert run("restore", export, "--kb", new).exit_code == 2
    assert not new.exists()


def test_notes_under_such_a_name_are_read(foreign: Path, tmp_path: Path) -> None:
    """By the readers that are ours; a table of DuckDB's is refused by its name."""
    for path, text in ((tmp_path / NAME, '{"patient_id": "P", "text": "x"}\n'),
                       (tmp_path / os.fsdecode(b"\xfe.csv"), "patient_id,text\nP,x\n")):  # fmt: skip
        path.write_text(text)
        assert [type(one).__name__ for one in Sources([path])] == ["Incoming"]
    for ending in (b".parquet", b".duckdb"):
        path = tmp_path / os.fsdecode(b"\xff" + ending)
        path.write_bytes(b"PAR1")
        with pytest.raises(UsageError, match="not UTF-8"):
            Sources([path])
