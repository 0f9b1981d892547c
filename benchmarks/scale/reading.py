"""Reading beside medspaCy: the same notes, the same names, one process each, by turns; words a second by note length.

medspaCy has the tokens, sentences, targets and contexts of its default pipeline, and its sections in a second one. Its
targets are the names, synonyms and abbreviations of the ontology that is shipped, each of a kind. Ours does more with a
note (attributes, dates, sites, results, relations, tumors); the figure is what a word costs.
"""

from __future__ import annotations

import json
import resource
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.scale.ingest_rate import made_notes
from benchmarks.scale.rival_process import RivalProcess
from benchmarks.scale.turns import Patience, Spent, Spread, by_turns, timed
from cohortium.ingest.note.read import NoteReader
from cohortium.ingest.run.pipeline import run_ingest
from cohortium.kb.model import Note
from cohortium.kb.ontology.concepts import ConceptTable

LENGTHS: Final = (50, 200, 400, 800)
OURS, INGEST = "cohortium, reading", "cohortium, ingest"
PLAIN, SECTIONS = "medspaCy", "medspaCy with sections"
#: Words that one contender reads in one round, about; and that the whole of ingest takes in, which has costs of its own
#: for each run.
ROUND, INGESTED = 8_000, 400_000


def measure(
    source: Path, lengths: Sequence[int], rivals: RivalProcess | None, patience: Patience, tell: Callable[[str], None]
) -> dict[str, Any]:
    """For JSON: by note length, processor time of reading, of the whole ingest, and of medspaCy."""
    reader = NoteReader.from_ontology()
    found: dict[str, Any] = {"source": source.name, "lengths": []}
    if rivals is not None:
        rules = lexicon(ConceptTable.from_files())
        tell(f"medspaCy: {len(rules):,} targets")
        loaded = [
            rivals.ask("medspacy_load", name=name, rules=rules, sections=name == SECTIONS) for name in (PLAIN, SECTIONS)
        ]
        found |= {"targets": len(rules), "medspacy": loaded[0]["versions"], "pipes": loaded[1]["pipes"]}
    for length in lengths:
        tell(f"notes of {length} words")
        found["lengths"].append(_length(source, length, reader, rivals, patience))
    return found


def lexicon(concepts: ConceptTable) -> list[tuple[str, str]]:
    """Every name, synonym and abbreviation once, with the kind of its concept."""
    rules: dict[str, str] = {}
    for row in concepts.rows():
        for name in concepts.names(row.id):
            rules.setdefault(name, row.kind)
    return list(rules.items())


def _length(
    source: Path, length: int, reader: NoteReader, rivals: RivalProcess | None, patience: Patience
) -> dict[str, Any]:
    rows = list(made_notes(source, INGESTED // length, length))
    notes = [Note(row["patient_id"], row["doc_id"], row["text"]) for row in rows[: ROUND // length]]
    words, all_words = (sum(len(text.split()) for text in texts) for texts in (_texts(notes), _texts(rows)))
    calls = {OURS: timed(lambda: [reader.read(note) for note in notes])}
    if rivals is not None:
        rivals.ask("keep_texts", name=str(length), texts=[note.text for note in notes])
        calls |= {name: rivals.timed("medspacy_read", pipeline=name, name=str(length)) for name in (PLAIN, SECTIONS)}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "notes.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        turn = iter(range(1_000))
        calls[INGEST] = lambda: _ingested(file, Path(folder) / f"{next(turn)}.kb")
        measured = by_turns(calls, patience)
    return {
        "words_a_note": length,
        "notes": len(notes),
        "distinct": len({note.text for note in notes}),
        "words": words,
        "measured": {
            name: _rates(one, *((all_words, len(rows)) if name == INGEST else (words, len(notes))))
            for name, one in measured.items()
        },
    }


def _texts(notes: Sequence[Note] | Sequence[Mapping[str, Any]]) -> Iterator[str]:
    return (one.text if isinstance(one, Note) else str(one["text"]) for one in notes)


def _ingested(file: Path, kb: Path) -> Spent:
    """A whole run with one worker; what the worker spends counts as well."""
    wall, processor = time.perf_counter(), _processor()
    run_ingest([file], kb, workers=1, progress=False)
    return Spent(time.perf_counter() - wall, _processor() - processor)


def _processor() -> float:
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in spent)


def _rates(spread: Spread, words: int, notes: int) -> dict[str, Any]:
    return {
        **spread.as_dict(),
        "words_a_second_of_processor": round(words / (spread.processor / 1000)),
        "notes_a_second_of_processor": round(notes / (spread.processor / 1000), 1),
        "words_a_second": round(words / (spread.median / 1000)),
    }
