"""The edits of the condition of an atom: bounds moved, values climbed, comparisons let go; each with its events.

Towards more events a part is relaxed, towards fewer it is tightened; ``widen`` says which. ``not`` turns it round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any, Final

from ...kb.model import Value
from ...kb.ontology.scales import Scales, as_number
from ...query_lang import nodes
from ...query_lang.tree import single_conditions
from .cost import CONCEPT, DETAIL, bound_cost, undominated
from .record import Change, Option, Record, bits

#: The comparisons that have a lower bound, and those that have an upper one.
_LOWER: Final = (">", ">=")
_UPPER: Final = ("<", "<=")

#: An end of a range: operator and value.
_End = tuple[str, str | float]


def comparisons(condition: nodes.Condition | None) -> int:
    """How many comparisons a condition is made of."""
    return sum(1 for _ in single_conditions(condition))


class ConditionEdits:
    """The edits of conditions on events of one kind (None: of any) of one record."""

    def __init__(self, record: Record, kind: str | None, parents: Callable[[str], Sequence[tuple[str, int]]]) -> None:
        """``parents`` gives the concepts above one, each with its distance."""
        self._record = record
        self._kind = kind
        self._all = record.of_kind(kind)
        self._parents = parents

    def options(self, condition: nodes.Condition | None, widen: bool) -> list[Option]:
        """The condition as it stands and edited, undominated; a value of None: no condition is left."""
        if condition is None:
            return [Option(self._all, 0, None)]
        found = self._options(condition, widen)
        if widen:
            let_go = Change("details", condition, None)
            found.append(Option(self._all, DETAIL * comparisons(condition), None, (let_go,)))
        return undominated(found, widen)

    def _options(self, condition: nodes.Condition, widen: bool) -> list[Option]:
        match condition:
            case nodes.AllOf(parts):
                return self._joined(parts, widen, every=True)
            case nodes.AnyOf(parts):
                return self._joined(parts, widen, every=False)
            case nodes.NotThat(part):
                return [
                    Option(self._all & ~one.mask, one.cost, nodes.NotThat(one.value), one.changes)
                    for one in self._options(part, not widen)
                ]
        found = [Option(self._holding(condition), 0, condition)]
        match condition:
            case nodes.Compare() | nodes.Between():
                found += self._moved(condition, widen)
            case nodes.Is() if widen:
                found += self._climbed(condition)
        return undominated(found, widen)

    def _joined(self, parts: Sequence[nodes.Condition], widen: bool, *, every: bool) -> list[Option]:
        """*and* and *or*: a part can be let go where that does what is wanted, but for the last."""
        partial = [Option(self._all if every else 0, 0, ())]
        for part in parts:
            ways: list[tuple[int, int, tuple[Any, ...], tuple[Change, ...]]] = [
                (one.mask, one.cost, (one.value,), one.changes) for one in self._options(part, widen)
            ]
            if widen is every:
                gone = Change("details", part, None)
                ways.append((self._all if every else 0, DETAIL * comparisons(part), (), (gone,)))
            partial = undominated(
                (
                    Option(
                        done.mask & mask if every else done.mask | mask,
                        done.cost + cost,
                        done.value + value,
                        done.changes + changes,
                    )
                    for done, (mask, cost, value, changes) in product(partial, ways)
                ),
                widen,
            )
        kind = nodes.AllOf if every else nodes.AnyOf
        return [
            one._replace(value=one.value[0] if len(one.value) == 1 else kind(one.value)) for one in partial if one.value
        ]

    # --- one comparison -----------------------------------------------------------------------------------------------

    def _holding(self, condition: nodes.Condition) -> int:
        return self._record.having(self._kind, condition=condition)

    def _moved(self, condition: nodes.Compare | nodes.Between, widen: bool) -> Iterator[Option]:
        """The bounds moved, to values that the record has: outwards to admit them, inwards to leave them out."""
        lower, upper = _ends(condition)
        if not widen and isinstance(condition, nodes.Compare) and lower and upper:
            # One value, and nothing between its ends.
            return
        lows = [(lower, 0), *self._reached(condition.attribute, lower, ">", widen)] if lower else [(None, 0)]
        highs = [(upper, 0), *self._reached(condition.attribute, upper, "<", widen)] if upper else [(None, 0)]
        for (low, low_cost), (high, high_cost) in product(lows, highs):
            cost = low_cost + high_cost
            if cost and self._is_range(condition.attribute, low, high):
                edited = _range(condition.attribute, low, high)
                yield Option(self._holding(edited), cost, edited, (Change("bounds", condition, edited),))

    def _reached(self, attribute: str, end: _End, sign: str, widen: bool) -> Iterator[tuple[_End, int]]:
        """Where an end can be moved, with the cost. ``sign`` is > for a lower and < for an upper end.

        To admit a value, the bound that includes it is the nearest; to leave one out, it may be any of the scale.
        """
        for reached in self._values(attribute, everything=not widen):
            for operator in (f"{sign}=",) if widen else (sign, f"{sign}="):
                new = (operator, _written(end[1], reached))
                moved = self._moved_by(attribute, end, new, sign)
                if moved is None:
                    continue
                distance, tighter, size = moved
                # Of equal bounds the strict one is the tighter.
                if (distance, tighter) != (0, 0) and (distance > 0 or (distance == 0 and tighter > 0)) is not widen:
                    yield new, bound_cost(abs(distance) / size)

    def _values(self, attribute: str, *, everything: bool) -> list[Value]:
        """The values that the record has, and with ``everything`` those of the scale."""
        found: dict[Value, None] = {}
        for position in bits(self._all):
            value = self._record.events[position].attributes.get(attribute, "")
            if value != "" and self._scales.compare(attribute, value, "=", value):
                found[value] = None
        if found and everything:
            found.update(dict.fromkeys(self._scales.values(attribute)))
        return list(found)

    @property
    def _scales(self) -> Scales:
        return self._record.meaning.scales

    def _moved_by(self, attribute: str, old: _End, new: _End, sign: str) -> tuple[float, int, float] | None:
        """How far inwards the end moves, and how much stricter it is, both below 0 when outwards; and what its size is
        measured by: the length of the scale, or the bound itself. None where the two do not compare."""
        first, second = self._scales.span(attribute, old[1]), self._scales.span(attribute, new[1])
        inwards = 1 if sign == ">" else -1
        strict, stricter = (len(one[0]) == 1 for one in (old, new))
        if first is not None and second is not None:
            scale = self._scales.scale(attribute)
            assert scale is not None
            # "> III" begins above the highest substage of III, half a step on; ">= III" at its lowest.
            before, after = (
                span[at == (sign == ">")] + inwards * at / 2 for span, at in ((first, strict), (second, stricter))
            )
            return inwards * (after - before), 0, float(len(scale.values))
        number, other = as_number(old[1]), as_number(new[1])
        if number is None or other is None:
            return None
        return inwards * (other - number), stricter - strict, max(1.0, abs(number))

    def _is_range(self, attribute: str, low: _End | None, high: _End | None) -> bool:
        if low is None or high is None:
            return True
        strict = low[0] == ">" or high[0] == "<"
        return bool(self._scales.compare(attribute, low[1], "<" if strict else "<=", high[1]))

    def _climbed(self, condition: nodes.Is) -> Iterator[Option]:
        """*exactly* let go, and values in place of those above them."""
        ways: list[list[tuple[nodes.Term, int]]] = []
        for term in condition.values:
            above = [(term, 0)]
            if isinstance(term, nodes.Concept):
                concepts = self._record.meaning.concepts
                above += [(nodes.Concept(one, concepts.name(one)), steps) for one, steps in self._parents(term.id)]
            ways.append(above)
        for exact in (True, False) if condition.exact else (False,):
            # Of many values, one climbs at a time: together they would be another list.
            for at, above in enumerate(ways):
                for term, steps in above:
                    cost = CONCEPT * (steps + (condition.exact and not exact))
                    if not cost or (exact and steps):
                        continue
                    values = (*condition.values[:at], term, *condition.values[at + 1 :])
                    edited = nodes.Is(condition.attribute, tuple(dict.fromkeys(values)), exact)
                    yield Option(self._holding(edited), cost, edited, (Change("concepts", condition, edited),))


def _ends(condition: nodes.Compare | nodes.Between) -> tuple[_End | None, _End | None]:
    match condition:
        case nodes.Between(_, low, high):
            return (">=", low), ("<=", high)
        case nodes.Compare(_, "=", value):
            return (">=", value), ("<=", value)
        case nodes.Compare(_, operator, value) if operator in _LOWER:
            return (operator, value), None
        case nodes.Compare(_, operator, value) if operator in _UPPER:
            return None, (operator, value)
    return None, None


def _range(attribute: str, low: _End | None, high: _End | None) -> nodes.Condition:
    if low is not None and high is not None and (low[0], high[0]) == (">=", "<="):
        return nodes.Between(attribute, low[1], high[1])
    compared = tuple(nodes.Compare(attribute, *end) for end in (low, high) if end is not None)
    return compared[0] if len(compared) == 1 else nodes.AllOf(compared)


def _written(old: str | float, new: Value) -> str | float:
    """The new bound in the form of the old one: a number as a number, a value of a scale as text."""
    if isinstance(old, str):
        return new if isinstance(new, str) else f"{new:g}"
    number = as_number(new)
    return new if number is None else number
