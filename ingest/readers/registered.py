"""Who a patient is, as a register holds it (FHIR Patient, OMOP PERSON and DEATH): told as a note of labelled lines.

What a table says of a patient is then read, dated, weighed against other notes and proved as everything else is.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Final

from ...kb.kinds import KINDS, WHOLE_LIFE
from ...kb.ontology.persons import persons

#: What such a note is called.
TYPE: Final = "patient registration"
_BIRTH: Final = "birth"


@functools.cache
def _named() -> Mapping[str, Mapping[str, str]]:
    """Section -> code or word, in small letters -> name, of sexes, races and ethnicities."""
    return {
        section: {
            word.lower(): entry["name"]
            for entry in persons()[section].values()
            for word in (*entry.get("codes", ()), *entry["words"], entry["name"])
        }
        for section in WHOLE_LIFE
    }


def name_of(section: str, *codes_or_words: str) -> str:
    """The name of the first of the codes (``OMOP:8532``) or words that mean a value of the section; empty for none."""
    named = _named()[section]
    return next((named[one.strip().lower()] for one in codes_or_words if one.strip().lower() in named), "")


def text_of(told: Mapping[str, str | Iterable[str]]) -> str:
    """The text of such a note: a line for each thing that is told; empty where nothing is."""
    lines: list[str] = []
    for kind in KINDS:
        values = told.get(kind, "") if kind in WHOLE_LIFE or kind == _BIRTH else ""
        label = "Date of birth" if kind == _BIRTH else kind.capitalize()
        lines += [
            f"{label}: {value}" for value in dict.fromkeys([values] if isinstance(values, str) else values) if value
        ]
    if "death" in told:
        lines.append(f"The patient died on {told['death']}." if told["death"] else "The patient has died.")
    return "\n".join(lines)
