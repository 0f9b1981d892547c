"""Look-up in lists of names ("RegEx-Dict", section 4.1): words and pairs of words that the lists of names have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from .....kb.errors import UsageError
from ..documents import Document
from ..terminology import Terminology

#: The name under which the vocabulary knows that it looks for two types alone.
COLUMN: Final = "ner_prediction_regex_normalized"
#: A unit that the list of drugs has for a name; the paper's baseline left it out as well.
_NO_DRUGS: Final = frozenset({"mg"})


class Dictionary:
    """Tags of an abstract's tokens by the lists that come with the corpus."""

    columns: Sequence[str] = (COLUMN,)

    def __init__(self, terminology: Terminology) -> None:
        """UsageError for lists without a name."""
        if not any(terminology.forms.values()):
            raise UsageError("the dictionary needs the corpus's lists of names. Hint: --terminology DIR")
        self._terminology = terminology

    def cells(self, document: Document) -> Mapping[str, str]:
        """The tags, as a list."""
        return {COLUMN: repr(look_up(document, self._terminology))}

    def description(self) -> Mapping[str, Any]:
        """The baseline's name; its lists stand in the signature of every score."""
        return {"baseline": "dictionary"}


def look_up(document: Document, terminology: Terminology) -> list[str]:
    """A tag for each token: a word of a list, else a word that is with the next one in a list."""
    tags: list[str] = []
    while len(tags) < len(document.tokens):
        at = len(tags)
        for length in (1, 2):
            name = " ".join(document.tokens[at : at + length]).lower()
            tag = _tag(name, length, terminology)
            if tag and at + length <= len(document.tokens):
                tags += [f"B-{tag}", *[f"I-{tag}"] * (length - 1)]
                break
        else:
            tags.append("O")
    return tags


def _tag(name: str, length: int, terminology: Terminology) -> str:
    if name in terminology.forms.get("DRUG", {}) and not (length == 1 and name in _NO_DRUGS):
        return "DRUG"
    return "COND" if name in terminology.forms.get("CONDITION", {}) else ""
