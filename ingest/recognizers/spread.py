"""Words of spread: metastases, disease that came back, deposits; where they lie is bound later."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ..text.frame import SPREAD, Frame, Recognizer, Span
from ..text.gates import Gated
from ..text.word_classes import word_classes
from ..text.words import fold

_CLASSES: Final = word_classes("recognizers", "spread")

_SITE_OF_MET = _CLASSES.pattern(r"{site_of_met}")
_METASTASIS = _CLASSES.compile(
    r"""(?=[MmOoDdSsVvWwCcTtPp])(?<![^\W\d_])(?:
        (?i:{how_many}?-?{metastasis})
      | (?i:{size})?-?(?<![\d>]\s)(?<![\d>]){mets}(?!\s?[Ee][Xx]|\s{effort})
      | (?i:{far}\s{spread_noun})
      | (?i:{other_spread})
    )(?![^\W\d_])""",
    re.VERBOSE,
)
#: Disease that came back in, or went to, a place: spread where the place is a distant organ.
_RETURN = _CLASSES.compile(
    r"(?<![^\W\d_])(?<!{infection} )(?:(?:stage\s)?IV[A-C]?(?=\s\()|{came_back}|(?-i:PD))"
    r"(?:\s{came_back_behind})?(?=(?:\s(?:[A-Z][a-z]{2,8}\s)?\d{4}|\s(?:\d{1,2}/){1,2}\d{2,4})?"
    r"(?:\s{came_back_to}\s|:\s|\s\())",
    re.IGNORECASE,
)
#: Deposits are spread where a distant organ stands right before them.
_DEPOSITS = _CLASSES.compile(r"(?<=[A-Za-z][ \-]){deposits}(?![^\W\d_])", re.IGNORECASE)
_RETURNS = frozenset(
    fold(word)
    for word in """recurred recurs recurrence recurrent relapsed relapses relapse spread spreading progressed
    progression progressive progressing pd iv iva ivb ivc""".split()
)
#: A single "met" is a metastasis only behind a site or a word of number; elsewhere it is a verb, or a gene.
_SINGLE = re.compile(rf"(?<![^\W\d_])(?i:{_SITE_OF_MET})[ \-](?P<met>met)(?![A-Za-z\-])")

# Each pattern with the look of the word that it begins at (see :mod:`~cohortium.ingest.text.gates`).
_SPREADS = Gated(
    _METASTASIS,
    within=_CLASSES.pattern(r"(?i:(?<![a-z]){spread_begins})"),
)
_CAME_BACK = Gated(_RETURN, within=_CLASSES.pattern(r"(?i:(?<![a-z])(?:stage\Z|IV[A-C]?\Z|{came_back_begins}|PD\Z))"))
_LAID_DOWN = Gated(_DEPOSITS, _CLASSES.pattern(r"(?i:{deposit_begins})"))
#: No word for a site is longer.
_SINGLES = Gated(_SINGLE, r"met(?![A-Za-z])", before=16)
_DEPOSIT_WORDS = frozenset(fold(word) for word in ("deposit", "implants"))
#: The source of a span that tells of disease that came back in a place.
RETURN = "pattern:return"
DEPOSIT = "pattern:deposit"
#: Of what was seen in an organ, followed by how it was told; and of an organ that is called free of spread.
LESION = "pattern:lesion"
CLEAR = "pattern:clear"
#: Of a tumor's cells in a fluid, and of there being none.
CYTOLOGY = "pattern:cytology"
NO_CELLS = "pattern:no cells"


class MetastasisRecognizer(Recognizer):
    """Words of spread; the document model gives them their sites, or hands them on to the lymph nodes.

    Words of return (source ``RETURN``) tell of spread only where a distant organ stands behind them, deposits
    (``DEPOSIT``) only where one stands before them.
    """

    name = "metastasis"
    gates = (_SPREADS, _SINGLES, _CAME_BACK, _LAID_DOWN)
    layer = SPREAD

    def find(self, frame: Frame) -> Iterator[Span]:
        """Spans of kind ``metastasis`` without a concept yet."""
        text, places = frame.text, frame.places
        for match in _SPREADS.find(places, text):
            yield Span(match.start(), match.end(), "metastasis", "", "pattern:metastasis", priority=-1)
        if "met" in frame.vocabulary:
            for match in _SINGLES.find(places, text):
                yield Span(match.start("met"), match.end("met"), "metastasis", "", "pattern:metastasis", priority=-1)
        if not _RETURNS.isdisjoint(frame.vocabulary):
            for match in _CAME_BACK.find(places, text):
                yield Span(match.start(), match.end(), "metastasis", "", RETURN, priority=-1)
        if not _DEPOSIT_WORDS.isdisjoint(frame.vocabulary):
            for match in _LAID_DOWN.find(places, text):
                yield Span(match.start(), match.end(), "metastasis", "", DEPOSIT, priority=-1)
