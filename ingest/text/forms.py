"""The choices that a form offers: a numbered list of tumors, of which one is meant and named elsewhere by its number.

``Type: 1. 1. Squamous cell carcinoma. 2. Adenocarcinoma. 3. Carcinoid. 4. Sarcoma. 5. Other.``
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from .frame import Span

#: The number of a choice, and words before the name that it has there.
_NUMBER: Final = re.compile(r"(?<![\d.])\d{1,2}\s?[.)]\s?(?:[A-Za-z\-]+\s){0,2}\Z")
_REACH_OF_NUMBER: Final = 32
#: Between the names of two choices lies no more (characters).
_GAP: Final = 100
#: So many numbered names in a row, and so many different ones, are no list of findings.
_CHOICES: Final = 5
_DIFFERENT: Final = 4


def choices_of_forms(text: str, names: Sequence[Span]) -> list[Span]:
    """Those of the names of tumors that are mere choices."""
    found: list[Span] = []
    row: list[Span] = []
    for span in sorted(names, key=lambda one: one.start):
        if not _NUMBER.search(text, max(0, span.start - _REACH_OF_NUMBER), span.start):
            continue
        if row and span.start - row[-1].end > _GAP:
            found += _if_choices(row)
            row = []
        row.append(span)
    return [*found, *_if_choices(row)]


def _if_choices(row: Sequence[Span]) -> Sequence[Span]:
    return row if len(row) >= _CHOICES and len({one.concept for one in row}) >= _DIFFERENT else ()
