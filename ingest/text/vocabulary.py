"""What is known of each written word, found by one look-up: most of what a look-up costs is waiting for memory."""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter
from typing import Any, Final, NamedTuple

from .gates import Marks, marks_of, number_of_gates
from .phrases import Node, PhraseTrie
from .tokens import Remembered, Words, fold, parted

_NORM, _MARKS, _FIRST_TRIE = range(3)
_norm_of: Final = itemgetter(_NORM)
_marks_of: Final = itemgetter(_MARKS)

#: Of one written word: its folded form, the gates that it opens, and for each trie where phrases go on behind it.
Record = tuple[Any, ...]


class Known(NamedTuple):
    """The words of a text, and what is known of each."""

    words: Words
    records: list[Record]

    @property
    def marks(self) -> Iterable[Marks | None]:
        """What each opens."""
        return map(_marks_of, self.records)


class Vocabulary:
    """Words with all that the readers of notes ask of a word by itself; each different one is asked about once."""

    def __init__(self, tries: Iterable[PhraseTrie[Any]]) -> None:
        """``tries``: those for which notes will be searched, complete."""
        self._tries = tuple(tries)
        self._column = {trie: itemgetter(number) for number, trie in enumerate(self._tries, _FIRST_TRIE)}
        self._records = Remembered(self._record)
        self._gates = number_of_gates()

    def words_of(self, text: str) -> Known:
        """The words of a text."""
        if self._gates != number_of_gates():
            # A module that brought gates was loaded since.
            self._records.clear()
            self._gates = number_of_gates()
        written, starts, ends = parted(text)
        records = list(map(self._records.__getitem__, written))
        return Known(Words(written, starts, ends, list(map(_norm_of, records))), records)

    def nodes(self, trie: PhraseTrie[Any], known: Known) -> list[Node | None] | None:
        """Where phrases of the trie go on behind each of the words; None if it is not among the tries."""
        column = self._column.get(trie)
        return None if column is None else list(map(column, known.records))

    def _record(self, word: str) -> Record:
        norm = fold(word)
        return (norm, marks_of(word), *(trie.node(norm) for trie in self._tries))
