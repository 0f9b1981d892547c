"""Rules about the names that a query gives itself: definitions that nobody uses, or that hide a concept."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..errors import QueryError
from ..parsing.parameters import PARAMETER
from ..parsing.parse import checked
from ..tree import definitions_used
from ..vocabulary import KIND_OF_SPELLING
from .examined import Examined
from .finding import Finding
from .places import Span


def unused_definitions(examined: Examined) -> Iterator[Finding]:
    """A definition that neither the criterion nor a used definition uses."""
    used = set(definitions_used(examined.query.body))
    for definition in reversed(examined.written_definitions):
        if definition.name in used:
            used.update(definitions_used(definition.body))
    for definition in examined.written_definitions:
        if definition.name not in used:
            span = _name_span(examined.text, definition.name)
            yield examined.finding("unused-definition", span=span, name=definition.name)


def unused_parameters(examined: Examined) -> Iterator[Finding]:
    """A parameter that is given a value in the text (``let $name be …``), and stands nowhere else in it."""
    try:
        plain, _ = checked(examined.text)
    except QueryError:
        return
    for match in re.finditer(r"\blet\s+(\$(\w+))\s+be\b", plain, re.IGNORECASE):
        if sum(one["name"] == match[2] for one in PARAMETER.finditer(plain)) == 1:
            yield examined.finding("unused-parameter", span=match.span(1), name=match[2])


def shadowing_definitions(examined: Examined) -> Iterator[Finding]:
    """A definition with the name of a concept, a set of concepts, or a kind of fact."""
    for definition in examined.written_definitions:
        kind = _known_as(examined, definition.name)
        if kind:
            span = _name_span(examined.text, definition.name)
            yield examined.finding("shadowing", span=span, name=definition.name, kind=kind)


def _known_as(examined: Examined, name: str) -> str:
    found = examined.concepts.lookup(name)
    if found:
        return examined.concepts.kind(found[0])
    if examined.concepts.value_set(name) is not None:
        return "set of concepts"
    return "kind of fact" if name.casefold() in KIND_OF_SPELLING else ""


def _name_span(text: str, name: str) -> Span | None:
    """Where the definition stands in the text."""
    match = re.search(rf"\blet\s+(['\"“‘]?{re.escape(name)}['\"”’]?)\s+(?:be\b|=)", text, re.IGNORECASE)
    return None if match is None else match.span(1)
