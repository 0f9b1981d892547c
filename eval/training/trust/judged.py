"""Judged statements: what a reader took from notes, and whether people found it so.

A folder holds ``notes.jsonl`` and ``judged.tsv`` with the columns of :data:`COLUMNS`: the note, the span, kind and
concept of a statement, the verdict, and who gave it. Verdicts are ``P`` (of this patient, and so), ``W`` (of this
patient, not so), ``O`` (of another person), ``N`` (of nobody). ``by`` is ``reader`` for a judgement of this statement,
``facts`` for one that agrees with an abstraction of the whole record.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from ....ingest.journey.bench import Workbench
from ....ingest.journey.build import collect, in_order
from ....ingest.journey.trust import statement_of_fact, texts_and_years
from ....ingest.note.read import NoteReader, ReadNote, shared_reader
from ....ingest.readers.records import Incoming
from ....ingest.readers.sources import Sources
from ....ingest.text.frame import Frame
from ....ingest.trust.signs import Record, Statement
from ....kb.errors import UsageError
from ....kb.kinds import WEIGHED
from ....kb.ontology.concepts import ConceptTable

COLUMNS: Final = ("doc_id", "start", "end", "kind", "concept", "verdict", "by")
#: The writer of records that nobody judged; those of the others are the paths of their folders.
PLAIN: Final = ""
#: Of the patient, and so.
SO: Final = "P"
_VERDICTS: Final = frozenset("PWON")


class Judged(NamedTuple):
    """A judged statement: its document, span, kind and concept, and the verdict."""

    doc_id: str
    start: int
    end: int
    kind: str
    concept: str
    verdict: str
    by: str


@dataclass(frozen=True, slots=True)
class Chart:
    """The judged statements of one patient with the record that they stand in, as read today; ``whole``: of
    all notes of the patient."""

    writer: str
    whole: bool
    record: Record
    statements: list[Statement]
    so: list[bool]


def read_judged(path: Path) -> list[Judged]:
    """The rows of a file; UsageError where one has other columns or another verdict."""
    found = []
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file, delimiter="\t")
        if tuple(next(rows, ())) != COLUMNS:
            raise UsageError(f"{path.name} has other columns. Hint: they are {', '.join(COLUMNS)}")
        for number, row in enumerate(rows, 2):
            if len(row) != len(COLUMNS) or row[5] not in _VERDICTS:
                raise UsageError(f"{path.name}, line {number}: no judged statement. Hint: the verdicts are P, W, O, N")
            if not (row[1].isdecimal() and row[2].isdecimal()):
                raise UsageError(f"{path.name}, line {number}: start and end are no places. Hint: characters from 0 on")
            found.append(Judged(row[0], int(row[1]), int(row[2]), *row[3:]))
    return found


def charts(folder: Path, reader: NoteReader | None = None) -> Iterator[Chart]:
    """The charts of a folder, one a patient, and once more each note that has judged statements as a chart of its own:
    records of one note are weighed, too."""
    judged: dict[str, list[Judged]] = defaultdict(list)
    for one in read_judged(folder / "judged.tsv"):
        judged[one.doc_id].append(one)
    reader = reader or shared_reader()
    records = _records([folder / "notes.jsonl"], reader)
    missing = judged.keys() - {one.note.doc_id for read in records for one in read}
    if missing:
        raise UsageError(f"{folder.name}: no note can be read for {len(missing)} judged documents: {min(missing)} …")
    for read in records:
        yield from _charts_of(str(folder), read, judged, reader.concepts)


def _charts_of(
    writer: str, read: Sequence[ReadNote], judged: Mapping[str, Sequence[Judged]], concepts: ConceptTable
) -> Iterator[Chart]:
    for some in [read] if len(read) == 1 else [read, *([one] for one in read)]:
        record, statements, so = _chart(some, judged, concepts)
        if statements:
            yield Chart(writer, some is read, record, statements, so)


def _chart(
    read: Sequence[ReadNote], judged: Mapping[str, Sequence[Judged]], concepts: ConceptTable
) -> tuple[Record, list[Statement], list[bool]]:
    """The record of some notes, the judged statements in it, and whether each is so."""
    bench = Workbench(read[0].note.patient_id, concepts, list(read))
    collect(bench)
    today = dict.fromkeys(statement_of_fact(fact) for fact in bench.facts)
    at = {(one.note, one.start, one.end, one.kind): one for one in today}
    places = {one.note.doc_id: number for number, one in enumerate(read)}
    statements, so = [], []
    for doc_id, number in places.items():
        frame = Frame(read[number].note)
        for one in judged.get(doc_id, ()):
            known = at.get((number, one.start, one.end, one.kind))
            told = known._replace(stated=True) if known else _as_judged(one, number, frame)
            if known:
                today.pop(known, None)
            today[told] = None
            statements.append(told)
            so.append(one.verdict == SO)
    return Record(texts_and_years(read), list(today)), statements, so


def _as_judged(one: Judged, number: int, frame: Frame) -> Statement:
    """A statement that is not read any more, in the sentence that it stood in."""
    sentence = frame.shape.sentences[frame.shape.sentence_index_at(one.start)]
    return Statement(
        number, one.start, one.end, (sentence.start, sentence.end), one.kind, one.concept, stated=True, cues=0
    )


def plain_charts(paths: Sequence[Path], reader: NoteReader | None = None) -> Iterator[Chart]:
    """Records that nobody judged and that tell of their patients: what is read of them is taken to be so."""
    reader = reader or shared_reader()
    for read in _records(paths, reader):
        bench = Workbench(read[0].note.patient_id, reader.concepts, read)
        collect(bench)
        every = list(dict.fromkeys(statement_of_fact(fact) for fact in bench.facts))
        stated = [one for one in every if one.stated and one.kind in WEIGHED]
        if stated:
            record = Record(texts_and_years(bench.notes), every)
            yield Chart(PLAIN, False, record, stated, [True] * len(stated))


def _records(paths: Sequence[Path], reader: NoteReader) -> list[list[ReadNote]]:
    """The notes read, by patient, in the order of a journey."""
    notes: dict[str, list[ReadNote]] = defaultdict(list)
    for one in Sources(list(paths)):
        if isinstance(one, Incoming):
            notes[one.note.patient_id].append(reader.read(one.note))
    return [in_order(read) for read in notes.values()]
