"""Lines without capitals: short forms get theirs back, so that every reader sees them as they are written elsewhere.

No character is added or taken away: every offset in the text with capitals is the offset in the note.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ...kb.ontology.concepts import ConceptTable
from ...kb.ontology.variants import known_changes
from .cue_files import cue_file

#: Behind a break, a line without capitals; one may open it.
_SMALL_LINE = re.compile(r"\n[^\S\n]*[^\n][^A-Z\n]*(?=\n)")
_WORD = re.compile(r"(?<![^\W_])[a-z][a-z0-9]{1,11}(?![^\W_])")
#: Fewer letters say nothing of how a line is written.
_FEWEST_LETTERS = 12
_LETTER = re.compile(r"[a-z]")
_RESULT_BEHIND = re.compile(r"\s?(?:[+\-/]|\(\s?[+\-]|pos|neg|\d{1,3}\s?%|:\s?(?:pos|neg|\d))")
_SHORTEST = 3


class CaseRestorer:
    """Gives short forms their capitals where a whole line has none; build once for an ontology."""

    def __init__(self, concepts: ConceptTable) -> None:
        table = _table()
        forms: dict[str, str] = {change.lower(): change for change in known_changes() if change.isalnum()}
        for row in concepts.rows():
            for abbreviation in row.abbreviations:
                text = abbreviation.text
                if len(text) >= _SHORTEST and text.isalnum() and not text.islower() and text.lower() not in table[0]:
                    forms.setdefault(text.lower(), text)
            if row.kind == "gene" and row.name.isalnum() and row.name.lower() not in table[0]:
                forms.setdefault(row.name.lower(), row.name)
        self._forms = forms
        self._receptors = table[1]
        self._known = frozenset(forms) | table[1]

    def restore(self, text: str) -> str:
        """``text``, of the same length, with the short forms of its small-letter lines in capitals."""
        parts: list[str] = []
        at = 0
        # Breaks at both ends: the pattern, which begins with one, is tried at the begins of lines alone.
        for match in _SMALL_LINE.finditer(f"\n{text}\n"):
            line = match.group()
            if not self._known.isdisjoint(_WORD.findall(line)) and len(_LETTER.findall(line)) >= _FEWEST_LETTERS:
                parts += text[at : match.start()], _WORD.sub(self._word, line[1:])
                at = match.end() - 1
        return "".join((*parts, text[at:])) if parts else text

    def _word(self, match: re.Match[str]) -> str:
        word = match.group()
        if word in self._receptors and _RESULT_BEHIND.match(match.string, match.end()):
            return word.upper()
        return self._forms.get(word, word)


@lru_cache(maxsize=1)
def _table() -> tuple[frozenset[str], frozenset[str]]:
    table = cue_file("lowercase")
    return frozenset(table["words"].split()), frozenset(table["receptors"])
