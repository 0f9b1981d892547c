"""Impossible orders: an event that needs an organ after the organ was removed. One of the two is wrong, or its date is.

Where the days leave room for an order that is possible, that order is believed, and the day that stood in its way gives
way. Where they do not, the side with less support is disputed: possible, and the other believed and not certain.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from ...kb.kinds import OF_THEIR_DAY
from ...kb.model import EARLIEST_DAY, DayInterval
from .bench import Workbench, WorkbenchDecision, dispute, is_dated, standing
from .facts import Fact
from .impossible import Impossible, ImpossibleTable, impossible_events

REORDERED: Final = "possible order over impossible"
DISTRUSTED: Final = "better supported over impossible"
#: Documents that are the record of the thing itself.
_OF_THE_THING: Final = frozenset({"operative", "pathology", "death"})
#: Days by which a note may follow what it tells; a report its specimen.
_NOTE_DELAY: Final = 30
_REPORT_DELAY: Final = 60
#: A day known to a year is known; a past that is only said to be past is not.
_KNOWN_WITHIN: Final = 366


def resolve_impossible(bench: Workbench) -> None:
    """Each event that needs an organ after its removal is reordered or distrusted: docs/internals/conflicts.md."""
    table = impossible_events(bench.concepts)
    removed: dict[Impossible, list[Fact]] = defaultdict(list)
    for fact in standing(bench):
        for row in _rows_of(table.removing, fact):
            if row.is_removal(fact, _text(bench, fact)):
                removed[row].append(fact)
    if not removed:
        return
    in_need: dict[Impossible, list[Fact]] = defaultdict(list)
    for fact in standing(bench):
        for row in _rows_of(table.needing, fact):
            if row in removed and row.is_in_need(fact, _text(bench, fact)):
                in_need[row].append(fact)
    for row in table.rows:
        if row not in in_need:
            continue
        # What an earlier row has gone against says nothing any more.
        removals = [fact for fact in removed[row] if not fact.rejected]
        events = [fact for fact in in_need[row] if not fact.rejected]
        for gone, needing in _sides(table, bench, row, removals, events):
            if not gone or not needing:
                continue
            if row.order == "never":
                _distrust_one(bench, row, gone, needing)
            else:
                _Paradox(bench, row, gone, needing).resolve()


def _rows_of(rows: Mapping[str, Sequence[Impossible]], fact: Fact) -> Sequence[Impossible]:
    return (*rows.get(fact.concept, ()), *rows.get(fact.kind, ()))


def _text(bench: Workbench, fact: Fact) -> str:
    return bench.notes[fact.note].note.text


def _sides(
    table: ImpossibleTable, bench: Workbench, row: Impossible, removals: Sequence[Fact], events: Sequence[Fact]
) -> Iterator[tuple[list[Fact], list[Fact]]]:
    """The removals and the events that speak of one organ: of a paired one, of one side."""
    if not row.side:
        yield list(removals), list(events)
        return
    side = {id(fact): table.side_of(fact, bench.concepts) for fact in (*removals, *events)}
    if row.side == "both":
        both = [fact for fact in removals if side[id(fact)] == "bilateral"]
        if both:
            yield both, list(events)
        return
    for one in ("left", "right"):
        gone = [fact for fact in removals if side[id(fact)] in (one, "bilateral")]
        needing = [fact for fact in events if side[id(fact)] == one]
        if gone and needing:
            yield gone, needing


class _Paradox:
    """One organ's removals and the events that need it, of one row and side."""

    def __init__(self, bench: Workbench, row: Impossible, gone: Sequence[Fact], events: Sequence[Fact]) -> None:
        self._bench = bench
        self._row = row
        self._gone = sorted(gone, key=_by_day)
        # A removal told again by another name is no event after it.
        self._events = sorted((event for event in events if event.concept not in row.removed_by), key=_by_day)

    def resolve(self) -> None:
        """Reorder what may lie in another order; distrust the rest."""
        removal = _settled(self._gone)
        late = [
            event for event in self._events if event.day.low > removal.day.high + max(self._row.delay, _delay(event))
        ]
        fixed = [event for event in late if not self._may_be_earlier(event)]
        if fixed and not self._stands_against(fixed):
            return
        related = self._bench.concepts.related
        before = {(event.kind, event.concept) for event in self._events if event.day.low <= removal.day.high}
        for event in late:
            if not self._may_be_earlier(event):
                continue
            # Told of that time anyway, it is only told again.
            if not any(kind == event.kind and related(concept, event.concept) for kind, concept in before):
                event.day = DayInterval(EARLIEST_DAY, removal.day.high)
                self._decide(removal, event, "what is told without a date of its own came before the removal")
        # The last event first: what it teaches of the removal's day, the others need not.
        of_concept = defaultdict(list)
        for fact in self._gone:
            of_concept[fact.concept].append(fact)
        removals = [_settled(facts) for facts in of_concept.values()]
        standing = [event for event in self._events if not event.rejected]
        for event in sorted(standing, key=lambda event: (-event.day.low, *_by_day(event))):
            for fact in removals:
                self._narrow(event, fact)

    def _may_be_earlier(self, event: Fact) -> bool:
        """Whether the event has its day only from the note that tells of it, or is a copy."""
        if event.copied:
            return True
        if self._row.now or event.kind in OF_THEIR_DAY:
            return False
        return event.document_class in ("clinical", "molecular", "genetics") and not is_dated(event)

    def _stands_against(self, fixed: list[Fact]) -> bool:
        """Whether the removal is believed against events that certainly came later; one of the sides gives way."""
        row = self._row
        last = max(event.day.low for event in fixed)
        early = [fact for fact in self._gone if fact.day.high < last]
        later = [fact for fact in self._gone if fact.day.high >= last]
        # One mere mention before the events, and others after them: the removal is believed to have come after.
        misplaced = bool(later) and len({fact.note for fact in early}) == 1 and not any(map(_is_firm, early))
        # Where notes are counted, what is said to hold always is said by those before as well.
        against = self._events if row.now and row.weigh == "notes" else fixed
        if not misplaced and _support(row, early) >= _support(row, against):
            self._dispute(fixed, self._gone, f"{row.name}: what came first is better supported")
            return True
        for fact in later:
            fact.day = DayInterval(max(fact.day.low, last), fact.day.high)
        if row.redate:
            early = [fact for fact in early if not self._redated(fact, last, fixed)]
            if not early:
                return False
        why = "what came first is told after it as well" if misplaced else "what came after is better supported"
        self._dispute(early, [*later, *fixed], f"{row.name}: {why}")
        return False

    def _redated(self, removal: Fact, last: int, fixed: Sequence[Fact]) -> bool:
        """Whether it is told in a note that lies after the events: then its date was misread, and not the removal."""
        written = self._bench.notes[removal.note].note.date
        if removal.copied or written is None or written.toordinal() < last:
            return False
        removal.day = DayInterval(last, written.toordinal())
        self._decide(fixed[-1], removal, "its date is not believed, as the note that tells it came later")
        return True

    def _dispute(self, rejected: Sequence[Fact], believed: Sequence[Fact], why: str) -> None:
        dispute(self._bench, DISTRUSTED, rejected, believed, why)

    def _narrow(self, event: Fact, removal: Fact) -> None:
        """Where the days overlap, and their middles stand in the impossible order, each yields to the other."""
        days = (event.day, removal.day)
        if event.day.midpoint <= removal.day.midpoint or event.day.low > removal.day.high:
            return
        if min(day.high - day.low for day in days) > _KNOWN_WITHIN:
            return
        is_removal_vaguer = removal.day.high - removal.day.low >= event.day.high - event.day.low
        event.day = DayInterval(event.day.low, min(event.day.high, removal.day.high))
        removal.day = DayInterval(max(event.day.low, removal.day.low), removal.day.high)
        settled, moved = (event, removal) if is_removal_vaguer else (removal, event)
        self._decide(settled, moved, "of the days that the record allows, those in a possible order are taken")

    def _decide(self, settled: Fact, moved: Fact, why: str) -> None:
        explanation = f"{self._row.name}: {why}"
        self._bench.decisions.append(WorkbenchDecision(REORDERED, (settled,), (moved,), explanation))


