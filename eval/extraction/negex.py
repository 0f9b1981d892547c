"""Context against the NegEx test sentences: negation, temporality and experiencer of a marked condition.

The table (tab separated, a header line) holds a line number, a condition, a sentence with the condition in capitals,
and its negation, temporality and experiencer as annotated. Source: W. Chapman et al., J Biomed Inform 34 (2001), and
H. Harkema et al., J Biomed Inform 42 (2009).
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ...ingest.note.read import read_text
from ...kb.errors import UsageError
from ...kb.model import Context, Experiencer, Polarity, Temporality

#: A reader of context: text and the span of the condition → its context.
ContextOf = Callable[[str, tuple[int, int]], Context]

COLUMNS = 6
_CAPITALS = re.compile(r"[A-Z][A-Z0-9]*(?:[^A-Za-z]+[A-Z][A-Z0-9]*)*")


@dataclass(frozen=True, slots=True)
class MarkedSentence:
    """One line of the table; ``start`` and ``end`` are the condition's character span in ``text``."""

    number: str
    text: str
    start: int
    end: int
    negated: bool
    historical: bool | None
    patient: bool


@dataclass(frozen=True, slots=True)
class Judged:
    """A marked sentence with the context that was read."""

    sentence: MarkedSentence
    context: Context

    @property
    def negated(self) -> bool:
        """Whether the condition was read as absent."""
        return self.context.polarity is Polarity.ABSENT


@dataclass(frozen=True, slots=True)
class ContextScore:
    """Counts of negation (positive class: negated), and accuracies of the other two parts as (right, all)."""

    tp: int
    fp: int
    fn: int
    tn: int
    temporality: tuple[int, int]
    experiencer: tuple[int, int]
    unmarked: int
    judged: tuple[Judged, ...] = field(repr=False)

    @property
    def precision(self) -> float:
        """tp / (tp + fp); 0 when nothing was read as absent."""
        return self.tp / (self.tp + self.fp) if self.tp else 0.0

    @property
    def recall(self) -> float:
        """tp / (tp + fn); 0 when nothing was rightly read as absent."""
        return self.tp / (self.tp + self.fn) if self.tp else 0.0

    @property
    def f1(self) -> float:
        """2 tp / (2 tp + fp + fn)."""
        return 2 * self.tp / (2 * self.tp + self.fp + self.fn) if self.tp else 0.0

    def errors(self, negated: bool) -> Iterator[Judged]:
        """Sentences annotated ``negated`` and read the other way."""
        return (one for one in self.judged if one.sentence.negated is negated and one.negated is not negated)


def read_marked(path: str | Path) -> tuple[list[MarkedSentence], int]:
    """The sentences of a table, and how many lines were left out because their condition could not be found.

    UsageError when the file cannot be read or a line has not six fields.
    """
    try:
        text = Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UsageError(f"cannot read '{path}': {error.strerror}") from error
    sentences: list[MarkedSentence] = []
    unmarked = 0
    rows = csv.reader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    for position, row in enumerate(rows, 1):
        if len(row) < COLUMNS:
            raise UsageError(f"{path}, line {position}: {len(row)} fields where {COLUMNS} belong")
        if position == 1:
            continue
        number, condition, sentence, negation, temporality, experiencer = (cell.strip() for cell in row[:COLUMNS])
        span = find_condition(sentence.strip('"'), condition)
        if span is None:
            unmarked += 1
            continue
        sentences.append(
            MarkedSentence(
                number,
                sentence.strip('"'),
                *span,
                negation.lower() == "negated",
                {"historical": True, "recent": False}.get(temporality.lower()),
                experiencer.lower() == "patient",
            )
        )
    return sentences, unmarked


def find_condition(sentence: str, condition: str) -> tuple[int, int] | None:
    """Where the condition stands: in capitals as marked, else however written, else the capitals most like it."""
    words = [re.escape(word) for word in condition.split()]
    if not words:
        return None
    pattern = r"\W+".join(words)
    for wanted, flags in ((pattern.upper() if pattern.isalpha() else pattern, 0), (pattern, re.IGNORECASE)):
        found = list(re.finditer(wanted, sentence, flags))
        marked = [one for one in found if one.group().upper() == one.group()]
        if found:
            return (marked or found)[0].span()
    capitals = [one for one in _CAPITALS.finditer(sentence) if len(one.group()) > 1]
    return max(capitals, key=lambda one: one.end() - one.start()).span() if capitals else None


def context_of(text: str, span: tuple[int, int]) -> Context:
    """The context that the shipped reader gives the span; the plain one where it passes the span over."""
    start, end = span
    for mention in read_text(text, targets=[span]).mentions:
        if (mention.start, mention.end, mention.source) == (start, end, "target"):
            return mention.context
    return Context()


def score(sentences: Iterable[MarkedSentence], unmarked: int = 0, read: ContextOf = context_of) -> ContextScore:
    """Every sentence judged. An uncertain condition counts as not negated, as the annotation has it."""
    judged = tuple(Judged(one, read(one.text, (one.start, one.end))) for one in sentences)
    counts = Counter((one.sentence.negated, one.negated) for one in judged)
    dated = [one for one in judged if one.sentence.historical is not None]
    return ContextScore(
        tp=counts[True, True],
        fp=counts[False, True],
        fn=counts[True, False],
        tn=counts[False, False],
        temporality=(
            sum((one.context.temporality is Temporality.HISTORICAL) == one.sentence.historical for one in dated),
            len(dated),
        ),
        experiencer=(
            sum((one.context.experiencer is Experiencer.PATIENT) == one.sentence.patient for one in judged),
            len(judged),
        ),
        unmarked=unmarked,
        judged=judged,
    )
