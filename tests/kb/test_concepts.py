"""Names find their concept however they are written; closures follow every parent."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cohortium.kb.errors import OntologyError
from cohortium.kb.ontology.concepts import ConceptRow, ConceptTable
from cohortium.kb.ontology.graph import path
from cohortium.kb.ontology.lint import lint
from cohortium.kb.ontology.normal_forms import normal_form, squashed
from cohortium.kb.ontology.rows import Abbreviation


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("lung adenocarcinoma", ("lung_adenocarcinoma",)),
        ("Lung Adenocarcinomas", ("lung_adenocarcinoma",)),
        ("lung-adenocarcinoma", ("lung_adenocarcinoma",)),
        ("lung_adenocarcinoma", ("lung_adenocarcinoma",)),
        ("non small cell lung cancer", ("nsclc",)),
        ("nonsmall-cell lung cancers", ("nsclc",)),
        ("nsclc", ("nsclc",)),
        ("tumours", ("neoplasm",)),
        ("tumor", ("neoplasm",)),
        ("Leukaemia", ("leukemia",)),
        ("metastases", ("metastasis",)),
        ("TAGRISSO", ("osimertinib",)),
        ("RxCUI 1721560", ("osimertinib",)),
        ("RXNORM:1721560", ("osimertinib",)),
        ("rxcui:1721560", ("osimertinib",)),
        ("ONCOTREE:LUAD", ("lung_adenocarcinoma",)),
        ("OncoTree LUAD", ("lung_adenocarcinoma",)),
        ("NCIt C7377", ("lung_cancer",)),
        ("HER-2", ("her2",)),
        ("Her 2/neu", ("her2",)),
        ("PR", ("progesterone_receptor", "partial_response")),
        ("pr", ()),
        ("all", ()),
        ("ALL", ("leukemia",)),
        ("luad", ("lung_adenocarcinoma",)),
        ("ONCOTREE:1721560", ()),
        ("", ()),
        ("no such thing", ()),
    ],
)
def test_lookup(concepts: ConceptTable, text: str, ids: tuple[str, ...]) -> None:
    """Case, hyphens, plurals and British spelling do not matter; an ambiguous short form needs its exact case."""
    assert concepts.lookup(text) == ids


def test_lookup_within_kinds(concepts: ConceptTable) -> None:
    """Kinds choose among the readings of a name."""
    assert concepts.lookup("PR", kinds=["state"]) == ("partial_response",)
    assert concepts.lookup("PR", kinds=["drug"]) == ()


@pytest.mark.parametrize(
    ("british", "american"),
    [
        ("oesophageal tumour", "esophageal tumor"),
        ("haematological", "hematological"),
        ("anaemia", "anemia"),
        ("leukaemia", "leukemia"),
        ("ischaemic oedema", "ischemic edema"),
        ("caecum", "cecum"),
        ("oestrogen", "estrogen"),
        ("Hodgkin's lymphoma", "Hodgkin lymphoma"),
        ("grey zone", "gray zone"),
    ],
)
def test_spelling(british: str, american: str) -> None:
    """British and American spellings share a normal form."""
    assert normal_form(british) == normal_form(american)


@pytest.mark.parametrize(
    ("plural", "singular"),
    [
        ("biopsies", "biopsy"),
        ("diagnoses", "diagnosis"),
        ("lymph nodes", "lymph node"),
        ("masses", "mass"),
        ("diseases", "disease"),
        ("PD-L1", "PDL1"),
    ],
)
def test_plurals_and_joins(plural: str, singular: str) -> None:
    """Plural and singular share a key, and so do the joined and the hyphenated form."""
    assert squashed(normal_form(plural)) == squashed(normal_form(singular))


def test_plurals_keep_other_words_apart() -> None:
    """Words that merely look like plurals, and short symbols, keep their last letter."""
    assert squashed("ras") != squashed("ra")
    assert squashed("mass") != squashed("mas")
    assert squashed("sinus") != squashed("sinu")


def test_closures_follow_every_parent(concepts: ConceptTable) -> None:
    """Below and above hold the concept itself and all that any chain of parents reaches."""
    assert concepts.above("lung_adenocarcinoma") == {
        "lung_adenocarcinoma",
        "adenocarcinoma",
        "carcinoma",
        "nsclc",
        "lung_cancer",
        "neoplasm",
    }
    assert concepts.below("carcinoma") == {"carcinoma", "adenocarcinoma", "nsclc", "lung_adenocarcinoma"}
    assert concepts.is_a("nsclc", "carcinoma")
    assert not concepts.is_a("carcinoma", "nsclc")
    assert concepts.is_a("unknown", "unknown")
    assert not concepts.is_a("unknown", "nsclc")


def test_rows_and_names(concepts: ConceptTable) -> None:
    """A concept comes back as written, with its abbreviations' cues."""
    row = concepts.get("progesterone_receptor")
    assert (row.kind, row.name) == ("biomarker", "progesterone receptor")
    assert row.abbreviations == (Abbreviation("PR", ("ER", "receptor")),)
    assert concepts.names("her2") == ("HER2", "HER2/neu", "c-erbB-2")
    assert concepts.get("nsclc").codes == ("ONCOTREE:NSCLC",)
    with pytest.raises(KeyError):
        concepts.get("unknown")


