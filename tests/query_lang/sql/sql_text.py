"""Query trees to SQL, as far as SQL can say them: the way back of the front end, for its tests alone."""

from __future__ import annotations

import datetime

from cohortium.kb.model import EARLIEST_DAY, LATEST_DAY
from cohortium.query_lang import nodes as q


def sql_of(query: q.Query) -> str:
    """The SQL of a whole query."""
    body = select(query.body)
    if not query.definitions:
        return body
    named = ", ".join(f"{_identifier(one.name)} AS ({select(one.body)})" for one in query.definitions)
    return f"WITH {named} {body}"


def select(node: q.PatientExpression) -> str:
    """A SELECT of the patients that ``node`` denotes."""
    match node:
        case q.Exists() | q.Ordered() | q.Sequence() | q.Clear() | q.AgeAt():
            return _block([node], [])
        case q.SameTumor(q.And(parts)):
            return _block(list(parts), ["tumor"])
        case q.SameTumor(part):
            return _block([part], ["tumor"])
        case q.SameEvent(q.And(parts)):
            return _block(list(parts), ["event"])
        case q.And(parts):
            return f"SELECT patient_id FROM patient WHERE {' AND '.join(_inside(part) for part in parts)}"
        case q.Or(parts):
            return " UNION ".join(f"({select(part)})" for part in parts)
        case q.Not(part):
            return f"SELECT patient_id FROM patient WHERE patient_id NOT IN ({select(part)})"
        case q.Except(left, right):
            return f"({select(left)}) EXCEPT ({select(right)})"
        case q.AtLeast(n, parts):
            each = [f"SELECT DISTINCT patient_id FROM patient WHERE {_inside(part)}" for part in parts]
            united = " UNION ALL ".join(each)
            return f"SELECT patient_id FROM ({united}) AS x GROUP BY patient_id HAVING COUNT(*) >= {n}"
        case q.Times(n, events, by):
            column = {"days": "day", "lines": "line", "concepts": "concept"}[by]
            where = _where(_about("a", events))
            table = events.kind or "event"
            return (
                f"SELECT patient_id FROM {table} AS a{where} GROUP BY patient_id "
                f"HAVING COUNT(DISTINCT a.{column}) > {n - 1}"
            )
        case q.Among(patients):
            return f"SELECT patient_id FROM patient WHERE patient_id IN ({', '.join(map(_quoted, patients))})"
        case q.Defined(name):
            return f"SELECT patient_id FROM {_identifier(name)}"
    raise AssertionError(f"{type(node).__name__} cannot be said in SQL")


def _inside(node: q.PatientExpression) -> str:
    return f"patient_id IN ({select(node)})"


class _Block:
    def __init__(self, links: list[str]) -> None:
        self.links = links
        self.tables: list[str] = []
        self.ties: list[str] = []
        self.where: list[str] = []

    def row(self, events: q.Events) -> str:
        alias = f"r{len(self.tables)}"
        self.tables.append(f"{events.kind or 'event'} AS {alias}")
        if alias != "r0":
            self.ties += [f"{alias}.{column} = r0.{column}" for column in ("patient_id", *self.links)]
        self.where += _about(alias, events)
        return alias

    def absent(self, events: q.Events, outer: str, days: list[str]) -> None:
        ties = [f"n.{column} = {outer}.{column}" for column in ("patient_id", *self.links)]
        inner = " AND ".join([*ties, *days, *_about("n", events)])
        self.where.append(f"NOT EXISTS (SELECT 1 FROM {events.kind or 'event'} AS n WHERE {inner})")


def _block(parts: list[q.PatientExpression], links: list[str]) -> str:
    block = _Block(links)
    for part in parts:
        match part:
            case q.Exists(events):
                block.row(events)
            case q.AgeAt(q.Events() as events, None, low, high):
                alias = block.row(events)
                block.where.append(f"{alias}.age >= {low}" if high is None else f"{alias}.age BETWEEN {low} AND {high}")
            case q.Not(q.Exists(events)):
                block.absent(events, "r0", [])
            case q.Ordered(left, relation, right):
                one, other = block.row(left), block.row(right)
                if part.different:
                    block.where.append(f"{one}.concept <> {other}.concept")
                if relation != "beside":
                    block.where.append(_gap(relation, one, other, part.minimum, part.maximum))
                if part.without is not None:
                    early, late = (one, other) if relation == "before" else (other, one)
                    block.absent(part.without, one, [f"n.day > {early}.day", f"{late}.day > n.day"])
            case q.Sequence(steps, gaps):
                rows = [block.row(step) for step in steps]
                for early, late, gap in zip(rows, rows[1:], gaps, strict=False):
                    block.where.append(_gap("before", early, late, gap.minimum, gap.maximum))
                    if gap.without is not None:
                        block.absent(gap.without, early, [f"n.day > {early}.day", f"n.day < {late}.day"])
            case q.Clear(events, relation, absent, minimum, maximum):
                alias = block.row(events)
                side = {"after": "before", "before": "after"}.get(relation, relation)
                block.absent(absent, alias, [_gap(side, alias, "n", minimum, maximum)])
            case _:
                raise AssertionError(f"{type(part).__name__} cannot be said in one SELECT")
    first, *others = block.tables
    joins = "".join(
        f" JOIN {table} ON {' AND '.join(tie for tie in block.ties if tie.startswith(f'r{at}.'))}"
        for at, table in enumerate(others, 1)
    )
    return f"SELECT DISTINCT r0.patient_id FROM {first}{joins}{_where(block.where)}"


