"""The questions about the sample notes: who should be found and why, and the formal query of each."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import cohortium.eval
from cohortium.eval.bank.acr.bank import load_definitions, load_queries, with_definitions

FOLDER: Final = Path(cohortium.eval.__file__).parent / "samples"


@dataclass(frozen=True, slots=True)
class SampleQuestion:
    """A question in English, the patients it should find, why, and its formal query.

    ``query`` is empty where the language cannot express it yet; ``lacks`` then says what it would take.
    """

    question: str
    patients: tuple[str, ...]
    why: str
    query: str = ""
    lacks: str = ""


def load_questions() -> tuple[SampleQuestion, ...]:
    """All questions, in the order of ``questions.json``. KeyError for one that ``queries.toml`` does not speak of."""
    data = tomllib.loads((FOLDER / "queries.toml").read_text(encoding="utf-8"))
    bank = load_queries()
    texts = {question: text for question, text in data["queries"].items() if isinstance(text, str)}
    queries = with_definitions(texts, {**load_definitions(), **data["definitions"]})
    queries |= {question: bank[number] for question, number in data["queries"].items() if isinstance(number, int)}
    return tuple(
        SampleQuestion(
            one["question"],
            tuple(one["patients"]),
            one["why"],
            queries.get(one["question"], ""),
            "" if one["question"] in queries else data["not_yet"][one["question"]],
        )
        for one in json.loads((FOLDER / "questions.json").read_text(encoding="utf-8"))
    )
