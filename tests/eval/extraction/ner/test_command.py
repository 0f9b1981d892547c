"""``eval ner``: the authors' formats in, one object of scores out."""

from __future__ import annotations

import ast
import csv
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from cohortium.__main__ import app
from cohortium.eval.extraction.ner.abstracts import names_of
from cohortium.eval.extraction.ner.documents import Document, read_corpus, read_predictions
from cohortium.eval.extraction.ner.short_forms import long_forms

Table = Callable[..., Path]
Told = Callable[..., dict[str, Any]]
COLUMN = "ner_prediction_someone_normalized"


def gold(trials: Path, name: str) -> list[dict[str, str]]:
    with trials.open(encoding="utf-8", newline="") as file:
        return [{"nct_id": row["nct_id"], "text": row["text"], COLUMN: row[name]} for row in csv.DictReader(file)]


@pytest.mark.parametrize("form", ["ner_tags", "ner_manual_ct_target"])
def test_the_gold_as_an_answer_has_no_error(trials: Path, table: Table, told: Told, form: str) -> None:
    """Both forms of the gold score 1 at every level."""
    scores = told(trials, table(gold(trials, form)))
    for part in (scores["partial"], scores["exact"], scores["token"], *scores["entity"].values()):
        assert part["micro"]["f1"] == 1
    assert scores["problems"] == []


def test_the_gold_as_names_between_bars_has_no_error(trials: Path, table: Table, told: Told) -> None:
    """Names of one cell a type have their short forms written out too, in any case of letters."""
    cells = {"NCT1": {"drug": "Larkadol", "condition": "restless legs syndrome|rls|RLS"}}
    cells["NCT2"] = {"physical": "chair yoga", "control": "Usual care"}
    rows = [
        {"nct_id": id, **{f"one_predictions_{kind}": cell for kind, cell in told.items()}} for id, told in cells.items()
    ]
    assert told(trials, table(rows))["exact"]["micro"]["f1"] == 1


def test_published_systems_are_compared_as_the_published_run_did(trials: Path, table: Table, told: Told) -> None:
    """Of the dictionary and the chat models short forms stay as they are, so that one is a name too many."""
    tags = gold(trials, "ner_tags")
    rows = [{"nct_id": row["nct_id"], "ner_prediction_regex_normalized": row[COLUMN]} for row in tags]
    regex = told(trials, table(rows))["exact"]["by_type"]["CONDITION"]
    chat = told(trials, table([{"nct_id": "NCT1", "gpt-4_predictions_condition_v1": "restless legs syndrome|RLS"}]))
    for one in (regex, chat["exact"]["by_type"]["CONDITION"]):
        assert [one[name] for name in ("tp", "fp", "fn")] == [1, 1, 0]


def test_scores_by_hand(trials: Path, table: Table, told: Told) -> None:
    """Two trials counted by hand: one name close, one missed, one too many, ten decisions that there is nothing."""
    rows = [
        {
            "nct_id": "NCT1",
            COLUMN: repr(
                [(0, 8, "DRUG", "larkadol"), (13, 27, "CONDITION", "restless legs s"), (44, 47, "CONDITION", "RLS")]
            ),
        },
        {"nct_id": "NCT2", COLUMN: repr([(0, 10, "BEHAVIOURAL", "chair yoga"), (18, 28, "CONTROL", "usual care")])},
    ]
    scores = told(trials, table(rows))
    partial = scores["partial"]
    # Conditions: "restless legs syndrome" on both sides, "restless legs s" close to it: both found.
    assert [partial["by_type"]["CONDITION"][name] for name in ("tp", "fp", "fn")] == [2, 0, 0]
    assert [scores["exact"]["by_type"]["CONDITION"][name] for name in ("tp", "fp", "fn")] == [1, 1, 0]
    assert scores["exact"]["by_type"]["CONDITION"]["f1"] == pytest.approx(2 / 3)
    assert [partial["by_type"]["PHYSICAL"][name] for name in ("tp", "fp", "fn")] == [0, 0, 1]
    assert [partial["by_type"]["BEHAVIOURAL"][name] for name in ("tp", "fp", "fn")] == [0, 1, 0]
    # Entities: drug 1, condition 2, control 1 found; one too many, one missed.
    assert partial["entities"]["f1"] == pytest.approx(2 * 4 / (2 * 4 + 1 + 1))
    # Sixteen cells of trial and type; in eleven neither side has a name: 4 + 11 right, 2 wrong.
    assert partial["micro"]["f1"] == pytest.approx(15 / 17)
    assert partial["by_type"]["SURGICAL"]["f1"] is None
    # Tokens: of 18, "syndrome" and the first "RLS" are missed, and two have the wrong type.
    assert scores["token"]["micro"]["f1"] == pytest.approx(14 / 18)
    assert scores["token"]["by_type"]["CONDITION"]["recall"] == pytest.approx(3 / 5)
    assert scores["entity"]["exact"]["by_type"]["CONDITION"]["tp"] == 1
    assert partial["micro"]["ci"][0] <= partial["micro"]["f1"] <= partial["micro"]["ci"][1]


