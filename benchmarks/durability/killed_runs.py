"""Runs that are killed with SIGKILL, resumed, and held against runs that were not: nothing lost, nothing twice.

    python -m benchmarks.durability.killed_runs [--kills 200] [--seed 1] [--copies 2] [--notes N]
        [--only NAME ...] [--json OUT]

The sample notes, copied over several patients, are read into a knowledge base with one worker and with two, for the
first time and over one that is there; generations are written directly, indexes made again, old versions migrated. Each
run has a process group of its own, which is killed as a whole, or its first process alone, or a worker alone: after a
time that is drawn, at a stage that is awaited by what is on disk, or before the n-th change of a file. After each kill
the knowledge base must open with the answers of the generation that it then has; in the end it must equal that of an
undisturbed run, table by table and byte by byte of the index.
"""

from __future__ import annotations

import argparse
import collections
import functools
import json
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cohortium
from benchmarks.signature import command_line, markdown, signature
from cohortium.ingest.run import pipeline
from cohortium.ingest.run.batches import Reading, ShippedReader, shipped_reading
from cohortium.ingest.run.pipeline import run_ingest
from cohortium.kb.check.checking import check_kb
from cohortium.kb.check.repair import repair_index
from cohortium.kb.errors import DamagedIndex, MissingKb, SchemaVersionError
from cohortium.kb.storage.layout import INDEX, Layout
from cohortium.kb.storage.migrations import migrate
from cohortium.kb.storage.reader import KnowledgeBase
from cohortium.kb.storage.writer import build_generation
from tests.kb.kb_states import STAGES, lost_and_doubled, pointers_of, stage_of, state_of
from tests.kb.old_versions import make_version_1
from tests.kb.process_groups import COUNTED, Group, in_child
from tests.places import SAMPLES

#: What an open knowledge base is asked: lists, event rows, time and values.
QUERIES = (
    "lung cancer",
    "any medication",
    "breast cancer and not metastasis to brain",
    "latest ECOG <= 1",
    "medication after surgery",
    "HER2 = negative",
)
#: So many steps are tried upon one knowledge base before it is held against the undisturbed one.
_STEPS_A_LIFE = 3
_BATCH_NOTES = 8


@dataclass(frozen=True)
class Scenario:
    """A run that is to be killed: what it begins with (None: nothing), how it is started, and in whose hands it is."""

    name: str
    begin: Path | None
    start: Callable[[Path, int], Group]
    whom: Sequence[str] = ("group",)
    #: Whether it is killed before the n-th change of a file: then every n is tried, in an order that is drawn.
    steps: bool = False
    #: It begins with a knowledge base that does not open: for want of its index, or of an older version.
    closed: bool = False
    #: How many of the kills are its own, against the others.
    weight: int = 1


@dataclass
class Tally:
    """What happened."""

    kills: int = 0
    whom: collections.Counter[str] = field(default_factory=collections.Counter)
    stages: collections.Counter[str] = field(default_factory=collections.Counter)
    ends: int = 0
    lost: int = 0
    doubled: int = 0
    faults: list[str] = field(default_factory=list)


def answers_of(kb: Path) -> tuple[str, Any]:
    """The generation that is current, and what it answers."""
    with cohortium.open(kb) as opened:
        found = [(len(cohort), len(cohort.certain), len(cohort.possible)) for cohort in map(opened.find, QUERIES)]
        return opened.generation, (found, opened.info()["events"])


