"""How fast the whole of ingest is: notes of one length, by number of workers, with processor time by step and memory.

    python -m benchmarks.scale.ingest_rate --notes 4000 --words 400 --workers 1 2 [--source NOTES.jsonl]
        [--json rate.json]

Notes of so many words are made of those of the source (by default the sample notes that are shipped): whole lines of
one patient's notes in their order, so that a made patient reads like the one it was made of. When the source is used
up it is gone through again for further patients, whose texts then are the same. Processor seconds are those of all
threads; on a busy machine they, not the seconds on the clock, tell what a run costs. Each run is a process of its own,
so that its peak of memory is its own. With ``--words 0`` the notes are taken as they are, and with ``--json`` the file
also tells the memory in use as the run went on, by the number of notes that were read (on Linux).
"""

from __future__ import annotations

import argparse
import itertools
import json
import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from benchmarks.signature import command_line, markdown, signature
from cohortium.ingest.run import pipeline
from cohortium.ingest.run.batches import BatchResult, Reader, Reading, shipped_reading
from cohortium.kb.model import Journey, Note
from tests.places import SAMPLES

#: A made patient has so many notes at most.
NOTES_OF_A_PATIENT: Final = 20
#: So many points has the curve of memory.
_POINTS: Final = 40


@dataclass(slots=True)
class Rate:
    """One run. Seconds of processor time but for ``seconds``, which is the clock's; memory in MB."""

    workers: int
    notes: int
    words: int
    events: int = 0
    seconds: float = 0.0
    parent: float = 0.0
    children: float = 0.0
    steps: dict[str, float] = field(default_factory=dict)
    memory_parent: float = 0.0
    memory_worker: float = 0.0
    #: Notes read so far, and the memory then in use: of this process, and of the largest worker.
    curve: list[tuple[int, float, float]] = field(default_factory=list)

    @property
    def row(self) -> tuple[object, ...]:
        """A line of the table."""
        spent = self.parent + self.children
        return (
            self.workers,
            f"{self.notes / self.seconds:.1f}",
            f"{self.words / self.seconds:,.0f}",
            f"{1000 * spent / self.notes:.2f}",
            f"{1000 * self.parent / self.notes:.2f}",
            f"{self.memory_parent:.0f}",
            f"{self.memory_worker:.0f}",
        )


COLUMNS: Final = ("workers", "notes/s", "words/s", "processor ms a note", "of the parent", "MB parent", "MB worker")


# --- the notes -------------------------------------------------------------------------------------------------------


def made_notes(source: Path, notes: int, words: int) -> Iterator[dict[str, Any]]:
    """So many rows of notes, each of about so many words."""
    rows = [json.loads(line) for line in source.read_text(encoding="utf-8").splitlines() if line.strip()]
    rows.sort(key=lambda row: str(row["patient_id"]))
    patients = [list(own) for _, own in itertools.groupby(rows, key=lambda row: str(row["patient_id"]))]
    left = notes
    for turn in itertools.count():
        for own in patients:
            for part, made in enumerate(_parted(list(_joined(own, words)) if words else own)):
                for number, row in enumerate(made[:left]):
                    yield {**row, "patient_id": f"{row['patient_id']}-{turn}-{part}", "doc_id": str(number)}
                left -= min(left, len(made))
                if not left:
                    return


