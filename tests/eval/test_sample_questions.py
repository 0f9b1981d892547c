"""The questions about the sample notes: each has a formal query that resolves, or says what the language lacks."""

import json
import tomllib

import pytest

from cohortium.kb.ontology.concepts import shipped_concepts
from cohortium.kb.ontology.scales import Scales
from cohortium.query_lang.render import render
from cohortium.query_lang.resolution.resolve import resolve_text
from tests.eval.sample_questions import FOLDER, load_questions

QUESTIONS = load_questions()


@pytest.fixture(scope="module")
def ontology():
    return shipped_concepts(), Scales.from_files()


def test_every_question_is_spoken_of_once():
    """questions.json and queries.toml hold the same questions."""
    data = tomllib.loads((FOLDER / "queries.toml").read_text(encoding="utf-8"))
    asked = [one["question"] for one in json.loads((FOLDER / "questions.json").read_text(encoding="utf-8"))]
    assert sorted([*data["queries"], *data["not_yet"]]) == sorted(asked)
    assert [one.question for one in QUESTIONS] == asked
    assert all(bool(one.query) != bool(one.lacks) for one in QUESTIONS)


def test_few_questions_wait():
    """At most one in ten is out of the language's reach."""
    assert sum(not one.query for one in QUESTIONS) <= len(QUESTIONS) // 10


@pytest.mark.parametrize("one", [one for one in QUESTIONS if one.query], ids=lambda one: one.question)
def test_every_query_resolves_and_its_read_back_means_the_same(one, ontology):
    """And it names no patient."""
    resolved = resolve_text(one.query, *ontology)
    assert resolve_text(render(resolved), *ontology) == resolved
    assert "SAMPLE" not in one.query
