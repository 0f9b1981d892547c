"""A name that is read as a concept of another extent is told before the answer; one that only looks so is not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import cohortium
from cohortium.engine.answers.read_as import ReadAs
from cohortium.engine.api import OpenKb
from cohortium.engine.asking import print_answer
from cohortium.engine.commands.repl import Conversation
from cohortium.engine.tables import WorldName, cohort_payload, print_cohort
from cohortium.kb.ontology.rows import COLUMNS
from cohortium.query_lang.render import name_text, render_expression
from cohortium.query_lang.terms import Term, terms


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenKb]:
    """A knowledge base of one note, read with synonyms of somebody's own, some of which say more than their concept."""
    folder: Path = tmp_path_factory.mktemp("read_as")
    (folder / "ours").mkdir()
    rows = [
        "pain\tcondition\tpain\t\tevening pain|dawn pain",
        "fracture\tcondition\tfracture\t\tgreen fracture",
        "dementia\tcondition\tdementia\t\tZorbl illness",
        "joint_replacement\tprocedure\tjoint replacement\t\tELBX exchange",
    ]
    lines = ["\t".join(COLUMNS), *rows]
    (folder / "ours" / "ours.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    note = '{"patient_id": "P1", "doc_id": "a", "date": "2020-03-04", "text": "Lung cancer. Knee pain."}\n'
    (folder / "notes.jsonl").write_text(note, encoding="utf-8")
    cohortium.ingest(folder / "notes.jsonl", kb=folder / "kb", progress=False, ontology=folder / "ours")
    with cohortium.open(folder / "kb") as opened:
        yield opened


@pytest.mark.parametrize(
    ("text", "name", "how"),
    [
        ("evening pain", "pain", "less"),
        ("'dawn pain'", "pain", "less"),
        ("lung cancer and green fracture", "fracture", "less"),
        ("age >= 65 at green fracture", "fracture", "less"),
        ("let a be evening pain; a or death", "pain", "less"),
        ("Zorbl illness", "dementia", "else"),
        ("ELBX exchange", "joint replacement", "else"),
        ("smoker", "current smoker", "more"),
    ],
)
def test_a_name_of_another_extent_is_told(kb: OpenKb, text: str, name: str, how: str) -> None:
    """Whether the concept's preferred name says less, more or something else, wherever the name stands."""
    told = [one for one in kb.find(text).read_as() if one.name == name]
    assert [one.how for one in told] == [how]
    assert told[0].written in text


@pytest.mark.parametrize(
    "text",
    [
        "lung cancers", "Lung Cancer", "cancer of the lung", "lung-cancer", "carcinoma of the breast", "NSCLC",
        "Tagrisso", "osimertinib", "HER2 positive", "KRAS+", "metastasis to liver", "FOLFOX", "EGFR L858R", "death",
        "ECOG <= 1", "surgery lobectomy", "radiation to brain", "type 2 diabetes", "pain", "chest pain",
        "hip fracture", "CHF", "hepatic cirrhosis", "Alzheimer disease", "CABG", "hemodialysis", "knee replacement",
        "penicillin allergy",
    ],
)  # fmt: skip
def test_what_only_looks_otherwise_is_not_told(kb: OpenKb, text: str) -> None:
    """Case, plural, order of words, brands, symbols and initials say nothing, nor do the names that ship."""
    assert kb.find(text).read_as() == ()


@pytest.mark.parametrize("term", [term for term in terms().values() if term.forms], ids=lambda term: term.name)
def test_a_clinical_term_is_told(kb: OpenKb, term: Term) -> None:
    """Of every term the first line says what it is read as, in the query language."""
    name = name_text(term.name)
    (told,) = kb.find(f"lung cancer or {name}").read_as()
    assert (told.written, told.name, told.how) == (term.name, term.name, "term")
    assert told.as_text() == f"'{term.name}' is read as: {told.means}"
    cohort = kb.find(f"lung cancer or {name}")
    meant = cohort.query.definitions[:-1]
    lets = "".join(f"let {name_text(one.name)} be {render_expression(one.body)}; " for one in meant)
    assert list(kb.find(f"{lets}lung cancer or ({told.means})").possible) == list(cohort.possible)


def test_a_term_at_a_place_for_one_fact_is_told(kb: OpenKb) -> None:
    """Of every term that is more than one fact, and under which something is recorded."""
    both = 0
    for term in terms().values():
        recorded = [concept for concept, value in term.recorded if not value]
        if term.single or not recorded:
            continue
        (told,) = kb.find(f"first {name_text(kb.concepts.name(recorded[0]))}").read_as()
        assert told.how == "alone", term.name
        assert "recorded alone" in told.as_text()
        both += 1
    assert both > 10


def test_what_is_said_with_its_kind_is_no_term(kb: OpenKb) -> None:
    """Nor is what a query defines itself; of a name with a condition it is told."""
    for text in (
        "biomarker HER2 = negative", "exactly triple negative", "state advanced disease",
        "let advanced be stage = IV; advanced", "HER2 = negative", kb.find("triple negative").resolved,
    ):  # fmt: skip
        assert kb.find(text).read_as() == ()
    assert [one.how for one in kb.find("HER2 negative with method = FISH").read_as()] == ["alone"]
    told = kb.find("metastatic with no metastatic within 9 days after it").read_as()
    assert sorted(one.how for one in told) == ["alone", "term"]


def test_every_preferred_name_is_read_as_itself(kb: OpenKb) -> None:
    """Of all concepts, the preferred name is never told as another, nor is its plural."""
    kinds = {"tumor": "diagnosis", "condition": "comorbidity", "procedure": "procedure", "state": "state"}
    asked = [row for row in kb.concepts.rows() if row.kind in kinds][::40]
    for row in asked:
        told = kb.find(f'{kinds[row.kind]} "{row.name}"').read_as()
        assert [one for one in told if one.how != "alone"] == [], row.name


def test_it_stands_first(kb: OpenKb, capsys: pytest.CaptureFixture[str]) -> None:
    """In the table, in JSON, in the conversation, and for a question in English."""
    says = "'evening pain' is read as pain, which says less"
    cohort = kb.find("evening pain")
    payload = cohort_payload(cohort, WorldName.BELIEVED, 20)
    assert payload["read_as"] == [
        {"written": "evening pain", "kind": "", "concept": "pain", "name": "pain", "how": "less", "says": says}
    ]
    print_cohort(cohort, payload, 20)
    assert capsys.readouterr().out.startswith(says + "\n")
    assert Conversation(kb).reply("evening pain")
    assert capsys.readouterr().out.startswith(says + "\n")
    answer = kb.ask("patients with evening pain")
    assert [one.how for one in answer.read_as] == ["less"]
    print_answer(answer, answer.to_dict(), 20)
    assert capsys.readouterr().out.startswith("'evening pain' is read as ")
    assert "read_as" not in kb.ask("patients with lung cancer").to_dict()
    assert "read_as" not in cohort_payload(kb.find("lung cancer"), WorldName.BELIEVED, 20)


@pytest.mark.parametrize(
    "question", ["evening pain?", "evening pain!", "Evening pain.", "(evening pain)", "'evening pain' ?"]
)
def test_punctuation_hides_no_widened_name(kb: OpenKb, question: str) -> None:
    """What is told of a question does not depend on its marks."""
    assert [one.written for one in kb.ask(question).read_as] == ["evening pain"]


def test_every_widened_name_is_told(kb: OpenKb) -> None:
    """Two names of one concept are both told; a name inside a longer one is not."""
    told = [one.written for one in kb.ask("patients with evening pain or dawn pain?").read_as]
    assert sorted(told) == ["dawn pain", "evening pain"]


def test_a_tree_has_no_written_names(kb: OpenKb) -> None:
    """Where nothing was typed nothing is told; the sentence says how the concept is asked for."""
    assert kb.find(kb.find("evening pain").query).read_as() == ()
    assert ReadAs("a b", "symptom", "b", "b", "less").as_text() == "'a b' is read as symptom b, which says less"
