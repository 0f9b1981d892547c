"""Words of molecular findings and of persons, as values of attributes; protein changes in one form."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ...kb.ontology.normal_forms import ONTOLOGY_FOLDER, normal_form, without_plural
from ...kb.ontology.persons import persons

#: The sections of ``alterations.toml`` that are attributes of a variant.
SECTIONS: Final = ("alteration", "effect", "significance", "origin")

_ONE_LETTER: Final = {
    "ala": "A", "arg": "R", "asn": "N", "asp": "D", "cys": "C", "gln": "Q", "glu": "E", "gly": "G", "his": "H",
    "ile": "I", "leu": "L", "lys": "K", "met": "M", "phe": "F", "pro": "P", "ser": "S", "thr": "T", "trp": "W",
    "tyr": "Y", "val": "V", "ter": "*",
}  # fmt: skip
_THREE_LETTERS: Final = re.compile("|".join(_ONE_LETTER), re.IGNORECASE)
_RESIDUE: Final = re.compile(r"(?<![A-Za-z])[a-z](?=\d)|(?<=\d)[a-z](?![A-Za-z])|(?<=\d)[a-z](?=fs)|(?<=ins)[a-z]+$")
_PROTEIN: Final = re.compile(
    r"(?:p\.)?\(?[A-Z][0-9]{1,4}(?:[A-Z*=]|[A-Z]?fs(?:\*?\d*)|del|dup|_[A-Z][0-9]{1,4}(?:del|ins|dup|delins)[A-Z]*)?\)?",
)


@dataclass(frozen=True, slots=True)
class Findings:
    """The values of one section: their spellings (normal form -> id) and each value's closure, itself first."""

    ids: Mapping[str, str]
    below: Mapping[str, tuple[str, ...]]

    def find(self, text: str) -> str | None:
        """The id of the value that ``text`` names; None if it names none."""
        return self.ids.get(_key(text))


@functools.cache
def findings() -> Mapping[str, Findings]:
    """Section -> its values, from the ontology's ``alterations.toml`` and ``persons.toml``."""
    data = tomllib.loads((ONTOLOGY_FOLDER / "alterations.toml").read_text(encoding="utf-8"))
    of_persons = {section: _section(table) for section, table in persons().items()}
    return {**{section: _section(data.get(section, {})) for section in SECTIONS}, **of_persons}


def _section(table: Mapping[str, Mapping[str, object]]) -> Findings:
    ids: dict[str, str] = {}
    for own in (True, False):
        # A value's own name wins over another's synonym.
        for value, entry in table.items():
            words = [value, entry.get("name", value)] if own else [*_list(entry, "words"), *_list(entry, "short")]
            for word in words:
                ids.setdefault(_key(str(word)), value)
    children: dict[str, list[str]] = {}
    for value, entry in table.items():
        for parent in _list(entry, "parents"):
            children.setdefault(parent, []).append(value)
    below = {}
    for value in table:
        found = [value]
        for one in found:
            found += [child for child in children.get(one, []) if child not in found]
        below[value] = tuple(found)
    return Findings(ids, below)


def _list(entry: Mapping[str, object], name: str) -> list[str]:
    values = entry.get(name, [])
    return [str(value) for value in values] if isinstance(values, list) else []


def _key(text: str) -> str:
    return without_plural(normal_form(text))


def protein_change(text: str) -> str:
    """A protein change in one-letter form without ``p.``: ``p.Leu858Arg`` as ``L858R``; other text as it stands."""
    body = text.strip()
    if body.startswith(("p.", "P.")):
        body = body[2:].strip("()")
    if _THREE_LETTERS.match(body):
        body = _THREE_LETTERS.sub(lambda match: _ONE_LETTER[match.group().lower()], body)
    return _RESIDUE.sub(lambda match: match.group().upper(), body)


def is_protein_change(text: str) -> bool:
    """Whether ``text`` is written like a protein change (``L858R``, ``p.Val600Glu``, ``E746_A750del``)."""
    return _PROTEIN.fullmatch(protein_change(text)) is not None
