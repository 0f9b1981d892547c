"""The shipped pairs: enough of them, each once, each answerable, and each what it says it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cohortium.eval.bank.acr.bank import load_bank
from cohortium.eval.bank.consistency.pairs import (
    PARAPHRASE_KINDS,
    PairsError,
    load_intersections,
    load_paraphrases,
    load_subtypes,
    normalized,
    written,
)
from cohortium.eval.bank.consistency.run import is_monotone
from cohortium.kb.ontology.concepts import ConceptTable, shipped_concepts
from cohortium.kb.ontology.scales import Scales
from cohortium.query_lang import nodes
from cohortium.query_lang.errors import QueryError
from cohortium.query_lang.nodes import Query
from cohortium.query_lang.resolution.resolve import resolve_text
from cohortium.query_lang.tree import children

Ontology = tuple[ConceptTable, Scales]


@pytest.fixture(scope="module")
def ontology() -> Ontology:
    """The shipped ontology and scales."""
    return shipped_concepts(), Scales.from_files()


def test_there_are_enough_of_each_kind() -> None:
    """At least 200 paraphrases in all ten kinds, 50 intersections, 100 subtypes."""
    kinds = Counter(one.kind for one in load_paraphrases())
    assert sum(kinds.values()) >= 200
    assert set(kinds) == set(PARAPHRASE_KINDS)
    assert min(kinds.values()) >= 8
    assert len(load_intersections()) >= 50
    assert len(load_subtypes()) >= 100


def test_no_two_pairs_are_the_same_and_the_sides_of_each_differ() -> None:
    """Also when blanks and the order of the sides are not looked at."""
    for pairs in (load_paraphrases(), load_intersections()):
        texts = [frozenset((normalized(one.left), normalized(one.right))) for one in pairs]
        assert all(len(text) == 2 for text in texts)
        assert len(set(texts)) == len(texts)


def test_every_query_can_be_answered(ontology: Ontology) -> None:
    """All names are in the shipped ontology."""
    texts = {text for one in load_paraphrases() for text in (one.left, one.right)}
    texts |= {text for one in load_intersections() for text in (one.left, one.right, one.both) if text}
    wrong = []
    for text in sorted(texts):
        try:
            resolve_text(written(text), *ontology)
        except QueryError as error:
            wrong.append(str(error))
    assert wrong == []


def test_the_concepts_vary(ontology: Ontology) -> None:
    """The paraphrases speak of more than 150 concepts: tumors, drugs, genes, markers, operations, sites and states."""
    concepts = {
        concept
        for one in load_paraphrases()
        for events in events_of(resolve_text(written(one.left), *ontology))
        for concept in named(events.concept)
    }
    kinds = Counter(ontology[0].get(concept).kind for concept in concepts)
    assert len(concepts) > 150
    assert kinds.keys() >= {"tumor", "drug", "gene", "biomarker", "procedure", "radiation", "site", "state"}


def test_two_names_resolve_to_the_same_concepts(ontology: Ontology) -> None:
    """A brand, a code, an abbreviation or a synonym is understood as what the other side names, whatever the notes."""
    different = [
        (one.left, one.right)
        for one in load_paraphrases()
        if one.kind in ("brand", "code", "abbreviation", "synonym")
        and reached(resolve_text(written(one.left), *ontology), ontology)
        != reached(resolve_text(written(one.right), *ontology), ontology)
    ]
    assert different == []


def test_a_class_and_its_members_reach_the_same_concepts(ontology: Ontology) -> None:
    """But for the names that are known not to."""
    different = {
        one.left
        for one in load_paraphrases()
        if one.kind == "union" and all_ids(one.left, ontology) != all_ids(one.right, ontology)
    }
    assert different == set()


# --- subtypes ---------------------------------------------------------------------------------------------------------


def test_subtypes_follow_from_one_another() -> None:
    """Where A is under B and B under C, A is under C."""
    pairs = {(one.child, one.parent) for one in load_subtypes()}
    implied = {(a, d) for a, b in pairs for c, d in pairs if b == c and a != d}
    assert implied - pairs == set()


def test_every_subtype_that_the_queries_show_is_listed(ontology: Ontology) -> None:
    """Each pair of bank queries of which one implies the other by its form and by the ontology."""
    bank = {one.id: resolve_text(one.query, *ontology) for one in load_bank()}
    listed = {(one.child, one.parent) for one in load_subtypes()}
    plain = {id_: inlined(query) for id_, query in bank.items()}
    shown = {
        (child, parent)
        for child, left in plain.items()
        for parent, right in plain.items()
        if child != parent and implies(left, right, ontology[0])
    }
    assert len(shown) > 60
    assert shown - listed == set()


# --- what makes a list wrong ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("brand\tall\tdeath\tdeath  ", "both sides are the same"),
        ("brand\tall\tdeath\tsurgery\nbrand\tall\tsurgery\tdeath", "the same pair stands in line 2"),
        ("colour\tall\tdeath\tsurgery", "kind 'colour'"),
        ("brand\tsome\tdeath\tsurgery", "worlds 'some'"),
        ("brand\tall\tdeath\t(surgery", "line 2"),
        ("brand\tall\tdeath\tsurgery\tradiation", "5 cells"),
    ],
)
def test_a_wrong_paraphrase_is_refused(tmp_path: Path, lines: str, message: str) -> None:
    """The line is named."""
    (tmp_path / "paraphrases.tsv").write_text(f"kind\tworlds\tleft\tright\n{lines}\n", encoding="utf-8")
    with pytest.raises(PairsError, match=message):
        load_paraphrases(tmp_path)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("57\t57\tlung", "of one query"),
        ("57\t0\tlung", "ids of the bank"),
        ("40\t57\t", "no reason"),
        ("40 40\t57\tlung", "is said before"),
    ],
)
def test_a_wrong_subtype_is_refused(tmp_path: Path, line: str, message: str) -> None:
    """Unknown ids, pairs of one query, pairs without a reason or given twice."""
    (tmp_path / "subtypes.tsv").write_text(f"children\tparents\treason\n{line}\n", encoding="utf-8")
    with pytest.raises(PairsError, match=message):
        load_subtypes(tmp_path)


def test_an_intersection_of_an_unknown_bank_query_is_refused(tmp_path: Path) -> None:
    """The id is named."""
    (tmp_path / "intersections.tsv").write_text("left\tright\tboth\nbank 0\tdeath\n", encoding="utf-8")
    with pytest.raises(PairsError, match="line 2: the bank has no query 0"):
        load_intersections(tmp_path)


@pytest.mark.parametrize(
    ("text", "monotone"),
    [
        ("diagnosis breast cancer and (surgery or radiation before surgery)", True),
        ("same tumor (variant EGFR with not significance = vus)", True),
        ("diagnosis breast cancer except surgery", False),
        ("same tumor (not surgery)", False),
        ("latest ECOG <= 1", False),
        ("radiation after first surgery", False),
        ("let a be not surgery; death and a", False),
    ],
)
def test_monotone_queries_are_known(ontology: Ontology, text: str, monotone: bool) -> None:
    """Negations and picks between criteria, wherever they stand, can lose a patient by a fact that is added."""
    assert is_monotone(resolve_text(text, *ontology)) is monotone


# --- reading trees ----------------------------------------------------------------------------------------------------


def events_of(query: Query) -> Iterator[nodes.Events]:
    """All event sets of a query, in the order of the tree."""
    waiting = [query.body, *(one.body for one in query.definitions)]
    while waiting:
        node = waiting.pop()
        match node:
            case nodes.Exists(events):
                yield events
            case nodes.Ordered(left, _, right):
                yield left
                yield right
        waiting += children(node)


def named(concept: nodes.ConceptExpression | None) -> Iterator[str]:
    """The ids of the concepts that an expression names."""
    match concept:
        case nodes.Under(nodes.Concept(id_, _), _):
            yield id_
        case nodes.Union(parts):
            for part in parts:
                yield from named(part)
        case nodes.OtherThan(base, excluded):
            yield from named(base)
            yield from named(excluded)


def closure(concept: nodes.ConceptExpression, concepts: ConceptTable) -> frozenset[str]:
    """The ids that an expression admits."""
    match concept:
        case nodes.Under(nodes.Concept(id_, _), exact):
            return frozenset((id_,)) if exact else concepts.below(id_)
        case nodes.Union(parts):
            return frozenset().union(*(closure(part, concepts) for part in parts))
        case nodes.OtherThan(base, excluded):
            return closure(base, concepts) - closure(excluded, concepts)
    raise AssertionError(concept)


def reached(query: Query, ontology: Ontology) -> Counter[Any]:
    """What the event sets of a query admit and ask: ids, and everything but the concept; in no order."""
    return Counter(
        (
            frozenset() if one.concept is None else closure(one.concept, ontology[0]),
            (one.kind, one.condition, one.context, one.pick, one.window),
        )
        for one in events_of(query)
    )


def all_ids(text: str, ontology: Ontology) -> frozenset[str]:
    """What the event sets of a query admit, taken together."""
    return frozenset().union(*(ids for ids, _ in reached(resolve_text(written(text), *ontology), ontology)))


def inlined(query: Query) -> nodes.PatientExpression:
    """The criterion with each definition written in its place."""
    bodies: dict[str, nodes.PatientExpression] = {}
    for definition in query.definitions:
        bodies[definition.name] = _inlined(definition.body, bodies)
    return _inlined(query.body, bodies)


def _inlined(node: nodes.PatientExpression, bodies: dict[str, nodes.PatientExpression]) -> nodes.PatientExpression:
    match node:
        case nodes.Defined(name):
            return bodies[name]
        case nodes.And(parts):
            return nodes.And(tuple(_inlined(part, bodies) for part in parts))
        case nodes.Or(parts):
            return nodes.Or(tuple(_inlined(part, bodies) for part in parts))
        case nodes.Not(part):
            return nodes.Not(_inlined(part, bodies))
        case nodes.Except(left, right):
            return nodes.Except(_inlined(left, bodies), _inlined(right, bodies))
        case nodes.SameTumor(body):
            return nodes.SameTumor(_inlined(body, bodies))
        case nodes.SameEvent(body):
            return nodes.SameEvent(_inlined(body, bodies))
    return node


def implies(left: nodes.PatientExpression, right: nodes.PatientExpression, concepts: ConceptTable) -> bool:
    """Whether whoever meets ``left`` must meet ``right``, as far as the form of the two and the ontology show it."""
    if left == right:
        return True
    match right:
        case nodes.And(parts):
            return all(implies(left, part, concepts) for part in parts)
    match left:
        case nodes.Or(parts):
            return all(implies(part, right, concepts) for part in parts)
    match right:
        case nodes.Or(parts) if any(implies(left, part, concepts) for part in parts):
            return True
        case nodes.Except(of, without):
            if isinstance(left, nodes.Except) and implies(without, left.right, concepts):
                return implies(left.left, of, concepts)
    match left, right:
        case (nodes.SameTumor(one), nodes.SameTumor(other)) | (nodes.SameEvent(one), nodes.SameEvent(other)):
            return implies(one, other, concepts)
        case ((nodes.SameTumor(one) | nodes.SameEvent(one)), _):
            # What one tumor or event shows, the patient shows: if nothing there is a negation or a pick.
            return is_monotone(Query(one)) and is_monotone(Query(right)) and implies(one, right, concepts)
        case nodes.And(parts), _:
            return any(implies(part, right, concepts) for part in parts)
        case nodes.Except(of, _), _:
            return implies(of, right, concepts)
        case nodes.Ordered(one, _, other), nodes.Exists():
            return any(implies(nodes.Exists(part), right, concepts) for part in (one, other))
        case nodes.Exists(one), nodes.Exists(other):
            return _within(one, other, concepts)
    return False


def _within(one: nodes.Events, other: nodes.Events, concepts: ConceptTable) -> bool:
    if (one.kind, one.context, one.window, one.pick) != (other.kind, other.context, other.window, other.pick):
        return False
    if other.concept is not None and (
        one.concept is None or not closure(one.concept, concepts) <= closure(other.concept, concepts)
    ):
        return False
    asked = one.condition.parts if isinstance(one.condition, nodes.AllOf) else (one.condition,)
    return other.condition is None or other.condition == one.condition or other.condition in asked
