"""``eval ner --model``: a model's answers are scored as a table's are; corpora of other forms by place."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cohortium.__main__ import app
from cohortium.ingest.models.tagging.tagger import Tagger

Make = Callable[..., Tagger]

#: Fictional. The model by rule finds runs of capitals: a disease, or a drug where a number stands behind.
TRIALS = [
    {
        "nct_id": "NCT1",
        "tokens": ["Larkadol", "20", "mg", "for", "\n", "Restless", "Legs", "."],
        "ner_tags": ["B-DRUG", "O", "O", "O", "O", "B-COND", "I-COND", "O"],
    },
    {"nct_id": "NCT2", "tokens": ["Gout", "and", "tea"], "ner_tags": ["B-COND", "O", "B-PHYS"]},
]


@pytest.fixture
def told(by_shapes: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Runs ``eval ner`` with the model by rule, and gives the scores."""
    monkeypatch.setattr(Tagger, "load", lambda folder, **choices: by_shapes())

    def run(corpus: Path, *words: str) -> dict[str, Any]:
        out = tmp_path / "scores.json"
        result = CliRunner().invoke(
            app, ["eval", "ner", "--corpus", str(corpus), *words, "--json", str(out)], prog_name="cohortium"
        )
        assert result.exit_code == 0, result.output
        return {**json.loads(out.read_text(encoding="utf-8")), "printed": " ".join(result.output.split())}

    return run


@pytest.fixture
def trials(tmp_path: Path) -> Path:
    path = tmp_path / "trials.json"
    path.write_text("\n".join(map(json.dumps, TRIALS)), encoding="utf-8")
    return path


def test_a_model_is_scored_as_its_answers_are(
    told: Callable[..., dict[str, Any]], trials: Path, tmp_path: Path
) -> None:
    """Its tags stand by the corpus's own tokens, line ends among them, and the table of them has the same scores."""
    answers = tmp_path / "answers.csv"
    mine = told(trials, "--model", "m", "--map", "DISEASE=COND", "--predictions-out", str(answers))
    assert mine["exact"]["by_type"]["CONDITION"]["f1"] == mine["entity"]["exact"]["by_type"]["DRUG"]["f1"] == 1
    assert mine["types"] == ["CONDITION", "DRUG"]
    assert "PHYSICAL" in mine["types_not_looked_for"]
    again = told(trials, "--predictions", str(answers), "--types", "CONDITION,DRUG")
    for level in ("partial", "exact", "token", "entity", "types", "documents"):
        assert again[level] == mine[level]
    with answers.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [len(json.loads(row["confidence"])) for row in rows] == [2, 1]


def test_types_are_chosen_and_left_out(told: Callable[..., dict[str, Any]], trials: Path) -> None:
    """A type of the model that the corpus lacks is told, and not scored."""
    mine = told(trials, "--model", "m")
    assert (mine["types"], mine["model_types_left_out"]) == (["DRUG"], ["DISEASE"])
    assert "found by the model, and not of this corpus: DISEASE" in mine["printed"]
    assert mine["entity"]["exact"]["micro"]["tp"] == 1
    both = told(trials, "--model", "m", "--map", "DISEASE=CONDITION", "--types", "condition")
    assert both["types"] == ["CONDITION"]