def test_one_column_a_type(trials: Path, table: Table, told: Told) -> None:
    """Names between bars are scored by abstract alone, and types without a column not at all."""
    row = {"nct_id": "NCT1", "made-up_predictions_drug_v1": "larkadol", "made-up_predictions_condition_v1": "gout|none"}
    scores = told(trials, table([row, {"nct_id": "NCT2"}]))
    assert scores["token"] is None
    assert scores["entity"] is None
    assert scores["types"] == ["CONDITION", "DRUG"]
    assert scores["types_not_looked_for"][0] == "OTHER"
    assert [scores["exact"]["by_type"]["CONDITION"][name] for name in ("tp", "fp", "fn")] == [0, 1, 1]
    assert scores["exact"]["micro"]["f1"] == pytest.approx(3 / 5)


def test_the_published_prompt_of_each_type_is_taken(trials: Path, table: Table, told: Told) -> None:
    """Where a system answered a type twice, the column behind the published table counts."""
    columns = [
        f"gpt-3.5-turbo_predictions_{kind}_{prompt}" for kind in ("condition", "drug") for prompt in ("v1", "v2")
    ]
    scores = told(trials, table([{"nct_id": "NCT1", **dict.fromkeys(columns, "none")}]))
    assert scores["column"] == "gpt-3.5-turbo_predictions_condition_v1, gpt-3.5-turbo_predictions_drug_v2"


def test_a_dictionary_is_scored_on_its_types(trials: Path, table: Table, told: Told) -> None:
    """The look-up in lists finds drugs and conditions; the other types are in no average, unless asked for."""
    rows = [{"nct_id": "NCT1", "ner_prediction_regex_normalized": repr(["B-DRUG", *["O"] * 12])}]
    assert told(trials, table(rows))["types"] == ["CONDITION", "DRUG"]
    assert told(trials, table(rows), "--types", "drug")["types"] == ["DRUG"]


def test_bad_rows_are_told_and_counted(trials: Path, table: Table, told: Told) -> None:
    """A wrong cell is an empty answer with its place and reason; unknown trials and types are listed; nothing stops."""
    rows = [
        {"nct_id": "NCT1", COLUMN: "['B-DRUG', 'O']"},
        {"nct_id": "NCT9", COLUMN: "[]"},
        {"nct_id": "", COLUMN: "[]"},
        {"nct_id": "NCT1", COLUMN: "[]"},
        {"nct_id": "NCT2", COLUMN: "[(0, 5, 'GENE', 'Chair')]"},
    ]
    scores = told(trials, table(rows))
    assert scores["documents"]["bad_rows"] == 2
    assert scores["documents"]["not_in_corpus"] == ["NCT9"]
    assert scores["unknown_types"] == {"GENE": 1}
    assert [(one["place"], one["reason"]) for one in scores["problems"]] == [
        ("row 1 (NCT1)", f"{COLUMN}: 2 tags for 13 tokens"),
        ("row 3", "no id. Hint: a column nct_id"),
        ("row 4 (NCT1)", "a second row of this id; the first counts"),
    ]
    assert scores["token"]["entities"]["recall"] == 0


