"""Denials over rows: which of them leave nothing out of what is asked.

As :mod:`.reference.denials` says, decided once for each distinct value of an attribute, and then looked up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

import numpy as np

from ...kb.index.columns import Wanted
from ...kb.kinds import KIND_TABLE, Denial
from ...kb.model import Value
from ...kb.ontology.concepts import ConceptTable
from ...kb.ontology.scales import Scales
from ...query_lang import nodes
from ...query_lang.tree import attributes_of
from .concept_sets import named_ids
from .frames import Array, Rows
from .verdicts import verdicts


class LeftOut:
    """What denials leave out of what one event set asks, by the values of their attributes."""

    def __init__(self, asked: nodes.Events, rows: Rows, concepts: ConceptTable, scales: Scales) -> None:
        self._asked = asked
        self._rows = rows
        self._concepts = concepts
        self._scales = scales
        self._wanted = [] if asked.concept is None else list(named_ids(asked.concept))
        self._names = attributes_of(asked.condition)

    def nothing(self, kinds: Iterable[str], attributes: Iterable[tuple[str, str]]) -> Array:
        """Which rows of the ``kinds`` leave nothing out; ``attributes`` are those that there are, by kind."""
        by_kind: dict[str, list[str]] = {kind: [] for kind in kinds}
        for kind, name in attributes:
            if kind in by_kind:
                by_kind[kind].append(name)
        found = np.zeros(len(self._rows), dtype=bool)
        for kind, names in by_kind.items():
            of_kind = self._rows.among(kind)
            if of_kind.any():
                found |= of_kind & self._of_kind(KIND_TABLE[kind].denial, names)
        return found

    def _of_kind(self, denial: Denial, names: Sequence[str]) -> Array:
        good = self._may_hold(self._asked.condition, denial, wanted=True)
        for name in names:
            if name not in denial.beside:
                there = self._there(name)
                good = good & (~there | self._is_asked(name, denial))
        return good

    def _there(self, name: str) -> Array:
        return self._rows.where(name, lambda values: [True] * len(values))

    def _is_asked(self, name: str, denial: Denial) -> Array:
        unspecific = denial.unspecific.get(name) if name not in self._names else None
        found = self._rows.where(name, partial(self._asked_values, name, unspecific))
        if name == "site":
            found = found | self._of_the_side()
        for other in denial.settled_by.get(name, ()):
            found = found | self._rows.where(other, partial(self._fixing_values, other, denial.unspecific.get(other)))
        return found

    def _of_the_side(self) -> Array:
        """Whose site is the asked side of a place that is asked for."""
        found = np.zeros(len(self._rows), dtype=bool)
        for side in set(self._rows.attribute("laterality").distinct):
            if self._implied(self._asked.condition, "laterality", side):
                of_side = self._rows.where("laterality", partial(_are, side))
                found = found | (of_side & self._rows.where("site", partial(self._sided, str(side))))
        return found

    def _sided(self, side: str, sites: Sequence[Value]) -> list[bool]:
        return [
            site in self._concepts
            and side in self._concepts.name(str(site)).split()
            and any(
                self._in_the_name(whole) or self._implied(self._asked.condition, "site", whole)
                for whole in self._concepts.parents(str(site))
            )
            for site in sites
        ]

    def _asked_values(self, name: str, unspecific: str | None, values: Sequence[Value]) -> list[bool]:
        return [
            value == unspecific or self._implied(self._asked.condition, name, value) or self._in_the_name(value)
            for value in values
        ]

    def _fixing_values(self, name: str, unspecific: str | None, values: Sequence[Value]) -> list[bool]:
        return [value != unspecific and self._implied(self._asked.condition, name, value) for value in values]

    def _in_the_name(self, value: Value) -> bool:
        if not self._wanted or not isinstance(value, str):
            return False
        return all(self._says(wanted, value) for wanted in self._wanted)

    def _says(self, wanted: str, value: str) -> bool:
        concepts = self._concepts
        if wanted not in concepts:
            return False
        above = concepts.above(wanted)
        sites = {concepts.get(one).site for one in above} - {""}
        if value in above or any(concepts.is_a(site, value) for site in sites):
            return True
        said = concepts.name(value).casefold()
        if said.isdigit():
            return False
        return any(f" {said} " in f" {name.casefold()} " for one in above for name in concepts.names(one))

    def _implied(self, condition: nodes.Condition | None, name: str, value: Value) -> bool:
        """Whether the condition admits no value of the attribute but this one and those below it."""
        match condition:
            case nodes.AllOf(parts):
                return any(self._implied(part, name, value) for part in parts)
            case nodes.AnyOf(parts):
                return all(self._implied(part, name, value) for part in parts)
            case nodes.Is(attribute, terms) if attribute == name:
                asked: list[Value] = [term.id if isinstance(term, nodes.Concept) else term.text for term in terms]
            case nodes.Compare(attribute, "=", bound) if attribute == name:
                asked = [bound]
            case _:
                return False
        if value in self._concepts:
            term: nodes.Term = nodes.Concept(str(value), "")
        else:
            term = nodes.Name(value if isinstance(value, str) else f"{value:g}")
        return all(verdicts(nodes.Is(name, (term,)), asked, self._concepts, self._scales))

    def _may_hold(self, condition: nodes.Condition | None, denial: Denial, *, wanted: bool) -> Array:
        """Of which rows the condition may hold (or may fail): where a denial does not say, either."""
        match condition:
            case None:
                return np.ones(len(self._rows), dtype=bool)
            case nodes.NotThat(part):
                return self._may_hold(part, denial, wanted=not wanted)
            case nodes.AllOf(parts) | nodes.AnyOf(parts):
                every = isinstance(condition, nodes.AllOf) is wanted
                join = np.logical_and if every else np.logical_or
                return np.asarray(join.reduce([self._may_hold(part, denial, wanted=wanted) for part in parts]))
        name = condition.attribute
        if name not in denial.beside:
            return np.ones(len(self._rows), dtype=bool)
        if isinstance(condition, nodes.Documented):
            holds = self._there(name)
        else:
            holds = self._rows.where(name, lambda values: verdicts(condition, values, self._concepts, self._scales))
        return ~self._there(name) | (holds if wanted else ~holds)


def _are(value: Value, values: Sequence[Value]) -> list[bool]:
    return [one == value for one in values]


def kinds_of(wanted: Iterable[Wanted], there: Sequence[str]) -> Iterator[str]:
    """The kinds that are wanted, of those that there are."""
    named = {kind for kind, _ in wanted}
    return (kind for kind in there if None in named or kind in named)
