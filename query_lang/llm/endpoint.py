"""One chat request over HTTP: deadlines, retries, budgets and size limits; redirects and proxies are never followed."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from ...kb.errors import CohortiumError
from .settings import Settings

#: Stands for the status of an answer that never came: no connection, or one that broke.
_NO_LINE: Final = 0
#: Answers after which the same request may succeed a little later.
_LATER: Final = frozenset({_NO_LINE, 408, 425, 429, 500, 502, 503, 504, 529})
#: Answers of a server that does not know one of the options that a request carries.
_OTHER_OPTIONS: Final = frozenset({400, 422})
_CHARACTERS_A_TOKEN: Final = 4
_PIECE: Final = 16_384

#: What an HTTP status means to who set the endpoint up.
_MEANING: Final[Mapping[int, str]] = {
    400: "it does not understand the request",
    401: "it does not accept the key",
    402: "its account has no credit",
    403: "the key may not use this model",
    404: "there is no such address or model",
    413: "the question is too long for it",
    422: "it does not understand the request",
    429: "it is asked too often",
}

Message = Mapping[str, str]


class EndpointError(CohortiumError):
    """The chat endpoint gave no answer that can be looked at. The text names the host, never the key or an answer."""

    exit_code = 3


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What the model said; ``cut_off`` when it ended at a limit, ``declined`` when the server says that it refused."""

    text: str
    cut_off: bool = False
    declined: bool = False


class ChatEndpoint:
    """An OpenAI-compatible chat endpoint, for one question: it counts what that question has cost.

    ``sleep`` waits between tries; tests give their own.
    """

    def __init__(self, settings: Settings, sleep: Callable[[float], None] = time.sleep) -> None:
        """Nothing is sent before :meth:`ask`."""
        self._settings = settings
        self._sleep = sleep
        self._options = _options(settings)
        self.requests = 0
        self.tokens = 0

    def ask(self, messages: Sequence[Message]) -> ChatReply:
        """The model's answer to ``messages``. EndpointError when there is none within the limits."""
        limits = self._settings.limits
        tries = 0
        while True:
            status, body, wait = self._sent(messages)
            if status == 200:
                return self._reply(messages, body)
            if status in _OTHER_OPTIONS and len(self._options) > 1:
                # The options ask for a steadier answer; a server that knows fewer of them is asked with fewer.
                self._options = self._options[1:]
                continue
            tries += 1
            if status not in _LATER or tries >= limits.tries:
                raise EndpointError(f"{self._name} {_told(status)}")
            pause = max(wait, limits.pause * 2 ** (tries - 1))
            if pause > limits.longest_pause:
                raise EndpointError(f"{self._name} {_told(status)}, and wants us to wait {pause:.0f} seconds")
            self._sleep(pause)

    @property
    def _name(self) -> str:
        return f"the chat endpoint at {self._settings.host}"

    # --- one request ------------------------------------------------------------------------------------------------

    def _sent(self, messages: Sequence[Message]) -> tuple[int, bytes, float]:
        """Status (``_NO_LINE`` when there was none), body, and the wait that the server asks for."""
        limits = self._settings.limits
        body = json.dumps({"model": self._settings.model, "messages": list(messages), **self._options[0]}).encode()
        if self.requests >= limits.requests:
            raise EndpointError(f"one question may cost {limits.requests} requests, and they are spent")
        if self.tokens + len(body) // _CHARACTERS_A_TOKEN > limits.tokens:
            raise EndpointError(f"one question may cost {limits.tokens:,} tokens, and this one would cost more")
        self.requests += 1
        connection = self._connection()
        deadline = _Deadline(limits.seconds)
        try:
            with deadline:
                connection.connect()
                deadline.watch(connection.sock)
                connection.request("POST", self._settings.path, body, self._headers())
                response = connection.getresponse()
                if 300 <= response.status < 400:
                    raise EndpointError(self._redirected(response.getheader("Location", "")))
                answer = self._read(response)
                if deadline.passed:
                    # A socket that is closed under a reader looks like an answer that came to its end.
                    raise TimeoutError
                return response.status, answer, _wait(response.getheader("Retry-After", ""))
        except ssl.SSLError as error:
            if deadline.passed:
                raise self._late() from None
            reason = error.reason or "the line could not be encrypted"
            raise EndpointError(f"{self._name} cannot be trusted: {reason}") from None
        except (OSError, http.client.HTTPException, ValueError):
            # ValueError: what reading meets when the deadline closes its socket under it.
            if deadline.passed:
                raise self._late() from None
            return _NO_LINE, b"", 0.0
        finally:
            connection.close()

    def _late(self) -> EndpointError:
        return EndpointError(f"{self._name} gave no answer in {self._settings.limits.seconds:g} seconds")

    def _connection(self) -> http.client.HTTPConnection:
        settings, seconds = self._settings, self._settings.limits.seconds
        if settings.encrypted:
            context = ssl.create_default_context()
            return http.client.HTTPSConnection(settings.host, settings.port, timeout=seconds, context=context)
        return http.client.HTTPConnection(settings.host, settings.port, timeout=seconds)

    def _headers(self) -> dict[str, str]:
        return {
            "Authorization": f"Bearer {self._settings.key}",
            "Content-Type": "application/json",
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "User-Agent": "cohortium",
        }

    def _read(self, response: http.client.HTTPResponse) -> bytes:
        limit = self._settings.limits.answer_bytes
        held = bytearray()
        while piece := response.read1(_PIECE):
            held += piece
            if len(held) > limit:
                raise EndpointError(f"{self._name} sent more than {limit:,} bytes, and no answer is that long")
        return bytes(held)

    def _redirected(self, location: str) -> str:
        try:
            host = urlsplit(location).hostname or self._settings.host
        except ValueError:
            host = ""
        place = f"to '{host}'" if host.isascii() and host.isprintable() and host else "elsewhere"
        return f"{self._name} points {place}, and is not followed there. Hint: set the address where the endpoint is"

    # --- the answer -------------------------------------------------------------------------------------------------

    def _reply(self, messages: Sequence[Message], body: bytes) -> ChatReply:
        try:
            answer = json.loads(body.decode("utf-8"))
            choice = answer["choices"][0]
            message = choice["message"]
            reply = ChatReply(
                text=_text(message.get("content")),
                cut_off=choice.get("finish_reason") == "length",
                declined=choice.get("finish_reason") == "content_filter" or bool(message.get("refusal")),
            )
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            raise EndpointError(f"{self._name} sent something that is no chat answer") from None
        self.tokens += _tokens(answer, messages, reply.text)
        return reply


