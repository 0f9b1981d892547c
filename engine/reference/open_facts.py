"""Bounds that know that a fact which a query asks twice is the same fact: the ways in which open facts can be.

Bounded part by part, *X or not X* is not certain of one whose X is open, since neither side is. So where the parts
leave a criterion open, they are looked at together:

* A fact *occurs twice* when it may be what two criteria ask for, or a criterion that occurs twice. It has a few *ways
  to be*: so or not so, of this tumor or not, on days inside a window or outside it; each way is the set of those
  criteria that it then fulfils.
* Any other criterion that occurs twice (a pick, an order in time, a count, a scope …) is one open fact: it holds or
  not.
* Certain is what holds, and possible what may hold, however these facts are: all combinations are gone through, and in
  each the rest is bounded part by part, which is exact where nothing occurs twice. Of more than :data:`MOST_WAYS`
  combinations the bounds of the parts are kept: they are never wrong.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

from ...kb.deadline import check
from ...kb.model import World
from ...query_lang import nodes
from ...query_lang.boolean_form import BooleanForm, Enough, Leaf, Scope, boolean_form, part_of
from .views import Seen, View

#: Combinations that are gone through, at most: those of ten facts that are so or not.
MOST_WAYS: Final = 1024
_OF_WORLDS: Final = frozenset({"present", "current", "historical"})

form_of = functools.lru_cache(maxsize=256)(boolean_form)


class PartByPart(Protocol):
    """The meaning of nodes (:mod:`.meaning`), as far as it is needed here."""

    def bounded(self, node: nodes.PatientExpression, view: View, world: World) -> bool:
        """Whether a criterion holds of what the view shows, in the world, each of its parts by itself."""
        ...

    def witnesses(self, node: nodes.Events, view: View, world: World) -> list[tuple[Seen, ...]]:
        """The witnesses that an event set is not empty in the world."""
        ...


class Bounds(NamedTuple):
    """Whether something is certain, and whether it is possible."""

    certain: bool
    possible: bool


#: What is known of each part of a form.
Known = Mapping[int, Bounds]
#: The criteria, by their numbers, that a fact fulfils when it is in one of its ways.
Way = frozenset[int]


@dataclass(frozen=True, slots=True)
class Shared:
    """The facts of a view that occur twice: for each event, by its place, its ways; criteria that are facts themselves;
    and the criteria that other, single facts may fulfil, too."""

    events: Mapping[int, frozenset[Way]]
    criteria: tuple[int, ...]
    open_besides: frozenset[int]

    @property
    def number_of_ways(self) -> int:
        """How many combinations there are. Several events that are, each, fulfilling the same or nothing are as one."""
        families = list(self.events.values())
        alike = {one for one in families if len(one) == 2 and frozenset() in one}
        others = [one for one in families if one not in alike]
        return math.prod(map(len, (*alike, *others))) * 2 ** len(self.criteria)


@dataclass(frozen=True, slots=True)
class OpenFacts:
    """The bounds of the criteria of one form."""

    meaning: PartByPart
    form: BooleanForm

    def bounds(self, view: View, body: int | None = None) -> Bounds:
        """Of the whole form, or of the body of a scope, of what ``view`` shows."""
        body = self.form.root if body is None else body
        known = self.of_leaves(view, body)
        found = self.joined(body, known)
        if found.certain == found.possible:
            return found
        shared = self.shared(view, body, known)
        if not shared.number_of_ways > 1 or shared.number_of_ways > MOST_WAYS:
            return found
        outcomes = {self.joined(body, {**known, **truth}) for truth in truths(shared)}
        return Bounds(all(one.certain for one in outcomes), any(one.possible for one in outcomes))

    def may_repeat(self, view: View) -> bool:
        """Whether anything may occur twice in the whole form: a criterion does, one stood beside its opposite, or an
        event may be what two criteria ask for."""
        leaves = self.form.leaves(self.form.root)
        if self.form.settles or any(self.form.cones[self.form.root][number] > 1 for number in leaves):
            return True
        seen: set[int] = set()
        for number in leaves:
            part = self.form.parts[number]
            if isinstance(part, Leaf) and part.facts is not None:
                found = {one.position for (one,) in self.meaning.witnesses(part.facts, view, World.POSSIBLE)}
                if seen & found:
                    return True
                seen |= found
        return False

    def of_leaves(self, view: View, body: int) -> dict[int, Bounds]:
        """Each leaf and scope of a cone by itself."""
        found = {}
        for number in self.form.leaves(body):
            part = self.form.parts[number]
            if isinstance(part, Scope):
                found[number] = self._of_scope(part, view)
            elif isinstance(part, Leaf):
                found[number] = Bounds(
                    self.meaning.bounded(part.node, view, World.CERTAIN),
                    self.meaning.bounded(part.node, view, World.POSSIBLE),
                )
        return found

    def _of_scope(self, scope: Scope, view: View) -> Bounds:
        # Once of what a view shows, as definitions; the form is kept, so that its number stays its own.
        key = "open facts", id(self.form), scope, view.shown
        if key not in view.memory:
            view.memory[key] = self.form, self._over_scopes(scope, view)
        found: Bounds = view.memory[key][1]
        return found

    def _over_scopes(self, scope: Scope, view: View) -> Bounds:
        if scope.how == "tumor":
            shown = [(highest, view.of_tumor(tumor)) for tumor, highest in view.tumors.items()]
        else:
            shown = [(seen.world, view.of_event(seen)) for seen in view.events]
        inner = [(highest, self.bounds(one, scope.body)) for highest, one in shown if highest >= World.POSSIBLE]
        return Bounds(
            sum(one.certain for highest, one in inner if highest is World.CERTAIN) >= scope.least,
            sum(one.possible for _, one in inner) >= scope.least,
        )

    def joined(self, body: int, known: Known) -> Bounds:
        """The bounds of a cone from those of its leaves, part by part."""
        found = dict(known)

        def of(number: int) -> Bounds:
            here = found[part_of(number)]
            return here if number >= 0 else Bounds(not here.possible, not here.certain)

        for number in self.form.cones[body]:
            part = self.form.parts[number]
            if isinstance(part, Enough):
                inner = [of(one) for one in part.parts]
                found[number] = Bounds(
                    sum(one.certain for one in inner) >= part.n, sum(one.possible for one in inner) >= part.n
                )
        return of(body)

    def shared(self, view: View, body: int, known: Known) -> Shared:
        """What occurs twice among the leaves that are open."""
        times = self.form.cones[body]
        asked: dict[int, nodes.Events] = {}
        criteria = []
        for number in self.form.leaves(body):
            part = self.form.parts[number]
            if known[number].certain == known[number].possible:
                continue
            facts = part.facts if isinstance(part, Leaf) else None
            if facts is not None:
                asked[number] = facts
            elif times[number] > 1:
                criteria.append(number)
        fulfilling: dict[int, list[int]] = {}
        for number, events in asked.items():
            for (seen,) in self.meaning.witnesses(events, view, World.POSSIBLE):
                fulfilling.setdefault(seen.position, []).append(number)
        shown = {seen.position: seen for seen in view.events}
        events_, besides = {}, set()
        for position, numbers in fulfilling.items():
            if sum(times[number] for number in numbers) > 1:
                events_[position] = frozenset(ways(shown[position], {one: asked[one] for one in numbers}))
            else:
                besides.update(numbers)
        return Shared(events_, tuple(criteria), frozenset(besides))


def ways(seen: Seen, asked: Mapping[int, nodes.Events]) -> Iterator[Way]:
    """The ways of a fact that each of the event sets may have: which of them have it then."""
    there = (True,) if seen.world is World.CERTAIN else (True, False)
    so = (True, False) if World.NONE < seen.event.world < World.CERTAIN else (True,)
    # One day for each stretch of days that no window tells apart.
    windows = [events.window for events in asked.values() if events.window is not None]
    starts = {day for window in windows for day in (window.low, window.high + 1)}
    days = [seen.event.day.low, *(day for day in starts if seen.event.day.low < day <= seen.event.day.high)]
    for is_there, is_so, day in itertools.product(there, so, days):
        yield frozenset(
            number
            for number, events in asked.items()
            if is_there
            and (is_so or events.context not in _OF_WORLDS)
            and (events.window is None or events.window.low <= day <= events.window.high)
        )


def truths(shared: Shared) -> Iterator[dict[int, Bounds]]:
    """Every combination: the bounds of the criteria that facts which occur twice may fulfil."""
    touched = frozenset[int]().union(*(way for family in shared.events.values() for way in family))
    reached: set[Way] = {frozenset()}
    for family in set(shared.events.values()):
        # As often as it comes, unless once is as good.
        for _ in range(1 if _once_is_enough(family) else sum(one == family for one in shared.events.values())):
            reached = {before | way for before in reached for way in family}
    for fulfilled in reached:
        check()
        by_events = {one: Bounds(one in fulfilled, one in fulfilled or one in shared.open_besides) for one in touched}
        for chosen in itertools.product((True, False), repeat=len(shared.criteria)):
            yield by_events | {one: Bounds(is_so, is_so) for one, is_so in zip(shared.criteria, chosen, strict=True)}


def _once_is_enough(family: Iterable[Way]) -> bool:
    family = set(family)
    return len(family) == 2 and frozenset() in family
