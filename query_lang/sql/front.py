"""SQL to the query tree: SELECTs, their joins and set operations, WITH names and counts."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any, Final

from sqlglot import exp

from .. import nodes
from ..errors import QueryError
from ..parsing.parse import Parsed
from ..resolution.conditions import either as any_of
from .assembly import events_of, patients_of
from .formula import Every, Formula, Link, NotSaid, Present, Row, every
from .predicates import Predicates
from .scope import Scope
from .source_text import Parameters, Source, outside, read, too_deep
from .tables import COHORT, TABLES
from .values import single, unwrapped

#: Parts of a SELECT, a table and a set operation that are read; the parser's older names end without the underscore.
_READ: Final = frozenset(
    {"expressions", "distinct", "from_", "from", "joins", "where", "group", "having", "with_", "with"}
)
_READ_OF_TABLE: Final = frozenset({"this", "alias"})
_READ_OF_SUBQUERY: Final = frozenset({"this", "alias", "with_", "with"})
_READ_OF_OPERATION: Final = frozenset({"this", "expression", "distinct", "with_", "with"})
#: Column -> what :class:`~..nodes.Times` counts of it.
_COUNTED: Final = {"day": "days", "line": "lines", "concept": "concepts"}
_READ_OF_JOIN: Final = frozenset({"this", "on", "using", "kind"})


def parse_sql(text: str, parameters: Parameters | None = None) -> Parsed:
    """The query that ``text`` says, over names, with the places of the names. QueryError if it says none.

    ``parameters`` are the values of ``:name`` (a mapping) or of ``?`` (a sequence): text, numbers, dates or lists of
    these. They become values of the tree and are never part of the text.
    """
    tree, source = read(text, parameters)
    try:
        query = _Reader(source).query(tree)
    except RecursionError:
        raise too_deep(source) from None
    except nodes.QueryTreeError as error:
        raise source.error(str(error)) from None
    unused = [name for name in source.parameters if name not in source.used]
    if unused:
        raise source.error(f"the parameter '{unused[0][:60]}' does not occur in the SQL", hint="leave it out")
    return Parsed(query, text, source.places)


class _Reader:
    """Reads one text."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._predicates = Predicates(source, self._patients_of_subquery, self._formula_of_exists)
        self._defined: dict[str, str] = {}
        self._rows = 0

    # --- the whole ----------------------------------------------------------------------------------------------------

    def query(self, tree: exp.Expression) -> nodes.Query:
        """Definitions first, each seeing those before it."""
        definitions = []
        listed = _part(tree, "with")
        if listed is not None:
            if listed.args.get("recursive"):
                raise self._source.error(
                    "WITH RECURSIVE is not read here", listed, "concept = '…' holds of all below it"
                )
            for named in listed.expressions:
                definitions.append(self._definition(named))
        return nodes.Query(self._patients(tree, outermost=True), tuple(definitions))

    def _definition(self, named: exp.CTE) -> nodes.Definition:
        name = named.alias
        if name.lower() in self._defined:
            raise self._source.error(f"'{name[:60]}' is defined twice", named.args["alias"])
        body = self._patients(named.this)
        columns = [column.name.lower() for column in named.args["alias"].args.get("columns") or ()]
        if columns not in ([], ["patient_id"]):
            raise self._source.error("a WITH name holds patients, in the one column patient_id", named.args["alias"])
        self._defined[name.lower()] = name
        return nodes.Definition(name, body)

    def _patients(self, node: exp.Expression, *, outermost: bool = False) -> nodes.PatientExpression:
        """The patients of a SELECT, a set operation, or one of these in brackets."""
        if not outermost and _part(node, "with") is not None:
            raise self._source.error("WITH stands at the beginning of the whole query", _part(node, "with"))
        match node:
            case exp.Subquery():
                self._check_parts(node, _READ_OF_SUBQUERY)
                return self._patients(node.this)
            case exp.Select():
                return self._select(node)
            case exp.SetOperation():
                return self._operation(node)
        raise self._predicates.not_read(node)

    def _operation(self, node: exp.SetOperation) -> nodes.PatientExpression:
        self._check_parts(node, _READ_OF_OPERATION)
        if isinstance(node, exp.Except):
            self._distinct_only(node, "EXCEPT ALL")
            return nodes.Except(self._patients(node.this), self._patients(node.expression))
        kind: type[exp.SetOperation] = exp.Union if isinstance(node, exp.Union) else exp.Intersect
        parts: list[exp.Expression] = []
        current: exp.Expression = node
        while isinstance(current, kind):
            self._check_parts(current, _READ_OF_OPERATION)
            if kind is exp.Intersect:
                self._distinct_only(current, "INTERSECT ALL")
            parts.append(current.expression)
            current = current.this
        # A set of patients has each of them once: UNION ALL unites like UNION.
        read_parts = tuple([self._patients(part) for part in (current, *reversed(parts))])
        return nodes.Or(read_parts) if kind is exp.Union else nodes.And(read_parts)

    def _distinct_only(self, node: exp.Expression, what: str) -> None:
        if node.args.get("distinct") is False:
            raise self._source.error(f"{what} is not read here", node, "a cohort is a set: leave out ALL")

    # --- one SELECT ---------------------------------------------------------------------------------------------------

    def _select(self, node: exp.Select) -> nodes.PatientExpression:
        self._check_parts(node, _READ)
        group, having = node.args.get("group"), node.args.get("having")
        if having is not None:
            return self._counted(node, group, having)
        if group is not None:
            self._check_group(group)
        scope = Scope(self._source)
        formula = self._formula(node, scope)
        self._check_columns(node, scope)
        return self._assembled(formula, node)

    def _assembled(self, formula: Formula, node: exp.Expression) -> nodes.PatientExpression:
        try:
            return patients_of(formula)
        except NotSaid as error:
            raise self._source.error(str(error), node if error.place is None else error.place, error.hint) from None
        except nodes.QueryTreeError as error:
            raise self._source.error(str(error), node) from None

    def _formula(self, node: exp.Select, scope: Scope) -> Formula:
        """What FROM, ON and WHERE say, the tables added to ``scope``."""
        parts: list[Formula] = []
        start = _part(node, "from")
        if start is None:
            raise self._source.error("this SELECT has no FROM", node, "for example: SELECT patient_id FROM diagnosis")
        parts.append(Present(self._row(start.this, scope)))
        for join in node.args.get("joins") or ():
            parts += self._join(join, scope)
        where = node.args.get("where")
        if where is not None:
            read_where = self._predicates.read(where.this, scope)
            parts += read_where.parts if isinstance(read_where, Every) else (read_where,)
        return every(parts)

    def _join(self, join: exp.Join, scope: Scope) -> list[Formula]:
        unsupported = outside()["joins"]
        for word in (join.args.get(part) for part in ("method", "side", "kind")):
            if word and str(word).upper() in unsupported:
                what, hint = unsupported[str(word).upper()]
                raise self._source.error(f"{what} is not read here", join, hint)
        self._check_parts(join, _READ_OF_JOIN)
        before = list(scope.rows)
        row = self._row(join.this, scope)
        parts: list[Formula] = [Present(row)]
        for column in join.args.get("using") or ():
            name = column.name.lower()
            role = row.table.columns.get(name)
            partner = next((one for one in before if name in one.table.columns), None)
            if role is None or role.role not in ("patient", "tumor", "event") or partner is None:
                raise self._source.error(
                    f"tables are not joined by '{column.name[:60]}'",
                    column,
                    "USING (patient_id), or (patient_id, tumor)",
                )
            parts.append(Link(role.role, partner, row))
        condition = join.args.get("on")
        if condition is not None:
            read_on = self._predicates.read(condition, scope)
            parts += read_on.parts if isinstance(read_on, Every) else (read_on,)
        return parts

    def _row(self, node: exp.Expression, scope: Scope) -> Row:
        patients = None
        alias = str(node.alias or "")
        if isinstance(node.args.get("alias"), exp.TableAlias) and node.args["alias"].args.get("columns"):
            raise self._source.error("columns are not renamed here", node.args["alias"], "write AS name alone")
        if isinstance(node, exp.Subquery):
            self._check_parts(node, _READ_OF_SUBQUERY)
            table, patients = COHORT, self._patients(node.this)
        elif isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
            self._check_parts(node, _READ_OF_TABLE)
            name = node.name
            alias = alias or name
            if name.lower() in self._defined:
                table, patients = COHORT, nodes.Defined(self._defined[name.lower()])
            elif name.lower() in TABLES:
                table = TABLES[name.lower()]
            else:
                raise self._unknown_table(name, node)
        else:
            raise self._source.error("here a table is expected", node, f"the tables are {_table_names()}")
        if any(row.alias.lower() == alias.lower() for row in scope.rows if alias):
            raise self._source.error(
                f"two tables are called '{alias[:60]}'",
                node,
                "give each a name of its own: diagnosis AS first, diagnosis AS second",
            )
        self._rows += 1
        row = Row(self._rows, alias, table, self._source.place(node), patients)
        scope.rows.append(row)
        return row

    def _unknown_table(self, name: str, node: exp.Expression) -> QueryError:
        known = [*self._defined.values(), *TABLES]
        near = difflib.get_close_matches(name.lower()[:80], known, 3, cutoff=0.6)
        hint = f"did you mean {any_of(near)}?" if near else f"the tables are {_table_names()}"
        return self._source.error(f"there is no table '{name[:60]}'", node, hint)

    def _check_columns(self, node: exp.Select, scope: Scope) -> None:
        """A query selects patient_id and nothing else."""
        distinct = node.args.get("distinct")
        if distinct is not None and distinct.args.get("on") is not None:
            raise self._source.error(
                "DISTINCT ON is not read here", node, "for the first or latest event write: pick = 'first'"
            )
        chosen = [one.this if isinstance(one, exp.Alias) else one for one in node.expressions]
        if len(chosen) != 1 or not isinstance(unwrapped(chosen[0]), exp.Column):
            if len(chosen) == 1 and isinstance(chosen[0], exp.Func | exp.Window):
                raise self._predicates.not_read(node.expressions[0])
            raise self._source.error(
                "a query selects one column, patient_id",
                chosen[1] if len(chosen) > 1 else chosen[0] if chosen else node,
                "SELECT patient_id FROM …; kb.sql() selects any columns",
            )
        column = unwrapped(chosen[0])
        assert isinstance(column, exp.Column)
        if column.name.lower() == "patient_id" and not column.table:
            return
        if scope.column(column)[1].role != "patient":
            raise self._source.error(
                "a query selects one column, patient_id",
                column,
                "SELECT patient_id FROM …; kb.sql() selects any columns",
            )

    # --- counts -------------------------------------------------------------------------------------------------------

    def _check_group(self, group: exp.Expression) -> None:
        others = [name for name, value in group.args.items() if value and name != "expressions"]
        columns = [unwrapped(one) for one in group.expressions]
        if (
            others
            or len(columns) != 1
            or not isinstance(columns[0], exp.Column)
            or columns[0].name.lower() != "patient_id"
        ):
            raise self._source.error("only GROUP BY patient_id is read here", group, "kb.sql() answers any SELECT")

    def _counted(
        self, node: exp.Select, group: exp.Expression | None, having: exp.Expression
    ) -> nodes.PatientExpression:
        """HAVING COUNT(*) >= n, over the UNION ALL of criteria."""
        if group is None:
            raise self._source.error("HAVING stands after GROUP BY patient_id", having)
        self._check_group(group)
        counted, least = self._least(unwrapped(having.this))
        if isinstance(counted.this, exp.Distinct):
            return self._times(node, counted.this, least)
        parts = self._united(node)
        if parts is None or not isinstance(counted.this, exp.Star):
            raise self._source.error(
                "this is not counted here",
                having,
                "COUNT(DISTINCT day) counts days; COUNT(*) the criteria of FROM (SELECT DISTINCT … UNION ALL …)",
            )
        self._check_columns(node, Scope(self._source, rows=[Row(0, "", COHORT)]))
        try:
            return nodes.AtLeast(least, tuple([self._once(part) for part in parts]))
        except nodes.QueryTreeError:
            raise self._source.error(f"at least {least} of {len(parts)} criteria cannot hold", having) from None

    def _times(self, node: exp.Select, counted: exp.Distinct, least: int) -> nodes.PatientExpression:
        """HAVING COUNT(DISTINCT day) >= n, over the events of one table."""
        scope = Scope(self._source)
        formula = self._formula(node, scope)
        self._check_columns(node, scope)
        columns = [unwrapped(one) for one in counted.expressions]
        by = None
        if len(columns) == 1 and isinstance(columns[0], exp.Column):
            column = scope.column(columns[0])[1]
            by = _COUNTED.get(column.name or column.role)
        if by is None:
            raise self._source.error(
                "this is not counted here", counted, "what is counted is day, line or concept: COUNT(DISTINCT day) >= 2"
            )
        try:
            return nodes.Times(least, events_of(formula), by)
        except NotSaid as error:
            raise self._source.error(str(error), node if error.place is None else error.place, error.hint) from None
        except nodes.QueryTreeError as error:
            raise self._source.error(str(error), node) from None

    def _least(self, condition: exp.Expression) -> tuple[exp.Count, int]:
        """What is counted, and the least number of it."""
        if isinstance(condition, exp.GTE | exp.GT) and isinstance(condition.this, exp.Count):
            bound = unwrapped(condition.expression)
            value: Any = None
            if isinstance(bound, exp.Literal | exp.Placeholder | exp.Parameter):
                value = single(bound, self._source)
            if isinstance(value, float) and value.is_integer() and 0 <= value <= 1_000_000:
                least = int(value) + (1 if isinstance(condition, exp.GT) else 0)
                if least >= 1:
                    return condition.this, least
        raise self._source.error("HAVING is read with a least number", condition, "for example: HAVING COUNT(*) >= 2")

    def _united(self, node: exp.Select) -> Sequence[exp.Expression] | None:
        """The parts of the only source, if it is a UNION ALL."""
        start = _part(node, "from")
        if (
            start is None
            or node.args.get("joins")
            or node.args.get("where")
            or not isinstance(start.this, exp.Subquery)
        ):
            return None
        self._check_parts(start.this, _READ_OF_SUBQUERY)
        current = start.this.this
        parts: list[exp.Expression] = []
        while isinstance(current, exp.Union) and current.args.get("distinct") is False:
            self._check_parts(current, _READ_OF_OPERATION)
            parts.append(current.expression)
            current = current.this
        return [current, *reversed(parts)] if parts else None

    def _once(self, node: exp.Expression) -> nodes.PatientExpression:
        """A part in which no patient stands twice, as what is counted must be."""
        inner = node
        while isinstance(inner, exp.Subquery):
            inner = inner.this
        grouped = isinstance(inner, exp.Select) and inner.args.get("group") is not None
        distinct = isinstance(inner, exp.Select) and inner.args.get("distinct") is not None
        if isinstance(inner, exp.Select) and not (distinct or grouped):
            raise self._source.error(
                "what is counted must have each patient once", inner, "write SELECT DISTINCT patient_id"
            )
        if isinstance(inner, exp.Union) and inner.args.get("distinct") is False:
            raise self._source.error(
                "what is counted must have each patient once", inner, "write UNION inside brackets"
            )
        return self._patients(node)

    # --- SELECTs inside conditions ------------------------------------------------------------------------------------

    def _patients_of_subquery(self, node: exp.Expression) -> nodes.PatientExpression:
        return self._patients(node)

    def _formula_of_exists(self, node: exp.Expression, outer: Scope) -> Formula:
        while isinstance(node, exp.Subquery):
            self._check_parts(node, _READ_OF_SUBQUERY)
            node = node.this
        if not isinstance(node, exp.Select):
            raise self._source.error("EXISTS is read of a SELECT", node, "write EXISTS (SELECT 1 FROM … WHERE …)")
        self._check_parts(node, _READ - {"group", "having", "with_", "with"})
        return self._formula(node, Scope(self._source, outer))

    def _check_parts(self, node: exp.Expression, known: frozenset[str]) -> None:
        """Every clause of a node is one that is read."""
        for name, value in node.args.items():
            if value and name not in known:
                what, hint = outside()["clauses"].get(name.rstrip("_"), [name.rstrip("_").upper(), "leave it out"])
                place = value if isinstance(value, exp.Expression) else value[0] if isinstance(value, list) else node
                raise self._source.error(
                    f"{what} is not read here", place if isinstance(place, exp.Expression) else node, hint
                )


def _part(node: exp.Expression, name: str) -> Any:
    """A clause that the parser calls ``name``, or ``name_`` in newer versions."""
    return node.args.get(f"{name}_") or node.args.get(name)


def _table_names() -> str:
    return ", ".join(dict.fromkeys(table.name for table in TABLES.values()))
