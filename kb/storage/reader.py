"""Reading a knowledge base: one open generation, read-only, safe across threads."""

from __future__ import annotations

import datetime
import functools
import os
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from pyroaring import BitMap

from ..errors import UnknownNote, UnknownPatient
from ..files.kept_file import KeptFile
from ..index.holdings import HOLDINGS, Holdings
from ..index.lists.list_file import LISTS
from ..index.lists.listed import Listed
from ..index.lists.patient_ids import PATIENTS, PatientIds
from ..index.lists.values import VALUES
from ..model import Journey, Mention, Note, Value, World
from ..note_classes import evidence_classes, note_class
from ..ontology.concepts import ConceptTable
from ..ontology.kept_concepts import CONCEPTS, KeptConcepts
from ..ontology.scales import Scales
from ..sql_files import statements
from .generation_names import named_generation, split_name
from .layout import ASIDE, DATABASE, INDEX, Layout
from .lazy_database import LazyDatabase

if TYPE_CHECKING:
    # Arrow and the columns are loaded by what needs them: what lists answer does not, and starts sooner.
    import numpy as np
    import pyarrow as pa

    from ..index.arrays import Array
    from ..index.columns import EventIndex


class KnowledgeBase:
    """One open generation. Answers stay those of that generation, whatever a writer does meanwhile."""

    #: The day (an ordinal) that *now* is in what is asked; None: :attr:`as_of` tells that of the generation.
    today: int | None = None

    def __init__(self, layout: Layout, generation: str, manifest: Mapping[str, Any]) -> None:
        """Use :meth:`open`."""
        self._layout = layout
        self.generation = generation
        # Until this is closed the files stay, so that most of them can be opened when they are needed.
        self._release = weakref.finalize(self, os.close, layout.hold(generation))
        self._digests = layout.digests(generation, manifest)
        #: Patients by kind, concept and attribute value.
        self.lists = Listed(self.index_file(LISTS), self.index_file(VALUES))
        #: All patient ids, sorted; the position is the dense patient number.
        self.patients = PatientIds(self.index_file(PATIENTS))
        self._tables = self._digests.file(DATABASE)
        self._database = LazyDatabase(self._tables, layout.check_own_version)
        self._rows, self._dicts = self._database.rows, self._database.dicts
        self._selected, self._count = self._database.selected, self._database.count
        #: Which kinds, attributes and dates there are at all.
        self.holdings = Holdings(self.index_file(HOLDINGS), self.lists)
        #: What the writer told of the generation.
        self.manifest: dict[str, Any] = {name: value for name, value in manifest.items() if name not in ASIDE}

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """Open the current generation, or the one that the path names (``KB@previous``, ``KB@ID``).

        MissingKb if there is none, UnknownGeneration if it is not kept, SchemaVersionError if it is of another version,
        DamagedKb (DamagedIndex) if it cannot be read.
        """
        place, wanted = split_name(path)
        layout = Layout(place)
        if not wanted:
            return layout.follow(lambda generation, manifest: cls(layout, generation, manifest))
        generation = named_generation(layout, wanted)
        try:
            manifest = layout.check_schema(generation)
            layout.check_files(generation, manifest)
            return cls(layout, generation, manifest)
        except FileNotFoundError as error:
            raise layout.damaged(f"generation {generation} is gone") from error

    @property
    def database(self) -> Path:
        """The DuckDB file of this generation."""
        return self._layout.generation(self.generation) / DATABASE

    @property
    def path(self) -> Path:
        """The folder of the knowledge base."""
        return self._layout.path

    def index_file(self, name: str) -> KeptFile:
        """A file of the index, whose bytes are proven when they are first read."""
        return self._digests.file(f"{INDEX}/{name}")

    def prove_tables(self) -> None:
        """See that every byte of the tables is as it was written; DamagedKb."""
        self._tables.prove_all()

    def close(self) -> None:
        """Close the connection; every later call fails."""
        self._database.close()
        self._release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # --- what a query needs -----------------------------------------------------------------------------------------

    @functools.cached_property
    def concepts(self) -> ConceptTable:
        """The ontology under which the notes were read."""
        return KeptConcepts(self.index_file(CONCEPTS))

    @functools.cached_property
    def scales(self) -> Scales:
        """The ordered scales under which the notes were read."""
        return Scales(self.manifest["scales"])

    @functools.cached_property
    def as_of(self) -> int | None:
        """The day of the latest note (an ordinal); None where no note has a date. No clock is asked."""
        if "as_of" in self.manifest:
            told = self.manifest["as_of"]
            return None if told is None else datetime.date.fromisoformat(told).toordinal()
        # Written before a manifest told it.
        ((last,),) = self._rows("SELECT max(date) FROM note WHERE status = 'current'")
        return None if last is None else int(last.toordinal())

    def now(self) -> int | None:
        """The day (an ordinal) that *now* is in a query: :attr:`today` where one was named, else :attr:`as_of`."""
        return self.as_of if self.today is None else self.today

    def number(self, patient_id: str) -> int:
        """The dense number of a patient; UnknownPatient if there is none of this id."""
        found = self.patients.number(patient_id)
        if found is None:
            import difflib

            near = difflib.get_close_matches(patient_id, self.patients[:10_000], n=1)
            hint = f" Hint: did you mean {near[0]!r}?" if near else ""
            raise UnknownPatient(f"The knowledge base holds no patient {patient_id!r}.{hint}")
        return found

    @property
    def all_patients(self) -> BitMap:
        """Every dense patient number. The bitmap is the caller's own."""
        return BitMap(range(len(self.patients)))

    def posting(self, kind: str, concept: str, world: World) -> BitMap:
        """Patients with an event of this kind, at or below this concept, that exists in this world.

        World.NONE lists every such event, whatever its context. The bitmap is the caller's own.
        """
        return self.lists.patients(kind, concept, world)

    @functools.cached_property
    def event_index(self) -> EventIndex:
        """The events as columns, which are read where they lie: what criteria of time, scope and value look at."""
        from ..index.arrays import ArrayFile
        from ..index.columns import EVENTS, EventIndex

        return EventIndex(ArrayFile(self.index_file, EVENTS))

    def known_events(self, events: Array, source: str = "", sources: int = 1, undisputed: bool = False) -> Array:
        """Those of these event numbers that are told in a note or section of the class ``source`` (of
        ``note_classes.toml``; empty: wherever), by so many independent notes, and perhaps named by no decision."""
        import numpy as np

        if len(events) and sources > 1:
            events = self._evidence("of_sources", events, sources)["event"].to_numpy()
        if len(events) and source:
            notes = self._evidence("noted_in", events, *self._patients_between(events))
            # Of many notes few types, titles and sections differ.
            is_such = functools.cache(lambda *note: note[0] is not None and source in evidence_classes(*note))
            such = map(is_such, *(notes[name].to_pylist() for name in ("type", "title", "section")))
            events = np.unique(notes["event"].to_numpy()[np.fromiter(such, dtype=bool, count=len(notes))])
        if len(events) and undisputed:
            disputed = self._evidence("disputed", events, *self._patients_between(events))["event"].to_numpy()
            events = events[~np.isin(events, disputed)]
        return events

    def _evidence(self, name: str, events: Array, *parameters: int) -> pa.Table:
        import pyarrow as pa

        bounds = [int(events.min()), int(events.max())]
        wanted = {"wanted_events": pa.table({"event": pa.array(events, pa.int64())})}
        return self._database.joined(statements("storage/evidence")[name], [*bounds, *parameters], wanted)

    def _patients_between(self, events: Array) -> tuple[int, int]:
        """The patients of the first and of the last of these events."""
        between = statements("storage/evidence")["patients_between"]
        ((first, last),) = self._rows(between, [int(events.min()), int(events.max())])
        return first, last

    def observation_table(self, patients: BitMap) -> pa.Table:
        """The current notes of these dense patient numbers, as what can tell of an event.

        Columns: patient, source (the note's class) and day (ordinal; null where the note has no date).
        """
        import pyarrow as pa

        wanted = {"wanted_patients": pa.table({"patient": pa.array(_integers(patients), pa.int32())})}
        bounds = [patients.min(), patients.max()] if patients else [0, -1]
        table = self._database.joined(statements("storage/evidence")["observations"], bounds, wanted)
        # Of many notes few types and titles differ.
        class_of = functools.cache(note_class)
        source = list(map(class_of, table["type"].to_pylist(), table["title"].to_pylist()))
        return pa.table(
            {"patient": table["patient"], "source": pa.array(source, pa.string()), "day": table["day"].cast(pa.int64())}
        )

    # --- one patient, one note --------------------------------------------------------------------------------------

    def journey(self, patient_id: str, relations: bool = True) -> Journey:
        """Everything of one patient, equal to what was loaded; UnknownPatient if there is none of this id.

        ``relations``: without them theirs stay unread and empty, since no query asks for one.
        """
        from .rows import decision_from, event_from, mention_from, note_from, relation_from, value_from

        selects = statements("storage/journey")
        number = [self.number(patient_id)]
        events = self._dicts(selects["events"], number)
        attributes: dict[int, dict[str, Value]] = {}
        evidence: dict[int, list[str]] = {}
        if events:
            bounds = [events[0]["event"], events[-1]["event"]]
            for row in self._dicts(selects["attributes"], bounds):
                attributes.setdefault(row["event"], {})[row["name"]] = value_from(row)
            for row in self._dicts(selects["evidence"], bounds):
                evidence.setdefault(row["event"], []).append(row["mention_id"])
        return Journey(
            patient_id,
            notes=tuple(note_from(patient_id, row) for row in self._dicts(selects["notes"], number)),
            mentions=tuple(map(mention_from, self._dicts(selects["mentions"], number))),
            relations=tuple(map(relation_from, self._dicts(selects["relations"], number))) if relations else (),
            events=tuple(
                event_from(patient_id, row, attributes.get(row["event"], {}), tuple(evidence.get(row["event"], ())))
                for row in events
            ),
            decisions=tuple(decision_from(patient_id, row) for row in self._dicts(selects["decisions"], number)),
        )

    def journeys(self) -> Iterator[Journey]:
        """Every patient's journey, in the order of ``patients``."""
        return map(self.journey, self.patients)

    def mentions(self, ids: Iterable[str], patient_id: str | None = None) -> tuple[Mention, ...]:
        """The mentions with these ids, in this order; ids that the knowledge base does not hold are left out.

        ``patient_id`` says whose they are: that patient's rows lie together, and only they are then looked at.
        UnknownPatient if there is none of this id.
        """
        from .rows import mention_from

        wanted = list(dict.fromkeys(ids))
        query, parameters = "SELECT * FROM mention WHERE mention_id IN (SELECT unnest($1::VARCHAR[]))", [wanted]
        rows = self._dicts(*self._narrowed(query, parameters, patient_id))
        found = {row["mention_id"]: row for row in rows}
        return tuple(mention_from(found[mention]) for mention in wanted if mention in found)

    def note(self, note_id: str, patient_id: str | None = None) -> Note:
        """One version of a note, current or superseded; UnknownNote if there is none of this id.

        ``patient_id`` as for :meth:`mentions`.
        """
        from .rows import note_from

        query, parameters = "SELECT * FROM note JOIN patient USING (patient) WHERE note_id = $1", [note_id]
        rows = self._dicts(*self._narrowed(query, parameters, patient_id))
        if not rows:
            raise UnknownNote(f"The knowledge base holds no note {note_id!r}.")
        return note_from(rows[0]["patient_id"], rows[0])

    def _narrowed(
        self, query: str, parameters: Sequence[object], patient_id: str | None
    ) -> tuple[str, Sequence[object]]:
        """A statement of ours with one parameter, for one patient's rows alone if one is named."""
        if patient_id is None:
            return query, parameters
        return f"{query} AND patient = $2", [*parameters, self.number(patient_id)]

    def note_table(self, patient_ids: Sequence[str] | None = None) -> pa.Table:
        """All versions of all notes: patient_id, doc_id, note_id, sha256, status, superseded_by. No text.

        Of these patients alone if any are named; those that are not there are left out.
        """
        import pyarrow as pa

        named = patient_ids is not None
        return self._selected(
            "SELECT patient_id, doc_id, note_id, sha256, status, superseded_by FROM note JOIN patient USING (patient)",
            ["patient_id IN (SELECT patient_id FROM wanted_patients)"] if named else [],
            "patient, status, ordinal, note_id",
            {"wanted_patients": pa.table({"patient_id": pa.array(patient_ids, pa.string())})} if named else {},
        )

    def digests(self, patient_ids: Sequence[str]) -> dict[str, str]:
        """For each of these patients who is there, a digest of all their rows: equal digests, equal rows."""
        import pyarrow as pa

        table = self._selected(
            "SELECT patient_id, digest FROM patient",
            ["patient_id IN (SELECT patient_id FROM wanted_patients)"],
            "patient",
            {"wanted_patients": pa.table({"patient_id": pa.array(patient_ids, pa.string())})},
        )
        return dict(zip(table["patient_id"].to_pylist(), table["digest"].to_pylist(), strict=True))

    def quarantine(self) -> pa.Table:
        """Records that could not be read: source, place, patient_id, doc_id, reason, raw."""
        return self._selected("SELECT * FROM quarantine", [], "ALL", {})

    # --- the whole --------------------------------------------------------------------------------------------------

    def info(self) -> dict[str, Any]:
        """What the knowledge base holds. ``balanced``: notes_in = stored + unchanged + superseding + quarantined."""
        from .rows import CURRENT, RETRACTED

        statuses = dict(self._rows("SELECT status, count(*) FROM note GROUP BY status"))
        superseded = statuses.get("superseded", 0)
        quarantined = self._count("quarantine")
        counts = {
            "stored": statuses.get(CURRENT, 0),
            "unchanged": 0,
            "superseding": superseded,
            "quarantined": quarantined,
            **self.manifest["counts"],
        }
        total = sum(counts[name] for name in ("stored", "unchanged", "superseding", "quarantined"))
        notes_in = counts.pop("notes_in", total)
        reasons = self._rows("SELECT reason, count(*) FROM quarantine GROUP BY reason ORDER BY reason")
        return {
            "notes_in": notes_in,
            **counts,
            "balanced": notes_in == total,
            "patients": self._count("patient"),
            "notes": statuses.get(CURRENT, 0),
            "notes_superseded": superseded,
            "notes_retracted": statuses.get(RETRACTED, 0),
            "mentions": self._count("mention"),
            "relations": self._count("relation"),
            "decisions": self._count("decision"),
            "events": dict(self.holdings.events),
            "quarantine": dict(reasons),
            "concepts": self._count("concept"),
            "as_of": None if self.as_of is None else datetime.date.fromordinal(self.as_of).isoformat(),
            "generation": self.generation,
            "generations": list(self._layout.generations()),
            "schema_version": self.manifest["schema_version"],
            "versions": self.manifest["versions"],
        }


def _integers(numbers: BitMap | Iterable[int]) -> np.ndarray[Any, np.dtype[np.int64]]:
    import numpy as np

    values = numbers.to_array() if isinstance(numbers, BitMap) else list(numbers)
    return np.asarray(values, dtype=np.int64)
