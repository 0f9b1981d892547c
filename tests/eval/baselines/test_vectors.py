"""The store of vectors: nothing is encoded twice, an interruption costs one shard, and only the owner may read."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from cohortium.eval.baselines.retrieval.encoders import Vectors
from cohortium.eval.baselines.retrieval.vectors import VectorStore
from cohortium.kb.errors import UsageError
from cohortium.kb.files.whole_files import write_private
from tests.eval.baselines.hashed_encoder import HashedEncoder
from tests.places import ROOT

TEXTS = [f"note {number} of {number % 7} words " + "more " * (number % 5) for number in range(40)]


class Counting(HashedEncoder):
    """Counts what it is given, and can be made to stop in the middle."""

    def __init__(self, stop_after: int | None = None) -> None:
        super().__init__(16)
        self.seen: list[str] = []
        self.left = stop_after

    def encode(self, texts: Sequence[str], *, asked: bool = False) -> Vectors:
        """As the hashed encoder; KeyboardInterrupt when its calls are used up."""
        if self.left is not None:
            if not self.left:
                raise KeyboardInterrupt
            self.left -= 1
        self.seen += texts
        return super().encode(texts, asked=asked)


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a store with its bytes."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_equal_texts_are_encoded_once_and_come_back_in_order(tmp_path: Path) -> None:
    """The rows stand in the order asked for, equal to what the encoder gives."""
    encoder = Counting()
    store = VectorStore(tmp_path / "v", encoder, shard=8)
    filled = store.fill([*TEXTS, *reversed(TEXTS)])
    assert (filled.texts, filled.different, filled.encoded) == (80, 40, 40)
    assert sorted(encoder.seen) == sorted(TEXTS)
    assert np.array_equal(store.take(TEXTS[::-1]), HashedEncoder(16).encode(TEXTS[::-1]))
    assert store.fill(TEXTS).encoded == 0
    assert filled.bytes == sum(len(one) for one in contents(tmp_path / "v").values())


def test_a_second_store_reads_what_the_first_wrote(tmp_path: Path) -> None:
    """Vectors outlive the process; only what is new is encoded."""
    VectorStore(tmp_path / "v", Counting(), shard=8).fill(TEXTS[:30])
    encoder = Counting()
    store = VectorStore(tmp_path / "v", encoder, shard=8)
    assert len(store) == 30
    assert store.fill(TEXTS).encoded == 10
    assert sorted(encoder.seen) == sorted(TEXTS[30:])
    assert np.array_equal(store.take(TEXTS), HashedEncoder(16).encode(TEXTS))


def test_an_interrupted_build_goes_on_and_ends_with_the_same_bytes(tmp_path: Path) -> None:
    """Interrupted after two shards, resumed: each text is encoded once, and the files are those of one run."""
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    VectorStore(whole, Counting(), shard=8).fill(TEXTS)
    first = Counting(stop_after=2)
    with pytest.raises(KeyboardInterrupt):
        VectorStore(broken, first, shard=8).fill(TEXTS)
    second = Counting()
    assert VectorStore(broken, second, shard=8).fill(TEXTS).encoded == 24
    assert sorted(first.seen + second.seen) == sorted(TEXTS)
    assert contents(broken) == contents(whole)


KILLED = """
import os, signal, sys
from pathlib import Path
from cohortium.eval.baselines.retrieval import vectors
from tests.eval.baselines.hashed_encoder import HashedEncoder
write, written = vectors.write_private, []
def mortal(path, data):
    if path.name == "000002.keys":
        os.kill(os.getpid(), signal.SIGKILL)
    write(path, data)
