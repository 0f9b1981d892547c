"""What the tests of proofs share: the sample records as a knowledge base, queries about them, and a kept verifier."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

import pytest

from benchmarks.engine.proof_mutations import Bench, load_queries

QUERIES = tomllib.loads(Path(__file__).with_name("queries.toml").read_text(encoding="utf-8"))["queries"]


@pytest.fixture(scope="session")
def sample_kb(samples_kb: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The knowledge base of the sample records, apart from that of the others."""
    return Path(shutil.copytree(samples_kb, tmp_path_factory.mktemp("proofs") / "samples.kb"))


@pytest.fixture(scope="session")
def bench(sample_kb: Path) -> Bench:
    """The claims of all queries in the three worlds, with their proofs, and verifiers that are kept."""
    return Bench(sample_kb, load_queries(Path(__file__).with_name("queries.toml")), seed=1)
