"""The bank: 114 questions (``bank.tsv``), each with its formal query and the definitions that it uses."""

from __future__ import annotations

import dataclasses
import functools
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from ...query_lang.nodes import Defined
from ...query_lang.parse import parse
from ..classes import COMPLEXITIES

_FOLDER: Final = Path(__file__).parent


@dataclasses.dataclass(frozen=True, slots=True)
class BankQuery:
    """One query of the bank: its id there, the question, its clinical complexity, and the formal query."""

    id: int
    text: str
    complexity: str
    query: str


@functools.cache
def load_bank() -> tuple[BankQuery, ...]:
    """The whole bank, by id."""
    formal = load_queries()
    rows = (line.split("\t") for line in (_FOLDER / "bank.tsv").read_text(encoding="utf-8").splitlines()
            if line and not line.startswith(("#", "id\t")))  # fmt: skip
    bank = tuple(BankQuery(int(id_), text, complexity, formal[int(id_)]) for id_, complexity, text in rows)
    unknown = {one.complexity for one in bank} - set(COMPLEXITIES)
    if unknown:
        raise ValueError(f"bank.tsv: complexity {', '.join(unknown)} is not one of {', '.join(COMPLEXITIES)}")
    return bank


def load_queries(path: Path | None = None) -> Mapping[int, str]:
    """Bank id to formal query, each with the definitions that it uses written before it."""
    data = tomllib.loads((path or _FOLDER / "queries.toml").read_text(encoding="utf-8"))
    return {int(id_): text for id_, text in with_definitions(data["queries"], data.get("definitions", {})).items()}


def with_definitions(queries: Mapping[str, str], definitions: Mapping[str, str]) -> dict[str, str]:
    """Each query as one text: ``let`` lines for the definitions that it uses, directly or through others, then itself.

    A definition may use those before it. QueryError if one of the texts cannot be read.
    """
    lines = {name: f'let "{name}" be {text.strip()};' for name, text in definitions.items()}
    before = "\n".join(lines.values())
    read = parse(before + "\ndeath")
    uses = {definition.name: frozenset(_names(definition.body)) for definition in read.definitions}

    def needed(names: Iterable[str]) -> set[str]:
        found: set[str] = set()
        waiting = [name for name in names if name in uses]
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting += uses[name]
        return found

    whole = {}
    for key, text in queries.items():
        used = needed(_names(parse(f"{before}\n{text}"), shared=frozenset(uses)))
        whole[key] = "\n".join([*(line for name, line in lines.items() if name in used), text.strip()])
    return whole


def _names(node: Any, shared: frozenset[str] = frozenset()) -> Iterator[str]:
    """The definitions that a tree uses; of a query, those of its own part, not those of ``shared`` definitions."""
    if isinstance(node, Defined):
        yield node.name
    elif isinstance(node, tuple):
        for part in node:
            yield from _names(part, shared)
    elif dataclasses.is_dataclass(node) and getattr(node, "name", None) not in shared:
        for one in dataclasses.fields(node):
            yield from _names(getattr(node, one.name), shared)
