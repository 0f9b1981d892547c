"""A query as the rules of the linter see it: its sites with the scopes around them, its definitions, the kb."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ...kb.ontology.concepts import ConceptTable
from ...kb.storage.reader import KnowledgeBase
from ..nodes import (
    And,
    Definition,
    Events,
    Or,
    PatientExpression,
    Query,
    SameEvent,
    SameTumor,
)
from ..render import render_expression
from ..tree import map_children
from .atoms import Atoms
from .finding import Finding, wordings
from .places import Site, Sites, Span
from .truth import Logic

_LONGEST_SHOWN = 80


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """A site with the scopes around it, the outermost first, and the site that it is a part of."""

    site: Site
    scopes: tuple[type[SameTumor] | type[SameEvent], ...] = ()
    above: Placed | None = None

    @property
    def in_event(self) -> bool:
        """Whether only one event is looked at here."""
        return SameEvent in self.scopes


@dataclass(frozen=True)
class Examined:
    """The resolved ``query``, which ``text`` spells (empty: unknown)."""

    query: Query
    text: str
    sites: Sites
    atoms: Atoms
    kb: KnowledgeBase | None = None

    @property
    def concepts(self) -> ConceptTable:
        """The ontology under which the query was resolved."""
        return self.atoms.concepts

    @functools.cached_property
    def bodies(self) -> Mapping[str, PatientExpression]:
        """What each definition stands for."""
        return {definition.name: definition.body for definition in self.query.definitions}

    @functools.cached_property
    def logic(self) -> Logic:
        """The logic of criteria that look at a whole patient."""
        return Logic(self.atoms, self.bodies)

    @functools.cached_property
    def logic_in_event(self) -> Logic:
        """The logic of criteria that look at one event alone."""
        return self.logic.in_event

    @functools.cached_property
    def placed(self) -> tuple[Placed, ...]:
        """Every site, those of the definitions first, each before its parts; nobody wrote those of clinical terms."""
        roots = (*self.sites.definitions[self.sites.terms :], self.sites.body)
        return tuple(one for root in roots for one in _placed(Placed(root)))

    @property
    def written_definitions(self) -> tuple[Definition, ...]:
        """All definitions but those of clinical terms."""
        return self.query.definitions[self.sites.terms :]

    def finding(
        self,
        code: str,
        placed: Placed | None = None,
        *,
        span: Span | None = None,
        claim: str = "",
        rest: Query | None = None,
        **particulars: object,
    ) -> Finding:
        """The finding, worded, at ``span`` or else where the site stands."""
        wording = wordings()[code]
        if span is None and placed is not None:
            span = placed.site.span
        part = None
        if claim and placed is not None:
            part = placed.site.node
            for scope in reversed(placed.scopes):
                part = scope(part)
        return Finding(
            code,
            wording.severity,
            wording.message.format(**particulars),
            wording.hint.format(**particulars),
            self.text,
            None if span is None else span[0],
            None if span is None else span[1],
            claim,
            part,
            rest,
        )

    def without(self, dropped: Site) -> Query | None:
        """The query without one site; None when nothing would be left."""
        bodies = [_rebuilt(site, dropped) for site in (*self.sites.definitions, self.sites.body)]
        if None in bodies:
            return None
        *defined, body = [one for one in bodies if one is not None]
        definitions = tuple(
            Definition(definition.name, new) for definition, new in zip(self.query.definitions, defined, strict=True)
        )
        return Query(body, definitions)


def event_spans(placed: Placed, sets: tuple[Events, ...]) -> Iterator[tuple[Events, Span | None]]:
    """Each event set of a leaf with its place."""
    spans = placed.site.events if len(placed.site.events) == len(sets) else (None,) * len(sets)
    for events, span in zip(sets, spans, strict=True):
        yield events, span or placed.site.span


def shown(node: PatientExpression, longest: int = _LONGEST_SHOWN) -> str:
    """A criterion short enough for a message."""
    text = render_expression(node)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _placed(root: Placed) -> Iterator[Placed]:
    waiting = [root]
    while waiting:
        one = waiting.pop()
        yield one
        node = one.site.node
        scopes = (*one.scopes, type(node)) if isinstance(node, SameTumor | SameEvent) else one.scopes
        waiting.extend(Placed(part, scopes, one) for part in reversed(one.site.parts))


def _rebuilt(site: Site, dropped: Site) -> PatientExpression | None:
    if site is dropped:
        return None
    parts = [_rebuilt(part, dropped) for part in site.parts]
    if None not in parts:
        fresh = iter([part for part in parts if part is not None])
        return map_children(site.node, lambda _: next(fresh))
    left = [part for part in parts if part is not None]
    if isinstance(site.node, And | Or) and left:
        return left[0] if len(left) == 1 else dataclasses.replace(site.node, parts=tuple(left))
    return None
