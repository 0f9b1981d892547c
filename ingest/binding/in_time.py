"""Values of a marker that follow each other in time (``PSA 0.3 (8/20), 2.9 (12/20) -> 7.8``), each with its own day."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ...kb.model import EARLIEST_DAY, DayInterval
from ...kb.units import amount_of
from ..text.dates.reader import DateMention
from ..text.frame import Frame, Span
from ..text.word_classes import word_classes

_CLASSES: Final = word_classes("binding", "in_time")

#: The source of a value that stands behind another of its marker.
IN_TIME: Final = "pattern:in-time"
_NEXT: Final = _CLASSES.compile(
    r"\s?(?:(?P<then>[-=]{1,2}>|→|⇒|{then}\b)|,|;)\s?[<>~]?\s?"
    r"(?P<number>\d{1,5}(?:,\d{3})*(?:\.\d{1,3})?)(?![\d/%\-]|\.\d|\s?{other_unit}\b)",
    re.IGNORECASE,
)
_OPENS_DATE: Final = _CLASSES.compile(r"\s?[(\[,]?\s?(?:{on}\s)?", re.IGNORECASE)
_CLOSES: Final = re.compile(r"\s?[)\]]?")
_COLON: Final = re.compile(r"\s?[:=]?\s?")
#: So far behind a value does its date begin (characters); and no series is longer.
_REACH: Final = 8
_MOST: Final = 12


def value_begins(frame: Frame, end: int) -> int:
    """Where the value of a marker that ends there is sought: behind a date that stands right behind it."""
    date = _date_behind(frame, end)
    if date is None:
        return end
    closed = _CLOSES.match(frame.text, date.end)
    colon = _COLON.match(frame.text, closed.end() if closed else date.end)
    return colon.end() if colon else date.end


def with_later(frame: Frame, value: Span, marker_end: int) -> list[Span]:
    """A result, with the values that follow its own; where these do and it has no day, it is from before."""
    ends = [end for _, end, rule in value.helpers if rule == "number"]
    if "value" not in value.attributes or not ends:
        return [value]
    end = max(ends)
    later = list(_later_values(frame, value, end))
    dated = value_begins(frame, marker_end) != marker_end or _date_behind(frame, end) is not None
    if later and not dated and frame.note.date is not None:
        high = (later[0].day or DayInterval(0, frame.note.date.toordinal())).high
        value.day = DayInterval(EARLIEST_DAY, high)
    return [value, *later]


def _later_values(frame: Frame, value: Span, end: int) -> Iterator[Span]:
    """The values that follow that of ``value``, which ends at ``end``."""
    text = frame.text
    for _ in range(_MOST):
        date = _date_behind(frame, end)
        closed = _CLOSES.match(text, date.end) if date else None
        following = _NEXT.match(text, closed.end() if closed else end)
        if following is None:
            return
        end = following.end()
        own = _date_behind(frame, end)
        if own is None and not following["then"]:
            return  # "CEA 3.1, 2 cm mass"
        attributes = {name: said for name, said in value.attributes.items() if name != "result"}
        yield Span(
            following.start("number"),
            end,
            value.kind,
            value.concept,
            IN_TIME,
            {**attributes, "value": amount_of(following["number"])},
            helpers=[
                (following.start("number"), end, "number"),
                *((date.start, date.end, f"date:{date.rule}") for date in filter(None, (own,))),
            ],
            decided="present",
            day=own.day if own else None,
        )


def _date_behind(frame: Frame, end: int) -> DateMention | None:
    """The date right behind a place, in a bracket or without one."""
    dates = frame.dates_in(end, min(len(frame.text), end + _REACH))
    return next((date for date in dates if _OPENS_DATE.fullmatch(frame.text, end, date.start)), None)
