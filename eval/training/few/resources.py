"""The few-resource experiment: each cell is trained and answers the held-out reports; answers are kept and scored.

What a cell answered lies in a file of its own (places and tags, no text), so that a run which was stopped goes on with
the next cell, and scores can be told again without training. Measures: ``eval mednlp``, Real-MedNLP section 4.1.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final, Protocol

from ....kb.errors import UsageError
from ....kb.files.whole_files import write_private
from ....kb.ontology.concepts import ConceptTable
from ...extraction.corpora.corpus import AnnotatedCorpus, AnnotatedDocument, LabelledSpan
from ...extraction.corpora.splits import choose, split
from ...extraction.mednlp.matching import LEVELS, POLICIES, Credit, credit, frequencies
from ...extraction.mednlp.reports import MedicalEntity, Report, tags
from ...extraction.mednlp.scores import f1_difference, measures
from ..cells import JUST, PLAIN, Cell
from .augment import Stock, multiplied
from .guideline import Dictionary, Labeller, examples, first_of, our_reader, silver
from .medical_tags import JOINT, tag_map

#: Reports held out: no cell learns from one of them, of its copies, or of its words.
HELD_OUT: Final = 50
#: The share of the annotated documents of a cell that tells when to stop; they are part of its number.
_ASIDE: Final = 0.1

Documents = tuple[AnnotatedDocument, ...]
#: The spans of each of some documents.
Answers = Callable[[Sequence[AnnotatedDocument]], Sequence[Sequence[LabelledSpan]]]


class Learner(Protocol):
    """Who is trained. ``signature`` decides with the documents whether a finished cell is the same one."""

    @property
    def signature(self) -> Mapping[str, Any]:
        """Everything that decides what is learned, but the documents and the seed."""

    def learn(self, train: Documents, development: Documents, seed: int, work: Path) -> Answers:
        """Who has learned from ``train``, stopping by ``development``; ``work`` is a folder for what is unfinished."""


@dataclass(frozen=True)
class Parts:
    """The reports of the experiment: ``taught`` holds ``documents`` → those that a cell of so many may learn from."""

    held_out: Documents
    taught: Mapping[int, Documents]
    labels: tuple[str, ...]


@dataclass(frozen=True)
class Lesson:
    """What a cell learns from: all of it, what tells when to stop, and the annotated part as it stood."""

    train: Documents
    development: Documents
    annotated: Documents


def divided(corpus: AnnotatedCorpus, sizes: Sequence[int], *, kind: str = "CR", split_seed: int | str = 0) -> Parts:
    """The held-out reports and, for each size, exactly so many others; smaller sizes are part of larger ones.

    Tags that are not scored are left out. What is held out is 50 reports, or what ``JUST`` leaves; UsageError when that
    is nothing. A size beyond the other reports is not among the parts.
    """
    labels = tuple(tags()["sets"][kind])
    kept = corpus.relabelled({one: one for one in corpus.labels() if one.partition(JOINT)[0] in labels})
    documents = tuple(one.flat() for one in kept.documents)
    flat = replace(kept, documents=documents)
    number = min(HELD_OUT, len(flat) - JUST)
    if number < 1:
        raise UsageError(f"{corpus.name} has {len(flat)} reports: {JUST} to learn from, and some held out, are needed")
    held = choose(flat, number, seed=f"{split_seed} held out", name="held_out").divide(flat)
    taught: dict[int, Documents] = {}
    rest = held["rest"]
    for size in sorted({*sizes, JUST}, reverse=True):
        if size <= len(rest):
            # Of a larger part, so that more documents are the same ones and more.
            rest = choose(rest, size, seed=f"{split_seed} taught", name="taught").divide(rest)["taught"]
            taught[size] = rest.documents
    if JUST not in taught:
        raise UsageError(f"{corpus.name} has {len(rest)} reports that share nothing with the held-out ones: too few")
    return Parts(held["held_out"].documents, taught, labels)


def annotated_of(cell: Cell, parts: Parts, seed: int) -> Documents:
    """What is annotated for a cell: its documents, or the examples of its guideline. KeyError when there are not so
    many documents."""
    documents = parts.taught[cell.documents]
    return examples(documents, _labels(documents), cell.per_label, seed) if cell.per_label else documents


def lesson(cell: Cell, parts: Parts, seed: int, concepts: ConceptTable | None) -> Lesson:
    """What a cell learns from with this seed. KeyError when the parts have not so many documents."""
    annotated = annotated_of(cell, parts, seed)
    if cell.labeller:
        return Lesson((), (), annotated)
    if cell.per_label:
        # Nobody annotated more than the examples: they alone tell when to stop.
        learned = development = annotated
    else:
        taught = AnnotatedCorpus("taught", annotated)
        sides = split(taught, {"train": 1 - _ASIDE, "dev": _ASIDE}, seed=seed).divide(taught)
        learned, development = sides["train"].documents, sides["dev"].documents
    train = learned
    if cell.augmentations:
        known = tag_map()["ontology"]
        kinds = {label: known.get(label.partition(JOINT)[0], ()) for label in _labels(learned)}
        train = multiplied(learned, cell.augmentations, Stock.from_documents(learned, concepts, kinds), seed)
    if cell.silver:
        train = (*train, *silver(parts.taught[cell.documents], _weak("both", annotated, parts.labels)))
    return Lesson(train, development, annotated)


def _weak(name: str, annotated: Documents, labels: Sequence[str]) -> Labeller:
    dictionary = Dictionary.from_documents(annotated)
    reader = our_reader(tag_map()["reader"], labels)
    weak: Mapping[str, Labeller] = {"dictionary": dictionary, "reader": reader, "both": first_of((dictionary, reader))}
    return weak[name]


def _labels(documents: Documents) -> list[str]:
    return sorted({span.label for one in documents for span in one.spans})


@dataclass(frozen=True)
class Experiment:
    """Cells on the parts of a corpus, by one learner, with several seeds; ``folder`` keeps what they answered."""

    parts: Parts
    learner: Learner | None
    folder: Path
    seeds: int = 3
    concepts: ConceptTable | None = None

    def run(self, cells: Sequence[Cell], progress: Callable[[str], None] = lambda _: None) -> list[str]:
        """Run what is not finished, in order; returns the cells that were left out, and why."""
        left_out = []
        for cell in cells:
            reason = self._why_not(cell)
            if reason:
                left_out.append(f"{cell.name}: {reason}")
                continue
            for seed in range(self._seeds(cell)):
                self._run(cell, seed, progress)
        return left_out

    def _why_not(self, cell: Cell) -> str:
        if cell.documents not in self.parts.taught:
            return f"the corpus leaves {max(self.parts.taught)} reports to learn from"
        return "" if cell.labeller or self.learner is not None else "no learner was given"

    def _seeds(self, cell: Cell) -> int:
        """Without training and without drawn examples all seeds are the same."""
        return 1 if cell.labeller and not cell.per_label else self.seeds

    def _run(self, cell: Cell, seed: int, progress: Callable[[str], None]) -> None:
        taught = lesson(cell, self.parts, seed, self.concepts)
        key = self._key(cell, taught, seed)
        name = f"{cell.name}, seed {seed}"
        before = self.answered(cell, seed)
        if before is not None and before.get("key") == key:
            progress(f"{name}: kept")
            return
        progress(f"{name}: {len(taught.train)} texts to train on" if not cell.labeller else f"{name}: nothing to train")
        began = time.monotonic()
        work = self.folder / "work" / key[:16]
        if cell.labeller:
            weak = _weak(cell.labeller, taught.annotated, self.parts.labels)
            found: Sequence[Sequence[LabelledSpan]] = [weak(one) for one in _bare(self.parts.held_out)]
        else:
            assert self.learner is not None
            work.mkdir(parents=True, exist_ok=True)
            found = self.learner.learn(taught.train, taught.development, seed, work)(_bare(self.parts.held_out))
            shutil.rmtree(work, ignore_errors=True)
        answers = {
            one.id: [[span.start, span.end, span.label] for span in spans]
            for one, spans in zip(self.parts.held_out, found, strict=True)
        }
        kept = {
            "key": key,
            "by": self._by(cell),
            "cell": cell.name,
            "seed": seed,
            "train": len(taught.train),
            "annotated": len(taught.annotated),
            "words": sum(len(one.words) for one in taught.train),
            "seconds": round(time.monotonic() - began, 1),
            "answers": answers,
        }
        path = self._path(cell, seed)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_private(path, json.dumps(kept, ensure_ascii=False).encode())
        progress(f"{name}: {kept['seconds']} s")

    def answered(self, cell: Cell, seed: int) -> dict[str, Any] | None:
        """What was kept of a cell; None where nothing was, or another learner's answers to other tags."""
        with contextlib.suppress(OSError, ValueError):
            kept: dict[str, Any] = json.loads(self._path(cell, seed).read_text(encoding="utf-8"))
            if isinstance(kept, dict) and kept.get("by") == self._by(cell):
                return kept
        return None

    def _by(self, cell: Cell) -> str:
        """Who answers a cell, and what is scored: answers of one are never told as those of another."""
        learner = None if cell.labeller or self.learner is None else dict(self.learner.signature)
        gold = [(one.id, one.spans) for one in self.parts.held_out]
        content = json.dumps([asdict(cell), learner], sort_keys=True, default=str) + repr(gold)
        return hashlib.sha256(content.encode()).hexdigest()

    def _path(self, cell: Cell, seed: int) -> Path:
        return self.folder / "cells" / f"{cell.name.replace(',', '').replace(' ', '-')}-{seed}.json"

    def _key(self, cell: Cell, taught: Lesson, seed: int) -> str:
        """By what is learned from, what is answered and who learns."""
        digest = hashlib.sha256(f"{self._by(cell)}|{seed}".encode())
        for documents in (taught.train, taught.development, taught.annotated, self.parts.held_out):
            for one in documents:
                digest.update(repr((one.id, one.text, one.words, one.breaks, one.spans)).encode())
            digest.update(b"|")
        return digest.hexdigest()

    def scores(self, cells: Sequence[Cell]) -> list[dict[str, Any]]:
        """The scores of the cells that have answered, over all their seeds, with the difference to 100 plain documents.

        Sums are over reports and seeds; intervals draw reports, each with the answers of all seeds.
        """
        plain = self._credits(PLAIN)
        rows = []
        for cell in cells:
            credits = self._credits(cell)
            if credits is None:
                continue
            kept = [one for seed in range(self._seeds(cell)) if (one := self.answered(cell, seed)) is not None]
            row: dict[str, Any] = {
                "cell": cell.name,
                "seeds": len(kept),
                **{
                    name: sum(one[name] for one in kept) / len(kept)
                    for name in ("train", "annotated", "words", "seconds")
                },
            }
            for policy in POLICIES:
                row[policy] = {
                    "weighted": measures(credits[policy, "label", True], 0),
                    **{level: measures(credits[policy, level, False], 0) for level in LEVELS},
                    "by_label": {label: measures(credits[policy, label, False], 0) for label in self.parts.labels},
                    "by_seed": [measures(one, 0)["f1"] for one in credits[policy, "seeds", False]],
                }
                if plain is not None and cell != PLAIN:
                    row[policy]["to_plain"] = f1_difference(
                        credits[policy, "label", False], plain[policy, "label", False], 0
                    )
            rows.append(row)
        return rows

    def _credits(self, cell: Cell) -> dict[tuple[str, str, bool], Any] | None:
        """(match, level or label, weighted) → what each held-out report's answers are worth, summed over the seeds;
        under the level ``seeds`` those of each seed alone. None for a cell that has not answered with all its seeds."""
        if self._why_not(cell):
            return None
        gold = [_report(one, one.spans) for one in self.parts.held_out]
        found: dict[tuple[str, str, bool], Any] = {}
        seeds = self._seeds(cell)
        for policy in POLICIES:
            for level in (*LEVELS, *self.parts.labels):
                found[policy, level, False] = [Credit()] * len(gold)
            found[policy, "label", True] = [Credit()] * len(gold)
            found[policy, "seeds", False] = []
        for seed in range(seeds):
            kept = self.answered(cell, seed)
            if kept is None or set(kept["answers"]) != {one.id for one in gold}:
                return None
            known = frequencies([_report(one, one.spans) for one in annotated_of(cell, self.parts, seed)])
            answers = [
                _report(one, [LabelledSpan(*span) for span in kept["answers"][one.id]]).entities
                for one in self.parts.held_out
            ]
            for (policy, level, weighted), sums in found.items():
                if level == "seeds":
                    continue
                labels = (level,) if level in self.parts.labels else self.parts.labels
                named = "label" if level in self.parts.labels else level
                worth = [
                    credit(one, answered, labels, named, policy, known if weighted else None)
                    for one, answered in zip(gold, answers, strict=True)
                ]
                found[policy, level, weighted] = [old + new for old, new in zip(sums, worth, strict=True)]
                if level == "label" and not weighted:
                    found[policy, "seeds", False].append(worth)
        return found


