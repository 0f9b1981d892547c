"""The cost of an edit of a query: how many changes of each class, the costliest first, then how large they are.

A cost is one whole number whose places are those counts, so that costs add up and compare as they should: no number of
changes of a cheaper class is as dear as one of a dearer class.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Protocol, TypeVar

#: The places of a cost, the dearest first. ``shares``: by which bounds moved, in millionths of the bound or of the
#: scale; ``days``: by which the ends of windows and gaps moved.
PLACES: Final = ("drops", "details", "uncertain", "concepts", "bounds", "windows", "shares", "days")

_BITS: Final = 44
DROP, DETAIL, UNCERTAIN, CONCEPT, BOUND, WINDOW, SHARE, DAY = (
    1 << _BITS * place for place in reversed(range(len(PLACES)))
)

#: An end of a window or gap moves by ten years at most; farther, and the window or the relation is let go.
MOST_DAYS: Final = 3_653
#: Equally cheap edits that are kept side by side, to be compared by whom else they admit.
MOST_TIES: Final = 16
_MOST_SHARE: Final = 1_000_000_000


def bound_cost(share: float) -> int:
    """One bound moved by this share of itself or of its scale."""
    return BOUND + SHARE * min(_MOST_SHARE, round(share * 1_000_000))


def ends_cost(*days: int) -> int:
    """Ends of one window or gap moved by so many days each; an end that stays costs nothing."""
    return sum(WINDOW + DAY * abs(moved) for moved in days if moved)


def counts(cost: int) -> dict[str, int]:
    """The places of a cost by name, the dearest first."""
    return {
        name: cost >> _BITS * place & (1 << _BITS) - 1
        for name, place in zip(PLACES, reversed(range(len(PLACES))), strict=True)
    }


class Costed(Protocol):
    """Something that marks events or places as bits, at a cost."""

    @property
    def mask(self) -> int: ...

    @property
    def cost(self) -> int: ...


_Option = TypeVar("_Option", bound=Costed)


def undominated(options: Iterable[_Option], widen: bool) -> list[_Option]:
    """The options, the cheapest first, without those that a cheaper one outdoes: one that marks all that they mark, and
    perhaps more (with ``widen``), or nothing that they do not mark (without). Of equal ones so many as are kept."""
    cheapest: dict[int, list[_Option]] = {}
    for option in sorted(options, key=lambda one: one.cost):
        known = cheapest.setdefault(option.mask, [])
        if not known or (known[0].cost == option.cost and len(known) < MOST_TIES):
            known.append(option)
    kept: list[tuple[int, int]] = []
    found: list[_Option] = []
    # A dictionary keeps its order: that of the costs.
    for mask, equal in cheapest.items():
        cost = equal[0].cost
        for other, less in kept:
            if less < cost and not (mask & ~other if widen else other & ~mask):
                break
        else:
            kept.append((mask, cost))
            found += equal
    return found
