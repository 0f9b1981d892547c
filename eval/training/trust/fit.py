"""Fits the two regressions of the model of trust, and measures them on writers they have not seen.

Everything that is measured or learned of a statement's probability is learned from other writers' statements: the
points that the second regression learns from, and those by which the threshold is chosen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ....ingest.models.optional import library
from ....ingest.trust.model import AGAIN, BIAS, DOUBT, beside
from ....ingest.trust.signs import Signs, named_figures
from .judged import PLAIN, Chart

#: A sign that fewer charts hold is not learned.
_FEWEST: Final = 3
#: Smaller weights are left out of the file.
_SMALLEST: Final = 0.02
#: Of the second regression, over standardised values.
_PENALTY_AGAIN: Final = 1.0


@dataclass(frozen=True, slots=True)
class _Rows:
    """All statements in a row: signs, verdicts, writers, charts, whether those are whole, how much each counts."""

    signs: list[Signs]
    kinds: list[str]
    so: Any
    writer: Any
    chart: Any
    whole: Any
    weight: Any


@dataclass(frozen=True, slots=True)
class Fitted:
    """The weights by name, and what the model finds on writers that it had not seen.

    ``caught``: share of the statements that are not so which are in doubt; ``lost``: share of those that are so.
    """

    weights: Mapping[str, float]
    statements: int
    not_so: int
    caught: float
    lost: float
    area: float


def fit(charts: Sequence[Chart], penalty: float, loss: float, alone: float, plain: float = 0.0) -> Fitted:
    """Learn from judged charts. ``penalty``: on the squares of the weights; ``loss``: the share of true statements of
    whole records that may come into doubt; ``alone``: how much a statement counts in its note alone;
    ``plain``: one that nobody judged."""
    rows = _rows(charts, alone, plain)
    matrix, names = _matrix(rows)
    apart = _points_apart(matrix, rows, penalty)
    again = _again(apart, rows)
    probabilities = np.zeros(len(rows.so))
    for one in sorted(set(rows.writer) - {PLAIN}):
        other, own = rows.writer != one, rows.writer == one
        probabilities[own] = _logistic(again[own] @ _regression_again(again[other], rows.so[other], rows.weight[other]))
    whole = rows.whole
    doubt = float(np.quantile(probabilities[whole & rows.so], loss))
    weights = _regression(matrix, rows.so, rows.weight, penalty)
    named = dict(zip(names, weights, strict=True)) | dict(
        zip(AGAIN, _regression_again(again, rows.so, rows.weight), strict=True)
    )
    caught = float((probabilities[whole & ~rows.so] < doubt).mean())
    return Fitted(
        {name: float(value) for name, value in named.items() if name in AGAIN or abs(value) >= _SMALLEST}
        | {BIAS: float(named[BIAS]), DOUBT: doubt},
        int(whole.sum()), int((whole & ~rows.so).sum()), caught, loss, _area(probabilities[whole], rows.so[whole]),
    )  # fmt: skip


def _rows(charts: Sequence[Chart], alone: float, plain: float = 0.0) -> _Rows:
    signs, kinds, so, writer, number, whole, weight = [], [], [], [], [], [], []
    for at, chart in enumerate(charts):
        for one, is_so in zip(chart.statements, chart.so, strict=True):
            signs.append(chart.record.signs(one))
            kinds.append(one.kind)
            so.append(is_so)
            writer.append(chart.writer)
            number.append(at)
            whole.append(chart.whole)
            weight.append(plain if chart.writer == PLAIN else 1.0 if chart.whole else alone)
    return _Rows(
        signs, kinds, np.array(so), np.array(writer), np.array(number), np.array(whole), np.array(weight)
    )  # fmt: skip


def _matrix(rows: _Rows) -> tuple[Any, list[str]]:
    """Statements × signs, the last of which is the bias."""
    csr_matrix = library("scipy.sparse", "bench").csr_matrix
    told = [
        {**dict.fromkeys((*signs.around, *signs.words), 1.0), **dict(named_figures(signs.figures, kind))}
        for signs, kind in zip(rows.signs, rows.kinds, strict=True)
    ]
    seen = Counter(name for one in told for name in one)
    names = sorted(name for name, count in seen.items() if count >= _FEWEST)
    number = {name: at for at, name in enumerate(names)}
    data, places, ends = [], [], [0]
    for one in told:
        for name, value in one.items():
            if name in number:
                places.append(number[name])
                data.append(value)
        places.append(len(names))
        data.append(1.0)
        ends.append(len(places))
    return csr_matrix((data, places, ends), shape=(len(told), len(names) + 1)), [*names, BIAS]


def _regression(matrix: Any, so: Any, weight: Any, penalty: float) -> Any:
    """The weights of a logistic regression with a penalty on their squares (L-BFGS)."""
    minimize = library("scipy.optimize", "bench").minimize
    sign = np.where(so, 1.0, -1.0)

    def loss(weights: Any) -> tuple[float, Any]:
        margin = sign * (matrix @ weights)
        value = float(weight @ np.logaddexp(0.0, -margin)) + penalty * float(weights @ weights) / 2
        slope = -sign * weight * _logistic(-margin)
        return value, matrix.T @ slope + penalty * weights

    return minimize(loss, np.zeros(matrix.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 300}).x


def _points_apart(matrix: Any, rows: _Rows, penalty: float) -> Any:
    """The points of each statement by weights that were learned from the other writers."""
    points = np.zeros(len(rows.so))
    for one in sorted(set(rows.writer)):
        other, own = rows.writer != one, rows.writer == one
        points[own] = matrix[own] @ _regression(matrix[other], rows.so[other], rows.weight[other], penalty)
    return points


def _again(points: Any, rows: _Rows) -> Any:
    """What the second regression looks at, chart by chart."""
    found = np.zeros((len(points), len(AGAIN)))
    for chart in sorted(set(rows.chart)):
        own = np.flatnonzero(rows.chart == chart)
        found[own] = beside([float(points[at]) for at in own], [rows.signs[at] for at in own])
    return found


def _regression_again(again: Any, so: Any, weight: Any) -> Any:
    """The weights of the second regression, learned over standardised values, for the values as they are."""
    values = again[:, :-1]
    middle, spread = values.mean(axis=0), values.std(axis=0) + 1e-9
    even = np.column_stack([(values - middle) / spread, np.ones(len(values))])
    weights = _regression(even, so, weight, _PENALTY_AGAIN)
    plain = weights[:-1] / spread
    return np.append(plain, weights[-1] - plain @ middle)


def _logistic(points: Any) -> Any:
    return 1 / (1 + np.exp(-np.clip(points, -30, 30)))


def _area(probabilities: Any, so: Any) -> float:
    """The area under the curve of the receiver's characteristic: how often a statement that is so is above one that is
    not."""
    order = np.argsort(probabilities, kind="stable")
    ranks = np.empty(len(order))
    ranks[order] = np.arange(1, len(order) + 1)
    true, false = int(so.sum()), int((~so).sum())
    return float((ranks[so].sum() - true * (true + 1) / 2) / max(1, true * false))
