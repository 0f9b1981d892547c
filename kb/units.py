"""The units of measured values: how they are written (``units.toml``), the usual one of each concept, and conversion.

Conversion is that of the unit library Pint; what a unit is on the way to another is asked once and remembered, and the
library is loaded only where two units differ. Amounts of substance become masses by the molar mass of the concept.
"""

from __future__ import annotations

import csv
import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

_DATA: Final[Mapping[str, Any]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
#: Unit -> what the library calls it.
_PINT: Final[Mapping[str, str]] = {unit: entry["pint"] for unit, entry in _DATA["unit"].items()}
#: What counts as the other where that is the usual unit.
_SAME: Final[Mapping[str, str]] = _DATA["same"]
#: Concept and unit -> slope and offset of the line that leads to the usual unit.
_LINES: Final[Mapping[tuple[str, str], tuple[float, float]]] = {
    (line["concept"], line["unit"]): (line["slope"], line["offset"]) for line in _DATA["lines"]
}
#: The usual unit -> figures that stand for it behind a number (``175K`` platelets).
COUNTS: Final[Mapping[str, tuple[str, ...]]] = {unit: tuple(spelled) for unit, spelled in _DATA["counts"].items()}
#: Patterns of words behind a number that make it no value.
NO_UNITS: Final[tuple[str, ...]] = tuple(_DATA["other"])
_FIGURES: Final = str.maketrans("\u00b2\u00b3\u2076\u2079\u00b5\u03bc\u00d7\u00ba", "2369uux\u00b0")
_MICRO: Final = re.compile(r"\bmc(?=[gl]\b|mol\b)")
_BLANKS: Final = re.compile(r"\s+")
#: How figures and letters of a unit are written besides: what stands in an escaped spelling, and the pattern for it.
_WRITTEN_SO: Final = tuple(
    (re.compile(plain), written.replace("\\", r"\\"))
    for plain, written in (
        (r"u(?=g|mol|l|iu|u)", "(?:[u\u00b5\u03bc]|mc)"),
        (r"(?<=m)(?:\\\^)?2", "(?:\\^?2|\u00b2)"),
        (r"(?<=m)(?:\\\^)?3", "(?:\\^?3|\u00b3)"),
        (r"\A\u00b0", "[\u00b0\u00ba]\\s?"),
        (r"\\ ", "\\s{0,2}"),
    )
)
#: What a query takes for a sign or a quotation.
_IN_QUERIES: Final = re.compile(r"[^()\"\u201d',;\[\]{}<>=!#]+")
#: So many digits of a converted value say something.
_DIGITS: Final = 6
#: One or two digits behind a comma are decimals; three are part of a thousand.
_DECIMAL_COMMA: Final = re.compile(r",(?=\d{1,2}$)")


@dataclass(frozen=True, slots=True)
class Usual:
    """The usual unit of a concept's values, the range in which a number is one, and the units of bare numbers."""

    unit: str
    lowest: float
    highest: float
    molar_mass: float | None = None
    bare: tuple[str, ...] = ()

    def holds(self, value: float) -> bool:
        """Whether the value, in the usual unit, is one that can be."""
        return self.lowest <= value <= self.highest


@lru_cache(maxsize=2)
def _rows(name: str = "usual_units.tsv") -> Sequence[Mapping[str, str]]:
    path = Path(__file__).parent / "ontology" / name
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    return tuple(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


@dataclass(frozen=True, slots=True)
class BareUnit:
    """A unit that a number without any may be in, and the range, in this unit, in which it is likely to be."""

    unit: str
    lowest: float
    highest: float
    #: The system of units that it belongs to: ``us``, ``si``; empty if both use it.
    system: str = ""
    #: Numbers in it are written without decimals.
    whole: bool = False
    #: Parts of the names that are used with this unit alone.
    called: tuple[str, ...] = ()

    def fits(self, value: float, *, decimals: bool) -> bool:
        """Whether a number, written with decimals or without, is likely to be in this unit."""
        return self.lowest <= value <= self.highest and not (decimals and self.whole)


@lru_cache(maxsize=1)
def bare_units() -> Mapping[str, tuple[BareUnit, ...]]:
    """Concept -> the units that a number of it without one may be in, of those that are told in several."""
    found: dict[str, tuple[BareUnit, ...]] = {}
    for row in _rows("bare_values.tsv"):
        unit = BareUnit(
            row["unit"],
            float(row["lowest"]),
            float(row["highest"]),
            row["system"],
            bool(row["whole"]),
            tuple(row["called"].split("|")) if row["called"] else (),
        )
        found[row["concept"]] = (*found.get(row["concept"], ()), unit)
    return found


def likely_units(concept: str, value: float, written: str, name: str = "") -> tuple[BareUnit, ...] | None:
    """The units that a bare number is likely to be in, by its size, its decimals and the name before it; None if the
    concept is told in one unit alone."""
    units = bare_units().get(concept)
    if units is None:
        return None
    called = [one for one in units if any(part in name.casefold() for part in one.called)]
    return tuple(one for one in called[:1] or units if one.fits(value, decimals="." in plain_number(written)))


def better_when_higher() -> frozenset[str]:
    """The concepts of which the lowest value is the worst."""
    return frozenset(row["concept"] for row in _rows() if row["worse"] == "low")


@lru_cache(maxsize=1)
def usual_units() -> Mapping[str, Usual]:
    """Concept -> its usual unit, of those that have values."""
    found = {}
    for row in _rows():
        unit = row["unit"]
        bare = () if row["bare"] == "-" else tuple(row["bare"].split("|")) if row["bare"] else (unit,)
        mass = float(row["molar_mass"]) if row["molar_mass"] else None
        found[row["concept"]] = Usual(unit, float(row["lowest"]), float(row["highest"]), mass, bare)
    return found


#: Attribute -> the unit that all its numbers are in; feature -> that of its values.
FIXED_OF_ATTRIBUTES, FIXED_OF_FEATURES = (
    {name: unit for unit, names in _DATA["fixed"][part].items() for name in names}
    for part in ("attributes", "features")
)


def in_unit(number: float, unit: str, wanted: str) -> float | None:
    """The number told in another unit; None if the two do not measure one thing."""
    line = _line(unit, wanted, None)
    return None if line is None else _rounded(number * line[0] + line[1])


def _written(text: str) -> str:
    """The form in which spellings are compared."""
    plain = text.translate(_FIGURES).casefold()
    return _BLANKS.sub("", _MICRO.sub("u", plain).replace("\u03bc", "u"))


@lru_cache(maxsize=1)
def _units() -> Mapping[str, str]:
    found: dict[str, str] = {}
    for unit, entry in _DATA["unit"].items():
        for spelling in (unit, *entry["spelled"]):
            found.setdefault(_written(spelling), unit)
    return found


@lru_cache(maxsize=4096)
def unit_named(text: str) -> str | None:
    """The unit that is written so; None if none is."""
    return _units().get(_written(text))


@lru_cache(maxsize=2)
def unit_pattern(*, in_queries: bool = False) -> str:
    """A pattern of all spellings, the longest first; ``in_queries``: of those that mean nothing else in a query."""
    every = {spelling for unit, entry in _DATA["unit"].items() for spelling in (unit, *entry["spelled"])}
    if in_queries:
        every = {one for one in every if one not in _DATA["not_in_queries"] and _IN_QUERIES.fullmatch(one)}
    return "|".join(_pattern(one) for one in sorted(every, key=lambda one: (-len(one), one)))


def _pattern(spelling: str) -> str:
    pattern = re.escape(spelling.lower())
    for plain, written in _WRITTEN_SO:
        pattern = plain.sub(written, pattern)
    return pattern


@lru_cache(maxsize=1)
def _registry() -> Any:
    import pint

    registry: Any = pint.UnitRegistry()
    for definition in _DATA["definitions"]:
        registry.define(definition)
    return registry


@lru_cache(maxsize=1024)
def _line(unit: str, usual: str, molar_mass: float | None) -> tuple[float, float] | None:
    """Slope and offset of what leads from a unit to another; None if they do not measure one thing."""
    if unit == usual or _SAME.get(unit) == usual:
        return 1.0, 0.0
    if unit not in _PINT or usual not in _PINT:
        return None
    import pint

    registry = _registry()
    known, wanted = registry.Quantity(_PINT[unit]), registry.Quantity(_PINT[usual])
    asked: dict[str, Any] = {} if molar_mass is None else {"mw": registry.Quantity(molar_mass, "g/mol")}

    def magnitude(value: float) -> float:
        quantity = registry.Quantity(value * known.magnitude, known.units)
        # By the library's context of chemistry an amount of substance is a mass.
        there = quantity.to(wanted.units, "chemistry", **asked) if asked else quantity.to(wanted.units)
        return float(there.magnitude / wanted.magnitude)

    try:
        first, second, fourth = magnitude(1.0), magnitude(2.0), magnitude(4.0)
    except (pint.errors.PintError, ZeroDivisionError):
        return None
    slope = second - first
    # What is no line measures something else (a period and a rate).
    return (slope, first - slope) if math.isclose(fourth - second, 2 * slope, rel_tol=1e-9) else None


def in_usual_unit(concept: str, value: float, unit: str) -> float | None:
    """The value, told in a unit, in the usual one of the concept; None if it cannot be told in that."""
    usual = usual_units().get(concept)
    if usual is None:
        return None
    line = _LINES.get((concept, unit)) or _line(unit, usual.unit, usual.molar_mass)
    if line is None:
        return None
    slope, offset = line
    if line == (1.0, 0.0):
        return value
    return _rounded(slope * value + offset)


def plain_number(written: str) -> str:
    """A number with a point and without thousands: *14,700* is 14700, *14,7* what many countries write for 14.7."""
    return _DECIMAL_COMMA.sub(".", written).replace(",", "")


def amount_of(written: str) -> float:
    """The number that is written, as :func:`plain_number` reads it."""
    return float(plain_number(written))


def _rounded(value: float) -> float:
    """What the digits of a conversion say: 37.00000000000006 is 37."""
    return value if not value or math.isinf(value) else float(f"{value:.{_DIGITS}g}")
