"""Expressions of change as mentions of their own: what ``cohortium.read`` shows beside the mentions of genes.

Events rest on genes (``BRAF`` with the change ``V600E``); whoever reads a text wants the change where it is written. So
these mentions are made for ``read`` alone, and no knowledge base holds them.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from ...kb.model import Mention, Value
from ...kb.ontology.variants import gene_of
from ..text.frame import Frame, Span
from .expression import Expression
from .expressions import expressions_of, gene_before

SOURCE: Final = "notation:"
#: What a gene's mention knows of the change beyond its notation.
_SHARED: Final = ("origin", "significance", "class", "percent", "alteration")

#: No descriptor is longer, in characters.
_LONGEST: Final = 100

#: Writes the mentions of spans, with context and day.
Write = Callable[[list[Span]], list[Mention]]


def with_notations(frame: Frame, bound: Sequence[Span], mentions: Sequence[Mention], write: Write) -> list[Mention]:
    """``mentions`` and one for each expression of change, of kind ``variant``, with its exact span.

    ``bound`` are the spans of genes with the descriptors that were read for them: an expression among those shares the
    gene's concept, context and day. ``write`` gives the others a context of their own. Where a variant has just this
    span already, it takes on what the notation tells.
    """
    expressions = expressions_of(frame.text, frame.places)
    if not expressions:
        return list(mentions)
    owners = _Owners(bound, mentions)
    spans = {(one.start, one.end): one for one in expressions}
    found = [_joined(mention, spans.get((mention.start, mention.end))) for mention in mentions]
    taken = {(mention.start, mention.end) for mention in found if mention.source.startswith(SOURCE)}
    alone: list[Span] = []
    for span, one in spans.items():
        if span in taken:
            continue
        owner = owners.gene_of(one)
        if owner is not None:
            shared = {name: owner.attributes[name] for name in _SHARED if name in owner.attributes}
            attributes: dict[str, Value] = {**shared, "gene": owner.concept, **one.attributes}
            text = frame.text[one.start : one.end]
            found.append(
                replace(owner, start=one.start, end=one.end, text=text, source=_source(one), attributes=attributes)
            )
        else:
            gene = gene_before(frame.text, one.start) or gene_of(str(one.attributes.get("protein", "")))
            given = {"gene": gene, **one.attributes} if gene else dict(one.attributes)
            alone.append(Span(one.start, one.end, "variant", gene, _source(one), given))
    if alone:
        found += [mention for mention in write(alone) if mention.source.startswith(SOURCE)]
    return sorted(found, key=lambda mention: (mention.start, mention.end))


def _source(one: Expression) -> str:
    return f"{SOURCE}{one.form}"


def _joined(mention: Mention, one: Expression | None) -> Mention:
    """A variant that has the span of an expression, with what the notation tells; any other mention as it is."""
    if one is None or mention.kind != "variant":
        return mention
    return replace(mention, source=_source(one), attributes={**one.attributes, **mention.attributes})


class _Owners:
    """Which gene's mention an expression belongs to."""

    def __init__(self, bound: Sequence[Span], mentions: Sequence[Mention]) -> None:
        genes = {(one.start, one.end, one.concept): one for one in mentions if one.kind == "variant"}
        #: The descriptors that were read for a gene, by where they begin; and the genes themselves.
        self._helpers: list[tuple[int, int, Mention]] = []
        for span in bound:
            mention = genes.get((span.start, span.end, span.concept)) if span.kind == "variant" else None
            if mention is not None:
                self._helpers += [(start, end, mention) for start, end, _ in span.helpers]
        self._helpers.sort(key=lambda helper: helper[:2])
        self._genes = sorted(genes.values(), key=lambda mention: mention.start)

    def gene_of(self, one: Expression) -> Mention | None:
        """The mention of the gene that the expression was read for; of a fusion, that of its last gene."""
        if one.form == "fusion":
            low = bisect.bisect_left(self._genes, one.start, key=lambda mention: mention.start)
            high = bisect.bisect_left(self._genes, one.end, key=lambda mention: mention.start)
            inside = [mention for mention in self._genes[low:high] if mention.end <= one.end]
            return inside[-1] if inside else None
        low = bisect.bisect_left(self._helpers, one.start - _LONGEST, key=lambda helper: helper[0])
        high = bisect.bisect_left(self._helpers, one.end, key=lambda helper: helper[0])
        return next((mention for _, end, mention in self._helpers[low:high] if end > one.start), None)
