"""Which facts the questions of :mod:`.benchmark` ask for: chosen by how many patients have them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import duckdb

from cohortium.engine.api import OpenKb
from cohortium.kb.model import World

#: Patients, the first ones, whose events say how common a concept is; the answers themselves are over all.
SAMPLE: Final = 20_000
#: Descendants that a broad concept has at least, where there is one.
MANY: Final = 10_000

CLOSURE: Final = """
    CREATE OR REPLACE TEMP TABLE below AS
    WITH RECURSIVE closure (root, concept) AS (
        SELECT concept, concept FROM concept
        UNION SELECT closure.root, concept_edge.child FROM closure
        JOIN concept_edge ON concept_edge.parent = closure.concept
    )
    SELECT root, concept FROM closure ORDER BY root, concept
"""
_COMMON: Final = """
    SELECT event.kind AS kind, below.root AS concept, count(DISTINCT event.patient) AS patients
    FROM event JOIN below ON below.concept = event.concept
    WHERE event.world >= 2 AND event.patient < $1
    GROUP BY ALL HAVING count(DISTINCT event.patient) >= 20 ORDER BY kind, concept
"""
_BELOW: Final = "SELECT root, count(*) FROM below GROUP BY root"


@dataclass(frozen=True, slots=True)
class Atom:
    """Events of a kind at or below a concept; ``share`` of the sampled patients have one."""

    kind: str
    concept: str
    name: str
    share: float
    below: int

    @property
    def text(self) -> str:
        """As a criterion of the query language."""
        return f"{self.kind} '{self.name}'"

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "text": self.text,
            "kind": self.kind,
            "concept": self.concept,
            "share": round(self.share, 4),
            "at_or_below": self.below,
        }


class NotFound(Exception):
    """The knowledge base holds no such fact; the message says of what kind and how common it should be."""


@dataclass(frozen=True, slots=True)
class Common:
    """The concepts of a knowledge base that can be asked for by name, with how many patients have them."""

    atoms: tuple[Atom, ...]
    kb: OpenKb

    @classmethod
    def of(cls, kb: OpenKb, database: duckdb.DuckDBPyConnection) -> Common:
        """By a sample of its patients. The table ``below`` (:data:`CLOSURE`) must be there."""
        sampled = min(SAMPLE, database.execute("SELECT count(*) FROM patient").fetchall()[0][0])
        sizes = dict(database.execute(_BELOW).fetchall())
        found = (
            Atom(kind, concept, kb.concepts.name(concept), patients / sampled, sizes[concept])
            for kind, concept, patients in database.execute(_COMMON, [sampled]).fetchall()
            if concept in kb.concepts
        )
        return cls(tuple(one for one in found if "'" not in one.name), kb)

    def near(
        self, kinds: Sequence[str], share: float, apart_from: Iterable[Atom] = (), accept: Callable[[Atom], bool] = bool
    ) -> Atom:
        """Of the first of these kinds that has any, the concept nearest to this share; not related to the others."""
        others = [one.concept for one in apart_from]
        for kind in kinds:
            wanted = sorted(
                (one for one in self.atoms if one.kind == kind and accept(one)),
                key=lambda one: (abs(math.log(one.share / share)), one.below, one.concept),
            )
            for one in wanted[:200]:
                related = any(self.kb.concepts.related(one.concept, other) for other in others)
                if not related and abs(math.log(one.share / share)) <= math.log(4) and self._asked_so(one):
                    return one
        raise NotFound(f"no {' or '.join(kinds)} in about {share:.0%} of the patients")

    def called(self, concept: str, kind: str = "") -> Atom | None:
        """The atom of this concept (and kind), if the knowledge base has such events."""
        meant = (one for one in self.atoms if one.concept == concept and kind in ("", one.kind))
        return next((one for one in meant if self._asked_so(one)), None)

    def broad(self) -> tuple[Atom, Atom]:
        """The concept with the most descendants that not everybody has, and a single code of a cohort as large."""
        classes = sorted(
            (one for one in self.atoms if one.below >= MANY // 10 and 0.01 <= one.share <= 0.6),
            key=lambda one: (-one.below, one.kind, one.concept),
        )
        for one in classes:
            if self._asked_so(one):
                kinds = (one.kind, *dict.fromkeys(other.kind for other in self.atoms if other.kind != one.kind))
                return one, self.near(kinds, one.share, (one,), lambda other: other.below == 1)
        raise NotFound(f"no concept with {MANY // 10} descendants")

    def _asked_so(self, atom: Atom) -> bool:
        """Whether the words find this very concept: names can be shared."""
        try:
            exists = self.kb.find(atom.text).query.body
        except Exception:  # whatever cannot be asked is not asked
            return False
        events = getattr(exists, "events", None)
        return events is not None and atom.concept in str(events) and len(self.kb.find(atom.text)) > 0


def shares(kb: OpenKb, atoms: Iterable[Atom]) -> Iterator[dict[str, Any]]:
    """What share of all patients has each, as answered."""
    everybody = len(kb.patients)
    for one in atoms:
        cohort = kb.find(one.text).in_world(World.BELIEVED)
        yield {**one.as_dict(), "share": round(len(cohort) / everybody, 4)}
