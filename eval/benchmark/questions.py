"""What a run asks: the questions of the bank, and other ways of asking some of them."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable

from ..acr.bank import BankQuery, load_bank
from ..systems.contract import Question


def bank_questions(only: Collection[int] = ()) -> tuple[Question, ...]:
    """The bank as questions, in its order; ``only`` those ids (all without any). ValueError for an id it has not."""
    bank = load_bank()
    unknown = sorted(set(only) - {one.id for one in bank})
    if unknown:
        raise ValueError(f"the bank has no query {', '.join(map(str, unknown))}")
    return tuple(_question(one) for one in bank if not only or one.id in only)


def sha256_of(questions: Iterable[Question]) -> str:
    """The hash of all words and formal queries that are asked."""
    total = hashlib.sha256()
    for one in questions:
        for part in (one.id, one.text, one.query):
            data = part.encode()
            total.update(len(data).to_bytes(8, "big") + data)
    return total.hexdigest()


def _question(one: BankQuery) -> Question:
    return Question(str(one.id), one.text, one.query, one.id)
