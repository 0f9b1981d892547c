"""The digest of each patient's rows, as :func:`cohortium.kb.storage.rows.rows_digest` makes it, out of columns of text.

The rows of a table are written as JSON by joining columns, all at once; those of a patient then lie in one stretch.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ....kb.model import Decision
from .draws import Array
from .phrases import DATE_LENGTHS, DATE_RULES, Phrases
from .telling import Narrative

Pair = tuple[Array, Array]


@dataclass(slots=True)
class Cells:
    """What a chunk's rows are made of, filled step by step. ``fact``, ``voice`` and what has a place in a text are of
    mentions; ``evidence`` are the places of mentions in the order of their events."""

    ids: list[str]
    narrative: Narrative
    fact: Array
    voice: Array
    phrase: Array = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    tumor: Array = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    evidence: Array = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    sentence: Pair = (np.zeros(0), np.zeros(0))
    span: Pair = (np.zeros(0), np.zeros(0))
    date_cue: Pair = (np.zeros(0), np.zeros(0))
    voice_cue: Pair = (np.zeros(0), np.zeros(0))
    texts: pa.Array = field(default_factory=lambda: pa.array([], pa.string()))
    hashes: list[str] = field(default_factory=list)
    types: list[str] = field(default_factory=list)
    dates: list[Any] = field(default_factory=list)
    documents: list[str] = field(default_factory=list)
    note_ids: list[str] = field(default_factory=list)
    mention_ids: list[str] = field(default_factory=list)
    event_ids: list[str] = field(default_factory=list)
    tumor_ids: list[str] = field(default_factory=list)
    decisions: list[tuple[int, Decision]] = field(default_factory=list)

    def of_patients(self, owner: Array) -> pa.Array:
        """The patient ids of rows, as dictionary codes."""
        return pa.DictionaryArray.from_arrays(pa.array(owner.astype(np.int32)), pa.array(self.ids, pa.string()))


def ordinals(owner: Array, owners: int) -> Array:
    """The position of each row with its owner; rows come in the order of owners."""
    counts = np.bincount(owner, minlength=owners)
    positions: Array = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    return positions


def taken(words: list[str], at: Array) -> pa.Array:
    """For each row one of some words."""
    return pa.array(words, pa.string()).take(pa.array(at))


def joined(*parts: Any) -> pa.Array:
    """Columns of text and of numbers, and words that are the same in all rows, joined row by row."""
    columns: list[Any] = []
    at = 0
    while at < len(parts):
        part = parts[at]
        at += 1
        if not isinstance(part, np.ndarray):
            columns.append(pa.array(part, pa.string()) if isinstance(part, list) else part)
            continue
        # The words around a number are written with it: fewer columns are joined.
        before = columns.pop() if columns and isinstance(columns[-1], str) else ""
        behind = parts[at] if at < len(parts) and isinstance(parts[at], str) else ""
        at += bool(behind)
        columns.append(_written(before, part, behind))
    return pc.binary_join_element_wise(*columns, "")


def _written(before: str, numbers: Array, behind: str) -> pa.Array:
    """Whole numbers between words; each number is written once."""
    low, high = (int(numbers.min()), int(numbers.max())) if len(numbers) else (0, 0)
    if high - low > len(numbers):
        known, at = np.unique(numbers, return_inverse=True)
        return taken([f"{before}{number}{behind}" for number in known.tolist()], at)
    return taken([f"{before}{number}{behind}" for number in range(low, high + 1)], numbers - low)


def digests(cells: Cells, phrases: Phrases) -> list[str]:
    """The digest of each patient."""
    begin = [f'["{patient}", ' for patient in cells.ids]
    tables: tuple[tuple[str, list[Any], Array], ...] = (
        ("note", *_note_lines(cells)),
        ("mention", *_mention_lines(cells, phrases)),
        ("relation", [], np.zeros(0, dtype=np.int64)),
        ("event", *_event_lines(cells, phrases)),
        ("event_attribute", *_attribute_lines(cells, phrases)),
        ("evidence", *_evidence_lines(cells)),
        ("decision", *_decision_lines(cells)),
    )
    states = [hashlib.blake2b(digest_size=16) for _ in cells.ids]
    for name, parts, owner in tables:
        head = name.encode() + b"["
        if not len(owner):
            for state in states:
                state.update(head + b"]")
            continue
        rows = joined(taken(begin, owner), *parts, "], ")
        _, offsets, words = rows.buffers()
        edges = np.frombuffer(offsets, dtype=np.int32)[rows.offset :][
            np.append(0, np.cumsum(np.bincount(owner, minlength=len(states))))
        ].tolist()
        view = memoryview(words)
        for at, state in enumerate(states):
            state.update(head)
            # But for the comma and the space behind the last row.
            state.update(view[edges[at] : max(edges[at], edges[at + 1] - 2)])
            state.update(b"]")
    return [state.hexdigest() for state in states]


Lines = tuple[list[Any], Array]


def _note_lines(cells: Cells) -> Lines:
    note = cells.narrative.note
    # Words are plain, with no quotation marks (see ``Facts``): the ends of lines are all there is to escape.
    texts = pc.replace_substring(cells.texts, "\n", "\\n")
    parts = [
        note["ordinal"],
        ', "',
        cells.note_ids,
        '", "',
        cells.documents,
        '", "',
        [str(date) for date in cells.dates],
        '", "',
        cells.types,
        '", "", "',
        texts,
        '", "',
        cells.hashes,
        '", "current", null',
    ]
    return parts, note["owner"]


def _mention_lines(cells: Cells, phrases: Phrases) -> Lines:
    mention = cells.narrative.mention
    owner = cells.narrative.note["owner"][mention["note"]]
    parts = [
        ordinals(owner, len(cells.ids)),
        ', "',
        cells.mention_ids,
        '", "',
        taken(cells.note_ids, mention["note"]),
        '", ',
        cells.span[0],
        ", ",
        cells.span[1],
        ", ",
        phrases.mention_json.take(pa.array(cells.phrase)),
        ", ",
        mention["low"],
        ", ",
        mention["high"],
        ", ",
        phrases.source_json.take(pa.array(cells.fact)),
        ", ",
        cells.sentence[0],
        ", ",
        cells.sentence[1],
        ", [",
        *_cues(DATE_LENGTHS[mention["form"]] > 0, cells.date_cue, taken(list(DATE_RULES), mention["form"])),
        taken(["", ", "], ((DATE_LENGTHS[mention["form"]] > 0) & (cells.voice > 0)).astype(np.int64)),
        *_cues(cells.voice > 0, cells.voice_cue, taken(phrases.cue_rule, cells.voice)),
        "], 1.0",
    ]
    return parts, owner


def _cues(has: Array, place: Pair, rule: pa.Array) -> list[Any]:
    """The cues of one sort as JSON; nothing where there is none."""
    there = pa.array(has)

    def where(part: Any) -> pa.Array:
        column = pa.array(part).cast(pa.string()) if isinstance(part, np.ndarray) else part
        return pc.if_else(there, column, "")

    words = ('{"span_start": ', place[0], ', "span_end": ', place[1], ', "rule": "', rule, '"}')
    return [where(part) for part in words]


def _event_lines(cells: Cells, phrases: Phrases) -> Lines:
    event = cells.narrative.event
    anchors = [f'["{rule}"]' if rule else "[]" for rule in DATE_RULES]
    end = pc.if_else(pa.array(event["end"] > 0), pa.array(event["end"]).cast(pa.string()), "null")
    parts = [
        ordinals(event["owner"], len(cells.ids)),
        ', "',
        cells.event_ids,
        '", ',
        phrases.event_json.take(pa.array(event["fact"])),
        ", ",
        event["low"],
        ", ",
        event["high"],
        ", ",
        end,
        ", ",
        end,
        ", ",
        taken(phrases.context_json, event["voice"]),
        ", ",
        event["world"],
        ', "',
        taken(cells.tumor_ids, cells.tumor),
        '", ',
        event["rule"],
        ", ",
        event["sources"],
        ", ",
        taken(anchors, event["form"]),
        ", 1.0",
    ]
    return parts, event["owner"]


def _attribute_lines(cells: Cells, phrases: Phrases) -> Lines:
    event = cells.narrative.event
    at, _, cell = phrases.attribute_cells.of_fact.spread(event["fact"])
    owner = event["owner"]
    return [
        ordinals(owner, len(cells.ids))[at],
        ", ",
        phrases.attribute_cells.json.take(pa.array(cell)),
    ], owner[at]


def _evidence_lines(cells: Cells) -> Lines:
    event = cells.narrative.event
    at = cells.narrative.mention["event"][cells.evidence]
    first = np.cumsum(event["sources"]) - event["sources"]
    parts = [
        ordinals(event["owner"], len(cells.ids))[at],
        ", ",
        np.arange(len(at)) - first[at],
        ', "',
        taken(cells.mention_ids, cells.evidence),
        '"',
    ]
    return parts, event["owner"][at]


def _decision_lines(cells: Cells) -> Lines:
    owner = np.array([owner for owner, _ in cells.decisions], dtype=np.int64)
    made = [decision for _, decision in cells.decisions]
    cells_of = ([one.decision_id, one.rule, list(one.believed), list(one.rejected), one.explanation] for one in made)
    lines = [json.dumps(row, ensure_ascii=False)[1:-1] for row in cells_of]
    return [ordinals(owner, len(cells.ids)), ", ", lines], owner
