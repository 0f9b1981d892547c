"""The terms that every format is read as: with codes, names and parents, and what of them was left out."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..files.limits import current_limits, limits_in_words
from ..ontology.name_index import bare_system, code_systems
from ..ontology.rows import Abbreviation


@dataclass(frozen=True, slots=True)
class Term:
    """One term. ``code`` and ``codes`` (others that mean the same) are ``SYSTEM:CODE``, ``parents`` are codes of terms;
    ``kind`` is empty where the source does not tell it, ``otherwise`` is the kind when nothing known tells it."""

    code: str
    name: str
    synonyms: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()
    kind: str = ""
    abbreviations: tuple[Abbreviation, ...] = ()
    otherwise: str = ""


@dataclass(frozen=True, slots=True, order=True)
class Dropped:
    """What was left out of an import: the term's code, the name or code in question, and a key of ``[reasons]``."""

    code: str
    what: str
    reason: str


@dataclass(slots=True)
class Terms:
    """The terms of a source by code, and what was left out of it."""

    held: dict[str, Term] = field(default_factory=dict)
    dropped: list[Dropped] = field(default_factory=list)

    def add(self, term: Term) -> None:
        """Take in a term; of two with one code the first stands."""
        self.held.setdefault(term.code, term)

    def drop(self, code: str, what: str, reason: str) -> None:
        """Leave something out."""
        self.dropped.append(Dropped(code, what, reason))

    def below(self, code: str) -> Terms:
        """The term of this code (with or without its system) and all below it. UsageError if there is none."""
        wanted = canonical(code) if ":" in code else code
        top = (
            wanted if wanted in self.held else next((one for one in self.held if one.partition(":")[2] == wanted), None)
        )
        if top is None:
            raise UsageError(f"--below: no term of the source has the code '{code}'")
        kept = branch(top, ((term.code, parent) for term in self.held.values() for parent in term.parents))
        held = {one: term for one, term in self.held.items() if one in kept}
        return Terms(held, [one for one in self.dropped if one.code in kept])


def branch(top: str, edges: Iterable[tuple[str, str]]) -> set[str]:
    """``top`` and all below it; an edge is child and parent."""
    children: dict[str, list[str]] = {}
    for child, parent in edges:
        children.setdefault(parent, []).append(child)
    kept, waiting = {top}, [top]
    while waiting:
        fresh = [child for child in children.get(waiting.pop(), ()) if child not in kept]
        kept.update(fresh)
        waiting.extend(fresh)
    return kept


@functools.cache
def tables() -> Mapping[str, Any]:
    """The tables of ``importers.toml``."""
    return tomllib.loads((Path(__file__).parent / "importers.toml").read_text(encoding="utf-8"))


def canonical(code: str) -> str:
    """``SYSTEM:CODE`` with the system spelled as in the shipped data: ``NCI:C3088`` is ``NCIT:C3088``."""
    system, _, value = code.partition(":")
    bare = bare_system(system)
    return f"{code_systems().get(bare, bare)}:{value.strip()}"


def unique(words: Iterable[str]) -> tuple[str, ...]:
    """The words in their order, without blanks around them, empty ones and repeats."""
    return tuple(dict.fromkeys(word for one in words if (word := one.strip())))


def lines_of(path: Path) -> Iterator[str]:
    """The lines of a UTF-8 file without their ends. UsageError when it cannot be read."""
    try:
        longest = current_limits().line
        with path.open(encoding="utf-8-sig", newline="\n") as file:
            while line := file.readline(longest + 1):
                if len(line) > longest:
                    words = "{line}; {line_raised}".format_map(limits_in_words())
                    raise UsageError(f"'{path}' has a line that is longer than {words}")
                yield line.rstrip("\r\n")
    except OSError as error:
        raise UsageError(f"cannot read '{path}': {error.strerror or type(error).__name__}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"'{path}' is not UTF-8. Hint: convert it, for example with iconv -t utf-8") from error


def rows_of(path: Path, needed: Sequence[str]) -> Iterator[dict[str, str]]:
    """The rows of an unquoted tab-separated file by its column names, lower case.

    UsageError when a column is missing, or a row ends before it.
    """
    lines = lines_of(path)
    header = [name.strip().lower() for name in next(lines, "").split("\t")]
    missing = [name for name in needed if name not in header]
    if missing:
        raise UsageError(
            f"'{path}': no column '{missing[0]}'. Hint: the file is tab-separated and begins with its column names"
        )
    least = 1 + max((header.index(name) for name in needed), default=0)
    for number, line in enumerate(lines, 2):
        if line.strip():
            cells = line.split("\t")
            if len(cells) < least:
                raise UsageError(
                    f"'{path}', line {number}: {len(cells)} cells, where the columns asked for end with cell {least}. "
                    "Hint: the file is cut off, or was changed; take it anew"
                )
            yield dict(zip(header, cells, strict=False))


def file_of(sources: Iterable[Path], *names: str, needed: bool = True) -> Path | None:
    """The file of one of these names (lower or upper case) among the sources or in a folder of theirs.

    UsageError if there is none and it is ``needed``.
    """
    wanted = {name.lower() for name in names}
    for source in sources:
        for path in sorted(source.iterdir()) if source.is_dir() else [source]:
            if path.name.lower() in wanted:
                return path
    if needed:
        raise UsageError(f"there is no {names[0]} in {', '.join(map(str, sources)) or 'no source'}")
    return None
