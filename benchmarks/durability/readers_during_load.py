"""Readers during a load: every answer is that of the generation that gives it, while a writer makes others.

    python -m benchmarks.durability.readers_during_load [--readers 8] [--threads 2] [--generations 6]
        [--seed 1] [--json OUT]

The sample notes are read into a knowledge base some at a time, each time a new generation. Beforehand the same is done
aside, and what each generation answers is kept. Then processes of several threads each open the knowledge base, ask,
and open it again; some keep the first generation open until the end, long after it was replaced.
"""

from __future__ import annotations

import argparse
import collections
import functools
import json
import random
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import cohortium
from benchmarks.signature import command_line, markdown, signature
from cohortium.engine.api import OpenKb
from cohortium.ingest.run.batches import Reading, ShippedReader, shipped_reading
from cohortium.ingest.run.pipeline import run_ingest
from cohortium.kb.storage.layout import Layout
from tests.kb.process_groups import Group, in_child
from tests.places import SAMPLES

QUERIES = (
    "lung cancer",
    "any medication",
    "not metastasis to brain",
    "latest ECOG <= 1",
    "medication after surgery",
    "HER2 = negative",
    "stage >= II",
)
#: What is asked besides queries: a whole journey, and the counts.
JOURNEY, COUNTS = "journey", "info"
#: A reader closes what it has open after so many answers on average.
_ANSWERS_AN_OPEN = 12


