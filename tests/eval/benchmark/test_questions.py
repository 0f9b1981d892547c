"""What a run asks."""

from __future__ import annotations

import pytest

from cohortium.eval.bank.acr.bank import load_bank
from cohortium.eval.benchmark.questions import bank_questions, other_wordings


def test_the_bank_is_asked_in_its_order() -> None:
    """Words, formal query and id are those of the bank."""
    asked = bank_questions()
    assert [(one.id, one.of, one.text, one.query) for one in asked] == [
        (str(one.id), one.id, one.text, one.query) for one in load_bank()
    ]


def test_some_may_be_chosen() -> None:
    """Ids choose questions, and their other wordings with them; an id that the bank has not is an error."""
    assert [one.of for one in bank_questions([58, 57])] == [57, 58]
    assert {one.of for one in other_wordings([57])} == {57}
    with pytest.raises(ValueError, match="no query 33"):
        bank_questions([33])


def test_other_wordings_have_no_formal_query() -> None:
    """Whoever is asked must read the words."""
    assert all(one.query == "" and one.of is not None for one in other_wordings())
    assert len({one.id for one in (*bank_questions(), *other_wordings())}) == len(bank_questions()) + len(
        other_wordings()
    )
