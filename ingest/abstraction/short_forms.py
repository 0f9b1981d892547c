"""Names that a note would not give away alone: short forms in lists, begun names of drugs, adjectives of tumors."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from typing import Final

from ...kb.kinds import CONDITIONS, DRUGS, OPERATIONS
from ...kb.model import Mention
from .pieces import PieceReader
from .structure import BETWEEN_ITEMS, TREATMENTS, in_full

#: Kinds whose facts may be lists of short forms.
_LISTED: Final = DRUGS | CONDITIONS
_DRUGS: Final = TREATMENTS - OPERATIONS
#: A drug is told by this many of its first letters, where all names that begin so are of one.
_LETTERS: Final = 4
_LAST: Final = chr(0x10FFFF)
_COMMON: Final = "carcinoma"


class ShortForms:
    """Reads what only the kind of its fact makes clear."""

    def __init__(self, pieces: PieceReader) -> None:
        self._pieces = pieces
        self._concepts = pieces.concepts
        self._drugs = sorted(
            (name.casefold(), row.id)
            for row in pieces.concepts.rows()
            if row.kind == "drug"
            for name in (row.name, *row.synonyms)
            if name.isalpha()
        )

    def names(self, kind: str, text: str, wanted: Sequence[str], found: Sequence[Mention]) -> list[Mention]:
        """What the items of the text name by a short form alone: each item's longest beginning that is such a name.

        In a note a short form needs words around it that say what it means ("RA", "PD"): here the kind does. Of what
        is no list only the whole is looked at, where nothing else of it is known (``found``).
        """
        if kind not in _LISTED:
            return [] if found else self._name(kind, text, 0, wanted)
        names: list[Mention] = []
        known = {mention.concept for mention in found}
        at = 0
        for item in BETWEEN_ITEMS.split(text):
            at = text.find(item, at)
            if not any(mention.start < at + len(item) and at < mention.end for mention in found):
                names += self._name(kind, item, at, wanted)
        return [name for name in names if name.concept not in known]

    def _name(self, kind: str, text: str, at: int, wanted: Sequence[str]) -> list[Mention]:
        words = in_full(kind, text).split()
        # Behind how often it is given ("weekly Pac") stands what is given.
        for first in range(min(len(words), 2) if kind in _LISTED else 1):
            for length in range(min(len(words) - first, 6), 0, -1):
                piece = " ".join(words[first : first + length]).strip(" ,;:")
                for concept in self._concepts.lookup(piece) or self._begun(kind, piece):
                    found = self._pieces.kind_of(concept)
                    if found in wanted:
                        return [Mention("", at, at + len(text), piece, found, "", concept, source=f"lexicon:{piece}")]
        return []

    def _begun(self, kind: str, piece: str) -> tuple[str, ...]:
        """The drug whose name the piece begins ("ramu")."""
        piece = piece.casefold()
        if kind not in _DRUGS or len(piece) < _LETTERS or not piece.isalpha():
            return ()
        first = bisect.bisect_left(self._drugs, (piece, ""))
        last = bisect.bisect_left(self._drugs, (piece + _LAST, ""))
        begun = {concept for _, concept in self._drugs[first:last]}
        return tuple(begun) if len(begun) == 1 else ()

    def as_carcinoma(self, adjective: str) -> list[Mention]:
        """The carcinoma that an adjective alone tells ("lobular"); nothing if it says no more than a carcinoma."""
        name = f"{adjective.strip()} {_COMMON}"
        found = [one for one in self._pieces.mentions(name) if one.kind == "diagnosis" and one.text == name]
        return [one for one in found if self._concepts.is_a(one.concept, _COMMON) and one.concept != _COMMON]
