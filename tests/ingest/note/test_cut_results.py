"""Markers and results that full stops part, in invented reports: what is of the marker, and what of something else."""

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
        "ER was examined by immunohistochemistry. Margins are positive.",
        "HER2 was assessed. The result will follow. Positive margins.",
        "ER was tested. The nodes are negative.",
    ],
)
def test_what_is_of_something_else_is_no_result(text: str) -> None:
    """A marker that tells no result takes none from the statement beside it."""
    mentions = [one for one in read_text(text, "2012-05-04", type="pathology").mentions if one.kind == "biomarker"]
    assert mentions
    assert not [one.attributes for one in mentions if {"result", "percent", "score"} & one.attributes.keys()]


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("HER2 protein stained with HercepTest by DAKO. Negative reaction in cancer cells.", "negative"),
        ("HER2 protein stained with HercepTest by DAKO. Negative. reaction in cancer cells.", "negative"),
        ("PR was evaluated by IHC. The staining is negative.", "negative"),
        ("HER2 was assessed by immunohistochemistry. The reaction is positive (3+).", "positive"),
    ],
)
def test_the_sentence_behind_tells_the_result(text: str, result: str) -> None:
    """What was stained in one sentence has the reaction of the next one."""
    mentions = [one for one in read_text(text, "2012-05-04", type="pathology").mentions if one.kind == "biomarker"]
    assert [one.attributes.get("result") for one in mentions] == [result]
