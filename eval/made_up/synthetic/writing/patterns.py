"""Patterns of text: choices, slots, pools of words and numbers, rendered at random but repeatably.

A pattern is written as text: ``<a|b|>`` is one of its alternatives, ``{slot}`` a value that the caller gives,
``{@pool}`` an entry of a pool (itself a pattern), ``{3..9}`` a whole number, ``{0.5..2.5}`` a decimal one. A
backslash takes the sign after it as it is; outside of a choice ``|`` and ``>`` are plain signs.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias


class PatternError(ValueError):
    """A pattern of a bank that is not well formed; the message holds it."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A value that the caller gives."""

    name: str


@dataclass(frozen=True, slots=True)
class Pool:
    """An entry of a pool."""

    name: str


@dataclass(frozen=True, slots=True)
class Number:
    """A number between two, with so many decimals."""

    low: float
    high: float
    decimals: int


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several patterns, of those whose slots are all given."""

    options: tuple[Pattern, ...]


Part: TypeAlias = "str | Slot | Pool | Number | Choice"


@dataclass(frozen=True, slots=True)
class Pattern:
    """A sequence of parts. ``needs`` are the slots without which it cannot be rendered."""

    parts: tuple[Part, ...]
    needs: frozenset[str]


Pools: TypeAlias = Mapping[str, Sequence[Pattern]]

_TOKEN = re.compile(r"\\(?P<plain>.)|\{(?P<brace>[^{}]*)\}|(?P<sign>[<|>])|(?P<text>[^\\{}<|>]+)", re.DOTALL)
_NUMBER = re.compile(r"(\d+(?:\.(\d+))?)\.\.(\d+(?:\.\d+)?)")


def compile_pattern(text: str) -> Pattern:
    """The pattern that ``text`` writes. PatternError when its brackets do not match."""
    options: list[list[list[Part]]] = [[[]]]
    place = 0
    for token in _TOKEN.finditer(text):
        if token.start() != place:
            raise PatternError(f"a sign out of place at {place} in {text!r}")
        place = token.end()
        here = options[-1][-1]
        if token["plain"] is not None:
            here.append(token["plain"])
        elif token["text"] is not None:
            here.append(token["text"])
        elif token["brace"] is not None:
            here.append(_braced(token["brace"], text))
        elif token["sign"] == "<":
            options.append([[]])
        elif len(options) == 1:
            # Outside of a choice they are arrows and columns.
            here.append(token["sign"])
        elif token["sign"] == "|":
            options[-1].append([])
        else:
            closed = options.pop()
            options[-1][-1].append(Choice(tuple(_pattern(parts) for parts in closed)))
    if place != len(text) or len(options) != 1:
        raise PatternError(f"a bracket without its other half in {text!r}")
    return _pattern(options[0][0])


def _braced(inside: str, text: str) -> Part:
    """What stands in braces."""
    if inside.startswith("@"):
        return Pool(inside[1:])
    number = _NUMBER.fullmatch(inside)
    if number:
        return Number(float(number[1]), float(number[3]), len(number[2] or ""))
    if not inside.isidentifier():
        raise PatternError(f"'{{{inside}}}' is no slot, pool or number in {text!r}")
    return Slot(inside)


def _pattern(parts: list[Part]) -> Pattern:
    """The parts with what they need: a choice needs what all its options need."""
    needs: set[str] = set()
    for part in parts:
        if isinstance(part, Slot):
            needs.add(part.name)
        elif isinstance(part, Choice):
            needs.update(frozenset.intersection(*(option.needs for option in part.options)))
    return Pattern(tuple(parts), frozenset(needs))


def fitting(patterns: Iterable[Pattern], slots: Mapping[str, str]) -> list[Pattern]:
    """Those of the patterns whose slots are all given."""
    given = slots.keys()
    return [pattern for pattern in patterns if pattern.needs <= given]


def render(
    pattern: Pattern, chance: random.Random, slots: Mapping[str, str], pools: Pools, used: set[str] | None = None
) -> str:
    """The text of a pattern that fits ``slots``; the names of the slots that were written are added to ``used``."""
    written: list[str] = []
    _render(pattern, chance, slots, pools, used, written)
    return "".join(written)


def _render(
    pattern: Pattern,
    chance: random.Random,
    slots: Mapping[str, str],
    pools: Pools,
    used: set[str] | None,
    written: list[str],
) -> None:
    """Append the text of a pattern to ``written``."""
    for part in pattern.parts:
        if isinstance(part, str):
            written.append(part)
        elif isinstance(part, Slot):
            written.append(slots[part.name])
            if used is not None:
                used.add(part.name)
        elif isinstance(part, Pool):
            entries = pools.get(part.name)
            if entries is None:
                raise PatternError(f"there is no pool {part.name!r}")
            _render(_one(fitting(entries, slots), chance), chance, slots, pools, used, written)
        elif isinstance(part, Number):
            written.append(_number(part, chance))
        else:
            _render(_one(fitting(part.options, slots), chance), chance, slots, pools, used, written)


def _number(part: Number, chance: random.Random) -> str:
    """A number of the range as it is written."""
    value = part.low + (part.high - part.low) * chance.random()
    return f"{value:.{part.decimals}f}"


def _one(options: Sequence[Pattern], chance: random.Random) -> Pattern:
    """One of the options."""
    return options[int(chance.random() * len(options))]
