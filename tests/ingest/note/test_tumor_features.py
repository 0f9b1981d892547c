"""What reports of pathology state of a tumor: size, margins, invasion, extension, in invented lines."""

from __future__ import annotations

import datetime

import pytest

from cohortium.ingest.note.read import NoteReader
from cohortium.kb.model import Mention, Note
from cohortium.kb.ontology.concepts import shipped_concepts

HEAD = "Left kidney, radical nephrectomy: renal cell carcinoma. "


@pytest.fixture(scope="module")
def reader() -> NoteReader:
    """Reads notes under the shipped ontology."""
    return NoteReader(shipped_concepts())


def read(reader: NoteReader, text: str, type_: str = "pathology") -> list[Mention]:
    """The mentions of features and extensions."""
    note = Note("P1", "D1", HEAD + text, datetime.date(2015, 3, 2), type_)
    return [mention for mention in reader.read(note).mentions if mention.kind in ("feature", "extension")]


def sizes(reader: NoteReader, text: str) -> set[float]:
    """The tumor's sizes in millimetres."""
    return {float(one.attributes["value"]) for one in read(reader, text) if one.concept == "tumor_size"}


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("Tumor size: 4.1 x 3.2 x 2.0 cm.", 41),
        ("Tumor Size. Greatest dimension: 3.6 cm.", 36),
        ("The tumor measures 2,5 cm in greatest dimension.", 25),
        ("There is a 3.4 x 2.9 cm firm tan mass in the lower pole.", 34),
        ("Size of the tumor: 27 mm.", 27),
        ("Sectioned to reveal a 5.5 X 4.0 x. 3.0 cm, well circumscribed tumor.", 55),
        ("Carcinoma, 1.8 cm in maximum diameter.", 18),
    ],
)
def test_a_tumor_has_its_size(reader: NoteReader, text: str, size: float) -> None:
    assert sizes(reader, text) == {size}


@pytest.mark.parametrize(
    "text",
    [
        "The specimen measures 14 x 9 x 6 cm.",
        "The tumor is 0.6 cm from the nearest margin.",
        "A lymph node of 1.2 cm is found.",
        "pT1b: tumor more than 4 cm but not more than 7 cm.",
        "Ureter, 3.5 cm in length.",
        "The tumor invades to a depth of 4 mm.",
    ],
)
def test_other_things_have_sizes_of_their_own(reader: NoteReader, text: str) -> None:
    assert sizes(reader, text) == set()


def test_each_dimension_is_kept(reader: NoteReader) -> None:
    (one,) = (one for one in read(reader, "Tumor size: 2.0 x 4.1 x 3.2 cm.") if one.concept == "tumor_size")
    assert (one.attributes["value"], one.attributes["second"], one.attributes["third"]) == (41, 32, 20)


@pytest.mark.parametrize(
    ("text", "concept", "polarity"),
    [
        ("Lymphovascular invasion: Not identified.", "lymphovascular_invasion", "absent"),
        ("Lymphovascular invasion: Present.", "lymphovascular_invasion", "present"),
        ("Perineural Invasion. Absent.", "perineural_invasion", "absent"),
        ("No perineural or lymphovascular invasion is seen.", "lymphovascular_invasion", "absent"),
        ("Extrathyroidal extension is identified.", "extrathyroidal_extension", "present"),
        ("The findings are suspicious for vascular invasion.", "vascular_invasion", "uncertain"),
        ("Negative for extranodal extension.", "extranodal_extension", "absent"),
        ("Venous invasion: none.", "venous_invasion", "absent"),
    ],
)
def test_a_feature_is_there_or_denied(reader: NoteReader, text: str, concept: str, polarity: str) -> None:
    found = {str(one.context.polarity) for one in read(reader, text) if one.concept == concept}
    assert found == {polarity}


@pytest.mark.parametrize(
    ("text", "concept", "reach", "polarity"),
    [
        ("The tumor extends into the perinephric fat.", "perinephric_tissue", "into", "present"),
        ("The tumor does not invade the renal sinus.", "renal_sinus", "into", "absent"),
        ("The tumor is confined to the kidney.", "kidney", "confined", "present"),
        ("It invades through the muscularis propria.", "muscularis_propria", "through", "present"),
        ("The renal vein is uninvolved.", "renal_vein", "into", "absent"),
        ("Perinephric invasion: not identified.", "perinephric_tissue", "into", "absent"),
        ("It extends into the perinephric fat and renal sinus.", "renal_sinus", "into", "present"),
    ],
)
def test_a_tumor_grows_into_what_is_named(
    reader: NoteReader, text: str, concept: str, reach: str, polarity: str
) -> None:
    found = {
        (one.attributes.get("reach"), str(one.context.polarity))
        for one in read(reader, text)
        if one.kind == "extension" and one.concept == concept
    }
    assert found == {(reach, polarity)}


@pytest.mark.parametrize(
    ("text", "result", "which", "distance"),
    [
        ("Deep margin involved.", "involved", "deep", None),
        ("Margins: negative for carcinoma.", "clear", None, None),
        ("Carcinoma is present at the radial margin.", "involved", "radial", None),
        ("The tumor is 0.4 cm from the closest margin.", "clear", "closest", 4),
        ("The posterior margin is close.", "close", "posterior", None),
    ],
)
def test_a_margin_has_its_result(
    reader: NoteReader, text: str, result: str, which: str | None, distance: float | None
) -> None:
    found = [one.attributes for one in read(reader, text) if one.concept == "resection_margin"]
    assert [(one["result"], one.get("which"), one.get("distance")) for one in found] == [(result, which, distance)]


@pytest.mark.parametrize(
    ("text", "concept", "value"),
    [
        ("Breslow thickness: 3.2 mm.", "tumor_thickness", 3.2),
        ("Depth of invasion: 1.1 cm.", "depth_of_invasion", 11),
        ("Size of the largest metastatic deposit: 6 mm.", "node_deposit_size", 6),
    ],
)
def test_a_measure_has_its_label(reader: NoteReader, text: str, concept: str, value: float) -> None:
    assert [one.attributes["value"] for one in read(reader, text) if one.concept == concept] == [value]


def test_only_reports_of_pathology_are_read_so(reader: NoteReader) -> None:
    assert not read(reader, "Tumor size: 4.1 cm. It extends into the perinephric fat.", "clinic note")
