"""Adverse events tied to the treatments that caused them, by the words between the two in one sentence.

A symptom or condition that a treatment is said to have caused becomes an adverse event with the attribute ``cause``,
and a relation joins the two; where the treatment was stopped, held or reduced for it, another relation says so.

The reading for CORAL draws more of *causes problem*, by a table (``coral/words/relations.toml``), and keeps what is
drawn here. The two are not one since they answer different questions. Here each harm of the patient has one cause, and
the words between must say so: it changes an event. There every pair is drawn that an annotator would mark, also of what
is denied, feared or another's, and of a disease that causes another: of events that would make harms of coincidences.
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from ...kb.kinds import CONDITIONS, COURSES
from ...kb.model import Cue, Experiencer, Mention, Polarity, Relation, Temporality
from ..text.cue_files import any_of, cue_file
from ..text.frame import Frame
from ..text.word_classes import word_classes

_CLASSES: Final = word_classes("treatments", "harms")

#: Relations of CORAL's Table S1.
CAUSES: Final = "ConditionOrTreatmentCausesProblem"
STOPPED: Final = "TreatmentDiscontinuedBecauseOf"
#: No further apart do the words tie the two.
_REACH = 90
_GRADE = _CLASSES.pattern(r"(?:{grade_label}\s?[1-5](?:\s?[-–/]\s?[1-5])?|{severity})")
_LISTED = _CLASSES.compile(rf"[\s,/&+]*{{joins}}?[\s,/&+]*(?:{_GRADE}\s){{0,2}}[\s(]*", re.IGNORECASE)
_IN_BRACKETS = re.compile(rf",?\s?{_GRADE}?,?\s?\(", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Ties:
    """The patterns of ``cues/harms.toml``: what stands between a harm and a treatment, in either order."""

    caused_by: re.Pattern[str]
    weakly_caused_by: re.Pattern[str]
    may_treat: re.Pattern[str]
    causes: re.Pattern[str]
    weakly_causes: re.Pattern[str]
    stopped_for: re.Pattern[str]
    link: re.Pattern[str]
    stop_before: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Suspects:
    """What may be a harm of a treatment by weak words, and what may have done it by the weakest."""

    toxicities: Set[str]
    against_tumors: Set[str]

    def harms(self, treatment: Mention) -> bool:
        """Whether a treatment is one against tumors: others may treat what somebody has *on* them."""
        return treatment.kind != "medication" or treatment.concept in self.against_tumors


@lru_cache(maxsize=1)
def ties() -> Ties:
    """The shipped patterns, built once a process."""
    table = cue_file("harms")

    def words(section: str, name: str) -> str:
        return any_of(table[section][name])

    def compiled(pattern: str) -> re.Pattern[str]:
        return re.compile(pattern, re.IGNORECASE)

    few, lead = r"(?:[\w\-/]+\s){0,3}", rf"(?:{_GRADE}\s){{0,2}}"
    softened = rf"(?:{words('caused_by', 'softened')}\s){{0,5}}"
    tail = rf"[\s,(]*(?:\([^()]{{0,24}}\)\s)?(?:{_GRADE},?\s)?"
    links = words("stopped_for", "links")
    return Ties(
        compiled(rf"{tail}{softened}{words('caused_by', 'words')}\s{few}"),
        compiled(rf"{tail}{words('caused_by', 'weak')}\s(?:[\w\-]+\s){{0,2}}"),
        compiled(rf"{tail}{words('caused_by', 'may_treat')}\s(?:[\w\-]+\s){{0,2}}"),
        compiled(
            _CLASSES.pattern(
                rf"(?:[\s\-–]{words('causes', 'joined')}\s{few}"
                rf"|[\s,]{{1,2}}{{was}}?{words('causes', 'words')}[:,]?\s{few}(?:by\s)?{lead})"
            )
        ),
        compiled(_CLASSES.pattern(rf"(?:\s|,\s)(?:[\w\-]+\s){{0,2}}{words('causes', 'weak')}\s{{some}}?{lead}")),
        compiled(rf"[^.;]{{0,40}}?\b{words('stopped_for', 'stops')}\b[^.;]{{0,44}}?\b{links}\s{few}{lead}"),
        compiled(rf"[^.;]{{0,44}}?\b{links}\s{few}{lead}"),
        compiled(_CLASSES.pattern(rf"\b{words('stopped_for', 'stops')}\s{{of_it}}{{0,2}}$")),
    )


def with_harms(
    frame: Frame,
    mentions: Sequence[Mention],
    toxicities: Set[str] = frozenset(),
    against_tumors: Set[str] = frozenset(),
) -> tuple[list[Mention], list[Relation]]:
    """The mentions of a note, its harms with their causes, and the relations between them and the treatments.

    ``toxicities``: the concepts that are known as harms of treatment; of these, weaker words tell of a cause.
    ``against_tumors``: the drugs of which the weakest tell of one; what somebody has *on* another is treated by it.
    """
    treatments: dict[tuple[int, int], list[Mention]] = defaultdict(list)
    harms: dict[tuple[int, int], list[Mention]] = defaultdict(list)
    for mention in mentions:
        if mention.kind in COURSES and mention.concept:
            treatments[mention.sentence].append(mention)
        elif mention.kind in CONDITIONS and _is_own(mention):
            harms[mention.sentence].append(mention)
    found: dict[int, tuple[Mention, Mention, str, Cue]] = {}
    for sentence in harms.keys() & treatments.keys():
        for harm, treatment, relation, cue in _tied(
            frame.text, harms[sentence], treatments[sentence], Suspects(toxicities, against_tumors)
        ):
            found.setdefault(id(harm), (harm, treatment, relation, cue))
    if not found:
        return list(mentions), []
    changed = {key: _caused(*parts) for key, parts in found.items()}
    relations = []
    for key, (_, treatment, relation, _) in sorted(found.items(), key=lambda item: item[1][0].start):
        harm = changed[key]
        relations.append(Relation(harm.note_id, CAUSES, treatment.mention_id, harm.mention_id, "same-sentence"))
        if relation == STOPPED:
            relations.append(Relation(harm.note_id, STOPPED, treatment.mention_id, harm.mention_id, "same-sentence"))
    return [changed.get(id(mention), mention) for mention in mentions], relations


def _is_own(mention: Mention) -> bool:
    context = mention.context
    happened = context.temporality in (Temporality.CURRENT, Temporality.HISTORICAL)
    return happened and context.polarity is not Polarity.ABSENT and context.experiencer is Experiencer.PATIENT


def _caused(harm: Mention, treatment: Mention, relation: str, cue: Cue) -> Mention:
    attributes = {**harm.attributes, "cause": treatment.concept}
    return replace(harm, kind="adverse_event", attributes=attributes, cues=(*harm.cues, cue))


def _tied(
    text: str, harms: Iterable[Mention], treatments: Iterable[Mention], suspects: Suspects
) -> Iterable[tuple[Mention, Mention, str, Cue]]:
    """Each harm of a sentence with the treatment that is said to have caused it; a list of harms has one cause."""
    ordered = sorted(harms, key=lambda harm: (harm.start, harm.end))
    drugs = sorted(treatments, key=lambda drug: (drug.start, drug.end))
    tied: dict[int, tuple[Mention, str, Cue]] = {}
    for harm in ordered:
        toxic = _is_toxic(harm, suspects.toxicities)
        behind = [drug for drug in drugs if harm.end <= drug.start <= harm.end + _REACH]
        ahead = [drug for drug in drugs if drug.end <= harm.start <= drug.end + _REACH]
        at_once = ahead[-1] if ahead and _leads(text, ahead[-1], harm, toxic) else None
        if behind and _is_bracketed(text, harm, behind[0], toxic):
            tied[id(harm)] = (behind[0], CAUSES, Cue(harm.end, behind[0].start, "harm:caused_by"))
        elif at_once is not None:
            tied[id(harm)] = (at_once, *_how(text, at_once, harm))
        elif behind and _follows(text, harm, behind[0], toxic, suspects.harms(behind[0])):
            tied[id(harm)] = (behind[0], CAUSES, Cue(harm.end, behind[0].start, "harm:caused_by"))
    pairs = list(itertools.pairwise(ordered))
    for first, second in (*pairs, *reversed(pairs)):
        # "Neuropathy and diarrhea from oxaliplatin": what is said of one of a list is said of all.
        if _LISTED.fullmatch(text, first.end, second.start):
            for one, other in ((first, second), (second, first)):
                if id(one) in tied:
                    tied.setdefault(id(other), tied[id(one)])
    return [(harm, *tied[id(harm)]) for harm in ordered if id(harm) in tied]


def _is_toxic(harm: Mention, toxicities: Set[str]) -> bool:
    """Whether weak words suffice: a toxicity by its name, or something that was graded; no complaint."""
    named = harm.kind != "symptom" and harm.concept in toxicities
    return harm.kind == "adverse_event" or "grade" in harm.attributes or named


def _follows(text: str, harm: Mention, drug: Mention, toxic: bool, harmful: bool) -> bool:
    """``HARM due to TREATMENT``, and for a toxicity ``HARM on TREATMENT``, if the treatment is not one for it."""
    known = ties()
    if known.caused_by.fullmatch(text, harm.end, drug.start):
        return True
    if not toxic or not harmful and known.may_treat.fullmatch(text, harm.end, drug.start):
        return False
    return known.weakly_caused_by.fullmatch(text, harm.end, drug.start) is not None


def _is_bracketed(text: str, harm: Mention, drug: Mention, toxic: bool) -> bool:
    """``HARM, grade 3 (TREATMENT)``."""
    closed = text[drug.end : drug.end + 1] == ")"
    return toxic and closed and _IN_BRACKETS.fullmatch(text, harm.end, drug.start) is not None


def _leads(text: str, drug: Mention, harm: Mention, toxic: bool) -> bool:
    """``TREATMENT-induced HARM``, ``TREATMENT held for HARM``; for a toxicity also ``TREATMENT HARM``."""
    known = ties()
    if known.causes.fullmatch(text, drug.end, harm.start) or _is_stopped_for(text, drug, harm):
        return True
    if not toxic:
        return False
    gap = text[drug.end : harm.start]
    return gap in (" ", "-") or known.weakly_causes.fullmatch(text, drug.end, harm.start) is not None


def _is_stopped_for(text: str, drug: Mention, harm: Mention) -> bool:
    known = ties()
    if known.stopped_for.fullmatch(text, drug.end, harm.start):
        return True
    before = known.stop_before.search(text, max(0, drug.start - 30), drug.start)
    return before is not None and known.link.fullmatch(text, drug.end, harm.start) is not None


def _how(text: str, drug: Mention, harm: Mention) -> tuple[str, Cue]:
    stopped = _is_stopped_for(text, drug, harm)
    rule = "harm:stopped_for" if stopped else "harm:causes"
    return (STOPPED if stopped else CAUSES), Cue(drug.end, harm.start, rule)