def test_value_sets(concepts: ConceptTable) -> None:
    """A set is found by its name or alias, however written."""
    assert concepts.value_set("egfr_inhibitors") == ("osimertinib",)
    assert concepts.value_set("EGFR inhibitors") == ("osimertinib",)
    assert concepts.value_set("Core of the lung basket") == ("nsclc", "leukemia")
    assert concepts.value_set("lung baskets") is None, "a set is named exactly"
    assert concepts.value_set("Lung-basket") == ("nsclc", "leukemia")
    assert concepts.value_set("unknown") is None


def test_nearest(concepts: ConceptTable) -> None:
    """A misspelt name is met by the name that was meant."""
    assert concepts.nearest("ossimertinib")[0] == "osimertinib"
    assert concepts.nearest("lung adenocarcinom", kinds=["tumor"], n=1) == ["lung adenocarcinoma"]
    assert concepts.nearest("lung adenocarcinom", kinds=["drug"]) == []


def test_bad_data_is_told_and_passed_over(tmp_path: Path) -> None:
    """Undefined parents, double ids, short lines and unreadable abbreviations are problems, not crashes."""
    header = "id\tkind\tname\tparents\tsynonyms\tabbreviations\tcodes\tsite\tsource\n"
    (tmp_path / "a.tsv").write_text(header + "x\ttumor\tex\tnowhere|y\t\tX{a\t\t\t\ny\ttumor\twhy\n", encoding="utf-8")
    (tmp_path / "b.tsv").write_text(header + "x\tdrug\tex again\t\t\t\t\t\t\nbroken\n", encoding="utf-8")
    concepts = ConceptTable.from_files(tmp_path)
    assert concepts.above("x") == {"x", "y"}
    assert concepts.kind("x") == "tumor"
    told = "\n".join(lint(concepts))
    for part in ("'nowhere'", "'x' is defined twice", "b.tsv:3: 1 columns", "'X{a' cannot be read"):
        assert part in told


def test_a_file_that_is_no_text_is_an_error(tmp_path: Path) -> None:
    """The message names the file."""
    (tmp_path / "a.tsv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(OntologyError, match=r"a\.tsv"):
        ConceptTable.from_files(tmp_path)


def test_lint_finds_what_it_should() -> None:
    """Cycles, own parents, empty and double names, unknown kinds and sites are each told."""
    rows = [
        ConceptRow("a", "tumor", "one", ("b",)),
        ConceptRow("b", "tumor", "two", ("a",)),
        ConceptRow("c", "tumor", "three", ("c",), ("Ones",)),
        ConceptRow("d", "tumor", "One"),
        ConceptRow("e", "thing", ""),
        ConceptRow("F f", "drug", "one", site="a"),
    ]
    told = "\n".join(lint(ConceptTable(rows)))
    for part in ("below each other: a, b", "'c' is its own parent", "'One' names both 'a' and 'd'", "kind 'thing'"):
        assert part in told
    for part in ("'e' has an empty name", "'F f': an id", "the site 'a'"):
        assert part in told
    assert "names both 'a' and 'F f'" not in told, "another kind may bear the same name"
    assert ConceptTable(rows).below("a") == {"a", "b"}, "a cycle ends"


def test_path_explains(concepts: ConceptTable) -> None:
    """A path runs from the descendant up to the ancestor, and there is none the other way."""
    assert path(concepts, "lung_adenocarcinoma", "lung_cancer") == ("lung_adenocarcinoma", "nsclc", "lung_cancer")
    assert path(concepts, "lung_cancer", "lung_adenocarcinoma") is None
    assert path(concepts, "nsclc", "nsclc") == ("nsclc",)
    with pytest.raises(KeyError):
        path(concepts, "unknown", "nsclc")


def test_the_query_path_imports_no_graph_library() -> None:
    """Opening a kb loads neither networkx nor a model library: imports alone would cost seconds."""
    stores = "cohortium.kb.storage.reader, cohortium.kb.storage.writer"
    program = f"import sys, {stores}; print(sorted({{'networkx', 'torch'}} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