class _Deadline:
    """Closes a socket when its time is over, whatever it is doing then: a time-out of a socket begins again with every
    byte, so that a server that drips would hold us for ever."""

    def __init__(self, seconds: float) -> None:
        self.passed = False
        self._socket: socket.socket | None = None
        self._timer = threading.Timer(seconds, self._pass)
        self._timer.daemon = True

    def __enter__(self) -> None:
        self._timer.start()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._timer.cancel()
        if kind is not None and issubclass(kind, TimeoutError):
            self.passed = True

    def watch(self, connected: socket.socket) -> None:
        """Close ``connected`` when the time is over. TimeoutError if it already is."""
        self._socket = connected
        if self.passed:
            raise TimeoutError

    def _pass(self) -> None:
        self.passed = True
        if self._socket is not None:
            try:
                self._socket.shutdown(socket.SHUT_RDWR)
            except OSError:
                self._socket.close()


def _options(settings: Settings) -> tuple[Mapping[str, Any], ...]:
    """What a request asks for beside an answer, from most to nothing: not every server knows every option."""
    short = {"max_tokens": settings.limits.answer_tokens}
    steady = {"temperature": 0, "seed": 1, **short}
    return ({**steady, "response_format": {"type": "json_object"}}, {"temperature": 0, **short}, {})


def _text(content: object) -> str:
    """The text of a message, which some servers send in parts."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    raise TypeError("a message is text")


def _tokens(answer: Mapping[str, Any], messages: Sequence[Message], text: str) -> int:
    usage = answer.get("usage")
    total = usage.get("total_tokens") if isinstance(usage, dict) else None
    if isinstance(total, int) and total > 0:
        return total
    characters = sum(len(message["content"]) for message in messages) + len(text)
    return characters // _CHARACTERS_A_TOKEN


def _wait(text: str) -> float:
    """The seconds of a Retry-After header; one that names a day is not kept."""
    try:
        return max(0.0, float(text))
    except ValueError:
        return 0.0


def _told(status: int) -> str:
    if status == _NO_LINE:
        return "cannot be reached, or breaks off"
    other = "it cannot answer now" if status >= 500 else "it does not answer such a request"
    return f"answered {status}: {_MEANING.get(status, other)}"
