"""All recognisers of a note: the one door through which rules see it.

A new one is a file that gives a :class:`~cohortium.ingest.text.frame.Recognizer`, and a line in ``recognizers_of``.
"""

from __future__ import annotations

from ..text.frame import Recognizer
from .allergies import AllergenRecognizer
from .births import BirthRecognizer
from .doses import DoseRecognizer
from .encounters import EncounterRecognizer
from .findings import FindingRecognizer
from .lexicon import Lexicon
from .measurements import MeasurementRecognizer
from .molecular import MolecularRecognizer
from .nodes import NodeRecognizer
from .operations import OperationRecognizer
from .performance import PerformanceRecognizer
from .persons import PersonRecognizer
from .short_forms import Abbreviations
from .spread import MetastasisRecognizer
from .staging import BareStageRecognizer, GradeRecognizer, StageRecognizer, TnmRecognizer
from .trials import TrialRecognizer
from .tumor_features import TumorFeatureRecognizer
from .type_fields import TypeFieldRecognizer


def recognizers_of(lexicon: Lexicon, measured: Lexicon) -> tuple[Recognizer, ...]:
    """Every recogniser that reads notes by rules; ``measured``: the names of what is told with a value."""
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
        PersonRecognizer(),
        EncounterRecognizer(),
        MeasurementRecognizer(measured),
        FindingRecognizer(lexicon.concepts),
        AllergenRecognizer(lexicon.concepts),
        OperationRecognizer(lexicon.concepts),
        TumorFeatureRecognizer(lexicon.concepts),
        TypeFieldRecognizer(lexicon.concepts),
    )
