"""Concept expressions as sets of ids, and as the closed posting lists that stand for them."""

from __future__ import annotations

from collections.abc import Iterator

from ...kb.ontology.concepts import ConceptTable
from ...query_lang import nodes
from ...query_lang.nodes import QueryTreeError


def is_closed(expression: nodes.ConceptExpression) -> bool:
    """Whether the closed posting lists of the concepts that it names say exactly what it selects."""
    match expression:
        case nodes.Under(_, exact):
            return not exact
        case nodes.Union(parts):
            return all(is_closed(part) for part in parts)
    return False


def named_ids(expression: nodes.ConceptExpression) -> Iterator[str]:
    """The concepts that an expression names and does not exclude; what it selects lies at or below them."""
    match expression:
        case nodes.Under(nodes.Concept(id)):
            yield id
        case nodes.Under(nodes.Name(text)):
            raise QueryTreeError(f"the name {text!r} is not resolved. Hint: resolve the query first")
        case nodes.Union(parts):
            for part in parts:
                yield from named_ids(part)
        case nodes.OtherThan(base, _):
            yield from named_ids(base)


def concept_ids(expression: nodes.ConceptExpression, concepts: ConceptTable) -> frozenset[str]:
    """The ids that an expression selects."""
    match expression:
        case nodes.Union(parts):
            found: set[str] = set()
            for part in parts:
                found |= concept_ids(part, concepts)
            return frozenset(found)
        case nodes.OtherThan(base, excluded):
            return concept_ids(base, concepts) - concept_ids(excluded, concepts)
        case nodes.Under(_, True):
            return frozenset(named_ids(expression))
    (concept,) = named_ids(expression)
    return concepts.at_or_below(concept)


def covering(ids: frozenset[str], concepts: ConceptTable) -> tuple[list[str], list[str]]:
    """The ids, as concepts that stand for all that lies below them (the uppermost alone) and concepts that do not."""
    closed = {one for one in ids if one not in concepts or concepts.below(one) <= ids}
    uppermost = [one for one in closed if one not in concepts or not closed.intersection(concepts.parents(one))]
    return sorted(uppermost), sorted(ids - closed)
