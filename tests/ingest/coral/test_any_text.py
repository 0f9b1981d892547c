"""What holds of every text that is annotated: nothing raises, spans quote it, values and arguments are the schema's."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import cohortium
from cohortium.ingest.coral.contexts import has_context
from cohortium.ingest.coral_schema.standoff import parse
from cohortium.ingest.coral_schema.types import schema
from tests.amounts import examples

#: Pieces that the words and patterns care for, in any order with anything between.
PIECES = st.sampled_from(
    r"""CT MRI showed revealed mass 2.3 cm x 1.1 stable disease no evidence of ER positive + - 90% HER2 2+ PSA 8.4 ng/mL
    cisplatin induced nausea vomiting and rash due to after stopped because colitis 200 mg IV q3w x 4 cycles of 6 daily
    3/4/2020 since until May 2019 2 months ago for three weeks 54 year old left breast cancer Stage IIA grade 3 pT2N1
    smokes 1 pack per day 20 pack-years drinks alcohol socially married single dose retired teacher lives alone NKDA
    allergic to penicillin ALLERGIES: MEDICATIONS: PLAN: biopsy lumpectomy negative margins 1 mm margin NCT01234567
    requires excludes eligible for not a candidate hospice Oncotype DX score 18 germline testing negative invades the
    chest wall LVI ( ) [ ] / , ; : . \n \r\n ſ İ ٣/٤ １２ mg""".split()
)
TEXTS = st.lists(st.one_of(PIECES, PIECES, PIECES, st.text(max_size=5)), max_size=40).flatmap(
    lambda pieces: st.sampled_from([" ", " ", "\n", "", "  ", "\r\n"]).map(lambda joint: joint.join(pieces))
)


@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@example(text="")
@example(text="LABS:\n")
@example(text="Stage ")
@given(text=TEXTS)
def test_annotations_of_any_text(text: str) -> None:
    """Spans quote the text; labels, attributes and values are the schema's; relations join what they may join."""
    document = cohortium.read(text, "2021-06-15")
    labels = {}
    for mention in document.mentions:
        assert 0 <= mention.start < mention.end <= len(text)
        assert text[mention.start : mention.end] == mention.text
        schema().check(mention.label, mention.coral)
        assert mention.id not in labels
        labels[mention.id] = mention.label
    assert [one.start for one in document.mentions] == sorted(one.start for one in document.mentions)
    for relation in document.relations:
        assert schema().relations[relation.type].joins(labels[relation.head], labels[relation.tail])
    written = document.to_brat()
    assert parse(written, text).to_ann() == written


@settings(max_examples=examples(40), deadline=None)
@given(text=TEXTS)
def test_annotations_are_a_function_of_the_text(text: str) -> None:
    """The same text is annotated in the same way."""
    assert cohortium.read(text) == cohortium.read(text)


def test_a_target_of_a_type_is_of_that_type_alone() -> None:
    """A span asked for as a drug is one, whatever the lexicon calls it; an unknown type is refused."""
    text = "Zibbelmab caused frumpitis."
    document = cohortium.read(text, targets=[(0, 9, "MedicationName"), (17, 26, "Symptom")])
    assert [(one.text, one.label) for one in document.mentions] == [
        ("Zibbelmab", "MedicationName"),
        ("frumpitis", "Symptom"),
    ]
    (relation,) = document.relations
    assert (relation.type, relation.head) == ("ConditionOrTreatmentCausesProblem", document.mentions[0].id)
    with pytest.raises(cohortium.CohortiumError, match=r"docs/reference/coral\.md lists them"):
        cohortium.read(text, targets=[(0, 9, "Drug")])


def test_only_what_may_be_denied_has_a_context() -> None:
    """A result says of itself what it is; a problem, a test, a treatment may be denied."""
    assert all(map(has_context, ("Symptom", "Radiology", "MedicationName", "ClinicalTrial")))
    assert not any(map(has_context, ("BiomarkerResult", "Datetime", "MarginStatus", "Stage")))
