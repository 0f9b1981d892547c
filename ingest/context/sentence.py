"""Context of mentions: polarity, temporality, experiencer, reason and treatment status, from the cues around them.

The cue nearest to a mention decides each part; a cue reaches no further than its ``reach``, never past a terminator,
and a cue behind a list governs the whole list only when its members are plainly coordinated. Cue phrases are data
(``cues/context.toml``); this module holds only how they govern.

On a form the boxes or the bare answer behind a name decide.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from ...kb.kinds import ILLNESSES, MOLECULAR, OF_ONE_PERSON, TREATMENTS
from ...kb.model import Context, Cue, Experiencer, Polarity, Temporality
from ..text.shape import Section, bracket_end
from ..text.statements import statement
from ..text.word_classes import word_classes
from ..text.words import PhraseMatch
from .cues import (
    NAMED_BESIDE,
    OF_STATUS,
    CueKind,
    Found,
    Means,
    SentenceCues,
    comes_along,
    comes_back,
    is_called_own,
    is_compared_with,
    is_subject,
)

_CLASSES: Final = word_classes("context", "sentence")


class Target(NamedTuple):
    """What context is asked for: token span, character span and event kind."""

    first: int
    last: int
    start: int
    end: int
    kind: str
    #: Where the words stand that a recogniser has read as this target's own result.
    results: tuple[tuple[int, int], ...] = ()


#: Contexts are few, and many mentions share each.
context_of: Final = lru_cache(maxsize=1024)(Context)


@dataclass(frozen=True, slots=True)
class Reading:
    """The context of one target; ``status`` is given, planned, declined, never_started or empty (treatments only)."""

    context: Context = Context()
    status: str = ""
    cues: tuple[Cue, ...] = ()

    def but(
        self,
        polarity: Polarity | None = None,
        temporality: Temporality | None = None,
        experiencer: Experiencer | None = None,
        reason: str = "",
        status: str = "",
    ) -> Reading:
        """The same with another status, or other parts of the context."""
        was = self.context
        context = context_of(
            polarity or was.polarity,
            temporality or was.temporality,
            experiencer or was.experiencer,
            reason or was.reason,
        )
        return Reading(context, status or self.status, self.cues)


#: So many cues, or targets, of one sentence are all gone through; of more, those that stand near enough.
_CROWDED: Final = 16
#: An answer stands behind a colon, a question mark, a box or a gap of the same line.
_ANY_SIGN = re.compile(r"[:?\[(\u2610-\u2612\t]")
_SIGN = re.compile(rf"{_ANY_SIGN.pattern}| {{3,}}")
_NO_BOX = ":? \t"
#: No answer, and no box, has its first sign further behind the name (characters).
_REACH = 72
#: So many signs behind a name are looked at for its boxes.
_SIGNS_AHEAD = 4
_EMPTY_BOX = re.compile(r"(?:\[\s*\]|\(\s\)|\u2610|\[\s*no?\s*\])\s*$", re.IGNORECASE)
#: With what an empty box ends, or one with a minus.
_BOX_ENDS = frozenset("])\u2610")
_LEADING_BOX = re.compile(r"[ \t\-*]{0,8}(?:\[[ xX]?\]|\([ xX]\)|[\u2610-\u2612])")
#: So far before a name does its box stand (characters).
REACH_OF_BOX = 40
_TICKED = frozenset("xX*✓\u2611\u2612")
#: What may lead to an answer right behind a name, with what may then stand behind it (nothing: anything).
_BESIDE_ANSWER: Final[dict[str, frozenset[str]]] = {
    **dict.fromkeys(":?=|", frozenset()),
    **dict.fromkeys("(,", frozenset("nNyYaApPdD-+\u2013\u2212")),
    ".": frozenset("."),
    " ": frozenset("=|-:.(NYny\u2013\u2014"),
    "\t": frozenset("=|-:(\u2013\u2014"),
}
#: Bare answers in a column; any other word there leaves the question open.
_ANSWERS = {"n": "no", "no": "no", "y": "yes", "yes": "yes"}


def answer(text: str, end: int) -> str:
    """The answer to the name that ends at ``end``: ``no``, ``yes``, ``open`` (boxes, none of them ticked) or empty.

    Boxes are read as options only where one of them is a plain yes or no.
    """
    line = text[end : end + _REACH].partition("\n")[0]
    beside = _BESIDE_ANSWER.get(line[:1])
    if beside is not None and (not beside or line[1:3].lstrip()[:1] in beside):
        at_once = statement("answered_at_once").match(text, end)
        if at_once:
            return str(at_once.lastgroup).partition("_")[0]
    # Few names have any sign behind them.
    if "   " not in line and _ANY_SIGN.search(line) is None:
        return ""
    signs = _SIGN.findall(line)
    # What is no box by itself leads to one.
    boxes = any(sign[0] not in _NO_BOX for sign in signs[:_SIGNS_AHEAD])
    match = statement("boxes").match(text, end) if boxes else None
    if match:
        options = list(_options(match["options"]))
        meanings = ["no" if statement("option_no").match(word) else "yes" for word, _ in options]
        plain = any(statement("option_no").match(word) or statement("option_yes").match(word) for word, _ in options)
        if len(options) > 1 and plain:
            return next((meaning for meaning, (_, ticked) in zip(meanings, options, strict=True) if ticked), "open")
    asked = ":" in signs or "?" in signs
    if asked and statement("answered_no").match(text, end):
        return "no"
    if "\t" in line or "   " in line:
        column = statement("answered_in_column").match(text, end)
        if column:
            return _ANSWERS.get(column["answer"].lower(), "open")
    return "yes" if asked and statement("answered_yes").match(text, end) else ""


def box_before(text: str, start: int) -> bool:
    """Whether what ends a box stands before the name at ``start``: few have any, and the patterns are slow."""
    return text[max(0, start - REACH_OF_BOX) : start].rstrip()[-1:] in _BOX_ENDS


def empty_before(text: str, low: int, start: int) -> bool:
    """Whether an empty box stands right before the name at ``start``, and behind ``low``."""
    return _EMPTY_BOX.search(text, max(low, start - REACH_OF_BOX), start) is not None


def minus_before(text: str, start: int) -> bool:
    """Whether a box with a minus stands right before the name at ``start``."""
    return statement("minus_before").search(text, max(0, start - REACH_OF_BOX), start) is not None


def box_leads(text: str, at: int) -> bool:
    """Whether a box leads the line of a place: each is then that of the name behind it."""
    return _LEADING_BOX.match(text, text.rfind("\n", 0, at) + 1) is not None


def _options(text: str) -> list[tuple[str, bool]]:
    """Each option with whether its box is ticked; a box stands before its option, or behind it when a word leads."""
    boxes = list(statement("box").finditer(text))
    leads = bool(text[: boxes[0].start()].strip())
    options = []
    for index, box in enumerate(boxes):
        if leads:
            word = text[boxes[index - 1].end() if index else 0 : box.start()]
        else:
            word = text[box.end() : boxes[index + 1].start() if index + 1 < len(boxes) else len(text)]
        options.append((word, not _TICKED.isdisjoint(box.group())))
    return options


#: A verdict behind a treatment is of the finding that stands before it.
_JUDGED = MOLECULAR | {"diagnosis", "metastasis"}
#: What counsel names may be the patient's own.
_COUNSELLED = MOLECULAR | {"diagnosis"}

_COORDINATION = _CLASSES.compile(
    r"[\s,/&+()]*(?:{coordination}(?!\w))?[\s,/&+()]*",
    re.IGNORECASE,
)
_PARTS = re.compile(r"[,;:.()\[\]|]")
_SAME_CLAUSE = _CLASSES.compile(r"(?:(?!\b{clause_goes_on}\b)[^,;:.])*", re.IGNORECASE)
#: "steatosis, necrosis, or liver fibrosis were not seen": what is not so of the last is not so of all.
_LISTED = re.compile(r"(?:,\s+(?:[a-z\-]+\s+){0,2}[a-z\-]+)*,?\s+(?:or|nor|and)\s+(?:[a-z\-]+\s+){1,4}", re.IGNORECASE)
#: What joins the items of a list (a slash is an *or*), a word, or a mark that ends it; a point in a number ends none.
_LISTED_SIGN = _CLASSES.compile(
    r"(?P<either>/|{list_alternative}(?![^\W_]))|(?P<joint>,|{list_joint}(?![^\W_]))|(?P<word>[^\W_]+(?:['’]s(?![^\W_]))?)"
    r"|(?P<ends>[;:()\[\]|?!]|\.(?!\d))",
    re.IGNORECASE,
)
#: What parts names that follow a list with nothing else between them, how many they are at least, and what ends them.
_BARE_JOINT = re.compile(r"\s?,\s?(?:(?:and|or|nor|any)\s)?", re.IGNORECASE)
_FEWEST_BARE = 2
_BARE_END = re.compile(r"\s?(?:[.;]|$)")
#: No item of a list has more words.
_LONGEST_ITEM = 7
#: A verb right behind the subject of a clause.
_FINITE_BEHIND = _CLASSES.compile(r"\s{1,3}(?:\w+\s{1,3})?{finite}(?![^\W_])", re.IGNORECASE)
_QUESTION_BEFORE = re.compile(r"\?\s{0,2}$")
_QUESTION_BEHIND = re.compile(r"\s{0,2}(?:\([^()]{0,20}\)\s*)?\?")
#: "No recurrence of her cancer", "no invasion in this carcinoma": a thing spoken of as known is not what is denied.
_PRESUPPOSED = _CLASSES.compile(
    r"\w\W.*\b{presupposes}\s+{known}\s+(?:[\w\-]+\s+){0,2}$",
    re.IGNORECASE | re.DOTALL,
)
#: "No surgery for her melanoma", "no biopsy of the mass": between what is done and what it is done for.
_DONE_FOR = _CLASSES.compile(r"\s{done_for}\s(?:{known}\s)?(?:[\w\-]+\s){0,2}", re.IGNORECASE)
_NEXT_CLAUSE = _CLASSES.compile(r"(?:,|\b{list_joint})\s(?:{known}\s)?(?:[\w\-]+\s){0,2}$", re.IGNORECASE)
_DONE: Final = frozenset({"procedure"})
#: Kinds of what is done for a disease, and how it went: no list goes on from these to the disease.
_NO_DIAGNOSES: Final = TREATMENTS | {"procedure", "state"}
#: Cues that end where a new clause begins, and those of them that a link carries on.
_ANSWERING: Final = frozenset({"negation_behind", "certainty_behind"})
_DOUBTS: Final = frozenset({"uncertainty", "asked", "fear"})
_SOFTER: Final = frozenset({"uncertainty", "certainty", "asked"})
#: Cues of which the head of a phrase is said, and not what it is of or for.
_OF_HEADS: Final = frozenset({"negation", "retraction_before", "uncertainty"})
_ENDS_WITH_CLAUSE: Final = _DOUBTS | {"negation", "never_given", "declined"}
#: What the answer on a form says of a treatment: status and reason.
_STATUS_BY_ANSWER = {
    "no": ("never_started", "never_started"),
    "yes": ("given", "none"),
    "open": ("hypothetical", "none"),
}
#: What the section says of a treatment where no cue does.
_STATUS_BY_SECTION = {"plan": "planned", "counseling": "hypothetical"}
#: Cues that leave a treatment to be thought of.
_NOT_YET = frozenset({"hypothetical", "condition", "read_about"})
#: So few words stand between a leaflet and the treatment that it is about.
_TO_SUBJECT_OF_LEAFLET = 2
#: The cues that a list takes from the words at its head.
_LEADS = frozenset({"negation", "uncertainty", "asked", "hypothetical", "condition", "plan", "family", "declined"})
#: Cues that say nothing of what stands behind the bracket that holds them: "ATM p.P872S (likely germline), POLE …".
_HELD_BY_BRACKETS = frozenset({"negation", "uncertainty", "asked", "hypothetical", "condition", "pending"})
_VERDICT = _CLASSES.compile(r"{verdict_leads}?{verdict}\b", re.IGNORECASE)
#: So few words stand between a plan and the amount that is planned ("plan to give 6 cycles of").
_TO_AMOUNT = 4
#: So few words stand between a word of beginning and what is begun.
_TO_WHAT_IS_BEGUN = 3
_PATIENT = _CLASSES.compile(r"\b{patient}\b", re.IGNORECASE)
_OF_ONE = _CLASSES.compile(r"\b{patient_or_her}\b", re.IGNORECASE)


#: What is read where no cue stands, by kind, the effect of the section, and whether all is a relative's.
_UNMARKED: Final[dict[tuple[str, str, bool], Reading]] = {}


class _Placed(NamedTuple):
    """A cue with what is asked of it for each target: the parts of a context that it sets, its words, how far it
    reaches and of which kinds (none: all), and whether it may head a list."""

    parts: tuple[str, ...]
    found: Found
    first: int
    last: int
    reach: int
    kinds: frozenset[str]
    may_list: bool

    @classmethod
    def of(cls, found: Found) -> _Placed:
        """A cue of the sentence."""
        kind, match = found
        may_list = kind.name == "negation" and kind.reach > 0
        return cls(kind.parts, found, match.first, match.last, kind.reach, kind.kinds, may_list)


#: Cues that govern a target with their rank, the nearest first; and these by the part of its context that they set.
_Ranked = list[tuple[int, Found]]
_Governing = dict[str, _Ranked]
_NOTHING_GOVERNS: Final[_Governing] = {}
_NO_CUES: Final[list[_Placed]] = []


class SentenceContext:
    """The cues of one sentence, found once, and what they say of each target in it."""

    __slots__ = (
        "_farthest",
        "_is_asking",
        "_is_plain",
        "_links",
        "_lists",
        "_of_all",
        "_of_results",
        "_of_treatments",
        "_people",
        "_span",
        "_targets",
        "found",
        "hard",
        "negation_ends",
        "speaks_of",
        "text",
    )

    def __init__(
        self,
        text: str,
        span: tuple[int, int],
        targets: Sequence[Target],
        cues: SentenceCues,
    ) -> None:
        """``span``: the character span of the sentence; ``targets`` in order of position."""
        self.text = text
        self._span = span
        self._targets = targets
        self.found = cues.found
        #: The cues that any target is asked about, and a treatment alone.
        self._of_all: list[_Placed] = []
        self._of_treatments: list[_Placed] = []
        for cue in map(_Placed.of, cues.found):
            (self._of_treatments if cue.parts == OF_STATUS else self._of_all).append(cue)
        #: No cue reaches further (words).
        self._farthest = max([found.kind.reach for found in cues.found]) if cues.found else 0
        self.hard = cues.hard
        self.negation_ends = cues.negation
        self._links = cues.links
        #: "general", "trial" or "handed" where the sentence speaks of medicine at large rather than of the patient.
        self.speaks_of = set(cues.speaks_of)
        #: Where the sentence tells of people at large ("women who carry ..."): of none of them is it the patient.
        self._people = cues.people
        self._is_asking = text.find("?", *span) >= 0
        #: Whether the cue that begins there stands in the result of a target, for those that were asked about.
        self._of_results: dict[int, bool] = {}
        #: Where the list ends that a negation heads, by where the negation begins.
        self._lists: dict[int, int] = {}
        #: Whether nothing but its cues, and what it speaks of, bears on what is said in the sentence.
        self._is_plain = not (self._is_asking or cues.people[0] < cues.people[1])

    def _governing_of(self, target: Target) -> _Governing:
        """The cues that govern the target; between two equally near the one behind comes first."""
        governing: _Governing = {}
        kind, first, last = target.kind, target.first, target.last
        for parts, found, cue_first, cue_last, reach, kinds, may_list in self._within_reach(target):
            # Most cues of a sentence stand too far from a target, or on the wrong side of it: that is seen first.
            before = cue_last <= first
            distance = first - cue_last if before else cue_first - last
            if (
                distance >= 0
                and (distance <= reach or (before and may_list and self._lists_it(found, target)))
                and (not kinds or kind in kinds)
                and self._governs(found, target, before)
            ):
                for part in parts:
                    governing.setdefault(part, []).append((2 * distance + before, found))
        for ranked in governing.values():
            if len(ranked) > 1:
                ranked.sort(key=_rank)
        return governing

    def _within_reach(self, target: Target) -> Sequence[_Placed]:
        """The cues that may stand near enough to the target: in a crowded sentence not all are gone through."""
        of_all = self._of_all
        of_treatments = self._of_treatments if target.kind in TREATMENTS else _NO_CUES
        if len(self.found) > _CROWDED:
            low, high = target.first - self._farthest, target.last + self._farthest
            of_all, of_treatments = (
                known[bisect_left(known, low, key=_last_word) : bisect_right(known, high, key=_first_word)]
                for known in (of_all, of_treatments)
            )
        return of_all + of_treatments if of_treatments else of_all

    def _governs(self, found: Found, target: Target, before: bool) -> bool:
        """Whether a cue governs a target within its reach that it does not overlap; ``before``: it stands before it."""
        kind, match = found
        if before and kind.direction == "after" and not self._heads_list(found):
            return False
        if not before and kind.direction == "before":
            return False
        if kind.name in _HELD_BY_BRACKETS and 0 < bracket_end(self.text, match.start, match.end) <= target.start:
            return False
        if kind.name == "negation" and self._is_result_of_another(match, target):
            return False
        if is_called_own(kind.name, target.kind, self.text, target.start, self._span[0]):
            return False
        if before and kind.name in NAMED_BESIDE and not is_subject(self.text, match, self._span, kind.name):
            return False
        low, high = (match.last, target.first) if before else (target.last, match.first)
        if (
            self.hard
            and "experiencer" not in kind.sets
            and any(low <= first and last <= high for first, last in self.hard)
        ):
            return False
        return (
            self._reaches_forward(kind, low, high, match.end, target, self._list_of(found))
            if before
            else self._reaches_back(kind, match, target)
        )

    def _is_result_of_another(self, match: PhraseMatch[Means], target: Target) -> bool:
        """``FLT3 neg, NPM1 mut``: the word that is the result of one marker denies no other."""

        def holds(result: tuple[int, int]) -> bool:
            return result[0] <= match.start and match.end <= result[1]

        of_any = self._of_results.get(match.start)
        if of_any is None:
            of_any = any(any(map(holds, other.results)) for other in self._targets if other.results)
            self._of_results[match.start] = of_any
        return of_any and not any(map(holds, target.results))

    def _heads_list(self, found: Found) -> bool:
        """``Ruled out: lymphoma, sarcoma``: what stands behind a finding elsewhere heads a list here."""
        at_start = not self.text[self._span[0] : found.match.start].strip(" \t-*•")
        colon = self.text[found.match.end : found.match.end + 1] == ":"
        return at_start and colon and found.kind.name == "negation_behind"

    def _lists_it(self, found: Found, target: Target) -> bool:
        """Whether a negation before the target heads a list that the target stands in."""
        return target.end <= self._list_of(found)

    def _list_of(self, found: Found) -> int:
        """Where the list ends that a negation heads; 0: it heads none."""
        if found.kind.name != "negation" or not found.kind.reach:
            return 0
        end = self._lists.get(found.match.start)
        if end is None:
            end = self._lists[found.match.start] = self._with_bare_items(self._end_of_list(found.match))
        return end

    def _with_bare_items(self, end: int) -> int:
        """Where the list ends if nothing but names follows, parted by commas: ``no fever or chills, cough, nausea.``"""
        at, bare = end, 0
        for target in self._targets if end else ():
            if target.start < at:
                continue
            if not _BARE_JOINT.fullmatch(self.text, at, target.start):
                break
            at, bare = target.end, bare + 1
        return at if bare >= _FEWEST_BARE and _BARE_END.match(self.text, at, self._span[1]) else end

    def _end_of_list(self, head: PhraseMatch[Means]) -> int:
        """Where the list ends that a negation heads: behind the last item that an *or* joins to those before it.

        ``No consolidation, suspicious opacity, pneumothorax or definite effusion``: all of it is denied. A clause of
        its own is no item.
        """
        stops = {first for first, _ in (*self.hard, *self.negation_ends)}
        end, item_end, at, words = 0, head.end, head.last, 0
        either = False
        for sign in _LISTED_SIGN.finditer(self.text, head.end, self._span[1]):
            kind = sign.lastgroup
            if kind == "word":
                if at in stops or words == _LONGEST_ITEM:
                    break
                words += 1
                item_end = sign.end()
            else:
                if words and either:
                    end = item_end
                if kind == "ends":
                    return end
                # "A, or B": the comma before the word says nothing more.
                either = kind == "either" or (either and not words and sign.group() == ",")
                words = 0
            at += sign.group().isalnum() or kind == "word"
        return item_end if words and either else end

    def _opens_clause(self, found_end: int, comma: int, target: Target, listed: int) -> bool:
        """Whether what stands behind a comma is no item of what is denied any more: behind the end of the list, or a
        clause with a verb (``no fracture, the heart is large``)."""
        if 0 < listed <= comma:
            return True
        named = any(found_end <= other.start and other.end <= comma for other in self._targets)
        return named and _FINITE_BEHIND.match(self.text, target.end) is not None

    def _reaches_forward(self, kind: CueKind, low: int, high: int, cue_end: int, target: Target, listed: int) -> bool:
        if kind.name in _OF_HEADS and self._is_taken_as_known(cue_end, target):
            return False
        if kind.name == "retraction_before":
            # It takes back one thing, the next that is named: what follows is usually what holds instead.
            return not any(low <= other.first < target.first and other.kind == target.kind for other in self._targets)
        if kind.name not in _ENDS_WITH_CLAUSE:
            return True
        ends = [end for end in self.negation_ends if kind.name not in _DOUBTS or end not in self._links]
        if any(low <= first and last <= high for first, last in ends):
            return False
        between = self.text[cue_end : target.start]
        comma = between.rfind(",")
        alone = self.text[cue_end - 3 : cue_end].lower() == "not" or kind.name == "never_given"
        if comma >= 0 and alone:
            # "Not ruptured, KIT exon 11 deletion", "no drivers, carboplatin x4": what is not so is before the comma.
            listed = any(low <= other.first and other.end <= cue_end + comma for other in self._targets)
            if not listed:
                return False
        if target.end <= listed:
            return True
        if comma >= 0 and kind.name == "negation" and self._is_of_another_sort(cue_end, cue_end + comma, target):
            return False
        if comma >= 0 and kind.name == "negation" and self._opens_clause(cue_end, cue_end + comma, target, listed):
            return False
        # Past a comma a negation goes on only through a list: few words since the last comma.
        on = between[comma:].split()
        return comma < 0 or len(on) <= (8 if "or" in on else 5)

    def _is_of_another_sort(self, cue_end: int, comma: int, target: Target) -> bool:
        """``Without chemotherapy, stage II colon cancer``: the items of a list without an *or* are of one sort."""
        if target.kind != "diagnosis":
            return False
        named = {other.kind for other in self._begun_between(cue_end, comma) if other.end <= comma}
        return bool(named) and named <= _NO_DIAGNOSES

    def _is_taken_as_known(self, cue_end: int, target: Target) -> bool:
        """Whether what is denied is the head of a phrase, and the target that which it is for or of (``no treatment for
        melanoma``): the target is not denied."""
        if target.kind not in ILLNESSES:
            return False
        between = self.text[cue_end : target.start]
        if target.kind == "diagnosis" and (_PRESUPPOSED.search(between) or statement("presupposed").search(between)):
            return True
        if "," in between:
            return False
        if statement("done_for_it").search(between):
            return True
        # "No surgery for her melanoma": what is named between is done.
        return any(
            other.end < target.start and _DONE_FOR.fullmatch(self.text, other.end, target.start)
            for other in self._begun_between(cue_end, target.start)
            if other.kind in TREATMENTS or other.kind in _DONE
        )

    def _begun_between(self, low: int, high: int) -> Sequence[Target]:
        """The targets that begin at ``low`` or behind it, and before ``high``."""
        first = bisect_left(self._targets, low, key=_start)
        return self._targets[first : bisect_left(self._targets, high, first, key=_start)]

    def _reaches_back(self, kind: CueKind, match: PhraseMatch[Means], target: Target) -> bool:
        # What was begun after all is told behind it; any other cue that stands on either side reaches over all.
        if kind.direction == "both" and kind.name != "begun":
            return True
        if kind.name == "negation_behind" and _LISTED.fullmatch(self.text, target.end, match.start):
            return not any(target.last <= first and last < match.first for first, last in self.negation_ends)
        position = target.end
        between = self._targets
        if len(between) > _CROWDED:
            first = bisect_left(between, position, key=_start)
            between = between[first : bisect_left(between, match.start, first, key=_start)]
        for other in between:
            if other.start < position or other.start >= match.start or other is target:
                continue
            if not _COORDINATION.fullmatch(self.text, position, other.start):
                return False
            # "Breast cancer, ER negative": what is said of a marker is said of no disease beside it.
            if other.kind in MOLECULAR and target.kind not in MOLECULAR:
                return False
            # "Thyroidectomy + RAI, melanoma ruled out": the verdict is of the finding that it stands behind.
            if kind.name == "never_given_behind" and other.kind in _JUDGED:
                return False
            position = max(position, other.end)
        if kind.name.startswith(("negation", "uncertainty", "certainty", "asked")):
            gap = self.text[position : match.start]
            # "LMD query, ruled out": the verdict stands behind a comma of its own.
            verdict = (
                gap.count(",") == 1 and not gap.rpartition(",")[2].strip() and _VERDICT.match(self.text, match.start)
            )
            if gap.count(",") and not verdict:
                return False
            return kind.name != "certainty_behind" or not any(
                first >= target.last and last <= match.first for first, last in self.negation_ends
            )
        return True

    def read(self, target: Target, section: Section) -> Reading:
        """The context of ``target``, standing in ``section``."""
        answered = answer(self.text, target.end)
        governing = self._governing_of(target) if self.found else _NOTHING_GOVERNS
        if governing or not self._is_plain or answered or self.speaks_of or box_before(self.text, target.start):
            return self._read(target, answered, governing, section)
        of_family = section.effect == "family" and not _PATIENT.search(self.text, *self._span)
        known = _UNMARKED.get((target.kind, section.effect, of_family))
        if known is None:
            known = _UNMARKED[target.kind, section.effect, of_family] = self._read(target, answered, {}, section)
        return known

    def _read(self, target: Target, answered: str, governing: _Governing, section: Section) -> Reading:
        cues: list[Cue] = []
        polarity, reason = self._polarity(target, answered, governing.get("polarity", []), cues)
        temporality = self._temporality(target, answered, governing.get("temporality", ()), section, cues)
        experiencer = self._experiencer(target, governing.get("experiencer", ()), section, cues)
        status = ""
        if target.kind in TREATMENTS:
            status, status_reason = self._status(target, answered, governing, section, cues)
            if status in ("declined", "never_started"):
                polarity, reason, temporality = Polarity.ABSENT, status_reason, Temporality.CURRENT
            elif status == "planned":
                polarity, temporality = Polarity.PRESENT, Temporality.PLANNED
            elif status == "hypothetical":
                polarity, temporality = Polarity.PRESENT, Temporality.HYPOTHETICAL
            else:
                if reason not in ("retracted",):
                    polarity = Polarity.PRESENT if polarity is not Polarity.UNCERTAIN else polarity
                temporality = Temporality.HISTORICAL if temporality is Temporality.HISTORICAL else Temporality.CURRENT
        if self._is_general(target) and (status != "given" or "criteria" in self.speaks_of):
            temporality, status = Temporality.HYPOTHETICAL, "hypothetical" if status else status
        if self.is_about_people(target.start):
            temporality, status = Temporality.HYPOTHETICAL, "hypothetical" if target.kind in TREATMENTS else ""
        return Reading(context_of(polarity, temporality, experiencer, reason), status, tuple(cues))

    def is_about_people(self, position: int) -> bool:
        """Whether the words there are about people at large, and not about the patient."""
        return self._people[0] <= position < self._people[1]

    def _is_general(self, target: Target) -> bool:
        if "criteria" in self.speaks_of:
            return True
        if target.kind == "symptom" and self.speaks_of == {"general"} and _OF_ONE.search(self.text, *self._span):
            return False  # "His pain is associated with nausea" is a complaint.
        if not self.speaks_of or target.kind in OF_ONE_PERSON:
            return False
        if self.speaks_of == {"handed"} and target.kind in TREATMENTS:
            return False  # A leaflet may go with a treatment that is given: the cues decide.
        return target.kind != "variant" or "trial" in self.speaks_of

    def denies_value(self, target: Target, reading: Reading) -> bool:
        """Whether an absent value is itself what is denied (``no stage IV disease``, ``ECOG 3 was ruled out``).

        Nothing stands between but what may stand in such a phrase.
        """
        if target.kind not in MOLECULAR and answer(self.text, target.end) == "no":
            return True
        for cue in reading.cues:
            if cue.rule == "negation" and cue.end <= target.start:
                return statement("value_denied_before").fullmatch(self.text, cue.end, target.start) is not None
            if cue.rule == "negation_behind" and cue.start >= target.end:
                gap = statement("value_denied_behind").fullmatch(self.text, target.end, cue.start)
                return gap is not None and bool(statement("value_denied_by").search(self.text, cue.start, cue.end))
        return False

    def leads(self) -> tuple[CueKind, ...]:
        """The cues that a sentence ending in a colon hands on to the list below it."""
        return tuple(
            found.kind for found in self.found if found.kind.direction != "after" and found.kind.name in _LEADS
        )

    def _cue(self, found: Found) -> Cue:
        return Cue(found.match.start, found.match.end, found.kind.name)

    def _polarity(self, target: Target, answered: str, near: _Ranked, cues: list[Cue]) -> tuple[Polarity, str]:
        text, (start, end) = self.text, self._span
        boxed = box_before(text, target.start) and not self._mention_between(target)
        if boxed and (minus_before(text, target.start) or empty_before(text, start, target.start)):
            return Polarity.ABSENT, "none"
        if answered == "no":
            return Polarity.ABSENT, "none"
        if (
            self._is_asking
            and not answered
            and (_QUESTION_BEFORE.search(text, start, target.start) or _QUESTION_BEHIND.match(text, target.end, end))
        ):
            cues.append(Cue(max(start, target.start - 2), target.end, "question_mark"))
            return Polarity.UNCERTAIN, "none"
        if answered:  # The "no" of "Prior malignancy: no  Diabetes: yes" is that of its own line.
            near = [pair for pair in near if not pair[1].kind.name.startswith("negation")]
        if not near:
            return Polarity.PRESENT, "none"
        found = self._decisive(near, target)
        cues.append(self._cue(found))
        if found.kind.name == "negation" and found.match.last <= target.first:
            # "No pain except in the knee": some is there. "No cancer other than melanoma": not all is denied.
            excepted = statement("excepted")
            if statement("excepted_place").match(text, target.end, end) or excepted.search(
                text, target.start, target.end
            ):
                return Polarity.PRESENT, "none"
            if excepted.match(text, target.end, end):
                return Polarity.UNCERTAIN, "none"
        return Polarity(found.kind.sets["polarity"]), found.kind.sets.get("reason", "none")

    def _decisive(self, near: _Ranked, target: Target) -> Found:
        """The cue that decides the polarity: the nearest, but for what another makes of it."""
        found = near[0][1]
        for _, other in near[1:]:
            # "not suspicious for", "no definite evidence of suspected": a negation right before a softer cue holds.
            if (
                other.kind.name == "negation"
                and found.kind.name in _SOFTER
                and 0 <= found.match.first - other.match.last <= 2
                # "No fracture, possible effusion": the doubt is of the next thing.
                and "," not in self.text[other.match.end : found.match.start]
            ):
                found = other
            # "no consolidation or definite effusion": so does one whose list they both stand in.
            if (
                found.kind.name in _SOFTER
                and other.match.last <= found.match.first
                and found.match.last <= target.first
                and self._lists_it(other, target)
            ):
                found = other
            # "Rule out PE: negative": what was asked is decided by its answer.
            if (
                found.kind.name == "asked"
                and other.kind.name in _ANSWERING
                and other.match.first >= max(found.match.last, target.last)
            ):
                found = other
            # "no DCIS seen in the cores": what is said behind a negated thing does not undo the negation.
            if other.kind.name == "negation" and found.kind.name == "certainty_behind":
                found = other
            taken_back = other.kind.name == "retraction_around" or (
                other.kind.name == "retraction" and found.kind.name in ("certainty_behind", "negation_behind")
            )
            if taken_back:
                found = other
                break
        return found

    def _mention_between(self, target: Target) -> bool:
        if box_leads(self.text, target.start):
            return False
        return any(target.start - REACH_OF_BOX < other.start < target.start for other in self._targets)

    def _temporality(
        self, target: Target, answered: str, near: Sequence[tuple[int, Found]], section: Section, cues: list[Cue]
    ) -> Temporality:
        if answered == "open":
            return Temporality.HYPOTHETICAL  # A form that nobody has filled in.
        for _, found in near[:1]:
            cues.append(self._cue(found))
            return Temporality(found.kind.sets["temporality"])
        if section.effect == "history" and target.kind != "performance":
            return Temporality.HISTORICAL
        if section.effect == "counseling" and target.kind not in _COUNSELLED:
            return Temporality.HYPOTHETICAL
        return Temporality.CURRENT

    def _experiencer(
        self, target: Target, near: Sequence[tuple[int, Found]], section: Section, cues: list[Cue]
    ) -> Experiencer:
        text, begins = self.text, self._span[0]
        governing = near and [
            pair
            for pair in near
            if not comes_along(text, pair[1].match, target.start, begins)
            and not is_compared_with(text, pair[1].match, target.start, begins)
            and not self._is_of_next_clause(pair[1], target)
        ]
        if governing:
            found = governing[0][1]
            low, high = sorted((found.match.end, target.start))
            own = statement("own").search(self.text, low, high)
            back = own or (found.match.end <= target.start and comes_back(text, found.match, target.start))
            if not back or statement("own_of_kin").search(self.text, low, high):
                cues.append(self._cue(found))
                return Experiencer(found.kind.sets["experiencer"])
            return Experiencer.PATIENT
        if section.effect == "family" and not _PATIENT.search(self.text, *self._span):
            return Experiencer.FAMILY
        return Experiencer.PATIENT

    def _is_of_next_clause(self, found: Found, target: Target) -> bool:
        """``She has melanoma, and her mother had asthma``: who is the subject of a clause behind is not of this one."""
        person = found.match
        return (
            target.end <= person.start
            and self._targets[-1].start >= person.end
            and _NEXT_CLAUSE.search(self.text, target.end, person.start) is not None
            and statement("has_it").match(self.text, person.end, self._span[1]) is not None
        )

    def _is_denied(self, given: Found) -> bool:
        """Whether a negation stands right before a word of giving ("never did receive", "has not yet started")."""
        return any(
            found.kind.name == "negation"
            and 0 <= given.match.first - found.match.last <= 1
            # "(3 cm, nodes neg) s/p lumpectomy": what a sign parts from it denies nothing.
            and not _PARTS.search(self.text, found.match.end, given.match.start)
            for found in self.found
        )

    def _begins_another(self, begun: Found) -> bool:
        """Whether a treatment stands right behind a word of beginning ("offered A, and she has started B")."""
        return any(
            other.kind in TREATMENTS and 0 <= other.first - begun.match.last <= _TO_WHAT_IS_BEGUN
            for other in self._targets
        )

    def _without_leaflets(self, clear: _Ranked, target: Target) -> _Ranked:
        """Of the cues of a treatment those that count where something about it was read or handed over as well."""

        def in_clause(found: Found) -> bool:
            return bool(_SAME_CLAUSE.fullmatch(self.text, target.end, found.match.start))

        about = (target.first - found.match.last for _, found in clear if found.kind.name == "information")
        if any(0 <= distance <= _TO_SUBJECT_OF_LEAFLET for distance in about):
            # "A leaflet on tamoxifen was given": that was given.
            behind = ("given_behind", "plan_behind")
            return [pair for pair in clear if pair[1].kind.name not in behind or not in_clause(pair[1])]
        if not any(found.kind.name in ("given", "given_behind", "plan", "plan_behind") for _, found in clear):
            return clear
        # "Started tamoxifen, leaflet given": the leaflet goes with it.
        return [pair for pair in clear if pair[1].kind.name != "information_behind" or in_clause(pair[1])]

    def _status(
        self, target: Target, answered: str, governing: _Governing, section: Section, cues: list[Cue]
    ) -> tuple[str, str]:
        """Status and reason of a treatment: by its box or answer, what it came to, the nearest cue, its section."""
        if box_before(self.text, target.start) and empty_before(self.text, self._span[0], target.start):
            # What a plan has not ticked off yet is still to come.
            if section.effect == "plan":
                return "planned", "none"
            return "never_started", "never_started"
        if answered:
            return _STATUS_BY_ANSWER[answered]
        candidates, when = governing.get("status", []), governing.get("temporality", [])
        refused = self._refused(candidates, when, cues)
        if refused:
            return refused
        begun = [pair for pair in candidates if pair[1].kind.name == "begun" and pair[1].match.first >= target.last]
        if begun:
            # "Offered A, and she has started it": it came to that. "Offered A, and she has started B" is of B.
            found = begun[0][1]
            if self._begins_another(found):
                candidates = [pair for pair in candidates if pair not in begun]
            elif not any(other.kind.name == "condition" for _, other in when):
                cues.append(self._cue(found))
                return "given", "none"
        clear = self._clear(candidates, when, target)
        if clear:
            found = min(clear, key=_rank)[1]
            cues.append(self._cue(found))
            return self._status_of(found)
        if section.effect in _STATUS_BY_SECTION:
            return _STATUS_BY_SECTION[section.effect], "none"
        for _, found in candidates[:1]:
            cues.append(self._cue(found))
            return "mentioned", "none"
        return "", "none"

    def _refused(self, candidates: _Ranked, when: _Ranked, cues: list[Cue]) -> tuple[str, str] | None:
        """Status and reason where a treatment was declined or never given: these say more than any other cue."""
        for distance, found in candidates:
            nearer = (rank for rank, other in candidates if other.kind.name.startswith("given") and rank < distance)
            if found.kind.name.startswith("declined") and next(nearer, None) is None:
                # "Should she not want it", "if he declines": nothing was declined.
                for _, other in when:
                    if other.kind.name == "condition" and other.match.first <= found.match.first:
                        cues.append(self._cue(other))
                        return "hypothetical", "none"
                cues.append(self._cue(found))
                return "declined", "declined"
        for _, found in candidates:
            if found.kind.name == "never_given_behind":
                cues.append(self._cue(found))
                return found.kind.sets["status"], found.kind.sets["reason"]
        return None

    def _clear(self, candidates: _Ranked, when: _Ranked, target: Target) -> _Ranked:
        """The cues that say more than that a treatment is meant ("on", "from", "adjuvant"): these go first."""
        clear = [pair for pair in candidates if pair[1].kind.sets["status"] != "mentioned"]
        clear += [pair for pair in when if pair[1].kind.name == "historical" or pair[1].kind.name in _NOT_YET]
        clear = self._without_leaflets(clear, target)
        # "Cycles of" says how much: a plan right before it plans so much.
        amounts = [found for _, found in clear if found.kind.name == "given_amount"]
        if any(
            found.kind.sets.get("status") == "planned" and 0 <= amount.match.first - found.match.last <= _TO_AMOUNT
            for amount in amounts
            for _, found in clear
        ):
            clear = [pair for pair in clear if pair[1].kind.name != "given_amount"]
        return clear

    def _status_of(self, found: Found) -> tuple[str, str]:
        """Status and reason that a clear cue gives."""
        if found.kind.name == "historical":
            return "given", "none"
        if found.kind.name in _NOT_YET:
            return "hypothetical", "none"
        if found.kind.name.startswith("given") and self._is_denied(found):
            return "never_started", "never_started"
        return found.kind.sets["status"], found.kind.sets.get("reason", "none")


def _rank(ranked: tuple[int, Found]) -> int:
    return ranked[0]


def _first_word(cue: _Placed) -> int:
    return cue.first


def _last_word(cue: _Placed) -> int:
    return cue.last


def _start(target: Target) -> int:
    return target.start
