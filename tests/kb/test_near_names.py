"""A near name is offered when it is a slip of the pen or holds the words asked for, and never for likeness alone."""

from __future__ import annotations

import random

import pytest

from cohortium.kb.ontology.concepts import shipped_concepts
from cohortium.kb.ontology.near_names import NearNames, near_words, slips_between
from cohortium.kb.ontology.normal_forms import normal_form
from tests.amounts import examples

CONCEPTS = shipped_concepts()


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("brest cancer", "breast cancer"), ("breast canser", "breast cancer"), ("ossimertinib", "osimertinib"),
        ("osimertnib", "osimertinib"), ("chemotherpay", "chemotherapy"), ("hypertention", "hypertension"),
        ("pnuemonia", "pneumonia"), ("lobectmy", "lobectomy"), ("prostrate cancer", "prostate cancer"),
        ("non small cell lung cancr", "non-small cell lung cancer"), ("melanomma", "melanoma"),
        ("cholecistectomy", "cholecystectomy"), ("EFGR", "EGFR"), ("HRE2", "HER2"), ("BRAC1", "BRCA1"),
    ],
)  # fmt: skip
def test_a_slip_finds_its_name(typed: str, meant: str) -> None:
    """The name that was meant comes first, under its preferred spelling."""
    assert CONCEPTS.nearest(typed)[0] == meant


@pytest.mark.parametrize(
    "typed",
    [
        "SUV", "BRCA3", "CA 19-8", "sum of diameters", "insurance", "hispanic", "provider", "race",
    ],
)  # fmt: skip
def test_what_only_resembles_is_not_offered(typed: str) -> None:
    """Abbreviations differ by a letter from each other, and figures are no slips."""
    assert CONCEPTS.nearest(typed) == []


def test_a_name_that_holds_the_words_is_offered() -> None:
    """What says more than was typed is a relation, not a likeness: bone density, and never bone destruction."""
    assert CONCEPTS.nearest("bone density")[0] == "low bone density"


def test_every_name_that_is_offered_is_a_slip_or_holds_the_words() -> None:
    """Of drawn names with drawn slips, whatever is offered meets the rule; a dropped letter of a long word is found."""
    draw = random.Random(20)
    names = sorted({name for row in CONCEPTS.rows() for name in CONCEPTS.names(row.id)})
    for name in draw.sample(names, examples(150)):
        at = draw.randrange(len(name))
        typed = name[:at] + draw.choice(["", "x", name[at] * 2]) + name[at + 1 :]
        for offered in CONCEPTS.nearest(typed):
            left, right = normal_form(typed), normal_form(offered)
            assert slips_between(left, right) is not None or len(right.split()) >= len(left.split())
    for name in ("pembrolizumab", "cholangiocarcinoma", "thrombocytopenia", "lymphadenectomy"):
        for at in range(2, len(name)):
            typed = name[:at] + name[at + 1 :]
            assert CONCEPTS.lookup(typed) or name in CONCEPTS.nearest(typed), typed


def test_one_name_of_each_thing() -> None:
    """Two spellings of one thing are not two proposals, and the preferred name goes first."""
    near = NearNames([("osimertinib", "osimertanib", "Tagrisso"), ("erlotinib",)])
    assert near.find("osimertenib") == ["osimertinib"]
    assert near.find("") == near.find("()") == []


@pytest.mark.parametrize(
    ("typed", "words", "found"),
    [("protien", ("protein", "percent"), ["protein"]), ("size", ("site", "stage"), []), ("dsoe", ("dose",), ["dose"])],
)
def test_words_of_a_list(typed: str, words: tuple[str, ...], found: list[str]) -> None:
    """Attributes are told apart as names are: a size is no site."""
    assert near_words(typed, words) == found
