"""Findings that a thing and its change tell together: ``the heart is enlarged``, ``flattening of the diaphragms``.

Things, changes, what each pair means, and what may stand between the two are data (``cues/findings.toml``). A change
belongs to the nearest thing that it can be said of, on either side, and to those joined to it (``heart and aorta are
enlarged``); a new verb, another thing or a mark parts them. Where a thing is called normal, what that excludes is
denied: ``heart size is normal``.

What people say of themselves and of others is told in the same way (``cues/said.toml``): ``ankles puffy by evening``,
``her mood has been fine``, and whole phrases with the forms of their verbs: ``coughed up blood``, ``cannot sleep``.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from ...kb.ontology.concepts import ConceptTable
from ..text.cue_files import cue_file
from ..text.frame import FINDINGS, THING, TOLD, Frame, Recognizer, Span
from ..text.words import PhraseMatch, PhraseTrie, fold
from .lexicon import span_kind

#: The sources of such spans begin so.
SOURCE: Final = "pattern:finding"
#: So many words may stand between a thing and its change.
_REACH: Final = 9
#: What may stand between two words: more than blanks, a hyphen, a slash or a comma parts them.
_GAP: Final = re.compile(r"\s{0,3}[,/\-]?\s{0,3}")
#: A word in all its forms: ``{cough}``.
_FORM: Final = re.compile(r"\{(\w+)\}")


class Role(NamedTuple):
    """What a phrase is: a class of things, or of changes."""

    is_change: bool
    name: str


class Meaning(NamedTuple):
    """What a change of a thing tells: a concept, present or denied. ``told``: in plain words, which go before the names
    within them; ``each``: of each thing by itself; ``settled``: the words hold a denial of their own (*cannot sleep*);
    ``site``: where it is."""

    concept: str
    denied: bool
    told: bool = False
    each: bool = False
    settled: bool = False
    site: str = ""


class _Part(NamedTuple):
    """A phrase in a sentence, with the classes of things and changes that it is of."""

    match: PhraseMatch[Role]
    things: tuple[str, ...]
    changes: tuple[str, ...]


class _Words(NamedTuple):
    """Words that may stand between a thing and its change, folded, by what they do there."""

    verbs: frozenset[str]
    joints: frozenset[str]
    fillers: frozenset[str]
    prepositions: frozenset[str]
    denials: frozenset[str]


class _Grammar(NamedTuple):
    trie: PhraseTrie[Role]
    meanings: Mapping[tuple[str, str], Sequence[Meaning]]
    apart: Mapping[str, Sequence[Meaning]]
    between: _Words
    #: Forms of verbs that only a clause of its own has.
    finite: frozenset[str]


def finding_words() -> PhraseTrie[Role]:
    """Things and changes, for which notes are searched."""
    return _grammar().trie


@lru_cache(maxsize=1)
def _grammar() -> _Grammar:
    seen, said = cue_file("findings"), cue_file("said")
    phrases: list[tuple[str, Role]] = []
    meanings: dict[tuple[str, str], list[Meaning]] = {}
    for table, told in ((seen, False), (said, True)):
        # Classes of the same name in both files are two: what a radiologist calls large is not what a patient does.
        mark = "told:" if told else ""
        forms = table.get("forms", {})
        for role, classes in ((False, table["things"]), (True, table["changes"])):
            phrases += [
                (phrase, Role(role, mark + name))
                for name, listed in classes.items()
                for one in listed
                for phrase in _written_out(one, forms)
            ]
        for entry, means in _told(table, told=told):
            for thing in entry["of"]:
                for change in entry["is"]:
                    meanings.setdefault((mark + thing, mark + change), []).extend(means)
    apart: dict[str, list[Meaning]] = {
        change: [Meaning(entry["concept"], entry.get("denied", False))]
        for entry in seen["apart"]
        for change in entry["is"]
    }
    denials = frozenset(said["negations"])
    for number, entry in enumerate(said["phrase"]):
        name = f"phrase:{number}"
        for phrase in (phrase for one in entry["says"] for phrase in _written_out(one, said["forms"])):
            settled = not denials.isdisjoint(phrase.split())
            called = f"{name}:not" if settled else name
            phrases.append((phrase, Role(True, called)))
            denied = [Meaning(one, True, told=True) for one in entry.get("denies", ())]
            site = entry.get("site", "")
            tells = [Meaning(entry["concept"], False, True, settled=settled, site=site)] if "concept" in entry else []
            apart[called] = tells + denied
    words = {
        name: frozenset(map(fold, (*seen["between"].get(name, ()), *said["between"].get(name, ()))))
        for name in seen["between"]
    }
    fillers = words["words"] | words["hidden"] | words["prepositions"] | words["not"]
    return _Grammar(
        PhraseTrie(phrases),
        meanings,
        apart,
        _Words(words["verbs"], words["joints"], fillers, words["prepositions"], words["not"]),
        frozenset(said["finite"]),
    )


def _written_out(phrase: str, forms: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """A phrase with each form of the words in braces: ``{cough} up blood``."""
    parts = _FORM.split(phrase)
    # Forms that fold to the same words are one.
    choices = [
        {" ".join(map(fold, form.split())): form for form in forms[part]}.values() if number % 2 else (part,)
        for number, part in enumerate(parts)
    ]
    return map("".join, itertools.product(*choices))


def _told(table: Mapping[str, Any], *, told: bool) -> Iterator[tuple[Mapping[str, Any], list[Meaning]]]:
    for entry in table["finding"]:
        yield entry, [Meaning(entry["concept"], False, told, each=entry.get("each", False))]
    for entry in table["normal"]:
        yield entry, [Meaning(concept, True, told, each=entry.get("each", False)) for concept in entry["denies"]]


class FindingRecognizer(Recognizer):
    """Finds pairs of a thing and its change; attribute none, the thing is kept as a helper."""

    name = "findings"
    layer = FINDINGS

    def __init__(self, concepts: ConceptTable) -> None:
        self._concepts = concepts
        self._grammar = _grammar()

    def find(self, frame: Frame) -> Iterator[Span]:
        """Spans of the kinds that the concepts make."""
        trie = self._grammar.trie
        found = trie.longest(frame.text, frame.words, frame.beginnings(trie), len(frame.words.norms))
        parts = [_part(match) for match in found]
        if not any(part.changes for part in parts):
            return
        sentence: list[_Part] = []
        end = -1
        for part in parts:
            if part.match.start >= end:
                yield from self._in_sentence(frame, sentence)
                sentence = []
                end = frame.sentence_span(part.match.start)[1]
            sentence.append(part)
        yield from self._in_sentence(frame, sentence)

    def _in_sentence(self, frame: Frame, parts: Sequence[_Part]) -> Iterator[Span]:
        # "His sugars keep dropping too low" tells once that they are low.
        said: set[tuple[str, int]] = set()
        for number, part in reversed(list(enumerate(parts))):
            if not part.changes:
                continue
            own = self._opens_clause(frame, part)
            told: dict[tuple[str, int], Span] = {}
            for thing, meaning in self._meanings(frame, parts, number):
                key = (meaning.concept, thing.match.start if meaning.each else -1)
                once = (meaning.concept, thing.match.start)
                if key in told or once in said or meaning.concept not in self._concepts:
                    continue
                if meaning.told:
                    said.add(once)
                told[key] = self._span(part, meaning, thing, own_clause=own)
            yield from told.values()
            for alone in (one for change in part.changes for one in self._grammar.apart.get(change, ())):
                # "His joints are worn out" is said of them, and not of him.
                if alone.concept in self._concepts and not (
                    told if alone.told else any(self._concepts.is_a(other, alone.concept) for other, _ in told)
                ):
                    yield self._span(part, alone, None, own_clause=own)

    def _opens_clause(self, frame: Frame, part: _Part) -> bool:
        """``No blackout, broke her wrist``: a clause of its own is no item of a list that is denied."""
        begins = frame.words.written[part.match.first].lower() in self._grammar.finite
        return begins and frame.text.endswith(", ", 0, part.match.start)

    def _span(self, part: _Part, meaning: Meaning, thing: _Part | None, *, own_clause: bool) -> Span:
        start, end = part.match.start, part.match.end
        kind = span_kind(self._concepts, meaning.concept)
        helpers = [(thing.match.start, thing.match.end, THING)] if thing is not None else []
        return Span(
            start,
            end,
            kind,
            meaning.concept,
            TOLD if meaning.told else SOURCE,
            {"site": meaning.site} if meaning.site else {},
            helpers=helpers,
            decided="absent" if meaning.denied else "present" if meaning.settled or own_clause and meaning.told else "",
        )

    def _meanings(self, frame: Frame, parts: Sequence[_Part], number: int) -> Iterator[tuple[_Part, Meaning]]:
        """What the change tells of the things on the side where the nearest of them stands."""
        change = parts[number]
        sides: list[tuple[int, list[tuple[_Part, Sequence[Meaning]]]]] = []
        for others, ties in ((reversed(parts[:number]), self._leads), (parts[number + 1 :], self._is_led)):
            here: list[tuple[_Part, Sequence[Meaning]]] = []
            nearest = 0
            for thing in others:
                means = self._of(thing, change)
                if not means:
                    continue
                first, last = sorted((thing, change), key=lambda part: part.match.first)
                distance = last.match.first - first.match.last
                if distance > _REACH or not ties(frame, parts, thing, change):
                    continue
                here.append((thing, means))
                nearest = nearest or distance + 1
            if here:
                sides.append((nearest, here))
        for thing, told in min(sides, key=lambda side: side[0])[1] if sides else ():
            for meaning in told:
                if not (meaning.denied and self._is_taken_back(frame, change)):
                    yield thing, meaning

    def _of(self, thing: _Part, change: _Part) -> list[Meaning]:
        meanings = self._grammar.meanings
        return [meaning for of in thing.things for what in change.changes for meaning in meanings.get((of, what), ())]

    def _is_taken_back(self, frame: Frame, change: _Part) -> bool:
        """``not normal``, ``no longer clear``."""
        first = change.match.first
        return first > 0 and frame.words.norms[first - 1] in self._grammar.between.denials

    def _leads(self, frame: Frame, parts: Sequence[_Part], thing: _Part, change: _Part) -> bool:
        """Whether a thing leads to the change behind it: ``heart and aorta are mildly enlarged``."""
        between = self._between(frame, parts, thing, change)
        if between is None:
            return False
        kinds = [kind for kind, _ in between]
        verb = kinds.index("verb") if "verb" in kinds else -1
        if "thing" in kinds[verb + 1 :]:
            # "The heart is normal and the aorta is enlarged", "heart and enlarged aorta".
            return False
        if verb < 0:
            return "joint" not in kinds and "comma" not in kinds
        return "comma" not in kinds or "joint" in kinds[len(kinds) - 1 - kinds[::-1].index("comma") :]

    def _is_led(self, frame: Frame, parts: Sequence[_Part], thing: _Part, change: _Part) -> bool:
        """Whether a change leads to the thing behind it: ``enlarged heart``, ``calcification is seen in the aorta``."""
        between = self._between(frame, parts, change, thing)
        if between is None:
            return False
        kinds = [kind for kind, _ in between]
        words = [word for _, word in between]
        last_verb = len(kinds) - 1 - kinds[::-1].index("verb") if "verb" in kinds else -1
        if last_verb >= 0 and self._grammar.between.prepositions.isdisjoint(words[last_verb + 1 :]):
            return False
        if "comma" in kinds and "joint" not in kinds:
            return False
        things = kinds.index("thing") if "thing" in kinds else len(kinds)
        if "joint" in kinds[:things]:
            # "Tortuous and calcified aorta", and not "is enlarged and the aorta".
            at = kinds.index("joint")
            return "change" in kinds[at + 1 :] or self._shares_place(kinds, at)
        return things == len(kinds) or ("joint" in kinds[things:] and last_verb < 0)

    @staticmethod
    def _shares_place(kinds: Sequence[str], joint: int) -> bool:
        """``Calcified mediastinal and right hilar granulomas``: the joint stands between two places."""
        return joint > 0 and kinds[joint - 1] == "place" and "place" in kinds[joint + 1 :]

    def _between(self, frame: Frame, parts: Sequence[_Part], first: _Part, last: _Part) -> list[tuple[str, str]] | None:
        """Kind and word of each that stands between two parts; None if something parts them."""
        text, words, grammar = frame.text, frame.words, self._grammar.between
        low, high = first.match.last, last.match.first
        edges = [first.match.end]
        for index in range(low, high):
            edges += [words.starts[index], words.ends[index]]
        edges.append(last.match.start)
        gaps = [text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]
        if not all(map(_GAP.fullmatch, gaps)):
            return None
        inside = {index: part for part in parts for index in range(part.match.first, part.match.last)}
        read: list[tuple[str, str]] = []
        for index, gap in zip(range(low, high + 1), gaps, strict=True):
            if "," in gap:
                read.append(("comma", ","))
            if index == high:
                break
            norm = words.norms[index]
            part = inside.get(index)
            if norm in grammar.verbs:
                read.append(("verb", norm))
            elif norm in grammar.joints:
                read.append(("joint", norm))
            elif part is not None and part.changes:
                read.append(("change", norm))
            elif norm in grammar.fillers or norm.isdigit():
                read.append(("place" if norm not in grammar.prepositions else "word", norm))
            elif part is not None:
                read.append(("thing", norm))
            else:
                return None
        return read


def _part(match: PhraseMatch[Role]) -> _Part:
    return _Part(match, *_classes(match.payloads))


@lru_cache(maxsize=4096)
def _classes(roles: tuple[Role, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The classes of things, and of changes, each once and in the order of the files: of two that tell the same the
    first is taken, and a set would have another order in each run."""
    return (
        tuple(dict.fromkeys(role.name for role in roles if not role.is_change)),
        tuple(dict.fromkeys(role.name for role in roles if role.is_change)),
    )
