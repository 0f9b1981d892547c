"""The rewrites of a plan: a tuple of rules that each keep the answer in all three worlds and make it cheaper.

A rule takes a step whose parts are rewritten already and gives a step of the same meaning. That equal criteria are
evaluated once needs no rule: a plan numbers equal steps alike. Which candidates a step still has to decide is pushed
down while the plan runs (see :mod:`.bitmaps`), the cheapest step first.
"""

from __future__ import annotations

from itertools import chain
from typing import Final

from .plan import Complement, Count, Either, Every, Plan, Rule, Step, parts_of


def count_of_one_or_all(step: Step, plan: Plan) -> Step:
    """``at least 1 of`` is ``or``, ``at least all of`` is ``and``."""
    if isinstance(step, Count) and step.n == 1:
        return Either(step.parts)
    if isinstance(step, Count) and step.n == len(step.parts):
        return Every(step.parts)
    return step


def double_negation(step: Step, plan: Plan) -> Step:
    """``not not A`` is ``A``."""
    if isinstance(step, Complement):
        inner = plan.steps[step.part]
        if isinstance(inner, Complement):
            return plan.steps[inner.part]
    return step


def flatten(step: Step, plan: Plan) -> Step:
    """``(A and B) and C`` is ``A and B and C``; the same of ``or``."""
    if isinstance(step, Every | Either):
        kind = type(step)
        return kind(
            tuple(
                chain.from_iterable(
                    parts_of(plan.steps[part]) if isinstance(plan.steps[part], kind) else (part,) for part in step.parts
                )
            )
        )
    return step


def drop_repeats(step: Step, plan: Plan) -> Step:
    """``A and A`` is ``A``; the same of ``or``."""
    if isinstance(step, Every | Either):
        parts = tuple(dict.fromkeys(step.parts))
        return plan.steps[parts[0]] if len(parts) == 1 else type(step)(parts)
    return step


def cheapest_first(step: Step, plan: Plan) -> Step:
    """The parts of ``and`` and ``or`` stand in the order of their cost, so that the costly ones see few candidates."""
    if isinstance(step, Every | Either):
        return type(step)(tuple(sorted(step.parts, key=lambda part: (plan.costs[part], part))))
    return step


RULES: Final[tuple[Rule, ...]] = (
    count_of_one_or_all,
    double_negation,
    flatten,
    drop_repeats,
    cheapest_first,
)
