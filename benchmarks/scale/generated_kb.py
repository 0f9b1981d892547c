"""Knowledge bases of made-up patients: any number of them, the same for the same seed, written by the bulk door.

The ontology is the shipped one with a broad class of 10,000 codes and a single code added, which equally many patients
have (:data:`BROAD`, :data:`SINGLE`). Every event has one mention in the one note of its patient.
"""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

from cohortium.kb.model import Mention, Note
from cohortium.kb.ontology.concepts import ConceptRow, ConceptTable
from cohortium.kb.storage.rows import STAGING
from cohortium.kb.storage.writer import GenerationWriter

BROAD: Final = "made_up_class"
SINGLE: Final = "made_up_code"
BROAD_CODES: Final = 10_000

_FIRST_DAY: Final = datetime.date(2012, 1, 1).toordinal()
_DAYS: Final = 3_650
#: Share of patients who have one of the 10,000 codes; as many have the single one.
_SHARE: Final = 0.1
#: Share of events whose concept is one of the common ones of its kind.
_COMMON: Final = 0.7
_STAGES: Final = ("I", "IA", "IB", "II", "IIA", "IIB", "III", "IIIA", "IIIB", "IV")
_SENTENCE: Final = "Made-up finding number {:03d} was recorded.\n"
_SPAN: Final = "Made-up finding"
_WIDTH: Final = len(_SENTENCE.format(0))

#: For each kind: how many events a patient has on average, the root of their concepts, those that are common among
#: them, an attribute and its values.
_SHAPES: Final[tuple[tuple[str, float, str, str, str, tuple[str | float, ...]], ...]] = (
    (
        "diagnosis",
        1.3,
        "malignant_neoplasm",
        "invasive_ductal_carcinoma lung_adenocarcinoma prostate_adenocarcinoma",
        "laterality",
        ("left", "right"),
    ),
    ("stage", 1.5, "", "", "stage", _STAGES),
    ("tnm", 1.5, "", "", "t", ("T1", "T1c", "T2", "T2b", "T3", "T3c", "T4")),
    ("biomarker", 4.0, "biomarker", "er pr her2 ki67 pd_l1", "result", ("positive", "negative", "equivocal")),
    ("variant", 1.0, "gene", "tp53 egfr kras", "alteration", ("mutation", "amplification", "deletion", "fusion")),
    (
        "medication",
        5.0,
        "systemic_therapy",
        "cisplatin carboplatin tamoxifen trastuzumab osimertinib pembrolizumab paclitaxel",
        "line",
        (1.0, 2.0, 3.0),
    ),
    ("metastasis", 0.4, "anatomical_site", "bone brain liver lung", "laterality", ("left", "right")),
    ("performance", 3.0, "ecog", "", "value", (0.0, 1.0, 2.0, 3.0)),
    ("comorbidity", 2.0, "condition", "hypertension diabetes_mellitus", "", ()),
)


def ontology() -> ConceptTable:
    """The shipped ontology with the broad class and the single code."""
    shipped = ConceptTable.from_files()
    added = [ConceptRow(BROAD, "procedure", "made-up class"), ConceptRow(SINGLE, "procedure", "made-up code")]
    added += [ConceptRow(_code(at), "procedure", f"made-up procedure {at}", (BROAD,)) for at in range(BROAD_CODES)]
    return ConceptTable([*shipped.rows(), *added], shipped.value_sets())


def make_kb(path: Path, patients: int, seed: int = 1, concepts: ConceptTable | None = None) -> None:
    """Write a knowledge base of so many patients (about 20 events each). ``concepts`` is what :func:`ontology` gave."""
    concepts = ontology() if concepts is None else concepts
    with GenerationWriter(path, concepts=concepts) as writer:
        writer.add_tables(made_up_tables(patients, seed, concepts))
        writer.finish()


