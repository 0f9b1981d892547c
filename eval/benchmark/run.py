"""The run: every system is asked every question, each answer is kept at once, and all are scored side by side.

A run that was stopped goes on where it stood: the same command again builds and asks what is missing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from ...ingest.run.pipeline import Interrupted
from ...kb.errors import UsageError
from ...kb.skin.progress import bar
from ..bank.acr.bank import load_bank
from ..bank.acr.labels import Labels
from ..bank.acr.run import labels_for
from ..baselines.systems.contract import Answer, Evidence, Explaining, Outcome, Question, Ranked
from ..baselines.systems.corpus import Corpus
from ..measures.classes import SizeBounds
from ..measures.terms import Terms
from ..report.signature import sign
from .grades import retrieved
from .questions import sha256_of
from .scores import SystemScores, difference, score_system
from .settings import Setting
from .signed import LIBRARIES, sign_scores
from .store import AnswerStore
from .workshop import Made, Workshop

#: Errors of one kind, of one system and question, that are listed with their evidence.
LISTED: Final = 5
_MARK: Final = "run.json"
_COMPARED: Final = ("all", "size/broad", "size/narrow", "size/sparse")


@dataclass(frozen=True, slots=True)
class Records:
    """Notes with the labels of their patients, and what they are called."""

    name: str
    corpus: Corpus
    labels: Labels

    @classmethod
    def load(cls, name: str, sources: Sequence[str | os.PathLike[str]], labels: Path) -> Records:
        """UsageError or LabelError for what cannot be used."""
        return cls(name, Corpus.load(sources), labels_for(labels))


@dataclass(frozen=True, slots=True)
class Asked:
    """A system with its answers, by question id."""

    setting: Setting
    made: Made
    answers: Mapping[str, Answer]


def ask_all(
    folder: Path,
    workshop: Workshop,
    settings: Sequence[Setting],
    questions: Sequence[Question],
    *,
    again: bool = False,
    progress: bool | None = None,
) -> Iterator[Asked]:
    """Asks system after system; an answer that is kept in ``folder`` is not asked for, unless it failed and ``again``.

    Interrupted (exit 130) when the run is stopped from the keyboard: what was answered is kept.
    """
    with bar(progress) as shown:
        for setting in settings:
            try:
                shown.step(f"building {setting.name}")
                made = workshop.make(setting)
                store = AnswerStore(folder, setting.name, made.system.signature())
                shown.step(f"asking {setting.name}", len(questions))
                for question in questions:
                    if question not in store:
                        store.add(question, made.system.answer(question))
                    elif again and store.failed(question):
                        answer = made.system.answer(question)
                        # What the tries before cost was paid, too: the replies that they brought cost nothing now.
                        store.add(question, replace(answer, spent=store[question].spent + answer.spent))
                    shown.advance()
            except KeyboardInterrupt as error:
                raise Interrupted(
                    f"interrupted while '{setting.name}' was asked; the answers so far are kept in {folder}. "
                    "Hint: the same command again asks the rest"
                ) from error
            yield Asked(setting, made, {question.id: store[question] for question in questions})


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a run goes: the terms of its scores; whether to ask ``again`` what failed; how many errors of a kind are
    ``listed`` for each system and question, with the text of the notes only if ``with_text``."""

    terms: Terms = Terms()
    again: bool = False
    listed: int = LISTED
    with_text: bool = False
    progress: bool | None = None


_PLAIN: Final = RunOptions()


def run_benchmark(
    folder: Path,
    records: Records,
    settings: Sequence[Setting],
    questions: Sequence[Question],
    workshop: Workshop,
    options: RunOptions = _PLAIN,
) -> dict[str, Any]:
    """The report of a run as JSON: see ``docs/guide/benchmark.md``. ``folder`` (see :func:`prepare`) keeps the answers.

    UsageError where ``folder`` is of a run over other notes: what was built of those must not be taken up.
    """
    terms = options.terms
    bounds = terms.bounds(len(records.labels.patients))
    _claim(folder, records.corpus.sha256)
    systems: list[dict[str, Any]] = []
    errors: list[dict[str, Any]] = []
    scored: dict[str, SystemScores] = {}
    for asked in ask_all(folder, workshop, settings, questions, again=options.again, progress=options.progress):
        scores = scored[asked.setting.name] = _scored(asked, records, questions, terms)
        name, made = asked.setting.name, asked.made
        systems.append({"name": name, "kind": made.kind, "scores": scores.as_dict(), "index": dict(made.index)})
        errors.extend(_errors(asked, questions, records.labels, options.listed))
    complexity = {one.id: one.complexity for one in load_bank()}
    data = {
        "corpus": records.corpus.sha256,
        "labels": records.labels.sha256,
        "questions": sha256_of(questions),
    }
    of_run = sign(terms.seed, libraries=LIBRARIES, data=data, settings={"records": records.name})
    report: dict[str, Any] = {
        "signature": of_run.as_dict(),
        "corpus": _counts(records),
        "bounds": {"alpha": bounds.alpha, "beta": bounds.beta},
        "systems": systems,
        "differences": _differences(scored),
        "questions": [_question(one, records.labels, bounds, complexity) for one in questions],
        "errors": errors,
    }
    if options.with_text:
        report["texts"] = _texts(records.corpus, errors)
    return report


def _scored(asked: Asked, records: Records, questions: Sequence[Question], terms: Terms) -> SystemScores:
    """The scores of one system, signed."""
    system, corpus = asked.made.system, records.corpus
    documents = {patient: len(notes) for patient, notes in corpus.by_patient.items()}
    signature = sign_scores(asked.setting.name, system.signature(), questions, records.labels, corpus.sha256, terms)
    scores = score_system(asked.answers, questions, records.labels, documents, system.patients, terms)
    return replace(scores, signature=signature.as_dict())


