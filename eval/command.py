"""The command of a run as a report may show it: without where on this machine its files lie."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def without_places(words: Iterable[str]) -> str:
    """Words of a command with absolute paths cut to their names: ``/a/b.json`` as ``b.json``, ``--json=/a/b.json`` as
    ``--json=b.json``."""
    return " ".join(map(_without_place, words))


def _without_place(word: str) -> str:
    option, equals, value = word.rpartition("=")
    return f"{option}{equals}{Path(value).name}" if Path(value).is_absolute() else word
