"""An expression of change: its span, what it is a change of, its normal form; and a form of writing such."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

from ...kb.model import Value
from ..text.gates import Gate, Gated, Places


@dataclass(frozen=True, slots=True)
class Expression:
    """One change as written. ``form``: protein, dna, exon, fusion, karyotype or dbsnp.

    ``certain`` is False where the letters alone do not tell that it is a change; what stands around it then decides.
    ``in_words`` is True of a change written in words (*valine to glutamic acid at codon 600*).
    ``other`` is the second reading that the letters allow (C677T: nucleotides or residues).
    """

    start: int
    end: int
    form: str
    attributes: dict[str, Value] = field(default_factory=dict)
    certain: bool = True
    in_words: bool = False
    other: Expression | None = None


def end_closed(match: re.Match[str]) -> int:
    """Where an expression ends with the brackets closed that it opened (group ``open``)."""
    end = match.end()
    for opener in reversed(match["open"]):
        if match.string[end : end + 1] == {"(": ")", "[": "]"}[opener]:
            end += 1
    return end


#: From a match to the expression in it; None where the match says nothing.
Build = Callable[[re.Match[str]], Expression | None]


#: So far before and behind the begin of a word is its trigger looked for (characters).
_ABOUT: Final = 8


@dataclass(frozen=True, slots=True)
class Form:
    """One way of writing a change: a pattern behind its gate, and its builder.

    ``signs``: one of these must stand in the text, or the pattern is not tried. ``word``: so must a word that opens it.
    ``trigger``: what must be found besides, about that word if there is one, where both still let most texts pass.
    """

    gated: Gated
    build: Build
    signs: tuple[str, ...] = ()
    word: Gate | None = None
    trigger: re.Pattern[str] | None = None

    def find(self, places: Places, text: str) -> Iterator[Expression]:
        """The expressions of this form in ``text``, which is plain (``residues.plain``). ``places``: of its words."""
        if not places[self.gated.number] or self.signs and not any(sign in text for sign in self.signs):
            return
        if self.word is not None and not places[self.word.number]:
            return
        if self.trigger is not None and not self._is_triggered(places, text, self.trigger):
            return
        for match in self.gated.find(places, text):
            found = self.build(match)
            if found is not None:
                yield found

    def _is_triggered(self, places: Places, text: str, trigger: re.Pattern[str]) -> bool:
        if self.word is None:
            return trigger.search(text) is not None
        return any(trigger.search(text, max(0, at - _ABOUT), at + _ABOUT) for at in places[self.word.number])
