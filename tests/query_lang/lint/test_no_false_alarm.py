"""What the linter proves of a query holds of its answer, on generated records, by the reference engine."""

from __future__ import annotations

import collections
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohortium.engine.reference import meaning as reference
from cohortium.kb.model import Journey, World
from cohortium.query_lang import nodes as q
from cohortium.query_lang.lint.atoms import Atoms
from cohortium.query_lang.lint.finding import CLAIMS, Finding
from cohortium.query_lang.lint.linter import lint_resolved
from cohortium.query_lang.render import render
from tests.generated import kb_strategies as small
from tests.generated import queries as generated_queries
from tests.generated.records import CONCEPTS, KINDS, SCALES, records

ATOMS = Atoms(CONCEPTS, SCALES)


def found_by(body: q.PatientExpression | q.Query, query: q.Query, people: list[Journey], world: World) -> set[str]:
    """The answer to a query, or to a part of one under its definitions."""
    asked = body if isinstance(body, q.Query) else q.Query(body, query.definitions)
    return set(reference.evaluate(asked, people, CONCEPTS, SCALES, world))


def check(finding: Finding, query: q.Query, people: list[Journey]) -> None:
    """The claim of the finding holds of these people."""
    match finding.claim:
        case "nobody":
            assert not found_by(finding.part, query, people, World.POSSIBLE), finding
        case "nobody believed":
            assert not found_by(finding.part, query, people, World.BELIEVED), finding
        case "everybody believed":
            assert len(found_by(everywhere(finding.part), query, people, World.BELIEVED)) == len(people), finding
        case "same without":
            assert found_by(finding.rest, query, people, World.BELIEVED) == found_by(
                query, query, people, World.BELIEVED
            ), (finding, render(finding.rest))


def everywhere(part: q.PatientExpression) -> q.PatientExpression:
    """That there is no tumor, or event, of which the part does not hold."""
    if isinstance(part, q.SameTumor | q.SameEvent):
        return q.Not(type(part)(q.Not(everywhere(part.body))))
    return part


def checked(query: q.Query, people: list[Journey]) -> list[Finding]:
    """The findings of a query, each held against its answer."""
    findings = list(lint_resolved(query, "", ATOMS))
    for finding in findings:
        check(finding, query, people)
    return findings


@st.composite
def doubtful(draw: st.DrawFn) -> q.Query:
    """Queries whose parts repeat, widen, narrow, deny and exclude each other, in and out of scopes."""
    atom = draw(small.event_sets())
    near = [atom, *(draw(varied(atom)) for _ in range(3))]
    leaves: list[q.PatientExpression] = [q.Exists(one) for one in near]
    for how in ("first", "latest", "worst", "nth"):
        picked = q.Pick(how, 2 if how == "nth" else 0)
        if how != "worst" or atom.kind in ("stage", "tnm", "grade", "performance", "biomarker", "lab"):
            leaves += [q.Exists(replaced(one, pick=picked)) for one in near[:3]]
    earliest = replaced(near[0], pick=q.Pick("first"), condition=None)
    leaves += [draw(small.orders()), draw(small.leaves_of_events()), q.Ordered(near[0], "before", earliest)]
    counted = replaced(near[0], pick=q.Pick(), context="present", moment="begin", lasting=None)
    leaves += [q.Times(2, counted), q.Lacking("denied", counted), q.Lacking("silent", counted), q.Exists(counted)]
    # What everybody matches is made by chance once in a thousand times.
    leaves.append(q.Or((leaves[0], q.Not(leaves[0]))))
    one = st.sampled_from(leaves)
    body = draw(st.recursive(one, joined, max_leaves=6))
    return q.Query(body)


def joined(inner: st.SearchStrategy[q.PatientExpression]) -> st.SearchStrategy[q.PatientExpression]:
    """Criteria made of others."""
    several = st.lists(inner, min_size=2, max_size=4).map(tuple)
    return st.one_of(
        st.builds(q.And, several), st.builds(q.Or, several), st.builds(q.Not, inner),
        st.builds(q.Except, inner, inner), st.builds(q.SameTumor, inner), st.builds(q.SameEvent, inner),
        several.flatmap(lambda parts: st.builds(q.AtLeast, st.integers(1, len(parts)), st.just(parts))),
    )  # fmt: skip


def replaced(events: q.Events, **changes: object) -> q.Events:
    """The event set with other fields."""
    return q.Events(**{name: changes.get(name, getattr(events, name)) for name in q.Events.__dataclass_fields__})


@st.composite
def varied(draw: st.DrawFn, events: q.Events) -> q.Events:
    """The event set with one part of it another."""
    if events.kind is None:
        return events
    match draw(st.sampled_from(["concept", "condition", "context", "window", "none", "denied", "end", "lasting"])):
        case "concept" if small.NAMED[events.kind]:
            return replaced(events, concept=draw(small.concept_expressions(events.kind, True)))
        case "condition" if KINDS[events.kind][1]:
            return replaced(events, condition=draw(small.conditions(events.kind, False)))
        case "denied" if events.condition is not None:
            return replaced(events, condition=q.NotThat(events.condition))
        case "context":
            other = draw(st.sampled_from(q.CONTEXTS))
            denied = {"moment": "begin", "lasting": None} if other == "absent" else {}
            return replaced(events, context=other, **denied)
        case "end" if events.context != "absent":
            return replaced(events, moment=draw(st.sampled_from(q.MOMENTS)))
        case "lasting" if events.context != "absent":
            return replaced(events, lasting=draw(st.sampled_from([None, *small.LENGTHS])))
        case "window":
            return replaced(events, window=draw(small.WINDOWS))
    return replaced(events, condition=None, window=None)


@given(small.records(patients=5), doubtful())
def test_what_is_claimed_of_doubtful_queries_holds(people: list[Journey], query: q.Query) -> None:
    """Never, contradiction, tautology, redundancy: the claim of each finding holds of every record."""
    checked(query, people)


@given(small.records(), small.queries())
def test_what_is_claimed_of_any_query_holds(people: list[Journey], query: q.Query) -> None:
    """The same of queries of every node."""
    checked(query, people)


@given(st.integers(0, 2**32))
def test_what_is_claimed_of_queries_about_records_holds(seed: int) -> None:
    """The same of queries that are drawn around the facts of records, with definitions."""
    random = Random(seed)
    people = records(random, 12)
    for _ in range(4):
        checked(generated_queries.query(random, people), people)


@pytest.mark.parametrize("claim", CLAIMS[1:])
def test_every_claim_is_made(claim: str) -> None:
    """The doubtful queries of these tests do meet each sort of claim, so that the tests can fail."""
    from hypothesis import Phase, find, settings

    query = find(
        doubtful(),
        lambda drawn: any(finding.claim == claim for finding in lint_resolved(drawn, "", ATOMS)),
        # As found: to make it small takes minutes.
        settings=settings(max_examples=20_000, database=None, phases=[Phase.generate]),
    )
    assert collections.Counter(finding.claim for finding in lint_resolved(query, "", ATOMS))[claim]
