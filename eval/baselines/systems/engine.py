"""The engine as systems: each of its three worlds, by formal query or plain English, ranked, or note by note."""

from __future__ import annotations

import enum
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from ....engine.api import OpenKb
from ....engine.cohort import Cohort
from ....kb.model import World
from ....kb.version import __version__
from ....query_lang.errors import QueryError
from ...bank.acr.abstraction import deciding
from .contract import Answer, Evidence, Outcome, Question, Quote, Ranked, Spent

_MOST_QUOTES: Final = 6
_MOST_REASONS: Final = 8
_WORLDS: Final = (World.CERTAIN, World.BELIEVED, World.POSSIBLE)
#: World -> how an explanation calls the certainty of a criterion that holds in it.
_HOLDING: Final = {world: [one.name.lower() for one in _WORLDS[: _WORLDS.index(world) + 1]] for world in _WORLDS}


class AskedBy(enum.StrEnum):
    """What of a question the engine is given: its formal query (its words where it has none), or its words alone."""

    QUERY = "query"
    WORDS = "words"


class EngineSystem:
    """One way of asking a knowledge base.

    The cohort is the answer in ``world``. In the ranking stand the certain patients first, then the believed, then the
    possible ones; among equals by id, or with ``ranked`` by the strength of their weakest evidence, for which each of
    their records is read. With ``patient_of`` the patients of the knowledge base are single notes (their ids are its
    keys), each read as if there were no other: a patient is found when one of their notes alone is.
    """

    def __init__(
        self,
        kb: OpenKb,
        name: str,
        *,
        world: World = World.BELIEVED,
        asked_by: AskedBy = AskedBy.QUERY,
        ranked: bool = False,
        patient_of: Mapping[str, str] | None = None,
    ) -> None:
        self._kb = kb
        self.name = name
        self._world = world
        self._asked_by = asked_by
        self._ranked = ranked
        self._patient_of = patient_of
        self._by_query: dict[str, tuple[tuple[str, float], ...]] = {}
        self.patients: Sequence[str] = (
            kb.patients if patient_of is None else tuple(sorted(frozenset(patient_of.values())))
        )

    def answer(self, question: Question) -> Answer:
        """The cohort; abstained where a query cannot be read or English has no single reading."""
        begun = time.perf_counter()
        try:
            cohort = self._cohort(question)
            ranking, size = self._ranking(cohort)
        except QueryError as error:
            reason = str(error).splitlines()[0]
            return Answer(question.id, outcome=Outcome.ABSTAINED, reason=reason, spent=_since(begun))
        return Answer(question.id, ranking, size, spent=_since(begun))

    def evidence(self, question: Question, patient_id: str) -> Evidence:
        """The quotes of the events that decide, and the criteria that hold or fail."""
        try:
            cohort = self._cohort(question)
        except QueryError as error:
            return Evidence(reasons=(str(error).splitlines()[0],))
        if self._patient_of is not None:
            # Of many notes the one that was found stands for the patient; of those that were not, none does.
            note = next((one for one in cohort.in_world(self._world) if self._patient_of[one] == patient_id), None)
            if note is None:
                return Evidence(reasons=("no note of the patient alone is enough",))
            patient_id = note
        elif patient_id not in self._kb.patients:
            return Evidence(reasons=("the knowledge base has no such patient",))
        explanation = cohort.explain(patient_id)
        found = patient_id in cohort.in_world(self._world)
        nodes = list(deciding(explanation, found, _HOLDING[self._world]))
        quotes = [
            Quote(quote.doc_id, quote.start, quote.end)
            for node in nodes
            # What does not count is shown where there is nothing that does.
            for event in node.events or node.others
            for quote in event.quotes
        ]
        reasons = [f"{node.certainty}: {node.text}" for node in nodes]
        return Evidence(tuple(dict.fromkeys(quotes))[:_MOST_QUOTES], tuple(dict.fromkeys(reasons))[:_MOST_REASONS])

    def signature(self) -> Mapping[str, Any]:
        """The knowledge base by its generation, a hash of its content; and how it is asked."""
        info = self._kb.info()
        return {
            "system": "engine",
            "cohortium": __version__,
            "world": self._world.name.lower(),
            "asked_by": self._asked_by.value,
            "ranked_by": "strength of evidence" if self._ranked else "certainty",
            "reads": "all notes of a patient" if self._patient_of is None else "each note alone",
            "kb": {name: info[name] for name in ("generation", "schema_version", "versions") if name in info},
        }

    def _cohort(self, question: Question) -> Cohort:
        if self._asked_by is AskedBy.QUERY and question.query:
            return self._kb.find(question.query)
        asked = self._kb.ask(question.text)
        if asked.cohort is None:
            raise QueryError(asked.translation.reason or "the question has several readings")
        return asked.cohort

    def _ranking(self, cohort: Cohort) -> tuple[tuple[Ranked, ...], int]:
        found = self._strengths(cohort) if self._ranked else self._by_certainty(cohort)
        ranking: dict[str, Ranked] = {}
        for name, score in found:
            patient = name if self._patient_of is None else self._patient_of[name]
            ranking.setdefault(patient, Ranked(patient, score))
        named = cohort.in_world(self._world)
        size = len(named) if self._patient_of is None else len({self._patient_of[one] for one in named})
        return tuple(ranking.values()), size

    def _strengths(self, cohort: Cohort) -> Iterable[tuple[str, float]]:
        """Every record of the possible cohort is read for this, so it is done once for each query."""
        if cohort.resolved not in self._by_query:
            self._by_query[cohort.resolved] = tuple(self._by_strength(cohort))
        return self._by_query[cohort.resolved]

    @staticmethod
    def _by_certainty(cohort: Cohort) -> Iterator[tuple[str, float]]:
        for score, world in zip((3.0, 2.0, 1.0), _WORLDS, strict=True):
            yield from ((patient, score) for patient in cohort.in_world(world))

    @staticmethod
    def _by_strength(cohort: Cohort) -> Iterator[tuple[str, float]]:
        scores = dict(zip(_WORLDS, (2.0, 1.0, 0.0), strict=True))
        for world, patient, strength in cohort.possible.by_strength():
            yield patient, scores[world] + strength


def _since(begun: float) -> Spent:
    return Spent(seconds=time.perf_counter() - begun)
