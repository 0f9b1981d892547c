"""The report of a scored run as one HTML page that needs nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ....kb.skin import pages
from ...measures.metrics import MEASURES
from .bank import load_bank
from .report import disagreement_line


def page(report: Mapping[str, Any]) -> str:
    """The page of a report in its JSON form (``Report.as_dict``); of an abstraction's also facts and disagreements."""
    return pages.page(
        Path(__file__).with_suffix(".html"),
        report=report,
        questions={one.id: one.text for one in load_bank()},
        measures=MEASURES,
        disagreement_line=disagreement_line,
    )
