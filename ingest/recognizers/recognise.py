"""All recognisers of a note, and the one door through which they see it.

A new one is a file that gives a :class:`~cohortium.ingest.text.frame.Recognizer`, and a line in ``recognizers_of``.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..text.frame import Frame, Recognizer, Span
from .abbreviations import Abbreviations
from .bare_stages import BareStageRecognizer
from .births import BirthRecognizer
from .doses import DoseRecognizer
from .lexicon import Lexicon
from .molecular import MolecularRecognizer
from .performance import PerformanceRecognizer
from .spread import MetastasisRecognizer, NodeRecognizer
from .staging import GradeRecognizer, StageRecognizer, TnmRecognizer
from .trials import TrialRecognizer


def recognizers_of(lexicon: Lexicon) -> tuple[Recognizer, ...]:
    """Every recogniser that reads notes by rules."""
    return (
        lexicon,
        Abbreviations(lexicon),
        TnmRecognizer(),
        StageRecognizer(),
        BareStageRecognizer(),
        DoseRecognizer(),
        GradeRecognizer(),
        PerformanceRecognizer(),
        MolecularRecognizer(),
        NodeRecognizer(),
        MetastasisRecognizer(),
        TrialRecognizer(),
        BirthRecognizer(),
    )


def recognise(frame: Frame, recognizers: Iterable[Recognizer]) -> dict[str, list[Span]]:
    """By layer, all spans of the recognisers whose trigger and gate the note holds."""
    spans: dict[str, list[Span]] = {}
    for recognizer in recognizers:
        if frame.opens(recognizer.gates) and frame.holds(recognizer.triggers):
            spans.setdefault(recognizer.layer, []).extend(recognizer.find(frame))
    return spans
