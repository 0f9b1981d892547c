"""A chart of what the items of a question can be read as together: rules over types, the cover that leaves least over.

The rules are data (``clauses.grammar``): what is made, of which parts in order, by which action. An action is
given what its parts are worth and returns what they make together, or None where they do not go together: types and
the ontology decide, and not the order of words alone.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

_PARTED: Final = re.compile(r"\s+([:=])\s+")
_GRAMMAR: Final = Path(__file__).with_name("clauses.grammar")
#: The most readings of one stretch that are kept; questions that have more are not told apart by words alone.
_MOST_EDGES: Final = 12
#: The type of words that only lead over from one part to the next.
SOFT: Final = "soft"
_MOST_PASSED: Final = 3
_PASSING: Final = 0.02


@dataclass(frozen=True, slots=True)
class Rule:
    """``made : part part … -> action 2 1``."""

    made: str
    parts: tuple[str, ...]
    action: str
    #: Whether nothing at all may stand between the parts.
    tight: bool = False
    #: The places of the parts that the action is given, in its order; none: all.
    takes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Edge:
    """What the items from ``start`` to ``end`` are read as: its types, what it is worth, what it costs in a cover."""

    start: int
    end: int
    types: frozenset[str]
    worth: Any
    cost: float
    order: int = 0


Action = Callable[..., tuple[Any, float] | None]


@functools.cache
def rules() -> tuple[Rule, ...]:
    """The rules of the grammar, in their order."""
    found: list[Rule] = []
    for line in _GRAMMAR.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            made, sign, rest = _PARTED.split(line, maxsplit=1)
            parts, _, told = rest.partition("->")
            action, *takes = told.split()
            places = tuple(int(one) - 1 for one in takes)
            found.append(Rule(made.strip(), tuple(parts.split()), action, sign == "=", places))
    return tuple(found)


@functools.cache
def _by_first() -> Mapping[str, tuple[tuple[int, Rule], ...]]:
    found: dict[str, list[tuple[int, Rule]]] = {}
    for number, rule in enumerate(rules()):
        found.setdefault(rule.parts[0], []).append((number, rule))
    return {first: tuple(held) for first, held in found.items()}


class Chart:
    """The edges over the items of one question."""

    def __init__(
        self,
        terminals: Sequence[Edge],
        actions: Mapping[str, Action],
        types_of: Callable[[str, Any], frozenset[str]],
    ) -> None:
        """``terminals``: one edge an item, in order. ``types_of``: the types of what a rule made, by name and worth."""
        self._actions = actions
        self._types_of = types_of
        self._count = len(terminals)
        self.edges: list[list[Edge]] = [[] for _ in range(self._count + 1)]
        for terminal in reversed(terminals):
            self._fill(terminal)

    def _fill(self, terminal: Edge) -> None:
        start = terminal.start
        waiting = [terminal]
        seen: set[tuple[int, frozenset[str], str]] = set()
        counts: dict[tuple[int, frozenset[str]], int] = {}
        while waiting:
            edge = waiting.pop(0)
            self.edges[start].append(edge)
            for kind in edge.types:
                for number, rule in _by_first().get(kind, ()):
                    most = 0 if rule.tight else _MOST_PASSED
                    for parts, passed in self._matches(rule.parts, 1, edge.end, (edge,), 0, most):
                        made = self._made(number, rule, parts, passed)
                        if made is None:
                            continue
                        key = (made.end, made.types, str(made.worth))
                        held = counts.get((made.end, made.types), 0)
                        if key in seen or held >= _MOST_EDGES:
                            continue
                        seen.add(key)
                        counts[made.end, made.types] = held + 1
                        waiting.append(made)

    def _matches(
        self, parts: tuple[str, ...], at: int, place: int, held: tuple[Edge, ...], passed: int, most: int
    ) -> Iterator[tuple[tuple[Edge, ...], int]]:
        """The ways in which the parts from ``at`` on stand from ``place`` on, and how many words were passed over: up
        to ``most`` of the type ``soft`` may stand between the parts."""
        if at == len(parts):
            yield held, passed
            return
        if place >= self._count:
            return
        for edge in self.edges[place]:
            if parts[at] in edge.types:
                yield from self._matches(parts, at + 1, edge.end, (*held, edge), passed, most)
            elif SOFT in edge.types and passed < most:
                yield from self._matches(parts, at, edge.end, held, passed + 1, most)

    def _made(self, number: int, rule: Rule, parts: tuple[Edge, ...], passed: int) -> Edge | None:
        taken = [parts[place] for place in rule.takes] if rule.takes else parts
        made = self._actions[rule.action](*[one.worth for one in taken])
        if made is None:
            return None
        worth, cost = made
        return Edge(
            parts[0].start,
            parts[-1].end,
            self._types_of(rule.made, worth),
            worth,
            cost + _PASSING * passed,
            number,
        )

    def cover(self) -> list[Edge]:
        """The edges from beginning to end that cost least; of equal ones, those of the first rules."""
        best: list[tuple[float, list[Edge]]] = [(0.0, [])] * (self._count + 1)
        for start in range(self._count - 1, -1, -1):
            found = [(edge.cost + best[edge.end][0], edge) for edge in self.edges[start]]
            cost, edge = min(found, key=lambda one: (round(one[0], 6), one[1].order, -one[1].end))
            best[start] = (cost, [edge, *best[edge.end][1]])
        return best[0][1]
