"""Trains and measures the linker: features of every case, two models, calibration, threshold, a table of scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ....ingest.models.linking.features import FEATURES
from ....ingest.models.linking.linker import Linker, Pair
from ....ingest.models.linking.score import SECOND, Logistic, Scorer, group_of, second_row
from .cases import Case, fraction
from .fit import calibrated, calibration_error, fit_signed, threshold_for

#: Linkable cases are to be this share of what the calibration sees, as of real mentions that the lexicon lacks.
SHARE = 0.15
#: Of what is linked, this share is to be right as the cases tell: more is, since terminologies keep names apart that
#: the ontology holds for one, and concepts taken out leave their neighbours behind.
WANTED = 0.85
#: The calibration sees log odds of models that were fitted without the case: in so many turns.
FOLDS = 5
ROUNDS = 3
#: Likeness speaks for a pair, difference against it; what is not named here may do either.
SIGNS = {
    **dict.fromkeys(("score", "lead", "lead_capped", "dense", "grams", "dense_squared", "sorted_ratio"), 1.0),
    **dict.fromkeys(("mention_covered", "name_covered", "rarest_of_mention", "rarest_of_name", "same_head"), 1.0),
    **dict.fromkeys(("same_kind", "one_word_ratio", "same_first_letter", "most_alike", "least_alike"), 1.0),
    **dict.fromkeys(("little_lead", "contrast_of_mention_alone", "contrast_of_name_alone", "unknown_words"), -1.0),
    **dict.fromkeys(("narrower", "broader"), -1.0),
    **dict.fromkeys(("contrasts_differ", "numbers_differ", "number_of_one_alone", "contrary_words"), -1.0),
}
#: Weights before anything is learnt: near vectors and letters, covered words.
FIRST_GUESS = {"dense": 4.0, "grams": 4.0, "sorted_ratio": 2.0, "mention_covered": 2.0, "name_covered": 2.0}


@dataclass(frozen=True)
class Prepared:
    """A case with its candidates."""

    case: Case
    pairs: tuple[Pair, ...]


def untrained() -> Scorer:
    """The scorer to begin with."""
    weights = np.array([FIRST_GUESS.get(name, 0.0) for name in FEATURES])
    start = Logistic(weights, -6.0)
    second = Logistic(np.eye(1, len(SECOND))[0], 0.0)
    return Scorer({"names": start, "phrases": start}, second, (), 0.5, {})


def prepare(linker: Linker, cases: Sequence[Case]) -> list[Prepared]:
    """The candidates of every case, without what the case takes out of the ontology."""
    return [
        Prepared(
            case,
            tuple(
                linker.pairs(case.text, case.kind, without_concept=case.without_concept, without_name=case.without_name)
            ),
        )
        for case in cases
    ]


def fit(linker: Linker, prepared: Sequence[Prepared], recipe: Mapping[str, Any], ridge: float = 3.0) -> Scorer:
    """A scorer from cases that the encoder has not learnt from. Calibration and threshold come from log odds that
    models fitted on the other four fifths gave."""
    held = [one for one in prepared if one.pairs]
    folds = np.array([int(fraction(f"fold {one.case.text}") * FOLDS) for one in held])
    scores, hits = np.zeros(len(held)), np.zeros(len(held))
    for fold in range(FOLDS):
        aside = np.flatnonzero(folds == fold)
        if not len(aside):
            continue
        scorer = _both(linker, [held[at] for at in np.flatnonzero(folds != fold)], ridge)
        rows, hits[aside] = _second(linker, scorer, [held[at] for at in aside])
        scores[aside] = scorer.second.scores(rows)
    weights = case_weights([one.case for one in held])
    steps = calibrated(scores, hits, weights)
    scorer = replace(_both(linker, held, ridge), steps=steps, recipe=recipe)
    probabilities = np.array([scorer.probability(score) for score in scores])
    return replace(scorer, threshold=threshold_for(probabilities, hits, WANTED, weights))


def _both(linker: Linker, prepared: Sequence[Prepared], ridge: float) -> Scorer:
    """Both models, without calibration. The first is fitted on all names, then on the best name of each concept, as it
    will be used: a concept is not to be blamed for those of its names that are unlike the mention."""
    held = prepared
    scorer = untrained()
    for _ in range(ROUNDS):
        first = {group: _first(linker, held, group, ridge) for group in ("names", "phrases")}
        scorer = replace(scorer, first=first)
        judge = _with(linker, scorer)
        held = [replace(one, pairs=tuple(pair for _, pair in judge.best(one.pairs))) for one in prepared]
    second, hits = _second(linker, scorer, prepared)
    weights = case_weights([one.case for one in prepared])
    signs = np.array([SIGNS.get(name, 0.0) for name in SECOND])
    return replace(scorer, second=fit_signed(second, hits, signs, weights, ridge))


def _first(linker: Linker, prepared: Sequence[Prepared], group: str, ridge: float) -> Logistic:
    rows, right, weights = [], [], []
    for one in prepared:
        for pair in one.pairs:
            if group_of(linker.names.rows[pair.row].kind) == group:
                rows.append(pair.features)
                right.append(float(linker.names.rows[pair.row].concept in one.case.concepts))
                # Each case counts alike, however many candidates it has.
                weights.append(10.0 / len(one.pairs))
    if not rows:
        return untrained().first[group]
    signs = np.array([SIGNS.get(name, 0.0) for name in FEATURES])
    return fit_signed(np.array(rows), np.array(right), signs, np.array(weights), ridge)


def case_weights(cases: Sequence[Case]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Weights by which linkable cases are :data:`SHARE` of all; real mentions are as they are."""
    if any(case.part == "judged" for case in cases):
        return np.ones(len(cases))
    linkable = sum(bool(case.concepts) for case in cases)
    others = len(cases) - linkable
    share = SHARE if linkable and others else 0.5
    return np.array(
        [share * len(cases) / linkable if case.concepts else (1 - share) * len(cases) / others for case in cases]
    )


