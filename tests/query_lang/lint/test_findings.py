"""Each sort of finding: what is doubtful is told, at its place, and what is in order is left alone."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from cohortium.engine.api import OpenKb
from cohortium.kb.model import Context, DayInterval, Event, Journey, Note, Polarity, World
from cohortium.kb.ontology.concepts import ConceptTable
from cohortium.kb.ontology.scales import Scales
from cohortium.kb.storage.reader import KnowledgeBase
from cohortium.kb.storage.writer import build_generation
from cohortium.query_lang.errors import QueryError
from cohortium.query_lang.lint.finding import SEVERITIES, wordings
from cohortium.query_lang.lint.linter import MOST_FINDINGS, lint

DATA = tomllib.loads((Path(__file__).parent / "cases.toml").read_text(encoding="utf-8"))
CASES = [(case["query"], case["finds"]) for case in DATA["case"]]
CLEAN = [query for group in DATA["clean"] for query in group["queries"]]


@pytest.mark.parametrize(("query", "finds"), CASES, ids=[query for query, _ in CASES])
def test_what_is_doubtful_is_found_at_its_place(
    query: str, finds: dict[str, str], shipped: ConceptTable, scales: Scales
) -> None:
    """The findings are those of the table, each at the words that it is about."""
    found = {finding.code: query[finding.offset or 0 : finding.end] for finding in lint(query, shipped, scales)}
    assert {code: words for code, words in found.items() if code in finds} == finds
    graver = {finding.code for finding in lint(query, shipped, scales) if finding.severity == "problem"}
    assert graver <= finds.keys()


@pytest.mark.parametrize("query", CLEAN)
def test_what_is_in_order_is_left_alone(query: str, shipped: ConceptTable, scales: Scales) -> None:
    """No finding at all."""
    assert [finding.as_text() for finding in lint(query, shipped, scales)] == []


def test_a_finding_shows_its_place_under_a_caret(shipped: ConceptTable, scales: Scales) -> None:
    """Severity, message, line and column, the words with a caret, the hint, the code."""
    (finding,) = lint("lung adenocarcinoma\n  and lung cancer", shipped, scales)
    assert (finding.line, finding.column) == (2, 7)
    assert finding.as_text() == (
        "warning: 'diagnosis lung cancer' adds nothing: it follows from 'diagnosis lung adenocarcinoma'"
        " (line 2, column 7)\n"
        "      and lung cancer\n"
        "          ^\n"
        "Hint: drop it, or say what else it should ask [redundant]"
    )
    assert finding.as_dict()["offset"] == 26


def test_the_gravest_comes_first(shipped: ConceptTable, scales: Scales) -> None:
    """Problems, then warnings, then notes."""
    query = "death or (not death and metastasis and not metastasis) or (lung cancer and lung adenocarcinoma)"
    found = lint(f"{query} or stage IV and grade 3", shipped, scales)
    order = [SEVERITIES.index(finding.severity) for finding in found]
    assert order == sorted(order)
    assert len(set(order)) == 3


def test_what_spells_no_query_is_refused(shipped: ConceptTable, scales: Scales) -> None:
    """A text that cannot be read or resolved is told as any query would."""
    with pytest.raises(QueryError, match="a value is missing"):
        lint("stage >=", shipped, scales)
    with pytest.raises(QueryError, match="not known"):
        lint("lung cancr and not lung cancr", shipped, scales)


def test_a_tree_is_looked_at_without_places(shipped: ConceptTable, scales: Scales) -> None:
    """A query that nobody wrote down has findings, too."""
    from cohortium.query_lang.parsing.parse import parse

    (finding,) = lint(parse("lung cancer and not lung cancer"), shipped, scales)
    assert (finding.code, finding.offset, finding.line, finding.excerpt) == ("contradiction", None, 0, "")


def test_wide_and_deep_queries_end_soon(shipped: ConceptTable, scales: Scales) -> None:
    """Thousands of alternatives, deep nesting and definitions that double each other are no burden."""
    assert len(lint(" or ".join(["death", "metastasis"] * 2000), shipped, scales)) <= MOST_FINDINGS
    deep = "death"
    for number in range(60):
        deep = f"(metastasis and ({deep} or stage IV)) and not stage = I{'I' * (number % 3)}"
    lint(deep, shipped, scales)
    doubled = "".join(f"let a{at} be a{at - 1} and a{at - 1};" for at in range(1, 60))
    lint(f"let a0 be death; {doubled} a59 and not a0", shipped, scales)
    conditions = " or ".join(f"(exon = {at} and exon = {at + 1})" for at in range(200))
    lint(f"variant EGFR with ({conditions})", shipped, scales)


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory, shipped: ConceptTable, scales: Scales) -> KnowledgeBase:
    """Four invented patients."""
    day = DayInterval(737_500, 737_500)
    note = Note("P1", "d1", "An invented note.", __import__("datetime").date(2020, 6, 1))
    people = [
        Journey(
            "P1",
            notes=(note,),
            events=(
                Event("P1", "diagnosis", "lung_adenocarcinoma", day),
                Event("P1", "biomarker", "her2", day, attributes={"result": "negative"}),
                Event("P1", "medication", "cisplatin", DayInterval(737_500, 737_530)),
                Event("P1", "metastasis", "brain", day, context=Context(polarity=Polarity.ABSENT), world=World.NONE),
            ),
        ),
        *(Journey(f"P{at}", events=(Event(f"P{at}", "diagnosis", "breast_cancer", day),)) for at in (2, 3, 4)),
    ]
    path = tmp_path_factory.mktemp("lint") / "lint.kb"
    build_generation(path, people, concepts=shipped, scales=scales)
    return KnowledgeBase.open(path)


@pytest.mark.parametrize(
    ("query", "code", "words"),
    [
        ("diagnosis lung squamous cell carcinoma", "unknown-to-kb", "lung adenocarcinoma (1)"),
        ("medication (carboplatin or cisplatin)", "unknown-to-kb", "'carboplatin' as medication"),
        ("metastasis to brain", "only-otherwise", "no evidence of metastasis to brain"),
        ("radiation", "kind-not-in-kb", "biomarker, diagnosis, medication, metastasis"),
        ("biomarker HER2 with percent >= 10", "attribute-not-in-kb", "what these facts have is result"),
        ("diagnosis exactly lung cancer", "exactly-too-narrow", "lung adenocarcinoma (1)"),
        ("diagnosis since 2021", "window-outside-kb", "2020-06-01"),
        ("diagnosis until 1950", "window-outside-kb", "before the first dated fact"),
        ("medication cisplatin within 3 days of diagnosis", "gap-finer-than-dates", "100%"),
        ("not HER2 positive", "closed-world", "told of 1 of 4 patients"),
        ("lung cancer except HER2 positive", "closed-world", "any mention of biomarker HER2"),
        ("not no evidence of metastasis", "not-of-uncertain", "no evidence of"),
    ],
)
def test_what_a_knowledge_base_does_not_hold_is_told(kb: KnowledgeBase, query: str, code: str, words: str) -> None:
    """Findings about one knowledge base, with what it holds instead."""
    findings = [finding for finding in OpenKb(kb).lint(query) if finding.code == code]
    assert findings, [finding.code for finding in OpenKb(kb).lint(query)]
    assert any(words in finding.as_text() for finding in findings), findings[0].as_text()
    assert findings[0].offset is not None


@pytest.mark.parametrize(
    "query",
    [
        "lung cancer", "medication cisplatin", "medication platinum and biomarker HER2 negative", "HER2 negative",
        "no evidence of metastasis to brain", "diagnosis in 2020", "medication cisplatin within 90 days of diagnosis",
        "diagnosis exactly breast cancer", "not lung cancer", "diagnosis since 2020 until 2030",
    ],
)  # fmt: skip
def test_what_a_knowledge_base_holds_is_left_alone(kb: KnowledgeBase, query: str) -> None:
    """No finding about what is there."""
    assert [finding.as_text() for finding in OpenKb(kb).lint(query)] == []


def test_every_wording_is_used() -> None:
    """Each code of the table of messages is one that a test of this file meets, or says why not."""
    tested = {code for _, finds in CASES for code in finds} | {
        "unknown-to-kb", "only-otherwise", "kind-not-in-kb", "attribute-not-in-kb", "exactly-too-narrow",
        "window-outside-kb", "gap-finer-than-dates", "closed-world", "not-of-uncertain",
    }  # fmt: skip
    assert set(wordings()) - tested <= {"unused-parameter", "not-checked", "denied-and-present"}
    assert tested <= set(wordings())


def test_parameters_and_definitions_from_elsewhere_keep_their_places(kb: KnowledgeBase, tmp_path: Path) -> None:
    """A finding is placed in the text as it was written, with its parameters and without the definitions of files."""
    text = "stage >= $low and far and stage >= III"
    (tmp_path / "shared.txt").write_text("let unasked be death; let far be metastasis and metastasis to brain;")
    found = OpenKb(kb).lint(text, {"low": "IV"}, [tmp_path / "shared.txt"])
    (redundant,) = [one for one in found if one.code == "redundant" and one.offset is not None]
    assert text[redundant.offset : redundant.end] == "stage >= III"
    assert not [one for one in found if one.code == "unused-definition"]
    # What is doubtful in a file of definitions is told without a place in the query.
    assert [one.offset for one in found if one.code == "redundant" and one is not redundant] == [None]
