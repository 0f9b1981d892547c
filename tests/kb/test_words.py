"""Normal forms of names: the folding of many at once is that of each."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cohortium.kb.ontology.normal_forms import normal_form, normal_forms

#: Letters, blanks and marks that rules of folding look at, and the separator itself.
LETTERS = "abs tumouroeae'’.-–_/αΔß1 \t\u3000½e\u0301\0"


@given(st.lists(st.text(st.sampled_from(LETTERS), max_size=12) | st.text(max_size=6), max_size=6))
def test_many_fold_as_each_does(texts: list[str]) -> None:
    """Folding a list of texts gives the normal form of every one of them, whatever its neighbours are."""
    assert normal_forms(texts) == [normal_form(text) for text in texts]


def test_folding_is_as_described() -> None:
    """Case, hyphens, Greek letters, possessives, full stops and British spelling are folded."""
    names = ["Oesophageal  TUMOUR", "IFN-α", "Hodgkin's", "U.S.", "grade 2.5", ""]
    assert normal_forms(names) == ["esophageal tumor", "ifn alpha", "hodgkin", "us", "grade 2.5", ""]
