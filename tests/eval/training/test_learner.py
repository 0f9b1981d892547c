"""The tagger as a learner: settings that fit a small corpus, answers in characters."""

from __future__ import annotations

from pathlib import Path

import pytest

from cohortium.eval.extraction.corpora.corpus import AnnotatedDocument, LabelledSpan
from cohortium.eval.training.learner import LEAST_STEPS, TaggerLearner, fitted
from cohortium.eval.training.settings import TrainingSettings
from cohortium.ingest.models.tagging.words import word_spans

DRUGS = ("Larkadol", "Mirtapan", "Ostevir", "Quillomab")


def document(number: int) -> AnnotatedDocument:
    """An invented sentence."""
    drug = DRUGS[number % 4]
    text = f"In spring {drug} was given to {'him' if number % 2 else 'her'} again"
    start = text.index(drug)
    return AnnotatedDocument(
        f"n{number}", text, tuple(word_spans(text)), (LabelledSpan(start, start + len(drug), "m-key"),)
    )


@pytest.mark.parametrize("words", [0, 1, 600, 12_000, 50_000])
def test_small_corpora_are_learned_from_often_enough(words: int) -> None:
    """Whatever the size, there are so many steps at least, and never fewer epochs than asked for."""
    settings = TrainingSettings()
    made = fitted(settings, words)
    assert made.epochs * max(1, -(-words // made.batch_words)) >= LEAST_STEPS
    assert made.epochs >= settings.epochs
    assert made.patience >= settings.patience
    assert made.batch_words <= settings.batch_words


def test_large_corpora_have_the_settings_given() -> None:
    """Where there are steps enough nothing is changed."""
    assert fitted(TrainingSettings(), 200_000) == TrainingSettings()


def test_signatures_tell_settings_apart() -> None:
    """Other settings, another signature; the seed is the experiment's, and threads decide nothing."""
    one = TaggerLearner(TrainingSettings(kind="convolution")).signature
    assert one == TaggerLearner(TrainingSettings(kind="convolution", seed=4, threads=2)).signature
    assert one != TaggerLearner(TrainingSettings(kind="convolution", epochs=3)).signature


def test_a_tagger_learns_and_answers(tmp_path: Path) -> None:
    """A small network learns invented drugs, and says where they stand in characters; an empty text has none."""
    pytest.importorskip("torch")
    settings = TrainingSettings(kind="convolution", epochs=2, patience=2, threads=1, precision="float32", rate=0.01)
    documents = tuple(document(number) for number in range(12))
    answers = TaggerLearner(settings, least_steps=24).learn(documents, documents[:6], 1, tmp_path)
    empty = AnnotatedDocument("empty", "", ())
    found = answers([documents[3], empty])
    assert list(found[0]) == list(documents[3].spans)
    assert list(found[1]) == []
