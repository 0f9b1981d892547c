"""Guideline learning: a handful of example sentences a tag, and silver labels that nobody had to annotate.

Source: Real-MedNLP overview, section 2.2: "for each tag, we give only a handful of sentence examples", as annotators
learn from a guideline. MACCROBAT has no guideline with examples, so they are drawn from its training documents.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ....kb.errors import UsageError
from ...extraction.corpora.corpus import AnnotatedDocument, LabelledSpan
from .rewriting import cut, sentences

#: Examples of a guideline are short: longer sentences are taken only where there are no others.
LONGEST_EXAMPLE: Final = 40

#: Who gives a document its spans without having been trained: the spans that a document's text should have.
Labeller = Callable[[AnnotatedDocument], tuple[LabelledSpan, ...]]


def examples(
    documents: Sequence[AnnotatedDocument], labels: Iterable[str], per_label: int, seed: int = 0
) -> tuple[AnnotatedDocument, ...]:
    """Sentences, as documents of their own, so that each label occurs in at least ``per_label`` of them.

    The rarest label is served first, and a sentence counts for every label in it, as in a guideline all of an example
    is annotated. Of the sentences with a label those of up to ``LONGEST_EXAMPLE`` words come first, then by hash. A
    label with fewer sentences gives all that it has. UsageError when ``per_label`` is below 1 or no label is given.
    """
    wanted = tuple(sorted(set(labels)))
    if per_label < 1 or not wanted:
        raise UsageError("a guideline has one example or more of each of its tags. Hint: for example 5 or 10")
    pool: list[tuple[bool, str, AnnotatedDocument, frozenset[str]]] = []
    for document in documents:
        flat = document.flat()
        for number, (first, last) in enumerate(sentences(flat), 1):
            one = cut(flat, first, last, f"{document.id}:{number}")
            held = frozenset(span.label for span in one.spans)
            if held & set(wanted):
                mark = hashlib.sha256(f"{seed}|{one.id}|{one.text}".encode()).hexdigest()
                pool.append((last - first > LONGEST_EXAMPLE, mark, one, held))
    pool.sort(key=lambda row: row[:2])
    often = Counter(label for *_, held in pool for label in held)
    chosen: dict[str, AnnotatedDocument] = {}
    shown: Counter[str] = Counter()
    for label in sorted(wanted, key=lambda one: (often[one], one)):
        for _, mark, one, held in pool:
            if shown[label] >= per_label:
                break
            if label in held and mark not in chosen:
                chosen[mark] = one
                shown.update(held)
    return tuple(one for _, mark, one, _ in pool if mark in chosen)


@dataclass(frozen=True)
class Dictionary:
    """Mentions that were seen, and the label that each bore most often: what examples teach without any learning.

    ``entries``: the words of a mention in small letters → its label. The longest match from the left stands.
    """

    entries: Mapping[tuple[str, ...], str]

    @classmethod
    def from_documents(cls, documents: Iterable[AnnotatedDocument]) -> Dictionary:
        """The dictionary of all mentions of some annotated documents."""
        counts: dict[tuple[str, ...], Counter[str]] = {}
        for document in documents:
            for first, last, label in document.entities():
                key = tuple(document.word(at).casefold() for at in range(first, last))
                counts.setdefault(key, Counter())[label] += 1
        return cls({key: min(often, key=lambda one: (-often[one], one)) for key, often in sorted(counts.items())})

    def __call__(self, document: AnnotatedDocument) -> tuple[LabelledSpan, ...]:
        """The mentions of the dictionary in a document's text; none of them goes over the border of a sentence."""
        longest = max(map(len, self.entries), default=0)
        words = [document.word(at).casefold() for at in range(len(document.words))]
        found = []
        for at, end in sentences(document):
            while at < end:
                for behind in range(min(end, at + longest), at, -1):
                    label = self.entries.get(tuple(words[at:behind]))
                    if label:
                        found.append(LabelledSpan(document.words[at][0], document.words[behind - 1][1], label))
                        at = behind
                        break
                else:
                    at += 1
        return tuple(found)


def our_reader(tags: Mapping[str, str], labels: Iterable[str]) -> Labeller:
    """Our own reader as a labeller: its mentions by ``tags`` (CORAL's label → tag), of which those in ``labels`` stay.

    It has learned nothing from the corpus. Mentions that overlap are settled by ``flat``.
    """
    wanted = frozenset(labels)

    def read(document: AnnotatedDocument) -> tuple[LabelledSpan, ...]:
        from ....ingest.single import read as read_one

        spans = {
            LabelledSpan(one.start, one.end, tags[one.label])
            for one in read_one(document.text).mentions
            if tags.get(one.label) in wanted
        }
        return replace(document, spans=tuple(sorted(spans))).flat().spans

    return read


def first_of(labellers: Sequence[Labeller]) -> Labeller:
    """Several labellers as one: a later one adds what overlaps no span of those before it."""

    def label(document: AnnotatedDocument) -> tuple[LabelledSpan, ...]:
        found: list[LabelledSpan] = []
        for one in labellers:
            taken = tuple(found)
            found.extend(
                span for span in one(document) if all(span.end <= old.start or old.end <= span.start for old in taken)
            )
        return tuple(sorted(found))

    return label


def silver(documents: Iterable[AnnotatedDocument], labeller: Labeller) -> tuple[AnnotatedDocument, ...]:
    """The documents with the labeller's spans instead of their own, which are not looked at."""
    bare = (replace(one, spans=(), id=f"{one.id}#silver") for one in documents)
    return tuple(replace(one, spans=labeller(one)) for one in bare)
