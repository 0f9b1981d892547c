"""Confidence that means something: probabilities of entities brought to the share of them that is right.

Three ways are tried on development documents, each fitted on half of them and judged on the other half: as they are,
Platt's (a logistic curve over their log odds; Platt, 1999), and isotonic (any curve that rises; Zadrozny and Elkan,
2002). The one with the smallest Brier score goes into the card, fitted on all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy
from numpy.typing import NDArray

from ...ingest.models.tagging.model_card import applied
from ...ingest.models.tagging.model_directory import ModelDirectory
from ...ingest.models.tagging.tagger import TaggedEntity, Tagger, Words
from ..extraction.corpora.corpus import AnnotatedDocument
from .examples import TrainingPart
from .export.onnx_file import rewrite_card
from .linking.fit import calibrated, fit_logistic
from .span_scores import scores_of

Floats = NDArray[numpy.float64]
Knots = tuple[tuple[float, float], ...]

_BINS: Final = 10
#: Fewer entities than these say too little to bend anything.
_LEAST: Final = 100
#: A pool of the isotonic curve, in entities.
_POOL: Final = 25
_CLOSEST: Final = 1e-6


@dataclass(frozen=True, slots=True)
class Bin:
    """Entities whose confidence lies in (``low``, ``high``]: how many, how sure on average, which share is right."""

    low: float
    high: float
    number: int
    confidence: float
    right: float


@dataclass(frozen=True, slots=True)
class Reliability:
    """How far confidence is from the share of right ones.

    ``error``: the expected calibration error, the mean distance in a bin, by entities (Naeini et al., 2015); ``brier``:
    the mean square of confidence less outcome (Brier, 1950). Both are 0 where there are no entities.
    """

    number: int
    error: float
    brier: float
    bins: tuple[Bin, ...]

    def as_dict(self) -> dict[str, Any]:
        """The figures as JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Calibration:
    """The knots of a card (none: as they are), how they were found, and what they did to documents not fitted on."""

    way: str
    knots: Knots
    before: Reliability
    after: Reliability

    def as_dict(self) -> dict[str, Any]:
        """The figures as JSON, the knots left out: they stand in the card on their own."""
        return {"way": self.way, "before": self.before.as_dict(), "after": self.after.as_dict()}


def reliability(confidence: Floats, right: Floats, bins: int = _BINS) -> Reliability:
    """The table of bins of equal width, empty ones left out. ``right`` is 1 or 0; shapes (entities,)."""
    number = len(confidence)
    edges = numpy.linspace(0, 1, bins + 1)
    place = numpy.clip(numpy.searchsorted(edges, confidence, side="left") - 1, 0, bins - 1)
    table = []
    for at in range(bins):
        inside = place == at
        if inside.any():
            means = (round(float(confidence[inside].mean()), 4), round(float(right[inside].mean()), 4))
            table.append(Bin(round(float(edges[at]), 4), round(float(edges[at + 1]), 4), int(inside.sum()), *means))
    gaps = sum(one.number * abs(one.confidence - one.right) for one in table)
    brier = float(((confidence - right) ** 2).mean()) if number else 0.0
    return Reliability(number, round(gaps / number, 4) if number else 0.0, round(brier, 4), tuple(table))


def platt(raw: Floats, right: Floats) -> Knots:
    """A logistic curve over log odds, as knots at every twentieth. It never falls: a falling fit is made level."""
    curve = fit_logistic(_odds(raw)[:, None], right)
    slope = max(0.0, float(numpy.asarray(curve.weights)[0]))
    middle = curve.constant if slope else float(numpy.log(right.mean() / (1 - right.mean())))
    at = numpy.linspace(0, 1, 21)
    values = 1 / (1 + numpy.exp(-(slope * _odds(at) + middle)))
    return tuple((round(float(x), 4), round(float(y), 4)) for x, y in zip(at, values, strict=True))


def isotonic(raw: Floats, right: Floats) -> Knots:
    """The rising curve that is nearest, as knots in the middle of its steps."""
    steps = numpy.array(calibrated(raw, right, least=_POOL))
    # Shares of small steps are drawn to the middle, which may put one below the step before it.
    steps[:, 1] = numpy.maximum.accumulate(steps[:, 1])
    return tuple((round(float(x), 6), round(float(y), 4)) for x, y in steps)


def _odds(raw: Floats) -> Floats:
    safe = numpy.clip(raw, _CLOSEST, 1 - _CLOSEST)
    odds: Floats = numpy.log(safe / (1 - safe))
    return odds


def _as_they_are(raw: Floats, right: Floats) -> Knots:
    return ()


#: In the order in which equals are preferred: what bends least comes first.
WAYS: Final[dict[str, Callable[[Floats, Floats], Knots]]] = {
    "none": _as_they_are,
    "platt": platt,
    "isotonic": isotonic,
}


def fit(raw: Floats, right: Floats, documents: Sequence[int]) -> Calibration:
    """The best of the ways for entities with probability ``raw`` that were ``right`` (1 or 0), of ``documents``.

    ``after`` is of entities whose documents were not fitted on, and so is the choice. Too few entities, or all of
    them right or wrong: left as they are.
    """
    before = reliability(raw, right)
    number = numpy.asarray(documents)
    halves = [number % 2 == 0, number % 2 == 1]
    tellable = len(raw) >= _LEAST and all(0 < right[half].sum() < half.sum() for half in halves)
    if not tellable:
        return Calibration("none", (), before, before)
    judged = {}
    for way, made in WAYS.items():
        confidence = numpy.zeros_like(raw)
        for half, other in (halves, halves[::-1]):
            confidence[other] = applied(made(raw[half], right[half]), raw[other])
        judged[way] = reliability(confidence, right)
    best = min(judged, key=lambda way: judged[way].brier)
    return Calibration(best, WAYS[best](raw, right), before, judged[best])


def calibrate(folder: Path, parts: Sequence[TrainingPart], seed: int = 0) -> ModelDirectory:
    """Let a model directory read development documents as it will read others, and write down what came of it.

    Into its card go the knots, how reliable they are, and the exact scores of the network as it is handed on (int8
    where there is one). An entity counts as right when its words and its type are those of a gold one.
    """
    tagger = Tagger.load(folder)
    raw: list[float] = []
    right: list[float] = []
    documents: list[int] = []
    exact: dict[str, Any] = {}
    for part in parts:
        found = [
            [one for one in some if one.type in part.types]
            for some in tagger.tag_words([_words(one) for one in part.corpus.documents], calibrated=False)
        ]
        gold = part.gold()
        exact[part.corpus.name] = scores_of(gold, [list(map(_place, some)) for some in found], sorted(part.types), seed)
        first = documents[-1] + 1 if documents else 0
        for at, (some, entities) in enumerate(zip(found, gold, strict=True), first):
            wanted = set(entities)
            raw += [one.confidence for one in some]
            right += [float(_place(one) in wanted) for one in some]
            documents += [at] * len(some)
    done = fit(numpy.array(raw), numpy.array(right), documents)
    card = ModelDirectory.open(folder).card
    runtime = str(tagger.signature().get("network", "weights"))
    scores = {**card.scores, f"exact, {runtime}": exact, "confidence": done.as_dict()}
    return rewrite_card(folder, calibration=done.knots, scores=scores)


def _words(document: AnnotatedDocument) -> Words:
    return Words(document.text, document.words, document.breaks)


def _place(entity: TaggedEntity) -> tuple[int, int, str]:
    return entity.first_word, entity.last_word, entity.type
