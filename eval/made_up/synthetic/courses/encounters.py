"""From what happened to what was written: as many notes as are allotted, with what each tells, repeats and copies."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from ..course import Encounter, Fact
from .story import Occasion, Story, later
from .tables import chosen, table


def record(story: Story) -> tuple[tuple[Fact, ...], tuple[Encounter, ...]]:
    """The facts in order of time, and exactly as many encounters as are allotted, in order of time.

    In a record with fewer notes than occasions the most telling ones stay, and the facts of the others are told
    at the next that does. A heavy record is filled with notes of treatment, calls, tests and other complaints.
    """
    last = story.died or story.end
    occasions = sorted((one for one in story.occasions if one.day <= last), key=lambda one: one.day)
    kept_facts = {fact for one in occasions for fact in one.facts if _held(story.facts[fact], last)}
    occasions = _thinned(occasions, story.given.documents)
    occasions = sorted([*occasions, *_fillers(story, occasions, last)], key=lambda one: one.day)
    _scores(story, occasions)
    kept_facts |= {fact for one in occasions for fact in one.facts if story.facts[fact].kind == "performance_status"}
    order = sorted(kept_facts, key=lambda at: (story.facts[at].date or datetime.date.min, at))
    places = {old: new for new, old in enumerate(order)}
    facts = tuple(_ended(story.facts[at], last) for at in order)
    new = [tuple(sorted({places[at] for at in one.facts if at in places})) for one in occasions]
    return facts, tuple(_encounters(story, occasions, new, facts))


def _held(fact: Fact, last: datetime.date) -> bool:
    return fact.date is None or fact.date <= last


def _ended(fact: Fact, last: datetime.date) -> Fact:
    if fact.end_date is None or fact.end_date <= last:
        return fact
    return Fact(fact.kind, fact.concept, fact.value, fact.attributes, fact.date, None, fact.assertion, fact.tumor)


def _thinned(occasions: Sequence[Occasion], most: int) -> list[Occasion]:
    if len(occasions) <= most:
        return list(occasions)
    by_weight = sorted(range(len(occasions)), key=lambda at: (at != len(occasions) - 1, -occasions[at].weight, at))
    kept = sorted(by_weight[:most])
    result = []
    carried: list[int] = []
    for at, one in enumerate(occasions):
        carried += one.facts
        if at in set(kept):
            result.append(Occasion(one.day, one.type, one.purpose, carried, one.weight))
            carried = []
    result[-1].facts += carried
    return result


def _fillers(story: Story, occasions: Sequence[Occasion], last: datetime.date) -> list[Occasion]:
    missing = story.given.documents - len(occasions)
    if missing <= 0:
        return []
    data = table("encounters")
    first = occasions[0].day
    spans = [(start, min(stop, last)) for start, stop in story.treated if start < last]
    whole = max(1, (last - first).days)
    busy = sum(max(0, (stop - start).days) for start, stop in spans)
    # A day of treatment makes six times the notes of a day without.
    share = 6 * busy / (6 * busy + whole) if spans else 0.0
    result = []
    for _ in range(missing):
        if spans and story.happens(share):
            start, stop = chosen(story.rng, spans, [max(1, (stop - start).days) for start, stop in spans])
            day = later(start, story.rng.randrange(0, max(1, (stop - start).days)))
            kinds = data["treatment"]
        else:
            day = later(first, story.rng.randrange(0, whole))
            kinds = data["calm"]
        type, purpose, _ = chosen(story.rng, kinds, [one[-1] for one in kinds])
        result.append(Occasion(min(day, last), type, purpose))
    return result


def _scores(story: Story, occasions: Sequence[Occasion]) -> None:
    """Performance scores at visits of oncology: the last is the allotted one, earlier ones were seldom worse."""
    final = story.given.ecog
    if final is None:
        return
    visits = [one for one in occasions if one.type in ("oncology consult", "progress")] or list(occasions)
    visits = [one for one in visits if one.type != "death"] or visits
    # One score a day, lest two of a day contradict each other.
    days = {one.day: one for one in visits if one.day < visits[-1].day}
    some = [*(one for one in days.values() if story.happens(0.4)), visits[-1]]
    score = max(0, final - story.rng.choice((0, 1, 1, 2)))
    for place, one in enumerate(some):
        if one is some[-1]:
            score = final
        elif story.happens(0.3):
            score = min(4, max(0, score + story.rng.choice((-1, 1) if place * 2 < len(some) else (0, 1))))
            score = min(score, final + 1)
        one.facts.append(
            story.add("performance_status", "ECOG", str(score), one.day, assertion="present", scale="ECOG")
        )


def _encounters(
    story: Story, occasions: Sequence[Occasion], new: Sequence[tuple[int, ...]], facts: Sequence[Fact]
) -> list[Encounter]:
    data = table("encounters")
    repeats, kinds, brief = data["repeats"], set(data["repeated"]["kinds"]), set(data["repeated"]["only_diagnosis"])
    copied = data["copied"][story.given.hospital]
    history: list[int] = []
    diagnoses: list[int] = []
    result: list[Encounter] = []
    progress: list[int] = []
    for at, one in enumerate(occasions):
        recalled: tuple[int, ...] = ()
        most = repeats.get(one.type, 0)
        pool = diagnoses if one.type in brief else history
        if most and pool:
            count = min(len(pool), story.rng.randrange(0 if one.type in brief else most // 2, most + 1))
            # What the tumor is comes first, then what is newest.
            head = diagnoses[: max(1, count // 3)]
            rest = [fact for fact in pool if fact not in head]
            back = rest[max(0, len(rest) - 2 * most) :]
            picked = head[:count] + story.rng.sample(back, min(len(back), max(0, count - len(head))))
            recalled = tuple(sorted(set(picked)))
        pasted = None
        if one.type == "progress":
            if progress and story.happens(copied):
                pasted = progress[-1]
            progress.append(at)
        result.append(Encounter(one.day, one.type, one.purpose, new[at], recalled, pasted))
        for fact in new[at]:
            if facts[fact].kind in kinds and facts[fact].assertion in ("present", "historical"):
                history.append(fact)
                if facts[fact].kind in ("diagnosis", "histology", "stage_group"):
                    diagnoses.append(fact)
    return result
