"""Units of the values in a query: what is compared is told in the usual unit of what is measured.

A number without a unit is in the usual one. What is measured has one condition for its value and one for what it is
called (*high*, *negative*), however the query writes them: ``EF < 40%``, ``urine culture = negative``.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from ...kb.kinds import MEASURED
from ...kb.ontology.concepts import ConceptTable
from ...kb.ontology.scales import as_number
from ...kb.units import FIXED_OF_ATTRIBUTES, FIXED_OF_FEATURES, in_unit, in_usual_unit, usual_units
from ..nodes import (
    AllOf,
    AnyOf,
    Between,
    Compare,
    Concept,
    ConceptExpression,
    Condition,
    Documented,
    Events,
    Is,
    NotThat,
    OtherThan,
    Under,
    Union,
)

#: What a comparison without an attribute may have been taken for, and what it is of something measured.
_MEANT: Final[Mapping[str, str]] = {"percent": "value", "result": "interpretation"}
#: The unit of an attribute whose numbers are told with a percent sign.
_UNITS: Final[Mapping[str, str]] = {"percent": "%"}
_VALUE: Final = "value"
_PERCENT: Final = "%"


def of_measured(condition: Condition, kinds: Sequence[str]) -> Condition:
    """The condition with the attributes that what is measured has; as it is for other kinds."""
    if not kinds or not MEASURED.issuperset(kinds):
        return condition

    def meant(leaf: Condition) -> Condition:
        match leaf:
            case Is() | Documented() | Compare() | Between() if leaf.attribute in _MEANT:
                unit = _UNITS.get(leaf.attribute, "")
                renamed = dataclasses.replace(leaf, attribute=_MEANT[leaf.attribute])
                return dataclasses.replace(renamed, unit=unit) if isinstance(renamed, Compare | Between) else renamed
        return leaf

    return _each(condition, meant)


def in_usual_units(
    condition: Condition,
    concept: ConceptExpression | None,
    concepts: ConceptTable,
    report: Callable[[str, str, str], None],
) -> Condition:
    """The condition with each value in the usual unit of the concepts; what cannot be told in it is reported."""
    held = tuple(dict.fromkeys(one for one in _ids(concept, concepts) if one in usual_units()))

    def told(leaf: Condition) -> Condition:
        if not isinstance(leaf, Compare | Between) or not leaf.unit:
            return leaf
        fixed = _fixed(leaf.attribute, concept, concepts)
        if fixed and fixed != _PERCENT:
            return _in_fixed(leaf, fixed, report)
        if not held and leaf.unit == _PERCENT:
            return dataclasses.replace(leaf, unit="")
        if leaf.attribute != _VALUE or not held:
            report(f"no value in {leaf.unit} is held here", leaf.unit, "leave the unit out")
            return leaf
        units = {usual_units()[one].unit for one in held}
        changed: list[float] = []
        for bound in (leaf.value,) if isinstance(leaf, Compare) else (leaf.low, leaf.high):
            number = as_number(bound)
            converted = {None if number is None else in_usual_unit(one, number, leaf.unit) for one in held}
            found = converted.pop()
            if found is None or converted or len(units) > 1:
                several = "of one of them alone" if len(units) > 1 or converted else f"in {' or '.join(sorted(units))}"
                hint = f"write the value {several}" if units != {""} else "leave the unit out"
                report(f"a value in {leaf.unit} is none of '{_name(held, concepts)}'", leaf.unit, hint)
                return leaf
            changed.append(found)
        unit = units.pop()
        if isinstance(leaf, Compare):
            return dataclasses.replace(leaf, value=changed[0], unit=unit)
        return dataclasses.replace(leaf, low=changed[0], high=changed[1], unit=unit)

    return _each(condition, told)


def _fixed(attribute: str, concept: ConceptExpression | None, concepts: ConceptTable) -> str:
    """The one unit that such numbers are in: that of the attribute, or of the features' value; empty for none."""
    if attribute != _VALUE:
        return FIXED_OF_ATTRIBUTES.get(attribute, "")
    units = {FIXED_OF_FEATURES.get(one, "") for one in _ids(concept, concepts)}
    return units.pop() if len(units) == 1 else ""


def _in_fixed(leaf: Compare | Between, unit: str, report: Callable[[str, str, str], None]) -> Condition:
    numbers = [as_number(bound) for bound in ((leaf.value,) if isinstance(leaf, Compare) else (leaf.low, leaf.high))]
    told = [None if number is None else in_unit(number, leaf.unit, unit) for number in numbers]
    found = [number for number in told if number is not None]
    if len(found) < len(numbers):
        report(f"'{leaf.attribute}' is held in {unit}, not in {leaf.unit}", leaf.unit, f"write the value in {unit}")
        return leaf
    if isinstance(leaf, Compare):
        return dataclasses.replace(leaf, value=found[0], unit=unit)
    return dataclasses.replace(leaf, low=found[0], high=found[1], unit=unit)


def with_usual_unit(events: Events, concepts: ConceptTable) -> Events:
    """The events with the unit named in which a bare number is; as they are where there is none, or several are."""
    if events.condition is None:
        return events
    if events.kind not in MEASURED:
        return dataclasses.replace(events, condition=_each(events.condition, functools.partial(
            _with_fixed, concept=events.concept, concepts=concepts
        )))  # fmt: skip
    units = {usual_units()[one].unit for one in _ids(events.concept, concepts) if one in usual_units()}
    if len(units) != 1 or units == {""}:
        return events
    unit = units.pop()

    def told(leaf: Condition) -> Condition:
        if isinstance(leaf, Compare | Between) and leaf.attribute == _VALUE and not leaf.unit:
            return dataclasses.replace(leaf, unit=unit)
        return leaf

    return dataclasses.replace(events, condition=_each(events.condition, told))


def _with_fixed(leaf: Condition, concept: ConceptExpression | None, concepts: ConceptTable) -> Condition:
    """A comparison with the unit named that its numbers always are in."""
    if isinstance(leaf, Compare | Between) and not leaf.unit and as_number(_bound(leaf)) is not None:
        return dataclasses.replace(leaf, unit=_fixed(leaf.attribute, concept, concepts))
    return leaf


def _bound(leaf: Compare | Between) -> str | float:
    return leaf.value if isinstance(leaf, Compare) else leaf.low


def _each(condition: Condition, change: Callable[[Condition], Condition]) -> Condition:
    """The condition with each of its leaves changed."""
    match condition:
        case AllOf(parts):
            return AllOf(tuple([_each(part, change) for part in parts]))
        case AnyOf(parts):
            return AnyOf(tuple([_each(part, change) for part in parts]))
        case NotThat(part):
            return NotThat(_each(part, change))
    return change(condition)


def _ids(concept: ConceptExpression | None, concepts: ConceptTable) -> Iterable[str]:
    """The concepts that an expression admits."""
    match concept:
        case Under(Concept(identity), exact) if identity in concepts:
            return (identity,) if exact else concepts.below(identity)
        case Union(parts):
            return [one for part in parts for one in _ids(part, concepts)]
        case OtherThan(base, excluded):
            left_out = set(_ids(excluded, concepts))
            return [one for one in _ids(base, concepts) if one not in left_out]
    return ()


def _name(ids: Sequence[str], concepts: ConceptTable) -> str:
    return concepts.name(ids[0]) if len(ids) == 1 else " or ".join(concepts.name(one) for one in ids[:3])
