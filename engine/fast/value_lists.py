"""Atoms with a condition by posting lists of attribute values: who has such an event for sure, and who may have one.

A condition that looks at one attribute is decided by the lists of the values that it admits: exactly, where those have
lists of their own. Of several attributes the lists tell who cannot have an event that is as all of them say; whether it
is one event is left to the events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from pyroaring import BitMap

from ...kb.index.lists.list_file import ANY_CONCEPT
from ...kb.index.lists.values import REST
from ...kb.kinds import KINDS
from ...kb.model import Value, World
from ...kb.storage.reader import KnowledgeBase
from ...query_lang import nodes
from ...query_lang.tree import attributes_of, single_conditions
from .concept_sets import ABSENT, concept_ids, covering, denying, is_closed, named_ids
from .verdicts import verdicts


class Split(NamedTuple):
    """Patients with such an event for sure, and others who may have one; who is in neither has none."""

    sure: BitMap
    maybe: BitMap

    def bound(self) -> BitMap:
        """Who may have one at all."""
        return self.sure | self.maybe if self.maybe else self.sure


def is_listed_context(events: nodes.Events) -> bool:
    """Whether nothing but kind, concept and condition is asked of an event that is as a list's world says."""
    return events.context in ("present", "any") and _rest_is_default(events)


def listed_world(events: nodes.Events, world: World) -> World:
    """The world whose lists have all patients with such an event in ``world``."""
    return world if events.context in ("present", "current", "historical") else World.NONE


