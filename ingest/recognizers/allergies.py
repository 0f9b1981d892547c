"""Allergies and intolerances: the substances that a list or a sentence says a patient reacts to, with the reaction.

Substances are the drugs that the lexicon names and, where an allergy is spoken of, what only that makes an allergen
(``tape``, ``shellfish``). In a section of allergies each of its substances is one; elsewhere those that stand in a row
behind *allergic to*, or before *allergy*. *NKDA* and its like deny allergies as a whole.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from ...kb.kinds import CONDITIONS, KIND_TABLE
from ...kb.model import Value
from ...kb.ontology.concepts import ConceptTable
from ..text.cue_files import cue_file
from ..text.frame import ALLERGENS, Frame, Recognizer, Span, first_come
from ..text.gates import Gate, Gated
from ..text.word_classes import word_classes
from ..text.words import PhraseTrie

_CLASSES: Final = word_classes("recognizers", "allergies")

#: The section whose substances are all allergies, the kind of concept, and the wholes that a denial names.
SECTION: Final = "allergies"
ALLERGEN: Final = "allergen"
_ALL, _ANY_DRUG, _FOOD, _SURROUNDINGS = "allergen", "any_drug", "food", "environmental_allergen"
#: The kinds of span that name a drug.
_DRUG: Final = "medication"
#: Concepts that say no more than that there was a reaction.
_ROOTS: Final = frozenset(KIND_TABLE[kind].root for kind in CONDITIONS)
#: Where the sources of its spans begin.
SOURCE: Final = "allergy:"

_OPENS: Final = _CLASSES.pattern(r"(?i:allerg|intoleran|sensitiv|nk[dm]?a\Z|ndka\Z|n\Z|anaphyla|{reaction_begins})")
#: What opens a note to this reading.
GATES: Final = (Gate(_OPENS),)
_SHORT: Final = Gated(
    _CLASSES.compile(r"(?<![\w.])(?:(?P<drug>{short_for_drugs})|(?P<all>{short_for_all}))(?!\w)"),
    r"(?i:nk[dm]?a\Z|ndka\Z|n\Z)",
)
_DENIED: Final = Gated(
    _CLASSES.compile(
        r"\b{no}\s+(?:{said_of_none}\s+){0,3}"
        r"(?P<what>(?:(?:{of_drugs}|{of_food}|{of_surroundings})(?:\s?{joins}){0,2}\s?){0,4})"
        r"(?:allerg(?:y|ies)|allergic reactions?)\b(?P<to>\s+to\s+(?:any\s+|known\s+)?(?:other\s+)?"
        r"(?P<behind>{of_drugs}|{of_food}|anything)\b(?:\s+or\s+(?P<also>{of_drugs}|{of_food}))?)?(?!\s+to\b)",
        re.IGNORECASE,
    ),
    r"(?i:no|not|denie|denying|without|negative|non)",
)
_NONE: Final = _CLASSES.compile(r"[\s:;,.\-*()]*(?P<none>{none})\b(?=\s*(?:[.,;)\n]|$))", re.IGNORECASE)
_EXCEPT: Final = _CLASSES.compile(r"[\s,.;(]*{except}\b", re.IGNORECASE)
_OF_DRUGS: Final = _CLASSES.compile(r"\b{of_drugs}\b", re.IGNORECASE)
_OF_FOOD: Final = _CLASSES.compile(r"\b{of_food}\b", re.IGNORECASE)
_OF_SURROUNDINGS: Final = _CLASSES.compile(r"\b{of_surroundings}\b", re.IGNORECASE)
_BEHIND: Final = Gated(
    _CLASSES.compile(
        r"(?:(?P<allergy>{allergic_to})|(?P<reacted>{reacted_to})|(?P<intolerance>{intolerant_to}))", re.IGNORECASE
    ),
    r"(?i:allerg|anaphyla|intoleran|sensitiv|drug)",
)
_BEFORE: Final = Gated(
    _CLASSES.compile(r"(?:(?P<allergy>{allergy})|(?P<intolerance>{intolerance}))\b", re.IGNORECASE),
    r"(?i:allerg|intoleran)",
)
_INTOLERANT: Final = _CLASSES.compile(r"\b{intolerance}\b", re.IGNORECASE)
_FILLED: Final = _CLASSES.compile(r"(?:[\s:\-\"(]|\b{filler}\b){0,12}", re.IGNORECASE)
_ROW: Final = _CLASSES.compile(
    r"(?:[\s,;/&()\[\]\-\u2013]|\b(?:and|or|as well as)\b|\b{filler}\b|\b{tells_reaction}\b|\x00){0,40}", re.IGNORECASE
)
_ADJOINS: Final = re.compile(r"[\s\-]{1,3}(?:(?:drug|type)\s)?")
_JOINED: Final = re.compile(r"\s?(?:,|/|&|,?\s?\band\b|,?\s?\bor\b)\s?")
_PLURAL: Final = re.compile(r".*ies", re.IGNORECASE)
_NOT_ONE: Final = _CLASSES.compile(r"\b{not_one}\s+(?:\w+\s+){0,3}$", re.IGNORECASE)
_NO_REACTION: Final = _CLASSES.compile(r"/|\b{another_thing}\b", re.IGNORECASE)
_CAUSED_BY: Final = _CLASSES.compile(r"\s{before_cause}\s(?:\w+\s){0,2}", re.IGNORECASE)
#: An item of a list of substances and reactions: what opens it, what leads on to the reaction, what closes it.
_OPENS_ITEM: Final = re.compile(r"(?:\A|[\n;.,|•*)\-]\s{0,4})\Z")
_TO_REACTION: Final = _CLASSES.compile(r"\s?(?::|[-–—=]{1,2}>?|\()\s?(?:{how_bad}\s)?", re.IGNORECASE)
_CLOSES_ITEM: Final = _CLASSES.compile(r"[ \t]{0,2}(?:[.;,)|/\n]|\Z|{joins}\s)", re.IGNORECASE)
#: What ends the words about one substance of a list.
_ENDS_ITEM: Final = re.compile(r"[\n;]|\.(?=\s|$)")
#: So far stand the first substance from the words for an allergy, and a reaction from what it is to (characters).
_REACH: Final = 60


def substance_names(concepts: ConceptTable) -> PhraseTrie[str]:
    """The names of what only an allergy makes an allergen, with other words for drugs where one is spoken of."""
    trie: PhraseTrie[str] = PhraseTrie()
    names = [(name, row.id) for row in concepts.rows() if row.kind == ALLERGEN for name in (row.name, *row.synonyms)]
    names += [(name, one) for one, other in cue_file("allergies")["names"].items() for name in other if one in concepts]
    trie.add_all((name, one, False) for name, one in names)
    return trie


class AllergenRecognizer(Recognizer):
    """The names of allergens, in notes that speak of an allergy."""

    name = "allergens"
    gates = GATES
    layer = ALLERGENS

    def __init__(self, concepts: ConceptTable) -> None:
        self._trie = substance_names(concepts)

    def find(self, frame: Frame) -> Iterator[Span]:
        """Spans of kind ``allergen``, which are no events."""
        for match in frame.phrases(self._trie, 0, len(frame.words.norms)):
            yield Span(match.start, match.end, ALLERGEN, match.payloads[0], "lexicon")


class Allergies(NamedTuple):
    """What a note says of allergies: the events, and the stretches whose drugs and complaints are theirs."""

    events: list[Span]
    taken: list[tuple[int, int]]


def allergies(
    frame: Frame, named: Sequence[Span], allergens: Sequence[Span], harmful: Set[str] = frozenset()
) -> Allergies:
    """``named``: what the lexicon names, none over another; ``allergens``: what may be one besides; ``harmful``: drugs
    of which a rash is no allergy."""
    drugs = [span for span in named if span.kind == _DRUG]
    substances = first_come(sorted([*drugs, *allergens], key=lambda one: (one.start - one.end, one.kind != _DRUG)))
    reactions = [span for span in named if span.kind in CONDITIONS and span.concept not in _ROOTS]
    return _Reader(frame, substances, reactions, harmful).read()


class _Told(NamedTuple):
    """Substances that one list or sentence tells, which ends at ``end``."""

    row: Sequence[Span]
    nature: str
    end: int
    #: What its words decide of all of them.
    decided: str = ""
    #: Where the words for the allergy end that stand behind its substances.
    behind: int = 0
    #: What is told is that the patient had it, too.
    was_given: bool = False
    #: A list of allergies holds nothing else.
    listed: bool = False


@dataclass(slots=True)
class _Reader:
    """Reads one note; ``regions`` are its lists of allergies."""

    frame: Frame
    substances: list[Span]
    reactions: list[Span]
    harmful: Set[str] = frozenset()
    events: list[Span] = field(default_factory=list)
    taken: list[tuple[int, int]] = field(default_factory=list)
    _seen: set[int] = field(default_factory=set)

    def read(self) -> Allergies:
        sections = [one for one in self.frame.shape.sections if one.name == SECTION]
        denials = list(self._denials())
        for section in sections:
            heading = self.frame.text[section.start : section.heading_end]
            denials += self._none_at(section.heading_end, section.end, heading)
        for start, end, concepts in denials:
            excepted = _EXCEPT.match(self.frame.text, end)
            if excepted and (row := self._row_behind(excepted.end(), end + _REACH * 5)):
                self._take(_Told(row, "allergy", end + _REACH * 8, decided="present"))
                continue
            for concept in concepts:
                attributes: dict[str, Value] = {"nature": "allergy"}
                self.events.append(
                    Span(start, end, "allergy", concept, f"{SOURCE}denied", attributes, decided="absent")
                )
        self._read_sentences(denials)
        self._read_items()
        for section in sections:
            told = [
                one
                for one in self._between(section.heading_end, section.end)
                if one.concept != _ANY_DRUG and not any(start <= one.start < end for start, end, _ in denials)
            ]
            heading = self.frame.text[section.start : section.heading_end]
            intolerance = _INTOLERANT.search(heading) and "llerg" not in heading.lower()
            self._take(_Told(told, "intolerance" if intolerance else "allergy", section.end, listed=True))
        return Allergies(self.events, self.taken)

    # --- denials ------------------------------------------------------------------------------------------------------

    def _denials(self) -> Iterator[tuple[int, int, tuple[str, ...]]]:
        """Where allergies are denied as a whole, and which."""
        text, places = self.frame.text, self.frame.places
        for match in _SHORT.find(places, text):
            yield *match.span(), (_ANY_DRUG if match["drug"] else _ALL,)
        for match in _DENIED.find(places, text):
            yield *match.span(), _wholes(f"{match['what']} {match['behind'] or ''} {match['also'] or ''}")

    def _none_at(self, start: int, end: int, heading: str) -> Iterator[tuple[int, int, tuple[str, ...]]]:
        """*None* right behind a heading of allergies denies those of which the heading is."""
        match = _NONE.match(self.frame.text, start, end)
        if match is not None:
            yield *match.span("none"), _wholes(f"{heading} {match['none']}")

    # --- sentences ----------------------------------------------------------------------------------------------------

    def _read_sentences(self, denials: Sequence[tuple[int, int, tuple[str, ...]]]) -> None:
        text, places = self.frame.text, self.frame.places
        for match in _BEHIND.find(places, text):
            if not any(start <= match.start() < end for start, end, _ in denials):
                end = self.frame.sentence_span(match.start())[1]
                row = self._row_behind(match.end(), max(end, match.end()))
                if match["reacted"]:
                    row = [one for one in row if one.concept != _ANY_DRUG]
                type_ = "intolerance" if match["intolerance"] else "allergy"
                listed = self.frame.shape.section_at(match.start()).name == SECTION
                self._take(_Told(row, type_, end, was_given=not match["allergy"], listed=listed))
        for match in _BEFORE.find(places, text):
            section = self.frame.shape.section_at(match.start())
            heads = section.name == SECTION and match.start() < section.heading_end
            names_illness = any(
                one.end > match.start() for one in self._reactions_between(match.start() - _REACH, match.end())
            )
            if not heads and not names_illness and not any(start <= match.start() < end for start, end, _ in denials):
                low, end = self.frame.sentence_span(match.start())
                type_ = "allergy" if match["allergy"] else "intolerance"
                row = self._row_before(match, low)
                self._take(_Told(row, type_, end, behind=match.end(), was_given=not match["allergy"]))

    def _read_items(self) -> None:
        """An item that tells a substance and the reaction to it (``Penicillin: hives``), under any heading."""
        text, typical = self.frame.text, cue_file("allergies")["typical"]
        for reaction in self.reactions:
            sure = reaction.concept in typical["sure"]
            if not sure and reaction.concept not in typical["likely"]:
                continue
            before = self._between(reaction.start - _REACH, reaction.start)
            one = before[-1] if before else None
            if (
                one is None
                or not (sure or one.concept not in self.harmful)
                or not _TO_REACTION.fullmatch(text, one.end, reaction.start)
                or not _OPENS_ITEM.search(text, max(0, one.start - 8), one.start)
                or not _CLOSES_ITEM.match(text, reaction.end)
                or self.frame.shape.section_at(one.start).name == SECTION
            ):
                continue
            self._take(_Told([one], "allergy", reaction.end, was_given=one.concept in self.harmful))

    def _row_behind(self, start: int, end: int) -> list[Span]:
        """The substances that stand in a row from ``start`` on."""
        row: list[Span] = []
        at = start
        for one in self._between(start, end):
            gap = self._without_reactions(at, one.start)
            if not (_ROW if row else _FILLED).fullmatch(gap) or one.start - at > _REACH:
                break
            row.append(one)
            at = one.end
        # "Allergic to multiple drugs, including sulfa": the kind of thing is told better by its members.
        return [one for one in row if one.concept != _ANY_DRUG] or row

    def _row_before(self, match: re.Match[str], low: int) -> list[Span]:
        """The substances that stand before *allergy*, joined with each other."""
        text, row, at = self.frame.text, list[Span](), match.start()
        for one in reversed(self._between(low, match.start())):
            gap = text[one.end : at]
            if not row and not _ADJOINS.fullmatch(gap):
                break
            if row and (not _JOINED.fullmatch(gap) or "," in gap and not _PLURAL.fullmatch(match.group())):
                break
            row.append(one)
            at = one.start
        return row[::-1]

    # --- substances with their reactions ------------------------------------------------------------------------------

    def _between(self, start: int, end: int) -> list[Span]:
        low = bisect_left(self.substances, start, key=_start)
        return self.substances[low : bisect_left(self.substances, end, low, key=_start)]

    def _reactions_between(self, start: int, end: int) -> list[Span]:
        low = bisect_left(self.reactions, start, key=_start)
        return self.reactions[low : bisect_left(self.reactions, end, low, key=_start)]

    def _without_reactions(self, start: int, end: int) -> str:
        """The text, with one sign for each complaint in it."""
        text, parts, at = self.frame.text, [], start
        for one in self._reactions_between(start, end):
            parts += [text[at : one.start], "\x00"]
            at = one.end
        return "".join([*parts, text[at:end]])

    def _take(self, told: _Told) -> None:
        """An event for each substance, with the reaction that is told beside it."""
        text = self.frame.text
        caused = {id(one): found for one in told.row if (found := self._reaction_to(one)) is not None}
        for at, one in enumerate(told.row):
            if id(one) in self._seen:
                continue
            if id(one) not in caused and _NOT_ONE.search(text, max(0, one.start - 40), one.start):
                continue
            self._seen.add(id(one))
            following = min(told.row[at + 1].start if at + 1 < len(told.row) else told.end, told.end)
            start = told.behind if told.behind and one is told.row[-1] else one.end
            ends = _ENDS_ITEM.search(text, start, max(start, following))
            stop = min(ends.start() if ends else following, start + _REACH)
            reaction = caused.get(id(one)) or next(
                (
                    it
                    for it in self._reactions_between(start, stop)
                    if it not in caused.values()
                    and not _NO_REACTION.search(text, start, it.start)
                    and (told.listed or "," not in text[start : it.start])
                ),
                None,
            )
            attributes: dict[str, Value] = {"nature": told.nature}
            if _INTOLERANT.search(text, one.end, stop) is not None:
                attributes["nature"] = "intolerance"
            helpers = []
            if reaction is not None:
                attributes["reaction"] = reaction.concept
                helpers.append((reaction.start, reaction.end, "reaction"))
            if not told.was_given:
                self.taken += [(it.start, it.end) for it in (one, reaction) if it is not None]
            rule = f"{SOURCE}{one.concept}"
            self.events.append(
                Span(one.start, start, "allergy", one.concept, rule, attributes, helpers=helpers, decided=told.decided)
            )

    def _reaction_to(self, one: Span) -> Span | None:
        """The complaint that stands before its cause: *hives with penicillin*."""
        before = self._reactions_between(max(0, one.start - _REACH), one.start)
        if before and _CAUSED_BY.fullmatch(self.frame.text, before[-1].end, one.start):
            return before[-1]
        return None


def _start(span: Span) -> int:
    return span.start


def _wholes(text: str) -> tuple[str, ...]:
    """The wholes that these words name; allergies of any kind where they name none."""
    kinds = ((_OF_DRUGS, _ANY_DRUG), (_OF_FOOD, _FOOD), (_OF_SURROUNDINGS, _SURROUNDINGS))
    return tuple(concept for pattern, concept in kinds if pattern.search(text)) or (_ALL,)
