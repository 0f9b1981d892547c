"""A chat model without training: the published prompts, what is done with an answer, and answers that are none."""

from __future__ import annotations

import ast
import csv
import json
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohortium.eval.extraction.ner.baselines.zero_shot import (
    ZeroShot,
    messages,
    names_in,
    placed_names,
    prompts_of,
    temperature,
)
from cohortium.eval.extraction.ner.documents import Document
from cohortium.eval.extraction.ner.types import vocabulary
from cohortium.kb.endpoint.asking import Asking
from cohortium.kb.errors import UsageError
from tests.kb.endpoint.playhouse import Act, Stage, on_stage, raw, says, status

#: A fictional trial.
TEXT = "Larkadol for restless legs syndrome (RLS) | RLS is common."


def trial(text: str = TEXT) -> Document:
    return Document("NCT1", tuple(text.split()), ("O",) * len(text.split()), text)


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    """A chat endpoint on this machine, named by the environment."""
    with on_stage() as stage:
        for name, value in stage.environment(COHORTIUM_LLM_SEND_NOTES="yes").items():
            monkeypatch.setenv(name, value)
        yield stage


@pytest.fixture
def model(stage: Stage) -> Callable[[dict[str, str | Act]], Stage]:
    """Scripts what the server says about each type; of any other that there is none."""

    def script(answers: dict[str, str | Act], prompts: str = "v1") -> Stage:
        asked_for = prompts_of(prompts)

        def act(handler: BaseHTTPRequestHandler) -> None:
            asked = stage.seen[-1].contents[-1]
            (kind,) = (kind for kind, prompt in asked_for.items() if asked.startswith(f"{prompt}'''"))
            answer = answers.get(kind, "none")
            (answer if callable(answer) else says(answer))(handler)

        stage.play(act)
        return stage

    return script


def asked(stage: Stage, prompts: str = "v1") -> ZeroShot:
    return ZeroShot(Asking(stage.settings(tries=1), temperature=temperature(), sleep=lambda seconds: None), prompts)


@pytest.mark.parametrize(
    ("answer", "names"),
    [
        ("Stroke | Gout", ["stroke", "gout"]),
        ("none", []),
        ("None.", []),
        ("'none'", []),
        ("stroke|none", ["stroke"]),
        ("Drugs are not mentioned in this trial.", []),
        ("Therapeutic interventions: none", []),
        ("The drugs mentioned are: aspirin | heparin.", ["aspirin", "heparin"]),
        ("The therapeutic interventions are as follows: yoga|walking", ["yoga", "walking"]),
        ("Therefore the answer is: nerve transfer", ["nerve transfer"]),
        ("The therapeutic intervention investigated is: chair yoga", ["chair yoga"]),
        ("The careful placebo", ["the careful placebo"]),
        ("- stroke |\n- gout", ["stroke", "gout"]),
        (
            '"extracranial-intracranial bypass" | un-enhanced control',
            ["extracranial-intracranial bypass", "un-enhanced control"],
        ),
        ("Alzheimer's disease | 'gout'", ["alzheimer's disease", "gout"]),
        ("1.5 mg dose | two. words", ["1.5 mg dose", "two words"]),
        ("```\nstroke | gout\n```", ["stroke", "gout"]),
        ("", []),
        ("| | |", []),
    ],
)
def test_an_answer_is_cut_cleaned_and_folded(answer: str, names: list[str]) -> None:
    """The steps of appendix F, one after the other."""
    assert list(names_in(answer)) == names


@given(st.text(max_size=200))
def test_whatever_a_model_writes_gives_plain_names(answer: str) -> None:
    """None is empty, and none holds a bar, an end of line or a quotation mark."""
    for name in names_in(answer):
        assert name == name.strip()
        assert name
        assert not set(name) & set('|\n"')


