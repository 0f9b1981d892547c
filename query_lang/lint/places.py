"""The place of each criterion in the text: a tree of sites that follows the resolved query node by node."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from lark import Tree
from lark.exceptions import LarkError

from ..errors import QueryError
from ..nodes import Definition, Exists, PatientExpression, Query
from ..parsing.build import Builder
from ..parsing.parameters import Filled, Parameters, fill
from ..parsing.parse import checked
from ..syntax import grammar
from ..tree import children, event_sets

Span = tuple[int, int]


@dataclass(frozen=True, slots=True, eq=False)
class Site:
    """One criterion of the resolved query: its characters in the text (None: unknown), and its parts, likewise.

    ``written`` is the criterion before names were resolved, None where the two trees differ; ``typed`` is it also
    where a clinical term became its definition, or several facts. ``bracketed``: it stands in brackets of its own.
    ``events`` are the places of the event sets in it, by their position in the node.
    """

    node: PatientExpression
    span: Span | None = None
    parts: tuple[Site, ...] = ()
    written: Any = None
    bracketed: bool = False
    events: tuple[Span | None, ...] = ()
    typed: Any = None

    def walk(self) -> Iterator[Site]:
        """This site and all below it, in the order of the text."""
        waiting = [self]
        while waiting:
            site = waiting.pop()
            yield site
            waiting.extend(reversed(site.parts))


@dataclass(frozen=True, slots=True)
class Sites:
    """The sites of a query: of each definition's body in order, then of the criterion. The first ``terms`` definitions
    are those of clinical terms."""

    definitions: tuple[Site, ...]
    body: Site
    terms: int = 0


@dataclass
class _PlacedBuilder(Builder):
    """Builds the query and remembers from which characters each node was built."""

    spans: dict[int, Span] = field(default_factory=dict)
    bracketed: set[int] = field(default_factory=set)
    #: Ids are those of living objects only.
    kept: list[Any] = field(default_factory=list)

    def _call_userfunc(self, tree: Tree[Any], new_children: Any = None) -> Any:
        result = super()._call_userfunc(tree, new_children)
        start, end = getattr(tree.meta, "start_pos", None), getattr(tree.meta, "end_pos", None)
        if start is not None and end is not None and hasattr(type(result), "__dataclass_fields__"):
            for node in (result, result.events) if isinstance(result, Exists) else (result,):
                self.kept.append(node)
                # Rules that hand a node on, as brackets do, come later and are wider.
                self.spans.setdefault(id(node), (start, end))
            if tree.data == "group":
                self.bracketed.add(id(result))
        return result


def sites_of(
    resolved: Query,
    text: str,
    parameters: Parameters | None = None,
    definitions: tuple[Definition, ...] = (),
) -> Sites:
    """The sites of ``resolved``, which ``text`` spells; without a text, or when it spells another query, no places.

    ``parameters`` and ``definitions`` are those with which the text was resolved.
    """
    builder = _PlacedBuilder(known=definitions)
    written: Any = None
    filled = Filled("")
    if text:
        try:
            plain, quoted = checked(text)
            filled = fill(plain, text, quoted, parameters)
            written = builder.transform(grammar().parse(filled.text, start="start"))
        except (LarkError, ValueError, QueryError):
            written = None
    follow = _Follower(builder, filled)
    bodies = [] if written is None else [one.body for one in written.definitions]
    # Definitions that came from elsewhere stand before those of the text.
    foreign = len(resolved.definitions) - len(bodies)
    given = {one.name for one in definitions}
    terms = 0 if written is None else sum(one.name not in given for one in resolved.definitions[: max(foreign, 0)])
    bodies = [None] * foreign + bodies if foreign >= 0 else [None] * len(resolved.definitions)
    sites = tuple(
        follow.site(body, definition.body) for body, definition in zip(bodies, resolved.definitions, strict=True)
    )
    return Sites(sites, follow.site(None if written is None else written.body, resolved.body), terms)


class _Follower:
    def __init__(self, builder: _PlacedBuilder, filled: Filled) -> None:
        self._builder = builder
        self._filled = filled

    def site(self, written: Any, node: PatientExpression) -> Site:
        typed = written
        if type(written) is not type(node):
            written = None
        below = children(node)
        others: tuple[Any, ...] = () if written is None else children(written)
        if len(others) != len(below):
            others = (None,) * len(below)
        parts = tuple(self.site(other, part) for other, part in zip(others, below, strict=True))
        events = self._event_spans(written, node)
        span = None if typed is None else self._span(typed)
        if span is None:
            span = _around([part.span for part in parts] + list(events))
        return Site(node, span, parts, written, id(written) in self._builder.bracketed, events, typed)

    def _event_spans(self, written: Any, node: PatientExpression) -> tuple[Span | None, ...]:
        own = event_sets(node)
        others = () if written is None else event_sets(written)
        if len(others) != len(own):
            return (None,) * len(own)
        return tuple(self._span(other) for other in others)

    def _span(self, built: Any) -> Span | None:
        """The characters that a node was built from, in the text as written."""
        span = self._builder.spans.get(id(built))
        return None if span is None else (self._filled.place(span[0]), self._filled.place(span[1]))


def _around(spans: list[Span | None]) -> Span | None:
    known = [span for span in spans if span is not None]
    return (min(low for low, _ in known), max(high for _, high in known)) if known else None
