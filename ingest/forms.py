"""Forms: what the boxes or the bare answer behind a name say of it."""

from __future__ import annotations

import bisect
import re
from functools import lru_cache

from .statements import statement

#: An answer stands behind a colon, a question mark, a box or a gap of the same line; the line ends at the next break.
_SIGN = re.compile(r"[:?\[(\n\u2610-\u2612\t]| {3,}")
_NO_BOX = ":? \t"
_NO_SIGN = frozenset({"", "\n"})
#: So many signs behind a name are looked at for its boxes.
_SIGNS_AHEAD = 4
#: Of so many signs in a line it is not looked which they are.
_MANY_SIGNS = 24
_TICKED = frozenset("xX*✓\u2611\u2612")
#: Bare answers in a column; any other word there leaves the question open.
_ANSWERS = {"n": "no", "no": "no", "y": "yes", "yes": "yes"}


def answer(text: str, end: int) -> str:
    """The answer to the name that ends at ``end``: ``no``, ``yes``, ``open`` (boxes, none of them ticked) or empty.

    Boxes are read as options only where one of them is a plain yes or no.
    """
    places, signs = _signs(text)
    at = bisect.bisect_left(places, end)
    if signs[at : at + 1] in _NO_SIGN:
        return ""
    # What is no box by itself leads to one.
    ahead = signs[at : at + _SIGNS_AHEAD].lstrip(_NO_BOX)
    match = statement("boxes").match(text, end) if ahead and ahead[0] != "\n" else None
    if match:
        options = list(_options(match["options"]))
        meanings = ["no" if statement("option_no").match(word) else "yes" for word, _ in options]
        plain = any(statement("option_no").match(word) or statement("option_yes").match(word) for word, _ in options)
        if len(options) > 1 and plain:
            return next((meaning for meaning, (_, ticked) in zip(meanings, options, strict=True) if ticked), "open")
    # The signs up to the end of the line; any, where they are many.
    line, ends, _ = signs[at : at + _MANY_SIGNS].partition("\n")
    asked = not ends or ":" in line or "?" in line
    if asked and statement("answered_no").match(text, end):
        return "no"
    if not ends or "\t" in line or " " in line:
        column = statement("answered_in_column").match(text, end)
        if column:
            return _ANSWERS.get(column["answer"].lower(), "open")
    return "yes" if asked and statement("answered_yes").match(text, end) else ""


@lru_cache(maxsize=2)
def _signs(text: str) -> tuple[list[int], str]:
    """Where the signs of a form and the ends of lines are, and which: found once for all the names of a note."""
    places = [match.start() for match in _SIGN.finditer(text)]
    return places, "".join([text[place] for place in places])


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