def _second(linker: Linker, scorer: Scorer, prepared: Sequence[Prepared]) -> tuple[Any, Any]:
    judge = _with(linker, scorer)
    rows, hits = [], []
    for one in prepared:
        ordered = judge.best(one.pairs)
        rows.append(second_row([score for score, _ in ordered[:2]], one.case.kind, ordered[0][1].features))
        hits.append(float(linker.names.rows[ordered[0][1].row].concept in one.case.concepts))
    return np.array(rows), np.array(hits)


def _with(linker: Linker, scorer: Scorer) -> Linker:
    """The same linker with other numbers; indexes are shared."""
    import copy

    other = copy.copy(linker)
    other._scorer = scorer
    return other


def measure(
    linker: Linker, scorer: Scorer, prepared: Sequence[Prepared], threshold: float | None = None
) -> dict[str, Any]:
    """Scores over some cases: share of right concepts among the first 1 and 5; precision, recall and F1 of links at
    the threshold with unlinked cases in; precision with links to a broader concept let pass; calibration error."""
    judge = _with(linker, scorer)
    cut = scorer.threshold if threshold is None else threshold
    counts: Counter[str] = Counter()
    by: dict[str, Counter[str]] = {}
    probabilities, rights = [], []
    for one in prepared:
        ordered = judge.best(one.pairs)
        concepts = [linker.names.rows[pair.row].concept for _, pair in ordered]
        probability = judge.judged(ordered, one.case.kind) if ordered else 0.0
        right = bool(concepts) and concepts[0] in one.case.concepts
        probabilities.append(probability)
        rights.append(float(right))
        tally = Counter(
            {
                "cases": 1,
                "linkable": int(bool(one.case.concepts)),
                "first": int(right),
                "five": int(any(concept in one.case.concepts for concept in concepts[:5])),
                "linked": int(probability >= cut),
                "right": int(probability >= cut and right),
                "broader": int(probability >= cut and bool(concepts) and not right and concepts[0] in one.case.broader),
            }
        )
        counts += tally
        by.setdefault(one.case.source, Counter()).update(tally)
    weights = case_weights([one.case for one in prepared])
    error = calibration_error(np.array(probabilities), np.array(rights), weights) if prepared else 0.0
    return {
        **_figures(counts),
        "calibration_error": round(error, 4),
        "by_source": {s: _figures(c) for s, c in sorted(by.items())},
    }


def _figures(counts: Counter[str]) -> dict[str, Any]:
    precision = counts["right"] / counts["linked"] if counts["linked"] else None
    recall = counts["right"] / counts["linkable"] if counts["linkable"] else None
    either = counts["linked"] + counts["linkable"]
    return {
        "cases": counts["cases"],
        "linkable": counts["linkable"],
        "recall_at_1": _share(counts["first"], counts["linkable"]),
        "recall_at_5": _share(counts["five"], counts["linkable"]),
        "linked": counts["linked"],
        "right": counts["right"],
        "broader": counts["broader"],
        "precision": None if precision is None else round(precision, 4),
        "precision_with_broader": _share(counts["right"] + counts["broader"], counts["linked"]),
        "recall": None if recall is None else round(recall, 4),
        "f1": round(2 * counts["right"] / either, 4) if either else None,
    }


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None
