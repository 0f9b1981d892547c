"""Persons: the sex, race and ethnicity of a note's patient, by labels, beside an age, by titles and by pronouns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from ...kb.ontology.persons import persons
from ..text.cue_files import any_of, cue_file
from ..text.frame import PERSONS, Frame, Recognizer, Span
from ..text.gates import Gated

_TABLE: Final = cue_file("persons")
_SOURCE: Final = "pattern:person"
#: The attributes, and kinds, of which such words are.
_SEX, _GROUPS = "sex", ("race", "ethnicity")
#: So far before a word lie those that tell whose it is, and so far behind a name the person, in characters.
_BEFORE, _BEHIND = 64, 48
#: So many pronouns of one sort tell a sex.
_PRONOUNS: Final = 3
#: So many titles or pronouns of a note are looked at.
_MOST_LOOKED_AT: Final = 40


class _Sign(NamedTuple):
    """A word that tells something of the patient."""

    start: int
    end: int
    value: str


def _values(kind: str, *, whole: bool = True) -> dict[str, str]:
    """Word -> value: of a kind, small letters; what is written exactly so with ``whole`` alone."""
    found: dict[str, str] = {}
    for value, entry in persons()[kind].items():
        found |= dict.fromkeys(map(str.lower, entry["words"]), value)
        if whole:
            found |= dict.fromkeys(entry.get("short", ()), value)
    return found


_GROUP_OF: Final = {word: (kind, value) for kind in _GROUPS for word, value in _values(kind).items()}
_SEX_OF: Final = _values(_SEX)
_GROUP: Final = any_of(_GROUP_OF).replace(r"\ ", r"\s").replace(r"\-", r"[-\s]")
_LETTERS: Final = any_of(word for word in _SEX_OF if len(word) == 1)
_YEARS: Final = any_of(_TABLE["years"]["words"])
_SEX_WORD: Final = any_of(word for word in _SEX_OF if len(word) > 1)


def _first_words(words: Iterable[str]) -> str:
    return any_of({re.split(r"[^A-Za-z]", word)[0] for word in words})


_LABELLED: Final = Gated(
    re.compile(
        rf"(?<![^\W_])(?P<label>{any_of(_TABLE['label']['words'])})(?:\s?\([^()\n]{{0,24}}\))?\s{{0,3}}[:=|\t]\s{{0,4}}"
        rf"(?:\d{{1,3}}\s?[/,]?\s?(?:y\.?o\.?\s?/?\s?)?)?(?P<value>{_SEX_WORD}|{_LETTERS}|{_GROUP})(?![^\W_])",
        re.IGNORECASE,
    ),
    rf"(?i:{_first_words(_TABLE['label']['words'])})",
)
_SEXED: Final = Gated(re.compile(rf"(?<![^\W_]){_SEX_WORD}(?![^\W_])", re.IGNORECASE), rf"(?i:{_SEX_WORD})")
_LETTER: Final = Gated(
    re.compile(
        rf"(?<![\w./-])\d{{1,3}}(?:\s?-?\s?{_YEARS}[\s./-]{{0,2}}(?:old|o\.?)?)?\s?[/-]?\s?(?P<value>[FM])(?![^\W_]|/)"
    ),
    rf"\d{{0,3}}(?:{_YEARS}o?)?[FM]\Z",
    before=24,
    lead="0123456789",
)
_TITLE: Final = Gated(
    re.compile(
        "|".join(
            rf"(?P<{sex}>(?<![^\W_]){any_of(entry['words'])})(?:\.\s?|\s)[A-Z][\w'’-]+"
            for sex, entry in _TABLE["title"].items()
        )
    ),
    any_of(word for entry in _TABLE["title"].values() for word in entry["words"]),
)
_PRONOUN: Final = Gated(
    re.compile(
        "|".join(
            rf"(?P<{sex}>(?<![^\W_]){any_of(entry['words'])}(?![^\W_]))" for sex, entry in _TABLE["pronoun"].items()
        ),
        re.IGNORECASE,
    ),
    rf"(?i:{any_of(word for entry in _TABLE['pronoun'].values() for word in entry['words'])}\Z)",
)
_NAMED: Final = Gated(re.compile(rf"(?<![^\W_]){_GROUP}(?![^\W_])", re.IGNORECASE), rf"(?i:{_first_words(_GROUP_OF)})")


@dataclass(frozen=True, slots=True)
class _Around:
    """What stands around a word for a sex or race that is the patient's."""

    aged: re.Pattern[str]
    of_patient: re.Pattern[str]
    called: re.Pattern[str]
    next_group: re.Pattern[str]
    person: re.Pattern[str]
    descent: re.Pattern[str]
    negated: re.Pattern[str]
    other: re.Pattern[str]


