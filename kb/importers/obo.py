"""OBO (Disease Ontology, NCIt, Uberon, MAxO): is-a alone makes parents, exact synonyms alone are names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from .terms import Term, Terms, canonical, lines_of, tables, unique

_QUOTED: Final = re.compile(r'"((?:[^"\\]|\\.)*)"\s*([A-Z]*)')
_ESCAPED: Final = re.compile(r"\\(.)")

Stanza = dict[str, list[str]]


def read(sources: Sequence[Path]) -> Terms:
    """The terms of OBO files. The id of a term that another replaces is a code of that one."""
    found = Terms()
    replaced: dict[str, list[str]] = {}
    stanzas = [stanza for path in sources for stanza in _stanzas(path)]
    for stanza in stanzas:
        code = canonical(stanza["id"][0])
        if stanza.get("is_obsolete", [""])[0] == "true":
            found.drop(code, _plain(stanza.get("name", [""])[0]), "obsolete")
            for other in stanza.get("replaced_by", ()):
                replaced.setdefault(canonical(_reference(other)), []).append(code)
    for stanza in stanzas:
        if stanza.get("is_obsolete", [""])[0] != "true":
            found.add(_term(stanza, found, replaced))
    return found


def _term(stanza: Stanza, found: Terms, replaced: dict[str, list[str]]) -> Term:
    code = canonical(stanza["id"][0])
    synonyms = []
    for line in stanza.get("synonym", ()):
        match = _QUOTED.match(line)
        if match and match[2] == "EXACT":
            synonyms.append(_plain(match[1]))
        elif match:
            found.drop(code, _plain(match[1]), "not_exact")
    older = (canonical(_reference(line)) for line in stanza.get("alt_id", ()))
    return Term(
        code,
        _plain(stanza.get("name", [""])[0]),
        unique(synonyms),
        unique(canonical(_reference(line)) for line in stanza.get("is_a", ())),
        unique((*older, *replaced.get(code, ()))),
        tables()["obo"]["kind"].get(code.partition(":")[0], ""),
    )


def _stanzas(path: Path) -> Iterator[Stanza]:
    """The ``[Term]`` stanzas that have an id: tag -> values."""
    stanza: Stanza | None = None
    for line in lines_of(path):
        if line.startswith("["):
            if stanza and "id" in stanza:
                yield stanza
            stanza = {} if line.strip() == "[Term]" else None
        elif stanza is not None and ":" in line:
            tag, _, value = line.partition(":")
            if value.strip():
                stanza.setdefault(tag.strip(), []).append(value.strip())
    if stanza and "id" in stanza:
        yield stanza


def _reference(value: str) -> str:
    """An id without the comment and the modifiers behind it."""
    return value.split()[0]


def _plain(text: str) -> str:
    return _ESCAPED.sub(r"\1", text)
