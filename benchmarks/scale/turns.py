"""Measuring several contenders by turns, so that whatever else the machine does falls on all of them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

#: One answer, and what it took: seconds on the wall, seconds of processors.
Call = Callable[[], "Spent"]


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds on the wall and seconds of all processors together."""

    wall: float
    processor: float


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a contender is measured: ``least`` to ``most`` rounds, no further one after ``seconds``."""

    least: int = 3
    most: int = 15
    seconds: float = 3.0
    warm_up: int = 2


@dataclass(frozen=True, slots=True)
class Spread:
    """The rounds of one contender in milliseconds: median, quartiles, extremes; median processor time."""

    median: float
    quartiles: tuple[float, float]
    extremes: tuple[float, float]
    processor: float
    rounds: int

    def as_dict(self) -> dict[str, Any]:
        """For JSON, to the microsecond."""
        return {
            "median_ms": round(self.median, 3),
            "quartiles_ms": [round(one, 3) for one in self.quartiles],
            "extremes_ms": [round(one, 3) for one in self.extremes],
            "processor_ms": round(self.processor, 3),
            "rounds": self.rounds,
        }


def timed(call: Callable[[], object]) -> Call:
    """What a call in this process takes."""

    def measured() -> Spent:
        wall, processor = time.perf_counter(), time.process_time()
        call()
        return Spent(time.perf_counter() - wall, time.process_time() - processor)

    return measured


def by_turns(contenders: Mapping[str, Call], patience: Patience) -> dict[str, Spread]:
    """Every contender once, then every one again: who has had enough is left out of further rounds."""
    spent: dict[str, list[Spent]] = {name: [] for name in contenders}
    for call in contenders.values():
        # A slow contender warms up once: what it warms is the file, which the first call has read.
        for _ in range(patience.warm_up):
            if call().wall > patience.seconds / 2:
                break
    going = dict(contenders)
    while going:
        for name, call in list(going.items()):
            found = spent[name]
            found.append(call())
            enough = len(found) >= patience.most or sum(one.wall for one in found) >= patience.seconds
            if enough and len(found) >= patience.least:
                del going[name]
    return {name: spread(found) for name, found in spent.items()}


def spread(spent: list[Spent]) -> Spread:
    """Of one round or more."""
    walls = sorted(one.wall * 1000 for one in spent)
    low, _, high = statistics.quantiles(walls, n=4, method="inclusive") if len(walls) > 1 else (walls[0],) * 3
    return Spread(
        statistics.median(walls),
        (low, high),
        (walls[0], walls[-1]),
        statistics.median(one.processor * 1000 for one in spent),
        len(walls),
    )
