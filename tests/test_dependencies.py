"""What is installed, and what may be: bounds that were tested, versions that are pinned, a hash of every file."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import PackageNotFoundError, version

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.places import ROOT

SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = SETTINGS["optional-dependencies"]
REQUIRED = sorted({*SETTINGS["dependencies"], *(one for extra in EXTRAS.values() for one in extra)})
PINNED = {
    canonicalize_name(name): Version(pinned)
    for name, pinned in re.findall(
        r"^([\w.-]+)==(\S+)$", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE
    )
}
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")
LOCKED = {
    canonicalize_name(name): Version(pinned) for name, pinned in re.findall(r"^([\w.-]+)==(\S+)", LOCK, re.MULTILINE)
}
#: Its own release, and what builds wheels, which is pinned in the lock alone.
UNPINNED = {"cohortium-models", "setuptools"}


@pytest.mark.parametrize("text", REQUIRED)
def test_a_bound_is_the_next_release_that_was_not_tested(text: str) -> None:
    """The version that the tests run with lies within, and the next major one, which nobody has seen, does not."""
    required = Requirement(text)
    assert {one.operator for one in required.specifier} == {">=", "<"}
    name = canonicalize_name(required.name)
    if name not in UNPINNED:
        pinned = PINNED[name]
        assert pinned in required.specifier
        assert not required.specifier.contains(f"{pinned.major + 1}.0")
    try:
        assert required.specifier.contains(version(required.name), prereleases=True)
    except PackageNotFoundError:
        pytest.skip(f"{required.name} is of an extra that is not installed")


def test_the_lock_holds_the_pinned_versions_with_their_hashes() -> None:
    """Of whatever the program and its extras need but torch, and each with the hash of more than one file."""
    wanted = {*SETTINGS["dependencies"], *EXTRAS["ner"], *EXTRAS["endpoint"], *EXTRAS["ontology"]}
    assert {canonicalize_name(Requirement(one).name) for one in wanted} <= LOCKED.keys()
    for name, locked in LOCKED.items():
        assert name in UNPINNED or PINNED.get(name, locked) == locked, name
    for block in re.split(r"\n(?=\S)", LOCK):
        if "==" in block.splitlines()[0]:
            assert len(re.findall(r"--hash=sha256:[0-9a-f]{64}\b", block)) >= 1, block


def test_compiled_libraries_have_hashes_for_every_platform() -> None:
    """A wheel for each Python of each system: of one file there would be one hash."""
    blocks = {block.split("==")[0]: block.count("--hash=") for block in re.split(r"\n(?=\S)", LOCK) if "==" in block}
    for name in ("duckdb", "pyarrow", "numpy", "pyroaring", "pydantic-core", "rapidfuzz", "onnxruntime"):
        assert blocks[name] > 10, name


def test_the_models_distribution_is_the_one_that_the_extra_asks_for() -> None:
    """Its version lies within the bounds of the extra ``shipped``."""
    models = tomllib.loads((ROOT / "models" / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (asked,) = [Requirement(one) for one in EXTRAS["shipped"] if Requirement(one).name == models["name"]]
    assert asked.specifier.contains(models["version"])
    assert {*EXTRAS["ner"]} <= {*EXTRAS["shipped"]}
