"""The facts that made-up notes tell: each kind, concept and set of attributes once, and the words for it.

A few ten thousand facts make up any number of events, so that whatever depends on the fact alone is worked out once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ....kb.model import Context, Experiencer, Polarity, Temporality, Value, World
from ....kb.ontology.concepts import ConceptTable

#: Mentions of these kinds make events of another kind.
_MENTIONED_AS: Final = {"lab": "biomarker"}


def piece(part: object) -> bytes:
    """A part of a content id, as :func:`cohortium.kb.model.content_id` joins them."""
    text = str(part).encode()
    return len(text).to_bytes(8, "little") + text


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact, whoever it is told of. Its mention is ``text[start:end]``; ``source``: the rule that would read it."""

    kind: str
    concept: str
    attributes: Mapping[str, Value]
    text: str
    start: int
    end: int
    source: str

    @property
    def mentioned_as(self) -> str:
        """The kind of its mentions."""
        return _MENTIONED_AS.get(self.kind, self.kind)


class Facts:
    """All facts, numbered in the order in which they were first asked for."""

    def __init__(self, concepts: ConceptTable) -> None:
        """``concepts`` give the names by which facts are told."""
        self._concepts = concepts
        self._numbers: dict[tuple[Any, ...], int] = {}
        self.all: list[Fact] = []

    def named(self, kind: str, concept: str, attributes: Mapping[str, Value] | None = None, behind: str = "") -> int:
        """The number of a fact that is told by its concept's name, which the lexicon finds, and words behind it."""
        name = self.name(concept)
        return self.add(kind, concept, attributes or {}, name + behind, 0, len(name), f"lexicon:{name}")

    def patterned(
        self, kind: str, concept: str, attributes: Mapping[str, Value], text: str, pattern: str, behind: str = ""
    ) -> int:
        """The number of a fact whose words a pattern finds."""
        return self.add(kind, concept, attributes, text + behind, 0, len(text), f"pattern:{pattern}")

    # As many parameters as the value that it makes has fields.
    def add(
        self, kind: str, concept: str, attributes: Mapping[str, Value], text: str, start: int, end: int, source: str
    ) -> int:
        """The number of this fact."""
        key = (kind, concept, tuple(attributes.items()), text)
        number = self._numbers.get(key)
        if number is None:
            if not text.isascii() or '"' in text or "\\" in text:
                # Characters are taken for bytes, and texts for JSON, where millions of notes are written.
                raise ValueError(f"the words of {concept!r} are not plain: {text!r}")
            number = self._numbers[key] = len(self.all)
            self.all.append(Fact(kind, concept, dict(attributes), text, start, end, source))
        return number

    def name(self, concept: str) -> str:
        """The concept's name, or its id in words where the name has other characters than plain ones."""
        name = self._concepts.name(concept)
        return name if name.isascii() and '"' not in name else concept.replace("_", " ")


@dataclass(frozen=True, slots=True)
class Voice:
    """A context and the words that tell it: before the fact, or behind it; ``rule`` is the cue's."""

    name: str
    before: str = ""
    behind: str = ""
    rule: str = ""
    context: Context = field(default_factory=Context)
    world: World = World.CERTAIN


def voices_from(entries: Sequence[Mapping[str, Any]]) -> tuple[Voice, ...]:
    """The voices of ``records.toml``."""
    return tuple(
        Voice(
            entry["name"],
            entry.get("before", ""),
            entry.get("behind", ""),
            entry.get("rule", ""),
            Context(
                Polarity(entry.get("polarity", "present")),
                Temporality(entry.get("temporality", "current")),
                Experiencer(entry.get("experiencer", "patient")),
                entry.get("reason", "none"),
            ),
            World(entry.get("world", World.CERTAIN)),
        )
        for entry in entries
    )


def attributes_json(fact: Fact) -> str:
    """A fact's attributes as the table ``mention`` holds them."""
    return json.dumps(dict(fact.attributes), ensure_ascii=False)
