"""The tagger as a learner of experiments: trained on documents in hand, answering others, nothing written but its work.

torch is imported where something is learned, so that plans and scores can be had without it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from ...ingest.models.optional import library, versions
from ...ingest.models.tagging.labels import LabelSet
from ..extraction.corpora.corpus import AnnotatedCorpus, AnnotatedDocument, LabelledSpan
from .settings import TrainingSettings

#: Steps of a training, at least: thirty sentences in twelve epochs of one batch would teach nothing.
LEAST_STEPS: Final = 400
#: Batches of an epoch, at least, while they hold so many words.
_BATCHES: Final = 30
_SMALLEST_BATCH: Final = 100


@dataclass(frozen=True)
class TaggerLearner:
    """Trains the tagger of ``train ner`` with these settings, their seed left to the experiment.

    ``base``: a folder as ``train ner --base`` takes it; None from scratch.
    """

    settings: TrainingSettings
    base: Path | None = None
    least_steps: int = LEAST_STEPS

    @property
    def signature(self) -> Mapping[str, Any]:
        """Settings (but the seed, and the threads, which decide nothing), base and the libraries that compute."""
        deciding = {name: value for name, value in self.settings.as_dict().items() if name not in ("seed", "threads")}
        base = "from scratch" if self.base is None else _digest(self.base)
        deciding["least_steps"] = self.least_steps
        return {"settings": deciding, "base": base, "libraries": versions("torch", "transformers", "tokenizers")}

    def learn(
        self,
        train: tuple[AnnotatedDocument, ...],
        development: tuple[AnnotatedDocument, ...],
        seed: int,
        work: Path,
    ) -> _Answers:
        """A trained tagger; the types are those of the training documents. A stopped run goes on where it was.

        UsageError without torch, or where the base cannot be read.
        """
        torch = library("torch", "models")
        from ...ingest.models.tagging.features import Featurizer
        from .bases import base_of, network_of
        from .examples import TrainingPart, examples_of
        from .loop import Training

        settings = fitted(replace(self.settings, seed=seed), sum(len(one.words) for one in train), self.least_steps)
        types = frozenset(span.label for one in train for span in one.spans)
        labels = LabelSet.for_types(types)
        torch.manual_seed(seed)
        begun = base_of(self.base, labels, settings)
        network = network_of(begun)
        featurizer = Featurizer(network.settings.inputs, begun.tokenizer, settings.window)
        taught, aside = (
            TrainingPart(AnnotatedCorpus(name, some), types) for name, some in (("train", train), ("dev", development))
        )
        training = Training(settings, network, labels, featurizer, work)
        training.run(examples_of([taught], labels, featurizer, settings.balance), [aside])
        return _Answers(training)


def fitted(settings: TrainingSettings, words: int, least_steps: int = LEAST_STEPS) -> TrainingSettings:
    """The settings for a corpus of so many words. A small one has smaller batches and more epochs (patience grows with
    them), so that it is learned from in ``least_steps`` steps or more; a large one has what it was given."""
    batch_words = min(settings.batch_words, max(_SMALLEST_BATCH, words // _BATCHES))
    steps = max(1, -(-words // batch_words))
    epochs = max(settings.epochs, -(-least_steps // steps))
    patience = settings.patience * epochs // settings.epochs
    return replace(settings, batch_words=batch_words, epochs=epochs, patience=patience)


@dataclass(frozen=True)
class _Answers:
    """A trained tagger, answering with spans in characters."""

    training: Any

    def __call__(self, documents: Sequence[AnnotatedDocument]) -> list[list[LabelledSpan]]:
        found = self.training.entities(documents)
        return [
            [LabelledSpan(one.words[first][0], one.words[last - 1][1], kind) for first, last, kind in some]
            for one, some in zip(documents, found, strict=True)
        ]


def _digest(folder: Path) -> str:
    """The folder's name and what its files are: names and sizes, which is enough to tell two bases apart."""
    files = sorted((one.name, one.stat().st_size) for one in folder.iterdir() if one.is_file())
    return f"{folder.name}: " + ", ".join(f"{name} {size}" for name, size in files)
