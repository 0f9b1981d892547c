"""The words of the language that are data: contexts, picks, units (``vocabulary.toml``), and the kinds of event."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from ..kb.kinds import KIND_TABLE, KINDS_TO_CHOOSE, WHOLE_LIFE, Kind
from ..kb.ontology.rows import CONCEPT_KINDS

_DATA: Final[dict[str, Any]] = tomllib.loads((Path(__file__).parent / "vocabulary.toml").read_text(encoding="utf-8"))

#: Kind -> how it is written and what can be said of it, in the order of ``kinds.toml``.
KIND_WORDS: Final[Mapping[str, Kind]] = KIND_TABLE
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
CRITERION_ATTRIBUTES: Final = frozenset({"stage", "grade", "t", "n", "m"}) | WHOLE_LIFE
#: Kind of concept -> the kinds of event that a bare name of it means.
MEANT_BY_CONCEPT: Final[Mapping[str, tuple[str, ...]]] = {
    concept: tuple(kind for kind in KINDS_TO_CHOOSE if concept in KIND_TABLE[kind].meant_by)
    for concept in CONCEPT_KINDS
}
CONTEXT_OF_SPELLING: Final[Mapping[str, str]] = _DATA["contexts"]
PICK_OF_SPELLING: Final[Mapping[str, str]] = _DATA["picks"]
MOMENT_OF_SPELLING: Final[Mapping[str, str]] = _DATA["moments"]
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
WAY_OF_SPELLING: Final[Mapping[str, str]] = _DATA["ways"]
DAYS_IN: Final[Mapping[str, float]] = _DATA["days_in"]
FAMILY_OF_VALUE: Final[Mapping[str, str]] = _DATA["family_of_value"]


def kind_spelling(kind: str) -> str:
    """How a kind is rendered."""
    return KIND_WORDS[kind].spellings[0]


def context_spelling(context: str) -> str:
    """How a context is rendered (``present`` is not written)."""
    return next(spelling for spelling, meant in CONTEXT_OF_SPELLING.items() if meant == context)
