"""Performance status: ECOG, WHO and Zubrod scores 0 to 5, and Karnofsky percentages."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..text.frame import Frame, Recognizer, Span
from ..text.gates import Gated
from ..text.words import fold

_STATUS = r"(?:(?:PS|P\.S\.|[Pp]erf(?:ormance)?\.?[ ]{0,3}[Ss]tatus|PERFORMANCE[ ]{1,3}STATUS)(?![^\W_]))"
_DAY = r"(?:\d{4}-\d\d?-\d\d?|\d{1,2}/\d{1,2}/\d{2,4})"
#: What may stand between the scale and its value. Bounded, and no two ways to read one stretch but for single signs.
_FILLER = rf"""(?:[\s:=~\-–,()*\u2026]|\.{{2,60}}|(?:performance|Performance|PERFORMANCE|[Ss]tatus|STATUS
        |[Ss]core|SCORE|[Ss]cale|PS|P\.S\.|of|is|was|now|today|discharge|admission|presentation|diagnosis|this|visit|time
    |currently|remains|remained|has|had|at|an?|the|ECOG|WHO|Zubrod|KPS|stable|still|current|estimated
            |approximately|approx\.?|about|grade|Grade|functional|again|level|rating
    |baseline|pt|patient|her|his|assessed|as|improved|declined|worsened|dropped|went|to|on
        |from[ ][0-5]|zero[ ]to|{_DAY})(?![^\W\d_])){{0,18}}?"""
_ECOG = re.compile(
    rf"""(?=[EeZWPp])(?<![^\W_])(?P<scale>(?:ECOG|E\.C\.O\.G\.?|ecog|Ecog|EGOG|[Zz]ubrod|ZUBROD)(?![^\W_])
        |(?:WHO[ ]?[/(]?[ ]?)?{_STATUS}|WHO(?=[ ]?[:=]?[ ]?[0-4](?![\w./])))
        {_FILLER}(?<![\d.])(?P<value>[0-5]|zero|one|two|three|four)(?![\d%A-Za-z]|\.\d|\s?/\s?\d\d
            |\s?[/:]\s?\d{{1,2}}\s?[/:]|\s?[\])])
        (?:\s?(?:-|–|\bto\b|\bor\b|/)\s?(?P<upper>[0-5])(?![\d%/]|\.\d))?""",
    re.VERBOSE,
)
#: A form: every value stands beside its box, and the ticked one counts.
_BOXES = re.compile(
    rf"(?=[EPZ])(?<![^\W_])(?:ECOG|Zubrod|{_STATUS})(?:[\s:(),\-]|ECOG|PS|[Pp]erformance|[Ss]tatus"
    rf"|[Ss]core){{0,12}}"
    r"(?P<boxes>(?:[\s,;]{0,4}(?:(?:\[[ xX]?\]|\([ xX]?\)|[☐☑☒])\s?[0-4]|[0-4]\s?(?:\[[ xX]?\]|\([ xX]?\)"
    r"|[☐☑☒]))(?![\w/]|\.\d)){2,5})",
)
_TICKED_BEFORE = re.compile(r"(?:[\[(][xX][\])]|[☑☒])\s?([0-4])")
_TICKED_BEHIND = re.compile(r"([0-4])\s?(?:[\[(][xX][\])]|[☑☒])")
_KPS = re.compile(
    rf"""(?=[Kk])(?<![^\W_])(?:KPS|kps|[Kk]arnofsk[yi]|KARNOFSK[YI])(?![^\W_])
        (?:[ ](?:[Pp]erformance|[Ii]ndex|PERFORMANCE))?
        {_FILLER}(?P<value>100|[1-9]0)(?!\d|\.\d)(?:\s?%?\s?(?:-|–|\bto\b|\bor\b)\s?(?P<upper>100|[1-9]0)(?!\d))?""",
    re.VERBOSE,
)
# Each pattern with the look of the word that it begins at (see :mod:`~cohortium.ingest.text.gates`).
_FORMS = Gated(_BOXES, r"(?:ECOG|Zubrod|PS|P\Z|[Pp]erf|PERFORMANCE)")
_SCORES = Gated(_ECOG, r"(?:ECOG|E\Z|ecog|Ecog|EGOG|[Zz]ubrod|ZUBROD|WHO|PS|P\Z|[Pp]erf|PERFORMANCE)")
_KARNOFSKY = Gated(_KPS, r"(?:KPS|kps|[Kk]arnofsk|KARNOFSK)")
_WORDS = {"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4}
#: "WHO 4" of a brain tumor is a grade.
_GRADED_TUMOR = re.compile(r"(?:oma|omas|tumou?r|IDH\S{0,12})[\s,(\-]{1,3}(?:CNS\s)?$", re.IGNORECASE)


class PerformanceRecognizer(Recognizer):
    """Scores with their scale; of a range the worse end (the higher ECOG, the lower Karnofsky)."""

    name = "performance"
    gates = (_FORMS, _SCORES, _KARNOFSKY)
    triggers = frozenset(
        fold(word)
        for word in (
            "ecog",
            "e",
            "zubrod",
            "ps",
            "kps",
            "karnofsky",
            "karnofski",
            "performance",
            "perf",
            "who",
            "egog",
            "p",
        )
    )

    def find(self, frame: Frame) -> Iterator[Span]:
        """Spans of kind ``performance``; concept ``ecog`` or ``kps``, attribute value (number)."""
        text, places = frame.text, frame.places
        for match in _FORMS.find(places, text):
            boxes = match["boxes"]
            ticked = (_TICKED_BEFORE if boxes.strip(" ,;\t\n")[0] in "[(☐☑☒" else _TICKED_BEHIND).findall(boxes)
            if len(ticked) == 1:
                yield self._span(match, "ecog", float(ticked[0]), "pattern:ecog-boxes")
        for match in _SCORES.find(places, text):
            if match["scale"] == "WHO" and _GRADED_TUMOR.search(text, max(0, match.start() - 30), match.start()):
                continue
            raw = match["value"]
            value = float(_WORDS.get(raw, raw))
            # "1/4": of four; "1/2": between the two.
            if match["upper"] and not (match["upper"] in "45" and "/" in match.group()[-3:]):
                value = max(value, float(match["upper"]))
            yield self._span(match, "ecog", value, "pattern:ecog")
        for match in _KARNOFSKY.find(places, text):
            value = float(match["value"])
            if match["upper"]:
                value = min(value, float(match["upper"]))
            yield self._span(match, "kps", value, "pattern:kps")

    @staticmethod
    def _span(match: re.Match[str], concept: str, value: float, source: str) -> Span:
        return Span(match.start(), match.end(), "performance", concept, source, {"value": value}, priority=6)
