"""Truth tables: what follows from how criteria are joined, given which of them imply or exclude each other.

Each distinct leaf is a proposition; a row of the table says of each whether it holds. Rows that cannot be (a lung
adenocarcinoma and no lung cancer) are struck out. A column of rows is one integer, a bit a row. What is found holds of
the believed answer, where a criterion holds or does not; the bounds of the other worlds are looser by design.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ...kb.deadline import check
from ..nodes import (
    And,
    AtLeast,
    Defined,
    Exists,
    Not,
    Or,
    PatientExpression,
    SameEvent,
    SameTumor,
)
from ..tree import decided_by
from .atoms import Atoms, needed_sets

#: A table has at most so many leaves, and is filled from at most so many nodes.
MOST_LEAVES: Final = 10
_MOST_NODES: Final = 200
_JOINERS: Final = (And, Or, Not, AtLeast)


@dataclass(frozen=True, slots=True)
class Table:
    """The rows that can be (``rows``), and how each criterion is told by its leaves."""

    rows: int
    columns: Mapping[PatientExpression, int]
    bodies: Mapping[str, PatientExpression]

    def column(self, node: PatientExpression) -> int:
        """The rows, of those that can be, in which the criterion holds."""
        return self._column(node) & self.rows

    def _column(self, node: PatientExpression) -> int:
        match node:
            case And(parts):
                return functools.reduce(lambda left, part: left & self._column(part), parts, self.rows)
            case Or(parts):
                return functools.reduce(lambda left, part: left | self._column(part), parts, 0)
            case Not(part):
                return self.rows & ~self._column(part)
            case AtLeast(n, parts):
                reached = [self.rows] + [0] * n
                for part in parts:
                    column = self._column(part)
                    for count in range(n, 0, -1):
                        reached[count] |= reached[count - 1] & column
                return reached[n]
            case Defined(name) if name in self.bodies:
                return self._column(self.bodies[name])
        return self.columns[node] if node.expansion is None else self._column(node.expansion)


class Logic:
    """Makes truth tables of criteria that look at the same facts: of a patient, of one tumor or of one event."""

    def __init__(self, atoms: Atoms, bodies: Mapping[str, PatientExpression], one_event: bool = False) -> None:
        """``bodies`` are what the definitions stand for; ``one_event``: the criteria look at one event alone."""
        self.atoms = atoms
        self.bodies = bodies
        self.one_event = one_event
        # The tables of one query are about the same few leaves: what each two are to each other is asked once.
        self.never: Callable[[PatientExpression], bool] = functools.lru_cache(maxsize=1024)(self._never)
        self.implies: Callable[[PatientExpression, PatientExpression], bool] = functools.lru_cache(maxsize=8192)(
            self._implies
        )
        self.exclude: Callable[[PatientExpression, PatientExpression], bool] = functools.lru_cache(maxsize=8192)(
            self._exclude
        )

    def table(self, nodes: Sequence[PatientExpression]) -> Table | None:
        """The table of these criteria together; None if it would be too large."""
        leaves: dict[PatientExpression, None] = {}
        waiting, seen = list(nodes), 0
        while waiting:
            node = waiting.pop()
            check()
            seen += 1
            if isinstance(node, Defined) and node.name in self.bodies:
                waiting.append(self.bodies[node.name])
            elif isinstance(node, _JOINERS) or node.expansion is not None:
                waiting.extend(decided_by(node))
            else:
                leaves[node] = None
            if len(leaves) > MOST_LEAVES or seen > _MOST_NODES:
                return None
        columns = {leaf: _pattern(at, len(leaves)) for at, leaf in enumerate(leaves)}
        rows = (1 << (1 << len(leaves))) - 1
        for one, column in columns.items():
            if self.never(one):
                rows &= ~column
        for (one, column), (other, its) in itertools.permutations(columns.items(), 2):
            if self.implies(one, other):
                rows &= ~column | its
            if self.exclude(one, other):
                rows &= ~(column & its)
        return Table(rows, columns, self.bodies)

    # --- leaves -------------------------------------------------------------------------------------------------------

    def _implies(self, one: PatientExpression, other: PatientExpression) -> bool:
        """Whether the leaf ``other`` holds wherever ``one`` does, as far as is known."""
        if self.atoms.leaf_implies(one, other):
            return True
        if isinstance(one, SameTumor | SameEvent) and isinstance(other, Exists) and other.events.pick.how == "any":
            # What is so of one tumor's events is so of all events.
            parts = one.body.parts if isinstance(one.body, And) else (one.body,)
            return any(
                isinstance(part, Exists)
                and part.events.pick.how == "any"
                and self.atoms.implies(part.events, other.events)
                for part in parts
            )
        return False

    def _exclude(self, one: PatientExpression, other: PatientExpression) -> bool:
        """Whether the two leaves never hold together, as far as is known."""
        if self.atoms.leaf_exclude(one, other):
            return True
        if not isinstance(one, Exists) or not isinstance(other, Exists):
            return False
        return self.one_event and self.atoms.exclude_in_one_event(one.events, other.events)

    def _never(self, node: PatientExpression) -> bool:
        """Whether nobody is believed to match the leaf."""
        if isinstance(node, SameTumor | SameEvent):
            logic = self.in_event if isinstance(node, SameEvent) else self
            table = logic.table((node.body,))
            return table is not None and table.column(node.body) == 0
        if any(self.atoms.never(events) is not None for events in needed_sets(node)):
            return True
        if self.one_event:
            return self.atoms.alone(node) is not None
        return any(
            self.atoms.never_related(order) is not None or self.atoms.never_believed(order) is not None
            for order in self.atoms.orders(node)
        )

    @functools.cached_property
    def in_event(self) -> Logic:
        """The logic of criteria that look at one event alone."""
        return self if self.one_event else Logic(self.atoms, self.bodies, one_event=True)


@functools.cache
def _pattern(at: int, leaves: int) -> int:
    """The column of the ``at``-th proposition: rows are numbered, and it holds where that bit of the number is set."""
    block = ((1 << (1 << at)) - 1) << (1 << at)
    column = 0
    for start in range(0, 1 << leaves, 1 << (at + 1)):
        column |= block << start
    return column
