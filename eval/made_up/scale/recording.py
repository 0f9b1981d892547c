"""From told events to the rows of a knowledge base: texts of notes, ids that derive from content, Arrow tables."""

from __future__ import annotations

import datetime
import hashlib
import itertools
from collections.abc import Iterable
from typing import Any, Final

import numpy as np
import pyarrow as pa

from ....kb.model import Decision, content_id
from ....kb.storage.rows import CURRENT, STAGING
from .digests import Cells, digests, joined, ordinals, taken
from .drawn import ALL, NONE
from .draws import Array
from .facts import piece
from .phrases import DATE_LENGTHS, DATE_RULES, DATE_WIDTHS, Phrases
from .telling import Narrative

#: The first line of every note.
HEADER: Final = "FICTIONAL\n"
_RULE: Final = "dated by the earlier telling"
_WHY: Final = "two notes give this fact another day; the note nearer to it is believed"
_MENTION: Final = piece("mention")
_EVENT: Final = piece("event")
_NOTE: Final = piece("note")
_NO_DAY: Final = piece(None)
_NO_TITLE: Final = piece("")
#: What an event cites that one mention tells, with a place to put its id.
_PLACE: Final = b"?" * 16
_ONE_MENTION: Final = piece((_PLACE.decode(),))
_NUMBERS: Final = [piece(number) for number in range(4096)]
_WORLDS: Final = [piece(world) for world in range(4)]
_EPOCH: Final = datetime.date(1970, 1, 1).toordinal()


def patient_id(number: int) -> str:
    """The id of a made-up patient: sorted like the numbers."""
    return f"P{number:08d}"


