"""Links mentions that the lexicon lacks: candidates by letters and by vectors, a calibrated score, a threshold."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from ....kb.ontology.concepts import ConceptTable
from .encoders import Encoder, GramEncoder, Vectors
from .features import FEATURES, features, is_forbidden
from .names import NameTable
from .nearest import NearestNames, kept_vectors
from .ngrams import GramIndex
from .score import Scorer, group_of, second_row
from .wording import allowed_kinds, wording

#: Names that each of the two searches proposes.
DEPTH: Final = 24
#: Candidates that a link keeps.
KEPT: Final = 3
#: Symbols (ER, PD1, T2) mean what their letters say exactly, or nothing: no likeness links them.
_SYMBOL: Final = re.compile(r"\W*(?:\w{1,3}|[A-Z0-9][A-Z0-9\-/+]{0,5})\W*")


@dataclass(frozen=True, slots=True)
class UnreadMention:
    """A mention that the lexicon lacks. ``kind``: that of the span (``diagnosis``, ``medication`` …), empty if it is
    not known; ``sentence``: what it stands in, empty if that does not matter."""

    text: str
    kind: str = ""
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A concept that a mention may mean, the name of it that is nearest, and the log odds of that pair."""

    concept: str
    name: str
    score: float


@dataclass(frozen=True, slots=True)
class Link:
    """What a mention was linked to: a concept, or none (``concept`` is empty: *unlinked*).

    ``probability``: that the best candidate is right, calibrated. ``name``: the name in the ontology by which it was
    linked, for the proof. ``candidates``: the best ones, also of a mention that stays unlinked. ``how``: the features
    of the best pair.
    """

    mention: UnreadMention
    concept: str
    name: str
    probability: float
    candidates: tuple[Candidate, ...] = ()
    how: tuple[tuple[str, float], ...] = ()

    @property
    def linked(self) -> bool:
        """Whether it has a concept."""
        return bool(self.concept)


@dataclass(frozen=True, slots=True)
class Pair:
    """A candidate before it is scored: the row of its name, its features."""

    row: int
    features: tuple[float, ...]


class Linker:
    """Mentions to concepts. Equal mentions, ontology, encoder and numbers give equal links; it keeps no state but
    memory of what it has linked."""

    def __init__(
        self,
        names: NameTable,
        scorer: Scorer,
        encoder: Encoder | None = None,
        *,
        folder: Path | None = None,
        threshold: float | None = None,
        faiss: bool | None = None,
    ) -> None:
        """``encoder``: None compares letters alone. ``folder``: where the vectors of names are kept (None: nowhere).
        ``threshold``: the probability below which a mention stays unlinked (None: the scorer's)."""
        self.names: Final = names
        self.threshold: Final = scorer.threshold if threshold is None else threshold
        self._scorer, self._encoder = scorer, encoder
        self._grams = GramIndex([one.plain for one in names.wordings])
        self._nearest: NearestNames | None = None
        if encoder is not None and len(names):
            self._nearest = NearestNames(kept_vectors(names, encoder, folder), names, faiss=faiss)
        self._linked = functools.lru_cache(maxsize=65_536)(self._link_one)

    @classmethod
    def shipped(cls, concepts: ConceptTable, *, folder: Path | None = None, threshold: float | None = None) -> Linker:
        """The linker that comes with the package: its own vectors of names, its own numbers; numpy is all it needs."""
        return cls(NameTable(concepts), Scorer.load(), GramEncoder.load(), folder=folder, threshold=threshold)

    @property
    def searched_by(self) -> str:
        """What searches the vectors: ``faiss``, ``numpy``, or ``letters`` where there is no encoder."""
        return "letters" if self._nearest is None else self._nearest.searched_by

    def link(self, mentions: Sequence[UnreadMention]) -> list[Link]:
        """A link for each mention, in their order. What surrounds a mention does not change its link."""
        found = []
        for mention in mentions:
            concept, name, probability, candidates, how = self._linked(" ".join(mention.text.split()), mention.kind)
            found.append(Link(mention, concept, name, probability, candidates, how))
        return found

    def pairs(self, text: str, kind: str, *, without_concept: str = "", without_name: str = "") -> list[Pair]:
        """The candidates of a mention with their features, by row; one for each concept and search that proposes it.

        ``without_concept`` and ``without_name`` are taken for not in the ontology (to train and measure with).
        """
        if _SYMBOL.fullmatch(text):
            return []
        text = self.names.expanded(text)
        held = wording(text)
        if not held.words or not len(self.names):
            return []
        kinds = allowed_kinds(kind)
        allowed = self.names.of_kinds(kinds)
        letters = self._grams.cosines(held.plain)
        scores = np.where(allowed, letters, np.float32(-1))
        rows = np.argpartition(-scores, min(DEPTH, len(scores) - 1))[:DEPTH]
        rows = rows[scores[rows] > 0]
        vector: Vectors | None = None
        if self._nearest is not None and self._encoder is not None:
            vector = self._encoder.encode([text])[0]
            rows = np.union1d(rows, self._nearest.search(vector[None, :], kinds, DEPTH)[0])
        rows = np.unique(rows)
        if without_concept or without_name:
            of = self.names.rows
            rows = np.array(
                [at for at in rows if of[at].concept != without_concept and of[at].name != without_name], dtype=np.int64
            )
        near = np.zeros(len(rows)) if self._nearest is None or vector is None else self._nearest.cosines(vector, rows)
        found = []
        for row, dense in zip(map(int, rows), near, strict=True):
            seen = features(held, kind, row, self.names, round(float(dense), 5), round(float(letters[row]), 5))
            if not is_forbidden(seen):
                found.append(Pair(row, tuple(seen)))
        return found

    def best(self, pairs: Sequence[Pair]) -> list[tuple[float, Pair]]:
        """Of each concept its best pair, with the log odds of the first model; the best concept first."""
        if not pairs:
            return []
        seen = np.array([pair.features for pair in pairs])
        groups = [group_of(self.names.rows[pair.row].kind) for pair in pairs]
        by_group = {group: self._scorer.first[group].scores(seen) for group in sorted(set(groups))}
        scores = [by_group[group][at] for at, group in enumerate(groups)]
        found: dict[str, tuple[float, Pair]] = {}
        for score, pair in sorted(
            ((round(float(score), 6), pair) for score, pair in zip(scores, pairs, strict=True)),
            key=lambda one: (-one[0], one[1].row),
        ):
            found.setdefault(self.names.rows[pair.row].concept, (score, pair))
        return list(found.values())

    def judged(self, ordered: Sequence[tuple[float, Pair]], kind: str) -> float:
        """The calibrated probability that the first of :meth:`best` is right."""
        row = second_row([score for score, _ in ordered[:2]], kind, ordered[0][1].features)
        return self._scorer.probability(float(self._scorer.second.scores(np.array([row]))[0]))

    def _link_one(
        self, text: str, kind: str
    ) -> tuple[str, str, float, tuple[Candidate, ...], tuple[tuple[str, float], ...]]:
        ordered = self.best(self.pairs(text, kind))
        if not ordered:
            return "", "", 0.0, (), ()
        candidates = tuple(
            Candidate(self.names.rows[pair.row].concept, self.names.rows[pair.row].name, round(score, 4))
            for score, pair in ordered[:KEPT]
        )
        probability = round(self.judged(ordered, kind), 4)
        how = tuple((name, value) for name, value in zip(FEATURES, ordered[0][1].features, strict=True) if value)
        linked = probability >= self.threshold
        first = candidates[0]
        return (first.concept if linked else ""), (first.name if linked else ""), probability, candidates, how
