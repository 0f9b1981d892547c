"""A chat endpoint on this machine whose model looks words up: a stand-in, so that reading runs without any model."""

from __future__ import annotations

import argparse
import contextlib
import json
import socket
import sys
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Final

from ....kb.endpoint.settings import SEND_NOTES, Settings
from . import settings as reader_settings
from .lexical_reading import THRESHOLD, read
from .misbehaviour import MIX, ONCE, Misbehaviour, drawn, spoilt

__all__ = ["MODEL", "OfflineReader", "main"]

MODEL: Final = "lexical-reader"
_KEY: Final = "none-is-needed"
_LONGEST_REQUEST: Final = 16 * 1024 * 1024
_CHARACTERS_A_TOKEN: Final = 4
#: Seconds that a busy endpoint of the misbehaving kind asks to be left alone.
_RETRY_AFTER: Final = "0.02"


class _NotAsked(Exception):
    """The request is no chat request of the form that the reader sends."""


class OfflineReader:
    """A real HTTP server on 127.0.0.1 that answers as the model ``lexical-reader`` while the context is open.

    It says yes when the passages mention enough words of the question (:mod:`.lexical_reading`), and quotes the
    sentences that do. It is no language model, and its scores say nothing of one. With ``seed`` it misbehaves, in a mix
    that the seed and each message draw (:mod:`.misbehaviour`).
    """

    def __init__(
        self,
        port: int = 0,
        threshold: float = THRESHOLD,
        seed: int | None = None,
        mix: Sequence[Misbehaviour] = MIX,
    ) -> None:
        """``port`` 0: any that is free."""
        self._port = port
        self._threshold = threshold
        self._seed = seed
        self._mix = tuple(mix)
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._times: Counter[str] = Counter()
        self._server: ThreadingHTTPServer | None = None
        #: Requests that came in, and what was done to them.
        self.requests = 0
        self.behaved: Counter[Misbehaviour] = Counter()

    @property
    def port(self) -> int:
        """Where it listens."""
        return self._port

    @property
    def base_url(self) -> str:
        """What COHORTIUM_LLM_BASE_URL is set to."""
        return f"http://127.0.0.1:{self._port}/v1"

    def environment(self) -> dict[str, str]:
        """The variables that lead here."""
        return {
            "COHORTIUM_LLM_BASE_URL": self.base_url,
            "COHORTIUM_LLM_MODEL": MODEL,
            "COHORTIUM_LLM_API_KEY": _KEY,
            SEND_NOTES: "yes",
        }

    def settings(self, **limits: float) -> Settings:
        """The settings that lead here, with other limits if given."""
        settings = reader_settings.endpoint(self.environment())
        return replace(settings, limits=replace(settings.limits, **limits))  # type: ignore[arg-type]

    def __enter__(self) -> OfflineReader:
        self._over.clear()
        self._server = _Server(("127.0.0.1", self._port), _handler(self))
        self._port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()

    # --- one request ------------------------------------------------------------------------------------------------

    def respond(self, handler: BaseHTTPRequestHandler) -> None:
        """Read one request and answer it, or do what the seed says."""
        body = self._body(handler)
        kind = self._kind(body)
        with self._lock:
            self.requests += 1
            self.behaved[kind] += 1
        if kind is Misbehaviour.TIMEOUT:
            self._over.wait(60)
        elif kind in (Misbehaviour.DROPPED, Misbehaviour.DROPPED_ONCE):
            handler.connection.shutdown(socket.SHUT_RDWR)
        elif kind in (Misbehaviour.BUSY, Misbehaviour.BUSY_ONCE):
            _send(handler, 429, _error("asked too often"), {"Retry-After": _RETRY_AFTER})
        elif kind in (Misbehaviour.BROKEN, Misbehaviour.BROKEN_ONCE):
            _send(handler, 500, _error("broken"))
        elif not handler.path.endswith("/chat/completions"):
            _send(handler, 404, _error("there is nothing here but /v1/chat/completions"))
        else:
            try:
                answer = self._chat(body)
            except _NotAsked as error:
                _send(handler, 400, _error(str(error)))
            else:
                _send(handler, 200, spoilt(kind, answer) or json.dumps(answer).encode())

    def _body(self, handler: BaseHTTPRequestHandler) -> bytes:
        length = handler.headers.get("Content-Length", "")
        size = int(length) if length.isascii() and length.isdigit() else 0
        return handler.rfile.read(min(size, _LONGEST_REQUEST))

    def _kind(self, body: bytes) -> Misbehaviour:
        if self._seed is None:
            return Misbehaviour.NONE
        # The messages alone: a request with other options is the same message again.
        try:
            message = str(json.loads(body)["messages"][-1]["content"])
        except (ValueError, LookupError, TypeError):
            return Misbehaviour.NONE
        kind = drawn(self._seed, message, self._mix)
        if kind in ONCE:
            with self._lock:
                self._times[message] += 1
                if self._times[message] > 1:
                    return Misbehaviour.NONE
        return kind

    def _chat(self, body: bytes) -> dict[str, Any]:
        question, passages, characters = _asked(body)
        found = read(question, passages, self._threshold)
        said = {
            "eligible": "yes" if found.eligible else "no",
            "evidence": [{"passage": number, "quote": quote} for number, quote in found.quotes],
            "reason": f"{found.share:.0%} of the words of the question are mentioned",
        }
        text = json.dumps(said, ensure_ascii=False)
        sent, received = characters // _CHARACTERS_A_TOKEN, len(text) // _CHARACTERS_A_TOKEN
        return {
            "id": "offline",
            "object": "chat.completion",
            "created": 0,
            "model": MODEL,
            "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": sent, "completion_tokens": received, "total_tokens": sent + received},
        }


