"""Questions that people ask of the ontology: all of one concept, and the concepts that a few letters may mean."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from ..errors import UsageError
from .concepts import ConceptTable
from .normal_forms import normal_form, without_plural
from .rows import CONCEPT_KINDS

#: Names that resemble the text so much (per cent) are near spellings.
_NEAR: Final = 80.0


class Match(enum.IntEnum):
    """How a name answers a search, the best first."""

    EXACT = 1
    PREFIX = 2
    CONTAINED = 3
    NEAR = 4


@dataclass(frozen=True, slots=True)
class Found:
    """A concept, and its name, short form or code that answered a search."""

    concept: str
    name: str
    match: Match
    unlike: float = 0.0  # of a near spelling: how far it is from the text (per cent)

    @property
    def rank(self) -> tuple[Match, float, int, str]:
        """By which answers are sorted."""
        return self.match, self.unlike, len(self.name), self.name


def resolve(concepts: ConceptTable, text: str) -> tuple[str, ...]:
    """The concepts of this id, name or code, the best first. UsageError, with the nearest names, when there is none."""
    found = concepts.lookup(text)
    if not found:
        near = concepts.nearest(text)
        meant = f"did you mean {' or '.join(repr(name) for name in near)}?" if near else "see 'ontology search'"
        raise UsageError(f"the ontology knows no '{text}'. Hint: {meant}")
    return found


def search(concepts: ConceptTable, text: str, kind: str | None = None, limit: int = 20) -> list[Found]:
    """The concepts a name of which is ``text``, begins with it, holds its words, or is spelled nearly so.

    Each concept once, under the name that answers best; of equal answers the shorter name first. UsageError for a kind
    that there is not, and for a text without letters and digits.
    """
    check_kind(kind)
    wanted = normal_form(text)
    if not wanted:
        raise UsageError(f"'{text}' has no letter or digit to search for")
    best: dict[str, Found] = {}
    by_form: dict[str, list[tuple[str, str]]] = {}
    for concept, name in _names(concepts, kind):
        form = normal_form(name)
        by_form.setdefault(form, []).append((concept, name))
        match = _match(wanted, form)
        if match is not None:
            _keep(best, Found(concept, name, match))
    for concept in concepts.lookup(text, None if kind is None else (kind,)):
        if concept not in best or best[concept].match is not Match.EXACT:
            best[concept] = Found(concept, text, Match.EXACT)
    if len(best) < limit:
        for form, likeness in _near(wanted, list(by_form)):
            for concept, name in by_form[form]:
                _keep(best, Found(concept, name, Match.NEAR, 100.0 - likeness))
    return sorted(best.values(), key=lambda one: (one.rank, one.concept))[:limit]


def check_kind(kind: str | None) -> None:
    """UsageError for a kind of concept that there is not."""
    if kind is not None and kind not in CONCEPT_KINDS:
        raise UsageError(f"--kind: '{kind}' is no kind of concept. Hint: the kinds are {', '.join(CONCEPT_KINDS)}")


def _names(concepts: ConceptTable, kind: str | None) -> Iterator[tuple[str, str]]:
    for row in concepts.rows():
        if kind is None or row.kind == kind:
            yield from ((row.id, name) for name in concepts.names(row.id))


def _match(wanted: str, form: str) -> Match | None:
    if form == wanted or without_plural(form) == without_plural(wanted):
        return Match.EXACT
    if form.startswith(wanted):
        return Match.PREFIX
    return Match.CONTAINED if f" {wanted}" in f" {form}" else None


def _keep(best: dict[str, Found], one: Found) -> None:
    held = best.get(one.concept)
    if held is None or one.rank < held.rank:
        best[one.concept] = one


def _near(wanted: str, forms: list[str]) -> list[tuple[str, float]]:
    from rapidfuzz import fuzz, process

    found = process.extract(wanted, forms, scorer=fuzz.ratio, limit=None, score_cutoff=_NEAR)
    return [(form, likeness) for form, likeness, _ in found]


def describe(concepts: ConceptTable, concept: str) -> dict[str, Any]:
    """All of one concept, for people and as JSON; KeyError if there is none of this id."""
    row = concepts.get(concept)

    def named(ids: tuple[str, ...]) -> list[dict[str, str]]:
        return [{"concept": one, "name": concepts.name(one)} for one in ids]

    return {
        "concept": row.id,
        "kind": row.kind,
        "name": row.name,
        "synonyms": list(row.synonyms),
        "abbreviations": [{"text": short.text, "cues": list(short.cues)} for short in row.abbreviations],
        "codes": list(row.codes),
        "site": row.site,
        "source": row.source,
        "parents": named(concepts.parents(concept)),
        "children": named(concepts.children(concept)),
        "descendants": len(concepts.below(concept)) - 1,
        "value_sets": [
            value_set.name
            for value_set in concepts.value_sets()
            if any(concepts.is_a(concept, member) for member in value_set.members)
        ],
    }