def _gap(relation: str, one: str, other: str, minimum: int, maximum: int | None) -> str:
    if relation == "within":
        days = f"ABS({other}.day - {one}.day)"
        return f"{days} <= {maximum}" if minimum == 0 else f"{days} BETWEEN {minimum} AND {maximum}"
    early, late = (one, other) if relation == "before" else (other, one)
    if maximum is None:
        return f"{late}.day >= {early}.day + INTERVAL {minimum} DAY"
    return f"{late}.day BETWEEN {early}.day + INTERVAL {minimum} DAY AND {early}.day + INTERVAL {maximum} DAY"


def _where(conditions: list[str]) -> str:
    return f" WHERE {' AND '.join(conditions)}" if conditions else ""


def _about(alias: str, events: q.Events) -> list[str]:
    """The conditions on one row."""
    found = []
    if events.concept is not None:
        found.append(_concept(alias, events.concept))
    if events.context != "present":
        found.append(f"{alias}.context = '{events.context}'")
    if events.pick.how == "nth":
        found.append(f"{alias}.pick = {events.pick.n}")
    elif events.pick.how != "any":
        found.append(f"{alias}.pick = '{events.pick.how}'")
    if events.window is not None:
        found += _window(alias, events.window)
    if events.source:
        found.append(f"{alias}.source = '{events.source}'")
    if events.known:
        found.append(f"{alias}.known = '{events.known}'")
    if events.undisputed:
        found.append(f"{alias}.undisputed")
    if events.sources > 1:
        found.append(f"{alias}.sources >= {events.sources}")
    if isinstance(events.condition, q.AllOf):
        found += [_condition(alias, part) for part in events.condition.parts]
    elif events.condition is not None:
        found.append(_condition(alias, events.condition))
    return found


def _window(alias: str, window: q.Window) -> list[str]:
    low, high = (f"DATE '{datetime.date.fromordinal(day).isoformat()}'" for day in (window.low, window.high))
    found = []
    if window.low > EARLIEST_DAY:
        found.append(f"{alias}.day >= {low}")
    if window.high < LATEST_DAY or not found:
        found.append(f"{alias}.day <= {high}")
    return found


def _concept(alias: str, concept: q.ConceptExpression) -> str:
    match concept:
        case q.Under(term, exact):
            return f"{alias}.concept{'_exactly' if exact else ''} = {_quoted(_text(term))}"
        case q.Union(parts):
            return f"({' OR '.join(_concept(alias, part) for part in parts)})"
        case q.OtherThan(base, excluded):
            return f"({_concept(alias, base)} AND NOT {_concept(alias, excluded)})"


def _condition(alias: str, condition: q.Condition) -> str:
    match condition:
        case q.AllOf(parts):
            return f"({' AND '.join(_condition(alias, part) for part in parts)})"
        case q.AnyOf(parts):
            return f"({' OR '.join(_condition(alias, part) for part in parts)})"
        case q.NotThat(part):
            return f"({_condition(alias, part)}) IS NOT TRUE"
        case q.Documented(attribute):
            return f"{alias}.{_identifier(attribute)} IS NOT NULL"
        case q.Between(attribute, low, high):
            return f"{alias}.{_identifier(attribute)} BETWEEN {_value(low)} AND {_value(high)}"
        case q.Compare(attribute, operator, value):
            return f"{alias}.{_identifier(attribute)} {'<>' if operator == '!=' else operator} {_value(value)}"
        case q.Is(attribute, values, exact):
            listed = ", ".join(_quoted(_text(value)) for value in values)
            return f"{alias}.{_identifier(attribute + '_exactly' * exact)} IN ({listed})"


def _text(term: q.Term) -> str:
    return term.text if isinstance(term, q.Name) else term.name


def _value(value: str | float) -> str:
    return _quoted(value) if isinstance(value, str) else f"{value:g}"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _identifier(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
