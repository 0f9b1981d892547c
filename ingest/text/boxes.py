"""Boxes of a form: what an empty one offers is not said (``Type: [ ] squamous [x] adenocarcinoma [ ] large cell``)."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator, Sequence
from typing import Final

from ...kb.kinds import CONDITIONS, LISTED, TREATMENTS
from .frame import Span

#: An empty box, and one with a mark in it.
_BOX: Final = re.compile(
    r"(?P<empty>\[[ _\t]{0,3}\]|[\u2610\u25a1])|(?P<marked>\[[ ]?[xX\u2713\u2714*][ ]?\]|[\u2611\u2612\u25a0])"
)
#: Where the last option of a row of boxes ends: at its sentence, or at the label of the next row.
_ENDS_ROW: Final = re.compile(r"\.(?=\s|$)|;|\s{2,}|\s(?=[A-Za-z][\w ]{0,24}:)")
#: So many rows around that of a single box show whether it is one of a form.
_NEAR_ROWS: Final = 4
#: Kinds of which an empty box denies what it offers: one can be without them.
_DENIED: Final = CONDITIONS | TREATMENTS | LISTED
_WORD: Final = re.compile(r"[A-Za-z]")


def empty_options(text: str) -> list[tuple[int, int]]:
    """The stretches that stand behind empty boxes, in order.

    A row whose boxes stand behind their options (``squamous [ ]``) has none: which option a box is of is not known.
    Nor has a list of single empty boxes: that is what is to be done.

    >>> row = "pT: [ ] T1 [x] T2 [ ] T3. Size 2 cm"
    >>> [row[start:end].strip() for start, end in empty_options(row)]
    ['T1', 'T3']
    >>> empty_options("squamous [ ] adeno [x]")
    []
    """
    if "[" not in text and "\u2610" not in text and "\u25a1" not in text:
        return []
    rows = list(_rows(text))
    options: list[tuple[int, int]] = []
    for number, row in enumerate(rows):
        beside = [one for one in rows[max(0, number - _NEAR_ROWS) : number + _NEAR_ROWS + 1] if one is not row]
        of_form = len(row) > 1 or any(box["marked"] for one in beside for box in one)
        # "[ ] CT in March": what is still to be done.
        options += _of_row(text, row) if of_form else ()
    return options


def _rows(text: str) -> Iterator[list[re.Match[str]]]:
    """The boxes of each line that has any."""
    row: list[re.Match[str]] = []
    for box in _BOX.finditer(text):
        if row and "\n" in text[row[-1].end() : box.start()]:
            yield row
            row = []
        row.append(box)
    if row:
        yield row


def _of_row(text: str, row: Sequence[re.Match[str]]) -> Iterator[tuple[int, int]]:
    line_end = text.find("\n", row[-1].end())
    line_end = len(text) if line_end < 0 else line_end
    if not _WORD.search(text, row[-1].end(), line_end):
        return
    for number, box in enumerate(row):
        end = row[number + 1].start() if number + 1 < len(row) else line_end
        if stop := _ENDS_ROW.search(text, box.end(), end):
            end = stop.start() if _WORD.search(text, box.end(), stop.start()) else end
        if box["empty"]:
            yield box.end(), end


def without_empty_options(options: Sequence[tuple[int, int]], spans: Sequence[Span]) -> list[Span]:
    """The spans that stand behind no empty box (``options``: as :func:`empty_options`); an illness or a treatment
    behind one is denied, and stays."""
    starts = [start for start, _ in options]
    kept = []
    for span in spans:
        at = bisect.bisect_right(starts, span.start) - 1
        if at < 0 or span.start >= options[at][1] or span.kind in _DENIED:
            kept.append(span)
    return kept
