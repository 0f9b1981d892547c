"""Values with units in queries: what they become, what is refused, and what short forms mean beside them."""

from __future__ import annotations

import pytest

from cohortium.kb.ontology.concepts import shipped_concepts
from cohortium.kb.ontology.scales import Scales
from cohortium.kb.units import in_usual_unit, unit_named
from cohortium.query_lang.errors import QueryError
from cohortium.query_lang.read_back.query import read_back
from cohortium.query_lang.render import render
from cohortium.query_lang.resolution.resolve import resolve_text

CONCEPTS, SCALES = shipped_concepts(), Scales.from_files()


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        ("lab creatinine > 132 µmol/L", "lab creatinine > 1.49318 mg/dL"),
        ("hemoglobin < 80 g/l", "lab hemoglobin < 8 g/dL"),
        ("EF < 40%", "measurement ejection fraction < 40%"),
        ("lab A1c >= 53 mmol/mol", "lab hemoglobin A1c >= 7.00044 %".replace(" %", "%")),
        ("vitals temperature between 100 and 104 F", "vital sign temperature between 37.7778 and 40 °C"),
        ("urine culture = negative", "lab urine culture = negative"),
        ("EGFR < 60", "lab estimated glomerular filtration rate < 60"),
        ("EGFR", "variant 'EGFR gene'"),
        ("CR", "state complete response"),
    ],
)
def test_a_value_is_in_the_usual_unit(text: str, becomes: str) -> None:
    """Rendered and read again it is the same query; without a value a short form is what it was before."""
    query = resolve_text(text, CONCEPTS, SCALES)
    assert render(query) == becomes
    assert resolve_text(becomes, CONCEPTS, SCALES) == query


def test_the_read_back_tells_the_unit_of_a_bare_number() -> None:
    """A bound without a unit is in the usual one."""
    assert "less than 8 g/dL" in read_back(resolve_text("lab hemoglobin < 8", CONCEPTS, SCALES), CONCEPTS)


@pytest.mark.parametrize("text", ["lab hemoglobin < 8 kg", "lab potassium > 5 bpm", "lab 'urine culture' > 5 mg/dL"])
def test_a_unit_of_another_dimension_is_refused(text: str) -> None:
    """The message names the unit."""
    with pytest.raises(QueryError, match=r"a value in|no value in"):
        resolve_text(text, CONCEPTS, SCALES)


@pytest.mark.parametrize(
    ("concept", "value", "unit", "usual"),
    [
        ("glucose", 5.4, "mmol/L", 97.2842),
        ("body_temperature", 98.6, "°F", 37.0),
        ("white_blood_cell_count", 5200, "/mm³", 5.2),
        ("body_weight", 181, "lbs", 82.1002),
        ("troponin", 14, "ng/L", 0.014),
        ("potassium", 4.2, "mEq/L", 4.2),
        ("calcium", 4.5, "mEq/L", None),
        ("heart_rate", 2, "s", None),
    ],
)
def test_conversion(concept: str, value: float, unit: str, usual: float | None) -> None:
    """By Pint, with the molar mass of the concept; what measures another thing is none."""
    assert in_usual_unit(concept, value, unit_named(unit) or "") == usual
