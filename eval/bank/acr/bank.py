"""The bank (``bank.toml``): 114 questions, each with its formal query, its definitions, and its read-back."""

from __future__ import annotations

import dataclasses
import functools
import tomllib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from ....query_lang.nodes import Defined, Events, Exists, Name, Node, Under
from ....query_lang.parsing.parse import parse
from ....query_lang.tree import nodes_in
from ...measures.classes import COMPLEXITIES

#: The one file of the bank.
BANK_FILE: Final = Path(__file__).with_name("bank.toml")


@dataclasses.dataclass(frozen=True, slots=True)
class BankQuery:
    """One query of the bank: its id there, the question, its clinical complexity, the formal query, its read-back."""

    id: int
    text: str
    complexity: str
    query: str
    reads: str = ""


@functools.cache
def load_bank() -> tuple[BankQuery, ...]:
    """The whole bank, by id. ValueError if a complexity is not one of the four."""
    formal = load_queries()
    read_backs = {_let(one["name"], one["query"]): one.get("reads", "") for one in _data()["definition"]}
    bank = []
    for one in _data()["query"]:
        # As in a read-back: the last definition first, so that what a name means stands after its use.
        used = [read_backs[line] for line in reversed(read_backs) if line in formal[one["id"]]]
        reads = "\n\n".join([one.get("reads", ""), *used])
        bank.append(BankQuery(one["id"], one["text"], one["complexity"], formal[one["id"]], reads))
    unknown = {one.complexity for one in bank} - set(COMPLEXITIES)
    if unknown:
        raise ValueError(f"{BANK_FILE.name}: complexity {', '.join(unknown)} is not one of {', '.join(COMPLEXITIES)}")
    return tuple(bank)


def load_queries() -> Mapping[int, str]:
    """Bank id to formal query, each with the definitions that it uses written before it."""
    queries = {str(one["id"]): one["query"] for one in _data()["query"]}
    return {int(id_): text for id_, text in with_definitions(queries, load_definitions()).items()}


def load_definitions() -> Mapping[str, str]:
    """The definitions that the queries share: name to criterion, each using only those before it."""
    return {one["name"]: one["query"] for one in _data()["definition"]}


@functools.cache
def _data() -> dict[str, Any]:
    return tomllib.loads(BANK_FILE.read_text(encoding="utf-8"))


def with_definitions(queries: Mapping[str, str], definitions: Mapping[str, str]) -> dict[str, str]:
    """Each query as one text: ``let`` lines for the definitions that it uses, directly or through others, then itself.

    A definition may use those before it. QueryError if one of the texts cannot be read.
    """
    lines = {name: _let(name, text) for name, text in definitions.items()}
    read = parse("\n".join([*lines.values(), "death"]))
    uses = {one.name: frozenset(_names(one.body, frozenset(definitions))) for one in read.definitions}
    whole = {}
    for key, text in queries.items():
        # Read without the definitions, which would be most of the work: their names are then names of concepts.
        waiting = list(_names(parse(text), frozenset(definitions)))
        needed: set[str] = set()
        while waiting:
            name = waiting.pop()
            if name not in needed:
                needed.add(name)
                waiting += uses[name]
        whole[key] = "\n".join([*(line for name, line in lines.items() if name in needed), text.strip()])
    return whole


def _let(name: str, text: str) -> str:
    return f'let "{name}" be {text.strip()};'


def _names(node: Node, shared: Collection[str]) -> Iterator[str]:
    """Those of the ``shared`` definitions whose names stand as criteria in a tree."""
    for one in nodes_in(node):
        match one:
            case Defined(name) | Exists(Events(None, Under(Name(name), False), None)) if name in shared:
                yield name
