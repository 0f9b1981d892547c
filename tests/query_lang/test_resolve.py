"""Resolution: names become concepts, kinds are inferred, attributes are checked, and what is unknown is told."""

from __future__ import annotations

import pytest

from cohortium.kb.ontology.concepts import ConceptRow, ConceptTable, ValueSet, shipped_concepts
from cohortium.kb.ontology.rows import Abbreviation
from cohortium.kb.ontology.scales import Scales
from cohortium.query_lang import nodes
from cohortium.query_lang.errors import QueryError
from cohortium.query_lang.nodes import Concept, Name
from cohortium.query_lang.parsing.parse import parse
from cohortium.query_lang.render import render
from cohortium.query_lang.resolution.resolve import resolve, resolve_text


def _row(identity: str, kind: str, name: str, parents: str = "", *synonyms: str, codes: str = "") -> ConceptRow:
    return ConceptRow(
        identity, kind, name, tuple(parents.split()), synonyms, codes=tuple(codes.split()), source="made for tests"
    )


ROWS = [
    _row("cancer", "tumor", "cancer"),
    _row("lung_cancer", "tumor", "lung cancer", "cancer"),
    _row("luad", "tumor", "lung adenocarcinoma", "lung_cancer", codes="ONCOTREE:LUAD"),
    _row("hnscc", "tumor", "head and neck squamous cell carcinoma", "cancer"),
    _row("systemic", "drug", "systemic therapy"),
    _row("egfr_tki", "drug", "EGFR inhibitor", "systemic"),
    _row("osimertinib", "drug", "osimertinib", "egfr_tki", "Tagrisso", codes="RXNORM:1721560"),
    _row("cisplatin", "drug", "cisplatin", "systemic"),
    _row("folfox", "regimen", "FOLFOX"),
    _row("gene", "gene", "gene"),
    _row("egfr", "gene", "EGFR", "gene"),
    _row("kras", "gene", "KRAS", "gene"),
    _row("erbb2", "gene", "ERBB2", "gene", "HER2"),
    _row("her2", "biomarker", "HER2"),
    _row("er", "biomarker", "ER"),
    _row("psa", "biomarker", "PSA"),
    _row("mmr", "biomarker", "MMR status", "", "dMMR"),
    _row("result_positive", "value", "positive in any degree"),
    _row("positive", "value", "positive", "result_positive"),
    _row("result_negative", "value", "negative in any degree"),
    _row("negative", "value", "negative", "result_negative"),
    _row("weakly_positive", "value", "weakly positive", "result_positive"),
    _row("deficient", "value", "deficient", "", "dMMR"),
    _row("wild_type", "value", "wild type"),
    _row("mastectomy", "procedure", "mastectomy"),
    _row("radiotherapy", "radiation", "radiation therapy"),
    _row("brain", "site", "brain"),
    _row("castration_resistant", "state", "castration resistance"),
    ConceptRow("ecog", "performance", "ECOG performance status", abbreviations=(Abbreviation("ECOG"),)),
    _row("twin_one", "tumor", "twin"),
    _row("twin_two", "tumor", "other twin", "", "twin"),
]
CONCEPTS = ConceptTable(ROWS, [ValueSet("platinum or TKI", ("osimertinib", "cisplatin"))])
SCALES = Scales.from_files()


def resolved(text: str) -> nodes.Query:
    return resolve_text(text, CONCEPTS, SCALES)


def events(text: str) -> nodes.Events:
    body = resolved(text).body
    assert isinstance(body, nodes.Exists)
    return body.events


def error(text: str) -> QueryError:
    with pytest.raises(QueryError) as caught:
        resolved(text)
    return caught.value


