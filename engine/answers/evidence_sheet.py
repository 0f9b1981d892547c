"""The evidence sheet: explanations as a table, a row for each patient, criterion and piece of evidence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from .evidence import Quote, ShownEvent
from .explain import Explanation

COLUMNS: Final = (
    "patient_id", "certainty", "part", "criterion", "truth", "counts", "event", "earliest", "latest", "quote", "words",
    "doc_id", "note_date", "section", "start", "end", "kind", "name", "assertion", "experiencer", "world", "tumor",
    "read_by", "decided",
)  # fmt: skip

Cells = tuple[object, ...]
#: What a criterion without events, or an event without a quote, has in place of them.
_NO_EVENT: Final = ("", "", "", "")
_NO_QUOTE: Final = ("",) * 7
_NO_DETAILS: Final = ("",) * 6


def evidence_rows(explanations: Iterable[Explanation]) -> Iterator[Cells]:
    """Rows of :data:`COLUMNS`, patient by patient as they come, the criteria in the order of the query.

    ``part`` numbers the criteria (1, 1.1, …; those of a definition behind its name); ``truth`` is the strongest world
    in which one holds. ``counts`` is *yes* for evidence that makes it hold and *no* for what is near and does not. A
    criterion that rests on its parts, or on nothing, has one row without evidence. ``quote`` is the sentence with its
    blanks joined, ``start`` and ``end`` are the offsets of ``words`` in the note.
    """
    for explanation in explanations:
        for one in explanation.pieces():
            criterion = one.criterion
            text = f"{criterion.text} (seen: {criterion.scope})" if criterion.scope else criterion.text
            head = explanation.patient_id, explanation.certainty, one.part, text, criterion.certainty
            if one.event is None:
                yield *head, *_NO_EVENT, *_NO_QUOTE, *_NO_DETAILS, "", ""
            else:
                yield *head, "yes" if one.counts else "no", *_event(one.event, one.quote)


def _event(event: ShownEvent, quote: Quote | None) -> Cells:
    details = event.kind, event.name, event.assertion, event.experiencer, event.world, event.tumor
    decided = "; ".join(event.decisions)
    told = event.as_text(), event.earliest, event.latest
    if quote is None:
        return *told, *_NO_QUOTE, *details, "", decided
    place = quote.doc_id, quote.date, quote.section, quote.start, quote.end
    return *told, " ".join(quote.sentence.split()), quote.text, *place, *details, quote.rule, decided
