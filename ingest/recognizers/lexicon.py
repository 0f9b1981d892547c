"""The names of the ontology as one trie, and the recogniser that finds them; cues settle ambiguous short forms."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from ...kb.kinds import KIND_TABLE, MEASURED
from ...kb.ontology.concepts import ConceptTable
from ...kb.ontology.rows import Abbreviation
from ..text.cue_files import cue_file
from ..text.frame import Frame, Recognizer, Span
from ..text.word_classes import word_classes
from ..text.words import MOST_REMEMBERED, PhraseMatch, PhraseTrie, fold

_CLASSES: Final = word_classes("recognizers", "lexicon")

#: So far before a short form may its "before" begin (characters).
_FURTHEST = 48


@dataclass(frozen=True, slots=True)
class _Meaning:
    """What must stand around a short form; a pattern that the entry does not have is None."""

    before: re.Pattern[str] | None
    behind: re.Pattern[str] | None
    beside: re.Pattern[str] | None
    unless: re.Pattern[str] | None

    def holds(self, text: str, start: int, end: int, sentence: tuple[int, int]) -> bool:
        """Whether the short form at this span means this."""
        if self.unless is not None and self.unless.match(text, end):
            return False
        if self.behind is not None and not self.behind.match(text, end, sentence[1]):
            return False
        if self.before is not None and not self.before.search(text, max(sentence[0], start - _FURTHEST), start):
            return False
        return self.beside is None or self.beside.search(text, *sentence) is not None


@lru_cache(maxsize=1)
def _meanings() -> dict[str, tuple[_Meaning, ...]]:
    table = cue_file("other_meanings")
    result = table["result"]["pattern"]
    found: dict[str, list[_Meaning]] = {}
    for entry in table["meaning"]:
        before, behind, beside = (
            re.compile(entry[side]) if side in entry else None for side in ("before", "behind", "beside")
        )
        unless = entry.get("unless", result)
        meaning = _Meaning(before, behind, beside, re.compile(unless) if unless else None)
        for short in entry["short"]:
            found.setdefault(short, []).append(meaning)
    return {short: tuple(meanings) for short, meanings in found.items()}


def has_other_meanings(surface: str) -> bool:
    """Whether the short form, as it is written, may be something else than a marker."""
    return surface in _meanings()


def means_another(text: str, start: int, end: int, sentence: tuple[int, int]) -> bool:
    """Whether the short form at this span of the sentence is no marker here."""
    return any(meaning.holds(text, start, end, sentence) for meaning in _meanings().get(text[start:end], ()))


#: Concept kind → kind of span. Kinds that depend on where a concept hangs are refined in :meth:`Lexicon.kind_of`.
SPAN_KINDS: Final[Mapping[str, str]] = {
    **{kind.named_by: kind.name for kind in KIND_TABLE.values() if kind.named_by},
    **{kind: kind for kind in ("site", "gene", "value")},
}
#: The kinds of concept that are named beside a value alone.
MEASURED_CONCEPTS: Final = frozenset(KIND_TABLE[kind].named_by for kind in MEASURED)
#: Ancestors that make a concept another kind of span than its concept kind says.
_REFINED: Final = tuple((kind.root, kind.unless_below, kind.name) for kind in KIND_TABLE.values() if kind.root)
#: Right behind a gene's symbol, a change of it: cue enough for any symbol.
_A_CHANGE = re.compile(r"[\s:(]{1,12}(?:p\.|c\.\s?\d|[A-Z]\d{2,4}(?:[A-Z*]|fs)\b|exon\s?\d)")
#: Words beside a short form that make it the gene where it is also the name of a disease (VHL, NF1).
_OF_GENE_BEHIND = _CLASSES.compile(
    r"[\s:(\-]{1,3}(?:p\.|c\.\s?\d|{of_gene_behind})",
    re.IGNORECASE,
)
_OF_GENE_BEFORE = _CLASSES.compile(
    r"\b{of_gene_before}\s$|[A-Za-z]\d[A-Za-z]?(?:[,/ ]\s?|,?\s(?:and|or)\s)$",
    re.IGNORECASE,
)
#: A unit behind its figure (*14 MM*), and the first part of an identifier (*ICCA-XY-0123*).
_UNIT = _CLASSES.compile(r"{unit}\Z", re.IGNORECASE)
_FIGURE_BEFORE = re.compile(r"\d\s?\Z")
_IDENTIFIER_BEHIND = re.compile(r"-[A-Z\d]{1,4}-\d{3,}")
_LONGEST_SHORT_FORM: Final = 6
_HAS_WORD = re.compile(r"[A-Za-z]")
#: A drug's code, which some write without its hyphen (MK-3475, MK3475).
_DRUG_CODE = re.compile(r"([A-Z]{2,5})-(\d{3,})")
_SEPARATOR = re.compile(r"[^0-9A-Za-z]")
#: A name that begins with a sign (``-ve``) is known from its contrary by that sign alone.
_SIGNED = re.compile(r"[+\-](?=[A-Za-z])")
_SIGN_BEFORE = re.compile(r"(?P<plus>\+)[ ]?$|[\-\u2010-\u2015\u2212][ ]?$")
_LETTERS_ONLY = re.compile(r"[a-z]{4,}")


class Sense(NamedTuple):
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
    for ancestor, unless, kind in _REFINED:
        if ancestor in above and unless not in above:
            return kind
    return SPAN_KINDS.get(concepts.kind(concept), "value")


def _span_kinds(concepts: ConceptTable) -> dict[str, str]:
    """What :func:`span_kind` tells of each concept: sooner told by what lies below few than by what lies above many."""
    found = {row.id: SPAN_KINDS.get(row.kind, "value") for row in concepts.rows()}
    for ancestor, unless, kind in reversed(_REFINED):
        if ancestor in concepts:
            found.update(dict.fromkeys(concepts.below(ancestor) - concepts.at_or_below(unless), kind))
    return found


class Lexicon(Recognizer):
    """The recogniser of everything the ontology names."""

    name = "lexicon"

    def __init__(self, concepts: ConceptTable, *, measured: bool = False) -> None:
        """``measured``: of what is named beside a value, and of nothing else."""
        self.concepts = concepts
        self._measured = measured
        self._kinds = _span_kinds(concepts)
        self.trie: PhraseTrie[Sense] = PhraseTrie()
        #: What phrases say, as they are written, where nothing else bears on it.
        self._settled: dict[str, _PhraseMeaning | tuple[()]] = {}
        self.trie.add_all(self._phrases())

    def _phrases(self) -> Iterator[tuple[str, Sense, bool]]:
        """Every name and short form with its sense, and whether a comma may stand in it."""
        for row in self.concepts.rows():
            if (row.kind in MEASURED_CONCEPTS) is not self._measured:
                continue
            if row.kind not in SPAN_KINDS:
                continue  # Read by a recogniser of its own.
            kind = self.kind_of(row.id)
            for name in (row.name, *row.synonyms):
                # Bare numbers and signs (a result "0" or "2+") are read where a result is expected, by patterns.
                if _HAS_WORD.search(name):
                    surface = name if _SIGNED.match(name) else ""
                    # A comma in a tumor's name sets its form apart; elsewhere it makes a list, read by its members.
                    yield name, Sense(row.id, kind, surface, preferred=name == row.name), row.kind == "tumor"
                    if code := _DRUG_CODE.fullmatch(name):
                        yield code[1] + code[2], Sense(row.id, kind), False
            for abbreviation in row.abbreviations:
                if _HAS_WORD.search(abbreviation.text):
                    yield abbreviation.text, self._sense(row.id, kind, abbreviation), False

    def kind_of(self, concept: str) -> str:
        """The span kind of a concept."""
        return self._kinds[concept]

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
        words, text, behind = frame.words, frame.text, 0
        nearby = _Nearby(frame)
        for index in frame.beginnings(self.trie):
            if index < behind:
                continue
            for match in reversed(self.trie.matches_at(text, words, index)):
                meaning = self._meaning_of(nearby, match)
                if meaning is not None and not _is_no_word(text, match.start, match.end):
                    yield meaning.span(text, match)
                    behind = match.last
                    break

    def is_cued_marker(self, frame: Frame, start: int, end: int) -> bool:
        """Whether the word there is a short form of a marker or gene that needs a cue, and has one near."""
        first, last = frame.token_range(start, end)
        return first < last and any(
            sense.cued and sense.kind in ("gene", "biomarker")
            for match in self.trie.matches_at(frame.text, frame.words, first)
            if (match.start, match.end) == (start, end)
            for sense in self._readings(_Nearby(frame), match)
        )

    def _meaning_of(self, nearby: _Nearby, match: PhraseMatch[Sense]) -> _PhraseMeaning | None:
        """What the phrase says here; None for nothing. Where its letters alone decide, they are asked once."""
        surface = nearby.text[match.start : match.end]
        known = self._settled.get(surface)
        if known is not None and known is not _DEPENDS:
            return known or None
        meaning = _PhraseMeaning.from_readings(surface, self._readings(nearby, match))
        if known is None:
            if len(self._settled) >= MOST_REMEMBERED:
                self._settled.clear()
            self._settled[surface] = _DEPENDS if self._depends(surface, match.payloads) else meaning or _NOTHING
        return meaning

    @staticmethod
    def _depends(surface: str, senses: Sequence[Sense]) -> bool:
        """Whether what a phrase says depends on what stands around it."""
        # Most short forms are known from a word of the language (all, her, met) by their capitals alone.
        possible = [sense for sense in senses if _may_be(sense.surface, surface)]
        kinds = {sense.kind for sense in possible}
        return (
            # Signs at an end are looked for beside the name.
            any(sense.cued or _is_signed(sense.surface) for sense in possible)
            or (has_other_meanings(surface) and not kinds.isdisjoint(("gene", "biomarker")))
            # A gene may share its letters with a disease.
            or ("gene" in kinds and not kinds.isdisjoint(("comorbidity", "diagnosis")))
        )

    def _readings(self, nearby: _Nearby, match: PhraseMatch[Sense]) -> list[Sense]:
        """The senses that hold here: cued ones whose cue stands near first, then the plain ones."""
        text = nearby.text
        surface = text[match.start : match.end]
        cued, plain = [], []
        is_other = has_other_meanings(surface) and means_another(
            text, match.start, match.end, nearby.frame.sentence_span(match.start)
        )
        for sense in match.payloads:
            if is_other and sense.kind in ("gene", "biomarker"):
                continue
            if sense.surface and not _same_surface(sense.surface, surface, text, match.start, match.end):
                continue
            if not sense.cued:
                plain.append(sense)
            elif nearby.has_cue(sense, match) or (sense.kind == "gene" and _A_CHANGE.match(text, match.end)):
                cued.append(sense)
        plain.sort(key=lambda sense: (not sense.preferred, bool(sense.surface)))
        # A short form that is both a marker's name and a result (MSS) is the marker: the result is then implied.
        senses = sorted(cued + plain, key=lambda sense: sense.kind == "value")
        if senses and senses[0].kind in ("comorbidity", "diagnosis"):
            genes = [sense for sense in match.payloads if sense.kind == "gene" and sense.surface == surface]
            if genes and not is_other and self._is_gene(text, match):
                return genes
        return senses

    @staticmethod
    def _is_gene(text: str, match: PhraseMatch[Sense]) -> bool:
        return bool(
            _OF_GENE_BEHIND.match(text, match.end)
            or _OF_GENE_BEFORE.search(text, max(0, match.start - 20), match.start)
        )


def _is_no_word(text: str, start: int, end: int) -> bool:
    """Whether what looks like a short form is a unit, or a part of an identifier."""
    if end - start > _LONGEST_SHORT_FORM:
        return False
    if text[end : end + 1] == "-" and _IDENTIFIER_BEHIND.match(text, end):
        return True
    return bool(_UNIT.match(text, start, end) and _FIGURE_BEFORE.search(text, max(0, start - 2), start))


class _PhraseMeaning(NamedTuple):
    """What a phrase says: the first of its readings, and the others."""

    kind: str
    concept: str
    source: str
    others: tuple[tuple[str, str], ...]
    #: A bracket is open at its end, and may close behind it.
    opens: bool

    @classmethod
    def from_readings(cls, surface: str, readings: Sequence[Sense]) -> _PhraseMeaning | None:
        """The readings of a phrase as it is written; None if there is none."""
        if not readings:
            return None
        first = readings[0]
        others = tuple((sense.concept, sense.kind) for sense in readings[1:] if sense.concept != first.concept)
        opens = surface.count("(") > surface.count(")")
        return cls(first.kind, first.concept, f"lexicon:{surface[:60]}", others, opens)

    def span(self, text: str, match: PhraseMatch[Sense]) -> Span:
        """The span of the phrase."""
        kind, concept, source, others, opens = self
        start, end, *_ = match
        if opens and text.startswith(")", end):
            end += 1  # The bracket of del(17p) belongs to the name.
        return Span(start, end, kind, concept, source, {}, 1, [], others)


_NOTHING: Final = ()
#: What is known of a phrase whose meaning depends on what stands around it.
_DEPENDS: Final = _PhraseMeaning("", "", "", (), opens=False)


class _Nearby:
    """What stands near the names of a note: cue words in a sentence and its two neighbours."""

    __slots__ = ("_ranges", "_vocabulary", "frame", "text")

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.text = frame.text
        self._vocabulary: frozenset[str] | None = None
        self._ranges: dict[int, _Range] = {}

    def has_cue(self, sense: Sense, match: PhraseMatch[Sense]) -> bool:
        """Whether a cue of the sense stands near the name, outside of it."""
        if self._vocabulary is None:
            self._vocabulary = self.frame.vocabulary.union(self.frame.words.written)
        # Most short forms of a note have no cue anywhere in it.
        said = sense.cue_words & self._vocabulary
        if not said and not sense.cue_texts:
            return False
        near = self._range(match.start)
        if any(self._stands(word, near, match) for word in said & near.words):
            return True
        if not sense.cue_texts:
            return False
        text = self.text[near.low : match.start] + " " + self.text[match.end : near.high]
        return any(cue in text for cue in sense.cue_texts)

    def _stands(self, word: str, near: _Range, match: PhraseMatch[Sense]) -> bool:
        """Whether the word, as written or folded, stands before or behind the name."""
        words = self.frame.words
        return any(
            word in column[near.first : match.first] or word in column[max(near.first, match.last) : near.last]
            for column in (words.norms, words.written)
        )

    def _range(self, place: int) -> _Range:
        """Of the sentence at ``place`` with its neighbours."""
        shape = self.frame.shape
        at = shape.sentence_index_at(place)
        found = self._ranges.get(at)
        if found is None:
            sentences, words = shape.sentences, self.frame.words
            low = sentences[max(0, at - 1)].start if sentences else 0
            high = sentences[min(len(sentences) - 1, at + 1)].end if sentences else len(self.text)
            first, last = self.frame.token_range(low, high)
            there = frozenset(words.norms[first:last]).union(words.written[first:last])
            found = self._ranges[at] = _Range(low, high, first, last, there)
        return found


class _Range(NamedTuple):
    """A stretch of a note: its characters, its words by number, and all of them, as written and folded."""

    low: int
    high: int
    first: int
    last: int
    words: frozenset[str]


def _is_signed(name: str) -> bool:
    """Whether a sign begins or ends the name."""
    return bool(name) and not (name[0] + name[-1]).isalnum()


def _may_be(name: str, surface: str) -> bool:
    """Whether a phrase with these letters may be this name, whatever stands beside it."""
    return not name or _is_signed(name) or _SEPARATOR.sub("", name) == _SEPARATOR.sub("", surface)


def _same_surface(name: str, surface: str, text: str, start: int, end: int) -> bool:
    """Equal but for what separates the words; signs at the end of the name (``ER+``) must follow in the text, and one
    at its beginning (``-ve``) must stand before it, where the case of its letters says nothing."""
    if name.isalnum() and surface.isalnum() and name.isascii() and surface.isascii():
        return name == surface
    if _SIGNED.match(name):
        sign = _SIGN_BEFORE.search(text, max(0, start - 2), start)
        return sign is not None and bool(sign["plus"]) == (name[0] == "+") and name[1:] == surface.lower()
    words = name.rstrip("+-()")
    if not text.startswith(name[len(words) :], end):
        return False
    return _SEPARATOR.sub("", words) == _SEPARATOR.sub("", surface)


#: What stands behind the comma: one to three words.
_BEHIND = re.compile(r"[ ]?[,(][ ]{0,2}(?P<words>[A-Za-z][A-Za-z\-]{1,24}(?:[ ][A-Za-z\-]{2,24}){0,2})")
_MOST_MODIFIERS = 3
#: From a name, over a size in brackets, to its type: ``(8 cm), conventional (clear cell) type``. Lines that
#: were joined have full stops at their ends.
_TYPE_BEHIND = _CLASSES.compile(
    r"(?:\s?\([^()]{1,40}\))?\s?(?:(?:[,.\-\u2013:]\s?){1,2}|{leads_type}\s)(?P<words>\(?(?:(?!{no_type}\b)[A-Za-z]{4,16}[\s.()]{1,3}){1,4})"
    r"(?:{type_of_tumor})\b",
    re.IGNORECASE,
)
#: The last words of a line, so far back (characters), so many.
_LINE_BEFORE = re.compile(r"(?P<words>[A-Za-z\-]+(?: [A-Za-z\-]+){0,3})\Z")
_REACH_OF_LINE = 50
_MOST_BEFORE = 4
_TYPE_WORD = re.compile(r"[A-Za-z]+")
#: A bracket of a few words right before a name.
_BRACKET_BEFORE = re.compile(r"\s\([A-Za-z][A-Za-z \-]{2,30}\)\s\Z")
_REACH_OF_BRACKET = 36
_CANCER = "malignant_neoplasm"


def turn_round(text: str, span: Span, concepts: ConceptTable, never: frozenset[str]) -> None:
    """Give a diagnosis the narrower concept that its name has with the words behind the comma put first.

    ``never``: words that mean different tumors in different organs.
    """
    name = text[span.start : span.end]
    end = span.end
    for _ in range(_MOST_MODIFIERS):
        match = _BEHIND.match(text, end)
        if match is None or (span.concept == _CANCER and text[match.start() : match.start("words")].strip() == "("):
            return  # "Cancer (liver, lung)" names the places where it is now.
        words = match["words"].split(" ")
        for count in range(len(words), 0, -1):
            modifier = " ".join(words[:count])
            if modifier.lower() in never:
                continue
            found, longer = _named(modifier, name, span.concept, concepts, whole=count == len(words))
            if found and text.startswith("?", match.start("words") + len(modifier)):
                return  # "Breast cancer, triple negative?" doubts what stands behind the comma alone.
            if found:
                end = match.start("words") + len(modifier)
                span.concept, name = found, longer
                span.helpers.append((match.start("words"), end, "inverted name"))
                break
        else:
            return


def join_lines(text: str, span: Span, concepts: ConceptTable) -> None:
    """Give a diagnosis the narrower concept of its whole name where a line ended amid it, and lines were joined by full
    stops: ``squamous cell. carcinoma``."""
    if not (text.startswith(". ", span.start - 2) or text.startswith(".\n", span.start - 2)):
        return
    name = text[span.start : span.end]
    match = _LINE_BEFORE.search(text, max(0, span.start - _REACH_OF_LINE), span.start - 2)
    # A small letter goes on; a capital does so only among capitals.
    if match is None or not (name[0].islower() or name.isupper() and match["words"].isupper()):
        return
    words = match["words"].split()
    for first in range(max(0, len(words) - _MOST_BEFORE), len(words)):
        found, _ = _named(" ".join(words[first:]), name, span.concept, concepts, whole=False)
        if found:
            span.helpers.append((*match.span("words"), "inverted name"))
            span.concept = found
            # What is said before the name, *no evidence of*, is said of it.
            span.start = match.end() - len(" ".join(words[first:]))
            return


def join_over_bracket(text: str, span: Span, concepts: ConceptTable) -> None:
    """Give a diagnosis the narrower concept of its whole name where brackets with another name for a part of it stand
    amid it: ``urothelial (transitional cell) carcinoma``."""
    bracket = _BRACKET_BEFORE.search(text, max(0, span.start - _REACH_OF_BRACKET), span.start)
    if bracket is None:
        return
    name = text[span.start : span.end]
    match = _LINE_BEFORE.search(text, max(0, bracket.start() - _REACH_OF_LINE), bracket.start())
    words = match["words"].split() if match is not None else []
    for first in range(max(0, len(words) - _MOST_BEFORE), len(words)):
        found, _ = _named(" ".join(words[first:]), name, span.concept, concepts, whole=False)
        if found:
            start = bracket.start() - len(" ".join(words[first:]))
            span.helpers.append((start, bracket.start(), "inverted name"))
            span.concept, span.start = found, start
            return


def name_type(text: str, span: Span, concepts: ConceptTable) -> None:
    """Give a diagnosis the narrower concept of the type that is told behind its name: *carcinoma (3 cm), conventional
    (clear cell) type*."""
    match = _TYPE_BEHIND.match(text, span.end)
    if match is None:
        return
    name = " ".join(text[span.start : span.end].split())
    words = _TYPE_WORD.findall(match["words"])
    for count in range(min(len(words), _MOST_MODIFIERS), 0, -1):
        for first in range(len(words) - count + 1):
            modifier = " ".join(words[first : first + count])
            found, _ = _named(modifier, name, span.concept, concepts, whole=False)
            if found:
                span.helpers.append((*match.span("words"), "inverted name"))
                span.concept = found
                return


@lru_cache(maxsize=8192)
def _named(modifier: str, name: str, concept: str, concepts: ConceptTable, whole: bool) -> tuple[str, str]:
    """The tumor below ``concept`` of that name, and the name; what is *in situ* is below another branch."""
    for longer in (f"{modifier} {name}", f"{name} {modifier}"):
        for found in concepts.lookup(longer, kinds=("tumor",)):
            in_situ = whole and "situ" in modifier and concepts.is_a(found, "in_situ_neoplasm")
            if found != concept and (concepts.is_a(found, concept) or in_situ):
                return found, longer
    return "", ""
