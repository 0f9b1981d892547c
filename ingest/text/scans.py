"""The text of a scanned report as readers are to see it, character for character as long as it was written.

Three things are set right: full stops that end a line and no sentence, words that a scanner misread, and notation with
letters for figures. Each is a weighted alignment (:mod:`~cohortium.ingest.text.alignment`) with what may have been
meant; what is dearer than its evidence stays as it is. Offsets hold, and quotes are of the text as it was written.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, Final, NamedTuple

from ...kb.ontology.concepts import ConceptTable
from .alignment import AlignedWords, Confusions, shipped_confusions
from .cue_files import any_of, cue_file, general_words, words_of_cues

_CUES: Final[dict[str, Any]] = cue_file("scans")
_LINES: Final = _CUES["lines"]
_TNM: Final = _CUES["tnm"]
_FIGURES: Final = _CUES["figures"]

#: A full stop before a small letter, unless that is the label of an item; behind words that go on; within dimensions.
_LINE_END: Final = re.compile(r"(?<=[a-z,\-])\.(?= [a-z](?![).:]|[a-z][).:]))|(?<=[xX×])\.(?= ?\d)")
_WORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9]{5,}")
_LETTERS_ONLY: Final = re.compile(r"[A-Za-z]{6,}")
_SHORT: Final = re.compile(r"(?<![A-Za-z])[A-Za-z]{4,5}(?![A-Za-z])")
#: A word that a blank parts: its parts, of which the shorter may be a word by itself if it has no more letters.
_PARTED: Final = re.compile(r"(?<![A-Za-z'’\-])(?P<first>[A-Za-z]{1,12}) (?P<second>[A-Za-z]{2,14})(?![A-Za-z'’])")
_PART: Final = 3
#: A word that the end of a line parts.
_HYPHENED: Final = re.compile(r"(?<![A-Za-z])(?P<first>[A-Za-z]{2,16})-\.? (?P<second>[a-z]{3,16})(?![A-Za-z])")
#: Behind words that no sentence ends with.
_GOES_ON: Final = re.compile(
    rf"(?<![A-Za-z])(?<!: ){any_of(_LINES['goes_on'])}(?P<stop>\.) (?=[A-Za-z0-9(])", re.IGNORECASE
)

#: A name that a category follows without a blank: *AJCCpT1pN2*.
_GLUED: Final = re.compile(rf"(?<![A-Za-z]){any_of(_LINES['glued'])}(?=[ypr]{{0,2}}[Tt][0-4])")
_CANDIDATE: Final = re.compile(r"(?<![A-Za-z0-9])(?:[ypcmrPYC]{1,2}[. ]{0,2})?[TNMtnmI1l](?=\s?[0-4XOoxIlQiZ])")
#: Invasion of nerves, which is no category of nodes: *L1, V0, Pn0*.
_NERVES: Final = re.compile(r"Pn\s?[01OlX]")
_LABEL: Final = re.compile(_TNM["labels"])
_REACH_OF_LABEL: Final = 48
_SEVERAL: Final = re.compile(_TNM["several"])
_DESCRIPTORS: Final = re.compile(_TNM["descriptors"])
_GAP: Final = re.compile(r"[\s,;:/.|]{0,3}")
#: What may follow a category without a blank: other categories and descriptors, to the end of the word.
_FOLLOWS: Final = re.compile(r"(?:[ypc]?[NMLVRG]|Pn)[0-4OXxIl](?:[NMLVRGPn0-4OXxIlabcimst]{0,10})(?![A-Za-z0-9])")
_GOES_ON_BEHIND: Final = re.compile(r"\.\d| [xX](?!\w)")
#: What speaks for a category, and how much must be left of it when the alignment is paid.
_OF_PREFIX, _OF_CAPITAL_PREFIX, _OF_LABEL, _OF_NEXT, _OF_DESCRIPTOR, _ENOUGH = 1.0, 0.6, 1.0, 0.8, 0.5, 0.6
#: What a letter of the wrong case costs: of the category itself, and of what stands around it.
_WRONG_CASE_OF_LETTER, _WRONG_CASE, _BLANK, _STOP = 0.4, 0.1, 0.05, 0.2
_LETTERS: Final = ("T", "N", "M")
#: A run begins with one of these, or with a prefix.
_OWN_LETTERS: Final = "TNMtnm"
_OWN_WORD: Final = re.compile(r"[TNM]o(?![a-z])", re.IGNORECASE)


class _Aligned(NamedTuple):
    """A category: where it ends, its characters as they were meant, and what that costs."""

    end: int
    meant: str
    cost: float
    has_prefix: str


class Replacement(NamedTuple):
    """Characters that are read as others; as many."""

    start: int
    meant: str


class AsRead(NamedTuple):
    """A text as readers are to see it; and, by where words end that were shortened, where they end as written."""

    text: str
    ends: Mapping[int, int] = {}


class ScanReader:
    """Reads scanned text; build once for an ontology."""

    def __init__(self, concepts: ConceptTable) -> None:
        self._concepts = concepts
        self._confusions = shipped_confusions()

    @cached_property
    def _words(self) -> AlignedWords:
        """What may have been meant: the words of names and cues. Made when the first scan is read."""
        names = {name for row in self._concepts.rows() for name in self._concepts.names(row.id)}
        meant = {word for name in names for word in _LETTERS_ONLY.findall(name)} | words_of_cues()
        # Short words are never sought, but tell that a longer one was not parted (*wild type*).
        short = {word for name in names for word in _SHORT.findall(name)}
        return AlignedWords(meant, {*general_words(), *_CUES["words"]["right"], *short})

    def as_read(self, text: str) -> AsRead:
        """The text as readers are to see it: as long, and the same where nothing was set right."""
        text = _without_marks(text)
        characters, ends = list(text), {}
        for start, meant in _joined(text):
            characters[start : start + len(meant)] = meant
        for start, end, meant in self._meant_words(text):
            characters[start:end] = meant.ljust(end - start)
            if len(meant) < end - start:
                ends[start + len(meant)] = end
        read = "".join(characters)
        for start, meant in (*_notation(read, self._confusions), *_figures(read)):
            behind = start + len(meant)
            characters[start:behind] = meant
            if meant.endswith(" "):
                ends[start + len(meant.rstrip())] = behind
        return AsRead("".join(characters), ends)

    def _meant_words(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Words that were misread, and words that were parted: their place, and what was meant."""
        words = self._words
        for match in _WORD.finditer(text):
            one = words.meant[match.group()]
            if one and len(one) <= len(match.group()):
                yield *match.span(), one
        for match in _HYPHENED.finditer(text):
            whole = match["first"] + match["second"]
            if words.is_meant(whole):
                yield *match.span(), whole
        for match in _PARTED.finditer(text):
            first, second = match["first"], match["second"]
            if min(len(first), len(second)) > _PART and (words.knows(first) or words.knows(second)):
                continue
            whole = first + second
            if not (words.knows(first) and words.knows(second)) and words.is_meant(whole):
                yield *match.span(), whole


