"""Words as numbers: windows over long texts, and the padded arrays that a network of the tagger reads.

All arrays are int64. ``B`` windows, ``W`` words and ``P`` word pieces at most in one of them:

- ``word_mask`` [B, W]: 1 where there is a word.
- ``pieces``, ``piece_mask`` [B, P]: the pieces of the window's words between ``[CLS]`` and ``[SEP]``.
- ``first_piece`` [B, W]: where in its window each word's first piece stands.
- ``shapes`` [B, W]: how a word is written (capitals, digits), for encoders that fold the case.
- ``chars`` [B, W, CHARACTERS]: its letters; of a long word the first and the last.
- ``hashes`` [B, W]: its folded letters in one of ``HASHES`` buckets.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tokenizers import Tokenizer

INPUTS: Final = ("pieces", "piece_mask", "first_piece", "word_mask", "shapes", "chars", "hashes")
CHARACTERS: Final = 16
#: Of a word longer than ``CHARACTERS`` so many letters of its end are kept.
_LAST_CHARACTERS: Final = 6
#: Letters above ASCII share a few numbers, by what they are.
CHARACTER_IDS: Final = 136
SHAPE_IDS: Final = 10
HASHES: Final = 32768
#: A word gives at most so many pieces: the pieces of 100,000 letters in a row say no more than the first few.
PIECES_A_WORD: Final = 8
#: Words of a window are at most so many times its pieces: a word has at least one piece.
_SPECIAL_PIECES: Final = 2

Arrays = dict[str, NDArray[numpy.int64]]


@dataclass(frozen=True, slots=True)
class Window:
    """Words ``first`` to ``last`` (behind it) of a text are read; of them ``core_first`` to ``core_last`` are kept."""

    first: int
    last: int
    core_first: int
    core_last: int

    @property
    def core(self) -> slice:
        """The kept words among those of the text."""
        return slice(self.core_first, self.core_last)

    @property
    def core_inside(self) -> slice:
        """The kept words among those of the window."""
        return slice(self.core_first - self.first, self.core_last - self.first)


class Featurizer:
    """Makes the arrays of a network from words. ``tokenizer``: of the pieces; None for networks without pieces."""

    def __init__(self, inputs: Sequence[str], tokenizer: Tokenizer | None, size: int, margin: int = 24) -> None:
        """``size``: pieces (or words, without a tokenizer) of a window; ``margin``: words read beside the kept ones.

        ValueError for an unknown input, a window of no size, or pieces without a tokenizer.
        """
        unknown = sorted(set(inputs) - set(INPUTS))
        if unknown:
            raise ValueError(f"unknown input '{unknown[0]}'. Hint: one of {', '.join(INPUTS)}")
        if "pieces" in inputs and tokenizer is None:
            raise ValueError("a network of word pieces needs a tokenizer")
        if size < 4 * PIECES_A_WORD:
            raise ValueError(f"windows of {size} pieces are too small. Hint: {4 * PIECES_A_WORD} or more")
        self.inputs = tuple(inputs)
        self.size = size
        self.margin = margin
        self._tokenizer = tokenizer
        self._known: dict[str, tuple[int, ...]] = {}
        if tokenizer is not None:
            found = {name: tokenizer.token_to_id(name) for name in ("[CLS]", "[SEP]", "[PAD]", "[UNK]")}
            missing = sorted(name for name, number in found.items() if number is None)
            if missing:
                raise ValueError(f"the tokenizer has no piece {', '.join(missing)}. Hint: a WordPiece tokenizer")
            self._begin, self._end, self._padding, self._unknown = (number or 0 for number in found.values())

    def pieces_of(self, word: str) -> tuple[int, ...]:
        """The pieces of a word, at least one and at most ``PIECES_A_WORD``."""
        known = self._known.get(word)
        if known is None:
            assert self._tokenizer is not None
            # Letters beyond what the pieces could hold are not even looked at.
            ids = self._tokenizer.encode(word[: 16 * PIECES_A_WORD], add_special_tokens=False).ids
            known = tuple(ids[:PIECES_A_WORD]) or (self._unknown,)
            if len(self._known) < 200_000:
                self._known[word] = known
        return known

    def _costs(self, words: Sequence[str]) -> list[int]:
        return [len(self.pieces_of(word)) for word in words] if self._tokenizer is not None else [1] * len(words)

    def pieces_in(self, words: Sequence[str]) -> int:
        """How many pieces (words, without a tokenizer) the words are, and what stands around them."""
        return sum(self._costs(words)) + _SPECIAL_PIECES

    def windows(self, words: Sequence[str], breaks: Sequence[int] = ()) -> list[Window]:
        """The windows over a text: one where it fits; else cut at ``breaks`` where one is near, with margins.

        Every word is in the core of exactly one window. The windows depend on the text alone.
        """
        costs = self._costs(words)
        room = self.size - _SPECIAL_PIECES
        if sum(costs) <= room:
            return [Window(0, len(words), 0, len(words))] if words else []
        cuts = frozenset(breaks)
        found: list[Window] = []
        at = 0
        while at < len(words):
            first, margin = self._back(costs, at, room)
            last, used = at, margin
            while last < len(words) and used + costs[last] <= room:
                used += costs[last]
                last += 1
            core = last
            if last < len(words):
                # The words at the right edge lack what follows them: they are read again in the next window.
                latest = max(at + 1, last - self.margin)
                near = [cut for cut in range(latest, (at + last) // 2, -1) if cut in cuts]
                core = near[0] if near else latest
            found.append(Window(first, last, at, core))
            at = core
        return found

    def _back(self, costs: Sequence[int], at: int, room: int) -> tuple[int, int]:
        """The first word of the margin before ``at``, and the pieces that the margin takes (a quarter at most)."""
        first, used = at, 0
        while first > 0 and at - first < self.margin and used + costs[first - 1] <= room // 4:
            first -= 1
            used += costs[first]
        return first, used

    def batch(self, texts: Sequence[Sequence[str]]) -> Arrays:
        """The arrays of several windows, each given by its words; none of them longer than a window."""
        widest = max((len(words) for words in texts), default=0) or 1
        shape = (len(texts), widest)
        arrays: Arrays = {"word_mask": numpy.zeros(shape, dtype=numpy.int64)}
        for row, words in enumerate(texts):
            arrays["word_mask"][row, : len(words)] = 1
        if "pieces" in self.inputs:
            arrays.update(self._piece_arrays(texts, widest))
        for name, number in (("shapes", shape_of), ("hashes", hash_of)):
            if name in self.inputs:
                arrays[name] = numpy.zeros(shape, dtype=numpy.int64)
                for row, words in enumerate(texts):
                    arrays[name][row, : len(words)] = [number(word) for word in words]
        if "chars" in self.inputs:
            arrays["chars"] = numpy.zeros((*shape, CHARACTERS), dtype=numpy.int64)
            for row, words in enumerate(texts):
                for at, word in enumerate(words):
                    letters = letters_of(word)
                    arrays["chars"][row, at, : len(letters)] = letters
        return {name: arrays[name] for name in self.inputs}

    def _piece_arrays(self, texts: Sequence[Sequence[str]], widest: int) -> Arrays:
        rows, firsts = [], numpy.zeros((len(texts), widest), dtype=numpy.int64)
        for row, words in enumerate(texts):
            pieces = [self._begin]
            for at, word in enumerate(words):
                firsts[row, at] = len(pieces)
                pieces.extend(self.pieces_of(word))
            rows.append([*pieces, self._end])
        longest = max(map(len, rows), default=_SPECIAL_PIECES)
        ids = numpy.full((len(texts), longest), self._padding, dtype=numpy.int64)
        mask = numpy.zeros((len(texts), longest), dtype=numpy.int64)
        for row, pieces in enumerate(rows):
            ids[row, : len(pieces)] = pieces
            mask[row, : len(pieces)] = 1
        return {"pieces": ids, "piece_mask": mask, "first_piece": firsts}


@lru_cache(maxsize=65536)
def shape_of(word: str) -> int:
    """How a word is written: 1 small letters, 2 a capital first, 3 capitals, 4 one capital alone, 5 letters mixed,
    6 digits, 7 digits and letters, 8 signs, 9 with a sign in it."""
    if word.isdigit():
        return 6
    if not any(map(str.isalnum, word)):
        return 8
    if not word.isalnum():
        return 9
    if any(map(str.isdigit, word)):
        return 7
    if word.islower():
        return 1
    if word.isupper():
        return 3 if len(word) > 1 else 4
    return 2 if word.istitle() else 5


@lru_cache(maxsize=65536)
def hash_of(word: str) -> int:
    """The bucket of a word's folded letters, 1 to ``HASHES`` - 1; 0 is padding."""
    return 1 + zlib.crc32(word.lower().encode("utf-8", "surrogatepass")) % (HASHES - 1)


@lru_cache(maxsize=65536)
def letters_of(word: str) -> tuple[int, ...]:
    """The numbers of a word's letters, at most ``CHARACTERS``."""
    if len(word) > CHARACTERS:
        word = word[: CHARACTERS - _LAST_CHARACTERS] + word[-_LAST_CHARACTERS:]
    return tuple(_letter(one) for one in word)


def _letter(one: str) -> int:
    number = ord(one)
    if 0 < number < 128:
        return number
    if one.isupper():
        return 128
    if one.isalpha():
        return 129
    if one.isdigit():
        return 130
    return 131 if one.isprintable() else 132
