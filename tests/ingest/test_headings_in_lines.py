"""Headings that an exporter ran together, and lists that end before what is none of their items."""

from __future__ import annotations

import pytest

from cohortium.ingest.note.read import read_text
from cohortium.ingest.text.shape import Shape

PARTS = (
    ("HISTORY OF PRESENT ILLNESS", "She has breast cancer."),
    ("FAMILY HISTORY", "Mother had lung cancer."),
    ("PLAN", "Letrozole."),
)


def written(opened: str, closed: str = ": ") -> str:
    """A note whose headings but the first stand behind one sign, and all before another."""
    return opened.join(f"{name}{closed}{said}" for name, said in PARTS)


def sections(text: str) -> list[str]:
    """The names of the sections of a text, in order, without what stands before the first heading."""
    return [section.name for section in Shape(text).sections if section.heading_end > section.start]


@pytest.mark.parametrize(
    "text",
    [
        written(",", ":, "),
        written(", ", ":  ,"),
        written(","),
        written(",").replace("FAMILY HISTORY", "Family History"),
        written("||"),
        written("~"),
        written(r"\.br\\"[:-1]),
        written("<br>"),
        written(" <b>", ":</b> "),
        written(" **", ":** "),
        written("||1. "),
    ],
)
def test_a_line_break_may_be_written_otherwise(text: str) -> None:
    """The sections are those of the note with its line breaks, and nothing reaches over a heading."""
    assert sections(text) == sections(written("\n", ":\n"))
    found = {(mention.text, mention.section, str(mention.context.experiencer)) for mention in read_text(text).mentions}
    assert ("breast cancer", "history_of_present_illness", "patient") in found
    assert ("lung cancer", "family_history", "family") in found


def test_an_unknown_heading_between_commas_ends_a_family_history() -> None:
    """As one on a line of its own does."""
    text = "FAMILY HISTORY:, Mother had lung cancer.,WOUND CARE:, She has breast cancer."
    found = {mention.text: str(mention.context.experiencer) for mention in read_text(text).mentions}
    assert found["lung cancer"] == "family"
    assert found["breast cancer"] == "patient"


@pytest.mark.parametrize(
    "text",
    ["ER: positive, PR: negative, HER2: negative.", "ER positive, ECOG: 1, KPS: 90", "Seen today, and: letrozole"],
)
def test_what_stands_in_a_list_of_results_is_no_heading(text: str) -> None:
    """A comma that a writer set parts no sections."""
    shape = Shape(text)
    assert [(section.start, section.end) for section in shape.sections] == [(0, len(text))]
    assert len(shape.sentences) == 1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "Allergies: NKDA\n\n62-year-old man with ER positive breast cancer, ECOG 1, on letrozole.",
            {"sex", "diagnosis", "biomarker", "performance", "medication"},
        ),
        ("Allergies: penicillin. ECOG 0.", {"performance"}),
        (
            "ALLERGIES: sulfa (rash), codeine\nStage IIIA breast cancer, on letrozole.",
            {"stage", "diagnosis", "medication"},
        ),
        ("Allergies: docetaxel.\n\nShe began letrozole in March and feels well on it.", {"medication"}),
        ("Allergies:\n\nPaclitaxel - rash\n\nDocetaxel\n\nCodeine", set()),
        ("ALLERGIES: She is allergic to paclitaxel. Docetaxel caused hives.", set()),
        ("Allergies: paclitaxel, docetaxel.\nContrast gave her a rash with the CT of her cancer.", set()),
    ],
)
def test_a_list_of_allergies_ends_with_its_items(text: str, told: set[str]) -> None:
    """What cannot be an allergy is read; what may be one is not."""
    kinds = {mention.kind for mention in read_text(text).mentions} - {"birth", "allergy"}
    assert kinds == told
