"""The page of the annotation layer: annotations of one note, by sentence, and the page that gathers them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ...kb.model import Mention
from ...kb.ontology.concepts import ConceptTable
from ..text.frame import Frame, Span
from ..text.shape import Sentence


@dataclass(slots=True)
class Annotation:
    """A span with a label of the schema and its CORAL attributes.

    ``mention`` holds span, text, context and what is known of it; ``origin`` is the id of the mention of the reading
    that it came from (empty for one of this layer). ``kind``: as which kind of event its context is read.
    """

    mention: Mention
    origin: str = ""
    kind: str = "symptom"
    attributes: dict[str, str] = field(default_factory=dict)

    @property
    def start(self) -> int:
        """Where it begins."""
        return self.mention.start

    @property
    def end(self) -> int:
        """Where it ends (exclusive)."""
        return self.mention.end

    @property
    def label(self) -> str:
        """Its type."""
        return self.mention.label


@dataclass(frozen=True, slots=True)
class Edge:
    """A relation of the type ``type`` from ``head`` to ``tail``; ``rule``: by which rule."""

    type: str
    head: Annotation
    tail: Annotation
    rule: str


class Page:
    """One note while it is annotated: its frame, the names that the lexicon knows in it, and what was found so far."""

    def __init__(
        self,
        frame: Frame,
        mentions: Sequence[Mention],
        names: Sequence[Span],
        concepts: ConceptTable,
        targets: Mapping[tuple[int, int], str],
    ) -> None:
        self.frame = frame
        self.mentions = mentions
        self.names = names
        self.concepts = concepts
        self.annotations: list[Annotation] = []
        #: Spans that were asked for, each with the type that it is to have, or none.
        self.targets = targets

    def add(
        self, start: int, end: int, label: str, source: str, kind: str = "symptom", **attributes: str
    ) -> Annotation:
        """A new annotation."""
        mention = Mention(
            self.frame.note_id,
            start,
            end,
            self.frame.text[start:end],
            _snake(label),
            label,
            "",
            source=source,
            section=self.frame.shape.section_at(start).name,
            sentence=self.frame.sentence_span(start),
        )
        made = Annotation(mention, "", kind, dict(attributes))
        self.annotations.append(made)
        return made

    def by_sentence(
        self, annotations: Iterable[Annotation] | None = None
    ) -> Iterator[tuple[Sentence, list[Annotation]]]:
        """Each sentence with the annotations that begin in it, in the order of the text."""
        ordered = sorted(self.annotations if annotations is None else annotations, key=lambda one: (one.start, one.end))
        return self.frame.by_sentence(ordered)


def _snake(label: str) -> str:
    return "".join(
        f"_{letter.lower()}" if letter.isupper() and at and not label[at - 1].isupper() else letter.lower()
        for at, letter in enumerate(label)
    )
