"""Pieces of text read as a note would be: their mentions, and the names of the ontology in them."""

from __future__ import annotations

from functools import lru_cache

from ...kb.model import Mention, Note, Polarity
from ..note.read import NoteReader
from ..text.frame import Frame, Span


class PieceReader:
    """Reads pieces of the text of facts; the same piece is often asked for again."""

    def __init__(self, reader: NoteReader) -> None:
        self.concepts = reader.concepts
        self.side = reader.side
        self.compose = reader.compose
        self.may_be_primary = reader.may_be_primary
        self.is_node = reader.is_node
        self.kind_of = reader.lexicon.kind_of
        self._reader = reader
        self.mentions = lru_cache(maxsize=256)(self._mentions)
        self.names = lru_cache(maxsize=256)(self._names)

    def _mentions(self, text: str) -> tuple[Mention, ...]:
        """The mentions of a piece of text, by their place in it."""
        return self._reader.read(Note("", "", text)).mentions if text.strip() else ()

    def denied(self, name: str, rest: str) -> bool:
        """Whether what stands behind a name denies it ("axillary nodes": "not enlarged")."""
        text = f"{name}: {rest}"
        read = self._reader.read(Note("", "", text), targets=[(0, len(name))]) if name and rest else None
        return read is not None and any(
            mention.context.polarity is Polarity.ABSENT for mention in read.mentions if mention.source == "target"
        )

    def _names(self, text: str) -> tuple[Span, ...]:
        """The names of the ontology that a piece of text holds, in its order."""
        return tuple(self._reader.lexicon.find(Frame(Note("", "", text)))) if text.strip() else ()
