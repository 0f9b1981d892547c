"""Context against the NegEx test sentences: negation, temporality and experiencer of a marked condition.

The table (tab separated, a header line) holds a line number, a condition, a sentence with the condition in capitals,
and its negation, temporality and experiencer as annotated. Source: W. Chapman et al., J Biomed Inform 34 (2001), and
H. Harkema et al., J Biomed Inform 42 (2009).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import Any, Final

from ...ingest.note.read import read_text
from ...kb.errors import UsageError
from ...kb.files.text_files import text_of
from ...kb.model import Context, Experiencer, Polarity, Temporality
from ..measures.metrics import F1, PRECISION, RECALL
from ..measures.scoring import Counts, value

#: A reader of context: text and the span of the condition → its context.
ContextOf = Callable[[str, tuple[int, int]], Context]

COLUMNS = 6
_MEASURES: Final = (PRECISION, RECALL, F1)
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
class ContextScore:
    """Counts of negation (wanted: negated; found: read as absent), and accuracies of the other two parts as (right,
    all); ``wrong`` are the sentences whose negation was read the other way."""

    negation: Counts
    temporality: tuple[int, int]
    experiencer: tuple[int, int]
    unmarked: int
    wrong: tuple[MarkedSentence, ...] = ()

    def as_dict(self, *, errors: bool = False) -> dict[str, Any]:
        """For JSON; ``errors`` lists what was read wrongly."""
        scores = {
            "sentences": sum(astuple(self.negation)),
            "left_out": self.unmarked,
            "negation": asdict(self.negation) | {one.name: value(one, self.negation) for one in _MEASURES},
            "temporality": dict(zip(("right", "of"), self.temporality, strict=True)),
            "experiencer": dict(zip(("right", "of"), self.experiencer, strict=True)),
        }
        return scores | {"errors": [asdict(one) for one in self.wrong]} if errors else scores


def read_marked(path: str | Path) -> tuple[list[MarkedSentence], int]:
    """The sentences of a table, and how many lines were left out because their condition could not be found.

    UsageError when the file cannot be read or a line has not six fields.
    """
    text = text_of(Path(path), errors="replace")
    sentences: list[MarkedSentence] = []
    unmarked = 0
    for position, line in enumerate(text.splitlines(), 1):
        row = line.split("\t")
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
    judged = [(one, read(one.text, (one.start, one.end))) for one in sentences]
    negated = [(one, context.polarity is Polarity.ABSENT) for one, context in judged]
    counts = Counter((one.negated, absent) for one, absent in negated)
    times = [
        (context.temporality is Temporality.HISTORICAL) == one.historical
        for one, context in judged
        if one.historical is not None
    ]
    whose = [(context.experiencer is Experiencer.PATIENT) == one.patient for one, context in judged]
    return ContextScore(
        Counts(counts[True, True], counts[False, True], counts[True, False], counts[False, False]),
        (sum(times), len(times)),
        (sum(whose), len(whose)),
        unmarked,
        tuple(one for one, absent in negated if one.negated is not absent),
    )
