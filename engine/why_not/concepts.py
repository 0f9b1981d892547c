"""The edits of the concept of an atom: concepts climbed, or parts of them taken away; each with its events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import Final

from ...kb.ontology.concepts import ConceptTable
from ...query_lang import nodes
from ...query_lang.tree import named_concepts
from .cost import CONCEPT, DETAIL, undominated
from .record import Change, Option, Record, bits

#: Concepts that one edit takes away from a criterion, at most; more, and the criterion is another.
MOST_TAKEN_AWAY: Final = 3


class Climbs:
    """The concepts above concepts, with their distances, of the same kind."""

    def __init__(self, concepts: ConceptTable) -> None:
        self._concepts = concepts
        self._known: dict[str, list[tuple[str, int]]] = {}

    def above(self, concept: str) -> Sequence[tuple[str, int]]:
        """Every concept above, the nearest first, with how many steps up it lies on the shortest way."""
        found = self._known.get(concept)
        if found is None:
            found = self._known[concept] = list(self._walked(concept))
        return found

    def _walked(self, concept: str) -> Iterator[tuple[str, int]]:
        if concept not in self._concepts:
            return
        kind = self._concepts.kind(concept)
        seen, level, steps = {concept}, [concept], 0
        while level:
            steps += 1
            parents = sorted({parent for one in level for parent in self._concepts.parents(one)} - seen)
            level = [parent for parent in parents if self._concepts.kind(parent) == kind]
            seen.update(level)
            yield from ((parent, steps) for parent in level)

    def instead(self, concept: str) -> Sequence[tuple[str, int]]:
        """Those above that somebody would ask for instead: not a group of markers in place of one (that another marker
        is negative says nothing of this one), and not *any value* in place of a value, which asks for nothing."""
        if concept not in self._concepts or self._concepts.kind(concept) == "biomarker":
            return ()
        above = self.above(concept)
        if self._concepts.kind(concept) == "value":
            return [(one, steps) for one, steps in above if self._concepts.parents(one)]
        return above


class ConceptEdits:
    """The edits of the concepts of atoms about one kind (None: any) of one record."""

    def __init__(self, record: Record, kind: str | None, climbs: Climbs) -> None:
        self._record = record
        self._kind = kind
        self._climbs = climbs
        self._all = record.of_kind(kind)
        self._concepts = record.meaning.concepts

    def options(self, concept: nodes.ConceptExpression | None, widen: bool, among: int) -> list[Option]:
        """The concept as it stands and edited, undominated; a value of None: any concept. Tightened, only the events
        ``among`` which the other parts choose are told apart."""
        if concept is None:
            return [Option(self._all, 0, None)]
        found = [
            one if not one.cost else one._replace(changes=(Change("concepts", concept, one.value),))
            for one in (self._climbed(concept) if widen else self._narrowed(concept, among))
        ]
        if widen and self._kind is not None:
            found.append(Option(self._all, DETAIL, None, (Change("details", concept, None),)))
        return undominated(found, widen)

    # --- towards more -------------------------------------------------------------------------------------------------

    def _climbed(self, concept: nodes.ConceptExpression) -> list[Option]:
        match concept:
            case nodes.Under(term, exact):
                return self._climbed_name(concept, term, exact)
            case nodes.Union(parts):
                partial = [Option(0, 0, ())]
                for part in parts:
                    partial = undominated(
                        (
                            Option(done.mask | one.mask, done.cost + one.cost, (*done.value, one.value))
                            for done, one in product(partial, self._climbed(part))
                        ),
                        True,
                    )
                return [one._replace(value=nodes.Union(one.value)) for one in partial]
            case nodes.OtherThan(base, excluded):
                found = []
                for one, (kept, cost) in product(self._climbed(base), _given_back(excluded)):
                    value = one.value if kept is None else nodes.OtherThan(one.value, kept)
                    mask = one.mask if kept is None else one.mask & ~self._mask(kept)
                    found.append(Option(mask, one.cost + cost, value))
                return undominated(found, True)

    def _climbed_name(self, concept: nodes.Under, term: nodes.Term, exact: bool) -> list[Option]:
        found = [Option(self._mask(concept), 0, concept)]
        if not isinstance(term, nodes.Concept):
            return found
        if exact:
            loose = nodes.Under(term)
            found.append(Option(self._mask(loose), CONCEPT, loose))
        for above, steps in self._climbs.instead(term.id):
            higher = self._named(above)
            found.append(Option(self._mask(higher), CONCEPT * (steps + exact), higher))
        return undominated(found, True)

    # --- towards fewer ------------------------------------------------------------------------------------------------

    def _narrowed(self, concept: nodes.ConceptExpression, among: int) -> list[Option]:
        """Concepts below those named taken away, alone or with what lies beside them under a concept above."""
        mask = self._mask(concept) & among
        found = [Option(mask, 0, concept)]
        candidates: dict[int, nodes.Under] = {}
        for one in sorted(self._removable(concept, mask), key=self._breadth):
            # Of those that take the same events away, the narrowest leaves the most of the criterion.
            candidates.setdefault(mask & self._mask(one), one)
        for number in range(1, MOST_TAKEN_AWAY + 1):
            for taken in combinations(candidates.items(), number):
                left = mask
                for gone, _ in taken:
                    left &= ~gone
                expression = _without(concept, [one for _, one in taken])
                found.append(Option(left, CONCEPT * number, expression))
        return found

    def _removable(self, concept: nodes.ConceptExpression, mask: int) -> Iterator[nodes.Under]:
        named = {one.id for one in named_concepts(concept)}
        inside = self._record.meaning.concept_ids(concept)
        for own in {self._record.events[position].concept for position in bits(mask)}:
            for above in (own, *(one for one, _ in self._climbs.above(own))):
                if above in inside and above not in named and above in self._concepts:
                    yield self._named(above)

    def _breadth(self, concept: nodes.Under) -> tuple[int, str]:
        assert isinstance(concept.term, nodes.Concept)
        return len(self._concepts.below(concept.term.id)), concept.term.id

    def _named(self, concept: str) -> nodes.Under:
        return nodes.Under(nodes.Concept(concept, self._concepts.name(concept)))

    def _mask(self, concept: nodes.ConceptExpression) -> int:
        return self._record.of_concepts(self._record.meaning.concept_ids(concept)) & self._all


def _given_back(excluded: nodes.ConceptExpression) -> Iterator[tuple[nodes.ConceptExpression | None, int]]:
    """What stays excluded when some of it is not any more, with the cost; None: nothing stays."""
    parts = excluded.parts if isinstance(excluded, nodes.Union) else (excluded,)
    for number in sorted({0, *range(max(0, len(parts) - MOST_TAKEN_AWAY), len(parts) + 1)}, reverse=True):
        for kept in combinations(parts, number):
            cost = CONCEPT * (len(parts) - number)
            if not cost:
                yield excluded, 0
            elif not kept:
                yield None, cost
            else:
                yield (kept[0] if len(kept) == 1 else nodes.Union(kept)), cost


def _without(concept: nodes.ConceptExpression, taken: Sequence[nodes.Under]) -> nodes.OtherThan:
    parts: tuple[nodes.ConceptExpression, ...] = tuple(taken)
    if isinstance(concept, nodes.OtherThan):
        known = concept.excluded
        parts = (*(known.parts if isinstance(known, nodes.Union) else (known,)), *parts)
        concept = concept.base
    return nodes.OtherThan(concept, parts[0] if len(parts) == 1 else nodes.Union(parts))
