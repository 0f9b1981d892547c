"""What people ask of the ontology: all of a concept, a search, the ways between two, and what lint finds."""

from __future__ import annotations

from pathlib import Path

import pytest

from cohortium.kb.errors import UsageError
from cohortium.kb.ontology.concepts import ConceptTable, shipped_concepts
from cohortium.kb.ontology.graph import ways
from cohortium.kb.ontology.lint import lint, lint_shipped
from cohortium.kb.ontology.rows import ALL_COLUMNS, COLUMNS, Abbreviation, ConceptRow, ValueSet
from cohortium.kb.ontology.scope import widening_names
from cohortium.kb.ontology.search import Match, describe, resolve, search

ROWS = [
    ConceptRow("neoplasm", "tumor", "neoplasm"),
    ConceptRow("carcinoma", "tumor", "carcinoma", ("neoplasm",)),
    ConceptRow("breast_cancer", "tumor", "breast cancer", ("neoplasm",), ("mammary cancer",), codes=("DOID:1612",)),
    ConceptRow("idc", "tumor", "ductal carcinoma of breast", ("carcinoma", "breast_cancer"), ("ductal carcinoma",)),
    ConceptRow("ilc", "tumor", "lobular carcinoma of breast", ("carcinoma", "breast_cancer")),
    ConceptRow("dcis", "tumor", "ductal carcinoma in situ", ("breast_cancer",), (), (Abbreviation("DCIS"),)),
    ConceptRow("er", "biomarker", "estrogen receptor", (), (), (Abbreviation("ER", ("PR",)),)),
]
TABLE = ConceptTable(ROWS, [ValueSet("breast", ("breast_cancer",))])


def test_a_search_is_ranked() -> None:
    """Exact, then what begins so, then what holds the words, then near spellings; the shorter name first."""
    found = search(TABLE, "ductal carcinoma")
    assert [(one.concept, one.match) for one in found] == [("idc", Match.EXACT), ("dcis", Match.PREFIX)]
    assert [one.concept for one in search(TABLE, "carcinoma")] == ["carcinoma", "idc", "dcis", "ilc"]
    assert [(one.concept, one.match) for one in search(TABLE, "lobullar carcinoma of breast", limit=1)] == [
        ("ilc", Match.NEAR)
    ]


def test_a_search_knows_codes_short_forms_kinds_and_a_limit() -> None:
    """Each concept stands once, under the name that answers."""
    assert [(one.concept, one.name) for one in search(TABLE, "DOID:1612")] == [("breast_cancer", "DOID:1612")]
    assert [one.concept for one in search(TABLE, "dcis")] == ["dcis"]
    assert search(TABLE, "carcinoma", kind="biomarker") == []
    assert len(search(TABLE, "carcinoma", limit=2)) == 2
    with pytest.raises(UsageError, match=r"'tumour' is no kind.*tumor"):
        search(TABLE, "x", kind="tumour")
    with pytest.raises(UsageError, match="no letter or digit"):
        search(TABLE, " - ")


def test_a_concept_is_found_by_id_name_and_code_or_its_nearest_is_told() -> None:
    """As in a query."""
    assert {resolve(TABLE, text)[0] for text in ("breast_cancer", "Mammary Cancer", "DOID 1612")} == {"breast_cancer"}
    with pytest.raises(UsageError, match=r"knows no 'brest cancer'.*did you mean 'breast cancer'"):
        resolve(TABLE, "brest cancer")


def test_a_concept_is_told_whole() -> None:
    """With its place in the hierarchy and the value sets that admit it."""
    told = describe(TABLE, "breast_cancer")
    assert [one["concept"] for one in told["children"]] == ["idc", "ilc", "dcis"]
    assert (told["descendants"], told["value_sets"], told["codes"]) == (3, ["breast"], ["DOID:1612"])
    assert describe(TABLE, "idc")["value_sets"] == ["breast"]
    assert describe(TABLE, "er")["abbreviations"] == [{"text": "ER", "cues": ["PR"]}]


