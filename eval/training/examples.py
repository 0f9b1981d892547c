"""Annotated documents as training examples: windows of words with the tags that each word may have; batches of them."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy
from numpy.typing import NDArray

from ...ingest.models.tagging.features import Featurizer, Window
from ...ingest.models.tagging.labels import LabelSet
from ..extraction.corpora.corpus import AnnotatedCorpus, AnnotatedDocument
from .span_scores import Entity

HIDDEN: Final = "[MASK]"
#: A window is drawn at most so many times as often as one of the commonest type.
_MOST_OFTEN: Final = 3.0
#: Examples of like length are put together among so many batches: less padding, and still by chance.
_SORTED_BATCHES: Final = 12


@dataclass(frozen=True, slots=True)
class TrainingPart:
    """A corpus and the types that it annotates: of any other type its words may be, whatever it says of them."""

    corpus: AnnotatedCorpus
    types: frozenset[str]

    def annotated(self, entities: Iterable[Entity]) -> list[Entity]:
        """Those of some entities that are of a type that the corpus annotates."""
        return [one for one in entities if one[2] in self.types]

    def gold(self) -> list[list[Entity]]:
        """The entities of each document, of the types that the corpus annotates."""
        return [self.annotated(one.entities()) for one in self.corpus.documents]


@dataclass(frozen=True, slots=True)
class Example:
    """The words of a window, their tag numbers [words], and the tags [tags] that a word outside may have."""

    words: tuple[str, ...]
    tags: NDArray[numpy.int64]
    outside: NDArray[numpy.bool_]
    weight: float = 1.0


def digest_of(examples: Iterable[Example], aside: Iterable[TrainingPart] = ()) -> str:
    """What tells the texts of one run from those of another: words, tags, types, and what is held aside."""
    total = hashlib.sha256()
    for one in examples:
        total.update("\n".join(one.words).encode("utf-8", "surrogatepass") + b"\0")
        total.update(one.tags.tobytes() + one.outside.tobytes())
    for part in aside:
        total.update(repr(sorted(part.types)).encode())
        for document in part.corpus.documents:
            total.update(document.text.encode("utf-8", "surrogatepass") + repr(document.spans).encode())
    return total.hexdigest()


def words_of(document: AnnotatedDocument) -> list[str]:
    """The letters of each word."""
    return [document.text[start:end] for start, end in document.words]


def outside_of(labels: LabelSet, types: frozenset[str]) -> NDArray[numpy.bool_]:
    """Which tags a word outside all spans may have where these types are annotated: ``O``, and those of all others."""
    may = numpy.zeros(len(labels), dtype=bool)
    may[0] = True
    for at, name in enumerate(labels.types):
        may[2 * at + 1 : 2 * at + 3] = name not in types
    return may


def examples_of(
    parts: Sequence[TrainingPart], labels: LabelSet, featurizer: Featurizer, balance: float
) -> list[Example]:
    """The windows of all documents, weighted so that those of rare types are drawn more often; mean weight 1.

    A window that ends within an entity of the text begins or ends it there, as the words of the window show it.
    """
    made: list[Example] = []
    often = Counter(label for part in parts for label, n in part.corpus.labels().items() for _ in range(n))
    most = max(often.values(), default=1)
    for part in parts:
        outside = outside_of(labels, part.types)
        for document in part.corpus.documents:
            words = words_of(document)
            entities = document.entities()
            for window in featurizer.windows(words, document.breaks):
                inside = _within(entities, window)
                tags = labels.encode(inside, window.last - window.first)
                weight = max((min(_MOST_OFTEN, (most / often[kind]) ** balance) for _, _, kind in inside), default=1.0)
                made.append(Example(tuple(words[window.first : window.last]), tags, outside, weight))
    mean = sum(one.weight for one in made) / len(made) if made else 1.0
    return [Example(one.words, one.tags, one.outside, one.weight / mean) for one in made]


def _within(entities: Iterable[Entity], window: Window) -> list[Entity]:
    """The entities that reach into a window, by its own words."""
    return [
        (max(first, window.first) - window.first, min(last, window.last) - window.first, kind)
        for first, last, kind in entities
        if first < window.last and window.first < last
    ]


def chance_of(*what: int) -> random.Random:
    """Chance that is the same for the same numbers, on any machine."""
    return random.Random(int.from_bytes(hashlib.sha256(repr(what).encode()).digest()[:8], "big"))


def batches_of(examples: Sequence[Example], batch_words: int, seed: int, epoch: int) -> Iterator[list[Example]]:
    """The batches of an epoch; the same for the same seed and epoch."""
    chance = chance_of(seed, epoch)
    drawn: list[Example] = []
    for one in examples:
        times = int(one.weight) + (chance.random() < one.weight % 1.0)
        drawn.extend([one] * times)
    chance.shuffle(drawn)
    batches: list[list[Example]] = []
    mean = sum(len(one.words) for one in drawn) / len(drawn) if drawn else 1.0
    together = max(1, int(_SORTED_BATCHES * batch_words / max(mean, 1.0)))
    for at in range(0, len(drawn), together):
        batches.extend(_filled(sorted(drawn[at : at + together], key=lambda one: len(one.words)), batch_words))
    chance.shuffle(batches)
    yield from batches


def _filled(examples: Iterable[Example], batch_words: int) -> Iterator[list[Example]]:
    batch: list[Example] = []
    for one in examples:
        if batch and (len(batch) + 1) * len(one.words) > batch_words:
            yield batch
            batch = []
        batch.append(one)
    if batch:
        yield batch


def with_hidden(words: Sequence[str], share: float, chance: random.Random) -> list[str]:
    """The words with a share of them, by chance, behind the sign that encoders know for a hidden piece."""
    return [HIDDEN if chance.random() < share else word for word in words]


def possible_tags(batch: Sequence[Example], widest: int) -> NDArray[numpy.bool_]:
    """Which tags each word may have, [B, W, T]; padding may have any."""
    tags = len(batch[0].outside)
    possible = numpy.ones((len(batch), widest, tags), dtype=bool)
    for row, one in enumerate(batch):
        words = len(one.words)
        possible[row, :words] = one.outside
        known = numpy.flatnonzero(one.tags)
        possible[row, known] = False
        possible[row, known, one.tags[known]] = True
    return possible
