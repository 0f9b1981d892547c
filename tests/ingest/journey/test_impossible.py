"""Impossible orders: every row of ``impossible.toml`` is tried on notes made from the row itself."""

from __future__ import annotations

import datetime
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from typing import Any

import pytest

from cohortium.ingest.journey.build import build_journey
from cohortium.ingest.note.read import shared_reader
from cohortium.kb.model import Decision, Event, Journey, Note, World

TABLE: dict[str, Any] = tomllib.loads(
    resources.files("cohortium.ingest.journey").joinpath("impossible.toml").read_text("utf-8")
)
ROWS: list[dict[str, Any]] = TABLE["impossible"]
REORDERED = "possible order over impossible"
DISTRUSTED = "better supported over impossible"
EARLIER, LATER = datetime.date(2015, 3, 1), datetime.date(2018, 6, 1)
#: What notes say in place of a concept's own name.
SAID = {"breast_conserving_surgery": "lumpectomy"}


@dataclass(frozen=True)
class Trial:
    """A row with one of its removals and one of the events that need the organ."""

    row: dict[str, Any]
    removal: str
    event: str
    kind: str

    def __str__(self) -> str:
        return f"{self.row['name']}: {self.event}"


def name_of(concept: str) -> str:
    """What notes call a concept."""
    return SAID.get(concept) or shared_reader().concepts.name(concept)


def trials() -> Iterator[Trial]:
    """Each row with each concept or kind that it names."""
    concepts = shared_reader().concepts
    kind_of = {"state": "state", "condition": "comorbidity", "radiation": "radiation", "tumor": "diagnosis"}
    for row in ROWS:
        places = [name_of(site) for site in row.get("at", ())]
        side = {"same": "left ", "both": "bilateral "}.get(row.get("side", ""), "")
        removed = side + row["only"][0] if "only" in row else side + name_of((row.get("removed_by") or ["death"])[0])
        if row.get("kinds_removed") == ["death"]:
            removed = "the patient died"
        of_side = "left " if row.get("side") == "same" else ""
        for need in row.get("needs", ()):
            where = f" of the {of_side}{places[0]}" if places else ""
            # A side stands at the place, if there is one.
            what = f"{'' if places else of_side}{name_of(need)}{where}"
            yield Trial(row, removed, what, kind_of.get(concepts.get(need).kind, "procedure"))
        for kind in row.get("kinds", ()):
            where = f" in the {of_side}{places[0]}" if places else ""
            what = {"medication": "olaparib", "regimen": "FOLFOX", "surgery": "colectomy", "radiation": "SBRT"}.get(
                kind
            )
            yield Trial(row, removed, "ECOG 1" if kind == "performance" else what or f"{kind}{where}", kind)


TRIALS = list(trials())
AFTER = [trial for trial in TRIALS if trial.row.get("order") != "never"]


def note_of(text: str, date: datetime.date | None, kind: str, key: str) -> Note:
    return Note("P1", key, text, date, kind)


def removal_notes(trial: Trial, date: datetime.date | None, said: str = "") -> list[Note]:
    """The removal: its own report."""
    removal = f"{said}{trial.removal}"
    if trial.kind == "diagnosis" or trial.removal.endswith("cancer"):
        return [note_of(f"Diagnosis: {trial.removal}.", date, "pathology report", "R")]
    if trial.removal == "ever smoker":
        return [note_of("Current smoker.", date, "clinic note", "R")]
    if trial.removal == "the patient died":
        return [note_of("The patient died.", date, "clinic note", "R")]
    return [note_of(f"Procedure: {removal}.", date, "operative report", "R")]


def event_notes(trial: Trial, date: datetime.date, said: str = "") -> list[Note]:
    """The event: the report of an operation or a scan; of what a note tells itself, two notes."""
    if trial.kind == "metastasis":
        return [note_of(f"CT: {trial.event}{said}.", date, "radiology report", "E")]
    if trial.kind in ("state", "performance", "diagnosis", "comorbidity"):
        told = (
            f"{trial.event}{said}, {date.isoformat()}." if trial.kind == "comorbidity" else f"Now {trial.event}{said}."
        )
        return [note_of(told, date, "clinic note", "E")]
    if trial.kind in ("radiation", "medication", "regimen"):
        return [note_of(f"Received {trial.event}{said} on {date.isoformat()}.", date, "clinic note", "E")]
    return [note_of(f"Procedure: {trial.event}{said}.", date, "operative report", "E")]


