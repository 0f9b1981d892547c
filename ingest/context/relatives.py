"""Relatives: who in the family had what a sentence tells of the family, on which side, and how old they were then.

Words lead to the relatives before a thing (*her mother and aunt had*), behind it (*in a paternal uncle*, *(sister)*),
or in the line above. An age counts where it is told as that of the thing: not how old somebody is now,
nor when they died.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, NamedTuple

from ...kb.kinds import KIND_TABLE
from ...kb.model import Experiencer, Mention, Polarity, Value
from ...kb.ontology.persons import SIDES, at_or_below, persons
from ..text.cue_files import any_of, cue_file
from ..text.frame import Frame

#: So far from a relative may the words for the side of the family stand (characters).
_NEAR_SIDE: Final = 60
#: So far before its list does the line stand that names the relative.
_REACH_OF_LINE: Final = 400
#: So long may be what stands between two relatives of one list, or between a thing and its relatives.
_LONGEST_GAP: Final = 60
_OLDEST: Final = 110
#: So many lines above are looked at, and what may stand before the words of a list's item.
_MOST_LINES: Final = 8
_BULLETS: Final = " \t-*•"
#: So many ages of one list are read.
_MOST_AGES: Final = 6
#: So many things of one list, and so many words for a side of the family, are looked through.
_MOST_THINGS: Final = 12
_MOST_SIDES: Final = 8
#: What stands behind a bare number that is an age.
_ENDS_NUMBER: Final = re.compile(r"\s*(?:[,;.)\]|\n/]|and\b|&|\Z)")


class Kin(NamedTuple):
    """One relative as a sentence names them; ``relative`` is empty for somebody who is none by blood."""

    start: int
    end: int
    relative: str
    side: str = ""
    several: bool = False


class _Age(NamedTuple):
    """Ages behind a place: up to where, which, and whether words tell that they are ages, or of when it was found."""

    end: int
    years: tuple[int, ...]
    told: bool
    found: bool


@dataclass(frozen=True, slots=True)
class _Words:
    """The patterns of :file:`cues/relatives.toml`, and the relative that each word names."""

    person: re.Pattern[str]
    relative_of: Mapping[str, str]
    side_of_short: Mapping[str, str]
    of_first_degree: Set[str]
    of_relative: Mapping[str, Mapping[str, str]]
    sides: Mapping[str, str]
    between: re.Pattern[str]
    leads: re.Pattern[str]
    opens: re.Pattern[str]
    loose: re.Pattern[str]
    subject: re.Pattern[str]
    and_then: re.Pattern[str]
    age: re.Pattern[str]
    next_age: re.Pattern[str]
    found: re.Pattern[str]
    died: re.Pattern[str]


def _plain(words: Iterable[str]) -> str:
    """Any of the words, none of which goes on."""
    return rf"(?:{any_of(words)}(?![A-Za-z]))"


@lru_cache(maxsize=1)
def _words() -> _Words:
    table = cue_file("relatives")
    relatives = persons()["relative"]
    relative_of: dict[str, str] = {}
    side_of_short: dict[str, str] = {}
    shorts: dict[str, str] = {}
    for relative, entry in relatives.items():
        for word in entry["words"]:
            relative_of[_key(word)] = relative
        shorts |= dict.fromkeys(entry.get("short", ()), relative)
        for side in SIDES:
            for short in entry.get(side, ()):
                shorts[short], side_of_short[short] = relative, side
    names = any_of({word for entry in relatives.values() for word in entry["words"]}).replace(r"\ ", r"[\s-]{1,2}")
    sides = {side: table["side"][side] for side in SIDES}
    side_words = "|".join(rf"(?P<{side}>{any_of(entry['before'])})" for side, entry in sides.items())
    wholes = "|".join(f"(?P<whole_{side}>{'|'.join(entry['whole'])})" for side, entry in sides.items())
    person = (
        rf"(?<![^\W_])(?:(?P<none>{'|'.join(table['none']['words'])})|(?P<own>{'|'.join(table['own']['words'])})"
        rf"|(?P<other>{'|'.join(table['others']['words'])})"
        rf"|{wholes}|(?:(?:{side_words})[\s/-]{{1,2}})?(?:(?P<name>{names})(?P<many>e?s)?|(?P<short>(?-i:{any_of(shorts)}))))"
        rf"(?P<whose>['’]s?)?(?![^\W_])"
    )
    at, found = _plain(table["at"]["words"]), _plain(table["found"]["words"])
    between = _plain(table["between"]["words"])
    years = rf"(?:[\s-]?(?:{'|'.join(table['years']['words'])})(?![^\W_]))?"
    none = rf"(?![\w%]|[./]\d|\+|['’]s|\s?[-–]\s?\d|[\s-]{{0,2}}(?:{'|'.join(table['years']['none'])})(?![^\W_]))"
    number = rf"(?P<years>\d{{1,3}})(?!\d){years}{none}"
    return _Words(
        person=re.compile(person, re.IGNORECASE),
        relative_of=relative_of | shorts,
        side_of_short=side_of_short,
        of_first_degree=at_or_below("relative", "first_degree_relative"),
        of_relative=table["of_relative"],
        sides=table["sides"],
        between=re.compile(rf"(?:[\s,/&+]|{between})*", re.IGNORECASE),
        leads=re.compile(rf"[\s),]*{_plain(table['leads']['words'])}(?:[\s,]|{between})*", re.IGNORECASE),
        opens=re.compile(rf"[\s)]*(?:[(\[:=–—|]|-{{1,2}}>?|\t|\s{{2}})(?:[\s,]|{between})*", re.IGNORECASE),
        loose=re.compile(rf"(?:[\s,()|•*–—:-]|{between})*", re.IGNORECASE),
        subject=re.compile(rf"[\s(]*(?:{_plain(table['subject']['words'])}|[:–—=-]\s*\w)", re.IGNORECASE),
        and_then=re.compile(r"[\s,/&]*(?:(?:and|or|as well as)\b)?[\s,]*", re.IGNORECASE),
        age=re.compile(
            rf"[\s,(\[:|~–—-]{{0,4}}(?P<found>(?:{found}[\s:,]{{1,3}}){{0,2}})(?P<at>(?:{at}[\s:]{{0,2}}){{0,6}})"
            rf"(?P<then>(?:{found}[\s:]{{1,3}}(?:{at}[\s:]{{0,2}}){{0,4}})?){number}",
            re.IGNORECASE,
        ),
        next_age=re.compile(rf"[\s,/]{{0,2}}(?:(?:and|&)\s)?(?:at\s|age\s)?(?<!\d){number}", re.IGNORECASE),
        found=re.compile(rf"(?<![^\W_]){found}", re.IGNORECASE),
        died=re.compile(rf"(?<![^\W_]){_plain(table['died']['words'])}[^.;,()\d]{{0,40}}\Z", re.IGNORECASE),
    )


def _key(word: str) -> str:
    return re.sub(r"[\s-]+", " ", word).lower()


def with_relatives(frame: Frame, mentions: Sequence[Mention]) -> list[Mention]:
    """The mentions, those of the family with who it was: one for each relative of a list."""
    of_family: dict[tuple[int, int], list[Mention]] = {}
    for mention in mentions:
        if (
            mention.context.experiencer is Experiencer.FAMILY
            and mention.context.polarity is not Polarity.ABSENT
            and "relative" in KIND_TABLE[mention.kind].attributes
        ):
            of_family.setdefault(mention.sentence, []).append(mention)
    if not of_family:
        return list(mentions)
    told: dict[int, list[dict[str, Value]]] = {}
    for sentence, here in of_family.items():
        for mention, relatives in zip(here, _Sentence(frame.text, sentence, here).relatives(), strict=True):
            told[id(mention)] = relatives
    found: list[Mention] = []
    for mention in mentions:
        for attributes in told.get(id(mention)) or [{}]:
            found.append(replace(mention, attributes={**mention.attributes, **attributes}) if attributes else mention)
    return found


class _Sentence:
    """One sentence with things that relatives had."""

    def __init__(self, text: str, sentence: tuple[int, int], mentions: Sequence[Mention]) -> None:
        self._text, (self._start, self._end) = text, sentence
        self._mentions = mentions
        self._words = _words()
        self._wholes: list[tuple[int, int, str]] = []
        self._starts = sorted(one.start for one in mentions)
        self._groups = self._grouped(self._persons(self._start, self._end))
        self._begin = [group[0].start for group in self._groups]
        self._end_of = [group[-1].end for group in self._groups]
        #: The lists of relatives that stand behind a thing which they had.
        self._behind: set[int] = set()

    def relatives(self) -> Iterator[list[dict[str, Value]]]:
        """For each of the things, in their order, the attributes of each relative that had it."""
        places = sorted({(one.start, one.end) for one in self._mentions})
        of_place: dict[tuple[int, int], list[dict[str, Value]]] = {}
        for at, place in enumerate(places):
            of_place[place] = self._of(places, at)
        for mention in self._mentions:
            yield of_place[mention.start, mention.end]

    # --- who is named -----------------------------------------------------------------------------------------------

    def _persons(self, low: int, high: int) -> list[Kin]:
        """The people named there, in order; relatives of relatives are one."""
        found: list[Kin] = []
        whose = -1
        for match in self._words.person.finditer(self._text, low, high):
            if match["none"] or match["own"] and match["whose"]:
                continue
            if match["whole_maternal"] or match["whole_paternal"]:
                if len(self._wholes) < _MOST_SIDES:
                    self._wholes.append((*match.span(), "maternal" if match["whole_maternal"] else "paternal"))
                continue
            one = self._person(match)
            if whose == match.start() and found:
                one = self._of_relative(found.pop(), one)
            found.append(one)
            behind = self._text[match.end() : match.end() + 1]
            whose = match.end() + 1 if match["whose"] and behind == " " else -1
        return found

    def _person(self, match: re.Match[str]) -> Kin:
        start, end = match.span()
        if match["other"] or match["own"]:
            return Kin(start, end, "")
        side = "maternal" if match["maternal"] else "paternal" if match["paternal"] else ""
        if match["short"]:
            short = match["short"]
            return Kin(start, end, self._words.relative_of[short], side or self._words.side_of_short.get(short, ""))
        return Kin(start, end, self._words.relative_of[_key(match["name"])], side, match["many"] is not None)

    def _of_relative(self, first: Kin, then: Kin) -> Kin:
        relative = self._words.of_relative.get(first.relative, {}).get(then.relative, "")
        return Kin(first.start, then.end, relative, self._words.sides.get(first.relative, first.side), then.several)

    def _grouped(self, persons: Sequence[Kin]) -> list[list[Kin]]:
        """The people in lists: what stands between two of one list joins them."""
        groups: list[list[Kin]] = []
        for person in persons:
            before = groups[-1][-1] if groups else None
            if before is not None and self._joins(before.end, person.start):
                if person.relative and not person.side and self._takes_side(person):
                    person = person._replace(side=before.side)
                groups[-1].append(person)
            else:
                groups.append([person])
        return [[self._with_side(one) for one in group] for group in groups]

    def _joins(self, low: int, high: int) -> bool:
        if high - low > _LONGEST_GAP or bisect_left(self._starts, low) < bisect_left(self._starts, high):
            return False
        age = self._age(low)
        if age is not None and age.end <= high:
            low = age.end + (self._text[age.end : age.end + 1] in (")", "]"))
        return self._words.between.fullmatch(self._text, low, high) is not None and bool(self._text[low:high].strip())

    def _takes_side(self, person: Kin) -> bool:
        """Whether such a relative may be of either side of the family: those of the first degree are of none."""
        return person.relative not in self._words.of_first_degree

    def _with_side(self, person: Kin) -> Kin:
        if person.side or not person.relative or not self._takes_side(person):
            return person
        for start, end, side in self._wholes:
            if 0 <= start - person.end <= _NEAR_SIDE:
                return person._replace(side=side)
            heads = not self._text[self._start : start].strip(_BULLETS) or self._text[end : end + 1] in (":", ",")
            if heads and start < person.start:
                return person._replace(side=side)
        return person

    # --- who had it -------------------------------------------------------------------------------------------------

    def _of(self, places: Sequence[tuple[int, int]], at: int) -> list[dict[str, Value]]:
        start, end = places[at]
        ages = self._age(end)
        group = self._led_to(places, at)
        behind = group is not None
        if group is None:
            before = bisect_right(self._end_of, start) - 1
            if before >= 0 and before not in self._behind:
                group = before
            elif (group := self._loosely(places, at)) is not None:
                behind = True
        if group is None:
            return self._from_line_above(start) or self._by_side(start, end)
        if behind:
            self._behind.add(group)
        kin = self._groups[group]
        years = self._years(kin, start, ages, behind=behind)
        found: list[dict[str, Value]] = []
        for one in kin:
            for year in years.get(one, ()) or (None,):
                told: dict[str, Value] = {}
                if one.relative:
                    told["relative"] = one.relative
                if one.side:
                    told["side"] = one.side
                if year is not None and one.relative:
                    told["relative_age"] = float(year)
                if told and told not in found:
                    found.append(told)
        return found

    def _led_to(self, places: Sequence[tuple[int, int]], at: int) -> int | None:
        """The relatives behind the thing, where words or signs lead to them; in a list of things, behind its last."""
        # Whoever is named before a list of things, and led to by none of them, had them all.
        before = bisect_right(self._end_of, places[at][0]) - 1
        theirs = before >= 0 and before not in self._behind
        for place in range(at, min(len(places), at + _MOST_THINGS)):
            end = places[place][1]
            age = self._age(end)
            low = end if age is None else age.end
            group = bisect_left(self._begin, end)
            if group < len(self._groups) and self._leads(low, group):
                return group
            following = places[place + 1][0] if place + 1 < len(places) else low
            if theirs or following <= low or not self._words.and_then.fullmatch(self._text, low, following):
                return None
        return None

    def _leads(self, low: int, group: int) -> bool:
        """Whether words or signs from a place on lead to the relatives of a list."""
        first = self._begin[group]
        if first - low > _LONGEST_GAP:
            return False
        if self._words.leads.fullmatch(self._text, low, first):
            return True
        signs = self._words.opens.fullmatch(self._text, low, first)
        return bool(signs) and not self._words.subject.match(self._text, self._end_of[group], self._end)

    def _loosely(self, places: Sequence[tuple[int, int]], at: int) -> int | None:
        """The relatives right behind the thing, where they are the subject of nothing else."""
        end = places[at][1]
        age = self._age(end)
        low = end if age is None else age.end
        group = bisect_left(self._begin, end)
        if group == len(self._groups) or self._begin[group] - low > _LONGEST_GAP:
            return None
        near = self._words.loose.fullmatch(self._text, low, self._begin[group])
        subject = self._words.subject.match(self._text, self._end_of[group], self._end)
        return group if near and not subject else None

    def _from_line_above(self, start: int) -> list[dict[str, Value]]:
        """The relative whom the line above names and nothing else."""
        if self._groups:
            return []
        low = max(0, self._start - _REACH_OF_LINE)
        line_begins = self._text.rfind("\n", low, start) + 1
        for line in reversed(self._text[low:line_begins].splitlines()[-_MOST_LINES:]):
            match = self._words.person.fullmatch(line.strip(_BULLETS + ":"))
            if match is not None and (match["name"] or match["short"]):
                one = self._person(match)
                return [{"relative": one.relative, **({"side": one.side} if one.side else {})}]
            if line.strip()[:1] not in tuple(_BULLETS.strip()):
                break
        return []

    def _by_side(self, start: int, end: int) -> list[dict[str, Value]]:
        """The side of the family, where that alone is told."""
        sides = {side for low, high, side in self._wholes if low - end <= _NEAR_SIDE and start - high <= _NEAR_SIDE}
        return [{"side": next(iter(sides))}] if len(sides) == 1 and not self._groups else []

    # --- how old they were ------------------------------------------------------------------------------------------

    def _years(self, kin: Sequence[Kin], start: int, ages: _Age | None, *, behind: bool) -> dict[Kin, tuple[int, ...]]:
        """The ages of each of the relatives."""
        found: dict[Kin, tuple[int, ...]] = {}
        if behind:
            for one in kin:
                age = self._age(one.end)
                if age is not None:
                    found[one] = age.years if one.several else age.years[:1]
        else:
            low = kin[-1].end
            for match in self._words.found.finditer(self._text, low, min(start, low + _LONGEST_GAP)):
                before = self._age(match.start())
                if before is not None and before.end <= start:
                    found = {kin[0]: before.years[:1]} if len(kin) == 1 else {}
        if found or ages is None:
            return found
        if not ages.found and self._words.died.search(self._text, max(self._start, start - _LONGEST_GAP), start):
            return {}
        if len(kin) == 1:
            return {kin[0]: ages.years if kin[0].several else ages.years[:1]}
        if len(ages.years) == len(kin):
            return {one: (year,) for one, year in zip(kin, ages.years, strict=True)}
        return {}

    def _age(self, place: int) -> _Age | None:
        """The ages told right behind a place, if any are."""
        match = self._words.age.match(self._text, place, self._end)
        if match is None:
            return None
        found = bool(match["found"] or match["then"])
        told = bool(found or match["at"])
        years = [int(match["years"])]
        end = match.end()
        while len(years) < _MOST_AGES and (more := self._words.next_age.match(self._text, end, self._end)):
            years.append(int(more["years"]))
            end = more.end()
        if self._words.found.match(self._text, end + 1 if self._text[end : end + 1] == " " else end):
            told = found = True
        if not told and not _ENDS_NUMBER.match(self._text, end, self._end):
            return None
        return _Age(end, tuple(years), told, found) if all(0 < year <= _OLDEST for year in years) else None