def _distrust_one(bench: Workbench, row: Impossible, gone: Sequence[Fact], events: Sequence[Fact]) -> None:
    """Of two things that belong to no one patient the less supported is disputed, of equals the later."""
    first, second = sorted((gone, events), key=lambda facts: min(map(_by_day, facts)))
    weaker, stronger = (first, second) if _support(row, first) < _support(row, second) else (second, first)
    dispute(bench, DISTRUSTED, weaker, stronger, f"{row.name}: what is less supported is not believed")


def _by_day(fact: Fact) -> tuple[int, int, int, int]:
    return fact.day.high, -fact.day.low, fact.note, fact.mention.start


def _settled(gone: Sequence[Fact]) -> Fact:
    """The removal whose day is best known: dated, or told by its own report; of these the first."""
    firm = [fact for fact in gone if _is_firm(fact)] or gone
    return min(firm, key=_by_day)


def _is_firm(fact: Fact) -> bool:
    """Whether the day of a removal is its own, and not that of a note that tells of it."""
    return not fact.copied and (is_dated(fact) or fact.document_class in _OF_THE_THING)


def _delay(event: Fact) -> int:
    if is_dated(event):
        return 0
    return _REPORT_DELAY if event.document_class == "pathology" else _NOTE_DELAY


def _support(row: Impossible, facts: Sequence[Fact]) -> tuple[int, int]:
    """How well facts are supported: by the best of their sources, then by how many there are; copies do not count."""
    own = [fact for fact in facts if not fact.copied]
    best = 0 if row.weigh == "notes" else max(map(_weight, own), default=0)
    return best, len({fact.note for fact in own})


def _weight(fact: Fact) -> int:
    """3: the report of the thing itself; 2: a dated statement, or the report of an examination; 1: a mention."""
    if fact.document_class in _OF_THE_THING:
        return 3
    if is_dated(fact) or (fact.document_class == "imaging" and fact.kind == "procedure"):
        return 2
    return 1
