"""The set laws: what *and*, *or*, *not* and *except* must give, whatever the queries, in each of the three worlds.

A law builds a query out of one or two others and says which set it must denote, given the sets that the others denote
when they are asked alone, or says that two queries built so denote one set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from pyroaring import BitMap

from ...engine.api import OpenKb
from ...engine.cohort import Cohort
from ...query_lang import nodes

WORLDS: Final = ("certain", "believed", "possible")
#: The world whose answer bounds the answer of a negation.
OPPOSITE: Final = {"certain": "possible", "believed": "believed", "possible": "certain"}
#: Two sets that a law wants equal, in a world.
Sides = Iterator[tuple[str, BitMap, BitMap]]


@dataclass(frozen=True, slots=True)
class Law:
    """A law of one or two queries: its name, what it says of A (and B), and the sets that it wants equal or nested."""

    name: str
    left: str
    right: str
    sides: Callable[[OpenKb, Cohort, Cohort], Sides]
    binary: bool = True
    subset: bool = False


def numbers(cohort: Cohort, world: str) -> BitMap:
    """The dense patient numbers of a cohort in a world."""
    return {"certain": cohort.certain, "believed": cohort.believed, "possible": cohort.possible}[world].numbers


def negation(kb: OpenKb, cohort: Cohort) -> Cohort:
    """The cohort of *not A*."""
    return kb.find(nodes.Query(nodes.Not(cohort.query.body), cohort.query.definitions))


def _both(left: Cohort, right: Cohort) -> Sides:
    return ((world, numbers(left, world), numbers(right, world)) for world in WORLDS)


def _intersection(kb: OpenKb, a: Cohort, b: Cohort) -> Sides:
    asked = a & b
    return ((world, numbers(asked, world), numbers(a, world) & numbers(b, world)) for world in WORLDS)


def _union(kb: OpenKb, a: Cohort, b: Cohort) -> Sides:
    asked = a | b
    return ((world, numbers(asked, world), numbers(a, world) | numbers(b, world)) for world in WORLDS)


def _difference(kb: OpenKb, a: Cohort, b: Cohort) -> Sides:
    asked = a - b
    return ((world, numbers(asked, world), numbers(a, world) - numbers(b, OPPOSITE[world])) for world in WORLDS)


def _except(kb: OpenKb, a: Cohort, b: Cohort) -> Sides:
    return _both(a - b, a & negation(kb, b))


def _not_and(kb: OpenKb, a: Cohort, b: Cohort) -> Sides:
    return _both(negation(kb, a & b), negation(kb, a) | negation(kb, b))


def _not_or(kb: OpenKb, a: Cohort, b: Cohort) -> Sides:
    return _both(negation(kb, a | b), negation(kb, a) & negation(kb, b))


def _complement(kb: OpenKb, a: Cohort, _: Cohort) -> Sides:
    everyone = BitMap(range(len(kb.patients)))
    asked = negation(kb, a)
    return ((world, numbers(asked, world), everyone - numbers(a, OPPOSITE[world])) for world in WORLDS)


def _double_negation(kb: OpenKb, a: Cohort, _: Cohort) -> Sides:
    return _both(negation(kb, negation(kb, a)), a)


def _nested(kb: OpenKb, a: Cohort, _: Cohort) -> Sides:
    yield "certain", a.certain.numbers, a.believed.numbers
    yield "believed", a.believed.numbers, a.possible.numbers


#: In this order they are run and reported.
LAWS: Final = (
    Law("intersection", "A and B", "A & B", _intersection),
    Law("union", "A or B", "A | B", _union),
    Law("difference", "A except B", "A - B", _difference),
    Law("except", "A except B", "A and not B", _except),
    Law("not and", "not (A and B)", "not A or not B", _not_and),
    Law("not or", "not (A or B)", "not A and not B", _not_or),
    Law("complement", "not A", "everyone - A", _complement, binary=False),
    Law("double negation", "not not A", "A", _double_negation, binary=False),
    Law("worlds", "certain A, believed A", "believed A, possible A", _nested, binary=False, subset=True),
)
