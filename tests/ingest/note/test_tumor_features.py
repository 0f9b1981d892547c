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
        ("The tumor is 2.6 by 2.6 by 2.5 cm.", 26),
        ("Papillary carcinoma of the thyroid, left lobe (3.5 cm), confined to the thyroid.", 35),
        ("It shows a 3-cm, ulcerated, poorly differentiated keratinizing squamous cell carcinoma.", 30),
        ("A homogeneous mass with a stellate scar, 9.5 x 8.6 cm.", 95),
        ("The tumor is 5.8 x 4 crn.", 58),
        ("Infiltrating ductal carcinoma, grade 2. Greatest diameter 3.2 cm, 12:00.", 32),
        ("Hepatocellular carcinoma: one nodule, 4.5 cm.", 45),
        ("A mass of the choroid, 13.0 x 11.5 mm at base and 7.5 mm high.", 13),
        ("Largest basal diameter: 15.8 mm. Thickness: 8.4 mm.", 15.8),
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
        ("Venous (large vessel) invasion: present.", "venous_invasion", "present"),
        ("No large vessel invasion is seen.", "venous_invasion", "absent"),
        ("Arterial (large vessel) invasion: not identified.", "vascular_invasion", "absent"),
        ("VENOUS INVASION. Venous invasion by tumor is absent.", "venous_invasion", "absent"),
        ("Tumor necrosis: no necrosis.", "tumor_necrosis", "absent"),
        ("Coagulative necrosis is present.", "tumor_necrosis", "present"),
        ("The seminoma shows angio-invasion.", "vascular_invasion", "present"),
        ("SEMINAL VESICAL INVASION: PRESENT.", "seminal_vesicle_invasion", "present"),
        ("Right seminal vesicle: muscular wall infiltrated by tumor.", "seminal_vesicle_invasion", "present"),
        ("The tumor is present outside the prostate.", "extraprostatic_extension", "present"),
        ("Carcinoma, ulcerating through the epidermis.", "tumor_ulceration", "present"),
        ("Infiltration of the dermis and of the epidermis with ulceration.", "tumor_ulceration", "present"),
        ("Extracapsular spread into periprostatic fat.", "extraprostatic_extension", "present"),
        ("Tumor is seen among fat cells outside the prostate.", "extraprostatic_extension", "present"),
        ("Microscopic tumor emboli in small portal branches.", "vascular_invasion", "present"),
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
        ("Invasion of the renal vein is not grossly identified.", "renal_vein", "into", "absent"),
        ("It invades into, but not through, the muscularis propria.", "muscularis_propria", "into", "present"),
        ("Tumor cells are seen at the serosal surface.", "serosa", "into", "present"),
        ("Renal cell carcinoma with thrombus in the renal vein.", "renal_vein", "into", "present"),
        ("Perinephric fat and the sinus fat are not infiltrated.", "perinephric_tissue", "into", "absent"),
        ("Papillary carcinoma, 3.3 cm, intrathyroidal.", "thyroid", "confined", "present"),
        ("The tumour lies wholly within the testis.", "testis", "confined", "present"),
        ("It grows into the muscle, though nowhere does it extend to the adventitia.", "adventitia", "into", "absent"),
        ("It infiltrates into, not beyond, the muscularis propria.", "muscularis_propria", "into", "present"),
        ("The tumor extends past the thyroid into strap muscle.", "strap_muscle", "through", "present"),
        ("Tumor thrombus within a branch of the renal vein.", "renal_vein", "into", "present"),
        ("It extends subpleurally but not to the pleural surface.", "visceral_pleura", "into", "absent"),
        ("The tumor is limited in the cervix.", "cervix", "confined", "present"),
        ("The tumor does not exceed the fibrous capsule.", "renal_capsule", "confined", "present"),
        ("The thyroid capsule is not transgressed by the tumor.", "thyroid_capsule", "confined", "present"),
        ("The tumor reaches the free surface of the serosa.", "serosa", "into", "present"),
        ("Infiltration by tumor of all wall layers of the transverse colon.", "transverse_colon", "into", "present"),
        ("Involvement of: serosa.", "serosa", "into", "present"),
        ("Tumor: parametrial soft tissue, no carcinoma identified.", "parametrium", "into", "absent"),
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
        ("The lateral margin is 0.7 mm from the tumor.", "clear", "lateral", 0.7),
        ("Distal margin: uninvolved by carcinoma, 4.5 cm from the tumor.", "clear", "distal", 45),
        ("Closest margin: 3 mm (deep).", "clear", "deep", 3),
        ("Carcinoma is less than 1 mm from the medial margin.", "close", "medial", None),
        ("Margins are free of carcinoma by 2 cm.", "clear", None, 20),
        ("Anterior margin: negative (tumor is > 5 cm away).", "clear", "anterior", None),
    ],
)
def test_a_margin_has_its_result(
    reader: NoteReader, text: str, result: str, which: str | None, distance: float | None
) -> None:
    found = [one.attributes for one in read(reader, text) if one.concept == "resection_margin"]
    assert [(one["result"], one.get("which"), one.get("distance")) for one in found] == [(result, which, distance)]


