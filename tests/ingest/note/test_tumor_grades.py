"""Which of the grades of a report of pathology is the tumor's, in invented reports."""

from __future__ import annotations

import datetime

import pytest

from cohortium.ingest.note.read import NoteReader
from cohortium.kb.model import Note
from cohortium.kb.ontology.concepts import shipped_concepts


@pytest.fixture(scope="module")
def reader() -> NoteReader:
    """Reads notes under the shipped ontology."""
    return NoteReader(shipped_concepts())


def grades(reader: NoteReader, text: str, type_: str = "pathology report") -> set[str]:
    """The grades of the mentions."""
    mentions = reader.read(Note("P1", "D1", text, datetime.date(2014, 5, 6), type_)).mentions
    return {str(one.attributes.get("grade")) for one in mentions if one.kind == "grade"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        # What was known before, and what was said during the operation.
        ("Clinical history: biopsy showed Gleason 4+4. Diagnosis: Prostate: adenocarcinoma, Gleason 3+4.", {"3+4"}),
        ("CLINICAL NOTES : PSA 9, Gleason 7. MICROSCOPIC : carcinoma, Gleason 4+5=9.", {"4+5"}),
        ("Tongue: carcinoma, well differentiated. Frozen section: carcinoma, poorly differentiated.", {"1"}),
        # The dominant nodule, else the highest score.
        ("Index tumor: Gleason 3+4. Other foci: Gleason 4+4.", {"3+4"}),
        ("Left lobe: Gleason 3+3=6. Right lobe: Gleason 4+3=7.", {"4+3"}),
        # The field of the synopsis before prose about a part.
        ("Moderately differentiated areas are seen. Histologic grade: G3: poorly differentiated.", {"3"}),
        ("Well differentiated in part. The worst differentiation III. The major differentiation II.", {"3"}),
        ("Frozen section: carcinoma. Permanent: same. Frozen section: poorly differentiated. Final: Grade 2.", {"2"}),
        # Beside an ulcer it is no grade of that.
        ("Tongue: an ulcerated, poorly differentiated carcinoma.", {"3"}),
        # A grade within the name of a tumor.
        ("Skin: poorly differentiated keratinizing squamous cell carcinoma.", {"3"}),
        ("Prostatic adenocarcinoma, Gleason score 7 (3+4).", {"3+4"}),
        ("Undifferentiated carcinoma of the pancreas.", {"4"}),
    ],
)
def test_the_grade_of_a_report_is_that_of_the_tumor_taken_out(reader: NoteReader, text: str, told: set[str]) -> None:
    """Grades of a biopsy before, a frozen section, a part or a smaller nodule are none beside it."""
    assert grades(reader, text) == told


def test_what_was_known_before_is_read_where_the_report_has_nothing_else(reader: NoteReader) -> None:
    """A report that tells one grade alone keeps it, wherever that stands."""
    assert grades(reader, "Clinical history: Gleason 4+4. Diagnosis: prostate, resection.") == {"4+4"}


def test_other_notes_keep_all_their_grades(reader: NoteReader) -> None:
    """Only a report of pathology is about one operation."""
    assert grades(reader, "Gleason 3+3=6 in 2019, now Gleason 4+3=7.", "clinic note") == {"3+3", "4+3"}