vectors.write_private = mortal
texts = Path(sys.argv[2]).read_text().split("\\n")
vectors.VectorStore(Path(sys.argv[1]), HashedEncoder(16), shard=8).fill(texts)
"""


def test_a_killed_build_goes_on_and_ends_with_the_same_bytes(tmp_path: Path) -> None:
    """Killed between the two files of a shard: that shard is made again, and nothing tells it from an unbroken run."""
    listed = tmp_path / "texts"
    listed.write_text("\n".join(TEXTS))
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    VectorStore(whole, HashedEncoder(16), shard=8).fill(TEXTS)
    command = [sys.executable, "-c", KILLED, str(broken), str(listed)]
    done = subprocess.run(command, cwd=ROOT, check=False, timeout=60)
    assert done.returncode == -signal.SIGKILL
    assert "000002.npy" in contents(broken)
    assert "000002.keys" not in contents(broken)
    (broken / "000002.keys.killed.part").write_bytes(b"half")
    store = VectorStore(broken, HashedEncoder(16), shard=8)
    assert len(store) == 16
    assert store.fill(TEXTS).encoded == 24
    assert contents(broken) == contents(whole)


def test_only_the_owner_may_read(tmp_path: Path) -> None:
    """The folder is 0700, its files 0600, whatever the umask."""
    before = os.umask(0)
    try:
        VectorStore(tmp_path / "v", HashedEncoder(16)).fill(TEXTS)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "v").stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "v").iterdir()} == {0o600}


def test_no_text_is_written(tmp_path: Path) -> None:
    """Hashes and numbers alone."""
    VectorStore(tmp_path / "v", HashedEncoder(16)).fill(["osimertinib begun"])
    assert not any(b"osimertinib" in data for data in contents(tmp_path / "v").values())


def test_another_encoder_needs_another_folder(tmp_path: Path) -> None:
    """Vectors of two encoders are never mixed, nor two precisions."""
    VectorStore(tmp_path / "v", HashedEncoder(16))
    with pytest.raises(UsageError, match="another encoder"):
        VectorStore(tmp_path / "v", HashedEncoder(32))
    with pytest.raises(UsageError, match="another encoder"):
        VectorStore(tmp_path / "v", HashedEncoder(16), "float16")


def test_half_the_bytes_cost_little(tmp_path: Path) -> None:
    """float16 comes back as unit rows, close to what was put in."""
    store = VectorStore(tmp_path / "v", HashedEncoder(16), "float16")
    store.fill(TEXTS)
    rows = store.take(TEXTS)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    assert np.abs(rows - HashedEncoder(16).encode(TEXTS)).max() < 1e-3


def test_a_shard_that_is_taken_out_is_made_again_and_moves_no_other(tmp_path: Path) -> None:
    """Each shard is found by the number in its name, so that no text ever gets the vector of another."""
    VectorStore(tmp_path / "v", Counting(), shard=8).fill(TEXTS)
    for suffix in ("npy", "keys"):
        (tmp_path / "v" / f"000001.{suffix}").unlink()
    store = VectorStore(tmp_path / "v", Counting(), shard=8)
    assert store.fill(TEXTS).encoded == 8
    for held in (store, VectorStore(tmp_path / "v", Counting(), shard=8)):
        assert np.array_equal(held.take(TEXTS), HashedEncoder(16).encode(TEXTS))


def test_two_who_write_one_file_write_it_whole(tmp_path: Path) -> None:
    """Neither sees half of the other's bytes, none is told of the other, and nothing else is left behind."""
    path = tmp_path / "file"
    data = [bytes([number]) * 1_000_000 for number in range(4)]
    seen: list[bytes] = []

    def write(whole: bytes) -> None:
        for _ in range(10):
            write_private(path, whole)
            seen.append(path.read_bytes())

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, data))
    assert len(seen) == 40
    assert set(seen) <= set(data)
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


def test_a_text_without_vector_is_an_error_that_does_not_show_it(tmp_path: Path) -> None:
    """Fill first, it says, by number."""
    with pytest.raises(KeyError) as caught:
        VectorStore(tmp_path / "v", HashedEncoder(16)).take(["osimertinib"])
    assert "osimertinib" not in str(caught.value)
