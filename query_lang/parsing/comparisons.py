"""Comparisons whose attribute is not known yet: ``>= 50%`` is about a percentage once it stands after a biomarker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ..nodes import Between, Compare, Condition, Documented, Is, Name
from ..vocabulary import SCALE_ATTRIBUTES

#: Other spellings of the operators.
OPERATORS: Final = {"≤": "<=", "≥": ">=", "≠": "!=", "<>": "!="}


@dataclass(frozen=True, slots=True)
class Number:
    """A number as written, its value, and whether a percent sign follows it."""

    text: str
    value: float
    percent: bool


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
                return Between(attribute, _bound(self.values[0]), _bound(self.values[1]))
            case "operator":
                return Compare(attribute, self.operator, _bound(self.values[0]))
            case "equal" if isinstance(self.values[0], Number) or attribute in SCALE_ATTRIBUTES:
                return Compare(attribute, "=", _bound(self.values[0]))
        return Is(attribute, tuple(_term(value) for value in self.values), exact=self.how == "exactly")

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
