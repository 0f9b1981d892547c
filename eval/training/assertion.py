"""Trains the classifier of context, and tries it on examples held aside: folds, thresholds and temperatures.

    train(examples, recipe) -> ContextModel             what ``--save`` of benchmarks/context_model.py writes
    held_aside(examples, recipe) -> HeldAside           each example's probabilities by a model that never saw its group

A mark that leaves two values open (a NegEx condition that is *affirmed* may be only thought possible) counts as their
sum. Nothing is drawn at random: folds come from a hash of the group, the fit is convex.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy
from numpy.typing import NDArray

from ...ingest.models.assertion_model.classifier import PARTS, ContextModel, buckets_of, softmax
from ...ingest.models.optional import library
from ...kb.errors import UsageError
from .assertion_examples import Example

Matrix = NDArray[numpy.float64]
#: Temperatures that are tried.
_TEMPERATURES: Final = numpy.linspace(0.5, 3.0, 51)


@dataclass(frozen=True, slots=True)
class Recipe:
    """How the classifier is trained. ``penalty``: of the squared weights, against the summed loss."""

    knows_rules: bool = False
    buckets: int = 4096
    penalty: float = 2.0
    iterations: int = 80
    folds: int = 5
    inner_folds: int = 3


@dataclass(frozen=True)
class HeldAside:
    """Probabilities of a part by models that did not see the example's group: (examples, values), calibrated.

    ``inner[fold]``: those of the examples outside the fold, again by models that saw neither their group nor the fold:
    what thresholds for the fold are chosen on (zeros within it).
    """

    fold: NDArray[numpy.int64]
    probabilities: Matrix
    inner: tuple[Matrix, ...] = ()


def fold_of(group: str, folds: int, turn: str = "") -> int:
    """The fold of a group, by its hash."""
    return zlib.crc32(f"{turn}|{group}".encode()) % folds


def allowed(part: str, examples: Sequence[Example]) -> NDArray[numpy.bool_]:
    """Which values of a part the mark of each example leaves open, (examples, values); none where nothing is marked."""
    values = PARTS[part]
    table = numpy.zeros((len(examples), len(values)), dtype=bool)
    for row, example in enumerate(examples):
        marked = getattr(example.gold, part)
        if marked in values:
            table[row, values.index(marked)] = True
        if part == "polarity" and example.source == "negex" and marked == "present":
            table[row, values.index("uncertain")] = True
    return table


def table_of(examples: Sequence[Example], recipe: Recipe) -> Any:
    """The signs of examples as a sparse matrix (examples, buckets + 1), the last column all ones."""
    sparse = library("scipy.sparse", "bench")
    rows: list[int] = []
    columns: list[int] = []
    for row, example in enumerate(examples):
        seen = example.signs + (example.signs_of_rules if recipe.knows_rules else ())
        places = [*buckets_of(seen, recipe.buckets), recipe.buckets]
        rows += [row] * len(places)
        columns += places
    shape = (len(examples), recipe.buckets + 1)
    return sparse.csr_matrix((numpy.ones(len(rows)), (rows, columns)), shape=shape)


def fit(table: Any, open_values: NDArray[numpy.bool_], recipe: Recipe) -> Matrix:
    """The weights (buckets + 1, values) of least penalised loss; the last row is not penalised."""
    optimize = library("scipy.optimize", "bench")
    shape = (recipe.buckets + 1, open_values.shape[1])
    turned = table.T.tocsr()

    def loss(flat: Matrix) -> tuple[float, Matrix]:
        weights = flat.reshape(shape)
        told = softmax(table @ weights)
        right = numpy.where(open_values, told, 0.0)
        total = numpy.maximum(right.sum(axis=1, keepdims=True), 1e-300)
        slope = turned @ (told - right / total)
        slope[:-1] += recipe.penalty * weights[:-1]
        value = -numpy.log(total).sum() + 0.5 * recipe.penalty * (weights[:-1] ** 2).sum()
        return float(value), numpy.asarray(slope).ravel()

    found = optimize.minimize(
        loss, numpy.zeros(shape).ravel(), jac=True, method="L-BFGS-B", options={"maxiter": recipe.iterations}
    )
    weights: Matrix = found.x.reshape(shape)
    return weights


def temperature_of(scores: Matrix, open_values: NDArray[numpy.bool_]) -> float:
    """The temperature under which scores of examples held aside are likeliest; 1 without examples."""
    if not len(scores):
        return 1.0
    losses = [
        -numpy.log(numpy.maximum(numpy.where(open_values, softmax(scores / one), 0.0).sum(axis=1), 1e-300)).sum()
        for one in _TEMPERATURES
    ]
    return float(_TEMPERATURES[int(numpy.argmin(losses))])


def held_aside(
    examples: Sequence[Example], recipe: Recipe, part: str = "polarity", *, nested: bool = True
) -> HeldAside:
    """The examples by models of the other folds. ``nested``: also what thresholds are chosen on, and the temperature
    by it (without: temperature 1)."""
    table, marks = table_of(examples, recipe), allowed(part, examples)
    told = marks.any(axis=1)
    fold = numpy.array([fold_of(one.group, recipe.folds) for one in examples], dtype=numpy.int64)
    within = numpy.array([fold_of(one.group, recipe.inner_folds, "inner") for one in examples], dtype=numpy.int64)
    probabilities = numpy.zeros(marks.shape)
    inner: list[Matrix] = []
    for number in range(recipe.folds):
        learnt, aside = (fold != number) & told, fold == number
        temperature = 1.0
        if nested:
            scores = numpy.zeros(marks.shape)
            for part_of in range(recipe.inner_folds):
                here = learnt & (within != part_of)
                there = (fold != number) & (within == part_of)
                scores[there] = table[there] @ fit(table[here], marks[here], recipe)
            temperature = temperature_of(scores[learnt], marks[learnt])
            inner.append(numpy.where((fold != number)[:, None], softmax(scores / temperature), 0.0))
        weights = fit(table[learnt], marks[learnt], recipe)
        probabilities[aside] = softmax(table[aside] @ weights / temperature)
    return HeldAside(fold, probabilities, tuple(inner))


def other_sources(examples: Sequence[Example], recipe: Recipe, source: str, part: str = "polarity") -> Matrix:
    """The probabilities of the examples of one source by a model of all others, (examples of it, values)."""
    table, marks = table_of(examples, recipe), allowed(part, examples)
    of_it = numpy.array([one.source == source for one in examples], dtype=bool)
    learnt = ~of_it & marks.any(axis=1)
    return softmax(table[of_it] @ fit(table[learnt], marks[learnt], recipe))


def train(examples: Sequence[Example], recipe: Recipe) -> ContextModel:
    """A model of all examples, its temperatures by folds. UsageError where a part is marked in none of them."""
    weights, temperature = {}, {}
    table = table_of(examples, recipe)
    for part in PARTS:
        marks = allowed(part, examples)
        told = marks.any(axis=1)
        if not told.any():
            raise UsageError(f"no example tells of {part}. Hint: name more sources")
        aside = held_aside(examples, recipe, part, nested=False).probabilities
        scores = numpy.log(numpy.maximum(aside[told], 1e-300))
        temperature[part] = temperature_of(scores, marks[told])
        weights[part] = fit(table[told], marks[told], recipe).astype(numpy.float32)
    counts = {source: sum(one.source == source for one in examples) for source in sorted({e.source for e in examples})}
    return ContextModel(weights, temperature, recipe.knows_rules, {**asdict(recipe), "examples": counts})
