"""Concept expressions as sets of ids, as those whose denial denies them, and as the closed lists that are theirs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from ...kb.kinds import KIND_TABLE
from ...kb.ontology.concepts import ConceptTable
from ...query_lang import nodes
from ...query_lang.nodes import QueryTreeError

if TYPE_CHECKING:
    # Takes long to load, and posting lists need none of it.
    from ...kb.index.columns import Wanted

#: The context whose events are denials.
ABSENT: Final = "absent"


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


# --- denials ----------------------------------------------------------------------------------------------------------


def selected(events: nodes.Events, concepts: ConceptTable) -> list[Wanted]:
    """The kinds and concepts of the events that can be in the set."""
    if events.context == ABSENT:
        return denying(events, concepts)
    return [(events.kind, None if events.concept is None else concept_ids(events.concept, concepts))]


def denying(events: nodes.Events, concepts: ConceptTable) -> list[Wanted]:
    """The kinds and concepts whose denial denies what is asked: each concept asked for, or one above them all that is
    no root of the ontology; and what stands for the whole kind."""
    found: dict[str, set[str]] = {}
    if events.kind is not None:
        for kind, concept in KIND_TABLE[events.kind].denial.whole:
            found.setdefault(kind, set()).add(concept)
    shared = frozenset() if events.concept is None else _above_all(events.concept, concepts)
    if events.kind is None:
        return [(None, shared)]
    found[events.kind] |= shared
    return [(kind, frozenset(ids)) for kind, ids in found.items()]


def _above_all(concept: nodes.ConceptExpression, concepts: ConceptTable) -> frozenset[str]:
    ways = []
    for wanted in named_ids(concept):
        above = concepts.at_or_above(wanted)
        ways.append(frozenset(one for one in above if one == wanted or concepts.parents(one)))
    return frozenset.intersection(*ways)
