"""What the tests of the chat tagger share: a server on this machine that answers each question by its words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler

import pytest

from cohortium.ingest.coral_schema.questions import shipped_questions
from cohortium.ingest.models.chat.tagger import ChatTagger
from cohortium.kb.endpoint.asking import Asking, Budget
from cohortium.kb.endpoint.kept import KeptAnswers
from tests.kb.endpoint.playhouse import Act, Stage, on_stage, says

NO_BOUND = Budget()


@pytest.fixture
def stage() -> Iterator[Stage]:
    """A chat endpoint on this machine that plays what the test scripts."""
    with on_stage() as stage:
        yield stage


@pytest.fixture
def model(stage: Stage) -> Callable[[dict[str, str | Act]], Stage]:
    """Scripts the server: what it says to each question, by its id; to any other that there is nothing."""
    rules = shipped_questions()

    def script(answers: dict[str, str | Act]) -> Stage:
        def act(handler: BaseHTTPRequestHandler) -> None:
            asked = stage.seen[-1].contents[-1]
            (id,) = (one.id for one in rules.by_id.values() if asked.endswith(one.written(rules.rules)))
            answer = answers.get(id, "none")
            (answer if callable(answer) else says(answer))(handler)

        stage.play(act)
        return stage

    return script


@pytest.fixture
def tagger(stage: Stage) -> Callable[..., ChatTagger]:
    """Makes a tagger that asks the scripted server."""

    def make(
        types: tuple[str, ...] | None = None, kept: KeptAnswers | None = None, budget: Budget = NO_BOUND
    ) -> ChatTagger:
        return ChatTagger(Asking(stage.settings(tries=1), kept, budget, sleep=lambda seconds: None), types)

    return make