def _bare(documents: Documents) -> Documents:
    """The documents without their annotation: who answers never has it in hand."""
    return tuple(replace(one, spans=()) for one in documents)


def _report(document: AnnotatedDocument, spans: Sequence[LabelledSpan]) -> Report:
    """A document as ``eval mednlp`` has it: the label parted into tag and modality."""
    entities = []
    for span in spans:
        tag, _, modality = span.label.partition(JOINT)
        entities.append(MedicalEntity(span.start, span.end, tag, modality))
    return Report(document.id, document.text, tuple(entities))


def described(parts: Parts) -> dict[str, Any]:
    """The parts in numbers, and the ids that are held out."""
    return {
        "held_out": [one.id for one in parts.held_out],
        "taught": {str(size): len(one) for size, one in sorted(parts.taught.items())},
        "gold": dict(sorted(Counter(span.label for one in parts.held_out for span in one.spans).items())),
        "labels": list(parts.labels),
    }


def as_dict(experiment: Experiment, cells: Sequence[Cell], left_out: Sequence[str]) -> dict[str, Any]:
    """Everything that a run came to, as JSON."""
    learner = None if experiment.learner is None else dict(experiment.learner.signature)
    return {
        "parts": described(experiment.parts),
        "learner": learner,
        "plan": [asdict(one) for one in cells],
        "cells": experiment.scores(cells),
        "left_out": list(left_out),
    }
