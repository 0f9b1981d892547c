"""The facts of a knowledge base as OMOP tables, and questions as phenotypes, for the cohort resolver of openmed.

Each believed, present fact of the patient becomes an affirmed, certain record on its midpoint; what else is recorded
(denied, possible, planned, of a relative) keeps its context in ``note_nlp.term_modifiers``, where the resolver looks
for it. A concept is numbered once for each kind of event, so that a diagnosis and a comorbidity of one name stay two
things. Values on a scale (stage IIIA, T2b) are concepts, as they are in OMOP's own vocabulary of cancer modifiers;
without that the resolver could not ask for them, since it looks at no value column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import duckdb

from benchmarks.scale.atoms import Atom
from cohortium.kb.kinds import KINDS

VOCABULARY: Final = "Cohortium"
SCHEMA: Final = "openmed.cohort.phenotype.v1"
#: Numbers of concepts between one kind and the next; values on a scale begin in the middle.
_STRIDE: Final = 1_000_000
_VALUES: Final = 500_000

#: Table, its columns of id, concept and date, and the kinds of event whose records it holds.
_TABLES: Final = (
    (
        "condition_occurrence", "condition_occurrence_id", "condition_concept_id", "condition_start_date",
        ("diagnosis", "metastasis", "node", "comorbidity", "symptom", "adverse_event"),
    ),
    ("drug_exposure", "drug_exposure_id", "drug_concept_id", "drug_exposure_start_date", ("medication", "regimen")),
    (
        "measurement", "measurement_id", "measurement_concept_id", "measurement_date",
        ("stage", "tnm", "grade", "biomarker", "variant", "performance", "lab"),
    ),
    (
        "procedure_occurrence", "procedure_occurrence_id", "procedure_concept_id", "procedure_date",
        ("surgery", "procedure", "radiation"),
    ),
    (
        "observation", "observation_id", "observation_concept_id", "observation_date",
        ("birth", "state", "social", "trial", "death"),
    ),
)  # fmt: skip

_PREPARE: Final = (
    "CREATE OR REPLACE TEMP TABLE kind_number AS SELECT unnest($1::VARCHAR[]) AS kind, unnest(range(1, $2)) AS number",
    """CREATE OR REPLACE TEMP TABLE scale_value AS
        SELECT kind, text, row_number() OVER (PARTITION BY kind ORDER BY text) AS place FROM (
            SELECT DISTINCT event.kind, text FROM event JOIN event_attribute USING (event)
            WHERE text IS NOT NULL AND ((kind = 'stage' AND name = 'stage') OR (kind = 'tnm' AND name = 't')))""",
    """CREATE OR REPLACE TEMP TABLE used AS
        SELECT DISTINCT kind, root AS concept
        FROM (SELECT DISTINCT kind, concept FROM event) JOIN below USING (concept)""",
    f"""CREATE OR REPLACE TEMP TABLE omop_concept AS
        SELECT used.kind, concept.concept AS name, number * {_STRIDE} + concept.position + 1 AS concept_id
        FROM used JOIN concept USING (concept) JOIN kind_number ON kind_number.kind = used.kind
        UNION ALL SELECT kind, '', number * {_STRIDE} FROM kind_number
        UNION ALL SELECT kind, '=' || text, number * {_STRIDE} + {_VALUES} + place
        FROM scale_value JOIN kind_number USING (kind)""",
    """CREATE OR REPLACE TEMP TABLE omop_event AS
        SELECT event.event + 1 AS id, patient + 1 AS person_id, event.kind, omop_concept.concept_id,
            DATE '0001-01-01' + ((low + high) // 2 - 1)::INTEGER AS day,
            (hash(coalesce(first_mention.note_id, '')) >> 2)::BIGINT AS note_id,
            coalesce(first_mention.span_start, 0) AS span_start, coalesce(first_mention.span_end, 0) AS span_end,
            CASE polarity WHEN 'absent' THEN 'N' ELSE 'Y' END AS term_exists,
            CASE WHEN world >= 2 THEN NULL ELSE to_json({
                'negation': CASE polarity WHEN 'absent' THEN 'negated' ELSE 'affirmed' END,
                'certainty': 'uncertain',
                'temporality': CASE temporality WHEN 'current' THEN 'recent' WHEN 'historical' THEN 'historical'
                    ELSE 'hypothetical' END,
                'experiencer': experiencer})::VARCHAR END AS term_modifiers
        FROM event
        LEFT JOIN (SELECT event, text FROM event_attribute JOIN event USING (event)
            WHERE text IS NOT NULL AND ((kind = 'stage' AND name = 'stage') OR (kind = 'tnm' AND name = 't'))
            QUALIFY row_number() OVER (PARTITION BY event ORDER BY position) = 1) AS on_scale USING (event)
        JOIN omop_concept ON omop_concept.kind = event.kind
            AND omop_concept.name = coalesce('=' || on_scale.text, event.concept)
        LEFT JOIN (SELECT event, note_id, span_start, span_end FROM evidence JOIN event USING (event)
            JOIN mention USING (patient, mention_id) WHERE evidence.position = 0
            QUALIFY row_number() OVER (PARTITION BY event ORDER BY span_start) = 1) AS first_mention USING (event)""",
)


@dataclass(frozen=True, slots=True)
class OmopTables:
    """A folder of Parquet files, and the number of each concept by kind and name."""

    folder: Path
    numbers: Mapping[tuple[str, str], int]

    def resolved(self, definition: Mapping[str, Any]) -> dict[str, Any]:
        """The definition with numbers in place of names."""
        sets = [
            {**one, "concept_ids": [self.numbers[kind, name] for kind, name in one["concept_ids"]]}
            for one in definition["concept_sets"]
        ]
        return {**definition, "concept_sets": sets}


def export(database: duckdb.DuckDBPyConnection, folder: Path) -> OmopTables:
    """Write the tables. ``database`` has the knowledge base and the temporary table ``below``."""
    folder.mkdir(parents=True, exist_ok=True)
    database.execute(_PREPARE[0], [list(KINDS), len(KINDS) + 1])
    for statement in _PREPARE[1:]:
        database.execute(statement)
    for name, id_, concept, day, kinds in _TABLES:
        columns = (
            f"id AS {id_}, person_id, concept_id AS {concept}, day AS {day}, note_id, id AS note_nlp_id, "
            "sha256(note_id::VARCHAR) AS source_note_hash"
        )
        listed = ", ".join(f"'{kind}'" for kind in kinds)
        _write(database, f"SELECT {columns} FROM omop_event WHERE kind IN ({listed}) ORDER BY id", folder, name)
    _write(
        database,
        """SELECT id AS note_nlp_id, note_id, span_start AS "offset", span_end AS offset_end, term_exists,
            NULL::VARCHAR AS term_temporal, term_modifiers FROM omop_event ORDER BY id""",
        folder,
        "note_nlp",
    )
    _write(database, "SELECT patient + 1 AS person_id FROM patient ORDER BY 1", folder, "person")
    concepts = f"SELECT concept_id, name AS concept_name, '{VOCABULARY}' AS vocabulary_id FROM omop_concept ORDER BY 1"
    _write(database, concepts, folder, "concept")
    edges = """SELECT parent.concept_id AS ancestor_concept_id, child.concept_id AS descendant_concept_id
        FROM concept_edge JOIN omop_concept AS child ON child.name = concept_edge.child
        JOIN omop_concept AS parent ON parent.name = concept_edge.parent AND parent.kind = child.kind ORDER BY ALL"""
    _write(database, edges, folder, "edges")
    numbers = {(kind, name): number for kind, name, number in database.execute("FROM omop_concept").fetchall()}
    for name in ("omop_event", "omop_concept", "used", "scale_value", "kind_number"):
        database.execute(f"DROP TABLE {name}")
    return OmopTables(folder, numbers)


def _write(database: duckdb.DuckDBPyConnection, select: str, folder: Path, name: str) -> None:
    path = str(folder / f"{name}.parquet").replace("'", "''")
    database.execute(f"COPY ({select}) TO '{path}' (FORMAT parquet)")


# --- phenotypes, in the JSON form that openmed reads; concepts by kind and name ---------------------------------------

Expression = dict[str, Any]


def criterion(id_: str, atom: Atom, minimum: int = 1, relative: tuple[str, int, int] | None = None) -> Expression:
    """Believed, present facts of the patient; ``relative``: so many days before and after another criterion's."""
    return _criterion(id_, [(atom.kind, atom.concept)], True, minimum, relative)


def values(id_: str, kind: str, texts: Sequence[str]) -> Expression:
    """One of these values on a scale."""
    return _criterion(id_, [(kind, f"={text}") for text in texts], False, 1, None)


def _criterion(
    id_: str, concepts: list[tuple[str, str]], below: bool, minimum: int, relative: tuple[str, int, int] | None
) -> Expression:
    one: dict[str, Any] = {
        "id": id_,
        "concept_set": f"set_{id_}",
        "occurrence": {"minimum": minimum},
        "assertion": {
            "negation": ["affirmed"],
            "certainty": ["certain"],
            "temporality": ["recent", "historical"],
            "experiencer": ["patient"],
        },
    }
    if relative is not None:
        anchor, before, after = relative
        one["temporal"] = {"anchor_criterion": anchor, "days_before": before, "days_after": after}
    concept_set = {
        "id": f"set_{id_}",
        "vocabulary": VOCABULARY,
        "concept_ids": concepts,
        "include_descendants": below,
    }
    return {"operator": "criterion", "criterion": one, "concept_set": concept_set}


def both(*children: Expression) -> Expression:
    """All of them."""
    return {"operator": "and", "children": list(children)}


def either(*children: Expression) -> Expression:
    """One of them or more."""
    return {"operator": "or", "children": list(children)}


def no(child: Expression) -> Expression:
    """Everybody else."""
    return {"operator": "not", "children": [child]}


def phenotype(expression: Expression) -> dict[str, Any]:
    """The definition, its concept sets gathered."""
    sets: list[dict[str, Any]] = []

    def stripped(node: Expression) -> Expression:
        if node["operator"] == "criterion":
            sets.append(node["concept_set"])
            return {"operator": "criterion", "criterion": node["criterion"]}
        return {**node, "children": [stripped(child) for child in node["children"]]}

    body = stripped(expression)
    return {"schema_version": SCHEMA, "id": "question", "name": "question", "concept_sets": sets, "expression": body}
