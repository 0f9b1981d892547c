"""Names as linking reads them: words without endings and fillers, head, numbers, words that must not differ."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ....kb.ontology.normal_forms import normal_form, without_plural

_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?")
_ROMAN: Final = {"i": "1", "ii": "2", "iii": "3", "iv": "4", "v": "5", "vi": "6"}


@functools.cache
def data() -> Mapping[str, Any]:
    """The words of ``words.toml``."""
    return tomllib.loads((Path(__file__).parent / "words.toml").read_text(encoding="utf-8"))


@functools.cache
def _joined() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(rf"\b{words}\b"), word) for words, word in data()["joined"].items())


@functools.cache
def _stop() -> frozenset[str]:
    return frozenset(data()["stop"])


@functools.cache
def _head_ends() -> frozenset[str]:
    return frozenset(data()["head_ends"])


@functools.cache
def _contrasts() -> dict[str, tuple[tuple[str, int], ...]]:
    """Word -> the contrasts that it takes a side in, and the side."""
    found: dict[str, list[tuple[str, int]]] = {}
    for name, sides in data()["contrasts"].items():
        for number, words in enumerate(sides):
            for word in words:
                found.setdefault(word, []).append((name, number))
    return {word: tuple(sides) for word, sides in found.items()}


@functools.cache
def _prefixes() -> tuple[str, ...]:
    return tuple(sorted(data()["prefixes"]["contrary"], key=lambda one: (-len(one), one)))


@functools.cache
def allowed_kinds(kind: str) -> tuple[str, ...]:
    """The kinds of concepts that a mention of ``kind`` may be linked to, its own first; empty for all of them."""
    if not kind:
        return ()
    return tuple(data()["kinds"].get(kind, (kind,)))


@dataclass(frozen=True, slots=True)
class Wording:
    """What is compared of a name. ``plain``: its normal form; ``words``: without fillers, each in the singular;
    ``numbers``; ``sides``: of each contrast the sides that it takes."""

    plain: str
    words: tuple[str, ...]
    head: str
    numbers: frozenset[str]
    sides: Mapping[str, frozenset[int]]


@functools.lru_cache(maxsize=65_536)
def wording(text: str) -> Wording:
    """The wording of a text; of blanks and signs alone it has no words.

    >>> wording("Carcinomas of the left Lung").words, wording("Carcinomas of the left Lung").head
    (('carcinoma', 'left', 'lung'), 'carcinoma')
    """
    plain = normal_form(text)
    for pattern, replacement in _joined():
        plain = pattern.sub(replacement, plain)
    bare = plain.split()
    words = tuple(without_plural(word) for word in bare if word not in _stop())
    if not words:
        words = tuple(without_plural(word) for word in bare)
    head = ""
    for word in bare:
        if word in _head_ends() and head:
            break
        if word not in _stop() and not _NUMBER.fullmatch(word) and word not in _ROMAN:
            head = without_plural(word)
    numbers = {number for word in bare for number in _NUMBER.findall(word)}
    numbers.update(_ROMAN[word] for word in bare[1:] if word in _ROMAN)
    sides: dict[str, set[int]] = {}
    for word in dict.fromkeys((*bare, *words)):
        for contrast, side in _contrasts().get(word, ()):
            sides.setdefault(contrast, set()).add(side)
    return Wording(plain, words, head, frozenset(numbers), {key: frozenset(held) for key, held in sides.items()})


@functools.lru_cache(maxsize=65_536)
def _without_prefixes(word: str) -> Mapping[str, tuple[str, ...]]:
    """What is left of a word behind each prefix that it may begin with -> those prefixes."""
    found: dict[str, tuple[str, ...]] = {}
    for prefix in _prefixes():
        rest = word[len(prefix) :]
        if len(rest) >= 4 and word.startswith(prefix):
            found[rest] = (*found.get(rest, ()), prefix)
    return found


def contrary(one: str, other: str) -> bool:
    """Whether two words differ by a beginning that turns the meaning: hypothyroidism and hyperthyroidism,
    typical and atypical.

    >>> contrary("hypokalemia", "hyperkalemia"), contrary("nonseminoma", "seminoma"), contrary("lung", "lungs")
    (True, True, False)
    """
    if one == other or one[-4:] != other[-4:]:
        return False
    first, second = _without_prefixes(one), _without_prefixes(other)
    if other in first or one in second:
        return True
    # Of two prefixes both must be long: "in" and "de" begin too many words by chance.
    return any(len(left[0]) > 2 and len(second[rest][0]) > 2 for rest, left in first.items() if rest in second)
