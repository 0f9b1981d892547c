"""The ontology on the query path: concepts, their closures and their names, in plain dicts and integer lists.

A :class:`ConceptTable` comes from the data files (``kb/ontology/*.tsv``) or from the tables of a knowledge base, and
gives the same answers from both. It imports no graph library: closures are walked once and kept.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from ..errors import UsageError
from ..rare_collections import rare_collections
from .name_index import NameIndex
from .near_names import NearNames
from .normal_forms import ONTOLOGY_FOLDER, normal_form
from .rows import COLUMNS, ConceptRow, ValueSet, extended, read_folder


class ConceptTable:
    """All concepts, with look-up by name and code, and closures over is-a. Safe to share between threads."""

    def __init__(
        self, rows: Iterable[ConceptRow], value_sets: Iterable[ValueSet] = (), problems: Iterable[str] = ()
    ) -> None:
        """``problems`` are what reading the files found; rows that repeat an id are added to them and left out."""
        self._problems = list(problems)
        held: list[ConceptRow] = []
        self._rows: Sequence[ConceptRow] = held
        self._position: dict[str, int] = {}
        for row in rows:
            if row.id in self._position:
                first = self.get(row.id)
                self._problems.append(
                    f"concept {row.id!r} is defined twice: as {first.kind} {first.name!r}, which stands, "
                    f"and as {row.kind} {row.name!r}"
                )
                continue
            self._position[row.id] = len(held)
            held.append(row)
        self._parents: list[list[int]] = [[] for _ in self._rows]
        self._children: list[list[int]] = [[] for _ in self._rows]
        for position, row in enumerate(self._rows):
            for parent in row.parents:
                at = self._position.get(parent)
                if at is None:
                    self._problems.append(f"concept {row.id!r} has the parent {parent!r}, which no file defines")
                elif at != position:
                    self._parents[position].append(at)
                    self._children[at].append(position)
        self._value_sets = {value_set.name: value_set for value_set in value_sets}
        self._below: dict[str, frozenset[str]] = {}
        self._above: dict[str, frozenset[str]] = {}
        self._names: NameIndex | None = None
        # A query with several unknown names asks again.
        self._near_names: dict[frozenset[str] | None, NearNames] = {}

    @classmethod
    def from_files(cls, folder: Path | None = None, extra: Path | None = None) -> ConceptTable:
        """The ontology in ``folder`` (the shipped one by default): every ``.tsv`` whose header is the columns,
        and ``value_sets.toml``. The rows of the folder ``extra`` are added: one whose id is there already extends that
        concept. UsageError when there is no such folder, or no row in it."""
        problems: list[str] = []
        if folder is None:
            rows, value_sets, told = _shipped_rows()
            problems += told
        else:
            rows, value_sets = read_folder(folder, problems)
        if extra is not None:
            if not extra.is_dir():
                raise UsageError(f"--ontology: there is no folder '{extra}'")
            added, added_sets = read_folder(extra, problems)
            if not added and not added_sets:
                raise UsageError(
                    f"--ontology: no concepts in '{extra}'. Hint: a .tsv file there begins with the columns "
                    + ", ".join(COLUMNS)
                )
            rows = extended(rows, added, problems)
            value_sets = [*value_sets, *added_sets]
        return cls(rows, value_sets, problems)

    # --- concepts ---------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._position)

    def __contains__(self, concept: object) -> bool:
        return concept in self._position

    def rows(self) -> Iterator[ConceptRow]:
        """Every concept, in the order of the files."""
        return iter(self._rows)

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong with the data and was passed over: they are shown by :mod:`.lint`."""
        return tuple(self._problems)

    def get(self, concept: str) -> ConceptRow:
        """The concept with this id; KeyError if there is none."""
        return self._rows[self._position[concept]]

    def kind(self, concept: str) -> str:
        """The kind of a concept; KeyError if there is none of this id."""
        return self.get(concept).kind

    def name(self, concept: str) -> str:
        """The preferred name; the id itself if it is unknown (for display)."""
        return self.get(concept).name if concept in self._position else concept

    def names(self, concept: str) -> tuple[str, ...]:
        """Preferred name, synonyms, abbreviations, without repeats; KeyError if the id is unknown."""
        row = self.get(concept)
        return tuple(dict.fromkeys((row.name, *row.synonyms, *(short.text for short in row.abbreviations))))

    # --- closures ---------------------------------------------------------------------------------------------------

    def parents(self, concept: str) -> tuple[str, ...]:
        """The defined parents; KeyError if the id is unknown."""
        return tuple(self._id(at) for at in self._parents[self._position[concept]])

    def children(self, concept: str) -> tuple[str, ...]:
        """The direct children; KeyError if the id is unknown."""
        return tuple(self._id(at) for at in self._children[self._position[concept]])

    def below(self, concept: str) -> frozenset[str]:
        """The concept itself and all its descendants; KeyError if the id is unknown."""
        found = self._below.get(concept)
        if found is None:
            found = self._below[concept] = self._closure(concept, self._children)
        return found

    def above(self, concept: str) -> frozenset[str]:
        """The concept itself and all its ancestors; KeyError if the id is unknown."""
        found = self._above.get(concept)
        if found is None:
            found = self._above[concept] = self._closure(concept, self._parents)
        return found

    def at_or_above(self, concept: str) -> frozenset[str]:
        """As :meth:`above`; of an unknown concept itself alone."""
        return self.above(concept) if concept in self._position else frozenset((concept,))

    def at_or_below(self, concept: str) -> frozenset[str]:
        """As :meth:`below`; of an unknown concept itself alone."""
        return self.below(concept) if concept in self._position else frozenset((concept,))

    def is_a(self, concept: str, ancestor: str) -> bool:
        """Whether ``concept`` is ``ancestor`` or lies below it; False for an unknown concept unless both are equal."""
        # What is asked most often of all: the closure is met here in most cases, and no other call is needed.
        found = self._above.get(concept)
        if found is not None:
            return ancestor in found
        return concept == ancestor or (concept in self._position and ancestor in self.above(concept))

    def is_any(self, concept: str, ancestors: Iterable[str]) -> bool:
        """Whether :meth:`is_a` holds for one of the ancestors."""
        return not self.at_or_above(concept).isdisjoint(ancestors)

    def related(self, one: str, other: str) -> bool:
        """Whether the two are one concept, or one lies below the other."""
        return self.is_a(one, other) or self.is_a(other, one)

    def _closure(self, concept: str, edges: Sequence[Sequence[int]]) -> frozenset[str]:
        start = self._position[concept]
        seen = {start}
        waiting = [start]
        while waiting:
            for at in edges[waiting.pop()]:
                if at not in seen:
                    seen.add(at)
                    waiting.append(at)
        return frozenset(self._id(at) for at in seen)

    def _id(self, position: int) -> str:
        return self._rows[position].id

    # --- names ------------------------------------------------------------------------------------------------------

    def lookup(self, text: str, kinds: Iterable[str] | None = None) -> tuple[str, ...]:
        """The ids whose name, synonym, abbreviation, code or id ``text`` is; the best kind of match first.

        Case, hyphens and spaces, British and American spelling and plurals do not matter. An abbreviation of up to
        four characters that has another reading (cues, or another concept of that name) needs its exact case. The salt
        of a drug and the four letters of a biological product (``trastuzumab-dkst``) name the drug.
        """
        found = tuple(self._id(at) for at in self.name_index().find(text))
        if kinds is not None:
            wanted = frozenset(kinds)
            found = tuple(one for one in found if self.kind(one) in wanted)
        return found

    def nearest(self, text: str, kinds: Iterable[str] | None = None, n: int = 3) -> list[str]:
        """Up to ``n`` known names that ``text`` is likely a slip of, the likeliest first, else those that hold all its
        words: for "did you mean". Empty when names only resemble it (see :mod:`.near_names`)."""
        wanted = None if kinds is None else frozenset(kinds)
        names = self._near_names.get(wanted)
        if names is None:
            rows = (row for row in self._rows if wanted is None or row.kind in wanted)
            names = self._near_names[wanted] = NearNames(self.names(row.id) for row in rows)
        return names.find(text, n)

    def name_index(self) -> NameIndex:
        """The index of names, built when first asked for."""
        # Two threads may build it at once; both build the same, and one assignment wins.
        if self._names is None:
            self._names = NameIndex.from_rows(self._rows)
        return self._names

    # --- value sets -------------------------------------------------------------------------------------------------

    def value_set(self, name: str, *, spelled_so: bool = False) -> tuple[str, ...] | None:
        """The members (concept ids) of the set with this name or alias; None if there is none.

        With ``spelled_so`` an inflected form or other punctuation will not do, only upper and lower case.
        """
        if name in self._value_sets:
            return self._value_sets[name].members
        if spelled_so:
            found = self._sets_as_spelled.get(name.casefold())
        else:
            found = self._sets_by_form.get(normal_form(name))
        return None if found is None else found.members

    @functools.cached_property
    def _sets_as_spelled(self) -> dict[str, ValueSet]:
        return self._sets_by(str.casefold)

    @functools.cached_property
    def _sets_by_form(self) -> dict[str, ValueSet]:
        return self._sets_by(normal_form)

    def _sets_by(self, form: Callable[[str], str]) -> dict[str, ValueSet]:
        """Each form of a name or alias -> the first set that has it."""
        found: dict[str, ValueSet] = {}
        for value_set in self._value_sets.values():
            for known in (value_set.name, *value_set.aliases):
                found.setdefault(form(known), value_set)
        return found

    def value_sets(self) -> tuple[ValueSet, ...]:
        """All value sets."""
        return tuple(self._value_sets.values())


def shipped_concepts(extra: Path | None = None) -> ConceptTable:
    """The shipped ontology with the concepts of the folder ``extra``, to read and answer with.

    UsageError when a row there cannot be used: what is passed over would be missing from the answers.
    """
    if extra is None:
        return _shipped()
    concepts = ConceptTable.from_files(extra=extra)
    if concepts.problems:
        first, *others = concepts.problems
        more = f" (and {len(others)} more)" if others else ""
        raise UsageError(f"--ontology: {first}{more}. Hint: 'cohortium ontology lint {extra}' tells all")
    return concepts


@functools.cache
def _shipped_rows() -> tuple[list[ConceptRow], list[ValueSet], list[str]]:
    """What the shipped files say, and what is wrong with them; read once, whatever is added to it."""
    problems: list[str] = []
    with rare_collections():
        return *read_folder(ONTOLOGY_FOLDER, problems), problems


@functools.cache
def _shipped() -> ConceptTable:
    """The shipped ontology, read once: nothing changes it while the program runs."""
    with rare_collections():
        return ConceptTable.from_files()
