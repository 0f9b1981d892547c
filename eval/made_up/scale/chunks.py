"""A chunk of made-up patients: drawn, told and written down, the same whoever makes it."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

from ....kb.ontology.concepts import ConceptTable
from .broad import BROAD_CODES
from .courses import Courses
from .drawn import Drawn
from .draws import Array, Random
from .everyday import Everyday
from .facts import Facts, voices_from
from .phrases import Phrases
from .plans import Plans, data
from .recording import Recorder
from .telling import Telling

#: Patients of a chunk. It is part of what is drawn: another size would give other patients.
CHUNK: Final = 2_000


class ChunkMaker:
    """Makes any chunk; what all chunks share is worked out once."""

    def __init__(self, concepts: ConceptTable, events: float, seed: int, codes: int = BROAD_CODES) -> None:
        """``concepts``: of :func:`.broad.broad_ontology` with so many codes; ``events``: how many a patient has on
        average; ``seed``: another one gives other patients."""
        self._events, self._seed = events, seed
        facts = Facts(concepts)
        plans = Plans(concepts, facts)
        self._courses = Courses(plans)
        self._everyday = Everyday(concepts, facts, plans, codes)
        voices = voices_from(data("records")["voice"])
        self._telling = Telling(facts.all, voices)
        self._recorder = Recorder(Phrases(facts.all, voices))

    def tables(self, chunk: int, patients: int = CHUNK) -> dict[str, pa.Table]:
        """The staging tables of a chunk, of which the first patient has the number ``chunk * CHUNK``."""
        random = np.random.default_rng([self._seed, chunk])
        return self._recorder.tables(chunk * CHUNK, patients, self._telling.tell(random, self._draw(random, patients)))

    def _draw(self, random: Random, patients: int) -> dict[str, Array]:
        people, tumors, drawn = self._courses.draw(random, patients)
        self._everyday.standing(random, people, tumors, drawn)
        wanted = self._events * people.amount
        events = _thinned(random, drawn.columns(), wanted)
        missing = np.maximum(wanted - np.bincount(events["owner"], minlength=patients), 0)
        more = Drawn()
        self._everyday.visits(random, people, random.poisson(missing), more)
        events = _joined(events, more.columns())
        last = people.day.copy()
        np.maximum.at(last, events["owner"], np.maximum(events["day"], events["end"]))
        ends = Drawn()
        self._everyday.deaths(random, people, last, ends)
        return _joined(events, ends.columns())


def _thinned(random: Random, events: dict[str, Array], wanted: Array) -> dict[str, Array]:
    """Of patients with more events than wanted, a part; what must be kept is."""
    owner = events["owner"]
    kept = events["kept"] > 0
    must = np.bincount(owner[kept], minlength=len(wanted))
    may = np.bincount(owner[~kept], minlength=len(wanted))
    chance = np.clip((wanted - must) / np.maximum(may, 1), 0, 1)
    stays = kept | (random.random(len(owner)) < chance[owner])
    return {name: column[stays] for name, column in events.items()}


def _joined(one: dict[str, Array], other: dict[str, Array]) -> dict[str, Array]:
    return {name: np.concatenate([column, other[name]]) for name, column in one.items()}
