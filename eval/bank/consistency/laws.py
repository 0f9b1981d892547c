"""The set laws: what *and*, *or*, *not* and *except* must give, whatever the queries, in each of the three worlds.

A law builds a query out of one or two others and says which set it must denote, given the sets that the others denote
when they are asked alone, or says that two queries built so denote one set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from pyroaring import BitMap

from ....engine.api import OpenKb
from ....engine.cohort import Cohort
from ....query_lang import nodes

WORLDS: Final = ("certain", "believed", "possible")
#: The world whose answer bounds the answer of a negation.
OPPOSITE: Final = {"certain": "possible", "believed": "believed", "possible": "certain"}
#: Two sets that a law wants equal (or nested), in a world.
Sides = Iterator[tuple[str, BitMap, BitMap]]


@dataclass(frozen=True)
class Asked:
    """A query, with its negation; each is asked once, and only if a law wants it. QueryError if it cannot be."""

    kb: OpenKb
    ask: Callable[[], Cohort]

    @cached_property
    def cohort(self) -> Cohort:
        """The cohort of *A*."""
        return self.ask()

    @cached_property
    def negation(self) -> Cohort:
        """The cohort of *not A*."""
        return negation(self.kb, self.cohort)


@dataclass(frozen=True)
class Pair:
    """Two queries, A and B, and the two joined."""

    a: Asked
    b: Asked

    @cached_property
    def both(self) -> Cohort:
        """*A and B*."""
        return self.a.cohort & self.b.cohort

    @cached_property
    def either(self) -> Cohort:
        """*A or B*."""
        return self.a.cohort | self.b.cohort

    @cached_property
    def without(self) -> Cohort:
        """*A except B*."""
        return self.a.cohort - self.b.cohort


@dataclass(frozen=True, slots=True)
class Law:
    """A law of one or two queries: its name, what it says of A (and B), and the sets that it wants equal or nested."""

    name: str
    left: str
    right: str
    sides: Callable[[Pair], Sides]
    binary: bool = True
    subset: bool = False


def numbers(cohort: Cohort, world: str) -> BitMap:
    """The dense patient numbers of a cohort in a world."""
    return {"certain": cohort.certain, "believed": cohort.believed, "possible": cohort.possible}[world].numbers


def negation(kb: OpenKb, cohort: Cohort) -> Cohort:
    """The cohort of *not A*, asked anew."""
    return kb.find(nodes.Query(nodes.Not(cohort.query.body), cohort.query.definitions))


def _within(world: str, inner: BitMap, outer: BitMap) -> tuple[str, BitMap, BitMap]:
    """That all of the one are in the other, as sides that are equal."""
    return world, inner, inner & outer


def _equal(left: Cohort, right: Cohort) -> Sides:
    return ((world, numbers(left, world), numbers(right, world)) for world in WORLDS)


def _intersection(pair: Pair) -> Sides:
    """Two facts that are possible, each, need not be so together."""
    a, b = pair.a.cohort, pair.b.cohort
    for world in ("certain", "believed"):
        yield world, numbers(pair.both, world), numbers(a, world) & numbers(b, world)
    yield _within("possible", numbers(pair.both, "possible"), numbers(a, "possible") & numbers(b, "possible"))


def _union(pair: Pair) -> Sides:
    """One of two facts can be certain, and neither by itself."""
    a, b = pair.a.cohort, pair.b.cohort
    for world in ("believed", "possible"):
        yield world, numbers(pair.either, world), numbers(a, world) | numbers(b, world)
    yield _within("certain", numbers(a, "certain") | numbers(b, "certain"), numbers(pair.either, "certain"))


def _difference(pair: Pair) -> Sides:
    a, b = pair.a.cohort, pair.b.cohort
    for world in ("certain", "believed"):
        yield world, numbers(pair.without, world), numbers(a, world) - numbers(b, OPPOSITE[world])
    yield _within("possible", numbers(pair.without, "possible"), numbers(a, "possible") - numbers(b, "certain"))


def _except(pair: Pair) -> Sides:
    return _equal(pair.without, pair.a.cohort & pair.b.negation)


def _not_and(pair: Pair) -> Sides:
    return _equal(negation(pair.a.kb, pair.both), pair.a.negation | pair.b.negation)


def _not_or(pair: Pair) -> Sides:
    return _equal(negation(pair.a.kb, pair.either), pair.a.negation & pair.b.negation)


def _complement(pair: Pair) -> Sides:
    everyone = BitMap(range(len(pair.a.kb.patients)))
    a, other = pair.a.cohort, pair.a.negation
    return ((world, numbers(other, world), everyone - numbers(a, OPPOSITE[world])) for world in WORLDS)


def _double_negation(pair: Pair) -> Sides:
    return _equal(negation(pair.a.kb, pair.a.negation), pair.a.cohort)


def _excluded_middle(pair: Pair) -> Sides:
    a, everyone = pair.a.cohort, BitMap(range(len(pair.a.kb.patients)))
    return ((world, numbers(a | pair.a.negation, world), everyone) for world in WORLDS)


def _contradiction(pair: Pair) -> Sides:
    return _equal(pair.b.cohort | (pair.a.cohort & pair.a.negation), pair.b.cohort)


def _absorption(pair: Pair) -> Sides:
    return _equal(pair.a.cohort & pair.either, pair.a.cohort)


def _both_cases(pair: Pair) -> Sides:
    return _equal(pair.both | pair.without, pair.a.cohort)


def _worlds(pair: Pair) -> Sides:
    a = pair.a.cohort
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
    Law("excluded middle", "A or not A", "everyone", _excluded_middle, binary=False),
    Law("contradiction", "B or (A and not A)", "B", _contradiction),
    Law("absorption", "A and (A or B)", "A", _absorption),
    Law("both cases", "(A and B) or (A except B)", "A", _both_cases),
    Law("worlds", "certain A, believed A", "believed A, possible A", _worlds, binary=False, subset=True),
)
