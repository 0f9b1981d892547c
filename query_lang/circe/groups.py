"""Groups of criteria, each in a window around the entry event and so many times, to criteria of the language."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ..nodes import (
    AgeAt,
    And,
    AtLeast,
    Clear,
    ConceptExpression,
    Events,
    Exists,
    Not,
    Or,
    Ordered,
    PatientExpression,
    Pick,
    Times,
)
from .concept_sets import tables
from .criteria import Ages, Asked, CriterionReader
from .document import CirceError, Part

#: What ``Occurrence.Type`` stands for.
_EXACTLY, _AT_MOST, _AT_LEAST = 0, 1, 2
_LONGEST_GAP: Final = 100_000
#: More criteria in a group than this are refused, and so are more pairs of facts in a relation.
_MOST_CRITERIA: Final = 1000
_MOST_PAIRS: Final = 100


@dataclass(frozen=True, slots=True)
class Index:
    """The entry event: one of several sets; ``single``: a patient has at most one such event that counts."""

    events: tuple[Events, ...]
    single: bool


@dataclass(frozen=True, slots=True)
class _Span:
    """Days after the entry event, from ``low`` to ``high`` (None: no bound); days before it are below zero."""

    low: int | None = None
    high: int | None = None

    @property
    def anytime(self) -> bool:
        return self.low is None and self.high is None

    def pieces(self) -> list[tuple[str, int, int | None]]:
        """The relations that make up the span, as the language has them: relation, shortest and longest gap."""
        low, high = self.low, self.high
        if low is not None and high is not None and high == -low:
            return [("within", 0, high)]
        found: list[tuple[str, int, int | None]] = []
        if low is None or low < 0:
            found.append(("before", max(1, -high) if high is not None else 1, None if low is None else -low))
        if (low is None or low <= 0) and (high is None or high >= 0):
            found.append(("within", 0, 0))
        if high is None or high > 0:
            found.append(("after", max(1, low) if low is not None else 1, high))
        return found


class GroupReader:
    """Reads groups relative to an entry event; counts how many criteria look at its day."""

    def __init__(self, reader: CriterionReader, ids: Callable[[ConceptExpression], frozenset[str]]) -> None:
        """``ids`` gives the concepts that an expression selects."""
        self._reader = reader
        self._losses = reader.losses
        self._ids = ids
        self.timed = 0

    def group(self, group: Part, index: Index) -> PatientExpression | None:
        """The group as one criterion; None if nothing of it is carried."""
        how = group.text("Type") or "ALL"
        count = group.whole("Count")
        waiting = group.parts("CriteriaList")
        people, groups = group.parts("DemographicCriteriaList"), group.parts("Groups")
        total = len(waiting) + len(people) + len(groups)
        if total > _MOST_CRITERIA:
            raise CirceError(f"{group.path} has more than {_MOST_CRITERIA} criteria")
        if total and how in ("AT_LEAST", "AT_MOST"):
            _check_count(group, how, count, total)
        negated, outer, timed = how == "AT_MOST", self._losses.whole, self.timed
        self._losses.negated ^= negated
        self._losses.whole = {"ALL": "wider", "ANY": "narrower"}.get(how, "other")
        found = [
            *(self._criterion(one, index) for one in waiting),
            *(self._demographic(one, index) for one in people),
            *(self._inner(one, index) for one in groups),
        ]
        self._losses.negated ^= negated
        self._losses.whole = outer
        carried = [one for one in found if one is not None]
        lost = len(found) - len(carried)
        if not carried:
            return None
        match how:
            case "ALL":
                return _all(carried)
            case "ANY":
                return _any(carried)
            case "AT_LEAST" if count is not None:
                if lost:
                    self._lost_of(group, lost, len(found))
                if count <= 0:
                    return None
                return _at_least(min(count, len(carried)), carried)
            case "AT_MOST" if count is not None:
                if lost:
                    self._lost_of(group, lost, len(found))
                if count >= len(carried):
                    return None
                if self.timed > timed and not index.single:
                    self._reader.lose(
                        group.path, f"that one entry event meets at most {count} of these criteria",
                        "it is asked that not more of them are met, by whichever entry event", "narrower",
                    )  # fmt: skip
                return Not(_at_least(count + 1, carried))
        raise CirceError(f"{group.path}.Type is '{how[:40]}', with the count {count}")

    def _inner(self, group: Part, index: Index) -> PatientExpression | None:
        found = self.group(group, index)
        if found is None:
            self._reader.lose(group.path, "the group", "nothing of it can be asked", self._losses.whole)
        return found

    def _lost_of(self, group: Part, lost: int, total: int) -> None:
        self._reader.lose(
            f"{group.path}.Count", f"{lost} of the {total} criteria that are counted", "see their own lines", "other"
        )

    # --- one criterion ------------------------------------------------------------------------------------------------

    def _criterion(self, holder: Part, index: Index) -> PatientExpression | None:
        inner = holder.part("Criteria")
        if inner is None:
            raise CirceError(f"{holder.path} holds no Criteria")
        occurrence = holder.part("Occurrence")
        how = _AT_LEAST if occurrence is None else occurrence.whole("Type")
        count = 1 if occurrence is None else occurrence.whole("Count")
        if how not in (_EXACTLY, _AT_MOST, _AT_LEAST) or count is None or count < 0 or count > 10_000:
            raise CirceError(f"{holder.path}.Occurrence is not understood")
        if occurrence is not None:
            self._counting(occurrence, count)
        span = self._window(holder)
        # Notes have no observation periods: there is nothing to ignore.
        holder.take("IgnoreObservationPeriod")
        denied = how != _AT_LEAST and count == 0
        self._losses.negated ^= denied or how == _AT_MOST
        for name in ("EndWindow", "RestrictVisit"):
            self._lose_field(holder, name)
        asked = self._reader.read(inner)
        found = None if asked is None else self._counted(asked, index, span, how, count, holder)
        self._losses.negated ^= denied or how == _AT_MOST
        if how == _AT_LEAST and count == 0 and self._losses.whole != "wider":
            # Where all criteria are asked for, one that everybody meets adds nothing. Elsewhere it counts as met.
            self._reader.lose(
                f"{holder.path}.Occurrence", "a criterion that everybody meets: at least 0 times",
                "it is left out, and not counted as met", self._losses.whole,
            )  # fmt: skip
        return found

    def _counted(
        self, asked: Asked, index: Index, span: _Span, how: int, count: int, holder: Part
    ) -> PatientExpression | None:
        if how == _AT_LEAST:
            return self._times(count, asked, index, span, holder) if count else None
        if count == 0:
            return self._none(asked, index, span, holder)
        more = Not(self._times(count + 1, asked, index, span, holder))
        return more if how == _AT_MOST else And((self._times(count, asked, index, span, holder), more))

    def _counting(self, occurrence: Part, count: int) -> None:
        distinct = bool(occurrence.take("IsDistinct"))
        column = occurrence.text("CountColumn")
        if count > 1 and not (distinct and column == "START_DATE"):
            self._reader.lose(
                f"{occurrence.path}.Count", "occurrences on one day",
                "facts are counted by their days: copies and repeats of a day are one", "other",
            )  # fmt: skip

    def _lose_field(self, part: Part, name: str) -> None:
        value = part.take(name)
        if value:
            why, effect = tables()["fields"][name]
            self._reader.lose(f"{part.path}.{name}", name, why, effect)

    def _window(self, holder: Part) -> _Span:
        window = holder.part("StartWindow")
        if window is None:
            return _Span()
        for name in ("UseIndexEnd", "UseEventEnd"):
            self._lose_field(window, name)
        low, high = self._bound(window, "Start"), self._bound(window, "End")
        if low is not None and high is not None and low > high:
            raise CirceError(f"{window.path} ends before it begins")
        return _Span(low, high)

    def _bound(self, window: Part, name: str) -> int | None:
        part = window.part(name)
        if part is None:
            return None
        days, direction = part.whole("Days"), part.whole("Coeff")
        if direction not in (-1, 1):
            raise CirceError(f"{part.path}.Coeff is neither -1 nor 1")
        if days is None:
            if direction != (-1 if name == "Start" else 1):
                raise CirceError(f"{part.path} has no days")
            return None
        if abs(days) > _LONGEST_GAP:
            return None
        return days * direction

    # --- at least so many, or none ------------------------------------------------------------------------------------

    def _times(self, n: int, asked: Asked, index: Index, span: _Span, holder: Part) -> PatientExpression:
        if n > 1 and not span.anytime:
            self._reader.lose(
                f"{holder.path}.Occurrence.Count", f"{n} times in a window around the entry event",
                "facts in a window are asked for, and not counted", "wider",
            )  # fmt: skip
        elif n > 1:
            if len(asked.events) > 1:
                self._reader.lose(
                    f"{holder.path}.Occurrence.Count", "the count over several sorts of fact",
                    "each sort is counted by itself", "narrower",
                )  # fmt: skip
            counted = [replace(events, pick=Pick()) for events in asked.events]
            if asked.ages or asked.correlated is not None:
                self._reader.lose(
                    f"{holder.path}.Criteria", "age or other facts at each of those counted",
                    "they are asked of one of them", "wider",
                )  # fmt: skip
            times = _any([Times(n, events) for events in counted])
            also = self._also(asked)
            return _all([times, *also])
        if span.anytime:
            return self.asked(asked)
        self.timed += 1
        if any(relation == "within" for relation, _, _ in span.pieces()) and self._overlap(asked, index):
            self._reader.lose(
                f"{holder.path}.StartWindow", "the entry event itself as one of the occurrences",
                "a relation in time is of two facts here", "narrower",
            )  # fmt: skip
        pairs = [
            Ordered(events, relation, entry, low, high)
            for events, entry in self._pairs(asked, index, holder)
            for relation, low, high in span.pieces()
        ]
        return _all([_any(pairs), *self._also(asked, holder)])

    def _none(self, asked: Asked, index: Index, span: _Span, holder: Part) -> PatientExpression:
        if asked.ages or asked.correlated is not None:
            self._reader.lose(
                f"{holder.path}.Criteria", "age or other facts at what must not be",
                "what must not be is asked for by itself", "wider",
            )  # fmt: skip
            self._forget(asked)
        if span.anytime:
            return Not(_any([Exists(events) for events in asked.events]))
        self.timed += 1
        pieces, pairs = span.pieces(), self._pairs(asked, index, holder)
        if index.single:
            return Not(
                _any([Ordered(events, how, entry, low, high) for events, entry in pairs for how, low, high in pieces])
            )
        if len(pieces) > 1 or len(asked.events) > 1:
            self._reader.lose(
                f"{holder.path}.StartWindow", "that one entry event has none of these facts around it",
                "each sort of fact, and each side of the entry event, may be clear of another entry event", "narrower",
            )  # fmt: skip
        return _any(
            [
                _all([Clear(entry, how, events, low, high) for events in asked.events for how, low, high in pieces])
                for entry in index.events
            ]
        )

    def _pairs(self, asked: Asked, index: Index, holder: Part) -> list[tuple[Events, Events]]:
        pairs = list(itertools.product(asked.events, index.events))
        if len(pairs) > _MOST_PAIRS:
            raise CirceError(f"{holder.path} compares {len(pairs)} pairs of facts; at most {_MOST_PAIRS} are read")
        return pairs

    def asked(self, asked: Asked, entry: bool = False) -> PatientExpression:
        """Patients with what the criterion asks for, at any time; ``entry``: it is the entry event itself."""
        return _all([_any([Exists(events) for events in asked.events]), *self._also(asked, entry=entry)])

    def _also(self, asked: Asked, holder: Part | None = None, entry: bool = False) -> list[PatientExpression]:
        """What else is asked of the fact: the age at it, and other facts around it.

        Each looks at the day of the fact by itself. They count as looks at the entry event if the fact is that event.
        """
        also: list[PatientExpression] = []
        timed = self.timed
        if (asked.ages or asked.correlated is not None) and holder is not None:
            self._reader.lose(
                f"{holder.path}.Criteria", "age or other facts at the very fact in the window",
                "they are asked of any such fact", "wider",
            )  # fmt: skip
        single = len(asked.events) == 1 and asked.events[0].pick != Pick()
        if asked.ages:
            self.timed += 1
            also.append(age_at(asked.events, asked.ages))
        if asked.correlated is not None:
            inner = self.group(asked.correlated, Index(asked.events, single=single))
            also += [] if inner is None else [inner]
            if self.timed > timed + 1 and not single and not entry:
                self._reader.lose(
                    asked.correlated.path, "that one and the same fact meets all that is asked of it",
                    "each relation to it, and the age at it, is asked by itself", "wider",
                )  # fmt: skip
        if not entry:
            self.timed = timed
        return also

    def _forget(self, asked: Asked) -> None:
        if asked.correlated is not None:
            waiting = [asked.correlated]
            while waiting:
                part = waiting.pop()
                part.taken |= set(part.data)
                waiting += part.below

    def _overlap(self, asked: Asked, index: Index) -> bool:
        """Whether one event can be both the entry event and what is looked for around it."""
        return any(
            (one.kind == other.kind or None in (one.kind, other.kind))
            and (
                one.concept is None or other.concept is None or bool(self._ids(one.concept) & self._ids(other.concept))
            )
            for one in asked.events
            for other in index.events
        )

    # --- people -------------------------------------------------------------------------------------------------------

    def _demographic(self, part: Part, index: Index) -> PatientExpression | None:
        found: list[PatientExpression] = []
        ages = tuple(self._reader.ages(part, "Age"))
        if ages:
            self.timed += 1
            found.append(age_at(index.events, ages))
        window = self._reader.window(part, "OccurrenceStartDate")
        if window is not None:
            if any(events.pick != Pick() or events.window for events in index.events):
                self._reader.lose(
                    f"{part.path}.OccurrenceStartDate", "dates of the entry event",
                    "dates are looked at before the first is chosen; put them on the entry event", "wider",
                )  # fmt: skip
            else:
                self.timed += 1
                found.append(_any([Exists(replace(events, window=window)) for events in index.events]))
        self._reader.report_fields(part)
        return _all(found) if found else None


def _check_count(group: Part, how: str, count: int | None, total: int) -> None:
    """CirceError unless so many of the criteria of a group can be met, or be the most that are."""
    if count is None or count < 0:
        raise CirceError(f"{group.path}.Type is '{how}', with the count {count}")
    if how == "AT_LEAST" and count > total:
        raise CirceError(f"{group.path}.Count asks for {count} of {total} criteria, which nobody meets")


def age_at(events: Sequence[Events], ages: Sequence[Ages]) -> PatientExpression:
    """The age at one of the events lies in one of the stretches."""
    return _any([AgeAt(one, None, age.low, age.high) for one in events for age in ages])


def _all(parts: Sequence[PatientExpression]) -> PatientExpression:
    return parts[0] if len(parts) == 1 else And(tuple(parts))


def _any(parts: Sequence[PatientExpression]) -> PatientExpression:
    return parts[0] if len(parts) == 1 else Or(tuple(parts))


def _at_least(n: int, parts: Sequence[PatientExpression]) -> PatientExpression:
    return parts[0] if len(parts) == 1 else AtLeast(n, tuple(parts))