class ValueLists:
    """Splits atoms on one knowledge base. Keeps nothing."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self._kb = kb

    def split(self, events: nodes.Events, world: World) -> Split:
        """Who has, and who may have, an event of the set in ``world``."""
        world = listed_world(events, world)
        if events.context == ABSENT:
            return Split(BitMap(), self._with_denials(events))
        closed, alone = self._concepts(events.concept)
        kinds = KINDS if events.kind is None else (events.kind,)
        found = [self._of_concept(kind, concept, events.condition, world) for concept in closed for kind in kinds]
        found += [self._of_exact(kind, concept, events.condition, world) for concept in alone for kind in kinds]
        split = _either(found)
        return split if is_listed_context(events) else Split(BitMap(), split.bound())

    def _with_denials(self, events: nodes.Events) -> BitMap:
        """The patients with an event, in whatever context, whose denial would deny what is asked."""
        lists = [
            self._kb.lists.exact(kind, concept, World.NONE)
            for kinds, ids in denying(events, self._kb.concepts)
            for kind in (KINDS if kinds is None else (kinds,))
            for concept in ids or ()
        ]
        return BitMap.union(*lists) if lists else BitMap()

    def _concepts(self, concept: nodes.ConceptExpression | None) -> tuple[Sequence[str], Sequence[str]]:
        if concept is None:
            return (ANY_CONCEPT,), ()
        if is_closed(concept):
            return tuple(dict.fromkeys(named_ids(concept))), ()
        return covering(concept_ids(concept, self._kb.concepts), self._kb.concepts)

    def _of_concept(self, kind: str, concept: str, condition: nodes.Condition | None, world: World) -> Split:
        if condition is None:
            return Split(self._kb.posting(kind, concept, world), BitMap())
        if not self._kb.lists.size(kind, concept, world):
            return Split(BitMap(), BitMap())
        return _Conditions(self._kb, kind, concept, world).split(condition, holds=True)

    def _of_exact(self, kind: str, concept: str, condition: nodes.Condition | None, world: World) -> Split:
        exact = self._kb.lists.exact(kind, concept, world)
        if condition is None or not exact:
            return Split(exact, BitMap())
        # Lists of values hold descendants too, which are not asked for here.
        return Split(BitMap(), exact & self._of_concept(kind, concept, condition, world).bound())


class _Conditions:
    """Conditions on the events of one kind and concept."""

    def __init__(self, kb: KnowledgeBase, kind: str, concept: str, world: World) -> None:
        self._kb = kb
        self._kind = kind
        self._concept = concept
        self._world = world

    def split(self, condition: nodes.Condition, *, holds: bool) -> Split:
        """Who has an event of which the condition holds (or does not)."""
        names = set(attributes_of(condition))
        if len(names) == 1:
            return self._of_attribute(names.pop(), condition, holds)
        match condition:
            case nodes.NotThat(part):
                return self.split(part, holds=not holds)
            case nodes.AllOf(parts) if holds:
                return _every([self.split(part, holds=True) for part in _by_attribute(parts, nodes.AllOf)])
            case nodes.AnyOf(parts) if not holds:
                return _every([self.split(part, holds=False) for part in _by_attribute(parts, nodes.AnyOf)])
            case nodes.AllOf(parts) | nodes.AnyOf(parts):
                # Of one event either holds when there is an event of which the one holds, or of which the other does.
                return _either([self.split(part, holds=holds) for part in parts])
        raise AssertionError("every other condition looks at one attribute")

    def _of_attribute(self, name: str, condition: nodes.Condition, holds: bool) -> Split:
        listed = self._kb.lists.values(self._kind, name)
        if listed is None:
            return Split(BitMap(), self._everybody())
        values = (*listed.values, *(listed.others or ()), None)
        admitted = [verdict is holds for verdict in self._truth(condition, values)]
        common = len(listed.values)
        lists = [self._list(name, number) for number in range(common) if admitted[number]]
        sure = BitMap.union(*lists) if lists else BitMap()
        if admitted[-1]:
            return Split(sure, self._everybody() - sure)
        others = admitted[common:-1] if listed.others is not None else self._of_any_value(condition, holds)
        if others is None or any(others):
            rest = self._list(name, REST)
            return Split(sure | rest, BitMap()) if others and all(others) else Split(sure, rest - sure)
        return Split(sure, BitMap())

    def _of_any_value(self, condition: nodes.Condition, holds: bool) -> list[bool] | None:
        """Whether the condition holds of any value alike; None if that depends on the value."""
        if all(isinstance(leaf, nodes.Documented) for leaf in single_conditions(condition)):
            return [self._truth(condition, ("", None))[0] is holds]
        return None

    def _list(self, name: str, number: int) -> BitMap:
        return self._kb.lists.of_value(self._kind, self._concept, name, number, self._world)

    def _everybody(self) -> BitMap:
        return self._kb.posting(self._kind, self._concept, self._world)

    def _truth(self, condition: nodes.Condition, values: Sequence[Value | None]) -> list[bool]:
        """Of each value, whether the condition, which looks at one attribute, holds; the last one is none at all."""
        match condition:
            case nodes.AllOf(parts):
                return self._joined(parts, values, all)
            case nodes.AnyOf(parts):
                return self._joined(parts, values, any)
            case nodes.NotThat(part):
                return [not verdict for verdict in self._truth(part, values)]
            case nodes.Documented():
                return [value is not None for value in values]
        there = [value for value in values if value is not None]
        return [*verdicts(condition, there, self._kb.concepts, self._kb.scales), False]

    def _joined(
        self,
        parts: Iterable[nodes.Condition],
        values: Sequence[Value | None],
        how: Callable[[Iterable[bool]], bool],
    ) -> list[bool]:
        return [how(column) for column in zip(*[self._truth(part, values) for part in parts], strict=True)]


def _by_attribute(parts: Iterable[nodes.Condition], join: type[nodes.AllOf | nodes.AnyOf]) -> list[nodes.Condition]:
    """The parts, those that look at one and the same attribute joined to one."""
    apart: dict[frozenset[str], list[nodes.Condition]] = {}
    for part in parts:
        apart.setdefault(attributes_of(part), []).append(part)
    found: list[nodes.Condition] = []
    for names, those in apart.items():
        if len(names) == 1 and len(those) > 1:
            found.append(join(tuple(those)))
        else:
            found += those
    return found


def _either(splits: Sequence[Split]) -> Split:
    if len(splits) == 1:
        return splits[0]
    sure = BitMap.union(*[split.sure for split in splits]) if splits else BitMap()
    maybe = [split.maybe for split in splits if split.maybe]
    return Split(sure, BitMap.union(*maybe) - sure if maybe else BitMap())


def _every(splits: Sequence[Split]) -> Split:
    """Both may hold of two events: of one, the events tell."""
    return Split(BitMap(), BitMap.intersection(*[split.bound() for split in splits]))


def _rest_is_default(events: nodes.Events) -> bool:
    return events == nodes.Events(events.kind, events.concept, events.condition, events.context)
