"""The words that mean something in a query: for the completer, and to know which names need quotes."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from .vocabulary import ATTRIBUTES, CONTEXT_OF_SPELLING, DAYS_IN, KIND_OF_SPELLING, KIND_WORDS, PICK_OF_SPELLING


def _keywords() -> dict[str, str]:
    found: dict[str, str] = tomllib.loads((Path(__file__).parent / "keywords.toml").read_text(encoding="utf-8"))
    for spelling, kind in KIND_OF_SPELLING.items():
        attributes = ", ".join(KIND_WORDS[kind].attributes)
        found.setdefault(spelling, f"kind of event: {kind}" + (f" (with {attributes})" if attributes else ""))
    for spelling, context in CONTEXT_OF_SPELLING.items():
        found.setdefault(spelling, f"facts that are {context}" if context != "any" else "facts in any context")
    for spelling, pick in PICK_OF_SPELLING.items():
        found.setdefault(spelling, f"the {pick} of a patient's facts")
    return found


#: Keyword or phrase -> one line of help, for the completer.
KEYWORDS: Final[Mapping[str, str]] = _keywords()

#: Words (lower case) that a name must not contain unless it is quoted. A superset of what the grammar needs.
RESERVED: Final = frozenset(
    word.lower()
    for phrase in (*KEYWORDS, *ATTRIBUTES, *DAYS_IN, "tumour", "tumors", "no", "strictly")
    for word in phrase.split()
)
