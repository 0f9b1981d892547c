"""Who joins and who leaves the answer to a query between two knowledge bases, each with what caused it."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ...kb.deadline import check
from ...kb.model import World
from ...kb.storage.reader import KnowledgeBase
from ...kb.storage.rows import CURRENT
from ..cohort import Cohort
from .causes import BEARINGS, Cause, Record, Sides, causes_of, in_words, kinds_of, reading_changes
from .evidence import Evidence, evidence_of
from .meaning import Asked, MeaningChange, meaning_changes

WORLDS: Final = (World.CERTAIN, World.BELIEVED, World.POSSIBLE)
JOINED: Final = "joined"
LEFT: Final = "left"


@dataclass(frozen=True, slots=True)
class NoteChange:
    """A note of one patient that is new, changed, or gone (retracted, or in the old knowledge base alone)."""

    doc_id: str
    what: str


@dataclass(frozen=True, slots=True)
class Change:
    """A patient who joined or left. ``notes`` are all notes of theirs that differ, whether or not they decided."""

    patient_id: str
    what: str
    causes: tuple[Cause, ...]
    notes: tuple[NoteChange, ...]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "patient_id": self.patient_id,
            "change": self.what,
            "causes": [
                {"cause": cause.kind, "bearing": cause.bearing.value, "means": _meant(cause)} for cause in self.causes
            ],
            "notes": [{"doc_id": note.doc_id, "change": note.what} for note in self.notes],
        }

    @property
    def in_words(self) -> str:
        """The causes in a few words."""
        return in_words(self.causes)


class Difference:
    """The answers to one query in an old and a new knowledge base. Joiners and leavers are those of one world."""

    def __init__(self, old: Cohort, new: Cohort, world: World = World.BELIEVED) -> None:
        """The same query in two knowledge bases, which stay open as long as this is used."""
        self._old, self._new = old, new
        self.world = world

    # --- who ----------------------------------------------------------------------------------------------------------

    @functools.cached_property
    def joined(self) -> tuple[Change, ...]:
        """The patients of the new answer alone, by id."""
        return self._changes(JOINED)

    @functools.cached_property
    def left(self) -> tuple[Change, ...]:
        """The patients of the old answer alone, by id."""
        return self._changes(LEFT)

    @functools.cached_property
    def counts(self) -> dict[str, dict[str, int]]:
        """In each world: the patients of the old and of the new answer, those who joined, and those who left."""
        return {
            world.name.lower(): {
                "old": len(self._old.in_world(world)),
                "new": len(self._new.in_world(world)),
                JOINED: len(self._moved[world][0]),
                LEFT: len(self._moved[world][1]),
            }
            for world in WORLDS
        }

    @functools.cached_property
    def _moved(self) -> dict[World, tuple[list[str], list[str]]]:
        found = {}
        for world in WORLDS:
            before, after = set(self._old.in_world(world)), set(self._new.in_world(world))
            found[world] = (sorted(after - before), sorted(before - after))
        return found

    # --- why ----------------------------------------------------------------------------------------------------------

    @functools.cached_property
    def reading(self) -> dict[str, tuple[str, str]]:
        """The versions of the reading that differ: name → old and new."""
        return reading_changes(self._old.kb.manifest["versions"], self._new.kb.manifest["versions"])

    @functools.cached_property
    def meaning(self) -> tuple[MeaningChange, ...]:
        """The words of the query that admit other concepts now."""
        return meaning_changes(*self._asked) if self._sides.meaning_differs else ()

    @functools.cached_property
    def _asked(self) -> tuple[Asked, Asked]:
        old, new = (Asked(side.query, side.kb.concepts, side.kb.scales) for side in (self._old, self._new))
        return old, new

    @functools.cached_property
    def _sides(self) -> Sides:
        old, new = self._old.kb.manifest, self._new.kb.manifest
        differs = old["versions"].get("ontology") != new["versions"].get("ontology") or old["scales"] != new["scales"]
        return Sides(*self._asked, self.world, differs, kinds_of(self.reading))

    def _changes(self, what: str) -> tuple[Change, ...]:
        patients = self._moved[self.world][what == LEFT]
        with self._new.evaluating():
            old, new = _Held(self._old.kb, patients), _Held(self._new.kb, patients)
            return tuple(self._change(patient, what, old, new) for patient in patients)

    def _change(self, patient: str, what: str, old: _Held, new: _Held) -> Change:
        check()
        notes = _note_changes(old.notes.get(patient, {}), new.notes.get(patient, {}))
        if patient not in old.digests or patient not in new.digests:
            return Change(patient, what, (Cause("patient"),), notes)
        record = Record(
            differs=old.digests[patient] != new.digests[patient],
            notes_differ=bool(notes),
            old=functools.partial(self._old.kb.journey, patient),
            new=functools.partial(self._new.kb.journey, patient),
            joined=what == JOINED,
        )
        return Change(patient, what, causes_of(record, self._sides), notes)

    def evidence(self, patient_id: str) -> Evidence | None:
        """The criteria that turned for a patient and the events that count on one side alone; None for a patient whom
        one of the knowledge bases does not have. UnknownPatient if neither does."""
        held = [_Held(side.kb, [patient_id]).digests for side in (self._old, self._new)]
        if not any(held):
            self._new.kb.number(patient_id)
        if not all(held):
            return None
        old, new = self._asked
        with self._new.evaluating():
            return evidence_of((old, self._old.kb.journey(patient_id)), (new, self._new.kb.journey(patient_id)))

    # --- in words -----------------------------------------------------------------------------------------------------

    def as_dict(self, limit: int | None = None, evidence: int = 0) -> dict[str, Any]:
        """For JSON: at most ``limit`` joiners and as many leavers, the first few (``evidence``) with what changed."""
        return {
            "query": self._new.text,
            "world": self.world.name.lower(),
            "old": _side(self._old),
            "new": _side(self._new),
            "counts": self.counts,
            "reading": {name: {"old": old, "new": new} for name, (old, new) in self.reading.items()},
            "meaning": [
                {"words": one.text, "added": list(one.added), "removed": list(one.removed)} for one in self.meaning
            ],
            JOINED: self._shown(self.joined, limit, evidence),
            LEFT: self._shown(self.left, limit, evidence),
        }

    def _shown(self, changes: Sequence[Change], limit: int | None, evidence: int) -> list[dict[str, Any]]:
        rows = []
        for at, change in enumerate(changes[:limit]):
            row = change.as_dict()
            if at < evidence and (found := self.evidence(change.patient_id)) is not None:
                row["evidence"] = found.as_dict()
            rows.append(row)
        return rows


class _Held:
    """What a knowledge base holds of some patients: the digest of each one's rows, and the notes' versions."""

    def __init__(self, kb: KnowledgeBase, patients: Sequence[str]) -> None:
        self.digests = kb.digests(patients)
        self.notes: dict[str, dict[str, tuple[str, str]]] = {}
        for row in kb.note_table(patients).to_pylist():
            own = self.notes.setdefault(row["patient_id"], {})
            if row["status"] == CURRENT or row["doc_id"] not in own:
                own[row["doc_id"]] = row["status"], row["note_id"]


def _note_changes(old: Mapping[str, tuple[str, str]], new: Mapping[str, tuple[str, str]]) -> tuple[NoteChange, ...]:
    """The notes of which another version is current, by document."""
    found = []
    for doc_id in sorted({*old, *new}):
        before, after = (side.get(doc_id, ("", "")) for side in (old, new))
        if after[0] == CURRENT and before[0] == CURRENT:
            if before[1] != after[1]:
                found.append(NoteChange(doc_id, "changed"))
        elif after[0] == CURRENT:
            found.append(NoteChange(doc_id, "new" if not before[0] else "back"))
        elif before[0] == CURRENT:
            found.append(NoteChange(doc_id, after[0] or "gone"))
    return tuple(found)


def _side(cohort: Cohort) -> dict[str, Any]:
    return {
        "kb": str(cohort.kb.path),
        "generation": cohort.kb.generation,
        "resolved": cohort.resolved,
        "count": len(cohort),
        "certain": len(cohort.certain),
        "possible": len(cohort.possible),
    }


def _meant(cause: Cause) -> str:
    return BEARINGS[cause.bearing]
