"""JSON posted to one address: deadlines, retries and size limits; redirects and proxies are never followed."""

from __future__ import annotations

import functools
import json
import ssl
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeGuard
from urllib.parse import urlsplit

from ..errors import CohortiumError, UsageError
from .settings import Settings

if TYPE_CHECKING:
    import httpx2

CHARACTERS_A_TOKEN: Final = 4
#: More tokens than any request has: a server that reports more does not count.
_MOST_TOKENS: Final = 1_000_000_000
#: Stands for the status of an answer that never came: no connection, or one that broke.
_NO_LINE: Final = 0
#: Answers after which the same request may succeed a little later.
_LATER: Final = frozenset({_NO_LINE, 408, 425, 429, 500, 502, 503, 504, 529})

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
        """Nothing is sent before :meth:`post`. UsageError where the libraries of the extra are not installed."""
        # Imported here, not above: nothing that could reach a network is loaded before an endpoint is wanted.
        self._anyio, self._httpx = _libraries()
        self._settings = settings
        self.name = f"the {called} at {settings.host}"

    @functools.cached_property
    def _trusted(self) -> ssl.SSLContext:
        """Whose certificates are believed: loading them takes longer than a request to this machine."""
        return ssl.create_default_context()

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
        try:
            # A loop in a thread of its own, for the caller may run one already (a notebook does).
            with self._anyio.from_thread.start_blocking_portal() as portal:
                found: tuple[int, bytes, float] = portal.call(self._exchanged, body)
                return found
        except TimeoutError:
            seconds = self._settings.limits.seconds
            raise EndpointError(f"{self.name} gave no answer in {seconds:g} seconds", "timeout") from None
        except self._httpx.TransportError as error:
            if _untrusted(error):
                raise EndpointError(f"{self.name} cannot be trusted: {_untrusted(error)}") from None
            return _NO_LINE, b"", 0.0

    async def _exchanged(self, body: bytes) -> tuple[int, bytes, float]:
        """What came back within the time of one request. TimeoutError; TransportError of the library."""
        # A time-out of the library begins again with every byte: a server that drips would hold us for ever.
        with self._anyio.fail_after(self._settings.limits.seconds):
            async with (
                self._client() as client,
                client.stream("POST", self._address(), content=body, headers=self._headers()) as response,
            ):
                if 300 <= response.status_code < 400:
                    text = self._redirected(response.headers.get("Location", ""))
                    raise EndpointError(text, status=response.status_code)
                answer = await self._read(response)
                return response.status_code, answer, _wait(response.headers.get("Retry-After", ""))

    def _client(self) -> httpx2.AsyncClient:
        client: httpx2.AsyncClient = self._httpx.AsyncClient(
            verify=self._trusted, follow_redirects=False, trust_env=False, timeout=None
        )
        # Only the headers below are sent.
        del client.headers["Connection"]
        return client

    def _address(self) -> httpx2.URL:
        settings = self._settings
        scheme = "https" if settings.encrypted else "http"
        address: httpx2.URL = self._httpx.URL(scheme=scheme, host=settings.host, port=settings.port, path=settings.path)
        return address

    def _headers(self) -> dict[str, str]:
        return {
            "Authorization": f"Bearer {self._settings.key}",
            "Content-Type": "application/json",
            "Accept": "application/json",
            # The limit on the size of an answer counts what comes over the line.
            "Accept-Encoding": "identity",
            "User-Agent": "cohortium",
        }

    async def _read(self, response: httpx2.Response) -> bytes:
        limit = self._settings.limits.answer_bytes
        held = bytearray()
        async for piece in response.aiter_raw():
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
        return EndpointError(f"{self.name} {_meaning_of(status)}{more}", _KIND.get(status, "connection"), status)


def _libraries() -> tuple[Any, Any]:
    """The loop and the client of the extra ``endpoint``. UsageError where they are not installed."""
    try:
        import anyio.from_thread
        import httpx2
    except ImportError as error:
        raise UsageError("this needs the library httpx2: pip install 'cohortium[endpoint]'") from error
    return anyio, httpx2


def _untrusted(error: BaseException | None) -> str:
    """Why a line could not be encrypted; empty for any other failure of one."""
    while error is not None:
        if isinstance(error, ssl.SSLError):
            return error.reason or "the line could not be encrypted"
        error = error.__cause__ or error.__context__
    return ""


def is_count(count: object) -> TypeGuard[int]:
    """Whether this is a number of tokens that a server may have counted."""
    return isinstance(count, int) and not isinstance(count, bool) and 0 <= count <= _MOST_TOKENS


def _wait(text: str) -> float:
    """The seconds of a Retry-After header; one that names a day is not kept."""
    try:
        return max(0.0, float(text))
    except ValueError:
        return 0.0


def _meaning_of(status: int) -> str:
    if status == _NO_LINE:
        return "cannot be reached, or breaks off"
    other = "it cannot answer now" if status >= 500 else "it does not answer such a request"
    return f"answered {status}: {_MEANING.get(status, other)}"
