"""What recognisers see of one note, and what they hand back: frames, with what is known of each word, and spans."""

from __future__ import annotations

import bisect
import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress
from operator import attrgetter
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from ...kb.model import DayInterval, Note, Value
from .cases import Case, cases_in
from .dates.reader import DateMention, DateReader
from .gates import Gate, Marks, Places, marks_of, number_of_gates, places_of
from .shape import Section, Sentence, Shape, sections_of
from .words import END, Node, PhraseMatch, PhraseTrie, Remembered, Words, fold, parted, words_of


class Opening(NamedTuple):
    """That a word begins phrases: of the trie with this number, how they go on, and whether one ends with it."""

    trie: int
    node: Node
    ends: bool


class Record(NamedTuple):
    """Of one written word: its folded form, the gates that it opens, and the phrases that it begins."""

    norm: str
    marks: Marks | None
    openings: tuple[Opening, ...]


_norm_of: Final = attrgetter("norm")
_marks_of: Final = attrgetter("marks")
_openings_of: Final = attrgetter("openings")


class Known(NamedTuple):
    """The words of a text, and what is known of each."""

    words: Words
    records: list[Record]

    @property
    def marks(self) -> Iterable[Marks | None]:
        """What each opens."""
        return map(_marks_of, self.records)


class Vocabulary:
    """Words with all that the readers of notes ask of a word by itself; each different one is asked about once."""

    def __init__(self, tries: Iterable[PhraseTrie[Any]]) -> None:
        """``tries``: those for which notes will be searched, complete."""
        self._tries = tuple(tries)
        self._records = Remembered(self._record)
        self._gates = number_of_gates()

    def words_of(self, text: str) -> Known:
        """The words of a text."""
        if self._gates != number_of_gates():
            # A module that brought gates was loaded since.
            self._records.clear()
            self._gates = number_of_gates()
        written, starts, ends = parted(text)
        records = list(map(self._records.__getitem__, written))
        return Known(Words(written, starts, ends, list(map(_norm_of, records))), records)

    def beginnings(self, known: Known) -> dict[PhraseTrie[Any], list[int]]:
        """For each of the tries what :meth:`PhraseTrie.may_begin_at` tells of the words. All at once, as most words
        begin a phrase of few tries, or of none."""
        found: list[list[int]] = [[] for _ in self._tries]
        every = list(map(_openings_of, known.records))
        following = itertools.chain(itertools.islice(known.words.norms, 1, None), (None,))
        for index, openings, norm in compress(zip(itertools.count(), every, following), every):
            for trie, node, ends in openings:
                if ends or norm in node:
                    found[trie].append(index)
        return dict(zip(self._tries, found, strict=True))

    def _record(self, word: str) -> Record:
        norm = fold(word)
        nodes = enumerate(trie.node(norm) for trie in self._tries)
        return Record(norm, marks_of(word), tuple(Opening(trie, node, END in node) for trie, node in nodes if node))


class _HasPlace(Protocol):
    """A stretch of a text."""

    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...


Placed = TypeVar("Placed", bound=_HasPlace)
Phrase = TypeVar("Phrase")


@dataclass(slots=True)
class Span:
    """A candidate mention. ``kind`` is an event kind, or one of the helper kinds site, laterality, gene, value.

    ``priority`` settles overlaps: the longer span wins, then the higher priority. ``helpers`` keeps the character spans
    that decided attributes (a result word, a percentage), for the proof.
    """

    start: int
    end: int
    kind: str
    concept: str = ""
    source: str = ""
    attributes: dict[str, Value] = field(default_factory=dict)
    priority: int = 0
    helpers: list[tuple[int, int, str]] = field(default_factory=list)
    alternatives: tuple[tuple[str, str], ...] = ()
    #: Polarity that the recogniser itself read (a result word), so that context cues do not read it twice.
    decided: str = ""
    #: The probability that a model gives it; what rules find is sure.
    confidence: float = 1.0
    #: The days that the recogniser itself read.
    day: DayInterval | None = None


@functools.lru_cache(maxsize=64)
def _shortest(triggers: frozenset[str]) -> tuple[str, ...]:
    """Those of the triggers in which no other is written: where none of them is, no other is."""
    return tuple(sorted(one for one in triggers if not any(other in one for other in triggers - {one})))