class Recorder:
    """Writes down what was told of the patients of a chunk."""

    def __init__(self, phrases: Phrases) -> None:
        """``phrases``: all facts in all voices."""
        self._phrases = phrases

    def tables(self, first: int, patients: int, narrative: Narrative) -> dict[str, pa.Table]:
        """The staging tables of patients ``first``, ``first + 1`` …, in their final order."""
        ids = [patient_id(first + at) for at in range(patients)]
        event, mention, note = narrative.event, narrative.mention, narrative.note
        fact, voice = event["fact"][mention["event"]], event["voice"][mention["event"]]
        cells = Cells(ids, narrative, fact, voice)
        self._place(cells)
        self._write_notes(cells)
        self._identify(cells)
        self._decide(cells)
        digest = digests(cells, self._phrases)
        people = {
            "patient_id": pa.array(ids, pa.string()),
            "events": np.bincount(event["owner"], minlength=patients),
            "digest": pa.array(digest, pa.string()),
        }
        made = {
            "patient": people,
            "note": self._note_columns(cells, note),
            "mention": self._mention_columns(cells, mention),
            "event": self._event_columns(cells, event),
            "event_attribute": self._attribute_columns(cells, event),
            "evidence": self._evidence_columns(cells),
            "decision": self._decision_columns(cells),
        }
        return {name: _table(name, columns) for name, columns in made.items()}

    # --- texts ------------------------------------------------------------------------------------------------------

    def _place(self, cells: Cells) -> None:
        """Where each sentence, mention and cue stands in its note."""
        phrases, mention, note = self._phrases, cells.narrative.mention, cells.narrative.note
        phrase = cells.fact * phrases.voices + cells.voice
        dated = DATE_WIDTHS[mention["form"]]
        width = dated + phrases.length[phrase]
        end = np.cumsum(width)
        first = note["first"]
        start = end - width
        start = start - np.repeat(start[first], np.diff(np.append(first, len(start)))) + len(HEADER)
        cells.phrase, cells.sentence = phrase, (start, start + width - 1)
        body = start + dated
        cells.span = (
            body + phrases.start[cells.fact, cells.voice],
            body + phrases.end[cells.fact, cells.voice],
        )
        cells.date_cue = (start, start + DATE_LENGTHS[mention["form"]])
        behind = phrases.cue_behind[cells.voice]
        cue = np.where(behind, body + phrases.fact_length[cells.fact] + 1, body)
        cells.voice_cue = (cue, cue + phrases.cue_length[cells.voice])

    def _write_notes(self, cells: Cells) -> None:
        phrases, mention, note = self._phrases, cells.narrative.mention, cells.narrative.note
        event_day = cells.narrative.event["day"][mention["event"]]
        first = np.zeros(len(event_day), dtype=np.int64)
        first[note["first"]] = 1
        sentences = joined(
            taken(["", HEADER], first),
            _date_prefixes(event_day, mention["form"]),
            phrases.body.take(pa.array(cells.phrase)),
        )
        # Notes are stretches of the sentences, one behind the other.
        _, offsets, words = sentences.buffers()
        edges = np.frombuffer(offsets, dtype=np.int32)[np.append(note["first"], len(sentences))]
        cells.texts = pa.StringArray.from_buffers(len(note["day"]), pa.py_buffer(edges), words)
        view = memoryview(words)
        texts = [bytes(view[low:high]) for low, high in itertools.pairwise(edges.tolist())]
        cells.hashes = [hashlib.sha256(text).hexdigest() for text in texts]
        cells.types = [phrases.note_type[one] for one in cells.fact[note["first"]].tolist()]
        cells.dates = [datetime.date.fromordinal(day) for day in note["day"].tolist()]
        cells.documents = [f"N{number + 1:04d}" for number in note["ordinal"].tolist()]
        people = [_NOTE + piece(one) for one in cells.ids]
        documents, types = ({one: piece(one) for one in set(words)} for words in (cells.documents, cells.types))
        days = {one: piece(one) for one in set(cells.dates)}
        cells.note_ids = [
            _hash(people[owner] + documents[document] + days[date] + types[type_] + _NO_TITLE + _length(text) + text)
            for owner, document, date, type_, text in zip(
                note["owner"].tolist(), cells.documents, cells.dates, cells.types, texts, strict=True
            )
        ]

    # --- ids --------------------------------------------------------------------------------------------------------

    def _identify(self, cells: Cells) -> None:
        phrases, event, mention = self._phrases, cells.narrative.event, cells.narrative.mention
        heads = [_MENTION + piece(one) for one in cells.note_ids]
        starts, ends = (one.tolist() for one in cells.span)
        numbers = _NUMBERS if max(ends) < len(_NUMBERS) else [piece(number) for number in range(max(ends) + 1)]
        cells.mention_ids = _hashes(
            map(heads.__getitem__, mention["note"].tolist()),
            map(numbers.__getitem__, starts),
            map(numbers.__getitem__, ends),
            map(phrases.mention_tail.__getitem__, cells.fact.tolist()),
        )
        cells.evidence = np.argsort(mention["event"], kind="stable")
        cells.tumor_ids, cells.tumor = _tumor_ids(cells)
        tumors = [piece(one) for one in cells.tumor_ids]
        people = [_EVENT + piece(one) for one in cells.ids]
        ended = _interval_pieces(event["end"], event["end"])
        for endless in np.flatnonzero(event["end"] == 0).tolist():
            ended[endless] = _NO_DAY
        phrase = event["fact"] * phrases.voices + event["voice"]
        worlds = list(map(phrases.event_tail.__getitem__, phrase.tolist()))
        for disputed in np.flatnonzero(event["twin"] >= 0).tolist():
            worlds[disputed] = worlds[disputed][: -len(_WORLDS[0])] + _WORLDS[event["world"][disputed]]
        cells.event_ids = _hashes(
            map(people.__getitem__, event["owner"].tolist()),
            map(phrases.event_head.__getitem__, event["fact"].tolist()),
            _interval_pieces(event["low"], event["high"]),
            ended,
            worlds,
            map(tumors.__getitem__, cells.tumor.tolist()),
            _evidence_pieces(cells),
        )

    def _decide(self, cells: Cells) -> None:
        event = cells.narrative.event
        believed = np.flatnonzero((event["twin"] >= 0) & (event["world"] == 2))
        made = [
            (
                owner,
                Decision(cells.ids[owner], _RULE, (cells.event_ids[at],), (cells.event_ids[twin],), _WHY),
            )
            for owner, at, twin in zip(
                event["owner"][believed].tolist(), believed.tolist(), event["twin"][believed].tolist(), strict=True
            )
        ]
        cells.decisions = sorted(made, key=lambda one: (one[0], one[1].decision_id))

    # --- columns ----------------------------------------------------------------------------------------------------

    def _note_columns(self, cells: Cells, note: dict[str, Array]) -> dict[str, Any]:
        number = len(cells.note_ids)
        return {
            "patient_id": cells.of_patients(note["owner"]),
            "ordinal": note["ordinal"],
            "note_id": pa.array(cells.note_ids, pa.string()),
            "doc_id": pa.array(cells.documents, pa.string()),
            "date": pa.array((note["day"] - _EPOCH).astype(np.int32)).cast(pa.date32()),
            "type": pa.array(cells.types, pa.string()),
            "title": _same("", number),
            "text": cells.texts,
            "sha256": pa.array(cells.hashes, pa.string()),
            "status": _same(CURRENT, number),
            "superseded_by": pa.nulls(number, pa.string()),
        }

    def _mention_columns(self, cells: Cells, mention: dict[str, Array]) -> dict[str, Any]:
        phrases, number = self._phrases, len(cells.fact)
        owner = cells.narrative.note["owner"][mention["note"]]
        return {
            "patient_id": cells.of_patients(owner),
            "ordinal": ordinals(owner, len(cells.ids)),
            "mention_id": pa.array(cells.mention_ids, pa.string()),
            "note_id": pa.DictionaryArray.from_arrays(
                pa.array(mention["note"].astype(np.int32)), pa.array(cells.note_ids, pa.string())
            ),
            "span_start": cells.span[0],
            "span_end": cells.span[1],
            "text": phrases.surface.column(cells.fact),
            "kind": phrases.mentioned_as.column(cells.fact),
            "label": phrases.label.column(cells.fact),
            "concept": phrases.concept.column(cells.fact),
            "attributes": phrases.attributes.column(cells.fact),
            **{name: words.column(cells.voice) for name, words in phrases.contexts.items()},
            "low": mention["low"],
            "high": mention["high"],
            "source": phrases.source.column(cells.fact),
            "section": phrases.section.column(cells.fact),
            "sentence_start": cells.sentence[0],
            "sentence_end": cells.sentence[1],
            "cues": self._cues(cells, mention["form"]),
            "confidence": np.ones(number),
        }

    def _cues(self, cells: Cells, form: Array) -> pa.Array:
        """The date before a fact and the words of its voice, where there are any."""
        has_date, has_voice = DATE_LENGTHS[form] > 0, cells.voice > 0
        count = has_date.astype(np.int32) + has_voice
        offsets = np.append(0, np.cumsum(count)).astype(np.int32)
        rules = [*DATE_RULES, *self._phrases.cue_rule]
        start, end, rule = (np.zeros(offsets[-1], dtype=np.int32) for _ in range(3))
        for has, later, (low, high), which in (
            (has_date, 0, cells.date_cue, form),
            (has_voice, has_date, cells.voice_cue, len(DATE_RULES) + cells.voice),
        ):
            at = (offsets[:-1] + later)[has]
            start[at], end[at], rule[at] = low[has], high[has], which[has]
        struct = pa.StructArray.from_arrays(
            [pa.array(start), pa.array(end), pa.array(rules, pa.string()).take(pa.array(rule))],
            fields=list(STAGING["mention"].field("cues").type.value_type),
        )
        return pa.ListArray.from_arrays(pa.array(offsets), struct)

    def _event_columns(self, cells: Cells, event: dict[str, Array]) -> dict[str, Any]:
        phrases, number = self._phrases, len(cells.event_ids)
        endless = event["end"] == 0
        anchored = DATE_LENGTHS[event["form"]] > 0
        anchors = pa.ListArray.from_arrays(
            pa.array(np.append(0, np.cumsum(anchored)).astype(np.int32)),
            pa.array(DATE_RULES, pa.string()).take(pa.array(event["form"][anchored])),
        )
        end = pa.array(event["end"].astype(np.int32), mask=endless)
        return {
            "patient_id": cells.of_patients(event["owner"]),
            "ordinal": ordinals(event["owner"], len(cells.ids)),
            "event_id": pa.array(cells.event_ids, pa.string()),
            "kind": phrases.kind.column(event["fact"]),
            "concept": phrases.concept.column(event["fact"]),
            "low": event["low"],
            "high": event["high"],
            "end_low": end,
            "end_high": end,
            **{name: words.column(event["voice"]) for name, words in phrases.contexts.items()},
            "world": event["world"],
            "tumor": pa.DictionaryArray.from_arrays(
                pa.array(cells.tumor.astype(np.int32)), pa.array(cells.tumor_ids, pa.string())
            ),
            "tumor_rule": event["rule"],
            "sources": event["sources"],
            "anchors": anchors,
            "confidence": np.ones(number),
        }

    def _attribute_columns(self, cells: Cells, event: dict[str, Array]) -> dict[str, Any]:
        known = self._phrases.attribute_cells
        at, position, cell = known.of_fact.spread(event["fact"])
        owner = event["owner"][at]
        return {
            "patient_id": cells.of_patients(owner),
            "ordinal": ordinals(event["owner"], len(cells.ids))[at],
            "position": position,
            "name": known.name.column(cell),
            "text": known.text.column(cell),
            "number": known.number.take(pa.array(cell)),
            "form": known.form.column(cell),
        }

    def _evidence_columns(self, cells: Cells) -> dict[str, Any]:
        event, at = cells.narrative.event, cells.narrative.mention["event"][cells.evidence]
        owner = event["owner"][at]
        first = np.append(0, np.cumsum(event["sources"]))[:-1]
        return {
            "patient_id": cells.of_patients(owner),
            "ordinal": ordinals(event["owner"], len(cells.ids))[at],
            "position": np.arange(len(at)) - first[at],
            "mention_id": pa.array(cells.mention_ids, pa.string()).take(pa.array(cells.evidence)),
        }

    def _decision_columns(self, cells: Cells) -> dict[str, Any]:
        owner = np.array([owner for owner, _ in cells.decisions], dtype=np.int64)
        made = [decision for _, decision in cells.decisions]
        text = pa.list_(pa.string())
        return {
            "patient_id": cells.of_patients(owner),
            "ordinal": ordinals(owner, len(cells.ids)),
            "decision_id": pa.array([one.decision_id for one in made], pa.string()),
            "rule": pa.array([one.rule for one in made], pa.string()),
            "believed": pa.array([list(one.believed) for one in made], text),
            "rejected": pa.array([list(one.rejected) for one in made], text),
            "explanation": pa.array([one.explanation for one in made], pa.string()),
        }


