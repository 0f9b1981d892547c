"""The tagger: texts in, entities with their places, types and confidence out.

    tagger = Tagger.load("models/trials")
    tagger.tag("Larkadol for restless legs")      # [TaggedEntity(start=0, end=8, type='DRUG', confidence=0.97, …)]

A text is read in windows that overlap; each word keeps the scores of the window in whose middle it stands, and the
whole text is decoded at once, so an entity at a border is read whole. A word is never split.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, overload

import numpy
from numpy.typing import NDArray

from ....kb.errors import BadModel
from .features import Featurizer, Window
from .model_card import ModelCard
from .model_directory import ModelDirectory
from .runtime import Emissions, emissions_of
from .words import word_spans

#: Characters that no encoding writes; replaced one by one, so that places hold.
_HALF_CHARACTERS: Final = re.compile(r"[\ud800-\udfff]")
#: Words whose scores are kept at a time.
_WORDS_AT_ONCE: Final = 200_000


@dataclass(frozen=True, slots=True)
class TaggedEntity:
    """An entity: characters ``start`` to ``end`` of the text, the words ``first_word`` to ``last_word`` (behind it),
    its type, and how sure it is: of entities that are as sure, about that share is right."""

    start: int
    end: int
    type: str
    confidence: float
    first_word: int
    last_word: int


@dataclass(frozen=True, slots=True)
class Words:
    """A text with its words: ``spans`` (start, end) in characters, in order; ``breaks``: words that begin a line."""

    text: str
    spans: Sequence[tuple[int, int]]
    breaks: Sequence[int] = ()

    @classmethod
    def in_text(cls, text: str) -> Words:
        """A text with the words that ``word_spans`` finds, and its lines."""
        spans = word_spans(text)
        breaks = [at for at in range(1, len(spans)) if "\n" in text[spans[at - 1][1] : spans[at][0]]]
        return cls(text, spans, breaks)


@dataclass(frozen=True, slots=True)
class _Piece:
    """A window of one of several texts."""

    text: int
    window: Window
    words: Sequence[str]
    cost: int


class Tagger:
    """A trained model that is ready to read. Safe to use from several threads."""

    def __init__(
        self, card: ModelCard, featurizer: Featurizer, emissions: Emissions, identity: Mapping[str, Any]
    ) -> None:
        self.card: Final = card
        self.identity: Final = dict(identity)
        self._featurizer = featurizer
        self._emissions = emissions
        self._decoder = card.decoder()

    @classmethod
    def load(
        cls,
        folder: Path | str,
        device: str = "cpu",
        runtime: str = "auto",
        threads: int = 1,
        precision: str = "float32",
        batch: int | None = None,
    ) -> Tagger:
        """The model in a directory.

        ``device``: cpu, cuda, cuda:1, mps; ``runtime``: onnx, torch, or auto (onnx on the processor);
        ``threads``: of the processor; ``precision`` (torch): float32, bfloat16, float16; ``batch`` (torch): pieces that
        go through at a time, 0 for one window at a time. BadModel for a directory that cannot be used, UsageError for a
        missing library, device or runtime.
        """
        model = ModelDirectory.open(folder)
        featurizer = model.featurizer()
        return cls(
            model.card,
            featurizer,
            emissions_of(model, device, runtime, threads, precision, batch),
            model.identity(),
        )

    @property
    def types(self) -> tuple[str, ...]:
        """What it finds."""
        return self.card.types

    def signature(self) -> dict[str, Any]:
        """The model by its checksums, and what computes it."""
        return {**self.identity, **self._emissions.describe()}

    @overload
    def tag(self, text: str) -> list[TaggedEntity]: ...
    @overload
    def tag(self, text: list[str] | tuple[str, ...]) -> list[list[TaggedEntity]]: ...
    def tag(self, text: str | list[str] | tuple[str, ...]) -> list[TaggedEntity] | list[list[TaggedEntity]]:
        """The entities of a text, in order; of several texts, those of each."""
        if isinstance(text, str):
            return self.tag_words([Words.in_text(text)])[0]
        return self.tag_words([Words.in_text(one) for one in text])

    def tag_words(self, texts: Sequence[Words], *, calibrated: bool = True) -> list[list[TaggedEntity]]:
        """The entities of texts that are divided into words already, in order. A text without words has none.

        ``calibrated``: else the confidence is the plain probability.
        """
        found: list[list[TaggedEntity]] = []
        for some in _shares_of(texts):
            for one, entities in zip(some, self._decoder.entities(self.emissions(some)), strict=True):
                sure = numpy.array([entity.probability for entity in entities])
                if calibrated:
                    sure = self.card.confidence(sure)
                found.append(
                    [
                        TaggedEntity(
                            one.spans[entity.first][0],
                            one.spans[entity.last - 1][1],
                            entity.type,
                            float(confidence),
                            entity.first,
                            entity.last,
                        )
                        for entity, confidence in zip(entities, sure, strict=True)
                    ]
                )
        return found

    def emissions(self, texts: Sequence[Words]) -> list[NDArray[numpy.float32]]:
        """The scores of each text's words, float32 [words, tags]. BadModel when the network gives no finite numbers."""
        tags = len(self.card.labels)
        scores = [numpy.zeros((len(one.spans), tags), dtype=numpy.float32) for one in texts]
        batches = self._batches(texts)
        if self._emissions.threads > 1:
            with ThreadPoolExecutor(self._emissions.threads, thread_name_prefix="tagger") as pool:
                answers = list(pool.map(self._compute, batches))
        else:
            answers = [self._compute(batch) for batch in batches]
        for batch, answer in zip(batches, answers, strict=True):
            if answer.shape[2] != tags:
                raise BadModel(f"the network of '{self.card.name}' gives {answer.shape[2]} scores a word, not {tags}")
            for row, piece in enumerate(batch):
                scores[piece.text][piece.window.core] = answer[row, piece.window.core_inside]
        if not all(numpy.isfinite(one).all() for one in scores):
            raise BadModel(
                f"the network of '{self.card.name}' gives scores that are no numbers. Hint: its weights are corrupted,"
                " or the precision is too low for it (try float32)"
            )
        return scores

    def _compute(self, batch: Sequence[_Piece]) -> NDArray[numpy.float32]:
        return self._emissions(self._featurizer.batch([piece.words for piece in batch]))

    def _batches(self, texts: Sequence[Words]) -> list[list[_Piece]]:
        """Windows of like length together, the longest first: what does not fit the memory shows at once."""
        pieces = []
        for number, one in enumerate(texts):
            whole = _HALF_CHARACTERS.sub("\ufffd", one.text)
            words = [whole[start:end] for start, end in one.spans]
            for window in self._featurizer.windows(words, one.breaks):
                inside = words[window.first : window.last]
                pieces.append(_Piece(number, window, inside, self._featurizer.pieces_in(inside)))
        pieces.sort(key=lambda piece: -piece.cost)
        batches: list[list[_Piece]] = []
        for piece in pieces:
            # Every row of a batch is as long as its first.
            if batches and (len(batches[-1]) + 1) * batches[-1][0].cost <= self._emissions.batch:
                batches[-1].append(piece)
            else:
                batches.append([piece])
        return batches


def _shares_of(texts: Sequence[Words]) -> Iterator[Sequence[Words]]:
    """The texts, some at a time, so that the memory does not grow with their number."""
    first = words = 0
    for at, one in enumerate(texts):
        words += len(one.spans)
        if words >= _WORDS_AT_ONCE:
            yield texts[first : at + 1]
            first, words = at + 1, 0
    if first < len(texts):
        yield texts[first:]
