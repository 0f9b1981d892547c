"""The specimens of a pathology report: which stretch of its text belongs to which, with the words that head it.

A heading is a short statement that names what was done to take the specimen (``Kidney, left, radical nephrectomy:``),
or that stands behind a label (``(B) RIGHT ADRENAL GLAND:``). Reports that lost their line breaks have them amid a line.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from .cue_files import any_of, cue_file

_CUES: Final = cue_file("specimens")
#: The organ that an operation is on, by the end of its name.
_ORGAN_OF: Final[dict[str, str]] = _CUES["organ_of"]
_NOT_LUNG: Final = re.compile(any_of(_CUES["not_lung"]["words"]), re.IGNORECASE)
_OPERATION: Final = re.compile(
    rf"(?<![a-z])(?P<operation>[a-z\-]*{any_of(_ORGAN_OF)})(?![a-z])|(?<![a-z]){any_of(_CUES['words']['taken'])}(?![a-z])",
    re.IGNORECASE,
)
#: How words end that may be of one: whatever else stands there, the pattern need not be tried on.
_ENDS_OF_OPERATIONS: Final = (*_ORGAN_OF, *_CUES["words"]["taken"])
_LETTERS: Final = re.compile(r"[A-Za-z]{5,}")
_JOINED_BEFORE: Final = re.compile(r"[A-Za-z\-]*\Z")
#: No word is longer (characters).
_LONGEST_WORD: Final = 60
_EXCISED: Final = re.compile(rf"{any_of(_CUES['words']['excised'])}(?![a-z])", re.IGNORECASE)
_CUT_OUT: Final = re.compile(rf"(?<![a-z])(?:{'|'.join(_CUES['words']['cut_out'])})(?![a-z])", re.IGNORECASE)
_NOT_HERE: Final = re.compile(any_of(_CUES["words"]["not_here"]), re.IGNORECASE)
_ENDS: Final = tuple(_CUES["words"]["ends"])
#: Where a statement begins: behind a full stop or colon, or the label of a specimen.
_BEGINS: Final = re.compile(r"[.:\n]\s|\(?[A-Z1-9]{1,2}[).]\s")
#: A label, and the words up to a colon.
_LABELLED: Final = re.compile(
    r"(?<!\w)(?:\(?[A-Z]\)|\(?[A-Z]{1,2}[.:]|\(?\d{1,2}[).:]{1,2})\s{1,3}(?P<head>[^:.\n]{3,90}):"
)
#: Behind a word for an operation, the organ that it is on (*resectate of the colon*, *resected rectum*).
_LEADS: Final = re.compile(rf"(?:{'|'.join(_CUES['words']['leading'])})\Z", re.IGNORECASE)
_LED: Final = re.compile(
    rf"(?:\s(?:{'|'.join(_CUES['words']['as_taken'])}))?\s(?:of\s)?(?:the\s)?(?P<organ>(?:(?!(?:{'|'.join(_CUES['words']['up_to'])})\b)"
    r"[A-Za-z\-]+\s?){1,6})",
    re.IGNORECASE,
)
#: Of a statement before that only names the organ, at most so many words.
_MOST_OF_ORGAN: Final = 5
#: And beside the operation stand no more in its own.
_MOST_OF_OPERATION: Final = 2
_FIELD: Final = re.compile(
    rf"(?<![a-z]){any_of(_CUES['words']['site'])}\)?\s?[:.]\s{{0,3}}(?P<value>[^.:;\n]{{3,60}})", re.IGNORECASE
)
#: The title of a form for one organ.
_FORM: Final = re.compile(rf"(?<![a-z])[a-z]{{4,20}}\s{any_of(_CUES['words']['forms'])}(?![a-z])", re.IGNORECASE)
_SIDE_FIELD: Final = re.compile(
    rf"(?<![a-z]){any_of(_CUES['words']['side'])}\s?[:.]\s{{0,3}}(?P<value>{any_of(_CUES['words']['sides'])})\b",
    re.IGNORECASE,
)
_SIDE: Final = re.compile(r"(?<![a-z])(?:(?P<left>left|lt)|(?P<right>right|rt))(?![a-z])", re.IGNORECASE)
_BEFORE_OPERATION: Final = re.compile(
    rf"(?<![a-z])(?:{'|'.join(_CUES['words']['before'])})(?:\s?[&/,])?(?:\s[a-z/]{{1,16}}){{0,3}}\s?[:.]\s",
    re.IGNORECASE,
)
_BY_OPERATION: Final = re.compile(
    rf"[.:;\n)]\s{{1,3}}(?:[A-Z1-9][.:)]\s)?(?:{'|'.join(_CUES['words']['behind'])})", re.IGNORECASE
)
#: What was known before is told in no more (characters).
_REACH_OF_HISTORY: Final = 600
_BESIDE: Final = {
    organ: re.compile(rf"\b{any_of(words)}\s{any_of(_CUES['beside_words']['tissue'])}", re.IGNORECASE)
    for organ, words in _CUES["beside"].items()
}
_PERMANENT: Final = re.compile("|".join(_CUES["words"]["permanent"]), re.IGNORECASE)
_FROZEN: Final = re.compile(rf"(?<![a-z])(?:{'|'.join(_CUES['words']['frozen'])})", re.IGNORECASE)
#: So far reaches what was said during the operation (characters).
_REACH_OF_FROZEN: Final = 120
#: So far before a lobectomy may the organ stand that the lobe is of (characters).
_REACH_OF_PART: Final = 40
#: No heading of a specimen is longer (characters).
_LONGEST: Final = 140
#: A list of all specimens, and an entry of it.
_LIST: Final = re.compile(
    rf"(?<![A-Za-z]){any_of(_CUES['words']['list'])}(?:\(s\))?(?:\s{any_of(_CUES['words']['list_behind'])})?\s?[:.]{{1,2}}\s{{1,3}}"
    r"(?=[(\[]?(?:A|I|1)[)\].:\-])",
    re.IGNORECASE,
)
_ENTRY: Final = re.compile(
    r"[(\[]?(?P<label>[A-Z]|[IVX]{1,4}|\d{1,2})[)\].:\-]{1,2}\s{1,2}(?P<name>[A-Za-z][^.;:\n]{2,90})[.;:\n]{0,2}\s{0,3}"
)
#: So near behind a label a heading of its own begins (characters).
_NEXT: Final = 4


@dataclass(frozen=True, slots=True)
class Heading:
    """The words that head a specimen: their place, the organ that the operation is on, and the side, if they tell."""

    start: int
    end: int
    organ: str
    side: str
    #: Whether it is the value of a field of a synopsis.
    field: bool = False
    #: Where the words stand that name the specimen, if that is in a list of all of them: here is only its label.
    named_at: tuple[int, int] | None = None

    @property
    def names(self) -> tuple[int, int]:
        """Where the words stand that name the specimen."""
        return self.named_at or (self.start, self.end)


@lru_cache(maxsize=64)
def tells_of_excision(text: str) -> bool:
    """Whether a specimen of a report is headed by an operation that cuts out, and not by a biopsy alone; or the report
    speaks of what was cut out."""
    return _CUT_OUT.search(text) is not None or any(
        _EXCISED.search(text, heading.start, heading.end) and not _NOT_HERE.search(text, heading.start, heading.end)
        for heading in specimens_in(text)
    )


@lru_cache(maxsize=64)
def specimens_in(text: str) -> tuple[Heading, ...]:
    """The headings of specimens, in text order; the texts of one patient are asked for more than once.

    >>> [(one.organ, one.side) for one in specimens_in("DIAGNOSIS: Kidney, left, radical nephrectomy: carcinoma.")]
    [('kidney', 'left')]
    """
    found: dict[int, Heading] = {}
    for match in _operations(text):
        low = max(0, match.start() - _LONGEST)
        starts = [one.end() for one in _BEGINS.finditer(text, low, match.start())]
        if low == 0 or not starts:
            starts.insert(0, low)
        start = starts[-1]
        before_it = starts[-2] if len(starts) > 1 and match.group().lower().endswith(_ENDS) else start
        if before_it < start and _only_names_the_organ(text, before_it, start, match.start()):
            # "UTERUS, CERVIX. RADICAL HYSTERECTOMY": a line ended amid the heading.
            start = before_it
        organ = _organ(text, start, match)
        before = found.get(start)
        end = match.end()
        if _LEADS.search(text, start, end) and (led := _LED.match(text, end)):
            end = led.end()
        found[start] = Heading(start, end, before.organ if before and before.organ else organ, side_in(text[start:end]))
    for match in _LABELLED.finditer(text):
        found.setdefault(match.start("head"), Heading(*match.span("head"), "", side_in(match["head"])))
    for match in _FORM.finditer(text):
        found.setdefault(match.start(), Heading(*match.span(), "", ""))
    for match in _FIELD.finditer(text):
        found.setdefault(match.start(), Heading(*match.span(), "", side_in(match["value"]), field=True))
    headed = sorted(found)
    for label, low, high in _listed(text):
        for match in _label_again(label).finditer(text, high):
            start = match.start("label")
            at = bisect_left(headed, start)
            # What has words of its own behind its label needs none of the list.
            if not (at < len(headed) and headed[at] - match.end() <= _NEXT):
                found[start] = Heading(start, match.end(), "", side_in(text[low:high]), named_at=(low, high))
    return tuple(sorted(found.values(), key=lambda one: one.start))


def _listed(text: str) -> list[tuple[str, int, int]]:
    """The specimens that a list names in the first place, each with its label and where its name stands: *Specimens:
    A. Thyroid, total. B. Left neck nodes*."""
    head = _LIST.search(text)
    if head is None:
        return []
    entries: list[tuple[str, int, int]] = []
    match = _ENTRY.match(text, head.end())
    while match is not None:
        entries.append((match["label"], *match.span("name")))
        match = _ENTRY.match(text, match.end())
    labels = [label for label, _, _ in entries]
    return entries if len(entries) > 1 and len(set(labels)) == len(labels) else []


@lru_cache(maxsize=64)
def _label_again(label: str) -> re.Pattern[str]:
    begins = r"(?:\A|(?<=[.:;)\n\-] )|(?<=\n)|(?<=[.:;)\-]  ))"
    return re.compile(rf"{begins}[(\[]?(?P<label>{label})[)\].:]{{1,2}}\s(?=[A-Z])")


def _operations(text: str) -> Iterator[re.Match[str]]:
    """The words for what takes a specimen."""
    behind = 0
    for word in _LETTERS.finditer(text):
        if not word.group().lower().endswith(_ENDS_OF_OPERATIONS):
            continue
        joined = _JOINED_BEFORE.search(text, max(behind, word.start() - _LONGEST_WORD), word.start())
        low = joined.start() if joined else word.start()
        match = _OPERATION.search(text, low, word.end() + 1)
        if match is not None:
            behind = match.end()
            yield match


def _only_names_the_organ(text: str, before: int, start: int, operation: int) -> bool:
    """Whether the statement before an operation is a few words with a capital, and its own has hardly another word."""
    words = text[before:start].split()
    return (
        0 < len(words) <= _MOST_OF_ORGAN
        and words[0][:1].isupper()
        and text[start - 2] == "."
        and len(text[start:operation].split()) <= _MOST_OF_OPERATION
    )


def _organ(text: str, start: int, match: re.Match[str]) -> str:
    word = (match["operation"] or "").lower()
    organ = _ORGAN_OF[max((end for end in _ORGAN_OF if word.endswith(end)), key=len)] if word else ""
    return (
        "" if organ == "lung" and _NOT_LUNG.search(text, max(0, match.start() - _REACH_OF_PART), match.end()) else organ
    )


def side_in(words: str) -> str:
    """The one side that the words name; empty if they name none or both."""
    sides = {"left" if match["left"] else "right" for match in _SIDE.finditer(words)}
    return sides.pop() if len(sides) == 1 else ""


def beside_organ(text: str) -> str:
    """The organ into whose fat or surroundings the text lets a tumor of the bowel grow: rectum before colon; else
    empty."""
    return next((organ for organ, pattern in _BESIDE.items() if pattern.search(text)), "")


def told_side(text: str) -> str:
    """The one side that the fields for it in a synopsis name."""
    sides = {match["value"].lower() for match in _SIDE_FIELD.finditer(text)}
    return sides.pop() if len(sides) == 1 else ""


def one_side(text: str) -> str:
    """The one side that a whole report names, whatever of; empty if it names none or both."""
    return side_in(text)


def is_of_frozen_section(text: str, start: int) -> bool:
    """Whether what begins at ``start`` was said of a frozen section, before the final diagnosis."""
    ends = [found.end() for found in _FROZEN.finditer(text, max(0, start - _REACH_OF_FROZEN), start)]
    return bool(ends) and not _PERMANENT.search(text, ends[-1], start)


def is_told_before_operation(text: str, start: int) -> bool:
    """Whether what begins at ``start`` was known before: told as clinical history, the diagnosis of a biopsy."""
    return any(low <= start < high for low, high in _before_operation(text))


@lru_cache(maxsize=64)
def _before_operation(text: str) -> tuple[tuple[int, int], ...]:
    """The stretches that tell what was known before; they are asked for by each grade, tumor and category."""
    found = []
    for match in _BEFORE_OPERATION.finditer(text):
        limit = min(len(text), match.end() + _REACH_OF_HISTORY)
        # The heading's own stop may be the one before the next.
        behind = _BY_OPERATION.search(text, match.end() - 1, limit)
        found.append((match.start(), behind.start() if behind else limit))
    return tuple(found)
