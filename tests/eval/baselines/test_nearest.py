"""Searching vectors: flat is exact, the approximate indexes come near to it, and equal scores have one order."""

from __future__ import annotations

import stat
from pathlib import Path

import numpy as np
import pytest

from cohortium.eval.baselines.retrieval.kept_index import kept_index
from cohortium.eval.baselines.retrieval.nearest import DenseSearch, Hits, IndexSettings, VectorIndex
from cohortium.ingest.models.linking.encoders import to_unit
from cohortium.kb.errors import UsageError
from tests.eval.baselines.hashed_encoder import HashedEncoder

pytest.importorskip("faiss", reason="faiss is not installed: pip install 'cohortium[dense]'")

DRAWN = np.random.default_rng(7)
CENTRES = DRAWN.normal(size=(40, 24))
VECTORS = to_unit(CENTRES[DRAWN.integers(0, 40, 3000)] + 0.4 * DRAWN.normal(size=(3000, 24)))
QUESTIONS = to_unit(CENTRES[DRAWN.integers(0, 40, 15)] + 0.4 * DRAWN.normal(size=(15, 24)))


def test_flat_is_the_inner_product_of_all() -> None:
    """Order and scores are those of a product of matrices."""
    exact = QUESTIONS.astype(np.float64) @ VECTORS.T.astype(np.float64)
    for hits, scores in zip(VectorIndex(VECTORS).nearest(QUESTIONS), exact, strict=True):
        assert len(hits.chunks) == 3000
        assert np.allclose(hits.scores, scores[hits.chunks], atol=2e-6)
        assert np.allclose(hits.scores, np.sort(scores)[::-1], atol=2e-6)


@pytest.mark.parametrize(("settings", "least"), [(IndexSettings("ivf"), 0.8), (IndexSettings("hnsw"), 0.95)])
def test_approximate_indexes_find_most_of_the_nearest(settings: IndexSettings, least: float) -> None:
    """Of the 50 nearest so many are found; what is found has its true score."""
    index = VectorIndex(VECTORS, settings)
    shares = []
    for found, exact in zip(index.nearest(QUESTIONS, 50), VectorIndex(VECTORS).nearest(QUESTIONS, 50), strict=True):
        shares.append(len(set(found.chunks) & set(exact.chunks)) / 50)
        assert len(set(found.chunks)) == len(found.chunks) <= 50
    assert np.mean(shares) >= least
    assert index.size_in_bytes > VECTORS.nbytes
    assert index.seconds > 0


def test_probing_every_list_is_exact() -> None:
    """IVF misses only what lies in lists that it does not look into."""
    index = VectorIndex(VECTORS, IndexSettings("ivf", lists=10, probes=10))
    for found, exact in zip(index.nearest(QUESTIONS, 50), VectorIndex(VECTORS).nearest(QUESTIONS, 50), strict=True):
        assert np.array_equal(found.scores, exact.scores)


@pytest.mark.parametrize("kind", ["flat", "ivf", "hnsw"])
def test_two_builds_answer_alike(kind: str) -> None:
    """Equal vectors and settings give equal answers."""
    one, two = (VectorIndex(VECTORS, IndexSettings(kind)).nearest(QUESTIONS, 200) for _ in range(2))
    for a, b in zip(one, two, strict=True):
        assert np.array_equal(a.chunks, b.chunks)
        assert np.array_equal(a.scores, b.scores)


@pytest.mark.parametrize("kind", ["flat", "ivf", "hnsw"])
@pytest.mark.parametrize("size", [0, 1, 5])
def test_small_indexes_work(kind: str, size: int) -> None:
    """With none or few vectors there are few answers, and no error."""
    index = VectorIndex(VECTORS[:size], IndexSettings(kind))
    (hits,) = index.nearest(QUESTIONS[:1])
    assert sorted(hits.chunks) == list(range(size))


def test_equal_scores_stand_by_number() -> None:
    """The order of FAISS among equals does not show."""
    rows = np.repeat(VECTORS[:1], 30, axis=0)
    (hits,) = VectorIndex(rows).nearest(QUESTIONS[:1])
    assert list(hits.chunks) == list(range(30))
    made = Hits.sorted(np.array([5, 2, 9]), np.array([0.5, 0.50000004, 0.7], dtype=np.float32))
    assert list(made.chunks) == [9, 2, 5]


def test_settings_that_mean_nothing_are_refused() -> None:
    """The kinds are named."""
    with pytest.raises(UsageError, match="flat, ivf, hnsw"):
        IndexSettings("tree")
    with pytest.raises(UsageError, match="depth"):
        IndexSettings("ivf", depth=0)


def test_the_signature_says_what_holds_for_the_kind() -> None:
    """Lists for IVF, neighbours for HNSW, the encoder with both."""
    search = DenseSearch(HashedEncoder(24), VectorIndex(VECTORS, IndexSettings("ivf", lists=12)))
    told = search.signature()
    assert told["encoder"]["name"] == "hashed"
    assert (told["index"]["lists"], told["index"]["probes"]) == (12, 8)
    assert "neighbours" not in told["index"]
    assert VectorIndex(VECTORS[:9], IndexSettings("hnsw")).signature()["neighbours"] == 32


@pytest.mark.parametrize("kind", ["ivf", "hnsw"])
def test_an_index_is_kept_and_answers_as_the_one_that_was_built(tmp_path: Path, kind: str) -> None:
    """Read again it gives the same hits; other settings or vectors are built anew; only the owner may read it."""
    first = kept_index(tmp_path, VECTORS[:500], IndexSettings(kind))
    files = sorted((tmp_path / "index").iterdir())
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    again = kept_index(tmp_path, VECTORS[:500], IndexSettings(kind))
    assert again.seconds == first.seconds
    for one, two in zip(first.nearest(QUESTIONS), again.nearest(QUESTIONS), strict=True):
        assert np.array_equal(one.chunks, two.chunks)
        assert np.array_equal(one.scores, two.scores)
    assert sorted((tmp_path / "index").iterdir()) == files
    kept_index(tmp_path, VECTORS[:501], IndexSettings(kind))
    kept_index(tmp_path, VECTORS[:500], IndexSettings(kind, depth=0.5))
    assert len(list((tmp_path / "index").iterdir())) == 3 * len(files)
    kept_index(tmp_path / "flat", VECTORS[:500])
    assert not (tmp_path / "flat").exists()
