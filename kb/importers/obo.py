"""OBO (Disease Ontology, NCIt, Uberon, MAxO): is-a alone makes parents, exact synonyms alone are names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from ..errors import UsageError
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
                replaced.setdefault(canonical(other), []).append(code)
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
    older = map(canonical, stanza.get("alt_id", ()))
    return Term(
        code,
        _plain(stanza.get("name", [""])[0]),
        unique(synonyms),
        unique(map(canonical, stanza.get("is_a", ()))),
        unique((*older, *replaced.get(code, ()))),
        tables()["obo"]["kind"].get(code.partition(":")[0], ""),
    )


def _stanzas(path: Path) -> Iterator[Stanza]:
    """The ``[Term]`` stanzas that have an id: tag -> values."""
    try:
        from obonet.read import get_sections
    except ImportError as error:
        raise UsageError("this needs the library obonet: pip install 'cohortium[ontology]'") from error
    try:
        # Its stanzas, not its graph: of the graph a relation that is no OBO would cost the whole file.
        _, terms, _, _ = get_sections(lines_of(path))
    except ValueError as error:
        raise UsageError(f"'{path}' is no OBO: a line of it is no tag with a value") from error
    for term in terms:
        if term.get("id"):
            listed = {tag: [value] if isinstance(value, str) else value for tag, value in term.items()}
            yield {tag: [value for value in values if value] for tag, values in listed.items() if any(values)}


def _plain(text: str) -> str:
    return _ESCAPED.sub(r"\1", text)
