"""The questions of :mod:`scale_benchmark` as straight SQL on the same DuckDB file, in two variants.

``plain``: the tables as they stand, with the descendants of every concept at hand in a temporary table. ``tuned``:
what a good engineer would add to ask such questions: a narrow copy of the events (numbers in place of words, the
midpoint worked out) in the order of kind, concept and patient, so that DuckDB reads little of it; the attributes that
are asked for beside it in the same order; the closure in numbers; days folded to the earliest and latest of a patient
before they are joined.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import duckdb
import numpy as np

from benchmarks.scale.atoms import CLOSURE, Atom
from cohortium.kb.kinds import KINDS

THREADS: Final = 2
MEMORY: Final = "4GB"
CERTAIN, BELIEVED, POSSIBLE = 3, 2, 1
PLAIN, TUNED = "plain SQL", "tuned SQL"

_TUNED: Final = (
    "CREATE TABLE tuned.kind AS SELECT unnest($kinds::VARCHAR[]) AS name, unnest(range($number))::UTINYINT AS kind",
    """CREATE TABLE tuned.concept AS
        SELECT concept AS name, row_number() OVER (ORDER BY concept)::INTEGER AS concept FROM kb.concept
        UNION ALL SELECT '', 0""",
    """CREATE TABLE tuned.below AS SELECT one.concept AS root, other.concept AS concept FROM below
        JOIN tuned.concept AS one ON one.name = below.root JOIN tuned.concept AS other ON other.name = below.concept
        ORDER BY ALL""",
    """CREATE TABLE tuned.fact AS
        SELECT kind.kind, concept.concept, patient, ((low + high) // 2)::INTEGER AS day, low, high, world,
            CASE tumor WHEN '' THEN 0 WHEN '*' THEN 1 ELSE hash(tumor) END AS tumor
        FROM kb.event JOIN tuned.kind ON kind.name = event.kind JOIN tuned.concept ON concept.name = event.concept
        WHERE world >= 1 ORDER BY ALL""",
    """CREATE TABLE tuned.fact_value AS
        SELECT kind.kind, event_attribute.name, text, number, patient, concept.concept, world
        FROM kb.event JOIN kb.event_attribute USING (event)
        JOIN tuned.kind ON kind.name = event.kind JOIN tuned.concept ON concept.name = event.concept
        WHERE world >= 2
        AND (event.kind, event_attribute.name) IN (('stage', 'stage'), ('tnm', 't'), ('performance', 'value'))
        ORDER BY ALL""",
    "CREATE TABLE tuned.tumors AS SELECT DISTINCT patient, tumor FROM tuned.fact WHERE world >= 2 AND tumor > 1",
)
_STARRED: Final = "SELECT DISTINCT kind FROM event WHERE tumor = '*'"


@dataclass(slots=True)
class Writing:
    """A statement being written: its pieces come from here, and the values of their ``$names`` are gathered."""

    tuned: bool
    starred: frozenset[str]
    values: dict[str, Any] = field(default_factory=dict)

    def value(self, value: object) -> str:
        """The placeholder of a value."""
        name = f"v{len(self.values)}"
        self.values[name] = value
        return f"${name}"

    def events(self, atom: Atom, world: int = BELIEVED) -> str:
        """Rows of patient, day, low, high, tumor of the atom's events that exist in this world."""
        kind, concept = self.value(atom.kind), self.value(atom.concept)
        if self.tuned:
            return f"""(SELECT patient, day, low, high, tumor FROM tuned.fact WHERE world >= {world:d}
                AND kind = (SELECT kind FROM tuned.kind WHERE name = {kind})
                AND concept IN (SELECT concept FROM tuned.below
                    WHERE root = (SELECT concept FROM tuned.concept WHERE name = {concept})))"""
        return f"""(SELECT patient, (low + high) // 2 AS day, low, high, tumor FROM event WHERE world >= {world:d}
            AND kind = {kind} AND concept IN (SELECT concept FROM below WHERE root = {concept}))"""

    def valued(self, kind: str, name: str, texts: Iterable[str], most: float | None, concept: str = "") -> str:
        """Rows of the patients of believed events whose attribute is one of these texts, or a number up to ``most``."""
        admitted = f"text IN (SELECT unnest({self.value(sorted(texts))}::VARCHAR[]))"
        if most is not None:
            admitted = f"({admitted} OR number <= {self.value(most)})"
        kind_is, name_is = self.value(kind), self.value(name)
        if self.tuned:
            below = ""
            if concept:
                below = f"""AND concept IN (SELECT concept FROM tuned.below
                    WHERE root = (SELECT concept FROM tuned.concept WHERE name = {self.value(concept)}))"""
            return f"""(SELECT patient FROM tuned.fact_value WHERE name = {name_is} AND {admitted}
                AND kind = (SELECT kind FROM tuned.kind WHERE name = {kind_is}) {below})"""
        below = f"AND concept IN (SELECT concept FROM below WHERE root = {self.value(concept)})" if concept else ""
        return f"""(SELECT patient FROM event JOIN event_attribute USING (event)
            WHERE kind = {kind_is} AND world >= 2 AND name = {name_is} AND {admitted} {below})"""

    def attached(self, atom: Atom) -> str:
        """Rows of patient and tumor: an event of all tumors is one of each that the patient has."""
        none, all_of_them = ("0", "1") if self.tuned else ("''", "'*'")
        own = f"SELECT patient, tumor FROM {self.events(atom)} WHERE tumor NOT IN ({none}, {all_of_them})"
        if atom.kind not in self.starred:
            return f"({own})"
        tumors = "tuned.tumors" if self.tuned else "(SELECT patient, tumor FROM event WHERE world >= 2)"
        return f"""({own} UNION ALL SELECT starred.patient, tumors.tumor
            FROM {self.events(atom)} AS starred JOIN {tumors} AS tumors USING (patient)
            WHERE starred.tumor = {all_of_them} AND tumors.tumor NOT IN ({none}, {all_of_them}))"""


#: Writes the SELECT of the dense numbers of the patients of a question, each once.
Writer = Callable[[Writing], str]


@dataclass(frozen=True, slots=True)
class Variant:
    """One of the two ways of asking a knowledge base by SQL."""

    name: str
    database: duckdb.DuckDBPyConnection
    starred: frozenset[str]

    def _written(self, writer: Writer) -> tuple[str, dict[str, Any]]:
        writing = Writing(self.name == TUNED, self.starred)
        return writer(writing), writing.values

    def count(self, writer: Writer) -> int:
        """How many patients."""
        text, values = self._written(writer)
        counted: int = self.database.execute(f"SELECT count(*) FROM ({text})", values).fetchall()[0][0]
        return counted

    def row(self, writer: Writer) -> tuple[int, ...]:
        """The one row of a statement that counts."""
        return tuple(self.rows(writer)[0])

    def rows(self, writer: Writer) -> list[tuple[Any, ...]]:
        """Whatever the statement gives."""
        text, values = self._written(writer)
        return self.database.execute(text, values).fetchall()

    def patients(self, writer: Writer) -> np.ndarray[Any, np.dtype[Any]]:
        """Which patients, sorted."""
        text, values = self._written(writer)
        found = self.database.execute(f"SELECT patient FROM ({text}) ORDER BY patient", values).fetchnumpy()
        return np.asarray(found["patient"])


class SqlSide:
    """A connection to the DuckDB file of a knowledge base, read-only, with what the two variants need beside it."""

    def __init__(self, file: Path, tuned: bool, folder: Path | None = None) -> None:
        """``tuned``: the copy of the second variant is built, in a scratch folder within ``folder``."""
        self._scratch = Path(tempfile.mkdtemp(prefix="scale_sql_", dir=folder))
        # An instance of its own, so that its settings are no others'.
        settings = {"threads": THREADS, "memory_limit": MEMORY, "temp_directory": str(self._scratch / "spill")}
        self.database = duckdb.connect(config=settings)
        self._attach(file, "kb", "(READ_ONLY)")
        self.database.execute("USE kb")
        self.database.execute(CLOSURE)
        starred = frozenset(row[0] for row in self.database.execute(_STARRED).fetchall())
        self.variants = [Variant(PLAIN, self.database, starred)]
        self.built: dict[str, float] = {}
        if tuned:
            begun = time.perf_counter()
            copy = self._scratch / "tuned.duckdb"
            self._attach(copy, "tuned")
            for statement in _TUNED:
                known = {"kinds": list(KINDS), "number": len(KINDS)}
                self.database.execute(statement, {name: one for name, one in known.items() if f"${name}" in statement})
            self.database.execute("CHECKPOINT tuned")
            self.built = {"seconds": round(time.perf_counter() - begun, 1), "bytes": copy.stat().st_size}
            self.variants.append(Variant(TUNED, self.database, starred))

    def _attach(self, file: Path, name: str, how: str = "") -> None:
        place = str(file).replace("'", "''")
        self.database.execute(f"ATTACH '{place}' AS {name} {how}")

    def texts(self, name: str) -> list[str]:
        """The values that an attribute has somewhere."""
        found = self.database.execute(
            "SELECT DISTINCT text FROM event_attribute WHERE name = $1 AND text IS NOT NULL ORDER BY text", [name]
        )
        return [row[0] for row in found.fetchall()]

    def close(self) -> None:
        """Close, and remove the copy."""
        self.database.close()
        shutil.rmtree(self._scratch, ignore_errors=True)
