"""Bounds of criteria that look at one open fact twice, over frames of events: as :mod:`.reference.open_facts` says.

Asked of those alone whom the bounds, part by part, leave open. Patients, tumors or events in whom the same is open are
gone through once.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np
from pyroaring import BitMap

from ...kb.deadline import check
from ...kb.index.patient_sets import patient_set
from ...kb.model import World
from ...kb.storage.reader import KnowledgeBase
from ...query_lang import nodes
from ...query_lang.boolean_form import BooleanForm, Enough, Leaf, Scope, part_of
from .frames import Array, Frame, Rows
from .plan import Plan
from .timelines import Frames, TimelineEvaluator, enough_inner
from .witnesses import EventSets, groups_of

#: Combinations of ways that are gone through, at most.
MOST_WAYS: Final = 1024
_OF_WORLDS: Final = ("present", "current", "historical")


class Bounds(NamedTuple):
    """For each group of a frame, or each combination: certain, possible."""

    certain: Array
    possible: Array


#: The ways of a fact: each is the set of the criteria, as bits, that it then fulfils.
Family = frozenset[int]


def bounds_of(
    form: BooleanForm, kb: KnowledgeBase, wanted: tuple[Plan, int], candidates: BitMap
) -> tuple[BitMap, BitMap]:
    """Those of the candidates of whom the form is certain, and those of whom it is possible.

    ``wanted`` is a plan of the same query with its last step: it tells which events there are to look at.
    """
    plan, root = wanted
    certain, possible = BitMap(), BitMap()
    leaves = Plan()
    steps = {number: leaves.add_tree(part.node, {}) for number, part in enumerate(form.parts) if isinstance(part, Leaf)}
    known: dict[object, tuple[bool, bool]] = {}
    for patients, events in TimelineEvaluator(kb, plan).portions(root, candidates):
        rows = Rows(kb, patients, events)
        here = _Bounds(form, steps, Frames(leaves, kb, rows), known).of(form.root, Frame.of_patients(rows))
        certain |= patient_set(rows.patients[here.certain])
        possible |= patient_set(rows.patients[here.possible])
    return certain, possible


def _joined(form: BooleanForm, body: int, known: Mapping[int, Bounds], size: int) -> Bounds:
    """The bounds of a cone from those of its leaves, part by part."""
    found = dict(known)

    def of(number: int) -> Bounds:
        here = found[part_of(number)]
        return here if number >= 0 else Bounds(~here.possible, ~here.certain)

    for number in form.cones[body]:
        part = form.parts[number]
        if isinstance(part, Enough):
            sums = [np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)]
            for one in part.parts:
                for total, truth in zip(sums, of(one), strict=True):
                    total += truth
            found[number] = Bounds(sums[0] >= part.n, sums[1] >= part.n)
    return of(body)


@dataclass
class _Shared:
    """By group: the families of its facts that occur twice, and, as bits, the criteria that facts which occur once may
    fulfil, too."""

    families: dict[int, Counter[Family]] = field(default_factory=dict)
    besides: dict[int, int] = field(default_factory=dict)


class _Bounds:
    """The bounds of one form over frames of the same rows."""

    def __init__(
        self,
        form: BooleanForm,
        steps: Mapping[int, int],
        frames: Frames,
        known: dict[object, tuple[bool, bool]],
    ) -> None:
        """``steps``: of each leaf, its step in the plan of the frames; ``known``: what was gone through already."""
        self._form = form
        self._steps = steps
        self._frames = frames
        self._sets: EventSets = frames.sets
        self._known = known
        self._ways: dict[object, Family] = {}
        # Of scopes, by frame, which is kept with what was found, so that its number stays its own.
        self._scopes: dict[tuple[int, int], tuple[Frame, Bounds]] = {}
        self._inner: dict[tuple[str, int], tuple[Frame, tuple[Frame, Array, Array]]] = {}

    def of(self, body: int, frame: Frame) -> Bounds:
        """For each group of the frame: whether the body is certain of it, and whether it is possible."""
        leaves = {number: self._of_leaf(number, frame) for number in self._form.leaves(body)}
        found = _joined(self._form, body, leaves, frame.groups)
        undecided = found.certain != found.possible
        if not undecided.any():
            return found
        certain, possible = found.certain.copy(), found.possible.copy()
        shared = self._shared(body, leaves, frame, undecided)
        groups = np.flatnonzero(undecided)
        low = np.array([one.certain[groups] for one in leaves.values()]).T
        high = np.array([one.possible[groups] for one in leaves.values()]).T
        for group, lows, highs in zip(groups.tolist(), low, high, strict=True):
            check()
            families, besides = shared.families.get(group, Counter()), shared.besides.get(group, 0)
            key = (body, lows.tobytes(), highs.tobytes(), frozenset(families.items()), besides)
            outcome = self._known.get(key)
            if outcome is None:
                of_leaves = [(bool(one), bool(other)) for one, other in zip(lows, highs, strict=True)]
                outcome = self._known[key] = self._gone_through(body, of_leaves, families, besides)
            certain[group], possible[group] = outcome
        return Bounds(certain, possible)

    def _of_leaf(self, number: int, frame: Frame) -> Bounds:
        part = self._form.parts[number]
        if not isinstance(part, Scope):
            step = self._steps[number]
            return Bounds(*(self._frames.holds(step, frame, world) for world in (World.CERTAIN, World.POSSIBLE)))
        key = number, id(frame)
        if key not in self._scopes:
            self._scopes[key] = frame, self._of_scope(part, frame)
        return self._scopes[key][1]

    def _of_scope(self, scope: Scope, frame: Frame) -> Bounds:
        key = scope.how, id(frame)
        if key not in self._inner:
            self._inner[key] = frame, self._scoped(scope.how, frame)
        inner, parent, highest = self._inner[key][1]
        found = self.of(scope.body, inner)
        return Bounds(
            enough_inner(frame, parent, found.certain & (highest >= World.CERTAIN), scope.least),
            enough_inner(frame, parent, found.possible & (highest >= World.POSSIBLE), scope.least),
        )

    def _scoped(self, how: str, frame: Frame) -> tuple[Frame, Array, Array]:
        """A group for each tumor or event, the group that it comes from, and the highest world that it is in."""
        if how == "tumor":
            inner, parent, tumor = frame.by_tumor(World.NONE)
            return inner, parent, frame.rows.tumors.world[tumor]
        inner, parent = frame.by_event(World.POSSIBLE)
        highest = np.full(inner.groups, World.CERTAIN) if inner.shown is None else inner.shown
        return inner, parent, highest

    # --- which facts occur twice --------------------------------------------------------------------------------------

    def _shared(self, body: int, leaves: Mapping[int, Bounds], frame: Frame, undecided: Array) -> _Shared:
        """What occurs twice in the groups that are undecided. The bit of a criterion is its place among the leaves."""
        found = _Shared()
        asked: dict[int, nodes.Events] = {}
        masks: dict[int, Array] = {}
        times = np.zeros(frame.entries, dtype=np.int64)
        for bit, (number, bounds) in enumerate(leaves.items()):
            part = self._form.parts[number]
            open_ = undecided & (bounds.certain != bounds.possible)
            if isinstance(part, Leaf) and part.facts is not None and open_.any():
                asked[bit] = part.facts
                masks[bit] = self._sets.witnesses(part.facts, frame, World.POSSIBLE).mask & open_[frame.group]
                times += masks[bit] * self._form.cones[body][number]
        for bit, mask in masks.items():
            for group in np.flatnonzero(groups_of(frame, mask & (times == 1))).tolist():
                found.besides[group] = found.besides.get(group, 0) | 1 << bit
        rows = frame.rows
        worlds, lows, highs = (frame.entries_of(column) for column in (rows.world, rows.low, rows.high))
        windowed = any(one.window is not None for one in asked.values())
        for entry in np.flatnonzero(times > 1).tolist():
            check()
            bits = sum(1 << bit for bit, mask in masks.items() if mask[entry])
            there = frame.shown is None or int(frame.shown[entry]) >= World.CERTAIN
            settled = not World.NONE < int(worlds[entry]) < World.CERTAIN
            days = (int(lows[entry]), int(highs[entry])) if windowed else (0, 0)
            key = (body, bits, there, settled, days)
            family = self._ways.get(key)
            if family is None:
                family = self._ways[key] = _ways(asked, bits, there, settled, days)
            found.families.setdefault(int(frame.group[entry]), Counter())[family] += 1
        for counted in found.families.values():
            for family in counted:
                # Several facts that each fulfil the same or nothing are as one.
                if len(family) == 2 and 0 in family:
                    counted[family] = 1
        return found

    # --- going through their ways -------------------------------------------------------------------------------------

    def _gone_through(
        self, body: int, leaves: Sequence[tuple[bool, bool]], families: Mapping[Family, int], besides: int
    ) -> tuple[bool, bool]:
        """Certain and possible, of what is left open part by part; ``leaves`` are the bounds of each, in order."""
        numbers = self._form.leaves(body)
        criteria = [
            bit
            for bit, ((certain, possible), number) in enumerate(zip(leaves, numbers, strict=True))
            if certain != possible and self._form.cones[body][number] > 1 and not self._is_of_facts(number)
        ]
        combinations = math.prod(len(family) ** count for family, count in families.items()) << len(criteria)
        if not 1 < combinations <= MOST_WAYS:
            return False, True
        reached = {0}
        for family, count in families.items():
            for _ in range(count):
                reached = {before | way for before in reached for way in family}
        touched = 0
        for family in families:
            for way in family:
                touched |= way
        cases = [(way, chosen) for way in reached for chosen in range(1 << len(criteria))]
        ways = np.array([way for way, _ in cases], dtype=object)
        choices = np.array([chosen for _, chosen in cases], dtype=np.int64)
        size = len(cases)
        known = {
            number: Bounds(np.full(size, certain), np.full(size, possible))
            for number, (certain, possible) in zip(numbers, leaves, strict=True)
        }
        for bit, number in enumerate(numbers):
            if touched >> bit & 1:
                fulfilled = (ways >> bit & 1).astype(bool)
                known[number] = Bounds(fulfilled, fulfilled | bool(besides >> bit & 1))
        for place, bit in enumerate(criteria):
            holds = (choices >> place & 1).astype(bool)
            known[numbers[bit]] = Bounds(holds, holds)
        found = _joined(self._form, body, known, size)
        return bool(found.certain.all()), bool(found.possible.any())

    def _is_of_facts(self, number: int) -> bool:
        part = self._form.parts[number]
        return isinstance(part, Leaf) and part.facts is not None


def _ways(asked: Mapping[int, nodes.Events], bits: int, there: bool, settled: bool, days: tuple[int, int]) -> Family:
    """The ways of a fact on one of the days that may fulfil the criteria of the bits. ``there``: it is seen for sure;
    ``settled``: it is so, or its context says how it is, for sure."""
    own = [(1 << bit, events) for bit, events in asked.items() if bits >> bit & 1]
    low, high = days
    windows = [events.window for _, events in own if events.window is not None]
    # A day for each stretch of days that no window tells apart.
    starts = {low, *(day for window in windows for day in (window.low, window.high + 1) if low < day <= high)}
    found = {
        sum(
            bit
            for bit, events in own
            if (so or events.context not in _OF_WORLDS)
            and (events.window is None or events.window.low <= day <= events.window.high)
        )
        for so in ((True,) if settled else (True, False))
        for day in starts
    }
    return frozenset(found if there else found | {0})
