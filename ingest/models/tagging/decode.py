"""From scores of words to entities: the best path of tags that is allowed, and how probable each entity of it is.

A linear-chain conditional random field (Lafferty, McCallum and Pereira, 2001): the score of a path is the sum of its
words' emissions, of the transitions between its tags, and of its start and end. Forbidden steps (``I-X`` behind
anything but ``B-X`` or ``I-X``) have no path at all, so every path is a division of whole words into entities.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy
from numpy.typing import NDArray

from .labels import LabelSet

Floats = NDArray[numpy.float64]
Numbers = NDArray[numpy.int64]

#: Scores further than this below the best of their word are taken as this far: what they tell is nought either way,
#: and products of shares stay in the range of float64.
_DEEPEST: Final = -200.0
_STEEPEST: Final = 60.0
#: Words that are decoded together.
_WORDS_AT_ONCE: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class Found:
    """An entity in words: the first, the one behind the last, its type, and its probability (before calibration)."""

    first: int
    last: int
    type: str
    probability: float


@dataclass(frozen=True, slots=True)
class _Shares:
    """Forward and backward shares of a batch, each word scaled to sum to one (Rabiner, 1989, section V.A).

    ``forward``, ``backward``, ``weights`` (exponentials of emissions): float64 [batch, words, tags]; ``scales``:
    float64 [batch, words + 1], the last one a path's end.
    """

    forward: Floats
    backward: Floats
    weights: Floats
    scales: Floats


class Decoder:
    """Decoding with the transitions of a model.

    ``transitions`` [T, T] (from, to), ``start`` [T], ``end`` [T]: natural logarithms; minus infinity and whatever the
    label set forbids is never chosen. ValueError for other shapes, for numbers that are none, and where nothing but
    minus infinity is left of a start, an end or the steps to ``O``.
    """

    def __init__(
        self,
        labels: LabelSet,
        transitions: Floats | None = None,
        start: Floats | None = None,
        end: Floats | None = None,
    ) -> None:
        size = len(labels)
        self.labels: Final = labels
        step = numpy.zeros((size, size)) if transitions is None else numpy.array(transitions, dtype=numpy.float64)
        first = numpy.zeros(size) if start is None else numpy.array(start, dtype=numpy.float64)
        last = numpy.zeros(size) if end is None else numpy.array(end, dtype=numpy.float64)
        if step.shape != (size, size) or first.shape != (size,) or last.shape != (size,):
            raise ValueError(f"transitions, start and end do not fit {size} tags")
        for scores in (step, first, last):
            if numpy.isnan(scores).any() or numpy.isposinf(scores).any():
                raise ValueError("a transition score is not a number")
        step[~labels.allowed] = -numpy.inf
        first[~labels.may_begin] = -numpy.inf
        if not (numpy.isfinite(first[0]) and numpy.isfinite(last[0]) and numpy.isfinite(step[:, 0]).all()):
            raise ValueError("a text without an entity has no path")
        self.transitions: Final = step
        self.start: Final = first
        self.end: Final = last
        self._step = _shares(step)
        self._first, self._last = _shares(first), _shares(last)

    def best(self, emissions: Sequence[NDArray[numpy.floating]]) -> list[Numbers]:
        """The best path of each text: int64 [words] for float [words, tags]. Of equal paths, the one whose tags are
        lower from the end on."""
        found: list[Numbers] = [numpy.zeros(0, dtype=numpy.int64)] * len(emissions)
        for batch in self._batches(emissions):
            for at, path in zip(batch, self._viterbi([_checked(emissions[at], self) for at in batch]), strict=True):
                found[at] = path
        return found

    def entities(self, emissions: Sequence[NDArray[numpy.floating]]) -> list[list[Found]]:
        """The entities of the best path of each text, in order, each with its exact probability."""
        found: list[list[Found]] = [[] for _ in emissions]
        for batch in self._batches(emissions):
            scores = [_checked(emissions[at], self) for at in batch]
            spans = [self.labels.decode(path) for path in self._viterbi(scores)]
            some = [at for at, one in enumerate(spans) if one]
            if not some:
                continue
            shares = self._forward_backward([scores[at] for at in some])
            for row, at in enumerate(some):
                words = len(scores[at])
                found[batch[at]] = [
                    Found(first, last, kind, self._probability(shares, row, words, first, last, kind))
                    for first, last, kind in spans[at]
                ]
        return found

    def probability(self, emissions: NDArray[numpy.floating], first: int, last: int, kind: str) -> float:
        """The share of all allowed paths, by weight, that have exactly this entity: these borders and this type.

        ``emissions`` is float [words, tags]. ValueError for a range that is none of the text's, or an unknown type.
        """
        if not 0 <= first < last <= len(emissions) or kind not in self.labels.types:
            raise ValueError("no such entity can stand in this text")
        shares = self._forward_backward([_checked(emissions, self)])
        return self._probability(shares, 0, len(emissions), first, last, kind)

    def _batches(self, emissions: Sequence[NDArray[numpy.floating]]) -> Iterator[list[int]]:
        """Numbers of texts, the longest first, so that few words are padded; texts without words are in none."""
        batch: list[int] = []
        for at in sorted((at for at, one in enumerate(emissions) if len(one)), key=lambda at: -len(emissions[at])):
            if batch and (len(batch) + 1) * len(emissions[batch[0]]) > _WORDS_AT_ONCE:
                yield batch
                batch = []
            batch.append(at)
        if batch:
            yield batch

    def _viterbi(self, scores: Sequence[Floats]) -> list[Numbers]:
        """The best paths of texts, the longest first."""
        lengths = numpy.array([len(one) for one in scores])
        padded = _padded(scores, 0.0)
        batch, words, tags = padded.shape
        back = numpy.zeros((words, batch, tags), dtype=numpy.int16)
        value = self.start + padded[:, 0]
        for at in range(1, words):
            active = int((lengths > at).sum())
            candidates = value[:active, :, None] + self.transitions
            chosen = candidates.argmax(axis=1)
            back[at, :active] = chosen
            value[:active] = numpy.take_along_axis(candidates, chosen[:, None], axis=1)[:, 0] + padded[:active, at]
        tag = (value + self.end).argmax(axis=1)
        paths = numpy.zeros((batch, words), dtype=numpy.int64)
        for at in range(words - 1, -1, -1):
            active = int((lengths > at).sum())
            paths[:active, at] = tag[:active]
            tag[:active] = back[at, numpy.arange(active), tag[:active]]
        return [path[:length] for path, length in zip(paths, lengths, strict=True)]

    def _forward_backward(self, scores: Sequence[Floats]) -> _Shares:
        """The shares of texts, the longest first."""
        lengths = numpy.array([len(one) for one in scores])
        weights = _padded([_shares(one - one.max(axis=1, keepdims=True)) for one in scores], 0.0)
        batch, words, _ = weights.shape
        forward, backward = numpy.zeros_like(weights), numpy.zeros_like(weights)
        scales = numpy.ones((batch, words + 1))
        for at in range(words):
            active = int((lengths > at).sum())
            before = self._first if at == 0 else _through(forward[:active, at - 1], self._step)
            now = before * weights[:active, at]
            scales[:active, at] = now.sum(axis=1)
            forward[:active, at] = now / scales[:active, at, None]
        for at in range(words - 1, -1, -1):
            active = int((lengths > at).sum())
            more = int((lengths > at + 1).sum())
            ending = (forward[more:active, at] * self._last).sum(axis=1)
            scales[more:active, words] = ending
            backward[more:active, at] = self._last / ending[:, None]
            if more:
                behind = weights[:more, at + 1] * backward[:more, at + 1] / scales[:more, at + 1, None]
                backward[:more, at] = _through(behind, self._step.T)
        return _Shares(forward, backward, weights, scales)

    def _probability(self, shares: _Shares, row: int, words: int, first: int, last: int, kind: str) -> float:
        begin = 2 * self.labels.types.index(kind) + 1
        inside = begin + 1
        logarithm, tag = _logarithm(shares.forward[row, first, begin]), begin
        for at in range(first + 1, last):
            logarithm += _logarithm(self._step[tag, inside] * shares.weights[row, at, inside] / shares.scales[row, at])
            tag = inside
        if last == words:
            closing = self._last[tag] / shares.scales[row, -1]
        else:
            behind = self._step[tag] * shares.weights[row, last] * shares.backward[row, last] / shares.scales[row, last]
            closing = behind.sum() - behind[inside]
        # Rounding may carry a sure entity a hair above one.
        return float(min(1.0, numpy.exp(logarithm + _logarithm(closing))))


def _shares(scores: Floats) -> Floats:
    """Exponentials, kept from vanishing where the score is finite."""
    return numpy.where(numpy.isneginf(scores), 0.0, numpy.exp(numpy.clip(scores, _DEEPEST, _STEEPEST)))


def _through(rows: Floats, matrix: Floats) -> Floats:
    """The product of each row and a matrix. That of the library rounds by the number of rows; this one does not."""
    return (rows[:, :, None] * matrix).sum(axis=1)


def _logarithm(share: float) -> float:
    return float(numpy.log(share)) if share > 0 else -numpy.inf


def _padded(scores: Sequence[Floats], fill: float) -> Floats:
    padded = numpy.full((len(scores), max(map(len, scores)), scores[0].shape[1]), fill)
    for row, one in enumerate(scores):
        padded[row, : len(one)] = one
    return padded


def _checked(emissions: NDArray[numpy.floating], decoder: Decoder) -> Floats:
    scores = numpy.asarray(emissions, dtype=numpy.float64)
    if scores.ndim != 2 or scores.shape[1] != len(decoder.labels):
        raise ValueError(f"emissions of shape {scores.shape} do not fit {len(decoder.labels)} tags")
    if not numpy.isfinite(scores).all():
        raise ValueError("an emission is not a finite number")
    return scores
