"""One chat request over HTTP: options that a server may not know, budgets of one question, and what came back."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from .post import CHARACTERS_A_TOKEN, EndpointError, Gate, JsonPost, is_count
from .settings import Settings

__all__ = ["ChatEndpoint", "ChatReply", "EndpointError", "Message"]

#: Answers of a server that does not know one of the options that a request carries.
_OTHER_OPTIONS: Final = frozenset({400, 422})

Message = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What the model said; ``cut_off`` when it ended at a limit, ``declined`` when the server says that it refused.

    Tokens are those that the server reports, or a quarter of the characters where it reports none.
    """

    text: str
    cut_off: bool = False
    declined: bool = False
    prompt_tokens: int = 0
    answer_tokens: int = 0


class ChatEndpoint:
    """An OpenAI-compatible chat endpoint, for one question: it counts what that question has cost.

    ``sleep`` waits between tries; tests give their own. Who asks many questions gives each its own ``gate``, which
    then keeps the budget, and may share the endpoint between threads. ``as_json``: whether the answer is to be JSON;
    ``temperature``: 0 asks for the same answer each time.
    """

    def __init__(
        self,
        settings: Settings,
        sleep: Callable[[float], None] = time.sleep,
        *,
        as_json: bool = True,
        temperature: float = 0,
    ) -> None:
        """Nothing is sent before :meth:`ask`."""
        self._settings = settings
        self._sleep = sleep
        self._options = request_options(settings, as_json=as_json, temperature=temperature)
        self._post = JsonPost(settings)
        self.requests = 0
        self.tokens = 0

    def ask(self, messages: Sequence[Message], gate: Gate | None = None) -> ChatReply:
        """The model's answer to ``messages``. EndpointError when there is none within the limits."""
        sent = self._options

        def fewer(status: int) -> Mapping[str, Any] | None:
            """The options ask for a steadier answer; a server that knows fewer of them is asked with fewer."""
            nonlocal sent
            if status not in _OTHER_OPTIONS or len(sent) == 1:
                return None
            sent = sent[1:]
            return self._content(messages, sent[0])

        body = self._post.post(self._content(messages, sent[0]), self if gate is None else gate, fewer)
        if len(sent) < len(self._options):
            self._options = sent
        return self._reply(messages, body)

    # --- the gate of one question -----------------------------------------------------------------------------------

    def enter(self, characters: int) -> None:
        """Count a request. EndpointError if the question's requests or tokens are spent."""
        limits = self._settings.limits
        if self.requests >= limits.requests:
            raise EndpointError(f"one question may cost {limits.requests} requests, and they are spent", "budget")
        if self.tokens + characters // CHARACTERS_A_TOKEN > limits.tokens:
            raise EndpointError(
                f"one question may cost {limits.tokens:,} tokens, and this one would cost more", "budget"
            )
        self.requests += 1

    def pause(self, seconds: float, status: int) -> None:
        """Wait before the next try."""
        self._sleep(seconds)

    # --- the answer -------------------------------------------------------------------------------------------------

    def _content(self, messages: Sequence[Message], options: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"model": self._settings.model, "messages": list(messages), **options}

    def _reply(self, messages: Sequence[Message], body: bytes) -> ChatReply:
        try:
            answer = json.loads(body.decode("utf-8"))
            choice = answer["choices"][0]
            message = choice["message"]
            text = _text(message.get("content"))
            prompt_tokens, answer_tokens, total = _tokens(answer, messages, text)
            reply = ChatReply(
                text=text,
                cut_off=choice.get("finish_reason") == "length",
                declined=choice.get("finish_reason") == "content_filter" or bool(message.get("refusal")),
                prompt_tokens=prompt_tokens,
                answer_tokens=answer_tokens,
            )
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            raise EndpointError(f"{self._post.name} sent something that is no chat answer", "nonsense") from None
        self.tokens += total
        return reply


def request_options(
    settings: Settings, *, as_json: bool = True, temperature: float = 0
) -> tuple[Mapping[str, Any], ...]:
    """What a request asks for beside an answer, from most to nothing: not every server knows every option."""
    short = {"max_tokens": settings.limits.answer_tokens}
    steady = {"temperature": temperature, "seed": 1, **short}
    form = {"response_format": {"type": "json_object"}} if as_json else {}
    return ({**steady, **form}, {"temperature": temperature, **short}, {})


def _text(content: object) -> str:
    """The text of a message, which some servers send in parts."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    raise TypeError("a message is text")


def _tokens(answer: Mapping[str, Any], messages: Sequence[Message], text: str) -> tuple[int, int, int]:
    """Tokens sent, tokens received, and their sum as the server counts it (some report the sum alone, or nothing)."""
    usage = answer.get("usage")
    counts = {name: count for name, count in usage.items() if is_count(count)} if isinstance(usage, dict) else {}
    sent = sum(len(message["content"]) for message in messages)
    parts = (
        counts["prompt_tokens"] + counts["completion_tokens"]
        if {"prompt_tokens", "completion_tokens"} <= set(counts)
        else 0
    )
    total = counts.get("total_tokens", 0) or parts or (sent + len(text)) // CHARACTERS_A_TOKEN
    received = counts.get("completion_tokens", len(text) // CHARACTERS_A_TOKEN)
    return counts.get("prompt_tokens", max(0, total - received)), received, total
