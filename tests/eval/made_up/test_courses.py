"""Simulated courses: the profile holds, and what happens to a patient could have happened."""

from __future__ import annotations

import tomllib
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cohortium.eval.made_up.synthetic.course import Course
from cohortium.eval.made_up.synthetic.courses.simulate import FULL_SIZE, course, courses
from cohortium.eval.made_up.synthetic.courses.tables import table
from tests.amounts import examples
from tests.places import ROOT

_STRUCTURE = tomllib.loads((ROOT / "ingest/abstraction/structure.toml").read_text())
_SOME = st.tuples(st.integers(0, 40), st.integers(0, 3 * FULL_SIZE))


@pytest.fixture(scope="module")
def whole() -> tuple[Course, ...]:
    """The corpus at the paper's size."""
    return tuple(courses())


@settings(max_examples=examples(40), deadline=None)
@given(_SOME)
def test_a_patient_is_the_same_in_every_run(some: tuple[int, int]) -> None:
    """A course depends on its seed and place alone, whatever was simulated before it."""
    seed, index = some
    alone = course(index, seed)
    assert alone == course(index, seed)
    among = list(courses(3, seed, start=max(0, index - 1)))
    assert alone in among


def test_another_seed_gives_other_patients() -> None:
    """The seed matters."""
    assert course(5, 1).facts != course(5, 2).facts


def test_documents_are_as_the_paper_has_them(whole: tuple[Course, ...]) -> None:
    """1,436 patients have 115,865 documents, in thirds below 35, below 74 and above, with a heavy tail."""
    counts = sorted(len(one.encounters) for one in whole)
    assert len(counts) == 1436
    assert sum(counts) == 115_865
    thirds = (sum(one < 35 for one in counts), sum(35 <= one < 74 for one in counts), sum(one >= 74 for one in counts))
    assert all(abs(one - 1436 / 3) < 2 for one in thirds)
    assert counts[-1] > 5 * sum(counts) / len(counts)


def test_people_are_as_the_paper_has_them(whole: tuple[Course, ...]) -> None:
    """Sex, race, scores and brain metastases have the counts of Table 5."""
    profile = table("profile")
    assert Counter(one.person.sex for one in whole) == profile["sex"]
    assert Counter(one.person.race for one in whole) == profile["race"]
    assert Counter(one.person.ethnicity for one in whole) == profile["ethnicity"]
    last = Counter(
        [fact.value for fact in one.facts if fact.kind == "performance_status"][-1]
        for one in whole
        if any(fact.kind == "performance_status" for fact in one.facts)
    )
    assert last == {str(score): count for score, count in profile["ecog"].items()}
    brain = sum(
        any(
            fact.kind == "metastasis" and fact.attributes.get("site") == "brain" and fact.assertion == "present"
            for fact in one.facts
        )
        for one in whole
    )
    assert brain == profile["brain"]["yes"]


@settings(max_examples=examples(60), deadline=None)
@given(_SOME)
def test_time_runs_forward(some: tuple[int, int]) -> None:
    """Facts and encounters are in order; no treatment precedes the first diagnosis; nothing follows death."""
    one = course(some[1], some[0])
    days = [each.date for each in one.encounters]
    assert days == sorted(days)
    dated = [fact.date for fact in one.facts if fact.date is not None]
    assert dated == sorted(dated)
    found = min(fact.date for fact in one.facts if fact.kind == "diagnosis" and fact.date)
    for fact in one.facts:
        if fact.kind in ("medication", "regimen", "surgery", "radiation"):
            assert fact.date is not None
            assert fact.date >= found
        if fact.end_date is not None and fact.date is not None:
            assert fact.end_date >= fact.date
    if one.person.died is not None:
        assert max(days) <= one.person.died
        assert max(dated) <= one.person.died
        assert sum(fact.kind == "death" for fact in one.facts) == 1


@settings(max_examples=examples(60), deadline=None)
@given(_SOME)
def test_each_fact_is_told_once_first_and_never_recalled_before(some: tuple[int, int]) -> None:
    """Every fact is new in exactly one encounter, not before it was so, and repeated only after that."""
    one = course(some[1], some[0])
    known: set[int] = set()
    for at, each in enumerate(one.encounters):
        assert set(each.recalled) <= known
        assert not known & set(each.new)
        assert each.copies is None or (each.copies < at and one.encounters[each.copies].type == "progress")
        for place in each.new:
            day = one.facts[place].date
            assert day is None or day <= each.date
        known |= set(each.new)
    assert known == set(range(len(one.facts)))


@settings(max_examples=examples(60), deadline=None)
@given(_SOME)
def test_facts_have_the_structure_of_an_abstraction(some: tuple[int, int]) -> None:
    """Kinds, assertions and attribute keys are those of the abstraction."""
    for fact in course(some[1], some[0]).facts:
        assert fact.kind in _STRUCTURE["kinds"]
        assert fact.assertion in _STRUCTURE["assertions"]
        assert set(fact.attributes) <= set(_STRUCTURE["attributes"]["known"])
        assert fact.concept
