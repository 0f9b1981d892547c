"""Scores of a system on a corpus: of abstracts (partial and exact), of tokens, of placed entities; with intervals.

What each number means stands in ``docs/reference/ner_scores.md``. Counts are taken of each abstract and summed, and the
abstracts are what the bootstrap draws. Source: NeuroTrialNER, sections 4.2 and 4.3, tables 3, 5, 6 and 8.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from ...measures.by_type import Level
from ...measures.scoring import Counts, total
from .abstracts import canonical_names, compare, names_of
from .documents import Corpus, Document, Prediction, Predictions
from .placed import exact_counts, overlap_counts
from .short_forms import long_forms
from .tagging import NOWHERE, Entity, token_spans, token_types, token_types_of_entities
from .terminology import Terminology
from .types import vocabulary

_TERMED: Final = ("CONDITION", "DRUG")


@dataclass(slots=True)
class Scores:
    """All levels of one system, with what was read and what could not be."""

    corpus: Corpus
    predictions: Predictions
    partial: Level
    exact: Level
    token: Level | None
    placed_exact: Level | None
    placed_partial: Level | None
    mapping: dict[str, dict[str, int]]
    seed: int

    def as_dict(self) -> dict[str, Any]:
        """The scores as JSON: ``partial``, ``exact``, ``token`` by the paper, ``entity`` of places, then the rest."""
        types, seed = self.predictions.types, self.seed
        missing = [id for id in self.corpus.documents if id not in self.predictions.answers]
        return {
            "partial": self.partial.as_dict(types, seed),
            "exact": self.exact.as_dict(types, seed),
            "token": None if self.token is None else self.token.as_dict(types, seed),
            "entity": {
                "exact": self.placed_exact.as_dict(types, seed),
                "partial": self.placed_partial.as_dict(types, seed),
            }
            if self.placed_exact is not None and self.placed_partial is not None
            else None,
            "by": "abstract",
            "system": self.predictions.system,
            "column": self.predictions.column,
            "types": list(types),
            "types_not_looked_for": [kind for kind in vocabulary().types if kind not in types],
            "unknown_types": dict(sorted(self.predictions.unknown_types.items())),
            "documents": {
                "corpus": len(self.corpus.documents),
                "predicted": len(self.predictions.answers),
                "without_prediction": missing,
                "not_in_corpus": self.predictions.not_in_corpus,
                "bad_rows": self.predictions.bad_rows,
            },
            "problems": [asdict(one) for one in (*self.corpus.problems, *self.predictions.problems)],
            "mapping": self.mapping,
        }


def score(corpus: Corpus, predictions: Predictions, terminology: Terminology, *, seed: int = 0) -> Scores:
    """Score a system. An abstract without an answer is scored as one in which nothing was found.

    Tokens and placed entities are scored where the answers have places; else these levels are None.
    """
    answers = {id: predictions.answers.get(id) for id in corpus.documents}
    placed = all(one is None or one.form != "names" for one in answers.values())
    partial, exact, token, placed_exact, placed_partial = Level(), Level(), Level(), Level(), Level()
    counted: dict[str, Counter[str]] = {kind: Counter() for kind in _TERMED}
    for id, document in corpus.documents.items():
        answer = answers[id]
        target = names_of(document.gold, long_forms(document.written))
        found = _predicted_names(answer, document)
        for kind, tally in counted.items():
            for side, names in (("gold", target), ("predicted", found)):
                some = [name for name in names.get(kind, ()) if name not in vocabulary().nothing]
                tally[f"{side}_names"] += len(some)
                tally[f"{side}_mapped"] += terminology.mapped(kind, some)
        target, found = canonical_names(target, terminology), canonical_names(found, terminology)
        for level, close in ((partial, True), (exact, False)):
            counts = {kind: compare(target.get(kind, ()), found.get(kind, ()), close) for kind in predictions.types}
            whole = total(counts.values())
            level.documents.append(counts)
            level.decisions.append(_decisions(whole.tp + whole.tn, whole.fp + whole.fn))
        if placed:
            entities = answer.entities if answer else ()
            pairs = _token_pairs(document, answer, predictions.types)
            right = sum(number for (one, other), number in pairs.items() if one == other)
            token.documents.append({kind: token_counts(pairs, kind) for kind in predictions.types})
            token.decisions.append(_decisions(right, pairs.total() - right))
            placed_exact.documents.append(
                {kind: exact_counts(document.gold, entities, kind) for kind in predictions.types}
            )
            placed_partial.documents.append(
                {kind: overlap_counts(document.gold, entities, kind) for kind in predictions.types}
            )
    return Scores(
        corpus,
        predictions,
        partial,
        exact,
        token if placed else None,
        placed_exact if placed else None,
        placed_partial if placed else None,
        {kind: dict(tally) for kind, tally in counted.items()},
        seed,
    )


def _predicted_names(answer: Prediction | None, document: Document) -> dict[str, list[str]]:
    """The names of an answer by type. Short forms are written out, but where the published run did not."""
    if answer is None:
        return {}
    if answer.form != "names":
        return names_of(answer.entities, None if answer.verbatim else long_forms(document.written))
    if answer.verbatim:
        return {kind: [name.lower() for name in names] for kind, names in answer.names.items()}
    names = [Entity(*NOWHERE, kind, name) for kind, names in answer.names.items() for name in names]
    return names_of(names, long_forms(document.written))


def _token_pairs(document: Document, answer: Prediction | None, types: Sequence[str]) -> Counter[tuple[str, str]]:
    """How many tokens are of which type in the gold and in the answer; empty for none, or one not looked for."""
    gold = token_types(document.tags)
    found = [""] * len(gold)
    if answer is not None and answer.form == "tags":
        found = token_types(answer.tags)
    elif answer is not None and (spans := token_spans(document.tokens, document.text)):
        found = token_types_of_entities(answer.entities, spans)
    return Counter(
        (one if one in types else "", other if other in types else "") for one, other in zip(gold, found, strict=True)
    )


def token_counts(pairs: Counter[tuple[str, str]], kind: str) -> Counts:
    """The counts of one type by how many tokens have which type in the gold and in the answer."""
    both = pairs[kind, kind]
    wanted = sum(number for (one, _), number in pairs.items() if one == kind)
    named = sum(number for (_, other), number in pairs.items() if other == kind)
    return Counts(both, named - both, wanted - both)


def _decisions(right: int, wrong: int) -> Counts:
    """Decisions among classes of which one is "none": each wrong one is one too many and one too few."""
    return Counts(right, wrong, wrong)
