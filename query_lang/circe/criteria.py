"""One criterion of a Circe document (a condition, a drug, a measurement …) to the sets of events that it asks for."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from ...kb.kinds import of_domain
from ...kb.model import EARLIEST_DAY, LATEST_DAY
from ..nodes import AllOf, Between, Compare, Condition, Events, Is, Name, NotThat, Pick, Window
from ..resolution.conditions import concept_ids
from .concept_sets import CONCEPT_FIELDS, ConceptSets, tables
from .document import CirceError, Losses, Part

#: Operators of a number, and how they are written here.
_OPERATORS: Final = {"lt": "<", "lte": "<=", "eq": "=", "gt": ">", "gte": ">="}
_OLDEST: Final = 200


@dataclass(frozen=True, slots=True)
class Ages:
    """Ages in completed years, from ``low`` to ``high`` (None: no bound)."""

    low: int
    high: int | None


@dataclass(frozen=True, slots=True)
class Asked:
    """What a criterion asks for: one of several sets of events, at one of several ages (none: any age)."""

    events: tuple[Events, ...]
    ages: tuple[Ages, ...] = ()
    correlated: Part | None = None


class CriterionReader:
    """Reads criteria; what cannot be carried goes to the losses."""

    def __init__(self, sets: ConceptSets, losses: Losses) -> None:
        self.sets = sets
        self.losses = losses
        self.lose = losses.add

    def read(self, holder: Part) -> Asked | None:
        """The criterion in an object with one field, the table of the data model; None if nothing of it is carried."""
        names = [name for name, value in holder.data.items() if isinstance(value, dict)]
        if len(names) != 1:
            raise CirceError(f"{holder.path} does not hold one criterion")
        domain = names[0]
        criterion = holder.part(domain)
        assert criterion is not None  # it is an object
        known = tables()
        if domain not in known["domains"]:
            why = known["without_events"].get(domain, "this importer does not know this sort of criterion")
            self._drop(criterion)
            self.lose(criterion.path, domain, why, self.losses.whole)
            return None
        events = self._events(criterion, domain)
        ages = tuple(self.ages(criterion, "Age")) or tuple(self.ages(criterion, "AgeAtStart"))
        correlated = criterion.part("CorrelatedCriteria")
        self.report_fields(criterion)
        if not events:
            self.lose(criterion.path, domain, "none of its concepts is known here", self.losses.whole)
            return None
        return Asked(events, ages, correlated)

    def _drop(self, part: Part) -> None:
        """The criterion is told as one loss, not field by field."""
        part.taken |= set(part.data)

    def report_fields(self, part: Part) -> None:
        """Tell the fields that are not carried."""
        for name, value in part.data.items():
            if name not in part.taken and value not in (None, False, "", [], {}):
                why, effect = tables()["fields"].get(name, ("this importer does not know this field", "wider"))
                self.lose(f"{part.path}.{name}", name, why, effect)
                part.taken.add(name)

    # --- the events ---------------------------------------------------------------------------------------------------

    def _events(self, criterion: Part, domain: str) -> tuple[Events, ...]:
        found: tuple[Events, ...]
        identity = criterion.whole("CodesetId")
        if domain == "Death":
            if identity is not None:
                why, effect = tables()["fields"]["DeathCause"]
                self.lose(f"{criterion.path}.CodesetId", "the cause of death", why, effect)
            found = (Events("death"),)
        elif identity is None:
            found = tuple(Events(kind) for kind in of_domain(tables()["domain_of"][domain]))
        else:
            selection = self.sets.selection(identity, domain)
            if selection is None:
                return ()
            found = tuple(Events(kind, concept) for kind, concept in selection.by_kind)
        condition = self._value(criterion, domain)
        if condition is not None:
            found = tuple(replace(events, condition=condition) for events in found)
        window = self.window(criterion, "OccurrenceStartDate") or self.window(criterion, "EraStartDate")
        first = bool(criterion.take("First"))
        if window is not None:
            found = tuple(replace(events, window=window) for events in found)
        if first:
            found = tuple(replace(events, pick=Pick("first")) for events in found)
            if window is not None:
                self.lose(
                    f"{criterion.path}.First", "the first ever, if it lies in the dates",
                    "here the dates are looked at first, and the first in them is taken", "wider",
                )  # fmt: skip
            if len(found) > 1:
                self.lose(
                    f"{criterion.path}.First", "the first of several sorts of fact",
                    "here the first of each sort is taken", "wider",
                )  # fmt: skip
        return found

    def window(self, criterion: Part, name: str) -> Window | None:
        """The dates in which the begin lies; None if there are none, or they cannot be carried."""
        part = criterion.part(name)
        if part is None:
            return None
        operator = part.text("Op")
        low = self._day(part, "Value")
        high = self._day(part, "Extent") if operator.endswith("bt") else None
        bounds = {
            "lt": (EARLIEST_DAY, low - 1),
            "lte": (EARLIEST_DAY, low),
            "eq": (low, low),
            "gt": (low + 1, LATEST_DAY),
            "gte": (low, LATEST_DAY),
            "bt": (low, low if high is None else high),
        }.get(operator)
        if bounds is None:
            self.lose(part.path, f"dates with the operator '{operator}'", "a window is one stretch of days", "wider")
            return None
        if bounds[0] > bounds[1]:
            raise CirceError(f"{part.path} ends before it begins")
        return Window(max(bounds[0], EARLIEST_DAY), min(bounds[1], LATEST_DAY))

    def _day(self, part: Part, name: str) -> int:
        text = part.text(name)
        try:
            return min(max(datetime.date.fromisoformat(text[:10]).toordinal(), EARLIEST_DAY + 1), LATEST_DAY - 1)
        except ValueError as error:
            raise CirceError(f"{part.path}.{name} is not a date: '{text[:40]}'") from error

    def ages(self, criterion: Part, name: str) -> Iterator[Ages]:
        """The ages that a field asks for, as stretches."""
        part = criterion.part(name)
        if part is None:
            return
        operator, value, extent = part.text("Op"), part.whole("Value"), part.whole("Extent")
        if value is None or not 0 <= value <= _OLDEST or (extent is not None and not 0 <= extent <= _OLDEST):
            raise CirceError(f"{part.path} is no age")
        match operator:
            case "lt" if value > 0:
                yield Ages(0, value - 1)
            case "lte":
                yield Ages(0, value)
            case "eq":
                yield Ages(value, value)
            case "gt":
                yield Ages(value + 1, None)
            case "gte":
                yield Ages(value, None)
            case "bt" if extent is not None and extent >= value:
                yield Ages(value, extent)
            case "!bt" if extent is not None and extent >= value:
                if value > 0:
                    yield Ages(0, value - 1)
                yield Ages(extent + 1, None)
            case _:
                self.lose(part.path, name, f"the operator '{operator}' leaves no age, or is not known", "wider")

    # --- values of measurements ---------------------------------------------------------------------------------------

    def _value(self, criterion: Part, domain: str) -> Condition | None:
        if domain not in ("Measurement", "Observation"):
            return None
        units = [unit.text("CONCEPT_NAME").casefold() for unit in self._concepts(criterion, "Unit")]
        percent = any(unit in ("percent", "%") for unit in units)
        if units and not percent:
            self.lose(f"{criterion.path}.Unit", "the unit", "values are compared as they are written", "other")
        found = [one for one in (self._number(criterion, percent), self._result(criterion)) if one is not None]
        return None if not found else found[0] if len(found) == 1 else AllOf(tuple(found))

    def _number(self, criterion: Part, percent: bool) -> Condition | None:
        part = criterion.part("ValueAsNumber")
        if part is None:
            return None
        attribute = "percent" if percent else "value"
        operator, value, extent = part.text("Op"), part.number("Value"), part.number("Extent")
        if value is not None and operator in _OPERATORS:
            return Compare(attribute, _OPERATORS[operator], value)
        if value is not None and extent is not None and extent >= value and operator in ("bt", "!bt"):
            between = Between(attribute, value, extent)
            return between if operator == "bt" else AllOf((Compare(attribute, ">=", -1e9), NotThat(between)))
        self.lose(part.path, "the value", f"the operator '{operator}' leaves no value, or is not known", "wider")
        return None

    def _result(self, criterion: Part) -> Condition | None:
        terms: list[Name] = []
        for concept in self._concepts(criterion, "ValueAsConcept"):
            name = concept.text("CONCEPT_NAME")
            value = tables()["values"].get(name, name)
            if value and len(concept_ids(self.sets.concepts, value, ("value",))) == 1:
                terms.append(Name(value))
            else:
                self.lose(concept.path, f"the value '{name[:60]}'", "our ontology does not know it", "narrower")
        return Is("result", tuple(dict.fromkeys(terms))) if terms else None

    def _concepts(self, criterion: Part, name: str) -> list[Part]:
        found = criterion.parts(name)
        for one in found:
            one.taken.update(CONCEPT_FIELDS)
        return found
