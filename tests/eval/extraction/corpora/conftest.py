"""Small invented corpora in every form, and the open corpora beside the checkout where there are any."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.places import SHARED

Put = Callable[[str, str], Path]


@pytest.fixture
def put(tmp_path: Path) -> Put:
    """Writes a file of the test, whatever folder it stands in, and gives its path."""

    def write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
        return path

    return write


@pytest.fixture(scope="session")
def shared() -> Callable[[str], Path]:
    """The path of something in the shared folder; the test is skipped when it is not there."""

    def find(name: str) -> Path:
        path = SHARED / name
        if not path.exists():
            pytest.skip(f"no {name} in the shared folder; set COHORTIUM_SHARED to the folder that holds data/")
        return path

    return find
