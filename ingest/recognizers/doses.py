"""Radiation that is told by its dose alone: ``completed 50 Gy in 25 fractions``, ``40.05Gy/15# to the left breast``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ..text.frame import Frame, Recognizer, Span
from ..text.gates import Gated
from ..text.statements import statement
from ..text.word_classes import word_classes

_CLASSES: Final = word_classes("recognizers", "doses")

#: A dose in Gy, perhaps with its fractions. That of a picture is in mGy or cGy.
_DOSE = _CLASSES.compile(
    r"(?<![\w.,/\-<>≤≥~])(?P<dose>\d{1,2}(?:\.\d{1,2})?)\s?Gy(?![\w\-])(?:\s?(?:/|in|x"
    r"|×)\s?\d{1,2}\s?{fraction}?(?![\w/%]))?"
)
_DOSES = Gated(_DOSE, within=r"Gy(?![A-Za-z])", before=8)
#: A dose below this is more often that of an organ, or of one fraction, than of a course.
_LEAST = 8.0


class DoseRecognizer(Recognizer):
    """Finds doses of radiation in sentences that name no radiation otherwise; attribute dose."""

    name = "doses"
    gates = (_DOSES,)
    triggers = frozenset({"gy"})

    def find(self, frame: Frame) -> Iterator[Span]:
        """Spans of kind ``radiation``."""
        for match in _DOSES.find(frame.places, frame.text):
            low, high = frame.sentence_span(match.start())
            if float(match["dose"]) < _LEAST or statement("names_radiation").search(frame.text, low, high):
                continue
            yield Span(
                match.start(),
                match.end(),
                "radiation",
                "radiation_therapy",
                "pattern:dose",
                {"dose": float(match["dose"])},
                priority=1,
            )
