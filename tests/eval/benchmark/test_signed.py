"""The signature of a system's scores."""

from __future__ import annotations

import pytest

from cohortium.eval.bank.acr.labels import Labels
from cohortium.eval.baselines.systems.contract import Question
from cohortium.eval.benchmark.signed import sign_scores
from cohortium.eval.measures.terms import Terms
from cohortium.eval.report.signature import Signature

LABELS = Labels({"a": frozenset({58}), "b": frozenset()}, {"a": frozenset(), "b": frozenset()}, "1" * 64)
QUESTIONS = (Question("58", "Find me patients with breast cancer", of=58),)


def signed(**changed: object) -> Signature:
    """The signature of one system, with what is changed."""
    given = {
        "system": "bm25",
        "made_of": {"chunk": 1000, "k": [1, 2]},
        "questions": QUESTIONS,
        "labels": LABELS,
        "corpus_sha256": "2" * 64,
        **changed,
    }
    return sign_scores(**given)  # type: ignore[arg-type]


def test_the_line_tells_what_was_asked_of_whom():
    """System, numbers, bounds, interval, then seed, hashes and versions."""
    parts = dict(part.split(":", 1) for part in signed().line.split("|"))
    assert {name: parts[name] for name in ("system", "asked", "patients", "alpha", "beta", "interval", "seed")} == {
        "system": "bm25",
        "asked": "1",
        "patients": "2",
        "alpha": "2",
        "beta": "1",
        "interval": "95% of 1000",
        "seed": "0",
    }
    assert (parts["labels"], parts["corpus"]) == ("1" * 12, "2" * 12)
    assert {"questions", "made_of", "cohortium", "python", "numpy"} <= set(parts)


@pytest.mark.parametrize(
    "changed",
    [
        {"system": "other"},
        {"made_of": {"chunk": 500, "k": [1, 2]}},
        {"questions": (Question("58", "breast cancer", of=58),)},
        {"labels": Labels(LABELS.match, LABELS.ambiguous, "3" * 64)},
        {"corpus_sha256": "4" * 64},
        {"terms": Terms(seed=1)},
        {"terms": Terms(resamples=10)},
    ],
)
def test_whatever_a_score_depends_on_changes_the_line(changed: dict[str, object]):
    """Words of a question and settings of a system by their hashes."""
    assert signed(**changed).line != signed().line


def test_the_signature_is_the_same_each_time():
    """Also where the settings of the system come in another order; they stand in the data as they are."""
    again = signed(made_of={"k": [1, 2], "chunk": 1000})
    assert again.line == signed().line
    assert again.as_dict()["settings"]["made_of"] == {"chunk": 1000, "k": [1, 2]}
