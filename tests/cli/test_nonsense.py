"""Nonsense in an option is told with the option's name and exit code 2, in every command, before anything is done."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import Result

from cohortium.__main__ import commands
from tests.places import SAMPLES

Command = Callable[..., Result]
#: By the type of an option, what is none of its values. Below zero is none of any number that has a least value.
NONSENSE: dict[type, tuple[str, ...]] = {
    int: ("x", "", "nan", "1.5", "1e400", "9" * 30, "--"),
    float: ("x", "", "nan", "inf", "-inf", "1e400", "9" * 30),
    enum.Enum: ("foo", "", "BELIEVED "),
}
WRONG: Any = typer.BadParameter.__bases__[0]


def every_option() -> Iterator[tuple[str, Any, Any]]:
    """The commands by their words, each with its options."""
    waiting = [("", typer.main.get_command(commands()))]
    while waiting:
        name, one = waiting.pop()
        inner = getattr(one, "commands", None)
        if inner is not None:
            waiting += [(f"{name} {word}".strip(), command) for word, command in inner.items()]
            continue
        for option in one.params:
            if option.param_type_name == "option" and not option.is_flag:
                yield name, one, option


def nonsense(option: Any) -> tuple[str, ...]:
    """What the option cannot take."""
    kind = option.type_descriptor.annotation
    if not isinstance(kind, type):
        return ()
    found = next((words for one, words in NONSENSE.items() if issubclass(kind, one)), ())
    return (*found, "-1") if option.min is not None else found


def test_nonsense_in_a_number_or_a_choice_is_told_with_the_name_of_the_option() -> None:
    """Of all options of all commands, before any other word is looked at."""
    tried = 0
    for name, command, option in every_option():
        for value in nonsense(option):
            with pytest.raises(WRONG) as caught:
                command.make_context(name, [f"{option.opts[0]}={value}"])
            assert option.opts[0] in caught.value.format_message(), f"{name} {option.opts[0]}={value}: {caught.value}"
            assert caught.value.exit_code == 2
            tried += 1
    assert tried > 400


#: Options of words that are known: the command with all that it needs, and what it must name.
WORDS = [
    ("ingest {notes} --kb {new} --dates foo", "--dates"),
    ("ingest {notes} --kb {new} --map foo", "--map"),
    ("ingest {notes} --kb {new} --map foo=bar", "--map"),
    ("ingest {notes} --kb {new} --model foo", "--model"),
    ("ingest {notes} --kb {new} --workers 99999", "--workers"),
    ("read {notes} --date foo", "--date"),
    ("read {notes} --date 2019-13-01", "--date"),
    ("read {notes} --model foo", "--model"),
    ("query {kb} surgery --set foo", "--set"),
    ("query {kb} surgery --definitions {new}", "definitions"),
    ("verify {kb} surgery --patient foo", "patient"),
    ("verify {kb} surgery --model foo", "--model"),
    ("ontology search lung --kind foo", "--kind"),
]


@pytest.mark.parametrize(("words", "named"), WORDS, ids=[words for words, _ in WORDS])
def test_a_word_that_an_option_does_not_know_is_told(
    run: Command, sample_kb: Path, tmp_path: Path, words: str, named: str
) -> None:
    """Nothing is made, and what the option takes is told."""
    new = tmp_path / "new.kb"
    result = run(*words.format(notes=SAMPLES, kb=sample_kb, new=new).split())
    assert result.exit_code == 2, result.output
    assert isinstance(result.exception, SystemExit)
    assert named in result.stderr
    assert not new.exists()
