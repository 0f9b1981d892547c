"""Paraphrases of the bank's questions, and which pairs of questions must have answers that agree; checked as read."""

from __future__ import annotations

import functools
import tomllib
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

from ..bank.acr.bank import load_bank
from ..bank.consistency.pairs import PairsError, load_subtypes, normalized, rows_of
from ..baselines.systems.contract import Question

_FOLDER: Final = Path(__file__).parent

#: Kinds of paraphrase, and what is varied in each.
KINDS: Final = {
    "brand": "the brand and the generic name of a drug",
    "code": "a code of a terminology and the name",
    "abbreviation": "the short form and the name in full",
    "synonym": "two names of one thing, two words of one meaning",
    "order": "the order of the words, the form of the sentence",
}
#: The five pairs of the paper's table 4, parent first.
_CHAIN: Final = (102, 103, 99, 98, 101, 108)


@dataclass(frozen=True, slots=True)
class Paraphrase:
    """Another way of asking question ``of`` of the bank; ``kind`` is one of :data:`KINDS`."""

    id: str
    of: int
    kind: str
    text: str

    @property
    def question(self) -> Question:
        """As it is asked: in English alone, since only the bank's own questions have a formal query."""
        return Question(self.id, self.text, of=self.of)


@dataclass(frozen=True, slots=True)
class Expected:
    """Two questions, by their ids, whose answers must agree.

    ``check``: *paraphrase* (equal sets), *intersection* or *subtype* (``first`` within ``second``). ``kind``: what is
    varied or added. ``table``: the table of the paper that shows the pair, 0 for none.
    """

    check: str
    kind: str
    first: str
    second: str
    table: int = 0


@functools.cache
def load_paraphrases(file: Path = _FOLDER / "paraphrases.toml") -> tuple[Paraphrase, ...]:
    """All paraphrases, as ``p58.1``, ``p58.2`` … in the order of the file.

    PairsError for an unknown kind or bank id, and for a text that the bank or another paraphrase has.
    """
    texts = {one.id: one.text for one in load_bank()}
    taken = {normalized(text).casefold() for text in texts.values()}
    number: Counter[int] = Counter()
    listed = []
    for one in tomllib.loads(file.read_text(encoding="utf-8"))["paraphrase"]:
        question, kind, text = one["of"], one["kind"], normalized(one["text"])
        where = f"{file.name}: {text!r}"
        if question not in texts:
            raise PairsError(f"{where}: the bank has no question {question}")
        if kind not in KINDS:
            raise PairsError(f"{where}: kind {kind!r} is not one of {', '.join(KINDS)}")
        if text.casefold() in taken:
            raise PairsError(f"{where}: the bank or another row says the same")
        taken.add(text.casefold())
        number[question] += 1
        listed.append(Paraphrase(f"p{question}.{number[question]}", question, kind, text))
    return tuple(listed)


@functools.cache
def expected_agreement() -> tuple[Expected, ...]:
    """Every pair whose answers must agree: paraphrases, then intersections, then subtypes.

    A pair of the bank may stand under two checks: *A and B* within *A* is an intersection, and a subtype as well.
    """
    return (*_same(), *_paraphrased(), *_intersections(), *_subtypes())


def _same() -> tuple[Expected, ...]:
    """Questions of the bank that ask the same."""
    file = _FOLDER / "paraphrases.toml"
    rows = tomllib.loads(file.read_text(encoding="utf-8"))["same"]
    return tuple(
        Expected("paraphrase", one["kind"], str(first), str(second), 2 if {first, second} == {97, 101} else 0)
        for one in rows
        for first, second in [one["of"]]
    )


def _paraphrased() -> tuple[Expected, ...]:
    return tuple(Expected("paraphrase", one.kind, str(one.of), one.id) for one in load_paraphrases())


def _intersections() -> tuple[Expected, ...]:
    listed = []
    implied = {(one.child, one.parent) for one in load_subtypes()}
    for _, (children, bases, adds) in rows_of(_FOLDER / "intersections.tsv", ("complex", "base", "adds")):
        for child in map(int, children.split()):
            for base in map(int, bases.split()):
                if (child, base) not in implied:
                    raise PairsError(f"intersections.tsv: {child} does not imply {base} by subtypes.tsv")
                table = 3 if (child, base) in {(113, 58), (107, 58), (105, 58), (18, 58)} else 0
                listed.append(Expected("intersection", adds, str(child), str(base), table))
    return tuple(listed)


def _subtypes() -> tuple[Expected, ...]:
    chain = set(pairwise(_CHAIN))
    return tuple(
        Expected("subtype", one.reason, str(one.child), str(one.parent), 4 if (one.parent, one.child) in chain else 0)
        for one in load_subtypes()
    )
