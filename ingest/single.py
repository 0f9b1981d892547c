"""One text read on its own: what ``cohortium.read`` gives, with its JSON form and its brat form.

To the mentions of the reading the annotations of the CORAL schema are added (``ingest/coral``), with its attributes and
relations; a knowledge base holds the mentions of the reading alone.
"""

from __future__ import annotations

import dataclasses
import datetime
import os
import re
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..kb.arguments import expect
from ..kb.errors import UsageError
from ..kb.model import EARLIEST_DAY, LATEST_DAY, Note, Value
from ..kb.ontology.concepts import ConceptTable
from .coral.annotate import annotate
from .coral.annotation import Annotation
from .coral_schema.standoff import Attribute, Entity, Line, Standoff, quoted
from .coral_schema.standoff import Relation as RelationLine
from .coral_schema.types import schema
from .models.tagging.choice import Choice, chosen_model
from .note.read import NoteReader, ReadNote, read_text, shared_reader
from .note.trace import Traced
from .run.note_budget import budget_of, one_note
from .text.frame import Frame, resolve_overlaps
from .text.shape import without_blanks


@dataclass(frozen=True, slots=True)
class ReadMention:
    """A mention as outsiders see it. ``start`` and ``end`` are character offsets into the text.

    ``label`` is spelled as in CORAL's Table S1; ``concept`` is an id and ``name`` its preferred name (both empty when
    the mention has no concept: a model proposed it and could link it to none, or it was a target); ``earliest`` and
    ``latest`` bound its day (ISO; empty when nothing bounds it).
    ``kind`` is the kind of event that the reading makes of it, or the label in small letters where it makes none.
    ``source`` is what found it, ``confidence`` the probability that a model gives (1 for what rules read).
    ``coral``: attributes of Table S1 by name (``docs/reference/coral.md``); those that nothing tells are left out.
    """

    id: str
    start: int
    end: int
    text: str
    kind: str
    label: str
    concept: str
    name: str
    polarity: str
    temporality: str
    experiencer: str
    reason: str
    assertion: str
    attributes: dict[str, Value]
    earliest: str
    latest: str
    section: str
    source: str
    confidence: float = 1.0
    coral: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReadRelation:
    """A typed edge from the mention with the id ``head`` to the one with the id ``tail``."""

    type: str
    head: str
    tail: str


@dataclass(frozen=True, slots=True)
class Document:
    """One text as it was read: its mentions in the order of the text, and the relations between them."""

    text: str = field(repr=False)
    mentions: tuple[ReadMention, ...]
    relations: tuple[ReadRelation, ...]

    def as_dict(self) -> dict[str, Any]:
        """``{"mentions": [...], "relations": [...]}``, for JSON."""
        return {
            "mentions": [dataclasses.asdict(mention) for mention in self.mentions],
            "relations": [dataclasses.asdict(relation) for relation in self.relations],
        }

    def to_brat(self) -> str:
        """The annotation file (``.ann``) of the brat tool: a T line a mention, an A line for each attribute of the
        schema that has not its default value, an R line a relation."""
        return self.standoff().to_ann()

    def standoff(self) -> Standoff:
        """The same as annotations of the standoff format, for programs."""
        names = {mention.id: f"T{number}" for number, mention in enumerate(self.mentions, 1)}
        lines: list[Line] = []
        attributes: list[tuple[str, str, str]] = []
        for mention in self.mentions:
            spans = _fragments(self.text, mention.start, mention.end)
            lines.append(Entity(names[mention.id], mention.label, spans, quoted(self.text, spans)))
            for attribute in schema().attributes_of(mention.label):
                value = mention.coral.get(attribute.name, attribute.default)
                if value != attribute.default:
                    attributes.append((attribute.name, names[mention.id], value))
        lines += [Attribute(f"A{number}", *attribute) for number, attribute in enumerate(attributes, 1)]
        for number, relation in enumerate(self.relations, 1):
            arguments = (("Arg1", names[relation.head]), ("Arg2", names[relation.tail]))
            lines.append(RelationLine(f"R{number}", relation.type, arguments))
        return Standoff(tuple(lines), self.text)


def _fragments(text: str, start: int, end: int) -> tuple[tuple[int, int], ...]:
    """The stretches of a span between its line breaks: the format has no entity over several lines."""
    fragments = []
    for row in re.finditer(r"[^\r\n]+", text[start:end]):
        low, high = without_blanks(text, start + row.start(), start + row.end())
        if low < high:
            fragments.append((low, high))
    return tuple(fragments) or ((start, end),)