def test_answers_where_nobody_looked_do_not_count(told: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    """With judged stretches an answer outside of them is no false alarm; without, it is one."""
    row = {"id": "n1", "text": "Gout was seen; Asthma was not asked for.", "spans": [[0, 4, "DISEASE"]]}
    for judged, wrong in (([[0, 14]], 0), (None, 1)):
        corpus = tmp_path / "corpus.json"
        corpus.write_text(json.dumps({**row, "judged": judged}), encoding="utf-8")
        scores = told(corpus, "--model", "m")
        for level in ("exact", "partial", "token"):
            assert (scores[level]["micro"]["tp"], scores[level]["micro"]["fp"]) == (1, wrong)


def test_a_map_of_labels_says_which_types_are_one(
    told: Callable[..., dict[str, Any]], trials: Path, tmp_path: Path
) -> None:
    """A map of the corpus's labels, as a training takes it: scored are the types that the corpus marks throughout."""
    own = tmp_path / "own.toml"
    labels = '[labels]\nCONDITION = "DISEASE"\nDRUG = "DRUG"\nPHYSICAL = "DRUG"\n'
    own.write_text('corpus = "own"\nto = "own"\nannotates = ["DISEASE"]\n' + labels, encoding="utf-8")
    scores = told(trials, "--model", "m", "--map", str(own))
    assert (scores["types"], scores["exact"]["by_type"]["CONDITION"]["f1"]) == (["CONDITION"], 1)
    iob = tmp_path / "dev.tsv"
    iob.write_text("Gout\tB-CONDITION\n\nLarkadol\tB-DRUG\n20\tO\n\nflu\tB-CONDITION\n", "utf-8")
    scores = told(iob, "--model", "m", "--map", str(own))
    assert scores["types"] == ["DISEASE"]
    assert {name: scores["exact"]["micro"][name] for name in ("tp", "fp", "fn")} == {"tp": 1, "fp": 0, "fn": 1}


def test_iob_and_brat_are_scored_by_place(told: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    """Exact borders, borders that overlap, and words; types in any case of letters."""
    iob = tmp_path / "dev.tsv"
    iob.write_text("Severe\tO\nGout\tB-Disease\nagain\tO\n\nLarkadol\tB-Drug\n20\tO\n\nFlu\tB-Disease\n", "utf-8")
    scores = told(iob, "--model", "m", "--predictions-out", str(tmp_path / "answers.csv"))
    assert {name: scores["exact"]["micro"][name] for name in ("tp", "fp", "fn")} == {"tp": 2, "fp": 1, "fn": 1}
    assert {name: scores["partial"]["micro"][name] for name in ("tp", "fp", "fn")} == {"tp": 2, "fp": 1, "fn": 1}
    assert {name: scores["token"]["micro"][name] for name in ("tp", "fp", "fn")} == {"tp": 3, "fp": 1, "fn": 0}
    assert scores["exact"]["by_type"]["Drug"]["f1"] == 1
    assert "entity exact micro 0.667" in scores["printed"]
    with (tmp_path / "answers.csv").open(encoding="utf-8", newline="") as file:
        assert [(row["start"], row["end"], row["type"]) for row in csv.DictReader(file)] == [
            ("0", "11", "Disease"),
            ("0", "8", "Drug"),
            ("0", "3", "Disease"),
        ]
    folder = tmp_path / "brat"
    folder.mkdir()
    (folder / "one.txt").write_text("Has Gout.", encoding="utf-8")
    (folder / "one.ann").write_text("T1\tDisease 4 8\tGout\n", encoding="utf-8")
    scores = told(folder, "--model", "m")
    assert {name: scores["exact"]["micro"][name] for name in ("tp", "fp", "fn")} == {"tp": 0, "fp": 1, "fn": 1}
    assert scores["partial"]["micro"]["f1"] == 1
    assert scores["documents"]["corpus"] == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            [],
            "capitals' finds DISEASE, DRUG; the corpus 'other' has Gene: no type of one is a type of the other",
        ),
        (["--map", "DISEASE=Cell"], "the corpus 'other' has no type 'Cell'. Hint: one of Gene"),
        (["--map", "CAT=Gene"], "the model has no type 'CAT'"),
        (["--map", "nothing"], "there is no map of labels 'nothing'"),
        (["--map", "bc5cdr_kinds"], "the map 'bc5cdr_kinds' says nothing of 1 labels of other: Gene"),
        (["--map", "DRUG=Gene", "--types", "Cell"], "unknown type 'Cell'. Hint: one of Gene"),
        (["--map", "DRUG=Gene", "--predictions-out", "no/such/folder.csv"], "cannot write 'no/such/folder.csv'"),
    ],
)
def test_types_that_do_not_fit_end_with_both_sets(
    by_shapes: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: list[str], said: str
) -> None:
    """Each ends with 2, and names what there is."""
    monkeypatch.setattr(Tagger, "load", lambda folder, **choices: by_shapes())
    corpus = tmp_path / "other.tsv"
    corpus.write_text("BRCA1\tB-Gene\n\nof\tO\n", encoding="utf-8")
    result = CliRunner().invoke(
        app, ["eval", "ner", "--corpus", str(corpus), "--model", "m", *words], prog_name="cohortium"
    )
    assert result.exit_code == 2
    assert said in " ".join(result.output.split())
