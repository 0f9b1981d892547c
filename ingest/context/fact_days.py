"""The day of a fact: a date in its clause, else its line's leading date, else the note's."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from ...kb.model import EARLIEST_DAY, LATEST_DAY, Context, DayInterval, Temporality
from ..text.dates.parts import hides_a_date
from ..text.dates.reader import DateMention
from ..text.frame import Frame, Span

#: What parts a date from a fact: another cell, another sentence, the next step of a course ("x3 -> IDS 6/18/19").
_NEW_STEP = re.compile(r"[;|→⇒]|[-=]>|\.\s")
#: So near to the head of its line a date leads it, of its sentence (characters).
_LEADS_LINE, _LEADS_SENTENCE = 9, 6
_REACH = 80

#: Where the date stands that a day was read from, with the rule that read it; None: no date was.
Anchor = tuple[int, int, str] | None


class FactDays:
    """The days of the facts of one note."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self._text = frame.text
        self._note_day = frame.note.date.toordinal() if frame.note.date else None
        #: The dates that lead each line, by where it begins.
        self._leading: dict[int, list[DateMention]] = {}
        for date in frame.dates:
            line = self._text.rfind("\n", 0, date.start) + 1
            if date.start < line + _LEADS_LINE:
                self._leading.setdefault(line, []).append(date)

    def of(self, span: Span, sentence: tuple[int, int], context: Context) -> tuple[DayInterval, Anchor]:
        """The day of the fact that ``span`` tells, and what it was read from."""
        return self.among(self._frame.dates_in(*sentence), span, sentence[0], context)

    def among(
        self, dates: Sequence[DateMention], span: Span, start: int, context: Context
    ) -> tuple[DayInterval, Anchor]:
        """As :meth:`of`, of a sentence that begins at ``start`` and holds these dates."""
        text, note_day = self._text, self._note_day
        best: tuple[int, DateMention] | None = None
        for date in dates:
            if date.start < span.end and date.end > span.start:
                continue
            ahead = date.end <= span.start
            gap = span.start - date.end if ahead else date.start - span.end
            if gap > _REACH and date.start - start > _LEADS_SENTENCE:
                continue
            between = text[date.end : span.start] if ahead else text[span.end : date.start]
            if _NEW_STEP.search(between) or hides_a_date(between, not ahead):
                continue
            if note_day is not None and date.day.low > note_day + 7 and context.really_happened:
                continue
            rank = gap + (0 if ahead else 4) + 20 * between.count(",")
            if best is None or rank < best[0]:
                best = rank, date
        if best is None and self._leading:
            for date in self._leading.get(text.rfind("\n", 0, span.start) + 1, ()):
                if date.end <= span.start:
                    best = (0, date)
        if best is not None:
            date = best[1]
            high = min(date.day.high, max(date.day.low, note_day)) if note_day is not None else date.day.high
            return _days(date.day.low, high), (date.start, date.end, date.rule)
        if note_day is None:
            return _days(EARLIEST_DAY, LATEST_DAY), None
        return _days(EARLIEST_DAY if context.temporality is Temporality.HISTORICAL else note_day, note_day), None


@lru_cache(maxsize=4096)
def _days(low: int, high: int) -> DayInterval:
    """Most mentions of a note share its day."""
    return DayInterval(low, high)
