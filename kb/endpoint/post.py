"""JSON posted to one address: deadlines, retries and size limits; redirects and proxies are never followed."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import threading
from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol, TypeGuard
from urllib.parse import urlsplit

from ..errors import CohortiumError
from .settings import Settings

CHARACTERS_A_TOKEN: Final = 4
#: More tokens than any request has: a server that reports more does not count.
_MOST_TOKENS: Final = 1_000_000_000
#: Stands for the status of an answer that never came: no connection, or one that broke.
_NO_LINE: Final = 0
#: Answers after which the same request may succeed a little later.
_LATER: Final = frozenset({_NO_LINE, 408, 425, 429, 500, 502, 503, 504, 529})
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
#: The kind of failure that a status is, where it is not the connection's.
_KIND: Final[Mapping[int, str]] = {
    400: "refusal",
    408: "timeout",
    413: "refusal",
    422: "refusal",
    429: "rate_limit",
    451: "refusal",
    504: "timeout",
}


class EndpointError(CohortiumError):
    """An endpoint gave no answer that can be looked at. The text names the host, never the key or an answer.

    ``kind`` is one word: ``connection``, ``timeout``, ``rate_limit``, ``refusal``, ``nonsense`` or ``budget``;
    ``status`` is that of HTTP where there was one, else 0.
    """

    exit_code = 3

    def __init__(self, text: str, kind: str = "connection", status: int = 0) -> None:
        super().__init__(text)
        self.kind = kind
        self.status = status


class Gate(Protocol):
    """What lets requests out: it counts them, keeps a budget, and waits between tries."""

    def enter(self, characters: int) -> None:
        """Before each request, with the length of its body. EndpointError when it must not be sent."""

    def pause(self, seconds: float, status: int) -> None:
        """Between two tries: ``status`` is what the first came to, ``seconds`` how long to wait."""


class JsonPost:
    """Posts JSON to the address of ``settings``; threads may share it. ``called`` names the endpoint in errors."""

    def __init__(self, settings: Settings, called: str = "chat endpoint") -> None:
        """Nothing is sent before :meth:`post`."""
        self._settings = settings
        self.name = f"the {called} at {settings.host}"

    def post(
        self,
        content: Mapping[str, Any],
        gate: Gate,
        instead: Callable[[int], Mapping[str, Any] | None] = lambda status: None,
    ) -> bytes:
        """The body of the answer to ``content``. EndpointError when there is none within the limits.

        ``instead`` may give other content to send at once after a status that is no success.
        """
        limits = self._settings.limits
        tries = 0
        while True:
            status, body, wait = self._sent(json.dumps(content).encode(), gate)
            if status == 200:
                return body
            other = instead(status)
            if other is not None:
                content = other
                continue
            tries += 1
            if status not in _LATER or tries >= limits.tries:
                raise self._failed(status)
            pause = max(wait, limits.pause * 2 ** (tries - 1))
            if pause > limits.longest_pause:
                raise self._failed(status, f", and wants us to wait {pause:.0f} seconds")
            gate.pause(pause, status)

    # --- one request ------------------------------------------------------------------------------------------------

    def _sent(self, body: bytes, gate: Gate) -> tuple[int, bytes, float]:
        """Status (``_NO_LINE`` when there was none), body, and the wait that the server asks for."""
        gate.enter(len(body))
        connection = self._connection()
        deadline = _Deadline(self._settings.limits.seconds)
        try:
            with deadline:
                connection.connect()
                deadline.watch(connection.sock)
                connection.request("POST", self._settings.path, body, self._headers())
                response = connection.getresponse()
                if 300 <= response.status < 400:
                    told = self._redirected(response.getheader("Location", ""))
                    raise EndpointError(told, status=response.status)
                answer = self._read(response)
                if deadline.passed:
                    # A socket that is closed under a reader looks like an answer that came to its end.
                    raise TimeoutError
                return response.status, answer, _wait(response.getheader("Retry-After", ""))
        except ssl.SSLError as error:
            if deadline.passed:
                raise self._late() from None
            reason = error.reason or "the line could not be encrypted"
            raise EndpointError(f"{self.name} cannot be trusted: {reason}") from None
        except (OSError, http.client.HTTPException, ValueError):
            # ValueError: what reading meets when the deadline closes its socket under it.
            if deadline.passed:
                raise self._late() from None
            return _NO_LINE, b"", 0.0
        finally:
            connection.close()

    def _late(self) -> EndpointError:
        return EndpointError(f"{self.name} gave no answer in {self._settings.limits.seconds:g} seconds", "timeout")

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
                raise EndpointError(
                    f"{self.name} sent more than {limit:,} bytes, and no answer is that long", "nonsense"
                )
        return bytes(held)

    def _redirected(self, location: str) -> str:
        try:
            host = urlsplit(location).hostname or self._settings.host
        except ValueError:
            host = ""
        place = f"to '{host}'" if host.isascii() and host.isprintable() and host else "elsewhere"
        return f"{self.name} points {place}, and is not followed there. Hint: set the address where the endpoint is"

    def _failed(self, status: int, more: str = "") -> EndpointError:
        return EndpointError(f"{self.name} {_told(status)}{more}", _KIND.get(status, "connection"), status)


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


def is_count(count: object) -> TypeGuard[int]:
    """Whether this is a number of tokens that a server may have counted."""
    return isinstance(count, int) and not isinstance(count, bool) and 0 <= count <= _MOST_TOKENS


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
