"""Words beside a number that tell whether it is a date, a count, a score or a quantity (``cues/dates.toml``)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from ..cue_files import any_of, cue_file
from ..gates import Gate
from ..words import words_of

#: So far before a number the words for it may stand, in characters.
CONTEXT = 60
#: Patterns that look before the number, and behind it, of which the word next to it tells whether they may match.
_BEFORE, _BEHIND = ("birth", "date_before"), ("fraction_behind", "quantity")


@dataclass(frozen=True, slots=True)
class DateWords:
    """``cues/dates.toml`` as patterns that are matched directly before or behind a number.

    ``beside``: of some of them the word that stands next to the number, in small letters.
    """

    fraction_before: re.Pattern[str]
    fraction_behind: re.Pattern[str]
    nodes: re.Pattern[str]
    date_before: re.Pattern[str]
    year_before: re.Pattern[str]
    number_before: re.Pattern[str]
    quantity: re.Pattern[str]
    birth: re.Pattern[str]
    beside: Mapping[str, frozenset[str]]


@lru_cache(maxsize=1)
def date_words() -> DateWords:
    """The shipped words."""
    table = cue_file("dates")

    def any_word(name: str) -> str:
        return any_of(table[name]["words"])

    def compiled(pattern: str) -> re.Pattern[str]:
        return re.compile(pattern, re.IGNORECASE)

    return DateWords(
        compiled(
            rf"(?<![^\W_]){any_word('fraction_before')}(?:[\s:=(,]{{1,3}}{any_word('between_score')})*"
            rf"[\s:=(\-#]{{0,3}}$"
        ),
        compiled(rf"\)?[\s\-]{{0,2}}{any_word('fraction_behind')}(?![^\W_])"),
        compiled(rf"(?<![^\W_]){any_word('nodes')}(?![^\W_])"),
        compiled(rf"(?<![^\W_]){any_word('date_before')}[\s:(]{{1,3}}$"),
        compiled(rf"(?:(?<![^\W_]){any_word('year_before')}[.:\s#]{{0,3}}|\d\sof\s|\d\s|#\s?)$"),
        compiled(rf"(?<![^\W_]){any_word('number_before')}[.:\s#(]{{0,3}}$"),
        compiled(rf"[\s\-]{{0,2}}{any_word('quantity')}(?![^\W_])"),
        compiled(rf"(?<![^\W_]){any_word('birth')}\W{{0,4}}$"),
        {
            **{name: frozenset(words_of(one).written[-1] for one in table[name]["words"]) for name in _BEFORE},
            **{name: frozenset(words_of(one).written[0] for one in table[name]["words"]) for name in _BEHIND},
            "narrowed": frozenset(
                words_of(one).written[-1] for entry in (*table["part"], *table["months_of"]) for one in entry["words"]
            ),
            "fraction_before": frozenset((*table["fraction_before"]["words"], *table["between_score"]["words"])),
        },
    )


#: A word of the nodes, with which a count of them may be told.
NODES = Gate(begins=rf"(?i:{any_of(cue_file('dates')['nodes']['words'])})(?![^\W_])")
