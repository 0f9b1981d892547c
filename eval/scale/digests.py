"""The digest of each patient's rows, as :func:`cohortium.kb.rows.rows_digest` makes it, out of parts made before."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from ...kb.model import Decision
from .draws import Array
from .phrases import DATE_LENGTHS, DATE_RULES, Phrases
from .telling import Told

Pair = tuple[Array, Array]


@dataclass(slots=True)
class Cells:
    """What a chunk's rows are made of, filled step by step. ``fact``, ``voice`` and what has a place in a text are of
    mentions; ``evidence`` are the places of mentions in the order of their events."""

    ids: list[str]
    told: Told
    fact: Array
    voice: Array
    phrase: Array = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    tumor: Array = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    evidence: Array = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    sentence: Pair = (np.zeros(0), np.zeros(0))
    span: Pair = (np.zeros(0), np.zeros(0))
    date_cue: Pair = (np.zeros(0), np.zeros(0))
    voice_cue: Pair = (np.zeros(0), np.zeros(0))
    texts: list[str] = field(default_factory=list)
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


def digests(cells: Cells, phrases: Phrases) -> list[str]:
    """The digest of each patient."""
    parts: tuple[tuple[str, list[str], Array | None], ...] = (
        ("note", *_note_lines(cells)),
        ("mention", *_mention_lines(cells, phrases)),
        ("relation", [], None),
        ("event", *_event_lines(cells, phrases)),
        ("event_attribute", *_attribute_lines(cells, phrases)),
        ("evidence", *_evidence_lines(cells)),
        ("decision", *_decision_lines(cells)),
    )
    edges = [
        [0] * (len(cells.ids) + 1)
        if owner is None
        else np.append(0, np.cumsum(np.bincount(owner, minlength=len(cells.ids)))).tolist()
        for _, _, owner in parts
    ]
    made = []
    for at, patient in enumerate(cells.ids):
        # A row begins with its patient's id, which the lines leave out.
        begin = f'["{patient}", '
        text = "".join(
            f"{name}[{begin}{(', ' + begin).join(lines[edge[at] : edge[at + 1]])}]"
            if edge[at] < edge[at + 1]
            else f"{name}[]"
            for (name, lines, _), edge in zip(parts, edges, strict=True)
        )
        made.append(hashlib.blake2b(text.encode(), digest_size=16).hexdigest())
    return made


def _note_lines(cells: Cells) -> tuple[list[str], Array]:
    note = cells.told.note
    quoted = json.encoder.encode_basestring
    lines = [
        f'{ordinal}, "{note_id}", "{document}", "{date}", "{type_}", "", {quoted(text)}, "{sha}", "current", null]'
        for ordinal, note_id, document, date, type_, text, sha in zip(
            note["ordinal"].tolist(),
            cells.note_ids,
            cells.documents,
            cells.dates,
            cells.types,
            cells.texts,
            cells.hashes,
            strict=True,
        )
    ]
    return lines, note["owner"]


def _mention_lines(cells: Cells, phrases: Phrases) -> tuple[list[str], Array]:
    mention = cells.told.mention
    owner = cells.told.note["owner"][mention["note"]]
    lines = [
        f'{ordinal}, "{mention_id}", "{cells.note_ids[note]}", {start}, {end}, {phrases.mention_json[phrase]}, '
        f"{low}, {high}, {phrases.source_json[fact]}, {first}, {last}, [{cues}], 1.0]"
        for ordinal, mention_id, note, start, end, phrase, low, high, fact, first, last, cues in zip(
            _ordinals(owner, len(cells.ids)),
            cells.mention_ids,
            mention["note"].tolist(),
            *(one.tolist() for one in cells.span),
            cells.phrase.tolist(),
            mention["low"].tolist(),
            mention["high"].tolist(),
            cells.fact.tolist(),
            *(one.tolist() for one in cells.sentence),
            _cue_lines(cells, phrases),
            strict=True,
        )
    ]
    return lines, owner


def _cue_lines(cells: Cells, phrases: Phrases) -> list[str]:
    form = cells.told.mention["form"]
    lines = [""] * len(form)
    for has, (start, end), which, rules in (
        (DATE_LENGTHS[form] > 0, cells.date_cue, form, DATE_RULES),
        (cells.voice > 0, cells.voice_cue, cells.voice, phrases.cue_rule),
    ):
        at = np.flatnonzero(has)
        for place, low, high, one in zip(
            at.tolist(), start[at].tolist(), end[at].tolist(), which[at].tolist(), strict=True
        ):
            line = f'{{"span_start": {low}, "span_end": {high}, "rule": "{rules[one]}"}}'
            lines[place] = f"{lines[place]}, {line}" if lines[place] else line
    return lines


def _event_lines(cells: Cells, phrases: Phrases) -> tuple[list[str], Array]:
    event = cells.told.event
    anchors = [f'["{rule}"]' if rule else "[]" for rule in DATE_RULES]
    lines = [
        f'{ordinal}, "{event_id}", {phrases.event_json[fact]}, {low}, {high}, '
        f"{f'{end}, {end}' if end else 'null, null'}, {phrases.context_json[voice]}, {world}, "
        f'"{cells.tumor_ids[tumor]}", {rule}, {sources}, {anchors[form]}, 1.0]'
        for ordinal, event_id, fact, low, high, end, voice, world, tumor, rule, sources, form in zip(
            _ordinals(event["owner"], len(cells.ids)),
            cells.event_ids,
            event["fact"].tolist(),
            event["low"].tolist(),
            event["high"].tolist(),
            event["end"].tolist(),
            event["voice"].tolist(),
            event["world"].tolist(),
            cells.tumor.tolist(),
            event["rule"].tolist(),
            event["sources"].tolist(),
            event["form"].tolist(),
            strict=True,
        )
    ]
    return lines, event["owner"]


def _attribute_lines(cells: Cells, phrases: Phrases) -> tuple[list[str], Array]:
    event = cells.told.event
    known = phrases.attribute_json
    lines = [
        f"{ordinal}, {line}]"
        for ordinal, fact in zip(_ordinals(event["owner"], len(cells.ids)), event["fact"].tolist(), strict=True)
        for line in known[fact]
    ]
    counts = phrases.attribute_cells.of_fact.counts[event["fact"]]
    return lines, np.repeat(event["owner"], counts)


def _evidence_lines(cells: Cells) -> tuple[list[str], Array]:
    event = cells.told.event
    at = cells.told.mention["event"][cells.evidence]
    ordinals = np.array(_ordinals(event["owner"], len(cells.ids)))
    first = np.append(0, np.cumsum(event["sources"]))[:-1]
    lines = [
        f'{ordinal}, {position}, "{cells.mention_ids[mention]}"]'
        for ordinal, position, mention in zip(
            ordinals[at].tolist(),
            (np.arange(len(at)) - first[at]).tolist(),
            cells.evidence.tolist(),
            strict=True,
        )
    ]
    return lines, event["owner"][at]


def _decision_lines(cells: Cells) -> tuple[list[str], Array]:
    owner = np.array([owner for owner, _ in cells.decisions], dtype=np.int64)
    lines = [
        json.dumps(
            [ordinal, one.decision_id, one.rule, list(one.believed), list(one.rejected), one.explanation],
            ensure_ascii=False,
        )[1:]
        for ordinal, (_, one) in zip(_ordinals(owner, len(cells.ids)), cells.decisions, strict=True)
    ]
    return lines, owner


def _ordinals(owner: Array, owners: int) -> list[int]:
    counts = np.bincount(owner, minlength=owners)
    ordinals: list[int] = (np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)).tolist()
    return ordinals
