"""The tables that a SELECT sees, and the column of which of them a name means."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field

from sqlglot import exp

from ..resolution.conditions import either
from .formula import Row
from .source_text import Source
from .tables import Column


@dataclass
class Scope:
    """The rows of one FROM clause, inside those of the SELECT around it."""

    source: Source
    outer: Scope | None = None
    rows: list[Row] = field(default_factory=list)

    def column(self, node: exp.Column) -> tuple[Row, Column]:
        """The row and the column that a name means. QueryError if there is none, or more than one."""
        if node.args.get("db") is not None or node.args.get("catalog") is not None:
            raise self.source.error("a column is written table.column", node)
        name, table = node.name, node.table
        rows = self._rows_called(table, node) if table else self._rows_with(name)
        if not rows:
            raise self._unknown_column(node, self.rows)
        found = [row for row in rows if name.lower() in row.table.columns]
        if not found:
            raise self._unknown_column(node, rows)
        if len(found) > 1:
            known = either([f"{row.alias}.{name}" for row in found])
            raise self.source.error(f"'{name[:60]}' could be of several tables", node, f"write {known}")
        column = found[0].table.columns[name.lower()]
        self.source.noted(column.name or name, node)
        return found[0], column

    def _rows_called(self, table: str, node: exp.Column) -> list[Row]:
        scope: Scope | None = self
        while scope is not None:
            found = [row for row in scope.rows if row.alias.lower() == table.lower()]
            if found:
                return found
            scope = scope.outer
        known = [row.alias for row in self.rows if row.alias]
        raise self.source.error(
            f"there is no table '{table[:60]}' here", node, f"the tables are {', '.join(known)}" if known else ""
        )

    def _rows_with(self, name: str) -> list[Row]:
        scope: Scope | None = self
        while scope is not None:
            found = [row for row in scope.rows if name.lower() in row.table.columns]
            if found:
                return found
            scope = scope.outer
        return []

    def _unknown_column(self, node: exp.Column, rows: list[Row]) -> Exception:
        tables = list(dict.fromkeys(row.table.name for row in rows if row.table.name))
        known = list(dict.fromkeys(name for row in rows for name in row.table.columns))
        near = difflib.get_close_matches(node.name.lower()[:80], known, 3, cutoff=0.6)
        if near:
            hint = f"did you mean {either(near)}?"
        else:
            hint = f"its columns are {', '.join(name for name in known if not name.endswith('_exactly'))}"
        if node.this.quoted:
            hint = f"text stands in single quotes: '{node.name[:60]}'"
        where = f"'{tables[0]}'" if len(tables) == 1 else "these tables" if tables else "a table of patients"
        return self.source.error(f"{where} has no column '{node.name[:60]}'", node, hint)
