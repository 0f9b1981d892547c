"""How grave an illness is, written beside its name: *CKD stage 4* told as what is held of it."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Any, Final, NamedTuple

from ...kb.ontology.concepts import ConceptTable
from ..render import name_text

_LONGEST: Final = 200
_ONE: Final = r"(?:\d{1,2}[a-d]?|[ivx]{1,4}[a-d]?|[a-e])"
_GRADE: Final = re.compile(r"\bgrade\s*(?P<grade>[1-5])$", re.IGNORECASE)


class Severity(NamedTuple):
    """An illness and the ``measure`` written beside it; ``known`` says whether there is such an illness."""

    illness: str
    measure: str
    known: bool


@functools.cache
def _data() -> dict[str, Any]:
    data: dict[str, Any] = tomllib.loads((Path(__file__).parent / "severity.toml").read_text(encoding="utf-8"))
    return data


@functools.cache
def _measures() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """A measure before and behind an illness, and a bare number behind it."""
    scales, plain = _any(_data()["scales"]), _any(_data()["plain"])
    value = rf"{_ONE}(?:\s*(?:-|–|/|to|or)\s*{_ONE})?"
    scale = rf"(?:(?:{scales})(?:\s+(?:{plain}))?|{plain})"
    measure = rf"(?P<measure>{scale}\s*[:=]?\s*{value})"
    behind = rf"(?P<illness>.+?)[\s,]+{measure}"
    before = rf"{measure}[\s,]+(?:of\s+)?(?P<illness>.+)"
    bare = rf"(?P<illness>.+?)\s+(?P<measure>{value})"
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in (behind, before, bare))  # type: ignore[return-value]


def _any(words: Iterable[str]) -> str:
    return "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in sorted(words, key=len, reverse=True))


def severity_in(text: str, concepts: ConceptTable) -> Severity | None:
    """The illness and the measure that a name is made of; None where it is made of other things, or of a tumor."""
    if len(text) > _LONGEST:
        return None
    behind, before, bare = _measures()
    for pattern in (behind, before, bare):
        match = pattern.fullmatch(text.strip())
        if match is None:
            continue
        illness = match["illness"].strip()
        found = concepts.lookup(illness)
        if found and all(concepts.get(one).kind in _data()["illnesses"] for one in found):
            return Severity(illness, match["measure"], known=True)
        if not found and pattern is not bare:
            return Severity(illness, match["measure"], known=False)
    return None


def told(severity: Severity, can_be_asked: Callable[[str], bool]) -> tuple[str, str]:
    """Message and hint for a known illness with a measure."""
    grade = _GRADE.search(severity.measure)
    harm = f"adverse event {name_text(severity.illness)}"
    if grade is not None and can_be_asked(f"{harm} with grade = {grade['grade']}"):
        message = f"a grade of '{severity.illness}' is one of an adverse event"
        return message, f"write: {harm} with grade = {grade['grade']}"
    message = f"'{severity.measure}' of '{severity.illness}' is not held: stages are held of tumors alone"
    return message, f"write: {name_text(severity.illness)}"


def has_no_stage(kinds: Collection[str]) -> bool:
    """Whether concepts of these kinds are illnesses whose stage is not held."""
    return bool(kinds) and all(kind in _data()["illnesses"] for kind in kinds)