def answer(kb: OpenKb, question: str) -> Any:
    """What an open knowledge base answers, in a form that JSON keeps."""
    if question == COUNTS:
        return [kb.info()["notes"], kb.info()["events"]]
    if question == JOURNEY:
        journey = kb.journey(kb.patients[len(kb.patients) // 2]).journey
        return [journey.patient_id, len(journey.events), [note.note_id for note in journey.notes]]
    cohort = kb.find(question)
    return [len(cohort), len(cohort.certain), len(cohort.possible), sorted(cohort)]


class Writer:
    """Reads the notes into a knowledge base, some more each time."""

    def __init__(self, folder: Path, generations: int) -> None:
        rows = SAMPLES.read_text(encoding="utf-8").splitlines()
        self.sources = []
        for number in range(generations):
            path = folder / f"notes-{number}.jsonl"
            path.write_text("\n".join(rows[: len(rows) * (number + 1) // generations]) + "\n", encoding="utf-8")
            self.sources.append(path)
        reader = ShippedReader()
        self.reading = Reading(lambda: reader, shipped_reading().versions)

    def write(self, kb: Path, number: int) -> None:
        """The next generation."""
        run_ingest([self.sources[number]], kb, reading=self.reading, progress=False)

    def write_all(self, kb: Path, first: int, pause: float) -> None:
        """All generations from one on, one after the other."""
        for number in range(first, len(self.sources)):
            self.write(kb, number)
            time.sleep(pause)

    def answers(self, kb: Path) -> dict[str, dict[str, Any]]:
        """What each generation answers, made aside."""
        found = {}
        for number in range(len(self.sources)):
            self.write(kb, number)
            with cohortium.open(kb) as opened:
                found[opened.generation] = {question: answer(opened, question) for question in _questions()}
        return found


def _questions() -> tuple[str, ...]:
    return (*QUERIES, JOURNEY, COUNTS)


class Asker:
    """One process of readers: threads that share what is open."""

    def __init__(self, kb: Path, wanted: dict[str, dict[str, Any]], stop: Path, seed: int, keeps: bool) -> None:
        self.kb, self.wanted, self.stop, self.seed, self.keeps = kb, wanted, stop, seed, keeps
        self.answers: collections.Counter[str] = collections.Counter()
        self.opens = 0
        self.faults: list[str] = []
        self.replaced = 0

    def run(self, threads: int) -> None:
        """Ask until the writer has ended; print what was met."""
        chance = random.Random(self.seed)
        ended = False
        while not ended:
            ended = self.stop.exists()
            try:
                with cohortium.open(self.kb) as opened:
                    self.opens += 1
                    self._ask_together(opened, threads, chance)
            except Exception as error:
                self.faults.append(f"{type(error).__name__}: {error}")
        told = {"answers": self.answers, "opens": self.opens, "faults": self.faults, "replaced": self.replaced}
        print(json.dumps(told), flush=True)

    def _ask_together(self, opened: OpenKb, threads: int, chance: random.Random) -> None:
        rounds = None if self.keeps else max(1, round(chance.expovariate(1 / _ANSWERS_AN_OPEN)))
        asking = [
            threading.Thread(target=self._ask, args=(opened, random.Random(chance.random()), rounds))
            for _ in range(threads)
        ]
        for thread in asking:
            thread.start()
        for thread in asking:
            thread.join()
        # All of it once more, perhaps for the first time, when the generation may have been replaced long ago.
        for question in _questions():
            self._compare(opened, question)
        layout = Layout(self.kb)
        self.replaced += opened.generation not in (layout.current(), layout.previous())

    def _ask(self, opened: OpenKb, chance: random.Random, rounds: int | None) -> None:
        while rounds is None or rounds > 0:
            # Who keeps the first generation asks half of the questions only when all others are written.
            questions = _questions() if rounds is not None else _questions()[::2]
            self._compare(opened, chance.choice(questions))
            if rounds is None and self.stop.exists():
                return
            rounds = None if rounds is None else rounds - 1

    def _compare(self, opened: OpenKb, question: str) -> None:
        try:
            found = answer(opened, question)
        except Exception as error:
            self.faults.append(f"{question}: {type(error).__name__}: {error}")
            return
        if json.dumps(found) != json.dumps(self.wanted[opened.generation][question]):
            self.faults.append(f"{question}: another answer than that of generation {opened.generation}")
        self.answers[opened.generation] += 1


def main() -> int:
    """0 when every answer was that of its generation, and nothing failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--readers", type=int, default=8)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--generations", type=int, default=6)
    parser.add_argument("--pause", type=float, default=0.2, help="seconds between two writes")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, metavar="OUT")
    asked = parser.parse_args()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="cohortium-readers-") as name:
        folder = Path(name)
        kb, stop = folder / "read.kb", folder / "stop"
        writer = Writer(folder, asked.generations)
        wanted = in_child(functools.partial(writer.answers, folder / "aside.kb"))
        in_child(functools.partial(writer.write, kb, 0))
        askers = [Asker(kb, wanted, stop, asked.seed + at, at % 4 == 0) for at in range(asked.readers)]
        readers = [Group(run=functools.partial(asker.run, asked.threads)).start() for asker in askers]
        time.sleep(0.5)
        writing = Group(run=functools.partial(writer.write_all, kb, 1, asked.pause)).start()
        codes = [writing.wait()]
        stop.touch()
        codes += [reader.wait() for reader in readers]
        lines = [(reader.said().splitlines() or [""])[-1] for reader in readers]
        faults = [one.said()[-500:] for one, code in zip([writing, *readers], codes, strict=True) if code]
        for one in (writing, *readers):
            one.forget()
    told = [json.loads(line) for line in lines if line.startswith("{")]
    answers: collections.Counter[str] = collections.Counter()
    for one in told:
        answers.update(one["answers"])
        faults += one["faults"]
    found = {
        "answers": sum(answers.values()),
        "by_generation": [answers.get(generation, 0) for generation in wanted],
        "opens": sum(one["opens"] for one in told),
        "read_after_two_writes": sum(one["replaced"] for one in told),
        "faults": faults,
    }
    signed = {**signature(command_line(), asked.seed), "seconds": round(time.monotonic() - begun, 1)}
    if asked.json:
        asked.json.write_text(json.dumps({"signature": signed, **found}, indent=1) + "\n", encoding="utf-8")
    rows = [(number + 1, count) for number, count in enumerate(found["by_generation"])]
    print(markdown(("generation", "answers"), rows))
    print(
        f"\n{asked.readers} processes of {asked.threads} threads: {found['answers']} answers, {found['opens']} opens, "
        f"{found['read_after_two_writes']} of them after two writes and more, {len(faults)} faults"
    )
    print("\n".join(collections.Counter(faults)))
    print(", ".join(f"{key} {value}" for key, value in signed.items()))
    return 1 if faults or len(told) < asked.readers else 0


if __name__ == "__main__":
    sys.exit(main())