def _parted(made: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    for first in range(0, len(made), NOTES_OF_A_PATIENT):
        yield made[first : first + NOTES_OF_A_PATIENT]


def _joined(rows: Sequence[dict[str, Any]], words: int) -> Iterator[dict[str, Any]]:
    """The lines of a patient's notes, joined to notes of so many words; what is left over is no note."""
    lines: list[str] = []
    count = 0
    head: dict[str, Any] | None = None
    for row in rows:
        for line in [*str(row["text"]).splitlines(), ""]:
            head = head or row
            lines.append(line)
            count += len(line.split())
            if count >= words:
                yield {**head, "text": "\n".join(lines).strip()}
                lines, count, head = [], 0, None


# --- one run ---------------------------------------------------------------------------------------------------------


class TimedReader:
    """The shipped reader, with the processor time of reading and of joining."""

    def __init__(self, inner: Reader, seconds: dict[str, float]) -> None:
        self._inner = inner
        self._seconds = seconds

    def read(self, note: Note) -> Any:
        """One note."""
        return self._timed("reading notes", self._inner.read, note)

    def build(self, patient_id: str, read_notes: list[Any]) -> Journey:
        """One patient."""
        journey: Journey = self._timed("building journeys", self._inner.build, patient_id, read_notes)
        return journey

    def _timed(self, name: str, function: Callable[..., Any], *values: Any) -> Any:
        begun = time.process_time()
        try:
            return function(*values)
        finally:
            self._seconds[name] = self._seconds.get(name, 0.0) + time.process_time() - begun


def timed_steps(rate: Rate) -> tuple[Callable[..., Iterator[Any]], ...]:
    """The steps of a run, each with the processor time that it takes by itself, without those before it."""
    seconds = rate.steps

    def timed(step: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
        def run(state: Any, stream: Any) -> Iterator[Any]:
            before = 0.0

            def arriving() -> Iterator[Any]:
                nonlocal before
                source = iter(stream)
                while True:
                    begun = time.process_time()
                    try:
                        item = next(source)
                    except StopIteration:
                        return
                    finally:
                        before += time.process_time() - begun
                    yield item

            read = 0
            leaving = step(state, arriving())
            while True:
                begun, before = time.process_time(), 0.0
                try:
                    item = next(leaving)
                except StopIteration:
                    return
                finally:
                    spent = time.process_time() - begun - before
                    seconds[step.__name__] = seconds.get(step.__name__, 0.0) + spent
                if isinstance(item, BatchResult):
                    read += sum(item.counts.values())
                    if read >= (len(rate.curve) + 1) * rate.notes / _POINTS:
                        rate.curve.append((read, *_in_use()))
                yield item

        return run

    return tuple(map(timed, pipeline.STEPS))


def measure(source: Path, workers: int, notes: int, words: int) -> Rate:
    """Ingest ``source`` into a new knowledge base; called in a process of its own."""
    rate = Rate(workers, notes, words)
    reading = shipped_reading()
    if workers == 1:
        make = reading.make
        reading = Reading(lambda: TimedReader(make(), rate.steps), reading.versions)
    steps = pipeline.STEPS
    pipeline.STEPS = timed_steps(rate)  # type: ignore[misc]
    begun, spent = time.monotonic(), _spent(resource.RUSAGE_SELF)
    try:
        with tempfile.TemporaryDirectory() as folder:
            report = pipeline.run_ingest(
                [source], Path(folder) / "x.kb", workers=workers, progress=False, reading=reading
            )
    finally:
        pipeline.STEPS = steps  # type: ignore[misc]
    rate.seconds = time.monotonic() - begun
    rate.parent = _spent(resource.RUSAGE_SELF) - spent
    rate.children = _spent(resource.RUSAGE_CHILDREN)
    rate.events = report.events
    rate.memory_parent = _peak()
    # Not what the system tells of children that have ended: their peak may be their parent's, of before they began.
    rate.memory_worker = max((worker for *_, worker in rate.curve), default=0.0)
    return rate


def _spent(who: int) -> float:
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def _peak() -> float:
    # Kilobytes, but bytes on a Mac.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 * 1024 if sys.platform == "darwin" else 1024)


def _in_use() -> tuple[float, float]:
    """Memory in use by this process and by the largest of its workers; 0 where the system does not tell."""

    def of(process: object) -> float:
        try:
            pages = int(Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1])
        except OSError:
            return 0.0
        return pages * resource.getpagesize() / 1024 / 1024

    return of("self"), max((of(child.pid) for child in multiprocessing.active_children()), default=0.0)


def _measure_into(pipe: Any, *arguments: Any) -> None:
    pipe.send(measure(*arguments))


def measured_apart(source: Path, workers: int, notes: int, words: int) -> Rate:
    """:func:`measure` in a process of its own."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_measure_into, args=(there, source, workers, notes, words))
    process.start()
    there.close()
    try:
        rate: Rate = here.recv()
    finally:
        process.join()
    return rate


def main(arguments: Sequence[str] | None = None) -> int:
    """The script; its exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--source", type=Path, default=SAMPLES, metavar="NOTES.jsonl")
    parser.add_argument("--notes", type=int, default=400)
    parser.add_argument("--words", type=int, nargs="+", default=[400])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--json", type=Path, metavar="OUT")
    asked = parser.parse_args(arguments)
    rates = []
    with tempfile.TemporaryDirectory() as folder:
        for length in asked.words:
            file = Path(folder) / f"notes-{length}.jsonl"
            words = 0
            with file.open("w", encoding="utf-8") as out:
                for row in made_notes(asked.source, asked.notes, length):
                    words += len(row["text"].split())
                    out.write(json.dumps(row, ensure_ascii=False) + "\n")
            for workers in asked.workers:
                rates.append(measured_apart(file, workers, asked.notes, words))
                print(f"\n{asked.notes:,} notes of {length} words, {workers} workers", file=sys.stderr)
                for step, seconds in rates[-1].steps.items():
                    print(f"  {step}: {1000 * seconds / asked.notes:.3f} ms a note", file=sys.stderr)
    print(markdown(COLUMNS, [rate.row for rate in rates]))
    if asked.json:
        told = {**signature(command_line(), 0), "runs": [asdict(rate) for rate in rates]}
        asked.json.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
