"""Clinical terms (``terms.toml``): words that mean one criterion, in a query as in a question in English."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from .nodes import Definition, PatientExpression
from .parsing.parse import parse, parse_definitions
from .tree import definitions_used

_QUOTED: Final = re.compile(r"'((?:[^']|'')*)'")
#: A hyphen against a word alone is a sign: "HER2-".
_BLANKS: Final = re.compile(r"\s+|(?<=\w)-(?=\w)")


@dataclass(frozen=True, slots=True)
class Term:
    """A term of the table.

    ``text`` is the criterion that it means, in the query language; with ``single`` it is one fact, and stands wherever
    a fact does. ``forms`` are its words; ``recorded`` are ids of concepts, each alone or before the id of a result: the
    facts of which a bare name is the term.
    """

    name: str
    text: str
    single: bool
    forms: str
    recorded: tuple[tuple[str, str], ...]

    @property
    def body(self) -> PatientExpression:
        """The criterion, over names; other terms in it are definitions."""
        return _parsed(self.text) if self.single else definitions_of(self.name)[-1].body


@functools.cache
def _parsed(text: str) -> PatientExpression:
    return parse(text).body


@functools.cache
def terms() -> Mapping[str, Term]:
    """All terms by name, each using only those before it."""
    table = tomllib.loads(Path(__file__).with_name("terms.toml").read_text(encoding="utf-8"))
    return {name: _term(name, **row) for name, row in table.items()}


def _term(name: str, means: str = "", fact: str = "", forms: str = "", of: Iterable[str] = ()) -> Term:
    recorded = tuple((one.partition(" ")[0], one.partition(" ")[2]) for one in of)
    return Term(name, " ".join((means or fact).split()), bool(fact), forms, recorded)


def term_called(text: str) -> Term | None:
    """The term that has these words, whatever their case and hyphens; a term without forms by its name."""
    return _by_form().get(_key(text))


def term_recorded_as(concept: str, value: str = "") -> Term | None:
    """The term for what is recorded as this concept, with this result (both by id)."""
    return _by_record().get((concept, value))


@functools.cache
def _by_form() -> Mapping[str, Term]:
    # A form goes before the name of a term that others are made of.
    forms = {_key(form): term for term in terms().values() for form in (*term.forms.split("|"), term.name)}
    return {key: term for key, term in forms.items() if key}


@functools.cache
def _by_record() -> Mapping[tuple[str, str], Term]:
    return {record: term for term in terms().values() for record in term.recorded}


def _key(text: str) -> str:
    return _BLANKS.sub(" ", text.casefold()).strip()


def definitions() -> tuple[Definition, ...]:
    """All terms that are criteria, as definitions over names, each after those that it uses."""
    return _read(tuple(term.name for term in terms().values() if not term.single))


def definitions_in(text: str) -> tuple[Definition, ...]:
    """The definitions of the terms that a text in the query language names in quotes, and of those that they are made
    of; maybe of more."""
    known = terms()
    found: set[str] = set()
    waiting = [text]
    while waiting:
        for name in _QUOTED.findall(waiting.pop()):
            if name in known and not known[name].single and name not in found:
                found.add(name)
                waiting.append(known[name].text)
    return _read(tuple(name for name in known if name in found))


def definitions_of(name: str) -> tuple[Definition, ...]:
    """The definition of a term, after those of all that it is made of."""
    found = definitions_in(f"'{name}'")
    used = {name}
    for one in reversed(found):
        if one.name in used:
            used.update(definitions_used(one.body))
    return tuple(one for one in found if one.name in used)


@functools.cache
def _read(names: tuple[str, ...]) -> tuple[Definition, ...]:
    return parse_definitions("".join(f"let '{name}' be {terms()[name].text};\n" for name in names)) if names else ()
