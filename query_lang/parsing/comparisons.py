"""Comparisons whose attribute is not known yet: ``>= 50%`` is about a percentage once it stands after a biomarker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ..nodes import Between, Compare, Condition, Documented, Is, Name
from ..vocabulary import SCALE_ATTRIBUTES

#: The attributes whose numbers have units.
WITH_UNITS: Final = frozenset({"value"})
#: Other spellings of the operators.
OPERATORS: Final = {"≤": "<=", "≥": ">=", "≠": "!=", "<>": "!="}


@dataclass(frozen=True, slots=True)
class Number:
    """A number as written, its value, whether a percent sign follows it, and the unit behind it, if there is one."""

    text: str
    value: float
    percent: bool
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """``how`` names the rule of the grammar; ``values`` are what is compared with."""

    how: str
    values: tuple[Number | Name, ...] = ()
    operator: str = ""

    def condition_on(self, attribute: str) -> Condition:
        """The condition on ``attribute``."""
        match self.how:
            case "documented":
                return Documented(attribute)
            case "between":
                return Between(attribute, _bound(self.values[0]), _bound(self.values[1]), self._unit(attribute))
            case "operator":
                return Compare(attribute, self.operator, _bound(self.values[0]), self._unit(attribute))
            case "equal" if isinstance(self.values[0], Number) or attribute in SCALE_ATTRIBUTES:
                return Compare(attribute, "=", _bound(self.values[0]), self._unit(attribute))
        return Is(attribute, tuple(_term(value) for value in self.values), exact=self.how == "exactly")

    def _unit(self, attribute: str) -> str:
        """The unit behind one of the numbers: *between 5 and 10 mg/dL* is in that one."""
        units = [value.unit or ("%" if value.percent else "") for value in self.values if isinstance(value, Number)]
        unit = next(filter(None, reversed(units)), "")
        # The percent sign behind a percentage is none.
        return unit if attribute in WITH_UNITS or unit != "%" else ""

    @property
    def measure(self) -> str:
        """What the comparison is about: ``number``, ``percent`` or ``word``."""
        first = self.values[0] if self.values else None
        if isinstance(first, Number):
            return "percent" if first.percent else "number"
        return "word"


def _bound(value: Number | Name) -> str | float:
    return value.value if isinstance(value, Number) else value.text


def _term(value: Number | Name) -> Name:
    return Name(value.text) if isinstance(value, Number) else value
