"""Copied sentences: those that stood in an earlier note of the patient, word for word or with a few words changed.

Notes are written by copying the last one and changing what is new. A sentence that says again what an earlier one said
is no source of its own; what a changed word says anew is. So a copy knows which statements the earlier sentence made.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

#: A shorter sentence says the same in many notes without being copied ("ECOG 1.").
_COPIED_LENGTH: Final = 60
#: At least this part of the words of the longer of two sentences stands in both: one word in five may change.
_SHARED: Final = 0.8
#: Words in a row by which an earlier sentence is found again. A changed word takes away three such runs.
_RUN: Final = 3
#: So many of the latest sentences with a run are kept, and so many of those that share most are compared: the cost of
#: a sentence does not grow with the number of notes.
_KEPT: Final = 3
#: A date in figures, or a number with its fraction, is one word: to change it changes one.
_WORD: Final = re.compile(r"\d+(?:[/.,:\-]\d+)+|\w+")

#: What a mention states, without where it stands (see :func:`facts.statement_of`).
Statement = tuple[object, ...]


def words_of(text: str, start: int, end: int) -> tuple[str, ...]:
    """The words of a part of a text, in small letters."""
    said = text[start:end]
    if said.isascii():
        return tuple(_WORD.findall(said.lower()))
    # Elsewhere small letters may be of another length, and no letters at all.
    return tuple([word.lower() for word in _WORD.findall(said)])


def long_sentences(text: str, spans: Iterable[tuple[int, int]]) -> dict[tuple[int, int], tuple[str, ...]]:
    """Those of the sentences that are long enough for a copy, with their words."""
    found = {}
    for span in spans:
        words = words_of(text, *span)
        if sum(map(len, words)) + len(words) > _COPIED_LENGTH:
            found[span] = words
    return found


@dataclass(slots=True)
class Sentence:
    """The words of a sentence in small letters, and what its mentions state."""

    words: tuple[str, ...]
    statements: set[Statement] = field(default_factory=set)


class Copies:
    """The long sentences of a patient's notes so far. Give it one note after the other, in the order of their dates."""

    def __init__(self) -> None:
        self._verbatim: set[tuple[str, ...]] = set()
        self._by_run: dict[tuple[str, ...], list[Sentence]] = {}

    def copied(
        self, text: str, statements: Mapping[tuple[int, int], Sequence[Statement]]
    ) -> set[tuple[int, int, Statement]]:
        """Which statements of a note were copied, each with the span of its sentence; then the note is one of the
        earlier ones.

        ``statements``: of each sentence of the note that makes any, by its span in ``text``.
        """
        return self.copied_of(long_sentences(text, statements), statements)

    def copied_of(
        self,
        sentences: Mapping[tuple[int, int], tuple[str, ...]],
        statements: Mapping[tuple[int, int], Sequence[Statement]],
    ) -> set[tuple[int, int, Statement]]:
        """As :meth:`copied`, of the long ``sentences`` of a note, with their words."""
        copied: set[tuple[int, int, Statement]] = set()
        long_ones = []
        for (start, end), words in sentences.items():
            said = statements[start, end]
            sentence = Sentence(words, set(said))
            long_ones.append(sentence)
            if sentence.words in self._verbatim:
                copied.update((start, end, one) for one in said)
            elif (earlier := self._earlier(sentence)) is not None:
                copied.update((start, end, one) for one in said if one in earlier.statements)
        for sentence in long_ones:
            self._keep(sentence)
        return copied

    def _earlier(self, sentence: Sentence) -> Sentence | None:
        """The earlier sentence that this one is an edited copy of: of those alike, the one that shares most runs."""
        known = self._by_run
        runs = [run for run in dict.fromkeys(_runs(sentence.words)) if run in known]
        met = [earlier for run in runs for earlier in known[run]]
        if not met:
            return None
        shared = Counter(map(id, met))
        found = {id(earlier): earlier for earlier in met}
        # Equal counts keep the order in which they were met: that of the text and of the notes.
        return next(
            (found[one] for one, _ in shared.most_common(_KEPT) if _alike(found[one].words, sentence.words)), None
        )

    def _keep(self, sentence: Sentence) -> None:
        if sentence.words in self._verbatim:
            return
        self._verbatim.add(sentence.words)
        for run in set(_runs(sentence.words)):
            kept = self._by_run.setdefault(run, [])
            kept.append(sentence)
            del kept[:-_KEPT]


def _runs(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    return zip(*(words[at:] for at in range(_RUN)), strict=False)


def _alike(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether few words are not in both, however often each stands there."""
    longer = max(len(one), len(other))
    if min(len(one), len(other)) < _SHARED * longer:
        return False
    return (Counter(one) & Counter(other)).total() >= _SHARED * longer
