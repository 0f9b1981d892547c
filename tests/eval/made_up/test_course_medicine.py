"""Simulated courses make sense to a clinician: drugs fit the tumor and its markers, tumors fit the patient."""

from __future__ import annotations

import tomllib
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cohortium.eval.made_up.synthetic.course import Course, Fact
from cohortium.eval.made_up.synthetic.courses.simulate import course, courses
from cohortium.eval.made_up.synthetic.courses.tables import table
from tests.amounts import examples
from tests.places import ROOT

_SOME = st.tuples(st.integers(0, 40), st.integers(0, 4000))
_TREATMENTS = ("medication", "regimen")

#: A drug -> what a fact of the same tumor, or inherited, must say by then.
_CALLED_FOR = {
    "osimertinib": "EGFR",
    "alectinib": "ALK",
    "trastuzumab": "HER2",
    "pertuzumab": "HER2",
    "selpercatinib": "RET",
    "pemigatinib": "FGFR2",
    "sotorasib": "KRAS",
    "alpelisib": "PIK3CA",
    "gilteritinib": "FLT3",
}


def _family(one: Course, tumor: str) -> str:
    """The family of a tumor of the course, by what its diagnosis and histology are called."""
    named = {fact.concept for fact in one.facts if fact.tumor == tumor and fact.kind == "diagnosis"}
    seen = {fact.concept for fact in one.facts if fact.tumor == tumor and fact.kind == "histology"}
    kinds = [each for each in table("tumors")["tumor"] if each["diagnosis"] in named]
    exact = [each for each in kinds if each["histology"] in seen] or kinds
    return str(exact[0]["family"])


def _given(one: Course) -> list[tuple[str, Fact]]:
    found = []
    for fact in one.facts:
        if fact.kind in _TREATMENTS and fact.assertion == "present":
            found += [(drug, fact) for drug in (fact.value or fact.concept).replace(" and ", ", ").split(", ")]
    return found


@settings(max_examples=examples(150), deadline=None)
@given(_SOME)
def test_treatment_is_one_for_the_tumor(some: tuple[int, int]) -> None:
    """Each regimen stands in the plan of the tumor's family."""
    one = course(some[1], some[0])
    for fact in one.facts:
        if fact.kind in _TREATMENTS:
            plan = table("plans").get(_family(one, fact.tumor), {})
            plans = [plan, table("plans").get(plan.get("like", ""), {})]
            assert any(f'"{fact.concept}"' in _as_text(each) for each in plans), (
                fact.concept,
                _family(one, fact.tumor),
            )


def _as_text(plan: object) -> str:
    return str(plan).replace("'", '"')


@pytest.fixture(scope="module")
def some() -> tuple[Course, ...]:
    """Six hundred courses."""
    return tuple(courses(600, seed=3))


def test_targeted_drugs_follow_the_finding_that_calls_for_them(some: tuple[Course, ...]) -> None:
    """No targeted drug without its target, found no later than the drug is given."""
    seen: Counter[str] = Counter()
    for one in some:
        for drug, fact in _given(one):
            target = _CALLED_FOR.get(drug)
            if target is None:
                continue
            seen[drug] += 1
            reasons = [
                each
                for each in one.facts
                if each.tumor in (fact.tumor, "")
                and each.assertion == "present"
                and (each.attributes.get("gene") == target or each.concept.split()[0] == target)
                and each.attributes.get("result") in ("pathogenic", "positive")
            ]
            assert reasons, (one.person.patient_id, drug)
            assert any(each.date is None or (fact.date and each.date <= fact.date) for each in reasons)
    assert seen["trastuzumab"] > 5


def test_hormones_are_for_receptors(some: tuple[Course, ...]) -> None:
    """Aromatase inhibitors are given to breast cancers with a receptor."""
    checked = 0
    for one in some:
        for drug, fact in _given(one):
            if drug in ("anastrozole", "exemestane", "tamoxifen"):
                checked += 1
                receptors = [each for each in one.facts if each.concept in ("ER", "PR") and each.tumor == fact.tumor]
                assert any(each.attributes["result"] == "positive" for each in receptors)
    assert checked > 30


def test_tumors_fit_the_sex(some: tuple[Course, ...]) -> None:
    """Ovaries are women's, prostates men's."""
    for one in some:
        sites = {fact.attributes.get("site") for fact in one.facts if fact.kind == "diagnosis" and fact.tumor}
        if one.person.sex == "male":
            assert not sites & {"ovary", "fallopian tube", "cervix", "vulva"}
        if one.person.sex == "female":
            assert not sites & {"prostate", "testis"}


def test_relatives_and_reports_of_operations_are_possible(some: tuple[Course, ...]) -> None:
    """No brother fell ill at an age that he cannot have reached; no prostate that was taken out is called T1."""
    siblings = operated = 0
    for one in some:
        found = min(fact.date for fact in one.facts if fact.kind == "diagnosis" and fact.tumor and fact.date)
        prostate = {fact.tumor for fact in one.facts if fact.attributes.get("site") == "prostate"}
        for fact in one.facts:
            if fact.kind == "diagnosis" and fact.value.startswith(("sister", "brother")):
                siblings += 1
                assert int(fact.value.rsplit(" ", 1)[1]) <= max(24, found.year - one.person.born.year + 9)
            if fact.kind == "tnm" and fact.tumor in prostate and fact.attributes["prefix"] == "p":
                operated += 1
                assert not fact.attributes["t"].startswith("T1")
    assert siblings > 50
    assert operated > 5


def test_stage_groups_and_tumors_are_as_the_paper_has_them() -> None:
    """The tumors of Table 5, and the stage groups stated of the first tumor."""
    profile, groups = table("profile"), Counter[str]()
    diagnoses: Counter[str] = Counter()
    row = {each["diagnosis"]: each["group"] for each in table("tumors")["tumor"]}
    for one in courses():
        first = [fact for fact in one.facts if fact.tumor == "first" and fact.assertion == "present"]
        diagnoses[row[next(fact.concept for fact in first if fact.kind == "diagnosis")]] += 1
        stated = [fact.value for fact in first if fact.kind == "stage_group"]
        if stated:
            groups[stated[0].rstrip("ABCD123") or stated[0]] += 1
    assert diagnoses == profile["tumors"]
    assert {group: groups[group] for group in profile["stage"]} == profile["stage"]


def test_names_of_drugs_are_known_to_the_predicates() -> None:
    """Every drug of the plans is sorted by the predicates' lists, or is of none of their classes."""
    lists = tomllib.loads((ROOT / "tests/eval/made_up/predicates.toml").read_text())
    sorted_drugs = {drug for drugs in lists.values() for drug in drugs}
    used = {drug for one in courses(300) for drug, _ in _given(one)}
    unsorted = used - sorted_drugs
    endings = ("tinib", "zumab", "tuximab", "ciclib", "parib", "rafenib", "metinib", "zomib")
    checkpoint = {"pembrolizumab", "atezolizumab", "durvalumab", "ipilimumab", "cemiplimab", "nivolumab", "avelumab"}
    assert not {drug for drug in unsorted - checkpoint if drug.endswith(endings)}
