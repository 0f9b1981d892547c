"""Every fact in every voice: as words in a note, cells of tables, parts of ids and digests, each made once."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ....kb.model import Value
from .draws import Array, Ragged
from .facts import Fact, Voice, attributes_json, piece
from .plans import data

#: Rules that read the dates before a fact, by form (see :mod:`.telling`): none, a day, a month, a year, none, none.
DATE_RULES: Final = ("", "date:iso", "date:year-month", "date:year", "", "")
#: So many characters of a date stand before a fact, with the colon and space; and so many are the date.
DATE_WIDTHS: Final = np.array([0, 12, 9, 6, 0, 0])
DATE_LENGTHS: Final = np.array([0, 10, 7, 4, 0, 0])


class Words:
    """Codes of words, and the words as an Arrow array."""

    def __init__(self, words: Sequence[str | None]) -> None:
        """``words``: one for each fact (or voice); None where it has none."""
        known = list(dict.fromkeys(word for word in words if word is not None))
        number = {word: at for at, word in enumerate(known)}
        self._codes = np.array([-1 if word is None else number[word] for word in words], dtype=np.int32)
        self._words = pa.array(known, pa.string())

    def column(self, at: Array) -> pa.Array:
        """The words at these places, as dictionary codes."""
        codes = self._codes[at]
        return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), self._words)


@dataclass(frozen=True, slots=True)
class AttributeCells:
    """The attributes of all facts, one behind the other, and where those of each fact are."""

    of_fact: Ragged
    name: Words
    text: Words
    number: pa.Array
    form: Words
    json: pa.Array


class Phrases:
    """All facts and voices. A phrase is a fact in a voice: number ``fact * voices + voice``."""

    def __init__(self, facts: Sequence[Fact], voices: Sequence[Voice]) -> None:
        """All facts and voices, in their order."""
        labels = data("records")["told"]
        self.voices = len(voices)
        phrases = [(fact, voice) for fact in facts for voice in voices]
        self.body = pa.array([f"{voice.before}{fact.text}{voice.behind}\n" for fact, voice in phrases], pa.string())
        self.length = pc.binary_length(self.body).to_numpy().astype(np.int64)
        before = np.array([len(voice.before) for voice in voices])
        self.start = np.array([fact.start for fact in facts])[:, None] + before
        self.end = np.array([fact.end for fact in facts])[:, None] + before
        # The cue is the words before or behind, without the space or colon.
        self.cue_rule = [voice.rule for voice in voices]
        self.cue_behind = np.array([bool(voice.behind) for voice in voices])
        self.cue_length = np.array([len((voice.before or voice.behind).strip(" :")) for voice in voices])
        self.fact_length = np.array([len(fact.text) for fact in facts])
        # --- cells of tables
        self.kind = Words([fact.kind for fact in facts])
        self.mentioned_as = Words([fact.mentioned_as for fact in facts])
        self.concept = Words([fact.concept for fact in facts])
        self.surface = Words([fact.text[fact.start : fact.end] for fact in facts])
        self.attributes = Words([attributes_json(fact) for fact in facts])
        self.source = Words([fact.source for fact in facts])
        self.type, self.section, self.label = (Words([labels[fact.kind][at] for fact in facts]) for at in range(3))
        self.contexts = {
            name: Words([str(getattr(voice.context, name)) for voice in voices])
            for name in ("polarity", "temporality", "experiencer", "reason")
        }
        self.attribute_cells = _attribute_cells(facts)
        # --- parts of ids
        self.mention_tail = [
            piece(fact.mentioned_as) + piece(fact.concept) + piece(sorted(fact.attributes.items())) for fact in facts
        ]
        self.event_head = [piece(fact.kind) + piece(fact.concept) for fact in facts]
        self.event_tail = [
            piece(sorted(fact.attributes.items())) + piece(voice.context) + piece(int(voice.world))
            for fact, voice in phrases
        ]
        # --- parts of digests
        contexts = [
            json.dumps([str(getattr(voice.context, name)) for name in self.contexts], ensure_ascii=False)[1:-1]
            for voice in voices
        ]
        words = [f"{cells}, {context}" for cells in map(_mention_cells, facts) for context in contexts]
        self.mention_json = pa.array(words, pa.string())
        self.source_json = pa.array([_inside([fact.source, labels[fact.kind][1]]) for fact in facts], pa.string())
        self.event_json = pa.array([_inside([fact.kind, fact.concept]) for fact in facts], pa.string())
        self.context_json = contexts
        self.note_type = [labels[fact.kind][0] for fact in facts]


def _mention_cells(fact: Fact) -> str:
    label = data("records")["told"][fact.kind][2]
    surface = fact.text[fact.start : fact.end]
    return _inside([surface, fact.mentioned_as, label, fact.concept, attributes_json(fact)])


def _inside(cells: list[Any]) -> str:
    return json.dumps(cells, ensure_ascii=False)[1:-1]


def _cells(value: Value) -> tuple[str | None, float | None, str]:
    return (value, None, "text") if isinstance(value, str) else (None, float(value), "float")


def _attribute_cells(facts: Sequence[Fact]) -> AttributeCells:
    flat = [item for fact in facts for item in fact.attributes.items()]
    edges = np.cumsum([0, *(len(fact.attributes) for fact in facts)]).tolist()
    cells = [_cells(value) for _, value in flat]
    return AttributeCells(
        Ragged([list(range(low, high)) for low, high in itertools.pairwise(edges)]),
        Words([name for name, _ in flat]),
        Words([text for text, _, _ in cells]),
        pa.array([number for _, number, _ in cells], pa.float64()),
        Words([form for _, _, form in cells]),
        pa.array(
            [
                _inside([at, name, *_cells(value)])
                for fact in facts
                for at, (name, value) in enumerate(fact.attributes.items())
            ],
            pa.string(),
        ),
    )
