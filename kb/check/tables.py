"""The tables of a generation that is not there yet, under the rules of the check: before a restore accepts them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb

from ..skin.progress import Bar
from ..storage.layout import Layout
from .checking import faults_of, of_no_room
from .content import content_rules
from .looked_at import LookedAt
from .rules import Rule, statement_rules
from .stored_order import order_rules


def faults_of_tables(layout: Layout, generation: str, folder: Path, bar: Bar) -> Iterator[tuple[Rule, int]]:
    """Each rule about rows that the tables in ``folder`` break, and how often; of the index nothing is asked, which is
    made of them. The first rule behind which they cannot be read ends it. duckdb.Error for want of room."""
    rule: Rule | None = None
    try:
        with LookedAt(layout, generation, bar, folder) as looked_at:
            for rule in (*order_rules(), *statement_rules(), *content_rules()):
                looked_at.doing = rule.name
                if number := sum(fault.number for fault in faults_of(rule, looked_at)):
                    yield rule, number
    except duckdb.Error as error:
        if rule is None or of_no_room(error):
            raise
        yield rule, 1