def _texts(corpus: Corpus, errors: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, str]]:
    """The quoted notes of each patient with an error: document id to text."""
    quoted: dict[str, set[str]] = {}
    for error in errors:
        quoted.setdefault(error["patient"], set()).update(quote["doc_id"] for quote in error["quotes"])
    return {
        patient: {note.doc_id: note.text for note in corpus.by_patient.get(patient, ()) if note.doc_id in documents}
        for patient, documents in quoted.items()
        if documents
    }


def _differences(scored: Mapping[str, SystemScores]) -> list[dict[str, Any]]:
    """How far the first system is ahead of each other one, in F1, stratum by stratum."""
    names = list(scored)

    def ahead(other: str) -> dict[str, Any]:
        found = {one: difference(scored[names[0]], scored[other], one) for one in _COMPARED}
        return {stratum: one.model_dump(mode="json") for stratum, one in found.items()}

    return [{"first": names[0], "second": other, "f1": ahead(other)} for other in names[1:]]


def _counts(records: Records) -> dict[str, Any]:
    corpus, labels = records.corpus, records.labels
    words = sum(len(note.text.split()) for note in corpus.notes)
    labelled = frozenset(labels.patients)
    return {
        "name": records.name,
        "patients": len(corpus.patients),
        "notes": len(corpus.notes),
        "words": words,
        "refused": corpus.refused,
        "labelled": len(labelled),
        "without_notes": len(labelled - frozenset(corpus.patients)),
        "unlabelled": len(frozenset(corpus.patients) - labelled),
    }


def _question(one: Question, labels: Labels, bounds: SizeBounds, complexity: Mapping[int, str]) -> dict[str, Any]:
    gold = None if one.of is None else len(labels.wanted(one.of))
    return {
        "id": one.id,
        "of": one.of,
        "text": one.text,
        "query": one.query,
        "gold": gold,
        "complexity": None if one.of is None else complexity[one.of],
        "size": None if gold is None else bounds.size(gold),
    }


def _errors(asked: Asked, questions: Sequence[Question], labels: Labels, listed: int) -> Iterator[dict[str, Any]]:
    """The first errors of each kind for each question, with what the system rests them on."""
    labelled = frozenset(labels.patients)
    for question in questions:
        if question.of is None or question.id != str(question.of):
            continue  # another wording of a bank question: its errors would be told twice
        answer = asked.answers[question.id]
        found = retrieved(answer)
        wanted, open_to = labels.wanted(question.of), labels.open_to(question.of)
        failed = {one.patient_id: one for one in answer.failures}
        ranked = {one.patient_id: one for one in answer.ranking}
        kinds = {
            "fp": sorted((found & labelled) - wanted - open_to),
            "fn": sorted(wanted - found - failed.keys()),
            "failed": sorted(failed),
        }
        for kind, patients in kinds.items():
            for patient in patients[:listed]:
                evidence = (
                    Evidence(reasons=(f"{failed[patient].kind}: {failed[patient].reason}",))
                    if kind == "failed"
                    else _evidence(asked, question, answer, ranked.get(patient), patient)
                )
                yield {
                    "system": asked.setting.name,
                    "question": question.id,
                    "patient": patient,
                    "kind": kind,
                    "quotes": [
                        {"doc_id": quote.doc_id, "start": quote.start, "end": quote.end} for quote in evidence.quotes
                    ],
                    "reasons": list(evidence.reasons),
                }


def _evidence(asked: Asked, question: Question, answer: Answer, ranked: Ranked | None, patient: str) -> Evidence:
    system = asked.made.system
    if answer.outcome is not Outcome.ANSWERED:
        return Evidence(reasons=(f"{answer.outcome}: {answer.reason}",))
    if isinstance(system, Explaining):
        return system.evidence(question, patient)
    if ranked is None:
        return Evidence(reasons=("not retrieved at all",))
    place = next(at for at, one in enumerate(answer.ranking, 1) if one.patient_id == patient)
    return Evidence(
        ranked.quotes,
        (f"rank {place} of {len(answer.ranking)}, score {ranked.score:.4f}; the cohort ends at rank {answer.size}",),
    )


def prepare(folder: Path) -> None:
    """Makes the folder of a run, or takes up one. UsageError for a place that holds something else."""
    mark = folder / _MARK
    if folder.exists() and not mark.is_file() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"'{folder}' holds something that is no run. Hint: name a new folder with --out")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not mark.is_file():
            _write_mark(mark, {})
    except OSError as error:
        raise UsageError(f"cannot write in '{folder}': {error.strerror}") from error


def _claim(folder: Path, corpus_sha256: str) -> None:
    """Binds a folder to the notes of its run. UsageError if it is of other notes: a knowledge base that was begun would
    be finished with these."""
    mark = folder / _MARK
    try:
        held = json.loads(mark.read_text(encoding="utf-8")).get("corpus")
    except (OSError, ValueError):
        held = None
    if held is None:
        _write_mark(mark, {"corpus": corpus_sha256})
    elif held != corpus_sha256:
        raise UsageError(f"'{folder}' holds a run over other notes. Hint: name a new folder with --out")


def _write_mark(mark: Path, fields: Mapping[str, str]) -> None:
    part = mark.with_suffix(".part")
    part.write_text(json.dumps({"format": 1, **fields}), encoding="utf-8")
    part.replace(mark)
