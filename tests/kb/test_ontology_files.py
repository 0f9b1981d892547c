"""The ontology that ships is free of errors and says what the reading of the queries needs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cohortium.kb.errors import OntologyError
from cohortium.kb.ontology.concepts import ConceptTable, shipped_concepts
from cohortium.kb.ontology.lint import lint_shipped
from cohortium.kb.ontology.normal_forms import ONTOLOGY_FOLDER
from cohortium.kb.ontology.regimens import read_components
from cohortium.kb.ontology.rows import read_concepts
from cohortium.kb.ontology.scales import ATTRIBUTE_SCALES, Scales


@pytest.fixture(scope="module")
def shipped() -> ConceptTable:
    """The shipped ontology."""
    return shipped_concepts()


def test_lint_is_clean() -> None:
    """No cycle, no undefined parent, no name or id twice, no synonym that says more than its concept."""
    assert lint_shipped() == []


def test_scales_are_there() -> None:
    """Every attribute with an order has its scale."""
    assert set(ATTRIBUTE_SCALES.values()) <= set(Scales.from_files().names())


def test_regimens_consist_of_drugs(shipped: ConceptTable) -> None:
    """Every regimen with components, and every component, is a concept of its kind."""
    components = read_components()
    assert components
    for regimen, parts in components.items():
        assert regimen in shipped, regimen
        assert shipped.kind(regimen) == "regimen", regimen
        for part in parts:
            assert part.drug in shipped, (regimen, part.drug)
            assert shipped.kind(part.drug) in ("drug", "regimen"), (regimen, part.drug)
    assert len({(regimen, part.drug) for regimen, parts in components.items() for part in parts}) == sum(
        map(len, components.values())
    )


def test_components_file_must_be_whole(tmp_path: Path) -> None:
    """A line that lacks a cell is told with its place."""
    path = tmp_path / "regimen_components.tsv"
    path.write_text("regimen\tcomponent\toptional\nfolfox\tfluorouracil\t0\nfolfox\toxaliplatin\n", encoding="utf-8")
    with pytest.raises(OntologyError, match=r"regimen_components\.tsv:3"):
        read_components(path)


@pytest.mark.parametrize("file", ["variants.tsv", "exons.tsv"])
def test_genes_of_companion_files_exist(shipped: ConceptTable, file: str) -> None:
    """Variants and exons name genes of the ontology."""
    lines = (ONTOLOGY_FOLDER / file).read_text(encoding="utf-8").splitlines()
    genes = {line.split("\t")[0] for line in lines if line and not line.startswith("#")} - {"gene"}
    assert genes
    assert {gene for gene in genes if gene not in shipped or shipped.kind(gene) != "gene"} == set()


def test_an_oncotree_code_names_one_concept(shipped: ConceptTable) -> None:
    """No code of OncoTree stands on two concepts."""
    holders: dict[str, list[str]] = {}
    for row in shipped.rows():
        for code in row.codes:
            if code.startswith("ONCOTREE:"):
                holders.setdefault(code, []).append(row.id)
    assert {code: ids for code, ids in holders.items() if len(ids) > 1} == {}


@pytest.mark.parametrize(
    ("name", "concept"),
    [
        ("AML with t(8;21)", "aml_with_runx1_runx1t1"),
        ("CMML-2", "cmml_2"),
        ("Hodgkin lymphoma, mixed cellularity", "mixed_cellularity_hodgkin_lymphoma"),
        ("telangiectatic osteosarcoma", "telangiectatic_osteosarcoma"),
        ("rhabdoid meningioma", "rhabdoid_meningioma"),
        ("double-hit lymphoma", "double_hit_lymphoma"),
    ],
)
def test_a_subtype_is_a_concept_of_its_own(shipped: ConceptTable, name: str, concept: str) -> None:
    """A subtype is not a synonym of what lies above it."""
    assert shipped.lookup(name, ("tumor",))[0] == concept


@pytest.mark.parametrize(
    ("name", "concept", "wider"),
    [
        ("Alzheimer's disease", "alzheimer_disease", "dementia"),
        ("CABG", "coronary_artery_bypass_graft", "coronary_intervention"),
        ("percutaneous coronary intervention", "percutaneous_coronary_intervention", "coronary_intervention"),
        ("hemodialysis", "hemodialysis", "dialysis"),
        ("peritoneal dialysis", "peritoneal_dialysis", "dialysis"),
        ("total knee replacement", "total_knee_arthroplasty", "joint_replacement"),
        ("ventricular tachycardia", "ventricular_tachycardia", "arrhythmia"),
        ("aortic stenosis", "aortic_stenosis", "valvular_heart_disease"),
        (
            "tonsillar squamous cell carcinoma",
            "tonsil_squamous_cell_carcinoma",
            "oropharyngeal_squamous_cell_carcinoma",
        ),
        ("covalent BTK inhibitor", "covalent_btk_inhibitor", "btk_inhibitor"),
        ("right mainstem bronchus", "right_mainstem_bronchus", "main_bronchus"),
        ("radiographic progression", "radiographic_progression", "progression"),
    ],
)
def test_a_narrower_name_lies_below(shipped: ConceptTable, name: str, concept: str, wider: str) -> None:
    """It finds its own concept alone, and that lies below the wider one."""
    assert shipped.lookup(name) == (concept,)
    assert shipped.is_a(concept, wider)


@pytest.mark.parametrize(
    ("name", "concept"),
    [
        ("arthritis", "osteoarthritis"),
        ("numbness", "peripheral_neuropathy"),
        ("allergic reaction", "infusion_reaction"),
        ("hematoma", "wound_complication"),
        ("reflux", "gerd"),
        ("encephalopathy", "encephalitis"),
        ("thrombosis", "venous_thromboembolism"),
        ("herpes simplex", "herpes_zoster"),
        ("atrial flutter", "atrial_fibrillation"),
        ("postpartum", "pregnancy_state"),
    ],
)
def test_a_name_of_something_else_is_no_synonym(shipped: ConceptTable, name: str, concept: str) -> None:
    """Nor lies what it names below that concept."""
    found = shipped.lookup(name)
    assert found
    assert not any(shipped.is_a(one, concept) for one in found)


def test_no_drug_is_one_of_two_letters_without_a_cue(shipped: ConceptTable) -> None:
    """A short form of one or two letters is a drug only beside a cue."""
    bare = {
        short.text
        for row in shipped.rows()
        if row.kind == "drug"
        for short in row.abbreviations
        if len(short.text) <= 2 and not short.cues
    }
    assert bare == set()


#: How the codes of a system look.
_CODES = {
    "DOID": r"\d{1,7}", "SYMP": r"\d{7}", "MAXO": r"\d{7}", "HP": r"\d{7}", "RXNORM": r"\d{2,7}", "NCIT": r"C\d{3,6}",
    "HGNC": r"\d{1,5}", "ATC": r"[A-Z]\d\d[A-Z]{0,2}(?:\d\d)?",
}  # fmt: skip


def test_codes_look_like_codes_of_their_system(shipped: ConceptTable) -> None:
    """No name, no blank and no code of another system stands in the place of one."""
    codes = [code.partition(":") for row in shipped.rows() for code in row.codes]
    assert {"DOID", "SYMP", "MAXO", "RXNORM"} <= {system for system, _, _ in codes}
    assert [
        f"{system}:{code}" for system, _, code in codes if system in _CODES and not re.fullmatch(_CODES[system], code)
    ] == []


def test_general_medicine_hangs_where_it_decides_the_kind(shipped: ConceptTable) -> None:
    """No illness, sign or operation of general medicine hangs on the root of side effects; no drug treats cancer."""
    problems: list[str] = []
    for path in sorted(ONTOLOGY_FOLDER.glob("general_*.tsv")):
        for row in read_concepts(path, problems):
            assert "toxicity" not in row.parents, row.id
            root = {"condition": "condition", "procedure": "procedure", "drug": "therapy"}[row.kind]
            assert root in shipped.above(row.id), row.id
            assert "systemic_therapy" not in shipped.above(row.id), row.id
    assert problems == []
