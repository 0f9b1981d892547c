"""Word classes (``cues/words/*.toml``): the words in a module's patterns, by the name of what they stand for.

A pattern in code says how words stand together, ``{lesion}\\s(?:in|of)``; which words a class holds is data.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from .cue_files import cue_file

#: A class in a pattern. The repetitions of regular expressions begin with a digit: no name does.
_CLASS: Final = re.compile(r"\{([a-z_]+)\}")
#: What stands before one of the alternatives of a group, and what behind it.
_OPENS: Final = re.compile(r"(?:(?<!\\)\||(?<!\\)\((?:\?(?:P<\w+>|[a-zA-Z\-]*:|<?[=!]))?)\Z")
_CLOSE: Final = ("", "|", ")")


class WordClasses:
    """The classes of words of one module, with those that all modules share."""

    __slots__ = ("_classes",)

    def __init__(self, classes: Mapping[str, Sequence[str]]) -> None:
        self._classes = classes

    def pattern(self, text: str) -> str:
        """The text with the words in place of each ``{class}``, in the order of the file; KeyError if there is no such
        class. They are a group of their own, but where the class is itself one of the alternatives of a group."""

        def words(match: re.Match[str]) -> str:
            alternatives = self._alternatives(match[1])
            before, behind = match.span()
            beside_others = text[behind : behind + 1] in _CLOSE and match.group() != text
            if beside_others and (before == 0 or _OPENS.search(text, max(0, before - 32), before)):
                return alternatives
            return f"(?:{alternatives})"

        return _CLASS.sub(words, text)

    def _alternatives(self, name: str) -> str:
        """The words of a class, of which some may be those of another."""
        joined = "|".join(self._classes[name])
        return self.pattern(joined) if "{" in joined else joined

    def compile(self, text: str, flags: int = 0) -> re.Pattern[str]:
        """The pattern, compiled."""
        return re.compile(self.pattern(text), flags)


def word_classes(room: str, module: str) -> WordClasses:
    """The table ``module`` of ``cues/words/ROOM.toml``; KeyError if the file has none of that name."""
    return WordClasses({**_file("shared")["shared"], **_file(room)[module]})


@lru_cache(maxsize=16)
def _file(room: str) -> dict[str, Any]:
    return cue_file(f"words/{room}")
