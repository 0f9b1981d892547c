"""A real HTTP server on this machine that plays a chat endpoint: one scripted act for each request it gets."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from cohortium.kb.endpoint.settings import Settings, from_environment

KEY = "sk-fictional-0123456789"

#: What one request is answered with; it may write to the handler what it likes.
Act = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class Seen:
    """One request as it arrived."""

    path: str
    headers: Mapping[str, str]
    body: str

    @property
    def sent(self) -> dict[str, Any]:
        """The body as JSON."""
        held: dict[str, Any] = json.loads(self.body)
        return held

    @property
    def contents(self) -> list[str]:
        """The text of each message."""
        return [message["content"] for message in self.sent["messages"]]


@dataclass
class Stage:
    """The server: ``script`` is played in order, its last act again and again; ``seen`` is what came in."""

    port: int
    script: list[Act] = field(default_factory=list)
    seen: list[Seen] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)

    def play(self, *acts: Act) -> None:
        """Answer the next requests with these acts."""
        self.script[:] = acts

    def environment(self, **changes: str) -> dict[str, str]:
        """The variables that name this server."""
        return {
            "COHORTIUM_LLM_BASE_URL": f"http://127.0.0.1:{self.port}/v1",
            "COHORTIUM_LLM_MODEL": "a-model",
            "COHORTIUM_LLM_API_KEY": KEY,
            **changes,
        }

    def settings(self, **limits: float) -> Settings:
        """Settings that lead here, with quick limits."""
        from dataclasses import replace

        settings = from_environment(self.environment())
        return replace(settings, limits=replace(settings.limits, **{"seconds": 5.0, "pause": 0.01, **limits}))


@contextlib.contextmanager
def on_stage() -> Iterator[Stage]:
    """A chat endpoint on this machine that plays what the test scripts, closed behind the test."""
    stage, server = open_stage()
    try:
        yield stage
    finally:
        stage.over.set()
        server.shutdown()
        server.server_close()


def open_stage() -> tuple[Stage, ThreadingHTTPServer]:
    """A running server; shut it down when the test is over."""
    stage = Stage(0)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            stage.seen.append(Seen(self.path, dict(self.headers), body))
            number = min(len(stage.seen), len(stage.script)) - 1
            stage.script[number](self)

        do_GET = do_POST

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    stage.port = server.server_address[1]
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    return stage, server


# --- acts -----------------------------------------------------------------------------------------------------------


def send(handler: BaseHTTPRequestHandler, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
    """One whole HTTP answer."""
    handler.send_response(status)
    for name, value in {
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        **(headers or {}),
    }.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body)


def says(text: object, *, tokens: int | None = 100, finish: str = "stop", **message: object) -> Act:
    """A chat answer whose message is ``text``."""
    answer: dict[str, Any] = {
        "choices": [{"finish_reason": finish, "message": {"role": "assistant", "content": text, **message}}]
    }
    if tokens is not None:
        answer["usage"] = {"total_tokens": tokens}
    return raw(json.dumps(answer).encode())


def query(text: str | None, unread: Sequence[str] = (), unclear: Sequence[str] = ()) -> Act:
    """The object that the card asks for."""
    return says(json.dumps({"query": text, "unread": list(unread), "unclear": list(unclear)}))


def raw(body: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> Act:
    """These very bytes."""
    return lambda handler: send(handler, status, body, headers)


def status(code: int, **headers: str) -> Act:
    """A failure, with an answer that names the key as some servers do."""
    body = json.dumps({"error": {"message": f"wrong key {KEY}"}}).encode()
    return raw(body, code, {name.replace("_", "-"): value for name, value in headers.items()})
