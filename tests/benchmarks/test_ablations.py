"""Each ablation of the benchmark takes something away: an invented record is read otherwise where it is about it."""

from __future__ import annotations

import datetime
from collections.abc import Callable

import pytest

from benchmarks.reading.ablation import ABLATIONS, CUES, shipped_cues
from cohortium.ingest.note.read import shared_reader
from cohortium.kb.model import Event, Note

FIRST = """IMPRESSION:
Invasive carcinoma of the left breast, stage IIA. ER is positive, HER2 is negative. No liver metastases.
Possible sarcoidosis. She was treated with AC-T in 2012. She will start letrozole. She declined tamoxifen.
Pertuzumab is mentioned. Her mother had ovarian cancer. She has a history of asthma.
Biopsy of the right lung: squamous cell carcinoma.

FAMILY HISTORY:
Melanoma.
"""
SECOND = """ADDENDUM:
The corrected result of PR is negative. Invasive carcinoma of the left breast, stage IIA. Bone metastases were reported
in error. KRAS and NRAS: not detected. She has metastases to the liver.
Melanoma of the skin was ruled out and the earlier report is retracted: this was an error.
A dermatology report of cutaneous melanoma was entered in error.
"""
PAST = (
    "PR is positive. Cutaneous melanoma of the back. The patient was again told that letrozole comes daily with food."
)


Events = Callable[[str], tuple[Event, ...]]


@pytest.fixture(scope="module")
def events() -> Events:
    """The events of the invented record, read by the ablation of this name."""
    notes = {
        "P1": [
            Note("P1", str(number), text, datetime.date(2020, number, 1), "progress note")
            for number, text in enumerate((PAST, FIRST, SECOND, PAST), 1)
        ]
    }
    found: dict[str, tuple[Event, ...]] = {}

    def read(name: str) -> tuple[Event, ...]:
        if name not in found:
            ablation = next(one for one in ABLATIONS if one.name == name)
            (journey,) = ablation.journeys(ablation.reader(shared_reader().concepts), notes)
            found[name] = journey.events
        return found[name]

    return read


@pytest.mark.parametrize("name", [one.name for one in ABLATIONS[1:]])
def test_each_part_changes_the_reading(events: Events, name: str) -> None:
    """Without it the events are others."""
    assert events(name) != events("nothing")


def test_what_is_silenced_is_what_the_name_says(events: Events) -> None:
    """The assertion of one event each, with the part and without."""

    def assertion(name: str, kind: str, concept: str) -> set[str]:
        found = [one for one in events(name) if (one.kind, one.concept) == (kind, concept)]
        return {one.context.assertion if one.context.experiencer == "patient" else "family" for one in found}

    for part, kind, concept, whole, without in (
        ("context: other persons", "diagnosis", "ovarian_cancer", "family", "present"),
        ("context: plans and hypotheses", "medication", "letrozole", "planned", "present"),
        ("context: uncertainty", "comorbidity", "sarcoidosis", "uncertain", "present"),
        ("context: negation", "metastasis", "liver", "absent", "present"),
        ("sections", "diagnosis", "melanoma", "family", "present"),
    ):
        assert whole in assertion("nothing", kind, concept), part
        assert without in assertion(part, kind, concept), part


def test_every_cue_belongs_to_one_group() -> None:
    """No cue of the shipped list is in none, or in two."""
    grouped = [name for names in CUES.values() for name in names]
    assert sorted(grouped) == sorted({cue["name"] for cue in shipped_cues()["cue"]})
