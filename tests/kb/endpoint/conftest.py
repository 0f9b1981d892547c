"""What the tests of endpoints share: the scripted server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.kb.endpoint.playhouse import Stage, on_stage


@pytest.fixture
def stage() -> Iterator[Stage]:
    """A chat endpoint on this machine that plays what the test scripts."""
    with on_stage() as stage:
        yield stage


@pytest.fixture
def slept() -> list[float]:
    """The pauses that were made, in seconds."""
    return []
