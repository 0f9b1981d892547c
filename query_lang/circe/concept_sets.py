"""Concept sets of a Circe document to concepts of our ontology: by code, else by name, else listed as lost."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ...kb.ontology.concepts import ConceptTable
from ..nodes import ConceptExpression, OtherThan, Under, Union
from ..resolution.conditions import concept_ids, named
from ..vocabulary import MEANT_BY_CONCEPT
from .document import Losses, Part

#: What a concept of OMOP brings along, besides what it is found by.
CONCEPT_FIELDS: Final = (
    "CONCEPT_ID", "CONCEPT_NAME", "CONCEPT_CODE", "VOCABULARY_ID", "DOMAIN_ID", "CONCEPT_CLASS_ID", "STANDARD_CONCEPT",
    "STANDARD_CONCEPT_CAPTION", "INVALID_REASON", "INVALID_REASON_CAPTION",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Mapped:
    """How one concept of the document was found in our ontology: ``how`` is code, name or rewritten name."""

    path: str
    what: str
    concept: str
    name: str
    how: str

    def as_dict(self) -> dict[str, str]:
        """path, what, concept, name, how."""
        return {"path": self.path, "what": self.what, "concept": self.concept, "name": self.name, "how": self.how}


@dataclass(frozen=True, slots=True)
class _Item:
    identity: str
    kind: str
    exact: bool


@dataclass(frozen=True, slots=True)
class Selection:
    """What a concept set selects: for each kind of event (None: the kinds that fit the concept) an expression."""

    by_kind: tuple[tuple[str | None, ConceptExpression], ...]


@functools.cache
def tables() -> Mapping[str, Any]:
    """``domains.toml``."""
    return tomllib.loads((Path(__file__).parent / "domains.toml").read_text(encoding="utf-8"))


@functools.cache
def _tag() -> re.Pattern[str]:
    """The part of a concept's name in brackets that SNOMED puts behind it ("(disorder)")."""
    return re.compile(rf"\s*\((?:{'|'.join(tables()['semantic_tags']['words'])})\)$")


