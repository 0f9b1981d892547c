"""What the tests of CORAL scoring share: the tasks, the sample, annotated notes, a chat server on this machine."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from cohortium.eval.extraction.coral.tasks import Task, Tasks, shipped
from tests.eval.extraction.coral.invented import Model
from tests.places import CORAL_SAMPLES

pytest.importorskip("sacrebleu")
pytest.importorskip("rouge_score")
pytest.importorskip("scipy")


@pytest.fixture(scope="session")
def tasks() -> Tasks:
    """The shipped tasks."""
    return shipped()


@pytest.fixture(scope="session")
def sample() -> Path:
    """The folder of the invented, annotated notes."""
    return CORAL_SAMPLES


@pytest.fixture(scope="session")
def symptoms(tasks: Tasks) -> Task:
    """The task of all symptoms."""
    return tasks.by_id["symptoms"]


@pytest.fixture
def model() -> Iterator[Model]:
    """A real HTTP server on this machine with a canned model behind it."""
    held = Model({})

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            held.heard.append(sent)
            status, told = held.say(sent["messages"][-1]["content"])
            body = json.dumps(told).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    held.environment = {
        "COHORTIUM_LLM_BASE_URL": f"http://127.0.0.1:{server.server_address[1]}/v1",
        "COHORTIUM_LLM_MODEL": "a-model",
        "COHORTIUM_LLM_SEND_NOTES": "yes",
        "COHORTIUM_LLM_API_KEY": "sk-fictional",
        "COHORTIUM_LLM_SECONDS": "5",
    }
    yield held
    server.shutdown()
    server.server_close()
