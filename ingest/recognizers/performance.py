"""Performance status: ECOG, WHO and Zubrod scores 0 to 5, and Karnofsky percentages."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..frame import Frame, Span

_FILLER = r"""(?:[\s:=~\-–,()*.\u2026]|performance|status|score|scale|PS|P\.S\.|of|is|was|now|today|currently|remains|at|an?|the|ECOG|WHO|Zubrod|stable|still|current|estimated|approximately|approx|about|zero\s*to|grade|functional|again|level|rating|baseline|pt|patient|her|his|assessed|as|improved|declined|worsened|to|from\s*\d\s*to){0,14}?"""
_ECOG = re.compile(
    rf"""(?<![A-Za-z0-9])(?P<scale>ECOG|E\.C\.O\.G\.|[Zz]ubrod|ZUBROD|ecog|Ecog|EGOG|(?:WHO\s*[/(]?\s*)?(?:PS|P\.S\.|[Pp]erf(?:ormance)?\.?\s*[Ss]tatus|PERFORMANCE\s*STATUS)|WHO(?=\s*[:=]?\s*[0-4](?![\w./])))(?![A-Za-z0-9])
        {_FILLER}(?<![\d.])(?P<value>[0-5]|zero|one|two|three|four)(?![\d%A-Za-z]|\.\d|/\d\d|\s*[/:]\s*\d{{1,2}}\s*[/:])
        (?:\s*(?:-|–|to|or|/)\s*(?P<upper>[0-5])(?![\d%/]|\.\d))?""",
    re.VERBOSE,
)
_KPS = re.compile(
    rf"(?<![A-Za-z0-9])(?:KPS|[Kk]arnofsk[yi](?:\s*(?:[Pp]erformance|PS|[Ss]cale|[Ii]ndex)\s*(?:[Ss]tatus|[Ss]core)?)?|KARNOFSKY)(?![A-Za-z0-9]){_FILLER}(?P<value>100|[1-9]0)(?!\d)(?:\s*%?\s*(?:-|–|to)\s*(?P<upper>100|[1-9]0))?",
    re.VERBOSE,
)
_WORDS = {"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4}


class PerformanceRecognizer:
    """Scores with their scale; of a range the worse end (the higher ECOG, the lower Karnofsky)."""

    name = "performance"
    triggers = frozenset({"ecog", "zubrod", "ps", "kp", "kps", "karnofsky", "karnofski", "performance", "perf", "who", "egog", "p"})

    def find(self, frame: Frame) -> Iterator[Span]:
        """Spans of kind ``performance``; concept ``ecog`` or ``kps``, attribute value (number)."""
        for match in _ECOG.finditer(frame.text):
            raw = match["value"]
            value = float(_WORDS.get(raw, -1) if raw in _WORDS else raw)
            if match["upper"] and not (match["upper"] in "45" and "/" in match.group()[-3:]):
                value = max(value, float(match["upper"]))
            yield Span(match.start(), match.end(), "performance", "ecog", "pattern:ecog", {"value": value}, priority=6)
        for match in _KPS.finditer(frame.text):
            value = float(match["value"])
            if match["upper"]:
                value = min(value, float(match["upper"]))
            yield Span(match.start(), match.end(), "performance", "kps", "pattern:kps", {"value": value}, priority=6)
