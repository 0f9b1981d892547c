"""Terms beside concepts: what is known already is extended, the rest hang below the nearest concept that is known."""

from __future__ import annotations

import collections
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

import networkx as nx

from ..ontology.concepts import ConceptTable
from ..ontology.normal_forms import normal_form
from ..ontology.rows import CONCEPT_KINDS, Abbreviation, ConceptRow
from .terms import Term, Terms, canonical, tables, unique

#: Names of up to so many characters need a cue.
_SHORT: Final = 4
#: Of the concepts above a term so many are kept.
_KEPT: Final = 64
_NOT_ID: Final = re.compile(r"[^a-z0-9]+")


def join(concepts: ConceptTable, terms: Terms, source: str, kind: str | None, branch: bool) -> list[ConceptRow]:
    """Rows that extend ``concepts`` by ``terms``; what is left out is added to ``terms.dropped``.

    A term is the concept that has its code, else its exact name within the kind, else another of its codes. ``kind``:
    only terms of this kind; those of a ``branch`` that are of no known kind are taken for it. The order of the terms
    changes nothing.
    """
    joining = _Joining(concepts, terms, source)
    joining.find_by_code()
    joining.find_kinds(kind if branch else None)
    if kind is not None:
        joining.leave_other_kinds(kind)
    joining.place_names()
    joining.find_parents()
    joining.add_names_and_codes()
    return joining.rows()


