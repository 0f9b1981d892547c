"""The command of a run as a report may show it: without where on this machine its files lie."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final


def without_places(words: Iterable[str]) -> str:
    """Words of a command with absolute paths cut to their names: ``/a/b.json`` as ``b.json``, ``--json=/a/b.json`` as
    ``--json=b.json``."""
    return " ".join(map(_without_place, words))


def _without_place(word: str) -> str:
    option, equals, value = word.rpartition("=")
    return f"{option}{equals}{Path(value).name}" if Path(value).is_absolute() else word


#: Rows that could not be read, of which so many are printed.
_SHOWN_PROBLEMS: Final = 20


def print_problems(problems: Sequence[Mapping[str, str]]) -> None:
    """What could not be read: the file where it is told, the place, the reason; of many the first."""
    for one in problems[:_SHOWN_PROBLEMS]:
        print(f"not read: {': '.join(one[name] for name in ('file', 'place', 'reason') if name in one)}")
    if len(problems) > _SHOWN_PROBLEMS:
        print(f"and {len(problems) - _SHOWN_PROBLEMS} more; --format json lists all")
