"""The funnel's counts are those of the queries that it stands for."""

from __future__ import annotations

import json
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from cohortium.engine.answers.funnel import funnel
from cohortium.engine.api import OpenKb
from cohortium.engine.fast import evaluate as fast
from cohortium.kb.model import World
from cohortium.query_lang import nodes
from tests.generated.memory_kb import MemoryKb
from tests.generated.queries import dividing_query
from tests.generated.records import CONCEPTS, SCALES, records

BELIEVED, CERTAIN, POSSIBLE = World.BELIEVED, World.CERTAIN, World.POSSIBLE


@given(seed=st.integers(0, 2**32), number=st.integers(2, 5))
def test_rows_of_a_conjunction_are_its_prefixes(seed: int, number: int) -> None:
    """After each criterion remain those whom it and the ones before it find; gain is what leaving it out alone adds."""
    random = Random(f"funnel {seed}")
    journeys = records(random, 6)
    kb = MemoryKb(journeys, CONCEPTS, SCALES)
    parts = []
    while len(parts) < number:
        part = dividing_query(random, journeys, deepest=1)
        # Negations and conjunctions would be taken apart: here each part is one row.
        if not part.definitions and not isinstance(part.body, nodes.And | nodes.Not | nodes.Except):
            parts.append(part.body)
    excluded = random.randrange(number)
    criteria = [
        nodes.Not(part) if at == excluded and not isinstance(part, nodes.Or) else part for at, part in enumerate(parts)
    ]
    found = funnel(nodes.Query(nodes.And(tuple(criteria))), kb)

    def asked(kept: list[nodes.PatientExpression], world: World) -> set[int]:
        body = nodes.And(tuple(kept)) if len(kept) > 1 else kept[0]
        return set(fast.evaluate(nodes.Query(body), kb, world))

    everyone = set(range(len(journeys)))
    before = everyone
    assert len(found.rows) == number
    for at, row in enumerate(found.rows):
        left = asked(criteria[: at + 1], BELIEVED)
        assert row.remain == tuple(len(asked(criteria[: at + 1], world)) for world in (BELIEVED, CERTAIN, POSSIBLE))
        assert row.changes == len(before - left)
        without = asked(criteria[:at] + criteria[at + 1 :], BELIEVED)
        assert row.alone == len(without - asked(criteria, BELIEVED))
        before = left


@given(seed=st.integers(0, 2**32))
def test_the_last_row_is_the_answer(seed: int) -> None:
    """Whatever the shape of the query, the last row counts the patients whom it finds, in the three worlds."""
    random = Random(f"shapes {seed}")
    journeys = records(random, 6)
    kb = MemoryKb(journeys, CONCEPTS, SCALES)
    query = dividing_query(random, journeys, deepest=3)
    found = funnel(query, kb)
    counts = tuple(len(fast.evaluate(query, kb, world)) for world in (BELIEVED, CERTAIN, POSSIBLE))
    assert found.answer == counts
    assert found.rows[-1].remain == counts
    assert all(found.query[row.start : row.end] == row.text for row in found.rows)


def test_exceptions_and_negations_are_rows_of_their_own(kb: OpenKb) -> None:
    """``A except (B or C)`` has three criteria, two of which must not hold."""
    rows = kb.find("diagnosis except (metastasis or medication trastuzumab)").funnel().rows
    assert [(row.text, row.excluded) for row in rows] == [
        ("diagnosis", False),
        ("metastasis", True),
        ("medication trastuzumab", True),
    ]
    assert [row.remain.believed for row in rows] == [4, 3, 2]
    assert [row.alone for row in rows] == [0, 1, 1]


def test_a_scope_is_looked_into(kb: OpenKb) -> None:
    """Of one tumor: the criteria inside, each with those before it about the same tumor."""
    found = kb.find("same tumor (breast cancer and HER2+)").funnel()
    assert [row.remain.believed for row in found.rows] == [3, 1]
    assert [row.alone for row in found.rows] == [1, 2]


def test_alternatives_add_and_are_missed(kb: OpenKb) -> None:
    """Where one is enough: whom each adds, and whom only it finds."""
    found = kb.find("metastasis or lung cancer").funnel()
    assert found.shape == "any"
    assert [(row.remain.believed, row.changes, row.alone) for row in found.rows] == [(1, 1, 0), (2, 1, 1)]
    assert json.loads(json.dumps(found.as_dict()))["criteria"][1]["loss"] == 1
    assert len(found.table()[1]) == 2
