"""The day that *now* is, from the notes to the answer: kept when they are written, named by who asks, told again."""

from __future__ import annotations

import datetime
import json
from pathlib import Path

import pytest

import cohortium
from cohortium.kb.courses import may_go_on
from cohortium.kb.errors import UsageError
from cohortium.kb.model import Context, DayInterval, Event, Journey, Note, World
from cohortium.kb.storage.reader import KnowledgeBase
from cohortium.kb.storage.writer import build_generation
from cohortium.query_lang.errors import QueryError

LAST = datetime.date(2021, 3, 4)
OLD = datetime.date(2018, 1, 1).toordinal()


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two patients: one on a drug that is told to go on, one operated on long ago; the latest note is of LAST."""
    path = tmp_path_factory.mktemp("now") / "notes.kb"
    day = DayInterval(OLD, OLD)
    drug = Event("P1", "medication", "osimertinib", day, attributes={"status": "ongoing"})
    build_generation(
        path,
        [
            Journey("P1", (Note("P1", "n1", "…", LAST), Note("P1", "n2", "…", None)), events=(drug,)),
            Journey(
                "P2", (Note("P2", "n1", "…", datetime.date(2020, 1, 1)),), events=(Event("P2", "surgery", "", day),)
            ),
        ],
    )
    return path


def test_now_is_the_day_of_the_latest_note(kb: Path) -> None:
    """It is kept in the manifest, told with the answer, and written into the query as it was understood."""
    opened = cohortium.open(kb)
    assert opened.info()["as_of"] == LAST.isoformat()
    found = opened.find("ongoing medication")
    assert (list(found), found.as_of) == (["P1"], LAST.isoformat())
    assert found.resolved == "ongoing medication at 2021-03-04"
    assert found.to_dict()["as_of"] == LAST.isoformat()
    assert list(opened.find(found.resolved)) == ["P1"]
    assert opened.find("surgery").as_of is None
    assert "as_of" not in opened.find("surgery").to_dict()


def test_a_knowledge_base_without_the_entry_looks_at_its_notes(kb: Path) -> None:
    """One that was written before the manifest told the day finds it all the same."""
    store = KnowledgeBase.open(kb)
    assert json.loads(json.dumps(store.manifest))["as_of"] == LAST.isoformat()
    del store.manifest["as_of"]
    assert store.now() == LAST.toordinal()


def test_two_days_are_two_questions(kb: Path) -> None:
    """One knowledge base, opened as of two days: no answer of the one is given for the other."""
    asked = "surgery in the last 2 years"
    early, late = cohortium.open(kb, today="2019-06-30"), cohortium.open(kb, datetime.date(2021, 3, 4))
    for _ in range(2):
        assert (list(early.find(asked)), list(late.find(asked))) == (["P2"], [])
    first, second = early.find(asked), late.find(asked)
    assert first.as_of == (first | early.find("medication")).as_of == "2019-06-30"
    assert (first | second).as_of is None


def test_what_names_now_can_be_verified_and_named(kb: Path) -> None:
    """Proofs are of the day itself; a cohort keeps the day under a name."""
    opened = cohortium.open(kb, today="2019-06-30")
    recent = opened.find("surgery in the last 2 years")
    assert list(opened.find("recent and not death", cohorts={"recent": recent})) == ["P2"]
    assert recent.prove("P2")["query"] == recent.resolved
    assert opened.find("medication since now").why_not("P1").failing


@pytest.mark.parametrize("today", ["yesterday", "2021-13-01", "2021", datetime.date(1000, 1, 1)])
def test_a_day_that_is_none_is_refused(kb: Path, today: str | datetime.date) -> None:
    """A day is written in full, and lies where records do."""
    with pytest.raises(UsageError, match="today is"):
        cohortium.open(kb, today=today)


def test_without_a_dated_note_now_is_unknown(tmp_path: Path) -> None:
    """Silence is not a day."""
    path = tmp_path / "undated.kb"
    build_generation(path, [Journey("P", (Note("P", "n", "…", None),))])
    opened = cohortium.open(path)
    assert opened.info()["as_of"] is None
    with pytest.raises(QueryError, match="no note has a date"):
        opened.find("surgery before now")
    assert len(cohortium.open(path, "2021-03-04").find("surgery before now")) == 0


@pytest.mark.parametrize(
    ("status", "reason", "world"),
    [
        ("", "none", World.BELIEVED),
        ("Ongoing", "none", World.CERTAIN),
        ("on_hold", "none", World.POSSIBLE),
        ("completed", "none", World.NONE),
        ("ongoing", "discontinued", World.NONE),
        ("ongoing", "held", World.POSSIBLE),
        ("as needed", "none", World.BELIEVED),
    ],
)
def test_status_and_reason_say_whether_a_course_goes_on(status: str, reason: str, world: World) -> None:
    """The stricter of the two counts; words that say nothing of it leave it as believed."""
    event = Event("P", "medication", "", attributes={"status": status}, context=Context(reason=reason))
    assert may_go_on(event) is world
