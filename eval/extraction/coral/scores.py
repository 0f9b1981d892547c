"""The three figures of one unit: BLEU-4 with smoothing, ROUGE-1, and exact match, of pairs of a name and a value.

A pair is a text, ``mri: 12th december 2015``. Each pair of the output is held against *all* pairs of the gold (BLEU
takes them as references of one text), each pair of the gold against that of the output which covers it best (ROUGE).
Source: Sushil et al. 2024, "Evaluation" and "Quantitative Evaluation Metrics" in the supplement.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from ....ingest.coral_schema.tuples import Finding, nothing
from ....kb.errors import UsageError
from .tasks import UNKNOWN, Task

ORDER: Final = 4


class Convention(enum.StrEnum):
    """How the definitions are taken.

    ``paper``: as the text of the paper defines them. BLEU adds one to counts of more than one word (Lin and Och 2004),
    so that texts shorter than four words are not punished, and is 0 without any common word; ROUGE is a recall; name
    and value stand with a colon between them, as in its examples.

    ``tables``: as the figures of the paper's tables were computed, to stand beside them. BLEU adds one to single words
    too and takes the shortest reference as the length; ROUGE is the harmonic mean of precision and recall, of stemmed
    words; a blank stands between name and value.
    """

    PAPER = "paper"
    TABLES = "tables"


#: What stands between the two halves of a pair.
_BETWEEN: Final = {Convention.PAPER: ": ", Convention.TABLES: " "}


@dataclass(frozen=True, slots=True)
class UnitScore:
    """The figures of one relation in one unit, each from 0 to 1. ``annotated``: whether the gold has any."""

    bleu: float
    rouge: float
    precision: float
    recall: float
    f1: float
    annotated: bool

    def __getitem__(self, name: str) -> float:
        return float(getattr(self, name))


#: The names of the figures, in the order of reports.
FIGURES: Final = ("bleu", "rouge", "precision", "recall", "f1")


def pairs(
    task: Task, findings: Iterable[Finding], convention: Convention = Convention.PAPER
) -> Mapping[str, frozenset[str]]:
    """The pairs of each scored relation of a task, in small letters. Without findings it is the pair that says so."""
    found: dict[str, set[str]] = {name: set() for name in task.relations}
    for finding in tuple(findings) or (nothing(task),):
        for name, value in task.relations.items():
            for words in finding.values.get(value.name, (UNKNOWN,)):
                found[name].add(normal(f"{finding.name}{_BETWEEN[convention]}{words}"))
    return {name: frozenset(texts) for name, texts in found.items()}


def stated(task: Task, findings: Iterable[Finding]) -> Mapping[str, frozenset[tuple[str, str]]]:
    """The pairs of which both halves are told: what a knowledge base would hold."""
    found: dict[str, set[tuple[str, str]]] = {name: set() for name in task.relations}
    for finding in findings:
        for name, value in task.relations.items():
            for words in finding.values.get(value.name, ()):
                pair = normal(finding.name), normal(words)
                if UNKNOWN not in pair:
                    found[name].add(pair)
    return {name: frozenset(both) for name, both in found.items()}


def normal(text: str) -> str:
    """The form in which texts are compared: small letters, single blanks, straight quotes."""
    return " ".join(text.lower().replace("’", "'").replace("‘", "'").replace("`", "'").split())


def score(
    output: Iterable[str], gold: Iterable[str], convention: Convention = Convention.PAPER, *, annotated: bool = True
) -> UnitScore:
    """The figures of two sets of pairs. ValueError if one is empty: that nothing was found is a pair too."""
    found, wanted = sorted(set(output)), sorted(set(gold))
    if not found or not wanted:
        raise ValueError("output and gold have at least the pair that says that there is nothing")
    bleu, rouge = _BLEU[convention], _ROUGE[convention]
    both = len(set(found) & set(wanted))
    return UnitScore(
        bleu=sum(bleu(one, wanted) for one in found) / len(found),
        rouge=sum(max(rouge(one, other) for one in found) for other in wanted) / len(wanted),
        precision=both / len(found),
        recall=both / len(wanted),
        f1=2 * both / (len(found) + len(wanted)),
        annotated=annotated,
    )


# --- BLEU -------------------------------------------------------------------------------------------------------------


def bleu_4(output: str, references: Sequence[str]) -> float:
    """BLEU of words one to four, tokens as in mteval 13a, add-one smoothing of orders above one; 0 without overlap."""
    # Sums of logarithms may come out a little over 1.
    return min(1.0, float(_sacrebleu(smoothed=True).sentence_score(output, list(references)).score) / 100)


def bleu_4_of_tables(output: str, references: Sequence[str]) -> float:
    """BLEU with one added to the matches and the number of n-grams of every order; the shortest reference counts."""
    metric = _sacrebleu(smoothed=False)
    counted = metric.sentence_score(output, list(references))
    if not counted.sys_len:
        return 0.0
    # Only the metric's own tokens tell the lengths of references.
    shortest = min(int(metric.sentence_score(one, [one]).sys_len) for one in references)
    logarithms = [
        math.log((right + 1) / (number + 1)) for right, number in zip(counted.counts, counted.totals, strict=True)
    ]
    brevity = 0.0 if counted.sys_len > shortest else 1 - shortest / counted.sys_len
    return math.exp(brevity + sum(logarithms) / ORDER)


@lru_cache(maxsize=2)
def _sacrebleu(smoothed: bool) -> Any:
    try:
        from sacrebleu.metrics import BLEU
    except ImportError:
        raise missing("sacrebleu") from None
    if smoothed:
        return BLEU(lowercase=True, max_ngram_order=ORDER, smooth_method="add-k", smooth_value=1, effective_order=True)
    return BLEU(lowercase=True, max_ngram_order=ORDER, smooth_method="none", effective_order=True)


# --- ROUGE ------------------------------------------------------------------------------------------------------------


def rouge_1(output: str, reference: str) -> float:
    """The share of the reference's words (letters and digits; each as often as it stands there) that the output has."""
    return float(_rouge(stemmed=False).score(reference, output)["rouge1"].recall)


def rouge_1_of_tables(output: str, reference: str) -> float:
    """The harmonic mean of precision and recall of stemmed words."""
    return float(_rouge(stemmed=True).score(reference, output)["rouge1"].fmeasure)


@lru_cache(maxsize=2)
def _rouge(stemmed: bool) -> Any:
    try:
        from rouge_score.rouge_scorer import RougeScorer
    except ImportError:
        raise missing("rouge-score") from None
    return RougeScorer(["rouge1"], use_stemmer=stemmed)


def missing(library: str) -> UsageError:
    """The error of a library that the scores need and that is not installed."""
    return UsageError(f"the scores need {library}, which is not installed. Hint: pip install 'cohortium[bench]'")


_BLEU: Final[Mapping[Convention, Callable[[str, Sequence[str]], float]]] = {
    Convention.PAPER: bleu_4,
    Convention.TABLES: bleu_4_of_tables,
}
_ROUGE: Final[Mapping[Convention, Callable[[str, str], float]]] = {
    Convention.PAPER: rouge_1,
    Convention.TABLES: rouge_1_of_tables,
}
