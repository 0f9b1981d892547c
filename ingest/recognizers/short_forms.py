"""Short forms: those that a note itself defines, and those that lost their capitals in a line without any.

Definitions (``large cell neuroendocrine carcinoma (LCNEC)``, ``SCC (squamous cell …)``) are found by the algorithm of
Schwartz and Hearst (A simple algorithm for identifying abbreviation definitions in biomedical text, Pacific Symposium
on Biocomputing 2003): from the right, each letter of the short form is looked for in the words before its bracket; the
first must begin a word. What it pairs counts here only where the ontology names the long form.

Where short forms get their capitals back, no character is added or taken away: every offset in the text with capitals
is the offset in the note.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from ...kb.model import Note
from ...kb.ontology.concepts import ConceptTable
from ...kb.ontology.variants import known_changes
from ..text.cue_files import cue_file
from ..text.frame import Frame, Recognizer, Span
from .lexicon import Lexicon

#: Before the names of the ontology, behind which the note's own word goes first (see :func:`resolve_overlaps`).
_PRIORITY = 2
#: Words before a bracket that may hold the long form, in characters.
_REACH = 160
_SHORT = r"[A-Za-z0-9][A-Za-z0-9\-]{1,9}"
# Both are sought from the bracket on, which is rare, and then before it.
#: A bracket directly behind a word, in which a short form stands alone or first.
_BRACKETED = re.compile(
    r"\((?:(?<=[^\W_][ \t\n]\()|(?<=[^\W_][ \t\n]{2}\())" rf"\s?[\"'“‘]?(?P<short>{_SHORT})[\"'”’]?\s?(?=[),;])"
)
#: A bracket that may hold a long form, and a short form directly before it.
_HOLDS_LONG = re.compile(r"\((?<=[ ]\()(?P<long>(?=\w)[^()\n;,]{4,100})[),;]")
_SHORT_BEFORE = re.compile(rf"(?<![\w\-/])(?P<short>{_SHORT})[ ]$")
_LONGEST_SHORT = 10
#: The rule of the cue that names the long form.
_DEFINITION = "definition:"
#: What stands between the two forms of a definition: a blank, a bracket, a quotation mark.
_LONGEST_JOINT = 5
_CLAUSE_END = re.compile(r"[.;:!?|]\s|\n\s*\n|[()]")
_WORD = re.compile(r"\S+")
#: A word with all that a hyphen joins to it but words in small letters: ``PD`` is no part of ``PD-L1``.
_WHOLE = re.compile(r"(?<![^\W_])(?<![^\W_][\-‐])[A-Za-z0-9]+(?:[\-‐][A-Z0-9][A-Za-z0-9]*)*(?![^\W_])")
#: Kinds whose marks of proof a recogniser of results would take for a result.
_BOUND_TO_RESULTS = frozenset({"gene", "biomarker", "value"})


@dataclass(frozen=True, slots=True)
class Definition:
    """A short form and the long form that the text gives it; ``start`` and ``end`` are the span of the long form.

    ``short_start`` is where the short form stands in the definition.
    """

    short: str
    short_start: int
    start: int
    end: int


def definitions(text: str) -> Iterator[Definition]:
    """The definitions of a text, in text order but for those whose long form stands in the bracket, which come last.

    >>> text = "metastatic large cell neuroendocrine carcinoma (LCNEC)"
    >>> [(one.short, text[one.start : one.end]) for one in definitions(text)]
    [('LCNEC', 'large cell neuroendocrine carcinoma')]
    """
    if "(" not in text:
        return
    for match in _BRACKETED.finditer(text):
        short = match["short"]
        if _is_short_form(short):
            behind = match.start() - 1 - text[match.start() - 2].isspace()
            low = max(0, behind - _REACH)
            begin = max((stop.end() for stop in _CLAUSE_END.finditer(text, low, behind)), default=low)
            start = _long_form(short, text, begin, behind)
            if start is not None:
                yield Definition(short, match.start("short"), start, behind)
    for match in _HOLDS_LONG.finditer(text):
        before = _SHORT_BEFORE.search(text, max(0, match.start() - _LONGEST_SHORT - 1), match.start())
        if before is not None and _is_short_form(before["short"]):
            short, (begin, end) = before["short"], match.span("long")
            if _long_form(short, text, begin, end) == begin:
                yield Definition(short, before.start("short"), begin, begin + len(match["long"].rstrip()))


def _is_short_form(word: str) -> bool:
    """Whether at least half of its characters are capitals, and two of them letters."""
    return sum(map(str.isupper, word)) * 2 >= len(word) and sum(map(str.isalpha, word)) >= 2


def _long_form(short: str, text: str, begin: int, end: int) -> int | None:
    """Where the shortest long form of ``short`` begins that ends at ``end``; None if the letters do not fit."""
    letters = [letter.lower() for letter in short if letter.isalnum()]
    if letters[-1] == "s" and short[-1] == "s":
        letters.pop()  # "LNs" are lymph nodes, whatever ends the last word.
    at = end - 1
    for left in range(len(letters) - 1, -1, -1):
        while at >= begin and (
            text[at].lower() != letters[left] or (left == 0 and at > begin and text[at - 1].isalnum())
        ):
            at -= 1
        if at < begin:
            return None
        at -= 1
    at += 1
    while at > begin and not text[at - 1].isspace():
        at -= 1
    words = _WORD.findall(text, at, end)
    if len(words) > min(len(short) + 5, len(short) * 2) or end - at <= len(short):
        return None
    return None if any(word.strip(",").casefold() == short.casefold() for word in words) else at


class Abbreviations(Recognizer):
    """The recogniser of short forms behind their definition in the same note.

    Each is read as what the ontology names by its long form, in all places from the definition on, and before any
    meaning that the ontology gives the short form. A longer name around it (``ER+``) stays.
    """

    name = "abbreviations"

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon

    def find(self, frame: Frame) -> Iterator[Span]:
        """The places of the short forms; a later definition of the same short form goes before an earlier one."""
        known: dict[str, list[tuple[Definition, Span]]] = {}
        meanings: dict[str, Span | None] = {}
        for definition in sorted(definitions(frame.text), key=lambda one: one.short_start):
            long_form = frame.text[definition.start : definition.end]
            if long_form not in meanings:
                meanings[long_form] = self.meaning(long_form)
            if (meaning := meanings[long_form]) is not None:
                known.setdefault(_singular(definition.short), []).append((definition, meaning))
        markers: dict[tuple[int, str], bool] = {}
        for span in _places(frame.text, known) if known else ():
            if span.kind not in _BOUND_TO_RESULTS:
                start, end = frame.sentence_span(span.start)
                if (start, span.source) not in markers:
                    sentence = Frame(Note("", "", frame.text[start:end]))
                    # A marker is meant all the same: "ER negative, PR negative" behind "partial response (PR)".
                    markers[start, span.source] = self._lexicon.is_cued_marker(
                        sentence, span.start - start, span.end - start
                    )
                if markers[start, span.source]:
                    continue
            yield span

    def meaning(self, long_form: str) -> Span | None:
        """What the ontology names by the whole of ``long_form``; None if it knows no such name."""
        spans = self._lexicon.find(Frame(Note("", "", long_form)))
        return next((span for span in spans if span.start == 0 and span.end == len(long_form)), None)


def _singular(short: str) -> str:
    return short[:-1] if short[-1] == "s" else short


def _places(text: str, known: Mapping[str, Sequence[tuple[Definition, Span]]]) -> Iterator[Span]:
    """The places of the short forms of which ``known`` has the definitions in text order."""
    for match in _WHOLE.finditer(text, min(defined[0][0].short_start for defined in known.values())):
        defined = known.get(match.group()) or known.get(_singular(match.group()), ())
        behind = bisect.bisect_right(defined, match.start(), key=lambda one: one[0].short_start)
        if behind:
            definition, meaning = defined[behind - 1]
            proof = [(definition.start, definition.end, _DEFINITION + definition.short)]
            yield replace(
                meaning,
                start=match.start(),
                end=match.end(),
                source=f"abbreviation:{definition.short}",
                attributes=dict(meaning.attributes),
                priority=_PRIORITY,
                helpers=[] if meaning.kind in _BOUND_TO_RESULTS else proof,
            )


def share_places(diagnoses: Sequence[Span]) -> None:
    """The two forms of a definition are one tumor: what only one of them got of its place, the other has too.

    In "small cell carcinoma (SCC) of the lung" the lung stands beside the short form alone.
    """
    at = {(span.start, span.end): span for span in diagnoses}
    for short in diagnoses:
        for start, end, rule in short.helpers:
            long = at.get((start, end)) if rule.startswith(_DEFINITION) else None
            # Elsewhere in the note the short form has a place of its own.
            if long is not None and max(start, short.start) - min(end, short.end) <= _LONGEST_JOINT:
                placed, bare = (long, short) if "site" in long.attributes else (short, long)
                if "site" in placed.attributes and "site" not in bare.attributes:
                    bare.concept, bare.attributes = placed.concept, {**placed.attributes, **bare.attributes}
                elif placed.attributes.get("site") == bare.attributes.get("site") and "laterality" in short.attributes:
                    long.attributes.setdefault("laterality", short.attributes["laterality"])


#: Behind a break, a line without capitals; one may open it.
_SMALL_LINE = re.compile(r"\n[^\S\n]*[^\n][^A-Z\n]*(?=\n)")
_SMALL_WORD = re.compile(r"(?<![^\W_])[a-z][a-z0-9]{1,11}(?![^\W_])")
#: Fewer letters say nothing of how a line is written.
_FEWEST_LETTERS = 12
_LETTER = re.compile(r"[a-z]")
_RESULT_BEHIND = re.compile(r"\s?(?:[+\-/]|\(\s?[+\-]|pos|neg|\d{1,3}\s?%|:\s?(?:pos|neg|\d))")
_SHORTEST = 3


class CaseRestorer:
    """Gives short forms their capitals where a whole line has none; build once for an ontology."""

    def __init__(self, concepts: ConceptTable) -> None:
        table = _table()
        forms: dict[str, str] = {change.lower(): change for change in known_changes() if change.isalnum()}
        for row in concepts.rows():
            for abbreviation in row.abbreviations:
                text = abbreviation.text
                if len(text) >= _SHORTEST and text.isalnum() and not text.islower() and text.lower() not in table[0]:
                    forms.setdefault(text.lower(), text)
            if row.kind == "gene" and row.name.isalnum() and row.name.lower() not in table[0]:
                forms.setdefault(row.name.lower(), row.name)
        self._forms = forms
        self._receptors = table[1]
        self._known = frozenset(forms) | table[1]

    def restore(self, text: str) -> str:
        """``text``, of the same length, with the short forms of its small-letter lines in capitals."""
        parts: list[str] = []
        at = 0
        # Breaks at both ends: the pattern, which begins with one, is tried at the begins of lines alone.
        for match in _SMALL_LINE.finditer(f"\n{text}\n"):
            line = match.group()
            if not self._known.isdisjoint(_SMALL_WORD.findall(line)) and len(_LETTER.findall(line)) >= _FEWEST_LETTERS:
                parts += text[at : match.start()], _SMALL_WORD.sub(self._word, line[1:])
                at = match.end() - 1
        return "".join((*parts, text[at:])) if parts else text

    def _word(self, match: re.Match[str]) -> str:
        word = match.group()
        if word in self._receptors and _RESULT_BEHIND.match(match.string, match.end()):
            return word.upper()
        return self._forms.get(word, word)


@lru_cache(maxsize=1)
def _table() -> tuple[frozenset[str], frozenset[str]]:
    table = cue_file("lowercase")
    return frozenset(table["words"].split()), frozenset(table["receptors"])
