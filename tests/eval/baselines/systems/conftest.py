"""The sample notes as a corpus and as knowledge bases: of patients, and of each note alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cohortium.engine.api import OpenKb
from cohortium.engine.api import open as open_kb
from cohortium.eval.baselines.systems.corpus import Corpus
from cohortium.eval.benchmark.workshop import Workshop
from cohortium.ingest.run.pipeline import run_ingest
from tests.places import SAMPLES


@pytest.fixture(scope="session")
def corpus() -> Corpus:
    """The fictional sample notes that are shipped."""
    return Corpus.load([SAMPLES])


@pytest.fixture(scope="session")
def workshop(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    """What makes systems over them."""
    with Workshop(tmp_path_factory.mktemp("run"), corpus) as made:
        yield made


@pytest.fixture(scope="session")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenKb]:
    """Their knowledge base."""
    path = tmp_path_factory.mktemp("systems") / "samples.kb"
    run_ingest([SAMPLES], path, progress=False)
    with open_kb(path) as made:
        yield made