@pytest.mark.parametrize(
    "text", ["osimertinib", "Tagrisso", "medication TAGRISSO", "RxCUI 1721560", "drug osimertinib"]
)
def test_every_name_of_a_concept_means_the_same(text: str) -> None:
    """Names, brands and codes resolve to one concept of one kind."""
    assert events(text) == nodes.Events("medication", nodes.Under(Concept("osimertinib", "osimertinib")))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("lung cancer", "diagnosis"),
        ("cisplatin", "medication"),
        ("FOLFOX", "regimen"),
        ("medication FOLFOX", "regimen"),
        ("EGFR", "variant"),
        ("castration resistance", "state"),
        ("radiation therapy", "radiation"),
        ("mastectomy", None),
        ("ER", None),
        ("ER exactly positive", "biomarker"),
        ("any (lung cancer or cisplatin)", None),
        ("cancer other than lung cancer", "diagnosis"),
    ],
)
def test_the_kind_of_a_bare_name_is_inferred(text: str, kind: str | None) -> None:
    """One kind where one fits; none where several do."""
    assert events(text).kind == kind


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("biomarker HER2 positive", "biomarker HER2 with result = positive"),
        ("HER2+", "biomarker HER2 with result = positive"),
        ("biomarker ER-", "biomarker ER with result = negative"),
        ("'ER (-)'", "biomarker ER with (result = negative or percent < 1)"),
        ("HER2-negative", "biomarker HER2 with result = negative"),
        ("HER2 weakly positive", "biomarker HER2 with result = 'weakly positive'"),
        ("variant EGFR L858R", "variant EGFR with protein = L858R"),
        ("variant EGFR with protein = p.Leu858Arg", "variant EGFR with protein = L858R"),
        ("EGFR fusion", "variant EGFR with alteration = fusion"),
        ("germline KRAS amplification", "variant KRAS with origin = germline, alteration = amplification"),
        ("radiation to brain", "radiation with site = brain"),
        ("dMMR", "biomarker 'MMR status' with result = deficient"),
        ("biomarker exactly positive", "biomarker with result exactly positive"),
        ("diagnosis cancer with laterality = LEFT", "diagnosis cancer with laterality = left"),
        ("diagnosis cancer with laterality != left", "cancer with laterality documented and not laterality = left"),
        ("stage >= 3a", "stage >= IIIA"),
        ("T = 2b", "T = T2b"),
        ("medication 'platinum or TKI'", "medication (osimertinib or cisplatin)"),
        ("ONCOTREE:LUAD", "diagnosis 'lung adenocarcinoma'"),
    ],
)
def test_short_forms_mean_the_long_ones(text: str, same: str) -> None:
    """What a name or value says in short resolves as the long spelling does."""
    assert resolved(text) == resolved(same)


def test_a_plain_result_means_its_family_unless_exact() -> None:
    """*positive* admits every degree; *exactly positive* is the plain word."""
    assert events("biomarker ER positive").condition == nodes.Is(
        "result", (Concept("result_positive", "positive in any degree"),)
    )
    assert events("biomarker ER exactly positive").condition == nodes.Is(
        "result", (Concept("positive", "positive"),), exact=True
    )


@pytest.mark.parametrize(
    "text",
    [
        "lung cancer and not (osimertinib or FOLFOX)",
        "biomarker HER2 positive",
        "variant HER2 with alteration = amplification",
        "variant EGFR with (alteration = mutation and protein = L858R)",
        "medication any 'systemic therapy' other than 'EGFR inhibitor'",
        "medication 'platinum or TKI'",
        "latest ECOG <= 2 and grade >= 3 and T between T2 and T3",
        "diagnosis cancer with laterality != left",
        "let x be lung cancer; same tumor (x and mastectomy) and radiation to brain before 2020",
        "concept:erbb2 and concept:her2",
    ],
)
def test_a_resolved_query_reads_back_to_itself(text: str) -> None:
    """Rendering a resolved query by preferred names and resolving it again gives the same query."""
    query = resolved(text)
    assert resolved(render(query)) == query
    assert resolve(query, CONCEPTS, SCALES) == query


