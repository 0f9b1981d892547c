"""Spread to an organ told as a name (*brain metastasis*, *mets to the liver*): the query that says it."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from ...kb.ontology.concepts import ConceptTable
from ..render import name_text

#: Longer names are not looked into.
_MOST_WORDS: Final = 12


@functools.cache
def _words() -> Mapping[str, frozenset[tuple[str, ...]]]:
    data = tomllib.loads((Path(__file__).parent / "spread.toml").read_text(encoding="utf-8"))
    return {name: frozenset(tuple(one.split()) for one in phrases) for name, phrases in data.items()}


def hint_for_spread(text: str, concepts: ConceptTable, can_be_asked: Callable[[str], bool]) -> str:
    """What to write for an unknown name that tells of spread to a known organ; empty if it tells of none.

    A disease before or behind the spread becomes a criterion of its own where ``can_be_asked`` knows it; where there
    are words that nobody knows, the name is told as it is.
    """
    words = text.replace("-", " ").split()
    if not 1 < len(words) <= _MOST_WORDS:
        return ""
    small = [word.casefold() for word in words]
    for length in (2, 1):
        for at in range(len(words) - length + 1):
            if tuple(small[at : at + length]) not in _words()["words"] or _symbol(words[at], text):
                continue
            found = _behind(words, small, at + length, concepts) or _before(words, small, at, concepts)
            if found is None:
                continue
            organ, first, last = found
            rest = _trimmed(words[: min(first, at)]) + _trimmed(words[max(last, at + length) :])
            spread = f"metastasis to {name_text(organ)}"
            if not rest:
                return f"write: {spread}"
            disease = " ".join(rest)
            if can_be_asked(disease):
                return f"these are several criteria; write: {disease} and {spread}"
    return ""


def _behind(words: Sequence[str], small: Sequence[str], at: int, concepts: ConceptTable) -> tuple[str, int, int] | None:
    """The organ that follows the spread to the end, and its place from what joins the two on: *to the liver*.

    Only to the end: in *metastatic lung cancer* the lung is no organ that it spread to.
    """
    first = at
    for skipped in ("toward", "articles"):
        if tuple(small[first : first + 1]) in _words()[skipped]:
            first += 1
    organ = _organ(" ".join(words[first:]), concepts) if first < len(words) else ""
    return (organ, at, len(words)) if organ else None


def _before(words: Sequence[str], small: Sequence[str], at: int, concepts: ConceptTable) -> tuple[str, int, int] | None:
    """The organ right before the spread and its place: the longest one."""
    for first in range(at):
        if tuple(small[first : first + 1]) not in _words()["articles"] and (
            organ := _organ(" ".join(words[first:at]), concepts)
        ):
            return organ, first, at
    return None


def _organ(text: str, concepts: ConceptTable) -> str:
    """The name of the organ that the text names (*hepatic*: liver), or of the only one of which it is a slip."""
    known = concepts.lookup(text, ("site",))
    if len(known) == 1:
        return concepts.get(known[0]).name if concepts.lookup(concepts.get(known[0]).name, ("site",)) == known else text
    near = [] if known else concepts.nearest(text, ("site",))
    return near[0] if len(near) == 1 and near[0].count(" ") == text.count(" ") else ""


def _symbol(word: str, text: str) -> bool:
    """Whether a word is in capitals among others that are not: *MET* is a gene."""
    return word.isupper() and not text.isupper()


def _trimmed(words: Sequence[str]) -> list[str]:
    """The words without what joins them to the spread."""
    kept = list(words)
    small = _words()["joints"] | _words()["articles"]
    while kept and (kept[-1].casefold(),) in small:
        kept.pop()
    while kept and (kept[0].casefold(),) in small:
        kept.pop(0)
    return kept
