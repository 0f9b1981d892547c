"""Forms and flattened lines of reports of pathology: extent by its label, spared structures, sizes, categories."""

from __future__ import annotations

import datetime

import pytest

from cohortium.ingest.note.read import NoteReader
from cohortium.kb.model import Mention, Note
from cohortium.kb.ontology.concepts import shipped_concepts

HEAD = "Stomach, distal gastrectomy: adenocarcinoma. "


@pytest.fixture(scope="module")
def reader() -> NoteReader:
    """Reads notes under the shipped ontology."""
    return NoteReader(shipped_concepts())


def read(reader: NoteReader, text: str, *kinds: str) -> list[Mention]:
    """The mentions of some kinds in a report."""
    note = Note("P1", "D1", HEAD + text, datetime.date(2015, 3, 2), "surgical pathology")
    return [mention for mention in reader.read(note).mentions if mention.kind in kinds]


@pytest.mark.parametrize(
    ("text", "concept", "polarity"),
    [
        ("Tumor extent: Adventitia. Margins: Uninvolved.", "adventitia", {"present"}),
        ("Extent of invasion: Serosa (visceral peritoneum).", "serosa", {"present"}),
        ("Extent of invasion: Perirenal adipose tissue: does not involve.", "perinephric_tissue", {"absent"}),
        ("Extent of invasion: Perirenal adipose tissue: cannot determine.", "perinephric_tissue", {"uncertain"}),
        ("Seminal vesicles, no tumor present.", "seminal_vesicle", {"absent"}),
        ("Adrenal gland: no carcinoma identified.", "adrenal_gland", {"absent"}),
        ("The mass extends to abut the mandible.", "mandible", set()),
        ("Possible invasion into the duodenum.", "duodenum", {"uncertain"}),
        ("pT4 Tumor invades the spleen or the pancreas.", "spleen", set()),
        ("It grows up to the pleura but not through it.", "pleura", set()),
    ],
)
def test_a_structure_is_grown_into_or_spared(reader: NoteReader, text: str, concept: str, polarity: set[str]) -> None:
    """A label governs what stands behind it; what only comes near, or a category's definition, tells of no growth."""
    found = {str(one.context.polarity) for one in read(reader, text, "extension") if one.concept == concept}
    assert found == polarity


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("Tumour Size (cm). 3.5. Histology.", {35.0}),
        ("Tumor size: 2.4 X 0 X 1.9 cm.", {24.0}),
        ("- INVASIVE CARCINOMA, GRADE III. (NO GLANDS) NUCLEAR GRADE 3. MEASURING 3.5 CM IN LARGEST EXTENT.", {35.0}),
        ("Gastric mass 4.1 cm on MRI.", set()),
        ("MRI: mass of 4.1 cm.", set()),
        ("Tumor side of the fragment, 4.1 x 2.0 cm.", set()),
        ("The tumor has a base of 14 mm and is 6 mm in maximal thickness.", {14.0}),
    ],
)
def test_sizes_of_forms_and_of_images(reader: NoteReader, text: str, size: set[float]) -> None:
    """A unit in the label, a nought for what was not measured, and no size of an image or of another thing."""
    found = {float(one.attributes["value"]) for one in read(reader, text, "feature") if one.concept == "tumor_size"}
    assert found == size


def test_a_thickness_may_stand_behind_its_figure(reader: NoteReader) -> None:
    """*6 mm in maximal thickness* is the tumor's thickness and no size."""
    (one,) = (
        one for one in read(reader, "It is 6 mm in maximal thickness.", "feature") if one.concept == "tumor_thickness"
    )
    assert one.attributes["value"] == 6.0


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("Primary Tumor (pT): T4a. Margins free.", ("t", "T4a")),
        ("Pathological T. T2, NOS.", ("t", "T2")),
        ("Extent of invasion: T3: beyond the muscle.", ("t", "T3")),
        ("Regional Lymph Nodes (pN): N1: two nodes.", ("n", "N1")),
        ("Classification: G II, pT3L0V0R0.", ("t", "T3")),
    ],
)
def test_a_field_makes_a_category(reader: NoteReader, text: str, category: tuple[str, str]) -> None:
    """A lone category counts behind the field of a form that asks for it."""
    letter, value = category
    assert [one.attributes.get(letter) for one in read(reader, text, "tnm")] == [value]


@pytest.mark.parametrize(
    "text",
    [
        "Section code: T1, tumor; N1, node.",
        "Tumor thickness (pT1 and pT2 tumors): 4 mm.",
        "N1 lymph nodes: eight.",
        "Lymph node: N1 - # involved: 0.",
    ],
)
def test_blocks_stations_and_legends_are_no_categories(reader: NoteReader, text: str) -> None:
    """T1 of a block, N1 of a station, and the categories of a legend stage nothing."""
    assert read(reader, text, "tnm") == []


def test_the_year_of_a_manual_is_no_date(reader: NoteReader) -> None:
    """*AJCC 2002* names an edition; the category has the day of the report."""
    (one,) = read(reader, "The pathologic stage is (AJCC 2002): pT3.", "tnm")
    assert one.day.low == one.day.high == datetime.date(2015, 3, 2).toordinal()


@pytest.mark.parametrize(
    ("text", "concepts"),
    [
        (
            "STOMACH TISSUE CHECKLIST. Histologic type: Tubular adenocarcinoma. Tumor site: Fundus.",
            {"gastric_adenocarcinoma"},
        ),
        ("STOMACH TISSUE CHECKLIST. Histologic type: Adenocarcinoma, intestinal type.", {"gastric_adenocarcinoma"}),
        ("Rectum, resection, with free oral and aboral margins and an adenocarcinoma.", {"rectal_adenocarcinoma"}),
        ("Right globe, enucleation: choroidal melanoma, 14 MM base.", {"choroidal_melanoma"}),
        (
            "Case ICCA-XY-0123. Right kidney, nephrectomy: clear cell renal cell carcinoma.",
            {"clear_cell_renal_cell_carcinoma"},
        ),
    ],
)
def test_a_tumor_is_of_its_organ(reader: NoteReader, text: str, concepts: set[str]) -> None:
    """Titles of forms tell the organ; words of a type, of a margin, units and identifiers tell none."""
    note = Note("P1", "D1", text, datetime.date(2015, 3, 2), "surgical pathology")
    assert {one.concept for one in reader.read(note).mentions if one.kind == "diagnosis"} == concepts
