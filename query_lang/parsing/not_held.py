"""Topics that are not held (``not_held.toml``): what people ask for that nobody has, and what there is instead."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ...kb.ontology.near_names import near_words

_NUMBER: Final = r"-?\d+(?:[.,]\d+)?"
#: A value without a sign: *NYHA III*, *Child-Pugh B7*.
_CLASS: Final = r"(?:[ivx]{1,4}|[a-e])?\d{0,3}[a-d]?"
_SIGN: Final = r"(?:[<>=!≤≥≠]+)"


@dataclass(frozen=True, slots=True)
class Topic:
    """One topic: the words that ask for it, what is said, and ``valid``, the queries that the hint says to write."""

    words: tuple[str, ...]
    message: str
    hint: str
    valid: tuple[str, ...]
    pattern: re.Pattern[str]

    def told(self, words: str) -> tuple[str, str]:
        """Message and hint for the ``words`` that ask for it."""
        return self.message.replace("{words}", words), self.hint.replace("{words}", words)


@functools.cache
def topics() -> tuple[Topic, ...]:
    """The topics, in the order of the file."""
    data = tomllib.loads((Path(__file__).parent / "not_held.toml").read_text(encoding="utf-8"))
    return tuple(
        Topic(
            tuple(entry["words"]),
            entry["message"],
            entry["hint"],
            tuple(entry["valid"]),
            _pattern(entry["words"], data),
        )
        for entry in data["topic"]
    )


def misspelled_topic(text: str) -> tuple[str, str] | None:
    """Message and hint of the topic of which ``text`` is a slip of the pen (*serum creatinin*); None if it is none."""
    around, by_word = _misspelled()
    found = near_words(around.sub("", text.strip()), by_word, 1)
    return by_word[found[0]].told(found[0]) if found else None


@functools.cache
def _misspelled() -> tuple[re.Pattern[str], Mapping[str, Topic]]:
    data = tomllib.loads((Path(__file__).parent / "not_held.toml").read_text(encoding="utf-8"))
    around = rf"^(?:(?:{_any(data['before'])})\s+)+|(?:\s+(?:{_any(data['after'])}))+$"
    return re.compile(around, re.IGNORECASE), {word: topic for topic in reversed(topics()) for word in topic.words}


def _pattern(words: Iterable[str], data: dict[str, Any]) -> re.Pattern[str]:
    """The words with what may stand around them: *last serum creatinine level above 1.5 mg/dl*."""
    compared = rf"(?:{_SIGN}|(?:{_any(data['compared'])})\b)"
    value = rf"(?:\s*{compared})+(?:\s*{_NUMBER}(?:\s*(?:and|to|-|–)\s*{_NUMBER})?)?(?:\s*(?:{_any(data['units'])}))?"
    return re.compile(
        rf"['\"“‘]?(?<![\w-])(?:(?:{_any(data['before'])})\s+)*(?P<words>{_any(words)})"
        rf"(?:\s+(?:{_any(data['after'])})\b)*(?:{value}|\s+{_CLASS})?(?![\w-])",
        re.IGNORECASE,
    )


def _any(words: Iterable[str]) -> str:
    """Any of the words; the longest is looked for first."""
    return "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in sorted(words, key=len, reverse=True))