def _asked(body: bytes) -> tuple[str, list[tuple[int, str]], int]:
    """The question, the passages with their numbers, and how many characters the messages have."""
    try:
        contents = [str(message["content"]) for message in json.loads(body)["messages"]]
        asked = json.loads(contents[-1])
        passages = [(int(one["passage"]), str(one["text"])) for one in asked["passages"]]
        return str(asked["question"]), passages, sum(map(len, contents))
    except (ValueError, LookupError, TypeError, RecursionError):
        raise _NotAsked("the last message is no question with passages") from None


class _Server(ThreadingHTTPServer):
    """Threads that end with the program, and a queue that holds what many threads ask at once."""

    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Whoever hangs up while we answer is no error of ours; nothing of a request is ever printed."""


def _handler(reader: OfflineReader) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            with contextlib.suppress(OSError):
                reader.respond(self)

        def log_message(self, *_: object) -> None:
            """Say nothing: a line might hold what was asked."""

    return Handler


def _error(told: str) -> bytes:
    return json.dumps({"error": {"message": told}}).encode()


def _send(handler: BaseHTTPRequestHandler, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
    handler.send_response_only(status)
    told = {"Content-Type": "application/json", "Content-Length": str(len(body)), **(headers or {})}
    for name, value in told.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body)


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until interrupted, having printed the variables that lead here."""
    parser = argparse.ArgumentParser(
        prog="python -m cohortium.eval.baselines.reading.offline_reader",
        description="A chat endpoint on 127.0.0.1 whose model, 'lexical-reader', looks words up. It is a stand-in that "
        "lets retrieve-then-read run without any model; it is no language model.",
        epilog=f"A reader {reader_settings.NOTES_ARE_SENT} This endpoint is on this machine, keeps nothing and prints "
        "nothing of what it is asked.",
    )
    parser.add_argument("--port", type=int, default=8765, help="where to listen (default 8765; 0: any that is free)")
    parser.add_argument("--threshold", type=float, default=THRESHOLD, help="share of words that makes a yes")
    parser.add_argument("--misbehave", type=int, metavar="SEED", help="go wrong half of the time, as this seed draws")
    options = parser.parse_args(arguments)
    if not 0 <= options.port < 65_536 or not 0 <= options.threshold <= 1:
        parser.error("a port is a number below 65536, a threshold one from 0 to 1")
    try:
        with OfflineReader(options.port, options.threshold, options.misbehave) as server:
            for name, value in server.environment().items():
                print(f"export {name}={value}")
            print("# listening until interrupted", flush=True)
            threading.Event().wait()
    except OSError as error:
        print(f"cannot listen on port {options.port}: {error.strerror}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
