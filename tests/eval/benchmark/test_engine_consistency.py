"""The engine, asked through the contract alone, over the sample notes (fictional): its answers agree."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cohortium.engine.api import OpenKb
from cohortium.engine.api import open as open_kb
from cohortium.eval.baselines.systems.contract import Answer, Outcome
from cohortium.eval.baselines.systems.engine import EngineSystem
from cohortium.eval.benchmark.agreement import load_paraphrases
from cohortium.eval.benchmark.consistency import Consistency, consistency
from cohortium.eval.benchmark.questions import bank_questions


@pytest.fixture(scope="module")
def kb(samples_kb: Path) -> Iterator[OpenKb]:
    """The sample notes, read."""
    with open_kb(samples_kb) as session:
        yield session


@pytest.fixture(scope="module")
def answers(kb: OpenKb) -> dict[str, Answer]:
    """The engine's answers to the bank, formally, and to the paraphrases, in English."""
    system = EngineSystem(kb, "engine")
    asked = [*bank_questions(), *(one.question for one in load_paraphrases())]
    return {one.id: system.answer(one) for one in asked}


@pytest.fixture(scope="module")
def compared(answers: dict[str, Answer]) -> Consistency:
    """The answers held together."""
    return consistency(answers)


@pytest.mark.parametrize("check", ["intersection", "subtype"])
def test_set_operations_over_events_contradict_nothing(compared: Consistency, check: str) -> None:
    """Every pair is checked, some of them of patients; none is violated."""
    pairs = compared.pairs(check)
    assert [(one.expected.first, one.expected.second) for one in pairs if not one.checked or one.violated] == []
    assert sum(not one.empty for one in pairs) >= 5


def test_a_paraphrase_is_declined_or_compared(compared: Consistency, answers: dict[str, Answer]) -> None:
    """What is declined is neither consistent nor violated; the bank's own pairs are asked formally, and hold."""
    for one in compared.pairs("paraphrase"):
        ended = {answers[id_].outcome for id_ in (one.expected.first, one.expected.second)}
        assert one.checked == (ended == {Outcome.ANSWERED})
        if not one.expected.second.startswith("p"):
            assert one.checked
            assert not one.violated
