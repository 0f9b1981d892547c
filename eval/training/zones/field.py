"""A conditional random field that learns from marked notes whom the sentences of a note are about.

Over the sentences of a note (Lafferty et al. 2001): the weights of words, pairs of words and marks of each sentence,
and of each change of zone at each sort of boundary, that make the marked zones the likeliest, with a penalty on their
squares (L-BFGS). Notes without marks are taken to be about their patient, but for the sentences for which
``cues/zones.toml`` says otherwise: those may be anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ....ingest.models.optional import library
from ....ingest.text.frame import Frame
from ....ingest.text.zone_words import CHANGE, COMMON, Described, features_of
from ....ingest.text.zones import START, ZONES, described_note, zones_of
from ....kb.model import Note
from .marked import Marked

#: Relatives and copies are told by other means: the zones know three.
_STATE_OF: Final = {"patient": 0, "nobody": 1, "another": 2, "relative": 0, "copied": 0}
#: What stands in one note alone says nothing of others.
_FEWEST_NOTES: Final = 2
#: So many common words are their own shape.
_COMMON: Final = 300
#: Smaller weights are left out of the file.
_SMALLEST: Final = 0.05


@dataclass(frozen=True, slots=True)
class Learned:
    """A note as learning sees it: its sentences, what parts each from the one before, which zones each may have."""

    sentences: list[Described]
    boundaries: list[str]
    allowed: list[tuple[bool, bool, bool]]
    weight: float = 1.0


def of_marked(marked: Marked) -> Learned:
    """Each sentence has the zone of most of its characters."""
    frame = Frame(marked.note)
    described = described_note(frame)
    allowed = []
    for sentence in frame.shape.sentences:
        said: Counter[int] = Counter()
        for stretch in marked.stretches:
            overlap = min(sentence.end, stretch.end) - max(sentence.start, stretch.start)
            if overlap > 0:
                said[_STATE_OF[stretch.zone]] += overlap
        state = said.most_common(1)[0][0] if said else None
        allowed.append(tuple(state is None or one == state for one in range(len(ZONES))))
    return Learned([one for one, _ in described], [one for _, one in described], allowed)  # type: ignore[arg-type]


def of_plain(note: Note, weight: float = 1.0) -> Learned:
    """A note without marks: about its patient, but where the table of phrases says otherwise."""
    frame = Frame(note)
    described = described_note(frame)
    told = {start for start, zone in zones_of(frame).items() if not zone.learned}
    allowed = [
        (True, True, True) if sentence.start in told else (True, False, False) for sentence in frame.shape.sentences
    ]
    return Learned([one for one, _ in described], [one for _, one in described], allowed, weight)


@dataclass(frozen=True, slots=True)
class Weights:
    """``words``: features × (nobody, another); ``changes``: boundaries × from × to; ``common``: words that are their
    own shape."""

    features: list[str]
    boundaries: list[str]
    words: Any
    changes: Any
    common: frozenset[str]


def fit(notes: Sequence[Learned], penalty: float = 0.5, rounds: int = 150) -> Weights:
    """The weights under which the allowed zones of all notes are likeliest."""
    minimize = library("scipy.optimize", "bench").minimize
    common = commonest(notes)
    features_of_notes = [[features_of(sentence, common) for sentence in note.sentences] for note in notes]
    seen = Counter(feature for one in features_of_notes for feature in set().union(*one))
    features = sorted(one for one, count in seen.items() if count >= _FEWEST_NOTES)
    boundaries = sorted({START, *(one for note in notes for one in note.boundaries)})
    batch = _Batch(notes, features_of_notes, features, boundaries)
    size = len(features) * 2

    def loss(flat: Any) -> tuple[float, Any]:
        words = flat[:size].reshape(len(features), 2)
        changes = flat[size:].reshape(len(boundaries), 3, 3)
        value, of_words, of_changes = batch.gain(words, changes)
        gradient = np.concatenate([of_words.ravel(), of_changes.ravel()])
        return penalty * float(flat @ flat) / 2 - value, penalty * flat - gradient

    found = minimize(
        loss, np.zeros(size + len(boundaries) * 9), jac=True, method="L-BFGS-B", options={"maxiter": rounds}
    )
    return Weights(
        features, boundaries, found.x[:size].reshape(-1, 2), found.x[size:].reshape(len(boundaries), 3, 3), common
    )


def commonest(notes: Iterable[Learned]) -> frozenset[str]:
    """The words that stand in most of the notes whose zones are known."""
    found = Counter(
        norm
        for note in notes
        if any(not allowed[0] for allowed in note.allowed)
        for norm in {norm for sentence in note.sentences for norm in sentence.norms}
        if not norm[0].isdigit()
    )
    return frozenset(sorted(found, key=lambda norm: (-found[norm], norm))[:_COMMON])


class _Batch:
    """All notes side by side, the shorter ones filled up."""

    def __init__(
        self,
        notes: Sequence[Learned],
        of_notes: Sequence[Sequence[set[str]]],
        features: Sequence[str],
        boundaries: Sequence[str],
    ) -> None:
        csr_matrix = library("scipy.sparse", "bench").csr_matrix
        number = {feature: at for at, feature in enumerate(features)}
        of_boundary = {boundary: at for at, boundary in enumerate(boundaries)}
        self.count, self.longest = len(notes), max(len(note.sentences) for note in notes)
        rows, columns = [], []
        self.allowed = np.ones((self.count, self.longest, 3), bool)
        self.boundary = np.zeros((self.count, self.longest), int)
        self.there = np.zeros((self.count, self.longest), bool)
        for row, note in enumerate(notes):
            length = len(note.sentences)
            self.there[row, :length] = True
            self.allowed[row, :length] = note.allowed
            self.boundary[row, :length] = [of_boundary[one] for one in note.boundaries]
            for at, one in enumerate(of_notes[row]):
                found = [number[feature] for feature in one if feature in number]
                rows += [row * self.longest + at] * len(found)
                columns += found
        shape = (self.count * self.longest, len(features))
        self.matrix = csr_matrix((np.ones(len(rows)), (rows, columns)), shape=shape)
        self.across = self.matrix.T.tocsr()
        self.weights = np.array([note.weight for note in notes])
        self.boundaries = len(boundaries)

    def gain(self, words: Any, changes: Any) -> tuple[float, Any, Any]:
        """Logarithm of the likelihood of the allowed zones, with its gradient."""
        own = np.zeros((self.count, self.longest, 3))
        own[:, :, 1:] = (self.matrix @ words).reshape(self.count, self.longest, 2)
        value, of_words, of_changes = 0.0, 0.0, np.zeros_like(changes)
        for sign, barred in ((1.0, ~self.allowed), (-1.0, None)):
            points = own if barred is None else np.where(barred, -1e9, own)
            total, states, moves = self._sums(points, changes)
            value += sign * float(total @ self.weights)
            weighed = states[:, :, 1:] * (sign * self.weights[:, None, None])
            of_words = of_words + self.across @ weighed.reshape(-1, 2)
            for at in range(self.longest):
                moved = moves[at] * (sign * self.weights[:, None, None])
                np.add.at(of_changes, self.boundary[:, at], moved)
        return value, of_words, of_changes

    def _sums(self, points: Any, changes: Any) -> tuple[Any, Any, list[Any]]:
        """Of each note the logarithm of the sum over all ways, how likely each zone and each change is."""
        forward = [points[:, 0] + changes[self.boundary[:, 0], 0]]
        for at in range(1, self.longest):
            ways = forward[-1][:, :, None] + changes[self.boundary[:, at]]
            after = _sum_of_logs(ways, 1) + points[:, at]
            forward.append(np.where(self.there[:, at, None], after, forward[-1]))
        total = _sum_of_logs(forward[-1], 1)
        states = np.zeros_like(points)
        moves: list[Any] = [None] * self.longest
        backward = np.zeros((self.count, 3))
        for at in range(self.longest - 1, -1, -1):
            there = self.there[:, at, None]
            states[:, at] = np.where(there, np.exp(forward[at] + backward - total[:, None]), 0.0)
            if at:
                step = changes[self.boundary[:, at]] + (points[:, at] + backward)[:, None, :]
                moved = np.exp(forward[at - 1][:, :, None] + step - total[:, None, None])
                moves[at] = np.where(there[:, :, None], moved, 0.0)
                backward = np.where(there, _sum_of_logs(step, 2), backward)
            else:
                began = np.zeros((self.count, 3, 3))
                began[:, 0] = states[:, 0]
                moves[0] = began
        return total, states, moves


def _sum_of_logs(values: Any, axis: int) -> Any:
    most = values.max(axis=axis, keepdims=True)
    return np.squeeze(most, axis) + np.log(np.exp(values - most).sum(axis=axis))


def written(weights: Weights, patient: float, head: Iterable[str]) -> str:
    """The file of the weights; ``patient``: points for the patient that every sentence has besides; ``head``: what is
    told of it first, a line each."""
    lines = [f"# {one}" for one in head]
    lines.append("\t".join([COMMON, *sorted(weights.common)]))
    for boundary, changes in zip(weights.boundaries, weights.changes, strict=True):
        changes = changes - [0.0, patient, patient]
        lines.append("\t".join([f"{CHANGE} {boundary}", *(f"{one:.2f}" for one in changes.ravel())]))
    for feature, points in zip(weights.features, weights.words, strict=True):
        if abs(points).max() >= _SMALLEST:
            lines.append("\t".join([feature, *(f"{one:.2f}" for one in points)]))
    return "\n".join(lines) + "\n"