def _date_prefixes(day: Array, form: Array) -> pa.Array:
    """The words before each fact that date it."""
    written, at = np.unique(day * len(DATE_WIDTHS) + form, return_inverse=True)
    words = [
        f"{datetime.date.fromordinal(one // len(DATE_WIDTHS)).isoformat()[: DATE_LENGTHS[one % len(DATE_WIDTHS)]]}: "
        if DATE_LENGTHS[one % len(DATE_WIDTHS)]
        else ""
        for one in written.tolist()
    ]
    return taken(words, at)


def _length(text: bytes) -> bytes:
    """What stands before a part of an id."""
    return len(text).to_bytes(8, "little")


def _interval_pieces(low: Array, high: Array) -> list[bytes]:
    """Intervals of days as parts of ids."""
    pairs, at = np.unique(low * 10_000_000 + high, return_inverse=True)
    pieces = [piece(f"DayInterval(low={pair // 10_000_000}, high={pair % 10_000_000})") for pair in pairs.tolist()]
    return list(map(pieces.__getitem__, at.tolist()))


def _evidence_pieces(cells: Cells) -> list[bytes]:
    """The tuples of mention ids that events cite as parts of ids; most cite one, which is quick to write."""
    sources = cells.narrative.event["sources"]
    stated_by = list(map(cells.mention_ids.__getitem__, cells.evidence.tolist()))
    first = np.cumsum(sources) - sources
    known = _ONE_MENTION.split(_PLACE)
    pieces = [known[0] + stated_by[at].encode() + known[1] for at in first.tolist()]
    for event in np.flatnonzero(sources > 1).tolist():
        pieces[event] = piece(tuple(stated_by[first[event] : first[event] + sources[event]]))
    return pieces


