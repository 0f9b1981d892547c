"""Counts of lymph nodes: how many were examined, and how many of them hold tumor, in all the forms of reports.

``2/14``, ``(O/12)`` as scanners have it, ``none of twelve``, ``twenty-one benign nodes``, *metastatic carcinoma in two
nodes*, fields of forms. Each is the count of one station or of all; :mod:`~cohortium.ingest.journey.node_totals` adds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ...kb.derivation.stations import names_place, roman_number
from ...kb.model import Value
from ...kb.note_classes import PATHOLOGY, note_class
from ..text.cue_files import cue_file
from ..text.dates.reader import is_scored
from ..text.frame import Frame, Recognizer, Span
from ..text.gates import Gated
from ..text.statements import statement
from ..text.word_classes import word_classes
from ..text.words import fold
from .node_lists import MOST_NODES, listed_counts

_CLASSES: Final = word_classes("recognizers", "nodes")
_WORDS: Final = cue_file("words/recognizers")["nodes"]
_UNITS: Final = {word: number for number, word in enumerate(_WORDS["units"])}
_TENS: Final = {word: 10 * (number + 2) for number, word in enumerate(_WORDS["tens"])}

# --- numbers ----------------------------------------------------------------------------------------------------------

_IN_WORDS = r"(?:{tens}(?:[\s\-]{1,2}{units})?|{units}|{one})"
_NUMBER = _CLASSES.pattern(rf"(?:\d{{1,3}}|{_IN_WORDS})(?![A-Za-z\d])")
#: The figure that a number in words has behind it.
_FIGURE = r"(?:\s?\(\s?\d{1,3}\s?\))?"
_UNTOLD = _CLASSES.pattern(r"{untold}\.?\s\(\s?\d{1,3}\s?\)\.?")
_NUMBER_OPENS = _CLASSES.pattern(r"(?i:(?:\d{1,3}|{tens}|{units}|{one}|{untold}|{none_or_all}|{any_of})\Z)")
_FIGURE_IN = re.compile(r"\((\s?\d{1,3}\s?)\)")
_TEN_OF = _CLASSES.compile(r"(?P<ten>{tens})(?:[\s\-]{1,2}(?P<unit>{units}))?", re.IGNORECASE)

#: Scanned lines end in a full stop that is none.
_GAP = r"\.?\s{1,2}"

# --- counts -----------------------------------------------------------------------------------------------------------

# Scanners read a zero as O and a one as l.
_COUNT = _CLASSES.compile(
    r"(?=[\dOoIl])(?<![\w./])(?P<positive>\d{1,2}|[OoIl](?=\s?(?:/|of)))\s?(?:/|of|out\sof|{taken_from}(?=\s\d{1,2}(?:\s{containing}\s|[,.;])))"
    r"\s?(?P<examined>\d{1,3}|(?<=[0Oo]/)[Il](?!\w))"
    r"(?![\d/%]|\.\d|\s?{other_counted})"
    # Its result word belongs to the count: "3 positive" alone would be a stain.
    r"(?:\s{result}(?![\w%]))?",
)
#: A slash that was read as a one: (0122).
_WITHOUT_SLASH = re.compile(r"(?<=\()(?P<positive>0)[1lI](?P<examined>\d{1,2})(?=\))")
#: As some laboratories write it: (No IV/XIX).
_IN_ROMAN = re.compile(r"(?=[IVXL])(?<![\w./])(?P<positive>[IVXL]{1,6})\s?/\s?(?P<examined>[IVXL]{1,6})(?![\w/])")
_WORD_COUNT = _CLASSES.compile(
    rf"(?=[A-Za-z\d])(?<![^\W_])(?P<positive>{_NUMBER}|{{none_or_all}}|{{any_of}}){_FIGURE}{_GAP}(?:out\s)?of{_GAP}"
    rf"(?:the\s)?(?P<examined>{_NUMBER})(?![./%]\d){_FIGURE}(?:\s?\(\d{{1,2}}/\d{{1,3}}\))?",
    re.IGNORECASE,
)
_NODES = _CLASSES.pattern(r"(?:lymph\s{0,2})?{node}")
#: The words between a number and the nodes that it counts.
_KIND = _CLASSES.pattern(r"(?:(?!{no_kind_of_node}\b)[A-Za-z][A-Za-z\-/]{0,18}\.?\s{1,2}){0,6}?")
_COUNTED = _CLASSES.compile(
    rf"(?=[A-Za-z\d])(?<![\w/.\-])(?P<number>(?P<examined>{_NUMBER}){_FIGURE}|{_UNTOLD})(?P<stop>\.?)\s"
    rf"(?P<kind>{_KIND}){_NODES}(?![\w\-])",
    re.IGNORECASE,
)
#: "Two nodes of seven", "13 nodes among 18 retrieved", "one lymph node with carcinoma, out of four".
_NODES_OF = _CLASSES.compile(
    rf"(?=[A-Za-z\d])(?<![\w/.\-])(?P<positive>{_NUMBER})\s(?:{{kind_of_node}}\s){{0,4}}{_NODES}"
    rf"(?:\s{{containing}}\s[a-z ]{{1,40}})?,?{_GAP}{{out_of}}\s(?:{{of_all}}\s){{0,3}}(?P<examined>{_NUMBER})"
    r"(?![./%]\d|\s?[cm]m\b)",
    re.IGNORECASE,
)
#: "Lesser curvature - 16, with metastases in 5"; "total number 12. Number positive 1".
_OF_WHICH = _CLASSES.compile(
    rf"(?=[A-Za-z\d])(?<![\w/.\-])(?P<examined>{_NUMBER})"
    rf"(?:,\s{{containing}}\s{{metastasis}}\s{{leads_in}}|,\s{{positive}}:?|[.,;]?\s{{1,2}}{{number_word}}\s(?:{{positive}}|{{metastasis}}):?"
    rf"|(?:\s{{all_told}})\s{{containing}}|,\s{{of_them}}(?=\s{_NUMBER}\s{{holds_some}}\s[^.;:]{{0,30}}{{found_in_one}}))\s(?P<positive>{_NUMBER})(?![./%]\d|\s?[cm]m\b)",
    re.IGNORECASE,
)
#: "Right pelvic nodes: no metastasis in nine."
_NODES_NONE_IN = _CLASSES.compile(
    rf"{_NODES}\s?[:,\-–]\s{{none_in}}\s{{leads_in}}\s(?:{{none_or_all}}\s)?(?P<examined>{_NUMBER})"
    rf"(?=\s?(?:[.;,)]|$|{_NODES}))",
    re.IGNORECASE,
)
#: "Lymph nodes obturator right (7): one with a metastasis of 4 mm."
_NODES_IN_BRACKET = _CLASSES.compile(
    rf"{_NODES}(?:\s[a-z]{{3,12}}){{0,3}}\s\((?P<examined>{_NUMBER})\)\s?[:,]\s(?P<positive>{_NUMBER})\s{{holds_some}}\s"
    r"[^.;:,]{0,30}?\b{found_in_one}",
    re.IGNORECASE,
)
#: In a list of places: "right obturator: 9, no metastasis; right iliac: in 5 no metastases".
_SO_MANY_CLEAR = _CLASSES.compile(
    rf"(?<=[:,\-–]\s)(?:{{leads_in}}\s)?(?P<examined>{_NUMBER})(?:,?\s|\s?[\-–]\s?)(?:{{none_of_all}}|{{none_in}}|{{clear}}|{{clear_change}})",
    re.IGNORECASE,
)
#: "Lymph nodes x 19, none with tumor", "hilar nodes (5) neg.".
_NODES_SO_MANY = _CLASSES.compile(
    rf"{_NODES}(?:(?:\s[a-z]{{3,12}}){{0,3}}\s\(\s?|\s?x\s?|\s?\(\s?|\s?:\s?)(?P<examined>{_NUMBER})(?![./%\d]|\s?[cm]m\b)\s?\)?[\s,;:\-–]{{1,3}}"
    r"(?:(?:{between_nodes}|{examined}),?\s){0,2}(?:{none_of_all}|{clear})",
    re.IGNORECASE,
)
_BEHIND_HOLDING = _CLASSES.compile(
    r"(?:\s\(\d+/\d+\))?[,:;]?\s?[\-–]?\s?(?:{between_nodes}[,:.]?\s){0,3}(?:{degree}\s)?{holding}", re.IGNORECASE
)
_CLEAR_RIGHT_BEHIND = _CLASSES.compile(r"\b(?:{clear}|{none_of_all})", re.IGNORECASE)
_BEHIND_CLEAR = _CLASSES.compile(
    r"[,:;]?\s?[\-–]?\s?(?:{between_nodes}[,:.]?\s){0,4}{clear}(?!\s{no_nodes}\b)", re.IGNORECASE
)
_FREE_BEHIND = _CLASSES.compile(
    rf"(?:{_GAP}{_KIND}{_NODES})?(?:\s\(\d+/\d+\))?[:,]?\s(?:{{between_nodes}}\s){{0,3}}{{clear}}(?!\s(?:for\s)?{{no_nodes}})",
    re.IGNORECASE,
)
_NEGATIVE: Final = fold("negative")
#: "five nodes, two containing metastatic carcinoma"
_BEHIND_SOME = _CLASSES.compile(
    rf"[^.;:\d]{{0,40}}[,;:(]\s?(?:{{of_them}}\s)?(?P<positive>{_NUMBER}|{{none_or_all}}){_FIGURE}\s(?:{{of_them}}\s|{{between_nodes}}\s)"
    r"{0,2}{holding}",
    re.IGNORECASE,
)
#: "Of 24 lymph nodes along the curvatures 9 contain carcinoma."
_OF_BEFORE = _CLASSES.compile(r"(?:\A|[.;:,]\s){out_of}\s(?:the\s)?$", re.IGNORECASE)
_OF_THESE = _CLASSES.compile(
    rf"[^.;:\d]{{0,50}}?\s(?P<positive>{_NUMBER}|{{none_or_all}})\s(?:{{of_them}}\s|{{between_nodes}}\s){{0,2}}{{holding}}",
    re.IGNORECASE,
)
#: "22 nodes. A solitary metastasis"; "twelve nodes were dissected; a single one, near the tumor, harbors a deposit".
_BEHIND_ONE = _CLASSES.compile(
    rf"(?:[^.;:]|\.(?=\d)){{0,80}}[.,;:]\s{{1,2}}(?:{{of_them}}\s)?"
    rf"(?:(?P<positive>(?:an?\s)?{_NUMBER})(?:\s{{of_them}}|,)?(?:[^.;:\d]|\d{{1,2}}(?:\.\d{{1,2}})?\s?[cm]m\b){{0,60}}?"
    r"\b{holds_some}\s|(?P<single>(?:an?\s)?{one}\s(?={found_in_one})))(?!{none_or_all}\b)[^.;:,]{0,30}?\b{found_in_one}",
    re.IGNORECASE,
)
#: "PR positive (7/8)": a score of eight points.
_SCORED = _CLASSES.compile(r"(?<![A-Za-z]){scored_marker}(?![A-Za-z])[^.;,]*$", re.IGNORECASE)
_POINTS: Final = 8
#: "No. 8 lymph nodes", "level 2 nodes": a name and no number of them; "3 of 8 nodes": a count of its own.
_NO_NUMBER = _CLASSES.compile(
    rf"(?:{{numbered}}[\s#]{{0,2}}"
    rf"|(?:{_NUMBER}|\)|\b{{none_or_all}}|\b{{any_of}}|{{positive}})\s(?:out\s)?of\s(?:the\s)?)$",
    re.IGNORECASE,
)
_FREE = _CLASSES.compile(r"\b{free_before}\b", re.IGNORECASE)
#: Before a number: nothing was found in so many nodes.
_NONE_IN = _CLASSES.compile(
    r"\b{none_in}(?:[^.;:\d]|\.\s){0,60}?(?:\bin|,|\bof)\s(?:{any_of}\s(?:of\s)?|{none_or_all}\s)?(?:the\s)?$",
    re.IGNORECASE,
)
_NEGATIVE_BEFORE = _CLASSES.compile(r"\b{none_in}[^.;:]{0,70}$", re.IGNORECASE)
_METASTASIS_IN = _CLASSES.compile(
    r"\b(?P<metastasis>{metastasis})(?:[^.;:\d]|\.\s|\d{1,2}(?:[.,]\d{1,2})?\s?[cm]m){0,80}?"
    r"\b{leads_in}\.?\s(?:{of_all}\s)?$",
    re.IGNORECASE,
)
_NO_METASTASIS = _CLASSES.compile(r"\b{no_metastasis}\b[^.;:]{0,40}$", re.IGNORECASE)
_ISOLATED = _CLASSES.compile(
    rf"(?:\s(?:{{kind_of_node}}\s){{0,3}}{_NODES})?\s(?:{{holds}}\s)?(?:\w+\s)?{{isolated}}",
    re.IGNORECASE,
)

#: "Hilar lymph nodes, excision: negative for tumor": told to be free, and not how many they are.
_TOLD_FREE = _CLASSES.compile(
    rf"{_NODES}(?![\w\-])(?:(?!{{node_not_free}})(?:[^.;]|(?-i:\.\s{{0,2}}(?=[a-z\-])|\.\s(?={{free_begins}}))))"
    r"{0,90}?(?<![^\W_])(?P<free>{node_told_free})"
    rf"|{_NODES}\s{{metastasis}}\s?\??\s?:\s?(?P<denied>{{field_denies}})(?![A-Za-z])",
    re.IGNORECASE,
)
_FREE_NODES = _CLASSES.compile(
    rf"(?<![^\W_])(?P<free>{{free_adjective}})\s(?:[a-z\-]{{1,18}}\s){{0,3}}{_NODES}(?![\w\-])",
    re.IGNORECASE,
)
_NODES_BEGIN = r"(?i:lymph|nod)"
_NODES_TOLD_FREE = Gated(_TOLD_FREE, _NODES_BEGIN)
_NODES_FREE = Gated(_FREE_NODES, _CLASSES.pattern(r"(?i:{free_adjective})\Z"))

_NODE_WORD = _CLASSES.compile(r"\b(?:{node_word}|(?:yp|p|c)?N[1-3][a-c]?)\b", re.IGNORECASE)
#: Behind a category, or in brackets behind what the nodes were found to be, a count needs no node in its sentence.
_CATEGORY_BEFORE = _CLASSES.compile(r"\b{category}[\s(\[,:]{1,3}$")
_JUDGED_BEFORE = _CLASSES.compile(r"\b{judged}\b[^()]{0,60}\((?:no\.?\s)?$", re.IGNORECASE)
_BRACKET_BEFORE = re.compile(r"[(\[](?:No\.?\s)?$")
_LEVEL_BEFORE = _CLASSES.compile(
    r"(?:\b{level_word}\.?\s|(?<=[:;,.]\s)#\s?)[IVX\d]{1,4}[A-Da-dpsRL]{0,2}(?:\s\([\w ,]{1,30}\))?\s?[:(,]?\s?$",
    re.IGNORECASE,
)
#: Before a count the place of its nodes, and further before the heading of their list.
_PLACE_BEFORE = _CLASSES.compile(
    r"(?:\A|(?<=[.:;\n] )|(?<=[.;\n]))(?P<place>[A-Za-z\d][\w &/\-]{1,40}?(?:\s\([\w ]{1,20}\))?)\s?[:,\-]?\s"
    r"(?:{submitted}\s)?$"
)
_LABEL_BEFORE = re.compile(r"(?<=[.;:\n] )\(?(?:[A-Z]|\d{1,2})[.:)]\s$")
_HEADED_NODES = _CLASSES.compile(
    rf"(?:\A|[.;\n]\s{{1,3}})(?:{_NODES}|{{heads_nodes}})(?:\s{{node_status}})?(?:,\s[A-Z\d])?\s?[.:]{{1,2}}\s(?:[^.]|\.(?!\s{{1,3}}{{other_heading}}\b)){{0,400}}$",
    re.IGNORECASE,
)
_NODES_BEHIND = re.compile(rf"{_GAP}{_KIND}{_NODES}(?![\w\-])", re.IGNORECASE)
_STATION_BEFORE = _CLASSES.compile(r"\b(?:{node_word}|{station_word})\b", re.IGNORECASE)

# --- fields of forms --------------------------------------------------------------------------------------------------

_LEAD = _CLASSES.pattern(r"{total_number}?")
#: Behind the name of a field: a remark in brackets, a side, and what leads on to the value.
_TO_VALUE = _CLASSES.pattern(
    r"(?:\s?\((?!\d{1,3}\s?\))[^()]{1,40}\))?(?:,\s{side_or_letter}\b)?[\s:;=.\-–|(]{0,60}(?:{specify}[:\s]{1,3})?"
)
_VALUE = rf"(?P<value>{_NUMBER}|[Oo](?!\w))(?![\d/%]|\.\d|\s?(?:mm|cm|of\b))"
#: "14 examined, 3 positive"; "3 positive nodes out of 17".
_EXAMINED_AND = _CLASSES.compile(
    rf"(?=[A-Za-z\d])(?<![\w/.\-])(?P<examined>{_NUMBER})\s(?:(?:{_NODES}\s)?{{examined}}|{_NODES})[,;:]\s(?:{{between_nodes}}\s)?"
    rf"(?P<positive>{_NUMBER}|{{none_or_all}})\s(?:{{between_nodes}}\s)?{{positive}}(?![\w\-])",
    re.IGNORECASE,
)
_POSITIVE_OF = _CLASSES.compile(
    rf"(?=[A-Za-z\d])(?<![\w/.\-])(?P<positive>{_NUMBER}|{{none_or_all}})\s{{held}}\s(?:{_NODES}\s)?(?:/|{{out_of}}|{{leads_in}})\s"
    rf"(?:(?:the|a)\s)?(?:{{total}}\sof\s)?(?P<examined>{_NUMBER})(?![./%]\d)",
    re.IGNORECASE,
)
_FOUND = _CLASSES.pattern(
    r"(?:{positive}(?:\s{of_tumor})?|{containing}\s{found_in_node}\w*(?:\s{found_behind})?|{macrometastasis})"
)
_EXAMINED_FIELD = _CLASSES.compile(
    rf"(?<![^\W\d_]){_LEAD}(?:(?:of\s)?(?:{{region}}\s){{0,2}}{_NODES}\s)?{{examined}}{_TO_VALUE}{_VALUE}"
    rf"|(?<![^\W\d_]){{total}}\s(?:{{number_of}}\s)?(?:lymph\s)?{{node}}\s?[:=]?\s?(?P<all>\d{{1,3}})(?![\d/%]|\.\d)",
    re.IGNORECASE,
)
_POSITIVE_FIELD = _CLASSES.compile(
    rf"(?<![^\W\d_]){_LEAD}(?:(?:of\s)?(?:positive\s)?(?:{{region}}\s){{0,2}}{_NODES}\s?)?(?:{_FOUND}|"
    rf"{{behind_positive_nodes}}){_TO_VALUE}{_VALUE}",
    re.IGNORECASE,
)
#: Without one of these words a pattern cannot match, and is not tried.
_FIELD_WORDS = frozenset(fold(word) for word in "involved positive with macrometastasis macrometastases nodes".split())
_EXAMINED_WORDS = frozenset(fold(word) for word in (*_WORDS["examined"], *_WORDS["total"]))
_TOTAL = _CLASSES.compile(r"{total}\b", re.IGNORECASE)
_NOT_INVOLVED = _CLASSES.compile(r"\b{not_involved}\b", re.IGNORECASE)
_METASTASES = _CLASSES.compile(r"\b{metastasis}", re.IGNORECASE)
_NAMES_NODES = _CLASSES.compile(r"{node}", re.IGNORECASE)

_HEADS = Gated(re.compile(rf"(?<![^\W_]){_NODES}", re.IGNORECASE), _CLASSES.pattern(r"(?i:lymph|{node})"))
_SO_MANY_NODES = Gated(_NODES_SO_MANY, _NODES_BEGIN)
_IN_BRACKETS = Gated(_NODES_IN_BRACKET, _NODES_BEGIN)
_NONE_IN_NODES = Gated(_NODES_NONE_IN, _NODES_BEGIN)
_CLEAR_IN_LIST = Gated(_SO_MANY_CLEAR, _CLASSES.pattern(r"(?i:{leads_in}|\d{1,3}|{tens}|{units}|{one})\Z"))
_COUNTS = Gated(_COUNT, r"[OoIl]\Z", r"(?<!\d)\d{1,2}(?!\d)")
_WITHOUT_SLASHES = Gated(_WITHOUT_SLASH, r"0[1lI]\d{1,2}\Z")
_ROMAN_COUNTS = Gated(_IN_ROMAN, r"[IVXL]{1,6}\Z")
_WORD_COUNTS = Gated(_WORD_COUNT, _NUMBER_OPENS)
_PAIRS = tuple(Gated(pattern, _NUMBER_OPENS) for pattern in (_EXAMINED_AND, _POSITIVE_OF, _NODES_OF, _OF_WHICH))
_NUMBERS_OF_NODES = Gated(_COUNTED, _NUMBER_OPENS)
_POSITIVES = Gated(
    _POSITIVE_FIELD,
    within=_CLASSES.pattern(r"(?i:(?<![a-z])(?:macromet|{field_begins}(?![a-z])))"),
)
_EXAMINEDS = Gated(_EXAMINED_FIELD, within=_CLASSES.pattern(r"(?i:(?<![a-z])(?:{examined_begins})(?![a-z]))"))

#: Two fields of one form stand no further apart than this.
_FIELD_GAP = 120
#: So far before a lone field of examined nodes may it be said that they are free (characters).
_REACH_OF_RESULT = 60
#: How the nodes of a count were got stands no further from it (characters).
_ROUND_COUNT = 90
#: So many nodes are counted where nodes were taken out.
_LEAST_TAKEN_OUT = 3
#: The word for the nodes stands no further before a count, in its sentence, above it, and behind it (characters).
_BEFORE, _ABOVE, _BEHIND = 60, 160, 40
#: What was found stands so far before the number of nodes it was found in (characters).
_REACH_BEFORE = 110
#: Between two counts in brackets of one list: the place of the second.
_NEXT_IN_LIST = re.compile(r"\)?[,;]\s[A-Za-z][A-Za-z0-9 /&\-]{1,40}\s\(?")
_ENDS = re.compile(r"(?<!\bgr)\.\s|:\s|\n")
#: So far before a count stands the heading of its list (characters).
_LIST = 420


@dataclass(slots=True)
class _Field:
    """A field of a form with its number."""

    start: int
    end: int
    name: str
    value: int
    total: bool


#: A sample right before what looks like a count: it is a date.
_SAMPLED: Final = _CLASSES.compile(r"(?<![^\W_]){sampled}\s(?:{sampled_on}\s)?\Z", re.IGNORECASE)


def _is_day_of_sample(text: str, match: re.Match[str]) -> bool:
    """Whether it is the day, or the month and year, of a biopsy (``RP nodes bx 6/22``)."""
    if _NODES_BEHIND.match(text, match.end()) or not _SAMPLED.search(text, max(0, match.start() - 24), match.start()):
        return False
    return 1 <= (_number(match["positive"]) or 0) <= 12


class NodeRecognizer(Recognizer):
    """Node counts (``2/14``, ``three of twelve nodes``, synoptic lines): attributes positive and examined."""

    name = "nodes"
    gates = (
        _NODES_TOLD_FREE,
        _COUNTS,
        _WITHOUT_SLASHES,
        _ROMAN_COUNTS,
        _WORD_COUNTS,
        *_PAIRS,
        _NUMBERS_OF_NODES,
        _SO_MANY_NODES,
        _IN_BRACKETS,
        _NONE_IN_NODES,
        _CLEAR_IN_LIST,
        _POSITIVES,
        _EXAMINEDS,
    )
    triggers = frozenset(
        fold(word)
        for word in (
            *"node nodes nodal ln lns sln slns slnb alnd lymphadenectomy dissection sentinel sentinels".split(),
            *"lymphnode lymphnodes lymphonodo lymphonodis lymphonodus lymphonodi lymphonodorum".split(),
            *(f"{prefix}n{n}{letter}" for prefix in ("", "p", "c", "yp") for n in "123" for letter in ("", *"abc")),
            *(f"{prefix}pn{n}" for prefix in ("", "y") for n in "0o"),
        )
    )

    def find(self, frame: Frame) -> Iterator[Span]:
        """Spans of kind ``node``."""
        told = list(self._told(frame))
        yield from told
        if note_class(frame.note.type, frame.note.title) == PATHOLOGY:
            for one in listed_counts(frame.text, _HEADS.find(frame.places, frame.text), _number):
                if not any(span.start < one.end and one.start < span.end for span in told):
                    yield self._span(frame, one.start, one.end, "node-count", one.positive or 0, one.examined)

    def _told(self, frame: Frame) -> Iterator[Span]:
        """The counts that their own words tell to be of nodes."""
        if not frame.vocabulary.isdisjoint(_FIELD_WORDS):
            yield from self._fields(frame)
        yield from self._fractions(frame)
        for match in _WORD_COUNTS.find(frame.places, frame.text):
            positive, examined = _number(match["positive"]), _number(match["examined"])
            word = match["positive"].casefold()
            if word in _WORDS["any_of"]:
                if not _NEGATIVE_BEFORE.search(frame.text, max(0, match.start() - _REACH_BEFORE), match.start()):
                    continue
            elif word == "all":
                positive = examined
            if self._is_of_nodes(frame, match, positive, examined):
                yield self._count(frame, match, positive, examined)
        last = 0
        for gated in _PAIRS:
            for match in gated.find(frame.places, frame.text):
                positive, examined = _number(match["positive"]), _number(match["examined"])
                # One list: "lesser curvature - 16, with metastases in 5; greater curvature - 13, with metastases in 2".
                goes_on = match.re is _OF_WHICH and last and not _ENDS.search(frame.text, last, match.start())
                if positive <= examined and goes_on or self._is_of_nodes(frame, match, positive, examined):
                    last = match.end() if match.re is _OF_WHICH else 0
                    yield self._span(frame, match.start(), match.end(), "node-count", positive, examined)
        yield from self._counted(frame)
        for match in _IN_BRACKETS.find(frame.places, frame.text):
            told = _number(match["positive"]), _number(match["examined"])
            if told[0] <= told[1]:
                yield self._span(frame, *match.span("examined"), "node-count", *told)
        for gated in (_SO_MANY_NODES, _NONE_IN_NODES, _CLEAR_IN_LIST):
            for match in gated.find(frame.places, frame.text):
                examined = _number(match["examined"])
                if gated is not _CLEAR_IN_LIST or 0 < examined <= MOST_NODES and self._is_listed(frame.text, match):
                    yield self._span(frame, *match.span("examined"), "node-count", 0, examined)
        if note_class(frame.note.type, frame.note.title) == PATHOLOGY:
            for gated in (_NODES_TOLD_FREE, _NODES_FREE):
                for match in gated.find(frame.places, frame.text):
                    result: dict[str, Value] = {"result": "positive"}
                    start, end = match.span("denied" if match.re is _TOLD_FREE and match["denied"] else "free")
                    yield Span(start, end, "node", "", "pattern:node-free", result, priority=3, decided="absent")

    def _fractions(self, frame: Frame) -> Iterator[Span]:
        """``2/14`` with what scanners make of it."""
        text = frame.text
        dated = frozenset(date.start for date in frame.dates)
        last = 0
        for match in _COUNTS.find(frame.places, text):
            # Dates are read first and leave counts alone: what they took is a day.
            is_day = match.start() in dated and not self._is_surely_of_nodes(text, match)
            if is_day or is_scored(text, match.start()) or _is_day_of_sample(text, match):
                continue
            positive, examined = _number(match["positive"]), _number(match["examined"])
            # One list: "Level 5 (0/2), level 7 (0/4), lobar (0/7)".
            is_next = _NEXT_IN_LIST.fullmatch(text, last, match.start()) is not None
            if is_next and positive <= examined <= MOST_NODES or self._is_of_nodes(frame, match, positive, examined):
                last = match.end()
                yield self._count(frame, match, positive, examined)
        for match in _WITHOUT_SLASHES.find(frame.places, text):
            low = max(0, match.start() - _REACH_BEFORE)
            if _NODE_WORD.search(text, low, match.start()) and _BEHIND_CLEAR.search(text, low, match.start()):
                yield self._span(frame, match.start(), match.end(), "node-count", 0, int(match["examined"]))
        for match in _ROMAN_COUNTS.find(frame.places, text):
            positive, examined = roman_number(match["positive"]), roman_number(match["examined"])
            if self._is_of_nodes(frame, match, positive, examined):
                yield self._count(frame, match, positive, examined)

    @staticmethod
    def _is_of_nodes(frame: Frame, match: re.Match[str], positive: int, examined: int) -> bool:
        """Whether what is counted are nodes, and the count is one that can be."""
        text, start, end = frame.text, match.start(), match.end()
        if positive > examined or examined > MOST_NODES:
            return False
        if examined == _POINTS and _SCORED.search(text, max(0, start - _BEFORE), start):
            return False
        low, high = frame.sentence_span(start)
        if _NODE_WORD.search(text, max(low, start - _BEFORE), min(high, end + _BEHIND)):
            return True
        if _LEVEL_BEFORE.search(text, max(0, start - _BEFORE), start):
            return True
        if _NODES_BEHIND.match(text, end) or _CATEGORY_BEFORE.search(text, max(0, start - 24), start):
            return True
        return NodeRecognizer._is_judged(text, match) or NodeRecognizer._is_listed(text, match)

    @staticmethod
    def _is_surely_of_nodes(text: str, match: re.Match[str]) -> bool:
        """Whether it is a count where it might be a day: behind a category, a level, or in a list of nodes."""
        low, start = max(0, match.start() - _BEFORE), match.start()
        if _CATEGORY_BEFORE.search(text, low, start) or _LEVEL_BEFORE.search(text, low, start):
            return True
        return NodeRecognizer._is_judged(text, match) or NodeRecognizer._is_listed(text, match)

    @staticmethod
    def _is_listed(text: str, match: re.Match[str]) -> bool:
        """Whether it is behind the place of its nodes in a list below their heading, ``Nodes. Hilar (10L): 2/3``."""
        start = match.start()
        place = _PLACE_BEFORE.search(text, max(0, start - _BEFORE), start)
        if place is None or not names_place(place["place"]):
            # "Nodes. 2: three of six positive."
            place = _LABEL_BEFORE.search(text, max(0, start - 6), start)
            end = match.end()
            told = _BEHIND_HOLDING.match(text, end) or _CLEAR_RIGHT_BEHIND.search(text, start, end + 24)
            if place is None or not told:
                return False
        return _HEADED_NODES.search(text, max(0, start - _LIST), place.start()) is not None

    @staticmethod
    def _is_judged(text: str, match: re.Match[str]) -> bool:
        """Whether it stands in brackets of its own behind what was found in nodes (``metastatic carcinoma (3/23)``)."""
        start, end = match.span()
        if not _BRACKET_BEFORE.search(text, max(0, start - 5), start) or text[end : end + 1] not in (")", "]"):
            return False
        above = max(0, start - _ABOVE)
        return bool(_JUDGED_BEFORE.search(text, above, start) and _STATION_BEFORE.search(text, above, start))

    def _count(self, frame: Frame, match: re.Match[str], positive: int, examined: int) -> Span:
        if positive and self._is_of_free(frame.text, match, positive == examined):
            # "Eleven of twelve nodes are negative": those that are free are counted.
            positive = examined - positive
        elif _ISOLATED.match(frame.text, match.end()):
            positive = 0
        return self._span(frame, match.start(), match.end(), "node-count", positive, examined)

    @staticmethod
    def _is_of_free(text: str, match: re.Match[str], all_of_them: bool) -> bool:
        """Whether the first number of a count is that of nodes without tumor."""
        if _FREE_BEHIND.match(text, match.end()) or match.group().casefold().endswith(_NEGATIVE):
            return True
        low = max(0, match.start() - _REACH_BEFORE)
        return all_of_them and _NONE_IN.search(text, low, match.start()) is not None

    def _counted(self, frame: Frame) -> Iterator[Span]:
        """A number of nodes that are all free, or all involved, or of which some are."""
        text = frame.text
        for match in _NUMBERS_OF_NODES.find(frame.places, text):
            start, end = match.span("number")
            examined = _number(match["number"])
            if not 0 < examined <= MOST_NODES or _NO_NUMBER.search(text, max(0, start - 24), start):
                continue
            before = max(0, start - _REACH_BEFORE)
            if match["stop"] and match["number"].isdigit():
                # "8. Lymph nodes: negative" is the eighth item; "in 15. lymph nodes" is the end of a scanned line.
                if _NONE_IN.search(text, before, start):
                    yield self._span(frame, start, end, "node-count", 0, examined)
                continue
            some = _BEHIND_SOME.match(text, match.end())
            if some is None and _OF_BEFORE.search(text, max(0, start - 24), start):
                some = _OF_THESE.match(text, match.end())
            if some and _number(some["positive"]) <= examined:
                yield self._span(frame, start, end, "node-count", _number(some["positive"]), examined)
            elif (
                _BEHIND_CLEAR.match(text, match.end())
                or _FREE.search(match["kind"])
                or _NONE_IN.search(text, before, start)
            ):
                yield self._span(frame, start, end, "node-count", 0, examined)
            elif _BEHIND_HOLDING.match(text, match.end()):
                yield self._span(frame, start, end, "node-count", examined, examined)
            elif (one := _BEHIND_ONE.match(text, match.end())) and 0 < _positives_of(one) < examined:
                yield self._span(frame, start, end, "node-count", _positives_of(one), examined)
            elif (found := _METASTASIS_IN.search(text, before, start)) and not _NO_METASTASIS.search(
                text, max(0, found.start() - _BEFORE), found.start()
            ):
                yield self._span(frame, start, end, "node-count", examined, None)

    def _fields(self, frame: Frame) -> Iterator[Span]:
        """Fields of forms: a count of involved nodes, with the count of examined ones when it stands beside."""
        fields = sorted(self._read_fields(frame), key=lambda one: one.start)
        form: list[_Field] = []
        for one in fields:
            if form and not self._goes_on(form, one):
                yield from self._form(frame, form)
                form = []
            if form and form[-1].name == one.name:
                form[-1] = one
            else:
                form.append(one)
        if form:
            yield from self._form(frame, form)

    @staticmethod
    def _goes_on(form: list[_Field], one: _Field) -> bool:
        """Whether a field is one more of a form: near, and of another name or a total in place of a part."""
        if one.start - form[-1].end > _FIELD_GAP:
            return False
        names = [field.name for field in form]
        return one.name not in names or names == [one.name] and one.total and not form[0].total

    @staticmethod
    def _read_fields(frame: Frame) -> Iterator[_Field]:
        text, places = frame.text, frame.places
        for match in _POSITIVES.find(places, text):
            if _NODE_WORD.search(text, max(0, match.start() - _BEFORE), match.end()):
                total = _TOTAL.match(text, match.start()) is not None
                yield _Field(*match.span(), "positive", _number(match["value"]), total)
        if frame.vocabulary.isdisjoint(_EXAMINED_WORDS):
            return
        for match in _EXAMINEDS.find(places, text):
            if _NODE_WORD.search(text, max(0, match.start() - _BEFORE), match.end()):
                total = _TOTAL.match(text, match.start()) is not None
                yield _Field(*match.span(), "examined", _number(match["value"] or match["all"]), total)

    def _form(self, frame: Frame, form: list[_Field]) -> Iterator[Span]:
        text = frame.text
        start, end = form[0].start, form[-1].end
        told = {field.name: field.value for field in form}
        if len(told) == 2:
            # More involved than examined: the two were mixed up, and neither is known.
            if told["positive"] <= told["examined"]:
                yield self._span(frame, start, end, "node-synoptic", told["positive"], told["examined"])
        elif not _NAMES_NODES.search(text, start, end):
            return
        elif "positive" in told:
            yield self._span(frame, start, end, "node-synoptic", told["positive"], None)
        else:
            low = max(0, start - _REACH_OF_RESULT)
            free = [one.end() for one in _NOT_INVOLVED.finditer(text, low, start)]
            if free and not _METASTASES.search(text, free[-1], start):
                yield self._span(frame, start, end, "node-synoptic", 0, told["examined"])

    @staticmethod
    def _span(frame: Frame, start: int, end: int, source: str, positive: int, examined: int | None) -> Span:
        attributes: dict[str, Value] = {"positive": float(positive)}
        if examined is not None:
            attributes["examined"] = float(examined)
            if positive and _is_surgical(frame, start, end, examined):
                attributes["basis"] = "surgical"
        # Before a score of eight points (0/8), which names its marker.
        return Span(start, end, "node", "", f"pattern:{source}", attributes, priority=4)


def _positives_of(match: re.Match[str]) -> int:
    """How many of the nodes counted before hold what a match of ``_BEHIND_ONE`` tells."""
    return 1 if match["single"] else _number(match["positive"].removeprefix("a "))


def _number(words: str) -> int:
    """A number in figures or words; where both are told, that in words, which scanners leave whole.

    >>> _number("twenty-one"), _number("Multiple (16)"), _number("TWO (2)"), _number("O")
    (21, 16, 2, 0)
    """
    plain = words.strip().casefold()
    if plain[:1].isdigit():
        return int(re.match(r"\d+", plain).group())  # type: ignore[union-attr]
    ten = _TEN_OF.match(plain)
    if ten:
        return _TENS[ten["ten"].casefold()] + (_UNITS[ten["unit"].casefold()] if ten["unit"] else 0)
    first = re.match(r"[a-z]*", plain).group()  # type: ignore[union-attr]
    if first in _UNITS:
        return _UNITS[first]
    if figure := _FIGURE_IN.search(plain):
        return int(figure[1])
    return 1 if first in _WORDS["one"] or first in ("l", "i") else 0


def _is_surgical(frame: Frame, start: int, end: int, examined: int) -> bool:
    """Whether nodes were taken out: the words say so, or so many were counted, and no needle or picture is named."""
    low, high = frame.sentence_span(start)
    stretch = max(low, start - _ROUND_COUNT), min(max(high, end), end + _ROUND_COUNT)
    if statement("nodes_taken_out").search(frame.text, *stretch):
        return True
    return examined >= _LEAST_TAKEN_OUT and not statement("nodes_not_taken_out").search(frame.text, *stretch)
