"""What SQL can say is read back as the very tree that it was written from."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from cohortium.engine.api import OpenKb
from cohortium.query_lang import nodes as q
from cohortium.query_lang.errors import QueryError
from cohortium.query_lang.sql.front import parse_sql
from tests.amounts import examples
from tests.generated import sql_strategies
from tests.query_lang.sql.sql_text import sql_of

QUICK = settings(max_examples=examples(150), deadline=None, suppress_health_check=list(HealthCheck))


@QUICK
@given(sql_strategies.queries())
def test_sql_is_read_as_the_tree_that_it_says(query: q.Query) -> None:
    """Tree to SQL and back gives the tree."""
    assert parse_sql(sql_of(query)).query == query


def test_sql_and_language_find_the_same_patients(kb: OpenKb) -> None:
    """A tree asked as SQL gives the cohort of the tree in the three worlds, or the same errors of its names."""

    # Not shrunk: an answer is slower than a reading, and shrinking asks for thousands.
    @settings(
        max_examples=examples(25),
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.explicit, Phase.reuse, Phase.generate],
    )
    @given(sql_strategies.queries())
    def agree(query: q.Query) -> None:
        wrong: list[str] = []
        try:
            asked = kb.find(query)
        except QueryError as error:
            wrong = [one.message for one in error.errors]
        if wrong:
            with pytest.raises(QueryError) as caught:
                kb.find_sql(sql_of(query))
            assert [one.message for one in caught.value.errors] == wrong
            return
        found = kb.find_sql(sql_of(query))
        assert found.query == asked.query
        assert [list(found.certain), list(found), list(found.possible)] == [
            list(asked.certain),
            list(asked),
            list(asked.possible),
        ]

    agree()
