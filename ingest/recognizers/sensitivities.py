"""Sensitivities of cultures: the antimicrobials that a germ was tested against, which nobody was given by that.

*E. coli: S meropenem, R ciprofloxacin*; *Klebsiella, sensitive to ceftriaxone*; *vancomycin S, oxacillin R*. Single
letters and *sensitive to*, which may be a patient's own, count only near the words for a culture or a germ.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ..text.frame import Frame, Span
from ..text.word_classes import word_classes

_CLASSES: Final = word_classes("recognizers", "sensitivities")
#: Right before the first drug of a list: ``S:``, ``Resistant:``, ``sensitive to``.
_LEADS: Final = _CLASSES.compile(
    r"(?<![^\W_])(?:(?P<letter>{letter})\s?[:=]|(?P<word>(?i:{tested}))\s?[:=]"
    r"|(?:(?P<letter_to>{letter})|(?P<may_be_own>(?i:{may_be_own}))|(?i:{tested}))\sto)\s{0,3}(?:(?i:{filler})\s)?\Z"
)
#: Right behind a drug: ``S``, ``<=1 S``, ``(R)``, ``-resistant``.
_FOLLOWS: Final = _CLASSES.compile(
    r"[\s\-:=(]{0,3}(?:[<>\u2264\u2265]?=?\s?\d{1,4}(?:[./]\d{1,3})?[\s)]{0,2}\(?)?"
    r"(?:(?P<letter>{letter})|(?i:{tested}))(?!\w|[./]\w)(?!\sto\b)"
)
_JOINED: Final = _CLASSES.compile(r"[\s,/&+]{0,3}(?:(?i:{joint})\s)?(?:(?i:{filler})\s)?")
_OF_CULTURE: Final = _CLASSES.compile(r"(?<![^\W_])(?:{culture})", re.IGNORECASE)
#: So far before a list stand the words for its culture, and its own head (characters).
_REACH_OF_CULTURE: Final = 240
_REACH_OF_HEAD: Final = 40


def tested(frame: Frame, drugs: Sequence[Span]) -> set[int]:
    """Those of the antimicrobials, which stand in text order, that are told as tested (their identities)."""
    text = frame.text
    found: set[int] = set()
    before: Span | None = None
    for drug in drugs:
        leads = _LEADS.search(text, max(0, drug.start - _REACH_OF_HEAD), drug.start)
        follows = _FOLLOWS.match(text, drug.end)
        goes_on = before is not None and id(before) in found and _JOINED.fullmatch(text, before.end, drug.start)
        unsure = not (leads or goes_on) or bool(
            leads and (leads["letter"] or leads["letter_to"] or leads["may_be_own"])
        )
        if follows and not follows["letter"]:
            unsure = False
        if goes_on or (leads or follows) and not (unsure and not _is_of_culture(text, drug)):
            found.add(id(drug))
        before = drug
    return found


def _is_of_culture(text: str, drug: Span) -> bool:
    return _OF_CULTURE.search(text, max(0, drug.start - _REACH_OF_CULTURE), drug.end + _REACH_OF_HEAD) is not None
