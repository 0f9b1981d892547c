"""Metastasis and lymph node findings: words of spread with their sites, and node counts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...kb.model import Value
from ..frame import Frame, Span

_METASTASIS = re.compile(
    r"(?<![A-Za-z])(?:metasta(?:s[ei]s|ses|tic|sized|sised|size)|mets?(?![A-Za-z]|\s?ex)|METS?(?=\s+(?:to|in|TO|IN)\b)|METASTA(?:S[EI]S|TIC)|Metasta(?:s[ei]s|tic)|"
    r"(?:distant|systemic|visceral)\s+(?:spread|disease|relapse|recurrence)|carcinomatosis|secondar(?:y|ies)\s+deposits?|(?:tumou?r\s+)?deposits?)(?![A-Za-z])",
)
_COUNT = re.compile(
    r"(?<![\d./])(?P<positive>\d{1,2})\s?(?:/|of|out\sof)\s?(?P<examined>\d{1,3})(?![\d/]|\s?(?:cores?|HPF|hpf|cycles|weeks|mg|fx|fractions|blocks|slides|pain|on\b))",
)
_WORD_NUMBERS = {w: n for n, w in enumerate("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty".split())}
_WORD_COUNT = re.compile(
    r"(?<![A-Za-z])(?P<positive>" + "|".join(_WORD_NUMBERS) + r"|no|none)\s+(?:out\s+)?of\s+(?:the\s+)?(?P<examined>\d{1,3}|" + "|".join(list(_WORD_NUMBERS)[1:]) + r")\b", re.IGNORECASE
)
_NODE_WORD = re.compile(r"\b(?:nod(?:e|es|al)|LNs?|SLNs?|SLNB|ALND|lymphadenectomy|dissection|sentinels?)\b", re.IGNORECASE)
_SYNOPTIC = re.compile(
    r"(?:nodes?|LNs?)\s*(?:examined|sampled|retrieved)\W{0,40}(?P<examined>\d{1,3})\b[^A-Za-z]{0,30}(?:number\s*|nodes?\s*)?(?:involved|positive|with\s+(?:metast|macromet|tumou?r)\w*|macrometasta\w*)\W{0,40}(?P<positive>\d{1,3})\b"
    r"|(?:number|nodes?)\s*(?:of\s+)?(?:lymph\s+)?(?:nodes?\s*)?(?:involved|positive|with\s+(?:metast|macromet|tumou?r)\w*)\W{0,40}(?P<positive2>\d{1,3})\b",
    re.IGNORECASE,
)


class MetastasisRecognizer:
    """Words of spread; the document model gives them their sites, or hands them on to the lymph nodes."""

    name = "metastasis"
    triggers: frozenset[str] = frozenset()

    def find(self, frame: Frame) -> Iterator[Span]:
        """Spans of kind ``metastasis`` without a concept yet."""
        for match in _METASTASIS.finditer(frame.text):
            yield Span(match.start(), match.end(), "metastasis", "", "pattern:metastasis", priority=-1)


class NodeRecognizer:
    """Node counts (``2/14``, ``three of twelve nodes``, synoptic lines): attributes positive and examined."""

    name = "nodes"
    triggers = frozenset({"node", "nodal", "ln", "lns", "sln", "slns", "slnb", "alnd", "lymphadenectomy", "dissection", "sentinel"})

    def find(self, frame: Frame) -> Iterator[Span]:
        """Spans of kind ``node``."""
        text = frame.text
        for match in _SYNOPTIC.finditer(text):
            attributes: dict[str, Value] = {"positive": float(match["positive"] or match["positive2"] or 0)}
            if match["examined"]:
                attributes["examined"] = float(match["examined"])
            yield Span(match.start(), match.end(), "node", "", "pattern:node-synoptic", attributes, priority=3)
        for match in _COUNT.finditer(text):
            positive, examined = int(match["positive"]), int(match["examined"])
            low, high = frame.sentence_span(match.start())
            if positive > examined or not _NODE_WORD.search(text, max(low, match.start() - 60), min(high, match.end() + 40)):
                continue
            if any(date.start <= match.start() < date.end and date.precision != "day" for date in frame.dates):
                continue
            yield Span(match.start(), match.end(), "node", "", "pattern:node-count", {"positive": float(positive), "examined": float(examined)}, priority=3)
        for match in _WORD_COUNT.finditer(text):
            low, high = frame.sentence_span(match.start())
            if not _NODE_WORD.search(text, max(low, match.start() - 60), min(high, match.end() + 60)):
                continue
            examined_word = match["examined"].lower()
            examined = int(examined_word) if examined_word.isdigit() else _WORD_NUMBERS[examined_word]
            positive = _WORD_NUMBERS.get(match["positive"].lower(), 0)
            if positive <= examined:
                yield Span(match.start(), match.end(), "node", "", "pattern:node-count", {"positive": float(positive), "examined": float(examined)}, priority=3)
