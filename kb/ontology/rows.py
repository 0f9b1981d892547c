"""Concepts as the data files write them: rows of nine columns, value sets, and rows added from another folder."""

from __future__ import annotations

import dataclasses
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ..errors import OntologyError

#: The kinds of concept.
CONCEPT_KINDS: Final = (
    "tumor",
    "site",
    "drug",
    "regimen",
    "gene",
    "biomarker",
    "procedure",
    "radiation",
    "condition",
    "state",
    "value",
    "performance",
)
COLUMNS: Final = ("id", "kind", "name", "parents", "synonyms", "abbreviations", "codes", "site", "source")

_ABBREVIATION = re.compile(r"([^{}]+?)\s*(?:\{([^{}]*)\})?")


@dataclass(frozen=True, slots=True)
class Abbreviation:
    """A short form, matched case-sensitively; with ``cues``, only where one of them stands near."""

    text: str
    cues: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ConceptRow:
    """One concept as written in the data: ids of its parents, its names, its codes (``SYSTEM:CODE``)."""

    id: str
    kind: str
    name: str
    parents: tuple[str, ...] = ()
    synonyms: tuple[str, ...] = ()
    abbreviations: tuple[Abbreviation, ...] = ()
    codes: tuple[str, ...] = ()
    site: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class ValueSet:
    """A named list of concept ids, reused by name in queries."""

    name: str
    members: tuple[str, ...]
    aliases: tuple[str, ...] = ()


def read_folder(folder: Path, problems: list[str]) -> tuple[list[ConceptRow], list[ValueSet]]:
    """The concepts and value sets of one folder; files of other columns are passed over."""
    rows: list[ConceptRow] = []
    for path in sorted(folder.glob("*.tsv")):
        rows.extend(read_concepts(path, problems))
    path = folder / "value_sets.toml"
    return rows, read_value_sets(path) if path.exists() else []


def read_concepts(path: Path, problems: list[str]) -> list[ConceptRow]:
    """The concepts of one file, or none if its header is not the nine columns. Bad lines are told in ``problems``."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise OntologyError(f"{path.name} cannot be read: {error}") from error
    rows: list[ConceptRow] = []
    header: tuple[str, ...] | None = None
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.startswith("#"):
            continue
        place = f"{path.name}:{number}"
        cells = tuple(cell.strip() for cell in line.split("\t"))
        if header is None:
            header = cells
            if header != COLUMNS:
                return []
            continue
        if len(cells) > len(COLUMNS) or len(cells) < 3:
            problems.append(f"{place}: {len(cells)} columns instead of {len(COLUMNS)}; the line is skipped")
            continue
        cells += ("",) * (len(COLUMNS) - len(cells))
        rows.append(
            ConceptRow(
                cells[0],
                cells[1],
                cells[2],
                _parts(cells[3]),
                _parts(cells[4]),
                parse_abbreviations(cells[5], place, problems),
                _parts(cells[6]),
                cells[7],
                cells[8],
            )
        )
    return rows


def parse_abbreviations(cell: str, place: str, problems: list[str]) -> tuple[Abbreviation, ...]:
    """``PR{ER,HER2}|NSCLC`` as :class:`Abbreviation` values; what cannot be read is told in ``problems``."""
    found = []
    for part in _parts(cell):
        match = _ABBREVIATION.fullmatch(part)
        if match is None:
            problems.append(f"{place}: abbreviation {part!r} cannot be read; write SHORT or SHORT{{cue,cue}}")
            continue
        cues = tuple(cue.strip() for cue in (match[2] or "").split(",") if cue.strip())
        found.append(Abbreviation(match[1], cues))
    return tuple(found)


def _parts(cell: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in cell.split("|") if part.strip())


def read_value_sets(path: Path) -> list[ValueSet]:
    """The named sets of ``value_sets.toml``: ``name = [ids]`` or a table with ``members`` and perhaps ``name``
    (for people) and ``aliases``."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise OntologyError(f"{path.name} cannot be read: {error}") from error
    found = []
    for name, entry in data.items():
        if isinstance(entry, Mapping):
            members = entry.get("members", [])
            aliases = list(dict.fromkeys([*filter(None, [entry.get("name")]), *entry.get("aliases", [])]))
        else:
            members, aliases = entry, []
        if not isinstance(members, list) or not all(isinstance(member, str) for member in members):
            raise OntologyError(f"{path.name}: {name!r} is not a list of concept ids")
        found.append(ValueSet(name, tuple(members), tuple(aliases)))
    return found


# --- added rows -----------------------------------------------------------------------------------------------------


def extended(rows: Iterable[ConceptRow], added: Iterable[ConceptRow], problems: list[str]) -> list[ConceptRow]:
    """The rows in their order, each joined with the added ones of its id, then the new ones.

    An added row of another kind than the concept it names is told in ``problems`` and left out.
    """
    held: dict[str, ConceptRow] = {}
    twice = [row for row in rows if held.setdefault(row.id, row) is not row]
    for row in added:
        there = held.setdefault(row.id, row)
        if there.kind != row.kind:
            problems.append(f"concept {row.id!r} is a {there.kind}; a row that would extend it is a {row.kind}")
        elif there is not row:
            held[row.id] = joined(there, row)
    return [*held.values(), *twice]


def joined(row: ConceptRow, more: ConceptRow) -> ConceptRow:
    """``row`` with what ``more`` adds; another preferred name becomes a synonym, cues of a known short form stand."""
    names = dict.fromkeys((*row.synonyms, more.name, *more.synonyms))
    names.pop(row.name, None)
    known = {short.text for short in row.abbreviations}
    return dataclasses.replace(
        row,
        parents=tuple(dict.fromkeys((*row.parents, *more.parents))),
        synonyms=tuple(names),
        abbreviations=(*row.abbreviations, *(short for short in more.abbreviations if short.text not in known)),
        codes=tuple(dict.fromkeys((*row.codes, *more.codes))),
        site=row.site or more.site,
        source="; ".join(dict.fromkeys(filter(None, (row.source, more.source)))),
    )
