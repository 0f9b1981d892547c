"""A real HTTP server on this machine that speaks the embedding protocol, and can be told how to go wrong."""

from __future__ import annotations

import contextlib
import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from cohortium.eval.baselines.retrieval.embedding_endpoint import EmbeddingOptions, EndpointEncoder, embedding_endpoint
from cohortium.kb.endpoint.settings import Settings

DIMENSION = 8
KEY = "sk-fictional-0123456789"

#: Changes the answer before it is sent.
Change = Callable[[dict[str, Any]], Any]


def vector(text: str) -> list[float]:
    """A vector that its text alone decides, of any length."""
    return [one - 127.5 for one in hashlib.sha256(text.encode()).digest()[:DIMENSION]]


@dataclass
class Stage:
    """What came in, and what the next requests come to: a status each, then 200."""

    port: int = 0
    seen: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)
    retry_after: str = ""
    change: Change = lambda answer: answer
    options_known: bool = True

    def environment(self) -> dict[str, str]:
        return {
            "COHORTIUM_EMBEDDING_BASE_URL": f"http://127.0.0.1:{self.port}/v1",
            "COHORTIUM_EMBEDDING_MODEL": "an-encoder",
            "COHORTIUM_EMBEDDING_API_KEY": KEY,
            "COHORTIUM_EMBEDDING_SEND_NOTES": "yes",
        }

    def settings(self, **limits: float) -> Settings:
        held = embedding_endpoint(self.environment())._settings
        return replace(held, limits=replace(held.limits, **{"seconds": 20.0, "pause": 0.005, "tries": 3, **limits}))

    def encoder(self, limits: dict[str, float] | None = None, **options: Any) -> EndpointEncoder:
        return EndpointEncoder(self.settings(**(limits or {})), EmbeddingOptions(**options))


@contextlib.contextmanager
def embedding_server() -> Iterator[Stage]:
    """The server while the context is open."""
    stage = Stage()
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                stage.seen.append(sent)
                stage.paths.append(self.path)
                status = stage.statuses.pop(0) if stage.statuses else 200
            if not stage.options_known and "encoding_format" in sent:
                status = 422
            data = [
                {"object": "embedding", "index": place, "embedding": vector(text)}
                for place, text in enumerate(sent["input"])
            ]
            # Backwards: the index tells which is which, the order does not.
            answer = {"object": "list", "data": data[::-1], "usage": {"prompt_tokens": 7 * len(data)}}
            body = json.dumps(stage.change(answer)).encode()
            self.send_response_only(status)
            self.send_header("Content-Length", str(len(body)))
            if stage.retry_after:
                self.send_header("Retry-After", stage.retry_after)
            self.end_headers()
            with contextlib.suppress(OSError):
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    stage.port = server.server_address[1]
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield stage
    finally:
        server.shutdown()
        server.server_close()
