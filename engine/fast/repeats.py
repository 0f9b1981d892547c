"""Whether a query looks at one fact twice so that it matters: whose does not, keeps the bounds that its parts give.

Where all that may look at a fact is asked to hold (or all of it to fail), every part is bounded by one and the same way
of the fact to be, and so is the whole: that a fact occurs twice matters where it is asked to hold and to fail, or where
it can lie in one of two windows and not in both.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Final, NamedTuple

from ...kb.ontology.concepts import ConceptTable
from ...query_lang import nodes
from ...query_lang.boolean_form import BooleanForm, Enough, Leaf, part_of
from .concept_sets import selected
from .plan import Atom, Complement, Listed, Plan, Scope, parts_of

#: Signs under which a criterion stands, as bits: asked to hold, asked to fail.
_HOLDS: Final = 1
_FAILS: Final = 2
_BOTH: Final = 3


class _Asked(NamedTuple):
    """The facts of which a criterion needs one, and the signs under which it stands."""

    events: nodes.Events
    signs: int


def may_matter(plan: Plan, root: int, concepts: ConceptTable) -> bool:
    """Whether it is worth making the boolean form: quickly told, and true of more than is so."""
    signs = {root: _HOLDS}
    asked: list[_Asked] = []
    of_others: dict[bool, int] = {}
    for number in range(root, -1, -1):
        if number not in signs:
            continue
        step, here = plan.steps[number], signs[number]
        for part in parts_of(step):
            # What stands in a scope is bounded by itself.
            below = _HOLDS if isinstance(step, Scope) else _opposite(here) if isinstance(step, Complement) else here
            signs[part] = signs.get(part, 0) | below
        if isinstance(step, Atom) and step.events.is_of_single_days:
            asked.append(_Asked(step.events, here))
        elif not isinstance(step, Listed) and (isinstance(step, Scope) or not parts_of(step)):
            # Two of a sort could be two spellings of one.
            of_others[isinstance(step, Scope)] = of_others.get(isinstance(step, Scope), 0) | here
    return _BOTH in of_others.values() or _any_matters(asked, concepts)


def matters(form: BooleanForm, concepts: ConceptTable) -> bool:
    """Whether something occurs twice, in what is bounded together, so that it matters."""
    if form.settles:
        return True
    for body in form.cones:
        asked = []
        for number, signs in _signs(form, body).items():
            part = form.parts[number]
            facts = part.facts if isinstance(part, Leaf) else None
            if facts is not None:
                asked.append(_Asked(facts, signs))
            elif signs == _BOTH and not isinstance(part, Enough):
                return True
        if _any_matters(asked, concepts):
            return True
    return False


def _signs(form: BooleanForm, body: int) -> dict[int, int]:
    """The signs of the parts of a cone."""
    found = {part_of(body): _HOLDS if body >= 0 else _FAILS}
    for number in reversed(form.cones[body]):
        part = form.parts[number]
        if isinstance(part, Enough):
            for inner in part.parts:
                below = found[number] if inner >= 0 else _opposite(found[number])
                found[part_of(inner)] = found.get(part_of(inner), 0) | below
    return found


def _opposite(signs: int) -> int:
    return (signs & _HOLDS) << 1 | (signs & _FAILS) >> 1


def _any_matters(asked: Iterable[_Asked], concepts: ConceptTable) -> bool:
    """Whether a criterion stands under both signs, or one event can be of two so that it matters."""
    asked = list(asked)
    if any(one.signs == _BOTH for one in asked):
        return True
    return any(
        (one.signs != other.signs or not _nested(one.events.window, other.events.window))
        and _overlap(one.events, other.events, concepts)
        for one, other in itertools.combinations(asked, 2)
    )


def _overlap(one: nodes.Events, other: nodes.Events, concepts: ConceptTable) -> bool:
    """Whether an event can be of both, by kind and concept."""
    return any(
        (None in (kind, other_kind) or kind == other_kind)
        and (ids is None or other_ids is None or not ids.isdisjoint(other_ids))
        for kind, ids in selected(one, concepts)
        for other_kind, other_ids in selected(other, concepts)
    )


def _nested(one: nodes.Window | None, other: nodes.Window | None) -> bool:
    """Whether all days of one window are in the other, in whatever order."""
    if one is None or other is None:
        return True
    return (one.low <= other.low and other.high <= one.high) or (other.low <= one.low and one.high <= other.high)
