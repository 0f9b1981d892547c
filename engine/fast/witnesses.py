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
from .frames import FAR, Array, Days, Frame, Rows


@dataclass(frozen=True, slots=True)
class Witnesses:
    """The entries of a frame that witness an event set, with the first and the last day on which each can (for others,
    any days), and whether those of a group are one witness together (each completion has one of them: a pick in the
    certain world) rather than each for itself. ``moment``: whether these are days on which they began, or ended."""

    mask: Array
    low: Array
    high: Array
    as_one: bool = False
    moment: str = "begin"


class EventSets:
    """The event sets of one plan over frames of the same rows."""

    def __init__(self, kb: KnowledgeBase, rows: Rows) -> None:
        """``rows`` have the attributes that the sets look at."""
        self.kb = kb
        self.rows = rows
        self._selected: dict[nodes.Events, Array] = {}
        self._satisfied: dict[nodes.Condition | None, Array] = {}
        self._lasting: dict[tuple[nodes.Lasting, str, nodes.Window | None, World], Array] = {}

    def witnesses(self, node: nodes.Events, frame: Frame, world: World) -> Witnesses:
        """The witnesses that the set is not empty, for each group of the frame."""
        # What is asked of a denial tells what it must deny, and so which denials there are to choose from.
        condition = None if node.context == ABSENT else node.condition
        satisfied = frame.entries_of(self.satisfied_by(condition))
        if world is World.BELIEVED:
            middle = frame.entries_of(self.rows.middle_of(node.moment))
            members = self.members(node, frame, world)
            if node.pick.how == "any":
                return Witnesses(members & satisfied, middle, middle, moment=node.moment)
            picked = chosen(node, frame, members, self.kb.scales)
            if condition is not None:
                picked = picked & ~groups_of(frame, picked & ~satisfied)[frame.group]
            return Witnesses(picked, middle, middle, moment=node.moment)
        if node.pick.how == "any":
            low, high = days_in_window(node, frame)
            return Witnesses(self.members(node, frame, world) & satisfied, low, high, moment=node.moment)
        sure = self.members(node, frame, World.CERTAIN)
        maybe = self.members(node, frame, World.POSSIBLE)
        if world is World.POSSIBLE:
            may = may_be_chosen(node, frame, sure, maybe, self.kb.scales, sure & ~satisfied)
            return Witnesses(may.candidates & satisfied, may.low, may.high, moment=node.moment)
        may = may_be_chosen(node, frame, sure, maybe, self.kb.scales)
        good = may.must & ~groups_of(frame, may.candidates & ~satisfied)
        return Witnesses(may.candidates & good[frame.group], may.low, may.high, as_one=True, moment=node.moment)

    def satisfied_by(self, condition: nodes.Condition | None) -> Array:
        """The rows whose attributes are as the condition says."""
        found = self._satisfied.get(condition)
        if found is None:
            found = satisfied(condition, self.rows, self.kb.concepts, self.kb.scales)
            self._satisfied[condition] = found
        return found

    def members(self, node: nodes.Events, frame: Frame, world: World) -> Array:
        """The entries that kind, concept, context, window and length leave in ``world``."""
        if node.now is not None:
            raise QueryTreeError("which day 'now' is was not told. Hint: resolve the query first")
        rows = self.rows
        mask = self._selection(node)
        if node.context in ("present", "current", "historical"):
            mask = mask & (rows.world >= world)
        if node.window is not None:
            mask = mask & self._lies_in(node.window, node.moment, world)
        if node.moment == "end" and world is not World.POSSIBLE:
            mask = mask & ~rows.goes_on
        if node.lasting is not None:
            mask = mask & self._lasts(node.lasting, node, world)
        return frame.visible(mask, world)

    def _selection(self, node: nodes.Events) -> Array:
        """The rows of the kind, concept and context, in whatever world; of denials, those that deny what is asked."""
        denials = node.context == ABSENT
        key = replace(node, condition=node.condition if denials else None, pick=nodes.Pick(), window=None,
            moment="begin", lasting=None,
        )  # fmt: skip
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

    def _lies_in(self, window: nodes.Window, moment: str, world: World) -> Array:
        if world is World.BELIEVED:
            middle = self.rows.middle_of(moment)
            return lies_in(window, middle, middle, world)
        return lies_in(window, *self.rows.days(moment), world)

    def _lasts(self, lasting: nodes.Lasting, node: nodes.Events, world: World) -> Array:
        """The rows that lasted so long, as :func:`.reference.time.lasts` says."""
        key = lasting, node.moment, node.window, world
        found = self._lasting.get(key)
        if found is None:
            found = self._lasting[key] = self._so_long(*key)
        return found

    def _so_long(self, lasting: nodes.Lasting, moment: str, window: nodes.Window | None, world: World) -> Array:
        rows = self.rows
        if world is World.BELIEVED:
            shortest = longest = rows.middle_of("end") - rows.middle
        else:
            begin, end = rows.days("begin"), rows.days("end")
            if window is not None:
                looked_at = begin if moment == "begin" else end
                inside = Days(np.maximum(looked_at.low, window.low), np.minimum(looked_at.high, window.high))
                begin, end = (inside, end) if moment == "begin" else (begin, inside)
            shortest, longest = end.low - begin.high, end.high - begin.low
        # What neither goes on nor has an end is of one day.
        lasts = rows.ends[0] | rows.goes_on
        shortest, longest = (np.where(lasts, np.maximum(days, 0), 0) for days in (shortest, longest))
        most = FAR if lasting.maximum is None else lasting.maximum
        if world is World.POSSIBLE:
            return np.asarray((lasting.minimum <= longest) & (shortest <= most))
        return np.asarray((lasting.minimum <= shortest) & (longest <= most) & ~rows.goes_on)

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
