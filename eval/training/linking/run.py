"""One run of the linker's training: terminologies in, its two files and a table of scores out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ....ingest.models.linking.encoders import Encoder, GramEncoder, signature_of
from ....ingest.models.linking.features import FEATURES
from ....ingest.models.linking.linker import Linker
from ....ingest.models.linking.names import NameTable
from ....ingest.models.linking.score import SECOND, Scorer
from ....ingest.recognizers.lexicon import Lexicon
from ....kb.ontology.concepts import ConceptTable
from .cases import Case, Matched, held_out_cases, read_terms, synonym_pairs, terminology_cases, unsure
from .mentions import corpus_mentions, corrected, judged_cases, unread
from .training import SHARE, WANTED, fit, measure, prepare, untrained
from .vectors import VectorSettings, train_vectors

VECTORS = "name_vectors.npz"
NUMBERS = "linker.json"


def all_cases(names: NameTable, matched: Matched) -> list[Case]:
    """Every case, with kinds as a recogniser would give them, and corrected where a reader has judged."""
    return corrected(unsure(one) for one in (*terminology_cases(matched), *held_out_cases(names)))


def run(
    terminologies: Path, out: Path, *, vectors: Path | None = None, corpora: Path | None = None
) -> Mapping[str, Any]:
    """Trains vectors (unless ``vectors`` names a file of them) and numbers, writes both into ``out``, and gives the
    scores by encoder: on the part ``test``, and on the judged mentions of the ``corpora``. The part ``train`` is seen
    by the vectors alone, ``tune`` by the numbers."""
    names = NameTable(ConceptTable.from_files())
    matched = Matched(names.concepts, read_terms(terminologies))
    settings = VectorSettings()
    if vectors is None:
        trained = train_vectors(synonym_pairs(names, matched), settings)
        trained.save(out / VECTORS)
        vectors = out / VECTORS
    cases = [one for one in all_cases(names, matched) if one.part != "train"]
    if corpora is not None:
        cases += judged_cases(unread(corpus_mentions(corpora), Lexicon(names.concepts)))
    encoders: dict[str, Encoder | None] = {"grams": GramEncoder.load(vectors), "none": None}
    held, scores = {}, {}
    for name, encoder in encoders.items():
        scorer, scores[name] = fitted(names, encoder, cases, asdict(settings) if encoder else {})
        held[name] = scorer.as_data()
    data = {"features": list(FEATURES), "second": list(SECOND), "encoders": held}
    (out / NUMBERS).write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    return scores


def fitted(
    names: NameTable, encoder: Encoder | None, cases: Sequence[Case], settings: Mapping[str, Any]
) -> tuple[Scorer, Mapping[str, Any]]:
    """The numbers for one encoder, and their scores."""
    linker = Linker(names, untrained(), encoder)
    tune = prepare(linker, [one for one in cases if one.part == "tune"])
    test = prepare(linker, [one for one in cases if one.part == "test"])
    recipe = {
        "terminologies": "DOID (CC0), NCIt neoplasm core (CC BY), MAxO (CC BY), Uberon (CC BY), RxNorm (NLM)",
        "ontology": names.sha256,
        "encoder": None if encoder is None else json.loads(signature_of(encoder)),
        "vectors": dict(settings),
        "linkable_share": SHARE,
        "wanted_precision": WANTED,
        "tuned_on": len(tune),
    }
    scorer = fit(linker, tune, recipe)
    judged = [one for one in cases if one.part == "judged"]
    found = {"test": measure(linker, scorer, test), "judged": measure(linker, scorer, prepare(linker, judged))}
    kept = {part: {key: value for key, value in one.items() if key != "by_source"} for part, one in found.items()}
    return Scorer(scorer.first, scorer.second, scorer.steps, scorer.threshold, {**recipe, **kept}), found
