"""A chat endpoint on this machine whose model looks words up: a stand-in, so that reading runs without any model."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Final

from ....kb.endpoint.settings import SEND_NOTES, Settings
from . import settings as reader_settings
from .lexical_reading import THRESHOLD, read

MODEL: Final = "lexical-reader"
_KEY: Final = "none-is-needed"
_LONGEST_REQUEST: Final = 16 * 1024 * 1024
_CHARACTERS_A_TOKEN: Final = 4


class _NotAsked(Exception):
    """The request is no chat request of the form that the reader sends."""


class OfflineReader:
    """A real HTTP server on 127.0.0.1 that answers as the model ``lexical-reader`` while the context is open.

    It says yes when the passages mention enough words of the question (:mod:`.lexical_reading`), and quotes the
    sentences that do. It is no language model, and its scores say nothing of one.
    """

    def __init__(self, port: int = 0, threshold: float = THRESHOLD) -> None:
        """``port`` 0: any that is free."""
        self._port = port
        self._threshold = threshold
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._server: ThreadingHTTPServer | None = None
        #: Requests that came in.
        self.requests = 0

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
        """Read one request and answer it."""
        body = self._body(handler)
        with self._lock:
            self.requests += 1
        self.answer(handler, body)

    def answer(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        """Send the answer to a request of this body, or what is wrong with it."""
        if not handler.path.endswith("/chat/completions"):
            send(handler, 404, error_body("there is nothing here but /v1/chat/completions"))
            return
        try:
            answer = self.chat(body)
        except _NotAsked as error:
            send(handler, 400, error_body(str(error)))
        else:
            send(handler, 200, json.dumps(answer).encode())

    def _body(self, handler: BaseHTTPRequestHandler) -> bytes:
        length = handler.headers.get("Content-Length", "")
        size = int(length) if length.isascii() and length.isdigit() else 0
        return handler.rfile.read(min(size, _LONGEST_REQUEST))

    def chat(self, body: bytes) -> dict[str, Any]:
        """The answer in the form of the chat protocol."""
        question, passages, characters = _asked(body)
        found = read(question, passages, self._threshold)
        decision = {
            "eligible": "yes" if found.eligible else "no",
            "evidence": [{"passage": number, "quote": quote} for number, quote in found.quotes],
            "reason": f"{found.share:.0%} of the words of the question are mentioned",
        }
        text = json.dumps(decision, ensure_ascii=False)
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


def error_body(message: str) -> bytes:
    """What a server says that does not answer."""
    return json.dumps({"error": {"message": message}}).encode()


def send(handler: BaseHTTPRequestHandler, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
    """Send JSON with this status."""
    handler.send_response_only(status)
    fields = {"Content-Type": "application/json", "Content-Length": str(len(body)), **(headers or {})}
    for name, value in fields.items():
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
    options = parser.parse_args(arguments)
    if not 0 <= options.port < 65_536 or not 0 <= options.threshold <= 1:
        parser.error("a port is a number below 65536, a threshold one from 0 to 1")
    try:
        with OfflineReader(options.port, options.threshold) as server:
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