def made_up_tables(patients: int, seed: int, concepts: ConceptTable) -> dict[str, pa.Table]:
    """The staging rows: a handful of columns are drawn, the others are one value throughout."""
    random = np.random.default_rng(seed)
    owners, kinds, names, values, texts = _facts(random, patients, concepts)
    order = np.argsort(owners, kind="stable")
    owner, kind, concept = owners[order], kinds[order], names[order]
    count = np.bincount(owner, minlength=patients)
    ordinal = np.arange(len(owner)) - np.repeat(np.cumsum(count) - count, count)
    patient = np.char.add("P", np.char.zfill(owner.astype(str), 8))
    low = _FIRST_DAY + random.integers(0, _DAYS, len(owner))
    # Days, months and years; what is known of a year alone is a wide interval.
    high = low + random.choice([0, 30, 365], len(owner), p=[0.7, 0.2, 0.1])
    tumor = np.where(
        random.random(len(owner)) < 0.1, "", np.char.add("t", random.integers(1, 3, len(owner)).astype(str))
    )
    rows = len(owner)
    everyone = np.char.add("P", np.char.zfill(np.arange(patients).astype(str), 8))
    notes = [
        Note(who, f"d{who}", "".join(map(_SENTENCE.format, range(number))))
        for who, number in zip(everyone.tolist(), count.tolist(), strict=True)
    ]
    note_ids = np.array([note.note_id for note in notes])
    start = ordinal * _WIDTH
    # By the model's own objects, whose ids the knowledge base derives anew when it is read.
    mention = np.array(
        [
            Mention(note, at, at + len(_SPAN), _SPAN, what, "", which).mention_id
            for note, at, what, which in zip(note_ids[owner], start.tolist(), kind, concept, strict=True)
        ]
    )
    event = {
        "patient_id": patient,
        "ordinal": ordinal,
        "event_id": np.char.add("e", mention),
        "kind": kind,
        "concept": concept,
        "low": low,
        "high": high,
        "world": random.choice([3, 2, 1, 0], rows, p=[0.85, 0.05, 0.07, 0.03]),
        "tumor": tumor,
        "tumor_rule": np.where(tumor == "", 5, 1),
        "sources": np.ones(rows, dtype=np.int32),
        "confidence": np.ones(rows),
        **dict.fromkeys(("end_low", "end_high")),
        **_context(rows),
        "anchors": pa.array([[]] * rows, pa.list_(pa.string())),
    }
    mentions = {
        "patient_id": patient,
        "ordinal": ordinal,
        "mention_id": mention,
        "note_id": note_ids[owner],
        "span_start": start,
        "span_end": start + len(_SPAN),
        "kind": kind,
        "concept": concept,
        "low": low,
        "high": high,
        "sentence_start": start,
        "sentence_end": start + _WIDTH - 1,
        "confidence": np.ones(rows),
        "cues": pa.nulls(rows, STAGING["mention"].field("cues").type).fill_null([]),
        **_same(rows, text=_SPAN, label="", attributes="{}", source="made up", section="body"),
        **_context(rows),
    }
    attribute_name, number = values[order], texts[order]
    held = np.flatnonzero(attribute_name != "")
    is_text = pa.array([isinstance(value, str) for value in number[held]])
    attributes = {
        "patient_id": patient[held],
        "ordinal": ordinal[held],
        "position": np.zeros(len(held), dtype=np.int32),
        "name": attribute_name[held],
        "text": pa.array([value if isinstance(value, str) else None for value in number[held]], pa.string()),
        "number": pa.array([None if isinstance(value, str) else value for value in number[held]], pa.float64()),
        "form": pa.array(np.where(is_text.to_numpy(zero_copy_only=False), "text", "float")),
    }
    note_columns = {
        "patient_id": everyone,
        "ordinal": np.zeros(patients, dtype=np.int32),
        "note_id": note_ids,
        "doc_id": np.char.add("d", everyone),
        "date": None,
        "text": [note.text for note in notes],
        "sha256": [note.sha256 for note in notes],
        "superseded_by": None,
        **_same(patients, type="", title="", status="current"),
    }
    people = {"patient_id": everyone, "events": count, "digest": _same(patients, digest=f"{seed}")["digest"]}
    evidence = {
        "patient_id": patient,
        "ordinal": ordinal,
        "position": np.zeros(rows, dtype=np.int32),
        "mention_id": mention,
    }
    tables = {
        "patient": people,
        "note": note_columns,
        "mention": mentions,
        "event": event,
        "event_attribute": attributes,
        "evidence": evidence,
    }
    return {name: _table(name, columns) for name, columns in tables.items()}


def _facts(random: np.random.Generator, patients: int, concepts: ConceptTable) -> tuple[np.ndarray[Any, Any], ...]:
    """Patient, kind, concept, attribute name and value of every event."""
    parts: list[tuple[Any, ...]] = []
    for kind, mean, root, common, attribute, values in _SHAPES:
        owner = np.repeat(np.arange(patients), random.poisson(mean, patients))
        below = np.array(sorted(concepts.below(root)) if root else [""], dtype=object)
        chosen = below[random.integers(0, len(below), len(owner))]
        if common:
            often = random.random(len(owner)) < _COMMON
            chosen[often] = np.array(common.split())[random.integers(0, len(common.split()), int(often.sum()))]
        drawn = np.empty(len(owner), dtype=object)
        if values:
            drawn[:] = [values[at] for at in random.integers(0, len(values), len(owner))]
        parts.append((owner, np.full(len(owner), kind), chosen, np.full(len(owner), attribute), drawn))
    size = int(patients * _SHARE)
    for codes in ([_code(at) for at in range(BROAD_CODES)], [SINGLE]):
        owner = random.choice(patients, size, replace=False)
        chosen = np.array(codes)[random.integers(0, len(codes), size)]
        nothing = np.empty(size, dtype=object)
        parts.append((owner, np.full(size, "procedure"), chosen, np.full(size, ""), nothing))
    return tuple(np.concatenate(column) for column in zip(*parts, strict=True))


def _code(at: int) -> str:
    return f"made_up_{at:05d}"


def _context(rows: int) -> dict[str, pa.Array]:
    return _same(rows, polarity="present", temporality="current", experiencer="patient", reason="none")


def _same(rows: int, **values: str) -> dict[str, pa.Array]:
    return {name: pa.array(np.full(rows, value)) for name, value in values.items()}


def _table(name: str, columns: dict[str, Any]) -> pa.Table:
    rows = len(columns["patient_id"])
    cells = {key: pa.nulls(rows) if column is None else pa.array(column) for key, column in columns.items()}
    schema = STAGING[name]
    return pa.Table.from_arrays([cells[field.name].cast(field.type) for field in schema], schema=schema)