def test_ways_go_up_or_meet_above() -> None:
    """All of the shortest; what is nearest above both, and nothing that is above that."""
    assert [way.first for way in ways(TABLE, "idc", "neoplasm")] == [
        ("idc", "breast_cancer", "neoplasm"),
        ("idc", "carcinoma", "neoplasm"),
    ]
    assert [way.second for way in ways(TABLE, "carcinoma", "idc")] == [("idc", "carcinoma")]
    assert [way.meeting for way in ways(TABLE, "idc", "ilc")] == ["breast_cancer", "carcinoma"]
    (way,) = ways(TABLE, "dcis", "carcinoma")
    assert (way.first, way.second, way.edges) == (("dcis", "breast_cancer", "neoplasm"), ("carcinoma", "neoplasm"), 3)
    assert ways(TABLE, "idc", "er") == ()
    assert ways(TABLE, "er", "er")[0].edges == 0


FAULTS = {
    "below each other": ["a\ttumor\ta one\tb", "b\ttumor\tb one\ta"],
    "which no file defines": ["a\ttumor\ta one\tnowhere"],
    "names both": ["a\ttumor\tQuuxoma\tneoplasm", "b\ttumor\tb one\tneoplasm\tquuxomas|quuxoma"],
    "without a cue": ["a\tdrug\ta one\ttherapy\t\tQX", "b\tdrug\tb one\ttherapy\t\tQX"],
    "stands at both": ["a\ttumor\ta one\tneoplasm\t\t\tX:1", "b\ttumor\tb one\tneoplasm\t\t\tX:1"],
    "has no parent and is no root, nor what lies below it (1)": ["a\ttumor\ta one", "b\ttumor\tb one\ta"],
    "empty name": ["a\ttumor\t-\tneoplasm"],
    "a row that would extend it": ["carcinoma\tdrug\tcarcinoma"],
    "write SYSTEM:CODE": ["a\ttumor\ta one\tneoplasm\t\t\tX1"],
}


