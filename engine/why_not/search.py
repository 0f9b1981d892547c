"""The cheapest edit of a query that admits one patient: exact, by dynamic programming over the tree.

A *place* is what a criterion is asked of: a mask of the events that it sees (all, those of one tumor, one event). For
each criterion the search keeps, for every way in which the edited criterion can hold of its places, the cheapest
edits; it joins those of the parts to those of the whole. A criterion that must hold is relaxed (``widen``), one that
must not is tightened.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Final, NamedTuple

from ...kb.deadline import check, too_much
from ...kb.errors import DeadlineExceeded
from ...kb.kinds import KIND_TABLE
from ...query_lang import nodes
from ...query_lang.nodes import QueryTreeError
from ...query_lang.tree import children, event_sets
from .concepts import Climbs
from .cost import DETAIL, DROP, MOST_TIES, bound_cost
from .counts import age_versions, clear_versions, times_versions
from .events import EventEdits, sum_of
from .record import BELIEVED, Change, Record, bits
from .sequences import SequenceEdits
from .times import OrderEdits, Way

#: So many ways to hold of the places are kept of one criterion: each is a version of a query, and there are as many as
#: sets of places at worst.
MOST_WAYS: Final = 100_000
#: Where a criterion stands: the name of its definition ("" for the query itself), then which part of which part.
Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """A change of the criterion at ``path``."""

    path: Path
    change: Change


class Version(NamedTuple):
    """A criterion, edited or not, with the steps that made it and the definitions that they changed."""

    node: nodes.PatientExpression
    steps: tuple[Step, ...] = ()
    bodies: tuple[tuple[str, nodes.PatientExpression], ...] = ()


#: For each way to hold of the places (a bit each), the cost and the cheapest versions.
Versions = dict[int, tuple[int, list[Version]]]


@dataclass(frozen=True, slots=True)
class FoundEdit:
    """An edited query, its cost and steps; ``query`` is None when no criterion is left."""

    query: nodes.Query | None
    cost: int
    steps: tuple[Step, ...]


class EditSearch:
    """Searches the edits of one query for one patient."""

    def __init__(self, query: nodes.Query, record: Record, climbs: Climbs | None = None) -> None:
        """``query`` is resolved; the ``record``'s meaning knows its definitions."""
        self._query = query
        self.record = record
        self._climbs = Climbs(record.meaning.concepts) if climbs is None else climbs
        self._bodies = {definition.name: definition.body for definition in query.definitions}
        self._uses = uses(query)
        self._sizes: dict[str, int] = {}
        self._known: dict[tuple[Path, tuple[int, ...], bool], Versions] = {}
        self._events: dict[tuple[nodes.Events, bool], EventEdits] = {}
        self._kinds: dict[nodes.PatientExpression, set[str | None]] = {}

    def cheapest(self) -> list[FoundEdit]:
        """The equally cheap edits that admit the patient (the query itself, when it does), some of them if many."""
        body = self._query.body
        found = self.versions(body, ("",), (self.record.everything,), True).get(1)
        dropped = DROP * self.size(body)
        edits = []
        if found is not None and found[0] <= dropped:
            edits += [FoundEdit(self._edited(version), found[0], version.steps) for version in found[1]]
        if found is None or found[0] >= dropped:
            edits.append(FoundEdit(None, dropped, (Step(("",), Change("drops", body, None)),)))
        return edits

    def holds(self, node: nodes.PatientExpression, path: Path, place: int) -> bool:
        """Whether the criterion as it stands holds of the place."""
        found = self.versions(node, path, (place,), True)
        return 1 in found and found[1][0] == 0

    def size(self, node: nodes.PatientExpression) -> int:
        """How many facts a criterion asks for, definitions written out: what dropping it costs."""
        match node:
            case nodes.Defined(name):
                if name not in self._sizes:
                    self._sizes[name] = self.size(self.body_of(name))
                return self._sizes[name]
            case nodes.Ordered():
                return 2
            case nodes.Sequence(steps):
                return len(steps)
        return sum(self.size(part) for part in children(node)) or 1

    def body_of(self, name: str) -> nodes.PatientExpression:
        """What a definition says."""
        if name not in self._bodies:
            raise QueryTreeError(f"no definition before this place is called {name!r}")
        return self._bodies[name]

    def inner_places(self, node: nodes.SameTumor | nodes.SameEvent, place: int) -> list[int]:
        """What a scope shows to its body, one after the other."""
        if isinstance(node, nodes.SameTumor):
            return [tumor & place for tumor in self.record.tumors]
        kinds = self._kinds_of(node.body)
        about = place if None in kinds else place & sum_of(self.record.of_kind(kind) for kind in kinds)
        # To the events that no fact of the body is about, one stands for all.
        others = place & ~about
        return [1 << position for position in bits(about)] + ([others & -others] if others else [])

    def _kinds_of(self, root: nodes.PatientExpression) -> set[str | None]:
        """The kinds of the facts that a criterion asks for, definitions written out."""
        found = self._kinds.get(root)
        if found is None:
            found = self._kinds[root] = set()
            waiting, named = [root], set()
            while waiting:
                node = waiting.pop()
                if isinstance(node, nodes.Defined) and node.name not in named:
                    named.add(node.name)
                    waiting.append(self.body_of(node.name))
                waiting.extend(children(node))
                for events in event_sets(node):
                    found.add(events.kind)
                    if events.context == "absent" and events.kind is not None:
                        found.update(kind for kind, _ in KIND_TABLE[events.kind].denial.whole)
        return found

    # --- the tree -----------------------------------------------------------------------------------------------------

    def versions(self, node: nodes.PatientExpression, path: Path, places: tuple[int, ...], widen: bool) -> Versions:
        """The cheapest versions of the criterion at ``path``, by the places of which they hold."""
        check()
        key = (path, places, widen)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = _kept(self._versions(node, path, places, widen), widen)
        return found

    def _versions(
        self, node: nodes.PatientExpression, path: Path, places: tuple[int, ...], widen: bool
    ) -> Iterable[tuple[int, int, Version]]:
        if any(events.moment == "end" for events in event_sets(node)):
            # The record tells the days on which events began: what looks at ends is taken as a whole.
            return [(self._held(node, places), 0, Version(node))]
        match node:
            case nodes.Exists(events) if node.expansion is None:
                return self._exists(events, path, places, widen)
            case nodes.Ordered() | nodes.Sequence() | nodes.Clear() | nodes.Times() | nodes.AgeAt():
                return self._related(node, path, places, widen)
            case nodes.Lacking():
                return self._lacking(node, path, places, widen)
            case nodes.Not(part):
                return self._not(part, path, places, widen)
            case nodes.And(parts) | nodes.Or(parts):
                return self._joined(node, parts, path, places, widen)
            case nodes.AtLeast():
                return self._at_least(node, path, places, widen)
            case nodes.Except():
                return self._except(node, path, places, widen)
            case nodes.SameTumor(least=1) | nodes.SameEvent():
                return self._scope(node, path, places, widen)
            case nodes.Defined():
                return self._defined(node, places, widen)
        # What no case edits (a list of patients, say) stays as it is, or goes with what it is a part of.
        return [(self._held(node, places), 0, Version(node))]

    def _held(self, node: nodes.PatientExpression, places: tuple[int, ...]) -> int:
        """Of which of the places the criterion holds as it stands."""
        meaning, record = self.record.meaning, self.record
        return sum(1 << at for at, place in enumerate(places) if meaning.holds(node, record.shown(place), BELIEVED))

    def _exists(
        self, events: nodes.Events, path: Path, places: tuple[int, ...], widen: bool
    ) -> Iterator[tuple[int, int, Version]]:
        edits = self.event_edits(events)
        if widen and len(places) == 1:
            ways = edits.targets(places[0]).found
            yield (1 if any(not cost for cost, _ in ways.values()) else 0), 0, Version(nodes.Exists(events))
            for cost, made in ways.values():
                for one in made:
                    yield 1, cost, Version(_exists(one.events), _steps(path, one.changes))
            return
        for one in edits.sets(places, widen):
            held = sum(1 << at for at, witnesses in enumerate(one.witnesses) if witnesses)
            yield held, one.cost, Version(_exists(one.events), _steps(path, one.changes))

    def _related(
        self,
        node: nodes.Ordered | nodes.Sequence | nodes.Clear | nodes.Times | nodes.AgeAt,
        path: Path,
        places: tuple[int, ...],
        widen: bool,
    ) -> Iterator[tuple[int, int, Version]]:
        ways: Iterable[Way]
        match node:
            case nodes.Ordered(left, _, right):
                order = OrderEdits(self.record, node, self.event_edits(left), self.event_edits(right))
                ways = order.versions(places, widen)
            case nodes.Sequence(steps):
                edits = [self.event_edits(step, alone=True) for step in steps]
                ways = SequenceEdits(self.record, node, edits).versions(places, widen)
            case nodes.Clear(events):
                ways = clear_versions(self.record, node, self.event_edits(events, alone=True), places, widen)
            case nodes.Times(_, events):
                ways = times_versions(self.record, node, self.event_edits(events, alone=True), places, widen)
            case nodes.AgeAt(at):
                of_event = None if at is None else self.event_edits(at, alone=True)
                ways = age_versions(self.record, node, of_event, places, widen)
        for held, cost, edited, changes in ways:
            yield held, cost, Version(edited, _steps(path, changes))

    def _lacking(
        self, node: nodes.Lacking, path: Path, places: tuple[int, ...], widen: bool
    ) -> Iterator[tuple[int, int, Version]]:
        """The kind of absence let go, which leaves *not*; there the fact can be made stricter."""
        yield self._held(node, places), 0, Version(node)
        if widen:
            change = Change("details", node, None)
            every = (1 << len(places)) - 1
            for one in self.event_edits(node.events).sets(places, False):
                found = sum(1 << at for at, witnesses in enumerate(one.witnesses) if witnesses)
                absent = nodes.Not(_exists(one.events))
                yield every & ~found, one.cost + DETAIL, Version(absent, _steps(path, (*one.changes, change)))

    def event_edits(self, events: nodes.Events, *, alone: bool = False) -> EventEdits:
        """The edits of an event set, made once; ``alone``: it must stay one set."""
        found = self._events.get((events, alone))
        if found is None:
            found = self._events[events, alone] = EventEdits(self.record, events, self._climbs, alone=alone)
        return found

    def _not(
        self, part: nodes.PatientExpression, path: Path, places: tuple[int, ...], widen: bool
    ) -> Iterator[tuple[int, int, Version]]:
        every = (1 << len(places)) - 1
        for held, (cost, ways) in self.versions(part, (*path, 0), places, not widen).items():
            for one in ways:
                yield every & ~held, cost, one._replace(node=nodes.Not(one.node))

    def _joined(
        self,
        node: nodes.And | nodes.Or,
        parts: Sequence[nodes.PatientExpression],
        path: Path,
        places: tuple[int, ...],
        widen: bool,
    ) -> Iterator[tuple[int, int, Version]]:
        """*and* and *or*: each part as it stands, edited, or dropped where that does what is wanted; one stays."""
        every = isinstance(node, nodes.And)
        neutral = (1 << len(places)) - 1 if every else 0
        partial = [_Partial(neutral)]
        for at, part in enumerate(parts):
            ways = self._ways(part, (*path, at), places, widen)
            if widen is every:
                ways.append(self._dropped(part, (*path, at), neutral))
            partial = _least(
                (
                    one.with_part(way, one.held & way.held if every else one.held | way.held)
                    for one, way in product(partial, ways)
                ),
                widen,
            )
        kind = type(node)
        for one in partial:
            if one.nodes:
                edited = one.nodes[0] if len(one.nodes) == 1 else kind(one.nodes)
                yield one.held, one.cost, Version(edited if one.cost else node, one.steps, one.bodies)

    def _except(
        self, node: nodes.Except, path: Path, places: tuple[int, ...], widen: bool
    ) -> Iterator[tuple[int, int, Version]]:
        """``A except B`` is ``A and not B``, and stays an *except* while both are there."""
        every = (1 << len(places)) - 1
        lefts = self._ways(node.left, (*path, 0), places, widen)
        rights = [
            way._replace(held=every & ~way.held, nodes=(nodes.Not(way.nodes[0]),))
            for way in self._ways(node.right, (*path, 1), places, not widen)
        ]
        if widen:
            lefts.append(self._dropped(node.left, (*path, 0), every))
            rights.append(self._dropped(node.right, (*path, 1), every))
        for left, right in product(lefts, rights):
            one = left.with_part(right, left.held & right.held)
            match one.nodes:
                case (first, nodes.Not(second)):
                    edited: nodes.PatientExpression = nodes.Except(first, second) if one.cost else node
                case (alone,):
                    edited = alone
                case _:
                    continue
            yield one.held, one.cost, Version(edited, one.steps, one.bodies)

    def _at_least(
        self, node: nodes.AtLeast, path: Path, places: tuple[int, ...], widen: bool
    ) -> Iterator[tuple[int, int, Version]]:
        """The number moves down to admit, up to exclude; to exclude, parts can be dropped as well."""
        partial: dict[tuple[tuple[int, ...], int], tuple[int, list[_Partial]]] = {
            ((0,) * len(places), 0): (0, [_Partial(0)])
        }
        for at, part in enumerate(node.parts):
            ways = self._ways(part, (*path, at), places, widen)
            if not widen:
                ways.append(self._dropped(part, (*path, at), 0))
            reached: dict[tuple[tuple[int, ...], int], tuple[int, list[_Partial]]] = {}
            for ((counted, number), (_, ones)), way in product(partial.items(), ways):
                check()
                if len(reached) > MOST_WAYS:
                    raise _too_many_ways()
                key = (
                    tuple(times + (way.held >> bit & 1) for bit, times in enumerate(counted)),
                    number + len(way.nodes),
                )
                for one in ones:
                    _add(reached, key, one.cost + way.cost, one.with_part(way, 0))
            partial = reached
        for (counted, number), (cost, ones) in partial.items():
            for n in range(1, node.n + 1) if widen else range(node.n, number + 1):
                if n > number:
                    continue
                moved = bound_cost(abs(n - node.n) / node.n) if n != node.n else 0
                held = sum(1 << bit for bit, times in enumerate(counted) if times >= n)
                for one in ones:
                    steps = one.steps
                    if moved:
                        steps = (*steps, Step(path, Change("bounds", node.n, n)))
                    edited: nodes.PatientExpression = node
                    if cost + moved:
                        edited = one.nodes[0] if number == 1 else nodes.AtLeast(n, one.nodes)
                    yield held, cost + moved, Version(edited, steps, one.bodies)

    def _ways(self, node: nodes.PatientExpression, path: Path, places: tuple[int, ...], widen: bool) -> list[_Partial]:
        return [
            _Partial(held, cost, (one.node,), one.steps, one.bodies)
            for held, (cost, ways) in self.versions(node, path, places, widen).items()
            for one in ways
        ]

    def _dropped(self, node: nodes.PatientExpression, path: Path, neutral: int) -> _Partial:
        step = Step(path, Change("drops", node, None))
        return _Partial(neutral, DROP * self.size(node), (), (step,))

    # --- scopes and definitions ---------------------------------------------------------------------------------------

    def _scope(
        self, node: nodes.SameTumor | nodes.SameEvent, path: Path, places: tuple[int, ...], widen: bool
    ) -> Iterator[tuple[int, int, Version]]:
        """For some tumor or event the body holds: one that is made to (in one place), or as many as it takes."""
        shown = [self.inner_places(node, place) for place in places]
        inner_path = (*path, 0)
        if widen and len(places) == 1:
            stands = any(self.holds(node.body, inner_path, place) for place in shown[0])
            yield int(stands), 0, Version(node)
            best: int | None = None
            for place in () if stands else shown[0]:
                found = self.versions(node.body, inner_path, (place,), True).get(1)
                if found is not None and (best is None or found[0] <= best):
                    best = found[0]
                    for one in found[1]:
                        yield 1, found[0], one._replace(node=type(node)(one.node))
        else:
            inner = tuple(dict.fromkeys(place for some in shown for place in some))
            position = {place: at for at, place in enumerate(inner)}
            masks = [sum(1 << at for at in {position[place] for place in some}) for some in shown]
            for held, (cost, ways) in self.versions(node.body, inner_path, inner, widen).items():
                outer = sum(1 << at for at, mask in enumerate(masks) if held & mask)
                for one in ways:
                    yield outer, cost, one._replace(node=type(node)(one.node) if cost else node)
        if widen:
            change = Step(path, Change("details", node, None))
            for held, (cost, ways) in self.versions(node.body, inner_path, places, True).items():
                for one in ways:
                    yield held, cost + DETAIL, one._replace(steps=(*one.steps, change))

    def _defined(self, node: nodes.Defined, places: tuple[int, ...], widen: bool) -> Iterator[tuple[int, int, Version]]:
        """A definition means its body. One that is used once is edited where it stands; of one that is used more often,
        the edited use is written out, and the others stay."""
        name = node.name
        for held, (cost, ways) in self.versions(self.body_of(name), (name,), places, widen).items():
            for one in ways:
                if not cost:
                    yield held, cost, Version(node)
                elif self._uses.get(name) == 1:
                    yield held, cost, Version(node, one.steps, (*one.bodies, (name, one.node)))
                else:
                    yield held, cost, one

    def _edited(self, version: Version) -> nodes.Query:
        bodies = dict(version.bodies)
        return nodes.Query(
            version.node,
            tuple(nodes.Definition(one.name, bodies.get(one.name, one.body)) for one in self._query.definitions),
        )


