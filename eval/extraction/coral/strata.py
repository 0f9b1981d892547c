"""Tests of differences between groups of patients: Kruskal–Wallis, corrected for many tests by Benjamini–Hochberg.

Source: Sushil et al. 2024, Tables S2 and S3.
"""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ....kb.errors import UsageError
from ....kb.files.text_files import text_of
from .scores import missing


@dataclass(frozen=True, slots=True)
class Difference:
    """One test: of one figure of one relation, over the groups of one stratum.

    ``h`` and ``p`` are None where nothing can be tested: fewer than two groups with a score, or all scores equal.
    ``q``: the p-value corrected over all tests of the stratum.
    """

    stratum: str
    relation: str
    figure: str
    groups: Mapping[str, int]
    h: float | None
    p: float | None
    q: float | None = None


def differences(
    tables: Mapping[tuple[str, str], Mapping[str, float]], strata: Mapping[str, Mapping[str, str]]
) -> list[Difference]:
    """The tests of all tables (relation and figure, to document, to score) over all strata (to document, to group).

    A document is one observation, since its sections are not independent of each other. Documents without a group are
    left out.
    """
    found = []
    for stratum, group_of in strata.items():
        tests = [_tested(stratum, *name, scores, group_of) for name, scores in tables.items()]
        found += corrected(tests)
    return found


def _tested(
    stratum: str, relation: str, figure: str, scores: Mapping[str, float], group_of: Mapping[str, str]
) -> Difference:
    groups: dict[str, list[float]] = defaultdict(list)
    for document, score in scores.items():
        if group_of.get(document):
            groups[group_of[document]].append(score)
    h, p = kruskal_wallis([groups[name] for name in sorted(groups)]) or (None, None)
    return Difference(stratum, relation, figure, {name: len(groups[name]) for name in sorted(groups)}, h, p)


def kruskal_wallis(groups: Sequence[Sequence[float]]) -> tuple[float, float] | None:
    """H (corrected for ties) and its p-value by chi square; None for fewer than two groups, or scores all equal."""
    filled = [group for group in groups if group]
    if len(filled) < 2 or len({score for group in filled for score in group}) < 2:
        return None
    try:
        from scipy.stats import kruskal
    except ImportError:
        raise missing("scipy") from None
    result = kruskal(*filled)
    return float(result.statistic), float(result.pvalue)


def corrected(tests: Sequence[Difference]) -> list[Difference]:
    """The tests with their q-values; those without a p-value are none of the family."""
    values = [one.p for one in tests if one.p is not None]
    if not values:
        return list(tests)
    try:
        from scipy.stats import false_discovery_control
    except ImportError:
        raise missing("scipy") from None
    queue = iter(false_discovery_control(values, method="bh"))
    return [one if one.p is None else replace(one, q=float(next(queue))) for one in tests]


def load_strata(path: str | Path, documents: Sequence[str]) -> dict[str, dict[str, str]]:
    """The strata of a table (CSV or TSV): its first column names the document, every other one is a stratum.

    UsageError for a file that cannot be read or that tells of none of the ``documents``.
    """
    place = Path(path)
    text = text_of(place)
    head = text.split("\n", 1)[0]
    rows = [row for row in csv.reader(io.StringIO(text), delimiter="\t" if "\t" in head else ",") if row]
    if not rows or len(rows[0]) < 2:
        raise UsageError(f"'{place}' is no table of strata. Hint: a first column 'document', then one for each stratum")
    names = rows[0][1:]
    known = frozenset(documents)
    found: dict[str, dict[str, str]] = {name: {} for name in names}
    for row in rows[1:]:
        document = row[0].strip()
        if document in known:
            for name, group in zip(names, row[1:], strict=False):
                if group.strip():
                    found[name][document] = group.strip()
    if not any(found.values()):
        raise UsageError(f"'{place}' tells of none of the documents. Hint: its first column holds their names")
    return found
