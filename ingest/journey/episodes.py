"""Episodes: what was over and came again is another event.

Spread to an organ that was free of it in between (by an image, by a state without disease) has come back, and so have
new lesions that an image shows later; a complaint
or a harm of which no note speaks for a while, and then again, is another one.
"""

from __future__ import annotations

import bisect
from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from ...kb.model import EARLIEST_DAY, Polarity, Temporality
from ..binding.lesions import NEW
from ..recognizers.spread import LESION
from .bench import Workbench, is_dated, is_own
from .facts import Fact

#: Of which a later telling may be another: those that come and go.
_COME_AND_GO: Final = frozenset({"symptom", "adverse_event"})
#: Days without a word of it, after which it has come again.
_SILENT: Final = 60
#: How new lesions are told; and so near (days) to what was told before they are the same.
_NEW_LESION: Final = f"{LESION} {NEW}"
_NEAR: Final = 31
#: A state in which no tumor is left.
_WITHOUT_DISEASE: Final = frozenset({"no_evidence_of_disease", "complete_response", "remission"})


def part_episodes(bench: Workbench) -> None:
    """Number the episodes of what came again."""
    told: dict[tuple[str, str, str], list[Fact]] = defaultdict(list)
    free: list[Fact] = []
    for fact in bench.facts:
        if not is_own(fact) or fact.rejected or fact.day.low <= EARLIEST_DAY:
            continue
        if fact.kind == "metastasis" and fact.context.polarity is Polarity.ABSENT:
            free.append(fact)
        elif fact.context.really_happened:
            if fact.kind == "metastasis" or fact.kind in _COME_AND_GO:
                told[fact.kind, fact.concept, fact.tumor].append(fact)
            elif fact.kind == "state" and fact.concept in _WITHOUT_DISEASE:
                free.append(fact)
    for (kind, concept, _), facts in told.items():
        if len(facts) < 2:
            continue
        facts.sort(key=lambda fact: (fact.day.high, fact.note, fact.mention.start))
        if kind == "metastasis":
            _part_spread(bench, concept, facts, free)
        else:
            _part_complaints(facts)


def _part_spread(bench: Workbench, organ: str, facts: Sequence[Fact], free: Sequence[Fact]) -> None:
    """A fact told of a day behind one on which the organ was free, or of new lesions, begins another episode."""
    days = sorted(
        fact.day.high
        for fact in free
        if is_dated(fact) and (fact.kind == "state" or bench.concepts.is_a(organ, fact.concept))
    )
    episode, last = 0, facts[0].day.high
    for fact in facts[1:]:
        clear = bisect.bisect_right(days, last)
        came_back = clear < len(days) and days[clear] < fact.day.low
        more_came_up = fact.mention.source == _NEW_LESION and fact.day.low > last + _NEAR
        if is_dated(fact) and (came_back or more_came_up):
            episode += 1
        fact.episode = episode
        last = max(last, fact.day.high)


def _part_complaints(facts: Sequence[Fact]) -> None:
    episode, last = 0, facts[0].day.high
    for fact in facts[1:]:
        if fact.day.low - last > _SILENT and fact.context.temporality is Temporality.CURRENT and not fact.copied:
            episode += 1
        fact.episode = episode
        last = max(last, fact.day.high)
