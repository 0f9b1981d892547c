"""Learning curves on annotated trials: parts of the training abstracts, each learned from, the same others answered.

What a point answered is a table of tags that ``eval ner --predictions`` reads, so that every figure can be told again
without training; a run that was stopped goes on with the next point.
"""

from __future__ import annotations

import csv
import hashlib
import json
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from cohortium.eval.extraction.corpora.assembling import of_tokens
from cohortium.eval.extraction.corpora.corpus import AnnotatedCorpus, AnnotatedDocument, LabelledSpan
from cohortium.eval.extraction.corpora.splits import choose, split
from cohortium.eval.extraction.ner.documents import Corpus, Document, read_predictions
from cohortium.eval.extraction.ner.scores import score
from cohortium.eval.extraction.ner.tagging import tags_of_words
from cohortium.eval.extraction.ner.terminology import Terminology
from cohortium.eval.training.few.resources import Documents, Learner
from cohortium.ingest.models.tagging.words import word_range
from cohortium.kb.errors import UsageError

#: The parts of the training abstracts.
SHARES: Final = (1 / 8, 1 / 4, 1 / 2, 1.0)
_ASIDE: Final = 0.1
_COLUMN: Final = "ner_prediction_curve_normalized"


def nested(corpus: AnnotatedCorpus, shares: Sequence[float], seed: int) -> dict[float, AnnotatedCorpus]:
    """The part of each share, by number of abstracts, stratified by type; a smaller part lies in every larger one.

    All of the corpus is itself. UsageError for a share that is none, or one of less than two abstracts.
    """
    if not shares or any(not 0 < share <= 1 for share in shares):
        raise UsageError("the shares of a learning curve lie above 0 and go up to 1. Hint: 0.125 0.25 0.5 1")
    found: dict[float, AnnotatedCorpus] = {}
    left = corpus
    for share in sorted(set(shares), reverse=True):
        number = round(share * len(corpus))
        if number < 2:
            raise UsageError(f"{share} of {len(corpus)} abstracts are too few to learn from and to stop by")
        if number < len(left):
            left = choose(left, number, seed=f"curve {seed}", name="part").divide(left)["part"]
        found[share] = left
    return dict(sorted(found.items()))


@dataclass(frozen=True)
class Point:
    """One training: a share of the abstracts and a seed."""

    share: float
    seed: int

    @property
    def name(self) -> str:
        """The name of its files."""
        return f"share-{self.share:g}-seed-{self.seed}"


@dataclass(frozen=True)
class Curve:
    """Points of a learning curve. ``answered``: the abstracts that are scored; of them nothing is learned, and they do
    not tell when to stop: a tenth of each part does that. ``folder`` keeps the answers."""

    train: AnnotatedCorpus
    answered: Corpus
    terminology: Terminology
    learner: Learner
    folder: Path

    def run(self, points: Sequence[Point], told: Callable[[str], None] = lambda _: None) -> list[dict[str, Any]]:
        """The scores of each point, trained where it was not; in order."""
        return [self._point(point, told) for point in points]

    def _point(self, point: Point, told: Callable[[str], None]) -> dict[str, Any]:
        part = nested(self.train, [*{*SHARES, point.share}], point.seed)[point.share]
        flat = replace(part, documents=tuple(one.flat() for one in part.documents))
        sides = split(flat, {"train": 1 - _ASIDE, "dev": _ASIDE}, seed=point.seed).divide(flat)
        learned, development = sides["train"].documents, sides["dev"].documents
        key = self._key(learned, development, point.seed)
        table, note = self.folder / f"{point.name}.csv", self.folder / f"{point.name}.json"
        kept = _read(note)
        if kept.get("key") != key or not table.is_file():
            told(f"{point.name}: {len(learned)} abstracts to learn from")
            began = time.monotonic()
            work = self.folder / "work" / key[:16]
            work.mkdir(parents=True, exist_ok=True)
            shaped = [of_tokens(one.id, one.tokens, ()) for one in self.answered.documents.values()]
            found = self.learner.learn(learned, development, point.seed, work)(shaped)
            _write(table, list(self.answered.documents.values()), shaped, found)
            shutil.rmtree(work, ignore_errors=True)
            kept = {"key": key, "seconds": round(time.monotonic() - began, 1)}
            note.write_text(json.dumps(kept), encoding="utf-8")
        told(f"{point.name}: {kept['seconds']} s")
        predictions = read_predictions(table, self.answered)
        scores = score(self.answered, predictions, self.terminology).as_dict()
        return {
            "share": point.share,
            "seed": point.seed,
            "abstracts": len(flat),
            "seconds": kept["seconds"],
            **{level: scores[level] for level in ("partial", "exact", "token")},
        }

    def _key(self, learned: Documents, development: Documents, seed: int) -> str:
        signature = json.dumps([dict(self.learner.signature), seed], sort_keys=True, default=str)
        digest = hashlib.sha256(signature.encode())
        for one in (*learned, *development):
            digest.update(repr((one.id, one.text, one.words, one.breaks, one.spans)).encode())
        for document in self.answered.documents.values():
            digest.update(repr((document.id, document.tokens)).encode())
        return digest.hexdigest()


def tags_of(document: Document, shaped: AnnotatedDocument, spans: Sequence[LabelledSpan]) -> list[str]:
    """BIO tags of an abstract's tokens, those of blanks too: they are inside where an entity goes on behind them."""
    placed = ((*word_range(shaped.words, span.start, span.end), span.label) for span in spans)
    return tags_of_words(document.tokens, placed)


def _write(
    path: Path,
    documents: Sequence[Document],
    shaped: Sequence[AnnotatedDocument],
    found: Sequence[Sequence[LabelledSpan]],
) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    with new.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["nct_id", _COLUMN])
        for document, shape, spans in zip(documents, shaped, found, strict=True):
            rows.writerow([document.id, repr(tags_of(document, shape, spans))])
    new.replace(path)


def _read(path: Path) -> dict[str, Any]:
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return kept if isinstance(kept, dict) and "seconds" in kept else {}
