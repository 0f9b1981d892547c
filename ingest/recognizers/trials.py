"""Clinical trials: registry numbers, protocols of cooperative groups, phases, and what the patient's part in one is."""

from __future__ import annotations

import bisect
import re
import string
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from ...kb.model import Cue, DayInterval, Experiencer, Mention, Polarity, Temporality, Value
from ..text.cue_files import any_of, cue_file
from ..text.frame import TRIALS, Frame, Recognizer, Span
from ..text.gates import Gate, Gated
from ..text.word_classes import word_classes
from ..text.words import PhraseTrie, fold, words_of

_CLASSES: Final = word_classes("recognizers", "trials")

_PHASE = _CLASSES.pattern(r"{phase}\s?\.?\s?(?P<phase>(?:I{1,3}|IV|[1-4])(?:[ab])?(?:\s?/\s?(?:I{1,3}|[1-4])[ab]?)?)")
_STUDY = _CLASSES.pattern(r"{study}")
_NUMBER = re.compile(r"(?<![A-Za-z0-9])NCT\s?0?(?P<number>\d{8})(?!\d)")
_PHASED = re.compile(rf"(?<![\w\-]){_PHASE}(?![\w/])(?:\s(?:[\w\-+/]+\s){{0,6}}?{_STUDY}\b)?", re.IGNORECASE)
_NAMED = _CLASSES.compile(
    r"(?<![\w\-])(?P<name>[A-Z][A-Za-z]{0,3}[A-Z0-9][A-Z0-9\-]{1,14}(?:\s?\d{1,4})?)\s{study_alone}\b"
)
_CLINICAL = _CLASSES.compile(rf"\b{{kind_of_study}}\s{_STUDY}\b", re.IGNORECASE)
_ON = _CLASSES.compile(
    r"\bon\s{whose}?(?:clinical\s)?{study_alone}\b(?!\s{no_study})",
    re.IGNORECASE,
)
_BARE = re.compile(rf"(?<![\w\-]){_STUDY}(?![\w\-])", re.IGNORECASE)
_STUDY_OPENS: Final = _CLASSES.pattern(r"(?i:{study_begins})")
# Each pattern with the look of the word that it begins at, or that stands in it (see ``ingest/text/gates.py``).
_NUMBERS: Final = Gated(_NUMBER, r"NCT")
_PHASES: Final = Gated(_PHASED, r"(?i:ph)")
#: No name of a trial is longer than so, with the blank behind it.
_NAMES: Final = Gated(_NAMED, _STUDY_OPENS, before=26, lead=string.ascii_uppercase)
_CLINICALS: Final = Gated(_CLINICAL, _CLASSES.pattern(r"(?i:{kind_of_study}\Z)"))
_ONS: Final = Gated(_ON, r"(?i:on\Z)")
_STUDIES: Final = Gated(_BARE, _STUDY_OPENS)
#: A word of its own, and a part of the name of one group.
_ACRIN: Final = re.compile("ECOG-ACRIN", re.IGNORECASE)
_MAY_HOLD: Final = Gate(within=_CLASSES.pattern(r"(?i:{study_begins}|NCT|phase|\Aph\Z|{groups})"))
_ACRIN_OPENS: Final = Gate("(?i:acrin)")
_ROMAN: Final = {"I": "1", "II": "2", "III": "3", "IV": "4"}
#: So far (characters) the words of a patient's part stand from the trial.
_REACH: Final = 70
#: A bare "trial" or "study" is one only beside such words that close by.
_CLOSE: Final = 40
#: So many sentences behind that of a trial may tell how it went on for the patient, and so far (characters) they reach.
_AFTERWARDS: Final = 3
_REACH_AFTERWARDS: Final = 240
_MEANS_ABSENT: Final = frozenset({"screen_failure", "declined", "not_enrolled"})
_REASONS: Final = {"screen_failure": "failed", "declined": "declined", "not_enrolled": "never_started"}


#: Folded words, one of which is a part of whatever ``_MAY_HOLD`` matches (``ph`` apart, which is a word of its own).
_WORDS: Final = frozenset(
    fold(word) for word in "trial study protocol nct phase swog nrg nsabp rtog eortc calgb acrin".split()
)


@dataclass(frozen=True, slots=True)
class TrialWords:
    """``cues/trials.toml``: the words of a patient's part as a trie, its order, and the names of groups."""

    status: PhraseTrie[str]
    order: tuple[str, ...]
    no_name: frozenset[str]
    no_part: frozenset[str]


@lru_cache(maxsize=1)
def trial_words() -> TrialWords:
    """The shipped words, read once a process."""
    table = cue_file("trials")
    return TrialWords(
        PhraseTrie((phrase, status) for status, phrases in table["status"].items() for phrase in phrases),
        tuple(table["status"]),
        frozenset(table["no_name"]["words"]),
        frozenset(table["no_part"]["phrases"]),
    )