def added(folder: Path, *rows: str) -> Path:
    """A folder with one file of rows."""
    (folder / "more.tsv").write_text("\n".join(["\t".join(COLUMNS), *rows]) + "\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize(("told", "rows"), FAULTS.items(), ids=FAULTS.keys())
def test_lint_tells_what_is_wrong_with_added_rows(tmp_path: Path, told: str, rows: list[str]) -> None:
    """And nothing else."""
    findings = lint_shipped(added(tmp_path, *rows))
    assert findings
    assert all(told in finding for finding in findings)


def test_one_reading_of_a_short_form_may_go_without_a_cue() -> None:
    """The others are told from it; kinds that are said at once may share it."""

    def row(concept: str, kind: str, *cues: str) -> ConceptRow:
        return ConceptRow(concept, kind, concept, (), (), (Abbreviation("QX", cues),))

    assert lint(ConceptTable([row("a", "drug"), row("b", "drug", "mg")])) == []
    assert lint(ConceptTable([row("a", "tumor"), row("b", "state")])) == []
    assert len(lint(ConceptTable([row("a", "tumor"), row("b", "drug")]))) == 1


def test_added_rows_extend_what_is_there(tmp_path: Path) -> None:
    """Names, parents and codes join; the shipped preferred name stands, and the rest of the ontology is as it was."""
    rows = [
        "erlotinib\tdrug\tZorblatinib\tsystemic_therapy\tzorbl\tZB{mg}|ZC\tX:1\t\tours",
        "quuxoma\ttumor\tquuxoma\tcarcinoma",
    ]
    concepts = shipped_concepts(added(tmp_path, *rows))
    shipped = shipped_concepts()
    row = concepts.get("erlotinib")
    assert row.name == "erlotinib"
    assert row.synonyms == (*shipped.get("erlotinib").synonyms, "Zorblatinib", "zorbl")
    assert concepts.is_a("erlotinib", "egfr_tki")
    assert concepts.lookup("X:1") == ("erlotinib",)
    assert concepts.is_a("quuxoma", "malignant_neoplasm")
    assert [one for one in concepts.rows() if one.id not in ("erlotinib", "quuxoma")] == [
        one for one in shipped.rows() if one.id != "erlotinib"
    ]


def test_rows_that_cannot_be_used_stop_what_would_read_with_them(tmp_path: Path) -> None:
    """What is passed over would be missing from the answers; a folder without rows is told."""
    with pytest.raises(UsageError, match=r"which no file defines.*ontology lint"):
        shipped_concepts(added(tmp_path, "a\ttumor\ta one\tnowhere"))
    with pytest.raises(UsageError, match="no folder"):
        shipped_concepts(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match=r"no concepts in.*id, kind, name"):
        shipped_concepts(tmp_path / "empty")


def narrowed(folder: Path, *rows: str) -> ConceptTable:
    """Rows of ten columns alone; ``rows`` are id, kind, name, parents, synonyms and the narrower names."""
    lines = ["\t".join(ALL_COLUMNS)]
    lines += ["\t".join([*cells[:5], "", "", "", "ours", *cells[5:]]) for cells in (row.split("\t") for row in rows)]
    (folder / "rows.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return ConceptTable.from_files(folder)


def test_a_narrower_name_is_a_concept_below(tmp_path: Path) -> None:
    """It is no name of the row; a name at two rows lies below both, and one that has a row of its own keeps that."""
    concepts = narrowed(
        tmp_path,
        "ache\tcondition\tache\t\thurt\ttoe ache|Sjögren's ache|ache at night",
        "night\tcondition\tnight trouble\t\t\tache at night|ache at-night",
        "toe_ache\tcondition\ttoe ache\tache\tpodalgia",
    )
    assert concepts.problems == ()
    assert concepts.names("ache") == ("ache", "hurt")
    assert [row.id for row in concepts.rows()] == ["ache", "sjogren_ache", "ache_at_night", "night", "toe_ache"]
    assert concepts.parents("ache_at_night") == ("ache", "night")
    assert concepts.lookup("Toe-ache") == concepts.lookup("podalgia") == ("toe_ache",)
    assert concepts.get("sjogren_ache") == ConceptRow(
        "sjogren_ache", "condition", "Sjögren's ache", ("ache",), source="ours"
    )
    assert lint(concepts) == []


def test_a_narrower_name_may_not_have_the_id_of_another_kind(tmp_path: Path) -> None:
    """Neither of a row nor of another narrower name; both are told."""
    concepts = narrowed(
        tmp_path,
        "ache\tcondition\tache\t\t\ttoe|tooth",
        "toe\tsite\ttoe",
        "part\tsite\tpart\t\t\ttooth",
    )
    assert [problem.split(" has the id ")[1] for problem in concepts.problems] == [
        "of the condition 'tooth'",
        "of the site 'toe'",
    ]
    assert concepts.parents("toe") == ()
    assert concepts.parents("tooth") == ("ache",)


def test_narrower_names_of_added_rows_extend_what_is_there(tmp_path: Path) -> None:
    """A shipped concept of that id keeps its names and gets the parent."""
    header = "\t".join(ALL_COLUMNS)
    (tmp_path / "more.tsv").write_text(
        f"{header}\nquux\tcondition\tquux\tcondition\t\t\t\t\tours\tquux of old age|fever\n", encoding="utf-8"
    )
    concepts = shipped_concepts(tmp_path)
    assert concepts.below("quux") >= {"quux", "quux_of_old_age", "fever"}
    assert concepts.names("fever") == shipped_concepts().names("fever")
    assert concepts.lookup("quux") == ("quux",)
    assert lint_shipped(tmp_path) == []


def test_a_synonym_with_words_that_say_more_widens() -> None:
    """A place, a course, a cause, another concept's name; not what the concept itself or one below it says."""
    rows = [
        ConceptRow("knee", "site", "knee"),
        ConceptRow(
            "joint_trouble", "condition", "joint trouble", (), ("knee trouble", "chronic joint trouble", "gout")
        ),
        ConceptRow("gonalgia", "condition", "gonalgia of the knee", (), ("knee ache", "gonitis")),
        ConceptRow("sweat", "condition", "sweating", (), ("zorblatin-induced sweat", "zorblatin sweat", "sweats")),
        ConceptRow("zorblatin", "drug", "zorblatin"),
        ConceptRow("zk", "gene", "ZK kinase", (), ("knee kinase",)),
    ]
    found = {(one.name, one.more) for one in widening_names(ConceptTable(rows))}
    assert found == {
        ("knee trouble", ("knee",)),
        ("chronic joint trouble", ("chronic",)),
        ("zorblatin-induced sweat", ("induced", "zorblatin")),
        ("zorblatin sweat", ("zorblatin",)),
    }