class _Joining:
    def __init__(self, concepts: ConceptTable, terms: Terms, source: str) -> None:
        self._concepts = concepts
        self._source = source
        self._dropped = terms
        #: In an order that does not depend on the file's.
        self._terms = {code: terms.held[code] for code in sorted(terms.held)}
        self._concept_of: dict[str, str] = {}  # term code -> concept id, of a known or a new concept
        self._kind_of: dict[str, str] = {}  # term code -> kind
        self._new: dict[str, ConceptRow] = {}
        self._more: dict[str, ConceptRow] = {}
        self._numbered: dict[str, int] = {}  # stem of ids -> the last number behind it
        self._names: dict[str, dict[str, str]] = {}  # normal form -> kind -> concept id
        self._of_several: set[str] = set()  # normal forms
        self._codes: dict[str, str] = {}  # canonical code -> concept id
        for row in concepts.rows():
            for name in (row.name, *row.synonyms, *(short.text for short in row.abbreviations)):
                self._names.setdefault(normal_form(name), {}).setdefault(row.kind, row.id)
            for code in row.codes:
                self._codes.setdefault(canonical(code).upper(), row.id)

    # --- which concept a term is --------------------------------------------------------------------------------------

    def find_by_code(self) -> None:
        """The concept that has the code of a term."""
        for code, term in self._terms.items():
            known = self._held(term, (code,))
            if known is not None:
                self._concept_of[code] = known
                self._kind_of[code] = self._concepts.kind(known)

    def _held(self, term: Term, codes: Iterable[str]) -> str | None:
        """The first known concept, of the kind that the source tells, that has one of the codes."""
        known = (found for one in codes if (found := self._codes.get(one.upper())))
        return next((one for one in known if term.kind in ("", self._kind(one))), None)

    def find_kinds(self, assumed: str | None) -> None:
        """The kind that the source tells, else that of the known concept, or of the nearest known one above."""
        for code, term in self._terms.items():
            if code not in self._kind_of:
                known = self._held(term, term.codes)
                found = term.kind or (self._kind(known) if known else self._kind_by_name(term.name))
                if found:
                    self._kind_of[code] = found
        inherited = self._inherited(self._kind_of)
        for code, term in self._terms.items():
            found = self._kind_of.get(code) or inherited.get(code) or term.otherwise or assumed or ""
            if found:
                self._kind_of[code] = found
            else:
                self._drop(code, term.name, "no_kind")
        self._terms = {code: term for code, term in self._terms.items() if code in self._kind_of}

    def _kind_by_name(self, name: str) -> str:
        """The kind of the concept of this name, where concepts of one kind alone have it."""
        kinds = self._names.get(normal_form(name), {})
        return next(iter(kinds)) if len(kinds) == 1 and len(name) > _SHORT else ""

    def _inherited(self, anchors: Mapping[str, str]) -> dict[str, str]:
        """The kind of the nearest ``anchors`` above each term that is none itself: of several, the first of its kinds.

        From the anchors down, a level at a time, so that each edge is walked once however long its chain.
        """
        children: dict[str, list[str]] = {}
        for code in self._terms:
            for parent in self._parents(code):
                children.setdefault(parent, []).append(code)
        found: dict[str, str] = {}
        level = {code: {kind} for code, kind in anchors.items()}
        reached = set(anchors)
        while level:
            below: dict[str, set[str]] = {}
            for code, kinds in level.items():
                for child in children.get(code, ()):
                    if child not in reached:
                        below.setdefault(child, set()).update(kinds)
            found |= {code: min(kinds, key=CONCEPT_KINDS.index) for code, kinds in below.items()}
            reached.update(below)
            level = below
        return found

    def _parents(self, code: str) -> tuple[str, ...]:
        term = self._dropped.held.get(code)
        return term.parents if term else ()

    def leave_other_kinds(self, kind: str) -> None:
        """Terms of other kinds are not asked for: they are passed over."""
        self._terms = {code: term for code, term in self._terms.items() if self._kind_of[code] == kind}

    def place_names(self) -> None:
        """Preferred names, before any synonym: the concept that has one, or another code; else a new concept."""
        for code, term in self._terms.items():
            if code in self._concept_of:
                continue
            kind = self._kind_of[code]
            known = self._names.get(normal_form(term.name), {}).get(kind)
            if known is None or self._is_short_form(known, term.name):
                known = self._held(term, term.codes)
            if known is not None and self._kind(known) == kind:
                self._concept_of[code] = known
            else:
                self._make(code, term, kind)

    def _is_short_form(self, concept: str, name: str) -> bool:
        row = self._new.get(concept) or self._concepts.get(concept)
        return normal_form(name) not in map(normal_form, (row.name, *row.synonyms))

    def _make(self, code: str, term: Term, kind: str) -> None:
        for name in (term.name, *term.synonyms):
            form = normal_form(name)
            if form and len(name) > _SHORT and form not in self._names:
                break
        else:
            taken = normal_form(term.name) in self._names
            self._drop(code, term.name, "taken" if taken else "short" if term.name else "no_name")
            return
        concept = self._id(code)
        self._new[concept] = ConceptRow(concept, kind, name, source=self._source)
        self._concept_of[code] = concept
        self._names.setdefault(form, {})[kind] = concept

    def _id(self, code: str) -> str:
        stem = _NOT_ID.sub("_", code.lower()).strip("_")
        number = self._numbered.get(stem, 1)
        concept = stem if number == 1 else f"{stem}_{number}"
        while concept in self._new or concept in self._concepts:
            number += 1
            concept = f"{stem}_{number}"
        self._numbered[stem] = number
        return concept

    # --- where it hangs -----------------------------------------------------------------------------------------------

    def find_parents(self) -> None:
        """New concepts hang below the nearest ones above them; those that are there already keep their parents."""
        edges: dict[str, tuple[str, ...]] = {}
        above: dict[str, _Nearest] = {}
        for code in self._terms:
            concept = self._concept_of.get(code)
            if concept in self._new:
                kind = self._new[concept].kind
                if kind not in above:
                    above[kind] = _Nearest(self._dropped.held, self._stand_ins(kind))
                found = above[kind].of_parents(code)
                edges[concept] = unique((*edges.get(concept, ()), *(one for one in found if one != concept)))
        graph: nx.DiGraph[str] = nx.DiGraph((child, parent) for child, parents in edges.items() for parent in parents)
        circle = {one: group for group in nx.strongly_connected_components(graph) if len(group) > 1 for one in group}
        for concept, parents in edges.items():
            round_about = circle.get(concept, set())
            kept = [parent for parent in parents if parent not in round_about]
            for parent in parents:
                if parent in round_about:
                    self._drop(concept, parent, "cycle")
            row = self._new[concept]
            root = tables()["root"].get(row.kind)
            self._new[concept] = replace(row, parents=tuple(kept) or ((root,) if root in self._concepts else ()))

    def _stand_ins(self, kind: str) -> dict[str, str]:
        """Term code → its concept, of the terms below which a concept of this kind may hang."""
        allowed = {kind, *tables()["below"].get(kind, ())}
        return {code: concept for code, concept in self._concept_of.items() if self._kind(concept) in allowed}

    def _kind(self, concept: str) -> str:
        return self._new[concept].kind if concept in self._new else self._concepts.kind(concept)

    # --- what it adds -------------------------------------------------------------------------------------------------

    def add_names_and_codes(self) -> None:
        """Names that no other concept has, and codes that none has, to the concepts of the terms.

        A name that terms of several concepts have is nobody's: whichever came first would have it.
        """
        wanted: dict[str, set[str]] = {}
        for code, term in self._terms.items():
            if concept := self._concept_of.get(code):
                for name in (term.name, *term.synonyms, *(short.text for short in term.abbreviations)):
                    wanted.setdefault(normal_form(name), set()).add(concept)
        self._of_several = {form for form, own in wanted.items() if len(own) > 1 and form not in self._names}
        for code, term in self._terms.items():
            concept = self._concept_of.get(code)
            if concept is None:
                continue
            row = self._new.get(concept) or self._more.get(concept) or self._bare(concept)
            names = unique(name for name in (term.name, *term.synonyms) if self._takes(code, concept, row.kind, name))
            shorts = tuple(Abbreviation(name) for name in names if _is_acronym(name)) + tuple(
                short for short in term.abbreviations if self._takes_short(code, concept, short)
            )
            codes = unique(one for one in (code, *term.codes) if self._takes_code(code, concept, one))
            row = replace(
                row,
                synonyms=unique((*row.synonyms, *(name for name in names if not _is_acronym(name)))),
                abbreviations=(*row.abbreviations, *shorts),
                codes=unique((*row.codes, *codes)),
            )
            (self._new if concept in self._new else self._more)[concept] = row

    def _bare(self, concept: str) -> ConceptRow:
        known = self._concepts.get(concept)
        return ConceptRow(concept, known.kind, known.name, source=self._source)

    def _takes(self, code: str, concept: str, kind: str, name: str) -> bool:
        """Whether a name is new to the concept and free for it."""
        form = normal_form(name)
        holders = self._names.get(form, {})
        if not form or concept in holders.values():
            return False
        if holders or len(name) <= _SHORT or form in self._of_several:
            self._drop(code, name, "taken" if holders else "short" if len(name) <= _SHORT else "several")
            return False
        self._names[form] = {kind: concept}
        return True

    def _takes_short(self, code: str, concept: str, short: Abbreviation) -> bool:
        form = normal_form(short.text)
        holders = self._names.setdefault(form, {})
        if concept in holders.values():
            return False
        if holders or form in self._of_several:
            self._drop(code, short.text, "taken" if holders else "several")
            return False
        holders[self._kind(concept)] = concept
        return True

    def _takes_code(self, code: str, concept: str, one: str) -> bool:
        holder = self._codes.setdefault(canonical(one).upper(), concept)
        if holder != concept:
            self._drop(code, one, "code_taken")
        known = self._concepts.get(concept).codes if concept in self._concepts else ()
        return holder == concept and one.upper() not in {canonical(other).upper() for other in known}

    def _drop(self, code: str, what: str, reason: str) -> None:
        self._dropped.drop(code, what, reason)

    def rows(self) -> list[ConceptRow]:
        """The rows that add something: extensions, then new concepts, each sorted by id."""
        more = [row for row in self._more.values() if row.synonyms or row.codes or row.abbreviations]
        return [*sorted(more, key=_id_of), *sorted(self._new.values(), key=_id_of)]


