"""The plan of a query: each rewrite rule, shared criteria evaluated once, wide queries, and what touches events."""

from __future__ import annotations

import pytest

from cohortium.engine.fast import evaluate as fast
from cohortium.engine.fast.plan import DEEPEST_PLAN, Atom, Complement, Either, Every, planned
from cohortium.engine.fast.rewrites import (
    RULES,
    cheapest_first,
    count_of_one_or_all,
    double_negation,
    drop_repeats,
    flatten,
)
from cohortium.kb.model import World
from cohortium.query_lang import nodes as q
from tests.generated.memory_kb import MemoryKb
from tests.generated.record_tables import journeys


def some(concept: str, **more) -> q.Exists:
    """A diagnosis."""
    return q.Exists(q.Events("diagnosis", q.Under(q.Concept(concept, concept)), **more))


A, B, C = some("lung_cancer"), some("carcinoma"), some("breast_cancer")
DEAR = some("lung_cancer", pick=q.Pick("first"))


def shape(body: q.PatientExpression, rules=RULES) -> str:
    """The plan as text: ``and(A, not(B))``."""
    plan, root = planned(q.Query(body), rules)
    names = {A.events: "A", B.events: "B", C.events: "C", DEAR.events: "D"}

    def text(number: int) -> str:
        match plan.steps[number]:
            case Atom(events):
                return names[events]
            case Complement(part):
                return f"not({text(part)})"
            case Every(parts):
                return f"and({', '.join(map(text, parts))})"
            case Either(parts):
                return f"or({', '.join(map(text, parts))})"
        return type(plan.steps[number]).__name__

    return text(root)


@pytest.mark.parametrize(
    ("rule", "before", "after"),
    [
        (count_of_one_or_all, q.AtLeast(1, (A, B)), "or(A, B)"),
        (count_of_one_or_all, q.AtLeast(2, (A, B)), "and(A, B)"),
        (count_of_one_or_all, q.AtLeast(2, (A, B, C)), "Count"),
        (double_negation, q.Not(q.Not(A)), "A"),
        (flatten, q.And((q.And((A, B)), C)), "and(A, B, C)"),
        (flatten, q.Or((q.And((A, B)), C)), "or(and(A, B), C)"),
        (drop_repeats, q.Or((A, B, A)), "or(A, B)"),
        (drop_repeats, q.And((A, A)), "A"),
        (cheapest_first, q.And((DEAR, A)), "and(A, D)"),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)[:40]),
)
def test_each_rule(rule, before: q.PatientExpression, after: str) -> None:
    """One rule alone turns ``before`` into ``after``."""
    assert shape(before, (rule,)) == after


def test_what_has_an_expansion_is_planned_as_that() -> None:
    """*A except B* is *A and not B*, without a rule."""
    assert shape(q.Except(A, B), ()) == "and(A, not(B))"


def test_the_rules_work_together() -> None:
    """What one rule makes, the next sees."""
    assert shape(q.Not(q.Not(q.And((q.AtLeast(2, (A, A)), q.And((B, B))))))) == "and(A, B)"


def test_equal_criteria_are_one_step() -> None:
    """A criterion that occurs twice, also in another order of its parts, has one number."""
    plan, _ = planned(q.Query(q.Or((q.Not(q.And((A, B))), q.And((C, q.And((B, A))))))), RULES)
    assert len(plan.steps) == len(set(plan.steps))
    assert sum(isinstance(step, Atom) for step in plan.steps) == 3


RECORDS = """
patient | kind      | concept       | day
P1      | diagnosis | lung_cancer   | 2020-01-01
P2      | diagnosis | breast_cancer | 2020-01-01
P3      | diagnosis | neoplasm      | 2020-01-01
"""


@pytest.fixture
def kb(concepts, scales) -> MemoryKb:
    """Three patients."""
    return MemoryKb(journeys(RECORDS), concepts, scales)


def found(kb: MemoryKb, body: q.PatientExpression) -> list[str]:
    """The believed patients."""
    return [kb.patients[number] for number in fast.evaluate(q.Query(body), kb, World.BELIEVED)]


def test_events_are_read_only_for_the_candidates_that_bitmaps_leave(kb: MemoryKb) -> None:
    """The dear criterion sees whom the cheap one leaves; when none is left it is not evaluated."""
    first = q.Exists(q.Events("diagnosis", pick=q.Pick("first")))
    assert found(kb, q.And((first, A))) == ["P1"]
    assert kb.asked == [[0]]
    assert found(kb, q.And((first, q.Exists(q.Events("death"))))) == []
    assert kb.asked == [[0]]


def test_a_criterion_that_occurs_twice_is_evaluated_once(kb: MemoryKb) -> None:
    """The events are read once for both occurrences."""
    first = q.Exists(q.Events("diagnosis", pick=q.Pick("first")))
    assert found(kb, q.And((q.Or((first, A)), q.Or((first, C)), first))) == ["P1", "P2", "P3"]
    assert len(kb.asked) == 1


def test_thousands_of_alternatives(kb: MemoryKb) -> None:
    """A long or-list is no deep tree, in the plan or in the evaluation; nor is one that was built pair by pair."""
    many = tuple(some(f"unknown_{number}") for number in range(5000))
    assert found(kb, q.Or((*many, C))) == ["P2"]
    assert found(kb, q.Not(q.Or((*many, C)))) == ["P1", "P3"]
    nested: q.PatientExpression = C
    for other in many[:2000]:
        nested = q.Or((nested, other))
    assert found(kb, nested) == ["P2"]


def test_thousands_of_concepts_and_values(kb: MemoryKb) -> None:
    """A union of thousands of concepts is one atom."""
    union = q.Union(tuple(q.Under(q.Concept(f"unknown_{number}", "x")) for number in range(5000)))
    wide = q.Union((*union.parts, q.Under(q.Concept("carcinoma", "carcinoma"))))
    assert found(kb, q.Exists(q.Events("diagnosis", wide))) == ["P2"]
    assert found(kb, q.Exists(q.Events("diagnosis", wide, pick=q.Pick("first")))) == ["P2"]


def test_too_deep_is_an_error_that_says_so(kb: MemoryKb) -> None:
    """Nesting that cannot be flattened is refused before it is evaluated."""
    body: q.PatientExpression = A
    for _ in range(DEEPEST_PLAN):
        body = q.And((q.Or((body, B)), C))
    with pytest.raises(q.QueryTreeError, match="nested"):
        found(kb, body)


def test_no_world_is_no_answer(kb: MemoryKb) -> None:
    """World.NONE is no world to answer in."""
    with pytest.raises(ValueError, match="world"):
        fast.evaluate(q.Query(A), kb, World.NONE)
