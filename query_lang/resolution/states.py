"""Which states end a state (``states.toml``): what *state … at* a day looks for behind it."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from ...kb.ontology.concepts import ConceptTable
from ..nodes import Concept, ConceptExpression, OtherThan, Under, Union
from ..tree import named_concepts


def ending(concept: ConceptExpression, concepts: ConceptTable) -> ConceptExpression | None:
    """The states that end what ``concept`` names, all of one of them that are no form of it; None if nothing does.

    >>> from cohortium.kb.ontology.concepts import shipped_concepts
    >>> table = shipped_concepts()
    >>> ending(Under(Concept("castration_sensitive", "castration-sensitive disease")), table).base.term.id
    'castration_resistant'
    >>> ending(Under(Concept("metastatic_disease", "metastatic disease")), table) is None
    True
    """
    asked = [one.id for one in named_concepts(concept)]
    found = [
        name
        for state, enders in _table().items()
        if asked and all(state in concepts and concepts.is_a(one, state) for one in asked)
        for name in enders
        if name in concepts
    ]
    ends = tuple(Under(Concept(name, concepts.get(name).name)) for name in dict.fromkeys(found))
    if not ends:
        return None
    return OtherThan(ends[0] if len(ends) == 1 else Union(ends), concept)


@functools.cache
def _table() -> Mapping[str, Sequence[str]]:
    data = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    table: Mapping[str, Sequence[str]] = data["ended_by"]
    return table
