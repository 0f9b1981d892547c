"""Under which terms the known corpora stand, and whether a model that is shipped may learn from them."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from .corpus import AnnotatedCorpus

_FILE: Final = Path(__file__).with_name("licences.toml")


@dataclass(frozen=True, slots=True)
class Licence:
    """The terms of a corpus. ``ship``: a model that is shipped may be trained on it, ``why`` says why (not).
    ``checked``: whether the terms were read at their source, and are not from memory or a copy."""

    name: str
    called: tuple[str, ...]
    licence: str
    ship: bool
    checked: bool
    source: str
    cite: str
    why: str


@cache
def licences() -> tuple[Licence, ...]:
    """All known corpora."""
    rows = tomllib.loads(_FILE.read_text(encoding="utf-8"))["corpus"]
    return tuple(Licence(**{**row, "called": tuple(row["called"])}) for row in rows)


def licence_at(place: str | Path) -> Licence | None:
    """The terms of what lies at a path, told by the names of its file and of the two folders around; None where no
    known corpus is named so. A user's own corpus has the terms that its user gives it."""
    place_words = "/".join(Path(place).absolute().parts[-3:]).lower()
    return next((one for one in licences() if any(_names(place_words, name) for name in one.called)), None)


def licence_of(corpus: AnnotatedCorpus) -> Licence | None:
    """The terms of a corpus, by where it was read."""
    return licence_at(corpus.source) if corpus.source else None


def _names(place_words: str, name: str) -> bool:
    """Whether a path names a corpus: the whole word, perhaps with a year or version behind it."""
    return re.search(rf"(?<![a-z0-9]){re.escape(name)}\d*(?![a-z0-9])", place_words) is not None
