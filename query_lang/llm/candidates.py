"""Names of the ontology that a question may mean, so that the model writes names which the knowledge base knows."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ...kb.ontology.concepts import ConceptTable
from ...kb.ontology.normal_forms import normal_forms, without_plural
from ..keywords import RESERVED

_LONGEST_NAME: Final = 7
#: Names listed for a word that only stands inside longer names.
_NAMES_A_WORD: Final = 6
#: Words that no name holds, for which similar names are looked up: that is the slow part.
_MOST_MISSPELT: Final = 5
_SHORTEST_WORD: Final = 3
#: A word that more names hold ("cancer", "cell") says nothing by itself.
_MOST_NAMES: Final = 200
#: A name is similar to a word when it is so alike (per cent).
_ALIKE: Final = 80.0
#: Words that lead to no name, or to one by accident ("who": World Health Organization).
_FILLER: Final = frozenset(
    tomllib.loads((Path(__file__).parent / "candidates.toml").read_text(encoding="utf-8"))["filler"]
)
#: Words of the language itself ("stage") stand in the card; the names that hold them say nothing.
_PASSED_OVER: Final = _FILLER | RESERVED
_WORD: Final = re.compile(r"[^\s()\[\]{},;:!?\"“”]+")

_EDGES: Final = ".'’‘"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A name of the ontology, the kind of concept that it is, and the words of the question that led to it."""

    name: str
    kind: str
    words: str


class Candidates:
    """Finds names for the words of questions in one ontology; made once, asked often."""

    def __init__(self, concepts: ConceptTable) -> None:
        """Nothing is indexed before a question has words that are no name by themselves."""
        self._concepts = concepts

    @functools.cached_property
    def _names_of_word(self) -> dict[str, list[tuple[str, str]]]:
        """Word in its plain form -> the names that hold it, each with its concept."""
        found: dict[str, list[tuple[str, str]]] = {}
        named = [(row.id, name) for row in self._concepts.rows() for name in (row.name, *row.synonyms)]
        for one, form in zip(named, normal_forms([name for _, name in named]), strict=True):
            for word in set(without_plural(form).split()):
                found.setdefault(word, []).append(one)
        return found

    def named_in(self, question: str, most: int) -> list[Candidate]:
        """At most ``most`` names: those that stand in the question first, then those that hold or resemble a word."""
        words = [word.strip(_EDGES) for word in _WORD.findall(question)]
        found: dict[tuple[str, str], Candidate] = {}
        covered = [False] * len(words)
        for begin, end, phrase in _phrases(words):
            known = [] if phrase.lower() in _FILLER else list(self._called(phrase))
            if known:
                covered[begin:end] = [True] * (end - begin)
                for one in known:
                    found.setdefault((one.name, one.kind), one)
        left = dict.fromkeys(word for word, known in zip(words, covered, strict=True) if not known)
        misspelt = 0
        for word in left:
            if len(word) < _SHORTEST_WORD or word.lower() in _PASSED_OVER or not any(map(str.isalpha, word)):
                continue
            near = list(self._holding(word))
            if not near and misspelt < _MOST_MISSPELT:
                misspelt += 1
                near = list(self._resembling(word))
            for one in near:
                found.setdefault((one.name, one.kind), one)
        return list(found.values())[:most]

    def meant(self, question: str) -> frozenset[str]:
        """The concepts that words of the question name outright."""
        words = [word.strip(_EDGES) for word in _WORD.findall(question)]
        named = (self._concepts.lookup(phrase) for _, _, phrase in _phrases(words))
        return frozenset(concept for found in named for concept in found)

    def _called(self, phrase: str) -> Iterator[Candidate]:
        for concept in self._concepts.lookup(phrase):
            yield Candidate(self._concepts.name(concept), self._concepts.kind(concept), phrase)
        if self._concepts.value_set(phrase) is not None:
            yield Candidate(phrase, "named list", phrase)

    def _holding(self, word: str) -> Iterator[Candidate]:
        (form,) = normal_forms([word])
        parts = without_plural(form).split()
        if not parts:
            return
        sets = [self._names_of_word.get(part, []) for part in parts]
        names = [one for one in min(sets, key=len) if all(one in others for others in sets)]
        if len(names) > _MOST_NAMES:
            return
        for concept, name in sorted(names, key=lambda one: (len(one[1]), one[1]))[:_NAMES_A_WORD]:
            yield Candidate(name, self._concepts.kind(concept), word)

    def _resembling(self, word: str) -> Iterator[Candidate]:
        from rapidfuzz import fuzz

        for name in self._concepts.nearest(word):
            if fuzz.ratio(name.casefold(), word.casefold()) < _ALIKE:
                continue
            for concept in self._concepts.lookup(name)[:1]:
                yield Candidate(name, self._concepts.kind(concept), word)


@functools.lru_cache(maxsize=2)
def candidates_of(concepts: ConceptTable) -> Candidates:
    """The finder of an ontology, made once: question after question is asked of the same one."""
    return Candidates(concepts)


def _phrases(words: list[str]) -> Iterator[tuple[int, int, str]]:
    """Every run of words, the longest first."""
    for length in range(min(_LONGEST_NAME, len(words)), 0, -1):
        for begin in range(len(words) - length + 1):
            yield begin, begin + length, " ".join(words[begin : begin + length])
