"""What the tests of the model translator share: the scripted endpoint, the shipped ontology, a translator of both."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cohortium.kb.ontology.concepts import ConceptTable, shipped_concepts
from cohortium.kb.ontology.scales import Scales
from cohortium.query_lang.llm.translator import ModelTranslator
from tests.kb.endpoint.playhouse import Stage, on_stage


@pytest.fixture
def stage() -> Iterator[Stage]:
    """A chat endpoint on this machine that plays what the test scripts."""
    with on_stage() as stage:
        yield stage


@pytest.fixture(scope="session")
def concepts() -> ConceptTable:
    """The shipped ontology."""
    return shipped_concepts()


@pytest.fixture(scope="session")
def scales() -> Scales:
    """The shipped scales."""
    return Scales.from_files()


@pytest.fixture
def slept() -> list[float]:
    """The pauses that were made, in seconds."""
    return []


@pytest.fixture
def translator(
    stage: Stage, concepts: ConceptTable, scales: Scales, slept: list[float]
) -> Callable[..., ModelTranslator]:
    """Makes a translator that asks the scripted endpoint, with other limits if given."""

    def make(**limits: float) -> ModelTranslator:
        return ModelTranslator(concepts, scales, stage.settings(**limits), sleep=slept.append)

    return make


@pytest.fixture(scope="session")
def sample_path(samples_kb: Path) -> Path:
    """The sample notes, read."""
    return samples_kb


@pytest.fixture
def here(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """The scripted endpoint, as the environment names it."""
    for name, value in stage.environment().items():
        monkeypatch.setenv(name, value)
    return stage
