"""The review sheet: every output on a row, for a person to sort into the paper's categories, and the count of it.

Where a category can be told from the texts alone it is suggested, never filled in. Source: Sushil et al. 2024, Table 2
and "Scheme for expert manual evaluation".
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ....ingest.coral_schema.tuples import Finding, nothing
from ....kb.errors import UsageError
from ....kb.files.text_files import text_of
from ....kb.files.whole_files import write_text_privately
from ....kb.skin.streams import prints_as_is
from ....kb.skin.terminal import write_csv
from .report import Judged
from .scores import normal
from .tasks import UNKNOWN
from .units import Note

#: The categories and what each means.
CATEGORIES: Final[Mapping[str, str]] = {
    "1": "right",
    "2a": "more than was asked for, and the rest of it is right",
    "2b": "right, but some of it is missing",
    "2c": "more than was asked for, and the rest of it is wrong",
    "3a": "the note is ambiguous: gold and output may both be right",
    "3b": "from the note, but no answer to this question",
    "3c": "not in the note at all",
    "3d": "unknown, though the note tells it",
}
#: What of an output counts as right, right in part, wrong.
GROUPS: Final[Mapping[str, str]] = {
    name: {"1": "correct", "2": "partially correct", "3": "incorrect"}[name[0]] for name in CATEGORIES
}
COLUMNS: Final = (
    "document",
    "section",
    "task",
    "kind",
    "inference",
    "name",
    "value",
    "gold",
    "suggested",
    "category",
    "remark",
)
_TOKEN: Final = re.compile(r"[^\W_]+(?:[+\-](?!\w))?|[<>=≥≤%+]")


@dataclass(frozen=True, slots=True)
class Row:
    """One output: an entity (``name`` alone) or a relation (``name`` and ``value``). ``gold``: what the annotations
    tell in its place, one after the other; ``suggested``: a category, or nothing."""

    document: str
    section: str
    task: str
    kind: str
    inference: str
    name: str
    value: str
    gold: str
    suggested: str
    category: str = ""
    remark: str = ""


def rows(judged: Iterable[Judged], notes: Sequence[Note]) -> Iterator[Row]:
    """The rows of all answers; a question that was not answered has none. No output at all is one row, ``unknown``."""
    texts = {note.name: note.text for note in notes}
    for one in judged:
        if one.answer.failure:
            continue
        text = Text(one.unit.text(texts[one.unit.document]))
        place = (one.unit.document, one.unit.name, one.task.id)
        if one.task.first:
            for output in one.answer.first or (UNKNOWN,):
                # The schema annotates no first diagnosis: nothing can be suggested but that it is not in the text.
                fabricated = output != UNKNOWN and not text.has(output)
                yield Row(*place, "entity", "FirstCancerDiagnosis", output, "", "", "3c" if fabricated else "")
        names = list(dict.fromkeys(finding.name for finding in one.gold))
        for name in dict.fromkeys(finding.name for finding in one.answer.findings or (nothing(one.task),)):
            suggested = suggest(name, names or [UNKNOWN], text)
            yield Row(*place, "entity", one.task.shown, name, "", "; ".join(names), suggested)
        for finding in one.answer.findings:
            yield from _relations(one, finding, place, text)


def _relations(one: Judged, finding: Finding, place: tuple[str, str, str], text: Text) -> Iterator[Row]:
    same = [gold for gold in one.gold if normal(gold.name) == normal(finding.name)]
    # Without the same name in the gold the nearest one is what a reviewer looks at first.
    near = same or sorted(one.gold, key=lambda gold: -_overlap(gold.name, finding.name))[:1]
    near = [gold for gold in near if same or _overlap(gold.name, finding.name) > 0]
    for relation in one.task.values:
        if not relation.scored:
            continue
        wanted = list(dict.fromkeys(output for gold in near for output in gold.values[relation.name]))
        for output in finding.values[relation.name]:
            closed = bool(relation.one_of)
            suggested = suggest(output, wanted, text, closed=closed) if near else ""
            if not near and not closed and output != UNKNOWN and not text.has(output):
                suggested = "3c"
            shown = "; ".join(wanted)
            inference = f"{one.task.shown} - {relation.name}"
            yield Row(*place, "relation", inference, finding.name, output, shown, suggested)


def suggest(output: str, wanted: Sequence[str], text: Text, *, closed: bool = False) -> str:
    """The category that the texts speak for, empty where they leave it open.

    ``wanted``: what the gold tells; ``closed``: the value is one of a few fixed words, which no note need hold.
    """
    if normal(output) in {normal(one) for one in wanted}:
        return "1"
    known = [one for one in wanted if one != UNKNOWN]
    if normal(output) == UNKNOWN:
        return "3d" if known else "1"
    if closed:
        return "3b" if known else ""
    if not text.has(output):
        # More than was wanted may be in other words than the note's; what shares nothing with the gold is made up.
        return "2c" if any(_tokens(one) < _tokens(output) for one in known) else "3c"
    if any(_tokens(one) < _tokens(output) for one in known):
        return "2a"
    if any(_tokens(output) < _tokens(one) for one in known):
        return "2b"
    return "" if any(_overlap(one, output) for one in known) else "3b"


class Text:
    """The words of a unit, to see whether a value occurs in it."""

    def __init__(self, text: str) -> None:
        self._words = Counter(_TOKEN.findall(normal(text)))

    def has(self, value: str) -> bool:
        """Whether every word of ``value`` stands in the text, wherever."""
        words = _TOKEN.findall(normal(value))
        return bool(words) and all(word in self._words for word in words)


def _tokens(text: str) -> frozenset[str]:
    return frozenset(_TOKEN.findall(normal(text)))


def _overlap(one: str, other: str) -> float:
    first, second = _tokens(one), _tokens(other)
    return len(first & second) / len(first | second) if first | second else 0.0


# --- the file ---------------------------------------------------------------------------------------------------------


def write_sheet(path: str | Path, sheet: Iterable[Row]) -> int:
    """Write the sheet (tabs between columns; a name that ends in ``.csv``: commas); how many rows. UsageError if that
    fails."""
    place = Path(path)
    rows = [[getattr(row, column) for column in COLUMNS] for row in sheet]
    held = io.StringIO()
    write_csv(held, COLUMNS, rows, as_is=prints_as_is(), delimiter=_delimiter(place))
    write_text_privately(place, held.getvalue())
    return len(rows)


def read_sheet(path: str | Path) -> list[Row]:
    """The rows of a sheet that a person has filled. UsageError, which names the row, for one with another category."""
    place = Path(path)
    text = text_of(place, hint="save it as UTF-8")
    table = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(place), strict=True)
    try:
        head, *body = [row for row in table if any(cell.strip() for cell in row)] or [[]]
    except csv.Error as error:
        raise UsageError(f"'{place}' is no table (line {table.line_num})") from error
    if lacking := [column for column in COLUMNS if column not in head]:
        raise UsageError(
            f"'{place}' is no review sheet: {', '.join(lacking)} missing. Hint: eval coral --review writes one"
        )
    found = []
    for number, cells in enumerate(body, 2):
        output = dict(zip(head, cells, strict=False))
        row = Row(**{column: output.get(column, "") for column in COLUMNS})
        category = row.category.strip().lower()
        if category and category not in CATEGORIES:
            raise UsageError(
                f"row {number} of '{place}' has no such category. Hint: {', '.join(CATEGORIES)}, or nothing"
            )
        found.append(Row(**{column: getattr(row, column) for column in COLUMNS} | {"category": category}))
    return found


def _delimiter(place: Path) -> str:
    return "," if place.suffix.lower() == ".csv" else "\t"


# --- the count --------------------------------------------------------------------------------------------------------


def tally(sheet: Iterable[Row]) -> dict[str, Any]:
    """The share of each category by inference and in all, of the rows that were filled; those left open are counted.

    ``agreed``: of filled rows with a suggestion, those in which the reviewer chose it.
    """
    by_inference: dict[tuple[str, str], list[Row]] = {}
    every: list[Row] = []
    for row in sheet:
        by_inference.setdefault((row.kind, row.inference), []).append(row)
        every.append(row)
    suggested = [row for row in every if row.category and row.suggested]
    return {
        "inferences": [
            {"kind": kind, "inference": inference} | _shares(held) for (kind, inference), held in by_inference.items()
        ],
        "all": _shares(every),
        "suggested": {"rows": len(suggested), "agreed": sum(row.category == row.suggested for row in suggested)},
    }


def _shares(held: Sequence[Row]) -> dict[str, Any]:
    filled = [row.category for row in held if row.category]
    counts, groups = Counter(filled), Counter(GROUPS[one] for one in filled)

    def share(number: int) -> float | None:
        return round(number / len(filled), 4) if filled else None

    return {
        "rows": len(filled),
        "open": len(held) - len(filled),
        "categories": {name: share(counts[name]) for name in CATEGORIES},
        "groups": {name: share(groups[name]) for name in ("correct", "partially correct", "incorrect")},
    }
