"""Fits the linker's numbers: logistic models by Newton's method, a monotone calibration, a threshold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ....ingest.models.linking.score import Logistic

Floats = npt.NDArray[np.float64]


def fit_signed(
    rows: Floats, right: Floats, signs: Floats, weights: Floats | None = None, ridge: float = 1.0
) -> Logistic:
    """As :func:`fit_logistic`, but a feature whose weight comes out against its sign (1 or -1; 0 is free) is left out:
    likeness never counts against a pair."""
    left = np.ones(rows.shape[1], dtype=bool)
    while True:
        held = fit_logistic(rows[:, left], right, weights, ridge)
        found = np.zeros(rows.shape[1])
        found[left] = held.weights
        wrong = (found * signs) < 0
        if not wrong.any():
            return Logistic(found, held.constant)
        # One at a time, the worst first: two that go together share what they say.
        left[np.argmin(np.where(wrong, found * signs * rows.std(axis=0), np.inf))] = False


def fit_logistic(rows: Floats, right: Floats, weights: Floats | None = None, ridge: float = 1.0) -> Logistic:
    """A logistic model of ``right`` (0 or 1, shape (rows,)) with a penalty on the square of the weights (features are
    brought to one scale first; the constant bears no penalty)."""
    middle, spread = rows.mean(axis=0), rows.std(axis=0)
    spread = np.where(spread > 1e-9, spread, 1.0)
    scaled = np.hstack([(rows - middle) / spread, np.ones((len(rows), 1))])
    weights = np.ones(len(rows)) if weights is None else weights
    penalty = np.full(scaled.shape[1], ridge)
    penalty[-1] = 1e-6
    found = np.zeros(scaled.shape[1])
    for _ in range(40):
        guess = 1 / (1 + np.exp(-np.clip(scaled @ found, -30, 30)))
        slope = scaled.T @ (weights * (guess - right)) + penalty * found
        curve = (scaled * (weights * guess * (1 - guess) + 1e-9)[:, None]).T @ scaled + np.diag(penalty)
        step = np.linalg.solve(curve, slope)
        found -= step
        if np.abs(step).max() < 1e-8:
            break
    bare = found[:-1] / spread
    return Logistic(bare, float(found[-1] - bare @ middle))


def calibrated(
    scores: Floats, right: Floats, weights: Floats | None = None, least: int = 25
) -> tuple[tuple[float, float], ...]:
    """Points (score, probability) that rise: neighbours pooled until they do (isotonic regression), pools of at least
    ``least`` cases, never quite 0 or 1."""
    order = np.argsort(scores, kind="stable")
    weights = np.ones(len(scores)) if weights is None else weights
    weights = weights * len(weights) / weights.sum()
    pools: list[list[float]] = []
    # The last pool takes what is left over, so that none is too small to tell.
    for at in np.array_split(order, max(1, len(order) // least)):
        pools.append([float(weights[at] @ scores[at]), float(weights[at] @ right[at]), float(weights[at].sum())])
        while len(pools) > 1 and pools[-2][1] / pools[-2][2] >= pools[-1][1] / pools[-1][2]:
            last = pools.pop()
            pools[-1] = [one + other for one, other in zip(pools[-1], last, strict=True)]
    return tuple((total / n, (hits + 0.5) / (n + 1)) for total, hits, n in pools)


def threshold_for(probabilities: Floats, right: Floats, wanted: float, weights: Floats | None = None) -> float:
    """The lowest probability from which on (all cases at or above it) the share of right ones is ``wanted``; just
    above 1 where none reaches it."""
    order = np.argsort(-probabilities, kind="stable")
    weights = np.ones(len(order)) if weights is None else weights
    hits, total = np.cumsum((weights * right)[order]), np.cumsum(weights[order])
    # Cases of equal probability come or go together.
    ends = np.append(probabilities[order][:-1] != probabilities[order][1:], True)
    good = np.flatnonzero(ends & (hits / total >= wanted))
    return float(probabilities[order][good[-1]]) if len(good) else 1.01


def calibration_error(probabilities: Floats, right: Floats, weights: Floats | None = None, bins: int = 10) -> float:
    """The mean distance between probability and share of right ones, over ``bins`` of equally many cases, by weight."""
    order = np.argsort(probabilities, kind="stable")
    weights = np.ones(len(order)) if weights is None else weights
    parts = [part for part in np.array_split(order, bins) if len(part)]
    gaps: Sequence[float] = [abs(float(weights[part] @ (probabilities[part] - right[part]))) for part in parts]
    return sum(gaps) / float(weights.sum()) if len(order) else 0.0