# As Python users call it: a text, and choices that all have a default.
def read(
    text: str,
    date: datetime.date | str | None = None,
    title: str = "",
    type: str = "",
    targets: Sequence[tuple[int, int] | tuple[int, int, str]] = (),
    ontology: str | os.PathLike[str] | None = None,
    model: str | os.PathLike[str] | Choice | None = None,
    note_seconds: float = 0,
    note_characters: int = 0,
) -> Document:
    """Read one text. ``date`` is the note's own, a date or its ISO text; ``ontology`` a folder of further concepts;
    ``model`` a model directory that proposes mentions which the rules lack, ``shipped``, ``llm`` (the chat model of the
    environment, which is sent the text) or ``none``. ``note_seconds`` of the processor and ``note_characters``: what it
    may take; 0 is without bound.

    ``targets`` are character spans that become mentions whatever the lexicon knows, so that their context is judged;
    with a third member, an entity type of the schema, they are of that type. Without one a span that reads like a drug
    is a MedicationName, any other a Symptom.
    UsageError when the date is none, a target lies outside the text, its type is none, there are no concepts in the
    folder, the model cannot be loaded, or the text is too long; DeadlineExceeded when the time is over.
    """
    expect("text", text, str, "the text of one note; of a file: Path(…).read_text()")
    expect("title", title, str, "the title of the note")
    expect("type", type, str, "the type of the note")
    date = _day(date)
    spans, labels = [], {}
    for target in targets:
        expect("targets", target, (tuple, list), "spans: (start, end), or (start, end, type)")
    for start, end, *label in targets:
        if not 0 <= start < end <= len(text):
            raise UsageError(f"the target ({start}, {end}) lies outside the text of {len(text)} characters")
        if label and label[0] not in schema().entities:
            raise UsageError(
                f"'{label[0]}' is no entity type. Hint: docs/reference/coral.md lists them, for example Symptom"
            )
        spans.append((start, end))
        labels[start, end] = label[0] if label else ""
    extra = None if ontology is None else Path(ontology)
    learned = chosen_model(model)
    # Made before its time runs.
    reader = shared_reader(extra, learned)
    with one_note(budget_of(note_seconds, note_characters), text):
        found = read_text(text, date, title, type, spans, notations=True, ontology=extra, model=learned)
        return document_of(found, reader, labels)


def read_steps(
    text: str,
    date: datetime.date | str | None = None,
    title: str = "",
    type: str = "",
    ontology: str | os.PathLike[str] | None = None,
    model: str | os.PathLike[str] | Choice | None = None,
) -> list[Traced]:
    """What each step of the reading of one text adds, changes and removes, in the order of the steps (those of
    ``ingest/note/steps.py``; the annotations of the schema come behind them). Arguments and errors: as of :func:`read`.
    """
    reader = shared_reader(None if ontology is None else Path(ontology), chosen_model(model))
    return reader.trace(Note("", "", text, _day(date), type, title), notations=True)


def _day(date: datetime.date | str | None) -> datetime.date | None:
    """A date, or the one that an ISO text writes; UsageError for any other text."""
    expect("date", date, (datetime.date, str, types.NoneType), "a date, or its ISO text")
    if not isinstance(date, str):
        return date
    try:
        return datetime.date.fromisoformat(date) if date else None
    except ValueError:
        raise UsageError(f"'{date}' is no date (--date). Hint: write it as 2019-03-04") from None


def document_of(found: ReadNote, reader: NoteReader, targets: Mapping[tuple[int, int], str] | None = None) -> Document:
    """What was read, annotated under the schema, in the form for outsiders. ``targets``: the types asked for."""
    frame = Frame(found.note)
    names = resolve_overlaps(reader.lexicon.find(frame))
    annotations, edges = annotate(frame, found.mentions, found.relations, names, reader.concepts, targets or {})
    mentions = tuple(_shown(one, reader.concepts) for one in annotations)
    ids = {id(one): mention.id for one, mention in zip(annotations, mentions, strict=True)}
    relations = tuple(ReadRelation(edge.type, ids[id(edge.head)], ids[id(edge.tail)]) for edge in edges)
    return Document(found.note.text, mentions, relations)


def _shown(one: Annotation, concepts: ConceptTable) -> ReadMention:
    mention, context, day = one.mention, one.mention.context, one.mention.day
    return ReadMention(
        id=one.origin or mention.mention_id,
        start=mention.start,
        end=mention.end,
        text=mention.text,
        kind=mention.kind,
        label=mention.label,
        concept=mention.concept,
        name=concepts.name(mention.concept) if mention.concept in concepts else "",
        polarity=str(context.polarity),
        temporality=str(context.temporality),
        experiencer=str(context.experiencer),
        reason=context.reason,
        assertion=context.assertion,
        attributes=dict(mention.attributes),
        earliest="" if day.low <= EARLIEST_DAY else datetime.date.fromordinal(day.low).isoformat(),
        latest="" if day.high >= LATEST_DAY else datetime.date.fromordinal(day.high).isoformat(),
        section=mention.section,
        source=mention.source,
        confidence=mention.confidence,
        coral=dict(one.attributes),
    )
