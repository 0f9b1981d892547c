"""Scanned reports are read as what was meant, as long as they were written, and no further than the evidence goes."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohortium.ingest.note.read import shared_reader
from cohortium.ingest.text.alignment import AlignedWords, shipped_confusions
from cohortium.kb.model import Note

PREFIX = "PATHOLOGIC STAGE: "


def seen(text: str) -> str:
    """The text as rules see it in a report of pathology."""
    return shared_reader().seen(Note("P1", "D1", text, datetime.date(2012, 1, 1), "surgical pathology")).text


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("pNO", "pN0"),
        ("pTla pNX", "pT1a pNX"),
        ("pT2m (diameter 2 cm)", "pT2  (diameter 2 cm)"),
        ("PT3A NO MX", "pT3a N0 MX"),
        ("pT2NOMX", "pT2N0MX"),
        ("T 2b. N l. M x.", "T 2b, N 1, M X."),
        ("p. T3", "pT3  "),
        ("pNIb", "pN1b"),
        ("pNQ.", "pN0."),
    ],
)
def test_categories_are_read_through_noise(written: str, meant: str) -> None:
    """Letters that pass for figures, capitals, blanks and full stops between categories are set right."""
    assert seen(PREFIX + written) == PREFIX + meant


@pytest.mark.parametrize(
    "text",
    [
        "Perineural invasion: No. 7. Margins: No tumor.",
        "LYMPH NODES: NO TUMOR SEEN.",
        "Extension to surgical margin, NO MX.",
        "Axillary nodes No II of IV.",
        "PT 12.5 seconds, NO bleeding.",
        "a 1-CM OVOID nodule; M OVAL.",
        "Pain in the T12 vertebra.",
        "IMM RECUT. IMMUNOSTAINS pending.",
        "A. LEFT KIDNEY. B. LYMPH NODE.",
        "TNM stage: T 2. M 1 X.",
        "Seven right nodes, no tumor. Two left nodes, no tumor.",
        "Laterality: Left. Focality: Unifocal.",
        "KRAS codon 12: wild type.",
    ],
)
def test_words_are_no_categories(text: str) -> None:
    """What is a word of its own, or a measure, is left as it is."""
    assert seen(text) == text


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("Mesothelloma of the pieura", "Mesothelioma of the pleura"),
        ("CARCIN0MA, RENAL", "CARCINOMA, RENAL"),
        ("nephrectorny", "nephrectomy "),
        ("ade nocarcinoma", "adenocarcinoma "),
        ("moderately. differentiated", "moderately  differentiated"),
        ("GRADE. II", "GRADE  II"),
        ("2.5 x. 3.1 cm", "2.5 x  3.1 cm"),
        ("infiltrating adenocar-. cinoma", "infiltrating adenocarcinoma   "),
        ("angio-. invasion present", "angioinvasion    present"),
        ("upper lobe of the left. Lung", "upper lobe of the left  Lung"),
        ("lymph nodes (O/l2)", "lymph nodes (0/12)"),
        ("nuclear grade Il", "nuclear grade II"),
    ],
)
def test_words_figures_and_lines_are_set_right(written: str, meant: str) -> None:
    """Words of the lexicon, counts of nodes, Roman grades, and full stops that end a line alone."""
    assert seen(written) == meant


def test_only_reports_of_pathology_are_scans() -> None:
    """A clinic note is read as it is written."""
    text = "Stage pNO. Mesothelloma."
    assert shared_reader().seen(Note("P1", "D1", text, None, "clinic note")).text == text


@given(st.text(alphabet="pTNM 0O1lI2x.,/()abcR ", max_size=60))
def test_the_text_stays_as_long(text: str) -> None:
    """Whatever is set right, every offset holds; and reading what was set right changes nothing that is no blank."""
    first = seen(text)
    assert len(first) == len(text)


def test_mentions_quote_what_was_written() -> None:
    """The words of a mention are those of the note, also where a word was read as a shorter one."""
    text = "Left kidney, nephrectorny: renal cell carcinorna, pTla pNO."
    read = shared_reader().read(Note("P1", "D1", text, datetime.date(2012, 1, 1), "surgical pathology"))
    words = {mention.kind: mention.text for mention in read.mentions}
    assert words["diagnosis"] == "renal cell carcinorna"
    assert words["tnm"] == "pTla pNO"
    (staged,) = (mention for mention in read.mentions if mention.kind == "tnm")
    assert (staged.attributes["t"], staged.attributes["n"]) == ("T1a", "N0")


def test_a_word_between_two_is_neither() -> None:
    """Where two words may have been meant at like cost, the word stays as it is."""
    words = AlignedWords(["marine", "moring", "carcinoma"])
    assert words.meant["msrine"] == "marine"
    words = AlignedWords(["marone", "marene", "carcinoma"])
    assert words.meant["marane"] == ""
    assert words.meant["carcinorna"] == "carcinoma"
    assert words.meant["carcinoma"] == ""


def test_each_confusion_costs_less_than_a_letter() -> None:
    """The table pays for no more than one letter each, and holds both ways."""
    confusions = shipped_confusions()
    assert all(0 < cost <= 1 for cost in (*confusions.single.values(), *confusions.double.values()))
    assert all(confusions.single[b, a] == cost for (a, b), cost in confusions.single.items())
