"""The JSON objects in what a model wrote: bare, in a code fence or among words; drafts of its thoughts left out."""

from __future__ import annotations

import json
import re
from typing import Any, Final

#: Where what reasoning models write before they answer comes to its end.
_THOUGHT_ENDS: Final = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_THOUGHT_BEGINS: Final = re.compile(r"\s*<think(?:ing)?>", re.IGNORECASE)
#: Brackets at which an object is looked for: a reply of brackets alone must not take long.
_MOST_BRACKETS: Final = 100


def objects_with(text: str, field: str) -> list[dict[str, Any]]:
    """The JSON objects in ``text`` that have ``field``: bare, in a code fence or among words, what a model thinks
    before it answers left out; the same one written twice is one."""
    text = _THOUGHT_ENDS.split(text)[-1]
    if _THOUGHT_BEGINS.match(text):
        # A thought that came to no end: drafts alone.
        return []
    decoder = json.JSONDecoder()
    found: list[dict[str, Any]] = []
    place = text.find("{")
    for _ in range(_MOST_BRACKETS):
        if place < 0:
            break
        try:
            held, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            end = place + 1
        else:
            if isinstance(held, dict) and field in held and held not in found:
                found.append(held)
        place = text.find("{", end)
    return found
