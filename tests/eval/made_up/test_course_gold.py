"""The abstraction of a course; plain predicates over its facts agree with the engine asked of the abstraction."""

from __future__ import annotations

import datetime
import json
from dataclasses import replace

from cohortium.eval.made_up.synthetic.course import Course, Encounter, Fact, Person
from cohortium.eval.made_up.synthetic.courses.simulate import course, courses
from cohortium.eval.made_up.synthetic.gold import abstraction
from tests.eval.made_up.agreement import agreement
from tests.eval.made_up.predicates import PREDICATES, Chart

_DAY = datetime.date(2020, 3, 1)


def _chart(*facts: Fact, died: datetime.date | None = None) -> Chart:
    person = Person("P1", "somewhere", "female", datetime.date(1960, 1, 1), died=died)
    return Chart(Course(person, facts, (Encounter(_DAY, "progress", "diagnosis", tuple(range(len(facts)))),)))


def _breast(*more: Fact) -> tuple[Fact, ...]:
    return (Fact("diagnosis", "breast cancer", "", {"site": "breast"}, _DAY, tumor="first"), *more)


def _marker(name: str, result: str, value: str = "") -> Fact:
    return Fact("biomarker", name, value or result, {"result": result}, _DAY, tumor="first")


def _variant(gene: str, origin: str, result: str = "pathogenic", tumor: str = "first") -> Fact:
    said = {"gene": gene, "origin": origin, "result": result, "alteration": "mutation"}
    return Fact("genomic_variant", f"{gene} mutation", "p.R1*", said, _DAY, tumor=tumor)


def test_receptors_and_the_variant_must_be_of_one_tumor() -> None:
    """HR+/HER2- with PIK3CA: not with HER2 positive, not with the variant of another tumor."""
    holds = PREDICATES[86]
    fits = _breast(_marker("ER", "positive"), _marker("PR", "negative"), _marker("HER2", "negative"))
    assert holds(_chart(*fits, _variant("PIK3CA", "somatic")))
    assert not holds(_chart(*fits, _variant("PIK3CA", "somatic", tumor="second")))
    assert not holds(_chart(*fits, _variant("PIK3CA", "somatic", result="VUS")))
    against = _breast(_marker("ER", "positive"), _marker("HER2", "positive"))
    assert not holds(_chart(*against, _variant("PIK3CA", "somatic")))


def test_a_somatic_variant_disqualifies() -> None:
    """Germline but not somatic BRCA or ATM."""
    assert PREDICATES[117](_chart(_variant("BRCA1", "germline", tumor="")))
    assert not PREDICATES[117](_chart(_variant("BRCA1", "germline", tumor=""), _variant("ATM", "somatic")))
    assert not PREDICATES[117](_chart(_variant("BRCA1", "somatic")))


def test_the_last_score_counts() -> None:
    """ECOG 2 or less is of the latest score."""
    scores = [Fact("performance_status", "ECOG", value, {"scale": "ECOG"}, _DAY) for value in ("1", "3")]
    assert PREDICATES[10](_chart(scores[0]))
    assert not PREDICATES[10](_chart(*scores))
    assert not PREDICATES[10](_chart())


def test_what_was_declined_was_not_received() -> None:
    """A refused or planned drug is none; a regimen is its drugs."""
    refused = Fact("medication", "osimertinib", "", {"status": "declined"}, _DAY, assertion="absent", tumor="first")
    planned = Fact("medication", "osimertinib", "", {}, _DAY, assertion="planned", tumor="first")
    assert not PREDICATES[97](_chart(refused, planned))
    regimen = Fact("regimen", "TC", "docetaxel, cyclophosphamide", {}, _DAY, tumor="first")
    assert PREDICATES[107](_chart(*_breast(regimen)))
    assert not PREDICATES[103](_chart(*_breast(regimen)))


def test_an_abstraction_tells_what_was_written() -> None:
    """With the notes' word of what they state, only that is told, with its documents and words."""
    one = course(7, 2)
    line = abstraction(one, {0: (("D1", "D2"), "some words")})
    assert line["facts"][0]["docs"] == ["D1", "D2"]
    assert line["facts"][0]["evidence"] == "some words"
    assert len(line["facts"]) == 1
    assert len(abstraction(one)["facts"]) == len(one.facts)
    json.dumps(abstraction(one))


def test_labels_of_the_engine_agree_with_the_predicates() -> None:
    """On 90 patients the engine, asked of their abstraction, and the predicates disagree on next to nothing."""
    result = agreement(courses(90, seed=5))
    counts = result.counts
    assert counts.tp + counts.fp + counts.fn + counts.tn == 90 * len(PREDICATES)
    assert counts.tp > 150
    assert (len(result.engine_alone), len(result.predicate_alone)) == (counts.fp, counts.fn)
    assert counts.fp + counts.fn <= 0.01 * counts.tp


def test_a_disagreement_is_counted_and_named() -> None:
    """A chart whose facts contradict its person (a death date without a fact of it) differs in one place."""
    one = replace(course(0), encounters=(), facts=())
    person = replace(one.person, died=datetime.date(2021, 1, 1))
    told = replace(one, person=person)
    silent = replace(one, person=replace(one.person, patient_id="P2", died=None))
    result = agreement([told, silent])
    assert result.counts.fp + result.counts.fn == 0
    wrong = Fact("death", "death", "", {}, _DAY)
    result = agreement([replace(silent, facts=(wrong,), encounters=(Encounter(_DAY, "death", "end of life", (0,)),))])
    assert result.engine_alone == ((115, "P2"),)
    assert result.predicate_alone == ()
