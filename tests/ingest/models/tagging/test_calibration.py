"""Calibration: what reliability is, by hand; curves that rise; and only what helps on other documents is taken."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cohortium.eval.extraction.corpora.corpus import AnnotatedCorpus, AnnotatedDocument, LabelledSpan
from cohortium.eval.training.calibration import WAYS, Bin, applied, calibrate, fit, reliability
from cohortium.eval.training.examples import TrainingPart
from cohortium.ingest.models.tagging.model_directory import write_card
from cohortium.ingest.models.tagging.tagger import Tagger
from cohortium.ingest.models.tagging.words import word_spans
from tests.amounts import examples

from .conftest import card


def test_reliability_by_hand() -> None:
    """Four entities in two bins: 0.1 and 0.2 of which one is right, 0.9 and 1.0 which are both."""
    told = reliability(numpy.array([0.1, 0.2, 0.9, 1.0]), numpy.array([1.0, 0.0, 1.0, 1.0]), bins=2)
    assert told.bins == (Bin(0.0, 0.5, 2, 0.15, 0.5), Bin(0.5, 1.0, 2, 0.95, 1.0))
    assert told.error == pytest.approx((2 * 0.35 + 2 * 0.05) / 4)
    assert told.brier == pytest.approx((0.81 + 0.04 + 0.01 + 0.0) / 4, abs=1e-4)


def test_no_entities_are_no_error() -> None:
    """Nothing to judge: nought everywhere, and nothing is bent."""
    empty = numpy.zeros(0)
    assert (reliability(empty, empty).error, reliability(empty, empty).bins) == (0.0, ())
    assert fit(empty, empty, []).way == "none"


def overconfident(number: int) -> tuple[numpy.ndarray, numpy.ndarray, list[int]]:
    drawn = numpy.random.default_rng(5)
    true = drawn.uniform(0.2, 0.9, number)
    odds = numpy.log(true / (1 - true))
    raw = 1 / (1 + numpy.exp(-3 * odds - 1))
    return raw, (drawn.uniform(size=number) < true).astype(float), [at // 10 for at in range(number)]


def test_too_much_confidence_is_taken_back() -> None:
    """Log odds three times too far: calibrated, the error on documents not fitted on is a small part of it."""
    done = fit(*overconfident(4000))
    assert done.way != "none"
    assert done.before.error > 0.15
    assert done.after.error < 0.04
    assert done.after.brier < done.before.brier


def test_good_probabilities_are_left_alone_and_few_entities_too() -> None:
    """Where nothing can be bettered nothing is bent; nor on fewer than a hundred entities, or with all right."""
    drawn = numpy.random.default_rng(6)
    raw = drawn.uniform(size=6000)
    done = fit(raw, (drawn.uniform(size=6000) < raw).astype(float), list(range(6000)))
    assert done.after.brier <= done.before.brier
    assert done.after.error < 0.03
    assert fit(*(one[:60] for one in overconfident(60))).knots == ()
    assert fit(raw, numpy.ones(6000), list(range(6000))).knots == ()


@settings(max_examples=examples(40), deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(sorted(WAYS)))
def test_curves_rise_and_stand_in_a_card(seed: int, way: str) -> None:
    """Whatever the entities were, a surer one stays at least as sure, and the card accepts the knots."""
    drawn = numpy.random.default_rng(seed)
    raw = drawn.beta(*drawn.uniform(0.2, 3, 2), size=150)
    right = (drawn.uniform(size=150) < drawn.uniform()).astype(float)
    right[:2] = 0, 1
    knots = WAYS[way](raw, right)
    values = applied(knots, numpy.linspace(0, 1, 50))
    assert (numpy.diff(values) >= 0).all()
    assert ((values >= 0) & (values <= 1)).all()
    assert card(calibration=knots).confidence(numpy.array([0.3])) == applied(knots, numpy.array([0.3]))


def test_a_directory_is_calibrated(
    by_shapes: Callable[..., Tagger], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Its card gets the knots, the reliability and the scores of what is handed on; its README tells them."""
    (tmp_path / "model.onnx").write_bytes(b"by rule")
    write_card(tmp_path, card())
    monkeypatch.setattr(Tagger, "load", lambda folder, **choices: by_shapes())
    documents = []
    for number in range(150):
        text = "Gout and Larkadol 20" if number % 3 else "Monday and Larkadol 20"
        spans = [(9, 17, "DRUG"), (0, 4, "DISEASE")] if number % 3 else [(11, 19, "DRUG")]
        documents.append(
            AnnotatedDocument(
                str(number), text, tuple(word_spans(text)), tuple(sorted(LabelledSpan(*one) for one in spans))
            )
        )
    part = TrainingPart(AnnotatedCorpus("invented", tuple(documents)), frozenset({"DISEASE", "DRUG"}))
    model = calibrate(tmp_path, [part])
    told = model.card.scores["confidence"]
    assert told["before"]["number"] == 300
    assert told["after"]["brier"] <= told["before"]["brier"]
    assert model.card.scores["exact, weights"]["invented"]["micro"]["tp"] == 250
    assert "| all | 0.833 |" in (tmp_path / "README.md").read_text(encoding="utf-8")
