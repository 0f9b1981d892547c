"""The layout of a read-back: on one line where that cannot be misread, else as a list under a line."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

#: The English of ``words.toml``, by section.
WORDS: Final[Mapping[str, Any]] = tomllib.loads((Path(__file__).parent / "words.toml").read_text(encoding="utf-8"))

#: The longest that a group may be, in characters, to stand on one line.
_WIDEST: Final = 120


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a read-back: its words, and what follows them as a group of ``parts`` (``groups`` of the words).

    ``fill`` has what the words of the group leave open.
    """

    words: str
    group: str = ""
    parts: tuple[Piece, ...] = ()
    fill: Mapping[str, str] = field(default_factory=dict)

    def after(self, words: str) -> Piece:
        """The same with ``words`` before it."""
        return replace(self, words=f"{words} {self.words}".strip())

    def lines(self) -> list[str]:
        """One line, or a line that ends with a colon and its list."""
        if not self.group:
            return [self.words]
        inline = self._inline()
        if inline:
            return [inline]
        found = [f"{self.words} {self._heading()}:".strip()]
        for part in self.parts:
            first, *rest = part.lines()
            found += [f"- {first}", *(f"  {line}" for line in rest)]
        return found

    def _inline(self) -> str:
        """The group on one line; empty where that is too long or could be misread."""
        template = WORDS["groups"][self.group].get("inline")
        if template is None or len(self.parts) != 2 or any(part.group for part in self.parts):
            return ""
        first, second = (part.words for part in self.parts)
        joined = any(word in text for word in WORDS["inline"]["joins"] for text in (first, second))
        if joined or any(word in first for word in WORDS["inline"]["runs_on"]):
            return ""
        text = template.format(first, second, **self.fill)
        return f"{self.words} {text}".strip() if len(text) <= _WIDEST else ""

    def _heading(self) -> str:
        words: Mapping[str, str] = WORDS["groups"][self.group]
        heading = words["two"] if len(self.parts) == 2 else words["several"]
        return heading.format(of=len(self.parts), **self.fill)
