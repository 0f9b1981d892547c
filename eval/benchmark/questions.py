"""Questions of a run: the questions of the bank, and other ways of asking some of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ..bank.acr.bank import load_bank
from ..baselines.systems.contract import Question
from ..report import signature
from .agreement import load_paraphrases


def bank_questions(only: Collection[int] = ()) -> tuple[Question, ...]:
    """The bank as questions, in its order; ``only`` those ids (all without any). ValueError for an id it has not."""
    bank = load_bank()
    unknown = sorted(set(only) - {one.id for one in bank})
    if unknown:
        raise ValueError(f"the bank has no query {', '.join(map(str, unknown))}")
    return tuple(Question(str(one.id), one.text, one.query, one.id) for one in bank if not only or one.id in only)


def other_wordings(only: Collection[int] = ()) -> tuple[Question, ...]:
    """The shipped paraphrases of the bank's questions; ``only`` of those ids (of all without any)."""
    return tuple(one.question for one in load_paraphrases() if not only or one.of in only)


def sha256_of(questions: Iterable[Question]) -> str:
    """The hash of all ids, words and formal queries that are asked."""
    return signature.sha256_of(part for one in questions for part in (one.id, one.text, one.query))
