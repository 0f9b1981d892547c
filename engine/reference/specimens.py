"""Whether two events were found on one specimen, as the reference engine defines it."""

from __future__ import annotations

from ...kb.kinds import OF_ONE_NOTE, values_of
from ...kb.model import Event, Value, World
from ...kb.ontology.concepts import ConceptTable
from .views import Seen


def on_one_specimen(left: Seen, right: Seen, world: World, concepts: ConceptTable) -> bool:
    """Whether they have the id of a specimen in common: so in every completion. Possibly also where one has none: if
    the two can be of one day, and nothing that is told of the specimens differs. Of an id that a single note gives,
    nobody knows which others it stands for."""
    one, other = (_told(seen.event, "specimen_id") for seen in (left, right))
    if not one.isdisjoint(other):
        return True
    if all(any(not str(id_).startswith(OF_ONE_NOTE) for id_ in ids) for ids in (one, other)):
        return False
    if world is not World.POSSIBLE or left.days.high < right.days.low or right.days.high < left.days.low:
        return False
    return not any(_differ(left.event, right.event, name) for name in ("specimen", "specimen_of")) and (
        _are_near(_told(left.event, "specimen_site"), _told(right.event, "specimen_site"), concepts)
    )


def _told(event: Event, name: str) -> frozenset[Value]:
    return frozenset(values_of(name, event.attributes.get(name, ""))) - {""}


def _differ(left: Event, right: Event, name: str) -> bool:
    """Whether both tell of it, and nothing that is the same."""
    one, other = _told(left, name), _told(right, name)
    return bool(one and other) and one.isdisjoint(other)


def _are_near(one: frozenset[Value], other: frozenset[Value], concepts: ConceptTable) -> bool:
    """Whether some place of the one is, holds or lies in one of the other; so it may be if one is not told."""
    return not (one and other) or any(
        first == second or (first in concepts and second in concepts and concepts.related(str(first), str(second)))
        for first in one
        for second in other
    )
