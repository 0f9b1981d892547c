"""The place of each criterion in the text of its query, as it is rendered."""

from __future__ import annotations

from typing import Final, NamedTuple

from ...query_lang import nodes
from ...query_lang.render import name_text, render, render_expression
from ...query_lang.tree import children

#: Where a criterion stands in the tree: the name of its definition ("" for the query itself), then which part of which
#: part.
Path = tuple[str | int, ...]
ROOT: Final[Path] = ("",)


class Span(NamedTuple):
    """Characters of the rendered query, from ``start`` to before ``end``."""

    start: int
    end: int


class QueryText:
    """The rendered text of a query, with the place of each of its criteria."""

    def __init__(self, query: nodes.Query) -> None:
        """Places are looked for when they are asked for."""
        self.text: Final = render(query)
        self._known: dict[Path, list[tuple[nodes.PatientExpression, Span]]] = {}
        self._roots: dict[str, tuple[nodes.PatientExpression, Span, tuple[str, ...]]] = {}
        start = 0
        before: tuple[str, ...] = ()
        for definition in query.definitions:
            body = render_expression(definition.body, before)
            line = f"let {name_text(definition.name)} be {body};"
            first = start + len(line) - len(body) - 1
            self._roots[definition.name] = definition.body, Span(first, first + len(body)), before
            start += len(line) + 1
            before = (*before, definition.name)
        self._roots[""] = query.body, Span(start, len(self.text)), before

    def __getitem__(self, path: Path) -> Span:
        """Where the criterion at the path stands."""
        return self._at(path)[1]

    def _at(self, path: Path) -> tuple[nodes.PatientExpression, Span]:
        if len(path) == 1:
            return self._roots[str(path[0])][:2]
        *above, step = path
        return self._parts(tuple(above))[int(step)]

    def _parts(self, path: Path) -> list[tuple[nodes.PatientExpression, Span]]:
        """The parts of the criterion at the path, each with its place."""
        found = self._known.get(path)
        if found is None:
            node, span = self._at(path)
            found = self._known[path] = []
            cursor = span.start
            for part in children(node):
                written = render_expression(part, self._roots[str(path[0])][2])
                # Parts stand in order, and nothing but brackets and connecting words between them.
                first = self.text.index(written, cursor, span.end)
                cursor = first + len(written)
                found.append((part, Span(first, cursor)))
        return found

    def shown(self, path: Path) -> str:
        """The text of the criterion."""
        span = self[path]
        return self.text[span.start : span.end]
