"""The consistency run: every pair and every law is asked of a knowledge base, and the answers are held together.

Paraphrases: section 4.4.1 of the Automatic Cohort Retrieval paper (|A - B| and |B - A| must both be 0); intersections:
4.4.2; subtypes: 4.4.3 (|child - parent| must be 0). The laws are those that every query obeys (``laws``).
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from pyroaring import BitMap

from ....engine.api import OpenKb
from ....engine.api import open as open_kb
from ....engine.cohort import Cohort
from ....kb.version import __version__
from ....query_lang import nodes
from ....query_lang.errors import QueryError
from ....query_lang.tree import decided_by
from ..acr.bank import BankQuery, load_bank
from .laws import LAWS, WORLDS, Asked, Law, Pair, Sides, numbers
from .pairs import (
    Intersection,
    Paraphrase,
    Subtype,
    load_intersections,
    load_paraphrases,
    load_subtypes,
    written,
)
from .report import Compared, Difference, Report

_BELIEVED: Final = ("believed",)


def run_consistency(
    kb: str | Path | OpenKb,
    *,
    paraphrases: Sequence[Paraphrase] | None = None,
    intersections: Sequence[Intersection] | None = None,
    subtypes: Sequence[Subtype] | None = None,
    bank: Sequence[BankQuery] | None = None,
) -> Report:
    """Holds a knowledge base (path or open session) to the shipped pairs, or to those given, and to the set laws.

    ``bank``: the queries that the laws are held to (by default the whole bank). MissingKb or SchemaVersionError for the
    knowledge base. A query that it cannot answer makes its pair fail, with the reason.
    """
    if not isinstance(kb, OpenKb):
        with open_kb(kb) as session:
            return run_consistency(
                session, paraphrases=paraphrases, intersections=intersections, subtypes=subtypes, bank=bank
            )
    ask = _Session(kb)
    sections = {
        "paraphrases": [ask.paraphrase(one) for one in (load_paraphrases() if paraphrases is None else paraphrases)],
        "intersections": [
            ask.intersection(one) for one in (load_intersections() if intersections is None else intersections)
        ],
        "subtypes": list(ask.subtypes(load_subtypes() if subtypes is None else subtypes)),
        "laws": list(ask.laws(LAWS, load_bank() if bank is None else bank)),
    }
    return Report(sections, _signature(kb, {name: len(compared) for name, compared in sections.items()}))


class _Session:
    """One knowledge base that is asked; each text is asked once."""

    def __init__(self, kb: OpenKb) -> None:
        self.kb = kb
        self._cohorts: dict[str, Cohort] = {}

    def find(self, text: str) -> Cohort:
        cohort = self._cohorts.get(text)
        if cohort is None:
            cohort = self._cohorts[text] = self.kb.find(written(text))
        return cohort

    def paraphrase(self, pair: Paraphrase) -> Compared:
        """Equal sets, in the worlds in which that is expected."""

        def sides() -> Sides:
            left, right = self.find(pair.left), self.find(pair.right)
            for world in _BELIEVED if pair.believed_only else WORLDS:
                yield world, numbers(left, world), numbers(right, world)

        return self._compared(pair.kind, pair.left, pair.right, sides)

    def intersection(self, triple: Intersection) -> Compared:
        """The answer to both, against what the two answers have in common; of what is possible, within it: two facts
        that are possible, each, need not be so together."""

        def sides() -> Sides:
            left, right = self.find(triple.left), self.find(triple.right)
            both = self.find(triple.both) if triple.both else left & right
            for world in WORLDS:
                found, common = numbers(both, world), numbers(left, world) & numbers(right, world)
                yield world, found, found & common if world == "possible" else common

        intersection = triple.both or f"({triple.left}) and ({triple.right})"
        kind = "written" if triple.both else "joined"
        return self._compared(kind, intersection, f"{triple.left} & {triple.right}", sides)

    def subtypes(self, pairs: Iterable[Subtype]) -> Iterator[Compared]:
        """The child's answer within the parent's: in all worlds where both are monotone, else in the believed one."""
        for pair in pairs:

            def sides(pair: Subtype = pair) -> Sides:
                child, parent = self.find(f"bank {pair.child}"), self.find(f"bank {pair.parent}")
                both = is_monotone(child.query) and is_monotone(parent.query)
                for world in WORLDS if both else _BELIEVED:
                    yield world, numbers(child, world), numbers(parent, world)

            yield self._compared(
                "subtype", f"bank {pair.child}", f"bank {pair.parent} ({pair.reason})", sides, subset=True
            )

    def laws(self, laws: Sequence[Law], bank: Sequence[BankQuery]) -> Iterator[Compared]:
        """Each law of each bank query; a law of two, of the query and the one with which it shares most."""
        asked = [Asked(self.kb, functools.partial(self.find, one.query)) for one in bank]
        answers = [self._answer(one) for one in bank]
        for place, one in enumerate(bank):
            other = _partner(place, answers)
            pair = Pair(asked[place], asked[other])
            for law in laws:
                letters = f"A = bank {one.id}" + (f", B = bank {bank[other].id}" if law.binary else "")
                yield self._compared(
                    law.name,
                    f"{law.left}; {letters}",
                    f"{law.right}; {letters}",
                    functools.partial(law.sides, pair),
                    law.subset,
                )

    def _answer(self, one: BankQuery) -> BitMap:
        try:
            return self.find(one.query).numbers
        except QueryError:
            return BitMap()

    def _compared(
        self,
        kind: str,
        left: str,
        right: str,
        sides: Callable[[], Sides],
        subset: bool = False,
    ) -> Compared:
        """The comparison of the sides, world by world; of a subset only what the left side has beyond the right."""
        differences = []
        empty = True
        try:
            for world, ours, theirs in sides():
                if world == "believed":
                    empty = not ours and (subset or not theirs)
                more, fewer = ours - theirs, BitMap() if subset else theirs - ours
                if more or fewer:
                    differences.append(Difference(world, self._patients(more), self._patients(fewer)))
        except QueryError as error:
            return Compared(kind, left, right, error=str(error).splitlines()[0])
        return Compared(kind, left, right, empty, tuple(differences))

    def _patients(self, found: BitMap) -> tuple[str, ...]:
        return tuple(self.kb.patients[number] for number in found)


def _partner(place: int, answers: Sequence[BitMap]) -> int:
    """Which other answer shares most with the one at ``place`` while each has patients of its own.

    A law of two sets shows little where the two are apart, or one lies in the other.
    """
    mine = answers[place]

    def shared(other: int) -> int:
        theirs = answers[other]
        return len(mine & theirs) if mine - theirs and theirs - mine else 0

    return max((other for other in range(len(answers)) if other != place), key=shared, default=place)


def is_monotone(query: nodes.Query) -> bool:
    """Whether more facts can only add patients: no *not*, *except* or pick (first, latest, worst …) between criteria.

    Conditions on one event do not matter here: in each world they are asked of the same events.
    """
    bodies = [query.body, *(definition.body for definition in query.definitions)]
    while bodies:
        node = bodies.pop()
        match node:
            case nodes.Not() | nodes.Except():
                return False
            case nodes.Exists(events) if events.pick.how != "any":
                return False
            case nodes.Ordered(left, _, right) if {left.pick.how, right.pick.how} != {"any"}:
                return False
        bodies += decided_by(node)
    return True


def _signature(kb: OpenKb, pairs: dict[str, int]) -> dict[str, Any]:
    """What makes the run repeatable: the program, the knowledge base (its generation hashes its content), the pairs."""
    info = kb.info()
    files = sorted(Path(__file__).parent.glob("*.tsv"))
    return {
        "command": "cohortium eval consistency",
        "cohortium": __version__,
        "kb": {name: info[name] for name in ("generation", "schema_version", "versions", "patients") if name in info},
        "pairs": pairs,
        "pairs_sha256": hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest(),
    }