def _without_marks(text: str) -> str:
    """Letters without the marks that a scanner saw on them (*carcínoma*); each is one letter as before."""
    if text.isascii():
        return text
    plain = (unicodedata.normalize("NFD", letter)[0] if letter.isalpha() else letter for letter in text)
    return "".join(new if new.isascii() else old for old, new in zip(text, plain, strict=True))


def _joined(text: str) -> Iterator[Replacement]:
    """Full stops that a line end left, as blanks; and so the last letter of a name that runs into its category."""
    for match in _LINE_END.finditer(text):
        yield Replacement(match.start(), " ")
    for match in _GOES_ON.finditer(text):
        yield Replacement(match.start("stop"), " ")
    for match in _GLUED.finditer(text):
        yield Replacement(match.end() - 1, " ")


# --- categories -------------------------------------------------------------------------------------------------------


def _notation(text: str, confusions: Confusions) -> Iterator[Replacement]:
    """The categories of TNM that were not written as they are meant."""
    behind = 0
    for match in _CANDIDATE.finditer(text):
        if match.start() < behind or _NERVES.match(text, match.start()):
            continue
        run = _run(text, match.start(), confusions)
        if run is None:
            continue
        end, meant, cost, evidence = run
        behind = end
        if meant != text[match.start() : end] and evidence - cost >= _ENOUGH:
            yield Replacement(match.start(), meant)


def _run(text: str, start: int, confusions: Confusions) -> tuple[int, str, float, float] | None:
    """The categories that stand together: their end, what was meant, the cost, and what speaks for them."""
    found: list[_Aligned] = []
    meant, at, first = "", start, 0
    while first < len(_LETTERS):
        gap = _GAP.match(text, at) if found else None
        begins = gap.end() if gap is not None else at
        options = [
            (number, one)
            for number in range(first, len(_LETTERS))
            if (one := _category(text, begins, _LETTERS[number], confusions)) is not None
        ]
        if not options:
            break
        number, best = min(options, key=lambda option: (option[1].cost, -option[1].end))
        if gap is not None:
            between = text[at:begins]
            meant += between.replace(".", ",")
            best = best._replace(cost=best.cost + _STOP * between.count("."))
        meant += best.meant
        at, first = best.end, number + 1
        found.append(best)
    if not found:
        return None
    prefix = next((one.has_prefix for one in found if one.has_prefix), "")
    if not found[0].has_prefix and (_OWN_WORD.match(text, start) or text[start] not in _OWN_LETTERS):
        # "No", "TO" and "I 2" are words of their own.
        return None
    evidence = (_OF_PREFIX if prefix.islower() else _OF_CAPITAL_PREFIX) if prefix else 0.0
    evidence += _OF_NEXT * (len(found) - 1)
    if _LABEL.search(text, max(0, start - _REACH_OF_LABEL), start):
        evidence += _OF_LABEL
    if _DESCRIPTORS.match(text, at):
        evidence += _OF_DESCRIPTOR
    return at, meant, sum(one.cost for one in found), evidence


