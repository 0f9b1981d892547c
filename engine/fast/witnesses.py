"""Event sets over frames: which rows are in a set, and which witness that it is not empty, in each world."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...kb.kinds import RULE_OF_DERIVED
from ...kb.model import World
from ...kb.storage.reader import KnowledgeBase
from ...query_lang import nodes
from ...query_lang.nodes import QueryTreeError
from .choices import chosen, days_in_window, may_be_chosen
from .concept_sets import ABSENT, concept_ids, denying
from .conditions import satisfied
from .denials import LeftOut, kinds_of
from .frames import Array, Frame, Rows


@dataclass(frozen=True, slots=True)
class Witnesses:
    """The entries of a frame that witness an event set, with the first and the last day on which each can (for others,
    any days), and whether those of a group are one witness together (each completion has one of them: a pick in the
    certain world) rather than each for itself."""

    mask: Array
    low: Array
    high: Array
    as_one: bool = False


class EventSets:
    """The event sets of one plan over frames of the same rows."""

    def __init__(self, kb: KnowledgeBase, rows: Rows) -> None:
        """``rows`` have the attributes that the sets look at."""
        self.kb = kb
        self.rows = rows
        self._selected: dict[nodes.Events, Array] = {}
        self._satisfied: dict[nodes.Condition | None, Array] = {}

    def witnesses(self, node: nodes.Events, frame: Frame, world: World) -> Witnesses:
        """The witnesses that the set is not empty, for each group of the frame."""
        # What is asked of a denial tells what it must deny, and so which denials there are to choose from.
        condition = None if node.context == ABSENT else node.condition
        satisfied = frame.entries_of(self.satisfied_by(condition))
        if world is World.BELIEVED:
            middle = frame.entries_of(self.rows.middle)
            members = self.members(node, frame, world)
            if node.pick.how == "any":
                return Witnesses(members & satisfied, middle, middle)
            picked = chosen(node, frame, members, self.kb.scales)
            if condition is None:
                return Witnesses(picked, middle, middle)
            return Witnesses(picked & ~groups_of(frame, picked & ~satisfied)[frame.group], middle, middle)
        if node.pick.how == "any":
            return Witnesses(self.members(node, frame, world) & satisfied, *days_in_window(node.window, frame))
        sure = self.members(node, frame, World.CERTAIN)
        maybe = self.members(node, frame, World.POSSIBLE)
        if world is World.POSSIBLE:
            may = may_be_chosen(node, frame, sure, maybe, self.kb.scales, sure & ~satisfied)
            return Witnesses(may.candidates & satisfied, may.low, may.high)
        may = may_be_chosen(node, frame, sure, maybe, self.kb.scales)
        good = may.must & ~groups_of(frame, may.candidates & ~satisfied)
        return Witnesses(may.candidates & good[frame.group], may.low, may.high, as_one=True)

    def satisfied_by(self, condition: nodes.Condition | None) -> Array:
        """The rows whose attributes are as the condition says."""
        found = self._satisfied.get(condition)
        if found is None:
            found = satisfied(condition, self.rows, self.kb.concepts, self.kb.scales)
            self._satisfied[condition] = found
        return found

    def members(self, node: nodes.Events, frame: Frame, world: World) -> Array:
        """The entries that kind, concept, context and window leave in ``world``."""
        if node.now is not None:
            raise QueryTreeError("which day 'now' is was not told. Hint: resolve the query first")
        rows = self.rows
        mask = self._selection(node)
        if node.context in ("present", "current", "historical"):
            mask = mask & (rows.world >= world)
        if node.window is not None:
            mask = mask & self._lies_in(node.window, world)
        return frame.visible(mask, world)

    def _selection(self, node: nodes.Events) -> Array:
        """The rows of the kind, concept and context, in whatever world; of denials, those that deny what is asked."""
        denials = node.context == ABSENT
        key = replace(node, condition=node.condition if denials else None, pick=nodes.Pick(), window=None)
        mask = self._selected.get(key)
        if mask is None:
            mask = self._in_context(node.context)
            if denials:
                mask &= self._denying(node)
            else:
                ids = None if node.concept is None else concept_ids(node.concept, self.kb.concepts)
                mask = mask & self.rows.among(node.kind, ids)
            self._selected[key] = self._known_so(node, mask)
            mask = self._selected[key]
        return mask

    def _denying(self, node: nodes.Events) -> Array:
        wanted, index = denying(node, self.kb.concepts), self.kb.event_index
        named = np.logical_or.reduce([self.rows.among(kind, ids) for kind, ids in wanted])
        left_out = LeftOut(node, self.rows, self.kb.concepts, self.kb.scales)
        return np.asarray(named & left_out.nothing(kinds_of(wanted, index.kinds), index.attributes))

    def _lies_in(self, window: nodes.Window, world: World) -> Array:
        if world is World.BELIEVED:
            return lies_in(window, self.rows.middle, self.rows.middle, world)
        return lies_in(window, self.rows.low, self.rows.high, world)

    def _known_so(self, node: nodes.Events, mask: Array) -> Array:
        if node.known:
            mask = mask & ((self.rows.attribute(RULE_OF_DERIVED).codes >= 0) == (node.known == "derived"))
        if not node.source and not node.undisputed and node.sources == 1:
            return mask
        return self.rows.known_so(mask, node.source, node.undisputed, node.sources)

    def _in_context(self, context: str) -> Array:
        rows = self.rows
        factual = ("current", "historical")
        match context:
            case "present" | "any":
                return np.ones(len(rows), dtype=bool)
            case "current" | "historical":
                return rows.in_context(temporality=(context,))
            case "absent" | "uncertain":
                return rows.in_context(context, factual, "patient")
            case "planned" | "hypothetical":
                return rows.in_context(temporality=(context,), experiencer="patient")
            case "declined":
                return rows.in_context(experiencer="patient", reason="declined")
            case "family":
                return rows.in_context("present", factual, "family")
        raise QueryTreeError(f"context {context!r} has no meaning")


def lies_in(window: nodes.Window, low: Array, high: Array, world: World) -> Array:
    """Certain: the whole interval lies inside; believed: its midpoint; possible: some day of it."""
    match world:
        case World.CERTAIN:
            inside = (window.low <= low) & (high <= window.high)
        case World.BELIEVED:
            middle = (low + high) // 2
            inside = (window.low <= middle) & (middle <= window.high)
        case _:
            inside = (low <= window.high) & (window.low <= high)
    return np.asarray(inside)


def groups_of(frame: Frame, mask: Array) -> Array:
    """For each group, whether it has an entry in the mask."""
    found = np.zeros(frame.groups, dtype=bool)
    found[frame.group[mask]] = True
    return found
