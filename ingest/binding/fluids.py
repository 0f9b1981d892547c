"""A tumor's cells in a fluid (``ascites tapped, cytology positive for adenocarcinoma``), or that there are none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ..recognizers.spread import CYTOLOGY, NO_CELLS
from ..text.cue_files import cue_file
from ..text.frame import Frame, Span
from ..text.gates import Gated
from ..text.word_classes import word_classes

_CLASSES: Final = word_classes("binding", "fluids")
_LOOKED_AT: Final = Gated(
    _CLASSES.compile(r"(?<![^\W_]){looked_at}(?![^\W_])", re.IGNORECASE),
    within=_CLASSES.pattern(r"(?i:(?<![a-z]){looked_at_begins})"),
)
_CELLS: Final = _CLASSES.compile(
    r"[^.;\n]{0,40}?(?<![^\W_])(?:(?P<none>(?:{cells_not_found}))|(?:{cells_found}))(?![^\W_])", re.IGNORECASE
)
_FLUIDS: Final = _CLASSES.compile(
    r"(?<![^\W_])(?:(?P<peritoneum>{of_peritoneum})|(?P<pleura>{of_pleura})|(?P<meninges>{of_meninges}))(?![^\W_])",
    re.IGNORECASE,
)
#: So far behind the test stands what it found, and so far before it the fluid, on the same line (characters).
_REACH: Final = 110
_BEFORE, _BEHIND = 220, 40


def cells_in_fluids(frame: Frame) -> Iterator[Span]:
    """Metastases at the place of each fluid, and the states that they are; absent where the test found none."""
    text = frame.text
    for looked in _LOOKED_AT.find(frame.places, text):
        low, high = frame.sentence_span(looked.start())
        found = _CELLS.match(text, looked.end(), min(high, looked.end() + _REACH))
        if found is None:
            continue
        line = max(text.rfind("\n", 0, low) + 1, looked.start() - _BEFORE)
        fluids = _FLUIDS.finditer(text, line, min(high, looked.end() + _BEHIND))
        near = min(fluids, key=lambda one: abs(one.start() - looked.start()), default=None)
        if near is None:
            continue
        means = cue_file("lesions")["fluid"][str(near.lastgroup)]
        absent = found["none"] is not None
        if absent and not means.get("denies"):
            continue
        source, decided = (NO_CELLS, "absent") if absent else (CYTOLOGY, "")
        for kind, concept in (("metastasis", means["place"]), ("state", means["state"])):
            yield Span(looked.start(), found.end(), kind, concept, source, decided=decided)
