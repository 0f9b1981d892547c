"""The signature of a system's scores: what was asked of whom, by which system, and how it was scored."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ..bank.acr.labels import Labels
from ..baselines.systems.contract import Question
from ..measures import bootstrap
from ..measures.terms import DEFAULT, Terms
from ..report.signature import Signature, sha256_of, sign
from . import questions as asked_questions

#: What the signature tells the versions of, where they are installed.
LIBRARIES: Final = ("duckdb", "pyroaring", "faiss-cpu", "sentence-transformers", "torch", "bm25s")


def sign_scores(
    system: str,
    made_of: Mapping[str, Any],
    questions: Sequence[Question],
    labels: Labels,
    corpus_sha256: str,
    terms: Terms = DEFAULT,
) -> Signature:
    """The signature of the scores of the named system; ``made_of`` is the system's own signature.

    The line shows of that its hash; the data hold all of it. Equal signatures are equal answers where the system gives
    the same answer twice, and equal scores of equal answers always.
    """
    bounds = terms.bounds(len(labels.patients))
    return sign(
        terms.seed,
        libraries=LIBRARIES,
        data={
            "corpus": corpus_sha256,
            "labels": labels.sha256,
            "questions": asked_questions.sha256_of(questions),
            "made_of": sha256_of([json.dumps(made_of, sort_keys=True, default=str)]),
        },
        settings={
            "system": system,
            "asked": len(questions),
            "patients": len(labels.patients),
            "alpha": bounds.alpha,
            "beta": bounds.beta,
            "interval": f"{100 * bootstrap.LEVEL:g}% of {terms.resamples}",
            "made_of": dict(made_of),
        },
    )
