"""Writes generations in child processes that kill themselves at a step, and prints what became of each.

    python -m tests.kb.killed_writer ONTOLOGY FOLDER STEPS

A script, for a process that forks must not have used the database before.
"""

from __future__ import annotations

import functools
import json
import shutil
import sys
from pathlib import Path
from typing import Any


def main(ontology: str, folder: str, tries: str) -> None:
    """One line of JSON: how many steps there are, and for each that was tried what was found."""
    from cohortium.kb.model import DayInterval, Event, Journey
    from cohortium.kb.ontology.concepts import ConceptTable
    from cohortium.kb.ontology.scales import Scales
    from cohortium.kb.storage.reader import KnowledgeBase
    from cohortium.kb.storage.writer import build_generation
    from tests.kb.kb_states import state_of
    from tests.kb.process_groups import COUNTED, Group, in_child

    concepts, scales = ConceptTable.from_files(Path(ontology)), Scales({"t": {"values": ["T0", "T1"]}})
    journeys = [
        Journey(name, events=(Event(name, "diagnosis", "nsclc", DayInterval(737_000 + at, 737_000 + at)),))
        for at, name in enumerate("ABCDE")
    ]

    def write(kb: Path, patients: int) -> None:
        build_generation(kb, journeys[:patients], concepts=concepts, scales=scales)

    def opened(kb: Path) -> tuple[str, int]:
        with KnowledgeBase.open(kb) as found:
            return found.generation, len(found.posting("diagnosis", "carcinoma", found_world()))

    def found_world() -> Any:
        from cohortium.kb.model import World

        return World.CERTAIN

    begin, whole, kb = (Path(folder) / name for name in ("begin.kb", "whole.kb", "killed.kb"))
    # Three, so that one of them is to be removed by the next write.
    for patients in (1, 2, 3):
        in_child(functools.partial(write, begin, patients))
    before = in_child(functools.partial(opened, begin))
    shutil.copytree(begin, whole)
    counted = Group(run=functools.partial(write, whole, 5), step=COUNTED, below=str(whole)).start()
    assert counted.wait() == 0, counted.said()
    steps = int(counted.said().split()[-1])
    counted.forget()
    wanted = in_child(functools.partial(state_of, whole))
    after = in_child(functools.partial(opened, whole))
    told = []
    for number in range(int(tries)):
        step = 1 + number * (steps - 1) // max(1, int(tries) - 1)
        shutil.rmtree(kb, ignore_errors=True)
        shutil.copytree(begin, kb)
        run = Group(run=functools.partial(write, kb, 5), step=step, below=str(kb)).start()
        code = run.wait()
        run.forget()
        held = in_child(functools.partial(opened, kb))
        in_child(functools.partial(write, kb, 5))
        same = in_child(functools.partial(state_of, kb)) == wanted
        told.append({"step": step, "code": code, "opens": held in (before, after), "same": same})
    print(json.dumps({"steps": steps, "tried": told}))


if __name__ == "__main__":
    main(*sys.argv[1:])
