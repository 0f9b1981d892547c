"""The messages that carry a question and the passages of one patient to a chat model; no id of a patient or a note."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ....kb.endpoint.chat import Message
from ....kb.model import Note
from .passages import Passage

_FILE: Final = Path(__file__).parent / "prompt.toml"
PROMPT: Final[dict[str, Any]] = tomllib.loads(_FILE.read_text(encoding="utf-8"))
PROMPT_SHA256: Final = hashlib.sha256(PROMPT["system"].encode()).hexdigest()

#: The note that a passage stands in, by its document id.
NoteOf = Callable[[str], Note]


@dataclass(frozen=True, slots=True)
class Batch:
    """Passages that go into one message, in order of time: the first is number 1."""

    passages: tuple[Passage, ...]


def batches(passages: Sequence[Passage], note: NoteOf, characters: int, calls: int) -> tuple[Batch, ...]:
    """``passages``, best first, in at most ``calls`` messages of about ``characters`` each; the rest is left out.

    The best go into the first message. A passage that is longer than a message has one for itself.
    """
    filled = list(_filled(passages, characters))[:calls]
    return tuple(Batch(tuple(sorted(held, key=lambda one: _time(one, note)))) for held in filled)


def messages(question: str, batch: Batch, note: NoteOf) -> tuple[Message, ...]:
    """The system message, and the question with its passages as one JSON object: no text of a note can pass for
    anything else."""
    passages = [_as_dict(number, one, note(one.quote.doc_id)) for number, one in enumerate(batch.passages, start=1)]
    asked = json.dumps({"question": question, "passages": passages}, ensure_ascii=False)
    return ({"role": "system", "content": PROMPT["system"].strip()}, {"role": "user", "content": asked})


def _filled(passages: Sequence[Passage], characters: int) -> Iterator[list[Passage]]:
    held: list[Passage] = []
    for one in passages:
        if held and sum(len(other.text) for other in held) + len(one.text) > characters:
            yield held
            held = []
        held.append(one)
    if held:
        yield held


def _time(one: Passage, note: NoteOf) -> tuple[bool, str, str, int]:
    """Undated passages come last."""
    date = note(one.quote.doc_id).date
    return date is None, "" if date is None else date.isoformat(), one.quote.doc_id, one.quote.start


def _as_dict(number: int, one: Passage, note: Note) -> dict[str, object]:
    date = "unknown" if note.date is None else note.date.isoformat()
    return {"passage": number, "date": date, "type": note.type, "text": one.text}
