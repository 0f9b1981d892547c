"""The model that ships with the package: whole, small, on terms that allow it, and at work without torch."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import cohortium
from cohortium.eval.extraction.corpora.licences import licences
from cohortium.eval.training.export.model_readme import readme_of
from cohortium.ingest.models.tagging.choice import SHIPPED, chosen_model
from cohortium.ingest.models.tagging.model_directory import ONNX, README, WEIGHTS, ModelDirectory
from tests.places import ROOT

INGEST = Path(cohortium.__file__).parent / "ingest"
FOLDER = ROOT / "models" / "cohortium_models" / "shipped"
#: Bytes of the tagger and of all that the linker ships, together.
MOST = 30_000_000
#: Terms under which a base may be passed on within a package under Apache-2.0.
OF_A_BASE = {"Apache-2.0", "MIT", "BSD-3-Clause", "CC0-1.0"}


@pytest.fixture(scope="module")
def model() -> ModelDirectory:
    return ModelDirectory.open(FOLDER)


def test_its_card_is_whole(model: ModelDirectory) -> None:
    """It says what it is for and not for, how good its int8 network is on each corpus, how sure, how it was made."""
    card = model.card
    assert card.description
    assert card.limits
    assert card.calibration
    corpora = card.signature["corpora"]
    assert set(card.scores[f"exact, {ONNX}"]) >= {one["name"] for one in corpora["dev"]}
    for told in card.scores[f"exact, {ONNX}"].values():
        assert 0 < told["micro"]["precision"] < 1
        low, high = told["micro"]["ci"]
        assert low <= told["micro"]["f1"] <= high
    sure = card.scores["confidence"]
    assert sure["after"]["error"] <= sure["before"]["error"]
    assert card.signature["command"].startswith("cohortium train ner ")
    assert corpora["train"]
    assert card.signature["settings"]
    assert card.signature["libraries"]


def test_its_files_are_those_of_its_card(model: ModelDirectory) -> None:
    """Each fits its checksum, none is there besides, none is of torch; the README is the card's."""
    assert {one.name for one in FOLDER.iterdir()} == {"card.json", *model.card.files}
    for name in model.card.files:
        assert model.file(name).stat().st_size == model.card.files[name].bytes
    assert not set(WEIGHTS) & set(model.card.files)
    assert model.file(README).read_text(encoding="utf-8") == readme_of(model.card)


def test_it_is_small() -> None:
    """With the linker's vectors and numbers it is at most 30 MB."""
    linker = [
        one for one in (INGEST / "models" / "linking").rglob("*") if one.is_file() and one.suffix not in {".py", ".pyc"}
    ]
    files = [*linker, *FOLDER.iterdir()]
    assert len(files) > 4
    assert sum(one.stat().st_size for one in files) <= MOST


def test_what_it_was_made_from_may_be_shipped(model: ModelDirectory) -> None:
    """Each corpus is one whose terms are known to allow it, its base is under a free licence; nothing else went in."""
    known = {one.name: one for one in licences()}
    assert {one.use for one in model.card.materials} == {"base", "training"}
    for one in model.card.materials:
        if one.use == "base":
            assert one.licence in OF_A_BASE
        else:
            assert one.name in known, f"the terms of '{one.name}' are not known"
            assert known[one.name].ship, f"{one.name}: {known[one.name].why}"
            assert one.licence == known[one.name].licence


def test_it_is_what_the_option_names(model: ModelDirectory) -> None:
    """``--model shipped`` is this folder, under the name of its card."""
    choice = chosen_model(SHIPPED)
    assert choice is not None
    assert choice.name == model.card.name
    assert choice.version.startswith(f"{model.card.name}+")


def test_it_finds_a_disease_and_a_drug_without_torch() -> None:
    """In an invented sentence, at their places, with a confidence; torch and transformers are not loaded."""
    pytest.importorskip("onnxruntime")
    pytest.importorskip("tokenizers")
    text = "A fictional patient with rheumatoid arthritis was started on methotrexate in spring."
    code = (
        "import json, sys; from cohortium.ingest.models.tagging.tagger import Tagger;"
        f" found = Tagger.load({str(FOLDER)!r}).tag({text!r});"
        " rows = [[one.start, one.end, one.type, one.confidence] for one in found];"
        " print(json.dumps([rows, sorted({'torch', 'transformers'} & set(sys.modules))]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    rows, loaded = json.loads(done.stdout)
    assert loaded == []
    found = {text[start:end]: kind for start, end, kind, _ in rows}
    assert found["rheumatoid arthritis"] == "disease"
    assert found["methotrexate"] == "medication"
    assert all(0 < sure <= 1 for *_, sure in rows)