class Frame:
    """One note prepared for recognisers: text, words, shape, dates, and the set of its folded words.

    Each is made when it is first asked for: of a title no more than its names are wanted.
    """

    def __init__(
        self,
        note: Note,
        sections: Callable[[str], list[Section]] = sections_of,
        text: str | None = None,
        vocabulary: Vocabulary | None = None,
        ends: Mapping[int, int] = {},
    ) -> None:
        """``sections``: what divides the text into sections; ``text``: the note's as readers are to see it, as long;
        ``vocabulary``: what remembers more of its words than their folded form; ``ends``: of words that are shorter as
        readers see them, where they end in the note."""
        self.note = note
        self.text = note.text if text is None else text
        self.ends = ends
        self._vocabulary = vocabulary
        self._known = None if vocabulary is None else vocabulary.words_of(self.text)
        self.words: Words = words_of(self.text) if self._known is None else self._known.words
        self._sections = sections

    @property
    def note_id(self) -> str:
        """The id of the note."""
        return self.note.note_id

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """The folded words."""
        return frozenset(self.words.norms)

    @cached_property
    def _all_words(self) -> str:
        """The folded words as one text, with a sign between them that stands in none."""
        return "\n".join(self.vocabulary)

    @cached_property
    def places(self) -> Places:
        """Where words open the gates of patterns."""
        return places_of(self.words, None if self._known is None else self._known.marks)

    @cached_property
    def _all_beginnings(self) -> dict[PhraseTrie[Any], list[int]]:
        return self._vocabulary.beginnings(self._known) if self._vocabulary and self._known else {}

    def beginnings(self, trie: PhraseTrie[Any], first: int = 0, last: int | None = None) -> list[int]:
        """The words, by number from ``first`` up to ``last``, at which a phrase of the trie may begin."""
        found = self._all_beginnings.get(trie)
        if found is None:
            # Once for the whole note.
            found = self._all_beginnings[trie] = trie.may_begin_at(self.words.norms)
        if last is None:
            return found
        low = bisect.bisect_left(found, first)
        return found[low : bisect.bisect_left(found, last, low)]

    def phrases(self, trie: PhraseTrie[Phrase], first: int, last: int) -> list[PhraseMatch[Phrase]]:
        """The longest phrase at each word from ``first`` up to ``last``, left to right, without overlap."""
        beginnings = self.beginnings(trie, first, last)
        return trie.longest(self.text, self.words, beginnings, last) if beginnings else []

    @cached_property
    def shape(self) -> Shape:
        """Lines, sections and sentences."""
        return Shape(self.text, self._sections)

    @cached_property
    def cases(self) -> list[Case]:
        """The cases of the lists of persons in it."""
        return cases_in(self.text, self.note.title)

    @cached_property
    def dates(self) -> list[DateMention]:
        """The dates, in text order."""
        return sorted(
            DateReader(self.text, self.note.date, self.words, self.places), key=lambda date: (date.start, date.end)
        )

    @cached_property
    def _date_starts(self) -> list[int]:
        return [date.start for date in self.dates]

    def holds(self, triggers: frozenset[str]) -> bool:
        """Whether a word of the note is a trigger or has one written into it (``Grade3``); True without triggers."""
        if not triggers or not triggers.isdisjoint(self.vocabulary):
            return True
        return any(map(self._all_words.__contains__, _shortest(triggers)))

    def opens(self, gates: Sequence[Gate]) -> bool:
        """Whether a word of the note opens one of the gates; True without gates."""
        if not gates:
            return True
        places = self.places
        for gate in gates:  # noqa: SIM110 - dearer as an any(): it is asked for each recogniser of each note.
            if places[gate.number]:
                return True
        return False

    def by_sentence(self, spans: Sequence[Placed]) -> Iterator[tuple[Sentence, list[Placed]]]:
        """Each sentence with those of ``spans`` (ordered by start) that begin in it."""
        at, count = 0, len(spans)
        for sentence in self.shape.sentences:
            here: list[Placed] = []
            if at < count:
                start, end, _ = sentence
                while at < count and (span := spans[at]).start < end:
                    if span.start >= start:
                        here.append(span)
                    at += 1
            yield sentence, here

    def ends_in_colon(self, sentence: Sentence) -> bool:
        """Whether a colon ends the sentence, or follows it."""
        return self.text[sentence.end - 1] == ":" or self.text[sentence.end : sentence.end + 1] == ":"

    def token_range(self, start: int, end: int) -> tuple[int, int]:
        """First word that begins at or after ``start`` and the first that begins at or after ``end``."""
        starts = self.words.starts
        first = bisect.bisect_left(starts, start)
        return first, bisect.bisect_left(starts, end, lo=first)

    def dates_in(self, start: int, end: int) -> list[DateMention]:
        """The dates that begin between ``start`` and ``end``."""
        starts = self._date_starts
        first = bisect.bisect_left(starts, start)
        return self.dates[first : bisect.bisect_left(starts, end, first)]

    def sentence_span(self, offset: int) -> tuple[int, int]:
        """Span of the sentence at ``offset``."""
        shape = self.shape
        if not shape.sentences:
            return 0, len(self.text)
        start, end, _ = shape.sentences[shape.sentence_index_at(offset)]
        return start, end if end > offset else offset


