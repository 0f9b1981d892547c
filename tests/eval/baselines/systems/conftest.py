"""The sample notes as a corpus and as knowledge bases: of patients, and of each note alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cohortium.engine.api import OpenKb
from cohortium.engine.api import open as open_kb
from cohortium.eval.baselines.systems.corpus import Corpus
from cohortium.eval.benchmark.workshop import Workshop
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
def kb(samples_kb: Path) -> Iterator[OpenKb]:
    """Their knowledge base."""
    with open_kb(samples_kb) as made:
        yield made
