"""What was measured and its value are two annotations."""

from __future__ import annotations

import pytest

import cohortium


@pytest.mark.parametrize(
    ("text", "annotations"),
    [
        ("AST 33.", {("AST 33", "DiagnosticLabTest"), ("33", "LabTestResult")}),
        ("Hemoglobin of 9.2 g/dL.", {("Hemoglobin of 9.2 g/dL", "DiagnosticLabTest"), ("9.2 g/dL", "LabTestResult")}),
        ("MMSE 24/30.", {("MMSE 24/30", "DiagnosticLabTest"), ("24/30", "LabTestResult")}),
        ("Creatinine will be checked.", {("Creatinine", "DiagnosticLabTest")}),
    ],
)
def test_a_name_and_its_value_are_told_apart(text: str, annotations: set[tuple[str, str]]) -> None:
    """The value has an annotation of its own within that of the test."""
    found = {(one.text, one.label) for one in cohortium.read(text, "2021-05-05").mentions}
    assert {one for one in found if one[1] in ("DiagnosticLabTest", "LabTestResult")} == annotations
