"""The parts of a question between its words and its query: chunks with a type, and criteria."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .wording import Token


class Unclear(Exception):
    """The question cannot be answered as it stands; the message says what is unclear and what to say instead.

    ``unknown`` when that is for want of words here: another reader may know them. Else the question itself is open.
    """

    def __init__(self, message: str, words: tuple[str, ...] = (), *, unknown: bool = False) -> None:
        super().__init__(message)
        self.words = words
        self.unknown = unknown


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some tokens that were read as one thing.

    ``type``: a kind of concept (tumor, drug, gene, biomarker …), a kind of word (skip, join, noun, adjective …) or
    ``phrase``; ``value``: which; ``ids``: concepts; ``data``: what the phrase book says of it.
    """

    type: str
    text: str
    start: int
    end: int
    value: str = ""
    ids: tuple[str, ...] = ()
    data: Mapping[str, object] = field(default_factory=dict, hash=False, compare=False)
    #: Other readings: kind of concept -> ids.
    others: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False, compare=False)

    def is_join(self, *values: str) -> bool:
        """Whether it is a joining word of one of these values (any, if none is given)."""
        return self.type == "join" and (not values or self.value in values)


@dataclass(frozen=True, slots=True)
class Criterion:
    """A part of a question as a criterion of the query language.

    ``sort``: disease, extent, finding, treatment, staging, patient, in_situ, said. ``concepts``: the concept
    expression that the criterion asks for, of ``kind`` (so that something can be taken away from it).
    ``disease``: the diagnosis that further facts of the tumor hang on, where the criterion has its own scope.
    """

    sort: str
    query: str
    text: str = ""
    kind: str = ""
    ids: tuple[str, ...] = ()
    outside: bool = False
    beside: str = ""
    disease: str = ""
    only: tuple[str, ...] = ()
    start: int = 0
    end: int = 0
    #: Premodifiers, which may hold of all that is listed after them.
    before: tuple[Criterion, ...] = ()
    after: tuple[Criterion, ...] = ()
    plural: bool = False
    condition: bool = False
    name: str = ""
    #: Of facts in order, the one that comes last.
    last: str = ""
    #: Facts that follow each other, from the first to the last.
    steps: tuple[str, ...] = ()
    #: What it can ask for, where that is open: one of these stands for ``query`` in each reading.
    readings: tuple[str, ...] = ()
    #: What a molecular noun phrase said, so that phrases of one kind can be joined.
    phrase: object = field(default=None, hash=False, compare=False, repr=False)


Item = Chunk | Criterion


def text_of(tokens: tuple[Token, ...], whole: str) -> str:
    """The characters that some tokens cover."""
    return whole[tokens[0].start : tokens[-1].end]


def with_kind(chunk: Chunk, kind: str) -> Chunk:
    """The chunk in another of its readings."""
    others = {**chunk.others, chunk.type: chunk.ids}
    return Chunk(kind, chunk.text, chunk.start, chunk.end, chunk.value, others.pop(kind), chunk.data, others)
