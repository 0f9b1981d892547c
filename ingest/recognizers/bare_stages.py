"""Stage groups without a word for them, right beside the name of a cancer: ``HGSOC IIIC``, ``IIIC1 endometrial ca``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..text.frame import Frame, Recognizer, Span
from ..text.gates import Gated
from ..text.statements import statement

#: With its letter alone: "IV" may be a way of giving, "III" a part of many names. "IA" and "IC" are routes as well.
_GROUP = r"(?:IV|I{2,3}|I(?=B))[A-D][1-3]?"
_STAGE = re.compile(rf"(?<![\w/.\-])(?P<stage>{_GROUP})(?![\w/+\-]|\.\d|\s?%)")
_STAGES = Gated(_STAGE, rf"{_GROUP}\Z")
#: The name of a cancer stands within so many characters.
_REACH = 60


class BareStageRecognizer(Recognizer):
    """Finds them; attribute stage. What stands as a stage in words is longer, and goes first."""

    name = "bare stage"
    gates = (_STAGES,)

    def find(self, frame: Frame) -> Iterator[Span]:
        """Spans of kind ``stage``."""
        text = frame.text
        for match in _STAGES.find(frame.places, text):
            start, end = match.span()
            if statement("staged_before").search(text, max(0, start - _REACH), start) or statement(
                "staged_behind"
            ).match(text, end, min(len(text), end + _REACH)):
                yield Span(start, end, "stage", "", "pattern:bare stage", {"stage": match["stage"]}, priority=1)
