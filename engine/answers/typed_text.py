"""The place of each criterion in the text that somebody typed, beside its place in the query as it was understood."""

from __future__ import annotations

from collections.abc import Mapping

from ...query_lang import nodes
from ...query_lang.lint.places import Site, sites_of
from ...query_lang.parsing.parameters import Parameters
from .query_text import Path, QueryText, Span


def typed_places(
    query: nodes.Query,
    understood: QueryText,
    text: str,
    parameters: Parameters | None = None,
    definitions: tuple[nodes.Definition, ...] = (),
) -> Mapping[Span, Span]:
    """Where in ``text`` the criterion stands that stands at a place of the rendered query.

    ``text`` spells the resolved ``query`` with these parameters and definitions from elsewhere. What has no place in it
    (a definition of another file, a criterion that was written otherwise) is left out; all is, of a text that spells
    another query.
    """
    sites = sites_of(query, text, parameters, definitions)
    found: dict[Span, Span] = {}
    names = [definition.name for definition in query.definitions]
    roots = [*zip(names, sites.definitions, strict=True), ("", sites.body)]
    # A clinical term has the place of its name, and so has all that it is made of.
    uses: dict[str, Span] = {}
    for name, root in reversed(roots):
        for site in root.walk():
            if isinstance(site.node, nodes.Defined) and site.node.name in names[: sites.terms]:
                place = site.span or uses.get(name)
                if place is not None:
                    uses.setdefault(site.node.name, Span(*place))
    waiting: list[tuple[Path, Site]] = [((name,), site) for name, site in roots]
    while waiting:
        path, site = waiting.pop()
        place = site.span or uses.get(str(path[0]))
        if place is not None:
            found[understood[path]] = Span(*place)
        waiting.extend(((*path, at), part) for at, part in enumerate(site.parts))
    return found
