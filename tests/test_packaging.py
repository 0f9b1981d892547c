"""The wheel holds exactly what the folders hold."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests.places import ROOT

FOLDERS = ("kb", "ingest", "query_lang", "engine", "eval")
ROOT_FILES = ("__init__.py", "__main__.py", "py.typed")
LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.pyc", ".*", "~*")
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree in a folder with a hyphen in its name."""
    copy = tmp_path_factory.mktemp("packaging") / "a-fresh-checkout"
    copy.mkdir()
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, copy / folder, ignore=LEFT_OUT)
    for name in (*ROOT_FILES, "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy / name)
    return copy


@pytest.fixture(scope="module")
def wheel(checkout: Path) -> zipfile.ZipFile:
    """The wheel that the copy builds."""
    return built(checkout, checkout.parent / "wheels")


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The wheel of the model that ships, of which the checkout holds the folder ``models``."""
    copy = tmp_path_factory.mktemp("models") / "models"
    shutil.copytree(ROOT / "models", copy, ignore=LEFT_OUT)
    return built(copy, copy.parent / "wheels")


def built(folder: Path, target: Path) -> zipfile.ZipFile:
    """The wheel that a folder with a pyproject.toml builds."""
    code = f"from setuptools.build_meta import build_wheel; build_wheel({str(target)!r})"
    target.mkdir()
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    (wheel,) = target.glob("*.whl")
    return zipfile.ZipFile(wheel)


def test_the_wheel_holds_the_folders_and_nothing_else(checkout: Path, wheel: zipfile.ZipFile) -> None:
    """Every file of the five folders is in the wheel under ``cohortium/``, and no test, build file or stray is."""
    expected = {
        f"cohortium/{path.relative_to(checkout).as_posix()}"
        for folder in FOLDERS
        for path in (checkout / folder).rglob("*")
        if path.is_file()
    } | {f"cohortium/{name}" for name in ROOT_FILES}
    held = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert sorted(expected - held) == []
    assert sorted(held - expected) == []


def test_the_wheel_installs_one_package_and_one_command(wheel: zipfile.ZipFile) -> None:
    """Installing puts one name into site-packages and one command on the path."""
    assert {name.partition("/")[0] for name in wheel.namelist() if ".dist-info/" not in name} == {"cohortium"}
    (entry,) = [name for name in wheel.namelist() if name.endswith("entry_points.txt")]
    assert wheel.read(entry).decode().split("\n")[1].strip() == "cohortium = cohortium.__main__:main"


def test_no_model_weighs_on_the_wheel(wheel: zipfile.ZipFile) -> None:
    """Networks are in the other wheel: this one is at most 8 MB, its largest file 4."""
    assert sum(one.compress_size for one in wheel.infolist()) < 8_000_000
    assert max(one.file_size for one in wheel.infolist()) < 4_000_000
    assert not [name for name in wheel.namelist() if name.endswith(".onnx")]


def test_the_models_wheel_holds_the_model_and_nothing_else(models: zipfile.ZipFile) -> None:
    """Its folder, whole, and the licence of the checkout."""
    folder = ROOT / "models" / "cohortium_models"
    expected = {path.relative_to(folder.parent).as_posix() for path in folder.rglob("*") if path.is_file()}
    held = {name for name in models.namelist() if ".dist-info/" not in name}
    assert held == {name for name in expected if "__pycache__" not in name}
    assert (ROOT / "models" / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_the_model_is_found_beside_the_program_and_missed_with_a_hint(
    wheel: zipfile.ZipFile, models: zipfile.ZipFile, tmp_path: Path
) -> None:
    """As installed: the extra brings it, and without it the error says what to install."""
    wheel.extractall(tmp_path / "program")
    models.extractall(tmp_path / "model")
    code = "from cohortium.ingest.models.tagging.choice import shipped_folder; print(shipped_folder())"
    for places, told in (("program model", "cohortium_models"), ("program", "pip install 'cohortium[shipped]'")):
        path = os.pathsep.join(str(tmp_path / place) for place in places.split())
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONPATH": path},
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert told in done.stdout + done.stderr
        assert str(ROOT) not in done.stdout


def test_every_folder_with_code_is_listed() -> None:
    """Both lists of pyproject.toml name every folder that holds Python code, and each such folder is a package."""
    folders = {path.parent for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")}
    assert not [str(folder) for folder in folders if not (folder / "__init__.py").exists()]
    names = {"cohortium"} | {"cohortium." + ".".join(f.relative_to(ROOT).parts) for f in folders}
    listed = SETTINGS["tool"]["setuptools"]
    assert set(listed["packages"]) == names
    assert set(listed["package-dir"]) == names


def test_the_root_holds_no_other_module() -> None:
    """The root of the checkout is the package's front: its API, its door, and nothing else."""
    assert sorted(path.name for path in ROOT.glob("*.py")) == ["__init__.py", "__main__.py"]


def test_the_public_names_are_there() -> None:
    """Every name that the package offers can be had, and an unknown one is told with those that exist."""
    import cohortium

    for name in cohortium.__all__:
        assert getattr(cohortium, name) is not None
    with pytest.raises(AttributeError, match="it offers Cohort"):
        cohortium.nothing_like_this  # noqa: B018
