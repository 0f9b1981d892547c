"""A scale value spans its substages, and a comparison holds only if it holds whatever the substage is."""

from __future__ import annotations

from pathlib import Path

import pytest

from cohortium.kb.errors import OntologyError
from cohortium.kb.ontology.scales import Scales


@pytest.fixture(scope="module")
def scales() -> Scales:
    """The shipped scales."""
    return Scales.from_files()


@pytest.mark.parametrize(
    ("attribute", "value", "operator", "bound", "holds"),
    [
        ("t", "T2", ">=", "T2c", False),
        ("t", "T2c", ">=", "T2c", True),
        ("t", "T3", ">=", "T2c", True),
        ("t", "T2b", ">=", "T2c", False),
        ("t", "T2a", "=", "T2", True),
        ("t", "T2", "=", "T2a", False),
        ("t", "T2", "!=", "T2a", False),
        ("t", "T3", "!=", "T2", True),
        ("t", "T2", ">", "T1", True),
        ("t", "T2a", ">", "T2", False),
        ("t", "T2a", "<", "T3", True),
        ("t", "Tis", "<", "T1", True),
        ("t", "TX", ">=", "T0", False),
        ("t", "TX", "!=", "T2", False),
        ("t", "ypT3", ">=", "T3", True),
        ("n", "N3c", "<=", "N3b", False),
        ("n", "N3", "<=", "N3b", False),
        ("n", "N3a", "<=", "N3b", True),
        ("n", "N3c", "<=", "N3", True),
        ("n", "N1mi", ">=", "N1", True),
        ("n", "N0(i+)", ">=", "N1", False),
        ("n", "N0(i+)", "=", "N0", True),
        ("n", "pN1a(sn)", "=", "N1a", True),
        ("m", "M1b", ">=", "M1", True),
        ("stage", "IIIA", ">=", "IIC", True),
        ("stage", "IIIA", "<", "IV", True),
        ("stage", "II", ">=", "IIC", False),
        ("stage", "IIC", ">=", "IIC", True),
        ("stage", "IIB", ">=", "IIC", False),
        ("stage", "IIIA", "<=", "III", True),
        ("stage", "IVB", "<=", "IV", True),
        ("stage", "IV", ">", "III", True),
        ("stage", "Stage 3A", "=", "IIIA", True),
        ("stage", "iiib", "=", "3B", True),
        ("stage", "IV", "=", "I", False),
        ("stage", "II", "=", "I", False),
        ("stage", "nonsense", "<=", "IV", False),
        ("grade", 3.0, ">=", "2", True),
        ("grade", "high", ">=", "2", True),
        ("grade", "3", "=", "high", True),
        ("grade", "low", ">=", "2", False),
        ("value", 2.0, "<=", 2.0, True),
        ("value", 1.0, "<=", "2", True),
        ("value", 70.0, ">=", 60.0, True),
        ("value", 3.7, "<", 4.0, True),
        ("percent", 10.0, "<", 9.0, False),
        ("percent", "10", ">", "9", True),
        ("percent", "many", ">", 9.0, False),
        ("laterality", "left", "=", "left", False),
    ],
)
def test_comparison(
    scales: Scales, attribute: str, value: str | float, operator: str, bound: str | float, holds: bool
) -> None:
    """Ordered comparison on scales and numbers; unknown values never match."""
    assert scales.compare(attribute, value, operator, bound) is holds


@pytest.mark.parametrize(
    ("attribute", "value", "low", "high", "inside"),
    [
        ("t", "T2c", "T2b", "T3c", True),
        ("t", "T2a", "T2b", "T3c", False),
        ("t", "T2", "T2b", "T3c", False),
        ("t", "T4", "T2b", "T3c", False),
        ("n", "N3b", "N1", "N3b", True),
        ("n", "N3c", "N1", "N3", True),
        ("stage", "IIIA", "IIC", "IV", True),
        ("stage", "IVC", "IIC", "IV", True),
        ("value", 1.0, 0.0, 2.0, True),
        ("value", 3.0, 0.0, 2.0, False),
    ],
)
def test_between(
    scales: Scales, attribute: str, value: str | float, low: str | float, high: str | float, inside: bool
) -> None:
    """Both bounds are included, with all of their substages."""
    assert scales.between(attribute, value, low, high) is inside


def test_a_span_covers_the_substages(scales: Scales) -> None:
    """T2 spans T2 to its last substage; every substage lies strictly within."""
    low, high = scales.span("t", "T2") or (0, 0)
    spans = [scales.span("t", value) for value in ("T2a", "T2b", "T2c")]
    assert all(span is not None and low < span[0] <= span[1] <= high for span in spans)
    assert scales.span("t", "T5") is None
    assert scales.span("laterality", "left") is None


def test_numerals_are_no_substages(scales: Scales) -> None:
    """II is written as I and one more letter, and is not a substage of it."""
    assert scales.compare("stage", "II", ">", "I")
    assert scales.compare("stage", "IV", ">", "III")
    assert scales.compare("gleason", "10", ">", "9")


def test_the_usual_spellings_are_known(scales: Scales) -> None:
    """Stages in Arabic and Roman numerals, in any case and with the word, are one value."""
    assert {scales.canonical("stage", text) for text in ("3a", "IIIA", "iiia", "Stage 3A", "stage iiia")} == {"IIIA"}
    assert scales.canonical("t", "pT2") == "T2"
    assert scales.canonical("t", "2b") == "T2b"


def test_an_unknown_operator_is_an_error(scales: Scales) -> None:
    """The operators are those of the query language."""
    with pytest.raises(ValueError, match="not one of"):
        scales.compare("t", "T1", "~", "T2")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"values": ["A", "a"]}, "twice"),
        ({"values": ["A", "B"], "aliases": {"x": "C"}}, "not a value"),
        ({"values": ["A", "B"], "substages": {"A": ["C"]}}, "not a value"),
        ({"values": ["A", "B", "A1"]}, "another value among"),
    ],
)
def test_a_scale_must_make_sense(table: dict[str, object], message: str) -> None:
    """Repeated values, unknown ones and substages with a stranger between them are refused."""
    with pytest.raises(OntologyError, match=message):
        Scales({"x": table})


def test_an_unreadable_file_is_an_error(tmp_path: Path) -> None:
    """The message names the file."""
    (tmp_path / "scales.toml").write_text("[t\n")
    with pytest.raises(OntologyError, match=r"scales\.toml"):
        Scales.from_files(tmp_path / "scales.toml")
