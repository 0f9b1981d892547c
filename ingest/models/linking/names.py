"""The names that a mention can be linked to, as rows, with what is looked up in them: words, weights, a hash of all."""

from __future__ import annotations

import functools
import hashlib
import math
import re
from collections import Counter
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from ....kb.kinds import PHRASED
from ....kb.ontology.concepts import ConceptTable
from ...recognizers.lexicon import span_kind
from .wording import Wording, wording

#: Kinds of spans whose names are results and states rather than things that are named.
_NOT_LINKED: Final = PHRASED | {"value"}
_HAS_WORD: Final = re.compile(r"[A-Za-z]{2}")


@dataclass(frozen=True, slots=True)
class NameRow:
    """One name of one concept; ``kind`` is that of the spans it makes."""

    name: str
    concept: str
    kind: str
    preferred: bool


class NameTable:
    """Names and synonyms of an ontology in a fixed order. Short forms are no rows: they are read where their cue
    stands, or expanded in mentions (:meth:`expanded`)."""

    def __init__(self, concepts: ConceptTable) -> None:
        self.concepts: Final = concepts
        rows: list[NameRow] = []
        for row in concepts.rows():
            kind = span_kind(concepts, row.id)
            if kind in _NOT_LINKED:
                continue
            for name in dict.fromkeys((row.name, *row.synonyms)):
                if _HAS_WORD.search(name):
                    rows.append(NameRow(name, row.id, kind, name == row.name))
        self.rows: Final = tuple(rows)
        self.wordings: Final[tuple[Wording, ...]] = tuple(wording(row.name) for row in rows)

    def __len__(self) -> int:
        return len(self.rows)

    @functools.cached_property
    def sha256(self) -> str:
        """Of every row: another ontology, another hash."""
        total = hashlib.sha256()
        for row in self.rows:
            total.update(f"{row.name}\t{row.concept}\t{row.kind}\t{row.preferred}\n".encode())
        return total.hexdigest()

    @functools.cached_property
    def _kind_masks(self) -> dict[tuple[str, ...], npt.NDArray[np.bool_]]:
        return {}

    def of_kinds(self, kinds: tuple[str, ...]) -> npt.NDArray[np.bool_]:
        """Which rows are of one of these kinds; all where none is named."""
        mask = self._kind_masks.get(kinds)
        if mask is None:
            mask = np.array([not kinds or row.kind in kinds for row in self.rows], dtype=bool)
            self._kind_masks[kinds] = mask
        return mask

    @functools.cached_property
    def _weights(self) -> dict[str, float]:
        """Word -> how rare it is among concepts (a concept with fifty names counts once)."""
        held: dict[str, set[str]] = {}
        for row, words in zip(self.rows, self.wordings, strict=True):
            for word in words.words:
                held.setdefault(word, set()).add(row.concept)
        total = len({row.concept for row in self.rows}) + 1
        return {word: math.log(total / len(concepts)) + 0.1 for word, concepts in held.items()}

    @functools.cached_property
    def rarest(self) -> float:
        """The weight of a word that no name has."""
        return math.log(len({row.concept for row in self.rows}) + 1) + 0.1

    def weight(self, word: str) -> float:
        """How much a word tells."""
        return self._weights.get(word, self.rarest)

    def known(self, word: str) -> bool:
        """Whether a name has the word."""
        return word in self._weights

    @functools.cached_property
    def _meanings(self) -> dict[str, frozenset[str]]:
        """Word -> the concepts of which it alone is a name (``lung``, ``pulmonary``)."""
        held: dict[str, set[str]] = {}
        for row, words in zip(self.rows, self.wordings, strict=True):
            if len(words.words) == 1:
                held.setdefault(words.words[0], set()).add(row.concept)
        return {word: frozenset(concepts) for word, concepts in held.items()}

    def same_meaning(self, one: str, other: str) -> bool:
        """Whether two words name one concept by themselves."""
        first = self._meanings.get(one)
        return first is not None and not first.isdisjoint(self._meanings.get(other, frozenset()))

    @functools.cached_property
    def _short(self) -> dict[str, str]:
        """Short form -> the name of the one concept that has it without a cue."""
        owners: Counter[str] = Counter()
        names: dict[str, str] = {}
        for row in self.concepts.rows():
            for short in row.abbreviations:
                owners[short.text] += 1
                if not short.cues and len(short.text) >= 2:
                    names.setdefault(short.text, row.name)
        return {text: name for text, name in names.items() if owners[text] == 1}

    def expanded(self, text: str) -> str:
        """The text with its short forms written out, where one concept alone has them; the same text otherwise."""
        words = text.split()
        if len(words) < 2 or len(words) > 12:
            return text
        return " ".join(self._short.get(word, word) for word in words)
