"""Meanings of the kinds, assertions and status words of an abstraction (``structure.toml``)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from importlib import resources
from typing import Any, Final

from ...kb import kinds
from ...kb.model import Context, Experiencer, Polarity, Temporality

_TABLE: Final[dict[str, Any]] = tomllib.loads(
    resources.files(__package__).joinpath("structure.toml").read_text("utf-8")
)

#: Kind of a fact -> kinds of event that it may make, the usual one first.
KINDS: Final[dict[str, tuple[str, ...]]] = {kind: tuple(events) for kind, events in _TABLE["kinds"].items()}
#: Kinds of fact that are treatments.
TREATMENTS: Final = frozenset(kind for kind, events in KINDS.items() if events[0] in kinds.TREATMENTS)
#: Kind of a fact -> kind and concept of event where its text names nothing more particular.
DEFAULTS: Final[dict[str, tuple[str, str]]] = {
    kind: (text.partition(":")[0], text.partition(":")[2]) for kind, text in _TABLE["default"].items()
}
#: Kind of event -> attributes that it keeps as they are written.
KEPT: Final[dict[str, tuple[str, ...]]] = {kind: tuple(names) for kind, names in _TABLE["kept"].items()}
#: The attributes that have a meaning.
KNOWN_ATTRIBUTES: Final[frozenset[str]] = frozenset(_TABLE["attributes"]["known"])
#: Kind of a fact -> words before a text that says too little by itself.
LEADS: Final[dict[str, str]] = _TABLE["lead"]
#: Assertion -> the context that it means.
ASSERTIONS: Final[dict[str, Context]] = {
    name: Context(Polarity(parts["polarity"]), Temporality(parts["temporality"]), Experiencer(parts["experiencer"]))
    for name, parts in _TABLE["assertions"].items()
}


#: Markers that are another one when measured in blood, and the words that say so.
IN_BLOOD: Final[dict[str, str]] = _TABLE["in_blood"]["markers"]
BLOOD: Final[tuple[str, ...]] = tuple(_TABLE["in_blood"]["words"])
#: Tumors whose usual names only imply their organ.
IMPLIED: Final[frozenset[str]] = frozenset(_TABLE["implied"]["tumors"])


def _any_word(words: Iterable[str]) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, words))})\b(?!-?\s?\d)\.?", re.IGNORECASE)


_CLAUSE: Final = re.compile(r"[;.,]")
_STATUS: Final = {standing: _any_word(words) for standing, words in _TABLE["status"].items()}
_DENIED: Final = {kind: _any_word(words) for kind, words in _TABLE["denied"].items()}
_DEAD: Final = _any_word(_TABLE["vital"]["dead"])
_SHORT: Final = {
    kind: (words, _any_word(sorted(words, key=len, reverse=True))) for kind, words in _TABLE["shorthand"].items()
}
_LIKE: Final = {"histology": "diagnosis", "metastasis": "diagnosis"}


#: What parts the items of a list ("FOLFIRI + cetuximab", "HTN, COPD and AF").
BETWEEN_ITEMS: Final = re.compile(
    rf"\s*[,;+&/]\s*|\s+(?:{'|'.join(map(re.escape, _TABLE['items']['words']))})\s+", re.IGNORECASE
)
#: The value of a test that is a plain positive result.
PLAINLY_POSITIVE: Final = re.compile(
    rf"(?:{'|'.join(map(re.escape, _TABLE['plain']['positive']))})\b(?!\s+for\b)", re.IGNORECASE
)


def in_full(kind: str, text: str) -> str:
    """The text of a fact with the shorthand of its kind written out ("ca breast": "carcinoma breast")."""
    kind = _LIKE.get(kind, kind)
    if kind not in _SHORT:
        return text
    words, pattern = _SHORT[kind]
    return pattern.sub(lambda match: words[match.group().rstrip(".").casefold()], text)


def leaves_open(text: str) -> bool:
    """Whether the words of a treatment leave open whether it was the one named (a blinded arm)."""
    folded = text.casefold()
    return any(word in folded for word in _TABLE["doubt"]["words"])


def reason_of(text: str) -> str:
    """The reason (:data:`..kb.model.REASONS`) that the words of a status name; ``none`` if they name none."""
    return _first(_TABLE["reasons"], text) or "none"


def standing_of(status: str, *, absent_only: bool = False) -> str:
    """``planned`` or ``absent`` where the status of a treatment says that it was not given; else empty.

    With ``absent_only`` a text that is no status is looked at, whose first clause may still say so.
    """
    for clause in _CLAUSE.split(status):
        for standing, pattern in _STATUS.items():
            if pattern.search(clause):
                return standing if standing == "absent" or standing == "planned" and not absent_only else ""
        if absent_only:
            return ""
    return ""


def denies(kind: str, text: str) -> bool:
    """Whether a text denies what a fact of the kind would say ("alive" as a death)."""
    return kind in _DENIED and _DENIED[kind].search(text) is not None


def means_death(vital_status: str) -> bool:
    """Whether a vital status is a death."""
    return _DEAD.search(vital_status) is not None


def _first(words: dict[str, list[str]], text: str) -> str:
    folded = text.casefold()
    return next((name for name, forms in words.items() if any(form in folded for form in forms)), "")
