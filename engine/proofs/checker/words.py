"""The shipped words as the verifier reads them: cue phrases with what they set, names, and the known rules."""

from __future__ import annotations

import functools
import itertools
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from ....ingest.text.cue_files import cue_file
from ....kb.kinds import kinds_named
from ....kb.ontology.normal_forms import american, without_plural

_WORD: Final = re.compile(r"[^\W_]+(?:['’]s(?![^\W_]))?")
_POSSESSIVE: Final = re.compile(r"['’]s$")
#: What may stand between two words of one cue.
_JOINT: Final = re.compile(r"[ \t]{0,3}(?:\r?\n)?[ \t]{0,12}|[ ]?[\-‐-―/'’+][ ]?")


class Word(NamedTuple):
    """A word of a text, folded."""

    start: int
    end: int
    folded: str


def words_of(text: str, start: int = 0, end: int | None = None) -> list[Word]:
    """The words of a stretch of a text: lower case, American spelling, no plural, no possessive."""
    return [
        Word(match.start(), match.end(), without_plural(american(_POSSESSIVE.sub("", match.group().lower()))))
        for match in _WORD.finditer(text, start, len(text) if end is None else end)
    ]


def folded(text: str) -> tuple[str, ...]:
    """The folded words of a text."""
    return tuple(word.folded for word in words_of(text))


@dataclass(frozen=True, eq=False)
class CueRule:
    """One ``[[cue]]`` table of the shipped words."""

    name: str
    sets: Mapping[str, str]
    direction: str
    reach: int
    kinds: frozenset[str]
    spelled: frozenset[str]

    @property
    def blocks(self) -> bool:
        """Whether what it governs is no plain fact of the patient any more."""
        return (
            self.sets.get("polarity", "present") != "present"
            or self.sets.get("temporality") in ("planned", "hypothetical")
            or "experiencer" in self.sets
        )


@dataclass(frozen=True, slots=True)
class FoundCue:
    """A cue in a text: its span, the words it takes (positions among those looked at), and what it may be."""

    start: int
    end: int
    first: int
    last: int
    rules: tuple[CueRule, ...]


@dataclass(frozen=True)
class Words:
    """All shipped cue phrases. ``phrases`` by their folded words; no rules stand with a phrase that is no cue.
    ``ends`` are words that end the reach of a cue, ``negation_ends`` those that end that of a negation alone."""

    phrases: Mapping[tuple[str, ...], tuple[CueRule, ...]]
    longest: int
    ends: frozenset[tuple[str, ...]]
    negation_ends: frozenset[tuple[str, ...]]

    @functools.cached_property
    def by_name(self) -> Mapping[str, tuple[CueRule, ...]]:
        """The tables of each cue rule."""
        found: dict[str, dict[CueRule, None]] = {}
        for rules in self.phrases.values():
            for rule in rules:
                found.setdefault(rule.name, {})[rule] = None
        return {name: tuple(rules) for name, rules in found.items()}

    def cues(self, text: str, words: list[Word]) -> Iterator[FoundCue]:
        """The cues among the words of a text: the longest at each word, from left to right."""
        at = 0
        while at < len(words):
            for length in range(min(self.longest, len(words) - at), 0, -1):
                rules = self.phrases.get(tuple(word.folded for word in words[at : at + length]))
                if rules is None or not _joined(text, words[at : at + length]):
                    continue
                start, end = words[at].start, words[at + length - 1].end
                spelled = tuple(rule for rule in rules if not rule.spelled or text[start:end].lower() in rule.spelled)
                yield FoundCue(start, end, at, at + length, spelled)
                at += length - 1
                break
            at += 1


def _joined(text: str, words: list[Word]) -> bool:
    return all(_JOINT.fullmatch(text, one.end, two.start) for one, two in itertools.pairwise(words))


@functools.cache
def shipped_words() -> Words:
    """The cues of ``ingest/cues/context.toml``."""
    table = cue_file("context")
    phrases: dict[tuple[str, ...], tuple[CueRule, ...]] = {}
    for entry in table["cue"]:
        rule = CueRule(
            entry["name"],
            entry["sets"],
            entry["direction"],
            entry["reach"],
            kinds_named(entry.get("kinds", ())),
            frozenset(entry.get("spelled", ())),
        )
        for phrase in entry["phrases"]:
            key = folded(phrase)
            phrases[key] = (*phrases.get(key, ()), rule)
    for phrase in table["pseudo"]["phrases"]:
        phrases[folded(phrase)] = ()
    ends, negation_ends = (
        frozenset(folded(phrase) for phrase in table["terminators"][part]) for part in ("hard", "negation")
    )
    return Words(phrases, max(map(len, phrases)), ends, negation_ends)


@functools.cache
def known_rules() -> Mapping[str, Any]:
    """``rules.toml``: what the words must hold that a rule cites."""
    table = tomllib.loads(Path(__file__).with_name("rules.toml").read_text(encoding="utf-8"))
    compiled = {
        part: {name: re.compile(pattern, re.IGNORECASE) for name, pattern in table[part].items()}
        for part in ("source", "cue")
    }
    return {**compiled, "left_out": table["left_out"], "families": table["families"], "named": table["named"]}


def rule_holds(part: str, name: str, text: str) -> bool | None:
    """Whether words may be read by a rule of ``part`` (source or cue); None for a rule that is not known."""
    known = known_rules()
    pattern = known[part].get(name)
    if pattern is not None:
        return pattern.search(text) is not None
    return True if name.startswith(tuple(known["families"][part])) else None
