"""Training documents multiplied: mentions, synonyms and words put in each other's place, segments shuffled.

Source: the augmentation of the Real-MedNLP systems (overview, section 3, teams C and G), as told by Dai and Adel, "An
Analysis of Simple Data Augmentation for Named Entity Recognition", COLING 2020. Everything that is put in comes from
the training documents, the ontology or a list of words: nothing of a held-out document is seen.
"""

from __future__ import annotations

import hashlib
import random
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final

from ....ingest.models.tagging.words import word_range, word_spans
from ....kb.errors import UsageError
from ....kb.ontology.concepts import ConceptTable
from ...extraction.corpora.corpus import AnnotatedDocument
from .rewriting import Edit, rewritten, sentences

_WORDS: Final = Path(__file__).with_name("synonyms.toml")
_OUTSIDE: Final = ""
_ANY: Final = "any"
#: How often another is drawn before a mention stays what it is.
_DRAWS: Final = 8
#: A label and whether the word is the first of its mention.
Place = tuple[str, bool]


@dataclass(frozen=True)
class Stock:
    """What the training documents and the ontology offer in exchange.

    ``mentions``: label → its mentions as they stand, each as often as it occurs. ``tokens``: place in a mention (label,
    and whether the word is its first; ("", False) outside of all) → kind of word → words, each as often as it occurs.
    ``names``: label and a mention's letters → other names of what it means. ``words``: a word in small letters → words
    of the same meaning.
    """

    mentions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tokens: Mapping[Place, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    names: Mapping[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def from_documents(
        cls,
        documents: Sequence[AnnotatedDocument],
        concepts: ConceptTable | None = None,
        kinds: Mapping[str, Sequence[str]] | None = None,
    ) -> Stock:
        """The stock of some training documents. Without ``concepts`` mentions have no synonyms; ``kinds`` says of which
        kinds of concept a label's mentions are (a label that it does not name has no synonyms; None: of any kind)."""
        mentions: dict[str, list[str]] = defaultdict(list)
        tokens: dict[Place, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for document in documents:
            for span in document.flat().spans:
                mentions[span.label].append(document.text[span.start : span.end])
            for place, at in _places(document):
                word = document.word(at)
                tokens[place][_ANY].append(word)
                tokens[place][_kind(word)].append(word)
        names: dict[tuple[str, str], tuple[str, ...]] = {}
        for label, found in sorted(mentions.items()):
            if concepts is not None and (kinds is None or label in kinds):
                names |= _names(label, sorted(set(found)), concepts, None if kinds is None else kinds[label])
        return cls(
            {label: tuple(found) for label, found in sorted(mentions.items())},
            {place: {kind: tuple(found) for kind, found in sorted(tokens[place].items())} for place in sorted(tokens)},
            names,
            word_synonyms(),
        )


def _places(document: AnnotatedDocument) -> Iterator[tuple[Place, int]]:
    """Each word's number with its place: in the first word of a mention, further inside one, or outside."""
    at = 0
    for first, last, label in [*document.entities(), (len(document.words), len(document.words), _OUTSIDE)]:
        yield from (((_OUTSIDE, False), number) for number in range(at, first))
        yield from (((label, number == first), number) for number in range(first, last))
        at = last


def _names(
    label: str, surfaces: Sequence[str], concepts: ConceptTable, kinds: Sequence[str] | None
) -> dict[tuple[str, str], tuple[str, ...]]:
    """Other names of the surfaces that name one concept alone. Abbreviations are not put in: most have several
    meanings, and a text that has not introduced one does not use it."""
    found: dict[tuple[str, str], tuple[str, ...]] = {}
    for surface in surfaces:
        meanings = concepts.lookup(surface, kinds)
        if len(meanings) == 1:
            row = concepts.get(meanings[0])
            others = tuple(
                name for name in dict.fromkeys((row.name, *row.synonyms)) if name.casefold() != surface.casefold()
            )
            if others:
                found[label, surface] = others
    return found


@cache
def word_synonyms() -> Mapping[str, tuple[str, ...]]:
    """Words of case reports that may stand for each other, of ``synonyms.toml``: each with the others of its groups."""
    groups = tomllib.loads(_WORDS.read_text(encoding="utf-8"))["groups"]
    found: dict[str, list[str]] = defaultdict(list)
    for group in groups:
        for word in group:
            found[word].extend(other for other in group if other != word and other not in found[word])
    return {word: tuple(others) for word, others in found.items()}


Step = Callable[[AnnotatedDocument, Stock, random.Random, float], list[Edit]]


def replace_mentions(
    document: AnnotatedDocument, stock: Stock, chance: random.Random, probability: float
) -> list[Edit]:
    """Each mention, with this probability, becomes another of its label, drawn as often as it occurs in training."""
    edits: list[Edit] = []
    for span in document.spans:
        if chance.random() < probability:
            edits.extend(_put(document.text, span.start, span.end, stock.mentions.get(span.label, ()), chance))
    return edits


def replace_synonyms(
    document: AnnotatedDocument, stock: Stock, chance: random.Random, probability: float
) -> list[Edit]:
    """Mentions become other names of their concept, words outside of mentions other words of their meaning."""
    edits: list[Edit] = []
    for span in document.spans:
        names = stock.names.get((span.label, document.text[span.start : span.end]), ())
        if names and chance.random() < probability:
            edits.extend(_put(document.text, span.start, span.end, names, chance))
    for place, at in _places(document):
        word = document.word(at)
        others = stock.words.get(word.casefold(), ()) if place[0] == _OUTSIDE else ()
        if others and chance.random() < probability and _lies(document, *document.words[at]) is False:
            edits.extend(_put(document.text, *document.words[at], [_cased(one, word) for one in others], chance))
    return edits


def replace_tokens(document: AnnotatedDocument, stock: Stock, chance: random.Random, probability: float) -> list[Edit]:
    """Each word, with this probability, becomes a word that stands at the same place of a mention (or outside of all)
    somewhere in training, drawn as often as it stands there: label-wise token replacement."""
    edits: list[Edit] = []
    for place, at in _places(document):
        start, end = document.words[at]
        if chance.random() < probability and _lies(document, start, end) == (place[0] != _OUTSIDE):
            # A letter beside a sign stays a letter: the sign may be replaced as well.
            joined = document.text[max(0, start - 1) : start].strip() or document.text[end : end + 1].strip()
            kind = _kind(document.word(at)) if joined else _ANY
            others = stock.tokens.get(place, {}).get(kind, ())
            edits.extend(_put(document.text, start, end, others, chance))
    return edits


def shuffle_segments(
    document: AnnotatedDocument, stock: Stock, chance: random.Random, probability: float
) -> list[Edit]:
    """Each segment, with this probability, has its words in another order. A segment is a mention, or what stands in a
    sentence between mentions; the order of the segments, and so of the labels, stays: shuffle within segments.

    What moves is what stands between blanks ("(ECG)," is one), so that no two words grow together.
    """
    edits: list[Edit] = []
    for first, last in _segments(document):
        if chance.random() < probability:
            moving = list(_chunks(document, first, last))
            order = list(range(len(moving)))
            chance.shuffle(order)
            for (start, end), other in zip(moving, order, strict=True):
                letters = document.text[slice(*moving[other])]
                if letters != document.text[start:end]:
                    edits.append(Edit(start, end, letters))
    return edits


#: The steps by the names that augmentations call them.
STEPS: Final[Mapping[str, Step]] = {
    "mentions": replace_mentions,
    "synonyms": replace_synonyms,
    "tokens": replace_tokens,
    "segments": shuffle_segments,
}


@dataclass(frozen=True, slots=True)
class Augmentation:
    """How copies are made: ``steps``, one after the other, each with ``probability``; ``copies`` of each document.

    UsageError for an unknown step, a probability that is none, or no copy.
    """

    name: str
    steps: tuple[str, ...]
    probability: float = 0.3
    copies: int = 1

    def __post_init__(self) -> None:
        for step in self.steps:
            if step not in STEPS:
                raise UsageError(f"no augmentation is called '{step}'. Hint: there are {', '.join(STEPS)}")
        if not self.steps or not 0 < self.probability <= 1 or self.copies < 1:
            raise UsageError(
                f"augmentation '{self.name}': it has steps, a probability above 0 and up to 1, and one copy or more"
            )


#: Each method alone, then all of them: a copy by each, and (``together``) copies that went through all.
AUGMENTATIONS: Final[Mapping[str, tuple[Augmentation, ...]]] = {
    **{name: (Augmentation(name, (name,)),) for name in STEPS},
    "all": tuple(Augmentation(name, (name,)) for name in STEPS),
    "together": (Augmentation("together", ("mentions", "synonyms", "segments")),),
}


def augmented(
    document: AnnotatedDocument, augmentation: Augmentation, stock: Stock, seed: int, copy: int = 0
) -> AnnotatedDocument:
    """One copy of a document, the same for the same arguments. Spans that overlap are settled first, by ``flat``."""
    made = document.flat()
    for number, name in enumerate(augmentation.steps):
        key = f"{seed}|{document.id}|{augmentation.name}|{copy}|{number}|{name}"
        chance = random.Random(int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big"))
        made = rewritten(made, _apart(STEPS[name](made, stock, chance, augmentation.probability)))
    return rewritten(made, (), f"{document.id}#{augmentation.name}-{copy + 1}")


def multiplied(
    documents: Sequence[AnnotatedDocument], augmentations: Sequence[Augmentation], stock: Stock, seed: int = 0
) -> tuple[AnnotatedDocument, ...]:
    """The documents as they are, then their copies; a copy in which nothing has changed is left out."""
    copies = [
        augmented(document, augmentation, stock, seed, copy)
        for augmentation in augmentations
        for copy in range(augmentation.copies)
        for document in documents
    ]
    known = {(one.text, one.flat().spans) for one in documents}
    return (*documents, *(one for one in copies if (one.text, one.spans) not in known))


def _put(text: str, start: int, end: int, others: Sequence[str], chance: random.Random) -> Iterator[Edit]:
    """One of the others in that place, unless it grew together with what stands beside it without a blank, or nothing
    but the same was drawn several times."""
    drawn = (chance.choice(others) for _ in range(_DRAWS if others else 0))
    other = next((one for one in drawn if one.casefold() != text[start:end].casefold()), "")
    if other:
        before, behind = text[max(0, start - 1) : start], text[end : end + 1]
        borders = (len(before), len(before) + len(other))
        whole = word_spans(before + other + behind)
        if not any(one < border < last for one, last in whole for border in borders):
            yield Edit(start, end, other)


def _apart(edits: Sequence[Edit]) -> Iterator[Edit]:
    """The edits without one that grows together with what an edit puts right before it: ``_put`` compares an edit with
    the old text beside it, which an edit that borders on it takes away."""
    before = Edit(0, 0, "")
    for edit in sorted(edits):
        if edit.start == before.end and len(word_spans(before.text[-1:] + edit.text[:1])) == 1 and before.text:
            continue
        yield edit
        before = edit


def _kind(word: str) -> str:
    return "letters" if word.isalpha() else "digits" if word.isdigit() else "signs" if not word.isalnum() else "mixed"


def _lies(document: AnnotatedDocument, start: int, end: int) -> bool | None:
    """Whether a word lies in a mention; None where a mention has a part of it (it may begin within a word)."""
    for span in document.spans:
        if span.start < end and start < span.end:
            return True if span.start <= start and end <= span.end else None
    return False


def _cased(word: str, like: str) -> str:
    return word[:1].upper() + word[1:] if like[:1].isupper() else word


def _segments(document: AnnotatedDocument) -> Iterator[tuple[int, int]]:
    """Mentions, and what is between them in a sentence, as (start, end) in characters."""
    spans = list(document.spans)
    for first, last in sentences(document):
        at, end = document.words[first][0], document.words[last - 1][1]
        while spans and spans[0].end <= at:
            spans.pop(0)
        while spans and spans[0].start < end:
            if at < spans[0].start:
                yield at, spans[0].start
            if at <= spans[0].start and spans[0].end <= end:
                yield spans[0].start, spans[0].end
            at = spans[0].end
            if at > end:  # It goes on in the next sentence.
                break
            spans.pop(0)
        if at < end:
            yield at, end


def _chunks(document: AnnotatedDocument, start: int, end: int) -> Iterator[tuple[int, int]]:
    """What stands between blanks in a segment, as (start, end); what grows out of the segment is left out."""
    first, last = word_range(document.words, start, end)
    text = document.text
    begin = -1
    for number in range(first, last):
        word, behind = document.words[number]
        begin = word if begin < 0 else begin
        if behind < len(text) and not text[behind].isspace():
            continue
        if start <= begin and behind <= end and (begin == 0 or text[begin - 1].isspace()):
            yield begin, behind
        begin = -1
