"""Residues and nucleotides as they are written, and the pieces that patterns of notation are made of."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from functools import lru_cache
from importlib import resources
from typing import Any, Final


@lru_cache(maxsize=1)
def words() -> dict[str, Any]:
    """``words.toml``."""
    return tomllib.loads(resources.files(__package__).joinpath("words.toml").read_text("utf-8"))


def any_of(alternatives: Iterable[str]) -> str:
    """A group that matches any of the words, the longest first; a blank in a word is any one blank or hyphen."""
    ordered = sorted(set(alternatives), key=lambda word: (-len(word), word))
    return "(?:" + "|".join(re.escape(word).replace(r"\ ", r"[\s\-]") for word in ordered) + ")"


_RESIDUES: Final[dict[str, list[str]]] = words()["residue"]
_STOPS: Final[list[str]] = words()["stop"]["words"]
#: Any way of writing a residue, folded → its letter.
_LETTERS: Final[dict[str, str]] = {
    **{short.lower(): names[0] for short, names in _RESIDUES.items()},
    **{name.lower(): names[0] for names in _RESIDUES.values() for name in names},
    **{stop.lower(): "*" for stop in (*_STOPS, "*", "x")},
}
_NUCLEOTIDES: Final = {name: letter for letter, names in words()["nucleotide"].items() for name in names}

SHORT: Final = any_of([*_RESIDUES, *(short.upper() for short in _RESIDUES)])
SHORT_ANY_CASE: Final = any_of([*_RESIDUES, *(short.upper() for short in _RESIDUES), *map(str.lower, _RESIDUES)])
LETTER: Final = "[ACDEFGHIKLMNPQRSTVWY]"
#: The three letters of the residues that proteins are made of (without selenocysteine), each with its one.
ONE_LETTER: Final = {short: names[0] for short, names in _RESIDUES.items() if re.fullmatch(LETTER, names[0])}
RESIDUE: Final = f"(?:{SHORT}|{LETTER})"
#: A residue in prose: its name or its three letters.
NAME: Final = any_of(
    [name for names in _RESIDUES.values() for name in names[1:]]
    + [name.capitalize() for names in _RESIDUES.values() for name in names[1:]]
)
NAMED: Final = f"(?:{NAME}|{SHORT})"
#: How a word looks at which a residue in prose may begin; what follows within the word can only be figures.
NAMED_OPENS: Final = r"(?:{}|{})(?:\Z|\d)".format(
    any_of(
        {re.split("[ -]", name)[0] for names in _RESIDUES.values() for one in names[1:] for name in (one, one.title())}
    ),
    SHORT,
)
STOP: Final = r"(?:\*|X|" + any_of(["Ter", "TER", "ter", "Stop", "STOP", "stop"]) + ")"
STOP_WORD: Final = "(?:an?[ ](?:premature[ ])?)?" + any_of(_STOPS)
#: Four spellings of an arrow, entities of web pages included; bare dashes are none.
ARROW: Final = r"(?:[ ]?(?:(?:-{0,3}|={1,2})(?:>|&gt;|&[#]62;|&[#]x3e;)|&rarr;|&[#]8594;)[ ]?)"
NUCLEOTIDE_NAMES: Final = tuple(_NUCLEOTIDES)
NUCLEOTIDE: Final = f"(?:[ACGTU]|{any_of(_NUCLEOTIDES)})"
SEQUENCE: Final = r"(?:[ACGTU]{1,60}|[acgtu]{1,60})"


def letter(residue: str) -> str:
    """The letter of a residue however written (``Val``, ``valine``, ``V``), ``*`` for a stop; itself if unknown."""
    folded = " ".join(re.split(r"[\s\-]+", residue.strip().lower()))
    folded = re.sub(r"^an? (?:premature )?", "", folded)
    return _LETTERS.get(folded, residue)


def base(nucleotide: str) -> str:
    """The letter of a nucleotide or a run of them, in capitals; of its name if it is named."""
    folded = nucleotide.strip().lower()
    return _NUCLEOTIDES.get(folded, folded.upper())
