"""Markers without a result: what stands near their names in an invented report is of something else."""

from __future__ import annotations

import pytest

from cohortium.ingest.note.read import read_text


@pytest.mark.parametrize(
    "text",
    [
        "Stains for HER2 follow. Negative margins.",
        "Block A1 was sent for ER. Positive margins are seen.",
        "Immunohistochemistry for ER, PR and HER2 was ordered. Positive for carcinoma in one node.",
        "With necrosis (<5% of tumor). - Estrogen and progesterone receptors performed on another specimen.",
        "Axillary lymph nodes, level I: 0/8. Results of stains (ER, PR) will be reported later.",
        "ER PR HER2. Positive Negative.",
    ],
)
def test_what_is_of_something_else_is_no_result(text: str) -> None:
    """A marker that tells no result takes none from the statement beside it."""
    mentions = [one for one in read_text(text, "2012-05-04", type="pathology").mentions if one.kind == "biomarker"]
    assert mentions
    assert not [one.attributes for one in mentions if {"result", "percent", "score"} & one.attributes.keys()]
