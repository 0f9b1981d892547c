"""Lines of therapy: the systemic treatments of an advanced tumor, numbered by rules (docs/internals/reading.md).

Words of the record win (*second-line*, *2L*). Else a new line begins with a new antineoplastic drug after progression,
or after what came before has ended; drugs begun within four weeks are one line, and so are maintenance, a substitution
within a family of drugs, and endocrine therapy with what is added to it. Treatment around an operation is no line.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from ...kb.kinds import COURSES, DRUGS
from ...kb.model import ALL_TUMORS, EARLIEST_DAY, NO_TUMOR, DayInterval, Temporality
from ...kb.ontology.concepts import ConceptTable
from ...kb.ontology.regimens import shipped_components
from ..text.cue_files import cue_file
from .bench import Workbench, is_own
from .facts import ABSTRACTION, Fact
from .tumors import NEAR_IN_TIME

#: A sign of progression counts for what begins up to so many days before it is written down.
_LATE_WORD: Final = 14
_HEAVIEST_STAGE: Final = "IV"
_EXACT: Final = 31


@lru_cache(maxsize=1)
def _table() -> dict[str, Any]:
    return cue_file("lines")


@dataclass(slots=True)
class Course:
    """One course of one drug or regimen: its facts, when it began and ended, and what the record says of it."""

    concept: str
    facts: list[Fact]
    begins: int
    #: The first day on which it may have begun.
    earliest: int
    ends: int | None
    line: int
    intent: str
    reason: str
    #: The last day on which a note tells of it as going on.
    goes_on: int


@dataclass(slots=True)
class Line:
    """Courses that are one line of therapy."""

    courses: list[Course] = field(default_factory=list)

    @property
    def begins(self) -> int:
        """The day of its first course."""
        return self.courses[0].begins

    @property
    def stated(self) -> int:
        """The number that the record gives it; 0 for none."""
        numbers = Counter(course.line for course in self.courses if course.line)
        return numbers.most_common(1)[0][0] if numbers else 0


@dataclass(frozen=True, slots=True)
class Disease:
    """What the lines of one tumor are counted by: days of progression, of operations, and since when it is advanced."""

    progressed: tuple[int, ...]
    operated: tuple[int, ...]
    advanced: int | None
    is_systemic: bool

    def is_advanced(self, day: int) -> bool:
        """Whether it was advanced by then, or very soon."""
        return self.advanced is not None and day >= self.advanced - _days("early")

    def progressed_between(self, begins: int, next_begins: int) -> bool:
        """Whether it progressed after the one began and before the next did, or was told of soon after."""
        return any(begins + _LATE_WORD < day <= next_begins + _LATE_WORD for day in self.progressed)


def number_lines(bench: Workbench) -> None:
    """The number of its line for each systemic treatment of an advanced tumor, and the intent where it is plain."""
    by_tumor: dict[str, list[Fact]] = defaultdict(list)
    for fact in bench.facts:
        if is_own(fact) and fact.context.really_happened and fact.document_class != ABSTRACTION:
            by_tumor[fact.tumor].append(fact)
    of_none = by_tumor.get(NO_TUMOR, []) + by_tumor.get(ALL_TUMORS, [])
    several = len(by_tumor.keys() - {NO_TUMOR, ALL_TUMORS}) > 0
    for tumor, facts in by_tumor.items():
        if tumor == NO_TUMOR and several:
            continue
        courses = _courses(bench.concepts, facts)
        disease = _disease(bench.concepts, facts if tumor == NO_TUMOR else [*facts, *of_none], tumor)
        _give_intent_of_radiation(facts, disease)
        counted = []
        for course in courses:
            intent = _setting(bench.concepts, course, disease)
            if intent:
                _set(course, "intent", intent)
            elif not _is_blip(bench.concepts, course):
                counted.append(course)
        lines = _lines(bench.concepts, counted, disease)
        for line, following in itertools.pairwise(lines):
            _close(line, following, disease)
        for course in lines[-1].courses if lines else ():
            _give_reason(course, disease)
        numbers = _numbers(lines)
        for line, number in zip(lines, numbers, strict=True):
            for course in line.courses:
                if number:
                    _set(course, "line", float(number))
                if disease.is_advanced(course.begins) and not course.intent and not disease.is_systemic:
                    _set(course, "intent", "palliative")
        _give_lines_of_regimens(facts, courses)


def _close(line: Line, following: Line, disease: Disease) -> None:
    """What is not given any more when the next line begins has ended by then; after progression, because of it."""
    going_on = {course.concept for course in following.courses}
    progressed = disease.progressed_between(line.begins, following.begins)
    for course in line.courses:
        said = {str(fact.attributes.get("status", "")) for fact in course.facts}
        if progressed and not course.reason and "held" not in said and course.concept not in going_on:
            _set(course, "reason", "progression")
            _set(course, "status", "discontinued")
        if course.concept in going_on or course.ends is not None or course.goes_on >= following.begins:
            continue
        if said & {"held", "completed", "discontinued"} or course.begins >= following.begins:
            continue
        end = DayInterval(max(course.begins, min(course.goes_on, following.begins)), following.begins)
        for fact in course.facts:
            fact.end = end
        _set(course, "status", "discontinued")


def _give_reason(course: Course, disease: Disease) -> None:
    """What ended, for no reason that is told, when the tumor was found to go on ended because of it."""
    if course.reason or course.ends is None or course.facts[0].attributes.get("status") != "discontinued":
        return
    ends = course.ends
    if any(course.begins + _LATE_WORD < day and abs(day - ends) <= _EXACT for day in disease.progressed):
        _set(course, "reason", "progression")


def _days(name: str) -> int:
    return int(_table()["days"][name])


def _set(course: Course, name: str, value: str | float) -> None:
    for fact in course.facts:
        fact.attributes[name] = value


def _counts(concepts: ConceptTable, concept: str) -> bool:
    """Whether a drug or regimen is one that a line can be made of: a systemic one, and no mere class of drugs."""
    drugs = _table()["drugs"]
    if concept not in concepts or concepts.is_any(concept, drugs["never"]):
        return False
    if concepts.kind(concept) == "regimen":
        # One whose drugs are known is counted by them.
        return concept not in shipped_components()
    if not concepts.is_any(concept, drugs["systemic"]):
        return False
    # A class ("chemotherapy") has members with names of their own; the forms of one drug bear its name.
    name = concepts.name(concept).casefold()
    return all(name in concepts.name(child).casefold() for child in concepts.children(concept))


def _courses(concepts: ConceptTable, facts: Sequence[Fact]) -> list[Course]:
    """The dated courses of systemic treatments, in order of their beginning."""
    groups: dict[tuple[str, str, object], list[Fact]] = defaultdict(list)
    for fact in facts:
        if fact.kind in DRUGS and _counts(concepts, fact.concept):
            groups[fact.kind, fact.concept, fact.attributes.get("course")].append(fact)
    found = [fact.day.low for fact in facts if fact.kind == "diagnosis" and fact.day.low > EARLIEST_DAY]
    courses = []
    for (_, concept, _), members in groups.items():
        known = [fact.day for fact in members if fact.day.low > EARLIEST_DAY]
        if not known:
            continue
        first = min(known, key=lambda day: (day.high, -day.low))
        begins = first.midpoint
        if found and begins < min(found) - NEAR_IN_TIME:
            continue  # What was given so long before the tumor was found was given for something else.
        stated = members[0].attributes
        end = members[0].end
        goes_on = max((fact.day.midpoint for fact in members if _is_going_on(fact)), default=begins)
        line, intent, reason = (
            int(float(stated.get("line", 0))),
            str(stated.get("intent", "")),
            str(stated.get("reason", "")),
        )
        ends = end.midpoint if end is not None else None
        courses.append(Course(concept, members, begins, first.low, ends, line, intent, reason, goes_on))
    return sorted(courses, key=lambda course: (course.begins, course.concept, course.facts[0].kind))


def _is_going_on(fact: Fact) -> bool:
    stated = fact.mention.attributes
    over = stated.get("standing") in ("stopped", "completed") or "ended" in stated or "began" in stated
    return (
        not over and not fact.copied and fact.context.temporality is Temporality.CURRENT and fact.day.low > EARLIEST_DAY
    )


def _give_intent_of_radiation(facts: Iterable[Fact], disease: Disease) -> None:
    """Radiation behind an operation, before any spread, is adjuvant where nothing else is said."""
    for fact in facts:
        if fact.kind == "radiation" and "intent" not in fact.attributes and fact.day.low > EARLIEST_DAY:
            day = fact.day.midpoint
            if not disease.is_advanced(day) and any(
                0 < day - one <= _days("radiation_after_surgery") for one in disease.operated
            ):
                fact.attributes["intent"] = "adjuvant"


def _give_lines_of_regimens(facts: Iterable[Fact], courses: Sequence[Course]) -> None:
    """A regimen has the line, intent and end that its drugs have: of several courses, the last begun by its day."""
    components = shipped_components()
    for fact in facts:
        if fact.kind != "regimen" or fact.concept not in components:
            continue
        drugs = {component.drug for component in components[fact.concept]}
        of_drugs = [course for course in courses if course.concept in drugs]
        begun = [course for course in of_drugs if course.begins <= fact.day.high + _days("together")]
        if of_drugs:
            like = (begun or of_drugs[:1])[-1].facts[0]
            for name in ("line", "intent"):
                if name in like.attributes:
                    fact.attributes.setdefault(name, like.attributes[name])


def _disease(concepts: ConceptTable, facts: Iterable[Fact], tumor: str) -> Disease:
    table = _table()["disease"]
    progressed: set[int] = set()
    operated: set[int] = set()
    advanced: set[int] = set()
    is_systemic = False
    for fact in facts:
        known, concept = fact.day.low > EARLIEST_DAY, fact.concept
        if fact.kind == "state" and concept in concepts:
            if concepts.is_any(concept, table["progression"]) and not concepts.is_any(
                concept, table["not_progression"]
            ):
                progressed |= {fact.day.midpoint} if known else set()
            if concepts.is_any(concept, table["advanced"]):
                # "Metastatic breast cancer 2015" dates the cancer; a report's "macrometastases" lie in the nodes.
                exact = known and fact.day.high - fact.day.low <= _EXACT and fact.document_class != "pathology"
                advanced |= {fact.day.midpoint} if exact else set()
        elif _is_spread(fact):
            advanced |= {fact.day.midpoint} if known else set()
        elif fact.kind == "surgery" and known and concepts.is_any(concept, table["local_treatment"]):
            if fact.tumor == tumor:
                operated.add(fact.day.midpoint)
        elif fact.kind == "diagnosis" and fact.tumor == tumor:
            is_systemic = is_systemic or concepts.is_any(concept, table["systemic"])
        if fact.kind in COURSES and fact.attributes.get("reason") == "progression" and fact.end is not None:
            progressed.add(fact.end.midpoint)
    return Disease(tuple(sorted(progressed)), tuple(sorted(operated)), min(advanced, default=None), is_systemic)


def _is_spread(fact: Fact) -> bool:
    """Whether a metastasis, a stage or a category says that the tumor has spread."""
    if fact.kind == "stage":
        return str(fact.attributes.get("stage", "")).startswith(_HEAVIEST_STAGE)
    return fact.kind == "metastasis" or fact.kind == "tnm" and str(fact.attributes.get("m", "")).startswith("M1")


def _setting(concepts: ConceptTable, course: Course, disease: Disease) -> str:
    """The intent of a course that is no line (around an operation, for cure); empty for one that is."""
    if course.line:
        return ""
    if course.intent in _table()["intents"]["local"]:
        return course.intent
    if disease.is_systemic or course.intent:
        return ""
    if disease.is_advanced(course.begins):
        return ""
    endocrine = concepts.is_any(course.concept, _table()["drugs"]["endocrine"])
    for day in disease.operated:
        if 0 <= course.begins - day <= _days("after_surgery") or endocrine and day <= course.begins:
            return "adjuvant"
        if 0 < day - course.begins <= _days("before_surgery"):
            return "neoadjuvant"
    # Before any sign of spread, in a patient who was operated on: it is not known what for, but no line.
    return "curative" if disease.operated else ""


def _is_blip(concepts: ConceptTable, course: Course) -> bool:
    """Endocrine therapy of a few weeks, to bridge a gap."""
    short = course.ends is not None and course.ends - course.begins <= _days("blip")
    return short and not course.line and concepts.is_any(course.concept, _table()["drugs"]["endocrine"])


def _lines(concepts: ConceptTable, courses: Sequence[Course], disease: Disease) -> list[Line]:
    lines: list[Line] = []
    for course in courses:
        if lines and _belongs(concepts, course, lines[-1], disease):
            lines[-1].courses.append(course)
        else:
            lines.append(Line([course]))
    return lines


def _belongs(concepts: ConceptTable, course: Course, line: Line, disease: Disease) -> bool:
    """Whether a course is of the line that is going on, by the rules in their order."""
    if course.line and line.stated:
        return course.line == line.stated
    if course.earliest - line.begins <= _days("together"):
        return True
    if course.intent in _table()["intents"]["going_on"]:
        return True
    since = max(one.begins for one in line.courses)
    if disease.progressed_between(line.begins, course.begins) and course.begins - since > _days("together"):
        return False
    if any(course.concept == one.concept for one in line.courses):
        return True
    if any(_go_together(concepts, course.concept, one.concept) for one in line.courses):
        return True
    # Added to what goes on: the same line; begun when all of it had ended, or is heard of no more: another.
    return any(
        (one.ends is None or one.ends > course.begins) and one.goes_on > course.begins + _LATE_WORD
        for one in line.courses
    )


def _go_together(concepts: ConceptTable, one: str, other: str) -> bool:
    """Whether one drug for the other, or the one added to the other, begins no line: of one family, or endocrine."""
    families, endocrine, added = _place_in_lines(concepts, one)
    others, other_endocrine, other_added = _place_in_lines(concepts, other)
    return not families.isdisjoint(others) or endocrine and other_added or other_endocrine and added


@lru_cache(maxsize=20_000)
def _place_in_lines(concepts: ConceptTable, drug: str) -> tuple[frozenset[str], bool, bool]:
    """The families of a drug, whether it is endocrine, and whether it is one that is added to such."""
    drugs = _table()["drugs"]
    families = frozenset(family for family in drugs["families"] if concepts.is_a(drug, family))
    return families, concepts.is_any(drug, drugs["endocrine"]), concepts.is_any(drug, drugs["added_to_endocrine"])


def _numbers(lines: Sequence[Line]) -> list[int]:
    """The number of each line: as the record says, else one more than the line before; 0 before a stated first line."""
    numbers: list[int] = []
    for line in lines:
        numbers.append(line.stated or (numbers[-1] + 1 if numbers else 1))
    for place in range(len(lines) - 2, -1, -1):
        if not lines[place].stated and numbers[place] >= numbers[place + 1]:
            numbers[place] = numbers[place + 1] - 1
    return [max(0, number) for number in numbers]
