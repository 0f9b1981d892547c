"""Concepts as the data files write them: rows of nine or ten columns, value sets, rows added from another folder."""

from __future__ import annotations

import dataclasses
import re
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ..errors import OntologyError, UsageError
from ..files.text_files import text_of

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
    "structure",
    "feature",
    "performance",
    "vital",
    "lab",
    "measurement",
    "allergen",
    "encounter",
)
COLUMNS: Final = ("id", "kind", "name", "parents", "synonyms", "abbreviations", "codes", "site", "source")
#: With the tenth column, which may be left out: names that say more than the concept of their row.
ALL_COLUMNS: Final = (*COLUMNS, "narrower")

_POSSESSIVE = re.compile(r"['’](?:s\b)?")
_NOT_ID = re.compile(r"[^a-z0-9]+")
_ABBREVIATION = re.compile(r"([^{}]+?)\s*(?:\{([^{}]*)\})?")


@dataclass(frozen=True, slots=True)
class Abbreviation:
    """A short form, matched case-sensitively; with ``cues``, only where one of them stands near."""

    text: str
    cues: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ConceptRow:
    """One concept as written in the data: ids of its parents, its names, its codes (``SYSTEM:CODE``).

    ``narrower`` are names that say more than the concept does: :func:`spread` makes a row of each.
    """

    id: str
    kind: str
    name: str
    parents: tuple[str, ...] = ()
    synonyms: tuple[str, ...] = ()
    abbreviations: tuple[Abbreviation, ...] = ()
    codes: tuple[str, ...] = ()
    site: str = ""
    source: str = ""
    narrower: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ValueSet:
    """A named list of concept ids, reused by name in queries."""

    name: str
    members: tuple[str, ...]
    aliases: tuple[str, ...] = ()


def read_folder(folder: Path, problems: list[str]) -> tuple[list[ConceptRow], list[ValueSet]]:
    """The concepts and value sets of one folder, narrower names spread; files of other columns are passed over."""
    rows: list[ConceptRow] = []
    for path in sorted(folder.glob("*.tsv")):
        rows.extend(read_concepts(path, problems))
    path = folder / "value_sets.toml"
    return spread(rows, problems), read_value_sets(path) if path.exists() else []


def read_concepts(path: Path, problems: list[str]) -> list[ConceptRow]:
    """The concepts of one file, or none if its header is not the columns, with or without the tenth. Bad lines are told
    in ``problems``."""
    try:
        lines = text_of(path).splitlines()
    except UsageError as error:
        raise OntologyError(f"{path.name} cannot be read: {error}") from error
    rows: list[ConceptRow] = []
    header: tuple[str, ...] | None = None
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.startswith("#"):
            continue
        place = f"{path.name}:{number}"
        cells = tuple(map(str.strip, line.split("\t")))
        if header is None:
            header = cells
            if header not in (COLUMNS, ALL_COLUMNS):
                return []
            continue
        if len(cells) > len(header) or len(cells) < 3:
            problems.append(f"{place}: {len(cells)} columns instead of {len(header)}; the line is skipped")
            continue
        cells += ("",) * (len(ALL_COLUMNS) - len(cells))
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
                _parts(cells[9]),
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
    if "|" not in cell:  # nearly all
        return (cell.strip(),) if cell and not cell.isspace() else ()
    return tuple(part.strip() for part in cell.split("|") if part.strip())


def read_value_sets(path: Path) -> list[ValueSet]:
    """The named sets of ``value_sets.toml``: ``name = [ids]`` or a table with ``members`` and perhaps ``name``
    (for people) and ``aliases``."""
    try:
        data = tomllib.loads(text_of(path))
    except (UsageError, tomllib.TOMLDecodeError) as error:
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


# --- narrower names -------------------------------------------------------------------------------------------------


def spread(rows: Sequence[ConceptRow], problems: list[str]) -> list[ConceptRow]:
    """The rows in order, and behind each a row of its own for every narrower name: below it, of its kind and site.

    A name that stands at several rows lies below each of them; a row that has its id already gets the parent.
    """
    wider: dict[str, list[tuple[str, ConceptRow]]] = {}
    for row in rows:
        for name in row.narrower:
            wider.setdefault(id_of_name(name), []).append((name, row))
    made = {row.id for row in rows}
    found: list[ConceptRow] = []
    for row in rows:
        above = [one.id for name, one in wider.get(row.id, ()) if _same_kind(row, name, one, problems)]
        parents = tuple(dict.fromkeys((*row.parents, *above)))
        stays = parents == row.parents and not row.narrower
        found.append(row if stays else dataclasses.replace(row, narrower=(), parents=parents))
        for name in row.narrower:
            concept = id_of_name(name)
            if concept not in made:
                made.add(concept)
                below = ConceptRow(concept, row.kind, name, site=row.site, source=row.source)
                names = dict.fromkeys(other for other, one in wider[concept] if _same_kind(below, other, one, problems))
                tops = dict.fromkeys(one.id for _, one in wider[concept] if one.kind == row.kind)
                found.append(dataclasses.replace(below, parents=tuple(tops), synonyms=tuple(names)[1:]))
    return found


def _same_kind(row: ConceptRow, name: str, wider: ConceptRow, problems: list[str]) -> bool:
    if row.kind != wider.kind:
        problems.append(f"{wider.kind} {name!r} below {wider.id!r} has the id of the {row.kind} {row.name!r}")
    return row.kind == wider.kind


def id_of_name(name: str) -> str:
    """The id of a concept that has a name and no row: letters and figures, joined by underscores, no possessive."""
    plain = unicodedata.normalize("NFKD", _POSSESSIVE.sub("", name)).encode("ascii", "ignore").decode()
    return _NOT_ID.sub("_", plain.lower()).strip("_")


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