def _category(text: str, start: int, letter: str, confusions: Confusions) -> _Aligned | None:
    """The cheapest reading of one category that begins here."""
    best: _Aligned | None = None
    for prefix in ("", *_TNM["prefixes"]):
        written = text[start : start + len(prefix)]
        if written.lower() != prefix:
            continue
        cost = _WRONG_CASE * sum(map(str.isupper, written))
        at = start + len(prefix)
        between = [0, *(width for width, gap in ((1, " "), (2, ". ")) if prefix and text.startswith(gap, at))]
        for width in between:
            one = _lettered(text, at + width, letter, confusions)
            if one is None:
                continue
            # Readers want the prefix right before its letter; what stood between goes behind.
            meant = prefix + one.meant + " " * width
            total = cost + one.cost + _BLANK * (width == 1) + _STOP * (width == 2)
            if best is None or (total, -one.end) < (best.cost, -best.end):
                best = _Aligned(one.end, meant, total, written)
    return best


def _lettered(text: str, at: int, letter: str, confusions: Confusions) -> _Aligned | None:
    written = text[at : at + 1]
    cost = _WRONG_CASE_OF_LETTER if written == letter.lower() else confusions.cost(written, letter)
    if cost is None:
        return None
    best: _Aligned | None = None
    for width in (0, 1):
        if width and text[at + 1 : at + 2] != " ":
            continue
        for value in _TNM[letter.lower()]:
            one = _value(text, at + 1 + width, value, confusions)
            if one is None:
                continue
            end, dear = one
            several = _SEVERAL.match(text, end)
            pad = "" if several is None else " " * (several.end() - end)
            behind = end if several is None else several.end()
            if not _ends(text, behind):
                continue
            total = cost + dear + _BLANK * width
            meant = letter + " " * width + value + pad
            if best is None or (total, -behind) < (best.cost, -best.end):
                best = _Aligned(behind, meant, total, "")
    return best


def _value(text: str, at: int, value: str, confusions: Confusions) -> tuple[int, float] | None:
    """Where a value ends that is read here, and what that costs."""
    total = 0.0
    for offset, meant in enumerate(value):
        written = text[at + offset : at + offset + 1]
        if written == meant:
            continue
        if written and written.lower() == meant.lower():
            total += _WRONG_CASE
            continue
        cost = confusions.cost(written, meant) if written else None
        if cost is None:
            return None
        total += cost
    return at + len(value), total


def _ends(text: str, at: int) -> bool:
    """Whether a category may end here: no letter or figure follows, but the next category or a descriptor; and no lone
    X, which would leave open what was meant (*M 1 X*)."""
    behind = text[at : at + 2]
    if not behind or not behind[0].isalnum():
        return not _GOES_ON_BEHIND.match(text, at)
    return bool(_FOLLOWS.match(text, at))


# --- figures ----------------------------------------------------------------------------------------------------------

_FRACTION: Final = re.compile(_FIGURES["fraction"])
_BESIDE: Final = re.compile(_FIGURES["fraction_beside"])
_LENGTH: Final = re.compile(_FIGURES["length"])
_WHOLE: Final = re.compile(_FIGURES["whole"])
_SCORE: Final = re.compile(_FIGURES["score"])
_UNIT: Final = re.compile(_FIGURES["unit"])
_ROMAN: Final = re.compile(_FIGURES["roman"])
_ROMAN_FRACTION: Final = re.compile(_FIGURES["roman_fraction"])
_REACH_OF_NODES: Final = 60
_AS_FIGURES: Final = str.maketrans("OoQlI|", "000111")
_AS_ROMAN: Final = str.maketrans("l1|", "III")


def _figures(text: str) -> Iterator[Replacement]:
    for match in _FRACTION.finditer(text):
        written = match["figures"]
        if written.translate(_AS_FIGURES) == written or not any(map(str.isdigit, written)):
            continue
        if _BESIDE.search(text, max(0, match.start() - _REACH_OF_NODES), match.end() + _REACH_OF_NODES):
            yield Replacement(match.start("figures"), written.translate(_AS_FIGURES))
    for pattern in (_LENGTH, _WHOLE, _SCORE):
        for match in pattern.finditer(text):
            written = match["figures"]
            if written.translate(_AS_FIGURES) != written:
                yield Replacement(match.start("figures"), written.translate(_AS_FIGURES))
    for match in _UNIT.finditer(text):
        meant = "cm" if match["unit"].startswith("c") else "mm"
        yield Replacement(match.start("unit"), meant.ljust(len(match["unit"])))
    for match in _ROMAN_FRACTION.finditer(text):
        written = match["figures"]
        if not written.isdigit() and written.translate(_AS_ROMAN) != written:
            yield Replacement(match.start("figures"), written.translate(_AS_ROMAN))
    for match in _ROMAN.finditer(text):
        written = match["figures"]
        meant = written.translate(_AS_ROMAN)
        if meant != written and not written.isdigit():
            yield Replacement(match.start("figures"), meant)
