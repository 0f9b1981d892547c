"""Metastasis and lymph node findings: words of spread with their sites, and node counts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ...kb.model import Value
from ..text.dates.reader import is_scored
from ..text.frame import SPREAD, Frame, Recognizer, Span
from ..text.gates import Gated
from ..text.statements import statement
from ..text.word_classes import word_classes
from ..text.words import fold

_CLASSES: Final = word_classes("recognizers", "spread")

_SITE_OF_MET = _CLASSES.pattern(r"{site_of_met}")
_METASTASIS = _CLASSES.compile(
    r"""(?=[MmOoDdSsVvWwCcTtPp])(?<![^\W\d_])(?:
        (?i:{how_many}?-?{metastasis})
      | (?i:{size})?-?(?<![\d>]\s)(?<![\d>]){mets}(?!\s?[Ee][Xx]|\s{effort})
      | (?i:{far}\s{spread_noun})
      | (?i:{other_spread})
    )(?![^\W\d_])""",
    re.VERBOSE,
)
#: Disease that came back in, or went to, a place: spread where the place is a distant organ.
_RETURN = _CLASSES.compile(
    r"(?<![^\W\d_])(?<!{infection} )(?:(?:stage\s)?IV[A-C]?(?=\s\()|{came_back}|(?-i:PD))"
    r"(?:\s{came_back_behind})?(?=(?:\s(?:[A-Z][a-z]{2,8}\s)?\d{4}|\s(?:\d{1,2}/){1,2}\d{2,4})?"
    r"(?:\s{came_back_to}\s|:\s|\s\())",
    re.IGNORECASE,
)
#: Deposits are spread where a distant organ stands right before them.
_DEPOSITS = _CLASSES.compile(r"(?<=[A-Za-z][ \-]){deposits}(?![^\W\d_])", re.IGNORECASE)
_RETURNS = frozenset(
    fold(word)
    for word in """recurred recurs recurrence recurrent relapsed relapses relapse spread spreading progressed
    progression progressive progressing pd iv iva ivb ivc""".split()
)
#: A single "met" is a metastasis only behind a site or a word of number; elsewhere it is a verb, or a gene.
_SINGLE = re.compile(rf"(?<![^\W\d_])(?i:{_SITE_OF_MET})[ \-](?P<met>met)(?![A-Za-z\-])")

# Each pattern with the look of the word that it begins at (see :mod:`~cohortium.ingest.text.gates`).
_SPREADS = Gated(
    _METASTASIS,
    within=_CLASSES.pattern(r"(?i:(?<![a-z]){spread_begins})"),
)
_CAME_BACK = Gated(_RETURN, within=_CLASSES.pattern(r"(?i:(?<![a-z])(?:stage\Z|IV[A-C]?\Z|{came_back_begins}|PD\Z))"))
_LAID_DOWN = Gated(_DEPOSITS, _CLASSES.pattern(r"(?i:{deposit_begins})"))
#: No word for a site is longer.
_SINGLES = Gated(_SINGLE, r"met(?![A-Za-z])", before=16)

# --- node counts ------------------------------------------------------------------------------------------------------

_COUNT = _CLASSES.compile(
    r"(?=\d)(?<![\d./])(?P<positive>\d{1,2})\s?(?:/|of|out\sof)\s?(?P<examined>\d{1,3})(?![\d/%]|\.\d"
    r"|\s?{other_counted})"
    # Its result word belongs to the count: "3 positive" alone would be a stain.
    r"(?:\s{result}(?![\w%]))?",
)
_WORD_NUMBERS = {
    word: number
    for number, word in enumerate(
        """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
        seventeen         eighteen nineteen twenty""".split()
    )
}
_NUMBER = r"(?:\d{1,3}|" + "|".join(sorted(_WORD_NUMBERS, key=len, reverse=True)) + r")"
_FIGURE = r"(?:\s?\(\d{1,3}\))?"
_WORD_COUNT = _CLASSES.compile(
    rf"(?=[\dzotfsena])(?<![^\W_])(?P<positive>{_NUMBER}|{{none_or_all}}){_FIGURE}\s(?:out\s)?of\s"
    rf"(?:the\s)?(?P<examined>{_NUMBER})(?![A-Za-z\d./%]){_FIGURE}(?:\s?\(\d{{1,2}}/\d{{1,3}}\))?",
    re.IGNORECASE,
)
_NODES = _CLASSES.pattern(r"(?:lymph\s)?{node}")
_KIND_OF_NODE = _CLASSES.pattern(r"(?:{kind_of_node}\s){0,3}")
#: "all 12 lymph nodes negative", "8 nodes, all negative", "two sentinel nodes were negative".
_ALL_NEGATIVE = _CLASSES.compile(
    r"(?=[\dzotfsena])(?<![\w/.])(?<!of\s)(?<!of\sthe\s)(?:all\s)?"
    rf"(?P<examined>{_NUMBER}){_FIGURE}\s{_KIND_OF_NODE}{_NODES}[,:]?\s"
    r"(?:{between_nodes}[,:]?\s){0,4}{clear}",
    re.IGNORECASE,
)
_NODE_WORD = _CLASSES.compile(
    r"\b(?:{node_word}|(?:yp|p|c)?N[1-3][a-c]?)\b",
    re.IGNORECASE,
)
_LEAD = _CLASSES.pattern(r"{total_number}?")
_TO_VALUE = r"[\s:=.\-–|(]{0,60}"
_FOUND = _CLASSES.pattern(r"(?:{positive}|with\s{found_in_node}\w*(?:\s{found_behind})?|{macrometastasis})")
_EXAMINED_FIELD = _CLASSES.compile(
    rf"(?<![^\W\d_]){_LEAD}(?:(?:of\s)?(?:{{region}}\s)?{_NODES}\s)?{{examined}}{_TO_VALUE}"
    r"(?P<value>\d{1,3})(?![\d/%]|\.\d)",
    re.IGNORECASE,
)
_POSITIVE_FIELD = _CLASSES.compile(
    rf"(?<![^\W\d_]){_LEAD}(?:(?:of\s)?(?:positive\s)?(?:{{region}}\s)?{_NODES}\s?)?(?:{_FOUND}|"
    rf"{{behind_positive_nodes}}){_TO_VALUE}(?P<value>\d{{1,3}})(?![\d/%]|\.\d|\s?(?:mm|cm|of\b))",
    re.IGNORECASE,
)
#: Without one of these words a pattern cannot match, and is not tried.
_FIELD_WORDS = frozenset(fold(word) for word in "involved positive with macrometastasis macrometastases nodes".split())
_NEGATIVE_WORDS = frozenset(fold(word) for word in "negative benign clear uninvolved free without".split())
_COUNTS = Gated(_COUNT, within=r"(?<!\d)\d{1,2}(?!\d)")
_NUMBER_OPENS = _CLASSES.pattern(rf"(?i:(?:{_NUMBER}|{{none_or_all}})\Z)")
_WORD_COUNTS = Gated(_WORD_COUNT, _NUMBER_OPENS)
_NEGATIVES = Gated(_ALL_NEGATIVE, _NUMBER_OPENS)
_POSITIVES = Gated(
    _POSITIVE_FIELD,
    within=_CLASSES.pattern(r"(?i:(?<![a-z])(?:macromet|{field_begins}(?![a-z])))"),
)
_DEPOSIT_WORDS = frozenset(fold(word) for word in ("deposit", "implants"))
#: The source of a span that tells of disease that came back in a place.
RETURN = "pattern:return"
DEPOSIT = "pattern:deposit"
#: Two fields of one form stand no further apart than this.
_FIELD_GAP = 60
#: How the nodes of a count were got stands no further from it (characters).
_ROUND_COUNT = 90
#: So many nodes are counted where nodes were taken out.
_LEAST_TAKEN_OUT = 3


class MetastasisRecognizer(Recognizer):
    """Words of spread; the document model gives them their sites, or hands them on to the lymph nodes.

    Words of return (source ``RETURN``) tell of spread only where a distant organ stands behind them, deposits
    (``DEPOSIT``) only where one stands before them.
    """

    name = "metastasis"
    gates = (_SPREADS, _SINGLES, _CAME_BACK, _LAID_DOWN)
    layer = SPREAD

    def find(self, frame: Frame) -> Iterator[Span]:
        """Spans of kind ``metastasis`` without a concept yet."""
        text, places = frame.text, frame.places
        for match in _SPREADS.find(places, text):
            yield Span(match.start(), match.end(), "metastasis", "", "pattern:metastasis", priority=-1)
        if "met" in frame.vocabulary:
            for match in _SINGLES.find(places, text):
                yield Span(match.start("met"), match.end("met"), "metastasis", "", "pattern:metastasis", priority=-1)
        if not _RETURNS.isdisjoint(frame.vocabulary):
            for match in _CAME_BACK.find(places, text):
                yield Span(match.start(), match.end(), "metastasis", "", RETURN, priority=-1)
        if not _DEPOSIT_WORDS.isdisjoint(frame.vocabulary):
            for match in _LAID_DOWN.find(places, text):
                yield Span(match.start(), match.end(), "metastasis", "", DEPOSIT, priority=-1)


class NodeRecognizer(Recognizer):
    """Node counts (``2/14``, ``three of twelve nodes``, synoptic lines): attributes positive and examined."""

    name = "nodes"
    gates = (_COUNTS, _WORD_COUNTS, _NEGATIVES, _POSITIVES)
    triggers = frozenset(
        fold(word)
        for word in (
            *"node nodes nodal ln lns sln slns slnb alnd lymphadenectomy dissection sentinel sentinels".split(),
            *(f"{prefix}n{n}{letter}" for prefix in ("", "p", "c", "yp") for n in "123" for letter in ("", *"abc")),
        )
    )

    def find(self, frame: Frame) -> Iterator[Span]:
        """Spans of kind ``node``."""
        words = frame.vocabulary
        if not words.isdisjoint(_FIELD_WORDS):
            yield from self._fields(frame)
        dated = frozenset(date.start for date in frame.dates)
        for gated in (_COUNTS, _WORD_COUNTS):
            for match in gated.find(frame.places, frame.text):
                # Dates are read first and leave counts alone: what they took is a day.
                if match.start() in dated or is_scored(frame.text, match.start()):
                    continue
                positive, examined = self._number(match["positive"]), self._number(match["examined"])
                if match["positive"].casefold() == "all":
                    positive = examined
                low, high = frame.sentence_span(match.start())
                if positive > examined or not _NODE_WORD.search(
                    frame.text, max(low, match.start() - 60), min(high, match.end() + 40)
                ):
                    continue
                yield self._span(frame, match.start(), match.end(), "node-count", positive, examined)
        for match in () if words.isdisjoint(_NEGATIVE_WORDS) else _NEGATIVES.find(frame.places, frame.text):
            yield self._span(frame, match.start(), match.end(), "node-count", 0, self._number(match["examined"]))

    def _fields(self, frame: Frame) -> Iterator[Span]:
        """Fields of forms: a count of involved nodes, with the count of examined ones when it stands beside."""
        text = frame.text
        found = _POSITIVES.find(frame.places, text)
        examined = list(_EXAMINED_FIELD.finditer(text)) if found else []
        at = 0
        for match in found:
            if not _NODE_WORD.search(text, max(0, match.start() - _FIELD_GAP), match.end()):
                continue
            while at < len(examined) and examined[at].end() + _FIELD_GAP < match.start():
                at += 1
            beside = [
                other
                for other in examined[at : at + 2]
                if -_FIELD_GAP <= other.start() - match.end() <= _FIELD_GAP
                or 0 <= match.start() - other.end() <= _FIELD_GAP
            ]
            positive = int(match["value"])
            if beside and int(beside[0]["value"]) >= positive:
                start, end = min(match.start(), beside[0].start()), max(match.end(), beside[0].end())
                yield self._span(frame, start, end, "node-synoptic", positive, int(beside[0]["value"]))
            elif re.search(r"node|LN", match.group(), re.IGNORECASE):
                yield self._span(frame, match.start(), match.end(), "node-synoptic", positive, None)

    @staticmethod
    def _number(word: str) -> int:
        return int(word) if word.isdigit() else _WORD_NUMBERS.get(word.casefold(), 0)

    @staticmethod
    def _span(frame: Frame, start: int, end: int, source: str, positive: int, examined: int | None) -> Span:
        attributes: dict[str, Value] = {"positive": float(positive)}
        if examined is not None:
            attributes["examined"] = float(examined)
            if positive and _is_surgical(frame, start, end, examined):
                attributes["basis"] = "surgical"
        return Span(start, end, "node", "", f"pattern:{source}", attributes, priority=3)


def _is_surgical(frame: Frame, start: int, end: int, examined: int) -> bool:
    """Whether nodes were taken out: the words say so, or so many were counted, and no needle or picture is named."""
    low, high = frame.sentence_span(start)
    stretch = max(low, start - _ROUND_COUNT), min(max(high, end), end + _ROUND_COUNT)
    if statement("nodes_taken_out").search(frame.text, *stretch):
        return True
    return examined >= _LEAST_TAKEN_OUT and not statement("nodes_not_taken_out").search(frame.text, *stretch)
