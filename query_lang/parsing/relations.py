"""The rules of ``grammar.lark`` that relate facts: order, sequences, gaps, ages, absence, lists of patients."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from collections.abc import Sequence as SequenceOf
from dataclasses import replace
from typing import Any, Final

from ..nodes import (
    GAP_RELATIONS,
    AgeAt,
    Among,
    Clear,
    Defined,
    Events,
    Exists,
    Gap,
    Lacking,
    Or,
    Ordered,
    PatientExpression,
    Pick,
    Repeated,
    Sequence,
)
from .comparisons import OPERATORS
from .values import Mistake, days, one_day, years

_MOST_PAIRS: Final = 100


class RelationRules:
    """One method per rule, as in :class:`~.build.Builder`, which gives them the bodies of definitions."""

    _bodies: Mapping[str, PatientExpression]
    _put_in: set[str]

    def timed(self, parts: list[Any]) -> PatientExpression:
        if len(parts) == 1:
            return parts[0]
        return self._ordered(parts, None)

    def became(self, parts: list[Any]) -> PatientExpression:
        """*Before it became metastatic*: before the first event of that state."""
        left, relation, state = parts
        firsts = []
        for events in self._facts(state, "it became"):
            if events.kind not in (None, "state") or events.concept is None or events.pick != Pick():
                raise Mistake("what a disease becomes is a state", "for example: before it became metastatic")
            firsts.append(Exists(replace(events, kind="state", pick=Pick("first"))))
        return self._ordered([left, relation, any_of_these(firsts)], None)

    def apart(self, parts: list[Any]) -> PatientExpression:
        return self._ordered(parts[:-1], self._one_fact(parts[-1], "with no"))

    def _ordered(self, parts: list[Any], without: Events | None) -> PatientExpression:
        left, (relation, minimum, maximum), *another, right = parts
        different = bool(another) or relation == "beside"
        pairs = self._combinations(relation, left, right)
        orders = tuple(Ordered(one, relation, other, minimum, maximum, different, without) for one, other in pairs)
        return any_of_these(orders)

    def clear(self, parts: list[Any]) -> PatientExpression:
        left, absent, (relation, minimum, maximum) = parts
        if relation not in GAP_RELATIONS:
            raise Mistake("'with no' needs a time", "for example: with no metastasis within 90 days after it")
        stranger = self._one_fact(absent, "with no")
        found = tuple(Clear(one, relation, stranger, minimum, maximum) for one in self._facts(left, "with no"))
        return any_of_these(found)

    def counted_beside(self, n: int, parts: list[Any]) -> PatientExpression:
        """So many days of the first fact in the relation to one of the second."""
        left, (relation, minimum, maximum), right = parts
        counted = self._one_fact(left, "times")
        return any_of_these(
            [Repeated(n, counted, relation, one, minimum, maximum) for one in self._facts(right, "times")]
        )

    def step(self, parts: list[Any]) -> tuple[PatientExpression, Gap]:
        (minimum, maximum), fact, *without = parts
        return fact, Gap(minimum, maximum, self._one_fact(without[0], "with no") if without else None)

    def sequence(self, parts: list[Any]) -> PatientExpression:
        first, *later = parts
        gaps = tuple(gap for _, gap in later)
        chains = self._combinations("then", first, *[fact for fact, _ in later])
        if len(later) == 1:
            (gap,) = gaps
            found: list[PatientExpression] = [
                Ordered(one, "before", other, gap.minimum, gap.maximum, without=gap.without) for one, other in chains
            ]
        else:
            found = [Sequence(tuple(chain), gaps) for chain in chains]
        return any_of_these(found)

    def then_any(self, parts: list[Any]) -> tuple[int, int | None]:
        return 1, None

    def then_within(self, parts: list[Any]) -> tuple[int, int | None]:
        return 1, days(parts[0], parts[1])

    def then_at_least(self, parts: list[Any]) -> tuple[int, int | None]:
        return days(parts[0], parts[1]), None

    def then_between(self, parts: list[Any]) -> tuple[int, int | None]:
        return days(parts[0], parts[2]), days(parts[1], parts[2])

    def _combinations(self, word: str, *sides: PatientExpression) -> list[tuple[Events, ...]]:
        """One fact of each side, in every way."""
        facts = [self._facts(side, word) for side in sides]
        if math.prod(map(len, facts)) > _MOST_PAIRS:
            count = math.prod(map(len, facts))
            raise Mistake(f"'{word}' would compare {count} sets of facts; at most {_MOST_PAIRS} are read")
        return list(itertools.product(*facts))

    def _facts(self, node: PatientExpression, word: str) -> list[Events]:
        """The events that a side of a relation means: one fact, alternatives joined by ``or``, or a name for those."""
        match node:
            case Exists(events):
                return [events]
            case Or(parts):
                return [events for part in parts for events in self._facts(part, word)]
            case Defined(name) if name in self._bodies:
                self._put_in.add(name)
                return self._facts(self._bodies[name], word)
        raise Mistake(
            f"'{word}' relates two single facts, and on one side stands something else",
            "relate the facts one by one: '(A before C) and (B before C)'",
        )

    def _one_fact(self, node: PatientExpression, word: str) -> Events:
        facts = self._facts(node, word)
        if len(facts) > 1:
            raise Mistake(f"'{word}' is of one fact", "name several concepts in one fact: medication (A or B)")
        return facts[0]

    # --- ages, absence, patients -------------------------------------------------------------------------------------

    def age_test(self, parts: list[Any]) -> tuple[int, int | None]:
        operator, bound = OPERATORS.get(parts[0], str(parts[0])), years(parts[1])
        match operator:
            case ">=":
                return bound, None
            case ">":
                return bound + 1, None
            case "<=":
                return 0, bound
            case "<" if bound > 0:
                return 0, bound - 1
        raise Mistake(f"an age cannot be asked as '{operator} {bound}'", "for example: age >= 18 at diagnosis")

    def age_equal(self, parts: list[Any]) -> tuple[int, int | None]:
        return years(parts[0]), years(parts[0])

    def age_between(self, parts: list[Any]) -> tuple[int, int | None]:
        return years(parts[0]), years(parts[1])

    def age_at(self, parts: list[Any]) -> PatientExpression:
        (low, high), fact = parts
        found = tuple(AgeAt(events, None, low, high) for events in self._facts(fact, "age … at"))
        return any_of_these(found)

    def age_on(self, parts: list[Any]) -> AgeAt:
        low, high = parts[0]
        on = one_day(parts[1])
        if on is None:
            raise Mistake("an age is asked on a day", f"for example: on {parts[1]}{'-01' * (2 - parts[1].count('-'))}")
        return AgeAt(None, on, low, high)

    def lacking(self, parts: list[Any]) -> Lacking:
        how = str(parts[0]).split()[0].lower()
        return Lacking(how, self._one_fact(parts[1], f"{how} absence of"))

    def among(self, parts: list[Any]) -> Among:
        return Among(tuple(dict.fromkeys(part.text for part in parts)))

    # --- how one fact lies to the other ------------------------------------------------------------------------------

    def direction(self, parts: list[Any]) -> tuple[str, int]:
        """Which way, and the least number of days: the same day is neither before nor after."""
        return str(parts[0]).lower(), 1

    def same_day_too(self, parts: list[Any]) -> tuple[str, int]:
        return str(parts[1]).lower(), 0

    def gap_any(self, parts: list[Any]) -> tuple[str, int, int | None]:
        return *parts[0], None

    def gap_at_least(self, parts: list[Any]) -> tuple[str, int, int | None]:
        return parts[2][0], days(parts[0], parts[1]), None

    def gap_more_than(self, parts: list[Any]) -> tuple[str, int, int | None]:
        return parts[2][0], days(parts[0], parts[1]) + 1, None

    def gap_at_most(self, parts: list[Any]) -> tuple[str, int, int | None]:
        return *parts[2], days(parts[0], parts[1])

    def gap_within(self, parts: list[Any]) -> tuple[str, int, int | None]:
        longest = days(parts[0], parts[1])
        return (*parts[2], longest) if len(parts) > 2 else ("within", 0, longest)

    def gap_between(self, parts: list[Any]) -> tuple[str, int, int | None]:
        unit = parts[2]
        return (parts[3][0] if len(parts) > 3 else "within"), days(parts[0], unit), days(parts[1], unit)

    def gap_same_day(self, parts: list[Any]) -> tuple[str, int, int | None]:
        return "within", 0, 0

    def during(self, parts: list[Any]) -> tuple[str, int, int | None]:
        return "during", 1, None

    def overlapping(self, parts: list[Any]) -> tuple[str, int, int | None]:
        return "overlapping", 1, None

    def same_specimen(self, parts: list[Any]) -> tuple[str, int, int | None]:
        return "specimen", 1, None

    def beside(self, parts: list[Any]) -> tuple[str, int, int | None]:
        return "beside", 1, None

    # --- one fact -----------------------------------------------------------------------------------------------------


def any_of_these(criteria: SequenceOf[PatientExpression]) -> PatientExpression:
    """One of the criteria, if there are several."""
    return criteria[0] if len(criteria) == 1 else Or(tuple(criteria))
