"""Exact spans of what was read as an expression of change, against annotated ones: counts by class and half."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ....ingest.single import read
from ...measures.metrics import F1, PRECISION, RECALL
from ...measures.scoring import Counts, value
from .corpora import AnnotatedText, Gold

#: A reader of expressions: text → their spans and classes.
ReadSpans = Callable[[str], Gold]

HALVES: Final = ("all", "development", "held_aside")
_SOURCES: Final = {"notation:protein": "protein", "notation:dna": "dna", "notation:dbsnp": "dbsnp"}


@dataclass(frozen=True, slots=True)
class WrongSpan:
    """A span that only one side has: ``missed`` if the annotation, ``extra`` if the reading."""

    id: str
    start: int
    end: int
    text: str
    form: str
    missed: bool


@dataclass(frozen=True, slots=True)
class NotationScores:
    """Counts of spans by half and class; the wrong spans of the development half alone, which may be looked at."""

    texts: int
    counts: dict[str, dict[str, Counts]]
    left_out: dict[str, int]
    wrong: tuple[WrongSpan, ...] = field(repr=False)

    def as_dict(self, errors: bool = False) -> dict[str, Any]:
        """For JSON: per half and class the counts, precision, recall and F1."""
        scores: dict[str, Any] = {"texts": self.texts, "left_out": self.left_out, "halves": {}}
        for half, classes in self.counts.items():
            scores["halves"][half] = {
                name: {
                    "gold": one.tp + one.fn,
                    "found": one.tp + one.fp,
                    "tp": one.tp,
                    "fp": one.fp,
                    "fn": one.fn,
                    **{measure.name: value(measure, one) for measure in (PRECISION, RECALL, F1)},
                }
                for name, one in classes.items()
            }
        if errors:
            scores["errors"] = [
                {"id": one.id, "start": one.start, "end": one.end, "text": one.text, "class": one.form,
                 "kind": "missed" if one.missed else "extra"}
                for one in self.wrong
            ]  # fmt: skip
        return scores


def spans_of(text: str) -> Gold:
    """What ``cohortium.read`` shows as expressions of change of proteins and DNA, and as numbers of dbSNP."""
    return {
        (mention.start, mention.end): _SOURCES[mention.source]
        for mention in read(text).mentions
        if mention.source in _SOURCES
    }


def score(texts: Iterable[AnnotatedText], read_spans: ReadSpans = spans_of) -> NotationScores:
    """Every text read; a span counts when start, end and class are those annotated."""
    texts = list(texts)
    classes = sorted({name for text in texts for name in text.gold.values()})
    tallies: dict[str, dict[str, Counter[str]]] = {half: {name: Counter() for name in classes} for half in HALVES}
    wrong: list[WrongSpan] = []
    for text in texts:
        found = _in_classes(read_spans(text.text), classes)
        for name in classes:
            wanted = {span for span, form in text.gold.items() if form == name}
            got = {span for span, form in found.items() if form == name}
            for half in ("all", text.half):
                tally = tallies[half][name]
                tally["tp"] += len(wanted & got)
                tally["fp"] += len(got - wanted)
                tally["fn"] += len(wanted - got)
            if text.half == "development":
                wrong += [
                    WrongSpan(text.id, start, end, text.text[start:end], name, (start, end) in wanted)
                    for start, end in sorted(wanted ^ got)
                ]
    counts = {
        half: {name: Counts(tally["tp"], tally["fp"], tally["fn"], 0) for name, tally in by_class.items()}
        for half, by_class in tallies.items()
    }
    left_out = sum((text.left_out for text in texts), Counter[str]())
    return NotationScores(len(texts), counts, dict(sorted(left_out.items())), tuple(wrong))


def _in_classes(found: Gold, classes: Sequence[str]) -> Gold:
    """Where the corpus does not tell proteins from DNA, neither does the reading; other classes are left out."""
    classed = {span: "variant" if "variant" in classes and form != "dbsnp" else form for span, form in found.items()}
    return {span: form for span, form in classed.items() if form in classes}