def test_tags_of_other_tokens_are_brought_to_those_of_the_corpus(trials: Path, table: Table, told: Told) -> None:
    """A table with tokens of its own is scored by their places, and the difference is told."""
    rows = [
        {"nct_id": "NCT2", "tokens": repr(["Chair", "yoga", "ver", "sus", "usual care"]), COLUMN: repr(tags)}
        for tags in (["B-PHYS", "I-PHYS", "O", "O", "B-CTRL"], ["B-PHYS", "I-PHYS", "O", "O"])
    ]
    scores = told(trials, table(rows[:1]), "--types", "physical,control")
    assert scores["token"]["by_type"]["PHYSICAL"]["f1"] == scores["token"]["by_type"]["CONTROL"]["f1"] == 1
    assert scores["entity"]["exact"]["micro"]["f1"] == scores["exact"]["entities"]["f1"] == 1
    assert [one["reason"] for one in scores["problems"]] == ["tokens: 5 tokens that are not the 5 of the corpus"]
    wrong = told(trials, table(rows[1:]))
    assert wrong["problems"][-1]["reason"] == f"{COLUMN}: 4 tags for 5 tokens"


def test_the_form_of_ids_makes_no_difference(trials: Path, table: Table, told: Told) -> None:
    """Case, blanks and the point that a table gives to whole numbers; a cell that says nan is no id."""
    row = {"nct_id": "nan", "id": " nct2 ", COLUMN: repr([(0, 10, "PHYSICAL", "Chair yoga")])}
    assert told(trials, table([row]))["documents"]["without_prediction"] == ["NCT1"]
    with trials.open(encoding="utf-8", newline="") as file:
        corpus = table([{**one, "nct_id": one["nct_id"][3:]} for one in csv.DictReader(file)], "numbers.csv")
    assert told(corpus, table([{**row, "id": "2.0"}]))["documents"]["without_prediction"] == ["1"]


@pytest.mark.parametrize("sign", [",", "\t", ";"])
def test_what_stands_between_cells_is_seen(trials: Path, told: Told, tmp_path: Path, sign: str) -> None:
    """Commas, tabs or semicolons, blanks around a name, and a mark of the encoding in front."""
    path = tmp_path / "answers.csv"
    cell = "\"['B-PHYS', 'I-PHYS', 'O', 'B-CTRL', 'I-CTRL']\""
    path.write_text(f"{sign} nct_id{sign}{COLUMN}\n0{sign}NCT2{sign}{cell}\n", encoding="utf-8-sig")
    assert told(trials, path)["exact"]["by_type"]["PHYSICAL"]["f1"] == 1


def test_an_answer_as_it_was_first_written_is_not_the_one_that_counts(trials: Path, table: Table, told: Told) -> None:
    """Beside a normalized column, the same name without the ending is no choice."""
    scores = told(trials, table([{"nct_id": "NCT1", COLUMN.removesuffix("_normalized"): "x", COLUMN: "[]"}]))
    assert scores["column"] == COLUMN
    assert scores["problems"] == []


def test_a_name_without_a_place_counts_by_abstract(trials: Path, table: Table, told: Told) -> None:
    """It is found in the abstract, and among placed entities it is one too many."""
    scores = told(trials, table([{"nct_id": "NCT2", COLUMN: "[(None, None, 'PHYSICAL', 'Chair yoga')]"}]))
    assert scores["exact"]["by_type"]["PHYSICAL"]["f1"] == 1
    assert [scores["entity"]["exact"]["by_type"]["PHYSICAL"][name] for name in ("tp", "fp", "fn")] == [0, 1, 1]
    assert scores["token"]["by_type"]["PHYSICAL"]["f1"] == 0


def test_a_missing_answer_is_counted(trials: Path, table: Table, told: Told) -> None:
    """A trial without a row is one in which nothing was found."""
    rows = gold(trials, "ner_manual_ct_target")[:1]
    scores = told(trials, table(rows))
    assert scores["documents"]["without_prediction"] == ["NCT2"]
    assert scores["exact"]["by_type"]["PHYSICAL"]["recall"] == 0
    assert scores["exact"]["by_type"]["CONDITION"]["f1"] == 1


