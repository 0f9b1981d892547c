"""Forms: what the boxes or the bare answer behind a name say of it."""

from __future__ import annotations

import re

from ..text.statements import statement

#: An answer stands behind a colon, a question mark, a box or a gap of the same line.
_ANY_SIGN = re.compile(r"[:?\[(\u2610-\u2612\t]")
_SIGN = re.compile(rf"{_ANY_SIGN.pattern}| {{3,}}")
_NO_BOX = ":? \t"
#: No answer, and no box, has its first sign further behind the name (characters).
_REACH = 72
#: So many signs behind a name are looked at for its boxes.
_SIGNS_AHEAD = 4
_EMPTY_BOX = re.compile(r"(?:\[\s*\]|\(\s\)|\u2610|\[\s*no?\s*\])\s*$", re.IGNORECASE)
#: With what an empty box ends, or one with a minus.
_BOX_ENDS = frozenset("])\u2610")
_LEADING_BOX = re.compile(r"[ \t\-*]{0,8}(?:\[[ xX]?\]|\([ xX]\)|[\u2610-\u2612])")
#: So far before a name does its box stand (characters).
REACH_OF_BOX = 40
_TICKED = frozenset("xX*✓\u2611\u2612")
#: Bare answers in a column; any other word there leaves the question open.
_ANSWERS = {"n": "no", "no": "no", "y": "yes", "yes": "yes"}


def answer(text: str, end: int) -> str:
    """The answer to the name that ends at ``end``: ``no``, ``yes``, ``open`` (boxes, none of them ticked) or empty.

    Boxes are read as options only where one of them is a plain yes or no.
    """
    line = text[end : end + _REACH].partition("\n")[0]
    # Few names have any sign behind them.
    if "   " not in line and _ANY_SIGN.search(line) is None:
        return ""
    signs = _SIGN.findall(line)
    # What is no box by itself leads to one.
    boxes = any(sign[0] not in _NO_BOX for sign in signs[:_SIGNS_AHEAD])
    match = statement("boxes").match(text, end) if boxes else None
    if match:
        options = list(_options(match["options"]))
        meanings = ["no" if statement("option_no").match(word) else "yes" for word, _ in options]
        plain = any(statement("option_no").match(word) or statement("option_yes").match(word) for word, _ in options)
        if len(options) > 1 and plain:
            return next((meaning for meaning, (_, ticked) in zip(meanings, options, strict=True) if ticked), "open")
    asked = ":" in signs or "?" in signs
    if asked and statement("answered_no").match(text, end):
        return "no"
    if "\t" in line or "   " in line:
        column = statement("answered_in_column").match(text, end)
        if column:
            return _ANSWERS.get(column["answer"].lower(), "open")
    return "yes" if asked and statement("answered_yes").match(text, end) else ""


def box_before(text: str, start: int) -> bool:
    """Whether what ends a box stands before the name at ``start``: few have any, and the patterns are dear."""
    return text[max(0, start - REACH_OF_BOX) : start].rstrip()[-1:] in _BOX_ENDS


def empty_before(text: str, low: int, start: int) -> bool:
    """Whether an empty box stands right before the name at ``start``, and behind ``low``."""
    return _EMPTY_BOX.search(text, max(low, start - REACH_OF_BOX), start) is not None


def minus_before(text: str, start: int) -> bool:
    """Whether a box with a minus stands right before the name at ``start``."""
    return statement("minus_before").search(text, max(0, start - REACH_OF_BOX), start) is not None


def box_leads(text: str, at: int) -> bool:
    """Whether a box leads the line of a place: each is then that of the name behind it."""
    return _LEADING_BOX.match(text, text.rfind("\n", 0, at) + 1) is not None


def _options(text: str) -> list[tuple[str, bool]]:
    """Each option with whether its box is ticked; a box stands before its option, or behind it when a word leads."""
    boxes = list(statement("box").finditer(text))
    leads = bool(text[: boxes[0].start()].strip())
    options = []
    for index, box in enumerate(boxes):
        if leads:
            word = text[boxes[index - 1].end() if index else 0 : box.start()]
        else:
            word = text[box.end() : boxes[index + 1].start() if index + 1 < len(boxes) else len(text)]
        options.append((word, not _TICKED.isdisjoint(box.group())))
    return options