def test_the_published_prompts_are_sent_as_they_were(model: Callable[..., Stage]) -> None:
    """Role, prompt and trial as in listing 1, at its temperature; one question a type."""
    stage = model({})
    asked(stage).cells(trial("Braces {prompt} and {text}"))
    assert len(stage.seen) == len(vocabulary().types)
    assert {seen.sent["temperature"] for seen in stage.seen} == {0.1}
    role, question = stage.seen[0].contents
    assert role == "You are an expert information extraction assistant from clinical trials."
    assert question.endswith("'''Braces {prompt} and {text}'''")
    assert stage.seen[0].sent["max_tokens"] == 2000


def test_sets_of_prompts_differ_where_the_paper_has_two() -> None:
    """For conditions and drugs; guideline learning has one of its own for each type, with examples."""
    first, second, guideline = (prompts_of(name) for name in ("v1", "v2", "guideline"))
    assert {kind for kind in first if first[kind] != second[kind]} == {"CONDITION", "DRUG"}
    assert set(guideline) == set(first) == set(vocabulary().types)
    assert all(text.count("Answer:") >= 2 and "{" not in text for text in guideline.values())
    with pytest.raises(UsageError, match="v1, v2, guideline"):
        prompts_of("v3")


def test_names_come_in_the_columns_of_the_published_tables(model: Callable[..., Stage]) -> None:
    """A column a type, names between bars; one that does not stand in the text is counted, and stays."""
    stage = model({"CONDITION": "Restless legs syndrome | RLS | insomnia", "DRUG": "Larkadol"})
    baseline = asked(stage)
    cells = baseline.cells(trial())
    assert cells["zero-shot_predictions_condition"] == "restless legs syndrome|rls|insomnia"
    assert cells["zero-shot_predictions_drug"] == "larkadol"
    others = {column for column in baseline.columns if column.endswith(("surgical", "other", "control", "physical"))}
    assert {cells[column] for column in others} == {"none"}
    told = baseline.description()
    assert (told["names"], told["names_not_in_text"], told["questions"]) == (4, 1, 8)


def test_names_are_placed_where_they_stand(model: Callable[..., Stage]) -> None:
    """Each place once, of two over one another the longer; what stands nowhere has none. No text, no places."""
    stage = model({"CONDITION": "restless legs syndrome | RLS | insomnia", "OTHER": "legs", "DRUG": "LARKADOL"})
    assert ast.literal_eval(asked(stage).cells(trial())["zero-shot_places"]) == [
        (0, 8, "DRUG", "Larkadol"),
        (13, 35, "CONDITION", "restless legs syndrome"),
        (37, 40, "CONDITION", "RLS"),
        (44, 47, "CONDITION", "RLS"),
    ]
    assert placed_names({"DRUG": ["larkadol"]}, "") == []


def test_places_are_scored_where_they_are_named(
    model: Callable[..., Stage], trials: Path, run: Callable[..., Any], tmp_path: Path
) -> None:
    """By token and by entity too; without a name the columns of types are scored, by abstract."""
    model({"DRUG": "larkadol"})
    path = tmp_path / "answers.csv"
    told = run("ner-baseline", "llm", "--corpus", trials, "--predictions-out", path)
    assert told["token"] is None
    told = run("ner", "--corpus", trials, "--predictions", path, "--column", "zero-shot_places")
    assert told["entity"]["exact"]["by_type"]["DRUG"]["f1"] == 1.0


@pytest.mark.parametrize(
    ("act", "kind"),
    [
        (raw(b"<html>"), "nonsense"),
        (status(500), "connection"),
        (says("half of a", finish="length"), "cut_off"),
        (says(None, refusal="no"), "refusal"),
    ],
)
def test_an_answer_that_is_none_costs_one_cell(model: Callable[..., Stage], act: Act, kind: str) -> None:
    """It is counted as failed, and scored as nothing found."""
    baseline = asked(model({"CONDITION": act, "DRUG": "Larkadol"}))
    cells = baseline.cells(trial())
    assert cells["zero-shot_predictions_condition"] == "none"
    assert cells["zero-shot_predictions_drug"] == "larkadol"
    assert baseline.description()["questions_failed"] == {kind: 1}


