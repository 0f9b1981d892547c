"""Ordered scales: T, N, M, stage groups, grade; and the one definition of ordered comparison, for both engines.

A scale value spans itself and its substages (``T2`` spans T2 … T2c), as an interval of ranks. A comparison holds when
it holds whatever the substage is: ``T2 >= T2c`` is false, ``N1mi >= N1`` is true, ``N3c <= N3`` is true.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ..errors import OntologyError, UsageError
from ..files.text_files import text_of
from ..model import Value
from .normal_forms import ONTOLOGY_FOLDER

#: Attributes whose values lie on a scale, and the scale's name in ``scales.toml``. All others compare as numbers.
ATTRIBUTE_SCALES: Final[Mapping[str, str]] = {
    "t": "t",
    "n": "n",
    "m": "m",
    "stage": "stage",
    "grade": "grade",
    "value": "ecog",
}

_SPACES: Final = re.compile(r"[\s_]+")
_NUMBER: Final = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)")
#: A substage is written by adding to its stage; this must not turn II into a substage of I, nor 10 into one of 1.
_ANOTHER_NUMERAL: Final = re.compile(r"[ivx]|(?<=\d)\d", re.IGNORECASE)
#: What may stand before a T, N or M category: it says how the category was found, not which it is.
_PREFIX: Final = re.compile(r"(?:yp|yc|rp|rc|cp|[cpyrau])(?=[tnm])", re.IGNORECASE)
_SUFFIX: Final = re.compile(r"\([^()]*\)$")
_CATEGORIES: Final = frozenset("tnm")


@dataclass(frozen=True, slots=True)
class Scale:
    """One ordered scale: its values from low to high, and the rank interval of every spelling (in lower case)."""

    name: str
    values: tuple[str, ...]
    spans: Mapping[str, tuple[int, int]]
    canonical: Mapping[str, str]

    def key(self, text: str) -> str | None:
        """The spelling, as found in ``spans``, under which the scale knows ``text``; None if it does not."""
        wanted = _SPACES.sub("", text).lower()
        for key in _readings(wanted, self.name):
            if key in self.spans:
                return key
        return None


def _readings(key: str, scale: str) -> Iterable[str]:
    """``key`` as it stands, then without what adds nothing to its rank."""
    yield key
    if scale == "stage":
        key = key.removeprefix("stage")
        yield key
    elif scale == "grade":
        key = key.removeprefix("grade")
        yield key
    elif scale in _CATEGORIES:
        key = _PREFIX.sub("", key, count=1)
        yield key
        yield _SUFFIX.sub("", key)
        if not key.startswith(scale):
            yield scale + key


class Scales:
    """All scales. Safe to share between threads."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        """One scale a table: ``values`` (low to high), ``substages`` ({value = [values]}, else by spelling),
        ``aliases`` ({spelling = value}). OntologyError if a table contradicts itself."""
        self.data: Final = data
        self._scales = {name: _scale(name, table) for name, table in data.items()}
        # A query compares the same few values again and again, each time in other words.
        self._known_span = functools.lru_cache(maxsize=65_536)(self._read_span)

    @classmethod
    def from_files(cls, path: Path | None = None) -> Scales:
        """The scales of a ``scales.toml`` (the shipped one by default). OntologyError if it cannot be read."""
        path = ONTOLOGY_FOLDER / "scales.toml" if path is None else path
        try:
            data = tomllib.loads(text_of(path))
        except (UsageError, tomllib.TOMLDecodeError) as error:
            raise OntologyError(f"{path.name} cannot be read: {error}") from error
        return cls(data)

    def names(self) -> tuple[str, ...]:
        """The names of the scales."""
        return tuple(self._scales)

    def scale(self, attribute: str) -> Scale | None:
        """The scale of an attribute (or of this name); None if its values are plain numbers or text."""
        return self._scales.get(ATTRIBUTE_SCALES.get(attribute, attribute))

    def values(self, attribute: str) -> tuple[str, ...]:
        """The values of the attribute's scale from low to high; empty if it has none."""
        scale = self.scale(attribute)
        return () if scale is None else scale.values

    def canonical(self, attribute: str, text: str) -> str | None:
        """The value as the scale writes it (``stage 3a`` → ``IIIA``); None if the scale does not know it."""
        scale = self.scale(attribute)
        key = None if scale is None else scale.key(text)
        return None if scale is None or key is None else scale.canonical[key]

    def span(self, attribute: str, text: Value) -> tuple[int, int] | None:
        """The rank interval of a value with its substages; None if the scale does not know it or there is no scale."""
        return self._known_span(attribute, text)

    def _read_span(self, attribute: str, text: Value) -> tuple[int, int] | None:
        scale = self.scale(attribute)
        if scale is None:
            return None
        key = scale.key(_text(text))
        return None if key is None else scale.spans[key]

    def compare(self, attribute: str, value: Value, operator: str, bound: Value) -> bool:
        """Whether ``value operator bound`` holds, whatever the substages are. Unknown values: False, also for ``!=``.

        ``=`` holds when the value lies within the bound (T2a = T2), ``!=`` when the two have nothing in common.
        Operators: = != < <= > >=; ValueError for another.
        """
        ranks = self._pair(attribute, value, bound)
        if ranks is None:
            return False
        (low, high), (bound_low, bound_high) = ranks
        match operator:
            case "=":
                return bound_low <= low and high <= bound_high
            case "!=":
                return high < bound_low or bound_high < low
            case "<":
                return high < bound_low
            case "<=":
                return high <= bound_high
            case ">":
                return low > bound_high
            case ">=":
                return low >= bound_low
        raise ValueError(f"operator {operator!r} is not one of = != < <= > >=")

    def between(self, attribute: str, value: Value, low: Value, high: Value) -> bool:
        """Whether the value lies from ``low`` to ``high``, both included with all of their substages."""
        return self.compare(attribute, value, ">=", low) and self.compare(attribute, value, "<=", high)

    def _pair(
        self, attribute: str, value: Value, bound: Value
    ) -> tuple[tuple[float, float], tuple[float, float]] | None:
        """Both intervals, on the attribute's scale or, where that does not know both, as numbers."""
        first, second = self.span(attribute, value), self.span(attribute, bound)
        if first is not None and second is not None:
            return first, second
        number, limit = as_number(value), as_number(bound)
        if number is None or limit is None:
            return None
        return (number, number), (limit, limit)


