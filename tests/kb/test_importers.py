"""Importers: five formats as rows beside the shipped concepts, nothing doubled, everything left out told."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from cohortium.kb.errors import UsageError
from cohortium.kb.importers import obo
from cohortium.kb.importers.importing import READERS, ImportReport, import_terms
from cohortium.kb.importers.joining import join
from cohortium.kb.ontology.concepts import ConceptTable, shipped_concepts
from cohortium.kb.ontology.lint import lint_shipped
from cohortium.kb.ontology.rows import ConceptRow
from tests.steps import steps_of

OBO = r"""format-version: 1.2

[Term]
id: DOID:162
name: cancer
is_a: DOID:4 ! disease

[Term]
id: DOID:9000001
name: quuxoma
alt_id: DOID:9000009
synonym: "malignant quux \"tumor\"" EXACT [SRC:1]
synonym: "quux" RELATED []
synonym: "SETTLEQ" EXACT []
synonym: "QXM" EXACT ACRONYM []
synonym: "osteosarcoma" EXACT []
xref: NCI:C4817
is_a: DOID:162 {source="x"} ! cancer
relationship: part_of DOID:4 ! disease

[Term]
id: DOID:9000002
name: Osteosarcoma
is_a: DOID:9000001

[Term]
id: DOID:9000003
name: old quuxoma
is_obsolete: true
replaced_by: DOID:9000001

[Term]
id: DOID:9000004
name: QX2
is_a: DOID:9000001

[Term]
id: DOID:9000005
name: childhood quuxoma
is_a: DOID:9000004

[Term]
id: DOID:9000006
name: fever of the quux