class Trial:
    """One scenario with its undisturbed end, and the lives of knowledge bases that are killed in it."""

    def __init__(self, scenario: Scenario, folder: Path, chance: random.Random) -> None:
        self.scenario, self.folder, self.chance = scenario, folder, chance
        self.tally = Tally()
        self.kb = folder / "killed.kb"
        self.tried = 0
        self.answers: dict[str, Any] = {}
        if scenario.begin is not None and not scenario.closed:
            generation, answers = in_child(functools.partial(answers_of, scenario.begin))
            self.answers[generation] = answers
        self._begin()
        begun = time.monotonic()
        whole = scenario.start(self.kb, COUNTED if scenario.steps else 0).start()
        if code := whole.wait():
            raise RuntimeError(f"{scenario.name}: the undisturbed run ended with {code}: {whole.said()}")
        self.seconds = time.monotonic() - begun
        self.wanted = in_child(functools.partial(state_of, self.kb))
        generation, answers = in_child(functools.partial(answers_of, self.kb))
        self.answers[generation] = answers
        self.steps = list(range(1, int(whole.said().split()[-1]) + 1)) if scenario.steps else []
        chance.shuffle(self.steps)
        whole.forget()

    def _begin(self) -> None:
        shutil.rmtree(self.kb, ignore_errors=True)
        if self.scenario.begin is not None:
            shutil.copytree(self.scenario.begin, self.kb)

    def lives(self, kills: int) -> Iterator[None]:
        """Kill until so many were killed; each life of a knowledge base ends with an undisturbed run."""
        while self.tally.kills < kills:
            self._begin()
            if self.scenario.steps:
                for _ in range(min(_STEPS_A_LIFE, kills - self.tally.kills)):
                    self._killed_at(self.steps[self.tried % len(self.steps)])
                    self.tried += 1
            else:
                for _ in range(self.chance.randint(1, 5)):
                    # Once the pointer has moved the run is done, and one more would be another run.
                    if self.tally.kills >= kills or not self._killed() or self._done():
                        break
            self._end()
            yield

    def _killed_at(self, step: int) -> None:
        """One kill before the n-th change."""
        before = pointers_of(self.kb)
        run = self.scenario.start(self.kb, step).start()
        if run.wait() == -9:
            self._count(run, "itself", before)
        run.forget()

    def _killed(self) -> bool:
        """One kill, at a drawn time or stage; False when the run had ended before."""
        before = pointers_of(self.kb)
        whom = self.chance.choice(self.scenario.whom)
        run = self.scenario.start(self.kb, 0).start()
        if self.chance.random() < 0.5:
            self._sleep(run, self.chance.uniform(0.0, self.seconds))
        else:
            stage = self.chance.choice([name for name, _ in STAGES])
            while run.poll() is None and stage_of(self.kb, before) != stage:
                time.sleep(0.0005)
            self._sleep(run, self.chance.expovariate(1 / 0.03))
        if whom == "worker":
            while run.poll() is None and not run.workers():
                time.sleep(0.005)
        if not run.kill(whom, self.chance):
            self._expect(run.wait(), (0,), run, "it was not killed")
            run.forget()
            return False
        # Of a worker's death the first process tells; all others end without a word.
        code = run.wait()
        if whom == "worker":
            self._expect(code, (0, 1), run, "a worker was killed")
            if code == 1 and "goes on where it was" not in run.said():
                self._fault(f"{self.scenario.name}: a lost worker is told so: {run.said()[-300:]}")
        self._count(run, whom, before)
        return True

    @staticmethod
    def _sleep(run: Group, seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until and run.poll() is None:
            time.sleep(min(0.005, max(0.0, until - time.monotonic())))

    def _count(self, run: Group, whom: str, before: tuple[str, ...]) -> None:
        self.tally.kills += 1
        self.tally.whom[whom] += 1
        stage = stage_of(self.kb, before)
        self.tally.stages[stage] += 1
        self._opens(f"killed ({whom}) while {stage}")
        # Sometimes the next run begins while workers of the last one have not noticed yet.
        if self.chance.random() < 0.5 and not run.gone():
            self._fault(f"{self.scenario.name}: processes outlived the run ({whom})")
        run.forget()

    def _opens(self, when: str) -> None:
        try:
            generation, answers = in_child(functools.partial(_opened, self.kb))
            if generation and self.answers.get(generation) != answers:
                self._fault(f"{self.scenario.name}, {when}: other answers of generation {generation}")
            if not generation and self.scenario.begin is not None and not self.scenario.closed:
                self._fault(f"{self.scenario.name}, {when}: the knowledge base is gone")
        except RuntimeError as error:
            self._fault(f"{self.scenario.name}, {when}: {str(error)[:400]}")

    def _end(self) -> None:
        """The undisturbed run, and what it leaves against what is wanted.

        A run that was killed when the pointer had moved is done: what it left is wanted already, and the same run once
        more is another run, which counts its notes as unchanged in the manifest and changes nothing else.
        """
        done = self._done()
        if done:
            self._compare(("generation", "tables", "index"))
        run = self.scenario.start(self.kb, 0).start()
        self._expect(run.wait(), (0,), run, "the last run")
        run.forget()
        self.tally.ends += 1
        self._compare(("content", "index") if done else ("generation", "tables", "index"))
        left = [name for name in ("building", "unfinished") if (self.kb / name).exists()]
        findings = in_child(lambda: check_kb(self.kb, quick=True, progress=False).findings)
        for what, names in (("is left", left), ("is found", findings)):
            if names:
                self._fault(f"{self.scenario.name}, in the end: {names} {what}")

    def _done(self) -> bool:
        # What cannot be opened in the beginning may have its generation's name already: only its index is not there.
        return not self.scenario.closed and bool(pointers_of(self.kb)[0] == self.wanted["generation"])

    def _compare(self, parts: Sequence[str]) -> None:
        try:
            found = in_child(functools.partial(state_of, self.kb))
        except RuntimeError as error:
            self._fault(f"{self.scenario.name}, in the end: {str(error)[:400]}")
            return
        lost, doubled = lost_and_doubled(self.wanted, found)
        self.tally.lost += lost
        self.tally.doubled += doubled
        if differing := [name for name in parts if found[name] != self.wanted[name]]:
            self._fault(f"{self.scenario.name}, in the end: {differing} differs")

    def _fault(self, what: str) -> None:
        self.tally.faults.append(what)
        print(what, file=sys.stderr, flush=True)

    def _expect(self, code: int, wanted: Sequence[int], run: Group, when: str) -> None:
        if code not in wanted:
            self._fault(f"{self.scenario.name}: exit code {code} when {when}: {run.said()[-300:]}")


def _opened(kb: Path) -> tuple[str, Any]:
    try:
        return answers_of(kb)
    except (MissingKb, DamagedIndex, SchemaVersionError):
        return "", None


# --- the scenarios ----------------------------------------------------------------------------------------------------


def write_notes(path: Path, copies: int, share: float = 1.0, most: int | None = None) -> Path:
    """The sample notes (so many at most) so many times over, each time for other patients; of the last copy a share
    alone, and one of its notes with other words."""
    rows = [json.loads(line) for line in SAMPLES.read_text(encoding="utf-8").splitlines()][:most]
    with path.open("w", encoding="utf-8") as file:
        for number in range(copies):
            kept = rows if number < copies - 1 else rows[: int(len(rows) * share)]
            for at, row in enumerate(kept):
                text = row["text"] + (" Addendum." if share < 1 and number == copies - 1 and at == 3 else "")
                file.write(json.dumps({**row, "text": text, "patient_id": f"{row['patient_id']}-{number}"}) + "\n")
    return path


def scenarios(folder: Path, copies: int, most: int | None = None) -> Iterator[Scenario]:
    """All of them, with what they begin with made below ``folder``."""
    notes = write_notes(folder / "notes.jsonl", copies, most=most)
    fewer = write_notes(folder / "fewer.jsonl", copies, share=0.5, most=most)
    # Batches of few notes, so that there are many moments between two of them.
    pipeline.BATCH_NOTES = _BATCH_NOTES
    # Read once in this process: its children have the ontology, and begin at once.
    reader = ShippedReader()
    versions = shipped_reading().versions
    reading = Reading(lambda: reader, versions)
    concepts = reader._notes.concepts

    def ingest(source: Path, kb: Path, step: int) -> Group:
        run = functools.partial(run_ingest, [source], kb, reading=reading, progress=False)
        return Group(run=run, step=step, below=str(kb))

    def command(source: Path, kb: Path, _: int) -> Group:
        words = ["ingest", str(source), "--kb", str(kb), "--workers", "2"]
        return Group(command=[sys.executable, "-m", "cohortium", *words])

    def together(source: Path, kb: Path, _: int) -> Group:
        return Group(run=functools.partial(run_ingest, [source], kb, workers=2, progress=False))

    def write(parts: int, kb: Path, step: int) -> Group:
        def run() -> None:
            with KnowledgeBase.open(updated) as source:
                journeys = list(source.journeys())[:parts]
            build_generation(kb, journeys, concepts=concepts)

        return Group(run=run, step=step, below=str(kb))

    def repair(kb: Path, step: int) -> Group:
        return Group(run=functools.partial(repair_index, kb), step=step, below=str(kb))

    def made(group: Group) -> None:
        if code := group.start().wait():
            raise RuntimeError(f"what a scenario begins with ended with {code}: {group.said()}")
        group.forget()

    def migrated(kb: Path, step: int) -> Group:
        return Group(run=functools.partial(migrate, kb), step=step, below=str(kb))

    names = ("begun", "updated", "twice", "broken", "old")
    begun, updated, twice, broken, old = (folder / f"{name}.kb" for name in names)
    made(ingest(fewer, begun, 0))
    shutil.copytree(begun, updated)
    made(ingest(notes, updated, 0))
    for parts in (3, 5, 7):
        made(write(parts, twice, 0))
    shutil.copytree(updated, broken)
    for file in (Layout(broken).generation(str(Layout(broken).current())) / INDEX).glob("*.bin"):
        file.write_bytes(file.read_bytes()[:-1])
    shutil.copytree(updated, old)
    in_child(functools.partial(make_version_1, old))

    both = ("group", "main", "worker")
    yield Scenario("ingest, 1 worker", None, functools.partial(ingest, notes), weight=5)
    yield Scenario("ingest, 2 workers", None, functools.partial(command, notes), both, weight=3)
    yield Scenario("update, 1 worker", begun, functools.partial(ingest, notes), weight=4)
    yield Scenario("update, 2 workers", begun, functools.partial(together, notes), both, weight=2)
    yield Scenario("update, each step", begun, functools.partial(ingest, notes), steps=True, weight=4)
    yield Scenario("direct writer", twice, functools.partial(write, 9), weight=2)
    yield Scenario("direct writer, each step", twice, functools.partial(write, 9), steps=True, weight=4)
    yield Scenario("index made again, each step", broken, repair, steps=True, closed=True, weight=2)
    yield Scenario("migration, each step", old, migrated, steps=True, closed=True, weight=2)


def report(tallies: dict[str, Tally]) -> dict[str, Any]:
    """The figures, by scenario."""
    return {
        "kills": sum(tally.kills for tally in tallies.values()),
        "ends": sum(tally.ends for tally in tallies.values()),
        "lost": sum(tally.lost for tally in tallies.values()),
        "doubled": sum(tally.doubled for tally in tallies.values()),
        "faults": [fault for tally in tallies.values() for fault in tally.faults],
        "scenarios": {
            name: {
                "kills": tally.kills,
                "ends": tally.ends,
                "whom": dict(tally.whom),
                "stages": dict(tally.stages),
                "lost": tally.lost,
                "doubled": tally.doubled,
                "faults": len(tally.faults),
            }
            for name, tally in tallies.items()
        },
    }


def main() -> int:
    """0 when nothing was lost, nothing doubled, every knowledge base opened and every end was the same."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--copies", type=int, default=2, help="so many times the 104 sample notes")
    parser.add_argument("--notes", type=int, help="only so many of them in each copy")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="only scenarios whose names begin so")
    parser.add_argument("--json", type=Path, metavar="OUT")
    asked = parser.parse_args()
    begun = time.monotonic()
    tallies: dict[str, Tally] = {}
    with tempfile.TemporaryDirectory(prefix="cohortium-killed-") as name:
        folder = Path(name)
        wanted = tuple(asked.only or ("",))
        chosen = [one for one in scenarios(folder, asked.copies, asked.notes) if one.name.startswith(wanted)]
        weights = sum(one.weight for one in chosen)
        for at, scenario in enumerate(chosen):
            trial = Trial(scenario, folder, random.Random(f"{asked.seed} {scenario.name}"))
            tallies[scenario.name] = trial.tally
            left = asked.kills - sum(tally.kills for tally in tallies.values())
            share = left if at == len(chosen) - 1 else min(left, -(-asked.kills * scenario.weight // weights))
            for _ in trial.lives(share):
                print(
                    f"{scenario.name}: {trial.tally.kills} of {share}; {len(trial.tally.faults)} faults",
                    file=sys.stderr,
                )
    found = report(tallies)
    signed = {**signature(command_line(), asked.seed), "seconds": round(time.monotonic() - begun, 1)}
    if asked.json:
        asked.json.write_text(json.dumps({"signature": signed, **found}, indent=1) + "\n", encoding="utf-8")
    stages = sorted({stage for tally in tallies.values() for stage in tally.stages})
    print(
        markdown(
            ("scenario", "kills", "undisturbed ends", *stages),
            [
                (name, tally.kills, tally.ends, *(tally.stages.get(stage, 0) for stage in stages))
                for name, tally in tallies.items()
            ],
        )
    )
    print(f"\n{found['kills']} kills: {found['lost']} lost, {found['doubled']} doubled, {len(found['faults'])} faults")
    print("\n".join(found["faults"]))
    print(", ".join(f"{name} {value}" for name, value in signed.items()))
    return 1 if found["faults"] or found["lost"] or found["doubled"] else 0


if __name__ == "__main__":
    sys.exit(main())