@functools.lru_cache(maxsize=65_536)
def as_number(value: Value) -> float | None:
    """The number that a value is or spells; None for other text (and for infinities and not-a-number)."""
    if isinstance(value, str):
        return float(value) if _NUMBER.fullmatch(value.strip()) else None
    number = float(value)
    return number if abs(number) < float("inf") else None


def _text(value: Value) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def _scale(name: str, table: Mapping[str, Any]) -> Scale:
    values = tuple(str(value) for value in table["values"])
    keys = [_SPACES.sub("", value).lower() for value in values]
    if len(set(keys)) != len(keys):
        raise OntologyError(f"scales.toml: [{name}] lists a value twice")
    substages = {
        _SPACES.sub("", parent).lower(): {_SPACES.sub("", part).lower() for part in parts}
        for parent, parts in table.get("substages", {}).items()
    }
    rank = {key: position for position, key in enumerate(keys)}
    spans: dict[str, tuple[int, int]] = {}
    canonical = dict(zip(keys, values, strict=True))
    for key, value in zip(keys, values, strict=True):
        own = rank[key]
        under = substages.get(key, {other for other in keys if _is_written_substage(key, other)})
        unknown = under - rank.keys()
        if unknown:
            raise OntologyError(f"scales.toml: [{name}] gives {value} the substage {min(unknown)!r}, not a value of it")
        ranks = {own, *(rank[other] for other in under)}
        if max(ranks) - min(ranks) + 1 != len(ranks):
            raise OntologyError(f"scales.toml: [{name}] has another value among the substages of {value}")
        spans[key] = (min(ranks), max(ranks))
    for spelling, value in table.get("aliases", {}).items():
        key = _SPACES.sub("", str(value)).lower()
        if key not in rank:
            raise OntologyError(f"scales.toml: [{name}] alias {spelling!r} means {value!r}, not a value of it")
        alias = _SPACES.sub("", spelling).lower()
        spans.setdefault(alias, spans[key])
        canonical.setdefault(alias, canonical[key])
    return Scale(name, values, spans, canonical)


def _is_written_substage(key: str, other: str) -> bool:
    return other != key and other.startswith(key) and not _ANOTHER_NUMERAL.match(other, len(key))
