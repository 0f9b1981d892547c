"""The picture of a record: what is drawn, where, and what is left out."""

from __future__ import annotations

import datetime
from random import Random

import pytest

from cohortium.engine.report.timeline import LABELS, MOST_ROWS, WIDTH, Mark, Picture, picture
from cohortium.kb.kinds import KINDS
from cohortium.kb.model import EARLIEST_DAY, LATEST_DAY, Context, DayInterval, Event, Journey, Polarity, World
from tests.amounts import examples
from tests.generated.records import CONCEPTS, records


def day(text: str) -> DayInterval:
    """The day, or the days from one to another: ``2019-03-04`` or ``2019-03-04/2019-04-01``."""
    low, _, high = text.partition("/")
    ordinals = [datetime.date.fromisoformat(one).toordinal() for one in (low, high or low)]
    return DayInterval(*ordinals)


def drawn(*events: Event, told: tuple[str, ...] = ()) -> Picture:
    """The picture of a record of these events."""
    return picture(Journey("P", events=events), CONCEPTS, told)


def marks(found: Picture) -> list[Mark]:
    """All marks, from top to bottom."""
    return [mark for lane in found.lanes for row in lane.rows for mark in row.marks]


@pytest.mark.parametrize("seed", range(examples(40)))
def test_each_event_of_a_world_is_drawn_once_and_inside(seed: int) -> None:
    """Whatever its dates; the others are counted, and the same record gives the same picture."""
    for journey in records(Random(seed), 5):
        found = picture(journey, CONCEPTS)
        worlds = sorted(event.world.name.lower() for event in journey.events if event.world > World.NONE)
        assert sorted(mark.world for mark in marks(found)) == worlds
        assert len(worlds) + found.events_left_out == len(journey.events)
        for mark in marks(found):
            assert mark.x >= LABELS
            assert mark.width > 0
            assert mark.x + mark.width <= WIDTH
            assert mark.undated == (mark.x < found.left)
        places = [row.y for lane in found.lanes for row in lane.rows]
        assert places == sorted(set(places))
        assert all(found.left <= x <= WIDTH for x, _ in found.ticks)
        assert found == picture(journey, CONCEPTS)


def test_a_later_event_stands_further_right() -> None:
    """An interval is as wide as its days, a day as wide as can be seen."""
    found = marks(
        drawn(
            Event("P", "stage", "", day("2019-01-01")),
            Event("P", "stage", "", day("2020-01-01")),
            Event("P", "stage", "", day("2021-01-01/2021-12-31")),
        )
    )
    first, second, third = found
    assert first.x < second.x < third.x
    assert third.width == pytest.approx(second.x - first.x, rel=0.02)
    assert first.width == second.width < third.width


def test_what_the_record_leaves_open_reaches_to_the_border() -> None:
    """Since a day: to the last known one; until a day: from the first known one; never: beside the axis."""
    found = drawn(
        Event("P", "stage", "", day("2019-01-01")),
        Event("P", "stage", "", day("2021-01-01")),
        Event("P", "tnm", "", DayInterval(day("2020-01-01").low, LATEST_DAY)),
        Event("P", "grade", "", DayInterval(EARLIEST_DAY, day("2020-01-01").low)),
        Event("P", "death", ""),
    )
    by_name = {row.name: row.marks for lane in found.lanes for row in lane.rows}
    first, last = by_name["stage"]
    (since,), (until,), (never,) = by_name["tnm"], by_name["grade"], by_name["death"]
    assert since.x + since.width == pytest.approx(last.x + last.width / 2, abs=1)
    assert until.x == pytest.approx(first.x + first.width / 2, abs=1)
    assert until.x + until.width == pytest.approx(since.x, abs=1)
    assert never.undated


def test_a_course_lasts_until_its_end() -> None:
    """From its first day to the last on which it may have ended."""
    one = Event("P", "medication", "cisplatin", day("2019-01-01"), day("2019-12-31"))
    (course, other) = marks(drawn(one, Event("P", "medication", "carboplatin", day("2019-01-01/2019-12-31"))))
    assert course.width == other.width


def test_what_did_not_happen_is_counted_and_not_drawn() -> None:
    """A denied event is in no world."""
    denied = Event("P", "symptom", "", context=Context(polarity=Polarity.ABSENT), world=World.NONE)
    found = drawn(denied)
    assert not found.lanes
    assert found.events_left_out == 1
    assert found.summary == "P: 0 events, none of them dated"


def test_rows_that_the_answer_rests_on_come_before_others() -> None:
    """Where not all rows fit, they are among those that are drawn."""
    many = [Event("P", "state", f"state {number}", day("2019-01-01")) for number in range(MOST_ROWS + 5)]
    last = Event("P", "symptom", "told", day("2019-01-01"))
    plain = drawn(*many, last)
    assert plain.rows_left_out == 6
    assert not any(mark.told for mark in marks(plain))
    (text,) = (mark.text for mark in marks(drawn(last)))
    found = drawn(*many, last, told=(text,))
    assert [mark.text for mark in marks(found) if mark.told] == [text]
    assert sum(len(lane.rows) for lane in found.lanes) == MOST_ROWS


def test_every_kind_has_a_lane() -> None:
    """No event is without a place."""
    found = drawn(*(Event("P", kind, "", day("2019-01-01")) for kind in KINDS))
    assert {row.name for lane in found.lanes for row in lane.rows} == {kind.replace("_", " ") for kind in KINDS}


@pytest.mark.parametrize(
    ("last", "words"),
    [
        ("2019-03-30", ["2019-04"]),
        ("2019-12-30", ["2019-04", "2019-05", "2019-06", "2019-07"]),
        ("2021-06-01", ["2019-04", "2019-07", "2019-10", "2020-01"]),
        ("2055-06-01", ["2020", "2025", "2030", "2035"]),
    ],
)
def test_ticks_are_first_days_of_months_or_years(last: str, words: list[str]) -> None:
    """As far apart as leaves twelve of them at most."""
    found = drawn(Event("P", "stage", "", day("2019-03-04")), Event("P", "stage", "", day(last)))
    assert [word for _, word in found.ticks][: len(words)] == words
    assert len(found.ticks) <= 12
