"""Several criteria written as one name: *breast cancer no metastasis* told as the query that says it."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from ...kb.ontology.near_names import near_words
from ...kb.ontology.normal_forms import normal_form
from ..render import name_text

#: Longer names are not looked into.
_MOST_WORDS: Final = 12
#: A single word that is shorter says too little to be told as the known part of a name.
_SHORTEST_PART: Final = 5


@functools.cache
def _data() -> Mapping[str, Any]:
    return tomllib.loads((Path(__file__).parent / "written_apart.toml").read_text(encoding="utf-8"))


@functools.cache
def _joints() -> Mapping[tuple[str, ...], str]:
    return {tuple(words.split()): joint for words, joint in _data()["joints"].items()}


def without_article(text: str) -> str:
    """The name behind an article (*the brain*); empty where none stands before it."""
    first, _, rest = text.strip().partition(" ")
    return rest.strip() if first.casefold() in _data()["articles"] else ""


def respelled(text: str, words: Iterable[str], can_be_asked: Callable[[str], bool]) -> str:
    """The text with the one of its words that is a slip of another of ``words``, or of the language's, spelled right
    (*HER2 postive*, *surgery beofre radiation*); empty unless that can be asked."""
    parts = text.split()
    if not 1 < len(parts) <= _MOST_WORDS:
        return ""
    known = [*_data()["keywords"], *words]
    for at, part in enumerate(parts):
        for meant in near_words(part, known, 1):
            right = " ".join([*parts[:at], meant, *parts[at + 1 :]])
            if normal_form(meant) != normal_form(part) and can_be_asked(right):
                return right
    return ""


def hint_for_parts(text: str, can_be_asked: Callable[[str], bool]) -> str:
    """What to write for an unknown name that is made of names: the query if all of it is known, else the nearest wider
    name, else the longest known part; empty if there is none. ``can_be_asked`` tells whether some words are a query by
    themselves."""
    words = text.split()
    if not 1 < len(words) <= _MOST_WORDS:
        return ""
    known = functools.cache(lambda first, last: can_be_asked(" ".join(words[first:last])))
    written = _written(words, known)
    if written and can_be_asked(written):
        return f"these are several criteria; write: {written}"
    wider = _wider(words, known)
    if wider:
        return f"no name says so much; wider: {name_text(wider)}"
    part = _longest(words, known)
    return f"a part of it is known: {name_text(part)}" if part else ""


def _wider(words: list[str], known: Callable[[int, int], bool]) -> str:
    """The longest name that the words say more than: the end of what stands before *of*, *with*, *due to*."""
    if words[0].casefold() in _data()["turned"]:
        return ""
    last = next((at for at, word in enumerate(words) if word.casefold() in _data()["behind"]), len(words))
    if not last:
        return ""
    return next(
        (" ".join(words[first:last]) for first in range(last) if last - first < len(words) and known(first, last)), ""
    )


def _written(words: list[str], known: Callable[[int, int], bool]) -> str:
    """The words as criteria with what joins them; empty unless every word belongs to one or joins two."""
    pieces: list[str] = []
    at, joint = 0, ""
    while at < len(words):
        last = next((last for last in range(len(words), at, -1) if last - at < len(words) and known(at, last)), None)
        if last is not None:
            if pieces:
                pieces.append(joint or "and")
            pieces.append(" ".join(words[at:last]))
            at, joint = last, ""
            continue
        found = next((length for length in (3, 2, 1) if _joint(words, at, length)), 0)
        if not found or joint or not pieces:
            return ""
        joint, at = _joint(words, at, found), at + found
    return " ".join(pieces) if len(pieces) > 1 and not joint else ""


def _joint(words: list[str], at: int, length: int) -> str:
    part = tuple(word.casefold() for word in words[at : at + length])
    return _joints().get(part, "") if len(part) == length else ""


def _longest(words: list[str], known: Callable[[int, int], bool]) -> str:
    return next((part for part in _runs(words, known) if " " in part or len(part) >= _SHORTEST_PART), "")


def _runs(words: list[str], known: Callable[[int, int], bool]) -> Iterator[str]:
    for length in range(len(words) - 1, 0, -1):
        for first in range(len(words) - length + 1):
            if known(first, first + length):
                yield " ".join(words[first : first + length])
