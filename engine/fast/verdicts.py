"""Conditions on single values: which of the values of an attribute a condition admits."""

from __future__ import annotations

from collections.abc import Iterable

from ...kb.kinds import SEVERAL, values_of
from ...kb.model import Value
from ...kb.ontology.concepts import ConceptTable
from ...kb.ontology.scales import Scales, as_number
from ...query_lang import nodes
from ...query_lang.nodes import QueryTreeError
from .concept_sets import concept_ids


def verdicts(
    condition: nodes.Is | nodes.Compare | nodes.Between,
    values: Iterable[Value],
    concepts: ConceptTable,
    scales: Scales,
) -> list[bool]:
    """Of each value, whether it is as a comparison says."""
    match condition:
        case nodes.Compare(attribute, operator, bound):
            return [scales.compare(attribute, value, operator, bound) for value in values]
        case nodes.Between(attribute, low, high):
            return [scales.between(attribute, value, low, high) for value in values]
        case nodes.Is(attribute, terms, exact):
            wanted = _Wanted(attribute, terms, exact, concepts, scales)
            if attribute in SEVERAL:
                return [any(map(wanted.admits, values_of(attribute, value))) for value in values]
            return [wanted.admits(value) for value in values]
    raise QueryTreeError(f"{type(condition).__name__} is no condition")


class _Wanted:
    """The values that an ``Is`` admits, gathered so that thousands of terms cost one look-up."""

    def __init__(
        self, attribute: str, terms: Iterable[nodes.Term], exact: bool, concepts: ConceptTable, scales: Scales
    ) -> None:
        self._attribute = attribute
        self._exact = exact
        self._scales = scales
        self._ids: set[str] = set()
        self._words: dict[str, str] = {}
        self._numbers: set[float] = set()
        for term in terms:
            if isinstance(term, nodes.Concept):
                self._ids |= concept_ids(nodes.Under(term, exact), concepts)
            else:
                self._words[term.text.casefold()] = term.text
                number = as_number(term.text)
                if number is not None:
                    self._numbers.add(number)
        scale = scales.scale(attribute)
        self._ranked = [] if scale is None else [text for text in self._words.values() if scale.key(text) is not None]
        self._canonical = {scales.canonical(attribute, text) for text in self._ranked}

    def admits(self, value: Value) -> bool:
        if isinstance(value, str) and (value in self._ids or value.casefold() in self._words):
            return True
        if as_number(value) in self._numbers:
            return True
        if not self._ranked:
            return False
        if self._exact:
            text = value if isinstance(value, str) else f"{value:g}"
            return self._scales.canonical(self._attribute, text) in self._canonical
        return any(self._scales.compare(self._attribute, value, "=", text) for text in self._ranked)