def test_a_corpus_of_json_lines(trials: Path, table: Table, told: Told, tmp_path: Path) -> None:
    """Tokens and tags alone are a corpus; the text of an answer's row stands in for the missing one."""
    path = tmp_path / "corpus.json"
    with trials.open(encoding="utf-8", newline="") as file, path.open("w", encoding="utf-8") as out:
        for row in csv.DictReader(file):
            keys = {name: ast.literal_eval(row[name]) for name in ("tokens", "ner_tags")}
            out.write(json.dumps({"nct_id": row["nct_id"], **keys}) + "\n")
    rows: list[Mapping[str, str]] = list(gold(trials, "ner_manual_ct_target"))
    scores = told(path, table(rows))
    assert scores["entity"]["exact"]["micro"]["f1"] == scores["exact"]["micro"]["f1"] == 1


def test_canonical_forms_come_from_a_folder_beside_the_corpus(trials: Path, table: Table, told: Told) -> None:
    """Names of one condition or drug are one; a name of three words is no drug's, and mapped names are counted."""
    lists = trials.parent / "terminology"
    lists.mkdir()
    (lists / "diseases_dictionary_mesh_icd.csv").write_text(
        "ICD Title,MeSH Common name,MeSH Synonyms\n,Restless Legs Syndrome,Willis Ekbom| Ekbom Disease\nGout,,\n"
    )
    (lists / "drugs_dictionary_nhs.csv").write_text("id,Common name,Synonyms\n1,Larkadol,Larkomax|three word name\n")
    names = {"one_predictions_condition": "ekbom disease", "one_predictions_drug": "larkomax"}
    scores = told(trials, table([{"nct_id": "NCT1", **names}]))
    assert scores["exact"]["by_type"]["CONDITION"]["f1"] == 1
    assert scores["exact"]["by_type"]["DRUG"]["f1"] == 1
    assert scores["mapping"]["DRUG"] == {"gold_names": 1, "gold_mapped": 1, "predicted_names": 1, "predicted_mapped": 1}
    assert scores["signature"]["terminology"] == "terminology"
    assert scores["signature"]["lists_missing"].endswith("drugs_dictionary_mesh.csv, drugbank_vocabulary.csv")
    for one in lists.iterdir():
        one.rename(trials.parent / one.name)
    beside = told(trials, table([{"nct_id": "NCT1", **names}]))
    assert beside["exact"] == scores["exact"]
    assert beside["signature"]["terminology"] == trials.parent.name


