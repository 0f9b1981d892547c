"""The shipped pairs: paraphrases, intersections and subtypes, each list checked as it is read.

The three kinds are those of the Automatic Cohort Retrieval paper, section 3.2.1 (what they are) and 4.4.1 to 4.4.3
(how they are scored). They need no labels and fit any knowledge base.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ....query_lang.errors import QueryError
from ....query_lang.parsing.parse import parse
from ..acr.bank import load_bank

_FOLDER: Final = Path(__file__).parent

#: Kinds of paraphrase, and what is varied in each.
PARAPHRASE_KINDS: Final = {
    "brand": "the brand and the generic name of a drug",
    "code": "a code of a terminology and the name",
    "abbreviation": "the short form and the name in full",
    "synonym": "two names of one concept, also by the order of their words, spelling or number",
    "union": "a class or value set and all of its members",
    "boolean": "and, or, not, except and at least in another arrangement",
    "definition": "a criterion named before and the same written in its place",
    "scope": "a scope around what is one fact anyway",
    "condition": "comparisons and conditions spelled two ways",
    "time": "relations in time and windows spelled two ways",
}
#: Worlds in which a paraphrase is expected: where the bounds are not exact (a disjunction over days), only the answer.
_WORLDS: Final = ("all", "believed")


class PairsError(ValueError):
    """A list of pairs that cannot be used; the message names the file, the line and what is wrong."""


@dataclass(frozen=True, slots=True)
class Paraphrase:
    """Two queries (or ``bank ID``) that mean the same: their answers must be equal sets.

    ``believed_only``: equal in the believed world; the bounds of the other two worlds may differ in tightness.
    """

    kind: str
    left: str
    right: str
    believed_only: bool = False


@dataclass(frozen=True, slots=True)
class Intersection:
    """Two queries and one that asks both: its answer must be what the answers to the two have in common.

    A query is written out, or is one of the bank (``bank 57``). ``both`` empty: the two joined by *and*.
    """

    left: str
    right: str
    both: str = ""


@dataclass(frozen=True, slots=True)
class Subtype:
    """Two bank ids: whoever answers ``child`` must answer ``parent``; ``reason`` says why."""

    child: int
    parent: int
    reason: str


@functools.cache
def load_paraphrases(folder: Path = _FOLDER) -> tuple[Paraphrase, ...]:
    """All paraphrases in the order of the file. PairsError for a list that says a thing twice, or says nothing."""
    pairs = []
    seen: dict[frozenset[str], int] = {}
    for number, (kind, worlds, left, right) in rows_of(folder / "paraphrases.tsv", ("kind", "worlds", "left", "right")):
        where = f"paraphrases.tsv, line {number}"
        if kind not in PARAPHRASE_KINDS:
            raise PairsError(f"{where}: kind {kind!r} is not one of {', '.join(PARAPHRASE_KINDS)}")
        if worlds not in _WORLDS:
            raise PairsError(f"{where}: worlds {worlds!r} is not one of {', '.join(_WORLDS)}")
        _check(where, (left, right), seen, number)
        pairs.append(Paraphrase(kind, left, right, worlds == "believed"))
    return tuple(pairs)


@functools.cache
def load_intersections(folder: Path = _FOLDER) -> tuple[Intersection, ...]:
    """All intersections in the order of the file. PairsError as above, and for a query that the bank has not."""
    triples = []
    seen: dict[frozenset[str], int] = {}
    for number, (left, right, both) in rows_of(folder / "intersections.tsv", ("left", "right", "both")):
        where = f"intersections.tsv, line {number}"
        _check(where, (left, right), seen, number)
        if both:
            _check(where, (both,), {}, number)
        triples.append(Intersection(left, right, both))
    return tuple(triples)


@functools.cache
def load_subtypes(folder: Path = _FOLDER) -> tuple[Subtype, ...]:
    """Every pair of bank queries of which one implies the other. PairsError for an unknown id or a pair given twice."""
    known = {one.id for one in load_bank()}
    pairs: list[Subtype] = []
    seen: set[tuple[int, int]] = set()
    for number, (children, parents, reason) in rows_of(folder / "subtypes.tsv", ("children", "parents", "reason")):
        where = f"subtypes.tsv, line {number}"
        if not reason:
            raise PairsError(f"{where}: no reason is given")
        for child in _ids(where, children, known):
            for parent in _ids(where, parents, known):
                if child == parent or (child, parent) in seen:
                    raise PairsError(f"{where}: {child} under {parent} is said before, or of one query")
                seen.add((child, parent))
                pairs.append(Subtype(child, parent, reason))
    return tuple(pairs)


def normalized(query: str) -> str:
    """The text with single blanks: two texts that differ in blanks only are one."""
    return " ".join(query.split())


def written(text: str) -> str:
    """The query that ``bank ID`` stands for (PairsError if there is none); any other text is a query itself."""
    head, _, id_ = text.partition(" ")
    if head != "bank" or not id_.isdigit():
        return text
    for one in load_bank():
        if one.id == int(id_):
            return one.query
    raise PairsError(f"the bank has no query {id_}")


def rows_of(path: Path, columns: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """Line number and cells of each row; short rows are filled, the header must be ``columns``."""
    header = True
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        cells = [cell.strip() for cell in line.split("\t")]
        if header:
            if cells != list(columns):
                raise PairsError(f"{path.name}, line {number}: the columns are {', '.join(columns)}")
            header = False
            continue
        if len(cells) > len(columns):
            raise PairsError(f"{path.name}, line {number}: {len(cells)} cells, and {len(columns)} columns")
        yield number, cells + [""] * (len(columns) - len(cells))


def _check(where: str, texts: Sequence[str], seen: dict[frozenset[str], int], number: int) -> None:
    """Each text parses, the two differ, and no line before has the same two."""
    for text in texts:
        try:
            parse(written(text))
        except (QueryError, PairsError) as error:
            raise PairsError(f"{where}: {error}") from error
    pair = frozenset(normalized(text) for text in texts)
    if len(pair) < len(texts):
        raise PairsError(f"{where}: both sides are the same text")
    if pair in seen:
        raise PairsError(f"{where}: the same pair stands in line {seen[pair]}")
    seen[pair] = number


def _ids(where: str, text: str, known: set[int]) -> list[int]:
    ids = [int(word) for word in text.split() if word.isdigit() and int(word) in known]
    if not ids or len(ids) != len(text.split()):
        raise PairsError(f"{where}: {text!r} are not all ids of the bank")
    return ids