def _hash(content: bytes) -> str:
    """The id of joined parts."""
    return hashlib.blake2b(content, digest_size=8).hexdigest()


def _hashes(*parts: Iterable[bytes]) -> list[str]:
    """The ids of many things, whose parts come as columns."""
    blake, join = hashlib.blake2b, b"".join
    return [blake(join(row), digest_size=8).hexdigest() for row in zip(*parts, strict=True)]


def _tumor_ids(cells: Cells) -> tuple[list[str], Array]:
    """The words for tumors, and for each event which of them: none, all, or one of the patient's."""
    event = cells.narrative.event
    one = event["tumor"] >= 0
    key = event["owner"][one] * 4 + event["tumor"][one]
    known, at = np.unique(key, return_inverse=True)
    names = ["", "*", *(content_id("tumor", cells.ids[key // 4], key % 4) for key in known.tolist())]
    which = np.where(event["tumor"] == ALL, 1, 0)
    which[one] = at + 2
    assert np.all(event["tumor"][~one] <= NONE)
    return names, which


def _same(word: str, rows: int) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, dtype=np.int32)), pa.array([word], pa.string()))


def _table(name: str, columns: dict[str, Any]) -> pa.Table:
    """Columns as a staging table; text may stay dictionary codes."""
    arrays, fields = [], []
    for field in STAGING[name]:
        column = columns[field.name]
        array = column if isinstance(column, pa.Array) else pa.array(column, field.type)
        arrays.append(array)
        fields.append(pa.field(field.name, array.type))
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))
