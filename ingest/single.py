"""One text read on its own: what ``cohortium.read`` gives, with its JSON form and its brat form."""

from __future__ import annotations

import dataclasses
import datetime
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..kb.concepts import ConceptTable
from ..kb.errors import UsageError
from ..kb.model import EARLIEST_DAY, LATEST_DAY, Mention, Relation, Value
from .document import ReadNote, read_text, shared_reader


@dataclass(frozen=True, slots=True)
class ReadMention:
    """A mention as outsiders see it. ``start`` and ``end`` are character offsets into the text.

    ``label`` is spelled as in CORAL's Table S1; ``concept`` is an id and ``name`` its preferred name (both empty when
    the mention has no concept); ``earliest`` and ``latest`` bound its day (ISO; empty when nothing bounds it).
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


@dataclass(frozen=True, slots=True)
class ReadRelation:
    """A typed edge from the mention with the id ``head`` to the one with the id ``tail``."""

    type: str
    head: str
    tail: str


@dataclass(frozen=True, slots=True)
class Document:
    """One text as it was read: its mentions in the order of the text, and the relations between them."""

    text: str
    mentions: tuple[ReadMention, ...]
    relations: tuple[ReadRelation, ...]

    def as_dict(self) -> dict[str, Any]:
        """``{"mentions": [...], "relations": [...]}``, for JSON."""
        return {
            "mentions": [dataclasses.asdict(mention) for mention in self.mentions],
            "relations": [dataclasses.asdict(relation) for relation in self.relations],
        }

    def to_brat(self) -> str:
        """The annotation file (``.ann``) of the brat tool: a T line a mention, an A line each for its assertion and
        experiencer where they are not the plain ones, an R line a relation."""
        names = {mention.id: f"T{number}" for number, mention in enumerate(self.mentions, 1)}
        lines = []
        attributes = []
        for mention in self.mentions:
            shown = " ".join(mention.text.split())
            lines.append(f"{names[mention.id]}\t{mention.label} {mention.start} {mention.end}\t{shown}")
            for attribute, value, plain in (
                ("Assertion", mention.assertion, "present"),
                ("Experiencer", mention.experiencer, "patient"),
            ):
                if value != plain:
                    attributes.append(f"{attribute} {names[mention.id]} {value}")
        lines += [f"A{number}\t{attribute}" for number, attribute in enumerate(attributes, 1)]
        for number, relation in enumerate(self.relations, 1):
            lines.append(f"R{number}\t{relation.type} Arg1:{names[relation.head]} Arg2:{names[relation.tail]}")
        return "".join(line + "\n" for line in lines)


def read(
    text: str,
    date: datetime.date | str | None = None,
    title: str = "",
    type: str = "",
    targets: Sequence[tuple[int, int]] = (),
    ontology: str | os.PathLike[str] | None = None,
) -> Document:
    """Read one text. ``date`` is the note's own, a date or its ISO text; ``ontology`` a folder of further concepts.

    ``targets`` are character spans that become mentions whatever the lexicon knows, so that their context is judged.
    UsageError when the date is none, a target lies outside the text, or there are no concepts in the folder.
    """
    if isinstance(date, str):
        try:
            date = datetime.date.fromisoformat(date) if date else None
        except ValueError:
            raise UsageError(f"'{date}' is no date. Hint: write it as 2019-03-04") from None
    for start, end in targets:
        if not 0 <= start < end <= len(text):
            raise UsageError(f"the target ({start}, {end}) lies outside the text of {len(text)} characters")
    extra = None if ontology is None else Path(ontology)
    return document_of(read_text(text, date, title, type, targets, notations=True, ontology=extra), shared_reader(extra).concepts)


def document_of(found: ReadNote, concepts: ConceptTable) -> Document:
    """What was read, in the form for outsiders. A relation to a mention that is not there is left out."""
    mentions = tuple(_shown(mention, concepts) for mention in found.mentions)
    known = {mention.id for mention in mentions}
    relations = tuple(_edge(edge) for edge in found.relations if {edge.head, edge.tail} <= known)
    return Document(found.note.text, mentions, relations)


def _shown(mention: Mention, concepts: ConceptTable) -> ReadMention:
    context, day = mention.context, mention.day
    return ReadMention(
        id=mention.mention_id,
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
    )


def _edge(relation: Relation) -> ReadRelation:
    return ReadRelation(relation.type, relation.head, relation.tail)