@pytest.mark.parametrize(
    ("text", "message", "column", "hint"),
    [
        ("diagnosis lung adenocarcinma", "no diagnosis is called 'lung adenocarcinma'", 11, "lung adenocarcinoma"),
        ("death and osimertinb", "'osimertinb' is not known", 11, "did you mean 'osimertinib'"),
        (
            "diagnosis osimertinib",
            "'osimertinib' is a drug, which is no diagnosis",
            11,
            "write 'medication osimertinib'",
        ),
        ("HER2", "'HER2' has several readings", 1, "write 'biomarker HER2' or 'variant HER2'"),
        ("twin", "'twin' has several readings", 1, "concept:twin_one"),
        ("brain", "'brain' is a site, and no fact by itself", 1, "write 'metastasis to brain'"),
        ("head and neck squamous cell carcinoma", "'head and neck squamous cell carcinoma' is one name", 1, "quotes"),
        ("variant EGFR with protien = L858R", "variant has no attribute 'protien'", 19, "did you mean 'protein'?"),
        ("variant EGFR with alteration = mutaton", "'mutaton' is no value of alteration", 32, "'mutation'"),
        ("cancer with laterality = lft", "'lft' is no value of laterality", 26, "did you mean 'left'"),
        ("biomarker ER with result = positiv", "'positiv' is no known value of result", 28, "'positive'"),
        ("biomarker ER with percent >= many", "'percent' is a number, and 'many' is none", 30, ""),
        ("stage >= IIQ", "'IIQ' is no value of stage", 10, "did you mean"),
        ("stage between IV and II", "nothing lies between IV and II", 15, "between II and IV"),
        ("variant EGFR with origin >= germline", "the values of 'origin' have no order", 19, "origin = "),
        ("variant EGFR with exon = 19, stage >= II", "variant has no attribute 'stage'", 30, "close this one first"),
        ("stage of cancer", "stage has no concept of its own", 10, "cancer and stage"),
        ("let x be death; x and y", "'y' is not known", 23, ""),
    ],
)
def test_what_is_unknown_is_told_with_its_place_and_the_nearest_known(
    text: str, message: str, column: int, hint: str
) -> None:
    """The message names the word, the caret stands under it, and the hint knows better."""
    found = error(text)
    assert message in found.message
    assert found.column == column
    assert hint in found.hint
    assert found.exit_code == 3


def test_several_errors_are_told_at_once() -> None:
    """Up to five problems come in one error, each with its own place."""
    found = error("aaaa and stage >= IIQ and variant EGFR with protien = x")
    assert [one.column for one in found.errors] == [1, 19, 45]
    assert str(found).count("Hint:") == 3
    assert len(error(" and ".join(f"unknown{number}" for number in range(50))).errors) == 5


def test_an_undefined_definition_is_told() -> None:
    """A definition sees those before it only."""
    query = nodes.Query(nodes.Defined("x"))
    with pytest.raises(QueryError, match="'x' is not defined"):
        resolve(query, CONCEPTS, SCALES)


def test_a_wide_query_resolves() -> None:
    """Thousands of criteria are resolved without recursion into them."""
    text = " or ".join(["lung cancer", "osimertinib"] * 3_000)
    body = resolve(parse(text), CONCEPTS, SCALES).body
    assert isinstance(body, nodes.Or)
    assert len(body.parts) == 6_000


def test_plain_values_stay_words_in_their_recorded_form() -> None:
    """Values that are no concepts stay names, so that engines compare them as words."""
    condition = events("variant EGFR with alteration = gene fusion").condition
    assert condition == nodes.Is("alteration", (Name("fusion"),))


def test_what_is_taken_away_is_of_the_kind_that_it_is_taken_from() -> None:
    """*Any therapy except a gene* takes nothing away: it is refused rather than passed over."""
    with pytest.raises(QueryError, match="'EGFR' is a gene, which is no medication"):
        resolve_text("any 'systemic therapy' except EGFR", shipped_concepts(), Scales.from_files())


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("pain in both hips", "pain with (site = hip and laterality = bilateral)"),
        ("bilateral hip pain", "pain with (site = hip and laterality = bilateral)"),
        ("fracture of the left hip", "fracture with (site = hip and laterality = left)"),
        ("right hip replacement", "hip replacement with laterality = right"),
        ("left breast cancer", "diagnosis breast cancer with laterality = left"),
        ("'pneumothorax, left'", "pneumothorax with laterality = left"),
        ("'hydronephrosis on the right side'", "hydronephrosis with laterality = right"),
        ("left ventricular hypertrophy", "left ventricular hypertrophy"),
    ],
)
def test_a_side_in_a_name_is_asked_for(text: str, means: str) -> None:
    """No word of a name is dropped."""
    assert render(resolve_text(text, shipped_concepts(), Scales.from_files())) == means


@pytest.mark.parametrize(
    "text", ["left right hip pain", "pain in either hip", "left", "'left, right'", "left left knee"]
)
def test_a_side_that_means_nothing_is_refused(text: str) -> None:
    """Two sides, or a word that is none."""
    with pytest.raises(QueryError):
        resolve_text(text, shipped_concepts(), Scales.from_files())