def _protocols() -> Gated:
    """Protocols by the names of groups."""
    words = cue_file("trials")["groups"]["words"]
    first = any_of({_FIRST_WORD.split(word)[0] for word in words})
    numbered = rf"(?<![\w\-])(?P<name>{any_of(words)}[\s\-]?(?:[A-Z]{{1,3}}[\s\-]?)?\d{{3,5}}[A-Z]?)(?![\w\-/])"
    return Gated(re.compile(numbered), rf"{first}")


_FIRST_WORD: Final = re.compile(r"[^A-Za-z0-9]")
_PROTOCOLS: Final = _protocols()
#: The more particular first.
_PATTERNS: Final = (_NUMBERS, _PROTOCOLS, _PHASES, _NAMES, _CLINICALS, _ONS, _STUDIES)


class TrialRecognizer(Recognizer):
    """Trials with their number, name and phase; a bare word for one only where the patient's part in it is stated."""

    name = "trials"
    gates = (_MAY_HOLD, _ACRIN_OPENS)
    layer = TRIALS

    def find(self, frame: Frame) -> Iterator[Span]:
        """Spans of kind ``trial``, of those that overlap one, the more particular first."""
        text, places = frame.text, frame.places
        if not ("ph" in frame.vocabulary or frame.holds(_WORDS)) or not self._may_hold(frame):
            return
        taken: list[tuple[int, int]] = []  # in text order, none over another
        for gated in _PATTERNS:
            for match in gated.find(places, text):
                at = bisect.bisect_left(taken, (match.end(), 0))
                if at and taken[at - 1][1] > match.start():
                    continue
                if gated is _STUDIES and at and match.start() - taken[at - 1][1] <= 1:
                    continue  # "the NRG-BN007 trial" is one.
                attributes = self._attributes(match)
                if attributes is None or gated is _STUDIES and not _has_part(frame, match.start(), match.end()):
                    continue
                taken.insert(at, match.span())
                yield Span(match.start(), match.end(), "trial", "", "pattern:trial", attributes)

    @staticmethod
    def _may_hold(frame: Frame) -> bool:
        if frame.places[_MAY_HOLD.number]:
            return True
        return "acrin" in frame.vocabulary and _ACRIN.search(frame.text) is not None

    @staticmethod
    def _attributes(match: re.Match[str]) -> dict[str, Value] | None:
        found = match.groupdict()
        attributes: dict[str, Value] = {}
        if found.get("number"):
            attributes["number"] = f"NCT{found['number']}"
        if found.get("name"):
            if found["name"].upper() in trial_words().no_name:
                return None
            attributes["name"] = " ".join(found["name"].split())
        if found.get("phase"):
            attributes["phase"] = _phase(found["phase"])
        return attributes


def _phase(written: str) -> str:
    """``1``, ``2``, ``1/2`` … of a phase in Roman or Arabic figures."""
    parts = [part.strip().upper().rstrip("AB") for part in written.split("/")]
    return "/".join(_ROMAN.get(part, part) for part in parts)


def _parts_around(frame: Frame, start: int, end: int, reach: int) -> list[tuple[int, int, str]]:
    """The words of a patient's part around a trial, within its sentence: span and status."""
    low, high = frame.sentence_span(start)
    low, high = max(low, start - reach), min(max(high, end), end + reach)
    first, last = frame.token_range(low, high)
    failed = [(*match.span(), "screen_failure") for match in _SCREENED.finditer(frame.text, low, high)]
    return failed + [
        (match.start, match.end, status)
        for match in frame.phrases(trial_words().status, first, last)
        for status in match.payloads
        if match.start >= low and match.end <= high
    ]


def part_in(text: str) -> str:
    """What a short text says of the patient's part in a trial; empty for nothing."""
    found = {status for match in trial_words().status.find(text, words_of(text)) for status in match.payloads}
    return next((status for status in trial_words().order if status in found), "")


def _parts_behind(frame: Frame, start: int, stop: int) -> list[tuple[int, int, str]]:
    """How it went on with the patient in the next sentences of the paragraph, before ``stop``."""
    text, sentences = frame.text, frame.shape.sentences
    _, end = frame.sentence_span(start)
    stop = min(stop, end + _REACH_AFTERWARDS)
    at = frame.shape.sentence_index_at(start) + 1
    for low, high, _ in sentences[at : at + _AFTERWARDS]:
        if low >= stop or _PARTED.search(text, end, low):
            break
        if match := _WENT_ON.match(text, low, min(high, stop)):
            part = match.lastgroup or ""
            return [(match.start(part), match.end(part), part)]
        end = high
    return []


def _has_part(frame: Frame, start: int, end: int) -> bool:
    # A study of sleep is declined as well, and another than that is enrolled in.
    is_trial = frame.text[start:end].lower().startswith("trial")
    if any(is_trial or part == "screen_failure" for _, _, part in _parts_behind(frame, start, len(frame.text))):
        return True
    no_part = trial_words().no_part
    return any(
        status != "completed" and frame.text[low:high].lower() not in no_part
        for low, high, status in _parts_around(frame, start, end, _CLOSE)
    )