def test_scores_without_lists_say_so(
    trials: Path, table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no list of canonical names is found, or one that is named has none, the user hears of it."""
    monkeypatch.delenv("COHORTIUM_SHARED", raising=False)
    monkeypatch.chdir(tmp_path)
    words = ["eval", "ner", "--corpus", str(trials), "--predictions", str(table([{"nct_id": "NCT1", COLUMN: "[]"}]))]
    result = CliRunner().invoke(app, words, prog_name="cohortium")
    assert result.exit_code == 0
    assert "names are compared as they are written, unlike in the published tables" in result.output
    assert CliRunner().invoke(app, [*words, "--terminology", str(trials.parent)], prog_name="cohortium").exit_code == 2


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.text(alphabet="ab',\"[](){}\n|0-BO", max_size=80))
def test_every_table_is_read(tmp_path: Path, trials: Path, rest: str) -> None:
    """Whatever stands below the header, the table is read or a wrong call is told."""
    path = tmp_path / "any.csv"
    path.write_text(f"nct_id,{COLUMN}\nNCT1,[]\nNCT2,{rest}", encoding="utf-8")
    assert "NCT1" in read_predictions(path, read_corpus(trials)).answers


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--model", "m"], "there is no model at 'm': it is no directory"),
        (["--model", "m", "--predictions", "one"], "and not both"),
        (["--model", "m", "--map", "drug"], "there is no map of labels 'drug'"),
        ([], "--predictions CSV"),
        (["--predictions", "no.csv"], "cannot read 'no.csv'"),
        (["--predictions", "corpus"], "no columns of predictions"),
        (["--predictions", "one", "--types", "gene"], "unknown type 'gene'"),
        (["--predictions", "other"], "no row of"),
        (["--predictions", "two"], "2 columns of predictions"),
    ],
)
def test_wrong_calls_say_what_instead(trials: Path, table: Table, words: list[str], said: str) -> None:
    """A wrong call ends with 2 and a hint."""
    files = {
        "corpus": trials,
        "one": table([{"nct_id": "NCT1", COLUMN: "[]"}]),
        "other": table([{"nct_id": "NCT9", COLUMN: "[]"}], "other.csv"),
        "two": table([{"nct_id": "NCT1", COLUMN: "[]", "ner_prediction_b_normalized": "[]"}], "two.csv"),
    }
    told = [str(files.get(word, word)) for word in words]
    result = CliRunner().invoke(app, ["eval", "ner", "--corpus", str(trials), *told], prog_name="cohortium")
    assert result.exit_code == 2
    assert said in " ".join(result.output.split())


@pytest.mark.shared
@pytest.mark.parametrize("system", ["BioLinkBERT-base", "bert-base-uncased", "biobert-v1.1", "regex"])
def test_the_authors_rows_are_read_whole(authors: Callable[[str], Path], told: Told, system: str) -> None:
    """Each of their formats has three answers, no unknown type and nothing that cannot be read."""
    path = authors(f"predictions_format/ct_neuro_test_annotated_{system}_20240529_3rows.csv")
    scores = told(path, path)
    assert scores["documents"]["predicted"] == 3
    assert scores["problems"] == []
    assert scores["unknown_types"] == {}
    assert scores["signature"]["terminology"] == "terminology"


@pytest.mark.shared
def test_the_gold_of_the_development_split_scores_one(authors: Callable[[str], Path], table: Table, told: Told) -> None:
    """On real trials the gold's tuples are their own perfect answer, at every level but tokens that tuples split."""
    path = authors("ct_neuro_dev_merged_153.csv")
    scores = told(path, table(gold(path, "ner_manual_ct_target")))
    assert scores["exact"]["micro"]["f1"] == scores["partial"]["micro"]["f1"] == 1
    assert scores["entity"]["exact"]["micro"]["f1"] == 1
    assert scores["token"]["micro"]["f1"] > 0.99


@pytest.mark.shared
def test_a_corpus_of_tokens_has_the_names_of_its_table(authors: Callable[[str], Path]) -> None:
    """With the texts of an answer its names are those of the table; without any, in 19 of 20 abstracts."""
    table = read_corpus(authors("ct_neuro_dev_merged_153.csv")).documents
    tokens = read_corpus(authors("ct_neuro_dev_data_153.json")).documents

    def names(one: Document) -> dict[str, list[str]]:
        return names_of(one.gold, long_forms(one.written))

    assert all(names(tokens[id].with_text(one.text)) == names(one) for id, one in table.items())
    assert sum(names(tokens[id]) == names(one) for id, one in table.items()) > len(table) * 0.95


def test_tuples_without_a_text_have_no_places(table: Table, told: Told, tmp_path: Path) -> None:
    """Tokens alone place tags but not tuples: those are scored by abstract, and told."""
    path = tmp_path / "corpus.jsonl"
    path.write_text(json.dumps({"nct_id": "NCT1", "tokens": ["Gout", "-", "free"], "ner_tags": ["B-COND", "O", "O"]}))
    tags = told(path, table([{"nct_id": "NCT1", COLUMN: "['B-COND', 'O', 'B-COND']"}]))
    assert tags["entity"]["exact"]["by_type"]["CONDITION"]["precision"] == 0.5
    tuples = told(path, table([{"nct_id": "NCT1", COLUMN: "[(0, 4, 'CONDITION', 'Gout')]"}]))
    assert tuples["exact"]["micro"]["f1"] == 1
    assert tuples["token"]["by_type"]["CONDITION"]["f1"] == 0
    assert "no text to find the places in" in tuples["problems"][0]["reason"]
