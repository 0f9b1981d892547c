"""The grade of the tumor among the grades that a report of pathology names.

A report also names grades of a biopsy before, of a frozen section, of parts of the tumor and of smaller nodules. What
the operation found stands: the field of the synopsis before prose, and of Gleason scores that of the dominant nodule,
else the highest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from ...kb.ontology.concepts import ConceptTable
from ..text.frame import Span
from ..text.specimens import is_of_frozen_section, is_told_before_operation
from ..text.word_classes import word_classes

_CLASSES: Final = word_classes("binding", "graded")
#: The label of the field that holds a grade, up to its value.
_FIELD: Final = _CLASSES.compile(
    r"{of_what}\s{0,2}(?:{grade}|{differentiation})\b[^.:;]{0,40}[:.=]{1,2}\s{0,3}(?:G?[1-4X][\s:,(\-]{0,3})?\Z",
    re.IGNORECASE,
)
_LABEL: Final = _CLASSES.compile(r"{of_what}\s{differentiation}\s", re.IGNORECASE)
_REACH_OF_FIELD: Final = 80
_BY_WORDS: Final = _CLASSES.compile(r"{by_words}", re.IGNORECASE)
#: Words for the nodule that the score of the whole is that of.
_DOMINANT: Final = _CLASSES.compile(r"\b{dominant}\b[^.;]{0,60}\Z", re.IGNORECASE)
_REACH_OF_NODULE: Final = 80
_LEVELS: Final = frozenset({"high", "low", "intermediate"})
_GLEASON: Final = "gleason"


def grades_in_names(candidates: Iterable[Span], kept: Sequence[Span], concepts: ConceptTable) -> list[Span]:
    """The grades that longer names of tumors hold or overlap: *poorly differentiated squamous cell carcinoma*."""
    taken = {id(one) for one in kept}
    names = [
        one
        for one in kept
        if one.kind == "diagnosis"
        and one.concept in concepts
        and concepts.is_a(one.concept, "carcinoma")
        and not concepts.is_a(one.concept, "neuroendocrine_neoplasm")
    ]
    return [
        one
        for one in candidates
        if one.kind == "grade"
        and id(one) not in taken
        and one.attributes.get("grade") not in _LEVELS
        and any(name.start < one.end and one.start < name.end for name in names)
    ]


def grades_of_the_tumor(text: str, grades: Sequence[Span]) -> list[Span]:
    """Those of the grades of a report, in text order, that are of the tumor as it was taken out."""
    if len(grades) < 2:
        return list(grades)
    gleason = [one for one in grades if one.attributes.get("scale") == _GLEASON]
    others = [one for one in grades if one.attributes.get("scale") != _GLEASON]
    kept = [*_highest(text, _of_operation(text, gleason))]
    kept += _in_fields(text, _of_operation(text, others))
    return sorted(kept, key=lambda one: one.start)


def _of_operation(text: str, grades: Sequence[Span]) -> Sequence[Span]:
    """Those that were not told before the operation or during it; all, if all were."""
    return [
        one
        for one in grades
        if not is_told_before_operation(text, one.start) and not is_of_frozen_section(text, one.start)
    ] or grades


def _in_fields(text: str, grades: Sequence[Span]) -> Sequence[Span]:
    """Without what prose tells otherwise than the fields do, in words of differentiation."""
    fields = {
        one.attributes.get("grade")
        for one in grades
        if _FIELD.search(text, max(0, one.start - _REACH_OF_FIELD), one.start) or _is_field(text, one)
    }
    if not fields - _LEVELS:
        # "Low grade (moderately differentiated)": two scales, of which neither says otherwise.
        return grades
    return [
        one for one in grades if one.attributes.get("grade") in fields or not _BY_WORDS.search(text, one.start, one.end)
    ]


def _is_field(text: str, span: Span) -> bool:
    """Whether the label of the field belongs to the words of the grade (*grade: 2*, *worst differentiation II*)."""
    return any(sign in text[span.start : span.end] for sign in ":=") or bool(_LABEL.match(text, span.start, span.end))


def _highest(text: str, scores: Sequence[Span]) -> Sequence[Span]:
    values = {id(one): float(str(one.attributes["value"])) for one in scores if "value" in one.attributes}
    if not values:
        return scores
    dominant = [
        values[id(one)]
        for one in scores
        if id(one) in values and _DOMINANT.search(text, max(0, one.start - _REACH_OF_NODULE), one.start)
    ]
    highest = max(dominant or values.values())
    return [one for one in scores if values.get(id(one), highest) == highest]
