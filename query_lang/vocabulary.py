"""The words of the language that are data (``vocabulary.toml``): kinds, their attributes, contexts, picks, units."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class KindWords:
    """How one kind of event is written and what can be said of it.

    ``short`` gives the attribute that a bare comparison means, by ``number``, ``percent`` and ``word``;
    ``attributes`` gives for each attribute its type (see ``vocabulary.toml``) or the values it can have.
    """

    spellings: tuple[str, ...]
    concepts: tuple[str, ...]
    preposition: str
    short: Mapping[str, str]
    attributes: Mapping[str, str | tuple[str, ...]]


def _load() -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / "vocabulary.toml").read_text(encoding="utf-8"))


def _kind(table: Mapping[str, Any]) -> KindWords:
    return KindWords(
        spellings=tuple(table["spellings"]),
        concepts=tuple(table["concepts"]),
        preposition=table.get("preposition", "" if table["concepts"] else "of"),
        short=dict(table.get("short", {})),
        attributes={
            name: type_ if isinstance(type_, str) else tuple(type_) for name, type_ in table["attributes"].items()
        },
    )


_DATA: Final = _load()

#: Kind -> its words, in the order of the file.
KIND_WORDS: Final[Mapping[str, KindWords]] = {kind: _kind(table) for kind, table in _DATA["kinds"].items()}
#: Spelling (lower case) -> kind.
KIND_OF_SPELLING: Final[Mapping[str, str]] = {
    spelling: kind for kind, words in KIND_WORDS.items() for spelling in words.spellings
}
#: Every attribute of any kind, and those whose values lie on an ordered scale.
ATTRIBUTES: Final[tuple[str, ...]] = tuple(sorted({name for words in KIND_WORDS.values() for name in words.attributes}))
SCALE_ATTRIBUTES: Final = frozenset(
    name for words in KIND_WORDS.values() for name, type_ in words.attributes.items() if type_ == "scale"
)
#: Attributes that also open a criterion of their own, so that "and" before them begins a new one.
CRITERION_ATTRIBUTES: Final = frozenset({"stage", "grade", "t", "n", "m"})
#: Kind of concept -> the kinds of event that a bare name of it means.
MEANT_BY_CONCEPT: Final[Mapping[str, tuple[str, ...]]] = {
    concept: tuple(kinds) for concept, kinds in _DATA["meant_by_concept"].items()
}
CONTEXT_OF_SPELLING: Final[Mapping[str, str]] = _DATA["contexts"]
PICK_OF_SPELLING: Final[Mapping[str, str]] = _DATA["picks"]
STAGING_BASES: Final[Mapping[str, tuple[str, ...]]] = {
    basis: tuple(prefixes) for basis, prefixes in _DATA["bases"].items()
}
LINE_OF_SPELLING: Final[Mapping[str, int]] = _DATA["lines"]
#: Of what a count is -> the word that it begins with, and the word that it ends with, as rendered.
COUNT_WORDS: Final[Mapping[str, tuple[str, str]]] = {
    by: (begin, endings[0]) for begin, kinds in _DATA["counted"].items() for by, endings in kinds.items()
}
#: The words that a count begins and ends with (lower case) -> of what it is.
COUNTED_BY: Final[Mapping[tuple[str, str], str]] = {
    (begin, ending): by
    for begin, kinds in _DATA["counted"].items()
    for by, endings in kinds.items()
    for ending in endings
}
DAYS_IN: Final[Mapping[str, float]] = _DATA["days_in"]
FAMILY_OF_VALUE: Final[Mapping[str, str]] = _DATA["family_of_value"]


def kind_spelling(kind: str) -> str:
    """How a kind is rendered."""
    return KIND_WORDS[kind].spellings[0]


def context_spelling(context: str) -> str:
    """How a context is rendered (``present`` is not written)."""
    return next(spelling for spelling, meant in CONTEXT_OF_SPELLING.items() if meant == context)
