"""A reading for tests of the run: quick, plain, and failing or slow where a note says so."""

from __future__ import annotations

import multiprocessing
import os
import re
import time

from cohortium.ingest.run.batches import Reading
from cohortium.kb.deadline import check
from cohortium.kb.model import ALL_TUMORS, DayInterval, Event, Journey, Mention, Note


class StubReader:
    """Every word ``ECOG`` is an event. A note with ``EXPLODE`` fails, ``SLOW`` takes a moment, ``LOOP`` has no end
    within a pattern, ``ASKING`` none but the deadline, ``DIE`` kills the worker that reads it; a patient called
    ``broken`` cannot be built, one called ``endless`` never is."""

    def read(self, note: Note) -> tuple[Note, list[Mention]]:
        """The note and its mentions."""
        if "EXPLODE" in note.text:
            raise ValueError(f"a secret: {note.text}")
        if "DIE" in note.text and multiprocessing.parent_process() is not None:
            os._exit(9)
        if "LOOP" in note.text:
            # Python has the word only when the pattern is through, which takes longer than anybody lives.
            re.match(r"(?:a|aa)+$", "a" * 200 + "b")
        if "ASKING" in note.text:
            while True:
                check()
        if "SLOW" in note.text:
            time.sleep(0.08)
        found = []
        start = note.text.find("ECOG")
        while start >= 0:
            found.append(
                Mention(note.note_id, start, start + 4, "ECOG", "performance", "ECOG", "ecog", {"value": float(start)})
            )
            start = note.text.find("ECOG", start + 1)
        return note, found

    def build(self, patient_id: str, read_notes: list[tuple[Note, list[Mention]]]) -> Journey:
        """One event a mention."""
        if patient_id == "broken":
            raise KeyError("a secret")
        while patient_id == "endless":
            pass
        events = tuple(
            Event(
                patient_id,
                "performance",
                "ecog",
                DayInterval(note.date.toordinal(), note.date.toordinal()) if note.date else DayInterval(),
                attributes=mention.attributes,
                evidence=(mention.mention_id,),
                tumor=ALL_TUMORS,
            )
            for note, mentions in read_notes
            for mention in mentions
        )
        mentions = tuple(mention for _, mentions in read_notes for mention in mentions)
        return Journey(patient_id, tuple(note for note, _ in read_notes), mentions, events=events)


def stub(version: str = "1") -> Reading:
    """The stub, as the run takes it."""
    return Reading(StubReader, (("pipeline", f"stub {version}"),))
