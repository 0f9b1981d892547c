"""The type of a tumor in the field of a synopsis that leaves out the word for the tumor.

``Histologic type: Invasive lobular (E-cadherin negative)``.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from ...kb.ontology.concepts import ConceptTable
from ..text.frame import Frame, Recognizer, Span
from ..text.gates import Gated
from ..text.word_classes import word_classes
from ..text.words import fold

_CLASSES: Final = word_classes("recognizers", "type_fields")
_FIELD: Final = Gated(
    _CLASSES.compile(
        r"(?<![^\W_])(?i:{of_what}\s{type}|{type_of})\s?[:.]\s{1,3}"
        r"(?P<value>(?:(?!(?i:{ends_type})\b)[A-Za-z][A-Za-z\-]{2,24}[ ]?){1,5})"
        r"(?![A-Za-z\-])(?!\s{0,2}(?i:{ends_type})\b)"
    ),
    _CLASSES.pattern(r"(?i:{of_what}|{type_begins})\Z"),
)
TYPE_FIELD: Final = "pattern:type field"
#: The words that the field may leave out.
_LEFT_OUT: Final = ("carcinoma", "adenocarcinoma")
_CANCER: Final = "malignant_neoplasm"


class TypeFieldRecognizer(Recognizer):
    """Finds them: spans of kind ``diagnosis``."""

    name = "type field"
    gates = (_FIELD,)
    triggers = frozenset(map(fold, ("type", "subtype", "types", "histology", "diagnosis")))

    def __init__(self, concepts: ConceptTable) -> None:
        self._concepts = concepts
        self._meant = lru_cache(maxsize=4_000)(self._meaning)

    def find(self, frame: Frame) -> Iterator[Span]:
        """Where the whole value, or its first words, are a name of a cancer but for the word left out."""
        for match in _FIELD.find(frame.places, frame.text):
            words = match["value"].split()
            for count in range(len(words), 0, -1):
                name = " ".join(words[:count])
                concept = self._meant(name)
                if concept:
                    start = match.start("value")
                    end = match.end("value") if count == len(words) else start + match["value"].index(words[count])
                    end = start + len(frame.text[start:end].rstrip())
                    yield Span(start, end, "diagnosis", concept, TYPE_FIELD)
                    break

    def _meaning(self, name: str) -> str:
        concepts = self._concepts
        names = (f"{name} {word}" for word in _LEFT_OUT)
        found = [
            one for whole in names for one in concepts.lookup(whole, kinds=("tumor",)) if concepts.is_a(one, _CANCER)
        ]
        # Of names alike the one that leaves the organ open: the specimen tells it.
        return min(found, key=lambda one: bool(concepts.get(one).site), default="")
