"""Persons whom a note names with a title (*Mrs Obi*), and whether that is its patient."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from .gates import Gated, Places, places_of
from .word_classes import word_classes
from .words import fold, words_of

_CLASSES: Final = word_classes("text", "named")
_TITLED: Final = Gated(
    _CLASSES.compile(
        r"\b{title}\b\.?[ \t]{1,2}"
        r"(?P<name>(?:[A-Z]\.?-?[ \t]?){0,3}[A-Z][\w'\u2019]+(?:[ \t-][A-Z][\w'\u2019]+)?|(?:[A-Z]\.[ \t]?){1,3})"
    ),
    begins=_CLASSES.pattern(r"{title}(?!\w)"),
)
#: Where a note names its patient.
_HEADED: Final = _CLASSES.compile(r"\b(?:{heads_name}[ \t]?[:=]|{files_under})(?P<name>[^\n:;|]{2,60})")
_CAPITALIZED: Final = re.compile(r"\b[A-Z][\w'\u2019]+|\b[A-Z](?=\.)")
OWN, OTHER = "own", "other"
#: Shorter words are initials, and shared by many.
_SHORTEST: Final = 3


def named_in(text: str, title: str = "", places: Places | None = None) -> list[tuple[int, str]]:
    """Where the text names somebody with a title, in order, and whether it is its patient: ``own`` or ``other``.
    ``places``: where its words open gates, if that is at hand.

    The patient is whom title or header name, else who is named most often.

    >>> named_in("Patient: OBI, Tara\\n1) Mrs Kay, 66: letrozole. 2) Ms Obi, 38: carboplatin.")
    [(22, 'other'), (49, 'own')]
    """
    found = [
        (match.start(), capitalized(match["name"])) for match in _TITLED.find(places or places_of(words_of(text)), text)
    ]
    if not found:
        return []
    headed = heads_of(text, title)
    if not any(name & headed for _, name in found):
        headed = Counter(name for _, name in found).most_common(1)[0][0]
    return [(start, OWN if name & headed else OTHER) for start, name in found]


def heads_of(text: str, title: str) -> frozenset[str]:
    """The folded words of the name that title or header gives the patient, with what else has capitals there."""
    found = capitalized(title).union(*(capitalized(match["name"]) for match in _HEADED.finditer(text)))
    return frozenset(word for word in found if len(word) >= _SHORTEST)


def capitalized(text: str) -> frozenset[str]:
    """The folded words with a capital."""
    return frozenset(map(fold, _CAPITALIZED.findall(text)))