def test_a_distance_belongs_to_its_own_margin(reader: NoteReader) -> None:
    """Of two figures in a list each is of the margin that it is measured from."""
    text = "The tumor is 0.8 cm from the deep margin and 1.5 cm from the medial margin."
    found = {one.attributes["which"]: one.attributes.get("distance") for one in read(reader, text)}
    assert found == {"deep": 8, "medial": 15}


@pytest.mark.parametrize(
    "text",
    [
        "Block A3: tumor to inferior margin.",
        "Specimen labeled negative for tumor closest margins.",
        "Received is the proximal margin, 3.0 cm in length.",
        "New medial margin, a 2.0 cm piece of fat.",
    ],
)
def test_a_piece_of_tissue_is_no_margin_with_a_result(reader: NoteReader, text: str) -> None:
    assert [one for one in read(reader, text) if one.concept == "resection_margin"] == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Tumor focality: Unifocal.", 1),
        ("Tumor focality is unifocal.", 1),
        ("Focality: Single focus of invasive carcinoma.", 1),
        ("Number of tumors: 3.", 3),
        ("Two foci of invasive ductal carcinoma are present.", 2),
        ("There are four separate tumor nodules.", 4),
        ("Three lymph nodes are tumor free.", None),
        ("Slides 2 and 3: tumor.", None),
        ("Number of tumor blocks: 4.", None),
        ("Hepatocellular carcinoma, solitary, 4.2 cm.", 1),
        ("Hepatocellular carcinoma, 4.5 cm, one tumor only.", 1),
        ("Lesion: A well-defined firm mass (5.0 x 4.8 cm).", 1),
        ("A firm mass (5.0 x 4.8 cm), a second nodule of 1 cm.", None),
    ],
)
def test_tumors_are_counted(reader: NoteReader, text: str, value: float | None) -> None:
    found = [one.attributes["value"] for one in read(reader, text) if one.concept == "tumor_number"]
    assert found == ([] if value is None else [value])


@pytest.mark.parametrize(
    ("text", "polarity"),
    [
        ("Multifocal papillary carcinoma.", "present"),
        ("Multicentricity: not identified.", "absent"),
        ("Multiple foci of infiltrating lobular carcinoma.", "present"),
        ("Tumor focality: multifocal.", "present"),
        ("Multifocal ductal carcinoma in situ.", None),
        ("There is multifocal extension to the fat.", None),
    ],
)
def test_foci_may_be_several(reader: NoteReader, text: str, polarity: str | None) -> None:
    found = [str(one.context.polarity) for one in read(reader, text) if one.concept == "multifocality"]
    assert found == ([] if polarity is None else [polarity])


