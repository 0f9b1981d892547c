"""What two corpora (or two parts of one) share: documents, texts, near copies, sentences, and mentions that were seen.

A score on mentions that the training held word for word says little of those it did not: both shares belong beside
every score.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, Final

from ....kb.ontology.words import normal_form
from .corpus import AnnotatedCorpus, AnnotatedDocument
from .likeness import NEARLY, alike, clusters, plain_words

#: A shorter sentence (a heading, "No complications.") is anybody's.
_SHORTEST_SENTENCE: Final = 6
_SHOWN: Final = 20


@dataclass(frozen=True, slots=True)
class Seen:
    """How many mentions there are, and how many of them stand, in the same words under the same label, in the other
    corpus; the same of the distinct ones (``forms``)."""

    mentions: int = 0
    seen: int = 0
    forms: int = 0
    seen_forms: int = 0

    @property
    def share(self) -> float | None:
        """The share of mentions that were seen; None where there are none."""
        return self.seen / self.mentions if self.mentions else None


@dataclass(frozen=True)
class Overlap:
    """What ``second`` shares with ``first``. Pairs are (id in first, id in second); ``near_texts`` with the share of
    the shorter one's runs of words."""

    first: str
    second: str
    documents: tuple[int, int]
    same_ids: tuple[str, ...]
    same_texts: tuple[tuple[str, str], ...]
    near_texts: tuple[tuple[str, str, float], ...]
    sentences: int
    same_sentences: int
    mentions: Seen
    by_label: Mapping[str, Seen]

    @property
    def clean(self) -> bool:
        """Whether no document of one is, or nearly is, in the other."""
        return not (self.same_ids or self.same_texts or self.near_texts)

    def to_json(self) -> dict[str, Any]:
        """The report as plain values."""
        return {
            "first": self.first,
            "second": self.second,
            "documents": {"first": self.documents[0], "second": self.documents[1]},
            "clean": self.clean,
            "same_ids": list(self.same_ids),
            "same_texts": [list(pair) for pair in self.same_texts],
            "near_texts": [[one, other, round(share, 4)] for one, other, share in self.near_texts],
            "sentences": {"second": self.sentences, "in_first": self.same_sentences},
            "mentions": _told(self.mentions),
            "by_label": {label: _told(seen) for label, seen in self.by_label.items()},
        }

    def table(self) -> str:
        """The report as text, a row a label."""
        share = f"{self.same_sentences} of {self.sentences}"
        lines = [
            f"{self.second} ({self.documents[1]} documents) against {self.first} ({self.documents[0]})",
            f"  same ids {len(self.same_ids)}, same texts {len(self.same_texts)}, nearly the same"
            f" {len(self.near_texts)}, same sentences {share}",
        ]
        lines += [f"    {one} ~ {other} ({share:.2f})" for one, other, share in self.near_texts[:_SHOWN]]
        rows = [("label", "mentions", "seen", "share", "forms", "seen")]
        rows += [
            (
                label,
                str(seen.mentions),
                str(seen.seen),
                "" if seen.share is None else f"{seen.share:.3f}",
                str(seen.forms),
                str(seen.seen_forms),
            )
            for label, seen in (*self.by_label.items(), ("all", self.mentions))
        ]
        widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
        for row in rows:
            figures = (cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))
            lines.append("  " + "  ".join([row[0].ljust(widths[0]), *figures]).rstrip())
        return "\n".join(lines)


def _told(seen: Seen) -> dict[str, Any]:
    return {**asdict(seen), "share": None if seen.share is None else round(seen.share, 4)}


def overlap(first: AnnotatedCorpus, second: AnnotatedCorpus, *, nearly: float = NEARLY) -> Overlap:
    """What ``second`` (that which is scored) shares with ``first`` (that which was learned from).

    Where documents are sentences, equal texts of fewer than six words are not told: they are headings.
    """
    ids = {one.id for one in first.documents}
    same, near = _shared_texts(first, second, nearly)
    if "sentence" in (first.unit, second.unit):
        # A heading that both have is no copy of a document.
        long = {one.id for one in second.documents if len(plain_words(one.text)) >= _SHORTEST_SENTENCE}
        same = [pair for pair in same if pair[1] in long]
    known = {words for document in first.documents for words in _sentences(document)}
    sentences = [words for document in second.documents for words in _sentences(document)]
    by_label = seen_mentions(first, second)
    return Overlap(
        first.name,
        second.name,
        (len(first), len(second)),
        tuple(one.id for one in second.documents if one.id in ids),
        tuple(same),
        tuple(near),
        len(sentences),
        sum(words in known for words in sentences),
        Seen(*(sum(getattr(seen, name) for seen in by_label.values()) for name in Seen.__slots__)),
        by_label,
    )


def seen_mentions(first: AnnotatedCorpus, second: AnnotatedCorpus) -> dict[str, Seen]:
    """By label of ``second``, the commonest first: how many of its mentions ``first`` has under the same label, in the
    same words (case, hyphens and British spelling aside)."""
    known = {form for document in first.documents for form in mention_forms(document)}
    counted = Counter(form for document in second.documents for form in mention_forms(document))
    by_label: dict[str, Counter[str]] = defaultdict(Counter)
    for (label, words), n in counted.items():
        seen = (label, words) in known
        by_label[label].update(mentions=n, seen=n * seen, forms=1, seen_forms=int(seen))
    ordered = sorted(by_label.items(), key=lambda one: (-one[1]["mentions"], one[0]))
    return {label: Seen(*(n[name] for name in Seen.__slots__)) for label, n in ordered}


def mention_forms(document: AnnotatedDocument) -> Iterator[tuple[str, str]]:
    """(label, folded words) of each span."""
    for span in document.spans:
        yield span.label, normal_form(document.text[span.start : span.end])


def _sentences(document: AnnotatedDocument) -> Iterator[tuple[str, ...]]:
    """The sentences of a document that are long enough to be known again, as words."""
    edges = [0, *document.breaks, len(document.words)]
    for first, behind in pairwise(edges):
        if first < behind:
            words = plain_words(document.text[document.words[first][0] : document.words[behind - 1][1]])
            if len(words) >= _SHORTEST_SENTENCE:
                yield words


def _shared_texts(
    first: AnnotatedCorpus, second: AnnotatedCorpus, nearly: float
) -> tuple[list[tuple[str, str]], list[tuple[str, str, float]]]:
    """The pairs of documents, one of each corpus, of equal text and of nearly equal text."""
    documents = [*first.documents, *second.documents]
    border = len(first)
    pairs = list(alike([one.text for one in documents], nearly))
    equal = clusters(len(documents), iter((p.first, p.second) for p in pairs if p.equal))
    members: dict[int, list[int]] = defaultdict(list)
    for number, lowest in enumerate(equal):
        members[lowest].append(number)

    def across(ones: list[int], others: list[int]) -> Iterator[tuple[str, str]]:
        for one in ones:
            for other in others:
                if one < border <= other:
                    yield documents[one].id, documents[other].id

    same = [pair for those in members.values() if len(those) > 1 for pair in across(those, those)]
    near = [
        (*ids, pair.share)
        for pair in pairs
        if not pair.equal
        for ones, others in ((pair.first, pair.second), (pair.second, pair.first))
        for ids in across(members[ones], members[others])
    ]
    return same, near
