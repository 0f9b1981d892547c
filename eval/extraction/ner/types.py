"""The entity types of NeuroTrialNER and what else of its scoring is words: read from ``types.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

_FILE: Final = Path(__file__).with_name("types.toml")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The types in the order of the paper's tables, their spellings, and the words of the scoring.

    ``spelled`` holds every accepted spelling of a type in capitals; ``columns`` the word of a type in the columns of
    one cell a type. ``claims`` and ``prompts`` are by system: which types it looks for, which prompt counts;
    ``verbatim`` are the systems whose names were compared as they stand.
    """

    types: tuple[str, ...]
    spelled: Mapping[str, str]
    columns: Mapping[str, str]
    claims: Mapping[str, tuple[str, ...]]
    prompts: Mapping[str, Mapping[str, str]]
    verbatim: frozenset[str]
    nothing: frozenset[str]
    piece: str
    joins: tuple[tuple[str, str], ...]
    more_joins: tuple[tuple[str, str], ...]
    lists: tuple[Mapping[str, Any], ...]

    def type_of(self, word: str) -> str | None:
        """The type that a tag or name stands for, in any case of letters; None for one that is not known."""
        return self.spelled.get(word.strip().upper())

    def joined(self, name: str) -> str:
        """A name without the blanks that joining its tokens left around hyphens, slashes, brackets, apostrophes."""
        return _replaced(name, self.joins)

    def untokenised(self, words: str) -> str:
        """Words that were joined by blanks as their text most likely writes them."""
        return _replaced(self.joined(words), self.more_joins)


def _replaced(words: str, joins: tuple[tuple[str, str], ...]) -> str:
    for before, after in joins:
        words = words.replace(before, after)
    return words


@cache
def vocabulary() -> Vocabulary:
    """The shipped vocabulary."""
    data = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    rows: Sequence[Mapping[str, str]] = data["type"]
    spelled = {
        str(row[key]).upper(): row["name"] for row in rows for key in ("name", "tag", "column", "also") if key in row
    }
    return Vocabulary(
        types=tuple(row["name"] for row in rows),
        spelled=spelled,
        columns={row["name"]: row["column"] for row in rows},
        claims={system: tuple(types) for system, types in data["claims"].items()},
        prompts=data["prompts"],
        verbatim=frozenset(data["as_told"]["systems"]),
        nothing=frozenset(data["names"]["nothing"]),
        piece=data["names"]["piece"],
        joins=tuple((row["from"], row["to"]) for row in data["join"]),
        more_joins=tuple((row["from"], row["to"]) for row in data["untokenise"]),
        lists=tuple(data["list"]),
    )
