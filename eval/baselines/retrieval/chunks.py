"""Notes to chunks: windows of tokens with an overlap, each with its exact place in the note."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ....kb.errors import UsageError
from ..systems.contract import Quote
from ..systems.corpus import Corpus
from .encoders import Encoder

#: Automatic Cohort Retrieval paper, section 4.1.1: 1K tokens, 10% of them shared with the next chunk.
MOST_TOKENS: Final = 1000
OVERLAP: Final = 0.10

#: Notes that are tokenised at a time.
_BATCH: Final = 2000


@dataclass(frozen=True, slots=True)
class Chunk:
    """Characters ``start`` to ``end`` of one note of one patient."""

    patient_id: str
    doc_id: str
    start: int
    end: int

    @property
    def quote(self) -> Quote:
        """Its place, as answers give it."""
        return Quote(self.doc_id, self.start, self.end)


def windows(tokens: int, most: int, shared: int) -> list[tuple[int, int]]:
    """The windows ``(first, behind the last)`` over so many tokens: each of ``most`` (the last of at most that), each
    beginning ``shared`` tokens before the end of the one before. None for no token; never one inside another."""
    if not 0 <= shared < most:
        raise ValueError(f"windows of {most} tokens cannot share {shared}")
    found = []
    first = 0
    while first < tokens:
        found.append((first, min(first + most, tokens)))
        if first + most >= tokens:
            break
        first += most - shared
    return found


@dataclass(frozen=True)
class Chunks:
    """The chunks of a corpus by patient, date and document, as the corpus has its notes; ``numbers[i]`` is the place
    of the note of chunk i in the corpus."""

    corpus: Corpus
    items: tuple[Chunk, ...]
    numbers: tuple[int, ...]
    #: Tokens in a window, and of them shared with the next.
    most_tokens: int
    shared_tokens: int
    #: What counted the tokens.
    counted_by: str
    #: Notes without any token, which have no chunk.
    empty_notes: int = 0

    def __len__(self) -> int:
        return len(self.items)

    def text(self, index: int) -> str:
        """The text of a chunk: a piece of its note, unchanged."""
        chunk = self.items[index]
        return self.corpus.notes[self.numbers[index]].text[chunk.start : chunk.end]

    def texts(self) -> Iterator[str]:
        """The texts of all chunks."""
        return (self.text(index) for index in range(len(self.items)))

    @cached_property
    def patient_numbers(self) -> npt.NDArray[np.int32]:
        """For each chunk the place of its patient in the sorted list of the corpus."""
        place = {patient: number for number, patient in enumerate(self.corpus.patients)}
        return np.array([place[chunk.patient_id] for chunk in self.items], dtype=np.int32)

    def signature(self) -> Mapping[str, Any]:
        """How the notes were cut, how many chunks that made, and the hash of the notes."""
        return {
            "corpus_sha256": self.corpus.sha256,
            "chunks": len(self.items),
            "tokens": self.most_tokens,
            "shared_tokens": self.shared_tokens,
            "counted_by": self.counted_by,
            "notes_without_chunk": self.empty_notes,
        }


def split(
    corpus: Corpus,
    encoder: Encoder,
    *,
    most_tokens: int = MOST_TOKENS,
    overlap: float = OVERLAP,
) -> Chunks:
    """The notes of ``corpus`` in chunks of ``most_tokens``, or of as many as the encoder reads if that is less.

    Tokens are the encoder's own; a chunk begins and ends where a token does (also inside a word that has several), and
    none reaches over the end of a note. ``overlap`` is the share of a chunk that the next one repeats, rounded down to
    tokens. Titles are not part of a chunk, so that each has a place in the text. UsageError for a size below 1 or an
    overlap outside [0, 1).
    """
    if most_tokens < 1 or not 0 <= overlap < 1:
        raise UsageError("a chunk has at least one token, and the next repeats less than all of it")
    most = min(most_tokens, encoder.most_tokens)
    shared = int(most * overlap)
    items: list[Chunk] = []
    numbers: list[int] = []
    empty = 0
    for first, notes in _batches(corpus.notes):
        for number, (note, spans) in enumerate(
            zip(notes, encoder.offsets([one.text for one in notes]), strict=True), first
        ):
            cut = windows(len(spans), most, shared)
            empty += not cut
            for begin, behind in cut:
                items.append(Chunk(note.patient_id, note.doc_id, int(spans[begin, 0]), int(spans[behind - 1, 1])))
                numbers.append(number)
    return Chunks(corpus, tuple(items), tuple(numbers), most, shared, encoder.name, empty)


def _batches(notes: Sequence[Any]) -> Iterator[tuple[int, Sequence[Any]]]:
    waiting = iter(notes)
    first = 0
    while batch := tuple(islice(waiting, _BATCH)):
        yield first, batch
        first += len(batch)
