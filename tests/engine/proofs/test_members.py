"""Members whose proofs rest on turns of language that reader and checker must agree on, in invented notes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cohortium.engine.verification import verify
from cohortium.ingest.run.pipeline import run_ingest

#: Type, day and text of each patient's notes.
NOTES = {
    # A form of tumor that names no place is the cancer of the place where it lies.
    "place": [
        ("pathology report", "2012-01-03", "Left kidney, nephrectomy: clear cell renal cell carcinoma."),
        ("pathology report", "2012-01-03", "Soft tissue at the left kidney, biopsy: fragments of invasive carcinoma."),
        ("pathology report", "2012-02-03", "Metastatic carcinoma in 1 of 3 lymph nodes."),
    ],
    # The word that makes a cancer spread stands before its name.
    "secondary": [("clinic note", "2019-05-02", "Breast cancer. Problems: Secondary malignant neoplasm of lung.")],
    # A value of another time stands apart from its name.
    "baseline": [("clinic note", "2019-05-02", "Colon cancer. Labs: K 3.9, creatinine 1.8 (baseline 0.9), Hb 11.")],
    # "And" is no unit of time, and "is" no category.
    "words": [
        ("clinic note", "2019-05-02", "Breast cancer. CV: no angina, walks to the park and back."),
        ("pathology report", "2019-06-02", "Left breast: no residual carcinoma. The ypT category is unchanged."),
    ],
    # A diagnosis of another time is staged by the edition of its own.
    "editions": [
        ("clinic note", "2019-03-06", "Right breast cancer, ER positive. Left ductal carcinoma in situ in 2002."),
    ],
}  # fmt: skip
QUERIES = (
    "kidney cancer",
    "metastasis to lung",
    "lab creatinine > 0",
    "no evidence of angina",
    "diagnosis breast cancer",
    "tnm",
    "not lung cancer",
)


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The notes, read."""
    folder = tmp_path_factory.mktemp("members")
    rows = [
        {"patient_id": patient, "doc_id": f"{patient} {number}", "date": day, "type": type_, "text": text}
        for patient, notes in NOTES.items()
        for number, (type_, day, text) in enumerate(notes)
    ]
    (folder / "notes.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    run_ingest([folder / "notes.jsonl"], folder / "members.kb")
    return folder / "members.kb"


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("world", ["believed", "possible"])
def test_every_member_has_a_proof_that_holds(kb: Path, query: str, world: str) -> None:
    done = verify(kb, query, world=world)
    assert done.members or query == "tnm"
    assert [fault.message for verdict in done.failed for fault in verdict.faults] == []
