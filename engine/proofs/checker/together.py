"""What occurs twice in a criterion, in the verifier's own words: the ways in which open facts can be, one by one.

A proof tells the criteria that are joined, the facts that occur twice with the ways in which each can be, and, of what
is open, a case in which it holds or fails. All of it is worked out here from the record, and must be the same.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from ....kb.deadline import check
from ....kb.model import World
from ....query_lang import nodes
from ....query_lang.boolean_form import BooleanForm, Enough, Leaf, part_of
from ....query_lang.render import render_expression
from .faults import Findings, items, mapping
from .sets import Sets
from .views import Seen, View

#: More combinations than these nobody goes through: then each part is bounded by itself.
MOST_WAYS: Final = 1024
_OF_WORLDS: Final = frozenset({"present", "current", "historical"})
_FALSE, _OPEN, _TRUE = 0, 1, 2
_WORDS: Final = {"impossible": _FALSE, "possible": _OPEN, "certain": _TRUE}
#: The ways of a fact: the criteria, by place, that it fulfils in each.
Ways = frozenset[frozenset[int]]


class Walking(Protocol):
    """The walk of a proof (:mod:`.walk`), as far as it is needed here."""

    @property
    def sets(self) -> Sets:
        """Event sets under the ontology."""
        ...

    @property
    def findings(self) -> Findings:
        """What does not hold."""
        ...

    @property
    def named(self) -> set[str]:
        """The events that the proof names."""
        ...

    def step(self, node: nodes.PatientExpression, stated: Any, view: View, world: World, holds: bool) -> None:
        """One node of the query and what the proof tells of it."""
        ...


@dataclass(frozen=True)
class Together:
    """One criterion as its leaves and how they are joined, asked of one view."""

    walk: Walking
    form: BooleanForm
    view: View

    def check(self, proof: Mapping[str, Any], holds: bool, settled: bool) -> None:
        """Holds what the proof tells under ``together`` against the record: that the criterion holds (or fails)
        however the facts are, or, unless it is ``settled``, in one case."""
        require = self.walk.findings.require
        facts = {at: node for at, (_, node) in enumerate(self._leaves()) if _facts(node) is not None}
        members = {at: self._members(node) for at, node in facts.items()}
        if "together" not in proof:
            require(not self._may_repeat(members.values()), "query", "what occurs twice is not told")
            return
        stated = mapping(proof["together"])
        values = self._values(items(stated.get("criteria")), facts)
        asked = {at: found for at, found in members.items() if values[at] == _OPEN}
        twice, once = self._shared(asked)
        told = [mapping(one) for one in items(stated.get("facts"))]
        self.walk.named.update(str(one.get("event")) for one in told)
        expected = {event: sorted(sorted(way) for way in family) for event, family in twice.items()}
        right = {str(one.get("event")): one.get("ways") for one in told if one.keys() == {"event", "ways"}}
        require(right == expected and len(told) == len(twice), "event", "the facts that occur twice are others")
        times = self.form.cones[self.form.root]
        free = [
            at
            for at, (number, _) in enumerate(self._leaves())
            if at not in facts and values[at] == _OPEN and times[number] > 1
        ]
        families = _counted(twice.values())
        number = math.prod(map(len, families)) * 2 ** len(free)
        require(stated.get("ways") == number, "event", "the ways in which the facts can be are not so many")
        require(stated.keys() <= {"criteria", "facts", "ways", "case"}, "query", "more is told than there is")
        many = not 1 < number <= MOST_WAYS
        cases = [()] if many else [(*way, *chosen) for way in itertools.product(*families) for chosen in _choices(free)]
        touched = set() if many else {at for family in families for way in family for at in way}
        outcomes: dict[tuple[int, ...], int] = {}
        for case in cases:
            check()
            so = frozenset[int]().union(*case)
            truth = dict(enumerate(values))
            truth.update({at: _TRUE if at in so else _OPEN if at in once else _FALSE for at in touched})
            truth.update({at: _TRUE if at in so else _FALSE for at in (() if many else free)})
            outcomes[tuple(sorted(so))] = self._joined(truth)
        wanted = _TRUE if holds else _FALSE
        if settled:
            require(not proof.keys() & {"parts", "sets"}, "query", "it is told both by parts and together")
            require("case" not in stated, "query", "there is a case too much")
            require(set(outcomes.values()) == {wanted}, "event", "it is otherwise in one of the ways")
            return
        told_case = () if many else tuple(one for one in items(stated.get("case")) if isinstance(one, int))
        require(many == ("case" not in stated), "event", "there is a case too much or too few")
        require(outcomes.get(told_case) in (_OPEN, wanted), "event", "it is not so in the case that is told")

    def _leaves(self) -> list[tuple[int, nodes.PatientExpression]]:
        found = []
        for number in self.form.leaves(self.form.root):
            part = self.form.parts[number]
            assert not isinstance(part, Enough)  # a leaf or a scope
            found.append((number, part.node))
        return found

    # --- single criteria ----------------------------------------------------------------------------------------------

    def _values(self, stated: list[Any], facts: Mapping[int, nodes.PatientExpression]) -> list[int]:
        """What each criterion is by itself, as it is told and, where single facts decide it, as they do."""
        require, leaves = self.walk.findings.require, self._leaves()
        require(len(stated) == len(leaves), "query", f"it joins {len(leaves)} criteria, not {len(stated)}")
        values = []
        for at, (_, node) in enumerate(leaves):
            one = mapping(stated[at]) if at < len(stated) else {}
            value = _WORDS.get(str(one.get("is")), -1)
            require(
                value >= 0 and one.get("text") == render_expression(node), "query", f"criterion {at + 1} is another"
            )
            if at in facts:
                events = _facts(node)
                assert events is not None  # it is among the facts
                value = sum(
                    bool(self.walk.sets.witnesses(events, self.view, world))
                    for world in (World.CERTAIN, World.POSSIBLE)
                )
                require(_WORDS.get(str(one.get("is"))) == value, "world", f"criterion {at + 1} is not so")
                require(one.keys() == {"text", "is"}, "query", "more is told than single facts need")
            else:
                claims = {
                    _TRUE: [(World.CERTAIN, True)],
                    _OPEN: [(World.CERTAIN, False), (World.POSSIBLE, True)],
                    _FALSE: [(World.POSSIBLE, False)],
                }.get(value, [])
                parts = items(one.get("parts"))
                require(len(parts) == len(claims), "query", f"criterion {at + 1} is not shown")
                for part, (world, holds) in zip(parts, claims, strict=False):
                    self.walk.step(node, part, self.view, world, holds)
            values.append(value)
        return values

    def _members(self, node: nodes.PatientExpression) -> list[Seen]:
        events = _facts(node)
        assert events is not None  # asked of those alone
        found = {one.event_id for (one,) in self.walk.sets.witnesses(events, self.view, World.POSSIBLE)}
        # As they are seen, with all of their days: a window of another criterion leaves others of them.
        return [seen for seen in self.view.seen if seen.event_id in found]

    # --- what occurs twice --------------------------------------------------------------------------------------------

    def _may_repeat(self, members: Iterable[list[Seen]]) -> bool:
        times = self.form.cones[self.form.root]
        if self.form.settles or any(times[number] > 1 for number, _ in self._leaves()):
            return True
        found = [seen.event_id for one in members for seen in one]
        return len(found) > len(set(found))

    def _shared(self, asked: Mapping[int, list[Seen]]) -> tuple[dict[str, Ways], set[int]]:
        """The events that occur twice in open criteria, with their ways; and the criteria that others may fulfil."""
        leaves, times = self._leaves(), self.form.cones[self.form.root]
        twice: dict[str, Ways] = {}
        once: set[int] = set()
        for seen in self.view.seen:
            own = [at for at, found in asked.items() if any(one.event_id == seen.event_id for one in found)]
            if sum(times[leaves[at][0]] for at in own) > 1:
                sets = {at: events for at in own if (events := _facts(leaves[at][1])) is not None}
                twice[seen.event_id] = frozenset(_ways(seen, sets))
            else:
                once.update(own)
        return twice, once

    def _joined(self, values: Mapping[int, int]) -> int:
        """Whether the whole holds, fails or is open, part by part."""
        found = {number: values[at] for at, (number, _) in enumerate(self._leaves())}

        def of(number: int) -> int:
            return found[part_of(number)] if number >= 0 else _TRUE - found[part_of(number)]

        for number in self.form.cones[self.form.root]:
            part = self.form.parts[number]
            if isinstance(part, Enough):
                inner = [of(one) for one in part.parts]
                found[number] = (inner.count(_TRUE) >= part.n) + (len(inner) - inner.count(_FALSE) >= part.n)
        return of(self.form.root)


def _facts(node: nodes.PatientExpression) -> nodes.Events | None:
    """The events of which one is enough."""
    return Leaf(node).facts


def _ways(seen: Seen, asked: Mapping[int, nodes.Events]) -> Iterator[frozenset[int]]:
    """Which of the event sets have the event, for each way in which it can be."""
    edges = sorted({edge for one in asked.values() if one.window for edge in (one.window.low, one.window.high + 1)})
    days = [seen.event.day.low, *(edge for edge in edges if seen.event.day.low < edge <= seen.event.day.high)]
    is_open = seen.event.world in (World.POSSIBLE, World.BELIEVED)
    if seen.shown is not World.CERTAIN:
        yield frozenset()
    for so in (True, False) if is_open else (True,):
        for day in days:
            yield frozenset(
                at
                for at, one in asked.items()
                if not (one.window and not one.window.low <= day <= one.window.high)
                and (so or one.context not in _OF_WORLDS)
            )


def _counted(families: Iterable[Ways]) -> list[Ways]:
    """Each family as often as it comes; once, where each event fulfils the same or nothing: together they do, too."""
    counted: list[Ways] = []
    for family in families:
        if not (len(family) == 2 and frozenset() in family and family in counted):
            counted.append(family)
    return counted


def _choices(free: list[int]) -> Iterator[tuple[frozenset[int], ...]]:
    """Each choice of those that are so."""
    return itertools.product(*((frozenset({at}), frozenset()) for at in free))
