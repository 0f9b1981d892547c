"""Expressions of change as mentions of their own: what ``cohortium.read`` shows beside the mentions of genes.

Events rest on genes (``BRAF`` with the change ``V600E``); whoever reads a text wants the change where it is written. So
these mentions are made for ``read`` alone, and no knowledge base holds them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from ...kb.model import Mention, Value
from ..frame import Frame, Span
from ..variants import gene_of
from .expression import Expression
from .expressions import expressions_of, gene_before

SOURCE: Final = "notation:"
#: What a gene's mention knows of the change beyond its notation.
_SHARED: Final = ("origin", "significance", "class", "percent", "alteration")

#: Writes the mentions of spans, with context and day.
Write = Callable[[list[Span]], list[Mention]]


def with_notations(frame: Frame, bound: Sequence[Span], mentions: Sequence[Mention], write: Write) -> list[Mention]:
    """``mentions`` and one for each expression of change, of kind ``variant``, with its exact span.

    ``bound`` are the spans of genes with the descriptors that were read for them: an expression among those shares the
    gene's concept, context and day. ``write`` gives the others a context of their own. Where a variant has just this
    span already, it takes on what the notation tells.
    """
    found: list[Mention] = list(mentions)
    alone: list[Span] = []
    for one in expressions_of(frame.text):
        same = [at for at, mention in enumerate(found) if _is_variant_at(mention, one)]
        owner = _owner(one, bound, mentions)
        if same:
            for at in same:
                told = found[at]
                found[at] = replace(told, source=_source(one), attributes={**one.attributes, **told.attributes})
        elif owner is not None:
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
    found += [mention for mention in write(alone) if mention.source.startswith(SOURCE)]
    return sorted(found, key=lambda mention: (mention.start, mention.end))


def _source(one: Expression) -> str:
    return f"{SOURCE}{one.form}"


def _is_variant_at(mention: Mention, one: Expression) -> bool:
    return (mention.kind, mention.start, mention.end) == ("variant", one.start, one.end)


def _owner(one: Expression, bound: Sequence[Span], mentions: Sequence[Mention]) -> Mention | None:
    """The mention of the gene that this expression was read for, or of a fusion's last gene."""
    if one.form == "fusion":
        inside = [m for m in mentions if m.kind == "variant" and one.start <= m.start and m.end <= one.end]
        return inside[-1] if inside else None
    for span in bound:
        if span.kind == "variant" and any(start < one.end and one.start < end for start, end, _ in span.helpers):
            for mention in mentions:
                if (mention.start, mention.end, mention.concept) == (span.start, span.end, span.concept):
                    return mention
    return None
