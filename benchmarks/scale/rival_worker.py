"""The rivals' side of a comparison: runs in their interpreter, answers one JSON line with one JSON line.

What is compared is told in docs/results/speed_at_scale.md.

It imports nothing of Cohortium: what is compared has its own versions of its own libraries. Times are taken here,
around the rival's call alone.
"""

from __future__ import annotations

import json
import os
import sys
import time
from importlib import metadata
from pathlib import Path
from typing import Any


class Worker:
    """What was loaded so far, and the operations by name."""

    def __init__(self) -> None:
        self.resolver: Any = None
        self.pipelines: dict[str, Any] = {}
        self.texts: dict[str, list[str]] = {}

    # --- openmed ----------------------------------------------------------------------------------------------------

    def openmed_load(self, folder: str, database: str, threads: int, memory: str) -> dict[str, Any]:
        """OMOP tables from Parquet files into a DuckDB file of the rival's own version, as tables of it."""
        import duckdb
        from openmed.structured.cohort import CohortResolver, ConceptHierarchy

        begun = time.perf_counter()
        connection = duckdb.connect(database, config={"threads": threads, "memory_limit": memory})
        for path in sorted(Path(folder).glob("*.parquet")):
            connection.execute(f"CREATE TABLE {path.stem} AS SELECT * FROM read_parquet($1)", [str(path)])
        connection.execute("CHECKPOINT")
        hierarchy = ConceptHierarchy.from_rows(connection.execute("FROM edges").fetchall())
        self.resolver = CohortResolver(connection, hierarchy=hierarchy)
        return {
            "seconds": time.perf_counter() - begun,
            "bytes": Path(database).stat().st_size,
            "versions": versions("openmed", "duckdb"),
        }

    def openmed_resolve(self, definition: dict[str, Any], patients: bool = False) -> dict[str, Any]:
        """The public way: from the JSON of a phenotype to its result, which holds patients, evidence and coverage."""
        from openmed.structured.cohort import PhenotypeDefinition

        text = json.dumps(definition)
        with Clock() as clock:
            found = self.resolver.resolve(PhenotypeDefinition.from_json(text)).patient_ids
        return {**clock.spent(), "count": len(found), **({"patients": list(found)} if patients else {})}

    def openmed_patients(self, definition: dict[str, Any], patients: bool = False) -> dict[str, Any]:
        """The statement that the resolver compiles for the patients, run alone: no evidence, no coverage."""
        from openmed.structured.cohort import PhenotypeDefinition, compile_phenotype

        text = json.dumps(definition)
        with Clock() as clock:
            compiled = compile_phenotype(PhenotypeDefinition.from_json(text), hierarchy=self.resolver.hierarchy)
            rows = self.resolver.connection.execute(compiled.patient_sql, compiled.parameters).fetchall()
        found = [int(row[0]) for row in rows]
        return {**clock.spent(), "count": len(found), **({"patients": found} if patients else {})}

    # --- medspaCy ---------------------------------------------------------------------------------------------------

    def medspacy_load(self, name: str, rules: list[tuple[str, str]], sections: bool) -> dict[str, Any]:
        """A blank English pipeline: tokens, sentences (PyRuSH), targets by these names, context, perhaps sections."""
        import medspacy
        from medspacy.ner import TargetRule

        begun = time.perf_counter()
        enabled = ["medspacy_tokenizer", "medspacy_pyrush", "medspacy_target_matcher", "medspacy_context"]
        pipeline = medspacy.load(medspacy_enable=enabled + ["medspacy_sectionizer"] * sections)
        matcher = pipeline.get_pipe("medspacy_target_matcher")
        matcher.add([TargetRule(literal, category) for literal, category in rules])
        self.pipelines[name] = pipeline
        return {
            "seconds": time.perf_counter() - begun,
            "pipes": list(pipeline.pipe_names),
            "versions": versions("medspacy", "spacy", "numpy"),
        }

    def keep_texts(self, name: str, texts: list[str]) -> dict[str, Any]:
        """Notes to be read under this name."""
        self.texts[name] = texts
        return {}

    def medspacy_read(self, pipeline: str, name: str) -> dict[str, Any]:
        """Every text once, in one process."""
        texts, reader = self.texts[name], self.pipelines[pipeline]
        entities = 0
        with Clock() as clock:
            for document in reader.pipe(texts):
                entities += len(document.ents)
        return {**clock.spent(), "entities": entities}


class Clock:
    """Seconds on the wall and of this process's processors between entering and leaving."""

    def __enter__(self) -> Clock:
        self.wall, self.processor = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *error: object) -> None:
        self.wall, self.processor = time.perf_counter() - self.wall, time.process_time() - self.processor

    def spent(self) -> dict[str, float]:
        """For the answer."""
        return {"wall": self.wall, "processor": self.processor}


def versions(*names: str) -> dict[str, str]:
    """Of the distributions that did the work."""
    return {name: metadata.version(name) for name in names}


def main() -> None:
    """Answer until there is nothing more to read."""
    # Libraries may print; the answers have a descriptor of their own.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    worker = Worker()
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = getattr(worker, request.pop("operation"))(**request)
        except ImportError as error:
            answer = {"missing": str(error.name or error)}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
