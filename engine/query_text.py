"""Where each criterion stands in the text of its query, as it is rendered."""

from __future__ import annotations

from typing import Final, NamedTuple

from ..query_lang import nodes
from ..query_lang.render import name_text, render, render_expression

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
        node, span, known = self._roots[str(path[0])]
        for step in path[1:]:
            cursor = span.start
            for at, part in enumerate(nodes.children(node)):
                written = render_expression(part, known)
                # Parts stand in order, and nothing but brackets and connecting words between them.
                first = self.text.index(written, cursor, span.end)
                cursor = first + len(written)
                if at == step:
                    node, span = part, Span(first, cursor)
                    break
            else:
                raise KeyError(path)
        return span

    def shown(self, path: Path) -> str:
        """The text of the criterion."""
        span = self[path]
        return self.text[span.start : span.end]

    def line(self, path: Path) -> int:
        """The line on which it begins, from 1."""
        return self.text.count("\n", 0, self[path].start) + 1
