"""The way from files to scores: a table of answers, or a model that answers now, against an annotated corpus."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ....ingest.models.tagging.tagger import Tagger
from ....kb.errors import UsageError
from ....kb.version import __version__
from ..corpora.corpus import AnnotatedCorpus
from ..corpora.label_maps import LabelMap
from ..corpora.reading import guessed_form, read_annotated
from .documents import Corpus, Predictions, is_of_trials, read_corpus, read_predictions
from .model_answers import (
    Pair,
    answer_corpus,
    answer_trials,
    corpus_types,
    fitting_types,
    renamed_by,
    score_corpus,
    trial_types,
    write_answers,
    write_trial_answers,
)
from .scores import score
from .terminology import find_folder, no_terminology, read_terminology
from .types import vocabulary

NO_LISTS: Final = "none: names are compared as they are written"


@dataclass(frozen=True, slots=True)
class Choices:
    """How a model is asked and scored. ``types``: of the corpus, all that fit where None; ``renamed``: pairs (model's
    type, corpus's type); ``answers``: where its answers are written, if anywhere; ``labels``: what the corpus's types
    are called by the model: those are scored of which the map says that every mention is marked."""

    types: Sequence[str] | None = None
    renamed: Sequence[Pair] = ()
    terminology: Path | None = None
    seed: int = 0
    device: str = "cpu"
    runtime: str = "auto"
    threads: int = 1
    answers: Path | None = None
    labels: LabelMap | None = None


def score_predictions(
    corpus: Path,
    predictions: Path,
    column: str | None = None,
    types: Sequence[str] | None = None,
    terminology: Path | None = None,
    seed: int = 0,
) -> dict[str, Any]:
    """The scores of a table of answers, as JSON. UsageError for what cannot be read, or an unknown type."""
    known = read_corpus(corpus)
    answers = read_predictions(predictions, known, column, None if types is None else _known_types(types))
    scores = _score_trials(known, answers, terminology or find_folder(corpus, predictions), seed)
    return _signed(scores, corpus, seed, predictions=file_identity(predictions))


def score_model(model: Path, corpus: Path, choices: Choices | None = None) -> dict[str, Any]:
    """The scores of a model on a corpus, as JSON: of trials by their own scorer, of any other by place.

    UsageError (BadModel for the model's part) for a model or corpus that cannot be read, and for types that do not fit.
    """
    chosen = choices or Choices()
    of_trials = _holds_trials(corpus)
    known: Corpus | AnnotatedCorpus = read_corpus(corpus) if of_trials else read_annotated(corpus)
    tagger = Tagger.load(model, device=chosen.device, runtime=chosen.runtime, threads=chosen.threads)
    if chosen.answers is not None:
        _check_writable(chosen.answers)
    if isinstance(known, Corpus):
        scores = _model_on_trials(tagger, known, corpus, chosen)
    else:
        scores = _model_on_corpus(tagger, known, chosen)
    scores["system"] = tagger.card.name
    scores["confidence_calibrated"] = bool(tagger.card.calibration)
    return _signed(scores, corpus, chosen.seed, model=_of_model(tagger))


def _model_on_trials(tagger: Tagger, corpus: Corpus, path: Path, chosen: Choices) -> dict[str, Any]:
    renamed = chosen.renamed if chosen.labels is None else renamed_by(chosen.labels, tagger)
    fits = fitting_types(tagger, trial_types(), f"the corpus '{path.name}'", renamed)
    if chosen.labels is not None:
        fits = {mine: fits[mine] for mine, _ in renamed}
    answers, entities = answer_trials(tagger, corpus, fits)
    if chosen.types is not None:
        asked = _known_types(chosen.types)
        if unknown := [name for name in asked if name not in answers.types]:
            raise UsageError(
                f"the model '{tagger.card.name}' does not find {unknown[0]}. Hint: it finds {', '.join(answers.types)}"
            )
        answers.types = tuple(asked)
    if chosen.answers is not None:
        write_trial_answers(chosen.answers, corpus, answers, entities)
    scores = _score_trials(corpus, answers, chosen.terminology or find_folder(path, path), chosen.seed)
    scores["model_types_left_out"] = [name for name in tagger.types if name not in fits]
    return scores


def _model_on_corpus(tagger: Tagger, corpus: AnnotatedCorpus, chosen: Choices) -> dict[str, Any]:
    if chosen.labels is not None:
        corpus = chosen.labels.applied(corpus)
        kept = chosen.labels.annotates or frozenset(corpus.labels())
        corpus = corpus.relabelled({one: one for one in kept})
    theirs = corpus_types(corpus)
    fits = fitting_types(tagger, theirs, f"the corpus '{corpus.name}'", chosen.renamed)
    types = [name for name in theirs.values() if name in fits.values()]
    if chosen.types is not None:
        asked = {word: theirs.get(word.upper(), "") for word in chosen.types}
        if unknown := [word for word, name in asked.items() if name not in types]:
            raise UsageError(f"unknown type '{unknown[0]}'. Hint: one of {', '.join(types)}, which both sides have")
        types = [name for name in types if name in asked.values()]
    found = answer_corpus(tagger, corpus)
    if chosen.answers is not None:
        write_answers(chosen.answers, corpus, found, fits)
    scores = score_corpus(corpus, found, fits, types, chosen.seed)
    scores["model_types_left_out"] = [name for name in tagger.types if name not in fits]
    return scores


def _score_trials(corpus: Corpus, answers: Predictions, folder: Path | None, seed: int) -> dict[str, Any]:
    lists = no_terminology() if folder is None else read_terminology(folder)
    scores = score(corpus, answers, lists, seed=seed).as_dict()
    scores["signature"] = {
        "terminology": lists.source or NO_LISTS,
        **({"lists_missing": ", ".join(lists.missing)} if lists.missing else {}),
    }
    return scores


def _signed(scores: dict[str, Any], corpus: Path, seed: int, **parts: str) -> dict[str, Any]:
    rest = scores.pop("signature", {})
    scores["signature"] = {
        "cohortium": __version__,
        "corpus": file_identity(corpus),
        **parts,
        **rest,
        "seed": seed,
    }
    return scores


def _of_model(tagger: Tagger) -> str:
    """The model by its name, its files' checksums, and what computes it."""
    signature = tagger.signature()
    files = signature.pop("files", {})
    name = signature.pop("name", "")
    sums = " ".join(f"{file} sha256:{digest[:12]}" for file, digest in files.items() if file != "README.md")
    return f"{name} ({sums}; {', '.join(f'{key} {value}' for key, value in signature.items())})"


def _known_types(words: Sequence[str]) -> list[str]:
    """The types of the trials' corpus, in its order, that some words name. UsageError for one that it has not."""
    known = {word: vocabulary().type_of(word) for word in words}
    unknown = [word for word, kind in known.items() if kind is None]
    if unknown:
        raise UsageError(f"unknown type '{unknown[0]}'. Hint: one of {', '.join(vocabulary().types)}")
    return [kind for kind in vocabulary().types if kind in known.values()]


def _holds_trials(corpus: Path) -> bool:
    if not corpus.exists():
        raise UsageError(f"there is nothing at '{corpus}'. Hint: --corpus FILE of an annotated corpus")
    return corpus.is_file() and guessed_form(corpus)[0] in ("json", "table") and is_of_trials(corpus)


def _check_writable(path: Path) -> None:
    """Tell before the work that the answers of it could not be written."""
    if path.is_dir() or not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise UsageError(f"cannot write '{path}'. Hint: --predictions-out FILE, in a folder that is there")


def file_identity(path: Path) -> str:
    """A file by its name and the start of its checksum; of a folder, the checksum is of its files'."""
    if path.is_file():
        return f"{path.name} sha256:{_digest(path).hexdigest()[:12]}"
    total = hashlib.sha256()
    for one in sorted(one for one in path.rglob("*") if one.is_file()):
        total.update(one.relative_to(path).as_posix().encode() + b"\0")
        total.update(_digest(one).digest())
    return f"{path.name} sha256:{total.hexdigest()[:12]}"


def _digest(path: Path) -> hashlib._Hash:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256")