@lru_cache(maxsize=1)
def _around() -> _Around:
    words = {name: any_of(entry["words"]) for name, entry in _TABLE.items() if "words" in entry}
    few = r"[\s,()\[\]/-]{0,3}(?:[\w/'’-]{1,20}[\s,]{1,2}){0,4}"
    return _Around(
        aged=re.compile(
            rf"(?<![\w./-])\d{{1,3}}\s?-?\s?{_YEARS}[\s./-]{{0,2}}(?:old|of\sage|o\.?)?(?![a-z]){few}\Z",
            re.IGNORECASE,
        ),
        of_patient=re.compile(rf"(?<![^\W_]){words['of_patient']}\s(?:[\w-]{{1,20}},?\s){{0,4}}\Z", re.IGNORECASE),
        called=re.compile(rf"(?<![^\W_]){words['is']}\s\Z", re.IGNORECASE),
        next_group=re.compile(rf"[\s,;/|-]{{1,3}}(?P<value>{_GROUP})(?![^\W_])", re.IGNORECASE),
        person=re.compile(rf"[\s,-]{{1,2}}(?:[\w-]{{1,20}}\s){{0,1}}{words['person']}(?![^\W_])", re.IGNORECASE),
        descent=re.compile(rf"(?:\s{words['people']})?\s{words['descent']}(?![^\W_])", re.IGNORECASE),
        negated=re.compile(rf"(?<![^\W_]){words['not']}[\s-]{{1,2}}\Z", re.IGNORECASE),
        other=re.compile(rf"(?<![^\W_]){words['other']}(?:['’]?s)?(?![^\W_])", re.IGNORECASE),
    )


