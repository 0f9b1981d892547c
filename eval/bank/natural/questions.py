"""Questions in plain English, each asking what a query of the bank asks: read from a file, or the bank's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ....kb.errors import UsageError
from ....kb.files.text_files import json_of
from ..acr.bank import load_bank


@dataclass(frozen=True, slots=True)
class Question:
    """A question: its own id, the id of the bank's query that it asks for, its words."""

    id: str
    of: int
    text: str


def bank_questions() -> tuple[Question, ...]:
    """The bank's own English."""
    return tuple(Question(str(one.id), one.id, one.text) for one in load_bank())


def load_questions(path: Path) -> tuple[Question, ...]:
    """Reads JSON: a list of ``{"id", "of": bank id, "text"}``. UsageError for a file that is not one."""
    listed = json_of(path)
    if not isinstance(listed, list) or not listed:
        raise UsageError(f'\'{path}\' holds no list of questions. Hint: [{{"id", "of": bank id, "text"}}, …]')
    known = {one.id for one in load_bank()}
    return tuple(_question(one, at, path, known) for at, one in enumerate(listed, 1))


def _question(one: Any, at: int, path: Path, known: set[int]) -> Question:
    place = f"'{path}', question {at}"
    if not isinstance(one, Mapping) or not isinstance(one.get("text"), str):
        raise UsageError(f'{place}: no text. Hint: {{"id", "of": bank id, "text"}}')
    of = one.get("of")
    of = int(of) if isinstance(of, str) and of.isdecimal() else of
    if not isinstance(of, int) or of not in known:
        raise UsageError(f"{place}: 'of' is {one.get('of')!r}, which is no id of the bank")
    return Question(str(one.get("id", at)), of, one["text"])
