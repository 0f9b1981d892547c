"""Conditions on one event that can or cannot hold together: each attribute is tried with each sort of value.

The values that an attribute can take fall into finitely many classes that no condition at hand tells apart: the values
of its scale, the stretches between the numbers that are named, the concepts that lie under the same of the named ones,
the words that are named, one word that nobody named, and none at all. One value of each is tried. A condition that
holds of none of them holds of nothing.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Sequence
from typing import Final

from ...kb.kinds import SEVERAL
from ...kb.model import Value
from ...kb.ontology.concepts import ConceptTable
from ...kb.ontology.scales import Scales, as_number
from ..nodes import (
    AllOf,
    AnyOf,
    Between,
    Compare,
    Concept,
    Condition,
    Documented,
    Is,
    NotThat,
    SingleCondition,
    Term,
)

_Literal = tuple[SingleCondition, bool]

#: Beyond so many alternatives a condition counts as one that can hold.
_MOST_ALTERNATIVES: Final = 64
#: A word that no query names and no scale knows.
_UNNAMED: Final = "\x00"
_NONE: Final = ""


class Conditions:
    """Judges conditions under an ontology and its scales."""

    def __init__(self, concepts: ConceptTable, scales: Scales) -> None:
        self._concepts = concepts
        self._scales = scales
        self.can_hold = functools.lru_cache(maxsize=4096)(self._can_hold)

    def _can_hold(self, condition: Condition) -> bool:
        """Whether some event can satisfy the condition; also True when there are too many alternatives to try."""
        alternatives = _alternatives(condition, wanted=True)
        return alternatives is None or any(self._together(one) for one in alternatives)

    def implies(self, one: Condition | None, other: Condition | None) -> bool:
        """Whether every event that satisfies ``one`` (None: any event) satisfies ``other``; False when in doubt."""
        if other is None or one == other:
            return True
        return not self.can_hold(_both(one, NotThat(other)))

    def exclude(self, one: Condition | None, other: Condition | None) -> bool:
        """Whether no event satisfies both; False when in doubt."""
        return one is not None and other is not None and not self.can_hold(_both(one, other))

    def _together(self, literals: Sequence[_Literal]) -> bool:
        by_attribute: dict[str, list[_Literal]] = {}
        for leaf, wanted in literals:
            by_attribute.setdefault(leaf.attribute, []).append((leaf, wanted))
        return all(
            # Of what may have several values, one may be as the one condition says and another as the other.
            (attribute in SEVERAL and not any((leaf, not wanted) in some for leaf, wanted in some))
            or any(
                all(self._holds(leaf, value) == wanted for leaf, wanted in some)
                for value in self._values(attribute, tuple(dict.fromkeys(leaf for leaf, _ in some)))
            )
            for attribute, some in by_attribute.items()
        )

    # --- one value ----------------------------------------------------------------------------------------------------

    def _holds(self, leaf: SingleCondition, value: Value) -> bool:
        if value == _NONE:
            return False
        match leaf:
            case Documented():
                return True
            case Is(attribute, terms, exact):
                return any(self._is(attribute, value, term, exact) for term in terms)
            case Compare(attribute, operator, bound):
                return self._scales.compare(attribute, value, operator, bound)
            case Between(attribute, low, high):
                return self._scales.between(attribute, value, low, high)

    def _is(self, attribute: str, value: Value, term: Term, exact: bool) -> bool:
        if isinstance(term, Concept):
            return value in self.ids(term, exact)
        if isinstance(value, str) and value.casefold() == term.text.casefold():
            return True
        number = as_number(value)
        if number is not None and number == as_number(term.text):
            return True
        if exact:
            canonical = self._scales.canonical(attribute, value if isinstance(value, str) else f"{value:g}")
            return canonical is not None and canonical == self._scales.canonical(attribute, term.text)
        return self._scales.compare(attribute, value, "=", term.text)

    def ids(self, term: Concept, exact: bool) -> frozenset[str]:
        """The ids that a concept stands for."""
        if exact or term.id not in self._concepts:
            return frozenset((term.id,))
        return self._concepts.below(term.id)

    # --- the values that matter ---------------------------------------------------------------------------------------

    def _values(self, attribute: str, leaves: Sequence[SingleCondition]) -> Iterable[Value]:
        yield _NONE
        yield _UNNAMED
        named = list(itertools.chain.from_iterable(_bounds(leaf) for leaf in leaves))
        yield from (value for value in named if isinstance(value, str))
        yield from self._concept_values(leaves)
        scale = self._scales.scale(attribute)
        if scale is not None:
            for key in scale.spans:
                yield key
                # The same rank, in a spelling that is no number.
                yield f"{scale.name} {key}"
        numbers = sorted({number for value in named if (number := as_number(value)) is not None})
        between = [(low + high) / 2 for low, high in itertools.pairwise(numbers)]
        beyond = [numbers[0] - 1, numbers[-1] + 1] if numbers else []
        for number in (*numbers, *between, *beyond):
            yield number
            # The same number, in a spelling that no scale knows.
            yield f"{number:.6f}"

    def _concept_values(self, leaves: Sequence[SingleCondition]) -> Iterable[str]:
        """A concept for each combination of named concepts that some concept lies under."""
        sets = [
            self.ids(term, leaf.exact)
            for leaf in leaves
            if isinstance(leaf, Is)
            for term in leaf.values
            if isinstance(term, Concept)
        ]
        representative: dict[tuple[bool, ...], str] = {}
        for one in sorted(frozenset[str]().union(*sets)):
            representative.setdefault(tuple(one in ids for ids in sets), one)
        return representative.values()


def _bounds(leaf: SingleCondition) -> tuple[Value, ...]:
    match leaf:
        case Is(_, values, _):
            return tuple(value.id if isinstance(value, Concept) else value.text for value in values)
        case Compare(_, _, value):
            return (value,)
        case Between(_, low, high):
            return (low, high)
    return ()


def _both(one: Condition | None, other: Condition) -> Condition:
    return other if one is None else AllOf((one, other))


def _alternatives(condition: Condition, *, wanted: bool) -> list[tuple[_Literal, ...]] | None:
    """The ways to make the condition hold (or fail), each a list of leaves to hold or fail; None if there are many."""
    match condition:
        case NotThat(part):
            return _alternatives(part, wanted=not wanted)
        case AllOf(parts) | AnyOf(parts):
            found: list[tuple[_Literal, ...]] = [()]
            of_parts = []
            for part in parts:
                ways = _alternatives(part, wanted=wanted)
                if ways is None:
                    return None
                of_parts.append(ways)
            if isinstance(condition, AllOf) != wanted:
                found = [way for ways in of_parts for way in ways]
                return found if len(found) <= _MOST_ALTERNATIVES else None
            for ways in of_parts:
                if len(found) * len(ways) > _MOST_ALTERNATIVES:
                    return None
                found = [(*first, *second) for first in found for second in ways]
            return found
        case _:
            return [((condition, wanted),)]
