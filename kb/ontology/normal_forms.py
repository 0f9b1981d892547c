"""Normal forms of names: case, hyphens, British and American spelling, and plurals folded, for look-up only."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Final

ONTOLOGY_FOLDER = Path(__file__).parent

#: Blanks too are separators; splitting tells them.
_SEPARATORS = '-‐‑‒–—―_/,;:()[]{}"”“'
_POSSESSIVE = re.compile(r"['’](?:s\b)?")
_FULL_STOP = re.compile(r"\.(?!\d)")
_GREEK = {"α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "κ": "kappa", "λ": "lambda"}
_UNFOLDED = str.maketrans({**_GREEK, **dict.fromkeys(_SEPARATORS, " ")})
#: No rule of folding reads past it, and it is no blank.
_BETWEEN = "\0"


def read_pairs(path: Path) -> list[tuple[str, str]]:
    """The rows of a two-column tab-separated file, without its header and its ``#`` lines."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    pairs = []
    for line in lines[1:]:
        left, _, right = line.partition("\t")
        pairs.append((left.strip(), right.strip()))
    return pairs


@functools.cache
def _spelling() -> tuple[re.Pattern[str], tuple[tuple[re.Pattern[str], str], ...]]:
    """One pattern that tells whether a word needs any rule at all, and the rules."""
    pairs = read_pairs(ONTOLOGY_FOLDER / "spelling.tsv")
    trigger = re.compile("|".join(f"(?:{british})" for british, _ in pairs))
    return trigger, tuple((re.compile(british), replacement) for british, replacement in pairs)


@functools.lru_cache(maxsize=65_536)
def american(word: str) -> str:
    """``word`` (lower case) in American spelling."""
    trigger, rules = _spelling()
    if trigger.search(word):
        for pattern, replacement in rules:
            word = pattern.sub(replacement, word)
    return word


def normal_form(text: str) -> str:
    """Lower case, single spaces for hyphens, slashes and brackets, American spelling, no possessive ``'s``."""
    return " ".join(american(word) for word in _folded(text).split())


def _folded(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _FULL_STOP.sub("", _POSSESSIVE.sub("", folded)).translate(_UNFOLDED)


def normal_forms(texts: Sequence[str]) -> list[str]:
    """:func:`normal_form` of each text, at a fraction of its cost: the folding goes over all of them at once."""
    joined = _BETWEEN.join(texts)
    if joined.count(_BETWEEN) != len(texts) - 1:  # one of them holds the separator
        return [normal_form(text) for text in texts]
    parts = _folded(joined).split(_BETWEEN)
    british = {word for word in set(" ".join(parts).split()) if american(word) != word}
    return [" ".join(words if british.isdisjoint(words) else map(american, words)) for words in map(str.split, parts)]


def without_plural(normal: str) -> str:
    """A key, not a word, that the singular and plural of each word of a normal form share."""
    return " ".join(map(_stem, normal.split(" "))) if " " in normal else _stem(normal)


_SHORT_WITH_ES: Final = frozenset({"gases", "buses"})


@functools.lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    if len(word) <= 3 or not word.isalpha():
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word in _SHORT_WITH_ES:
        return word[:-2]
    if len(word) == 5 and word.endswith("ses"):
        return word[:-1]  # noses, doses: as short as "nos" a key would be another word's
    if word.endswith(("ses", "xes", "ches", "shes", "sis")):
        return word[:-2]
    if word.endswith("se") and len(word) > 4:
        return word[:-1]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def squashed(normal: str) -> str:
    """The key of :func:`without_plural` with its spaces dropped: ``HER-2``, ``HER 2`` and ``HER2`` share it."""
    return without_plural(normal).replace(" ", "")
