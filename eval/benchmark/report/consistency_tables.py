"""The tables of consistency: how many pairs of answers disagree; the pairs of the paper's Tables 2 to 4 in our runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from ...bank.acr.bank import load_bank
from .form import BenchmarkReport, ConsistencyCheck, ConsistencyPart
from .layout import PAPER, SECTION, Column, Row, Table
from .paper import Inconsistency, Paper
from .wording import MISSING, count, per_cent, share

#: Kind of check -> (number of the paper's table, what must hold).
KINDS: Final[Mapping[str, tuple[int, str]]] = {
    "paraphrase": (2, "Paraphrases: A and B ask the same, so the answers are equal"),
    "intersection": (3, "Intersections: B asks more than A does, so nobody answers B alone"),
    "subtype": (4, "Subtypes: B is a kind of A, so nobody answers B alone"),
}
_CHECKED: Final = ("consistent", "violated")
_SUMS: Final = ("checked", "trivial", "violated", "%", "patients", "not answered")
_COLUMNS: Final = (
    Column("system", words=True),
    Column("figures of", words=True),
    Column("|A|"),
    Column("|B|"),
    Column("B without A"),
    Column("% of B"),
)
#: Of two questions that ask the same, either answer may have too many.
_BOTH: Final = (Column("A without B"), Column("% of A"))


def consistency(report: BenchmarkReport, paper: Paper) -> tuple[Table, ...]:
    """The sums over all pairs, then a table for each kind of check; one without rows where no system was checked."""
    return (_sums(report), *(_pairs(kind, report, paper) for kind in KINDS))


def violations(report: BenchmarkReport, limit: int) -> Iterator[tuple[str, str, int, tuple[ConsistencyCheck, ...]]]:
    """System, kind, number of pairs that disagree, and the first ``limit`` of them, the worst first."""
    for system in report.systems:
        for kind, part in (system.scores.consistency or {}).items():
            worst = sorted(
                (one for one in part.pairs if one.status == "violated"),
                key=lambda one: (-(one.only_first or 0) - (one.only_second or 0), one.first, one.second),
            )
            if worst:
                yield system.name, kind, max(part.violated, len(worst)), tuple(worst[:limit])


def pairs_of(parts: Iterable[ConsistencyPart]) -> Mapping[frozenset[str], bool]:
    """The pairs of questions that were checked, each with whether its answers contradict each other in any check.

    A pair can stand under several: an intersection is a subtype as well, two paraphrases are subtypes both ways.
    """
    found: dict[frozenset[str], bool] = {}
    for one in (pair for part in parts for pair in part.pairs):
        if one.status in _CHECKED:
            pair = frozenset((one.first, one.second))
            found[pair] = found.get(pair, False) or one.status == "violated"
    return found


def _sums(report: BenchmarkReport) -> Table:
    rows = []
    for system in report.systems:
        if system.scores.consistency is None:
            continue
        cells = []
        for kind in KINDS:
            part = system.scores.consistency.get(kind)
            if part is None:
                cells += [MISSING] * len(_SUMS)
            else:
                cells += [count(part.checked), count(part.of_empty_sets), count(part.violated)]
                cells += [per_cent(share(part.violated, part.checked)), count(part.patients_contradicting)]
                cells.append(count(part.abstained + part.failed + part.missing))
        rows.append(Row((system.name, *cells)))
    columns = [Column(name, f"{kind} pairs") for kind in KINDS for name in _SUMS]
    return Table(
        "consistency",
        "Consistency of each system with itself (the paper's section 4.4)",
        (Column("system", words=True), *columns),
        tuple(rows),
        "No label is needed for these: two answers of one system are held against each other. A pair of which one side "
        "was not answered is not checked. Trivial: it holds because nobody was named.",
    )


def _pairs(kind: str, report: BenchmarkReport, paper: Paper) -> Table:
    number, rule = KINDS[kind]
    texts = {str(one.id): one.text for one in load_bank()}
    both = kind == "paraphrase"
    checked = any(system.scores.consistency for system in report.systems)
    rows: list[Row] = []
    for pair in (one for one in paper.inconsistencies if one.kind == kind and checked):
        rows.append(Row((f"A {_question_text(pair.left, texts)}; B {_question_text(pair.right, texts)}",), SECTION))
        for system in report.systems:
            part = (system.scores.consistency or {}).get(kind)
            found = None if part is None else _found(pair, part.pairs)
            if found is not None:
                rows.append(Row((system.name, "this run", *_cells(*found, both=both))))
        reader = _cells(*pair.sizes, pair.beyond, pair.missing, both=both)
        rows.append(Row(("ada+GPT4", "the paper", *reader), PAPER))
        nobody = _cells(None, None, 0, 0, both=both)
        rows.append(Row(("Hypercube", "the paper", *nobody), PAPER))
    columns = (*_COLUMNS, *_BOTH) if both else _COLUMNS
    return Table(f"table-{number}", f"{rule} (the paper's Table {number})", columns, tuple(rows))


def _question_text(bank: int, texts: Mapping[str, str]) -> str:
    text = texts.get(str(bank), "")
    return f"{bank} ({text})" if text else str(bank)


def _found(
    pair: Inconsistency, checks: tuple[ConsistencyCheck, ...]
) -> tuple[int | None, int | None, int | None, int | None] | None:
    """Sizes of A and B, who is in B alone, who in A alone, of the pair of the paper; None if it was not checked."""
    left, right = str(pair.left), str(pair.right)
    for one in checks:
        if one.status not in _CHECKED:
            continue
        if (one.second, one.first) == (left, right):
            return one.second_size, one.first_size, one.only_first, one.only_second
        # Of two paraphrases none is the wider one: either may stand first.
        if pair.missing is not None and (one.first, one.second) == (left, right):
            return one.first_size, one.second_size, one.only_second, one.only_first
    return None


def _cells(left: int | None, right: int | None, beyond: int | None, missing: int | None, *, both: bool) -> list[str]:
    cells = [count(left), count(right), count(beyond), _part_of(beyond, right)]
    return [*cells, count(missing), _part_of(missing, left)] if both else cells


def _part_of(part: int | None, whole: int | None) -> str:
    taken = None if part is None else share(part, whole)
    return MISSING if taken is None else f"{100 * taken:.0f}"
