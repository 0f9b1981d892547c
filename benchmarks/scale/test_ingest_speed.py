"""How fast notes are read: notes and words a second on the sample notes, by note length, number and workers.

``make bench`` runs these; ``extra_info`` of each carries its rates. The run includes writing the knowledge base.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cohortium.ingest.note.read import NoteReader
from cohortium.ingest.run.pipeline import run_ingest
from cohortium.kb.model import Note
from tests.places import SAMPLES

ROWS: list[dict[str, Any]] = [json.loads(line) for line in SAMPLES.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def reader() -> NoteReader:
    """The shipped reader, made once, as in a worker."""
    return NoteReader.from_ontology()


@pytest.fixture
def copies(tmp_path: Path) -> Callable[[int], Path]:
    """Writes the sample notes so many times over, each time for other patients."""

    def write(times: int) -> Path:
        path = tmp_path / "notes.jsonl"
        with path.open("w", encoding="utf-8") as file:
            for number in range(times):
                for row in ROWS:
                    file.write(json.dumps({**row, "patient_id": f"{row['patient_id']}-{number}"}) + "\n")
        return path

    return write


def words(text: str) -> int:
    """Words as blanks separate them."""
    return len(text.split())


def rates(benchmark: Any, notes: int, number_of_words: int) -> None:
    """Note the rates of a measurement beside it (per second, by the median round)."""
    if benchmark.stats is not None:  # None with --benchmark-disable
        seconds = benchmark.stats.stats.median
        benchmark.extra_info |= {
            "notes": notes,
            "words": number_of_words,
            "notes_per_second": round(notes / seconds, 1),
            "words_per_second": round(number_of_words / seconds),
        }


@pytest.mark.benchmark(group="reading, by note length")
@pytest.mark.parametrize("target", [50, 200, 800, 3_200, 12_800])
def test_reading_by_length(benchmark: Any, reader: NoteReader, target: int) -> None:
    """One note of about so many words, made of sample notes one after the other: reading is to stay linear."""
    texts: list[str] = []
    while sum(map(words, texts)) < target:
        texts.append(str(ROWS[len(texts) % len(ROWS)]["text"]))
    text = " ".join("\n\n".join(texts).split(" ")[:target])
    note = Note("P", "d", text)
    found = benchmark.pedantic(reader.read, (note,), rounds=5, warmup_rounds=1)
    assert found.mentions
    rates(benchmark, 1, words(text))


@pytest.mark.benchmark(group="reading, the sample notes")
def test_reading_the_sample_notes(benchmark: Any, reader: NoteReader) -> None:
    """Every sample note once, without the run around it."""
    notes = [Note(row["patient_id"], row["doc_id"], row["text"]) for row in ROWS]
    benchmark.pedantic(lambda: [reader.read(note) for note in notes], rounds=3, warmup_rounds=1)
    rates(benchmark, len(notes), sum(words(note.text) for note in notes))


@pytest.mark.benchmark(group="the run, by number of notes")
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("times", [1, 4, 16])
def test_the_run(benchmark: Any, copies: Callable[[int], Path], tmp_path: Path, times: int, workers: int) -> None:
    """Source to knowledge base: readers, versions, reading, journeys, loading; with one worker and two."""
    source, kb = copies(times), tmp_path / "x.kb"

    def anew() -> tuple[tuple[Any, ...], dict[str, Any]]:
        shutil.rmtree(kb, ignore_errors=True)
        return ([source], kb), {"workers": workers, "progress": False}

    report = benchmark.pedantic(run_ingest, setup=anew, rounds=3 if times < 16 else 1)
    assert report.stored == times * len(ROWS)
    rates(benchmark, report.stored, times * sum(words(row["text"]) for row in ROWS))
