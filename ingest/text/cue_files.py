"""The files of words (``cues/*.toml``): how every reader gets its own, and a pattern of any of some words."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

_FOLDER: Final = Path(__file__).parents[1] / "cues"
#: Words written out in a pattern or phrase, not the end of an escape.
_WRITTEN_OUT: Final = re.compile(r"(?<![\\A-Za-z])[a-z]{6,}")


def cue_file(name: str) -> dict[str, Any]:
    """``cues/NAME.toml``, read anew: each reader keeps what it makes of it."""
    return tomllib.loads((_FOLDER / f"{name}.toml").read_text("utf-8"))


def any_of(words: Iterable[str]) -> str:
    """A group that matches any of the words as they are written, the longest first."""
    return "(?:" + "|".join(map(re.escape, sorted(words, key=len, reverse=True))) + ")"


def words_of_cues() -> frozenset[str]:
    """The words of six letters and more that stand in the files of words."""
    return frozenset(word for path in _FOLDER.rglob("*.toml") for word in _WRITTEN_OUT.findall(path.read_text("utf-8")))


def general_words() -> frozenset[str]:
    """Words of clinical English that are in no name (``general_words.tsv``)."""
    lines = (_FOLDER / "general_words.tsv").read_text("utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


#: A look behind (whose width is fixed), a class of characters, or a blank that no quantifier follows.
_BLANKS: Final = re.compile(r"\(\?<[=!](?:[^()]|\([^()]*\))*\)|\[\^?\]?(?:\\.|[^\]\\])*\]|(?P<blank> )(?![*+?{])")


def over_lines(pattern: str) -> str:
    """A pattern whose blanks also stand for two: what a scanner's line end leaves between words.

    >>> over_lines("not (?<=a b)ident[ _]ified")
    'not {1,2}(?<=a b)ident[ _]ified'
    """
    return _BLANKS.sub(lambda match: " {1,2}" if match["blank"] else match.group(), pattern)
