"""Operations that an organ or thing and what was done to it tell together: ``appendix out``, ``the LAD was stented``.

Things, actions and what each pair is called are data (``cues/operations.toml``). An action belongs to the thing right
before or behind it, with helping verbs, owners, sides and the like between, and to the things joined to that one
(``tonsils and adenoids out``); any other word parts them. What such a span says may be denied or planned by the words
around it, as a name may.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from ...kb.ontology.concepts import ConceptTable
from ..text.cue_files import cue_file
from ..text.frame import OPERATED, THING, Frame, Recognizer, Span
from ..text.words import PhraseMatch, PhraseTrie, fold
from .lexicon import span_kind

#: The source of such spans.
SOURCE: Final = "pattern:operation"
#: So many words may stand between a thing and its action.
_REACH: Final = 7
#: So many things are joined at most.
_MOST_JOINED: Final = 5
#: What may stand between two words that belong together: a comma and more part them.
_GAP: Final = re.compile(r"\s{0,3}-?\s{0,3}")
_LISTED: Final = re.compile(r"\s{0,3}[,/&]?\s{0,3}")


class Role(NamedTuple):
    """What a phrase is: a class of things, or of actions."""

    is_action: bool
    name: str


class _Operation(NamedTuple):
    """What an action at a thing is called, and at a part of it."""

    concept: str
    part: str


class _Grammar(NamedTuple):
    trie: PhraseTrie[Role]
    operations: Mapping[tuple[str, str], _Operation]
    #: Classes of actions that stand behind their thing alone, and the words of them that stand before it too.
    behind: frozenset[str]
    either: frozenset[str]
    words: Mapping[str, frozenset[str]]


class _Side(NamedTuple):
    """The nearest thing on one side of an action and those joined to it; whether it adjoins, and is denied."""

    things: Sequence[PhraseMatch[Role]]
    adjoins: bool
    denied: bool = False


def operation_words() -> PhraseTrie[Role]:
    """Things and actions, for which notes are searched."""
    return _grammar().trie


@lru_cache(maxsize=1)
def _grammar() -> _Grammar:
    table = cue_file("operations")
    phrases = [(phrase, Role(False, name)) for name, words in table["things"].items() for phrase in words]
    phrases += [(phrase, Role(True, name)) for name, words in table["actions"].items() for phrase in words]
    operations: dict[tuple[str, str], _Operation] = {}
    for entry in table["operation"]:
        for thing in entry["of"]:
            for action in entry["is"]:
                operations.setdefault((thing, action), _Operation(entry["concept"], entry.get("part", "")))
    order = table["order"]
    words = {name: frozenset(map(fold, listed)) for name, listed in table["between"].items()}
    words["not_behind"] = frozenset(map(fold, order["not_behind"]))
    return _Grammar(
        PhraseTrie(phrases), operations, frozenset(order["behind"]), frozenset(map(fold, order["either"])), words
    )


class OperationRecognizer(Recognizer):
    """Finds pairs of a thing and what was done to it; the thing is kept as a helper."""

    name = "operations"
    layer = OPERATED

    def __init__(self, concepts: ConceptTable) -> None:
        self._concepts = concepts
        self._grammar = _grammar()

    def find(self, frame: Frame) -> Iterator[Span]:
        """Spans of the kinds that the concepts make."""
        trie = self._grammar.trie
        begins = frame.beginnings(trie)
        if len(begins) < 2:
            return
        found = trie.longest(frame.text, frame.words, begins, len(frame.words.norms))
        first = {match.first: match for match in found}
        last = {match.last: match for match in found}
        for match in found:
            classes = {role.name for role in match.payloads if role.is_action}
            if classes:
                yield from self._told(frame, match, classes, first, last)

    def _told(
        self,
        frame: Frame,
        action: PhraseMatch[Role],
        classes: set[str],
        first: Mapping[int, PhraseMatch[Role]],
        last: Mapping[int, PhraseMatch[Role]],
    ) -> Iterator[Span]:
        grammar, norms = self._grammar, frame.words.norms
        side = None
        follows = norms[action.last] if action.last < len(norms) else ""
        if norms[action.first : action.last] != ["out"] or follows not in grammar.words["not_behind"]:
            side = self._before(frame, action, classes, last)
        if side is None:
            if norms[action.first] not in grammar.either:
                classes = classes - grammar.behind
            side = self._behind(frame, action, classes, first) if classes else None
        if side is None:
            return
        for number, thing in enumerate(side.things):
            meant = self._meant(thing, classes)
            if meant is None:
                continue
            concept = meant.part if meant.part and self._is_part(frame, thing) else meant.concept
            if concept not in self._concepts:
                continue
            start, end = action.start, action.end
            if number == 0 and side.adjoins:
                start, end = min(start, thing.start), max(end, thing.end)
            elif number:
                start, end = thing.start, thing.end
            kind = span_kind(self._concepts, concept)
            yield Span(
                start,
                end,
                kind,
                concept,
                SOURCE,
                helpers=[(thing.start, thing.end, THING)],
                decided="absent" if side.denied else "",
            )

    def _meant(self, thing: PhraseMatch[Role], classes: set[str]) -> _Operation | None:
        operations = self._grammar.operations
        return next(
            (
                operations[role.name, action]
                for role in thing.payloads
                if not role.is_action
                for action in sorted(classes)
                if (role.name, action) in operations
            ),
            None,
        )

    def _before(
        self, frame: Frame, action: PhraseMatch[Role], classes: set[str], last: Mapping[int, PhraseMatch[Role]]
    ) -> _Side | None:
        """The thing that leads to the action: ``the gallbladder was removed``, ``tonsils and adenoids out``."""
        norms, words = frame.words.norms, self._grammar.words
        at, adjoins, denied = action.first, True, False
        while at > 0 and action.first - at <= _REACH and self._gap(frame, at, _GAP):
            thing = last.get(at)
            if thing is not None and self._meant(thing, classes) is not None:
                if self._is_place(frame, thing):
                    return None
                return _Side([thing, *self._joined_before(frame, thing, classes, last)], adjoins, denied)
            if thing is not None and any(not role.is_action for role in thing.payloads):
                return None
            norm = norms[at - 1]
            if norm in words["verbs"] or norm in words["words"]:
                adjoins, denied = False, denied or norm in words["not"]
                at -= 1
                continue
            return None
        return None

    def _joined_before(
        self, frame: Frame, thing: PhraseMatch[Role], classes: set[str], last: Mapping[int, PhraseMatch[Role]]
    ) -> Iterator[PhraseMatch[Role]]:
        """The things of a list that ends with this one; each has the same done to it."""
        norms, words = frame.words.norms, self._grammar.words
        at = thing.first
        for _ in range(_MOST_JOINED):
            joined = False
            low = max(0, at - 4)
            while at > low and self._gap(frame, at, _LISTED):
                between = frame.text[frame.words.ends[at - 1] : frame.words.starts[at]]
                joined = joined or "," in between or "&" in between
                other = last.get(at)
                if other is not None:
                    break
                if norms[at - 1] in words["joints"]:
                    joined = True
                elif norms[at - 1] not in words["words"]:
                    return
                at -= 1
            other = last.get(at)
            if other is None or not joined or self._meant(other, classes) is None:
                return
            yield other
            at = other.first

    def _behind(
        self, frame: Frame, action: PhraseMatch[Role], classes: set[str], first: Mapping[int, PhraseMatch[Role]]
    ) -> _Side | None:
        """The thing that the action leads to: ``removed her gallbladder``, ``excision of the lipoma``."""
        norms, words = frame.words.norms, self._grammar.words
        at = action.last
        while at < len(norms) and at - action.last <= _REACH and self._gap(frame, at, _GAP):
            thing = first.get(at)
            if thing is not None:
                if self._meant(thing, classes) is None or not self._ends_there(frame, thing):
                    return None
                return _Side([thing, *self._joined_behind(frame, thing, classes, first)], True)
            if norms[at] in words["words"] or norms[at] in words["part"]:
                at += 1
                continue
            return None
        return None

    def _joined_behind(
        self, frame: Frame, thing: PhraseMatch[Role], classes: set[str], first: Mapping[int, PhraseMatch[Role]]
    ) -> Iterator[PhraseMatch[Role]]:
        norms, words = frame.words.norms, self._grammar.words
        at, joined = thing.last, False
        while at < len(norms) and at - thing.last <= 4 and self._gap(frame, at, _LISTED):
            other = first.get(at)
            if other is not None:
                if joined and self._meant(other, classes) is not None and self._ends_there(frame, other):
                    yield other
                return
            if norms[at] in words["joints"]:
                joined = True
            elif norms[at] not in words["words"]:
                return
            at += 1

    def _ends_there(self, frame: Frame, thing: PhraseMatch[Role]) -> bool:
        """Whether no further noun makes the thing another one (``removed her breast implant``)."""
        norms = frame.words.norms
        if thing.last >= len(norms) or not self._gap(frame, thing.last, _GAP):
            return True
        norm = norms[thing.last]
        return norm in self._grammar.words["followers"] or norm[:1].isdigit()

    def _is_place(self, frame: Frame, thing: PhraseMatch[Role]) -> bool:
        """Whether the thing is only where something else is: ``the cast on her arm was cut off``."""
        norms, words = frame.words.norms, self._grammar.words
        at = thing.first
        while at > 0 and thing.first - at < 4 and self._gap(frame, at, _GAP):
            norm = norms[at - 1]
            if norm in words["places"]:
                return not self._is_part(frame, thing)
            if norm not in words["words"]:
                return False
            at -= 1
        return False

    def _is_part(self, frame: Frame, thing: PhraseMatch[Role]) -> bool:
        """``Half of his thyroid``: only a part of the thing is meant."""
        norms, words = frame.words.norms, self._grammar.words
        for at in range(thing.first - 1, max(-1, thing.first - 5), -1):
            if norms[at] in words["part"]:
                return True
            if norms[at] not in words["words"]:
                return False
        return False

    @staticmethod
    def _gap(frame: Frame, at: int, pattern: re.Pattern[str]) -> bool:
        """Whether nothing but what the pattern allows parts the word from the one before it."""
        return at > 0 and pattern.fullmatch(frame.text, frame.words.ends[at - 1], frame.words.starts[at]) is not None
