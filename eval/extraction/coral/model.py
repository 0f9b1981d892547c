"""The tasks asked of a chat model: one request for each unit and task, what fails told by its kind."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence

from ....kb.endpoint.asking import REFUSAL, REJECTED, Asking
from ....kb.endpoint.chat import Message
from .answers import Answer, Kept
from .tasks import Tasks
from .units import Note, Stretch


def from_model(notes: Iterable[Note], stretch: Stretch, tasks: Tasks, asking: Asking, kept: Kept) -> Iterator[Answer]:
    """The model's answers, each written to ``kept`` before the next is asked for; those it holds are not asked again.

    A question that fails is told with its kind and the run goes on; what was not even sent is not kept.
    """
    for note in notes:
        for unit in note.units(stretch):
            text = unit.text(note.text)
            for task in tasks:
                sent = task.messages(text, tasks.rules)
                asked = _hash(asking.model, sent)
                known = kept.get((note.name, unit.name, task.id), asked)
                if known is not None:
                    asking.spending.kept += 1
                    yield known
                    continue
                before = asking.spending.requests
                reply = asking.ask(sent)
                # A server that does not take a question has refused it, as a model does that will not answer.
                failure = REFUSAL if reply.failure == REJECTED else reply.failure
                answer = Answer(note.name, unit.name, task.id, reply.text, failure, asked)
                if not failure or asking.spending.requests > before:
                    kept.add(answer)
                yield answer


def _hash(model: str, sent: Sequence[Message]) -> str:
    request = json.dumps([model, list(sent)], ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(request.encode("utf-8", "surrogatepass")).hexdigest()
