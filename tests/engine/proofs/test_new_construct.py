"""A node that nobody was told of: what it says in other nodes is enough for every walk, engine, rule and proof."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import pytest

import cohortium
from cohortium.engine.fast import evaluate as fast
from cohortium.engine.reference import meaning as reference
from cohortium.eval.bank.natural.grown_records import records as grown
from cohortium.kb.model import World
from cohortium.query_lang import nodes as q
from cohortium.query_lang import tree
from cohortium.query_lang.canonical import canonical, inlined, same_question
from cohortium.query_lang.lint.linter import lint
from cohortium.query_lang.parsing.parse import parse, used_definitions
from cohortium.query_lang.read_back.query import read_back
from cohortium.query_lang.render import render
from cohortium.query_lang.resolution.resolve import resolve, resolve_text
from tests.engine.proofs.test_walk import faults, proved
from tests.generated import records as generated_records
from tests.generated.memory_kb import MemoryKb

CONCEPTS, SCALES = generated_records.CONCEPTS, generated_records.SCALES
WORLDS = (World.CERTAIN, World.BELIEVED, World.POSSIBLE)


@dataclass(frozen=True, slots=True)
class Exactly(q.PatientExpression):
    """Patients in ``n`` of the parts and no more."""

    n: int
    parts: tuple[q.PatientExpression, ...]

    @property
    def expansion(self) -> q.PatientExpression:
        """At least ``n``, and not one more."""
        enough = q.AtLeast(self.n, self.parts)
        return enough if self.n == len(self.parts) else q.Except(enough, q.AtLeast(self.n + 1, self.parts))


def some(concept: str, kind: str = "diagnosis") -> q.Exists:
    """A fact whose concept has its name alone."""
    return q.Exists(q.Events(kind, q.Under(q.Name(concept))))


ONE_OF_TWO = Exactly(1, (some("lung cancer"), some("breast cancer")))


def test_walks_know_its_fields() -> None:
    """Its parts are found, folded, changed and counted like those of any node."""
    node = q.Not(ONE_OF_TWO)
    assert tree.children(ONE_OF_TWO) == ONE_OF_TWO.parts
    assert [one.text for one in tree.find(node, q.Name)] == ["lung cancer", "breast cancer"]
    assert tree.fold(node, lambda _, made: 1 + sum(made), tree.children) == 4
    twice = tree.map_nodes(node, lambda one: replace(one, text="death") if isinstance(one, q.Name) else one)
    assert twice == q.Not(Exactly(1, (some("death"), some("death"))))
    assert tree.map_nodes(node, lambda one: one) is node


def test_names_in_it_are_resolved_and_definitions_found() -> None:
    """So are definitions that it uses, and those are put in."""
    query = resolve(q.Query(ONE_OF_TWO), CONCEPTS, SCALES)
    assert [one.id for one in tree.find(query, q.Concept)] == ["lung_cancer", "breast_cancer"]
    named = q.Query(Exactly(1, (q.Defined("mine"), some("breast cancer"))))
    mine = q.Definition("mine", some("lung cancer"))
    assert used_definitions(named, (mine,)) == {"mine"}
    assert inlined(replace(named, definitions=(mine,))) == ONE_OF_TWO


def test_its_canonical_form_is_that_of_what_it_says() -> None:
    """Whatever the order of its parts."""
    other = Exactly(1, ONE_OF_TWO.parts[::-1])
    assert same_question(q.Query(ONE_OF_TWO), q.Query(other))
    assert canonical(q.Query(ONE_OF_TWO)) == canonical(q.Query(ONE_OF_TWO.expansion))


def test_it_is_written_and_read_back_as_what_it_says() -> None:
    """As long as there are no words for it."""
    query = q.Query(ONE_OF_TWO)
    assert parse(render(query)) == q.Query(ONE_OF_TWO.expansion)
    assert read_back(query) == read_back(q.Query(ONE_OF_TWO.expansion))


def test_rules_of_the_linter_see_what_it_says() -> None:
    """Exactly one of twice the same can hold of nobody."""
    same = Exactly(1, (some("lung cancer"), some("lung cancer")))
    query = resolve(q.Query(q.And((same, some("breast cancer")))), CONCEPTS, SCALES)
    assert lint(query, CONCEPTS, SCALES)


@pytest.mark.parametrize("seed", range(20))
def test_engines_and_proofs_agree_on_it(seed: int) -> None:
    """On generated records, in each world; each member has a proof that the checker accepts."""
    drawn = generated_records.records(Random(seed), 6)
    drawn = [replace(one, events=tuple({event.event_id: event for event in one.events}.values())) for one in drawn]
    body = Exactly(2, (some("lung cancer"), some("carcinoma"), q.SameTumor(some("breast cancer"))))
    query = resolve(q.Query(body), CONCEPTS, SCALES)
    kb = MemoryKb(drawn, CONCEPTS, SCALES)
    for world in WORLDS:
        found = reference.evaluate(query, drawn, CONCEPTS, SCALES, world)
        assert {kb.patients[number] for number in fast.evaluate(query, kb, world)} == set(found)
        assert set(found) == set(reference.evaluate(q.Query(query.body.expansion), drawn, CONCEPTS, SCALES, world))
        for journey in drawn:
            if journey.patient_id in found:
                assert not faults(query, journey, world, proved(query, journey, world))


def test_answers_about_it_are_given(sample_kb: Path) -> None:
    """Counted, explained, ranked, told from another query; of others it is said what keeps them out."""
    with cohortium.open(sample_kb) as kb:
        two = ("breast cancer", "medication 'systemic therapy'", "surgery")
        parts = tuple(resolve_text(one, kb.concepts, kb.scales).body for one in two)
        cohort = kb.find(q.Query(q.And((Exactly(2, parts), q.Not(q.Among(("nobody",)))))))
        inside = sorted(cohort)
        outside = [one for one in kb.patients if one not in cohort]
        assert inside
        assert outside
        assert cohort.explain(inside[0]).criterion.parts
        assert len(cohort.funnel().rows) == 2
        assert len(cohort.rank(None)) == len(inside)
        assert cohort.why_not(outside[0]).failing
        assert len(cohort.parts()) > len(parts)


def test_records_are_grown_for_it() -> None:
    """Some of which satisfy it, and some not."""
    query = resolve(q.Query(ONE_OF_TWO), CONCEPTS, SCALES)
    made = grown((query,), CONCEPTS, SCALES, each=30, seed=1)
    assert 0 < len(reference.evaluate(query, made, CONCEPTS, SCALES, World.BELIEVED)) < len(made)
