"""The README of a model: the card for people, made of ``card.json`` alone."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from cohortium.eval.training.export.model_readme import readme_of
from cohortium.eval.training.export.onnx_file import rewrite_card, slim_copy
from cohortium.ingest.models.tagging.model_directory import ModelDirectory, write_card
from cohortium.kb.errors import BadModel

from .conftest import card


def figures(f1: float, found: int = 3, missed: int = 1, **types: dict[str, Any]) -> dict[str, Any]:
    """Scores of a corpus, as the training writes them."""
    counts = {"tp": found, "fp": 0, "fn": missed}
    micro = {"precision": 0.5, "recall": None, "f1": f1, "ci": (0.25, 0.75), **counts}
    return {"micro": micro, "by_type": types}


def side(number: int, error: float, *bins: tuple[float, float, int]) -> dict[str, Any]:
    """A table of reliability."""
    rows = [
        {"low": low, "high": high, "number": n, "confidence": (low + high) / 2, "right": 0.5} for low, high, n in bins
    ]
    return {"number": number, "error": error, "brier": 0.2, "bins": rows}


TYPED = {"precision": 1.0, "recall": 0.5, "f1": 2 / 3, "ci": None, "tp": 1200, "fp": 0, "fn": 1200}
SCORES = {
    "exact": {"invented": figures(0.4, DRUG={**TYPED, "f1": 0.6})},
    "exact, model.onnx": {"invented": figures(0.3, DRUG=TYPED), "other|one": figures(0.9)},
    "confidence": {
        "way": "isotonic",
        "before": side(9, 0.15, (0.1, 0.2, 4), (0.9, 1.0, 5)),
        "after": side(9, 0.01, (0.1, 0.2, 3), (0.5, 0.6, 6)),
    },
}
SIGNATURE = {
    "cohortium": "0.1.0",
    "command": "cohortium train ner\n--seed 3",
    "base": "model",
    "settings": {"seed": 3, "encoder_rate": 0.0002},
    "corpora": {
        "train": [{"name": "learned", "documents": 4560, "entities": 9385, "files": 1, "sha256": "ab" * 32}],
        "dev": [{"name": "invented", "documents": 12, "entities": 4, "files": {"one.tsv": "cd"}}],
    },
    "epochs": [{"number": 1, "loss": 0.5, "f1": 0.25}, {"number": 2, "loss": 0.125, "f1": 0.5, "seconds": 3.25}],
    "best_epoch": 2,
    "seconds": 150.0,
    "libraries": {"torch": "2.0", "transformers": None},
    "weather": {"sun": [1, 2]},
}
CARD = card(
    description="For tests.",
    scores=SCORES,
    calibration=((0.0, 0.0), (1.0, 0.5)),
    materials=(
        {"name": "A base", "licence": "MIT", "use": "base"},
        {"name": "Invented", "licence": "CC0-1.0", "use": "training", "source": "here"},
    ),
    limits=("Invented words only.",),
    signature=SIGNATURE,
)


def test_the_network_that_is_handed_on_comes_first() -> None:
    """A table a corpus, all types and each, the gold entities counted; the other network's F1 stands beside."""
    lines = readme_of(CARD).splitlines()
    for line in (
        "# capitals",
        "A tagger of words for Cohortium. It finds: DISEASE, DRUG.",
        "Main figures: onnxruntime, int8, as it is handed on.",
        "**invented** (12 documents, held aside from training)",
        "| type | precision | recall | F1 | interval | gold entities | F1 of torch, float32 |",
        "| all | 0.500 |  | 0.300 | 0.250 to 0.750 | 4 | 0.400 |",
        "| DRUG | 1.000 | 0.500 | 0.667 |  | 2,400 | 0.600 |",
        "**other\\|one**",
        "| all | 0.500 |  | 0.900 | 0.250 to 0.750 | 4 |",
    ):
        assert line in lines
    alone = readme_of(card(scores={"exact": SCORES["exact"]}))
    assert "Main figures: torch, float32." in alone
    assert "| all | 0.500 |  | 0.400 | 0.250 to 0.750 | 4 |" in alone.splitlines()


