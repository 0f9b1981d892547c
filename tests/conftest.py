"""What holds for every test."""

from __future__ import annotations

import gc
import os
import signal
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.amounts import examples
from tests.places import SAMPLES

#: What holds for generated tests that say nothing else of themselves.
settings.register_profile(
    "cohortium",
    max_examples=examples(100, share=6),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("cohortium")

#: Files that go to one worker, since each loads torch and what belongs to it; files that begin early, since one that
#: takes long and comes last leaves a worker idle; and what is left to ``make test-all``.
_ORDER = tomllib.loads(Path(__file__).with_name("order.toml").read_text(encoding="utf-8"))


def _file_of(nodeid: str) -> str:
    """The file of a test, below this folder."""
    return nodeid.partition("::")[0].removeprefix("tests/")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes long comes first; all else stays as it is. What ``make test`` leaves out is marked ``slow``."""
    places = {file: at for at, file in enumerate([*_ORDER["together"], *_ORDER["first"]])}
    items.sort(key=lambda item: places.get(_file_of(item.nodeid), len(places)))
    seen: Counter[str] = Counter()
    for item in items:
        test = item.nodeid.removeprefix("tests/").partition("[")[0]
        if test in _ORDER["slow"] or seen[test] % _ORDER["sampled"].get(test, 1):
            item.add_marker(pytest.mark.slow)
        seen[test] += 1


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """With ``--dist loadfile``, files that go together are handed out as one."""
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class Together(LoadFileScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            file = _file_of(nodeid)
            return "together" if file in _ORDER["together"] else file

    return Together(config, log)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Thousands of tests and all modules stay until the end: to look through them for garbage, again and again, would
    take a fifth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 10, 10)


@pytest.hookimpl(tryfirst=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """Libraries look at the end for what was never given back."""
    gc.unfreeze()


@pytest.fixture(scope="session", autouse=True)
def disks_are_not_waited_for() -> Iterator[None]:
    """What is written is there for every process at once; only a loss of power, which no test can make, tells whether
    the disk was waited for."""
    before = os.fsync
    os.fsync = lambda _: None
    yield
    os.fsync = before


@pytest.fixture(scope="session")
def samples_kb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The knowledge base of the sample notes, made once: to be read, and copied by who changes it."""
    from cohortium.ingest.run.pipeline import run_ingest

    path = tmp_path_factory.mktemp("samples") / "samples.kb"
    run_ingest([SAMPLES], path, workers=1, progress=False)
    return path


@pytest.fixture(scope="session", autouse=True)
def interrupts_are_heard() -> Iterator[None]:
    """A shell starts its background jobs deaf to interrupts, and their children with them: here they hear again."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    if before is signal.SIG_IGN:
        signal.signal(signal.SIGINT, before)
