"""The boolean form of a query: its criteria about facts, each once, and how *and*, *not* and *at least* join them.

What only the laws of sets tell apart has one form: definitions are put in (shared, not copied), *or* and *except* are
*and* and *not*, lists of parts are flat and without repeats, and what stands beside its opposite is settled. So the
form shows which criteria occur twice, however the query is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from .canonical import plain_leaf
from .nodes import (
    And,
    AtLeast,
    Defined,
    Definition,
    Events,
    Exists,
    Not,
    Or,
    PatientExpression,
    QueryTreeError,
    SameEvent,
    SameTumor,
)
from .tree import decided_by, fold


@dataclass(frozen=True, slots=True)
class Leaf:
    """A criterion that no other criteria make up."""

    node: PatientExpression

    @property
    def facts(self) -> Events | None:
        """The event set of which one fact is enough, by itself; None for what looks at several, or at which comes
        first."""
        return self.node.events if isinstance(self.node, Exists) and self.node.events.is_of_single_days else None


@dataclass(frozen=True, slots=True)
class Scope:
    """That a tumor (``how`` is tumor), or ``least`` of them, or an event (event) is there of which ``body`` holds;
    ``node`` is one of the criteria that say so."""

    how: str
    body: int
    node: PatientExpression = field(compare=False)
    least: int = 1


@dataclass(frozen=True, slots=True)
class Enough:
    """At least ``n`` of the parts; what is listed twice counts twice. Of no parts, it holds."""

    n: int
    parts: tuple[int, ...]


Part = Leaf | Scope | Enough


@dataclass(frozen=True, slots=True)
class BooleanForm:
    """Parts by number, each after those that it is made of, and the number of the whole. ``~k`` is *not* the ``k``-th.

    ``cones`` has an entry for the whole and for each body of a scope: the parts that decide it, in order, each with how
    often it occurs: once or, for any more, twice. What stands in a scope is another cone.
    """

    parts: tuple[Part, ...]
    root: int
    cones: Mapping[int, Mapping[int, int]]

    @property
    def settles(self) -> bool:
        """Whether something in it stood beside its opposite, and was settled by that."""
        return _ALWAYS in self.parts

    def leaves(self, body: int) -> list[int]:
        """The leaves and scopes of a cone, in order."""
        return [one for one in self.cones[body] if not isinstance(self.parts[one], Enough)]


def part_of(number: int) -> int:
    """The part that a number is about, or whose opposite it is."""
    return number if number >= 0 else ~number


def boolean_form(body: PatientExpression, definitions: tuple[Definition, ...] = ()) -> BooleanForm:
    """The form of a criterion under the definitions before it. QueryTreeError for a definition that is not there."""
    made = _Forming()
    defined: dict[str, int] = {}
    for definition in definitions:
        defined[definition.name] = made.number(definition.body, defined)
    root = made.number(body, defined)
    bodies = {root, *(part.body for part in made.parts if isinstance(part, Scope))}
    return BooleanForm(tuple(made.parts), root, {one: _cone(made.parts, one) for one in bodies})


def _cone(parts: list[Part], root: int) -> dict[int, int]:
    """The parts below one that stand in no scope below it, each with 1 or, if it occurs more often, 2."""
    times = {part_of(root): 1}
    for number in range(part_of(root), -1, -1):
        part = parts[number]
        if number in times and isinstance(part, Enough):
            for inner in map(part_of, part.parts):
                times[inner] = min(2, times.get(inner, 0) + times[number])
    return dict(sorted(times.items()))


class _Forming:
    """Parts as they are made, equal ones once."""

    def __init__(self) -> None:
        self.parts: list[Part] = []
        self._numbers: dict[Part, int] = {}

    def number(self, root: PatientExpression, defined: Mapping[str, int]) -> int:
        """The number of a criterion."""

        def made(node: PatientExpression, inner: tuple[int, ...]) -> int:
            if node.expansion is not None:
                return inner[0]
            match node:
                case Defined(name):
                    if name not in defined:
                        raise QueryTreeError(f"no definition before this place is called {name!r}")
                    return defined[name]
                case And():
                    return self._every(inner)
                case Or():
                    return ~self._every(~one for one in inner)
                case Not():
                    return ~inner[0]
                case AtLeast(n, _):
                    return self._enough(n, inner)
                case SameTumor(_, least):
                    return self._add(Scope("tumor", inner[0], node, least))
                case SameEvent():
                    return self._add(Scope("event", inner[0], node))
            return self._add(Leaf(plain_leaf(node)))

        return fold(root, made, decided_by)

    def _add(self, part: Part) -> int:
        number = self._numbers.get(part)
        if number is None:
            number = self._numbers[part] = len(self.parts)
            self.parts.append(part)
        return number

    def _every(self, inner: Iterable[int]) -> int:
        flat: set[int] = set()
        for one in inner:
            part = self.parts[one] if one >= 0 else None
            if isinstance(part, Enough) and part.n == len(part.parts):
                flat.update(part.parts)
            else:
                flat.add(one)
        if any(~one in flat for one in flat):
            return ~self._add(_ALWAYS)
        # Not always is never, and then all together are; always adds nothing, for it has no parts.
        always = self._numbers.get(_ALWAYS)
        if always is not None and ~always in flat:
            return ~always
        return flat.pop() if len(flat) == 1 else self._add(Enough(len(flat), tuple(sorted(flat))))

    def _enough(self, n: int, inner: tuple[int, ...]) -> int:
        if n == 1:
            return ~self._every(~one for one in inner)
        if n == len(inner):
            return self._every(inner)
        # At least n of these is not: at least so many of their opposites that too few are left.
        here, there = tuple(sorted(inner)), tuple(sorted(~one for one in inner))
        other = len(inner) - n + 1
        if (other, there) < (n, here):
            return ~self._add(Enough(other, there))
        return self._add(Enough(n, here))


_ALWAYS: Final = Enough(0, ())
