"""What each step of a note's reading changed on its page: for ``cohortium read --steps``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ...kb.model import Mention, Value
from ..text.frame import Span
from .steps import Page, Step, name_of

#: The signs of what a step did.
ADDED: Final = "+"
REMOVED: Final = "-"
CHANGED: Final = "~"


@dataclass(frozen=True, slots=True)
class Change:
    """What a step did to one thing on the page.

    ``sign``: ``+`` added, ``-`` removed, ``~`` changed (then the rest is as it is now). ``what``: span, place, event,
    mention, relation, document class or topic. ``start`` and ``end``: characters of the text, whose words are ``text``.
    """

    sign: str
    what: str
    start: int
    end: int
    text: str
    kind: str
    concept: str
    attributes: dict[str, Value]


@dataclass(frozen=True, slots=True)
class Traced:
    """One step that was run: its number from 1, its name, what it is for, and what it changed."""

    number: int
    name: str
    purpose: str
    changes: tuple[Change, ...]


#: What a thing on the page is known by between two steps, and what is told of it.
_Key = tuple[object, ...]
_Rows = dict[_Key, Change]


def trace(page: Page, steps: Sequence[Step]) -> list[Traced]:
    """Each of the steps, run on the page in turn."""
    traced: list[Traced] = []
    before = dict(_rows(page))
    held: list[Span] = []
    for number, step in enumerate(steps, 1):
        # None that goes is forgotten meanwhile: another could be taken for it.
        held += page.events
        step(page)
        after = dict(_rows(page))
        purpose = (step.__doc__ or "").strip()
        traced.append(Traced(number, name_of(step), purpose, tuple(_changes(before, after))))
        before = after
    return traced


def _changes(before: _Rows, after: _Rows) -> Iterator[Change]:
    found = []
    for key, row in after.items():
        if key not in before:
            found.append(row)
        elif row != before[key] and row.what != "span":  # It is told of the event that the span became.
            found.append(_signed(row, CHANGED))
    found += [_signed(row, REMOVED) for key, row in before.items() if key not in after]
    yield from sorted(found, key=lambda one: (one.start, one.end, one.what, one.sign))


def _signed(row: Change, sign: str) -> Change:
    return Change(sign, row.what, row.start, row.end, row.text, row.kind, row.concept, row.attributes)


def _rows(page: Page) -> Iterator[tuple[_Key, Change]]:
    """All that stands on the page; what is added has the sign that it is told with."""
    text = page.frame.note.text
    yield ("document class",), Change(ADDED, "document class", 0, 0, page.document_class, "", "", {})
    if page.topic:
        yield ("topic",), Change(ADDED, "topic", 0, 0, "", "", page.topic, {})
    apart = [span for layer in page.apart.values() for span in layer]
    for what, spans in (("span", page.spans + apart), ("place", page.sites), ("event", page.events)):
        for span in spans:
            # A step changes a span where it stands: it is known by itself.
            yield (what, id(span)), _row_of(what, span, text)
    seen: dict[_Key, int] = {}
    words = {}
    for mention in page.mentions:
        # A mention that is changed is another one at the same place.
        place = ("mention", mention.start, mention.end, mention.concept)
        seen[place] = seen.get(place, 0) + 1
        words[mention.mention_id] = mention
        yield (*place, seen[place]), _row_of("mention", mention, text)
    for edge in page.relations:
        head, tail = words.get(edge.head), words.get(edge.tail)
        if head is not None and tail is not None:
            joined = f"{head.text} → {tail.text}"
            row = Change(ADDED, "relation", head.start, tail.end, joined, edge.type, "", {})
            yield ("relation", edge.type, edge.head, edge.tail), row


def _row_of(what: str, one: Span | Mention, text: str) -> Change:
    attributes = dict(one.attributes)
    if isinstance(one, Mention) and one.context.assertion != "present":
        attributes["assertion"] = one.context.assertion
    return Change(ADDED, what, one.start, one.end, text[one.start : one.end], one.kind, one.concept, attributes)
