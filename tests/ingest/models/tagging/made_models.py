"""A made-up tagger and linker for tests: they know a few words, and nothing of context."""

from __future__ import annotations

import copy
import functools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from cohortium.ingest.models.tagging.recognizer import ModelRecognizer
from cohortium.ingest.note.read import NoteReader, Parts
from cohortium.kb.ontology.concepts import ConceptTable, shipped_concepts


@dataclass(frozen=True)
class MadeEntity:
    """A tagged span."""

    start: int
    end: int
    type: str
    confidence: float


@dataclass
class MadeTagger:
    """Finds given phrases (type and confidence by phrase); ``calls`` counts how often it was asked, texts each."""

    phrases: Mapping[str, tuple[str, float]]
    calls: list[int] = field(default_factory=list)
    fails_on: str = ""

    @property
    def types(self) -> tuple[str, ...]:
        return tuple(sorted({type_ for type_, _ in self.phrases.values()}))

    def tag(self, texts: Sequence[str]) -> list[list[MadeEntity]]:
        self.calls.append(len(texts))
        if self.fails_on and any(self.fails_on in text for text in texts):
            raise RuntimeError("the tagger fails")
        return [
            [
                MadeEntity(*match.span(), *told)
                for phrase, told in self.phrases.items()
                for match in re.finditer(re.escape(phrase), text)
            ]
            for text in texts
        ]


@dataclass(frozen=True)
class Linked:
    """A link; without a concept it is none."""

    concept: str = ""
    name: str = ""
    probability: float = 0.0


@dataclass(frozen=True)
class MadeLink:
    """Links given words to a concept, by a name, with a probability."""

    known: tuple[tuple[str, Linked], ...]

    def __call__(self, wanted: Sequence[tuple[str, str]]) -> list[Linked]:
        return [dict(self.known).get(words, Linked()) for words, _ in wanted]


#: What the made model knows and the shipped ontology does not.
PHRASES = {
    "mammary gland carcinoma of pleomorphic type": ("Disease", 0.95),
    "cerebral glimmer syndrome": ("Disease", 0.9),
    "trastuzumabum": ("Drug", 0.96),
    "lapatinibum": ("Drug", 0.6),
}
LINKS = (
    ("mammary gland carcinoma of pleomorphic type", Linked("breast_cancer", "breast cancer", 0.97)),
    ("trastuzumabum", Linked("trastuzumab", "trastuzumab", 0.95)),
    ("lapatinibum", Linked("lapatinib", "lapatinib", 0.9)),
)


@dataclass(frozen=True)
class MadeChoice:
    """Stands for a chosen model directory; can go to another process."""

    linked: bool = True
    name: str = "made"
    version: str = "made+0123456789abcdef"
    phrases: tuple[tuple[str, tuple[str, float]], ...] = tuple(PHRASES.items())
    links: tuple[tuple[str, Linked], ...] = LINKS
    fails_on: str = ""

    def recognizer(
        self, concepts: ConceptTable, kind_of: Callable[[str], str], never: frozenset[str]
    ) -> ModelRecognizer:
        return ModelRecognizer(self.name, self.tagger(), self.link(), kind_of, never)

    def tagger(self) -> MadeTagger:
        """Its tagger."""
        return MadeTagger(dict(self.phrases), fails_on=self.fails_on)

    def link(self) -> MadeLink | None:
        """Its linker, None where it links nothing."""
        return MadeLink(self.links) if self.linked else None


@functools.cache
def _shared_reader() -> NoteReader:
    # To build the lexicon takes seconds.
    return NoteReader(shipped_concepts(), Parts(learned=MadeChoice().recognizer))


def made_reader(choice: MadeChoice | None = None) -> NoteReader:
    """A reader of notes with the made model, or with none."""
    made = copy.copy(_shared_reader())
    assert made.proposals is not None
    if choice is None:
        made.proposals = None
    else:
        never = frozenset({"neoplasm", "drug"})
        made.proposals = copy.copy(made.proposals)
        made.proposals.recognizer = choice.recognizer(made.concepts, made.lexicon.kind_of, never)
    return made