#: More spans than these are settled by marking what is taken.
_MANY: Final = 2_000
#: The layers of spans: names, whose overlaps are settled among themselves, and what is read by itself.
NAMES: Final = "names"
SPREAD: Final = "spread"
TRIALS: Final = "trials"
BIRTHS: Final = "births"
PERSONS: Final = "persons"
ENCOUNTERS: Final = "encounters"
MEASURES: Final = "measures"
FINDINGS: Final = "findings"
#: The source of what is told in plain words, and the role of the words for the thing of which it is told.
TOLD: Final = "pattern:told"
THING: Final = "thing"
ALLERGENS: Final = "allergens"
OPERATED: Final = "operated"
TUMOR_FEATURES: Final = "tumor features"
GRADES_IN_NAMES: Final = "grades in names"


class Recognizer(Protocol):
    """Finds spans in a frame.

    It is shown the notes that hold one of its ``triggers`` (folded words, perhaps within another; none: all notes) and
    a word that opens one of its ``gates`` (none: all). ``layer``: to which its spans go.
    """

    name: str
    triggers: frozenset[str] = frozenset()
    gates: Sequence[Gate] = ()
    layer: str = NAMES

    def find(self, frame: Frame) -> Iterable[Span]:
        """The candidate mentions, in any order, overlaps allowed."""
        ...


def resolve_overlaps(spans: Iterable[Span]) -> list[Span]:
    """The spans left when each overlap is settled: longer first, then higher priority, then leftmost; text order."""
    return first_come(sorted(spans, key=lambda one: (one.start - one.end, -one.priority, one.start, one.kind)))


def first_come(spans: Iterable[Placed]) -> list[Placed]:
    """Those that overlap none of the ones kept before them, in text order."""
    candidates = list(spans)
    if len(candidates) > _MANY and all(span.start < span.end for span in candidates):
        return _first_come_of_many(candidates)
    kept: list[Placed] = []
    starts: list[int] = []
    for span in candidates:
        at = bisect.bisect_left(starts, span.end)
        if at and kept[at - 1].end > span.start:
            continue
        kept.insert(at, span)
        starts.insert(at, span.start)
    return kept


def _first_come_of_many(spans: Sequence[Placed]) -> list[Placed]:
    """As :func:`first_come`, in time that grows with their number: each new place would move all behind it."""
    taken = bytearray(max(span.end for span in spans))
    kept: list[Placed] = []
    for span in spans:
        start, end = span.start, span.end
        if taken.find(1, start, end) < 0:
            taken[start:end] = b"\1" * (end - start)
            kept.append(span)
    return sorted(kept, key=_start)


def starting(spans: Sequence[Span], low: int, high: int) -> Sequence[Span]:
    """Those of ``spans``, which are in text order, that start at ``low`` or behind it and before ``high``."""
    first = bisect.bisect_left(spans, low, key=_start)
    return spans[first : bisect.bisect_left(spans, high, first, key=_start)]


def _start(span: _HasPlace) -> int:
    return span.start