class _Nearest:
    """The nearest concepts above terms; instead of a parent that became none, those of its own parents.

    ``concepts``: the terms that became one. What lies above a term that became none is found once for all terms below
    it, and kept where it is not much: to keep long lists would cost more than to walk again.
    """

    def __init__(self, terms: Mapping[str, Term], concepts: Mapping[str, str]) -> None:
        self._terms, self._concepts = terms, concepts
        bridged = [code for code in terms if code not in concepts]
        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_nodes_from(bridged)
        graph.add_edges_from((code, up) for code in bridged for up in self._parents(code) if up not in concepts)
        #: Term code → concepts and how many levels above they are, nearest first; None where they are many.
        self._above: dict[str, tuple[tuple[int, str], ...] | None] = {}
        # Whatever lies above a component comes before it.
        for component in nx.strongly_connected_components(graph):
            parents = [up for code in sorted(component) for up in self._parents(code) if up not in component]
            found = self._joined(parents)
            self._above |= dict.fromkeys(component, found)

    def of_parents(self, code: str) -> list[str]:
        """The concepts above a term, the nearest first."""
        found = self._joined(self._parents(code))
        return self._walked(code) if found is None else [concept for _, concept in found]

    def _parents(self, code: str) -> tuple[str, ...]:
        return self._terms[code].parents if code in self._terms else ()

    def _joined(self, parents: Iterable[str]) -> tuple[tuple[int, str], ...] | None:
        nearest: dict[str, int] = {}
        for parent in parents:
            one = self._concepts.get(parent)
            further = ((0, one),) if one is not None else self._above.get(parent, ())
            if further is None:
                return None
            for level, concept in further:
                nearest[concept] = min(level + 1, nearest.get(concept, level + 1))
        if len(nearest) > _KEPT:
            return None
        return tuple(sorted(((level, one) for one, level in nearest.items()), key=lambda found: found[0]))

    def _walked(self, code: str) -> list[str]:
        found: list[str] = []
        waiting = collections.deque(self._parents(code))
        seen: set[str] = set()
        while waiting:
            parent = waiting.popleft()
            if parent in seen:
                continue
            seen.add(parent)
            if (concept := self._concepts.get(parent)) is not None:
                found.append(concept)
            else:
                waiting += self._parents(parent)
        return found


def _is_acronym(name: str) -> bool:
    """Capitals alone: SETTLE is a tumor, settle is not. A short form is read only as it is written."""
    return name.isalpha() and name.isupper()


def _id_of(row: ConceptRow) -> str:
    return row.id


def extensions(concepts: ConceptTable, rows: Iterable[ConceptRow]) -> int:
    """How many of the rows extend a concept that is there."""
    return sum(row.id in concepts for row in rows)
