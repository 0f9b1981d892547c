"""A salt or the suffix of a biological product behind a name is passed over; nothing else is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohortium.kb.ontology.concepts import ConceptTable, shipped_concepts
from cohortium.kb.ontology.drug_names import without_endings


@pytest.fixture(scope="module")
def shipped() -> ConceptTable:
    """The shipped ontology."""
    return shipped_concepts()


@pytest.mark.parametrize(
    ("name", "bare"),
    [
        ("trastuzumab-zzzz", "trastuzumab"),
        ("epoetin alfa-epbx", "epoetin alfa"),
        ("Nilotinib Hydrochloride Monohydrate", "Nilotinib"),
        ("erlotinib HCl", "erlotinib"),
        ("trastuzumab-like", "trastuzumab-like"),
        ("cisplatin-free", "cisplatin-free"),
        ("sodium chloride", "sodium chloride"),
        ("lithium", "lithium"),
    ],
)
def test_endings(name: str, bare: str) -> None:
    """Only biological stems carry a suffix, and a name of salts alone stays."""
    assert without_endings(name) == bare


@given(st.text(max_size=60))
def test_any_text(text: str) -> None:
    """Whatever the text, what is left begins it, but for blanks, and nothing fails."""
    assert " ".join(text.split()).startswith(" ".join(without_endings(text).split()))


@pytest.mark.parametrize(
    ("name", "concept"),
    [
        ("bevacizumab-qqqq", "bevacizumab"),
        ("filgrastim-zzzz", "filgrastim"),
        ("osimertinib mesylate", "osimertinib"),
        ("vinorelbine ditartrate", "vinorelbine"),
    ],
)
def test_lookup_knows_a_drug_by_its_longer_name(shipped: ConceptTable, name: str, concept: str) -> None:
    """A biosimilar that nobody listed, and a salt, are the drug."""
    assert shipped.lookup(name) == (concept,)


@pytest.mark.parametrize("name", ["platinum hydrochloride", "taxane sodium", "cisplatin-free", "lung sodium"])
def test_lookup_gives_no_class_for_a_salt(shipped: ConceptTable, name: str) -> None:
    """A class of drugs has no salts, and neither has what is no drug."""
    assert shipped.lookup(name) == ()