def test_the_prompt_and_the_text_are_never_mixed() -> None:
    """Whatever either of them holds."""
    sent = messages("Say {text}: ", "a '''{prompt}''' b")
    assert sent[1]["content"] == "Say {text}: '''a '''{prompt}''' b'''"


def test_the_command_asks_once_keeps_and_scores(
    model: Callable[..., Stage], trials: Path, run: Callable[..., Any], tmp_path: Path
) -> None:
    """A second run takes every answer from the file and gives the same scores and the same table."""
    stage = model({"CONDITION": "restless legs syndrome", "PHYSICAL": "chair yoga"})
    corpus, kept = str(trials), str(tmp_path / "answers.jsonl")
    tables = [tmp_path / name for name in ("one.csv", "two.csv")]
    scores = [
        run("ner-baseline", "llm", "--corpus", corpus, "--answers", kept, "--predictions-out", str(path))
        for path in tables
    ]
    assert len(stage.seen) == 2 * len(vocabulary().types)
    assert [one["baseline"]["cost"]["kept"] for one in scores] == [0, 16]
    assert scores[0]["partial"] == scores[1]["partial"]
    assert scores[0]["signature"]["model"] == "a-model"
    assert tables[0].read_bytes() == tables[1].read_bytes()
    with tables[0].open(encoding="utf-8", newline="") as file:
        assert [row["nct_id"] for row in csv.DictReader(file)] == ["NCT1", "NCT2"]
    # The second trial is said to have the condition of the first.
    conditions = scores[0]["partial"]["by_type"]["CONDITION"]
    assert (conditions["tp"], conditions["fp"], conditions["fn"]) == (1, 1, 0)


def test_a_run_that_was_stopped_goes_on_where_it_was(
    model: Callable[..., Stage], trials: Path, run: Callable[..., Any], tmp_path: Path
) -> None:
    """A budget ends the first; the second asks only for what is missing."""
    stage = model({"CONDITION": "RLS"})
    corpus, kept = str(trials), str(tmp_path / "answers.jsonl")
    first = run("ner-baseline", "llm", "--corpus", corpus, "--answers", kept, "--requests", "5")
    assert first["baseline"]["questions_failed"] == {"budget": 11}
    second = run("ner-baseline", "llm", "--corpus", corpus, "--answers", kept)
    assert second["baseline"]["questions_failed"] == {}
    assert len(stage.seen) == 16


def test_texts_are_sent_only_where_that_is_allowed(
    stage: Stage, trials: Path, refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An endpoint that is set up is no leave."""
    monkeypatch.delenv("COHORTIUM_LLM_SEND_NOTES")
    corpus = str(trials)
    assert "COHORTIUM_LLM_SEND_NOTES" in refused("ner-baseline", "llm", "--corpus", corpus)
    assert not stage.seen


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["aact"], "--aact"),
        (["dictionary", "--requests", "0"], "--requests"),
        (["aact", "--prompts", "v2"], "--prompts"),
        (["llm", "--aact", "."], "--aact"),
        (["llm", "--prompts", "v9"], "v9"),
    ],
)
def test_options_of_another_baseline_are_refused(
    trials: Path, refused: Callable[..., str], given: list[str], told: str
) -> None:
    """An option that does nothing is a mistake."""
    assert told in refused("ner-baseline", *given, "--corpus", str(trials))


def test_every_cell_of_a_json_corpus_is_asked_about_its_tokens(model: Callable[..., Stage]) -> None:
    """Where there is no text, the tokens as their text most likely wrote them."""
    stage = model({})
    asked(stage).cells(Document("NCT1", ("Larkadol", "(", "RLS", ")"), ("O",) * 4))
    assert json.dumps(stage.seen[0].contents[1]).endswith("'''Larkadol (RLS)'''\"")
