"""The one type of an annotated corpus: documents with words and placed, labelled spans."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from ....ingest.models.tagging.words import word_range


@dataclass(frozen=True, slots=True, order=True)
class LabelledSpan:
    """A stretch of characters of a document and its label."""

    start: int
    end: int
    label: str


@dataclass(frozen=True, slots=True)
class AnnotatedDocument:
    """A text, its words and its entities.

    ``words``: (start, end) in characters, in order, as the corpus divides the text, or as ``word_spans`` does where it
    has no words of its own. ``breaks``: numbers of words before which a sentence or line begins (0 left out).
    ``spans``: in text order; they may overlap where the corpus nests them (``flat`` settles that).
    ``group``: what it must not be parted from in a split (a patient, a block of sentences); empty: it stands alone.
    ``judged``: the stretches of text that were searched for entities; None: all of it, and a word outside of all spans
    is none. Elsewhere a word without a span may be anything; within, it is one only of what the reader of the form says
    that it searched for (see ``records``: not of everything).
    """

    id: str
    text: str
    words: tuple[tuple[int, int], ...]
    spans: tuple[LabelledSpan, ...] = ()
    breaks: tuple[int, ...] = ()
    group: str = ""
    judged: tuple[tuple[int, int], ...] | None = None

    def word(self, at: int) -> str:
        """The letters of a word."""
        start, end = self.words[at]
        return self.text[start:end]

    def flat(self) -> AnnotatedDocument:
        """The same with spans that do not overlap: the longer one stays, then the earlier."""
        kept: list[LabelledSpan] = []
        for span in sorted(set(self.spans), key=lambda one: (one.start - one.end, one.start, one.label)):
            if all(span.end <= one.start or one.end <= span.start for one in kept):
                kept.append(span)
        return replace(self, spans=tuple(sorted(kept)))

    def judged_words(self) -> frozenset[int]:
        """The numbers of the words of which the corpus says whether they belong to an entity."""
        if self.judged is None:
            return frozenset(range(len(self.words)))
        stretches = [*self.judged, *((span.start, span.end) for span in self.spans)]
        return frozenset(at for stretch in stretches for at in range(*word_range(self.words, *stretch)))

    def entities(self) -> list[tuple[int, int, str]]:
        """The flat spans as (first word, behind last word, label); those that touch no word are left out, and of two
        that touch one word the longer stays."""
        found: list[tuple[int, int, str]] = []
        taken = 0
        for span in self.flat().spans:
            first, last = word_range(self.words, span.start, span.end)
            first = max(first, taken)
            if first < last:
                found.append((first, last, span.label))
                taken = last
        return found


@dataclass(frozen=True, slots=True)
class Unread:
    """A part of a corpus that could not be read: where, and why. No text of the corpus is in it."""

    place: str
    reason: str


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that was read: its name below the corpus's place, and the sha256 of its bytes."""

    name: str
    sha256: str


@dataclass(frozen=True)
class AnnotatedCorpus:
    """Documents in the order of their files. ``source`` says where they come from, ``licence`` under which terms.

    ``form``: as what it was read, and by what that was told. ``unit``: what a document of it is, ``document`` or
    ``sentence`` (a file that does not tell where its documents begin).
    """

    name: str
    documents: tuple[AnnotatedDocument, ...] = ()
    source: str = ""
    licence: str = ""
    problems: tuple[Unread, ...] = field(default=(), compare=False)
    form: str = field(default="", compare=False)
    unit: str = "document"
    files: tuple[SourceFile, ...] = field(default=(), compare=False)

    def __len__(self) -> int:
        return len(self.documents)

    def labels(self) -> Counter[str]:
        """How many spans bear each label."""
        return Counter(span.label for one in self.documents for span in one.spans)

    def relabelled(self, to: Mapping[str, str]) -> AnnotatedCorpus:
        """The same with labels by ``to``; a label that it does not name is left out (its spans are plain text)."""
        documents = tuple(
            replace(
                one,
                spans=tuple(
                    LabelledSpan(span.start, span.end, to[span.label]) for span in one.spans if to.get(span.label)
                ),
            )
            for one in self.documents
        )
        return replace(self, documents=documents)

    def only(self, ids: Iterable[str]) -> AnnotatedCorpus:
        """The documents with these ids, in the corpus's order."""
        wanted = frozenset(ids)
        return replace(self, documents=tuple(one for one in self.documents if one.id in wanted))