class _Partial(NamedTuple):
    """Some of the parts of a criterion: the places of which they hold together, their cost, nodes and steps."""

    held: int
    cost: int = 0
    nodes: tuple[nodes.PatientExpression, ...] = ()
    steps: tuple[Step, ...] = ()
    bodies: tuple[tuple[str, nodes.PatientExpression], ...] = ()

    def with_part(self, other: _Partial, held: int) -> _Partial:
        """One more part."""
        return _Partial(
            held,
            self.cost + other.cost,
            self.nodes + other.nodes,
            self.steps + other.steps,
            self.bodies + other.bodies,
        )


def uses(query: nodes.Query) -> Mapping[str, int]:
    """How often each definition is used, in the text of the query or of a definition that is used."""
    found: dict[str, int] = {}
    bodies = {definition.name: definition.body for definition in query.definitions}
    waiting = [query.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, nodes.Defined):
            found[node.name] = found.get(node.name, 0) + 1
            if found[node.name] == 1 and node.name in bodies:
                waiting.append(bodies[node.name])
        waiting.extend(children(node))
    return found


def _exists(events: Sequence[nodes.Events]) -> nodes.PatientExpression:
    """Any of the event sets has an event."""
    some = tuple(nodes.Exists(one) for one in events)
    return some[0] if len(some) == 1 else nodes.Or(some)


