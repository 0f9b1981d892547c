"""The cut of a retriever, chosen on development patients alone: the best of a grid, kept with the whole grid."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ....kb.errors import UsageError
from ....kb.files.text_files import json_of
from ...bank.acr.labels import Labels
from ...measures.metrics import F1
from ...measures.scoring import Counts, macro, micro
from ..systems.contract import Question
from .grouping import Cut
from .nearest import Hits
from .retriever import Retriever

#: ``macro``: the mean F1 of the questions that some development patient matches; ``micro``: F1 of the summed counts of
#: all questions, so that what is found for a question that nobody matches costs too.
AVERAGES: Final = ("macro", "micro")
#: What is searched over: the share of the index that is retrieved, the score a chunk needs, or both together.
WAYS: Final = ("share", "threshold", "both")

_STEPS: Final = 80
_STEPS_OF_BOTH: Final = 30


@dataclass(frozen=True, slots=True)
class Choice:
    """The cut with the largest score of a grid (of equals the one that retrieves least), and how it was found.

    ``grid`` holds every cut that was tried, with its score. ``development`` identifies the data: hashes of notes and
    labels, patients, questions.
    """

    cut: Cut
    score: float
    average: str
    way: str
    grid: tuple[tuple[Cut, float], ...]
    development: Mapping[str, Any]

    def signature(self) -> dict[str, Any]:
        """What a tuned system says of its cut; the grid as its size and hash."""
        grid = json.dumps([[dict(cut.signature()), score] for cut, score in self.grid], sort_keys=True)
        return {
            "way": self.way,
            "average": self.average,
            "f1": self.score,
            "tried": len(self.grid),
            "grid_sha256": hashlib.sha256(grid.encode()).hexdigest(),
            "development": dict(self.development),
        }


def labels_of(labels: Labels, patients: Collection[str]) -> Labels:
    """The labels of ``patients`` alone, with a hash of just those: what a development run may see."""
    match = {one: labels.match[one] for one in sorted(patients) if one in labels.match}
    ambiguous = {one: labels.ambiguous.get(one, frozenset()) for one in match}
    rows = [[one, sorted(match[one]), sorted(ambiguous[one])] for one in match]
    return Labels(match, ambiguous, hashlib.sha256(json.dumps(rows).encode()).hexdigest())


def tune(
    retriever: Retriever,
    questions: Sequence[Question],
    labels: Labels,
    *,
    way: str = "share",
    average: str = "macro",
    best_of: int = 1,
) -> Choice:
    """The best cut for ``questions`` by the development ``labels``; the cut that ``retriever`` has is not looked at.

    Only labelled patients are scored, and all of them must be in the retriever's corpus; a corpus that holds others
    lets them fill places of the index, and nothing else. UsageError for no labelled question, or an unknown way.
    """
    if way not in WAYS or average not in AVERAGES:
        raise UsageError(f"tuning goes by {', '.join(WAYS)} and averages by {', '.join(AVERAGES)}")
    if strangers := set(labels.patients) - set(retriever.patients):
        raise UsageError(f"{len(strangers)} labelled patients are not in the corpus that the retriever was made over")
    asked = [one for one in questions if one.of is not None]
    if not any(labels.wanted(one.of) for one in asked if one.of is not None):
        raise UsageError("no question has a patient who is labelled as matching: nothing can be tuned")
    found = retriever.search.search([one.text for one in asked])
    size = len(retriever.chunks)
    runs = [
        _Run.ranked(hits, retriever, labels, one.of)
        for one, hits in zip(asked, found, strict=True)
        if one.of is not None
    ]
    grid = tuple((cut, _score(runs, cut, size, average)) for cut in _grid(way, found, size, best_of))
    best, score = max(grid, key=lambda one: one[1])
    development = {
        "corpus_sha256": retriever.chunks.corpus.sha256,
        "labels_sha256": labels.sha256,
        "patients": len(labels.patients),
        "questions": len(asked),
        "questions_sha256": hashlib.sha256("\0".join(one.text for one in asked).encode()).hexdigest(),
        "chunks": size,
    }
    return Choice(best, score, average, way, grid, development)


@dataclass(frozen=True)
class _Run:
    """One question: its hits, and how many wanted and unwanted patients the first k of them hold, k from 0."""

    hits: Hits
    right: npt.NDArray[np.int64]
    wrong: npt.NDArray[np.int64]
    wanted: int

    @classmethod
    def ranked(cls, hits: Hits, retriever: Retriever, labels: Labels, query: int) -> _Run:
        gold, unsure = labels.wanted(query), labels.open_to(query)
        # 1: wanted, -1: not wanted, 0: not labelled or open.
        worth = np.array(
            [0 if one in unsure or one not in labels.match else 1 if one in gold else -1 for one in retriever.patients],
            dtype=np.int8,
        )
        whose = retriever.chunks.patient_numbers[hits.chunks]
        _, first = np.unique(whose, return_index=True)
        new = np.zeros(len(whose), dtype=bool)
        new[first] = True
        right = np.concatenate([[0], np.cumsum(new & (worth[whose] == 1))])
        wrong = np.concatenate([[0], np.cumsum(new & (worth[whose] == -1))])
        return cls(hits, right, wrong, len(gold))

    def counts(self, cut: Cut, size: int) -> Counts:
        kept = cut.kept(self.hits, size)
        tp = int(self.right[kept])
        return Counts(tp, int(self.wrong[kept]), self.wanted - tp)


def _score(runs: Sequence[_Run], cut: Cut, size: int, average: str) -> float:
    counts = [run.counts(cut, size) for run in runs]
    if average == "macro":
        return macro(F1, [one for one in counts if one.wanted]) or 0.0
    return micro(F1, counts) or 0.0


def _grid(way: str, found: Sequence[Hits], size: int, best_of: int) -> list[Cut]:
    """From the strictest cut to the widest, so that of equally good ones the first retrieves least."""
    if way == "share":
        return [Cut(share=one, best_of=best_of) for one in _shares(size, _STEPS)]
    if way == "threshold":
        return [Cut(threshold=one, best_of=best_of) for one in _thresholds(found, _STEPS)]
    return [
        Cut(share=share, threshold=threshold, best_of=best_of)
        for share in _shares(size, _STEPS)
        for threshold in (*_thresholds(found, _STEPS_OF_BOTH), None)
    ]


def _shares(size: int, steps: int) -> list[float]:
    """Numbers of chunks from 1 to all, in equal ratios, as shares of the index."""
    numbers = np.unique(np.round(np.geomspace(1, max(size, 1), steps)).astype(int))
    return [int(number) / max(size, 1) for number in numbers]


def _thresholds(found: Sequence[Hits], steps: int) -> list[float]:
    """Scores that the first 1, … all chunks of a question reach in the middle of the questions, largest first."""
    most = max((len(one.scores) for one in found), default=0)
    values = set()
    for number in np.unique(np.round(np.geomspace(1, max(most, 1), steps)).astype(int)):
        reached = [float(one.scores[number - 1]) for one in found if len(one.scores) >= number]
        if reached:
            values.add(round(float(np.median(reached)), 6))
    return sorted(values, reverse=True)


def save_choice(choice: Choice, path: Path) -> None:
    """Writes the choice with its whole grid as JSON: settings that a run over another corpus takes over."""
    saved = {
        "cut": asdict(choice.cut),
        **choice.signature(),
        "grid": [{**cut.signature(), "f1": score} for cut, score in choice.grid],
    }
    path.write_text(json.dumps(saved, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def load_choice(path: Path) -> tuple[Cut, dict[str, Any]]:
    """The cut of a saved choice, and how it was found, for :meth:`Retriever.with_cut`. UsageError for another file.

    A share is of the index, so it holds for a corpus of another size; a threshold holds for the same encoder.
    """
    try:
        saved = json_of(path)
        cut = Cut(**saved.pop("cut"))
    except (UsageError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{path.name} holds no tuned settings that can be read") from error
    saved.pop("grid", None)
    return cut, saved
