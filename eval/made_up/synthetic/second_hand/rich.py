"""Text that remembers which stretches of it tell which facts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Rich:
    """A text and its marks (place of a fact, start, end)."""

    text: str
    marks: tuple[tuple[int, int, int], ...] = ()

    def __add__(self, other: Rich) -> Rich:
        """Put another text behind this one, moving its marks along."""
        shift = len(self.text)
        moved = tuple((place, start + shift, end + shift) for place, start, end in other.marks)
        return Rich(self.text + other.text, self.marks + moved)

    def reshape(self, change: Callable[[str], str]) -> Rich:
        """Apply a change that keeps the length; anything else is left undone, for the marks' sake."""
        changed = change(self.text)
        return Rich(changed, self.marks) if len(changed) == len(self.text) else self

    def whole(self, places: Iterable[int]) -> Rich:
        """Mark the whole text as telling the given facts."""
        return Rich(self.text, tuple((place, 0, len(self.text)) for place in places))


def join(between: str, parts: Iterable[Rich]) -> Rich:
    """Join rich texts with a plain separator."""
    result = Rich("")
    for position, part in enumerate(parts):
        result = result + Rich(between) + part if position else part
    return result


def capital(text: str) -> str:
    """Raise the first letter, unless the word is one such as pT2 or mFOLFOX6."""
    head = text.split(" ", 1)[0]
    return text if any(sign.isupper() or sign.isdigit() for sign in head[1:]) else text[:1].upper() + text[1:]


def sentence(part: Rich) -> Rich:
    """Make a clause a sentence: capital first, stop last."""
    part = part.reshape(capital)
    return part if part.text.endswith((".", "!", "?", ":")) else part + Rich(".")


def wrap(part: Rich, width: int) -> Rich:
    """Break long lines as an old printer would, turning spaces into line ends so that no mark moves."""
    signs = list(part.text)
    line_start, last_space = 0, -1
    for position, sign in enumerate(signs):
        if sign == "\n":
            line_start, last_space = position + 1, -1
        elif sign == " ":
            last_space = position
        if position - line_start >= width and last_space > line_start:
            signs[last_space] = "\n"
            line_start, last_space = last_space + 1, -1
    return Rich("".join(signs), part.marks)
