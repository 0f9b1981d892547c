"""The error that a wrong query meets: what is wrong, where (line, column, caret), and what to write instead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..kb.errors import CohortiumError
from ..kb.skin.escape import escaped

_SHOWN_BEFORE: Final = 50
_SHOWN_AFTER: Final = 30


class QueryError(CohortiumError):
    """A query cannot be read or resolved (exit 3).

    ``message`` says what is wrong and ``hint`` what to write instead (empty when nothing better is known).
    ``settled`` errors know what was meant, and need no advice on habits of writing.
    ``offset`` is the character offset into ``text``, None when the place is unknown; ``line`` and ``column`` count
    from 1 (0 when unknown). ``errors`` holds this error and any others found in the same query.
    """

    exit_code = 3
    has_lines = True

    def __init__(self, message: str, *, text: str = "", offset: int | None = None, hint: str = "") -> None:
        """An error at ``offset`` of ``text``."""
        super().__init__(message)
        self.message = message
        self.text = text
        self.offset = None if offset is None else max(0, min(offset, len(text)))
        self.hint = hint
        self.settled = False
        self.errors: tuple[QueryError, ...] = (self,)

    @classmethod
    def of_several(cls, errors: Sequence[QueryError]) -> QueryError:
        """One error that tells all of ``errors`` (at least one), and stands at the place of the first."""
        first = errors[0]
        collected = cls(first.message, text=first.text, offset=first.offset, hint=first.hint)
        collected.errors = tuple(errors)
        return collected

    @property
    def line(self) -> int:
        """The line of the place, from 1; 0 when unknown."""
        return 0 if self.offset is None else self.text.count("\n", 0, self.offset) + 1

    @property
    def column(self) -> int:
        """The column of the place, from 1; 0 when unknown."""
        return 0 if self.offset is None else self.offset - (self.text.rfind("\n", 0, self.offset) + 1) + 1

    @property
    def excerpt(self) -> str:
        """The words around the place with a caret under it; empty when the place is unknown."""
        if self.offset is None or not self.text:
            return ""
        begin = self.text.rfind("\n", 0, self.offset) + 1
        end = self.text.find("\n", self.offset)
        end = len(self.text) if end < 0 else end
        first, last = max(begin, self.offset - _SHOWN_BEFORE), min(end, self.offset + _SHOWN_AFTER)
        left = ("…" if first > begin else "") + _printable(self.text[first : self.offset])
        right = _printable(self.text[self.offset : last]) + ("…" if last < end else "")
        return f"{left}{right}\n{' ' * len(left)}^"

    def __str__(self) -> str:
        return "\n".join(error._described() for error in self.errors)

    def _described(self) -> str:
        parts = [escaped(self.message)]
        if self.excerpt:
            parts[0] += f" (line {self.line}, column {self.column})"
            parts += [f"    {line}" for line in self.excerpt.split("\n")]
        if self.hint:
            parts.append(f"Hint: {escaped(self.hint)}")
        return "\n".join(parts)


def _printable(text: str) -> str:
    """``text`` with one visible character for each that would break the line or the terminal."""
    return "".join(character if character.isprintable() else " " if character.isspace() else "�" for character in text)
