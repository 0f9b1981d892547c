"""Order, gaps, dates, lines, ages, and what is not simply so: read of what they are said of, or declined."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from cohortium.query_lang.english.translate import Translation

Ask = Callable[[str], Translation]

READ = {
    "ILD after pembrolizumab": "interstitial lung disease after medication pembrolizumab",
    "NSCLC that progressed on osimertinib": (
        "same tumor (diagnosis non-small cell lung cancer and state progressive disease after medication osimertinib)"
    ),
    "breast cancer, chemo followed by surgery": (
        "same tumor (diagnosis breast cancer and medication cytotoxic chemotherapy before surgery)"
    ),
    "breast cancer with radiation within 90 days after surgery": (
        "same tumor (diagnosis breast cancer and radiation 'radiation therapy' within 90 days after surgery)"
    ),
    "surgery after chemo or radiation": (
        "surgery after medication cytotoxic chemotherapy or surgery after radiation 'radiation therapy'"
    ),
    "osimertinib since 2020": "medication osimertinib since 2020-01-01",
    "lung cancer diagnosed in 2019": "diagnosis lung cancer between 2019-01-01 and 2019-12-31",
    "NSCLC with first-line pembrolizumab": (
        "same tumor (diagnosis non-small cell lung cancer and medication pembrolizumab with line = 1)"
    ),
    "myeloma with at least 2 prior lines of therapy": (
        "same tumor (diagnosis multiple myeloma and medication systemic therapy in at least 2 lines)"
    ),
    "breast cancer aged 65 or older at diagnosis": (
        "diagnosis breast cancer and age >= 65 at first diagnosis breast cancer"
    ),
    "family history of breast or ovarian cancer": (
        "family history of diagnosis breast cancer or family history of diagnosis ovarian cancer"
    ),
    "suspected brain mets": "suspected metastasis to brain",
}


@pytest.mark.parametrize("text", READ)
def test_time_is_read_of_what_it_is_said_of(text: str, ask: Ask) -> None:
    """A word of order stands between single facts or alternatives; a date, a line, an age with what it is said of."""
    assert ask(text).text == READ[text]


@pytest.mark.parametrize(
    "text",
    [
        "chemo and radiation before surgery",
        "surgery within 30 days",
        "lung cancer, 65 or older",
        "mCRPC after docetaxel",
        "suspected breast cancer and lung cancer",
        "second-line",
        "before 2020",
        "surgery after chemo and osimertinib",
    ],
)
def test_time_without_an_anchor_is_declined(text: str, ask: Ask) -> None:
    """Where it is open what a time is said of, or from when it is counted, nothing is answered."""
    assert ask(text).abstained
    assert ask(text).reason
