"""Steps of a plan over frames of events: windows, conditions, picks, order in time and scope, in numpy columns."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

import numpy as np
from pyroaring import BitMap

from ..kb.model import MAIN_ATTRIBUTE, World
from ..kb.store import KnowledgeBase
from ..query_lang import nodes
from ..query_lang.nodes import QueryTreeError
from .bitmaps import OPPOSITE, concept_ids
from .choices import chosen, days_in_window, may_be_chosen
from .conditions import attributes_of, satisfied
from .frames import Array, Frame, Rows
from .plan import Atom, Complement, Count, Either, Every, Minus, Order, Plan, Scope, atoms_below, steps_below

#: Patients whose events are held in memory at a time.
_AT_A_TIME: Final = 250_000


class TimelineEvaluator:
    """Decides steps of one plan by the events of the candidates. Not to be shared between threads."""

    def __init__(self, kb: KnowledgeBase, plan: Plan) -> None:
        self._kb = kb
        self._plan = plan

    def members(self, number: int, world: World, candidates: BitMap) -> BitMap:
        """Those of ``candidates`` of whom the step holds in ``world``."""
        found = BitMap()
        for start in range(0, len(candidates), _AT_A_TIME):
            part = candidates if len(candidates) <= _AT_A_TIME else candidates[start : start + _AT_A_TIME]
            rows = self._rows(number, part)
            holds = _Frames(self._plan, self._kb, rows).holds(number, Frame.of_patients(rows), world)
            found |= BitMap(rows.patients[holds])
        return found

    def _rows(self, number: int, patients: BitMap) -> Rows:
        """The rows that the step can look at, with the attributes that it needs."""
        atoms = atoms_below(self._plan, number)
        kinds: Collection[str] | None = {atom.kind for atom in atoms if atom.kind is not None}
        concepts: Collection[str] | None = set(
            chain.from_iterable(
                concept_ids(atom.concept, self._kb.concepts) for atom in atoms if atom.concept is not None
            )
        )
        every_event = self._needs_every_event(number)
        if every_event or any(atom.kind is None for atom in atoms):
            kinds = None
        if every_event or any(atom.concept is None for atom in atoms):
            concepts = None
        rows = Rows(self._kb, patients, kinds, concepts)
        names: set[str] = set()
        holders = np.zeros(len(rows), dtype=bool)
        for atom in atoms:
            needed = set(attributes_of(atom.condition))
            if atom.pick.how in ("worst", "best"):
                needed.add(MAIN_ATTRIBUTE[atom.kind or ""])
            if needed:
                names |= needed
                holders |= np.True_ if atom.kind is None else rows.kind.among((atom.kind,))
        rows.load_attributes(names, holders)
        return rows

    def _needs_every_event(self, number: int) -> bool:
        """Whether *same event* inside may hold of an event that no atom is about (``same event (not …)``)."""
        return any(
            isinstance(step, Scope)
            and step.how == "event"
            and any(self._holds_of_nothing(step.body, world) for world in OPPOSITE)
            for step in steps_below(self._plan, number)
        )

    def _holds_of_nothing(self, number: int, world: World) -> bool:
        match self._plan.steps[number]:
            case Every(parts):
                return all(self._holds_of_nothing(part, world) for part in parts)
            case Either(parts):
                return any(self._holds_of_nothing(part, world) for part in parts)
            case Complement(part):
                return not self._holds_of_nothing(part, OPPOSITE[world])
            case Minus(left, right):
                return self._holds_of_nothing(left, world) and not self._holds_of_nothing(right, OPPOSITE[world])
            case Count(n, parts):
                return sum(self._holds_of_nothing(part, world) for part in parts) >= n
            case Scope("tumor", body):
                return self._holds_of_nothing(body, world)
        return False


@dataclass(frozen=True, slots=True)
class _Witnesses:
    """The entries of a frame that witness an event set, with the first and the last day on which each can (for others,
    any days), and whether those of a group are one witness together (each completion has one of them: a pick in the
    certain world) rather than each for itself."""

    mask: Array
    low: Array
    high: Array
    as_one: bool = False


class _Frames:
    """Truth of steps and event sets over frames of the same rows."""

    def __init__(self, plan: Plan, kb: KnowledgeBase, rows: Rows) -> None:
        self._plan = plan
        self._kb = kb
        self._rows = rows
        self._selected: dict[nodes.Events, Array] = {}
        self._satisfied: dict[nodes.Condition | None, Array] = {}

    def holds(self, number: int, frame: Frame, world: World) -> Array:
        """For each group of the frame, whether the step holds of it."""
        match self._plan.steps[number]:
            case Atom(events):
                return _groups_of(frame, self._witnesses(events, frame, world).mask)
            case Order(node):
                return self._ordered(node, frame, world)
            case Every(parts):
                return np.logical_and.reduce([self.holds(part, frame, world) for part in parts])
            case Either(parts):
                return np.logical_or.reduce([self.holds(part, frame, world) for part in parts])
            case Complement(part):
                return ~self.holds(part, frame, OPPOSITE[world])
            case Minus(left, right):
                return self.holds(left, frame, world) & ~self.holds(right, frame, OPPOSITE[world])
            case Count(n, parts):
                counts = np.zeros(frame.groups, dtype=np.int64)
                for part in parts:
                    counts += self.holds(part, frame, world)
                return counts >= n
            case Scope("tumor", body):
                inner, parent, tumor = frame.by_tumor()
                there = frame.rows.tumors.world[tumor] >= world
                return _any_inner(frame, parent, self.holds(body, inner, world) & there)
            case Scope(_, body):
                inner, parent = frame.by_event(world)
                return _any_inner(frame, parent, self.holds(body, inner, world))
        raise AssertionError("every step is one of these")

    # --- event sets -------------------------------------------------------------------------------------------------

    def _witnesses(self, node: nodes.Events, frame: Frame, world: World) -> _Witnesses:
        satisfied = self._satisfied_by(node.condition)[frame.index]
        if world is World.BELIEVED:
            middle = self._rows.middle[frame.index]
            members = self._members(node, frame, world)
            if node.pick.how == "any":
                return _Witnesses(members & satisfied, middle, middle)
            picked = chosen(node, frame, members, self._kb.scales)
            return _Witnesses(picked & ~_groups_of(frame, picked & ~satisfied)[frame.group], middle, middle)
        if node.pick.how == "any":
            return _Witnesses(self._members(node, frame, world) & satisfied, *days_in_window(node.window, frame))
        sure = self._members(node, frame, World.CERTAIN)
        maybe = self._members(node, frame, World.POSSIBLE)
        if world is World.POSSIBLE:
            may = may_be_chosen(node, frame, sure, maybe, self._kb.scales, sure & ~satisfied)
            return _Witnesses(may.candidates & satisfied, may.low, may.high)
        may = may_be_chosen(node, frame, sure, maybe, self._kb.scales)
        good = may.must & ~_groups_of(frame, may.candidates & ~satisfied)
        return _Witnesses(may.candidates & good[frame.group], may.low, may.high, as_one=True)

    def _satisfied_by(self, condition: nodes.Condition | None) -> Array:
        found = self._satisfied.get(condition)
        if found is None:
            found = satisfied(condition, self._rows, self._kb.concepts, self._kb.scales)
            self._satisfied[condition] = found
        return found

    def _members(self, node: nodes.Events, frame: Frame, world: World) -> Array:
        """The entries that kind, concept, context and window leave in ``world``."""
        rows = self._rows
        mask = self._selection(node)
        if node.context in ("present", "current", "historical"):
            mask = mask & (rows.world >= world)
        if node.window is not None:
            low, high = rows.low, rows.high
            match world:
                case World.CERTAIN:
                    mask = mask & (node.window.low <= low) & (high <= node.window.high)
                case World.BELIEVED:
                    mask = mask & (node.window.low <= rows.middle) & (rows.middle <= node.window.high)
                case _:
                    mask = mask & (low <= node.window.high) & (node.window.low <= high)
        return mask[frame.index] & (frame.shown >= world)

    def _selection(self, node: nodes.Events) -> Array:
        """The rows of the kind, concept and context, in whatever world."""
        key = replace(node, condition=None, pick=nodes.Pick(), window=None)
        mask = self._selected.get(key)
        if mask is None:
            rows = self._rows
            mask = self._in_context(node.context)
            if node.kind is not None:
                mask = mask & rows.kind.among((node.kind,))
            if node.concept is not None:
                mask = mask & rows.concept.among(concept_ids(node.concept, self._kb.concepts))
            self._selected[key] = mask
        return mask

    def _in_context(self, context: str) -> Array:
        rows = self._rows
        planned = rows.temporality.among(("planned",))
        hypothetical = rows.temporality.among(("hypothetical",))
        told = ~planned & ~hypothetical
        own = rows.experiencer.among(("patient",))
        match context:
            case "present" | "any":
                return np.ones(len(rows), dtype=bool)
            case "current" | "historical":
                return rows.temporality.among((context,))
            case "absent" | "uncertain":
                return own & told & rows.polarity.among((context,))
            case "planned":
                return own & planned
            case "hypothetical":
                return own & hypothetical
            case "declined":
                return own & rows.reason.among(("declined",))
            case "family":
                return rows.experiencer.among(("family",)) & told & rows.polarity.among(("present",))
        raise QueryTreeError(f"context {context!r} has no meaning")

    # --- order in time ----------------------------------------------------------------------------------------------

    def _ordered(self, node: nodes.Ordered, frame: Frame, world: World) -> Array:
        lefts, rights = self._witnesses(node.left, frame, world), self._witnesses(node.right, frame, world)
        left, right = lefts.mask, rights.mask
        first, second = _pairs(frame, left, right)
        low, high = rights.low[second] - lefts.high[first], rights.high[second] - lefts.low[first]
        good = _related(node, low, high, world) & (frame.index[first] != frame.index[second])
        if lefts.as_one:
            # Of each right witness: it must do with every one of the left.
            good_of = np.bincount(second[good], minlength=len(frame.index))
            mask = right & (good_of == _sizes(frame, left)[frame.group]) & _groups_of(frame, left)[frame.group]
            if rights.as_one:
                return _groups_of(frame, right) & ~_groups_of(frame, right & ~mask)
            return _groups_of(frame, mask)
        if rights.as_one:
            good_of = np.bincount(first[good], minlength=len(frame.index))
            mask = left & (good_of == _sizes(frame, right)[frame.group]) & _groups_of(frame, right)[frame.group]
            return _groups_of(frame, mask)
        found = np.zeros(frame.groups, dtype=bool)
        found[frame.group[first[good]]] = True
        return found


def _related(node: nodes.Ordered, low: Array, high: Array, world: World) -> Array:
    """For each pair of events that are ``low`` to ``high`` days apart, whether their days relate in ``world``."""
    longest = np.iinfo(np.int64).max if node.maximum is None else node.maximum
    ranges = []
    if node.relation in ("before", "within"):
        ranges.append((node.minimum, longest))
    if node.relation in ("after", "within"):
        ranges.append((-longest, -node.minimum))
    if node.relation == "within" and node.minimum == 0:
        ranges = [(-longest, longest)]
    if world is World.POSSIBLE:
        related = [(low <= upper) & (lower <= high) for lower, upper in ranges]
    else:
        related = [(lower <= low) & (high <= upper) for lower, upper in ranges]
    return np.logical_or.reduce(related)


def _pairs(frame: Frame, left: Array, right: Array) -> tuple[Array, Array]:
    """Every entry of ``left`` with every entry of ``right`` of the same group."""
    first, second = np.flatnonzero(left), np.flatnonzero(right)
    second = second[np.argsort(frame.group[second], kind="stable")]
    groups = frame.group[second]
    start = np.searchsorted(groups, frame.group[first], side="left")
    count = np.searchsorted(groups, frame.group[first], side="right") - start
    step = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    return np.repeat(first, count), second[np.repeat(start, count) + step]


def _groups_of(frame: Frame, mask: Array) -> Array:
    """For each group, whether it has an entry in the mask."""
    found = np.zeros(frame.groups, dtype=bool)
    found[frame.group[mask]] = True
    return found


def _sizes(frame: Frame, mask: Array) -> Array:
    return np.bincount(frame.group[mask], minlength=frame.groups)


def _any_inner(frame: Frame, parent: Array, holds: Array) -> Array:
    found = np.zeros(frame.groups, dtype=bool)
    found[parent[holds]] = True
    return found
