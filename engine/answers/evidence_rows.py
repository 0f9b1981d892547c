"""The evidence of a cohort as rows: patient by criterion by quoted fact, for tables that leave the program."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from .evidence import Quote, ShownEvent, attributes_text
from .explain import Explanation

if TYPE_CHECKING:
    import pyarrow as pa

#: Of text, unless said otherwise: docs/reference/api.md tells each.
COLUMNS: Final = (
    "patient_id", "certainty", "criterion", "criterion_certainty", "counts", "kind", "name", "earliest", "latest",
    "attributes", "context", "world", "doc_id", "note_date", "start", "end", "quote", "sentence", "rule",
)  # fmt: skip
_NUMBERS: Final = ("start", "end")


def evidence_rows(explanation: Explanation) -> Iterator[tuple[Any, ...]]:
    """The rows of one patient, under :data:`COLUMNS`; a fact without a quote has one row, a criterion without a fact
    none. Definitions come behind the criteria of the query itself."""
    for one in explanation.pieces():
        if one.event is not None:
            head = explanation.patient_id, explanation.certainty, one.criterion.text, one.criterion.certainty
            yield *head, one.counts, *_of_event(one.event), *_of_quote(one.quote)


def _of_event(event: ShownEvent) -> tuple[str, ...]:
    context = ", ".join(one for one in (event.assertion, event.reason, event.experiencer) if one not in ("none", ""))
    return event.kind, event.name, event.earliest, event.latest, attributes_text(event), context, event.world


def _of_quote(quote: Quote | None) -> tuple[Any, ...]:
    if quote is None:
        return "", "", None, None, "", "", ""
    return quote.doc_id, quote.date, quote.start, quote.end, quote.text, quote.sentence, quote.rule


def evidence_table(explanations: Iterable[Explanation]) -> pa.Table:
    """The rows of these patients as an Arrow table."""
    import pyarrow as pa

    rows = [row for explanation in explanations for row in evidence_rows(explanation)]
    types = {"counts": pa.bool_(), **dict.fromkeys(_NUMBERS, pa.int64())}
    columns = list(zip(*rows, strict=True)) if rows else [() for _ in COLUMNS]
    return pa.table(
        {name: pa.array(values, types.get(name, pa.string())) for name, values in zip(COLUMNS, columns, strict=True)}
    )