@dataclass
class ConceptSets:
    """The concept sets of a document, by their id."""

    concepts: ConceptTable
    losses: Losses
    items: dict[int, list[Part]] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    paths: dict[int, str] = field(default_factory=dict)
    mapped: dict[tuple[str, str], Mapped] = field(default_factory=dict)
    _selections: dict[tuple[int, str, bool], Selection | None] = field(default_factory=dict)

    def read(self, document: Part) -> None:
        """Take the sets of the document."""
        for one in document.parts("ConceptSets"):
            identity = one.whole("id")
            name = one.text("name")
            expression = one.part("expression")
            if identity is None:
                self.losses.add(one.path, name or "a concept set", "it has no id to be used by", "none")
                continue
            self.paths[identity] = one.path
            self.names[identity] = name or f"concept set {identity}"
            self.items[identity] = [] if expression is None else expression.parts("items")

    def report_unused(self) -> None:
        """List the sets that no criterion used."""
        used = {identity for identity, _, _ in self._selections}
        for identity, items in self.items.items():
            if identity not in used:
                for item in items:
                    item.taken |= set(item.data)
                    item.below.clear()
                self.losses.add(self.paths[identity], self.names[identity], "no criterion uses it", "none")

    def selection(self, identity: int, domain: str) -> Selection | None:
        """What the set selects in a table of the data model; None (and losses) if none of its concepts is known."""
        if identity not in self.items:
            self.losses.add(f"$.ConceptSets ({identity})", f"concept set {identity}", "the document has none", "other")
        key = identity, domain, self.losses.negated
        if key not in self._selections:
            self._selections[key] = self._selection(identity, tables()["domains"][domain])
        return self._selections[key]

    def _selection(self, identity: int, kinds: Sequence[str]) -> Selection | None:
        wanted: list[_Item] = []
        taken_away: list[_Item] = []
        for item in self.items.get(identity, ()):
            concept = item.part("concept")
            excluded = bool(item.take("isExcluded"))
            descendants = bool(item.take("includeDescendants"))
            if item.take("includeMapped"):
                self.losses.add(
                    f"{item.path}.includeMapped", "source concepts mapped to it",
                    "our ontology has no maps between vocabularies", "narrower",
                )  # fmt: skip
            found = None if concept is None else self._found(concept, kinds, excluded)
            if found is not None:
                own, kind = found
                (taken_away if excluded else wanted).append(_Item(own, kind, not descendants))
        by_kind: dict[str | None, list[_Item]] = {}
        for one in wanted:
            by_kind.setdefault(self._event_kind(one), []).append(one)
        chosen = tuple((kind, self._expression(kind, some, taken_away)) for kind, some in by_kind.items())
        return Selection(chosen) if chosen else None

    def _event_kind(self, item: _Item) -> str | None:
        if item.kind:
            return item.kind
        meant = MEANT_BY_CONCEPT[self.concepts.kind(item.identity)]
        return meant[0] if len(meant) == 1 else None

    def _expression(self, kind: str | None, wanted: Sequence[_Item], taken_away: Sequence[_Item]) -> ConceptExpression:
        sort = self.concepts.kind(wanted[0].identity)
        base = self._union(kind, wanted)
        related = [
            one
            for one in taken_away
            if self.concepts.kind(one.identity) == sort
            and any(self.concepts.related(one.identity, other.identity) for other in wanted)
        ]
        return OtherThan(base, self._union(kind, related)) if related else base

    def _union(self, kind: str | None, items: Sequence[_Item]) -> ConceptExpression:
        # Where the kind is not written, a name must not mean a concept of another sort as well.
        parts = tuple(
            dict.fromkeys(
                Under(
                    named(self.concepts, one.identity, (self.concepts.kind(one.identity),) if kind else None), one.exact
                )
                for one in items
            )
        )
        return parts[0] if len(parts) == 1 else Union(parts)

    # --- one concept --------------------------------------------------------------------------------------------------

    def _found(self, concept: Part, kinds: Sequence[str], excluded: bool) -> tuple[str, str] | None:
        """Our concept for one of the document, and the kind of event where its name says it; None, and a loss."""
        vocabulary, code = concept.text("VOCABULARY_ID"), concept.text("CONCEPT_CODE")
        name = concept.text("CONCEPT_NAME")
        concept.taken.update(CONCEPT_FIELDS)
        what = f"{name or 'a concept'} ({vocabulary or 'no vocabulary'} {code or 'without code'})"
        system = tables()["vocabularies"].get(vocabulary)
        if system and code:
            found = self._one(f"{system}:{code}", kinds)
            if found:
                return self._mapped(concept, what, found, "code", "")
        plain = _tag().sub("", name.strip())
        found = self._one(plain, [kind for kind in kinds if kind != "site"]) if plain else None
        if found:
            return self._mapped(concept, what, found, "name", "")
        for rule in tables()["rewriting"]:
            match = re.fullmatch(rule["pattern"], plain, re.IGNORECASE)
            if match is None:
                continue
            kind = rule.get("kind", "")
            sorts = ["site"] if kind else [one for one in kinds if one != "site"]
            for template in rule["names"]:
                found = self._one(template.format(**match.groupdict()), sorts)
                if found and (not kind or "site" in kinds):
                    return self._mapped(concept, what, found, "rewritten name", kind)
        self.losses.add(
            concept.path, what, "our ontology knows neither its code nor its name", "wider" if excluded else "narrower"
        )
        return None

    def _one(self, text: str, kinds: Sequence[str]) -> str | None:
        ids = concept_ids(self.concepts, text, kinds)
        return ids[0] if len(ids) == 1 else None

    def _mapped(self, concept: Part, what: str, found: str, how: str, kind: str) -> tuple[str, str]:
        name = self.concepts.name(found)
        self.mapped.setdefault((concept.path, found), Mapped(concept.path, what, found, name, how))
        return found, kind
