"""Steps of a plan over frames of events: what posting lists cannot decide, for all candidates at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from pyroaring import BitMap

from ...kb.deadline import check
from ...kb.index.columns import Wanted
from ...kb.index.event_rows import EventRows
from ...kb.index.patient_sets import patient_set
from ...kb.model import World
from ...kb.storage.reader import KnowledgeBase
from ...query_lang import nodes
from .bitmaps import OPPOSITE, patient_numbers
from .concept_sets import selected
from .frames import Array, Frame, Rows
from .plan import (
    Atom,
    Complement,
    Count,
    Either,
    Every,
    Listed,
    Plan,
    Related,
    Scope,
    atoms_below,
    shared_steps,
    steps_below,
)
from .related import RelatedEvents
from .witnesses import EventSets, groups_of

#: Patients whose events are held in memory at a time.
_AT_A_TIME: Final = 65_536


class TimelineEvaluator:
    """Decides steps of one plan by the events of the candidates. Not to be shared between threads."""

    def __init__(self, kb: KnowledgeBase, plan: Plan) -> None:
        self._kb = kb
        self._plan = plan
        self._known_of_nothing: dict[tuple[int, World], tuple[bool, bool]] = {}

    def members(self, number: int, world: World, candidates: BitMap) -> BitMap:
        """Those of ``candidates`` of whom the step holds in ``world``."""
        found = BitMap()
        for patients, events in self.portions(number, candidates):
            check()
            rows = Rows(self._kb, patients, events)
            holds = Frames(self._plan, self._kb, rows).holds(number, Frame.of_patients(rows), world)
            found |= patient_set(rows.patients[holds])
        return found

    def portions(self, number: int, candidates: BitMap) -> Iterator[tuple[Array, EventRows]]:
        """So many of the candidates at a time, with the rows that the step can look at."""
        return self._kb.event_index.portions(self._wanted(number), candidates, _AT_A_TIME)

    def _wanted(self, number: int) -> list[Wanted]:
        """The kinds and concepts of the rows that the step can look at."""
        if self._needs_every_event(number):
            return [(None, None)]
        return [one for atom in atoms_below(self._plan, number) for one in selected(atom, self._kb.concepts)]

    def _needs_every_event(self, number: int) -> bool:
        """Whether *same event* inside may hold of an event that no atom is about (``same event (not …)``)."""
        return any(
            isinstance(step, Scope)
            and step.how == "event"
            and any(self._of_nothing(step.body, world)[0] for world in OPPOSITE)
            for step in steps_below(self._plan, number)
        )

    def _of_nothing(self, number: int, world: World) -> tuple[bool, bool]:
        """Of an event that no atom is about: whether the step can hold, and whether it can fail to."""
        found = self._known_of_nothing.get((number, world))
        if found is None:
            found = self._known_of_nothing[number, world] = self._decided_of_nothing(number, world)
        return found

    def _decided_of_nothing(self, number: int, world: World) -> tuple[bool, bool]:
        match self._plan.steps[number]:
            case Every(parts):
                found = [self._of_nothing(part, world) for part in parts]
                return all(holds for holds, _ in found), any(fails for _, fails in found)
            case Either(parts):
                found = [self._of_nothing(part, world) for part in parts]
                return any(holds for holds, _ in found), all(fails for _, fails in found)
            case Complement(part):
                holds, fails = self._of_nothing(part, OPPOSITE[world])
                return fails, holds
            case Count(n, parts):
                found = [self._of_nothing(part, world) for part in parts]
                return sum(holds for holds, _ in found) >= n, sum(not fails for _, fails in found) < n
            case Scope("tumor", body):
                return self._of_nothing(body, world)[0], True
            case Related(nodes.Lacking()) | Related(nodes.AgeAt(None)) | Listed():
                # These are asked of the notes, the day of birth or the patient, and not of events alone.
                return True, True
        return False, True


class Frames:
    """Truth of steps and event sets over frames of the same rows."""

    def __init__(self, plan: Plan, kb: KnowledgeBase, rows: Rows) -> None:
        self._plan = plan
        self._kb = kb
        self.sets = EventSets(kb, rows)
        self._related = RelatedEvents(self.sets)
        # Of steps that several others are made of, by frame: to find each anew would double with every level. A frame
        # is kept with what was found, so that its number stays its own.
        self._shared = shared_steps(plan)
        self._known: dict[tuple[int, int, World], tuple[Frame, Array]] = {}
        self._of_tumors: dict[tuple[int, World], tuple[Frame, tuple[Frame, Array, Array]]] = {}
        self._of_events: dict[tuple[int, World], tuple[Frame, tuple[Frame, Array]]] = {}

    def holds(self, number: int, frame: Frame, world: World) -> Array:
        """For each group of the frame, whether the step holds of it. The array is not to be changed."""
        check()
        if number not in self._shared:
            return self._holds(number, frame, world)
        key = number, id(frame), world
        if key not in self._known:
            self._known[key] = frame, self._holds(number, frame, world)
        return self._known[key][1]

    def _by_tumor(self, frame: Frame, least: World) -> tuple[Frame, Array, Array]:
        """As the frame tells; the same frame again for the same one, so that what is known of it is found."""
        key = id(frame), least
        if key not in self._of_tumors:
            self._of_tumors[key] = frame, frame.by_tumor(least)
        return self._of_tumors[key][1]

    def _by_event(self, frame: Frame, world: World) -> tuple[Frame, Array]:
        """As :meth:`_by_tumor`, by event."""
        key = id(frame), world
        if key not in self._of_events:
            self._of_events[key] = frame, frame.by_event(world)
        return self._of_events[key][1]

    def _holds(self, number: int, frame: Frame, world: World) -> Array:
        match self._plan.steps[number]:
            case Atom(events):
                return groups_of(frame, self.sets.witnesses(events, frame, world).mask)
            case Related(node):
                return self._related.holds(node, frame, world)
            case Listed(patients):
                numbers = patient_numbers(self._kb, patients).to_array()
                return np.isin(frame.rows.patients[frame.patient], np.asarray(numbers, dtype=np.int64))
            case Every(parts):
                return np.logical_and.reduce([self.holds(part, frame, world) for part in parts])
            case Either(parts):
                return np.logical_or.reduce([self.holds(part, frame, world) for part in parts])
            case Complement(part):
                return ~self.holds(part, frame, OPPOSITE[world])
            case Count(n, parts):
                counts = np.zeros(frame.groups, dtype=np.int64)
                for part in parts:
                    counts += self.holds(part, frame, world)
                return counts >= n
            case Scope("tumor", body, least):
                # The believed world looks at no other; the two that bound it look at each other where one negates.
                shown = World.BELIEVED if world is World.BELIEVED else World.NONE
                inner, parent, tumor = self._by_tumor(frame, shown)
                there = frame.rows.tumors.world[tumor] >= world
                return enough_inner(frame, parent, self.holds(body, inner, world) & there, least)
            case Scope(_, body):
                inner, parent = self._by_event(frame, world)
                return enough_inner(frame, parent, self.holds(body, inner, world))
        raise AssertionError("every step is one of these")


def enough_inner(frame: Frame, parent: Array, holds: Array, least: int = 1) -> Array:
    """For each group of a frame, whether one of the inner groups that come from it holds, or ``least`` of them."""
    if least > 1:
        return np.asarray(np.bincount(parent[holds], minlength=frame.groups) >= least)
    found = np.zeros(frame.groups, dtype=bool)
    found[parent[holds]] = True
    return found
