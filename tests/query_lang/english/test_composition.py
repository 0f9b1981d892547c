"""The words between the facts of a question: each class of them as a query; what ties them and is open, declined."""

from __future__ import annotations

import datetime
import inspect
import tomllib
from pathlib import Path
from typing import Any

import pytest

from cohortium.kb.ontology.concepts import ConceptTable
from cohortium.kb.ontology.scales import Scales
from cohortium.query_lang.english.chart import Rule, rules
from cohortium.query_lang.english.composition import Composer
from cohortium.query_lang.english.translate import House, translate
from cohortium.query_lang.parsing.parse import parse_definitions

CASES: dict[str, list[dict[str, Any]]] = tomllib.loads(
    (Path(__file__).parent / "data" / "composed.toml").read_text(encoding="utf-8")
)
TODAY = datetime.date(2024, 12, 31).toordinal()


@pytest.mark.parametrize("case", CASES["composed"], ids=lambda case: case["text"])
def test_words_between_facts_compose(case: dict[str, Any], concepts: ConceptTable, scales: Scales) -> None:
    """A question is the query that its class of words makes of its facts."""
    answer = translate(case["text"], concepts, scales, today=lambda: TODAY)
    assert answer.text == case["query"], answer.reason


@pytest.mark.parametrize("case", CASES["declined"], ids=lambda case: case["text"])
def test_what_cannot_be_tied_is_declined(case: dict[str, Any], concepts: ConceptTable, scales: Scales) -> None:
    """What is open, contradicts itself or ties facts as the language cannot, is not answered as if it were clear."""
    answer = translate(case["text"], concepts, scales, today=lambda: TODAY)
    assert answer.abstained
    assert answer.reason


def test_every_rule_has_an_action_and_every_action_a_rule() -> None:
    """The grammar and the methods name each other."""
    used = {rule.action for rule in rules()}
    fields = {"actions", "items", "concepts", "diagnosed"}
    assert used == {name for name in dir(Composer) if not name.startswith("_")} - fields


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: f"{' '.join(rule.parts)} -> {rule.action}")
def test_a_rule_gives_its_action_as_many_parts_as_it_takes(rule: Rule) -> None:
    """Its numbers are those of its parts, and the action can be called with what they stand for."""
    assert all(0 <= place < len(rule.parts) for place in rule.takes)
    inspect.signature(getattr(Composer, rule.action)).bind(None, *(rule.takes or rule.parts))


def test_words_of_the_house_count(concepts: ConceptTable, scales: Scales) -> None:
    """A word that the house defines means that, also where it would be too vague."""
    assert translate("elderly patients with melanoma", concepts, scales).abstained
    house = House(parse_definitions("let elderly be age >= 75 at first diagnosis;"))
    answer = translate("elderly patients with melanoma", concepts, scales, house)
    assert answer.text.splitlines()[-1] == "diagnosis melanoma and elderly"


def test_a_choice_that_was_made_is_not_asked_again(concepts: ConceptTable, scales: Scales) -> None:
    """What settled one question settles another that is open in the same way."""
    first = translate("breast and ovarian cancer", concepts, scales)
    assert len(first.readings) == 2
    house = House(settled=first.readings[1].choices)
    second = translate("lung and thyroid cancer", concepts, scales, house)
    assert second.text == "diagnosis lung cancer and diagnosis thyroid cancer"