class PersonRecognizer(Recognizer):
    """Sex, race and ethnicity of the patient, each value once in a note."""

    name = "persons"
    gates = (_LABELLED, _SEXED, _LETTER, _TITLE, _PRONOUN, _NAMED)
    layer = PERSONS

    def find(self, frame: Frame) -> Iterator[Span]:
        """Spans of the kinds ``sex``, ``race`` and ``ethnicity``."""
        found: dict[tuple[str, str], _Sign] = {}
        for sign in self._groups(frame):
            found.setdefault(_GROUP_OF[sign.value], sign)
        for (kind, value), sign in found.items():
            yield Span(sign.start, sign.end, kind, "", _SOURCE, {kind: value})
        # Titles are looked for where nothing else tells the sex, and pronouns last: these are many.
        ways = (self._sexes, self._titles, self._pronouns)
        sex = next((one for way in ways if (one := _most_told(list(way(frame)))) is not None), None)
        if sex is not None:
            yield Span(sex.start, sex.end, _SEX, "", _SOURCE, {_SEX: sex.value})

    # --- sex --------------------------------------------------------------------------------------------------------

    @staticmethod
    def _sexes(frame: Frame) -> Iterator[_Sign]:
        text, places, around = frame.text, frame.places, _around()
        for match in _LABELLED.find(places, text):
            value = _SEX_OF.get(match["value"].upper()) or _SEX_OF.get(match["value"].lower())
            if value and not _is_anothers(frame, match.start("value")):
                yield _Sign(*match.span("value"), value)
        for match in _LETTER.find(places, text):
            if not _is_anothers(frame, match.start()):
                yield _Sign(match.start(), match.end(), _SEX_OF[match["value"]])
        for match in _SEXED.find(places, text):
            low = max(0, match.start() - _BEFORE)
            of_patient = around.aged.search(text, low, match.start()) or around.of_patient.search(
                text, low, match.start()
            )
            if of_patient and not _is_anothers(frame, match.start()):
                yield _Sign(*match.span(), _SEX_OF[match.group().lower()])

    @staticmethod
    def _titles(frame: Frame) -> Iterable[_Sign]:
        # A letter about another's patient has titles of both.
        return _of_one_sex(frame, _TITLE)

    @staticmethod
    def _pronouns(frame: Frame) -> Iterable[_Sign]:
        signs = _of_one_sex(frame, _PRONOUN)
        return signs if len(signs) >= _PRONOUNS else ()

    # --- race and ethnicity -----------------------------------------------------------------------------------------

    @staticmethod
    def _groups(frame: Frame) -> Iterator[_Sign]:
        text, places, around = frame.text, frame.places, _around()
        for match in _LABELLED.find(places, text):
            value: re.Match[str] | None = match
            while value is not None and _key(value["value"]) in _GROUP_OF:
                start, end = value.span("value")
                yield _Sign(start, end, _key(value["value"]))
                value = around.next_group.match(text, end, min(len(text), end + _BEHIND))
        for match in _NAMED.find(places, text):
            start, end = match.span()
            low, high, word = max(0, start - _BEFORE), min(len(text), end + _BEHIND), _key(match.group())
            if word not in _GROUP_OF:
                continue
            of_descent = around.descent.match(text, end, high)
            is_called = word not in _PLAIN and around.called.search(text, low, start)
            beside = around.person.match(text, end, high) or around.aged.search(text, low, start)
            if not (of_descent or is_called or beside) or around.negated.search(text, low, start):
                continue
            if not _is_anothers(frame, start, in_family=bool(of_descent)):
                yield _Sign(start, end, word)


def _of_one_sex(frame: Frame, words: Gated) -> list[_Sign]:
    """What such words tell of the patient, each in the group of its sex; nothing where they differ."""
    signs = [
        _Sign(match.start(), match.end(), str(match.lastgroup))
        for match in words.find(frame.places, frame.text)[:_MOST_LOOKED_AT]
        if not _is_anothers(frame, match.start())
    ]
    return signs if len({sign.value for sign in signs}) == 1 else []


def _key(text: str) -> str:
    """A name as the table has it."""
    plain = re.sub(r"\s+", " ", text)
    if plain in _GROUP_OF:
        return plain
    low = plain.lower()
    return next((one for one in (low, low.replace(" ", "-")) if one in _GROUP_OF), low.replace("-", " "))


_PLAIN: Final = frozenset(_TABLE["plain"]["words"])


def _most_told(signs: list[_Sign]) -> _Sign | None:
    """The first sign of the sex that most of the signs tell; None where as many tell the other."""
    told = Counter(sign.value for sign in signs).most_common(2)
    if not told or len(told) > 1 and told[0][1] == told[1][1]:
        return None
    return next(sign for sign in signs if sign.value == told[0][0])


def _is_anothers(frame: Frame, start: int, *, in_family: bool = False) -> bool:
    """Whether a word is somebody else's: by its section, or a word for somebody else before it in its sentence."""
    effect = frame.shape.section_at(start).effect
    if effect in ("boilerplate", "criteria") or effect == "family" and not in_family:
        return True
    sentence = frame.shape.sentences[frame.shape.sentence_index_at(start)]
    return _around().other.search(frame.text, max(sentence.start, start - 200), start) is not None