[Typedef]
id: part_of
name: part of
"""


def run(
    folder: Path, form: str, files: dict[str, str], **options: object
) -> tuple[ImportReport, dict[str, ConceptRow]]:
    """An import of invented files: its report, and its rows by id; what it makes lints clean."""
    source = folder / "source"
    source.mkdir(exist_ok=True)
    for name, text in files.items():
        (source / name).write_text(text, encoding="utf-8")
    out = folder / "out"
    report = import_terms(form, [source], out, **options)  # type: ignore[arg-type]
    concepts = ConceptTable.from_files(out)
    if len(concepts):
        assert lint_shipped(out) == []
    return report, {row.id: row for row in concepts.rows()}


def left_out(folder: Path, form: str) -> set[tuple[str, ...]]:
    """(code, what) of everything left out."""
    lines = (folder / "out" / f"dropped_{form}.tsv").read_text(encoding="utf-8").splitlines()
    return {tuple(line.split("\t")[:2]) for line in lines[1:]}


def test_obo_terms_hang_below_what_is_known(tmp_path: Path) -> None:
    """Only is-a makes parents, only exact synonyms are names, old ids are codes; a nameless term is bridged."""
    report, rows = run(tmp_path, "obo", {"x.obo": OBO})
    new = rows["doid_9000001"]
    assert (new.kind, new.name, new.parents) == ("tumor", "quuxoma", ("malignant_neoplasm",))
    assert new.synonyms == ('malignant quux "tumor"',)
    assert [short.text for short in new.abbreviations] == ["SETTLEQ"]
    assert new.codes == ("DOID:9000001", "DOID:9000009", "DOID:9000003")
    assert rows["doid_9000005"].parents == ("doid_9000001",)
    assert rows["osteosarcoma"].codes == ("DOID:9000002",)
    assert "doid_9000004" not in rows
    assert (report.new, report.extended) == (2, 1)
    assert left_out(tmp_path, "obo") == {
        ("DOID:9000001", "quux"),
        ("DOID:9000001", "QXM"),
        ("DOID:9000001", "osteosarcoma"),
        ("DOID:9000003", "old quuxoma"),
        ("DOID:9000004", "QX2"),
        ("DOID:9000006", "fever of the quux"),
    }


def test_a_branch_and_a_kind_choose_the_terms(tmp_path: Path) -> None:
    """A branch with a kind says what its terms are where nothing else does; an unknown code is told."""
    _, rows = run(tmp_path, "obo", {"x.obo": OBO}, below="9000006", kind="condition")
    assert [(row.id, row.kind, row.parents) for row in rows.values()] == [("doid_9000006", "condition", ("condition",))]
    with pytest.raises(UsageError, match="--below: no term of the source has the code 'DOID:7'"):
        import_terms("obo", [tmp_path / "source"], tmp_path / "y", below="DOID:7")
    assert import_terms("obo", [tmp_path / "source"], tmp_path / "z", kind="drug").new == 0


def test_a_circle_in_the_source_is_cut(tmp_path: Path) -> None:
    """Its terms hang below the root of their kind, and the edges are told."""
    text = "\n".join(
        f"[Term]\nid: UBERON:{one}\nname: quux part {one}\nis_a: UBERON:{other}\n"
        for one, other in ((91, 92), (92, 91))
    )
    report, rows = run(tmp_path, "obo", {"x.obo": text})
    assert {row.parents for row in rows.values()} == {("anatomical_site",)}
    assert report.dropped == {"cycle": 2}


def stanza(number: int, name: str, *parents: int | str) -> str:
    """A term of OBO with an invented code."""
    above = "".join(f"is_a: QX:{parent}\n" for parent in parents)
    return f"[Term]\nid: QX:{number}\nname: {name}\n{above}\n"


#: Terms that make many steps of few lines: each a text of so many terms.
LONG: dict[str, Callable[[int], str]] = {
    "a chain of no kind": lambda size: "".join(stanza(one, f"quux {one}", one + 1) for one in range(size)),
    "a chain below a known term": lambda size: (
        "".join(stanza(one, f"quux {one}", one + 1) for one in range(size)) + stanza(size, "known tumor")
    ),
    "two chains with rungs": lambda size: (
        "".join(stanza(one, f"quux {one}", one + 2, one + 3 - 2 * (one % 2)) for one in range(size))
        + stanza(size, "known tumor") + stanza(size + 1, "known tumor")
    ),
    "many below a chain of nameless ones": lambda size: (
        "".join(stanza(one, "Q", one + 1) for one in range(size)) + stanza(size, "known tumor")
        + "".join(stanza(one, f"quux {one}", 0) for one in range(size + 1, 2 * size))
    ),
    "many below nameless chains with rungs": lambda size: (
        "".join(stanza(one, "Q", one + 2, one + 3 - 2 * (one % 2)) for one in range(size))
        + stanza(size, "known tumor") + stanza(size + 1, "known tumor")
        + "".join(stanza(one, f"quux {one}", 0) for one in range(size + 2, 2 * size))
    ),
    "many below a circle of nameless ones": lambda size: (
        "".join(stanza(one, "Q", (one + 1) % size, *([size] if one == 7 else [])) for one in range(size))
        + stanza(size, "known tumor")
        + "".join(stanza(one, f"quux {one}", one % size) for one in range(size + 1, 2 * size))
    ),
    "a circle": lambda size: "".join(stanza(one, f"tumor of quux {one}", (one + 1) % size) for one in range(size)),
    "a term with many parents": lambda size: (
        "".join(stanza(one, f"quux {one}", size) for one in range(size))
        + stanza(size, "known tumor") + stanza(size + 1, "quuxes", *range(size))
    ),
    "codes that differ by signs alone": lambda size: "".join(
        stanza(7, f"quux {one}").replace("QX:7", f"QX:7{'-' * one}", 1) for one in range(size)
    ),
}  # fmt: skip


@pytest.mark.parametrize("shape", LONG)
def test_an_import_takes_steps_by_its_length(tmp_path: Path, shape: str) -> None:
    """However terms hang on each other: twice the terms are at most a little more than twice the steps."""
    concepts = ConceptTable([ConceptRow("known", "tumor", "known tumor")])
    rows: list[ConceptRow] = []

    def imported(size: int) -> int:
        path = tmp_path / f"{size}.obo"
        path.write_text(f"format-version: 1.2\n\n{LONG[shape](size)}")
        terms = obo.read([path])
        return steps_of(lambda: rows.extend(join(concepts, terms, "obo", "tumor", True)))

    imported(30)
    assert rows
    assert imported(240) <= 2.3 * imported(120)


def test_below_nameless_terms_the_nearest_concepts_stand(tmp_path: Path) -> None:
    """Over one level or several, each once, the nearest first; above a circle as well."""
    text = (
        stanza(1, "known tumor") + stanza(2, "quux two", 1) + stanza(3, "Q", 2) + stanza(4, "Q", 3, 1)
        + stanza(5, "quux five", 4, 2) + stanza(6, "Q", 7) + stanza(7, "Q", 6, 3) + stanza(8, "quux eight", 6, 5)
    )  # fmt: skip
    (tmp_path / "x.obo").write_text(f"format-version: 1.2\n\n{text}")
    concepts = ConceptTable([ConceptRow("known", "tumor", "known tumor")])
    rows = {row.id: row.parents for row in join(concepts, obo.read([tmp_path / "x.obo"]), "obo", "tumor", True)}
    assert rows == {"known": (), "qx_2": ("known",), "qx_5": ("qx_2", "known"), "qx_8": ("qx_5", "qx_2")}


def node(code: str, name: str, parent: str | None, *children: dict[str, object], **more: object) -> dict[str, object]:
    """A node of OncoTree."""
    held = {one["code"]: one for one in children}
    return {"code": code, "name": name, "parent": parent, "children": held, "history": [], **more}


def test_oncotree_codes_are_no_names_and_tissues_no_organs(tmp_path: Path) -> None:
    """A tissue is the group of its neoplasms; former codes are codes, and no code is a short form."""
    leaf = node("QUX", "Quuxoma, NOS", "BREAST", externalReferences={"NCI": ["C99991"]}, history=["OLDQ"])
    several = node("QUY", "Quuxoma of two", "QUX", externalReferences={"NCI": ["C99992", "C99993"]})
    leaf["children"] = {"QUY": several}
    breast = node("BREAST", "Breast", "TISSUE", leaf, externalReferences={"NCI": ["C12971"]})
    odd = node("ELBOW", "Elbow", "TISSUE")
    tree = {"TISSUE": node("TISSUE", "Tissue", None, breast, odd)}
    _, rows = run(tmp_path, "oncotree", {"t.json": json.dumps(tree)})
    assert rows["oncotree_qux"].parents == ("breast_neoplasm",)
    assert rows["oncotree_qux"].codes == ("ONCOTREE:QUX", "ONCOTREE:OLDQ", "NCIT:C99991")
    assert rows["oncotree_quy"].parents == ("oncotree_qux",)
    assert rows["oncotree_quy"].codes == ("ONCOTREE:QUY",)
    assert (rows["oncotree_elbow"].name, rows["oncotree_elbow"].parents) == ("Elbow neoplasm", ("neoplasm",))
    assert not any(row.abbreviations for row in rows.values())
    assert "breast" not in {name.lower() for row in rows.values() for name in (row.name, *row.synonyms)}


def rrf(*rows: Sequence[str]) -> str:
    """Lines with a trailing bar."""
    return "".join("|".join(row) + "|\n" for row in rows)


def atom(cui: str, kind: str, name: str, source: str = "RXNORM", suppressed: str = "N") -> list[str]:
    """A row of RXNCONSO."""
    return [cui, "ENG", "", "", "", "", "", "", "", "", "", source, kind, cui, name, "", suppressed, ""]


def relation(first: str, second: str, name: str) -> list[str]:
    """A row of RXNREL: the second is so related to the first."""
    return [first, "", "CUI", "RO", second, "", "CUI", name, "", "", "RXNORM", "", "", "", "", ""]


def test_rxnorm_products_are_codes_of_their_ingredient(tmp_path: Path) -> None:
    """Brands and salts are names too; combinations belong to none, and a conjugate is no form of its antibody."""
    atoms = [
        atom("9001", "IN", "quuxatinib"),
        atom("9002", "PIN", "quuxatinib mesylate"),
        atom("9003", "SCDC", "quuxatinib 80 MG"),
        atom("9004", "SCD", "quuxatinib 80 MG Oral Tablet"),
        atom("9005", "BN", "Quuxisso"),
        atom("9006", "SBD", "quuxatinib 80 MG Oral Tablet [Quuxisso]"),
        atom("9010", "IN", "quuxtuzumab"),
        atom("9011", "PIN", "ado-quuxtuzumab emtansine-abcd"),
        atom("9012", "SCDC", "ado-quuxtuzumab emtansine 20 MG"),
        atom("9013", "BN", "Quuxcyla"),
        atom("9014", "SBD", "ado-quuxtuzumab emtansine 20 MG Injection [Quuxcyla]"),
        atom("9020", "MIN", "quuxatinib / quuxtuzumab"),
        atom("9021", "SBD", "quuxatinib 80 MG / unheard-of quux 1 MG Oral Tablet [Quuxcombi]"),
        atom("9022", "BN", "Quuxcombi"),
        atom("9030", "IN", "withdrawn quux", suppressed="O"),
        atom("9031", "IN", "Quux of another source", source="MTHSPL"),
    ]
    relations = [
        relation("9001", "9002", "form_of"),
        relation("9001", "9003", "has_ingredient"),
        relation("9003", "9001", "ingredient_of"),
        relation("9003", "9004", "consists_of"),
        relation("9001", "9005", "tradename_of"),
        relation("9004", "9006", "tradename_of"),
        relation("9005", "9006", "has_ingredient"),
        relation("9010", "9011", "form_of"),
        relation("9010", "9012", "has_ingredient"),
        relation("9011", "9012", "has_precise_ingredient"),
        relation("9012", "9014", "consists_of"),
        relation("9010", "9013", "tradename_of"),
        relation("9013", "9014", "has_ingredient"),
        relation("9003", "9021", "consists_of"),
        relation("9022", "9021", "has_ingredient"),
        relation("9001", "9020", "has_part"),
        relation("9010", "9020", "has_part"),
        relation("9001", "9010", "something_else"),
    ]
    files = {"RXNCONSO.RRF": rrf(*atoms), "RXNREL.RRF": rrf(*relations)}
    report, rows = run(tmp_path, "rxnorm", files)
    assert set(rows) == {"rxnorm_9001", "rxnorm_9010", "rxnorm_9011"}
    assert rows["rxnorm_9001"].synonyms == ("quuxatinib mesylate", "Quuxisso")
    assert rows["rxnorm_9001"].codes == tuple(f"RXNORM:900{n}" for n in range(1, 7))
    assert rows["rxnorm_9010"].synonyms == ()
    assert rows["rxnorm_9011"].synonyms == ("Quuxcyla",)
    assert "RXNORM:9014" in rows["rxnorm_9011"].codes
    assert report.dropped == {"combination": 3, "obsolete": 1}


def test_hgnc_symbols_that_may_be_words_need_a_cue(tmp_path: Path) -> None:
    """Names with digits are plain; short aliases, single words, withdrawn genes and names of several genes stay out."""
    header = "hgnc_id\tsymbol\tname\tstatus\talias_symbol\tprev_symbol\talias_name\tentrez_id"
    lines = [
        'HGNC:90001\tQUX77\tquux family member 77\tApproved\t"QUUXLIGHT|Q77|p99-Quux"\tSHARED99\tquuxin\t777',
        "HGNC:90002\tWORD\tquux word protein\tApproved\t\tSHARED99\t\t",
        "HGNC:90003\tGONE12\told quux\tEntry Withdrawn\t\t\t\t",
        "HGNC:3236\tEGFR\tepidermal growth factor receptor\tApproved\tERBB1\t\t\t1956",
    ]
    report, rows = run(tmp_path, "hgnc", {"hgnc_complete_set.txt": "\n".join([header, *lines])})
    first, second = rows["hgnc_90001"], rows["hgnc_90002"]
    assert (first.name, first.parents) == ("QUX77", ("gene",))
    assert first.codes == ("HGNC:90001", "ENTREZ:777")
    assert set(first.synonyms) == {"quux family member 77", "p99-Quux"}
    assert [(short.text, "gene" in short.cues) for short in first.abbreviations] == [("QUUXLIGHT", True)]
    assert (second.name, second.abbreviations[0].text) == ("WORD gene", "WORD")
    assert "hgnc_3236" not in rows
    assert {"obsolete", "several", "short", "word_like"} <= set(report.dropped)
    concepts = shipped_concepts(tmp_path / "out")
    assert concepts.lookup("HGNC:3236") == ("egfr",)


def table(header: str, *rows: str) -> str:
    """A tab-separated file from words with bars between them."""
    return "".join("\t".join(cell.strip() for cell in line.split("|")) + "\n" for line in (header, *rows))


ATHENA = {
    "CONCEPT.csv": table(
        "concept_id|concept_name|domain_id|vocabulary_id|concept_class_id|standard_concept|concept_code|valid_start_date"
        "|valid_end_date|invalid_reason",
        "1|Carcinoma|Condition|SNOMED|Disorder|S|111|x|y|",
        '2|Quuxoma "of" quux|Condition|SNOMED|Disorder|S|222|x|y|',
        "3|Fever of the quux|Condition|SNOMED|Disorder|S|333|x|y|",
        "4|Old quuxoma|Condition|SNOMED|Disorder||444|x|y|U",
        "5|Quux 80 MG Oral Tablet|Drug|RxNorm|Clinical Drug|S|555|x|y|",
        "6|quuxatinib|Drug|RxNorm|Ingredient|S|666|x|y|",
        "7|Quux visit|Visit|Visit|Visit|S|777|x|y|",
        "8|Quuxoma billing|Condition|ICD10CM|4-char billing code||C99.9|x|y|",
    ),
    "CONCEPT_ANCESTOR.csv": table(
        "ancestor_concept_id|descendant_concept_id|min_levels_of_separation|max_levels_of_separation",
        "1|1|0|0",
        "1|2|1|1",
        "2|2|0|0",
    ),
    "CONCEPT_RELATIONSHIP.csv": table(
        "concept_id_1|concept_id_2|relationship_id|valid_start_date|valid_end_date|invalid_reason",
        "4|2|Concept replaced by|x|y|",
        "3|2|Is a|x|y|D",
        "8|2|Maps to|x|y|",
    ),
    "CONCEPT_SYNONYM.csv": table(
        "concept_id|concept_synonym_name|language_concept_id", "2|Quuxomatosis|4180186", "2|Quuxoom|4182503"
    ),
}


def test_omop_takes_standard_concepts_of_known_domains(tmp_path: Path) -> None:
    """Self rows are no edges, invalid relations neither; a condition is a tumor below a tumor; products stay out."""
    report, rows = run(tmp_path, "omop", ATHENA)
    assert set(rows) >= {"snomed_222", "snomed_333", "rxnorm_666"}
    quuxoma = rows["snomed_222"]
    assert quuxoma.name == 'Quuxoma "of" quux'
    assert quuxoma.synonyms == ("Quuxomatosis",)
    assert quuxoma.codes == ("SNOMED:222", "OMOP:2", "SNOMED:444")
    assert (quuxoma.kind, quuxoma.parents) == ("tumor", ("carcinoma",))
    assert (rows["snomed_333"].kind, rows["snomed_333"].parents) == ("condition", ("condition",))
    assert rows["rxnorm_666"].kind == "drug"
    assert rows["carcinoma"].codes == ("SNOMED:111", "OMOP:1")
    assert report.dropped == {"obsolete": 1}


def test_omop_takes_a_branch_by_concept_or_code(tmp_path: Path) -> None:
    """Only what lies below is read."""
    _, rows = run(tmp_path, "omop", ATHENA, below="SNOMED:111")
    assert set(rows) == {"carcinoma", "snomed_222"}
    again = import_terms("omop", [tmp_path / "source"], tmp_path / "again", below="1")
    assert again.terms == 2


def test_equal_sources_give_equal_files(tmp_path: Path) -> None:
    """Whatever the order of the terms in them."""
    stanzas = OBO.split("\n\n")
    turned = "\n\n".join([stanzas[0], *reversed(stanzas[1:])])
    for name, text in (("a", OBO), ("b", turned)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.obo").write_text(text, encoding="utf-8")
        import_terms("obo", [tmp_path / name / "x.obo"], tmp_path / name / "out")
    for file in ("imported_obo.tsv", "dropped_obo.tsv", "imported_obo.json"):
        assert (tmp_path / "a/out" / file).read_bytes() == (tmp_path / "b/out" / file).read_bytes()


def test_a_second_import_sees_the_first(tmp_path: Path) -> None:
    """With --ontology, what was imported is known and not doubled."""
    run(tmp_path, "obo", {"x.obo": OBO})
    tree = {"TISSUE": node("TISSUE", "Tissue", None, node("X", "X", "TISSUE", node("QUX", "Quuxoma", "X")))}
    (tmp_path / "t.json").write_text(json.dumps(tree))
    import_terms("oncotree", [tmp_path / "t.json"], tmp_path / "out", ontology=tmp_path / "out")
    concepts = shipped_concepts(tmp_path / "out")
    assert concepts.lookup("ONCOTREE:QUX") == concepts.lookup("DOID:9000001") == ("doid_9000001",)
    assert lint_shipped(tmp_path / "out") == []


WRONG = {
    "no format": ("owl", {}, "formats are obo, oncotree"),
    "no json": ("oncotree", {"t.json": "{"}, "is not JSON"),
    "no node": ("oncotree", {"t.json": "[]"}, "holds no node"),
    "no column": ("hgnc", {"h.txt": "a\tb\n"}, "no column 'hgnc_id'"),
    "no file": ("rxnorm", {"x.txt": ""}, "there is no RXNCONSO.RRF"),
    "no concepts": ("omop", {"x.txt": ""}, "there is no CONCEPT.csv"),
}


@pytest.mark.parametrize(("form", "files", "told"), WRONG.values(), ids=WRONG.keys())
def test_what_cannot_be_imported_is_told(tmp_path: Path, form: str, files: dict[str, str], told: str) -> None:
    """In a line, with what is missing."""
    with pytest.raises(UsageError, match=told):
        run(tmp_path, form, files)


def test_nothing_is_written_over(tmp_path: Path) -> None:
    """Rows that somebody may have mended stay."""
    run(tmp_path, "obo", {"x.obo": OBO})
    with pytest.raises(UsageError, match=r"imported_obo\.tsv' is there already"):
        import_terms("obo", [tmp_path / "source"], tmp_path / "out")


@pytest.mark.parametrize("form", READERS)
def test_a_file_that_is_no_utf8_is_told(tmp_path: Path, form: str) -> None:
    """Whatever the format."""
    name = {"omop": "CONCEPT.csv", "rxnorm": "RXNCONSO.RRF"}.get(form, "x")
    (tmp_path / name).write_bytes(b"caf\xe9\tx\n")
    with pytest.raises(UsageError, match="is not UTF-8"):
        import_terms(form, [tmp_path / name], tmp_path / "out")
