"""Synonyms that say more than their concept by their words: a place, a cause, a course, the name of something else.

A query for such a name would find everybody with the wider concept. What words alone cannot tell (*heart attack* says
no more than *myocardial infarction*) is judged once, by a reader, in ``judged_exact.tsv``.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from .concepts import ConceptRow, ConceptTable
from .normal_forms import ONTOLOGY_FOLDER, normal_form, read_pairs, without_plural

#: Longer names of other concepts are not looked for.
_MOST_WORDS: Final = 4
#: Shorter names are symbols, which stand in other words by chance.
_SHORTEST: Final = 4


class Widening(NamedTuple):
    """A synonym that says more than its concept, and the words or concepts in it that say so."""

    row: ConceptRow
    name: str
    more: tuple[str, ...]


@functools.cache
def scope_data() -> Mapping[str, Any]:
    """The words of ``scope.toml``."""
    return tomllib.loads((ONTOLOGY_FOLDER / "scope.toml").read_text(encoding="utf-8"))


def judged_exact() -> dict[str, frozenset[str]]:
    """Each concept with the synonyms (folded) that were judged to say no more than it."""
    pairs = read_pairs(ONTOLOGY_FOLDER / "judged_exact.tsv")
    return {concept: frozenset(map(normal_form, names.split("|"))) for concept, names in pairs}


def said(text: str) -> frozenset[str]:
    """The words of a name that say something, one for all that mean the same."""
    return frozenset(_one(word) for word in _words(text) if word not in scope_data()["passed_over"])


def widening_names(concepts: ConceptTable) -> Iterator[Widening]:
    """The synonyms whose words say more than their concept, judged exact or not."""
    qualifiers = frozenset(_words(" ".join(scope_data()["qualifiers"])))
    named = _NamesInNames(concepts)
    for row in concepts.rows():
        others = scope_data()["looked_through"].get(row.kind)
        if others is None:
            continue
        own, known = said(row.name), named.inside(row.name, others) | {row.id, row.site}
        for name in row.synonyms:
            extra = [word for word in _words(name) if _one(word) not in own]
            if extra:
                more = [word for word in extra if word in qualifiers]
                more += [concept for concept in sorted(named.inside(name, others)) if not named.said_by(concept, known)]
                if more:
                    yield Widening(row, name, tuple(more))


class _NamesInNames:
    """The concepts whose whole names stand in other names."""

    def __init__(self, concepts: ConceptTable) -> None:
        self._concepts = concepts
        self._ids: dict[tuple[str, ...], list[str]] = {}
        for row in concepts.rows():
            for name in (row.name, *row.synonyms):
                words = tuple(_words(name))
                if 0 < len(words) <= _MOST_WORDS and len(name) >= _SHORTEST:
                    self._ids.setdefault(words, []).append(row.id)

    def inside(self, name: str, kinds: Sequence[str]) -> set[str]:
        """The concepts of ``kinds`` of which a name is a part of ``name``, not all of it; of names within each other
        the longest."""
        words = tuple(_words(name))
        found: set[str] = set()
        taken: set[int] = set()
        for length in range(min(_MOST_WORDS, len(words) - 1), 0, -1):
            for first in range(len(words) - length + 1):
                span = range(first, first + length)
                if taken.issuperset(span):
                    continue
                ids = [
                    one for one in self._ids.get(words[first : first + length], ()) if self._concepts.kind(one) in kinds
                ]
                if ids:
                    found.update(ids)
                    taken.update(span)
        return found

    def said_by(self, concept: str, known: set[str]) -> bool:
        """Whether one of the known concepts is this one or lies below it: then it adds nothing."""
        return any(self._concepts.is_a(one, concept) for one in known if one)


def _words(text: str) -> list[str]:
    return without_plural(normal_form(text)).split()


def _one(word: str) -> str:
    return _same().get(word, word)


@functools.cache
def _same() -> Mapping[str, str]:
    lines = [_words(line) for line in scope_data()["same"]]
    return {word: words[0] for words in lines for word in words}
