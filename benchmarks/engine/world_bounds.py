"""Completions of generated records against the certain and possible answers: sound, and how tight? Takes a seed.

    python -m benchmarks.engine.world_bounds --seed 1 --json bounds.json

Two runs. *Counted out*: small records whose every completion is answered, so that the exact certain and possible
answers are known, and with them how often each bound is exact. *Sampled*: records with dates as notes give them, of
which so many completions are drawn. A pair is one record, which leaves something open, and one query about its own
facts, as generous with picks, windows, order and scope as no user is. In both runs, each completion must lie between
the bounds, and believed must be the answer of the designated completion. What is drawn depends on the seed and the
number of the group alone; one group is run again with ``--only GROUP``.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Final

from benchmarks.signature import command_line, markdown, signature
from cohortium.engine.reference.meaning import Meaning
from cohortium.engine.reference.views import View
from cohortium.kb.model import Journey, World
from cohortium.query_lang import nodes
from tests.generated.completions import believed_completion, completions, number_of_completions, random_completion
from tests.generated.queries import features, query
from tests.generated.records import CONCEPTS, NARROW_SHAPES, SCALES, SHAPES, records

MOST_COMPLETIONS: Final = 2_000
SAMPLED_COMPLETIONS: Final = 300
#: In a group: records, and queries of each.
RECORDS: Final = 8
QUERIES: Final = 10

#: What queries contain, as the tables name it, and the features that say so.
_FAMILIES: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("same tumor", ("node: SameTumor",)),
    ("same event", ("node: SameEvent",)),
    ("order in time", ("node: Ordered",)),
    ("window", ("node: Window",)),
    ("first or latest", ("pick: first", "pick: latest", "pick: nth 1")),
    ("2nd or 3rd", ("pick: nth 2", "pick: nth 3")),
    ("worst or best", ("pick: worst", "pick: best")),
    ("no pick, order or scope", ()),
    ("not or except", ("node: Not", "node: Except")),
    ("and", ("node: And",)),
    ("or", ("node: Or",)),
    ("at least", ("node: AtLeast",)),
    ("definition", ("node: Definition",)),
    ("condition on attributes", ("node: Is", "node: Compare", "node: Between", "node: Documented")),
)
_COMPLEX: Final = tuple(feature for _, some in _FAMILIES[:3] + _FAMILIES[4:7] for feature in some)


@dataclass(frozen=True)
class Prepared:
    """A record with the views of its completions."""

    journey: Journey
    view: View
    completed: tuple[View, ...]
    designated: View

    @classmethod
    def of(cls, journey: Journey, completed: Iterable[Journey]) -> Prepared:
        return cls(
            journey,
            View.from_journey(journey),
            tuple(View.from_journey(one) for one in completed),
            View.from_journey(believed_completion(journey)),
        )


@dataclass
class Tally:
    """Of one run: pairs, completions, violations, and for each row of the table the counts of its columns."""

    pairs: int = 0
    completions: int = 0
    open_answers: int = 0
    violations: list[dict[str, Any]] = field(default_factory=list)
    rows: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, place: str, asked: nodes.Query, prepared: Prepared) -> None:
        """Answer one query on one record and on its completions."""
        certain, believed, possible = (
            _holds(asked, prepared.view, world) for world in (World.CERTAIN, World.BELIEVED, World.POSSIBLE)
        )
        truths: set[bool] = set()
        for view in prepared.completed:
            truths.add(_holds(asked, view))
            # When an answer is so in one completion and not in another, nothing more can be learnt.
            if len(truths) == 2:
                break
        self.pairs += 1
        self.completions += len(prepared.completed)
        self.open_answers += len(truths) == 2
        wrong = []
        if certain and False in truths:
            wrong.append("certain, and a completion says no")
        if not possible and True in truths:
            wrong.append("not possible, and a completion says yes")
        if believed != _holds(asked, prepared.designated):
            wrong.append("believed is not the answer of the designated completion")
        if certain > believed or believed > possible:
            wrong.append("certain, believed and possible are not nested")
        for what in wrong:
            self.violations.append(
                {"pair": place, "what": what, "query": repr(asked), "events": list(map(repr, prepared.journey.events))}
            )
        counts = Counter(
            pairs=1,
            surely=truths == {True},
            surely_found=certain and truths == {True},
            never=truths == {False},
            never_found=not possible and truths == {False},
            certain_exact=certain == (truths == {True}),
            possible_exact=possible == (True in truths),
            open_told=certain != possible,
            open_is=certain != possible and len(truths) == 2,
        )
        for row in _rows(asked):
            self.rows.setdefault(row, Counter()).update(counts)


def _holds(asked: nodes.Query, view: View, world: World = World.BELIEVED) -> bool:
    return Meaning(CONCEPTS, SCALES, asked.definitions).holds(asked.body, view, world)


def _rows(asked: nodes.Query) -> Iterator[str]:
    """The rows of the table that the query counts in."""
    yield "all"
    yield f"outermost: {type(asked.body).__name__}"
    found = features(asked)
    for name, wanted in _FAMILIES:
        if found.intersection(wanted) or not wanted and not found.intersection(_COMPLEX):
            yield f"contains: {name}"


def counted_out(seed: int, group: int) -> list[Prepared]:
    """Small records that leave something open, each with every completion."""
    drawn: list[Prepared] = []
    for attempt in range(1_000):
        for journey in records(Random(f"bounds/{seed}/{group}/{attempt}"), RECORDS, NARROW_SHAPES):
            if 2 <= number_of_completions(journey) <= MOST_COMPLETIONS:
                every = list(completions(journey))
                # Shuffled, for neighbours differ by a day alone and answer alike.
                Random(f"bounds/{seed}/{group}/order").shuffle(every)
                drawn.append(Prepared.of(journey, every))
        if len(drawn) >= RECORDS:
            break
    return drawn[:RECORDS]


def sampled(seed: int, group: int) -> list[Prepared]:
    """Records with dates as notes give them, those that leave something open, each with completions drawn at random."""
    random = Random(f"bounds/{seed}/{group}/sampled")
    return [
        Prepared.of(journey, [random_completion(random, journey) for _ in range(SAMPLED_COMPLETIONS)])
        for journey in records(random, RECORDS, SHAPES)
        if number_of_completions(journey) > 1
    ]


def measure(tally: Tally, seed: int, group: int, prepared: Sequence[Prepared]) -> None:
    """Ask about each record of one group."""
    for position, one in enumerate(prepared):
        for number in range(QUERIES):
            asked = drawn_query(seed, group, position, number, one)
            tally.add(f"group {group}, record {position}, query {number}", asked, one)


def drawn_query(seed: int, group: int, position: int, number: int, prepared: Prepared) -> nodes.Query:
    """The ``number``-th query about the record at this position of its group."""
    return query(Random(f"bounds/{seed}/{group}/{position}/{number}"), [prepared.journey])


def report(tally: Tally) -> dict[str, Any]:
    """The counts as they are."""
    return {
        "pairs": tally.pairs,
        "completions": tally.completions,
        "pairs_whose_answer_is_open": tally.open_answers,
        "violations": tally.violations,
        "rows": {name: dict(counts) for name, counts in sorted(tally.rows.items())},
    }


def table(found: dict[str, Any], exact: bool) -> str:
    """For people. ``exact``: every completion was answered; else shares tell of the completions drawn alone."""
    header = (
        "query",
        "pairs",
        "certain bound exact",
        "possible bound exact",
        "so in every completion: found",
        "so in no completion: found",
        "bounds differ: answer is open",
    )
    if not exact:
        header = (header[0], header[1], *(f"{name} (of those drawn)" for name in header[2:]))

    def share(part: int, whole: int) -> str:
        return f"{part:,} of {whole:,} ({100 * part / whole:.1f}%)" if whole else "0 of 0"

    rows = [
        (
            name,
            counts["pairs"],
            counts["certain_exact"] / counts["pairs"],
            counts["possible_exact"] / counts["pairs"],
            share(counts["surely_found"], counts["surely"]),
            share(counts["never_found"], counts["never"]),
            share(counts["open_is"], counts["open_told"]),
        )
        for name, counts in sorted(found["rows"].items(), key=lambda row: (row[0] != "all", row[0].startswith("c")))
    ]
    return markdown(header, rows)


def main() -> int:
    """0 when no completion lies outside the bounds."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--groups", type=int, default=150, help=f"each of {RECORDS} records, {QUERIES} queries of each")
    parser.add_argument("--only", type=int, metavar="GROUP", help="run this one group of the seed")
    parser.add_argument("--json", type=Path, metavar="OUT")
    asked = parser.parse_args()
    started = time.perf_counter()
    tallies = {"counted out": Tally(), "sampled": Tally()}
    for group in range(asked.groups) if asked.only is None else (asked.only,):
        measure(tallies["counted out"], asked.seed, group, counted_out(asked.seed, group))
        measure(tallies["sampled"], asked.seed, group, sampled(asked.seed, group))
    found = {name: report(tally) for name, tally in tallies.items()}
    signed = {**signature(command_line(), asked.seed), "seconds": round(time.perf_counter() - started, 1)}
    if asked.json:
        asked.json.write_text(json.dumps({"signature": signed, **found}, indent=1) + "\n", encoding="utf-8")
    for name, one in found.items():
        print(
            f"{name}: {one['pairs']:,} pairs, {one['completions']:,} completions, "
            f"{one['pairs_whose_answer_is_open']:,} pairs with an open answer, {len(one['violations'])} violations\n"
        )
        print(table(one, exact=name == "counted out") + "\n")
    print(", ".join(f"{name} {value}" for name, value in signed.items()))
    violations = [violation for one in found.values() for violation in one["violations"]]
    for violation in violations[:10]:
        print(f"\npair {violation['pair']}: {violation['what']}\n{violation['query']}", *violation["events"], sep="\n")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
