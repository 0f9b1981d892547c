"""Members of whom a note denies a fact and another tells of it: named beside the answer, for one of the two is wrong,
or they speak of different times."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Final

from pyroaring import BitMap

from ...kb.model import World
from ...kb.storage.reader import KnowledgeBase
from ...query_lang import nodes
from ...query_lang.lint.finding import Finding, wordings
from ...query_lang.render import render_events
from ...query_lang.tree import children
from ..fast.evaluate import evaluate

_CODE: Final = "denied-and-present"
#: Patients that are named.
_MOST_NAMED: Final = 5


def beside_denials(query: nodes.Query, kb: KnowledgeBase, world: World, members: BitMap) -> Iterator[Finding]:
    """A finding for each fact that the query asks to be denied, and that some of the members have all the same."""
    seen: set[nodes.Events] = set()
    for root in (query.body, *(definition.body for definition in query.definitions)):
        for denial in _asked_denials(root):
            fact = nodes.Events(denial.kind, denial.concept, denial.condition, window=denial.window)
            if fact in seen:
                continue
            seen.add(fact)
            both = nodes.And((nodes.Exists(replace(denial, pick=nodes.Pick())), nodes.Exists(fact)))
            found = members & evaluate(nodes.Query(both), kb, world)
            if found:
                yield _finding(fact, kb, found)


def _asked_denials(root: nodes.PatientExpression) -> Iterator[nodes.Events]:
    """The denials that must be there, and not those under *not*."""
    waiting = [(root, True)]
    while waiting:
        node, wanted = waiting.pop()
        match node:
            case nodes.Exists(events) if wanted and events.context == "absent":
                yield events
            case nodes.Not(part):
                waiting.append((part, not wanted))
            case nodes.Except(left, right):
                waiting += [(right, not wanted), (left, wanted)]
            case _:
                waiting.extend((part, wanted) for part in reversed(children(node)))


def _finding(fact: nodes.Events, kb: KnowledgeBase, found: BitMap) -> Finding:
    wording = wordings()[_CODE]
    named = ", ".join(kb.patients[number] for number in islice(found, _MOST_NAMED))
    told = {
        "count": len(found),
        "have": "has" if len(found) == 1 else "have",
        "fact": render_events(fact),
        "patients": named if len(found) <= _MOST_NAMED else f"{named} …",
    }
    return Finding(_CODE, wording.severity, wording.message.format(**told), wording.hint.format(**told))