def with_status(frame: Frame, mentions: Sequence[Mention], drugs: Sequence[Mention]) -> list[Mention]:
    """Mentions of trials with the patient's part in them, which also is their context, and the drug that they are of.

    Enrolled and completed happened; declined, failed screening and not enrolled are absent for that reason; considered
    is planned; a trial of which no part of the patient is stated is only spoken of, and hypothetical.
    """
    order = trial_words().order
    settled = []
    for mention in mentions:
        around = _parts_around(frame, mention.start, mention.end, _REACH)
        if all(part == "considered" for _, _, part in around):
            _, end = frame.sentence_span(mention.start)
            stop = min((other.start for other in mentions if other.start >= end), default=len(frame.text))
            around = _parts_behind(frame, mention.start, stop) or around
        nearest = min(around, key=lambda part: (order.index(part[2]), part[0]), default=None)
        status = nearest[2] if nearest else ""
        context = replace(mention.context, polarity=Polarity.PRESENT, temporality=Temporality.CURRENT, reason="none")
        if (
            mention.context.temporality is Temporality.HYPOTHETICAL
            and status == "enrolled"
            and _is_conditional(frame, mention)
        ):
            status = "considered"
        if (
            nearest
            and status == "enrolled"
            and any(cue.rule == "information" and cue.start < nearest[0] < cue.end for cue in mention.cues)
        ):
            nearest, status = None, ""  # "Information on clinical trials": no patient is on it.
        if status in _MEANS_ABSENT:
            context = replace(context, polarity=Polarity.ABSENT, reason=_REASONS[status])
        elif status == "considered":
            context = replace(context, temporality=Temporality.PLANNED)
        elif not status:
            context = replace(context, temporality=Temporality.HYPOTHETICAL)
        if mention.context.experiencer is not Experiencer.PATIENT:
            context = replace(context, experiencer=mention.context.experiencer)
        concept = next((drug.concept for drug in drugs if _is_of(frame.text, mention, drug)), "")
        attributes = {name: value for name, value in mention.attributes.items() if name != "status"}
        if status:
            attributes["status"] = status
        day = mention.day
        if nearest and (dated := _day_behind(frame, mention, nearest)):
            day = dated
        cues = (*mention.cues, Cue(nearest[0], nearest[1], f"trial:{status}")) if nearest else mention.cues
        settled.append(replace(mention, concept=concept, attributes=attributes, context=context, day=day, cues=cues))
    return settled


def _day_behind(frame: Frame, trial: Mention, part: tuple[int, int, str]) -> DayInterval | None:
    """The first day of the sentence that says how it went on, where that is not the trial's own."""
    _, end = frame.sentence_span(trial.start)
    if part[0] < end:
        return None
    dates = frame.dates_in(*frame.sentence_span(part[0]))
    return dates[0].day if dates else None


def _is_of(text: str, trial: Mention, drug: Mention) -> bool:
    """Whether a trial is of a drug: "phase I TRK inhibitor study", "trial of nivolumab", "nivolumab trial"."""
    if drug.kind != "medication":
        return False
    if trial.start <= drug.start and drug.end <= trial.end:
        return True
    if drug.end <= trial.start:
        return _NAMES_TRIAL.fullmatch(text, drug.end, trial.start) is not None
    return _OF_DRUG.fullmatch(text, trial.end, drug.start) is not None


def _is_conditional(frame: Frame, mention: Mention) -> bool:
    """Whether the sentence before the trial speaks of what might be ("would", "could", "if", "may")."""
    low, _ = frame.sentence_span(mention.start)
    return _MIGHT.search(frame.text, low, mention.start) is not None


_SCREENED = _CLASSES.compile(r"\b{screened}\b[^.;\n]{0,24}[,\-–:]\s{failed}\b", re.IGNORECASE)
_PARTED = re.compile(r"\n\s*\n")
_WENT_ON = _CLASSES.compile(
    r"(?:[\W\d]*(?:{taken_in}[^.;\n]{0,60}[.;,]\s*)?)(?:(?:{then}[\s,]+)*{subject}\s)?(?:{aside}\s){0,2}"
    r"(?:(?P<screen_failure>{not_fit}|{closed})|(?P<declined>{would_not})|(?P<enrolled>{in_it}))(?![\w\-])",
    re.IGNORECASE,
)
_NAMES_TRIAL = re.compile(r"\s(?:clinical\s)?")
_OF_DRUG = _CLASSES.compile(r"\s{of_drug}\s{article}?(?:[A-Za-z]\w+\s)?", re.IGNORECASE)
_MIGHT = _CLASSES.compile(
    r"\b{might}\b",
    re.IGNORECASE,
)
