"""Performance status: ECOG, WHO and Zubrod scores 0 to 5, and Karnofsky percentages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ..text.frame import Frame, Recognizer, Span
from ..text.gates import Gated
from ..text.word_classes import word_classes
from ..text.words import fold

_CLASSES: Final = word_classes("recognizers", "performance")

_STATUS = _CLASSES.pattern(r"(?:{status}(?![^\W_]))")
_DAY = r"(?:\d{4}-\d\d?-\d\d?|\d{1,2}/\d{1,2}/\d{2,4})"
#: What may stand between the scale and its value. Bounded, and no two ways to read one stretch but for single signs.
_FILLER = _CLASSES.pattern(rf"""(?:[\s:=~\-–,()*\u2026]|\.{{2,60}}|(?:{{filler}}|{_DAY})(?![^\W\d_])){{0,18}}?""")
_ECOG = _CLASSES.compile(
    rf"""(?=[EeZWPp])(?<![^\W_])(?P<scale>{{ecog}}(?![^\W_])
        |(?:WHO[ ]?[/(]?[ ]?)?{_STATUS}|WHO(?=[ ]?[:=]?[ ]?[0-4](?![\w./])))
        {_FILLER}(?<![\d.])(?P<value>[0-5]|{{value_in_words}})(?![\d%A-Za-z]|\.\d|\s?/\s?\d\d
            |\s?[/:]\s?\d{{1,2}}\s?[/:]|\s?[\])])
        (?:\s?(?:-|–|\bto\b|\bor\b|/)\s?(?P<upper>[0-5])(?![\d%/]|\.\d))?""",
    re.VERBOSE,
)
#: A form: every value stands beside its box, and the ticked one counts.
_BOXES = _CLASSES.compile(
    rf"(?=[EPZ])(?<![^\W_])(?:{{ecog_or_zubrod}}|{_STATUS})(?:[\s:(),\-]|{{boxes_filler}}){{0,12}}"
    r"(?P<boxes>(?:[\s,;]{0,4}(?:(?:\[[ xX]?\]|\([ xX]?\)|[☐☑☒])\s?[0-4]|[0-4]\s?(?:\[[ xX]?\]"
    r"|\([ xX]?\)|[☐☑☒]))(?![\w/]|\.\d)){2,5})",
)
_TICKED_BEFORE = re.compile(r"(?:[\[(][xX][\])]|[☑☒])\s?([0-4])")
_TICKED_BEHIND = re.compile(r"([0-4])\s?(?:[\[(][xX][\])]|[☑☒])")
_KPS = _CLASSES.compile(
    rf"""(?=[Kk])(?<![^\W_]){{karnofsky}}(?![^\W_])
        (?:[ ]{{karnofsky_behind}})?
        {_FILLER}(?P<value>100|[1-9]0)(?!\d|\.\d)(?:\s?%?\s?(?:-|–|\bto\b|\bor\b)\s?(?P<upper>100|[1-9]0)(?!\d))?""",
    re.VERBOSE,
)
# Each pattern with the look of the word that it begins at (see :mod:`~cohortium.ingest.text.gates`).
_FORMS = Gated(_BOXES, _CLASSES.pattern(r"(?:{ecog_or_zubrod}|{status_begins})"))
_SCORES = Gated(_ECOG, _CLASSES.pattern(r"(?:{ecog_begins}|{status_begins})"))
_KARNOFSKY = Gated(_KPS, _CLASSES.pattern(r"{karnofsky_begins}"))
_WORDS = {"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4}
#: "WHO 4" of a brain tumor is a grade.
_GRADED_TUMOR = _CLASSES.compile(r"{graded_tumor}[\s,(\-]{1,3}(?:CNS\s)?$", re.IGNORECASE)


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