@pytest.mark.parametrize(
    ("text", "concept", "value"),
    [
        ("Viable tumor: 35%.", "viable_tumor_fraction", 35),
        ("About 20% of the tumor is viable.", "viable_tumor_fraction", 20),
        ("There is 65% necrosis.", "tumor_necrosis", 65),
        ("Tumor necrosis: 80%.", "tumor_necrosis", 80),
        ("Viable tumor: less than 10%.", "viable_tumor_fraction", None),
        ("Viable tumor 10-20%.", "viable_tumor_fraction", None),
        ("Fat necrosis, 30% of the specimen.", "tumor_necrosis", None),
    ],
)
def test_a_share_of_the_tumor_is_a_number(reader: NoteReader, text: str, concept: str, value: float | None) -> None:
    """A range and a bound are no number, and what dies in fat is no tumor."""
    found = [one.attributes.get("value") for one in read(reader, text) if one.concept == concept]
    assert [one for one in found if one is not None] == ([] if value is None else [value])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Treatment effect: present.", ("present", {})),
        ("Treatment effect: not identified.", ("absent", {})),
        ("Treatment effect: marked response.", ("present", {"result": "marked"})),
        ("Treatment effect: no residual tumor.", ("present", {"result": "complete"})),
        ("Response to neoadjuvant therapy: partial response.", ("present", {"result": "partial"})),
        ("Ryan score: 2.", ("present", {"value": 2, "which": "ryan"})),
        ("Tumor regression grade 4 (Mandard).", ("present", {"value": 4, "which": "mandard"})),
        ("RCB class III.", ("present", {"value": 3, "which": "rcb"})),
        # Nothing is told of what was not treated, and regression of a melanoma is none of a treatment's.
        ("Treatment effect: no prior treatment.", None),
        ("Treatment effect: not applicable.", None),
        ("Regression: absent.", None),
    ],
)
def test_an_effect_of_treatment_is_told_by_words_or_on_a_scale(
    reader: NoteReader, text: str, told: tuple[str, dict[str, object]] | None
) -> None:
    kept = ("value", "result", "which")
    found = [
        (str(one.context.polarity), {key: one.attributes[key] for key in kept if key in one.attributes})
        for one in read(reader, text)
        if one.concept == "treatment_effect"
    ]
    assert found == ([] if told is None else [told])


@pytest.mark.parametrize(
    ("text", "concept", "value"),
    [
        ("Tumor bed size: 3.1 x 2.4 cm.", "tumor_bed_size", 31),
        ("Breslow thickness: 3.2 mm.", "tumor_thickness", 3.2),
        ("Depth of invasion: 1.1 cm.", "depth_of_invasion", 11),
        ("Size of the largest metastatic deposit: 6 mm.", "node_deposit_size", 6),
        ("Largest metastatic tumor measures 2.5 cm.", "node_deposit_size", 25),
    ],
)
def test_a_measure_has_its_label(reader: NoteReader, text: str, concept: str, value: float) -> None:
    assert [one.attributes["value"] for one in read(reader, text) if one.concept == concept] == [value]


@pytest.mark.parametrize(
    ("text", "polarity", "method"),
    [
        ("MRI breast: the carcinoma measures 2.1 x 1.4 cm.", "present", "mri"),
        # A mass may be a tumor.
        ("On ultrasound a 2.1 cm mass is seen in the left breast.", "uncertain", "ultrasound"),
        ("There is a cyst of 2.1 cm.", None, None),
        ("A lymph node of 2.1 cm lies beside the mass.", None, None),
    ],
)
def test_imaging_measures_tumors_and_what_may_be_one(
    reader: NoteReader, text: str, polarity: str | None, method: str | None
) -> None:
    note = Note("P1", "D1", text, datetime.date(2015, 3, 2), "imaging report")
    found = [one for one in reader.read(note).mentions if one.concept == "tumor_size"]
    told = [(one.attributes["value"], str(one.context.polarity), one.attributes.get("method")) for one in found]
    assert told == ([] if polarity is None else [(21, polarity, method)])
    assert all(one.attributes["which"] == "imaging" for one in found)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Left breast: a mass at the 10 o'clock position.", 10),
        ("Clock position: 2:30", 2.5),
        ("Right breast carcinoma at the 3:00 position.", 3),
        ("Left breast, lumpectomy. Suture marks the margin at 12 o'clock.", None),
        ("Left breast. Received at 3:00.", None),
        ("Anal mass at 3 o'clock.", None),
    ],
)
def test_a_lesion_of_the_breast_has_its_place_on_the_clock(reader: NoteReader, text: str, value: float | None) -> None:
    found = [one.attributes["value"] for one in read(reader, text) if one.concept == "clock_position"]
    assert found == ([] if value is None else [value])


def test_only_reports_of_pathology_are_read_so(reader: NoteReader) -> None:
    assert not read(reader, "Tumor size: 4.1 cm. It extends into the perinephric fat.", "clinic note")
