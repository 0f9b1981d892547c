"""The ontology as a file that is read in parts: hierarchy and names at once, what a query seldom needs when it does.

From the tables of a knowledge base the ontology takes a third of a second to read, most of it for names. The file holds
what :class:`~.concepts.ConceptTable` makes of them, a part a line, each in JSON.
"""

from __future__ import annotations

import functools
import hashlib
import json
import mmap
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, overload

from ..files.kept_file import KeptFile, kept
from . import name_index, normal_forms
from .concepts import ConceptTable
from .name_index import NameIndex
from .rows import Abbreviation, ConceptRow, ValueSet

#: The file of the ontology, in the folder of the index.
CONCEPTS: Final = "concepts"
_HEADER, _HIERARCHY, _SETS, _NAMES, _DETAILS = range(5)


def write_concepts(path: Path, concepts: ConceptTable) -> None:
    """Write all of an ontology."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(_written(concepts))


@functools.lru_cache(maxsize=2)
def _written(concepts: ConceptTable) -> bytes:
    """The bytes of the file; they are kept, for who writes many knowledge bases writes one ontology again and again."""
    rows = list(concepts.rows())
    index = concepts.name_index()
    parts = (
        {"concepts": len(rows), "names": _rules_of_names()},
        [
            [row.id for row in rows],
            [row.kind for row in rows],
            [row.name for row in rows],
            [row.parents for row in rows],
        ],
        [[one.name, one.members, one.aliases] for one in concepts.value_sets()],
        [index.normal, index.exact_short],
        [
            [row.synonyms for row in rows],
            [[[short.text, short.cues] for short in row.abbreviations] for row in rows],
            [row.codes for row in rows],
            [row.site for row in rows],
            [row.source for row in rows],
        ],
    )
    return "".join(json.dumps(part, ensure_ascii=False, separators=(",", ":")) + "\n" for part in parts).encode()


class KeptConcepts(ConceptTable):
    """The ontology of such a file: gives the answers of the table that was written. Safe to share between threads."""

    def __init__(self, path: Path | KeptFile) -> None:
        """DamagedIndex if the file is none of these, or is not as it was written."""
        self._file = kept(path)
        with self._file.decoding():
            self._ends = _line_ends(self._file.data)
            self._header = self._part(_HEADER)
            self._ids, self._kinds, self._names_of, self._parent_ids = self._part(_HIERARCHY)
            if len(self._ends) != _DETAILS + 1 or len(self._ids) != self._header["concepts"]:
                raise ValueError("cut off")
            sets = [ValueSet(name, tuple(members), tuple(aliases)) for name, members, aliases in self._part(_SETS)]
        super().__init__((), sets)
        self._rows = _Rows(self)
        self._position = {concept: position for position, concept in enumerate(self._ids)}
        self._parents = [
            [at for parent in parents if (at := self._position.get(parent)) is not None and at != position]
            for position, parents in enumerate(self._parent_ids)
        ]
        self._children = [[] for _ in self._ids]
        for position, parents in enumerate(self._parents):
            for at in parents:
                self._children[at].append(position)

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong with the data."""
        return ConceptTable(self.rows()).problems

    def kind(self, concept: str) -> str:
        """The kind of a concept; KeyError if there is none of this id."""
        found: str = self._kinds[self._position[concept]]
        return found

    def name(self, concept: str) -> str:
        """The preferred name; the id itself if it is unknown (for display)."""
        position = self._position.get(concept)
        return concept if position is None else self._names_of[position]

    def name_index(self) -> NameIndex:
        """The index of names, as it was written unless the rules of spelling have changed since."""
        if self._names is None:
            if self.rules_of_names != _rules_of_names():
                return super().name_index()
            with self._file.decoding():
                normal, exact_short = self._part(_NAMES)
            self._names = NameIndex(self._rows, self._position, exact_short, normal)
        return self._names

    @property
    def rules_of_names(self) -> str:
        """A digest of the rules by which the names were folded when the file was written."""
        found: str = self._header["names"]
        return found

    def row_at(self, position: int) -> ConceptRow:
        """The concept at a place of the files."""
        synonyms, abbreviations, codes, sites, sources = self._details
        return ConceptRow(
            self._ids[position],
            self._kinds[position],
            self._names_of[position],
            tuple(self._parent_ids[position]),
            tuple(synonyms[position]),
            tuple(Abbreviation(text, tuple(cues)) for text, cues in abbreviations[position]),
            tuple(codes[position]),
            sites[position],
            sources[position],
        )

    @functools.cached_property
    def _details(self) -> Any:
        with self._file.decoding():
            return self._part(_DETAILS)

    def _part(self, number: int) -> Any:
        """What a line holds. All bytes up to its end are proven: those before it tell where it begins."""
        self._file.prove(0, self._ends[number] + 1)
        begin = self._ends[number - 1] + 1 if number else 0
        return json.loads(self._file.data[begin : self._ends[number]])

    def _id(self, position: int) -> str:
        found: str = self._ids[position]
        return found


def _line_ends(data: mmap.mmap | bytes) -> list[int]:
    """Where the lines end; ValueError where the last one does not."""
    ends: list[int] = []
    begin = 0
    while (end := data.find(b"\n", begin)) >= 0:
        ends.append(end)
        begin = end + 1
    if begin != len(data):
        raise ValueError("cut off")
    return ends


class _Rows(Sequence[ConceptRow]):
    """The concepts in the order of the files, each made when it is asked for and then kept."""

    def __init__(self, table: KeptConcepts) -> None:
        self._table = table
        self._made: dict[int, ConceptRow] = {}

    def __len__(self) -> int:
        return len(self._table)

    @overload
    def __getitem__(self, at: int) -> ConceptRow: ...
    @overload
    def __getitem__(self, at: slice) -> list[ConceptRow]: ...
    def __getitem__(self, at: int | slice) -> ConceptRow | list[ConceptRow]:
        if isinstance(at, slice):
            return [self[one] for one in range(*at.indices(len(self)))]
        found = self._made.get(at)
        if found is None:
            if not 0 <= at < len(self):
                raise IndexError(at)
            found = self._made[at] = self._table.row_at(at)
        return found

    def __iter__(self) -> Iterator[ConceptRow]:
        return (self[at] for at in range(len(self)))


@functools.cache
def _rules_of_names() -> str:
    """A digest of what names are folded by: a file that was written under other rules has other normal forms."""
    digest = hashlib.blake2b(digest_size=8)
    files: Iterable[str | None] = (
        normal_forms.__file__,
        name_index.__file__,
        str(normal_forms.ONTOLOGY_FOLDER / "spelling.tsv"),
    )
    for path in files:
        digest.update(Path(path or "").read_bytes())
    return digest.hexdigest()
