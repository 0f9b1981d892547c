"""The tasks asked of a chat model: one request for each unit and task, what fails told by its kind."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

from ...query_lang.llm.endpoint import ChatEndpoint, ChatReply, EndpointError, Message
from ...query_lang.llm.settings import Settings
from .answers import Answer, Kept
from .tasks import Rules, Task, Tasks
from .units import Note, Stretch

#: An answer may be a line for each of many findings.
ANSWER_TOKENS: Final = 2_000
#: Why a model gave no answer, beside the kinds that an endpoint tells.
REFUSAL: Final = "refusal"
CUT_OFF: Final = "cut_off"
ENDPOINT: Final = "endpoint"
#: So many failures of the endpoint in a row, and it is not asked again.
MOST_IN_A_ROW: Final = 5


class Asked(Protocol):
    """What a question is put to; it counts what that cost."""

    requests: int
    tokens: int

    def ask(self, messages: Sequence[Message]) -> ChatReply:
        """The answer; EndpointError when there is none."""
        ...


@dataclass(slots=True)
class Spending:
    """What a run cost: requests, tokens as the server reports them, answers taken from the file, failures by kind."""

    requests: int = 0
    tokens: int = 0
    kept: int = 0
    failures: Counter[str] = field(default_factory=Counter)


def messages(task: Task, text: str, rules: Rules) -> tuple[Message, ...]:
    """What is sent: the role, then the stretch of the note with the question behind it."""
    return (
        {"role": "system", "content": rules.system},
        {"role": "user", "content": f"{text}\n\n{task.question(rules)}"},
    )


def from_model(
    notes: Iterable[Note],
    stretch: Stretch,
    tasks: Tasks,
    settings: Settings,
    kept: Kept,
    spending: Spending | None = None,
    endpoint: Callable[[Settings], Asked] = ChatEndpoint,
) -> Iterator[Answer]:
    """The model's answers, each written to ``kept`` before the next is asked for; those it holds are not asked again.

    A question that fails is told with its kind and the run goes on; after ``MOST_IN_A_ROW`` failures of the endpoint
    one after the other nothing more is sent, and the rest fails the same way, unkept.
    """
    spent = spending or Spending()
    limits = replace(settings.limits, answer_tokens=max(settings.limits.answer_tokens, ANSWER_TOKENS))
    settings = replace(settings, limits=limits)
    in_a_row = 0
    for note in notes:
        for unit in note.units(stretch):
            text = unit.text(note.text)
            for task in tasks:
                sent = messages(task, text, tasks.rules)
                asked = _hash(settings, sent)
                known = kept.get((note.name, unit.name, task.id), asked)
                if known is not None:
                    spent.kept += 1
                    yield known
                    continue
                if in_a_row >= MOST_IN_A_ROW:
                    output, failure = "", ENDPOINT
                else:
                    output, failure = _asked(endpoint(settings), sent, spent)
                    in_a_row = in_a_row + 1 if failure == ENDPOINT else 0
                    kept.add(Answer(note.name, unit.name, task.id, output, failure, asked))
                if failure:
                    spent.failures[failure] += 1
                yield Answer(note.name, unit.name, task.id, output, failure, asked)


def _asked(endpoint: Asked, sent: Sequence[Message], spent: Spending) -> tuple[str, str]:
    try:
        reply = endpoint.ask(sent)
    except EndpointError:
        return "", ENDPOINT
    finally:
        spent.requests += endpoint.requests
        spent.tokens += endpoint.tokens
    if reply.declined:
        return "", REFUSAL
    if reply.cut_off:
        # Its last finding may be half of one, and those behind it are not there.
        return "", CUT_OFF
    return reply.text, ""


def _hash(settings: Settings, sent: Sequence[Message]) -> str:
    told = json.dumps([settings.model, list(sent)], ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()
