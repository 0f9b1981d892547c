"""The tasks asked of a chat model: one request for each unit and task, what fails told by its kind."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Protocol

from ....kb.endpoint.asking import ANSWER_TOKENS, CAME_TO_NOTHING, CUT_OFF, HOPELESS, MOST_IN_A_ROW, REFUSAL, Spending
from ....kb.endpoint.chat import ChatEndpoint, ChatReply, EndpointError, Message
from ....kb.endpoint.settings import Settings
from .answers import Answer, Kept
from .tasks import Tasks
from .units import Note, Stretch


class Asked(Protocol):
    """What a question is put to; it counts what that cost."""

    requests: int
    tokens: int

    def ask(self, messages: Sequence[Message]) -> ChatReply:
        """The answer; EndpointError when there is none."""
        ...


def from_model(
    notes: Iterable[Note],
    stretch: Stretch,
    tasks: Tasks,
    settings: Settings,
    kept: Kept,
    spending: Spending | None = None,
) -> Iterator[Answer]:
    """The model's answers, each written to ``kept`` before the next is asked for; those it holds are not asked again.

    A question that fails is told with its kind and the run goes on. Where the endpoint does not take the key or knows
    no such model, or after ``MOST_IN_A_ROW`` requests that came to nothing one after the other, nothing more is sent:
    the rest fails in the same way, and is not kept.
    """
    spent = spending or Spending()
    limits = replace(settings.limits, answer_tokens=max(settings.limits.answer_tokens, ANSWER_TOKENS))
    settings = replace(settings, limits=limits)
    in_a_row, over = 0, ""
    for note in notes:
        for unit in note.units(stretch):
            text = unit.text(note.text)
            for task in tasks:
                sent = task.messages(text, tasks.rules)
                asked = _hash(settings, sent)
                known = kept.get((note.name, unit.name, task.id), asked)
                if known is not None:
                    spent.kept += 1
                    yield known
                    continue
                output, failure = "", over
                if not over:
                    output, failure, hopeless = _asked(ChatEndpoint(settings, as_json=False), sent, spent)
                    in_a_row = in_a_row + 1 if failure in CAME_TO_NOTHING else 0
                    over = failure if hopeless or in_a_row >= MOST_IN_A_ROW else ""
                    kept.add(Answer(note.name, unit.name, task.id, output, failure, asked))
                if failure:
                    spent.failures[failure] += 1
                yield Answer(note.name, unit.name, task.id, output, failure, asked)


def _asked(endpoint: ChatEndpoint, sent: Sequence[Message], spent: Spending) -> tuple[str, str, bool]:
    """The text of an answer, or the kind of failure, and whether any other question would fail as this one did."""
    try:
        reply = endpoint.ask(sent)
    except EndpointError as error:
        return "", error.kind, error.status in HOPELESS
    finally:
        spent.requests += endpoint.requests
        spent.tokens += endpoint.tokens
    if reply.declined:
        return "", REFUSAL, False
    if reply.cut_off:
        # Its last finding may be half of one, and those behind it are not there.
        return "", CUT_OFF, False
    return reply.text, "", False


def _hash(settings: Settings, sent: Sequence[Message]) -> str:
    told = json.dumps([settings.model, list(sent)], ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()
