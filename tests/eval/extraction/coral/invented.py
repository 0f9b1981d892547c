"""Invented material of the tests of CORAL scoring: annotated notes from a few lines, and what a canned model says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from cohortium.eval.extraction.coral.units import Note
from cohortium.ingest.coral_schema.standoff import parse


def note_of(text: str, *lines: str, name: str = "note") -> Note:
    """A note whose annotations are told as ``Type words``, ``Relation words > words`` and ``Attribute words = value``.

    The words are looked up in the text, where they stand once.
    """
    ids: dict[str, str] = {}
    rows = []
    for line in lines:
        kind, _, rest = line.partition(" ")
        if " > " in rest:
            head, tail = rest.split(" > ")
            rows.append(f"R{len(rows) + 1}\t{kind} Arg1:{ids[head]} Arg2:{ids[tail]}")
        elif " = " in rest:
            words, value = rest.split(" = ")
            rows.append(f"A{len(rows) + 1}\t{kind} {ids[words]} {value}")
        else:
            assert text.count(rest) == 1, rest
            ids[rest] = f"T{len(rows) + 1}"
            start = text.index(rest)
            rows.append(f"T{len(rows) + 1}\t{kind} {start} {start + len(rest)}\t{rest}")
    return Note(name, text, parse("\n".join(rows) + "\n", text))


def reply(text: str, finish: str = "stop") -> tuple[int, dict[str, Any]]:
    """A chat answer with this text."""
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": finish}
    return 200, {"choices": [choice], "usage": {"total_tokens": 10}}


Say = Callable[[str], tuple[int, dict[str, Any]]]


@dataclass
class Model:
    """A model that says what ``say`` makes of the last message; ``heard`` is all that was sent."""

    environment: dict[str, str]
    say: Say = lambda _: reply("unknown")
    heard: list[dict[str, Any]] = field(default_factory=list)
