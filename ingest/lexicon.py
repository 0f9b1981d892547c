"""The names of the ontology as one trie, and the recogniser that finds them; cues settle ambiguous short forms."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..kb.concepts import Abbreviation, ConceptTable
from .frame import Frame, Recognizer, Span
from .other_meanings import has_other_meanings, means_another
from .phrases import PhraseMatch, PhraseTrie
from .tokens import fold

#: Concept kind → kind of span. Kinds that depend on where a concept hangs are refined in :meth:`Lexicon.kind_of`.
_SPAN_KIND = {
    "tumor": "diagnosis",
    "site": "site",
    "drug": "medication",
    "regimen": "regimen",
    "gene": "gene",
    "biomarker": "biomarker",
    "procedure": "procedure",
    "radiation": "radiation",
    "condition": "comorbidity",
    "state": "state",
    "value": "value",
    "performance": "performance",
}
#: Ancestors that make a concept another kind of span than its concept kind says.
_REFINED = (
    ("surgery", "surgery"),
    ("symptom", "symptom"),
    ("toxicity", "adverse_event"),
    ("social_history", "social"),
    ("death", "death"),
)
#: Right behind a gene's symbol, a change of it: cue enough for any symbol.
_A_CHANGE = re.compile(r"[\s:(]{1,12}(?:p\.|c\.\s?\d|[A-Z]\d{2,4}(?:[A-Z*]|fs)\b|exon\s?\d)")
#: Words beside a short form that make it the gene where it is also the name of a disease (VHL, NF1).
_OF_GENE_BEHIND = re.compile(
    r"[\s:(\-]{1,3}(?:p\.|c\.\s?\d|genes?\b|variants?\b|mutat\w+|sequencing|inactivat\w+|alterations?\b|deletions?\b|exons?\b"
    r"|VUS\b|loss\b|methylat\w+|testing\b|negative\b|wild)",
    re.IGNORECASE,
)
_OF_GENE_BEFORE = re.compile(
    r"\b(?:somatic|germline|pathogenic|mutated|mutant|mutations? in|variants? in)\s$"
    r"|[A-Za-z]\d[A-Za-z]?(?:[,/ ]\s?|,?\s(?:and|or)\s)$",
    re.IGNORECASE,
)
_HAS_WORD = re.compile(r"[A-Za-z]")
#: A drug's code, which some write without its hyphen (MK-3475, MK3475).
_DRUG_CODE = re.compile(r"([A-Z]{2,5})-(\d{3,})")
_SEPARATOR = re.compile(r"[^0-9A-Za-z]")
#: A name that begins with a sign (``-ve``) is told from its contrary by that sign alone.
_SIGNED = re.compile(r"[+\-](?=[A-Za-z])")
_SIGN_BEFORE = re.compile(r"(?P<plus>\+)[ ]?$|[\-\u2010-\u2015\u2212][ ]?$")
_LETTERS_ONLY = re.compile(r"[a-z]{4,}")


@dataclass(frozen=True, slots=True)
class Sense:
    """One reading of a phrase. ``surface``: must be written exactly so; ``cues``: one of them must stand near."""

    concept: str
    kind: str
    surface: str = ""
    cue_words: frozenset[str] = frozenset()
    cue_texts: tuple[str, ...] = ()
    preferred: bool = False

    @property
    def cued(self) -> bool:
        """Whether this reading needs a cue."""
        return bool(self.cue_words or self.cue_texts)


def span_kind(concepts: ConceptTable, concept: str) -> str:
    """The kind of span that names of a concept make; KeyError if there is none of this id."""
    above = concepts.above(concept)
    for ancestor, kind in _REFINED:
        if ancestor in above:
            return kind
    return _SPAN_KIND.get(concepts.kind(concept), "value")


class Lexicon:
    """The recogniser of everything the ontology names."""

    name = "lexicon"
    triggers: frozenset[str] = frozenset()

    def __init__(self, concepts: ConceptTable) -> None:
        self._concepts = concepts
        self._trie: PhraseTrie[Sense] = PhraseTrie()
        for row in concepts.rows():
            kind = self.kind_of(row.id)
            for name in (row.name, *row.synonyms):
                # Bare numbers and signs (a result "0" or "2+") are read where a result is expected, by patterns.
                if _HAS_WORD.search(name):
                    # A comma in a tumor's name sets its form apart; elsewhere it makes a list, read by its members.
                    sense = Sense(row.id, kind, name if _SIGNED.match(name) else "", preferred=name == row.name)
                    self._trie.add(name, sense, commas=row.kind == "tumor")
                    if code := _DRUG_CODE.fullmatch(name):
                        self._trie.add(code[1] + code[2], Sense(row.id, kind))
            for abbreviation in row.abbreviations:
                if _HAS_WORD.search(abbreviation.text):
                    self._trie.add(abbreviation.text, self._sense(row.id, kind, abbreviation))

    def kind_of(self, concept: str) -> str:
        """The span kind of a concept."""
        return span_kind(self._concepts, concept)

    @staticmethod
    def _sense(concept: str, kind: str, abbreviation: Abbreviation) -> Sense:
        words, texts = set(), []
        for cue in abbreviation.cues:
            if cue.isalnum():
                words.add(cue if len(cue) <= 3 or cue.isupper() else fold(cue))
            else:
                texts.append(cue)
        # Lower-case shorthand (carbo, pembro) is a word of its own: a capital at the start of a line changes nothing.
        surface = "" if _LETTERS_ONLY.fullmatch(abbreviation.text) else abbreviation.text
        return Sense(concept, kind, surface, frozenset(words), tuple(texts))

    def find(self, frame: Frame) -> Iterator[Span]:
        """Longest names first at each word; a name whose every reading fails its cue gives way to a shorter one."""
        index, tokens, text = 0, frame.tokens, frame.text
        first_words = self._trie.first_words()
        while index < len(tokens):
            if tokens[index].norm not in first_words:
                index += 1
                continue
            step = 1
            for match in reversed(self._trie.matches_at(text, tokens, index)):
                readings = self._readings(frame, match)
                if readings:
                    yield from self._spans(match, readings, text)
                    step = match.last - match.first
                    break
            index += step

    def is_cued_marker(self, frame: Frame, start: int, end: int) -> bool:
        """Whether the word there is a short form of a marker or gene that needs a cue, and has one near."""
        first, last = frame.token_range(start, end)
        return first < last and any(
            sense.cued and sense.kind in ("gene", "biomarker")
            for match in self._trie.matches_at(frame.text, frame.tokens, first)
            if (match.start, match.end) == (start, end)
            for sense in self._readings(frame, match)
        )

    def _spans(self, match: PhraseMatch[Sense], readings: list[Sense], text: str) -> Iterator[Span]:
        first = readings[0]
        others = tuple((sense.concept, sense.kind) for sense in readings[1:] if sense.concept != first.concept)
        surface = text[match.start : match.end]
        # The bracket of del(17p) belongs to the name.
        closed = surface.count("(") > surface.count(")") and text[match.end : match.end + 1] == ")"
        yield Span(
            match.start,
            match.end + closed,
            first.kind,
            first.concept,
            f"lexicon:{surface if len(surface) <= 60 else surface[:60]}",
            alternatives=others,
            priority=1,
        )

    def _readings(self, frame: Frame, match: PhraseMatch[Sense]) -> list[Sense]:
        """The senses that hold here: cued ones whose cue stands near first, then the plain ones."""
        surface = frame.text[match.start : match.end]
        cued, plain = [], []
        near: tuple[frozenset[str], str] | None = None
        is_other = has_other_meanings(surface) and means_another(
            frame.text, match.start, match.end, frame.sentence_span(match.start)
        )
        for sense in match.payloads:
            if is_other and sense.kind in ("gene", "biomarker"):
                continue
            if sense.surface and not _same_surface(sense.surface, surface, frame.text, match.start, match.end):
                continue
            if not sense.cued:
                plain.append(sense)
                continue
            if near is None:
                near = self._near(frame, match)
            if (
                not sense.cue_words.isdisjoint(near[0])
                or any(cue in near[1] for cue in sense.cue_texts)
                or (sense.kind == "gene" and _A_CHANGE.match(frame.text, match.end))
            ):
                cued.append(sense)
        plain.sort(key=lambda sense: (not sense.preferred, bool(sense.surface)))
        # A short form that is both a marker's name and a result (MSS) is the marker: the result is then implied.
        senses = sorted(cued + plain, key=lambda sense: sense.kind == "value")
        if senses and senses[0].kind in ("comorbidity", "diagnosis"):
            genes = [sense for sense in match.payloads if sense.kind == "gene" and sense.surface == surface]
            if genes and not is_other and self._is_gene(frame.text, match):
                return genes
        return senses

    @staticmethod
    def _is_gene(text: str, match: PhraseMatch[Sense]) -> bool:
        return bool(
            _OF_GENE_BEHIND.match(text, match.end)
            or _OF_GENE_BEFORE.search(text, max(0, match.start - 20), match.start)
        )

    @staticmethod
    def _near(frame: Frame, match: PhraseMatch[Sense]) -> tuple[frozenset[str], str]:
        """Words and text of the sentence and its two neighbours, without the name itself."""
        shape = frame.shape
        at = shape.sentence_index_at(match.start)
        low = shape.sentences[max(0, at - 1)].start if shape.sentences else 0
        high = shape.sentences[min(len(shape.sentences) - 1, at + 1)].end if shape.sentences else len(frame.text)
        text = frame.text[low : match.start] + " " + frame.text[match.end : high]
        first, last = frame.token_range(low, high)
        others = (*frame.tokens[first : match.first], *frame.tokens[match.last : last])
        words = {frame.text[start:end] for start, end, _ in others}
        words.update(norm for _, _, norm in others)
        return frozenset(words), text


def _same_surface(name: str, surface: str, text: str, start: int, end: int) -> bool:
    """Equal but for what separates the words; signs at the end of the name (``ER+``) must follow in the text, and one
    at its beginning (``-ve``) must stand before it, where the case of its letters says nothing."""
    if _SIGNED.match(name):
        sign = _SIGN_BEFORE.search(text, max(0, start - 2), start)
        return sign is not None and bool(sign["plus"]) == (name[0] == "+") and name[1:] == surface.lower()
    words = name.rstrip("+-()")
    if not text.startswith(name[len(words) :], end):
        return False
    return _SEPARATOR.sub("", words) == _SEPARATOR.sub("", surface)


def recognise(frame: Frame, recognizers: Iterable[Recognizer]) -> list[Span]:
    """All spans of all recognisers whose trigger the note holds."""
    spans: list[Span] = []
    for recognizer in recognizers:
        if frame.holds(recognizer.triggers):
            spans.extend(recognizer.find(frame))
    return spans