def _steps(path: Path, changes: Iterable[Change]) -> tuple[Step, ...]:
    return tuple(Step(path, change) for change in changes)


def _add(found: dict[Any, tuple[int, list[Any]]], key: Any, cost: int, made: Any) -> None:
    known = found.get(key)
    if known is None or cost < known[0]:
        found[key] = (cost, [made])
    elif cost == known[0] and len(known[1]) < MOST_TIES:
        known[1].append(made)


def _kept(ways: Iterable[tuple[int, int, Version]], widen: bool) -> Versions:
    """The cheapest ways to each vector, without vectors that a cheaper one outdoes."""
    found: Versions = {}
    for held, cost, version in ways:
        check()
        _add(found, held, cost, version)
        if len(found) > MOST_WAYS:
            raise _too_many_ways()
    return {held: found[held] for held in _undone(((held, cost) for held, (cost, _) in found.items()), widen)}


def _least(ways: Iterable[_Partial], widen: bool) -> list[_Partial]:
    found: dict[tuple[int, bool], tuple[int, list[_Partial]]] = {}
    for one in ways:
        check()
        _add(found, (one.held, bool(one.nodes)), one.cost, one)
        if len(found) > MOST_WAYS:
            raise _too_many_ways()
    kept: list[_Partial] = []
    for some in (True, False):
        of_sort = {held: entry for (held, has), entry in found.items() if has is some}
        for held in _undone(((held, cost) for held, (cost, _) in of_sort.items()), widen):
            kept += of_sort[held][1]
    return kept


def _too_many_ways() -> DeadlineExceeded:
    return too_much("there are too many ways to edit the query. Hint: ask why-not of a part of it")


def _undone(vectors: Iterable[tuple[int, int]], widen: bool) -> list[int]:
    """The vectors that no strictly cheaper one outdoes: by holding of more places, or with ``widen`` off of fewer."""
    kept: list[tuple[int, int]] = []
    for held, cost in sorted(vectors, key=lambda one: one[1]):
        if not any(less < cost and not (held & ~other if widen else other & ~held) for other, less in kept):
            kept.append((held, cost))
    return [held for held, _ in kept]