def test_confidence_limits_materials_and_making_are_told() -> None:
    """Reliability before and after side by side, limits of this model, terms, and all of the signature."""
    lines = readme_of(CARD).splitlines()
    for line in (
        "| before | 9 | 0.150 | 0.200 |",
        "| after calibration | 9 | 0.010 | 0.200 |",
        "| 0.1 to 0.2 | 4 | 0.150 | 0.500 | 3 | 0.150 | 0.500 |",
        "| 0.5 to 0.6 |  |  |  | 6 | 0.550 | 0.500 |",
        "| 0.9 to 1 | 5 | 0.950 | 0.500 |  |  |  |",
        "- Invented words only.",
        "| Invented | training | CC0-1.0 | here |",
        "    cohortium train ner --seed 3",
        "- Base: model, from A base",
        "- Settings: seed 3, encoder_rate 0.0002",
        "- Epochs: 1 (loss 0.500, F1 0.250), **2** (loss 0.125, F1 0.500); the bold one is kept",
        "- Versions: cohortium 0.1.0, torch 2.0",
        "- weather: sun 1, 2",
        "| learned | training | 4,560 | 9,385 | abababababab |",
        "| invented | development | 12 | 4 |  |",
    ):
        assert line in lines
    assert any("0.000 → 0.000, 1.000 → 0.500." in line for line in lines)


@pytest.mark.parametrize(
    "told",
    [
        CARD,
        card(),
        card(scores={"exact": {}, "words": 7, "confidence": {"way": "none"}}, signature={"epochs": None}),
        card(scores={"exact": {"empty": {"micro": {}}}}, signature={"corpora": {"train": ["one"]}, "seconds": None}),
        card(calibration=((0.5, 0.5),)),
    ],
)
def test_nothing_in_it_is_raw(told: Any) -> None:
    """Whatever a card lacks, no value is written as Python writes it, and every table has rows of one length."""
    text = readme_of(told)
    assert not re.search(r"\{'|\[\(|None|\bnan\b", text)
    assert "decisions about patients" in text
    for block in text.split("\n\n"):
        if block.startswith("|"):
            rows = block.splitlines()
            assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) == 1
            assert len(rows) > 2


def test_scores_that_it_does_not_know_are_told_too() -> None:
    """Another measure has its own heading; what is no table of scores is listed, so that nothing is lost."""
    told = card(scores={"exact": {"one": figures(0.4)}, "partial": {"one": figures(0.7)}, "speed": {"words": 120.5}})
    lines = readme_of(told).splitlines()
    assert "### Partial" in lines
    assert "- speed: words 120.5" in lines


def test_the_readme_of_a_directory_is_written_anew(tmp_path: Path) -> None:
    """A card that is rewritten without changes gives the same card and README; its files are named with their sizes."""
    (tmp_path / "model.onnx").write_bytes(b"0" * 1_500_000)
    write_card(tmp_path, CARD)
    first = rewrite_card(tmp_path)
    assert "Files: `model.onnx` (1.5 MB)." in (tmp_path / "README.md").read_text(encoding="utf-8")
    kept = {one.name: one.read_bytes() for one in tmp_path.iterdir()}
    (tmp_path / "README.md").write_text("lost", encoding="utf-8")
    assert rewrite_card(tmp_path).card == first.card
    assert {one.name: one.read_bytes() for one in tmp_path.iterdir()} == kept
    assert first.file("README.md").read_bytes() == kept["README.md"]
    copied = slim_copy(ModelDirectory.open(tmp_path), tmp_path.with_name("copy"))
    assert {one.name: one.read_bytes() for one in copied.folder.iterdir()} == kept


def test_a_card_is_rewritten_for_its_own_files_alone(tmp_path: Path) -> None:
    """A file that was changed is not vouched for, nor is a field written that does not fit; the card stays."""
    (tmp_path / "model.onnx").write_bytes(b"whole")
    write_card(tmp_path, CARD)
    before = json.loads((tmp_path / "card.json").read_text(encoding="utf-8"))
    with pytest.raises(BadModel, match=r"cannot be changed so: .*do not rise"):
        rewrite_card(tmp_path, calibration=((0.5, 0.5), (0.4, 0.4)))
    with pytest.raises(BadModel, match="cannot be changed so: colour"):
        rewrite_card(tmp_path, colour="red")
    (tmp_path / "model.onnx").write_bytes(b"cut")
    with pytest.raises(BadModel, match="corrupted"):
        rewrite_card(tmp_path)
    assert json.loads((tmp_path / "card.json").read_text(encoding="utf-8")) == before