def journey_of(notes: list[Note]) -> Journey:
    reader = shared_reader()
    return build_journey("P1", [reader.read(note) for note in notes], reader.concepts)


def decisions_of(journey: Journey, trial: Trial) -> list[Decision]:
    """The decisions that name the row."""
    return [decision for decision in journey.decisions if decision.explanation.startswith(trial.row["name"])]


def events_of(journey: Journey, ids: tuple[str, ...]) -> list[Event]:
    return [event for event in journey.events if event.event_id in ids]


def test_the_table_has_rows_enough_each_of_its_own_name() -> None:
    """At least thirty rows; a decision names one of them."""
    names = [row["name"] for row in ROWS]
    assert len(names) >= 30
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("trial", TRIALS, ids=str)
def test_what_cannot_be_is_decided(trial: Trial) -> None:
    """After the removal the event is disputed (or the removal is), the other side believed and not certain."""
    journey = journey_of(removal_notes(trial, EARLIER) + event_notes(trial, LATER))
    found = decisions_of(journey, trial)
    assert found, [(event.kind, event.concept, event.world, dict(event.attributes)) for event in journey.events]
    assert {decision.rule for decision in found} == {DISTRUSTED}
    for decision in found:
        assert {event.world for event in events_of(journey, decision.rejected)} == {World.POSSIBLE}
        assert {event.world for event in events_of(journey, decision.believed)} == {World.BELIEVED}


@pytest.mark.parametrize("trial", AFTER, ids=str)
def test_what_can_be_is_left(trial: Trial) -> None:
    """Before the removal the event was possible: no decision, and all is certain."""
    journey = journey_of(removal_notes(trial, LATER) + event_notes(trial, EARLIER))
    assert not decisions_of(journey, trial)


@pytest.mark.parametrize("trial", [trial for trial in AFTER if trial.row.get("elsewhere", True)], ids=str)
def test_an_event_of_what_is_left_or_of_the_past_needs_no_organ(trial: Trial) -> None:
    """The bed, the stump, what was made in its place, and what is told of the time before."""
    for said in (" at the anastomosis", " of the stump", " in the bed", ", reconstructed", " before the operation"):
        notes = removal_notes(trial, EARLIER) + event_notes(trial, LATER, said)
        assert not decisions_of(journey_of(notes), trial), said


@pytest.mark.parametrize("trial", [trial for trial in AFTER if trial.row.get("side") == "same"], ids=str)
def test_the_other_side_is_another_organ(trial: Trial) -> None:
    """What was removed on the right says nothing of the left."""
    other = Trial(trial.row, trial.removal.replace("left", "right"), trial.event, trial.kind)
    assert not decisions_of(journey_of(removal_notes(other, EARLIER) + event_notes(other, LATER)), trial)
    unsaid = Trial(trial.row, trial.removal.replace("left ", ""), trial.event, trial.kind)
    assert not decisions_of(journey_of(removal_notes(unsaid, EARLIER) + event_notes(unsaid, LATER)), trial)


@pytest.mark.parametrize(
    "trial", [trial for trial in AFTER if "Procedure" in removal_notes(trial, None)[0].text], ids=str
)
def test_a_partial_or_abandoned_removal_leaves_the_organ(trial: Trial) -> None:
    """The words that say so stand before the name of the operation."""
    for said in ("partial ", "attempted "):
        notes = removal_notes(trial, EARLIER, said) + event_notes(trial, LATER)
        assert not decisions_of(journey_of(notes), trial), said


@pytest.mark.parametrize(
    "trial",
    [trial for trial in AFTER if trial.kind in ("procedure", "comorbidity") and "now" not in trial.row],
    ids=str,
)
def test_what_a_later_note_merely_mentions_came_before(trial: Trial) -> None:
    """An operation told without a date, in a note after the removal: it is believed to have come before."""
    notes = [*removal_notes(trial, EARLIER), note_of(f"She underwent {trial.event}.", LATER, "clinic note", "E")]
    journey = journey_of(notes)
    # The visit that the note itself is of is surely of its day.
    assert {
        event.kind for event in journey.events if event.day.low == LATER.toordinal() and event.world is World.CERTAIN
    } <= {"encounter"}
    found = decisions_of(journey, trial)
    # What is only named is possible, and not in conflict with anything.
    if not any(event.world is World.POSSIBLE for event in journey.events):
        assert [decision.rule for decision in found] == [REORDERED]
        (event,) = events_of(journey, found[0].rejected)
        assert (event.world, event.day.high) == (World.CERTAIN, EARLIER.toordinal())
