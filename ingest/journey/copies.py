"""Copied sentences: those that stood in an earlier note of the patient, word for word or with a few words changed.

Notes are written by copying the last one and changing what is new. A sentence that says again what an earlier one said
is no source of its own; what a changed word says anew is. So a copy knows which statements the earlier sentence made.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

#: A shorter sentence says the same in many notes without being copied ("ECOG 1.").
_COPIED_LENGTH: Final = 60
#: Nothing of this length holds so much, whatever its words: counting them is spared. (Characters of ASCII.)
_SHORT: Final = 48
#: At least this part of the words of the longer of two sentences stands in both: one word in five may change.
_SHARED: Final = 0.8
#: An earlier sentence is found again by three words in a row; a changed word takes away three such runs. So many of the
#: latest sentences with a run are kept, and so many of those that share most are compared: the cost of a sentence does
#: not grow with the number of notes.
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
    is_ascii = text.isascii()
    for span in spans:
        if is_ascii and span[1] - span[0] <= _SHORT:
            continue
        words = words_of(text, *span)
        if sum(map(len, words)) + len(words) > _COPIED_LENGTH:
            found[span] = words
    return found


class Sentence(NamedTuple):
    """The words of a sentence in small letters, its runs of words, each once, and what its mentions state."""

    words: tuple[str, ...]
    runs: Collection[tuple[str, ...]]
    statements: Sequence[Statement]


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
        copied = self.copied_of(long_sentences(text, statements), statements)
        return {(*span, one) for span, said in copied.items() for one in said}

    def copied_of(
        self,
        sentences: Mapping[tuple[int, int], tuple[str, ...]],
        statements: Mapping[tuple[int, int], Sequence[Statement]],
    ) -> dict[tuple[int, int], Sequence[Statement]]:
        """As :meth:`copied`, of the long ``sentences`` of a note, with their words: by the span, which were copied."""
        copied: dict[tuple[int, int], Sequence[Statement]] = {}
        new = []
        for span, words in sentences.items():
            said = statements[span]
            if words in self._verbatim:
                copied[span] = said
                continue
            sentence = Sentence(words, dict.fromkeys(zip(words, words[1:], words[2:], strict=False)), said)
            new.append(sentence)
            earlier = self._earlier(sentence)
            if earlier is not None:
                copied[span] = [one for one in said if one in earlier.statements]
        for sentence in new:
            self._keep(sentence)
        return copied

    def _earlier(self, sentence: Sentence) -> Sentence | None:
        """The earlier sentence that this one is an edited copy of: of those alike, the one that shares most runs."""
        known = self._by_run
        met = [earlier for run in sentence.runs if run in known for earlier in known[run]]
        if not met:
            return None
        found = {id(earlier): earlier for earlier in met}
        shared = Counter(map(id, met))
        # Equal counts keep the order in which they were met: that of the text and of the notes.
        for one in sorted(shared, key=shared.__getitem__, reverse=True)[:_KEPT]:
            if _alike(found[one].words, sentence.words):
                return found[one]
        return None

    def _keep(self, sentence: Sentence) -> None:
        if sentence.words in self._verbatim:
            return
        self._verbatim.add(sentence.words)
        known = self._by_run
        for run in sentence.runs:
            kept = known.get(run)
            if kept is None:
                known[run] = [sentence]
            else:
                kept.append(sentence)
                del kept[:-_KEPT]


def _alike(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether few words are not in both, however often each stands there."""
    least = _SHARED * max(len(one), len(other))
    if min(len(one), len(other)) < least:
        return False
    left, both = Counter(one), 0
    for word in other:
        if left.get(word):
            left[word] -= 1
            both += 1
    return both >= least
