"""The schema: what it counts, what it refuses, and that it agrees with what is recognised."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest

from cohortium.ingest.coral.annotate import recognised
from cohortium.ingest.coral.attributes import rules as attribute_rules
from cohortium.ingest.coral.relations import related, rules
from cohortium.ingest.coral.words import rows, table
from cohortium.ingest.coral_schema.types import Attribute, EntityType, RelationType, schema
from cohortium.ingest.note.mentions import LABELS
from tests.places import DOCS

KNOWN = schema()


def test_the_paper_counts_59_23_26() -> None:
    """As many entity types, attributes and relations are counted as the paper says."""
    counts = [sum(one.counted for one in kind.values()) for kind in (KNOWN.entities, KNOWN.attributes, KNOWN.relations)]
    assert counts == [59, 23, 26]


def test_the_rows_of_table_s1() -> None:
    """Table S1 has 56 rows of entities, 24 of attributes, 25 of relations."""
    assert sum(one.row for one in KNOWN.entities.values()) == 56
    assert len(KNOWN.attributes) == 24
    assert sum(one.row for one in KNOWN.relations.values()) == 25


def test_buckets_hold_what_the_table_shows() -> None:
    """The number of rows in each bucket is that of Table S1."""
    buckets: dict[str, int] = {}
    for one in KNOWN.entities.values():
        if one.row:
            buckets[one.bucket] = buckets.get(one.bucket, 0) + 1
    assert buckets == {
        "Temporal": 4, "PatientCharacteristics": 16, "Location": 2, "TumorTest": 4, "TestResult": 3,
        "TumorCharacteristics": 10, "Procedure": 4, "Treatment": 9, "ClinicalTrial": 1, "DiseaseState": 1,
        "SectionSkip": 1, "UnspecifiedEntity": 1,
    }  # fmt: skip


def test_what_is_not_yet_recognised_is_listed() -> None:
    """A type is given by some recogniser or listed with its reason, never both; so with attributes and relations."""
    assert recognised() == {name for name, one in KNOWN.entities.items() if not one.not_yet}
    assert related() == {name for name, one in KNOWN.relations.items() if not one.not_yet}
    assert attribute_rules().keys() <= KNOWN.attributes.keys()
    assert all(one.not_yet == "" or len(one.not_yet) > 20 for one in KNOWN.entities.values())


def test_labels_of_the_reading_are_labels_of_the_schema() -> None:
    """What a knowledge base calls its mentions is spelled as in Table S1."""
    assert set(LABELS.values()) <= KNOWN.entities.keys()


def test_words_name_only_what_the_schema_has() -> None:
    """Rows, rules and sections name types, relations and values of the schema; no rule is without arguments."""
    assert all(row.label in KNOWN.entities and row.beside <= KNOWN.entities.keys() for row in rows())
    assert all(rule.relation in KNOWN.relations and rule.heads and rule.tails for rule in rules())
    assert set(table("sections")["section"].values()) <= set(KNOWN.attributes["SectionSkipType"].values)


def test_models_check_themselves() -> None:
    """A model that means nothing cannot be made."""
    with pytest.raises(ValueError, match="none of"):
        Attribute("X", ("a", "b"), frozenset({"Site"}), "c")
    with pytest.raises(ValueError, match="once each"):
        Attribute("X", ("a", "a"), frozenset({"Site"}))
    with pytest.raises(ValueError, match="both arguments"):
        RelationType("X", "Y", frozenset(), frozenset({"Site"}))
    with pytest.raises(ValueError, match="one word"):
        EntityType("two words", "Location")
    with pytest.raises(ValueError, match="is no entity type"):
        replace(KNOWN, relations={"X": RelationType("X", "Y", frozenset({"Nowhere"}), frozenset({"Site"}))})
    with pytest.raises(ValueError, match="refines"):
        replace(KNOWN, entities={**KNOWN.entities, "X": EntityType("X", "Y", of="Nowhere")})


def test_attributes_of_an_entity_are_checked() -> None:
    """An entity carries only its own attributes, with their own values."""
    KNOWN.check("Symptom", {"ChronicVal": "chronic"})
    with pytest.raises(ValueError, match="has no attribute"):
        KNOWN.check("Site", {"ChronicVal": "chronic"})
    with pytest.raises(ValueError, match="it is one of"):
        KNOWN.check("Symptom", {"ChronicVal": "sometimes"})
    with pytest.raises(ValueError, match="no entity type"):
        KNOWN.check("Nowhere", {})


def test_a_relation_knows_its_direction() -> None:
    """A dose describes a drug, no drug a dose."""
    described = KNOWN.relations["TreatmentDesc"]
    assert described.joins("TreatmentDosage", "MedicationName")
    assert not described.joins("MedicationName", "TreatmentDosage")


def test_the_schema_is_imported_without_anything_heavy() -> None:
    """The schema and the standoff format need no engine, no arrays and no ontology."""
    code = (
        "import sys, cohortium.ingest.coral_schema.types as s, cohortium.ingest.coral_schema.standoff; s.schema();"
        "print([name for name in ('duckdb', 'numpy', 'pyarrow', 'networkx', 'pydantic') if name in sys.modules])"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"


def test_the_page_tells_all_of_the_schema() -> None:
    """The page of the schema has a row for each type, attribute and relation, and says which are not recognised."""
    page = (DOCS / "reference" / "coral.md").read_text("utf-8")
    for kind, heading in (
        (KNOWN.entities, "## Entity types"),
        (KNOWN.attributes, "## Attributes"),
        (KNOWN.relations, "## Relations"),
    ):
        part = page.split(heading)[1].split("\n## ")[0]
        rows = {line.split("|")[1].split("(")[0].strip(): line for line in part.splitlines() if line.startswith("| ")}
        assert rows.keys() - {"type", "attribute", "relation", "---"} == kind.keys()
        assert {name for name, line in rows.items() if "**not yet**" in line} == {
            name for name, one in kind.items() if one.not_yet
        }
