"""Training: it learns what can be learned, goes on where it was stopped, and says what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from cohortium.eval.extraction.corpora.corpus import AnnotatedCorpus, AnnotatedDocument, LabelledSpan  # noqa: E402
from cohortium.eval.training.examples import TrainingPart, examples_of  # noqa: E402
from cohortium.eval.training.loop import Progress, Trained, Training, device_of  # noqa: E402
from cohortium.eval.training.settings import TrainingSettings  # noqa: E402
from cohortium.ingest.models.tagging.features import Featurizer  # noqa: E402
from cohortium.ingest.models.tagging.labels import LabelSet  # noqa: E402
from cohortium.ingest.models.tagging.network import CONVOLUTION, Network, NetworkSettings  # noqa: E402
from cohortium.ingest.models.tagging.words import word_spans  # noqa: E402
from cohortium.kb.errors import UsageError  # noqa: E402

LABELS = LabelSet(("drug", "illness"))
DRUGS = ("Larkadol", "Mirtapan", "Ostevir", "Quillomab")
ILLNESSES = ("gout", "restless legs", "sore throat", "shingles")


def corpus(name: str = "invented", copies: int = 6) -> AnnotatedCorpus:
    """Invented sentences: each drug is given for each illness."""
    made = []
    for number, (drug, illness) in enumerate([(one, other) for one in DRUGS for other in ILLNESSES] * copies):
        text = f"{drug} was given for {illness} in spring"
        spans = (
            LabelledSpan(0, len(drug), "drug"),
            LabelledSpan(len(drug) + 15, len(drug) + 15 + len(illness), "illness"),
        )
        made.append(AnnotatedDocument(f"{name}{number}", text, tuple(word_spans(text)), spans))
    return AnnotatedCorpus(name, tuple(made))


PART = TrainingPart(corpus(), frozenset(LABELS.types))
FEW = TrainingPart(corpus("few", 1), frozenset(LABELS.types))


def training(folder: Path, epochs: int = 3, **changed: object) -> Training:
    """A run of a small network from nothing; the same weights to begin with each time."""
    settings = TrainingSettings(
        kind="convolution",
        epochs=epochs,
        batch_words=64,
        rate=0.01,
        averaging=0.5,
        threads=1,
        precision="float32",
        **changed,  # type: ignore[arg-type]
    )
    torch.manual_seed(3)
    network = Network(NetworkSettings(CONVOLUTION, len(LABELS), filters=8, width=16, hashed=4, dropout=0.0))
    return Training(settings, network, LABELS, Featurizer(network.settings.inputs, None, 64), folder)


def run(one: Training, stop_after: int | None = None) -> Trained:
    """The run, broken off behind an epoch when asked to."""

    def stop(epoch: object) -> None:
        if stop_after is not None and epoch.number > stop_after:  # type: ignore[attr-defined]
            raise KeyboardInterrupt

    one._progress = Progress(epoch=stop)
    featurizer = Featurizer(one._network.settings.inputs, None, 64)
    return one.run(examples_of([PART], LABELS, featurizer, 0.2), [FEW])


def test_it_learns_what_the_words_tell(tmp_path: Path) -> None:
    """Drugs and illnesses that it has seen are found, whole."""
    one = training(tmp_path, epochs=5)
    done = run(one)
    assert done.best is not None
    assert done.best.f1 > 0.95
    first = FEW.corpus.documents[1]
    assert one.entities([first]) == [[(0, 1, "drug"), (4, 6, "illness")]]
    assert one.entities([]) == []


def test_a_run_that_was_stopped_ends_as_one_that_was_not(tmp_path: Path) -> None:
    """Broken off behind its first epoch and begun again, it gives the same weights and tells of all epochs."""
    whole = run(training(tmp_path / "whole"))
    with pytest.raises(KeyboardInterrupt):
        run(training(tmp_path / "parted"), stop_after=1)
    parted = run(training(tmp_path / "parted"))
    assert [one.number for one in parted.epochs] == [1, 2, 3]
    assert [one.loss for one in parted.epochs] == pytest.approx([one.loss for one in whole.epochs], abs=1e-6)
    for name, one in whole.network.state_dict().items():
        assert torch.allclose(one, parted.network.state_dict()[name], atol=1e-6), name


def test_it_ends_when_nothing_gets_better(tmp_path: Path) -> None:
    """With a patience of one epoch, the first that is not better is the last."""
    done = run(training(tmp_path, epochs=12, patience=1))
    scores = [one.f1 for one in done.epochs]
    assert len(scores) < 12
    assert scores[-1] <= max(scores[:-1])
    assert done.best is not None
    assert done.best.f1 == max(scores)


def test_a_checkpoint_of_other_settings_or_texts_or_of_nothing_is_refused(tmp_path: Path) -> None:
    """It says so, and what to do."""
    run(training(tmp_path, epochs=1))
    with pytest.raises(UsageError, match="other settings"):
        run(training(tmp_path, epochs=2))
    one = training(tmp_path, epochs=1)
    with pytest.raises(UsageError, match="or texts"):
        one.run(examples_of([FEW], LABELS, Featurizer(one._network.settings.inputs, None, 64), 0.2), [FEW])
    (tmp_path / "checkpoint.pt").write_bytes(b"nothing")
    with pytest.raises(UsageError, match="cannot read the checkpoint"):
        run(training(tmp_path, epochs=1))


def test_nothing_to_learn_from_is_told(tmp_path: Path) -> None:
    """No words, or no development documents."""
    one = training(tmp_path)
    with pytest.raises(UsageError, match="no words"):
        one.run([], [FEW])
    featurizer = Featurizer(one._network.settings.inputs, None, 64)
    with pytest.raises(UsageError, match="development"):
        one.run(examples_of([FEW], LABELS, featurizer, 0.0), [TrainingPart(AnnotatedCorpus("none"), FEW.types)])


def test_types_that_a_development_corpus_does_not_annotate_do_not_count(tmp_path: Path) -> None:
    """Found illnesses are no false alarms where illnesses are not annotated."""
    one = training(tmp_path, epochs=5)
    run(one)
    drugs = TrainingPart(FEW.corpus.relabelled({"drug": "drug"}), frozenset({"drug"}))
    assert one.f1([drugs]) > 0.95
    assert one.f1([TrainingPart(drugs.corpus, frozenset(LABELS.types))]) < 0.8


def test_a_device_that_is_not_here_is_told() -> None:
    """An unknown name, and one that torch knows but this machine has not."""
    for name in ("abacus", "cuda:99"):
        with pytest.raises(UsageError, match=r"device.* '" + name):
            device_of(name)


@pytest.mark.parametrize(
    "wrong", [{"epochs": 0}, {"window": 8}, {"rate": 0.0}, {"balance": 2.0}, {"averaging": 1.0}, {"warmup": -0.1}]
)
def test_settings_out_of_range_are_told_by_name(wrong: dict[str, float]) -> None:
    """The message names the setting."""
    with pytest.raises(UsageError, match=next(iter(wrong))):
        TrainingSettings(**wrong)  # type: ignore[arg-type]
